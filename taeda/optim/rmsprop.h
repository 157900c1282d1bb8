// SPDX-License-Identifier: Apache-2.0
// RMSprop.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
 public:
  RMSpropOptions(double lr = 1e-2);  // NOLINT(google-explicit-constructor): `RMSprop(params, 0.1)`
  TAEDA_ARG(double, lr) = 1e-2;
  TAEDA_ARG(double, alpha) = 0.99;
  TAEDA_ARG(double, eps) = 1e-8;
  TAEDA_ARG(double, weight_decay) = 0;
  TAEDA_ARG(double, momentum) = 0;
  TAEDA_ARG(bool, centered) = false;
  TAEDA_ARG(bool, maximize) = false;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("alpha", alpha_); f("eps", eps_); f("weight_decay", weight_decay_); f("momentum", momentum_); f("centered", centered_); f("maximize", maximize_);
  }
  friend TAEDA_API bool operator==(const RMSpropOptions& a, const RMSpropOptions& b);
};

class TAEDA_API RMSpropParamState : public OptimizerCloneableParamState<RMSpropParamState> {
  TAEDA_ARG(int64_t, step) = 0;
  TAEDA_ARG(Tensor, square_avg);
  TAEDA_ARG(Tensor, momentum_buffer);
  TAEDA_ARG(Tensor, grad_avg);

 public:
  template <class F>
  void visit(F&& f) {
    f("step", step_); f("square_avg", square_avg_); f("momentum_buffer", momentum_buffer_); f("grad_avg", grad_avg_);
  }
  friend TAEDA_API bool operator==(const RMSpropParamState& a, const RMSpropParamState& b);
};

/// RMSprop (Tieleman, Hinton 2012).
class TAEDA_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(const std::vector<OptimizerParamGroup>& param_groups, RMSpropOptions defaults = {});
  explicit RMSprop(std::vector<Tensor> params, RMSpropOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace taeda::optim
