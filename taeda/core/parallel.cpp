// SPDX-License-Identifier: Apache-2.0
// The thread pool.
//
// A loop is cut into chunks by its size and the thread count alone. The calling thread and the idle workers it could
// get take chunks from a common counter until none is left. Workers and calling threads together stay within the
// thread count: a caller that finds no worker free runs its chunks itself. A worker that was called but has not yet
// woken when the work is done is called off, so that nobody waits for a wake-up in vain.
#include "taeda/core/parallel.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "taeda/core/cpu_count.h"
#include "taeda/core/error.h"
#include "taeda/core/modes.h"
#include "taeda/core/small_alloc.h"

namespace taeda {
namespace {

struct ThreadPlace {
  bool inside = false;  // runs a chunk
  int number = 0;
};
constinit thread_local ThreadPlace tls_place TAEDA_FAST_TLS;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

constexpr int kWorkerSpins = 600;  // some 10 to 20 microseconds, so that loop after loop needs no wake-up
constexpr int kCallerSpins = 2000;

constexpr int kMaxThreads = 1024;
// get_num_threads(); 0 = not yet asked.
constinit std::atomic<int> g_num_threads{0};

struct Worker;

/// One loop; lives on the caller's stack until no worker holds it any more.
struct Job {
  Job(detail::RangeFunction f, const void* c, int64_t b, int64_t e, int64_t length)
      : function(f), context(c), begin(b), end(e), chunk(length), count((e - b + length - 1) / length), modes(tls_modes) {}

  detail::RangeFunction function;
  const void* context;
  int64_t begin;
  int64_t end;
  int64_t chunk;
  int64_t count;
  Modes modes;
  std::atomic<int64_t> next{0};
  std::atomic<int> helpers{0};  // workers that hold the job
  std::mutex error_mutex;
  std::exception_ptr error;
  int64_t error_chunk = 0;
  int called = 0;
  Worker* workers[kMaxThreads];  // the first `called`

  void run_chunk(int64_t index) noexcept {
    const ThreadPlace place = tls_place;
    const Modes saved = tls_modes;
    tls_place = {true, static_cast<int>(index)};
    tls_modes = modes;
    const int64_t from = begin + index * chunk;
    try {
      function(context, from, std::min(end, from + chunk));
    } catch (...) {
      std::lock_guard lock(error_mutex);
      if (error == nullptr || index < error_chunk) {
        error = std::current_exception();
        error_chunk = index;
      }
    }
    tls_modes = saved;
    tls_place = place;
  }
};

/// A pool thread's mailbox.
struct Worker {
  std::atomic<Job*> job{nullptr};
  std::atomic<int> asleep{0};
  Worker* next_idle = nullptr;

  void call(Job* work) {
    job.store(work);
    if (asleep.load() == 0) return;
    asleep.store(0);
    asleep.notify_one();
  }

  /// Takes the job back unless the worker has it already.
  bool call_off(Job* work) { return job.compare_exchange_strong(work, nullptr); }

  Job* wait() {
    for (int i = 0; i < kWorkerSpins; ++i) {
      if (job.load(std::memory_order_relaxed) != nullptr) {
        if (Job* work = job.exchange(nullptr)) return work;
      }
      relax();
    }
    for (;;) {
      asleep.store(1);
      if (Job* work = job.exchange(nullptr)) {
        asleep.store(0);
        return work;
      }
      asleep.wait(1);
    }
  }
};

/// Never destroyed: its threads sleep until the process ends.
class Pool {
 public:
  static Pool& instance() {
    static Pool* pool = new Pool;
    return *pool;
  }

  void run(Job& job) {
    call_helpers(job);
    for (int64_t i = job.next.fetch_add(1, std::memory_order_relaxed); i < job.count;
         i = job.next.fetch_add(1, std::memory_order_relaxed)) {
      job.run_chunk(i);
    }
    running_.fetch_sub(1, std::memory_order_relaxed);
    call_off(job);
    for (int i = 0;; ++i) {
      const int left = job.helpers.load(std::memory_order_acquire);
      if (left == 0) return;
      if (i < kCallerSpins) {
        relax();
      } else {
        job.helpers.wait(left, std::memory_order_acquire);
      }
    }
  }

 private:
  Pool() {
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] { instance().restart_in_child(); });
  }

