// SPDX-License-Identifier: Apache-2.0
// Steps of SGD, Adam, AdamW, RMSprop and Adagrad: options are checked, states are made, and one fused pass does the rest.
#include <cmath>
#include <memory>

#include "taeda/autograd/grad_mode.h"
#include "taeda/optim/adagrad.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/rmsprop.h"
#include "taeda/optim/sgd.h"
#include "taeda/optim/step_detail.h"

namespace taeda::optim {

using namespace detail;  // NOLINT(google-build-using-namespace)

namespace {

template <class Options>
void check_adam(const char* name, const Options& o) {
  check_at_least_zero(name, "learning rate", o.lr());
  check_at_least_zero(name, "epsilon", o.eps());
  check_beta(name, "beta at index 0", std::get<0>(o.betas()));
  check_beta(name, "beta at index 1", std::get<1>(o.betas()));
  check_at_least_zero(name, "weight_decay", o.weight_decay());
}

template <class T>
const T& as(const OptimizerOptions& o) {
  return static_cast<const T&>(o);
}
template <class T>
const T& as(const OptimizerParamState& s) {
  return static_cast<const T&>(s);
}
template <class T>
T& as(OptimizerParamState& s) {
  return static_cast<T&>(s);
}
void advance_nothing(const OptimizerOptions&, OptimizerParamState&, OptimTensor&, StepMemo&) {}

const HostRule kSgd{
    [](const OptimizerOptions& options, double inverse_scale) {
      const auto& o = as<SGDOptions>(options);
      OptimStepArgs args = base_args(OptimRule::kSgd, o, inverse_scale);
      args.beta1 = o.momentum();
      args.dampening = o.dampening();
      args.nesterov = o.nesterov();
      return args;
    },
    advance_nothing,
    [](const OptimizerOptions&, const OptimizerParamState& s) {
      return std::array<const Tensor*, 3>{&as<SGDParamState>(s).momentum_buffer()};
    }};

/// Adam, or with `decoupled` weight decay AdamW.
template <class Options, class State, bool decoupled>
const HostRule kAdam{
    [](const OptimizerOptions& options, double inverse_scale) {
      const auto& o = as<Options>(options);
      OptimStepArgs args = base_args(OptimRule::kAdam, o, inverse_scale);
      std::tie(args.beta1, args.beta2) = o.betas();
      args.eps = o.eps();
      args.amsgrad = o.amsgrad();
      args.decoupled = decoupled;
      return args;
    },
    [](const OptimizerOptions& options, OptimizerParamState& state, OptimTensor& n, StepMemo& memo) {
      const auto& o = as<Options>(options);
      auto& s = as<State>(state);
      s.step(s.step() + 1);
      if (s.step() != memo.steps) {
        const auto t = static_cast<double>(s.step());
        memo = {s.step(), o.lr() / (1 - std::pow(std::get<0>(o.betas()), t)), std::sqrt(1 - std::pow(std::get<1>(o.betas()), t))};
      }
      n.step_size = memo.step_size;
      n.bias2_sqrt = memo.bias2_sqrt;
    },
    [](const OptimizerOptions& options, const OptimizerParamState& state) {
      const auto& s = as<State>(state);
      return std::array<const Tensor*, 3>{&s.exp_avg(), &s.exp_avg_sq(), as<Options>(options).amsgrad() ? &s.max_exp_avg_sq() : nullptr};
    }};

template <class Options, class State>
OptimizerParamState* with_tensors(const OptimizerOptions& options, const Tensor& p, State& s) {
  if (!s.exp_avg().defined()) {
    s.exp_avg(make_state(p));
    s.exp_avg_sq(make_state(p));
  }
  if (as<Options>(options).amsgrad() && !s.max_exp_avg_sq().defined()) s.max_exp_avg_sq(make_state(p));
  return &s;
}

const HostRule kRmsprop{
    [](const OptimizerOptions& options, double inverse_scale) {
      const auto& o = as<RMSpropOptions>(options);
      OptimStepArgs args = base_args(OptimRule::kRmsprop, o, inverse_scale);
      args.beta1 = o.momentum();
      args.beta2 = o.alpha();
      args.eps = o.eps();
      args.centered = o.centered();
      return args;
    },
    [](const OptimizerOptions&, OptimizerParamState& state, OptimTensor&, StepMemo&) {
      auto& s = as<RMSpropParamState>(state);
      s.step(s.step() + 1);
    },
    [](const OptimizerOptions& options, const OptimizerParamState& state) {
      const auto& o = as<RMSpropOptions>(options);
      const auto& s = as<RMSpropParamState>(state);
      return std::array<const Tensor*, 3>{&s.square_avg(), o.momentum() > 0 ? &s.momentum_buffer() : nullptr,
                                          o.centered() ? &s.grad_avg() : nullptr};
    }};

const HostRule kAdagrad{
    [](const OptimizerOptions& options, double inverse_scale) {
      const auto& o = as<AdagradOptions>(options);
      OptimStepArgs args = base_args(OptimRule::kAdagrad, o, inverse_scale);
      args.eps = o.eps();
      return args;
    },
    [](const OptimizerOptions& options, OptimizerParamState& state, OptimTensor& n, StepMemo&) {
      const auto& o = as<AdagradOptions>(options);
      auto& s = as<AdagradParamState>(state);
      s.step(s.step() + 1);
      n.step_size = o.lr() / (1 + static_cast<double>(s.step() - 1) * o.lr_decay());
    },
    [](const OptimizerOptions&, const OptimizerParamState& s) { return std::array<const Tensor*, 3>{&as<AdagradParamState>(s).sum()}; },
    [](const OptimizerOptions& options) { return as<AdagradOptions>(options).lr_decay(); }};

}  // namespace

SGD::SGD(const std::vector<OptimizerParamGroup>& param_groups, SGDOptions defaults)
    : Optimizer(param_groups, std::make_unique<SGDOptions>(defaults)) {
  check_at_least_zero("SGD", "learning rate", defaults.lr());
  check_at_least_zero("SGD", "momentum", defaults.momentum());
  check_at_least_zero("SGD", "weight_decay", defaults.weight_decay());
  TAEDA_CHECK(!defaults.nesterov() || (defaults.momentum() > 0 && defaults.dampening() == 0),
              "[SGD] Nesterov momentum requires a momentum and zero dampening: got momentum ", defaults.momentum(),
              ", dampening ", defaults.dampening(), "; set them so");
}

Tensor SGD::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = run_closure(closure);
  if (skip_step()) return loss;
  step_groups(*this, kSgd, inverse_scale_, [this](const OptimizerOptions& o, const Tensor& p, bool& first) -> OptimizerParamState* {
    if (as<SGDOptions>(o).momentum() == 0) return nullptr;
    auto& s = state_of<SGDParamState>(p);
    first = !s.momentum_buffer().defined();
    if (first) s.momentum_buffer(make_state(p));
    return &s;
  });
  return loss;
}

