// SPDX-License-Identifier: Apache-2.0
// The only door to compute threads: parallel loops over a shared pool with a cap for the whole process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "taeda/core/export.h"

namespace taeda {

/// Bounds the compute threads of the process, callers included. Throws ValueError unless n > 0.
/// The first value is TAEDA_NUM_THREADS, else OMP_NUM_THREADS, else the physical cores the process may use.
TAEDA_API void set_num_threads(int n);
TAEDA_API int get_num_threads();
/// Whether the calling code runs inside a parallel loop; loops begun there run on the calling thread.
TAEDA_API bool in_parallel_region() noexcept;
/// Number of the running chunk inside a parallel loop, 0 outside: below `get_num_threads()`, and no two chunks that run
/// at the same time for one loop share it.
TAEDA_API int get_thread_num() noexcept;

namespace detail {

using RangeFunction = void (*)(const void* context, int64_t begin, int64_t end);
TAEDA_API void parallel_run(int64_t begin, int64_t end, int64_t grain_size, RangeFunction function, const void* context);
/// Length of every chunk but the last into which a loop of `n` iterations begun here is cut; n inside a loop.
TAEDA_API int64_t parallel_chunk(int64_t n, int64_t grain_size);
/// The same as `parallel_run` with chunks of a given length.
TAEDA_API void parallel_chunks(int64_t begin, int64_t end, int64_t chunk, RangeFunction function, const void* context);
template <class F>
void call_range(const void* context, int64_t begin, int64_t end) {
  (*static_cast<const F*>(context))(begin, end);
}
#ifdef TAEDA_SMALL_GRAINS
/// Builds that look for faults cut every loop into as many ranges as there are threads, however short.
inline int64_t grain_of(int64_t grain_size) { return grain_size == INT64_MAX ? grain_size : 1; }  // INT64_MAX: in one piece
#else
inline int64_t grain_of(int64_t grain_size) { return grain_size; }
#endif

}  // namespace detail

/// Calls f(b, e) on several threads for adjoining ranges of equal length (the last may be shorter) that cover
/// [begin, end): at most n / `grain_size`, rounded up, and at most `get_num_threads()`. The ranges depend only on the arguments and `get_num_threads()`, so that one thread count gives one result.
/// The modes of the calling thread (recording, inference, anomaly) hold in every chunk. When chunks throw, all chunks
/// are finished first, then the exception of the lowest one is thrown. Up to `grain_size` iterations are a plain call.
template <class F>
inline void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const F& f) {
  if (begin >= end) return;
  const int64_t n = end - begin, grain = detail::grain_of(grain_size);
  if (n <= grain || n == 1) {
    f(begin, end);
    return;
  }
  detail::parallel_run(begin, end, grain, detail::call_range<F>, &f);
}

/// Combines f(b, e, identity) over adjoining ranges with combine(x, y), in the order of the ranges.
template <class T, class F, class Combine>
inline T parallel_reduce(int64_t begin, int64_t end, int64_t grain_size, const T& identity, const F& f,
                         const Combine& combine) {
  if (begin >= end) return identity;
  const int64_t n = end - begin, grain = detail::grain_of(grain_size);
  if (n <= grain || n == 1) return f(begin, end, identity);
  const int64_t chunk = detail::parallel_chunk(n, grain);
  struct alignas(64) Partial {  // a line each: neighbours are written by different threads
    T value;
  };
  std::vector<Partial> partials(static_cast<size_t>((n + chunk - 1) / chunk), Partial{identity});
  const auto body = [&](int64_t b, int64_t e) {
    partials[static_cast<size_t>((b - begin) / chunk)].value = f(b, e, identity);
  };
  detail::parallel_chunks(begin, end, chunk, detail::call_range<decltype(body)>, &body);
  T result = identity;
  for (const Partial& partial : partials) result = combine(result, partial.value);
  return result;
}

}  // namespace taeda
