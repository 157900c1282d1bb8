// SPDX-License-Identifier: Apache-2.0
// Two rows of the result at a time, in registers over all terms.
#include "taeda/cpu/outer_sum.h"

#include <algorithm>

#include "taeda/core/parallel.h"
#include "taeda/cpu/simd_target.h"
#include "taeda/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "taeda/cpu/outer_sum.cpp"
#include <hwy/foreach_target.h>

#include "taeda/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Elements [column, column + kVectors · lanes) of `kRows` rows.
template <class T, int kRows, int kVectors>
HWY_INLINE void tile(std::span<const OuterTerm> terms, int64_t row, int64_t column, int64_t n, T* out) {
  using V = Vec<T>;
  constexpr auto kLanes = static_cast<int64_t>(V::kLanes);
  V sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = V(0.0);
  }
  for (const OuterTerm& t : terms) {
    const T* b = static_cast<const T*>(t.row) + column;
    for (int r = 0; r < kRows; ++r) {
      const V a(static_cast<const T*>(t.column)[(row + r) * t.stride]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = sum[r][v] + a * V::load(b + v * kLanes);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v].store(out + (row + r) * n + column + v * kLanes);
  }
}

template <class T, int kRows>
void rows(std::span<const OuterTerm> terms, int64_t row, int64_t n, T* out) {
  constexpr auto kLanes = static_cast<int64_t>(Vec<T>::kLanes);
  int64_t j = 0;
  for (; j + 4 * kLanes <= n; j += 4 * kLanes) tile<T, kRows, 4>(terms, row, j, n, out);
  for (; j + kLanes <= n; j += kLanes) tile<T, kRows, 1>(terms, row, j, n, out);
  for (; j < n; ++j) {
    for (int r = 0; r < kRows; ++r) {
      T sum = 0;
      for (const OuterTerm& t : terms) sum = sum + static_cast<const T*>(t.column)[(row + r) * t.stride] * static_cast<const T*>(t.row)[j];
      out[(row + r) * n + j] = sum;
    }
  }
}

template <class T>
void range(std::span<const OuterTerm> terms, int64_t begin, int64_t end, int64_t n, T* out) {
  int64_t i = begin;
  for (; i + 2 <= end; i += 2) rows<T, 2>(terms, i, n, out);
  if (i < end) rows<T, 1>(terms, i, n, out);
}

}  // namespace

void outer_range(ScalarType dtype, std::span<const OuterTerm> terms, int64_t begin, int64_t end, int64_t n, void* out) {
  if (dtype == kFloat) range(terms, begin, end, n, static_cast<float*>(out));
  else range(terms, begin, end, n, static_cast<double*>(out));
}

}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taeda::cpu {

void outer_sum(ScalarType dtype, int64_t m, int64_t n, std::span<const OuterTerm> terms, void* out) {
  const auto step = simd_target() == SimdTarget::Avx512 ? &N_AVX3::outer_range
                    : simd_target() == SimdTarget::Avx2 ? &N_AVX2::outer_range
                                                        : &N_SSE4::outer_range;
  const int64_t work = std::max<int64_t>(1, n * static_cast<int64_t>(terms.size()));
  parallel_for(0, m, std::max<int64_t>(2, (1 << 18) / work), [&](int64_t begin, int64_t end) { step(dtype, terms, begin, end, n, out); });
}

}  // namespace taeda::cpu
#endif