  /// Only the forking thread lives on in a child: the workers are gone, the next loop starts new ones.
  void restart_in_child() {
    idle_ = nullptr;
    started_ = 0;
    running_.store(tls_place.inside ? 1 : 0, std::memory_order_relaxed);
    mutex_.unlock();
  }

  /// Hands the job to idle workers, new ones if need be, within the cap.
  void call_helpers(Job& job) {
    std::lock_guard lock(mutex_);
    const int cap = g_num_threads.load(std::memory_order_relaxed);
    const int free = cap - 1 - running_.fetch_add(1, std::memory_order_relaxed);
    const auto wanted = static_cast<int>(std::min<int64_t>(job.count - 1, std::min(free, kMaxThreads)));
    while (job.called < wanted) {
      Worker* worker = idle_;
      if (worker != nullptr) {
        idle_ = worker->next_idle;
      } else {
        worker = started_ < cap - 1 ? start_worker() : nullptr;
        if (worker == nullptr) break;
      }
      running_.fetch_add(1, std::memory_order_relaxed);
      job.helpers.fetch_add(1, std::memory_order_relaxed);
      job.workers[job.called++] = worker;
      worker->call(&job);
    }
  }

  void call_off(Job& job) {
    for (int i = 0; i < job.called; ++i) {
      Worker* worker = job.workers[i];
      if (!worker->call_off(&job)) continue;
      make_idle(worker);
      job.helpers.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  void make_idle(Worker* worker) {
    std::lock_guard lock(mutex_);
    worker->next_idle = idle_;
    idle_ = worker;
    running_.fetch_sub(1, std::memory_order_relaxed);
  }

  void work(Worker* self) {
    for (;;) {
      Job* job = self->wait();
      // Above the cap (another caller came, or the cap sank) the rest is left to the caller.
      do {
        const int64_t index = job->next.fetch_add(1, std::memory_order_relaxed);
        if (index >= job->count) break;
        job->run_chunk(index);
      } while (running_.load(std::memory_order_relaxed) <= g_num_threads.load(std::memory_order_relaxed));
      // Idle first: the caller's next loop must find this worker.
      make_idle(self);
      if (job->helpers.fetch_sub(1, std::memory_order_acq_rel) == 1) job->helpers.notify_one();
    }
  }

  /// Null when the system has no thread to give.
  Worker* start_worker() {
    auto* worker = new Worker;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals belong to the program's own threads
    try {
      std::thread([this, worker] {
#if defined(__linux__)
        pthread_setname_np(pthread_self(), "taeda");
#endif
        work(worker);
      }).detach();
      ++started_;
    } catch (const std::system_error&) {
      delete worker;
      worker = nullptr;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return worker;
  }

  std::mutex mutex_;
  Worker* idle_ = nullptr;
  int started_ = 0;
  std::atomic<int> running_{0};  // threads inside loops: callers and workers
};

}  // namespace

int get_num_threads() {
  int n = g_num_threads.load(std::memory_order_relaxed);
  if (n != 0) return n;
  const int first = std::min(detail::initial_num_threads(), kMaxThreads);
  return g_num_threads.compare_exchange_strong(n, first) ? first : n;
}

void set_num_threads(int n) {
  TAEDA_CHECK_VALUE(n > 0 && n <= kMaxThreads, "[set_num_threads] the number of threads must be 1 to ", kMaxThreads,
                    ": got ", n);
  g_num_threads.store(n, std::memory_order_relaxed);
}

bool in_parallel_region() noexcept { return tls_place.inside; }
int get_thread_num() noexcept { return tls_place.number; }

int64_t detail::parallel_chunk(int64_t n, int64_t grain_size) {
  if (tls_place.inside) return n;
  const int64_t grain = std::max<int64_t>(grain_size, 1);
  const int64_t threads = std::min<int64_t>(get_num_threads(), (n - 1) / grain + 1);
  return (n - 1) / threads + 1;
}

void detail::parallel_chunks(int64_t begin, int64_t end, int64_t chunk, RangeFunction function, const void* context) {
  if (chunk >= end - begin) return function(context, begin, end);
  Job job(function, context, begin, end, chunk);
  Pool::instance().run(job);
  if (job.error != nullptr) std::rethrow_exception(std::move(job.error));
}

void detail::parallel_run(int64_t begin, int64_t end, int64_t grain_size, RangeFunction function, const void* context) {
  parallel_chunks(begin, end, parallel_chunk(end - begin, grain_size), function, context);
}

}  // namespace taeda
