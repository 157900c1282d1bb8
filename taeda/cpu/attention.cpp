// SPDX-License-Identifier: Apache-2.0
// Attention in blocks of queries and keys, so that memory grows with the length and not with its square
// (Dao et al. 2022; Milakov, Gimelshein 2018).
#include "taeda/ops/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "taeda/core/parallel.h"
#include "taeda/cpu/gemm.h"
#include "taeda/cpu/scratch.h"
#include "taeda/cpu/simd_target.h"
#include "taeda/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "taeda/cpu/attention.cpp"
#include <hwy/foreach_target.h>

#include "taeda/cpu/math.h"

#ifndef TAEDA_CPU_ATTENTION_ONCE
#define TAEDA_CPU_ATTENTION_ONCE
namespace taeda::cpu {
namespace {

constexpr int64_t kQueryBlock = 64;
constexpr int64_t kKeyBlock = 256;

template <class T>
T* at(const AttentionOperand& x, int64_t b, int64_t h, int64_t row) {
  return reinterpret_cast<T*>(x.data) + b * x.batch + h * x.head + row * x.row;
}

/// Keys that any row of [row, row + count) may see.
inline int64_t visible(const AttentionArgs& x, int64_t row, int64_t count) {
  return x.causal ? std::min(x.keys, row + count) : x.keys;
}

/// scores (rows x n, row stride n) = scale · query keyᵀ with masks applied: -inf where a key is not seen.
template <class T>
void scores_of(const AttentionArgs& x, int64_t b, int64_t h, int64_t row, int64_t rows, int64_t key, int64_t n, T* scores) {
  Gemm<T> g{rows, n, x.width, at<T>(x.query, b, h, row), x.query.row, 1, at<T>(x.key, b, h, key), 1, x.key.row, scores, n};
  g.alpha = static_cast<T>(x.scale);
  gemm_serial(g);
  constexpr T kNever = -std::numeric_limits<T>::infinity();
  if (x.mask.data) {
    for (int64_t i = 0; i < rows; ++i) {
      T* line = scores + i * n;
      const int64_t offset = b * x.mask.batch + h * x.mask.head + (row + i) * x.mask.row + key * x.mask.column;
      if (x.mask_is_bool) {
        const bool* mask = reinterpret_cast<const bool*>(x.mask.data) + offset;
        for (int64_t j = 0; j < n; ++j) line[j] = mask[j * x.mask.column] ? line[j] : kNever;
      } else {
        const T* mask = reinterpret_cast<const T*>(x.mask.data) + offset;
        for (int64_t j = 0; j < n; ++j) line[j] += mask[j * x.mask.column];
      }
    }
  }
  if (x.causal && key + n > row + 1) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = std::max<int64_t>(0, row + i + 1 - key); j < n; ++j) scores[i * n + j] = kNever;
    }
  }
}

/// The loops over one row.
template <class T>
struct AttentionLoops {
  /// The largest of n numbers (nan if there is one).
  T (*largest)(const T* x, int64_t n);
  /// x = exp(x - shift); returns the sum.
  T (*exp_shift)(T* x, int64_t n, T shift);
  /// x *= factor.
  void (*scale)(T* x, int64_t n, T factor);
  /// dp = p · (dp - d).
  void (*soft_grad)(const T* p, T* dp, int64_t n, T d);
};
template <class T>
const AttentionLoops<T>& attention_loops();

}  // namespace
}  // namespace taeda::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
T largest(const T* x, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  V best(-std::numeric_limits<T>::infinity());
  int64_t i = 0;
  for (; i + kL <= n; i += kL) best = maximum(best, V::load(x + i));
  HWY_ALIGN T lanes[V::kLanes];
  best.store(lanes);
  T result = -std::numeric_limits<T>::infinity();
  const auto take = [&](T v) { result = result != result || v <= result ? result : v; };
  for (int64_t k = 0; k < kL; ++k) take(lanes[k]);
  for (; i < n; ++i) take(x[i]);
  return result;
}

template <class T>
T exp_shift(T* x, int64_t n, T shift) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const V s(shift);
  V sum(0);
  int64_t i = 0;
  for (; i + kL <= n; i += kL) {
    const V e = exp(V::load(x + i) - s);
    e.store(x + i);
    sum = sum + e;
  }
  T total = hn::GetLane(hn::SumOfLanes(typename V::Tag(), sum.raw));
  if (i < n) {
    HWY_ALIGN T lanes[V::kLanes] = {};
    std::copy(x + i, x + n, lanes);
    exp(V::load(lanes) - s).store(lanes);
    for (int64_t k = 0; i + k < n; ++k) {
      x[i + k] = lanes[k];
      total += lanes[k];
    }
  }
  return total;
}

