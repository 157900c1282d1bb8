// SPDX-License-Identifier: Apache-2.0
// The thread that makes plans: started by the first job, ended at exit, idle while the process forks.
#include "taeda/compile/background.h"

#include <pthread.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <thread>

#include "taeda/compile/fuse.h"
#include "taeda/compile/state.h"

namespace taeda::lazy {

namespace {

/// Invariant: `mutex` guards the rest; `busy` while a job runs.
struct Worker {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;
  std::thread thread;
  bool busy = false, ended = false;

  void add(std::function<void()> job) {
    const std::lock_guard lock(mutex);
    if (ended) return;
    jobs.push_back(std::move(job));
    if (!thread.joinable()) thread = std::thread([this] { work(); });
    changed.notify_all();
  }
  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return ended || !jobs.empty(); });
      if (ended) return;
      std::function<void()> job = std::move(jobs.front());
      jobs.pop_front();
      busy = true;
      lock.unlock();
      job();
      job = nullptr;
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }
  void wait(std::unique_lock<std::mutex>& lock) {
    changed.wait(lock, [&] { return !busy && (ended || jobs.empty()); });
  }
  void end() {
    {
      std::unique_lock lock(mutex);
      ended = true;
      jobs.clear();
      changed.notify_all();
    }
    if (thread.joinable()) thread.join();
  }
};

Worker*& current_worker() {
  static Worker* worker = nullptr;
  return worker;
}

/// Never destroyed. A child process gets a new one: threads do not pass through a fork.
Worker& worker() {
  static const bool registered = [] {
    current_worker() = new Worker;
    std::atexit([] { current_worker()->end(); });
    pthread_atfork(
        [] {
          std::unique_lock lock(current_worker()->mutex);
          current_worker()->changed.wait(lock, [] { return !current_worker()->busy; });
          lock.release();  // held until the fork is over
        },
        [] { current_worker()->mutex.unlock(); }, [] { current_worker() = new Worker; });
    return true;
  }();
  (void)registered;
  return *current_worker();
}

}  // namespace

const Plan* add_plan(Step& end, Plan* plan) {
  plan->next = end.plans.load(std::memory_order_relaxed);
  while (!end.plans.compare_exchange_weak(plan->next, plan, std::memory_order_acq_rel)) {
  }
  return plan;
}

void make_plan_later(State& state, Step& end, const Step* start, const Segment& segment, const std::vector<bool>& alive) {
  // Plans look at steps and flags, not at storages.
  auto copy = std::make_shared<Segment>();
  copy->pending = segment.pending;
  copy->numbers = segment.numbers;
  for (const SegmentValue& v : segment.values) {
    SegmentValue& to = copy->values.emplace_back();
    to.produced = v.produced;
    to.result = v.result;
  }
  state.trace.pin();
  worker().add([state = state.shared_from_this(), copy, &end, start, alive] {
    try {
      const Plan* plan = add_plan(end, new Plan(start, *copy, alive, state->trace.loops()));
      log(state->trace, "plan of ", plan->units.size(), " kernels for ", copy->pending.size(), " operators, made in the background");
    } catch (const std::exception& e) {
      log(state->trace, "a plan could not be made, operators go on running one by one: ", e.what());
    }
    state->trace.unpin();
  });
}

void wait_for_plans() {
  Worker& w = worker();
  std::unique_lock lock(w.mutex);
  w.wait(lock);
}

}  // namespace taeda::lazy
