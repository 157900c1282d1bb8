// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
 public:
  SGDOptions(double lr);  // NOLINT(google-explicit-constructor): `SGD(params, 0.1)`
  TAEDA_ARG(double, lr);
  TAEDA_ARG(double, momentum) = 0;
  TAEDA_ARG(double, dampening) = 0;
  TAEDA_ARG(double, weight_decay) = 0;
  TAEDA_ARG(bool, nesterov) = false;
  TAEDA_ARG(bool, maximize) = false;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("momentum", momentum_); f("dampening", dampening_); f("weight_decay", weight_decay_); f("nesterov", nesterov_); f("maximize", maximize_);
  }
  friend TAEDA_API bool operator==(const SGDOptions& a, const SGDOptions& b);
};

class TAEDA_API SGDParamState : public OptimizerCloneableParamState<SGDParamState> {
  TAEDA_ARG(Tensor, momentum_buffer);

 public:
  template <class F>
  void visit(F&& f) {
    f("momentum_buffer", momentum_buffer_);
  }
  friend TAEDA_API bool operator==(const SGDParamState& a, const SGDParamState& b);
};

/// Stochastic gradient descent with momentum (Sutskever et al. 2013).
class TAEDA_API SGD : public Optimizer {
 public:
  explicit SGD(const std::vector<OptimizerParamGroup>& param_groups, SGDOptions defaults);
  explicit SGD(std::vector<Tensor> params, SGDOptions defaults);
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace taeda::optim
