// SPDX-License-Identifier: Apache-2.0
// Kernels of running reductions along the middle of (outer, n, inner), row-major.
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

enum class ScanKind : uint8_t { kSum, kProd, kLogSumExp, kMax, kMin };

struct ScanArgs {
  ScanKind kind;
  ScalarType dtype;   ///< of input and output; sums and products: not a 16-bit float
  const void* in;
  void* out;
  int64_t* indices;   ///< of extremes (the last of equal ones), else null
  int64_t outer, n, inner;
};
extern TAEDA_API DeviceKernel<void(const ScanArgs&)> scan_kernel;

}  // namespace taeda
