// SPDX-License-Identifier: Apache-2.0
// Resilient propagation.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API RpropOptions : public OptimizerCloneableOptions<RpropOptions> {
 public:
  RpropOptions(double lr = 1e-2);  // NOLINT(google-explicit-constructor): `Rprop(params, 0.1)`
  TAEDA_ARG(double, lr) = 1e-2;
  using etas_t = std::tuple<double, double>;
  TAEDA_ARG(etas_t, etas) = std::make_tuple(0.5, 1.2);
  TAEDA_ARG(etas_t, step_sizes) = std::make_tuple(1e-6, 50.0);
  TAEDA_ARG(bool, maximize) = false;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("etas", etas_); f("step_sizes", step_sizes_); f("maximize", maximize_);
  }
  friend TAEDA_API bool operator==(const RpropOptions& a, const RpropOptions& b);
};

class TAEDA_API RpropParamState : public OptimizerCloneableParamState<RpropParamState> {
  TAEDA_ARG(int64_t, step) = 0;
  TAEDA_ARG(Tensor, prev);
  TAEDA_ARG(Tensor, step_size);

 public:
  template <class F>
  void visit(F&& f) {
    f("step", step_); f("prev", prev_); f("step_size", step_size_);
  }
  friend TAEDA_API bool operator==(const RpropParamState& a, const RpropParamState& b);
};

/// Rprop (Riedmiller, Braun 1993): steps by the signs of the gradients alone. For full batches.
class TAEDA_API Rprop : public Optimizer {
 public:
  explicit Rprop(const std::vector<OptimizerParamGroup>& param_groups, RpropOptions defaults = {});
  explicit Rprop(std::vector<Tensor> params, RpropOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace taeda::optim
