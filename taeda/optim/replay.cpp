// SPDX-License-Identifier: Apache-2.0
// Checks and numbers of replayed optimizer steps.
#include "taeda/optim/replay.h"

namespace taeda::optim {

std::array<double, kStepOptions> step_options(const OptimStepArgs& a) {
  return {a.lr, a.weight_decay, a.eps, a.beta1, a.beta2, a.dampening, a.smallest, a.largest, a.inverse_scale};
}

uint64_t step_switches(const OptimStepArgs& a) {
  // A momentum that is not zero has a buffer.
  return static_cast<uint64_t>(a.nesterov | a.amsgrad << 1 | a.decoupled << 2 | a.centered << 3 | a.maximize << 4 | (a.beta1 != 0) << 5);
}

namespace {
std::array<const TensorImpl*, 3> impls(const std::array<const Tensor*, 3>& tensors) {
  std::array<const TensorImpl*, 3> all{};
  for (size_t k = 0; k < 3; ++k) all[k] = tensors[k] ? tensors[k]->unsafeGetTensorImpl() : nullptr;
  return all;
}
}  // namespace

StepSource::StepSource(Optimizer& optimizer, size_t group, const HostRule& rule) : optimizer_(&optimizer), group_(group), rule_(&rule) {
  for (const Tensor& p : optimizer.param_groups_[group].params()) all_.push_back(p.unsafeGetTensorImpl());
  switches_ = step_switches(rule.args(*options(), optimizer.inverse_scale_));
}

void StepSource::add(const TensorImpl* parameter, bool has_state) {
  Parameter& p = parameters_.emplace_back(Parameter{parameter, nullptr, {}});
  if (!has_state) return;
  p.state = optimizer_->state_.at(const_cast<TensorImpl*>(parameter)).get();
  p.tensors = impls(rule_->tensors(*options(), *p.state));
}

const OptimizerOptions* StepSource::options() const {
  const auto& groups = optimizer_->param_groups_;
  return group_ < groups.size() && groups[group_].has_options() ? &groups[group_].options() : nullptr;
}

bool StepSource::is_unchanged() {
  const OptimizerOptions* o = options();
  if (!o || optimizer_->found_inf_) return false;
  const std::vector<Tensor>& now = optimizer_->param_groups_[group_].params();
  if (now.size() != all_.size() || step_switches(rule_->args(*o, 1)) != switches_) return false;
  for (size_t i = 0; i < all_.size(); ++i) {
    if (now[i].unsafeGetTensorImpl() != all_[i]) return false;
  }
  for (Parameter& p : parameters_) {
    if (!p.state) continue;
    const auto at = optimizer_->state_.find(const_cast<TensorImpl*>(p.tensor));
    if (at == optimizer_->state_.end() || !at->second) return false;
    p.state = at->second.get();
    if (impls(rule_->tensors(*o, *p.state)) != p.tensors) return false;
  }
  return true;
}

std::vector<double> StepSource::settings() const {
  const OptimizerOptions* o = options();
  if (!o) return {};
  const OptimStepArgs args = rule_->args(*o, optimizer_->inverse_scale_);
  const auto shared = step_options(args);
  std::vector<double> all(shared.begin(), shared.end());
  all.push_back(static_cast<double>(step_switches(args)));
  if (rule_->further) all.push_back(rule_->further(*o));
  return all;
}

void StepSource::refresh(Scalar* numbers) {
  const OptimizerOptions& o = *options();
  for (const double option : step_options(rule_->args(o, optimizer_->inverse_scale_))) *numbers++ = option;
  StepMemo memo;
  for (const Parameter& p : parameters_) {
    OptimTensor slice{};
    if (p.state) rule_->advance(o, *p.state, slice, memo);
    *numbers++ = slice.step_size;
    *numbers++ = slice.bias2_sqrt;
    *numbers++ = slice.second_step;
  }
}

}  // namespace taeda::optim
