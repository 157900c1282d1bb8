// SPDX-License-Identifier: Apache-2.0
// Adafactor.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API AdafactorOptions : public OptimizerCloneableOptions<AdafactorOptions> {
 public:
  AdafactorOptions(double lr = 1e-2);  // NOLINT(google-explicit-constructor): `Adafactor(params, 0.1)`
  TAEDA_ARG(double, lr) = 1e-2;
  TAEDA_ARG(double, beta2_decay) = -0.8;
  /// The first guards the second moments (by default the smallest step of the dtype), the second the scale of the parameters.
  using eps_t = std::tuple<std::optional<double>, double>;
  TAEDA_ARG(eps_t, eps) = eps_t(std::nullopt, 1e-3);
  TAEDA_ARG(double, d) = 1.0;
  TAEDA_ARG(double, weight_decay) = 0;
  TAEDA_ARG(bool, maximize) = false;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("beta2_decay", beta2_decay_); f("eps", eps_); f("d", d_); f("weight_decay", weight_decay_);
    f("maximize", maximize_);
  }
  friend TAEDA_API bool operator==(const AdafactorOptions& a, const AdafactorOptions& b);
};

class TAEDA_API AdafactorParamState : public OptimizerCloneableParamState<AdafactorParamState> {
  TAEDA_ARG(int64_t, step) = 0;
  TAEDA_ARG(Tensor, row_var);
  TAEDA_ARG(Tensor, col_var);
  TAEDA_ARG(Tensor, variance);

 public:
  template <class F>
  void visit(F&& f) {
    f("step", step_); f("row_var", row_var_); f("col_var", col_var_); f("variance", variance_);
  }
  friend TAEDA_API bool operator==(const AdafactorParamState& a, const AdafactorParamState& b);
};

/// Adafactor (Shazeer, Stern 2018): second moments of a matrix as a product of row and column means.
class TAEDA_API Adafactor : public Optimizer {
 public:
  explicit Adafactor(const std::vector<OptimizerParamGroup>& param_groups, AdafactorOptions defaults = {});
  explicit Adafactor(std::vector<Tensor> params, AdafactorOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace taeda::optim
