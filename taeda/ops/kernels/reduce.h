// SPDX-License-Identifier: Apache-2.0
// Kernels of reductions. Input (outer, n, inner), row-major; output (outer, inner).
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

enum class ReduceKind : uint8_t { kSum, kNanSum, kSumAbs, kSumSquares, kProd, kAny, kAll, kCountNonzero, kMax, kMin };

struct ReduceArgs {
  ReduceKind kind;
  ScalarType dtype;  ///< of the input; not a 16-bit float
  const void* in;
  void* out;  ///< of `reduce_dtype(kind, dtype)`
  int64_t outer, n, inner;
  double divisor = 1;  ///< sums of floating inputs are divided by it
};
/// The dtype of a reduction's output: int64 for sums, products and counts of integers; bool for any and all.
constexpr ScalarType reduce_dtype(ReduceKind kind, ScalarType dtype) {
  switch (kind) {
    case ReduceKind::kAny:
    case ReduceKind::kAll: return kBool;
    case ReduceKind::kCountNonzero: return kLong;
    case ReduceKind::kMax:
    case ReduceKind::kMin: return dtype;
    default: return is_integral_type(dtype, true) ? kLong : dtype;
  }
}
extern TAEDA_API DeviceKernel<void(const ReduceArgs&)> reduce_kernel;

/// The extreme value of each row and its first index; NaN counts as extreme. n > 0.
struct ExtremeArgs {
  bool largest;
  ScalarType dtype;  ///< any
  const void* in;
  void* values;  ///< of the input's dtype, or null
  int64_t* indices;
  int64_t outer, n, inner;
};
extern TAEDA_API DeviceKernel<void(const ExtremeArgs&)> extreme_kernel;

/// Mean and sum of squared deviations divided by max(0, n - correction), of float32 or float64.
struct MomentsArgs {
  ScalarType dtype;
  const void* in;
  void* mean;
  void* var;
  int64_t outer, n, inner;
  double correction;
};
extern TAEDA_API DeviceKernel<void(const MomentsArgs&)> moments_kernel;

}  // namespace taeda
