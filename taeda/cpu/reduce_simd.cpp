// SPDX-License-Identifier: Apache-2.0
// Sums in blocks: a few vectors of partial sums over some thousand elements, the blocks added in double.
#include "taeda/cpu/reduce_simd.h"

#include <algorithm>

#include "taeda/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "taeda/cpu/reduce_simd.cpp"
#include <hwy/foreach_target.h>

#include "taeda/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
namespace {

struct SumTerm {
  template <class V>
  static HWY_INLINE V of(V x) { return x; }
};
struct NanSumTerm {
  template <class V>
  static HWY_INLINE V of(V x) { return select(isnan(x), V(0.0), x); }
};
struct AbsTerm {
  template <class V>
  static HWY_INLINE V of(V x) { return abs(x); }
};
struct SquareTerm {
  template <class V>
  static HWY_INLINE V of(V x) { return x * x; }
};

template <class V>
HWY_INLINE double lane_sum(V v) {
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(typename V::Tag(), v.raw)));
}
template <class V>
HWY_INLINE V load_some(const typename V::Scalar* x, int64_t n) {
#if HWY_TARGET == HWY_SSE4  // its masked load reads the whole vector
  HWY_ALIGN typename V::Scalar buffer[V::kLanes] = {};
  std::copy(x, x + n, buffer);
  return V::load(buffer);
#else
  return V(hn::MaskedLoad(hn::FirstN(typename V::Tag(), static_cast<size_t>(n)), typename V::Tag(), x));
#endif
}

template <class T, class Term>
double sum_row(const T* x, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  constexpr int64_t kStep = kSumStep * kL;
  constexpr int64_t kBlock = kSumBlock * kStep;
  static_assert(kSumStep == 8, "the loop below is written out");
  double total = 0;
  int64_t i = 0;
  while (i + kStep <= n) {
    const int64_t end = std::min(i + kBlock, i + (n - i) / kStep * kStep);
    V a0(0), a1(0), a2(0), a3(0), a4(0), a5(0), a6(0), a7(0);
    for (; i < end; i += kStep) {
      a0 = a0 + Term::of(V::load(x + i));
      a1 = a1 + Term::of(V::load(x + i + kL));
      a2 = a2 + Term::of(V::load(x + i + 2 * kL));
      a3 = a3 + Term::of(V::load(x + i + 3 * kL));
      a4 = a4 + Term::of(V::load(x + i + 4 * kL));
      a5 = a5 + Term::of(V::load(x + i + 5 * kL));
      a6 = a6 + Term::of(V::load(x + i + 6 * kL));
      a7 = a7 + Term::of(V::load(x + i + 7 * kL));
    }
    total += lane_sum(((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7)));
  }
  V rest(0);
  for (; i + kL <= n; i += kL) rest = rest + Term::of(V::load(x + i));
  if (i < n) rest = rest + Term::of(load_some<V>(x + i, n - i));
  return total + lane_sum(rest);
}

constexpr int64_t kStrip = 256;

template <class T, class Term>
HWY_INLINE void add_rows(const T* x, int64_t rows, int64_t stride, int64_t columns, T* acc) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    const T* r = x + i * stride;
    int64_t j = 0;
    for (; j + kL <= columns; j += kL) {
      const V low = Term::of(V::load(r + j)) + Term::of(V::load(r + j + stride));
      const V high = Term::of(V::load(r + j + 2 * stride)) + Term::of(V::load(r + j + 3 * stride));
      (V::load(acc + j) + (low + high)).store(acc + j);
    }
    if (j < columns) {
      const int64_t k = columns - j;
      const V low = Term::of(load_some<V>(r + j, k)) + Term::of(load_some<V>(r + j + stride, k));
      const V high = Term::of(load_some<V>(r + j + 2 * stride, k)) + Term::of(load_some<V>(r + j + 3 * stride, k));
      (V::load(acc + j) + (low + high)).store(acc + j);
    }
  }
  for (; i < rows; ++i) {
    const T* r = x + i * stride;
    int64_t j = 0;
    for (; j + kL <= columns; j += kL) (V::load(acc + j) + Term::of(V::load(r + j))).store(acc + j);
    if (j < columns) (V::load(acc + j) + Term::of(load_some<V>(r + j, columns - j))).store(acc + j);
  }
}

template <class T, class Term>
void sum_columns(const T* x, int64_t n, int64_t stride, int64_t columns, double divisor, T* out) {
  constexpr int64_t kRows = 64;
  HWY_ALIGN T acc[kStrip + 16];
  double total[kStrip];
  for (int64_t begin = 0; begin < columns; begin += kStrip) {
    const int64_t width = std::min(kStrip, columns - begin);
    std::fill(total, total + width, 0.0);
    for (int64_t i = 0; i < n; i += kRows) {
      std::fill(acc, acc + width + 16, T(0));
      add_rows<T, Term>(x + i * stride + begin, std::min(kRows, n - i), stride, width, acc);
      for (int64_t j = 0; j < width; ++j) total[j] += static_cast<double>(acc[j]);
    }
    for (int64_t j = 0; j < width; ++j) out[begin + j] = static_cast<T>(total[j] / divisor);
  }
}

