// SPDX-License-Identifier: Apache-2.0
// Kernels of softmax and its logarithm over the middle of (outer, n, inner); float32 or float64, row-major.
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

struct SoftmaxArgs {
  bool log;
  ScalarType dtype;
  const void* in;
  void* out;
  int64_t outer, n, inner;
};
extern TAEDA_API DeviceKernel<void(const SoftmaxArgs&)> softmax_kernel;

struct SoftmaxBackwardArgs {
  bool log;
  ScalarType dtype;
  const void* grad;
  const void* output;  ///< what the forward gave
  void* out;
  int64_t outer, n, inner;
};
extern TAEDA_API DeviceKernel<void(const SoftmaxBackwardArgs&)> softmax_backward_kernel;

}  // namespace taeda
