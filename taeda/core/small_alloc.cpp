// SPDX-License-Identifier: Apache-2.0
// Slabs of equal small blocks and the threads' lists in front of them.
//
// A slab is 64 KiB, aligned to its size, so that a block finds its slab by masking its address. Slabs are cut from
// regions of 1 MiB. A thread takes and returns blocks in batches under one lock; a slab whose blocks are all back
// returns to its region, and a region without slabs in use returns to the system (one is kept).
#include "taeda/core/small_alloc.h"

#include <pthread.h>
#include <sys/mman.h>

#include <cstdlib>
#include <mutex>
#include <new>

#include "taeda/core/allocator.h"

namespace taeda::detail {

constinit thread_local ThreadCache* tls_thread_cache TAEDA_FAST_TLS = nullptr;

namespace {

constexpr size_t kRegionSlabs = 16;
constexpr size_t kRegionBytes = kRegionSlabs * kSlabBytes;
constexpr size_t kBins = kObjectBins + kDataBins;  // object bins first
constexpr size_t kBatchBytes = size_t{16} << 10;   // blocks moved at once: at most this much
constexpr size_t kListBytes = size_t{128} << 10;   // a thread's list of one bin: at most about this much

constexpr size_t bin_bytes(size_t bin) { return bin < kObjectBins ? (bin + 1) * 16 : kDataBinBytes[bin - kObjectBins]; }
constexpr uint32_t clamp(size_t value, size_t low, size_t high) {
  return static_cast<uint32_t>(value < low ? low : value > high ? high : value);
}
constexpr uint32_t batch_size(size_t bin) { return clamp(kBatchBytes / bin_bytes(bin), 4, 64); }
constexpr uint32_t list_limit(size_t bin) { return clamp(kListBytes / bin_bytes(bin), 16, 1024); }

struct Region {
  char* base = nullptr;
  uint32_t used = 0;  // bit i: slab i is in use
  Region* next = nullptr;
};

/// Invariant: `used` + length of `free` + blocks not yet cut (from `fresh` on) == capacity of the bin.
/// A slab is in its bin's list exactly when it has a free or uncut block.
struct alignas(64) Slab {
  Slab* next;
  Slab* previous;
  Region* region;
  FreeBlock* free;
  uint32_t used;
  uint32_t fresh;  // offset of the next uncut block
  uint32_t bin;
};
static_assert(sizeof(Slab) == 64);

bool has_room(const Slab& slab) { return slab.free != nullptr || slab.fresh + bin_bytes(slab.bin) <= kSlabBytes; }

/// Never destroyed: blocks are freed during static destruction and after threads are gone.
struct Engine {
  std::mutex mutex;
  Slab* slabs[kBins] = {};  // with room
  Region* regions = nullptr;
  ThreadCache* caches = nullptr;
  // Totals of threads that are gone, and of blocks moved without a thread's list.
  int64_t gone_received[kDataBins] = {};
  uint64_t gone_hits = 0;
  uint64_t gone_misses = 0;
  uint64_t gone_mid_hits = 0;
  size_t object_slab_bytes = 0;
  std::atomic<size_t> data_slab_bytes{0};
  std::atomic<int64_t> data_out{0};  // bytes of data blocks outside the slabs
  uint64_t system_calls = 0;
  bool key_made = false;
  pthread_key_t exit_key{};
};
constinit Engine g_engine;
// Set once the thread's cache has been given back; later calls go to the slabs directly.
constinit thread_local bool tls_exited = false;

Region* new_region(Engine& engine) {
  auto* region = static_cast<Region*>(std::malloc(sizeof(Region)));
  if (region == nullptr) return nullptr;
  const size_t reach = kRegionBytes + kSlabBytes;
  void* raw = mmap(nullptr, reach, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ++engine.system_calls;
  if (raw == MAP_FAILED) {
    std::free(region);
    return nullptr;
  }
  const auto start = reinterpret_cast<uintptr_t>(raw);
  const uintptr_t base = (start + kSlabBytes - 1) & ~(kSlabBytes - 1);
  if (base > start) munmap(raw, base - start);
  const size_t tail = start + reach - (base + kRegionBytes);
  if (tail > 0) munmap(reinterpret_cast<void*>(base + kRegionBytes), tail);
  new (region) Region{reinterpret_cast<char*>(base), 0, engine.regions};
  engine.regions = region;
  return region;
}

void link_slab(Engine& engine, Slab* slab) {
  Slab*& first = engine.slabs[slab->bin];
  slab->previous = nullptr;
  slab->next = first;
  if (first != nullptr) first->previous = slab;
  first = slab;
}

void unlink_slab(Engine& engine, Slab* slab) {
  if (slab->previous != nullptr) {
    slab->previous->next = slab->next;
  } else {
    engine.slabs[slab->bin] = slab->next;
  }
  if (slab->next != nullptr) slab->next->previous = slab->previous;
}

void count_slab(Engine& engine, size_t bin, bool taken) {
  const size_t change = taken ? kSlabBytes : size_t{0} - kSlabBytes;
  if (bin < kObjectBins) {
    engine.object_slab_bytes += change;
  } else {
    engine.data_slab_bytes.fetch_add(change, std::memory_order_relaxed);
  }
}

Slab* new_slab(Engine& engine, size_t bin) {
  constexpr uint32_t kFull = (uint32_t{1} << kRegionSlabs) - 1;
  Region* region = engine.regions;
  while (region != nullptr && region->used == kFull) region = region->next;
  if (region == nullptr) region = new_region(engine);
  if (region == nullptr) return nullptr;
  const int index = __builtin_ctz(~region->used);
  region->used |= uint32_t{1} << index;
  auto* slab = new (region->base + static_cast<size_t>(index) * kSlabBytes)
      Slab{nullptr, nullptr, region, nullptr, 0, sizeof(Slab), static_cast<uint32_t>(bin)};
  link_slab(engine, slab);
  count_slab(engine, bin, true);
  return slab;
}

/// Returns an empty slab to its region; a region that becomes empty goes back to the system unless it is the only one.
void retire_slab(Engine& engine, Slab* slab, bool keep_one_region) {
  unlink_slab(engine, slab);
  count_slab(engine, slab->bin, false);
  Region* region = slab->region;
  const size_t index = static_cast<size_t>(reinterpret_cast<char*>(slab) - region->base) / kSlabBytes;
  region->used &= ~(uint32_t{1} << index);
  if (region->used != 0) return;
  if (keep_one_region && engine.regions == region && region->next == nullptr) return;
  Region** link = &engine.regions;
  while (*link != region) link = &(*link)->next;
  *link = region->next;
  munmap(region->base, kRegionBytes);
  ++engine.system_calls;
  std::free(region);
}

/// Takes up to `wanted` blocks of a bin as a list; `taken` says how many. Null when the system has no memory.
FreeBlock* take_blocks(Engine& engine, size_t bin, uint32_t wanted, uint32_t& taken) {
  const size_t bytes = bin_bytes(bin);
  FreeBlock* list = nullptr;
  taken = 0;
  while (taken < wanted) {
    Slab* slab = engine.slabs[bin];
    if (slab == nullptr) {
      if (taken > 0) break;
      slab = new_slab(engine, bin);
      if (slab == nullptr) break;
    }
    FreeBlock* block = slab->free;
    if (block != nullptr) {
      slab->free = block->next;
    } else {
      block = reinterpret_cast<FreeBlock*>(reinterpret_cast<char*>(slab) + slab->fresh);
      slab->fresh += static_cast<uint32_t>(bytes);
    }
    ++slab->used;
    if (!has_room(*slab)) unlink_slab(engine, slab);
    block->next = list;
    list = block;
    ++taken;
  }
  if (bin >= kObjectBins) {
    engine.data_out.fetch_add(static_cast<int64_t>(taken * bytes), std::memory_order_relaxed);
  }
  return list;
}

void give_block(Engine& engine, FreeBlock* block, bool keep_one) {
  auto* slab = reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(block) & ~(kSlabBytes - 1));
  const bool had_room = has_room(*slab);
  block->next = slab->free;
  slab->free = block;
  if (!had_room) link_slab(engine, slab);
  if (--slab->used > 0) return;
  // One empty slab of a bin stays, so that a bin in steady use does not take and return the same slab.
  const bool only_one = engine.slabs[slab->bin] == slab && slab->next == nullptr;
  if (!keep_one || !only_one) retire_slab(engine, slab, keep_one);
}

/// Moves `count` blocks from a thread's list back to the slabs.
void give_back(Engine& engine, Bin& bin, size_t index, uint32_t count, bool keep_one) {
  for (uint32_t i = 0; i < count; ++i) {
    FreeBlock* block = bin.head;
    bin.head = block->next;
    give_block(engine, block, keep_one);
  }
  bin.count.store(bin.count.load(std::memory_order_relaxed) - count, std::memory_order_relaxed);
  bin.received.store(bin.received.load(std::memory_order_relaxed) - count, std::memory_order_relaxed);
  if (index >= kObjectBins) {
    engine.data_out.fetch_sub(static_cast<int64_t>(count * bin_bytes(index)), std::memory_order_relaxed);
  }
}

Bin& bin_of(ThreadCache& cache, size_t index) {
  return index < kObjectBins ? cache.object[index] : cache.data[index - kObjectBins];
}

void release_lists(Engine& engine, ThreadCache& cache, bool keep_one) {
  for (size_t index = 0; index < kBins; ++index) {
    Bin& bin = bin_of(cache, index);
    give_back(engine, bin, index, bin.count.load(std::memory_order_relaxed), keep_one);
  }
}

/// Runs when a thread ends, after its C++ thread-local objects are destroyed.
void on_thread_exit(void* pointer) {
  auto* cache = static_cast<ThreadCache*>(pointer);
  tls_thread_cache = nullptr;
  tls_exited = true;
  release_mid_blocks(*cache);
  Engine& engine = g_engine;
  {
    std::lock_guard lock(engine.mutex);
    release_lists(engine, *cache, true);
    for (size_t i = 0; i < kDataBins; ++i) {
      engine.gone_received[i] += cache->data[i].received.load(std::memory_order_relaxed);
      engine.gone_hits += cache->data[i].allocations.load(std::memory_order_relaxed);
    }
    engine.gone_misses += cache->data_misses.load(std::memory_order_relaxed);
    engine.gone_mid_hits += cache->mid_hits.load(std::memory_order_relaxed);
    if (cache->previous != nullptr) {
      cache->previous->next = cache->next;
    } else {
      engine.caches = cache->next;
    }
    if (cache->next != nullptr) cache->next->previous = cache->previous;
  }
  cache->~ThreadCache();
  std::free(cache);
}

}  // namespace

ThreadCache* thread_cache() noexcept {
  ThreadCache* cache = tls_thread_cache;
  if (cache != nullptr || tls_exited) return cache;
  register_allocator_fork_handlers();
  void* memory = std::malloc(sizeof(ThreadCache));
  if (memory == nullptr) return nullptr;
  cache = new (memory) ThreadCache;
  for (size_t index = 0; index < kBins; ++index) bin_of(*cache, index).limit = list_limit(index);
  Engine& engine = g_engine;
  {
    std::lock_guard lock(engine.mutex);
    if (!engine.key_made) engine.key_made = pthread_key_create(&engine.exit_key, on_thread_exit) == 0;
    cache->next = engine.caches;
    if (cache->next != nullptr) cache->next->previous = cache;
    engine.caches = cache;
    if (engine.key_made) pthread_setspecific(engine.exit_key, cache);
  }
  tls_thread_cache = cache;
  return cache;
}

namespace {

/// Allocates from the slabs without a list: the thread is exiting.
void* alloc_direct(size_t index) {
  Engine& engine = g_engine;
  std::lock_guard lock(engine.mutex);
  uint32_t taken = 0;
  FreeBlock* block = take_blocks(engine, index, 1, taken);
  if (index >= kObjectBins) {
    engine.gone_received[index - kObjectBins] += taken;
    engine.gone_misses += taken;
  }
  return block;
}

void free_direct(void* block, size_t index) {
  Engine& engine = g_engine;
  std::lock_guard lock(engine.mutex);
  give_block(engine, static_cast<FreeBlock*>(block), true);
  if (index < kObjectBins) return;
  engine.gone_received[index - kObjectBins] -= 1;
  engine.data_out.fetch_sub(static_cast<int64_t>(bin_bytes(index)), std::memory_order_relaxed);
}

void* alloc_block(size_t index) {
  ThreadCache* cache = thread_cache();
  if (cache == nullptr) return alloc_direct(index);
  Bin& bin = bin_of(*cache, index);
  if (void* block = bin.pop()) return block;
  Engine& engine = g_engine;
  uint32_t taken = 0;
  FreeBlock* list = nullptr;
  {
    std::lock_guard lock(engine.mutex);
    list = take_blocks(engine, index, batch_size(index), taken);
  }
  if (list == nullptr) return nullptr;
  bin.head = list->next;
  bin.count.store(taken - 1, std::memory_order_relaxed);
  bin.received.store(bin.received.load(std::memory_order_relaxed) + taken, std::memory_order_relaxed);
  if (index >= kObjectBins) {
    cache->data_misses.store(cache->data_misses.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  return list;
}

void free_block(void* block, size_t index) {
  ThreadCache* cache = thread_cache();
  if (cache == nullptr) return free_direct(block, index);
  Bin& bin = bin_of(*cache, index);
  if (bin.push(block)) return;
  {
    Engine& engine = g_engine;
    std::lock_guard lock(engine.mutex);
    give_back(engine, bin, index, bin.limit / 2, true);
  }
  bin.push(block);
}

}  // namespace

void* small_alloc_slow(size_t bytes) {
#if defined(TAEDA_ADDRESS_SANITIZER)
  void* block = std::malloc(bytes == 0 ? 1 : bytes);
#else
  void* block = bytes == 0 || bytes > kMaxObjectBytes ? std::malloc(bytes == 0 ? 1 : bytes) : alloc_block((bytes - 1) / 16);
#endif
  if (block == nullptr) throw_out_of_memory(bytes);
  return block;
}

void small_free_slow(void* block, [[maybe_unused]] size_t bytes) noexcept {
  if (block == nullptr) return;
#if defined(TAEDA_ADDRESS_SANITIZER)
  std::free(block);
#else
  if (bytes == 0 || bytes > kMaxObjectBytes) {
    std::free(block);
  } else {
    free_block(block, (bytes - 1) / 16);
  }
#endif
}

void* small_data_alloc(size_t bin) { return alloc_block(kObjectBins + bin); }
void small_data_free(void* block, size_t bin) noexcept { free_block(block, kObjectBins + bin); }

void small_release_cached() noexcept {
  Engine& engine = g_engine;
  std::lock_guard lock(engine.mutex);
  if (tls_thread_cache != nullptr) release_lists(engine, *tls_thread_cache, false);
  for (Slab* first : engine.slabs) {
    for (Slab* slab = first; slab != nullptr;) {
      Slab* next = slab->next;
      if (slab->used == 0) retire_slab(engine, slab, false);
      slab = next;
    }
  }
}

SmallStats small_stats() noexcept {
  Engine& engine = g_engine;
  std::lock_guard lock(engine.mutex);
  SmallStats stats;
  stats.data_hits = engine.gone_hits;
  stats.mid_hits = engine.gone_mid_hits;
  uint64_t misses = engine.gone_misses;
  for (size_t i = 0; i < kDataBins; ++i) stats.data_live += engine.gone_received[i] * kDataBinBytes[i];
  for (const ThreadCache* cache = engine.caches; cache != nullptr; cache = cache->next) {
    misses += cache->data_misses.load(std::memory_order_relaxed);
    stats.mid_bytes += cache->mid_bytes.load(std::memory_order_relaxed);
    stats.mid_hits += cache->mid_hits.load(std::memory_order_relaxed);
    for (size_t i = 0; i < kDataBins; ++i) {
      const Bin& bin = cache->data[i];
      const int64_t live = bin.received.load(std::memory_order_relaxed) - bin.count.load(std::memory_order_relaxed);
      stats.data_live += live * kDataBinBytes[i];
      stats.data_hits += bin.allocations.load(std::memory_order_relaxed);
    }
  }
  if (stats.data_live < 0) stats.data_live = 0;  // another thread is between two of its counters
  stats.data_allocations = stats.data_hits + misses;
  stats.data_slab_bytes = engine.data_slab_bytes.load(std::memory_order_relaxed);
  stats.object_slab_bytes = engine.object_slab_bytes;
  stats.system_calls = engine.system_calls;
  return stats;
}

int64_t small_data_bound() noexcept { return g_engine.data_out.load(std::memory_order_relaxed); }
size_t small_data_slab_bytes() noexcept { return g_engine.data_slab_bytes.load(std::memory_order_relaxed); }

void small_fork_lock() noexcept { g_engine.mutex.lock(); }
void small_fork_unlock() noexcept { g_engine.mutex.unlock(); }

}  // namespace taeda::detail