template <class T>
void scale(T* x, int64_t n, T factor) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const V f(factor);
  int64_t i = 0;
  for (; i + kL <= n; i += kL) (V::load(x + i) * f).store(x + i);
  for (; i < n; ++i) x[i] *= factor;
}

template <class T>
void soft_grad(const T* p, T* dp, int64_t n, T d) {
  using V = Vec<T>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const V dv(d);
  int64_t i = 0;
  for (; i + kL <= n; i += kL) (V::load(p + i) * (V::load(dp + i) - dv)).store(dp + i);
  for (; i < n; ++i) dp[i] = p[i] * (dp[i] - d);
}

}  // namespace

extern const AttentionLoops<float> kAttentionF32;
extern const AttentionLoops<double> kAttentionF64;
const AttentionLoops<float> kAttentionF32 = {&largest<float>, &exp_shift<float>, &scale<float>, &soft_grad<float>};
const AttentionLoops<double> kAttentionF64 = {&largest<double>, &exp_shift<double>, &scale<double>, &soft_grad<double>};

}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taeda::cpu {
namespace {

template <>
const AttentionLoops<float>& attention_loops<float>() {
  switch (simd_target()) {
    case SimdTarget::Avx512: return N_AVX3::kAttentionF32;
    case SimdTarget::Avx2: return N_AVX2::kAttentionF32;
    default: return N_SSE4::kAttentionF32;
  }
}
template <>
const AttentionLoops<double>& attention_loops<double>() {
  switch (simd_target()) {
    case SimdTarget::Avx512: return N_AVX3::kAttentionF64;
    case SimdTarget::Avx2: return N_AVX2::kAttentionF64;
    default: return N_SSE4::kAttentionF64;
  }
}

/// Queries [row, row + rows) of one head: a running maximum and sum for each row, the result rescaled when the maximum grows.
template <class T>
void attend_block(const AttentionArgs& x, int64_t b, int64_t h, int64_t row, int64_t rows, T* scores, T* sums) {
  const AttentionLoops<T>& loops = attention_loops<T>();
  constexpr T kNever = -std::numeric_limits<T>::infinity();
  T* best = sums;
  T* total = sums + rows;
  std::fill(best, best + rows, kNever);
  std::fill(total, total + rows, T(0));
  T* out = at<T>(x.out, b, h, row);
  const int64_t end = visible(x, row, rows);
  for (int64_t i = 0; i < rows && end == 0; ++i) std::fill(out + i * x.out.row, out + i * x.out.row + x.value_width, T(0));
  for (int64_t key = 0; key < end; key += kKeyBlock) {
    const int64_t n = std::min(kKeyBlock, end - key);
    scores_of(x, b, h, row, rows, key, n, scores);
    for (int64_t i = 0; i < rows; ++i) {
      T* line = scores + i * n;
      const T peak = loops.largest(line, n);
      const T top = best[i] != best[i] || peak <= best[i] ? best[i] : peak;
      if (top == kNever) {  // no key seen yet
        std::fill(line, line + n, T(0));
        continue;
      }
      const T sum = loops.exp_shift(line, n, top);
      if (key > 0 && top != best[i]) {
        const T shrink = std::exp(best[i] - top);
        total[i] *= shrink;
        loops.scale(out + i * x.out.row, x.value_width, shrink);
      }
      total[i] += sum;
      best[i] = top;
    }
    Gemm<T> g{rows, x.value_width, n, scores, n, 1, at<T>(x.value, b, h, key), x.value.row, 1, out, x.out.row};
    g.beta = key > 0 ? T(1) : T(0);
    gemm_serial(g);
  }
  T* log_sum = reinterpret_cast<T*>(x.log_sum) + (b * x.heads + h) * x.length + row;
  for (int64_t i = 0; i < rows; ++i) {
    log_sum[i] = best[i] == kNever ? kNever : best[i] + std::log(total[i]);
    loops.scale(out + i * x.out.row, x.value_width, best[i] == kNever ? T(0) : T(1) / total[i]);
  }
}

template <class T>
void attend(const AttentionArgs& x) {
  const int64_t blocks = (x.length + kQueryBlock - 1) / kQueryBlock;
  const int64_t work = std::max<int64_t>(1, std::min(kQueryBlock, x.length) * x.keys * (x.width + x.value_width));
  parallel_for(0, x.batch * x.heads * blocks, std::max<int64_t>(1, (1 << 18) / work), [&](int64_t begin, int64_t end) {
    Scratch<T> scores(kQueryBlock * std::min(kKeyBlock, std::max<int64_t>(x.keys, 1)));
    Scratch<T> sums(2 * kQueryBlock);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t head = i / blocks, row = i % blocks * kQueryBlock;
      attend_block<T>(x, head / x.heads, head % x.heads, row, std::min(kQueryBlock, x.length - row), scores.data(), sums.data());
    }
  });
}

/// All gradients of one head.
template <class T>
void attend_grad_head(const AttentionArgs& x, int64_t b, int64_t h, T* p, T* dp) {
  const AttentionLoops<T>& loops = attention_loops<T>();
  const T* log_sum = reinterpret_cast<const T*>(x.log_sum) + (b * x.heads + h) * x.length;
  for (int64_t i = 0; i < x.keys; ++i) {
    std::fill_n(at<T>(x.grad_key, b, h, i), x.width, T(0));
    std::fill_n(at<T>(x.grad_value, b, h, i), x.value_width, T(0));
  }
  for (int64_t row = 0; row < x.length; row += kQueryBlock) {
    const int64_t rows = std::min(kQueryBlock, x.length - row);
    const T* grad = at<T>(x.grad_out, b, h, row);
    T dots[kQueryBlock];
    for (int64_t i = 0; i < rows; ++i) {
      const T* o = at<T>(x.out, b, h, row + i);
      double dot = 0;
      for (int64_t k = 0; k < x.value_width; ++k) dot += static_cast<double>(o[k]) * static_cast<double>(grad[i * x.grad_out.row + k]);
      dots[i] = static_cast<T>(dot);
      std::fill_n(at<T>(x.grad_query, b, h, row + i), x.width, T(0));
    }
    const int64_t end = visible(x, row, rows);
    for (int64_t key = 0; key < end; key += kKeyBlock) {
      const int64_t n = std::min(kKeyBlock, end - key);
      scores_of(x, b, h, row, rows, key, n, p);
      Gemm<T> back{rows, n, x.value_width, grad, x.grad_out.row, 1, at<T>(x.value, b, h, key), 1, x.value.row, dp, n};
      gemm_serial(back);
      for (int64_t i = 0; i < rows; ++i) {
        if (log_sum[row + i] == -std::numeric_limits<T>::infinity()) {
          std::fill_n(p + i * n, n, T(0));
          std::fill_n(dp + i * n, n, T(0));
        } else {
          loops.exp_shift(p + i * n, n, log_sum[row + i]);
        }
      }
      Gemm<T> value{n, x.value_width, rows, p, 1, n, grad, x.grad_out.row, 1, at<T>(x.grad_value, b, h, key), x.grad_value.row};
      value.beta = 1;
      gemm_serial(value);
      for (int64_t i = 0; i < rows; ++i) loops.soft_grad(p + i * n, dp + i * n, n, dots[i]);
      Gemm<T> query{rows, x.width, n, dp, n, 1, at<T>(x.key, b, h, key), x.key.row, 1, at<T>(x.grad_query, b, h, row), x.grad_query.row};
      query.alpha = static_cast<T>(x.scale);
      query.beta = 1;
      gemm_serial(query);
      Gemm<T> keys{n, x.width, rows, dp, 1, n, at<T>(x.query, b, h, row), x.query.row, 1, at<T>(x.grad_key, b, h, key), x.grad_key.row};
      keys.alpha = static_cast<T>(x.scale);
      keys.beta = 1;
      gemm_serial(keys);
    }
  }
}

template <class T>
void attend_grad(const AttentionArgs& x) {
  const int64_t work = std::max<int64_t>(1, x.length * x.keys * (x.width + x.value_width));
  parallel_for(0, x.batch * x.heads, std::max<int64_t>(1, (1 << 18) / work), [&](int64_t begin, int64_t end) {
    Scratch<T> p(kQueryBlock * kKeyBlock), dp(kQueryBlock * kKeyBlock);
    for (int64_t i = begin; i < end; ++i) attend_grad_head<T>(x, i / x.heads, i % x.heads, p.data(), dp.data());
  });
}

void attention_cpu(const KernelContext&, const AttentionArgs& x) { x.dtype == kFloat ? attend<float>(x) : attend<double>(x); }
void attention_grad_cpu(const KernelContext&, const AttentionArgs& x) { x.dtype == kFloat ? attend_grad<float>(x) : attend_grad<double>(x); }

}  // namespace
}  // namespace taeda::cpu

namespace taeda {
constinit DeviceKernel<void(const AttentionArgs&)> attention_kernel{&cpu::attention_cpu};
constinit DeviceKernel<void(const AttentionArgs&)> attention_grad_kernel{&cpu::attention_grad_cpu};
}  // namespace taeda
#endif
