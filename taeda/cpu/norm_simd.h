// SPDX-License-Identifier: Apache-2.0
// Vector loops of the normalisations.
#pragma once

#include <cstdint>

#include "taeda/cpu/deviations.h"
#include "taeda/cpu/simd_target.h"

namespace taeda::cpu {

template <class T>
struct NormLoops {
  double (*sum)(const T* x, int64_t n);
  Deviations (*deviations)(const T* x, int64_t n, T center);
  /// y = (x - mean) * rstd * weight + bias; weight and bias may be null.
  void (*normalize)(const T* x, const T* weight, const T* bias, T mean, T rstd, T* y, int64_t n);
  /// The same past the cache, with weight and bias; `y` aligned to 64 bytes, n a multiple of 16.
  /// To be followed by hwy::FlushStream() before others read it.
  void (*normalize_streamed)(const T* x, const T* weight, const T* bias, T mean, T rstd, T* y, int64_t n);
  /// y = x * scale + shift.
  void (*affine)(const T* x, T scale, T shift, T* y, int64_t n);
  /// Sums of g (times weight) and of g (times weight) * (x - mean).
  void (*grad_sums)(const T* g, const T* x, const T* weight, T mean, int64_t n, double* sum, double* product);
  /// out = a * g (times weight) + b * (x - mean) + c.
  void (*grad_input)(const T* g, const T* x, const T* weight, T mean, T a, T b, T c, T* out, int64_t n);
  /// dw += g * (x - mean) * rstd and db += g; either may be null.
  void (*grad_affine)(const T* g, const T* x, T mean, T rstd, T* dw, T* db, int64_t n);
};
const NormLoops<float>& norm_loops(float);
const NormLoops<double>& norm_loops(double);

}  // namespace taeda::cpu
