// SPDX-License-Identifier: Apache-2.0
// Blocks above 4 KiB: reuse, splitting and merging, and what goes back to the system when.
#include "taeda/core/block_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace taeda::detail {

static_assert(BlockCache::mid_class(4097) == 0 && BlockCache::mid_bytes(0) == 4096 + 512);
static_assert(BlockCache::mid_class(kMaxMidBytes) == 63 && BlockCache::mid_bytes(63) == kMaxMidBytes);

namespace {

size_t environment_bytes(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return MemoryStats::kUnlimited;
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 10);
  return *end == '\0' ? static_cast<size_t>(value) : MemoryStats::kUnlimited;
}

[[noreturn]] void bad_free(const void* pointer) {
  std::fprintf(stderr, "[cpu_deallocate] a pointer must come from cpu_allocate and be freed once: got %p\n", pointer);
  std::abort();
}

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

BlockCache& BlockCache::instance() noexcept {
  // Never destroyed: tensors are freed during static destruction.
  static BlockCache* cache = new BlockCache;
  return *cache;
}

BlockCache::BlockCache() {
  limit_ = environment_bytes("TAEDA_MEMORY_LIMIT");
  cache_limit_ = environment_bytes("TAEDA_CACHE_LIMIT");
  register_allocator_fork_handlers();
}

void* BlockCache::allocate(size_t bytes) {
  if (bytes > (size_t{1} << 47)) return nullptr;  // more than any address space
  std::lock_guard lock(mutex_);
  tick();
  void* pointer = bytes <= kMaxMidBytes ? allocate_mid(bytes) : allocate_large(bytes);
  if (pointer == nullptr) return nullptr;
  ++allocations_;
  note_use();
  return pointer;
}

void BlockCache::deallocate(void* pointer, size_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  ++clock_;
  if (bytes > kMaxMidBytes) {
    free_range(reinterpret_cast<uintptr_t>(pointer));
  } else {
    free_mid(pointer, mid_class(bytes));
  }
  while (cached_ > cache_limit_ && evict_oldest()) {
  }
}

void BlockCache::deallocate_all(ThreadCache& cache) noexcept {
  std::lock_guard lock(mutex_);
  free_lists(cache);
  while (cached_ > cache_limit_ && evict_oldest()) {
  }
}

void BlockCache::free_lists(ThreadCache& cache) noexcept {
  ++clock_;
  for (size_t index = 0; index < kThreadMidClasses; ++index) {
    while (FreeBlock* block = cache.mid[index]) {
      cache.mid[index] = block->next;
      free_mid(block, index);
    }
  }
  cache.mid_bytes.store(0, std::memory_order_relaxed);
}

/// in_use_ without the lists of the calling thread.
size_t BlockCache::used() const noexcept {
  const ThreadCache* cache = tls_thread_cache;
  const size_t listed = cache != nullptr ? cache->mid_bytes.load(std::memory_order_relaxed) : 0;
  return in_use_ - std::min(in_use_, listed);
}

void BlockCache::free_mid(void* pointer, size_t index) noexcept {
  MidBlock* first = classes_[index];
  auto* block = new (pointer) MidBlock{first, nullptr, newest_, nullptr, static_cast<uint32_t>(index), clock_};
  if (first != nullptr) first->class_previous = block;
  classes_[index] = block;
  (newest_ != nullptr ? newest_->age_previous : oldest_) = block;
  newest_ = block;
  in_use_ -= mid_bytes(index);
  cached_ += mid_bytes(index);
}

void* BlockCache::allocate_mid(size_t bytes) {
  const size_t index = mid_class(bytes);
  bytes = mid_bytes(index);
  MidBlock* block = classes_[index];
  if (block == nullptr) return fresh_mid(bytes);
  unlink(block);
  cached_ -= bytes;
  in_use_ += bytes;
  ++hits_;
  return block;
}

void* BlockCache::fresh_mid(size_t bytes) {
  if (!prepare_fresh(bytes)) return nullptr;
  void* pointer = nullptr;
  ++system_calls_;
  if (posix_memalign(&pointer, 64, bytes) != 0) {
    while (evict_oldest()) {
    }
    ++system_calls_;
    if (posix_memalign(&pointer, 64, bytes) != 0) return nullptr;
  }
  in_use_ += bytes;
  return pointer;
}

void* BlockCache::allocate_large(size_t bytes) {
  bytes = round_up(bytes, kLargeGranule);
  if (void* pointer = take_range(bytes)) {
    ++hits_;
    return pointer;
  }
  return fresh_range(bytes);
}

