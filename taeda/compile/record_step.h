// SPDX-License-Identifier: Apache-2.0
// What both modes write down of one call of an operator.
#pragma once

#include <optional>

#include "taeda/compile/trace.h"

namespace taeda::lazy {

/// Counters of an argument.
struct Counters {
  uint32_t version = 0, writes = 0, own_version = 0;
};
Counters counters_of(const TensorImpl& t);
/// The impl that counts the versions of a view of an untracked tensor, else `t`.
TensorImpl& counted(TensorImpl& t);

std::vector<uint8_t> generator_state();

/// The step of a call that has run. `generator_before`: the state when it began.
std::unique_ptr<Step> make_step(const capture::Call& call, std::vector<Operand> operands, size_t values_before, const std::vector<uint8_t>& generator_before);
/// What the kernel wrote to tensor `i`: what the call says, and what its counters, `before` at first, show.
std::optional<Write> write_of(const capture::Call& call, uint32_t i, const Counters& before);

/// When results that nobody holds any more should be freed while calls are recorded: every 64 steps, and before much memory is touched
/// that the function by itself would not touch.
class CleaningDue {
 public:
  bool after(const Step& step) {
    for (const ResultStorage& s : step.result_storages) bytes_ += s.bytes;
    if (++steps_ < 64 && bytes_ < kBytes) return false;
    steps_ = bytes_ = 0;
    return true;
  }

 private:
  static constexpr size_t kBytes = 4 << 20;
  size_t steps_ = 0, bytes_ = 0;
};

}  // namespace taeda::lazy
