// SPDX-License-Identifier: Apache-2.0
// Reductions over (outer, n, inner): vector loops for sums and extremes of floats, plain loops for the rest.
#include "taeda/ops/kernels/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "taeda/core/parallel.h"
#include "taeda/cpu/reduce_simd.h"

namespace taeda {
namespace cpu {
namespace {

constexpr int64_t kGrain = kReduceGrain;
constexpr int64_t kStrip = 128;

int64_t row_grain(int64_t n) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(n, 1)); }

// Plain reductions. `term` maps an element to the accumulator's type, `combine` joins two accumulators.
template <class T>
struct SumOp {
  using Acc = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
  using Out = std::conditional_t<std::is_floating_point_v<T>, T, int64_t>;
  static constexpr Acc identity() { return 0; }
  static Acc term(T x) { return static_cast<Acc>(x); }
  static Acc combine(Acc a, Acc b) {
    if constexpr (std::is_integral_v<Acc>) return static_cast<Acc>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else return a + b;
  }
};
template <class T>
struct ProdOp : SumOp<T> {
  using Acc = typename SumOp<T>::Acc;
  static constexpr Acc identity() { return 1; }
  static Acc combine(Acc a, Acc b) {
    if constexpr (std::is_integral_v<Acc>) return static_cast<Acc>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else return a * b;
  }
};
template <class T>
struct AnyOp {
  using Acc = bool;
  using Out = bool;
  static constexpr Acc identity() { return false; }
  static Acc term(T x) { return x != T(0); }
  static Acc combine(Acc a, Acc b) { return a | b; }
};
template <class T>
struct AllOp : AnyOp<T> {
  static constexpr bool identity() { return true; }
  static bool combine(bool a, bool b) { return a & b; }
};
template <class T>
struct CountOp {
  using Acc = int64_t;
  using Out = int64_t;
  static constexpr Acc identity() { return 0; }
  static Acc term(T x) { return x != T(0) ? 1 : 0; }
  static Acc combine(Acc a, Acc b) { return a + b; }
};
template <class T, bool kMax>
struct ExtremeOp {
  using Acc = T;
  using Out = T;
  static constexpr Acc identity() {
    if constexpr (std::is_floating_point_v<T>) return kMax ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    else return kMax ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  }
  static Acc term(T x) { return x; }
  static Acc combine(Acc a, Acc b) { return a != a ? a : (kMax ? a > b : a < b) ? a : b; }
};

template <class T, class Op>
typename Op::Acc plain_row(const T* x, int64_t n) {
  typename Op::Acc a = Op::identity(), b = a, c = a, d = a;
  int64_t i = 0;
  // Integers are left to the compiler's own vectors: GCC 12 at -O3 loses terms of four sums of 8- or 16-bit elements in int64.
  for (; !std::is_integral_v<typename Op::Acc> && i + 4 <= n; i += 4) {
    a = Op::combine(a, Op::term(x[i]));
    b = Op::combine(b, Op::term(x[i + 1]));
    c = Op::combine(c, Op::term(x[i + 2]));
    d = Op::combine(d, Op::term(x[i + 3]));
  }
  for (; i < n; ++i) a = Op::combine(a, Op::term(x[i]));
  return Op::combine(Op::combine(a, b), Op::combine(c, d));
}

template <class T, class Op>
void plain_columns(const T* x, int64_t n, int64_t stride, int64_t columns, double divisor, typename Op::Out* out) {
  typename Op::Acc acc[kStrip];
  for (int64_t begin = 0; begin < columns; begin += kStrip) {
    const int64_t width = std::min(kStrip, columns - begin);
    std::fill(acc, acc + width, Op::identity());
    for (int64_t i = 0; i < n; ++i) {
      const T* row = x + i * stride + begin;
      for (int64_t j = 0; j < width; ++j) acc[j] = Op::combine(acc[j], Op::term(row[j]));
    }
    for (int64_t j = 0; j < width; ++j) {
      if constexpr (std::is_floating_point_v<typename Op::Acc>) {
        out[begin + j] = static_cast<typename Op::Out>(acc[j] / static_cast<typename Op::Acc>(divisor));
      } else {
        out[begin + j] = static_cast<typename Op::Out>(acc[j]);
      }
    }
  }
}

// The walk over (outer, n, inner) that all reductions share. row(x, n) -> Acc; columns(x, n, stride, columns, out).
template <class T, class Acc, class Out, class Row, class Combine, class Columns, class Finish>
void walk(const ReduceArgs& a, Acc identity, const Row& row, const Combine& combine, const Columns& columns, const Finish& finish) {
  const T* in = static_cast<const T*>(a.in);
  Out* out = static_cast<Out*>(a.out);
  if (a.inner == 1) {
    if (a.outer == 1) {
      out[0] = finish(parallel_reduce(0, a.n, kGrain, identity,
                                      [&](int64_t b, int64_t e, Acc) { return row(in + b, e - b); }, combine));
      return;
    }
    parallel_for(0, a.outer, row_grain(a.n), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) out[i] = finish(row(in + i * a.n, a.n));
    });
    return;
  }
  if (a.outer >= 4 || a.inner < 2 * kStrip) {
    parallel_for(0, a.outer, row_grain(a.n * a.inner), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) columns(in + i * a.n * a.inner, a.n, a.inner, a.inner, out + i * a.inner);
    });
    return;
  }
  for (int64_t i = 0; i < a.outer; ++i) {
    parallel_for(0, a.inner, std::max(kStrip, row_grain(a.n)), [&](int64_t b, int64_t e) {
      columns(in + i * a.n * a.inner + b, a.n, a.inner, e - b, out + i * a.inner + b);
    });
  }
}

