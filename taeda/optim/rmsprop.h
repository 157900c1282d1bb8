// SPDX-License-Identifier: Apache-2.0
// RMSprop.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
 public:
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}  // NOLINT(google-explicit-constructor): `RMSprop(params, 0.1)`
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
  friend bool operator==(const RMSpropOptions& a, const RMSpropOptions& b) {
    return detail::same(a.lr(), b.lr()) && detail::same(a.alpha(), b.alpha()) && detail::same(a.eps(), b.eps()) && detail::same(a.weight_decay(), b.weight_decay()) && detail::same(a.momentum(), b.momentum()) && detail::same(a.centered(), b.centered()) && detail::same(a.maximize(), b.maximize());
  }
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
  friend bool operator==(const RMSpropParamState& a, const RMSpropParamState& b) {
    return detail::same(a.step(), b.step()) && detail::same(a.square_avg(), b.square_avg()) && detail::same(a.momentum_buffer(), b.momentum_buffer()) && detail::same(a.grad_avg(), b.grad_avg());
  }
};

/// RMSprop (Tieleman, Hinton 2012).
class TAEDA_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(const std::vector<OptimizerParamGroup>& param_groups, RMSpropOptions defaults = {});
  explicit RMSprop(std::vector<Tensor> params, RMSpropOptions defaults = {})
      : RMSprop({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override { return "RMSprop"; }

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override { return std::make_unique<RMSpropParamState>(); }
};

}  // namespace taeda::optim
