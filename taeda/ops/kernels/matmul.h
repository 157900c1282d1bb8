// SPDX-License-Identifier: Apache-2.0
// Kernels of matrix products: what the operators hand over.
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/scalar.h"

namespace taeda {

/// `batch` products C = alpha A B + beta C + bias. Strides in elements; C has rows of stride c_row, columns adjoin.
/// float32, float64 and integers. beta 0: C is not read. bias: n numbers or null, added to every row.
struct MatmulArgs {
  ScalarType dtype;
  int64_t batch, m, n, k;
  const char* a;
  int64_t a_batch, a_row, a_col;
  const char* b;
  int64_t b_batch, b_row, b_col;
  char* c;
  int64_t c_batch, c_row;
  Scalar alpha = 1;
  Scalar beta = 0;
  const char* bias = nullptr;
};
extern TAEDA_API DeviceKernel<void(const MatmulArgs&)> matmul_kernel;

}  // namespace taeda
