// SPDX-License-Identifier: Apache-2.0
// Adam and AdamW.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API AdamOptions : public OptimizerCloneableOptions<AdamOptions> {
 public:
  AdamOptions(double lr = 1e-3);  // NOLINT(google-explicit-constructor): `Adam(params, 0.1)`
  TAEDA_ARG(double, lr) = 1e-3;
  using betas_t = std::tuple<double, double>;
  TAEDA_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  TAEDA_ARG(double, eps) = 1e-8;
  TAEDA_ARG(double, weight_decay) = 0;
  TAEDA_ARG(bool, amsgrad) = false;
  TAEDA_ARG(bool, maximize) = false;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("betas", betas_); f("eps", eps_); f("weight_decay", weight_decay_); f("amsgrad", amsgrad_); f("maximize", maximize_);
  }
  friend TAEDA_API bool operator==(const AdamOptions& a, const AdamOptions& b);
};

class TAEDA_API AdamParamState : public OptimizerCloneableParamState<AdamParamState> {
  TAEDA_ARG(int64_t, step) = 0;
  TAEDA_ARG(Tensor, exp_avg);
  TAEDA_ARG(Tensor, exp_avg_sq);
  TAEDA_ARG(Tensor, max_exp_avg_sq);

 public:
  template <class F>
  void visit(F&& f) {
    f("step", step_); f("exp_avg", exp_avg_); f("exp_avg_sq", exp_avg_sq_); f("max_exp_avg_sq", max_exp_avg_sq_);
  }
  friend TAEDA_API bool operator==(const AdamParamState& a, const AdamParamState& b);
};

/// Adam (Kingma, Ba 2015); AMSGrad (Reddi et al. 2018) when asked for.
class TAEDA_API Adam : public Optimizer {
 public:
  explicit Adam(const std::vector<OptimizerParamGroup>& param_groups, AdamOptions defaults = {});
  explicit Adam(std::vector<Tensor> params, AdamOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

class TAEDA_API AdamWOptions : public OptimizerCloneableOptions<AdamWOptions> {
 public:
  AdamWOptions(double lr = 1e-3);  // NOLINT(google-explicit-constructor): `AdamW(params, 0.1)`
  TAEDA_ARG(double, lr) = 1e-3;
  using betas_t = std::tuple<double, double>;
  TAEDA_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  TAEDA_ARG(double, eps) = 1e-8;
  TAEDA_ARG(double, weight_decay) = 1e-2;
  TAEDA_ARG(bool, amsgrad) = false;
  TAEDA_ARG(bool, maximize) = false;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("betas", betas_); f("eps", eps_); f("weight_decay", weight_decay_); f("amsgrad", amsgrad_); f("maximize", maximize_);
  }
  friend TAEDA_API bool operator==(const AdamWOptions& a, const AdamWOptions& b);
};

class TAEDA_API AdamWParamState : public OptimizerCloneableParamState<AdamWParamState> {
  TAEDA_ARG(int64_t, step) = 0;
  TAEDA_ARG(Tensor, exp_avg);
  TAEDA_ARG(Tensor, exp_avg_sq);
  TAEDA_ARG(Tensor, max_exp_avg_sq);

 public:
  template <class F>
  void visit(F&& f) {
    f("step", step_); f("exp_avg", exp_avg_); f("exp_avg_sq", exp_avg_sq_); f("max_exp_avg_sq", max_exp_avg_sq_);
  }
  friend TAEDA_API bool operator==(const AdamWParamState& a, const AdamWParamState& b);
};

/// Adam with decoupled weight decay (Loshchilov, Hutter 2019).
class TAEDA_API AdamW : public Optimizer {
 public:
  explicit AdamW(const std::vector<OptimizerParamGroup>& param_groups, AdamWOptions defaults = {});
  explicit AdamW(std::vector<Tensor> params, AdamWOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace taeda::optim
