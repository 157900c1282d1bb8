// SPDX-License-Identifier: Apache-2.0
// The CPU allocator: alignment, reuse without page faults, bounds on what it holds, limits, statistics, threads, fork.
#include "taeda/core/allocator.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "taeda/core/error.h"

namespace taeda {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

struct Block {
  unsigned char* data;
  size_t bytes;
};

Block take(size_t bytes) { return {static_cast<unsigned char*>(cpu_allocate(bytes)), bytes}; }
void give(Block block) { cpu_deallocate(block.data, block.bytes); }

TEST(Allocator, BlocksOfEverySizeAreAlignedAndDistinct) {
  std::vector<Block> blocks;
  for (size_t bytes : {1, 63, 64, 65, 511, 513, 4095, 4096, 4097, 5000, 65536, 1 << 20, (1 << 20) + 1, 3 << 20}) {
    for (int i = 0; i < 5; ++i) {
      blocks.push_back(take(bytes));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().data) % 64, 0u) << bytes;
      std::memset(blocks.back().data, static_cast<int>(blocks.size()), bytes);
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i].data[0], i + 1);
    EXPECT_EQ(blocks[i].data[blocks[i].bytes - 1], i + 1);
  }
  for (Block block : blocks) give(block);
  EXPECT_EQ(cpu_allocate(0), nullptr);
  cpu_deallocate(nullptr, 0);
}

TEST(Allocator, RandomTrafficNeverOverlaps) {
  std::mt19937 random(7);
  std::vector<Block> live;
  for (int i = 0; i < 6000; ++i) {
    if (live.size() > 60 || (!live.empty() && random() % 3 == 0)) {
      const size_t pick = random() % live.size();
      const Block block = live[pick];
      ASSERT_EQ(block.data[0], block.bytes % 251);
      ASSERT_EQ(block.data[block.bytes - 1], block.bytes % 251);
      give(block);
      live[pick] = live.back();
      live.pop_back();
    } else {
      const size_t bytes = (size_t{1} << (random() % 22)) + random() % 3000;
      const Block block = take(bytes);
      block.data[0] = block.data[bytes - 1] = static_cast<unsigned char>(bytes % 251);
      live.push_back(block);
    }
  }
  for (Block block : live) give(block);
}

#if !defined(TAEDA_ADDRESS_SANITIZER)
long minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST(Allocator, LargeOutputOfALoopDoesNotFaultAgain) {
  for (int i = 0; i < 2; ++i) {
    const Block block = take(64 * kMiB);
    std::memset(block.data, i, block.bytes);
    give(block);
  }
  const long before = minor_faults();
  for (int i = 0; i < 20; ++i) {
    const Block block = take(64 * kMiB);
    std::memset(block.data, i, block.bytes);
    give(block);
  }
  EXPECT_LT(minor_faults() - before, 20);
}

TEST(Allocator, TwoLargeSizesInTurnDoNotFaultAgain) {
  const auto round = [] {
    const Block a = take(48 * kMiB), b = take(17 * kMiB + 12345);
    std::memset(a.data, 1, a.bytes);
    std::memset(b.data, 1, b.bytes);
    give(a);
    const Block c = take(31 * kMiB);
    std::memset(c.data, 1, c.bytes);
    give(b);
    give(c);
  };
  for (int i = 0; i < 3; ++i) round();
  const long before = minor_faults();
  for (int i = 0; i < 10; ++i) round();
  EXPECT_LT(minor_faults() - before, 20);
}

void expect_bounded(const std::vector<size_t>& sizes) {
  empty_cache();
  const size_t base = memory_stats().reserved;
  size_t largest = 0, highest = 0;
  for (size_t bytes : sizes) {
    give(take(bytes));
    largest = std::max(largest, bytes);
    highest = std::max(highest, memory_stats().reserved - base);
  }
  EXPECT_LE(static_cast<double>(highest), 1.2 * static_cast<double>(largest));
}

