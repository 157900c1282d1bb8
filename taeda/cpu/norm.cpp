// SPDX-License-Identifier: Apache-2.0
// Layer and batch normalisation over rows and channels.
#include "taeda/ops/kernels/norm.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "taeda/core/parallel.h"
#include "taeda/cpu/norm_simd.h"

namespace taeda {
namespace cpu {
namespace {

constexpr int64_t kGrain = 16384;
int64_t row_grain(int64_t n) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(n, 1)); }
template <class T>
const T* in_ptr(const void* p) { return static_cast<const T*>(p); }
template <class T>
T* out_ptr(void* p) { return static_cast<T*>(p); }

template <class T>
void layer_norm(const LayerNormArgs& a) {
  const NormLoops<T>& loops = norm_loops(T());
  const T* x = in_ptr<T>(a.in);
  T* y = out_ptr<T>(a.out);
  T* means = out_ptr<T>(a.mean);
  T* rstds = out_ptr<T>(a.rstd);
  const auto n = static_cast<double>(a.n);
  // A result larger than a core's part of the cache would be fetched from memory only to be overwritten.
  constexpr int64_t kStreamedBytes = 8 << 20;
  const bool streamed = a.weight && a.bias && a.n % 16 == 0 && reinterpret_cast<uintptr_t>(y) % 64 == 0 &&
                        a.rows * a.n * static_cast<int64_t>(sizeof(T)) >= kStreamedBytes;
  const auto normalize = streamed ? loops.normalize_streamed : loops.normalize;
  parallel_for(0, a.rows, row_grain(a.n), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const T* row = x + i * a.n;
      const T center = static_cast<T>(loops.sum(row, a.n) / n);
      const Deviations d = loops.deviations(row, a.n, center);
      means[i] = static_cast<T>(d.mean(static_cast<double>(center), n));
      rstds[i] = static_cast<T>(1.0 / std::sqrt(d.from_mean(n) / n + a.eps));
      normalize(row, in_ptr<T>(a.weight), in_ptr<T>(a.bias), means[i], rstds[i], y + i * a.n, a.n);
    }
    if (streamed) hwy::FlushStream();
  });
}

template <class T>
void layer_norm_backward(const LayerNormBackwardArgs& a) {
  const NormLoops<T>& loops = norm_loops(T());
  const T* g = in_ptr<T>(a.grad);
  const T* x = in_ptr<T>(a.in);
  const T* mean = in_ptr<T>(a.mean);
  const T* rstd = in_ptr<T>(a.rstd);
  const T* w = in_ptr<T>(a.weight);
  T* dx = out_ptr<T>(a.grad_in);
  const auto n = static_cast<double>(a.n);
  if (dx) {
    parallel_for(0, a.rows, row_grain(a.n), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) {
        double sum, product;
        loops.grad_sums(g + i * a.n, x + i * a.n, w, mean[i], a.n, &sum, &product);
        const double r = static_cast<double>(rstd[i]);
        loops.grad_input(g + i * a.n, x + i * a.n, w, mean[i], rstd[i], static_cast<T>(-r * r * r * product / n),
                         static_cast<T>(-r * sum / n), dx + i * a.n, a.n);
      }
    });
  }
  T* dw = out_ptr<T>(a.grad_weight);
  T* db = out_ptr<T>(a.grad_bias);
  if (!dw && !db) return;
  // Columns are split over threads, rows are added in blocks.
  parallel_for(0, a.n, std::max<int64_t>(64, kGrain * 4 / std::max<int64_t>(a.rows, 1)), [&](int64_t b, int64_t e) {
    const int64_t width = e - b;
    std::vector<T> block(static_cast<size_t>(2 * width));
    std::vector<double> total(static_cast<size_t>(2 * width), 0.0);
    T* bw = dw ? block.data() : nullptr;
    T* bb = db ? block.data() + width : nullptr;
    for (int64_t i = 0; i < a.rows; i += 64) {
      std::fill(block.begin(), block.end(), T(0));
      for (int64_t k = i; k < std::min(a.rows, i + 64); ++k) {
        loops.grad_affine(g + k * a.n + b, x + k * a.n + b, mean[k], rstd[k], bw, bb, width);
      }
      for (size_t j = 0; j < total.size(); ++j) total[j] += static_cast<double>(block[j]);
    }
    for (int64_t j = 0; j < width; ++j) {
      if (dw) dw[b + j] = static_cast<T>(total[static_cast<size_t>(j)]);
      if (db) db[b + j] = static_cast<T>(total[static_cast<size_t>(width + j)]);
    }
  });
}

template <class T>
void channel_affine(const ChannelAffineArgs& a) {
  const NormLoops<T>& loops = norm_loops(T());
  const T* x = in_ptr<T>(a.in);
  const T* scale = in_ptr<T>(a.scale);
  const T* shift = in_ptr<T>(a.shift);
  T* y = out_ptr<T>(a.out);
  if (a.inner == 1) {  // rows of channels: scale and shift lie side by side
    parallel_for(0, a.batch, row_grain(a.channels), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) loops.normalize(x + i * a.channels, scale, shift, T(0), T(1), y + i * a.channels, a.channels);
    });
    return;
  }
  parallel_for(0, a.batch * a.channels, row_grain(a.inner), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const int64_t c = i % a.channels;
      loops.affine(x + i * a.inner, scale[c], shift[c], y + i * a.inner, a.inner);
    }
  });
}

