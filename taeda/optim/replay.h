// SPDX-License-Identifier: Apache-2.0
// The host side of a fused step: counters and numbers, apart from the kernel. A replayed step (compile's static mode) runs it
// without the program's code.
#pragma once

#include <array>
#include <vector>

#include "taeda/ops/host_side.h"
#include "taeda/ops/kernels/optim.h"
#include "taeda/optim/optimizer.h"

namespace taeda::optim {

/// Numbers that parameters with equal step counts share.
struct StepMemo {
  int64_t steps = 0;
  double step_size = 0, bias2_sqrt = 1;
};

/// What a rule does on the host.
struct HostRule {
  /// The arguments that all parameters of a group share.
  OptimStepArgs (*args)(const OptimizerOptions& options, double inverse_scale);
  /// Moves the counters of a parameter's state on by one step, and gives the numbers of that step.
  void (*advance)(const OptimizerOptions& options, OptimizerParamState& state, OptimTensor& numbers, StepMemo& memo);
  /// The state's tensors, as the kernel gets them; null where it gets none.
  std::array<const Tensor*, 3> (*tensors)(const OptimizerOptions& options, const OptimizerParamState& state);
  /// Options that `args` does not hold and numbers depend on.
  double (*further)(const OptimizerOptions& options) = nullptr;
};

/// Numbers of a call: the shared ones, then three of each parameter.
inline constexpr size_t kStepOptions = 9, kStepSliceNumbers = 3;
std::array<double, kStepOptions> step_options(const OptimStepArgs& args);
uint64_t step_switches(const OptimStepArgs& args);

/// Where a recorded step gets its numbers from when it is replayed: the optimizer as it is then, so that options and state changed
/// or loaded between calls count.
class TAEDA_API StepSource final : public capture::HostSide {
 public:
  StepSource(Optimizer& optimizer, size_t group, const HostRule& rule);
  /// A parameter that takes part in the step, in order.
  void add(const TensorImpl* parameter, bool has_state);

  /// Group, parameters, switches and the tensors of the states are the recorded ones.
  bool is_unchanged() override;
  std::vector<double> settings() const override;
  void refresh(Scalar* numbers) override;

 private:
  struct Parameter {
    const TensorImpl* tensor;
    OptimizerParamState* state;                 ///< null: none is kept
    std::array<const TensorImpl*, 3> tensors;
  };
  const OptimizerOptions* options() const;

  Optimizer* optimizer_;  ///< dies only after `host_changes` was counted up
  size_t group_;
  const HostRule* rule_;
  std::vector<const TensorImpl*> all_;  ///< of the group
  std::vector<Parameter> parameters_;
  uint64_t switches_;
};

}  // namespace taeda::optim
