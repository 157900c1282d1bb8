// SPDX-License-Identifier: Apache-2.0
// The debug backend: what a plan makes, compared bit by bit with the operators' own kernels on copies of the inputs.
#pragma once

#include "taeda/compile/plan.h"

namespace taeda::lazy {

/// Runs beside one run of a plan. Every unit's steps are run again one by one on copies of what the unit began with; and all
/// steps of the segment, needed or not, in the order of their calls on copies of what the segment began with.
class Check {
 public:
  using Memory = std::vector<IntrusivePtr<StorageImpl>>;  ///< by value number

  Check(const Plan& plan, const Segment& segment, const Memory& memory);
  void before(const Unit& unit, const Memory& memory);
  /// Throws CompileError when the unit made something else than its steps do.
  void after(const Unit& unit, const Memory& memory);
  /// Throws CompileError when the plan as a whole made something else than the steps in their order do.
  void finish(const Memory& memory) const;

 private:
  using States = std::vector<std::pair<Generator, std::vector<uint8_t>>>;
  States generator_states(const std::vector<size_t>& steps) const;
  bool run_reference(const std::vector<size_t>& steps, Memory& memory) const;
  void compare(const std::vector<size_t>& steps, const Memory& want, const Memory& got, const char* whose) const;

  const Plan& plan_;
  const Segment& segment_;
  Memory unit_memory_;
  States unit_generators_;
  Memory segment_memory_;
  bool whole_ = true;  ///< the segment as a whole can be compared
};

}  // namespace taeda::lazy
