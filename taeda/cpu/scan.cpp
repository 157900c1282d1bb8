// SPDX-License-Identifier: Apache-2.0
// Running sums, products and extremes.
#include "taeda/ops/kernels/scan.h"

#include <algorithm>
#include <cmath>

#include "taeda/core/parallel.h"

namespace taeda {
namespace cpu {
namespace {

// Calls line(first, stride) for every line along the scanned dimension; `first` is the offset of its start.
template <class Line>
void each_line(const ScanArgs& a, const Line& line) {
  parallel_for(0, a.outer * a.inner, std::max<int64_t>(1, 16384 / std::max<int64_t>(a.n, 1)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) line(i / a.inner * a.n * a.inner + i % a.inner, a.inner);
  });
}

template <class T, class Acc, class Step>
void scan(const ScanArgs& a, Acc start, const Step& step) {
  const T* in = static_cast<const T*>(a.in);
  T* out = static_cast<T*>(a.out);
  each_line(a, [&](int64_t first, int64_t stride) {
    Acc acc = start;
    for (int64_t k = 0; k < a.n; ++k) {
      const int64_t at = first + k * stride;
      acc = step(acc, in[at]);
      out[at] = static_cast<T>(acc);
    }
  });
}

double log_add(double x, double y) {
  const double low = std::min(x, y), high = std::max(x, y);
  if (x != x || y != y) return x + y;
  return low != high || std::isfinite(low) ? std::log1p(std::exp(low - high)) + high : x;
}

template <class T>
bool is_nan(T x) {
  if constexpr (is_floating<T>) return static_cast<float>(x) != static_cast<float>(x);
  else return false;
}

template <class T>
void scan_extreme(const ScanArgs& a) {
  const T* in = static_cast<const T*>(a.in);
  T* out = static_cast<T*>(a.out);
  const bool largest = a.kind == ScanKind::kMax;
  each_line(a, [&](int64_t first, int64_t stride) {
    T best = in[first];
    int64_t index = 0;
    for (int64_t k = 0; k < a.n; ++k) {
      const int64_t at = first + k * stride;
      if (is_nan(in[at]) || (!is_nan(best) && (largest ? in[at] >= best : in[at] <= best))) {
        best = in[at];
        index = k;
      }
      out[at] = best;
      a.indices[at] = index;
    }
  });
}

template <class T>
void scan_sums(const ScanArgs& a) {
  using Acc = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  if (a.kind == ScanKind::kSum) {
    scan<T, Acc>(a, Acc(0), [](Acc acc, T x) { return acc + static_cast<Acc>(x); });
  } else {
    scan<T, Acc>(a, Acc(1), [](Acc acc, T x) { return acc * static_cast<Acc>(x); });
  }
}

void scan_cpu(const KernelContext&, const ScanArgs& a) {
  if (a.outer * a.n * a.inner == 0) return;
  if (a.kind == ScanKind::kMax || a.kind == ScanKind::kMin) {
    dispatch_all(a.dtype, "cummax", [&]<class T>() { scan_extreme<T>(a); });
  } else if (a.kind == ScanKind::kLogSumExp) {
    dispatch_float_double(a.dtype, "logcumsumexp", [&]<class T>() {
      scan<T, double>(a, -HUGE_VAL, [](double acc, T x) { return log_add(acc, static_cast<double>(x)); });
    });
  } else if (is_floating_type(a.dtype)) {
    dispatch_float_double(a.dtype, "cumsum", [&]<class T>() { scan_sums<T>(a); });
  } else {
    dispatch_integral(a.dtype, "cumsum", [&]<class T>() { scan_sums<T>(a); });
  }
}

}  // namespace
}  // namespace cpu

constinit DeviceKernel<void(const ScanArgs&)> scan_kernel{&cpu::scan_cpu};

}  // namespace taeda
