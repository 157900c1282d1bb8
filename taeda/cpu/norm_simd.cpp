// SPDX-License-Identifier: Apache-2.0
// Vector loops of the normalisations; sums in blocks, added up in double.
#include "taeda/cpu/norm_simd.h"

#include <algorithm>

#include "taeda/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "taeda/cpu/norm_simd.cpp"
#include <hwy/foreach_target.h>

#include "taeda/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class V>
HWY_INLINE double lane_sum(V v) {
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(typename V::Tag(), v.raw)));
}

template <class T>
double sum(const T* x, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  double total = 0;
  int64_t i = 0;
  while (i + kL <= n) {
    const int64_t end = std::min(i + 128 * kL, i + (n - i) / kL * kL);
    V a(0), b(0), c(0), d(0);
    for (; i + 4 * kL <= end; i += 4 * kL) {
      a = a + V::load(x + i);
      b = b + V::load(x + i + kL);
      c = c + V::load(x + i + 2 * kL);
      d = d + V::load(x + i + 3 * kL);
    }
    for (; i < end; i += kL) a = a + V::load(x + i);
    total += lane_sum((a + b) + (c + d));
  }
  for (; i < n; ++i) total += static_cast<double>(x[i]);
  return total;
}

template <class T>
Deviations deviations(const T* x, int64_t n, T center) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const V c(center);
  Deviations total;
  int64_t i = 0;
  while (i + kL <= n) {
    const int64_t end = std::min(i + 128 * kL, i + (n - i) / kL * kL);
    V a(0), b(0), s(0), t(0);
    for (; i + 2 * kL <= end; i += 2 * kL) {
      const V p = V::load(x + i) - c, q = V::load(x + i + kL) - c;
      a = fma(p, p, a);
      b = fma(q, q, b);
      s = s + p;
      t = t + q;
    }
    for (; i < end; i += kL) {
      const V p = V::load(x + i) - c;
      a = fma(p, p, a);
      s = s + p;
    }
    total.square += lane_sum(a + b);
    total.sum += lane_sum(s + t);
  }
  for (; i < n; ++i) {
    const T d = x[i] - center;
    total.square += static_cast<double>(d * d);
    total.sum += static_cast<double>(d);
  }
  return total;
}

template <class T>
void normalize(const T* x, const T* weight, const T* bias, T mean, T rstd, T* y, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const V m(mean), r(rstd);
  int64_t i = 0;
  if (weight && bias) {
    for (; i + kL <= n; i += kL) fma((V::load(x + i) - m) * r, V::load(weight + i), V::load(bias + i)).store(y + i);
  } else if (weight) {
    for (; i + kL <= n; i += kL) ((V::load(x + i) - m) * r * V::load(weight + i)).store(y + i);
  } else if (bias) {
    for (; i + kL <= n; i += kL) fma(V::load(x + i) - m, r, V::load(bias + i)).store(y + i);
  } else {
    for (; i + kL <= n; i += kL) ((V::load(x + i) - m) * r).store(y + i);
  }
  for (; i < n; ++i) {
    T v = (x[i] - mean) * rstd;
    if (weight) v *= weight[i];
    y[i] = bias ? v + bias[i] : v;
  }
}

/// As `normalize` with weight and bias, past the cache: for results that are larger than a core's part of it. `y` and `n` are
/// multiples of a vector.
template <class T>
void normalize_streamed(const T* x, const T* weight, const T* bias, T mean, T rstd, T* y, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const V m(mean), r(rstd);
  for (int64_t i = 0; i + kL <= n; i += kL) {
    hn::Stream(fma((V::load(x + i) - m) * r, V::load(weight + i), V::load(bias + i)).raw, typename V::Tag(), y + i);
  }
}

template <class T>
void affine(const T* x, T scale, T shift, T* y, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const V s(scale), t(shift);
  int64_t i = 0;
  for (; i + kL <= n; i += kL) fma(V::load(x + i), s, t).store(y + i);
  for (; i < n; ++i) y[i] = x[i] * scale + shift;
}

template <class T>
void grad_sums(const T* g, const T* x, const T* weight, T mean, int64_t n, double* sum, double* product) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const V m(mean);
  double s = 0, p = 0;
  int64_t i = 0;
  while (i + kL <= n) {
    const int64_t end = std::min(i + 128 * kL, i + (n - i) / kL * kL);
    V a(0), b(0);
    if (weight) {
      for (; i < end; i += kL) {
        const V gv = V::load(g + i) * V::load(weight + i);
        a = a + gv;
        b = fma(gv, V::load(x + i) - m, b);
      }
    } else {
      for (; i < end; i += kL) {
        const V gv = V::load(g + i);
        a = a + gv;
        b = fma(gv, V::load(x + i) - m, b);
      }
    }
    s += lane_sum(a);
    p += lane_sum(b);
  }
  for (; i < n; ++i) {
    const T gv = weight ? g[i] * weight[i] : g[i];
    s += static_cast<double>(gv);
    p += static_cast<double>(gv * (x[i] - mean));
  }
  *sum = s;
  *product = p;
}

template <class T>
void grad_input(const T* g, const T* x, const T* weight, T mean, T a, T b, T c, T* out, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const V m(mean), av(a), bv(b), cv(c);
  int64_t i = 0;
  if (weight) {
    for (; i + kL <= n; i += kL) {
      fma(V::load(g + i) * V::load(weight + i), av, fma(V::load(x + i) - m, bv, cv)).store(out + i);
    }
  } else {
    for (; i + kL <= n; i += kL) fma(V::load(g + i), av, fma(V::load(x + i) - m, bv, cv)).store(out + i);
  }
  for (; i < n; ++i) out[i] = (weight ? g[i] * weight[i] : g[i]) * a + (x[i] - mean) * b + c;
}

template <class T>
void grad_affine(const T* g, const T* x, T mean, T rstd, T* dw, T* db, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const V m(mean), r(rstd);
  int64_t i = 0;
  if (dw) {
    for (; i + kL <= n; i += kL) fma(V::load(g + i), (V::load(x + i) - m) * r, V::load(dw + i)).store(dw + i);
    for (; i < n; ++i) dw[i] += g[i] * (x[i] - mean) * rstd;
  }
  i = 0;
  if (db) {
    for (; i + kL <= n; i += kL) (V::load(db + i) + V::load(g + i)).store(db + i);
    for (; i < n; ++i) db[i] += g[i];
  }
}

template <class T>
constexpr NormLoops<T> make_loops() {
  return {&sum<T>, &deviations<T>, &normalize<T>, &normalize_streamed<T>, &affine<T>, &grad_sums<T>, &grad_input<T>, &grad_affine<T>};
}

}  // namespace

extern const NormLoops<float> kNormLoopsF32;
extern const NormLoops<double> kNormLoopsF64;
const NormLoops<float> kNormLoopsF32 = make_loops<float>();
const NormLoops<double> kNormLoopsF64 = make_loops<double>();

}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taeda::cpu {

const NormLoops<float>& norm_loops(float) {
  switch (simd_target()) {
    case SimdTarget::Avx512: return N_AVX3::kNormLoopsF32;
    case SimdTarget::Avx2: return N_AVX2::kNormLoopsF32;
    default: return N_SSE4::kNormLoopsF32;
  }
}
const NormLoops<double>& norm_loops(double) {
  switch (simd_target()) {
    case SimdTarget::Avx512: return N_AVX3::kNormLoopsF64;
    case SimdTarget::Avx2: return N_AVX2::kNormLoopsF64;
    default: return N_SSE4::kNormLoopsF64;
  }
}

}  // namespace taeda::cpu
#endif
