// SPDX-License-Identifier: Apache-2.0
// Steps of Adadelta, Adamax, NAdam, RAdam, Rprop and ASGD: options are checked, states are made, and one fused pass does the rest.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>

#include "taeda/optim/adadelta.h"
#include "taeda/optim/adamax.h"
#include "taeda/optim/asgd.h"
#include "taeda/optim/rprop.h"
#include "taeda/optim/step_detail.h"

namespace taeda::optim {

using namespace detail;  // NOLINT(google-build-using-namespace)

namespace {

template <class Options>
void check_betas(const char* name, const Options& o) {
  check_at_least_zero(name, "learning rate", o.lr());
  check_at_least_zero(name, "epsilon", o.eps());
  check_beta(name, "beta at index 0", std::get<0>(o.betas()));
  check_beta(name, "beta at index 1", std::get<1>(o.betas()));
  check_at_least_zero(name, "weight_decay", o.weight_decay());
}

/// Schedules kept in the state are float32 numbers, as in PyTorch: runs of float64 parameters agree to the last bits.
double as_float32(double value) { return static_cast<double>(static_cast<float>(value)); }

/// The arguments of a rule with two betas.
template <class Options>
OptimStepArgs beta_args(OptimRule rule, const Options& o, double inverse_scale) {
  OptimStepArgs args = base_args(rule, o, inverse_scale);
  std::tie(args.beta1, args.beta2) = o.betas();
  args.eps = o.eps();
  if constexpr (requires { o.decoupled_weight_decay(); }) args.decoupled = o.decoupled_weight_decay();
  return args;
}

}  // namespace

AdadeltaOptions::AdadeltaOptions(double lr) : lr_(lr) {}
bool operator==(const AdadeltaOptions& a, const AdadeltaOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.rho(), b.rho()) && detail::same(a.eps(), b.eps()) &&
         detail::same(a.weight_decay(), b.weight_decay()) && detail::same(a.maximize(), b.maximize());
}
bool operator==(const AdadeltaParamState& a, const AdadeltaParamState& b) {
  return detail::same(a.step(), b.step()) && detail::same(a.square_avg(), b.square_avg()) &&
         detail::same(a.acc_delta(), b.acc_delta());
}
Adadelta::Adadelta(std::vector<Tensor> params, AdadeltaOptions defaults)
    : Adadelta({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
std::string Adadelta::type_name() const { return "Adadelta"; }
std::unique_ptr<OptimizerParamState> Adadelta::new_state() const { return std::make_unique<AdadeltaParamState>(); }

Adadelta::Adadelta(const std::vector<OptimizerParamGroup>& param_groups, AdadeltaOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdadeltaOptions>(defaults)) {
  check_at_least_zero("Adadelta", "learning rate", defaults.lr());
  TAEDA_CHECK(defaults.rho() >= 0 && defaults.rho() <= 1, "[Adadelta] Invalid rho value: ", defaults.rho(),
              "; it must be in [0, 1]");
  check_at_least_zero("Adadelta", "epsilon", defaults.eps());
  check_at_least_zero("Adadelta", "weight_decay", defaults.weight_decay());
}

Tensor Adadelta::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = run_closure(closure);
  if (skip_step()) return loss;
  for (OptimizerParamGroup& group : param_groups_) {
    const auto& o = static_cast<const AdadeltaOptions&>(group.options());
    OptimStepArgs args = base_args(OptimRule::kAdadelta, o, inverse_scale_);
    args.beta2 = o.rho();
    args.eps = o.eps();
    FusedStep fused(args);
    for_each_gradient(group, [&](const Tensor& p, const Tensor& grad) {
      auto& s = state_of<AdadeltaParamState>(p);
      if (!s.square_avg().defined()) {
        s.square_avg(make_state(p));
        s.acc_delta(make_state(p));
      }
      s.step(s.step() + 1);
      fused.add(p, grad, {s.square_avg(), s.acc_delta()});
    });
    fused.run();
  }
  return loss;
}

AdamaxOptions::AdamaxOptions(double lr) : lr_(lr) {}
bool operator==(const AdamaxOptions& a, const AdamaxOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.betas(), b.betas()) && detail::same(a.eps(), b.eps()) &&
         detail::same(a.weight_decay(), b.weight_decay()) && detail::same(a.maximize(), b.maximize());
}
bool operator==(const AdamaxParamState& a, const AdamaxParamState& b) {
  return detail::same(a.step(), b.step()) && detail::same(a.exp_avg(), b.exp_avg()) &&
         detail::same(a.exp_inf(), b.exp_inf());
}
Adamax::Adamax(std::vector<Tensor> params, AdamaxOptions defaults)
    : Adamax({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
std::string Adamax::type_name() const { return "Adamax"; }
std::unique_ptr<OptimizerParamState> Adamax::new_state() const { return std::make_unique<AdamaxParamState>(); }

Adamax::Adamax(const std::vector<OptimizerParamGroup>& param_groups, AdamaxOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamaxOptions>(defaults)) {
  check_betas("Adamax", defaults);
}

Tensor Adamax::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = run_closure(closure);
  if (skip_step()) return loss;
  for (OptimizerParamGroup& group : param_groups_) {
    const auto& o = static_cast<const AdamaxOptions&>(group.options());
    FusedStep fused(beta_args(OptimRule::kAdamax, o, inverse_scale_));
    for_each_gradient(group, [&](const Tensor& p, const Tensor& grad) {
      auto& s = state_of<AdamaxParamState>(p);
      if (!s.exp_avg().defined()) {
        s.exp_avg(make_state(p));
        s.exp_inf(make_state(p));
      }
      s.step(s.step() + 1);
      const double bias = 1 - std::pow(std::get<0>(o.betas()), static_cast<double>(s.step()));
      fused.add(p, grad, {s.exp_avg(), s.exp_inf()}, o.lr() / bias);
    });
    fused.run();
  }
  return loss;
}

NAdamOptions::NAdamOptions(double lr) : lr_(lr) {}
bool operator==(const NAdamOptions& a, const NAdamOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.betas(), b.betas()) && detail::same(a.eps(), b.eps()) &&
         detail::same(a.weight_decay(), b.weight_decay()) && detail::same(a.momentum_decay(), b.momentum_decay()) &&
         detail::same(a.decoupled_weight_decay(), b.decoupled_weight_decay()) && detail::same(a.maximize(), b.maximize());
}
bool operator==(const NAdamParamState& a, const NAdamParamState& b) {
  return detail::same(a.step(), b.step()) && detail::same(a.mu_product(), b.mu_product()) &&
         detail::same(a.exp_avg(), b.exp_avg()) && detail::same(a.exp_avg_sq(), b.exp_avg_sq());
}
NAdam::NAdam(std::vector<Tensor> params, NAdamOptions defaults)
    : NAdam({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
std::string NAdam::type_name() const { return "NAdam"; }
std::unique_ptr<OptimizerParamState> NAdam::new_state() const { return std::make_unique<NAdamParamState>(); }

NAdam::NAdam(const std::vector<OptimizerParamGroup>& param_groups, NAdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<NAdamOptions>(defaults)) {
  check_betas("NAdam", defaults);
  check_at_least_zero("NAdam", "momentum_decay", defaults.momentum_decay());
}

Tensor NAdam::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = run_closure(closure);
  if (skip_step()) return loss;
  for (OptimizerParamGroup& group : param_groups_) {
    const auto& o = static_cast<const NAdamOptions&>(group.options());
    const auto [beta1, beta2] = o.betas();
    FusedStep fused(beta_args(OptimRule::kNadam, o, inverse_scale_));
    for_each_gradient(group, [&, beta1 = beta1, beta2 = beta2](const Tensor& p, const Tensor& grad) {
      auto& s = state_of<NAdamParamState>(p);
      if (!s.exp_avg().defined()) {
        s.exp_avg(make_state(p));
        s.exp_avg_sq(make_state(p));
      }
      s.step(s.step() + 1);
      const auto t = static_cast<double>(s.step());
      const auto momentum = [&](double step) { return beta1 * (1 - 0.5 * std::pow(0.96, step * o.momentum_decay())); };
      const double mu = momentum(t);
      const double mu_next = momentum(t + 1);
      s.mu_product(as_float32(s.mu_product() * as_float32(mu)));
      fused.add(p, grad, {s.exp_avg(), s.exp_avg_sq()}, o.lr() * (1 - mu) / (1 - s.mu_product()),
                std::sqrt(1 - std::pow(beta2, t)), false, o.lr() * mu_next / (1 - s.mu_product() * mu_next));
    });
    fused.run();
  }
  return loss;
}

RAdamOptions::RAdamOptions(double lr) : lr_(lr) {}
bool operator==(const RAdamOptions& a, const RAdamOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.betas(), b.betas()) && detail::same(a.eps(), b.eps()) &&
         detail::same(a.weight_decay(), b.weight_decay()) &&
         detail::same(a.decoupled_weight_decay(), b.decoupled_weight_decay()) && detail::same(a.maximize(), b.maximize());
}
bool operator==(const RAdamParamState& a, const RAdamParamState& b) {
  return detail::same(a.step(), b.step()) && detail::same(a.exp_avg(), b.exp_avg()) &&
         detail::same(a.exp_avg_sq(), b.exp_avg_sq());
}
RAdam::RAdam(std::vector<Tensor> params, RAdamOptions defaults)
    : RAdam({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
std::string RAdam::type_name() const { return "RAdam"; }
std::unique_ptr<OptimizerParamState> RAdam::new_state() const { return std::make_unique<RAdamParamState>(); }

RAdam::RAdam(const std::vector<OptimizerParamGroup>& param_groups, RAdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<RAdamOptions>(defaults)) {
  check_betas("RAdam", defaults);
}

Tensor RAdam::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = run_closure(closure);
  if (skip_step()) return loss;
  for (OptimizerParamGroup& group : param_groups_) {
    const auto& o = static_cast<const RAdamOptions&>(group.options());
    const auto [beta1, beta2] = o.betas();
    FusedStep fused(beta_args(OptimRule::kRadam, o, inverse_scale_));
    for_each_gradient(group, [&, beta1 = beta1, beta2 = beta2](const Tensor& p, const Tensor& grad) {
      auto& s = state_of<RAdamParamState>(p);
      if (!s.exp_avg().defined()) {
        s.exp_avg(make_state(p));
        s.exp_avg_sq(make_state(p));
      }
      s.step(s.step() + 1);
      const auto t = static_cast<double>(s.step());
      const double power = std::pow(beta2, t);
      const double longest = 2 / (1 - beta2) - 1;  // lengths of the approximated simple averages (eqs. 4 and 5 of the paper)
      const double length = longest - 2 * t * power / (1 - power);
      const double rate = o.lr() / (1 - std::pow(beta1, t));
      if (length <= 5) return fused.add(p, grad, {s.exp_avg(), s.exp_avg_sq()}, rate, 1, /*first=*/true);
      const double rectification = std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length));
      fused.add(p, grad, {s.exp_avg(), s.exp_avg_sq()}, rate * rectification * std::sqrt(1 - power));
    });
    fused.run();
  }
  return loss;
}

