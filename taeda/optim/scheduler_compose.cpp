// SPDX-License-Identifier: Apache-2.0
// Schedules made of schedules, and the one that follows a metric.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "taeda/core/host_watch.h"
#include "taeda/io/archive.h"
#include "taeda/optim/schedulers.h"

namespace taeda::optim {

namespace {

void save_all(serialize::OutputArchive& archive, const std::vector<std::shared_ptr<LRScheduler>>& schedulers) {
  for (size_t i = 0; i < schedulers.size(); ++i) {
    serialize::OutputArchive part;
    schedulers[i]->save(part);
    archive.write(str("schedulers.", i), part);
  }
}

void load_all(serialize::InputArchive& archive, const std::vector<std::shared_ptr<LRScheduler>>& schedulers) {
  for (size_t i = 0; i < schedulers.size(); ++i) {
    serialize::InputArchive part;
    archive.read(str("schedulers.", i), part);
    schedulers[i]->load(part);
  }
}

LRScheduler& first_of(const std::vector<std::shared_ptr<LRScheduler>>& schedulers, const char* who) {
  TAEDA_CHECK_VALUE(!schedulers.empty(), "[", who, "] there must be at least one scheduler: got none; give some");
  for (const auto& scheduler : schedulers) {
    TAEDA_CHECK_VALUE(&scheduler->optimizer() == &schedulers[0]->optimizer(), "[", who,
                      "] all schedulers must act on the same optimizer: got two; make them for one");
  }
  return *schedulers[0];
}

}  // namespace

SequentialLR::SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers, std::vector<int64_t> milestones)
    : LRScheduler(optimizer), schedulers_(std::move(schedulers)), milestones_(std::move(milestones)) {
  TAEDA_CHECK_VALUE(&first_of(schedulers_, "SequentialLR").optimizer() == &optimizer,
                    "[SequentialLR] the schedulers must act on the optimizer given: got another; make them for this one");
  TAEDA_CHECK_VALUE(milestones_.size() + 1 == schedulers_.size(), "[SequentialLR] there must be one milestone fewer than schedulers: got ",
                    milestones_.size(), " for ", schedulers_.size(), "; give the step at which each but the first starts");
  restart();
}

void SequentialLR::restart() {
  step_count_ = 0;
  schedulers_[0]->restart();
}

void SequentialLR::step() {
  ++step_count_;
  const auto index = static_cast<size_t>(std::upper_bound(milestones_.begin(), milestones_.end(), step_count_) - milestones_.begin());
  if (index > 0 && milestones_[index - 1] == step_count_) schedulers_[index]->restart();
  else schedulers_[index]->step();
}

void SequentialLR::save(serialize::OutputArchive& archive) const {
  LRScheduler::save(archive);
  save_all(archive, schedulers_);
}
void SequentialLR::load(serialize::InputArchive& archive) {
  load_all(archive, schedulers_);
  LRScheduler::load(archive);
}

ChainedScheduler::ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers)
    : LRScheduler(first_of(schedulers, "ChainedScheduler").optimizer()), schedulers_(std::move(schedulers)) {}