template <class T>
void channel_moments(const ChannelMomentsArgs& a) {
  const NormLoops<T>& loops = norm_loops(T());
  const T* x = in_ptr<T>(a.in);
  T* mean = out_ptr<T>(a.mean);
  T* var = out_ptr<T>(a.var);
  const auto count = static_cast<double>(a.batch * a.inner);
  parallel_for(0, a.channels, row_grain(a.batch * a.inner), [&](int64_t b, int64_t e) {
    if (a.inner == 1) {
      std::vector<double> sums(static_cast<size_t>(e - b), 0.0), squares(static_cast<size_t>(e - b), 0.0);
      for (int64_t i = 0; i < a.batch; ++i) {
        for (int64_t c = b; c < e; ++c) sums[static_cast<size_t>(c - b)] += static_cast<double>(x[i * a.channels + c]);
      }
      for (double& s : sums) s /= count;
      for (int64_t i = 0; i < a.batch; ++i) {
        for (int64_t c = b; c < e; ++c) {
          const double d = static_cast<double>(x[i * a.channels + c]) - sums[static_cast<size_t>(c - b)];
          squares[static_cast<size_t>(c - b)] += d * d;
        }
      }
      for (int64_t c = b; c < e; ++c) {
        mean[c] = static_cast<T>(sums[static_cast<size_t>(c - b)]);
        var[c] = static_cast<T>(squares[static_cast<size_t>(c - b)] / count);
      }
      return;
    }
    for (int64_t c = b; c < e; ++c) {
      double sum = 0;
      for (int64_t i = 0; i < a.batch; ++i) sum += loops.sum(x + (i * a.channels + c) * a.inner, a.inner);
      const T center = static_cast<T>(sum / count);
      Deviations all;
      for (int64_t i = 0; i < a.batch; ++i) {
        const Deviations d = loops.deviations(x + (i * a.channels + c) * a.inner, a.inner, center);
        all.sum += d.sum;
        all.square += d.square;
      }
      mean[c] = static_cast<T>(all.mean(static_cast<double>(center), count));
      var[c] = static_cast<T>(all.from_mean(count) / count);
    }
  });
}

template <class T>
void batch_norm_backward(const BatchNormBackwardArgs& a) {
  const NormLoops<T>& loops = norm_loops(T());
  const T* g = in_ptr<T>(a.grad);
  const T* x = in_ptr<T>(a.in);
  const T* mean = in_ptr<T>(a.mean);
  const T* rstd = in_ptr<T>(a.rstd);
  const T* w = in_ptr<T>(a.weight);
  T* dx = out_ptr<T>(a.grad_in);
  T* dw = out_ptr<T>(a.grad_weight);
  T* db = out_ptr<T>(a.grad_bias);
  const auto count = static_cast<double>(a.batch * a.inner);
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      double sum = 0, product = 0;
      for (int64_t i = 0; i < a.batch; ++i) {
        const int64_t at = (i * a.channels + c) * a.inner;
        if (a.inner == 1) {
          sum += static_cast<double>(g[at]);
          product += static_cast<double>(g[at]) * static_cast<double>(x[at] - mean[c]);
          continue;
        }
        double s, p;
        loops.grad_sums(g + at, x + at, nullptr, mean[c], a.inner, &s, &p);
        sum += s;
        product += p;
      }
      const double r = static_cast<double>(rstd[c]);
      if (dw) dw[c] = static_cast<T>(product * r);
      if (db) db[c] = static_cast<T>(sum);
      if (!dx) continue;
      const double weight = w ? static_cast<double>(w[c]) : 1.0;
      const T scale = static_cast<T>(weight * r);
      const T slope = static_cast<T>(a.training ? -weight * r * r * r * product / count : 0.0);
      const T shift = static_cast<T>(a.training ? -weight * r * sum / count : 0.0);
      for (int64_t i = 0; i < a.batch; ++i) {
        const int64_t at = (i * a.channels + c) * a.inner;
        if (a.inner == 1) dx[at] = g[at] * scale + (x[at] - mean[c]) * slope + shift;
        else loops.grad_input(g + at, x + at, nullptr, mean[c], scale, slope, shift, dx + at, a.inner);
      }
    }
  };
  parallel_for(0, a.channels, row_grain(a.batch * a.inner), run);
}

#define TAEDA_FLOAT_OR_DOUBLE(name, Args) \
  void name##_cpu(const KernelContext&, const Args& a) { a.dtype == kFloat ? name<float>(a) : name<double>(a); }
TAEDA_FLOAT_OR_DOUBLE(layer_norm, LayerNormArgs)
TAEDA_FLOAT_OR_DOUBLE(layer_norm_backward, LayerNormBackwardArgs)
TAEDA_FLOAT_OR_DOUBLE(channel_affine, ChannelAffineArgs)
TAEDA_FLOAT_OR_DOUBLE(channel_moments, ChannelMomentsArgs)
TAEDA_FLOAT_OR_DOUBLE(batch_norm_backward, BatchNormBackwardArgs)
#undef TAEDA_FLOAT_OR_DOUBLE

}  // namespace
}  // namespace cpu

constinit DeviceKernel<void(const LayerNormArgs&)> layer_norm_kernel{&cpu::layer_norm_cpu};
constinit DeviceKernel<void(const LayerNormBackwardArgs&)> layer_norm_backward_kernel{&cpu::layer_norm_backward_cpu};
constinit DeviceKernel<void(const ChannelAffineArgs&)> channel_affine_kernel{&cpu::channel_affine_cpu};
constinit DeviceKernel<void(const ChannelMomentsArgs&)> channel_moments_kernel{&cpu::channel_moments_cpu};
constinit DeviceKernel<void(const BatchNormBackwardArgs&)> batch_norm_backward_kernel{&cpu::batch_norm_backward_cpu};

}  // namespace taeda
