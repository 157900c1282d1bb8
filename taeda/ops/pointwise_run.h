// SPDX-License-Identifier: Apache-2.0
// Runs one pointwise kernel over tensors of any layout and dtype: the part of the engine below promotion and gradients.
#pragma once

#include "taeda/core/tensor.h"

namespace taeda::pointwise {

/// An input of a kernel: a tensor that broadcasts to the output's shape, or a number.
struct Input {
  const TensorImpl* tensor = nullptr;
  Scalar scalar;
};

/// Fills `out` with kernel `id` (a PointwiseKernelId) evaluated in the compute type that belongs to `compute`
/// (float32 for 16-bit floats, int64 for integers and bool). Elements are converted on the way in and out. `out` may be
/// one of the inputs; other overlap must have been excluded. `name` is for errors.
TAEDA_API void execute(int id, ScalarType compute, const TensorImpl& out, const Input* in, int inputs, const Scalar* attrs,
                       int attributes, const char* name);

/// Copies with conversion between any two layouts and dtypes (shapes equal or `source` broadcasts to `out`).
TAEDA_API void copy_elements(const TensorImpl& out, const TensorImpl& source);

}  // namespace taeda::pointwise
