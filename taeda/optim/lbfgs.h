// SPDX-License-Identifier: Apache-2.0
// Limited-memory BFGS.
#pragma once

#include <deque>

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class TAEDA_API LBFGSOptions : public OptimizerCloneableOptions<LBFGSOptions> {
 public:
  LBFGSOptions(double lr = 1);  // NOLINT(google-explicit-constructor): `LBFGS(params, 0.1)`
  TAEDA_ARG(double, lr) = 1;
  TAEDA_ARG(int64_t, max_iter) = 20;
  TAEDA_ARG(std::optional<int64_t>, max_eval) = std::nullopt;
  TAEDA_ARG(double, tolerance_grad) = 1e-7;
  TAEDA_ARG(double, tolerance_change) = 1e-9;
  TAEDA_ARG(int64_t, history_size) = 100;
  TAEDA_ARG(std::optional<std::string>, line_search_fn) = std::nullopt;

 public:
  template <class F>
  void visit(F&& f) {
    f("lr", lr_); f("max_iter", max_iter_); f("max_eval", max_eval_); f("tolerance_grad", tolerance_grad_);
    f("tolerance_change", tolerance_change_); f("history_size", history_size_); f("line_search_fn", line_search_fn_);
  }
  friend TAEDA_API bool operator==(const LBFGSOptions& a, const LBFGSOptions& b);
};

class TAEDA_API LBFGSParamState : public OptimizerCloneableParamState<LBFGSParamState> {
  TAEDA_ARG(int64_t, func_evals) = 0;
  TAEDA_ARG(int64_t, n_iter) = 0;
  TAEDA_ARG(double, t) = 0;
  TAEDA_ARG(double, prev_loss) = 0;
  TAEDA_ARG(Tensor, d);
  TAEDA_ARG(Tensor, H_diag);
  TAEDA_ARG(Tensor, prev_flat_grad);
  TAEDA_ARG(std::deque<Tensor>, old_dirs);
  TAEDA_ARG(std::deque<Tensor>, old_stps);
  TAEDA_ARG(std::deque<Tensor>, ro);
  TAEDA_ARG(std::optional<std::vector<Tensor>>, al) = std::nullopt;

 public:
  template <class F>
  void visit(F&& f) {
    f("func_evals", func_evals_); f("n_iter", n_iter_); f("t", t_); f("prev_loss", prev_loss_); f("d", d_);
    f("H_diag", H_diag_); f("prev_flat_grad", prev_flat_grad_); f("old_dirs", old_dirs_); f("old_stps", old_stps_);
    f("ro", ro_); f("al", al_);
  }
  friend TAEDA_API bool operator==(const LBFGSParamState& a, const LBFGSParamState& b);
};

/// L-BFGS (Liu, Nocedal 1989) over all parameters as one vector. `step` calls the closure several times: it must clear the
/// gradients, compute the loss and its gradients, and return it. `line_search_fn` is none or "strong_wolfe".
class TAEDA_API LBFGS : public Optimizer {
 public:
  explicit LBFGS(const std::vector<OptimizerParamGroup>& param_groups, LBFGSOptions defaults = {});
  explicit LBFGS(std::vector<Tensor> params, LBFGSOptions defaults = {});
  /// The loss before the step.
  Tensor step(LossClosure closure) override;
  std::string type_name() const override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;

 private:
  struct Evaluation;
  Tensor flat_gradient() const;
  void move(double amount, const Tensor& direction);
  void set_parameters(const std::vector<Tensor>& values);
  double evaluate(const LossClosure& closure) const;
  Evaluation evaluate_along(const LossClosure& closure, const std::vector<Tensor>& start, double t, const Tensor& direction);
  void update_direction(LBFGSParamState& state, const LBFGSOptions& options, const Tensor& flat_grad);
  int64_t strong_wolfe(const LossClosure& closure, LBFGSParamState& state, const LBFGSOptions& options, double slope, double& loss,
                       Tensor& flat_grad);
};

}  // namespace taeda::optim