void ChainedScheduler::step() {
  ++step_count_;
  for (const auto& scheduler : schedulers_) scheduler->step();
}
void ChainedScheduler::restart() {
  step_count_ = 0;
  set_lrs(base_lrs_);
  for (const auto& scheduler : schedulers_) scheduler->restart();
}
void ChainedScheduler::save(serialize::OutputArchive& archive) const {
  LRScheduler::save(archive);
  save_all(archive, schedulers_);
}
void ChainedScheduler::load(serialize::InputArchive& archive) {
  load_all(archive, schedulers_);
  LRScheduler::load(archive);
}

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode, float factor, int patience,
                                                       double threshold, ThresholdMode threshold_mode, int cooldown,
                                                       const std::vector<float>& min_lr, double eps, bool verbose)
    : ReduceLROnPlateauScheduler(optimizer, PlateauOptions{mode, factor, patience, threshold, threshold_mode, cooldown,
                                                           std::vector<double>(min_lr.begin(), min_lr.end()), eps, verbose}) {}

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(Optimizer& optimizer, const PlateauOptions& options)
    : optimizer_(optimizer), mode_(options.mode), threshold_mode_(options.threshold_mode), factor_(options.factor),
      threshold_(options.threshold), eps_(options.eps), min_lrs_(options.min_lr), patience_(options.patience),
      cooldown_(options.cooldown), verbose_(options.verbose),
      best_(options.mode == min ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity()) {
  const size_t groups = optimizer.param_groups().size();
  TAEDA_CHECK_VALUE(factor_ < 1, "[ReduceLROnPlateau] the factor must be below 1: got ", factor_, "; give one in (0, 1)");
  if (min_lrs_.size() <= 1) min_lrs_.assign(groups, min_lrs_.empty() ? 0.0 : min_lrs_[0]);
  TAEDA_CHECK_VALUE(min_lrs_.size() == groups, "[ReduceLROnPlateau] min_lr must hold one value, or one for each of the ", groups,
                    " parameter groups: got ", min_lrs_.size(), "; give either");
}
ReduceLROnPlateauScheduler::~ReduceLROnPlateauScheduler() = default;

bool ReduceLROnPlateauScheduler::is_better(double metric) const {
  if (mode_ == min) return metric < (threshold_mode_ == rel ? best_ * (1 - threshold_) : best_ - threshold_);
  return metric > (threshold_mode_ == rel ? best_ * (1 + threshold_) : best_ + threshold_);
}

void ReduceLROnPlateauScheduler::step(double metric) {
  taeda::detail::refuse_replay("a scheduler's step sets learning rates");
  ++steps_;
  if (is_better(metric)) {
    best_ = metric;
    bad_ = 0;
  } else {
    ++bad_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_ = 0;
  }
  if (bad_ > patience_) {
    reduce();
    cooldown_left_ = cooldown_;
    bad_ = 0;
  }
}

void ReduceLROnPlateauScheduler::reduce() {
  auto& groups = optimizer_.param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    const double old = groups[i].options().get_lr();
    const double lr = std::max(old * factor_, min_lrs_[i]);
    if (old - lr <= eps_) continue;
    groups[i].options().set_lr(lr);
    if (verbose_) {
      // Not by std::cout, whose header would make the library run code at its start.
      std::printf("Epoch %lld: reducing learning rate of group %zu to %.4g\n", static_cast<long long>(steps_), i, lr);
    }
  }
}

std::vector<double> ReduceLROnPlateauScheduler::get_last_lr() const {
  std::vector<double> lrs;
  for (const OptimizerParamGroup& group : optimizer_.param_groups()) lrs.push_back(group.options().get_lr());
  return lrs;
}

void ReduceLROnPlateauScheduler::save(serialize::OutputArchive& archive) const {
  archive.write("best", Value(best_));
  archive.write("bad", Value(bad_));
  archive.write("cooldown_left", Value(cooldown_left_));
  archive.write("steps", Value(steps_));
  archive.write("last_lrs", Value(get_last_lr()));
}

void ReduceLROnPlateauScheduler::load(serialize::InputArchive& archive) {
  Value best, bad, cooldown, steps, last;
  archive.read("best", best);
  archive.read("bad", bad);
  archive.read("cooldown_left", cooldown);
  archive.read("steps", steps);
  archive.read("last_lrs", last);
  auto& groups = optimizer_.param_groups();
  const std::vector<double> lrs = last.double_list();
  TAEDA_CHECK_IO(lrs.size() == groups.size(), "[load] ", archive.where(), ": the schedule was saved for ", lrs.size(),
                 " parameter groups: there are ", groups.size(), "; make the same groups");
  best_ = best.to_double();
  bad_ = bad.to_int();
  cooldown_left_ = cooldown.to_int();
  steps_ = steps.to_int();
  for (size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(lrs[i]);
}

}  // namespace taeda::optim
