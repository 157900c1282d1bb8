// SPDX-License-Identifier: Apache-2.0
// Adadelta.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API AdadeltaOptions : public OptimizerCloneableOptions<AdadeltaOptions> {
 public:
  AdadeltaOptions(double lr = 1.0);  // NOLINT(google-explicit-constructor): `Adadelta(params, 0.1)`
  TAEDA_ARG(double, lr) = 1.0;
  TAEDA_ARG(double, rho) = 0.9;
  TAEDA_ARG(double, eps) = 1e-6;
  TAEDA_ARG(double, weight_decay) = 0;
  TAEDA_ARG(bool, maximize) = false;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("rho", rho_); f("eps", eps_); f("weight_decay", weight_decay_); f("maximize", maximize_);
  }
  friend TAEDA_API bool operator==(const AdadeltaOptions& a, const AdadeltaOptions& b);
};

class TAEDA_API AdadeltaParamState : public OptimizerCloneableParamState<AdadeltaParamState> {
  TAEDA_ARG(int64_t, step) = 0;
  TAEDA_ARG(Tensor, square_avg);
  TAEDA_ARG(Tensor, acc_delta);

 public:
  template <class F>
  void visit(F&& f) {
    f("step", step_); f("square_avg", square_avg_); f("acc_delta", acc_delta_);
  }
  friend TAEDA_API bool operator==(const AdadeltaParamState& a, const AdadeltaParamState& b);
};

/// Adadelta (Zeiler 2012).
class TAEDA_API Adadelta : public Optimizer {
 public:
  explicit Adadelta(const std::vector<OptimizerParamGroup>& param_groups, AdadeltaOptions defaults = {});
  explicit Adadelta(std::vector<Tensor> params, AdadeltaOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace taeda::optim
