// SPDX-License-Identifier: Apache-2.0
// CPU kernels of pooling.
#include <algorithm>
#include <cmath>
#include <limits>

#include "taeda/core/parallel.h"
#include "taeda/ops/kernels/pool.h"

namespace taeda {
namespace {

int64_t product(const int64_t (&x)[3]) { return x[0] * x[1] * x[2]; }

/// The elements [begin, end) of a window in one dimension, in steps; begin may have been moved into the plane.
struct Span {
  int64_t begin, end, step;
};
Span span_of(const PoolArgs& x, int d, int64_t i) {
  if (x.adaptive) return {i * x.in[d] / x.out[d], ((i + 1) * x.in[d] + x.out[d] - 1) / x.out[d], 1};
  int64_t begin = i * x.stride[d] - x.pad[d];
  const int64_t end = std::min(begin + (x.kernel[d] - 1) * x.dilation[d] + 1, x.in[d]);
  if (begin < 0) begin += (-begin + x.dilation[d] - 1) / x.dilation[d] * x.dilation[d];
  return {begin, end, x.dilation[d]};
}

/// Calls f(plane, output position, spans) for planes [begin, end).
template <class F>
void for_each_window(const PoolArgs& x, int64_t begin, int64_t end, const F& f) {
  for (int64_t plane = begin; plane < end; ++plane) {
    int64_t at = plane * product(x.out);
    for (int64_t z = 0; z < x.out[0]; ++z) {
      const Span sz = span_of(x, 0, z);
      for (int64_t y = 0; y < x.out[1]; ++y) {
        const Span sy = span_of(x, 1, y);
        for (int64_t w = 0; w < x.out[2]; ++w, ++at) f(plane, at, sz, sy, span_of(x, 2, w), z, y, w);
      }
    }
  }
}

template <class T>
constexpr T lowest() {
  if constexpr (is_floating<T>) return static_cast<T>(-std::numeric_limits<float>::infinity());
  else return std::numeric_limits<T>::lowest();
}

template <class T>
void max_windows(const PoolArgs& x, int64_t begin, int64_t end) {
  const T* self = reinterpret_cast<const T*>(x.self);
  T* result = reinterpret_cast<T*>(x.result);
  const int64_t size = product(x.in);
  for_each_window(x, begin, end, [&](int64_t plane, int64_t at, Span sz, Span sy, Span sx, int64_t, int64_t, int64_t) {
    const T* from = self + plane * size;
    T best = lowest<T>();
    int64_t index = (sz.begin * x.in[1] + sy.begin) * x.in[2] + sx.begin;
    for (int64_t z = sz.begin; z < sz.end; z += sz.step) {
      for (int64_t y = sy.begin; y < sy.end; y += sy.step) {
        const int64_t line = (z * x.in[1] + y) * x.in[2];
        for (int64_t w = sx.begin; w < sx.end; w += sx.step) {
          const T value = from[line + w];
          if (!(value <= best)) {  // larger, or nan
            best = value;
            index = line + w;
          }
        }
      }
    }
    result[at] = best;
    if (x.indices) x.indices[at] = index;
  });
}

/// Windows of 2 x 2 elements side by side.
template <class T>
void max_pairs(const PoolArgs& x, int64_t begin, int64_t end) {
  const int64_t w = x.in[2];
  for (int64_t plane = begin; plane < end; ++plane) {
    const T* from = reinterpret_cast<const T*>(x.self) + plane * product(x.in);
    T* to = reinterpret_cast<T*>(x.result) + plane * product(x.out);
    int64_t* index = x.indices ? x.indices + plane * product(x.out) : nullptr;
    for (int64_t y = 0; y < x.out[1]; ++y, to += x.out[2]) {
      const T* a = from + 2 * y * w;
      const T* b = a + w;
      const int64_t line = 2 * y * w;
      for (int64_t i = 0; i < x.out[2]; ++i) {
        const T p = a[2 * i], q = a[2 * i + 1], r = b[2 * i], s = b[2 * i + 1];
        T best = p;
        int64_t at = line + 2 * i;
        const int64_t at_q = at + 1, at_r = at + w, at_s = at + w + 1;
        at = q <= best ? at : at_q;
        best = q <= best ? best : q;
        at = r <= best ? at : at_r;
        best = r <= best ? best : r;
        at = s <= best ? at : at_s;
        best = s <= best ? best : s;
        to[i] = best;
        if (index) index[i] = at;
      }
      if (index) index += x.out[2];
    }
  }
}

int64_t plane_grain(const PoolArgs& x) {
  const int64_t work = x.adaptive ? std::max(product(x.in), product(x.out)) : product(x.out) * product(x.kernel);
  return std::max<int64_t>(1, 32768 / std::max<int64_t>(1, work));
}

void max_pool_cpu(const KernelContext&, const PoolArgs& x) {
  const bool pairs = !x.adaptive && product(x.kernel) == 4 && x.kernel[1] == 2 && x.kernel[2] == 2 && x.stride[1] == 2 && x.stride[2] == 2 &&
                     product(x.dilation) == 1 && x.pad[1] == 0 && x.pad[2] == 0 && x.in[0] == 1 && x.out[0] == 1 && 2 * x.out[1] <= x.in[1] &&
                     2 * x.out[2] <= x.in[2];
  dispatch_all(x.dtype, "max_pool", [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>) {
      parallel_for(0, x.planes, plane_grain(x), [&](int64_t begin, int64_t end) {
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
          if (pairs) return max_pairs<T>(x, begin, end);
        }
        max_windows<T>(x, begin, end);
      });
    }
  });
}

