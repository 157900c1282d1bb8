// SPDX-License-Identifier: Apache-2.0
// Softmax loops: along contiguous rows, and down the columns of (n, inner) blocks.
#include "taeda/ops/kernels/softmax.h"

#include <algorithm>
#include <cmath>

#include "taeda/core/parallel.h"
#include "taeda/cpu/simd_target.h"
#include "taeda/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "taeda/cpu/softmax.cpp"
#include <hwy/foreach_target.h>

#include "taeda/cpu/math.h"

#ifndef TAEDA_CPU_SOFTMAX_LOOPS_
#define TAEDA_CPU_SOFTMAX_LOOPS_
namespace taeda::cpu {
constexpr int64_t kSoftmaxStrip = 128;
/// Rows of n elements, and blocks of n rows with `stride` between them and `width` <= kSoftmaxStrip columns.
template <class T>
struct SoftmaxLoops {
  void (*row)(const T* x, T* y, int64_t n, bool log);
  void (*block)(const T* x, T* y, int64_t n, int64_t stride, int64_t width, bool log);
  void (*row_backward)(const T* g, const T* y, T* out, int64_t n, bool log);
  void (*block_backward)(const T* g, const T* y, T* out, int64_t n, int64_t stride, int64_t width, bool log);
};
}  // namespace taeda::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class V>
HWY_INLINE V load_part(const typename V::Scalar* x, int64_t n, typename V::Scalar fill) {
  HWY_ALIGN typename V::Scalar buffer[V::kLanes];
  std::fill(buffer, buffer + V::kLanes, fill);
  std::copy(x, x + n, buffer);
  return V::load(buffer);
}
template <class V>
HWY_INLINE void store_part(V v, typename V::Scalar* x, int64_t n) {
  HWY_ALIGN typename V::Scalar buffer[V::kLanes];
  v.store(buffer);
  std::copy(buffer, buffer + n, x);
}
template <class V>
HWY_INLINE double lane_sum(V v) {
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(typename V::Tag(), v.raw)));
}

template <class T>
HWY_INLINE T row_max(const T* x, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  if (n < kL) {
    T best = x[0];
    for (int64_t i = 1; i < n; ++i) best = best != best ? best : best > x[i] ? best : x[i];
    return best;
  }
  V a = V::load(x + n - kL), b = a;
  int64_t i = 0;
  for (; i + 2 * kL <= n; i += 2 * kL) {
    a = maximum(a, V::load(x + i));
    b = maximum(b, V::load(x + i + kL));
  }
  if (i + kL <= n) a = maximum(a, V::load(x + i));
  a = maximum(a, b);
  HWY_ALIGN T lanes[V::kLanes];
  a.store(lanes);
  T best = lanes[0];
  for (int64_t k = 1; k < kL; ++k) best = best != best ? best : best > lanes[k] ? best : lanes[k];
  return best;
}

/// Sum of exp(x - m); stores the terms when asked to.
template <class T, bool kStore>
HWY_INLINE double exp_sum(const T* x, T* y, int64_t n, T m) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const V shift(m);
  double total = 0;
  int64_t i = 0;
  while (i + kL <= n) {
    const int64_t end = std::min(i + 128 * kL, i + (n - i) / kL * kL);
    V a(0), b(0);
    for (; i + 2 * kL <= end; i += 2 * kL) {
      const V p = exp(V::load(x + i) - shift), q = exp(V::load(x + i + kL) - shift);
      if constexpr (kStore) {
        p.store(y + i);
        q.store(y + i + kL);
      }
      a = a + p;
      b = b + q;
    }
    for (; i < end; i += kL) {
      const V p = exp(V::load(x + i) - shift);
      if constexpr (kStore) p.store(y + i);
      a = a + p;
    }
    total += lane_sum(a + b);
  }
  if (i < n) {
    const V p = exp(load_part<V>(x + i, n - i, -std::numeric_limits<T>::infinity()) - shift);
    if constexpr (kStore) store_part(p, y + i, n - i);
    HWY_ALIGN T lanes[V::kLanes];
    p.store(lanes);
    for (int64_t k = 0; k < n - i; ++k) total += static_cast<double>(lanes[k]);
  }
  return total;
}