template <class T, class Op>
void plain(const ReduceArgs& a) {
  using Acc = typename Op::Acc;
  using Out = typename Op::Out;
  walk<T, Acc, Out>(a, Op::identity(), &plain_row<T, Op>, &Op::combine,
       [&](const T* x, int64_t n, int64_t stride, int64_t width, Out* out) { plain_columns<T, Op>(x, n, stride, width, a.divisor, out); },
       [&](Acc v) {
         if constexpr (std::is_floating_point_v<Acc>) return static_cast<Out>(v / static_cast<Acc>(a.divisor));
         else return static_cast<Out>(v);
       });
}

// Narrow matrices are summed several rows at a time, as one wide row, and folded.
template <class T>
bool sum_narrow(const ReduceArgs& a, const SumLoops<T>& loops, const SumLoops<T>& plain_sum) {
  if (a.outer != 1 || a.inner == 1 || a.inner > 32 || a.n < 64) return false;
  const int64_t group = 256 / a.inner;
  const int64_t rows = a.n / group;
  if (rows < 4) return false;
  T wide[256 + 32 * 8];
  T* next = wide + 256;
  const T* in = static_cast<const T*>(a.in);
  const int64_t columns = group * a.inner;
  loops.columns(in, rows, columns, columns, 1.0, wide);
  const int64_t left = a.n - rows * group;
  plain_sum.columns(wide, group, a.inner, a.inner, 1.0, next);
  T* out = static_cast<T*>(a.out);
  if (left > 0) {
    loops.columns(in + rows * columns, left, a.inner, a.inner, 1.0, wide);
    for (int64_t j = 0; j < a.inner; ++j) next[j] += wide[j];
  }
  for (int64_t j = 0; j < a.inner; ++j) out[j] = static_cast<T>(static_cast<double>(next[j]) / a.divisor);
  return true;
}

template <class T>
void sums(const ReduceArgs& a, const SumLoops<T>* table, SumLoop which) {
  const SumLoops<T>& loops = table[which];
  if (sum_narrow(a, loops, table[kLoopSum])) return;
  walk<T, double, T>(a, 0.0, loops.row, [](double x, double y) { return x + y; },
          [&](const T* x, int64_t n, int64_t stride, int64_t width, T* out) { loops.columns(x, n, stride, width, a.divisor, out); },
          [&](double v) { return static_cast<T>(a.divisor == 1 ? v : v / a.divisor); });
}

template <class T, bool kMax>
void extremes(const ReduceArgs& a, const ExtremeLoops<T>& loops) {
  using Op = ExtremeOp<T, kMax>;
  const auto into = kMax ? loops.max_into : loops.min_into;
  const auto row = kMax ? loops.max_row : loops.min_row;
  walk<T, T, T>(a, Op::identity(), [&](const T* x, int64_t n) { return n > 0 ? row(x, n) : Op::identity(); }, &Op::combine,
          [&](const T* x, int64_t n, int64_t stride, int64_t width, T* out) {
            if (n == 0) return std::fill(out, out + width, Op::identity());
            for (int64_t begin = 0; begin < width; begin += 512) {
              const int64_t w = std::min<int64_t>(512, width - begin);
              std::copy(x + begin, x + begin + w, out + begin);
              for (int64_t i = 1; i < n; ++i) into(out + begin, x + i * stride + begin, w);
            }
          },
          [](T v) { return v; });
}

