// SPDX-License-Identifier: Apache-2.0
// Joins pointwise steps, and steps that work on rows, of a segment into loops of their own.
#pragma once

#include "taeda/compile/kernel/kernel.h"
#include "taeda/compile/plan.h"

namespace taeda::lazy {

/// Several steps as one kernel: none of their values that nobody else needs is written to memory.
struct FusedSteps {
  std::shared_ptr<const kernel::CompiledKernel> kernel;
  std::vector<size_t> steps;  ///< indices of pending steps, in order
  /// Operand k of the kernel lies in the memory of value `value`, `offset` bytes from its start.
  struct Place {
    int32_t value;
    int64_t offset;
  };
  std::vector<Place> operands;
  /// Numbers of the call that become the kernel's numbers.
  struct Param {
    size_t step;
    size_t number;
  };
  std::vector<Param> params;
  /// Values whose memory the kernel makes, with their sizes in bytes.
  std::vector<std::pair<int32_t, size_t>> made;
  kernel::Launch space;               ///< sizes; places and numbers are set at each run
  std::vector<kernel::Place> places;  ///< strides
};

/// The needed steps in an order in which they may run, joined where that is possible and of use.
std::vector<Unit> fused_units(const Segment& segment, const std::vector<bool>& alive, const std::vector<bool>& needed,
                             const LoopOptions& loops);

/// Runs the unit's kernel over `memory` (by value number), which gets what the kernel makes.
void run_fused(const Unit& unit, const Segment& segment, std::vector<IntrusivePtr<StorageImpl>>& memory);

}  // namespace taeda::lazy
