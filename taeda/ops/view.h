// SPDX-License-Identifier: Apache-2.0
// Geometry shared by operators that reshape and slice.
#pragma once

#include "taeda/core/tensor.h"

namespace taeda::detail {

/// `shape` with its -1 replaced by what `numel` leaves. Throws Error when it does not fit.
TAEDA_API DimVector infer_size(IntArrayRef shape, int64_t numel, const char* op);
/// Strides under which the elements read as `sizes`, if there are any.
TAEDA_API std::optional<DimVector> view_strides(IntArrayRef old_sizes, IntArrayRef old_strides, int64_t numel, IntArrayRef sizes);

struct SliceBounds {
  int64_t start;
  int64_t length;
};
/// The elements that a slice of a dimension names, by Python's rules. Throws Error unless step > 0.
TAEDA_API SliceBounds clamp_slice(int64_t size, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step);

}  // namespace taeda::detail