template <class V, bool kMax>
HWY_INLINE V extreme(V a, V x) {
  if constexpr (kMax) return maximum(a, x);
  else return minimum(a, x);
}
template <class T, bool kMax>
HWY_INLINE T extreme_scalar(T a, T x) {
  if (a != a) return a;
  if constexpr (kMax) return a > x ? a : x;
  else return a < x ? a : x;
}

template <class T, bool kMax>
T extreme_row(const T* x, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  if (n < kL) {
    T best = x[0];
    for (int64_t i = 1; i < n; ++i) best = extreme_scalar<T, kMax>(best, x[i]);
    return best;
  }
  V a = V::load(x + n - kL);  // overlaps: extremes may be counted twice
  int64_t i = 0;
  if (n >= 4 * kL) {
    V b = a, c = a, d = a;
    for (; i + 4 * kL <= n; i += 4 * kL) {
      a = extreme<V, kMax>(a, V::load(x + i));
      b = extreme<V, kMax>(b, V::load(x + i + kL));
      c = extreme<V, kMax>(c, V::load(x + i + 2 * kL));
      d = extreme<V, kMax>(d, V::load(x + i + 3 * kL));
    }
    a = extreme<V, kMax>(extreme<V, kMax>(a, b), extreme<V, kMax>(c, d));
  }
  for (; i + kL <= n; i += kL) a = extreme<V, kMax>(a, V::load(x + i));
  HWY_ALIGN T lanes[V::kLanes];
  a.store(lanes);
  T best = lanes[0];
  for (int64_t k = 1; k < kL; ++k) best = extreme_scalar<T, kMax>(best, lanes[k]);
  return best;
}
template <class T, bool kMax>
void extreme_into(T* acc, const T* x, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  int64_t i = 0;
  for (; i + kL <= n; i += kL) extreme<V, kMax>(V::load(acc + i), V::load(x + i)).store(acc + i);
  for (; i < n; ++i) acc[i] = extreme_scalar<T, kMax>(acc[i], x[i]);
}

template <class T>
Deviations deviations(const T* x, int64_t n, T center) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  constexpr int64_t kBlock = 64 * kL;
  const V c(center);
  Deviations total;
  int64_t i = 0;
  while (i + kL <= n) {
    const int64_t end = std::min(i + kBlock, i + (n - i) / kL * kL);
    V a(0), b(0), s(0), t(0);
    for (; i + 2 * kL <= end; i += 2 * kL) {
      const V p = V::load(x + i) - c, q = V::load(x + i + kL) - c;
      a = a + p * p;
      b = b + q * q;
      s = s + p;
      t = t + q;
    }
    for (; i < end; i += kL) {
      const V p = V::load(x + i) - c;
      a = a + p * p;
      s = s + p;
    }
    total.square += lane_sum(a + b);
    total.sum += lane_sum(s + t);
  }
  for (; i < n; ++i) {
    const double d = static_cast<double>(x[i]) - static_cast<double>(center);
    total.square += d * d;
    total.sum += d;
  }
  return total;
}

template <class T>
constexpr ExtremeLoops<T> extreme_loops() {
  return {&extreme_row<T, true>, &extreme_row<T, false>, &extreme_into<T, true>, &extreme_into<T, false>};
}
template <class T, class Term>
constexpr SumLoops<T> sum_loops() {
  return {&sum_row<T, Term>, &sum_columns<T, Term>};
}

}  // namespace

extern const ReduceLoops kReduceLoops;
const ReduceLoops kReduceLoops = {
    {sum_loops<float, SumTerm>(), sum_loops<float, NanSumTerm>(), sum_loops<float, AbsTerm>(), sum_loops<float, SquareTerm>()},
    {sum_loops<double, SumTerm>(), sum_loops<double, NanSumTerm>(), sum_loops<double, AbsTerm>(), sum_loops<double, SquareTerm>()},
    extreme_loops<float>(),
    extreme_loops<double>(),
    extreme_loops<int64_t>(),
    &deviations<float>,
    &deviations<double>,
};

}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taeda::cpu {

const ReduceLoops& reduce_loops() {
  switch (simd_target()) {
    case SimdTarget::Avx512: return N_AVX3::kReduceLoops;
    case SimdTarget::Avx2: return N_AVX2::kReduceLoops;
    default: return N_SSE4::kReduceLoops;
  }
}

}  // namespace taeda::cpu
#endif