template <class T>
void softmax_row(const T* x, T* y, int64_t n, bool log_form) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const T m = row_max(x, n);
  int64_t i = 0;
  if (log_form) {
    const double total = exp_sum<T, false>(x, y, n, m);
    const T rest = static_cast<T>(std::log(total));
    for (; i + kL <= n; i += kL) ((V::load(x + i) - V(m)) - V(rest)).store(y + i);
    for (; i < n; ++i) y[i] = (x[i] - m) - rest;
    return;
  }
  const double total = exp_sum<T, true>(x, y, n, m);
  const T scale = static_cast<T>(1.0 / total);
  for (; i + kL <= n; i += kL) (V::load(y + i) * V(scale)).store(y + i);
  for (; i < n; ++i) y[i] *= scale;
}

template <class T>
void softmax_block(const T* x, T* y, int64_t n, int64_t stride, int64_t width, bool log_form) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  for (int64_t j = 0; j < width; j += kL) {
    const int64_t k = std::min(kL, width - j);
    const auto load = [&](const T* p) HWY_ATTR { return k == kL ? V::load(p) : load_part<V>(p, k, T(0)); };
    const auto store = [&](V v, T* p) HWY_ATTR { k == kL ? v.store(p) : store_part(v, p, k); };
    V m = load(x + j);
    for (int64_t i = 1; i < n; ++i) m = maximum(m, load(x + i * stride + j));
    V total(0);
    for (int64_t i = 0; i < n; ++i) {
      const V e = exp(load(x + i * stride + j) - m);
      if (!log_form) store(e, y + i * stride + j);
      total = total + e;
    }
    if (log_form) {
      const V rest = log(total);
      for (int64_t i = 0; i < n; ++i) store((load(x + i * stride + j) - m) - rest, y + i * stride + j);
    } else {
      for (int64_t i = 0; i < n; ++i) store(load(y + i * stride + j) / total, y + i * stride + j);
    }
  }
}

/// Sum of g (log form) or of g * y.
template <class T, bool kLog>
HWY_INLINE double grad_sum(const T* g, const T* y, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  double total = 0;
  int64_t i = 0;
  while (i + kL <= n) {
    const int64_t end = std::min(i + 128 * kL, i + (n - i) / kL * kL);
    V a(0);
    for (; i < end; i += kL) a = kLog ? a + V::load(g + i) : fma(V::load(g + i), V::load(y + i), a);
    total += lane_sum(a);
  }
  for (; i < n; ++i) total += static_cast<double>(kLog ? g[i] : g[i] * y[i]);
  return total;
}

template <class T>
void softmax_row_backward(const T* g, const T* y, T* out, int64_t n, bool log_form) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const V s(static_cast<T>(log_form ? grad_sum<T, true>(g, y, n) : grad_sum<T, false>(g, y, n)));
  for (int64_t i = 0; i < n; i += kL) {
    const int64_t k = std::min(kL, n - i);
    const V gv = k == kL ? V::load(g + i) : load_part<V>(g + i, k, T(0));
    const V yv = k == kL ? V::load(y + i) : load_part<V>(y + i, k, T(0));
    const V r = log_form ? gv - exp(yv) * s : (gv - s) * yv;
    k == kL ? r.store(out + i) : store_part(r, out + i, k);
  }
}

