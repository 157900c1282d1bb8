// SPDX-License-Identifier: Apache-2.0
// Kernels of pooling: what the operators hand over.
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

/// Windows over `planes` planes of in[0] x in[1] x in[2] elements, contiguous. Leading extents are 1 where there are fewer
/// dimensions. adaptive: window i of a dimension is [i·in/out, ⌈(i+1)·in/out⌉), and kernel, stride, pad are not used.
struct PoolArgs {
  ScalarType dtype;
  int64_t planes;
  int64_t in[3], out[3];
  int64_t kernel[3], stride[3], pad[3], dilation[3];
  bool adaptive;
  bool count_padding;
  int64_t divisor;   ///< 0: the number of elements
  const char* self;  ///< forward: the input; backward: the cotangent of the result
  char* result;      ///< forward: the result; backward: the gradient of the input, cleared by the kernel
  int64_t* indices;  ///< of max pooling: position in the plane; null where it is not wanted
};
extern TAEDA_API DeviceKernel<void(const PoolArgs&)> max_pool_kernel;
extern TAEDA_API DeviceKernel<void(const PoolArgs&)> avg_pool_kernel;
extern TAEDA_API DeviceKernel<void(const PoolArgs&)> avg_pool_grad_kernel;
/// result[plane][indices[plane][i]] += self[plane][i] over out (positions) into in.
extern TAEDA_API DeviceKernel<void(const PoolArgs&)> max_pool_grad_kernel;

}  // namespace taeda