template <class T>
void reduce_plain(const ReduceArgs& a) {
  switch (a.kind) {
    case ReduceKind::kProd: return plain<T, ProdOp<T>>(a);
    case ReduceKind::kAny: return plain<T, AnyOp<T>>(a);
    case ReduceKind::kAll: return plain<T, AllOp<T>>(a);
    case ReduceKind::kCountNonzero: return plain<T, CountOp<T>>(a);
    case ReduceKind::kMax: return plain<T, ExtremeOp<T, true>>(a);
    case ReduceKind::kMin: return plain<T, ExtremeOp<T, false>>(a);
    default: return plain<T, SumOp<T>>(a);
  }
}

template <class T>
void reduce_floating(const ReduceArgs& a, const SumLoops<T>* table, const ExtremeLoops<T>& extreme) {
  switch (a.kind) {
    case ReduceKind::kSum: return sums(a, table, kLoopSum);
    case ReduceKind::kNanSum: return sums(a, table, kLoopNanSum);
    case ReduceKind::kSumAbs: return sums(a, table, kLoopSumAbs);
    case ReduceKind::kSumSquares: return sums(a, table, kLoopSumSquares);
    case ReduceKind::kMax: return extremes<T, true>(a, extreme);
    case ReduceKind::kMin: return extremes<T, false>(a, extreme);
    default: return reduce_plain<T>(a);
  }
}

void reduce_cpu(const KernelContext&, const ReduceArgs& args) {
  ReduceArgs a = args;
  if (a.n == 1 && a.inner == 1) std::swap(a.outer, a.inner);  // rows of one element are the columns of one row
  const ReduceLoops& loops = reduce_loops();
  switch (a.dtype) {
    case kFloat: return reduce_floating<float>(a, loops.sum_f32, loops.extreme_f32);
    case kDouble: return reduce_floating<double>(a, loops.sum_f64, loops.extreme_f64);
    case kLong:
      if (a.kind == ReduceKind::kMax) return extremes<int64_t, true>(a, loops.extreme_i64);
      if (a.kind == ReduceKind::kMin) return extremes<int64_t, false>(a, loops.extreme_i64);
      return reduce_plain<int64_t>(a);
    case kInt: return reduce_plain<int32_t>(a);
    case kShort: return reduce_plain<int16_t>(a);
    case kChar: return reduce_plain<int8_t>(a);
    case kByte: return reduce_plain<uint8_t>(a);
    default: return reduce_plain<bool>(a);
  }
}

// Extreme with index.
template <class T>
bool is_nan(T x) {
  if constexpr (is_floating<T>) return static_cast<float>(x) != static_cast<float>(x);
  else return false;
}
template <class T>
bool beats(T x, T best, bool largest) {
  if (is_nan(best)) return false;
  return (largest ? x > best : x < best) || is_nan(x);
}
template <class T>
T find_extreme(const T* x, int64_t n, bool largest, const ReduceLoops& loops) {
  if constexpr (std::is_same_v<T, float>) return largest ? loops.extreme_f32.max_row(x, n) : loops.extreme_f32.min_row(x, n);
  else if constexpr (std::is_same_v<T, double>) return largest ? loops.extreme_f64.max_row(x, n) : loops.extreme_f64.min_row(x, n);
  else if constexpr (std::is_same_v<T, int64_t>) return largest ? loops.extreme_i64.max_row(x, n) : loops.extreme_i64.min_row(x, n);
  else {
    T best = x[0];
    for (int64_t i = 1; i < n; ++i) {
      if (beats(x[i], best, largest)) best = x[i];
    }
    return best;
  }
}

template <class T>
void extreme_rows(const ExtremeArgs& a) {
  const T* in = static_cast<const T*>(a.in);
  T* values = static_cast<T*>(a.values);
  const ReduceLoops& loops = reduce_loops();
  parallel_for(0, a.outer, row_grain(a.n), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const T* x = in + i * a.n;
      const T best = find_extreme(x, a.n, a.largest, loops);
      int64_t at = 0;
      if (is_nan(best)) {
        while (!is_nan(x[at])) ++at;
      } else {
        while (x[at] != best) ++at;
      }
      if (values) values[i] = x[at];
      a.indices[i] = at;
    }
  });
}