TEST(Allocator, ThousandSizesHoldLittleMoreThanTheLargest) {
  std::vector<size_t> sizes;
  for (size_t i = 1; i <= 1000; ++i) sizes.push_back(i * 65521);
  expect_bounded(sizes);
  std::reverse(sizes.begin(), sizes.end());
  expect_bounded(sizes);
  std::shuffle(sizes.begin(), sizes.end(), std::mt19937(3));
  expect_bounded(sizes);
  for (size_t& bytes : sizes) bytes = bytes / 16 + 4097;  // the classes up to 1 MiB
  expect_bounded(sizes);
  for (size_t& bytes : sizes) bytes = bytes / 2 + 4097;
  expect_bounded(sizes);
}

TEST(Allocator, ThreadListsOfMiddleBlocksAreReusedAndBounded) {
  empty_cache();
  const uint64_t hits = memory_stats().cache_hits;
  const Block first = take(20000);
  give(first);
  const Block second = take(20000);
  EXPECT_EQ(first.data, second.data);
  give(second);
  EXPECT_EQ(memory_stats().cache_hits, hits + 1);
  EXPECT_GE(memory_stats().cached, 20000u);
  std::vector<Block> many;
  for (int i = 0; i < 200; ++i) many.push_back(take(30000));
  const size_t current = memory_stats().current;
  for (Block block : many) give(block);
  EXPECT_LE(memory_stats().current + 200 * 30000, current);
  empty_cache();
  EXPECT_EQ(memory_stats().largest_cached_block, 0u);
}

TEST(Allocator, RangesSplitAndMerge) {
  empty_cache();
  give(take(64 * kMiB));
  const uint64_t calls = memory_stats().system_calls;
  std::vector<Block> parts;
  for (int i = 0; i < 4; ++i) parts.push_back(take(16 * kMiB));
  for (Block part : parts) give(part);
  give(take(64 * kMiB));
  EXPECT_EQ(memory_stats().system_calls, calls);
  EXPECT_EQ(memory_stats().largest_cached_block, 64 * kMiB);
}

TEST(Allocator, CacheLimitIsKept) {
  empty_cache();
  set_memory_cache_limit(0);
  const size_t before = memory_stats().cached;
  give(take(8 * kMiB));
  give(take(100000));
  EXPECT_EQ(memory_stats().cached, before);
  set_memory_cache_limit(MemoryStats::kUnlimited);
}

TEST(Allocator, LimitReleasesCacheBeforeItFails) {
  empty_cache();
  const Block block = take(10 * kMiB);
  give(block);
  ASSERT_GE(memory_stats().cached, 10 * kMiB);
  set_memory_limit(memory_stats().reserved + kMiB);
  EXPECT_NO_THROW(give(take(11 * kMiB)));
  set_memory_limit(MemoryStats::kUnlimited);
}

TEST(Allocator, StatisticsCount) {
  const MemoryStats before = memory_stats();
  give(take(100));
  give(take(100));
  give(take(2 * kMiB));
  const MemoryStats after = memory_stats();
  EXPECT_EQ(after.allocations - before.allocations, 3u);
  EXPECT_GE(after.cache_hits - before.cache_hits, 1u);
  EXPECT_EQ(after.current, before.current);
  EXPECT_EQ(after.reserved, after.current + after.cached);
}

struct FreesAtThreadExit {
  Block small{}, mid{}, large{};
  ~FreesAtThreadExit() {
    give(small);
    give(mid);
    give(large);
    give(take(300));
  }
};

TEST(Allocator, ThreadExitGivesEverythingBack) {
  const size_t before = memory_stats().current;
  for (int i = 0; i < 10; ++i) {
    std::thread([] {
      thread_local FreesAtThreadExit holder;
      holder.small = take(256);
      holder.mid = take(40000);
      holder.large = take(2 * kMiB);
      for (int k = 0; k < 100; ++k) give(take(static_cast<size_t>(k) * 37 + 1));
    }).join();
  }
  EXPECT_EQ(memory_stats().current, before);
}
#endif

