// SPDX-License-Identifier: Apache-2.0
// Recorded steps that work on rows: sums and extremes over trailing dimensions, softmax, layer norm.
#pragma once

#include <optional>
#include <vector>

#include "taeda/compile/kernel/row_operators.h"
#include "taeda/compile/trace.h"

namespace taeda::lazy {

/// What a kernel needs to know of such a step.
struct RowStep {
  std::vector<Value> arguments;       ///< tensors have shapes, but no memory
  int row_dims = 1;                   ///< the trailing dimensions of the first tensor that make up a row
  std::vector<bool> uniform_results;  ///< one element for each row
  bool is_sum = false;                ///< a sum or mean, which may run over a row of any length
};

/// Nothing where a kernel could not give the operator's bits, or where it is no such operator.
std::optional<RowStep> row_step(const Step& step);

}  // namespace taeda::lazy
