// SPDX-License-Identifier: Apache-2.0
// Rows of a tensor by number: what makes a batch of an in-memory data set.
#pragma once

#include "taeda/core/array_ref.h"
#include "taeda/core/tensor.h"

namespace taeda::data {

/// A new tensor (indices.size(), *rows.sizes()[1:]) of the rows with these numbers. Throws IndexError for a number
/// out of range. Contiguous rows on the CPU are copied directly; others go through index_select.
TAEDA_API Tensor gather_rows(const Tensor& rows, ArrayRef<size_t> indices);

}  // namespace taeda::data