RpropOptions::RpropOptions(double lr) : lr_(lr) {}
bool operator==(const RpropOptions& a, const RpropOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.etas(), b.etas()) && detail::same(a.step_sizes(), b.step_sizes()) &&
         detail::same(a.maximize(), b.maximize());
}
bool operator==(const RpropParamState& a, const RpropParamState& b) {
  return detail::same(a.step(), b.step()) && detail::same(a.prev(), b.prev()) && detail::same(a.step_size(), b.step_size());
}
Rprop::Rprop(std::vector<Tensor> params, RpropOptions defaults)
    : Rprop({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
std::string Rprop::type_name() const { return "Rprop"; }
std::unique_ptr<OptimizerParamState> Rprop::new_state() const { return std::make_unique<RpropParamState>(); }

Rprop::Rprop(const std::vector<OptimizerParamGroup>& param_groups, RpropOptions defaults)
    : Optimizer(param_groups, std::make_unique<RpropOptions>(defaults)) {
  check_at_least_zero("Rprop", "learning rate", defaults.lr());
  const auto [shrink, grow] = defaults.etas();
  TAEDA_CHECK(shrink > 0 && shrink < 1 && grow > 1, "[Rprop] Invalid eta values: ", shrink, ", ", grow,
              "; the first must be in (0, 1), the second above 1");
  TAEDA_CHECK(std::get<0>(defaults.step_sizes()) <= std::get<1>(defaults.step_sizes()), "[Rprop] Invalid step_sizes values: ",
              std::get<0>(defaults.step_sizes()), ", ", std::get<1>(defaults.step_sizes()), "; the first must not be larger");
}

Tensor Rprop::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = run_closure(closure);
  if (skip_step()) return loss;
  for (OptimizerParamGroup& group : param_groups_) {
    const auto& o = static_cast<const RpropOptions&>(group.options());
    OptimStepArgs args = base_args(OptimRule::kRprop, o, inverse_scale_);
    std::tie(args.beta1, args.beta2) = o.etas();
    std::tie(args.smallest, args.largest) = o.step_sizes();
    FusedStep fused(args);
    for_each_gradient(group, [&](const Tensor& p, const Tensor& grad) {
      auto& s = state_of<RpropParamState>(p);
      if (!s.prev().defined()) {
        s.prev(make_state(p));
        s.step_size(make_state(p, o.lr()));
      }
      s.step(s.step() + 1);
      fused.add(p, grad, {s.prev(), s.step_size()});
    });
    fused.run();
  }
  return loss;
}

ASGDOptions::ASGDOptions(double lr) : lr_(lr) {}
bool operator==(const ASGDOptions& a, const ASGDOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.lambd(), b.lambd()) && detail::same(a.alpha(), b.alpha()) &&
         detail::same(a.t0(), b.t0()) && detail::same(a.weight_decay(), b.weight_decay()) &&
         detail::same(a.maximize(), b.maximize());
}
bool operator==(const ASGDParamState& a, const ASGDParamState& b) {
  return detail::same(a.step(), b.step()) && detail::same(a.eta(), b.eta()) && detail::same(a.mu(), b.mu()) &&
         detail::same(a.ax(), b.ax());
}
ASGD::ASGD(std::vector<Tensor> params, ASGDOptions defaults)
    : ASGD({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
std::string ASGD::type_name() const { return "ASGD"; }
std::unique_ptr<OptimizerParamState> ASGD::new_state() const { return std::make_unique<ASGDParamState>(); }

ASGD::ASGD(const std::vector<OptimizerParamGroup>& param_groups, ASGDOptions defaults)
    : Optimizer(param_groups, std::make_unique<ASGDOptions>(defaults)) {
  check_at_least_zero("ASGD", "learning rate", defaults.lr());
  check_at_least_zero("ASGD", "weight_decay", defaults.weight_decay());
}

Tensor ASGD::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = run_closure(closure);
  if (skip_step()) return loss;
  for (OptimizerParamGroup& group : param_groups_) {
    const auto& o = static_cast<const ASGDOptions&>(group.options());
    OptimStepArgs args = base_args(OptimRule::kAsgd, o, inverse_scale_);
    args.dampening = o.lambd();
    FusedStep fused(args);
    for_each_gradient(group, [&](const Tensor& p, const Tensor& grad) {
      auto& s = state_of<ASGDParamState>(p);
      if (!s.ax().defined()) {
        s.ax(make_state(p));
        s.eta(as_float32(o.lr()));
      }
      s.step(s.step() + 1);
      const auto t = static_cast<double>(s.step());
      fused.add(p, grad, {s.ax()}, s.eta(), 1, false, s.mu());
      s.eta(as_float32(o.lr() / std::pow(1 + o.lambd() * o.lr() * t, o.alpha())));
      s.mu(as_float32(1 / std::max(1.0, t - o.t0())));
    });
    fused.run();
  }
  return loss;
}

}  // namespace taeda::optim
