// SPDX-License-Identifier: Apache-2.0
// What the steps of the optimizers share: checks of options, the closure, the walk over gradients, fused arguments.
#pragma once

#include "taeda/autograd/grad_mode.h"
#include "taeda/optim/fused.h"
#include "taeda/optim/optimizer.h"

namespace taeda::optim::detail {

inline void check_at_least_zero(const char* optimizer, const char* option, double value) {
  TAEDA_CHECK(value >= 0, "[", optimizer, "] Invalid ", option, " value: ", value, "; it must be 0 or more");
}
inline void check_beta(const char* optimizer, const char* option, double value) {
  TAEDA_CHECK(value >= 0 && value < 1, "[", optimizer, "] Invalid ", option, " parameter: ", value, "; it must be in [0, 1)");
}

inline Tensor run_closure(const Optimizer::LossClosure& closure) {
  if (!closure) return {};
  const AutoGradMode with_grad(true);
  return closure();
}

/// Calls `f(param, grad)` for each parameter that has a gradient.
template <class F>
void for_each_gradient(OptimizerParamGroup& group, const F& f) {
  for (Tensor& p : group.params()) {
    const Tensor& grad = p.grad();
    if (grad.defined()) f(p, grad);
  }
}

/// The steps of all groups by `rule`. `state_of(options, p, first)`: the state of a parameter with its tensors made, or null where none is
/// kept; sets `first` at a parameter's first step.
template <class StateOf>
void step_groups(Optimizer& optimizer, const HostRule& rule, double inverse_scale, const StateOf& state_of) {
  for (size_t g = 0; g < optimizer.param_groups().size(); ++g) {
    OptimizerParamGroup& group = optimizer.param_groups()[g];
    FusedStep fused(optimizer, g, rule, inverse_scale);
    StepMemo memo;
    for_each_gradient(group, [&](const Tensor& p, const Tensor& grad) {
      OptimTensor n{};
      OptimizerParamState* state = state_of(group.options(), p, n.first);
      std::array<const Tensor*, 3> tensors{};
      if (state) {
        rule.advance(group.options(), *state, n, memo);
        tensors = rule.tensors(group.options(), *state);
      }
      const auto at = [&](size_t k) { return tensors[k] ? *tensors[k] : Tensor(); };
      fused.add(p, grad, {at(0), at(1), at(2)}, n.step_size, n.bias2_sqrt, n.first, n.second_step);
    });
    fused.run();
  }
}

template <class Options>
OptimStepArgs base_args(OptimRule rule, const Options& o, double inverse_scale) {
  OptimStepArgs args{};
  args.rule = rule;
  args.lr = o.lr();
  if constexpr (requires { o.weight_decay(); }) args.weight_decay = o.weight_decay();
  args.maximize = o.maximize();
  args.inverse_scale = inverse_scale;
  return args;
}

}  // namespace taeda::optim::detail
