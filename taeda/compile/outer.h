// SPDX-License-Identifier: Apache-2.0
// Outer products that are added up, as the gradients of a weight that is used in many steps are: no product is written to memory.
#pragma once

#include <vector>

#include "taeda/compile/plan.h"

namespace taeda::lazy {

/// Matrix products over one inner dimension, and the additions that make one sum of them. A sum over dimensions of size 1 counts as
/// the product of 1 and its argument.
struct OuterSum {
  struct Term {
    int32_t column, row;  ///< values; no column: 1
    int64_t column_offset, column_stride, row_offset;
  };
  std::vector<size_t> steps;  ///< indices of pending steps, in order
  std::vector<size_t> adds;   ///< those that add
  std::vector<Term> terms;
  ScalarType dtype = kFloat;
  int64_t m = 1, n = 0;
  int32_t result = -1;  ///< the value
};

/// The sums of a segment whose parts nobody else needs. Each may be formed in the place of its last step.
std::vector<OuterSum> outer_sums(const Segment& segment, const std::vector<bool>& alive, const std::vector<bool>& needed);

/// Forms the sum in `memory`; step by step when an addition scales.
void run_outer_sum(const OuterSum& sum, const Segment& segment, Memory& memory, Operands& operands);

}  // namespace taeda::lazy
