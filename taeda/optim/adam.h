// SPDX-License-Identifier: Apache-2.0
// Adam and AdamW.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API AdamOptions : public OptimizerCloneableOptions<AdamOptions> {
 public:
  AdamOptions(double lr = 1e-3) : lr_(lr) {}  // NOLINT(google-explicit-constructor): `Adam(params, 0.1)`
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
  friend bool operator==(const AdamOptions& a, const AdamOptions& b) {
    return detail::same(a.lr(), b.lr()) && detail::same(a.betas(), b.betas()) && detail::same(a.eps(), b.eps()) && detail::same(a.weight_decay(), b.weight_decay()) && detail::same(a.amsgrad(), b.amsgrad()) && detail::same(a.maximize(), b.maximize());
  }
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
  friend bool operator==(const AdamParamState& a, const AdamParamState& b) {
    return detail::same(a.step(), b.step()) && detail::same(a.exp_avg(), b.exp_avg()) && detail::same(a.exp_avg_sq(), b.exp_avg_sq()) && detail::same(a.max_exp_avg_sq(), b.max_exp_avg_sq());
  }
};

/// Adam (Kingma, Ba 2015); AMSGrad (Reddi et al. 2018) when asked for.
class TAEDA_API Adam : public Optimizer {
 public:
  explicit Adam(const std::vector<OptimizerParamGroup>& param_groups, AdamOptions defaults = {});
  explicit Adam(std::vector<Tensor> params, AdamOptions defaults = {})
      : Adam({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override { return "Adam"; }

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override { return std::make_unique<AdamParamState>(); }
};

class TAEDA_API AdamWOptions : public OptimizerCloneableOptions<AdamWOptions> {
 public:
  AdamWOptions(double lr = 1e-3) : lr_(lr) {}  // NOLINT(google-explicit-constructor): `AdamW(params, 0.1)`
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
  friend bool operator==(const AdamWOptions& a, const AdamWOptions& b) {
    return detail::same(a.lr(), b.lr()) && detail::same(a.betas(), b.betas()) && detail::same(a.eps(), b.eps()) && detail::same(a.weight_decay(), b.weight_decay()) && detail::same(a.amsgrad(), b.amsgrad()) && detail::same(a.maximize(), b.maximize());
  }
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
  friend bool operator==(const AdamWParamState& a, const AdamWParamState& b) {
    return detail::same(a.step(), b.step()) && detail::same(a.exp_avg(), b.exp_avg()) && detail::same(a.exp_avg_sq(), b.exp_avg_sq()) && detail::same(a.max_exp_avg_sq(), b.max_exp_avg_sq());
  }
};

/// Adam with decoupled weight decay (Loshchilov, Hutter 2019).
class TAEDA_API AdamW : public Optimizer {
 public:
  explicit AdamW(const std::vector<OptimizerParamGroup>& param_groups, AdamWOptions defaults = {});
  explicit AdamW(std::vector<Tensor> params, AdamWOptions defaults = {})
      : AdamW({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override { return "AdamW"; }

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override { return std::make_unique<AdamWParamState>(); }
};

}  // namespace taeda::optim