template <class T>
void extreme_columns(const ExtremeArgs& a) {
  const T* in = static_cast<const T*>(a.in);
  T* values = static_cast<T*>(a.values);
  parallel_for(0, a.outer, row_grain(a.n * a.inner), [&](int64_t b, int64_t e) {
    T best[kStrip];
    int64_t at[kStrip];
    for (int64_t i = b; i < e; ++i) {
      for (int64_t begin = 0; begin < a.inner; begin += kStrip) {
        const int64_t width = std::min(kStrip, a.inner - begin);
        const T* x = in + i * a.n * a.inner + begin;
        std::copy(x, x + width, best);
        std::fill(at, at + width, 0);
        for (int64_t k = 1; k < a.n; ++k) {
          const T* row = x + k * a.inner;
          for (int64_t j = 0; j < width; ++j) {
            if (beats(row[j], best[j], a.largest)) {
              best[j] = row[j];
              at[j] = k;
            }
          }
        }
        const int64_t out = i * a.inner + begin;
        if (values) std::copy(best, best + width, values + out);
        std::copy(at, at + width, a.indices + out);
      }
    }
  });
}

void extreme_cpu(const KernelContext&, const ExtremeArgs& a) {
  dispatch_all(a.dtype, "max", [&]<class T>() { a.inner == 1 ? extreme_rows<T>(a) : extreme_columns<T>(a); });
}

/// Deviations whose squares overflow T.
template <class T>
Deviations wide_deviations(const T* x, int64_t n, double center) {
  Deviations d;
  for (int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(x[i]) - center;
    d.sum += v;
    d.square += v * v;
  }
  return d;
}
// Moments: two passes, sums in double.
template <class T>
void moments(const MomentsArgs& a, const SumLoops<T>& sum, Deviations (*deviations)(const T*, int64_t, T)) {
  const T* in = static_cast<const T*>(a.in);
  T* mean = static_cast<T*>(a.mean);
  T* var = static_cast<T*>(a.var);
  const auto n = static_cast<double>(a.n);
  const double divisor = std::max(0.0, n - a.correction);
  if (a.inner == 1) {
    parallel_for(0, a.outer, row_grain(a.n), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) {
        const T* x = in + i * a.n;
        const double m = sum.row(x, a.n) / n;
        const T center = static_cast<T>(m);
        Deviations d = std::isfinite(center) ? deviations(x, a.n, center) : Deviations{m, m - m};
        if (std::isfinite(center) && !std::isfinite(d.square)) d = wide_deviations(x, a.n, static_cast<double>(center));
        mean[i] = std::isfinite(center) ? static_cast<T>(d.mean(static_cast<double>(center), n)) : center;
        var[i] = static_cast<T>(d.from_mean(n) / divisor);
      }
    });
    return;
  }
  parallel_for(0, a.outer, row_grain(a.n * a.inner), [&](int64_t b, int64_t e) {
    double m[kStrip], v[kStrip];
    for (int64_t i = b; i < e; ++i) {
      for (int64_t begin = 0; begin < a.inner; begin += kStrip) {
        const int64_t width = std::min(kStrip, a.inner - begin);
        const T* x = in + i * a.n * a.inner + begin;
        std::fill(m, m + width, 0.0);
        std::fill(v, v + width, 0.0);
        for (int64_t k = 0; k < a.n; ++k) {
          for (int64_t j = 0; j < width; ++j) m[j] += static_cast<double>(x[k * a.inner + j]);
        }
        for (int64_t j = 0; j < width; ++j) m[j] /= n;
        for (int64_t k = 0; k < a.n; ++k) {
          for (int64_t j = 0; j < width; ++j) {
            const double d = static_cast<double>(x[k * a.inner + j]) - m[j];
            v[j] += d * d;
          }
        }
        for (int64_t j = 0; j < width; ++j) {
          mean[i * a.inner + begin + j] = static_cast<T>(m[j]);
          var[i * a.inner + begin + j] = static_cast<T>(v[j] / divisor);
        }
      }
    }
  });
}

void moments_cpu(const KernelContext&, const MomentsArgs& a) {
  const ReduceLoops& loops = reduce_loops();
  if (a.dtype == kFloat) return moments<float>(a, loops.sum_f32[kLoopSum], loops.deviations_f32);
  moments<double>(a, loops.sum_f64[kLoopSum], loops.deviations_f64);
}

}  // namespace
}  // namespace cpu

constinit DeviceKernel<void(const ReduceArgs&)> reduce_kernel{&cpu::reduce_cpu};
constinit DeviceKernel<void(const ExtremeArgs&)> extreme_kernel{&cpu::extreme_cpu};
constinit DeviceKernel<void(const MomentsArgs&)> moments_kernel{&cpu::moments_cpu};

}  // namespace taeda
