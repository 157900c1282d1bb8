// SPDX-License-Identifier: Apache-2.0
// The base of the schedules, and those that are functions or recurrences of the step.
#include "taeda/optim/schedulers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "taeda/core/host_watch.h"
#include "taeda/io/archive.h"

namespace taeda::optim {

namespace {

constexpr double kPi = std::numbers::pi;

/// The momentum of a group: its `momentum`, or the first of its `betas`.
void set_momentum(OptimizerOptions& options, double momentum) {
  for (const auto& [name, value] : options.fields()) {
    if (name != "betas" && name != "momentum") continue;
    const Value changed = name == "momentum" ? Value(momentum) : Value(Value::List{Value(momentum), value.list().at(1)});
    const std::string field = name;
    options.set_fields([&](const std::string& asked) { return asked == field ? &changed : nullptr; });
    return;
  }
}

template <class F>
std::vector<double> times(std::vector<double> lrs, F factor) {
  for (double& lr : lrs) lr *= factor;
  return lrs;
}

}  // namespace

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (OptimizerParamGroup& group : optimizer.param_groups()) {
    if (!group.initial_lr()) group.initial_lr() = group.options().get_lr();
    base_lrs_.push_back(*group.initial_lr());
  }
}
LRScheduler::~LRScheduler() = default;

void LRScheduler::step() {
  taeda::detail::refuse_replay("a scheduler's step sets learning rates");
  if (has_begun_) ++step_count_;
  set_lrs(get_lrs());
  if (!has_begun_) ++step_count_;
}

void LRScheduler::begin() {
  has_begun_ = true;
  set_lrs(get_lrs());
}

void LRScheduler::restart() {
  taeda::detail::refuse_replay("a scheduler starts anew");
  step_count_ = 0;
  set_lrs(base_lrs_);
  if (has_begun_) begin();
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> lrs;
  lrs.reserve(optimizer_.param_groups().size());
  for (const OptimizerParamGroup& group : optimizer_.param_groups()) lrs.push_back(group.options().get_lr());
  return lrs;
}

void LRScheduler::set_lrs(const std::vector<double>& lrs) {
  auto& groups = optimizer_.param_groups();
  TAEDA_CHECK_VALUE(lrs.size() == groups.size(), "[LRScheduler] there must be one rate for each parameter group: got ", lrs.size(),
                    " for ", groups.size(), " groups; make the scheduler after the groups");
  for (size_t i = 0; i < lrs.size(); ++i) groups[i].options().set_lr(lrs[i]);
}

std::vector<double> LRScheduler::per_group(const std::vector<double>& values, const char* name) const {
  const size_t groups = base_lrs_.size();
  if (values.size() == 1) return std::vector<double>(groups, values[0]);
  TAEDA_CHECK_VALUE(values.size() == groups, "[LRScheduler] ", name, " must hold one value, or one for each of the ", groups,
                    " parameter groups: got ", values.size(), "; give either");
  return values;
}

void LRScheduler::save(serialize::OutputArchive& archive) const {
  archive.write("step_count", Value(step_count_));
  archive.write("base_lrs", Value(base_lrs_));
  archive.write("last_lrs", Value(get_current_lrs()));
  for (const auto& [name, number] : const_cast<LRScheduler*>(this)->numbers()) archive.write(name, Value(*number));
}

void LRScheduler::load(serialize::InputArchive& archive) {
  Value count, base, last;
  archive.read("step_count", count);
  archive.read("base_lrs", base);
  archive.read("last_lrs", last);
  TAEDA_CHECK_IO(base.list().size() == base_lrs_.size(), "[load] ", archive.where(), ": the schedule was saved for ",
                 base.list().size(), " parameter groups: there are ", base_lrs_.size(), "; make the same groups");
  step_count_ = count.to_int();
  base_lrs_ = base.double_list();
  for (size_t i = 0; i < base_lrs_.size(); ++i) optimizer_.param_groups()[i].initial_lr() = base_lrs_[i];
  for (const auto& [name, number] : numbers()) {
    Value value;
    archive.read(name, value);
    *number = value.to_double();
  }
  set_lrs(last.double_list());
}