Adam::Adam(const std::vector<OptimizerParamGroup>& param_groups, AdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamOptions>(defaults)) {
  check_adam("Adam", defaults);
}
Tensor Adam::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = run_closure(closure);
  if (skip_step()) return loss;
  step_groups(*this, kAdam<AdamOptions, AdamParamState, false>, inverse_scale_, [this](const OptimizerOptions& o, const Tensor& p, bool&) {
    return with_tensors<AdamOptions>(o, p, state_of<AdamParamState>(p));
  });
  return loss;
}

AdamW::AdamW(const std::vector<OptimizerParamGroup>& param_groups, AdamWOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamWOptions>(defaults)) {
  check_adam("AdamW", defaults);
}
Tensor AdamW::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = run_closure(closure);
  if (skip_step()) return loss;
  step_groups(*this, kAdam<AdamWOptions, AdamWParamState, true>, inverse_scale_, [this](const OptimizerOptions& o, const Tensor& p, bool&) {
    return with_tensors<AdamWOptions>(o, p, state_of<AdamWParamState>(p));
  });
  return loss;
}

RMSprop::RMSprop(const std::vector<OptimizerParamGroup>& param_groups, RMSpropOptions defaults)
    : Optimizer(param_groups, std::make_unique<RMSpropOptions>(defaults)) {
  check_at_least_zero("RMSprop", "learning rate", defaults.lr());
  check_at_least_zero("RMSprop", "epsilon", defaults.eps());
  check_at_least_zero("RMSprop", "momentum", defaults.momentum());
  check_at_least_zero("RMSprop", "weight_decay", defaults.weight_decay());
  check_at_least_zero("RMSprop", "alpha", defaults.alpha());
}
Tensor RMSprop::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = run_closure(closure);
  if (skip_step()) return loss;
  step_groups(*this, kRmsprop, inverse_scale_, [this](const OptimizerOptions& options, const Tensor& p, bool&) {
    const auto& o = as<RMSpropOptions>(options);
    auto& s = state_of<RMSpropParamState>(p);
    if (!s.square_avg().defined()) s.square_avg(make_state(p));
    if (o.momentum() > 0 && !s.momentum_buffer().defined()) s.momentum_buffer(make_state(p));
    if (o.centered() && !s.grad_avg().defined()) s.grad_avg(make_state(p));
    return &s;
  });
  return loss;
}

