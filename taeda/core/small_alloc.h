// SPDX-License-Identifier: Apache-2.0
// Small blocks from thread-local free lists: objects (tensor handles' bodies, storages, grad nodes) and the data of
// tiny tensors. A block lives in a slab of equal blocks; threads exchange batches of blocks with the slabs under a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "taeda/core/export.h"

#if defined(__SANITIZE_ADDRESS__)
#define TAEDA_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TAEDA_ADDRESS_SANITIZER 1
#endif
#endif

// One pointer of static TLS: reading it is one instruction, also from a shared library.
#if defined(__linux__)
#define TAEDA_FAST_TLS __attribute__((tls_model("initial-exec")))
#else
#define TAEDA_FAST_TLS
#endif

namespace taeda {
namespace detail {

inline constexpr size_t kMaxObjectBytes = 512;
inline constexpr size_t kMaxSmallDataBytes = 4096;
inline constexpr size_t kObjectBins = kMaxObjectBytes / 16;
inline constexpr size_t kDataBins = 20;

struct FreeBlock {
  FreeBlock* next;
};

/// The free blocks of one size that a thread holds. Only the owner writes; others read the counters for statistics.
/// Invariant: count is the length of the list; count <= limit.
struct Bin {
  FreeBlock* head = nullptr;
  std::atomic<uint32_t> count{0};
  uint32_t limit = 0;
  std::atomic<uint64_t> allocations{0};  ///< served from the list
  std::atomic<int64_t> received{0};      ///< blocks taken from the slabs, less blocks given back

  void* pop() noexcept {
    FreeBlock* block = head;
    if (block == nullptr) return nullptr;
    head = block->next;
    count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    allocations.store(allocations.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return block;
  }

  bool push(void* pointer) noexcept {
    const uint32_t held = count.load(std::memory_order_relaxed);
    if (held >= limit) return false;
    auto* block = static_cast<FreeBlock*>(pointer);
    block->next = head;
    head = block;
    count.store(held + 1, std::memory_order_relaxed);
    return true;
  }
};

/// Classes of blocks above the small ones, eight to a doubling; a thread keeps a few blocks of the lower classes.
inline constexpr size_t kThreadMidClasses = 32;  // 4 KiB to 64 KiB

struct ThreadCache {
  Bin object[kObjectBins];
  Bin data[kDataBins];
  FreeBlock* mid[kThreadMidClasses] = {};
  std::atomic<size_t> mid_bytes{0};         ///< in `mid`
  std::atomic<uint64_t> mid_hits{0};        ///< allocations served from `mid`
  std::atomic<uint64_t> data_misses{0};  ///< allocations of data that had to go to the slabs
  ThreadCache* next = nullptr;
  ThreadCache* previous = nullptr;
};

/// Null until the thread's first small allocation, and again once the thread has begun to exit.
TAEDA_API extern constinit thread_local ThreadCache* tls_thread_cache TAEDA_FAST_TLS;

TAEDA_API void* small_alloc_slow(size_t bytes);
TAEDA_API void small_free_slow(void* block, size_t bytes) noexcept;

// Sizes of the data bins: multiples of 64 up to 512, then four (later three) to a doubling.
inline constexpr uint16_t kDataBinBytes[kDataBins] = {64,  128, 192,  256,  320,  384,  448,  512,  640,  768,
                                                      896, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584, 4096};
struct DataBinTable {
  uint8_t bin[kMaxSmallDataBytes / 64 + 1] = {};
  constexpr DataBinTable() {
    for (size_t i = 1, b = 0; i <= kMaxSmallDataBytes / 64; ++i) {
      if (i * 64 > kDataBinBytes[b]) ++b;
      bin[i] = static_cast<uint8_t>(b);
    }
  }
};
inline constexpr DataBinTable kDataBinTable{};
/// The bin of a data block of 1 ... kMaxSmallDataBytes bytes.
constexpr size_t data_bin(size_t bytes) { return kDataBinTable.bin[(bytes + 63) / 64]; }

}  // namespace detail

/// Memory for an object of `bytes` bytes, aligned to 16. Larger objects than 512 bytes come from the system.
/// Throws OutOfMemoryError. Under the address sanitizer this is malloc, so that it sees every misuse.
inline void* small_alloc(size_t bytes) {
#if !defined(TAEDA_ADDRESS_SANITIZER)
  const size_t bin = (bytes - 1) / 16;  // 0 bytes wraps to a huge bin and goes the slow way
  detail::ThreadCache* cache = detail::tls_thread_cache;
  if (bin < detail::kObjectBins && cache != nullptr) [[likely]] {
    if (void* block = cache->object[bin].pop()) [[likely]] return block;
  }
#endif
  return detail::small_alloc_slow(bytes);
}

/// Gives back a block of `small_alloc`, with the same `bytes`; any thread may do it, at any time up to process exit.
inline void small_free(void* block, size_t bytes) noexcept {
#if !defined(TAEDA_ADDRESS_SANITIZER)
  const size_t bin = (bytes - 1) / 16;
  detail::ThreadCache* cache = detail::tls_thread_cache;
  if (bin < detail::kObjectBins && cache != nullptr && block != nullptr) [[likely]] {
    if (cache->object[bin].push(block)) [[likely]] return;
  }
#endif
  detail::small_free_slow(block, bytes);
}

namespace detail {
// The engine below the thread lists, for allocator.cpp and the tests.

/// One block of a data bin, 64-byte aligned, through the thread's list; null when the system has no memory.
void* small_data_alloc(size_t bin);
void small_data_free(void* block, size_t bin) noexcept;
/// Gives the calling thread's free blocks back to their slabs and empty slabs to the system.
TAEDA_API void small_release_cached() noexcept;

struct SmallStats {
  int64_t data_live = 0;        ///< bytes of data blocks in users' hands
  uint64_t data_allocations = 0;
  uint64_t data_hits = 0;       ///< of these, served by a thread's list
  size_t mid_bytes = 0;         ///< of blocks above 4 KiB in the threads' lists
  uint64_t mid_hits = 0;        ///< allocations of such blocks served by a thread's list
  size_t data_slab_bytes = 0;   ///< bytes of slabs that hold data blocks
  size_t object_slab_bytes = 0;
  uint64_t system_calls = 0;
};
/// Exact totals over all threads.
TAEDA_API SmallStats small_stats() noexcept;
/// Upper bound of the live data bytes (counts the threads' lists as live); cheap.
int64_t small_data_bound() noexcept;
/// Bytes of slabs that hold data blocks; cheap.
size_t small_data_slab_bytes() noexcept;
inline constexpr size_t kSlabBytes = size_t{64} << 10;

void small_fork_lock() noexcept;
void small_fork_unlock() noexcept;
/// Gives the blocks above 4 KiB of a thread's lists back to the shared cache (allocator.cpp).
void release_mid_blocks(ThreadCache& cache) noexcept;
/// The calling thread's cache, made at its first use; null when the thread is exiting or memory is out.
ThreadCache* thread_cache() noexcept;
/// Registers the fork handlers of all allocators once (allocator.cpp).
void register_allocator_fork_handlers() noexcept;
}  // namespace detail
}  // namespace taeda
