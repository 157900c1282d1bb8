// SPDX-License-Identifier: Apache-2.0
// The CPU allocator's slow side, limits, errors and reports.
#include "taeda/core/allocator.h"

#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "taeda/core/block_cache.h"
#include "taeda/core/error.h"

namespace taeda {
namespace detail {
namespace {

std::string readable(size_t bytes) {
  if (bytes == MemoryStats::kUnlimited) return "unlimited";
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 6; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", value, kUnits[unit]);
  return text;
}

/// Adds to a counter that only this thread writes.
template <class T>
[[maybe_unused]] void add_relaxed(std::atomic<T>& counter, T change) {
  counter.store(counter.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
}

void lock_all() {
  BlockCache::instance().fork_lock();
  small_fork_lock();
}
void unlock_all() {
  small_fork_unlock();
  BlockCache::instance().fork_unlock();
}

#if defined(TAEDA_ADDRESS_SANITIZER)
// Every block comes straight from malloc, so that the sanitizer sees its bounds and its end. Only the sums are kept.
constinit std::atomic<size_t> g_plain_current{0};
constinit std::atomic<size_t> g_plain_peak{0};
constinit std::atomic<size_t> g_plain_limit{MemoryStats::kUnlimited};
constinit std::atomic<uint64_t> g_plain_allocations{0};

void* plain_allocate(size_t bytes) {
  const size_t limit = g_plain_limit.load();
  const size_t current = g_plain_current.fetch_add(bytes) + bytes;
  void* pointer = nullptr;
  if (bytes > (size_t{1} << 40) || current > limit || posix_memalign(&pointer, 64, bytes) != 0) {
    g_plain_current.fetch_sub(bytes);
    return nullptr;
  }
  g_plain_allocations.fetch_add(1);
  size_t peak = g_plain_peak.load();
  while (peak < current && !g_plain_peak.compare_exchange_weak(peak, current)) {
  }
  return pointer;
}
#else
/// Small blocks of a bin; keeps to the limit where the bin may need a new slab.
void* allocate_small(size_t bytes) {
  BlockCache& blocks = BlockCache::instance();
  if (!blocks.make_room(kSlabBytes)) {
    if (tls_thread_cache != nullptr) release_mid_blocks(*tls_thread_cache);
    small_release_cached();
    if (!blocks.make_room(kSlabBytes)) return nullptr;
  }
  void* pointer = small_data_alloc(data_bin(bytes));
  if (pointer == nullptr) {
    blocks.empty();
    pointer = small_data_alloc(data_bin(bytes));
  }
  if (pointer != nullptr) blocks.note_small();
  return pointer;
}

constexpr size_t kThreadMidBytes = size_t{512} << 10;  // in one thread's lists of such blocks
constexpr size_t kMaxThreadMid = BlockCache::mid_bytes(kThreadMidClasses - 1);

/// Blocks above 4 KiB; those up to 64 KiB from the thread's own list where it has one.
void* allocate_block(size_t bytes) {
  if (bytes <= kMaxThreadMid) {
    const size_t index = BlockCache::mid_class(bytes);
    ThreadCache* cache = tls_thread_cache;
    if (cache != nullptr && cache->mid[index] != nullptr) {
      FreeBlock* block = cache->mid[index];
      cache->mid[index] = block->next;
      add_relaxed(cache->mid_bytes, size_t{0} - BlockCache::mid_bytes(index));
      add_relaxed(cache->mid_hits, uint64_t{1});
      return block;
    }
  }
  return BlockCache::instance().allocate(bytes);
}

void free_block(void* pointer, size_t bytes) noexcept {
  ThreadCache* cache = bytes <= kMaxThreadMid ? thread_cache() : nullptr;
  if (cache == nullptr) return BlockCache::instance().deallocate(pointer, bytes);
  const size_t index = BlockCache::mid_class(bytes);
  const size_t size = BlockCache::mid_bytes(index);
  if (cache->mid_bytes.load(std::memory_order_relaxed) + size > kThreadMidBytes) release_mid_blocks(*cache);
  cache->mid[index] = new (pointer) FreeBlock{cache->mid[index]};
  add_relaxed(cache->mid_bytes, size);
}

void* allocate_any(size_t bytes) { return bytes <= kMaxSmallDataBytes ? allocate_small(bytes) : allocate_block(bytes); }

/// Empties the calling thread's lists and the shared cache.
void release_everything() noexcept {
  if (tls_thread_cache != nullptr) release_mid_blocks(*tls_thread_cache);
  BlockCache::instance().empty();
  small_release_cached();
}
#endif

struct CpuAllocator final : Allocator {
  void* allocate(size_t bytes) override { return cpu_allocate(bytes); }
  void deallocate(void* pointer, size_t bytes) noexcept override { cpu_deallocate(pointer, bytes); }
  const char* name() const noexcept override { return "cpu"; }
  MemoryStats stats() const override { return memory_stats(); }
  void empty_cache() override { taeda::empty_cache(); }
  void reset_peak_stats() override { taeda::reset_peak_stats(); }
};
constinit CpuAllocator g_cpu_allocator;

}  // namespace

void release_mid_blocks(ThreadCache& cache) noexcept {
  if (cache.mid_bytes.load(std::memory_order_relaxed) > 0) BlockCache::instance().deallocate_all(cache);
}

void register_allocator_fork_handlers() noexcept {
  // One registration for all locks, so that a fork takes them in the order in which the allocator nests them.
  static constinit std::atomic<bool> done{false};
  if (!done.load(std::memory_order_relaxed) && !done.exchange(true)) pthread_atfork(lock_all, unlock_all, unlock_all);
}

void* cpu_allocate_slow(size_t bytes) {
  if (bytes == 0) return nullptr;
#if defined(TAEDA_ADDRESS_SANITIZER)
  void* pointer = plain_allocate(bytes);
#else
  void* pointer = allocate_any(bytes);
  if (pointer == nullptr) {
    release_everything();
    pointer = allocate_any(bytes);
  }
#endif
  if (pointer == nullptr) throw_out_of_memory(bytes);
  return pointer;
}

void cpu_deallocate_slow(void* pointer, size_t bytes) noexcept {
  if (pointer == nullptr) return;
#if defined(TAEDA_ADDRESS_SANITIZER)
  g_plain_current.fetch_sub(bytes);
  std::free(pointer);
#else
  if (bytes <= kMaxSmallDataBytes) {
    small_data_free(pointer, data_bin(bytes));
  } else {
    free_block(pointer, bytes);
  }
#endif
}

void throw_out_of_memory(size_t bytes) {
  const MemoryStats stats = memory_stats();
  const bool limited = stats.limit != MemoryStats::kUnlimited;
  throw OutOfMemoryError(
      str("[allocate] memory must be available: asked for ", readable(bytes), " (", bytes, " bytes); in use ",
          readable(stats.current), ", cached ", readable(stats.cached), ", largest cached block ",
          readable(stats.largest_cached_block), ", limit ", readable(stats.limit),
          "; the cache was emptied and the request tried again; free tensors, use smaller batches or NoGradGuard",
          limited ? ", or raise the limit with set_memory_limit" : ""),
      TAEDA_HERE);
}

}  // namespace detail

Allocator& cpu_allocator() noexcept { return detail::g_cpu_allocator; }

#if defined(TAEDA_ADDRESS_SANITIZER)
MemoryStats memory_stats() {
  MemoryStats stats;
  stats.current = stats.reserved = detail::g_plain_current.load();
  stats.peak = stats.peak_reserved = detail::g_plain_peak.load();
  stats.limit = detail::g_plain_limit.load();
  stats.cache_limit = 0;
  stats.allocations = stats.system_calls = detail::g_plain_allocations.load();
  return stats;
}
void empty_cache() {}
void reset_peak_stats() { detail::g_plain_peak = detail::g_plain_current.load(); }
void set_memory_limit(size_t bytes) { detail::g_plain_limit = bytes; }
void set_memory_cache_limit(size_t) {}
#else
MemoryStats memory_stats() { return detail::BlockCache::instance().stats(); }
void empty_cache() { detail::release_everything(); }
void reset_peak_stats() { detail::BlockCache::instance().reset_peak(); }
void set_memory_limit(size_t bytes) { detail::BlockCache::instance().set_limit(bytes); }
void set_memory_cache_limit(size_t bytes) { detail::BlockCache::instance().set_cache_limit(bytes); }
#endif

std::string memory_summary() {
  const MemoryStats stats = memory_stats();
  std::string text = "CPU memory\n";
  const auto line = [&text](const char* name, const std::string& value) {
    char buffer[96];
    std::snprintf(buffer, sizeof buffer, "  %-22s %16s\n", name, value.c_str());
    text += buffer;
  };
  line("in use", detail::readable(stats.current));
  line("peak in use", detail::readable(stats.peak));
  line("cached", detail::readable(stats.cached));
  line("largest cached block", detail::readable(stats.largest_cached_block));
  line("held from the system", detail::readable(stats.reserved));
  line("peak held", detail::readable(stats.peak_reserved));
  line("limit", detail::readable(stats.limit));
  line("cache limit", detail::readable(stats.cache_limit));
  line("allocations", std::to_string(stats.allocations));
  line("from the cache", std::to_string(stats.cache_hits));
  line("system calls", std::to_string(stats.system_calls));
  return text;
}

}  // namespace taeda
