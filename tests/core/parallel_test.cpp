// SPDX-License-Identifier: Apache-2.0
// Parallel loops: coverage, fixed ranges, the cap with many callers, exceptions, nesting, modes, fork, exit.
#include "taeda/core/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "taeda/core/error.h"
#include "taeda/core/modes.h"

namespace taeda {
namespace {

class Threads {
 public:
  explicit Threads(int n) : before_(get_num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(before_); }

 private:
  int before_;
};

using Ranges = std::set<std::pair<int64_t, int64_t>>;

Ranges ranges_of(int64_t begin, int64_t end, int64_t grain) {
  std::mutex mutex;
  Ranges ranges;
  parallel_for(begin, end, grain, [&](int64_t b, int64_t e) {
    std::lock_guard lock(mutex);
    EXPECT_TRUE(ranges.emplace(b, e).second);
  });
  return ranges;
}

TEST(Parallel, EveryIndexIsVisitedOnce) {
  for (int threads : {1, 2, 3, 4, 7}) {
    Threads guard(threads);
    for (int64_t n : {0, 1, 2, 5, 100, 1001}) {
      for (int64_t grain : {0, 1, 3, 64, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
        parallel_for(10, 10 + n, grain, [&](int64_t b, int64_t e) {
          EXPECT_LT(b, e);
          for (int64_t i = b; i < e; ++i) visits[static_cast<size_t>(i - 10)].fetch_add(1);
        });
        for (const auto& count : visits) ASSERT_EQ(count.load(), 1);
      }
    }
  }
}

#ifndef TAEDA_SMALL_GRAINS  // which sets every grain size to 1
TEST(Parallel, RangesFollowFromSizeGrainAndThreadCount) {
  Threads guard(4);
  EXPECT_EQ(ranges_of(0, 10, 1), (Ranges{{0, 3}, {3, 6}, {6, 9}, {9, 10}}));
  EXPECT_EQ(ranges_of(0, 10, 6), (Ranges{{0, 5}, {5, 10}}));
  EXPECT_EQ(ranges_of(5, 9, 4), (Ranges{{5, 9}}));
  EXPECT_EQ(ranges_of(5, 5, 1), Ranges{});
  for (int i = 0; i < 200; ++i) ASSERT_EQ(ranges_of(0, 1000, 10).size(), 4u);
}

TEST(Parallel, SmallLoopsRunOnTheCallerOutsideAnyRegion) {
  Threads guard(4);
  const auto caller = std::this_thread::get_id();
  parallel_for(0, 100, 100, [&](int64_t b, int64_t e) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(e - b, 100);
    EXPECT_FALSE(in_parallel_region());
  });
}
#endif

TEST(Parallel, SeveralThreadsTakePart) {
  Threads guard(3);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  std::atomic<int> arrived{0};
  parallel_for(0, 3, 1, [&](int64_t, int64_t) {
    arrived.fetch_add(1);
    // Chunks wait for each other: this ends only if they run at the same time.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived.load() < 3 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(ids.size(), 3u);
}

TEST(Parallel, ThreadNumbersAreDistinctAndBelowTheCount) {
  Threads guard(4);
  std::vector<std::atomic<int>> inside(4);
  EXPECT_EQ(get_thread_num(), 0);
  parallel_for(0, 64, 1, [&](int64_t, int64_t) {
    ASSERT_GE(get_thread_num(), 0);
    ASSERT_LT(get_thread_num(), 4);
    EXPECT_EQ(inside[static_cast<size_t>(get_thread_num())].fetch_add(1), 0);
    inside[static_cast<size_t>(get_thread_num())].fetch_sub(1);
  });
}

TEST(Parallel, NestedLoopsRunInline) {
  Threads guard(4);
  std::atomic<int> total{0};
  parallel_for(0, 8, 1, [&](int64_t b, int64_t e) {
    EXPECT_TRUE(in_parallel_region());
    const auto outer = std::this_thread::get_id();
    for (int64_t i = b; i < e; ++i) {
      parallel_for(0, 100, 1, [&](int64_t from, int64_t to) {
        EXPECT_EQ(std::this_thread::get_id(), outer);
        total += static_cast<int>(to - from);
      });
    }
  });
  EXPECT_EQ(total.load(), 800);
  EXPECT_FALSE(in_parallel_region());
}

TEST(Parallel, ExceptionOfTheLowestChunkArrivesAfterAllHaveRun) {
  Threads guard(4);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ran{0};
    try {
      parallel_for(0, 4, 1, [&](int64_t b, int64_t) {
        ran.fetch_add(1);
        if (b > 0) throw std::runtime_error("chunk " + std::to_string(b));
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "chunk 1");
    }
    EXPECT_EQ(ran.load(), 4);
    EXPECT_FALSE(in_parallel_region());
  }
}

TEST(Parallel, ModesOfTheCallerHoldInEveryChunk) {
  Threads guard(3);
  ModesGuard restore;
  for (uint32_t active : {0u, 5u, 9u}) {
    tls_modes.active = active;
    parallel_for(0, 300, 1, [&](int64_t, int64_t) {
      EXPECT_EQ(tls_modes.active, active);
      tls_modes.active = 77;  // stays in this chunk
    });
    EXPECT_EQ(tls_modes.active, active);
  }
}

TEST(Parallel, ReduceCombinesInOrder) {
  std::vector<float> values(100000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1.0f / static_cast<float>(i + 1);
  const auto sum = [&] {
    return parallel_reduce(
        0, static_cast<int64_t>(values.size()), 100, 0.0f,
        [&](int64_t b, int64_t e, float start) {
          return std::accumulate(values.begin() + b, values.begin() + e, start);
        },
        [](float a, float b) { return a + b; });
  };
  Threads guard(4);
  const float first = sum();
  EXPECT_NEAR(first, 12.09f, 0.01f);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(sum(), first);
  EXPECT_EQ(parallel_reduce(3, 3, 1, 7, [](int64_t, int64_t, int) { return 0; }, [](int a, int b) { return a + b; }), 7);
}

TEST(Parallel, ManyCallersStayWithinTheCap) {
  constexpr int kCallers = 4, kThreads = 3;
  Threads guard(kThreads);
  std::atomic<int> running{0}, highest{0};
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c) {
    callers.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        parallel_for(0, 60, 1, [&](int64_t b, int64_t e) {
          const int now = running.fetch_add(1) + 1;
          int seen = highest.load();
          while (seen < now && !highest.compare_exchange_weak(seen, now)) {
          }
          total += e - b;
          running.fetch_sub(1);
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total.load(), int64_t{kCallers} * 300 * 60);
  // The callers' own threads run whatever the cap; workers only fill up to it.
  EXPECT_LE(highest.load(), kCallers + kThreads - 1);
}

int process_threads() {
  int count = 0;
  if (FILE* file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, file)) {
      if (std::sscanf(line, "Threads: %d", &count) == 1) break;
    }
    std::fclose(file);
  }
  return count;
}

TEST(Parallel, ThreadsInTheProcessAreBounded) {
  Threads guard(3);
  for (int i = 0; i < 100; ++i) ranges_of(0, 100, 1);
  const int before = process_threads();
  std::vector<std::thread> callers;
  std::atomic<int> most{0};
  for (int c = 0; c < 5; ++c) {
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) ranges_of(0, 100, 1);
      int seen = most.load();
      const int now = process_threads();
      while (seen < now && !most.compare_exchange_weak(seen, now)) {
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_LE(most.load(), before + 5);
}

TEST(Parallel, IdleThreadsSleep) {
  Threads guard(3);
  ranges_of(0, 100, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::clock_t before = std::clock();  // processor time of all threads
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.1);
}

#if !defined(__SANITIZE_THREAD__)  // which does not let a forked child start threads
TEST(Parallel, ForkedChildStartsItsOwnPool) {
  Threads guard(3);
  ranges_of(0, 100, 1);
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      std::atomic<int64_t> sum{0};
      for (int k = 0; k < 20; ++k) parallel_for(0, 90, 1, [&](int64_t b, int64_t e) { sum += e - b; });
      _exit(sum.load() == 1800 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(ranges_of(0, 100, 1).size(), 3u);
}
#endif

TEST(Parallel, ThreadCountIsChecked) {
  EXPECT_GE(get_num_threads(), 1);
  EXPECT_THROW(set_num_threads(0), ValueError);
  EXPECT_THROW(set_num_threads(-3), ValueError);
}

// A loop during static destruction still completes.
struct LoopsAtExit {
  ~LoopsAtExit() {
    set_num_threads(2);
    std::atomic<int> sum{0};
    parallel_for(0, 10, 1, [&](int64_t b, int64_t e) { sum += static_cast<int>(e - b); });
    if (sum.load() != 10) std::abort();
  }
};
LoopsAtExit g_loops_at_exit;

}  // namespace
}  // namespace taeda
