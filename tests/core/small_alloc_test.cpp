// SPDX-License-Identifier: Apache-2.0
// Small blocks: distinct, aligned, reusable, safe across threads, thread exit, process exit and fork.
#include "taeda/core/small_alloc.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace taeda {
namespace {

TEST(SmallAlloc, BlocksAreAlignedDistinctAndWritable) {
  std::vector<std::pair<unsigned char*, size_t>> blocks;
  std::set<void*> seen;
  for (size_t bytes = 0; bytes <= 600; bytes += 7) {
    for (int i = 0; i < 40; ++i) {
      auto* block = static_cast<unsigned char*>(small_alloc(bytes));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 16, 0u);
      EXPECT_TRUE(seen.insert(block).second);
      std::memset(block, static_cast<int>(bytes & 0xff), bytes);
      blocks.emplace_back(block, bytes);
    }
  }
  for (auto [block, bytes] : blocks) {
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(block[i], bytes & 0xff);
    small_free(block, bytes);
  }
}

#if !defined(TAEDA_ADDRESS_SANITIZER)
TEST(SmallAlloc, FreedBlockIsReusedFirst) {
  void* first = small_alloc(96);
  small_free(first, 96);
  void* second = small_alloc(96);
  EXPECT_EQ(first, second);
  small_free(second, 96);
}

TEST(SmallAlloc, BlocksFreedOnAnotherThreadComeBackAndMemoryStaysBounded) {
  const size_t before = detail::small_stats().object_slab_bytes;
  for (int round = 0; round < 50; ++round) {
    std::vector<void*> blocks(4000);
    for (void*& block : blocks) block = small_alloc(128);
    std::thread([&] {
      for (void* block : blocks) small_free(block, 128);
    }).join();
  }
  const size_t live = 4000 * 128;
  EXPECT_LE(detail::small_stats().object_slab_bytes, before + 3 * live);
}

TEST(SmallAlloc, ReleaseReturnsEmptySlabs) {
  std::vector<void*> blocks(20000);
  for (void*& block : blocks) block = small_alloc(512);
  const size_t full = detail::small_stats().object_slab_bytes;
  for (void* block : blocks) small_free(block, 512);
  detail::small_release_cached();
  EXPECT_LE(detail::small_stats().object_slab_bytes + 9'000'000, full);
}
#endif

struct FreesAtThreadExit {
  void* block = nullptr;
  ~FreesAtThreadExit() {
    small_free(block, 64);
    void* another = small_alloc(80);
    small_free(another, 80);
  }
};

TEST(SmallAlloc, ThreadLocalDestructorsMayAllocateAndFree) {
  for (int i = 0; i < 20; ++i) {
    std::thread([] {
      thread_local FreesAtThreadExit holder;
      holder.block = small_alloc(64);
    }).join();
  }
}

// Freed when the process exits, after the test program's main has returned.
struct FreesAtProcessExit {
  void* block = small_alloc(48);
  ~FreesAtProcessExit() { small_free(block, 48); }
};
FreesAtProcessExit g_freed_at_exit;

#if !defined(TAEDA_ADDRESS_SANITIZER)  // whose own allocator does not survive a fork among busy threads
TEST(SmallAlloc, ForkedChildAllocatesWhileParentThreadsDo) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      std::vector<void*> blocks(2000);
      while (!stop) {
        for (void*& block : blocks) block = small_alloc(200);
        for (void* block : blocks) small_free(block, 200);
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      std::vector<void*> blocks(2000);
      for (void*& block : blocks) block = small_alloc(200);
      for (void* block : blocks) small_free(block, 200);
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

TEST(SmallAlloc, ManyThreadsExchangeBlocks) {
  constexpr int kThreads = 4;
  std::vector<std::atomic<void*>> slots(256);
  for (auto& slot : slots) slot = nullptr;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      uint32_t state = 12345u + static_cast<uint32_t>(t);
      for (int i = 0; i < 50000; ++i) {
        state = state * 1664525u + 1013904223u;
        auto* block = static_cast<uint32_t*>(small_alloc(160));
        block[0] = block[39] = state;
        void* other = slots[(state >> 8) % slots.size()].exchange(block);
        if (other == nullptr) continue;
        auto* words = static_cast<uint32_t*>(other);
        ASSERT_EQ(words[0], words[39]);
        small_free(other, 160);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& slot : slots) small_free(slot.load(), 160);
}

}  // namespace
}  // namespace taeda
