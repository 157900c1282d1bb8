// SPDX-License-Identifier: Apache-2.0
// Adagrad.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API AdagradOptions : public OptimizerCloneableOptions<AdagradOptions> {
 public:
  AdagradOptions(double lr = 1e-2);  // NOLINT(google-explicit-constructor): `Adagrad(params, 0.1)`
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
  friend TAEDA_API bool operator==(const AdagradOptions& a, const AdagradOptions& b);
};

class TAEDA_API AdagradParamState : public OptimizerCloneableParamState<AdagradParamState> {
  TAEDA_ARG(Tensor, sum);
  TAEDA_ARG(int64_t, step) = 0;

 public:
  template <class F>
  void visit(F&& f) {
    f("sum", sum_); f("step", step_);
  }
  friend TAEDA_API bool operator==(const AdagradParamState& a, const AdagradParamState& b);
};

/// Adagrad (Duchi, Hazan, Singer 2011).
class TAEDA_API Adagrad : public Optimizer {
 public:
  explicit Adagrad(const std::vector<OptimizerParamGroup>& param_groups, AdagradOptions defaults = {});
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace taeda::optim
