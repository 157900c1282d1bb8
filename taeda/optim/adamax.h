// SPDX-License-Identifier: Apache-2.0
// Adamax, NAdam and RAdam: relatives of Adam.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API AdamaxOptions : public OptimizerCloneableOptions<AdamaxOptions> {
 public:
  AdamaxOptions(double lr = 2e-3);  // NOLINT(google-explicit-constructor): `Adamax(params, 0.1)`
  TAEDA_ARG(double, lr) = 2e-3;
  using betas_t = std::tuple<double, double>;
  TAEDA_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  TAEDA_ARG(double, eps) = 1e-8;
  TAEDA_ARG(double, weight_decay) = 0;
  TAEDA_ARG(bool, maximize) = false;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("betas", betas_); f("eps", eps_); f("weight_decay", weight_decay_); f("maximize", maximize_);
  }
  friend TAEDA_API bool operator==(const AdamaxOptions& a, const AdamaxOptions& b);
};

class TAEDA_API AdamaxParamState : public OptimizerCloneableParamState<AdamaxParamState> {
  TAEDA_ARG(int64_t, step) = 0;
  TAEDA_ARG(Tensor, exp_avg);
  TAEDA_ARG(Tensor, exp_inf);

 public:
  template <class F>
  void visit(F&& f) {
    f("step", step_); f("exp_avg", exp_avg_); f("exp_inf", exp_inf_);
  }
  friend TAEDA_API bool operator==(const AdamaxParamState& a, const AdamaxParamState& b);
};

/// Adamax: Adam with the infinity norm (Kingma, Ba 2015).
class TAEDA_API Adamax : public Optimizer {
 public:
  explicit Adamax(const std::vector<OptimizerParamGroup>& param_groups, AdamaxOptions defaults = {});
  explicit Adamax(std::vector<Tensor> params, AdamaxOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

class TAEDA_API NAdamOptions : public OptimizerCloneableOptions<NAdamOptions> {
 public:
  NAdamOptions(double lr = 2e-3);  // NOLINT(google-explicit-constructor): `NAdam(params, 0.1)`
  TAEDA_ARG(double, lr) = 2e-3;
  using betas_t = std::tuple<double, double>;
  TAEDA_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  TAEDA_ARG(double, eps) = 1e-8;
  TAEDA_ARG(double, weight_decay) = 0;
  TAEDA_ARG(double, momentum_decay) = 4e-3;
  TAEDA_ARG(bool, decoupled_weight_decay) = false;
  TAEDA_ARG(bool, maximize) = false;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("betas", betas_); f("eps", eps_); f("weight_decay", weight_decay_);
    f("momentum_decay", momentum_decay_); f("decoupled_weight_decay", decoupled_weight_decay_);
    f("maximize", maximize_);
  }
  friend TAEDA_API bool operator==(const NAdamOptions& a, const NAdamOptions& b);
};

class TAEDA_API NAdamParamState : public OptimizerCloneableParamState<NAdamParamState> {
  TAEDA_ARG(int64_t, step) = 0;
  TAEDA_ARG(double, mu_product) = 1;
  TAEDA_ARG(Tensor, exp_avg);
  TAEDA_ARG(Tensor, exp_avg_sq);

 public:
  template <class F>
  void visit(F&& f) {
    f("step", step_); f("mu_product", mu_product_); f("exp_avg", exp_avg_); f("exp_avg_sq", exp_avg_sq_);
  }
  friend TAEDA_API bool operator==(const NAdamParamState& a, const NAdamParamState& b);
};

/// NAdam: Adam with Nesterov momentum (Dozat 2016).
class TAEDA_API NAdam : public Optimizer {
 public:
  explicit NAdam(const std::vector<OptimizerParamGroup>& param_groups, NAdamOptions defaults = {});
  explicit NAdam(std::vector<Tensor> params, NAdamOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

class TAEDA_API RAdamOptions : public OptimizerCloneableOptions<RAdamOptions> {
 public:
  RAdamOptions(double lr = 1e-3);  // NOLINT(google-explicit-constructor): `RAdam(params, 0.1)`
  TAEDA_ARG(double, lr) = 1e-3;
  using betas_t = std::tuple<double, double>;
  TAEDA_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  TAEDA_ARG(double, eps) = 1e-8;
  TAEDA_ARG(double, weight_decay) = 0;
  TAEDA_ARG(bool, decoupled_weight_decay) = false;
  TAEDA_ARG(bool, maximize) = false;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("betas", betas_); f("eps", eps_); f("weight_decay", weight_decay_);
    f("decoupled_weight_decay", decoupled_weight_decay_); f("maximize", maximize_);
  }
  friend TAEDA_API bool operator==(const RAdamOptions& a, const RAdamOptions& b);
};

class TAEDA_API RAdamParamState : public OptimizerCloneableParamState<RAdamParamState> {
  TAEDA_ARG(int64_t, step) = 0;
  TAEDA_ARG(Tensor, exp_avg);
  TAEDA_ARG(Tensor, exp_avg_sq);

 public:
  template <class F>
  void visit(F&& f) {
    f("step", step_); f("exp_avg", exp_avg_); f("exp_avg_sq", exp_avg_sq_);
  }
  friend TAEDA_API bool operator==(const RAdamParamState& a, const RAdamParamState& b);
};

/// RAdam: Adam with a rectified adaptive rate (Liu et al. 2020).
class TAEDA_API RAdam : public Optimizer {
 public:
  explicit RAdam(const std::vector<OptimizerParamGroup>& param_groups, RAdamOptions defaults = {});
  explicit RAdam(std::vector<Tensor> params, RAdamOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace taeda::optim
