// SPDX-License-Identifier: Apache-2.0
// What the operators of linear algebra share.
#pragma once

#include "taeda/core/tensor.h"

namespace taeda::detail {

/// Throws Error unless t has at least two dimensions and a floating dtype (float32 or float64).
TAEDA_API void check_linalg(const Tensor& t, const char* op);
/// And its last two dimensions are equal.
TAEDA_API void check_square(const Tensor& t, const char* op);
/// The sizes without the last `drop`, followed by `tail`.
TAEDA_API DimVector batch_sizes(const Tensor& t, int64_t drop, IntArrayRef tail);
/// Number of problems: the product of all sizes but the last two.
TAEDA_API int64_t batch_count(const Tensor& t);
/// A fresh copy of t (…, m, n) laid out column by column; its own shape is (…, n, m).
TAEDA_API Tensor column_major(const Tensor& t);
/// Throws LinAlgError naming the first problem whose code is not 0.
TAEDA_API void check_info(const Tensor& info, const char* op, const char* rule);

}  // namespace taeda::detail
