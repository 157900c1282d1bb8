// SPDX-License-Identifier: Apache-2.0
// CPU kernels of pooling.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "taeda/core/parallel.h"
#include "taeda/cpu/max_pool_row.h"
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

/// Goes on to `value` when it is larger, or nan.
template <class T>
void take_larger(T value, int64_t position, T& best, int64_t& index) {
  bool take = value > best;
  if constexpr (is_floating<T>) take = take || std::isnan(static_cast<double>(value));
  if (take) {
    best = value;
    index = position;
  }
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
        for (int64_t w = sx.begin; w < sx.end; w += sx.step) take_larger(from[line + w], line + w, best, index);
      }
    }
    result[at] = best;
    if (x.indices) x.indices[at] = index;
  });
}

/// Windows in two dimensions, none empty, in steps of one or two along rows: vectors where they lie inside the plane.
template <class T>
void max_rows(const PoolArgs& x, int64_t begin, int64_t end) {
  const int64_t w = x.in[2], size = product(x.in), outputs = product(x.out), stride = x.stride[2], pad = x.pad[2];
  const int64_t reach = (x.kernel[2] - 1) * x.dilation[2];
  const int64_t first = (pad + stride - 1) / stride;
  const int64_t room = w - 1 - reach + pad;
  const int64_t last = room < 0 ? first : std::max(first, std::min(x.out[2], room / stride + 1));
  std::vector<int64_t> taps;
  for (int64_t plane = begin; plane < end; ++plane) {
    const T* from = reinterpret_cast<const T*>(x.self) + plane * size;
    T* to = reinterpret_cast<T*>(x.result) + plane * outputs;
    int64_t* index = x.indices ? x.indices + plane * outputs : nullptr;
    for (int64_t y = 0; y < x.out[1]; ++y, to += x.out[2]) {
      const Span rows = span_of(x, 1, y);
      const auto one = [&](int64_t i) {
        const Span columns = span_of(x, 2, i);
        T best = lowest<T>();
        int64_t at = rows.begin * w + columns.begin;
        for (int64_t r = rows.begin; r < rows.end; r += rows.step) {
          for (int64_t c = columns.begin; c < columns.end; c += columns.step) take_larger(from[r * w + c], r * w + c, best, at);
        }
        to[i] = best;
        if (index) index[i] = at;
      };
      taps.clear();
      for (int64_t r = 0; rows.begin + r < rows.end; r += rows.step) {
        for (int64_t c = 0; c <= reach; c += x.dilation[2]) taps.push_back(r * w + c);
      }
      // Tap 0 of output i lies at rows.begin · w + stride · i - pad.
      int64_t i = 0;
      for (; i < std::min(first, x.out[2]); ++i) one(i);
      if (last > first) {
        i = cpu::max_pool_row(cpu::MaxPoolRow<T>{from, (x.planes - plane) * size, rows.begin * w - pad, stride, taps.data(),
                                                 static_cast<int64_t>(taps.size()), first, last, to, index});
      }
      for (; i < x.out[2]; ++i) one(i);
      if (index) index += x.out[2];
    }
  }
}

int64_t plane_grain(const PoolArgs& x) {
  const int64_t work = x.adaptive ? std::max(product(x.in), product(x.out)) : product(x.out) * product(x.kernel);
  return std::max<int64_t>(1, 32768 / std::max<int64_t>(1, work));
}

void max_pool_cpu(const KernelContext&, const PoolArgs& x) {
  const bool by_rows = !x.adaptive && x.in[0] == 1 && x.out[0] == 1 && x.kernel[0] == 1 && x.pad[0] == 0 && x.stride[2] <= 2;
  dispatch_all(x.dtype, "max_pool", [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>) {
      parallel_for(0, x.planes, plane_grain(x), [&](int64_t begin, int64_t end) {
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
          if (by_rows) return max_rows<T>(x, begin, end);
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