Adagrad::Adagrad(const std::vector<OptimizerParamGroup>& param_groups, AdagradOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdagradOptions>(defaults)) {
  check_at_least_zero("Adagrad", "learning rate", defaults.lr());
  check_at_least_zero("Adagrad", "lr_decay", defaults.lr_decay());
  check_at_least_zero("Adagrad", "weight_decay", defaults.weight_decay());
  check_at_least_zero("Adagrad", "initial_accumulator_value", defaults.initial_accumulator_value());
  check_at_least_zero("Adagrad", "epsilon", defaults.eps());
  for (const OptimizerParamGroup& group : param_groups_) {
    for (const Tensor& p : group.params()) {
      state_of<AdagradParamState>(p).sum(make_state(p, as<AdagradOptions>(group.options()).initial_accumulator_value()));
    }
  }
}
Tensor Adagrad::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = run_closure(closure);
  if (skip_step()) return loss;
  step_groups(*this, kAdagrad, inverse_scale_, [this](const OptimizerOptions& o, const Tensor& p, bool&) {
    auto& s = state_of<AdagradParamState>(p);
    if (!s.sum().defined()) s.sum(make_state(p, as<AdagradOptions>(o).initial_accumulator_value()));
    return &s;
  });
  return loss;
}

// What the headers only declare: defined there, each would be compiled in every program.
SGDOptions::SGDOptions(double lr) : lr_(lr) {}
bool operator==(const SGDOptions& a, const SGDOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.momentum(), b.momentum()) &&
         detail::same(a.dampening(), b.dampening()) && detail::same(a.weight_decay(), b.weight_decay()) &&
         detail::same(a.nesterov(), b.nesterov()) && detail::same(a.maximize(), b.maximize());
}
bool operator==(const SGDParamState& a, const SGDParamState& b) {
  return detail::same(a.momentum_buffer(), b.momentum_buffer());
}
SGD::SGD(std::vector<Tensor> params, SGDOptions defaults)
    : SGD({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
std::string SGD::type_name() const { return "SGD"; }
std::unique_ptr<OptimizerParamState> SGD::new_state() const { return std::make_unique<SGDParamState>(); }
AdamOptions::AdamOptions(double lr) : lr_(lr) {}
AdamWOptions::AdamWOptions(double lr) : lr_(lr) {}
bool operator==(const AdamOptions& a, const AdamOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.betas(), b.betas()) && detail::same(a.eps(), b.eps()) &&
         detail::same(a.weight_decay(), b.weight_decay()) && detail::same(a.amsgrad(), b.amsgrad()) &&
         detail::same(a.maximize(), b.maximize());
}
bool operator==(const AdamParamState& a, const AdamParamState& b) {
  return detail::same(a.step(), b.step()) && detail::same(a.exp_avg(), b.exp_avg()) &&
         detail::same(a.exp_avg_sq(), b.exp_avg_sq()) && detail::same(a.max_exp_avg_sq(), b.max_exp_avg_sq());
}
bool operator==(const AdamWOptions& a, const AdamWOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.betas(), b.betas()) && detail::same(a.eps(), b.eps()) &&
         detail::same(a.weight_decay(), b.weight_decay()) && detail::same(a.amsgrad(), b.amsgrad()) &&
         detail::same(a.maximize(), b.maximize());
}
bool operator==(const AdamWParamState& a, const AdamWParamState& b) {
  return detail::same(a.step(), b.step()) && detail::same(a.exp_avg(), b.exp_avg()) &&
         detail::same(a.exp_avg_sq(), b.exp_avg_sq()) && detail::same(a.max_exp_avg_sq(), b.max_exp_avg_sq());
}
Adam::Adam(std::vector<Tensor> params, AdamOptions defaults)
    : Adam({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
AdamW::AdamW(std::vector<Tensor> params, AdamWOptions defaults)
    : AdamW({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
std::string Adam::type_name() const { return "Adam"; }
std::unique_ptr<OptimizerParamState> Adam::new_state() const { return std::make_unique<AdamParamState>(); }
std::string AdamW::type_name() const { return "AdamW"; }
std::unique_ptr<OptimizerParamState> AdamW::new_state() const { return std::make_unique<AdamWParamState>(); }
RMSpropOptions::RMSpropOptions(double lr) : lr_(lr) {}
bool operator==(const RMSpropOptions& a, const RMSpropOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.alpha(), b.alpha()) && detail::same(a.eps(), b.eps()) &&
         detail::same(a.weight_decay(), b.weight_decay()) && detail::same(a.momentum(), b.momentum()) &&
         detail::same(a.centered(), b.centered()) && detail::same(a.maximize(), b.maximize());
}
bool operator==(const RMSpropParamState& a, const RMSpropParamState& b) {
  return detail::same(a.step(), b.step()) && detail::same(a.square_avg(), b.square_avg()) &&
         detail::same(a.momentum_buffer(), b.momentum_buffer()) && detail::same(a.grad_avg(), b.grad_avg());
}
RMSprop::RMSprop(std::vector<Tensor> params, RMSpropOptions defaults)
    : RMSprop({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
std::string RMSprop::type_name() const { return "RMSprop"; }
std::unique_ptr<OptimizerParamState> RMSprop::new_state() const { return std::make_unique<RMSpropParamState>(); }
AdagradOptions::AdagradOptions(double lr) : lr_(lr) {}
bool operator==(const AdagradOptions& a, const AdagradOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.lr_decay(), b.lr_decay()) &&
         detail::same(a.weight_decay(), b.weight_decay()) &&
         detail::same(a.initial_accumulator_value(), b.initial_accumulator_value()) && detail::same(a.eps(), b.eps()) &&
         detail::same(a.maximize(), b.maximize());
}
bool operator==(const AdagradParamState& a, const AdagradParamState& b) {
  return detail::same(a.sum(), b.sum()) && detail::same(a.step(), b.step());
}
Adagrad::Adagrad(std::vector<Tensor> params, AdagradOptions defaults)
    : Adagrad({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
std::string Adagrad::type_name() const { return "Adagrad"; }
std::unique_ptr<OptimizerParamState> Adagrad::new_state() const { return std::make_unique<AdagradParamState>(); }

}  // namespace taeda::optim
