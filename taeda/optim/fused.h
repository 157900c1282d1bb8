// SPDX-License-Identifier: Apache-2.0
// Collects the parameters of a group for a fused step: dense arrays in one memory order, copies only where needed.
#pragma once

#include <vector>

#include "taeda/core/tensor.h"
#include "taeda/ops/kernels/optim.h"
#include "taeda/optim/replay.h"

namespace taeda::optim {

/// The parameters of one group and dtype. Built, run, and done.
class FusedStep {
 public:
  /// `args` is completed with the tensors and run once for each dtype.
  explicit FusedStep(OptimStepArgs args) : args_(args) {}
  /// The step of a group whose host side is `rule`.
  FusedStep(Optimizer& optimizer, size_t group, const HostRule& rule, double inverse_scale)
      : args_(rule.args(optimizer.param_groups()[group].options(), inverse_scale)), optimizer_(&optimizer), group_(group), rule_(&rule) {}
  /// To be called while gradients are not recorded. `states`: up to three tensors made by `zeros_like(param)`; undefined ones stay null.
  void add(const Tensor& param, const Tensor& grad, std::initializer_list<Tensor> states, double step_size = 0,
           double bias2_sqrt = 1, bool first = false, double second_step = 0);
  void run();

 private:
  /// Parameters of one dtype. Five tensors for each slice: parameter, gradient, three states.
  struct Batch {
    ScalarType dtype;
    std::vector<OptimTensor> slices;
    std::vector<Tensor> tensors;
    std::vector<const TensorImpl*> parameters;
  };
  struct Copy {
    Tensor param, work;
  };
  std::shared_ptr<capture::NumberSource> source(const Batch& batch) const;

  OptimStepArgs args_;
  Batch batches_[2] = {{kFloat, {}, {}, {}}, {kDouble, {}, {}, {}}};
  std::vector<Copy> copies_;  ///< dense copies of parameters that are not
  Optimizer* optimizer_ = nullptr;
  size_t group_ = 0;
  const HostRule* rule_ = nullptr;
};

/// A state tensor for `param`: dense, in its memory order, filled with `value`.
TAEDA_API Tensor make_state(const Tensor& param, double value = 0);

}  // namespace taeda::optim