template <class T>
void softmax_block_backward(const T* g, const T* y, T* out, int64_t n, int64_t stride, int64_t width, bool log_form) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  for (int64_t j = 0; j < width; j += kL) {
    const int64_t k = std::min(kL, width - j);
    const auto load = [&](const T* p) HWY_ATTR { return k == kL ? V::load(p) : load_part<V>(p, k, T(0)); };
    V s(0);
    for (int64_t i = 0; i < n; ++i) {
      const V gv = load(g + i * stride + j);
      s = log_form ? s + gv : s + gv * load(y + i * stride + j);
    }
    for (int64_t i = 0; i < n; ++i) {
      const V gv = load(g + i * stride + j), yv = load(y + i * stride + j);
      const V r = log_form ? gv - exp(yv) * s : (gv - s) * yv;
      k == kL ? r.store(out + i * stride + j) : store_part(r, out + i * stride + j, k);
    }
  }
}

}  // namespace

template <class T>
SoftmaxLoops<T> softmax_loops() {
  return {&softmax_row<T>, &softmax_block<T>, &softmax_row_backward<T>, &softmax_block_backward<T>};
}
template SoftmaxLoops<float> softmax_loops<float>();
template SoftmaxLoops<double> softmax_loops<double>();

}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taeda {
namespace cpu {
namespace {

template <class T>
SoftmaxLoops<T> loops_of() {
  switch (simd_target()) {
    case SimdTarget::Avx512: return N_AVX3::softmax_loops<T>();
    case SimdTarget::Avx2: return N_AVX2::softmax_loops<T>();
    default: return N_SSE4::softmax_loops<T>();
  }
}

// Calls row(offset) for every row, or block(offset, width) for every strip of columns.
template <class Row, class Block>
void walk(int64_t outer, int64_t n, int64_t inner, const Row& row, const Block& block) {
  constexpr int64_t kGrain = 8192;
  if (inner == 1) {
    parallel_for(0, outer, std::max<int64_t>(1, kGrain / n), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) row(i * n);
    });
    return;
  }
  const int64_t strips = (inner + kSoftmaxStrip - 1) / kSoftmaxStrip;
  parallel_for(0, outer * strips, std::max<int64_t>(1, kGrain / (n * std::min(inner, kSoftmaxStrip))), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const int64_t begin = i % strips * kSoftmaxStrip;
      block(i / strips * n * inner + begin, std::min(kSoftmaxStrip, inner - begin));
    }
  });
}

template <class T>
void softmax_forward(const SoftmaxArgs& a) {
  const SoftmaxLoops<T> loops = loops_of<T>();
  const T* x = static_cast<const T*>(a.in);
  T* y = static_cast<T*>(a.out);
  walk(a.outer, a.n, a.inner, [&](int64_t at) { loops.row(x + at, y + at, a.n, a.log); },
       [&](int64_t at, int64_t width) { loops.block(x + at, y + at, a.n, a.inner, width, a.log); });
}
template <class T>
void softmax_backward(const SoftmaxBackwardArgs& a) {
  const SoftmaxLoops<T> loops = loops_of<T>();
  const T* g = static_cast<const T*>(a.grad);
  const T* y = static_cast<const T*>(a.output);
  T* out = static_cast<T*>(a.out);
  walk(a.outer, a.n, a.inner, [&](int64_t at) { loops.row_backward(g + at, y + at, out + at, a.n, a.log); },
       [&](int64_t at, int64_t width) { loops.block_backward(g + at, y + at, out + at, a.n, a.inner, width, a.log); });
}

void softmax_cpu(const KernelContext&, const SoftmaxArgs& a) {
  a.dtype == kFloat ? softmax_forward<float>(a) : softmax_forward<double>(a);
}
void softmax_backward_cpu(const KernelContext&, const SoftmaxBackwardArgs& a) {
  a.dtype == kFloat ? softmax_backward<float>(a) : softmax_backward<double>(a);
}

}  // namespace
}  // namespace cpu

constinit DeviceKernel<void(const SoftmaxArgs&)> softmax_kernel{&cpu::softmax_cpu};
constinit DeviceKernel<void(const SoftmaxBackwardArgs&)> softmax_backward_kernel{&cpu::softmax_backward_cpu};

}  // namespace taeda
#endif
