// SPDX-License-Identifier: Apache-2.0
// Collects the parameters of a group for a fused step: dense arrays in one memory order, copies only where needed.
#pragma once

#include <vector>

#include "taeda/core/tensor.h"
#include "taeda/ops/kernels/optim.h"

namespace taeda::optim {

/// The parameters of one group and dtype. Built, run, and done.
class FusedStep {
 public:
  /// `args` is completed with the tensors and run once for each dtype.
  explicit FusedStep(OptimStepArgs args) : args_(args) {}
  /// `states`: up to three tensors made by `zeros_like(param)`; undefined ones stay null.
  void add(const Tensor& param, const Tensor& grad, std::initializer_list<Tensor> states, double step_size = 0,
           double bias2_sqrt = 1, bool first = false, double second_step = 0);
  void run();

 private:
  struct Entry {
    Tensor param, work, grad;
    Tensor states[3];
    OptimTensor slice;
  };
  OptimStepArgs args_;
  std::vector<Entry> entries_;
};

/// A state tensor for `param`: dense, in its memory order, filled with `value`.
TAEDA_API Tensor make_state(const Tensor& param, double value = 0);

}  // namespace taeda::optim
