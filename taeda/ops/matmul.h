// SPDX-License-Identifier: Apache-2.0
// Matrix products below the door, for operators that are made of them.
#pragma once

#include "taeda/core/tensor.h"

namespace taeda::detail {

/// out = alpha · a b + beta · out (+ bias to every row) for 3-dim a (B, n, k), b (B, k, m), contiguous out (B, n, m), or 2-dim ones.
/// One dtype for all. 16-bit floats are computed in float32 and rounded once. `b_transposed`: b is given as (B, m, k).
TAEDA_API void matrix_product(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha = 1, const Scalar& beta = 0,
                              const Tensor& bias = {}, bool b_transposed = false);
/// Throws Error when the dtypes differ or are bool.
TAEDA_API void check_product_types(const Tensor& a, const Tensor& b, const char* op);

}  // namespace taeda::detail