/// How many elements a window counts.
int64_t count_of(const PoolArgs& x, Span sz, Span sy, Span sx, int64_t z, int64_t y, int64_t w) {
  if (x.divisor) return x.divisor;
  if (!x.count_padding || x.adaptive) return (sz.end - sz.begin) * (sy.end - sy.begin) * (sx.end - sx.begin);
  int64_t count = 1;
  const int64_t at[3] = {z, y, w};
  for (int d = 0; d < 3; ++d) {
    const int64_t begin = at[d] * x.stride[d] - x.pad[d];
    count *= std::min(begin + x.kernel[d], x.in[d] + x.pad[d]) - begin;
  }
  return count;
}

void avg_pool_cpu(const KernelContext&, const PoolArgs& x) {
  dispatch_all(x.dtype, "avg_pool", [&]<class T>() {
    using Sum = std::conditional_t<is_floating<T>, double, int64_t>;
    const T* self = reinterpret_cast<const T*>(x.self);
    T* result = reinterpret_cast<T*>(x.result);
    parallel_for(0, x.planes, plane_grain(x), [&](int64_t begin, int64_t end) {
      for_each_window(x, begin, end, [&](int64_t plane, int64_t at, Span sz, Span sy, Span sx, int64_t oz, int64_t oy, int64_t ox) {
        const T* from = self + plane * product(x.in);
        Sum sum = 0;
        for (int64_t z = sz.begin; z < sz.end; ++z) {
          for (int64_t y = sy.begin; y < sy.end; ++y) {
            const T* line = from + (z * x.in[1] + y) * x.in[2];
            for (int64_t w = sx.begin; w < sx.end; ++w) sum += static_cast<Sum>(line[w]);
          }
        }
        const int64_t count = count_of(x, sz, sy, sx, oz, oy, ox);
        if constexpr (is_floating<T>) result[at] = static_cast<T>(static_cast<OpMath<T>>(sum / static_cast<double>(count)));
        else result[at] = static_cast<T>(count == 0 ? 0 : sum / count);
      });
    });
  });
}

void avg_pool_grad_cpu(const KernelContext&, const PoolArgs& x) {
  dispatch_floating(x.dtype, "avg_pool_backward", [&]<class T>() {
    using M = OpMath<T>;
    const T* grad = reinterpret_cast<const T*>(x.self);
    T* result = reinterpret_cast<T*>(x.result);
    parallel_for(0, x.planes, plane_grain(x), [&](int64_t begin, int64_t end) {
      std::fill(result + begin * product(x.in), result + end * product(x.in), T(0));
      for_each_window(x, begin, end, [&](int64_t plane, int64_t at, Span sz, Span sy, Span sx, int64_t oz, int64_t oy, int64_t ox) {
        T* to = result + plane * product(x.in);
        const M share = static_cast<M>(grad[at]) / static_cast<M>(count_of(x, sz, sy, sx, oz, oy, ox));
        for (int64_t z = sz.begin; z < sz.end; ++z) {
          for (int64_t y = sy.begin; y < sy.end; ++y) {
            T* line = to + (z * x.in[1] + y) * x.in[2];
            for (int64_t w = sx.begin; w < sx.end; ++w) line[w] = static_cast<T>(static_cast<M>(line[w]) + share);
          }
        }
      });
    });
  });
}

void max_pool_grad_cpu(const KernelContext&, const PoolArgs& x) {
  const int64_t in = product(x.in), out = product(x.out);
  dispatch_floating(x.dtype, "max_pool_backward", [&]<class T>() {
    using M = OpMath<T>;
    const T* grad = reinterpret_cast<const T*>(x.self);
    T* result = reinterpret_cast<T*>(x.result);
    parallel_for(0, x.planes, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, in)), [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        T* to = result + plane * in;
        std::fill(to, to + in, T(0));
        for (int64_t i = 0; i < out; ++i) {
          T& place = to[x.indices[plane * out + i]];
          place = static_cast<T>(static_cast<M>(place) + static_cast<M>(grad[plane * out + i]));
        }
      }
    });
  });
}

}  // namespace

constinit DeviceKernel<void(const PoolArgs&)> max_pool_kernel{&max_pool_cpu};
constinit DeviceKernel<void(const PoolArgs&)> avg_pool_kernel{&avg_pool_cpu};
constinit DeviceKernel<void(const PoolArgs&)> avg_pool_grad_kernel{&avg_pool_grad_cpu};
constinit DeviceKernel<void(const PoolArgs&)> max_pool_grad_kernel{&max_pool_grad_cpu};

}  // namespace taeda
