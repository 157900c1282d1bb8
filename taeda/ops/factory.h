// SPDX-License-Identifier: Apache-2.0
// Allocation helpers of operators that make or fill tensors.
#pragma once

#include "taeda/core/parallel.h"
#include "taeda/core/tensor.h"

namespace taeda::detail {

/// Uninitialised tensor of the options' dtype and device.
TAEDA_API Tensor empty_with(IntArrayRef size, const TensorOptions& options, std::optional<MemoryFormat> format);
/// The options of `self` overridden by those given.
TAEDA_API TensorOptions like_options(const Tensor& self, const TensorOptions& options);
/// Uninitialised tensor shaped and laid out as `self`, with `options` on top.
TAEDA_API Tensor empty_like_of(const Tensor& self, const TensorOptions& options = {},
                               std::optional<MemoryFormat> format = std::nullopt);
/// Sets all elements to a value that must fit the dtype.
TAEDA_API void fill_elements(const TensorImpl& t, const Scalar& value);

}  // namespace taeda::detail