/// The smallest free range that is large enough; the rest of it stays free. A much larger range is left whole as long
/// as the cache may grow instead.
void* BlockCache::take_range(size_t bytes) {
  auto found = free_ranges_.lower_bound({bytes, 0});
  if (found == free_ranges_.end()) return nullptr;
  const auto [size, address] = *found;
  if (size / 2 > bytes && in_use_ + cached_ + bytes <= allowance(used() + bytes) && fits(bytes)) return nullptr;
  free_ranges_.erase(found);
  Range& range = ranges_.find(address)->second;
  range.free = false;
  const size_t rest = size - bytes;
  if (rest >= std::max(4 * kLargeGranule, bytes / 16)) {
    range.bytes = bytes;
    ranges_[address + bytes] = Range{rest, true, range.freed_at};
    free_ranges_.insert({rest, address + bytes});
  }
  cached_ -= range.bytes;
  in_use_ += range.bytes;
  return reinterpret_cast<void*>(address);
}

void* BlockCache::fresh_range(size_t bytes) {
  if (!prepare_fresh(bytes)) return nullptr;
  const bool huge = bytes >= kHugePage;
  const size_t reach = huge ? bytes + kHugePage : bytes;
  void* raw = MAP_FAILED;
  for (int attempt = 0; attempt < 2 && raw == MAP_FAILED; ++attempt) {
    while (attempt == 1 && evict_oldest()) {
    }
    ++system_calls_;
    raw = mmap(nullptr, reach, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (raw == MAP_FAILED) return nullptr;
  auto address = reinterpret_cast<uintptr_t>(raw);
  if (huge) {
    const uintptr_t base = round_up(address, kHugePage);
    if (base > address) munmap(raw, base - address);
    const size_t tail = address + reach - (base + bytes);
    if (tail > 0) munmap(reinterpret_cast<void*>(base + bytes), tail);
    address = base;
#if defined(MADV_HUGEPAGE)
    madvise(reinterpret_cast<void*>(address), bytes, MADV_HUGEPAGE);
#endif
  }
  ranges_[address] = Range{bytes, false, 0};
  in_use_ += bytes;
  return reinterpret_cast<void*>(address);
}

void BlockCache::free_range(uintptr_t address) noexcept {
  auto range = ranges_.find(address);
  if (range == ranges_.end() || range->second.free) bad_free(reinterpret_cast<void*>(address));
  in_use_ -= range->second.bytes;
  cached_ += range->second.bytes;
  auto next = std::next(range);
  if (next != ranges_.end() && next->second.free && address + range->second.bytes == next->first) {
    free_ranges_.erase({next->second.bytes, next->first});
    range->second.bytes += next->second.bytes;
    ranges_.erase(next);
  }
  if (range != ranges_.begin()) {
    auto before = std::prev(range);
    if (before->second.free && before->first + before->second.bytes == address) {
      free_ranges_.erase({before->second.bytes, before->first});
      before->second.bytes += range->second.bytes;
      ranges_.erase(range);
      range = before;
    }
  }
  range->second.free = true;
  range->second.freed_at = clock_;
  free_ranges_.insert({range->second.bytes, range->first});
}

size_t BlockCache::allowance(size_t in_use) const noexcept {
  const size_t peak = std::max({in_use, span_peak_, previous_peak_});
  return std::max(peak + peak / 8, kFloor);
}

bool BlockCache::fits(size_t bytes) const noexcept { return limit_ >= bytes && reserved() <= limit_ - bytes; }

/// Makes room for `bytes` fresh bytes: first the cache shrinks to its allowance, then below the limit.
bool BlockCache::prepare_fresh(size_t bytes) noexcept {
  const size_t allowed = allowance(used() + bytes);
  if (in_use_ + cached_ + bytes > allowed && tls_thread_cache != nullptr) free_lists(*tls_thread_cache);
  while (in_use_ + cached_ + bytes > allowed && evict_oldest()) {
  }
  return make_room_locked(bytes);
}

bool BlockCache::evict_oldest() noexcept {
  auto oldest = free_ranges_.end();
  uint64_t age = ~uint64_t{0};
  for (auto it = free_ranges_.begin(); it != free_ranges_.end(); ++it) {
    const uint64_t freed_at = ranges_.find(it->second)->second.freed_at;
    if (freed_at <= age) {
      age = freed_at;
      oldest = it;
    }
  }
  if (oldest_ != nullptr && oldest_->freed_at <= age) {
    evict_mid(oldest_);
  } else if (oldest != free_ranges_.end()) {
    evict_range(*oldest);
  } else {
    return false;
  }
  return true;
}

void BlockCache::evict_range(std::pair<size_t, uintptr_t> key) noexcept {
  free_ranges_.erase(key);
  ranges_.erase(key.second);
  munmap(reinterpret_cast<void*>(key.second), key.first);
  ++system_calls_;
  cached_ -= key.first;
}

void BlockCache::evict_mid(MidBlock* block) noexcept {
  unlink(block);
  cached_ -= mid_bytes(block->index);
  std::free(block);
  ++system_calls_;
}

void BlockCache::unlink(MidBlock* block) noexcept {
  (block->class_previous != nullptr ? block->class_previous->class_next : classes_[block->index]) = block->class_next;
  if (block->class_next != nullptr) block->class_next->class_previous = block->class_previous;
  (block->age_previous != nullptr ? block->age_previous->age_next : newest_) = block->age_next;
  (block->age_next != nullptr ? block->age_next->age_previous : oldest_) = block->age_previous;
}

/// Advances the clock; at the end of a span the use of the span before it is forgotten.
void BlockCache::tick() noexcept {
  ++clock_;
  if (allocations_ % kSpan != kSpan - 1) return;
  previous_peak_ = span_peak_;
  span_peak_ = used();
  while (in_use_ + cached_ > allowance(used()) && evict_oldest()) {
  }
}

void BlockCache::note_use() noexcept {
  span_peak_ = std::max(span_peak_, used());
  // The sum counts the threads' lists as used; only where it passes the peak the exact number is worth its price.
  if (in_use_ + static_cast<size_t>(small_data_bound()) > peak_) {
    peak_ = std::max(peak_, exact_use());
  }
  peak_reserved_ = std::max(peak_reserved_, reserved());
}

size_t BlockCache::exact_use() const noexcept {
  const SmallStats small = small_stats();
  return in_use_ - std::min(in_use_, small.mid_bytes) + static_cast<size_t>(small.data_live);
}

void BlockCache::note_small() noexcept {
  std::lock_guard lock(mutex_);
  note_use();
}

bool BlockCache::make_room_locked(size_t bytes) noexcept {
  while (!fits(bytes)) {
    if (!evict_oldest()) return false;
  }
  return true;
}

bool BlockCache::make_room(size_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  return make_room_locked(bytes);
}

void BlockCache::empty() noexcept {
  std::lock_guard lock(mutex_);
  span_peak_ = used();
  previous_peak_ = 0;
  while (evict_oldest()) {
  }
}

void BlockCache::set_limit(size_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
  make_room_locked(0);
}

void BlockCache::set_cache_limit(size_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  cache_limit_ = bytes;
  while (cached_ > cache_limit_ && evict_oldest()) {
  }
}

MemoryStats BlockCache::stats() noexcept {
  std::lock_guard lock(mutex_);
  const SmallStats small = small_stats();
  MemoryStats stats;
  const auto live = static_cast<size_t>(small.data_live);
  const size_t listed = std::min(in_use_, small.mid_bytes);
  stats.current = in_use_ - listed + live;
  stats.cached = cached_ + listed + (small.data_slab_bytes > live ? small.data_slab_bytes - live : 0);
  stats.reserved = stats.current + stats.cached;
  stats.peak = peak_ = std::max(peak_, stats.current);
  stats.peak_reserved = peak_reserved_ = std::max(peak_reserved_, stats.reserved);
  if (!free_ranges_.empty()) stats.largest_cached_block = free_ranges_.rbegin()->first;
  for (size_t i = 0; i < kClasses; ++i) {
    if (classes_[i] != nullptr) stats.largest_cached_block = std::max(stats.largest_cached_block, mid_bytes(i));
  }
  stats.limit = limit_;
  stats.cache_limit = cache_limit_;
  stats.allocations = allocations_ + small.data_allocations + small.mid_hits;
  stats.cache_hits = hits_ + small.data_hits + small.mid_hits;
  stats.system_calls = system_calls_ + small.system_calls;
  return stats;
}

void BlockCache::reset_peak() noexcept {
  std::lock_guard lock(mutex_);
  peak_ = exact_use();
  peak_reserved_ = reserved();
}

}  // namespace taeda::detail
