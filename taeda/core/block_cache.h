// SPDX-License-Identifier: Apache-2.0
// Blocks above 4 KiB for the CPU allocator: classes of equal blocks up to 1 MiB, ranges of pages above. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "taeda/core/allocator.h"

namespace taeda::detail {

inline constexpr size_t kMaxMidBytes = size_t{1} << 20;
inline constexpr size_t kLargeGranule = size_t{64} << 10;
inline constexpr size_t kHugePage = size_t{2} << 20;

/// A free block of a class; the header lives in the block itself.
struct MidBlock {
  MidBlock* class_next;
  MidBlock* class_previous;
  MidBlock* age_next;  // towards older blocks
  MidBlock* age_previous;
  uint32_t index;
  uint64_t freed_at;
};

/// A range of pages. Neighbouring free ranges are always merged.
struct Range {
  size_t bytes = 0;
  bool free = false;
  uint64_t freed_at = 0;
};

/// Invariant: reserved == in_use + cached. The calls lock; nothing here is on the path of small blocks.
///
/// What is kept: before memory is taken from the system, the oldest free blocks go until in_use + cached is within an
/// eighth of the highest use of the recent past (two spans of kSpan allocations). So a loop finds its blocks again,
/// sizes that never return do not pile up, and a peak of long ago does not bind memory for ever.
class BlockCache {
 public:
  /// Null when the limit or the system forbids it; the cache has then been emptied and the request retried.
  void* allocate(size_t bytes);
  void deallocate(void* pointer, size_t bytes) noexcept;
  /// Frees the blocks of a thread's lists. They count as in use here as long as they are there.
  void deallocate_all(ThreadCache& cache) noexcept;
  /// Returns all free blocks to the system and forgets the use of the past.
  void empty() noexcept;
  void set_limit(size_t bytes) noexcept;
  void set_cache_limit(size_t bytes) noexcept;
  MemoryStats stats() noexcept;  ///< of the whole allocator, small blocks included
  void reset_peak() noexcept;
  /// After small blocks were taken: keeps the peaks right.
  void note_small() noexcept;
  /// Whether `bytes` more for small blocks fit into the limit; releases cached blocks to make room.
  bool make_room(size_t bytes) noexcept;

  void fork_lock() noexcept { mutex_.lock(); }
  void fork_unlock() noexcept { mutex_.unlock(); }

  static BlockCache& instance() noexcept;
  static constexpr size_t mid_class(size_t bytes) noexcept;
  static constexpr size_t mid_bytes(size_t index) noexcept;

 private:
  static constexpr size_t kClasses = 64;  // 8 to a doubling, from 4 KiB to 1 MiB
  static constexpr uint64_t kSpan = 1 << 14;
  static constexpr size_t kFloor = size_t{3} << 19;

  BlockCache();
  void* allocate_mid(size_t bytes);
  void* allocate_large(size_t bytes);
  void* take_range(size_t bytes);
  void* fresh_mid(size_t bytes);
  void* fresh_range(size_t bytes);
  void free_mid(void* pointer, size_t index) noexcept;
  void free_lists(ThreadCache& cache) noexcept;
  size_t used() const noexcept;
  void free_range(uintptr_t address) noexcept;
  bool prepare_fresh(size_t bytes) noexcept;
  bool make_room_locked(size_t bytes) noexcept;
  bool evict_oldest() noexcept;
  void evict_range(std::pair<size_t, uintptr_t> key) noexcept;
  void evict_mid(MidBlock* block) noexcept;
  void unlink(MidBlock* block) noexcept;
  void tick() noexcept;
  void note_use() noexcept;
  size_t exact_use() const noexcept;
  size_t allowance(size_t in_use) const noexcept;
  size_t reserved() const noexcept { return in_use_ + cached_ + small_data_slab_bytes(); }
  bool fits(size_t bytes) const noexcept;

  std::mutex mutex_;
  MidBlock* classes_[kClasses] = {};
  MidBlock* newest_ = nullptr;
  MidBlock* oldest_ = nullptr;
  std::map<uintptr_t, Range> ranges_;                 // all, free or not, by address
  std::set<std::pair<size_t, uintptr_t>> free_ranges_;  // by size
  size_t in_use_ = 0;
  size_t cached_ = 0;
  size_t peak_ = 0;
  size_t peak_reserved_ = 0;
  size_t span_peak_ = 0;      // highest used() of this span
  size_t previous_peak_ = 0;  // and of the one before
  size_t limit_ = MemoryStats::kUnlimited;
  size_t cache_limit_ = MemoryStats::kUnlimited;
  uint64_t clock_ = 0;
  uint64_t allocations_ = 0;
  uint64_t hits_ = 0;
  uint64_t system_calls_ = 0;
};

/// Blocks of more than 4 KiB and at most 1 MiB: eight classes to a doubling.
constexpr size_t BlockCache::mid_class(size_t bytes) noexcept {
  const size_t last = bytes - 1;
  const int top = 63 - __builtin_clzll(last);  // 12 ... 19
  return static_cast<size_t>(top - 12) * 8 + ((last >> (top - 3)) & 7);
}
constexpr size_t BlockCache::mid_bytes(size_t index) noexcept {
  return (size_t{9} + index % 8) << (index / 8 + 9);
}

}  // namespace taeda::detail