StepLR::StepLR(Optimizer& optimizer, unsigned step_size, double gamma) : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  TAEDA_CHECK_VALUE(step_size > 0, "[StepLR] step_size must be positive: got 0; give the steps between two reductions");
  begin();
}
std::vector<double> StepLR::get_lrs() {
  const bool now = step_count_ > 0 && step_count_ % step_size_ == 0;
  return times(get_current_lrs(), now ? gamma_ : 1.0);
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : LRScheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  begin();
}
std::vector<double> MultiStepLR::get_lrs() {
  const auto hits = std::count(milestones_.begin(), milestones_.end(), step_count_);
  return times(get_current_lrs(), hits ? std::pow(gamma_, static_cast<double>(hits)) : 1.0);
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma) : LRScheduler(optimizer), gamma_(gamma) { begin(); }
std::vector<double> ExponentialLR::get_lrs() { return times(get_current_lrs(), step_count_ ? gamma_ : 1.0); }

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min)
    : LRScheduler(optimizer), T_max_(T_max), eta_min_(eta_min) {
  TAEDA_CHECK_VALUE(T_max > 0, "[CosineAnnealingLR] T_max must be positive: got ", T_max, "; give the steps from the highest rate to the lowest");
  begin();
}
std::vector<double> CosineAnnealingLR::get_lrs() {
  std::vector<double> lrs = get_current_lrs();
  if (step_count_ == 0) return lrs;
  const auto t = static_cast<double>(T_max_);
  const auto n = static_cast<double>(step_count_);
  const bool turning = (step_count_ - 1 - T_max_) % (2 * T_max_) == 0;
  for (size_t i = 0; i < lrs.size(); ++i) {
    if (turning) lrs[i] += (base_lrs_[i] - eta_min_) * (1 - std::cos(kPi / t)) / 2;
    else lrs[i] = (1 + std::cos(kPi * n / t)) / (1 + std::cos(kPi * (n - 1) / t)) * (lrs[i] - eta_min_) + eta_min_;
  }
  return lrs;
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult, double eta_min)
    : LRScheduler(optimizer), t_0_(static_cast<double>(T_0)), t_mult_(static_cast<double>(T_mult)), eta_min_(eta_min), t_i_(t_0_) {
  TAEDA_CHECK_VALUE(T_0 > 0 && T_mult > 0, "[CosineAnnealingWarmRestarts] T_0 and T_mult must be positive: got ", T_0, " and ", T_mult,
                    "; give the length of the first period and its growth");
  begin();
}
void CosineAnnealingWarmRestarts::step() {
  if (++t_cur_ >= t_i_) {
    t_cur_ -= t_i_;
    t_i_ *= t_mult_;
  }
  LRScheduler::step();
}
void CosineAnnealingWarmRestarts::restart() {
  t_cur_ = 0;
  t_i_ = t_0_;
  LRScheduler::restart();
}
std::vector<double> CosineAnnealingWarmRestarts::get_lrs() {
  std::vector<double> lrs = base_lrs_;
  for (double& lr : lrs) lr = eta_min_ + (lr - eta_min_) * (1 + std::cos(kPi * t_cur_ / t_i_)) / 2;
  return lrs;
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, OneCycleOptions options) : LRScheduler(optimizer), options_(std::move(options)) {
  TAEDA_CHECK_VALUE(options_.total_steps > 0, "[OneCycleLR] total_steps must be positive: got ", options_.total_steps,
                    "; give the number of steps of the whole run");
  TAEDA_CHECK_VALUE(options_.pct_start >= 0 && options_.pct_start <= 1, "[OneCycleLR] pct_start must be in [0, 1]: got ",
                    options_.pct_start, "; give the part of the steps in which the rate rises");
  max_lrs_ = per_group(options_.max_lr, "max_lr");
  for (size_t i = 0; i < base_lrs_.size(); ++i) {
    base_lrs_[i] = max_lrs_[i] / options_.div_factor;
    optimizer_.param_groups()[i].initial_lr() = base_lrs_[i];
  }
  begin();
}
OneCycleLR::OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps)
    : OneCycleLR(optimizer, OneCycleOptions{.max_lr = {max_lr}, .total_steps = total_steps}) {}

