// SPDX-License-Identifier: Apache-2.0
// The caching CPU allocator behind every tensor's data, its statistics and limits, and the interface of allocators.
//
// Up to 4 KiB: thread-local lists (small_alloc.h). Up to 1 MiB: exact size classes, shared, and a few blocks up to
// 64 KiB in the thread. Above: ranges of pages that are split, merged and returned to the system (block_cache.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "taeda/core/export.h"
#include "taeda/core/small_alloc.h"

namespace taeda {

/// A moment's picture of an allocator. Sizes in bytes, rounded up to what the allocator really uses for a block.
struct MemoryStats {
  static constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

  size_t current = 0;         ///< in users' hands
  size_t peak = 0;            ///< highest `current` since the start or `reset_peak_stats`; exact for blocks above 64 KiB
  size_t cached = 0;          ///< free, kept for reuse
  size_t reserved = 0;        ///< held from the system: current + cached
  size_t peak_reserved = 0;
  size_t largest_cached_block = 0;
  size_t limit = kUnlimited;        ///< bound of `reserved`
  size_t cache_limit = kUnlimited;  ///< bound of `cached` in shared blocks above 4 KiB
  uint64_t allocations = 0;
  uint64_t cache_hits = 0;    ///< allocations served without the system
  uint64_t system_calls = 0;  ///< requests to take memory from the system or to give it back
};

/// Memory of one device. `deallocate` takes the size that was asked for; both may be called from any thread.
struct TAEDA_API Allocator {
  virtual void* allocate(size_t bytes) = 0;
  virtual void deallocate(void* pointer, size_t bytes) noexcept = 0;
  virtual const char* name() const noexcept = 0;
  virtual MemoryStats stats() const = 0;
  virtual void empty_cache() = 0;
  virtual void reset_peak_stats() = 0;

 protected:
  ~Allocator() = default;  // allocators live as long as the process
};

/// The allocator of the CPU, as an object. `cpu_allocate` is the same without the virtual call.
TAEDA_API Allocator& cpu_allocator() noexcept;

namespace detail {
TAEDA_API void* cpu_allocate_slow(size_t bytes);
TAEDA_API void cpu_deallocate_slow(void* pointer, size_t bytes) noexcept;
[[noreturn]] TAEDA_API void throw_out_of_memory(size_t bytes);
}  // namespace detail

/// `bytes` bytes of uninitialised memory, aligned to 64; null for 0 bytes. Throws OutOfMemoryError when the limit or
/// the system does not allow it, after the cache was emptied and the request tried again.
inline void* cpu_allocate(size_t bytes) {
#if !defined(TAEDA_ADDRESS_SANITIZER)
  detail::ThreadCache* cache = detail::tls_thread_cache;
  if (bytes - 1 < detail::kMaxSmallDataBytes && cache != nullptr) [[likely]] {
    if (void* block = cache->data[detail::data_bin(bytes)].pop()) [[likely]] return block;
  }
#endif
  return detail::cpu_allocate_slow(bytes);
}

/// Gives back memory of `cpu_allocate`, with the same `bytes`; any thread may do it, at any time up to process exit.
inline void cpu_deallocate(void* pointer, size_t bytes) noexcept {
#if !defined(TAEDA_ADDRESS_SANITIZER)
  detail::ThreadCache* cache = detail::tls_thread_cache;
  if (bytes - 1 < detail::kMaxSmallDataBytes && cache != nullptr && pointer != nullptr) [[likely]] {
    if (cache->data[detail::data_bin(bytes)].push(pointer)) [[likely]] return;
  }
#endif
  detail::cpu_deallocate_slow(pointer, bytes);
}

/// Statistics of the CPU allocator over all threads. Cheap enough for every step, not for every operator.
TAEDA_API MemoryStats memory_stats();
/// The same as a table to print.
TAEDA_API std::string memory_summary();
/// Returns every cached block to the system (of the threads' lists, those of the calling thread).
TAEDA_API void empty_cache();
/// Makes the present use the peak.
TAEDA_API void reset_peak_stats();
/// Bounds what the allocator holds from the system; a request beyond it throws OutOfMemoryError.
/// Also read from the environment, in bytes: TAEDA_MEMORY_LIMIT.
TAEDA_API void set_memory_limit(size_t bytes);
/// Bounds what is kept for reuse in blocks above 4 KiB, the threads' lists (512 KiB each) aside. Without it the allocator holds at
/// most an eighth more than the highest recent use. Also read from the environment: TAEDA_CACHE_LIMIT.
TAEDA_API void set_memory_cache_limit(size_t bytes);

}  // namespace taeda
