// SPDX-License-Identifier: Apache-2.0
// Vector loops of the reductions that matter for speed, one table for each instruction set.
#pragma once

#include <cstdint>

#include "taeda/cpu/deviations.h"
#include "taeda/cpu/simd_target.h"

namespace taeda::cpu {

/// Reductions whose partial results add up, in double.
enum SumLoop { kLoopSum, kLoopNanSum, kLoopSumAbs, kLoopSumSquares, kSumLoops };

/// Elements that one thread sums at least, when all of a tensor are.
constexpr int64_t kReduceGrain = 65536;
/// A row is summed by blocks of kSumBlock steps of kSumStep vectors; block sums add up in double.
constexpr int64_t kSumStep = 8, kSumBlock = 32;

template <class T>
struct SumLoops {
  /// Over n consecutive elements.
  double (*row)(const T* x, int64_t n);
  /// out[j] = sum of x[i * stride + j] / divisor for j below `columns`, i below n.
  void (*columns)(const T* x, int64_t n, int64_t stride, int64_t columns, double divisor, T* out);
};
template <class T>
struct ExtremeLoops {
  T (*max_row)(const T* x, int64_t n);  ///< n > 0; NaN if there is one
  T (*min_row)(const T* x, int64_t n);
  void (*max_into)(T* acc, const T* x, int64_t n);  ///< acc[j] = max(acc[j], x[j])
  void (*min_into)(T* acc, const T* x, int64_t n);
};
struct ReduceLoops {
  SumLoops<float> sum_f32[kSumLoops];
  SumLoops<double> sum_f64[kSumLoops];
  ExtremeLoops<float> extreme_f32;
  ExtremeLoops<double> extreme_f64;
  ExtremeLoops<int64_t> extreme_i64;
  Deviations (*deviations_f32)(const float* x, int64_t n, float center);
  Deviations (*deviations_f64)(const double* x, int64_t n, double center);
};
const ReduceLoops& reduce_loops();

}  // namespace taeda::cpu
