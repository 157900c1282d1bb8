// SPDX-License-Identifier: Apache-2.0
// Muon.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API MuonOptions : public OptimizerCloneableOptions<MuonOptions> {
 public:
  MuonOptions(double lr = 1e-3);  // NOLINT(google-explicit-constructor): `Muon(params, 0.1)`
  TAEDA_ARG(double, lr) = 1e-3;
  TAEDA_ARG(double, weight_decay) = 0.1;
  TAEDA_ARG(double, momentum) = 0.95;
  TAEDA_ARG(bool, nesterov) = true;
  using ns_coefficients_t = std::tuple<double, double, double>;
  TAEDA_ARG(ns_coefficients_t, ns_coefficients) = std::make_tuple(3.4445, -4.7750, 2.0315);
  TAEDA_ARG(double, eps) = 1e-7;
  TAEDA_ARG(int64_t, ns_steps) = 5;
  TAEDA_ARG(std::optional<std::string>, adjust_lr_fn) = std::nullopt;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("weight_decay", weight_decay_); f("momentum", momentum_); f("nesterov", nesterov_);
    f("ns_coefficients", ns_coefficients_); f("eps", eps_); f("ns_steps", ns_steps_);
    f("adjust_lr_fn", adjust_lr_fn_);
  }
  friend TAEDA_API bool operator==(const MuonOptions& a, const MuonOptions& b);
};

class TAEDA_API MuonParamState : public OptimizerCloneableParamState<MuonParamState> {
  TAEDA_ARG(Tensor, momentum_buffer);

 public:
  template <class F>
  void visit(F&& f) {
    f("momentum_buffer", momentum_buffer_);
  }
  friend TAEDA_API bool operator==(const MuonParamState& a, const MuonParamState& b);
};

/// Muon (Jordan et al. 2024): momentum of matrices, orthogonalised by Newton-Schulz steps in bfloat16. `adjust_lr_fn` is "original"
/// (the rate grows with the root of the ratio of rows to columns) or "match_rms_adamw".
class TAEDA_API Muon : public Optimizer {
 public:
  explicit Muon(const std::vector<OptimizerParamGroup>& param_groups, MuonOptions defaults = {});
  explicit Muon(std::vector<Tensor> params, MuonOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace taeda::optim