std::vector<double> OneCycleLR::get_lrs() {
  const OneCycleOptions& o = options_;
  const auto total = static_cast<double>(o.total_steps);
  const auto n = static_cast<double>(step_count_);
  TAEDA_CHECK_VALUE(step_count_ <= o.total_steps, "[OneCycleLR] the schedule has ", o.total_steps, " steps: step ", step_count_,
                    " was asked for; give the number of steps of the whole run");
  // Ends of the phases, and the place on the way: 0 the first rate, 1 the highest, 2 the last.
  const double ends[] = {o.pct_start * total - 1, o.three_phase ? 2 * o.pct_start * total - 2 : total - 1, total - 1};
  const int phases = o.three_phase ? 3 : 2;
  int phase = 0;
  while (phase + 1 < phases && n > ends[phase]) ++phase;
  const double start = phase ? ends[phase - 1] : 0;
  const double part = ends[phase] > start ? (n - start) / (ends[phase] - start) : 1;  // a phase without steps is over
  const auto anneal = [&](double from, double to) {
    if (o.anneal_strategy == Anneal::kLinear) return (to - from) * part + from;
    return to + (from - to) / 2 * (std::cos(kPi * part) + 1);
  };
  std::vector<double> lrs(base_lrs_.size());
  for (size_t i = 0; i < lrs.size(); ++i) {
    const double first = max_lrs_[i] / o.div_factor;
    const double last = first / o.final_div_factor;
    if (phase == 0) lrs[i] = anneal(first, max_lrs_[i]);
    else if (phase == 1) lrs[i] = anneal(max_lrs_[i], o.three_phase ? first : last);
    else lrs[i] = anneal(first, last);
  }
  if (o.cycle_momentum) {
    const double momentum = phase == 0   ? anneal(o.max_momentum, o.base_momentum)
                            : phase == 1 ? anneal(o.base_momentum, o.max_momentum)
                                         : anneal(o.max_momentum, o.max_momentum);
    for (OptimizerParamGroup& group : optimizer_.param_groups()) set_momentum(group.options(), momentum);
  }
  return lrs;
}

