// SPDX-License-Identifier: Apache-2.0
// Operators of the registry that work on rows, as nodes of a kernel.
#pragma once

#include <optional>
#include <span>

#include "taeda/compile/kernel/kernel.h"
#include "taeda/ops/registry.h"

namespace taeda::kernel {

/// What an operator became.
struct RowNodes {
  std::vector<Id> results;  ///< in the order of the operator's results
  int row_dims = 1;         ///< the trailing dimensions of the input that make up a row
};

/// Adds a sum, mean, maximum or minimum over trailing dimensions, a softmax or its logarithm over the last one, their gradients,
/// or a layer norm. `args`: the call's arguments, whose tensors decide about shapes; `inputs`: for each of its tensor
/// arguments in order a value of the kernel in the tensor's dtype, -1 for one that is not given. Nothing when a kernel cannot give the bits of the
/// eager operator: other dimensions, 16-bit floats, a `dtype`, tensors that are not contiguous, empty ones.
TAEDA_API std::optional<RowNodes> add_row_operator(Kernel& kernel, const OpInfo& op, const Value* args, std::span<const Id> inputs);

}  // namespace taeda::kernel
