// SPDX-License-Identifier: Apache-2.0
// Whether the elements of one tensor may share memory.
#pragma once

#include "taeda/core/array_ref.h"
#include "taeda/core/export.h"

namespace taeda::detail {

/// False when every element is known to have memory of its own; true for expanded and unfolded tensors, and for a few others that no
/// slicing makes. O(dimensions · log dimensions).
TAEDA_API bool may_overlap_itself(IntArrayRef sizes, IntArrayRef strides);

}  // namespace taeda::detail