CyclicLR::CyclicLR(Optimizer& optimizer, CyclicOptions options) : LRScheduler(optimizer), options_(std::move(options)) {
  TAEDA_CHECK_VALUE(options_.step_size_up > 0 && options_.step_size_down >= 0,
                    "[CyclicLR] step_size_up must be positive: got ", options_.step_size_up, "; give the steps of half a cycle");
  if (options_.step_size_down == 0) options_.step_size_down = options_.step_size_up;
  base_lrs_ = per_group(options_.base_lr, "base_lr");
  max_lrs_ = per_group(options_.max_lr, "max_lr");
  for (size_t i = 0; i < base_lrs_.size(); ++i) optimizer_.param_groups()[i].initial_lr() = base_lrs_[i];
  begin();
}
double CyclicLR::scale(double cycle) const {
  switch (options_.mode) {
    case CyclicMode::kTriangular: return 1;
    case CyclicMode::kTriangular2: return std::pow(2.0, 1 - cycle);
    case CyclicMode::kExpRange: return std::pow(options_.gamma, static_cast<double>(step_count_));
  }
  return 1;
}
std::vector<double> CyclicLR::get_lrs() {
  const CyclicOptions& o = options_;
  const double total = o.step_size_up + o.step_size_down;
  const double ratio = o.step_size_up / total;
  const double at = static_cast<double>(step_count_) / total;
  const double cycle = std::floor(1 + at);
  const double x = 1 + at - cycle;
  const double height = x <= ratio ? x / ratio : (x - 1) / (ratio - 1);
  std::vector<double> lrs = base_lrs_;
  for (size_t i = 0; i < lrs.size(); ++i) lrs[i] += (max_lrs_[i] - lrs[i]) * height * scale(cycle);
  if (o.cycle_momentum) {
    const double momentum = o.max_momentum - (o.max_momentum - o.base_momentum) * height * scale(cycle);
    for (OptimizerParamGroup& group : optimizer_.param_groups()) set_momentum(group.options(), momentum);
  }
  return lrs;
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, int64_t total_iters)
    : LRScheduler(optimizer), start_(start_factor), end_(end_factor), total_(total_iters) {
  TAEDA_CHECK_VALUE(start_factor > 0 && start_factor <= 1, "[LinearLR] start_factor must be in (0, 1]: got ", start_factor,
                    "; give a small positive factor");
  begin();
}
std::vector<double> LinearLR::get_lrs() {
  if (step_count_ == 0) return times(get_current_lrs(), start_);
  if (step_count_ > total_) return get_current_lrs();
  const double before = static_cast<double>(total_) * start_ + static_cast<double>(step_count_ - 1) * (end_ - start_);
  return times(get_current_lrs(), 1 + (end_ - start_) / before);
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, int64_t total_iters)
    : LRScheduler(optimizer), factor_(factor), total_(total_iters) {
  TAEDA_CHECK_VALUE(factor > 0, "[ConstantLR] the factor must be positive: got ", factor, "; give one in (0, 1]");
  begin();
}
std::vector<double> ConstantLR::get_lrs() {
  return times(get_current_lrs(), step_count_ == 0 ? factor_ : step_count_ == total_ ? 1 / factor_ : 1.0);
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total_iters, double power)
    : LRScheduler(optimizer), total_(total_iters), power_(power) {
  begin();
}
std::vector<double> PolynomialLR::get_lrs() {
  if (step_count_ == 0 || step_count_ > total_) return get_current_lrs();
  const auto total = static_cast<double>(total_);
  const auto n = static_cast<double>(step_count_);
  return times(get_current_lrs(), std::pow((1 - n / total) / (1 - (n - 1) / total), power_));
}

namespace {
void check_lambdas(const std::vector<LRLambda>& lambdas, size_t groups, const char* who) {
  TAEDA_CHECK_VALUE(lambdas.size() == 1 || lambdas.size() == groups, "[", who, "] there must be one function, or one for each of the ",
                    groups, " parameter groups: got ", lambdas.size(), "; give either");
}
}  // namespace

LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambdas) : LRScheduler(optimizer), lambdas_(std::move(lr_lambdas)) {
  check_lambdas(lambdas_, base_lrs_.size(), "LambdaLR");
  begin();
}
std::vector<double> LambdaLR::get_lrs() {
  std::vector<double> lrs = base_lrs_;
  for (size_t i = 0; i < lrs.size(); ++i) lrs[i] *= lambdas_[lambdas_.size() == 1 ? 0 : i](step_count_);
  return lrs;
}

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambdas)
    : LRScheduler(optimizer), lambdas_(std::move(lr_lambdas)) {
  check_lambdas(lambdas_, base_lrs_.size(), "MultiplicativeLR");
  begin();
}
void MultiplicativeLR::restart() { step_count_ = 0; }
std::vector<double> MultiplicativeLR::get_lrs() {
  std::vector<double> lrs = get_current_lrs();
  if (step_count_ == 0) return lrs;
  for (size_t i = 0; i < lrs.size(); ++i) lrs[i] *= lambdas_[lambdas_.size() == 1 ? 0 : i](step_count_);
  return lrs;
}

}  // namespace taeda::optim
