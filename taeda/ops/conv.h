// SPDX-License-Identifier: Apache-2.0
// Arguments of operators that slide a window, and convolutions with what follows them.
#pragma once

#include "taeda/core/tensor.h"

namespace taeda::detail {

/// `list` with `count` values: one value stands for all. Throws Error for other lengths.
TAEDA_API DimVector expand_list(IntArrayRef list, int64_t count, const char* name, const char* op);

struct ConvWindow {
  DimVector stride, padding, dilation;
  int64_t groups = 1;
};
/// What follows a convolution as its results are written: + add (of the result's sizes, contiguous), then relu.
struct ConvEpilogue {
  Tensor add;
  bool relu = false;
  Tensor packed;  ///< of pack_convolution() for this weight, of which then only the sizes matter
};
/// convolution() with an epilogue, the bits being those of convolution(), add() and relu(). Of float32 and float64, contiguous.
TAEDA_API Tensor convolution_with(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, const ConvWindow& window,
                                  const ConvEpilogue& after);
/// The weight as the kernel reads it fastest in this process; undefined where there is nothing to gain.
TAEDA_API Tensor pack_convolution(const Tensor& weight, int64_t groups);

}  // namespace taeda::detail
