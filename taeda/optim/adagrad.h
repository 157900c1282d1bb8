// SPDX-License-Identifier: Apache-2.0
// Adagrad.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API AdagradOptions : public OptimizerCloneableOptions<AdagradOptions> {
 public:
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}  // NOLINT(google-explicit-constructor): `Adagrad(params, 0.1)`
  TAEDA_ARG(double, lr) = 1e-2;
  TAEDA_ARG(double, lr_decay) = 0;
  TAEDA_ARG(double, weight_decay) = 0;
  TAEDA_ARG(double, initial_accumulator_value) = 0;
  TAEDA_ARG(double, eps) = 1e-10;
  TAEDA_ARG(bool, maximize) = false;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("lr_decay", lr_decay_); f("weight_decay", weight_decay_); f("initial_accumulator_value", initial_accumulator_value_); f("eps", eps_); f("maximize", maximize_);
  }
  friend bool operator==(const AdagradOptions& a, const AdagradOptions& b) {
    return detail::same(a.lr(), b.lr()) && detail::same(a.lr_decay(), b.lr_decay()) && detail::same(a.weight_decay(), b.weight_decay()) && detail::same(a.initial_accumulator_value(), b.initial_accumulator_value()) && detail::same(a.eps(), b.eps()) && detail::same(a.maximize(), b.maximize());
  }
};

class TAEDA_API AdagradParamState : public OptimizerCloneableParamState<AdagradParamState> {
  TAEDA_ARG(Tensor, sum);
  TAEDA_ARG(int64_t, step) = 0;

 public:
  template <class F>
  void visit(F&& f) {
    f("sum", sum_); f("step", step_);
  }
  friend bool operator==(const AdagradParamState& a, const AdagradParamState& b) {
    return detail::same(a.sum(), b.sum()) && detail::same(a.step(), b.step());
  }
};

/// Adagrad (Duchi, Hazan, Singer 2011).
class TAEDA_API Adagrad : public Optimizer {
 public:
  explicit Adagrad(const std::vector<OptimizerParamGroup>& param_groups, AdagradOptions defaults = {});
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {})
      : Adagrad({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override { return "Adagrad"; }

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override { return std::make_unique<AdagradParamState>(); }
};

}  // namespace taeda::optim
