// SPDX-License-Identifier: Apache-2.0
// Averaged stochastic gradient descent.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API ASGDOptions : public OptimizerCloneableOptions<ASGDOptions> {
 public:
  ASGDOptions(double lr = 1e-2);  // NOLINT(google-explicit-constructor): `ASGD(params, 0.1)`
  TAEDA_ARG(double, lr) = 1e-2;
  TAEDA_ARG(double, lambd) = 1e-4;
  TAEDA_ARG(double, alpha) = 0.75;
  TAEDA_ARG(double, t0) = 1e6;
  TAEDA_ARG(double, weight_decay) = 0;
  TAEDA_ARG(bool, maximize) = false;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("lambd", lambd_); f("alpha", alpha_); f("t0", t0_); f("weight_decay", weight_decay_);
    f("maximize", maximize_);
  }
  friend TAEDA_API bool operator==(const ASGDOptions& a, const ASGDOptions& b);
};

class TAEDA_API ASGDParamState : public OptimizerCloneableParamState<ASGDParamState> {
  TAEDA_ARG(int64_t, step) = 0;
  TAEDA_ARG(double, eta) = 0;
  TAEDA_ARG(double, mu) = 1;
  TAEDA_ARG(Tensor, ax);

 public:
  template <class F>
  void visit(F&& f) {
    f("step", step_); f("eta", eta_); f("mu", mu_); f("ax", ax_);
  }
  friend TAEDA_API bool operator==(const ASGDParamState& a, const ASGDParamState& b);
};

/// Averaged SGD (Polyak, Juditsky 1992); `ax` of the state holds the average.
class TAEDA_API ASGD : public Optimizer {
 public:
  explicit ASGD(const std::vector<OptimizerParamGroup>& param_groups, ASGDOptions defaults = {});
  explicit ASGD(std::vector<Tensor> params, ASGDOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace taeda::optim
