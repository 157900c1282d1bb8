// SPDX-License-Identifier: Apache-2.0
// Arguments of operators that slide a window.
#pragma once

#include "taeda/core/tensor.h"

namespace taeda::detail {

/// `list` with `count` values: one value stands for all. Throws Error for other lengths.
TAEDA_API DimVector expand_list(IntArrayRef list, int64_t count, const char* name, const char* op);

}  // namespace taeda::detail