TEST(Allocator, PeakSeesLargeBlocks) {
  empty_cache();
  reset_peak_stats();
  const MemoryStats start = memory_stats();
  EXPECT_EQ(start.peak, start.current);
  const Block a = take(5 * kMiB), b = take(7 * kMiB);
  give(a);
  const Block c = take(kMiB);
  const MemoryStats now = memory_stats();
  EXPECT_EQ(now.current, start.current + 8 * kMiB);
  EXPECT_EQ(now.peak, start.current + 12 * kMiB);
  give(b);
  give(c);
  reset_peak_stats();
  EXPECT_EQ(memory_stats().peak, memory_stats().current);
}

TEST(Allocator, BeyondTheLimitIsATypedErrorThatExplains) {
  set_memory_limit(memory_stats().reserved + 4 * kMiB);
  try {
    cpu_allocate(50 * kMiB);
    FAIL() << "no error";
  } catch (const OutOfMemoryError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("50.00 MiB"), std::string::npos) << text;
    EXPECT_NE(text.find("largest cached block"), std::string::npos) << text;
    EXPECT_NE(text.find("set_memory_limit"), std::string::npos) << text;
  }
  set_memory_limit(MemoryStats::kUnlimited);
  EXPECT_NO_THROW(give(take(50 * kMiB)));
}

TEST(Allocator, AbsurdSizesAreErrorsToo) {
  EXPECT_THROW(cpu_allocate(static_cast<size_t>(-1)), OutOfMemoryError);
  EXPECT_THROW(cpu_allocate(size_t{1} << 46), Error);
}

TEST(Allocator, SummaryNamesWhatMatters) {
  const std::string text = memory_summary();
  for (const char* word : {"in use", "peak in use", "cached", "held from the system", "allocations"}) {
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
}

TEST(Allocator, ObjectInterfaceIsTheSameAllocator) {
  Allocator& allocator = cpu_allocator();
  void* pointer = allocator.allocate(3 * kMiB);
  EXPECT_GE(allocator.stats().current, 3 * kMiB);
  allocator.deallocate(pointer, 3 * kMiB);
  EXPECT_STREQ(allocator.name(), "cpu");
}

void traffic(unsigned seed, int steps) {
  std::mt19937 random(seed);
  std::vector<Block> live;
  for (int i = 0; i < steps; ++i) {
    const size_t bytes = (size_t{1} << (random() % 22)) + random() % 1000;
    const Block block = take(bytes);
    block.data[0] = block.data[bytes - 1] = static_cast<unsigned char>(seed);
    live.push_back(block);
    if (live.size() < 20) continue;
    const size_t pick = random() % live.size();
    ASSERT_EQ(live[pick].data[0], static_cast<unsigned char>(seed));
    give(live[pick]);
    live[pick] = live.back();
    live.pop_back();
  }
  for (Block block : live) give(block);
}

TEST(Allocator, ThreadsShareIt) {
  const size_t before = memory_stats().current;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back(traffic, t + 1, 3000);
  for (int i = 0; i < 50; ++i) (void)memory_stats();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory_stats().current, before);
}

#if !defined(TAEDA_ADDRESS_SANITIZER)  // whose own allocator does not survive a fork among busy threads
TEST(Allocator, ForkedChildAllocatesWhileParentThreadsDo) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2; ++t) {
    threads.emplace_back([&stop, t] {
      while (!stop) traffic(t, 200);
    });
  }
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      traffic(9, 300);
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}
#endif

struct FreesAtProcessExit {
  Block small{nullptr, 0}, large{nullptr, 0};
  ~FreesAtProcessExit() {
    give(small);
    give(large);
  }
};
FreesAtProcessExit g_freed_at_exit;

TEST(Allocator, BlocksMayBeFreedAfterMain) {
  g_freed_at_exit.small = take(100);
  g_freed_at_exit.large = take(2 * kMiB);
}

}  // namespace
}  // namespace taeda
