// SPDX-License-Identifier: Apache-2.0
// Averages of weights, the learning-rate finder, and small helpers.
#include "taeda/train/callbacks_more.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "taeda/autograd/autograd.h"
#include "taeda/ops/functions.h"
#include "taeda/train/trainer.h"

namespace taeda::train {

void LRMonitor::on_after_optimizer_step(Trainer& trainer, Module&) {
  if (trainer.global_step() % every_ != 0 || trainer.loggers().empty()) return;
  MetricList row;
  for (size_t i = 0; i < trainer.optimizers().size(); ++i) {
    const auto& groups = trainer.optimizers()[i]->param_groups();
    for (size_t g = 0; g < groups.size(); ++g) row.emplace_back(str("lr_", i, "_", g), groups[g].options().get_lr());
  }
  for (const auto& logger : trainer.loggers()) logger->log_metrics(row, trainer.global_step(), trainer.epoch());
}

GradientAccumulationSchedule::GradientAccumulationSchedule(std::map<int64_t, int64_t> schedule) : schedule_(std::move(schedule)) {
  for (const auto& [epoch, batches] : schedule_) {
    TAEDA_CHECK_VALUE(epoch >= 0 && batches >= 1, "[GradientAccumulationSchedule] epochs count from 0 and batches from 1: got ", epoch,
                      " and ", batches, "; correct them");
  }
}
void GradientAccumulationSchedule::apply(Trainer& trainer) const {
  const auto next = schedule_.upper_bound(trainer.epoch());
  if (next != schedule_.begin()) trainer.set_accumulate_grad_batches(std::prev(next)->second);
}
void GradientAccumulationSchedule::on_fit_start(Trainer& trainer, Module&) { apply(trainer); }
void GradientAccumulationSchedule::on_train_epoch_start(Trainer& trainer, Module&) { apply(trainer); }

void Timer::on_train_batch_end(Trainer& trainer, Module&, const Batch&, const Tensor&) {
  if (trainer.seconds() >= limit_) trainer.stop("timer");
}

void EMA::on_fit_start(Trainer&, Module& model) {
  const std::vector<Tensor> parameters = model.parameters();
  if (averages_.size() == parameters.size() && steps_ > 0) return;  // of a checkpoint
  averages_.clear();
  steps_ = 0;
  for (const Tensor& p : parameters) averages_.push_back(p.detach().clone());
}
void EMA::on_after_optimizer_step(Trainer&, Module& model) {
  const auto n = static_cast<double>(steps_++);
  const double decay = std::min(decay_, (1 + n) / (10 + n));
  const NoGradGuard no_grad;
  const std::vector<Tensor> parameters = model.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) averages_[i].mul_(decay).add_(parameters[i], 1 - decay);
}
void EMA::exchange(Module& model) {
  const NoGradGuard no_grad;
  std::vector<Tensor> parameters = model.parameters();
  for (size_t i = 0; i < parameters.size() && i < averages_.size(); ++i) {
    const Tensor kept = parameters[i].detach().clone();
    parameters[i].copy_(averages_[i]);
    averages_[i].copy_(kept);
  }
  exchanged_ = !exchanged_;
}
void EMA::on_validation_start(Trainer&, Module& model) {
  if (steps_ > 0 && !exchanged_) exchange(model);
}
void EMA::on_validation_end(Trainer&, Module& model) {
  if (exchanged_) exchange(model);
}
void EMA::on_fit_end(Trainer&, Module& model) {
  if (!keep_ || steps_ == 0) return;
  const NoGradGuard no_grad;
  std::vector<Tensor> parameters = model.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(averages_[i]);
}
void EMA::on_exception(Trainer&, Module& model, std::exception_ptr) {
  if (exchanged_) exchange(model);
}
void EMA::save(serialize::OutputArchive& archive) const {
  archive.write("steps", Value(steps_));
  for (size_t i = 0; i < averages_.size(); ++i) archive.write(str("averages.", i), averages_[i]);
}
void EMA::load(serialize::InputArchive& archive) {
  Value steps;
  archive.read("steps", steps);
  steps_ = steps.to_int();
  averages_.clear();
  Tensor average;
  for (size_t i = 0; archive.try_read(str("averages.", i), average); ++i) averages_.push_back(std::exchange(average, Tensor()));
}

void SWA::on_train_epoch_end(Trainer& trainer, Module& model) {
  double from = start_;
  if (start_ <= 1) {
    TAEDA_CHECK_VALUE(trainer.max_epochs() > 0, "[SWA] a part of the epochs needs to know how many there are: got no max_epochs; give one");
    from = std::ceil(start_ * static_cast<double>(trainer.max_epochs()));
  }
  if (static_cast<double>(trainer.epoch()) < from) return;
  const std::vector<Tensor> parameters = model.parameters();
  const NoGradGuard no_grad;
  ++count_;
  if (count_ == 1) {
    averages_.clear();
    for (const Tensor& p : parameters) averages_.push_back(p.detach().clone());
    return;
  }
  for (size_t i = 0; i < parameters.size(); ++i) averages_[i].add_(parameters[i].sub(averages_[i]), 1.0 / static_cast<double>(count_));
}
void SWA::on_fit_end(Trainer&, Module& model) {
  if (count_ == 0) return;
  const NoGradGuard no_grad;
  std::vector<Tensor> parameters = model.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(averages_[i]);
}
void SWA::save(serialize::OutputArchive& archive) const {
  archive.write("count", Value(count_));
  for (size_t i = 0; i < averages_.size(); ++i) archive.write(str("averages.", i), averages_[i]);
}
void SWA::load(serialize::InputArchive& archive) {
  Value count;
  archive.read("count", count);
  count_ = count.to_int();
  averages_.clear();
  Tensor average;
  for (size_t i = 0; archive.try_read(str("averages.", i), average); ++i) averages_.push_back(std::exchange(average, Tensor()));
}

namespace {

/// Copies of a model's parameters, buffers, gradients and mode, the default generator and a loader's place; put back at the end.
class Snapshot {
 public:
  Snapshot(Module& model, LoaderRef& loader) : model_(model), loader_(loader), training_(model.is_training()) {
    for (const auto& item : model.state_dict()) state_.insert(item.key(), item.value().detach().clone());
    for (const Tensor& p : model.parameters()) gradients_.push_back(p.grad());
    generator_ = default_generator().get_state();
    if (loader->can_be_saved()) {
      serialize::OutputArchive archive;
      loader->save(archive);
      archive.save_to(place_);
    }
  }
  ~Snapshot() {
    try {
      model_.load_state_dict(state_);
      std::vector<Tensor> parameters = model_.parameters();
      for (size_t i = 0; i < parameters.size(); ++i) parameters[i].mutable_grad() = gradients_[i];
      model_.train(training_);
      if (loader_->can_be_saved()) {
        serialize::InputArchive archive;
        archive.load_from(place_);
        loader_->load(archive);
      }
      default_generator().set_state(generator_);
    } catch (...) {
      // The error under way says more.
    }
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Module& model_;
  LoaderRef& loader_;
  bool training_;
  OrderedDict<std::string, Tensor> state_;
  std::vector<Tensor> gradients_;
  Tensor generator_;
  std::stringstream place_;
};

/// The rate where the smoothed loss falls fastest over the logarithm of the rate.
double steepest(const LRFinderResult& r) {
  double best = 0, rate = 0;
  const size_t skip = r.lrs.size() / 10;
  for (size_t i = skip + 1; i + 1 < r.lrs.size(); ++i) {
    const double slope = (r.losses[i + 1] - r.losses[i - 1]) / (std::log(r.lrs[i + 1]) - std::log(r.lrs[i - 1]));
    if (slope < best) best = slope, rate = r.lrs[i];
  }
  return rate;
}

}  // namespace

LRFinderResult find_lr(Module& model, LoaderRef loader, const LRFinderOptions& options) {
  TAEDA_CHECK_VALUE(options.steps > 1 && options.min_lr > 0 && options.max_lr > options.min_lr,
                    "[find_lr] rates must grow over at least two steps: got ", options.steps, " steps from ", options.min_lr, " to ",
                    options.max_lr, "; correct them");
  const Snapshot snapshot(model, loader);
  Trainer trainer({.max_steps = options.steps, .quiet = true});
  trainer.attach(model);
  Optimizers configured = model.configure_optimizers();
  LRFinderResult result;
  model.train();
  const double growth = std::log(options.max_lr / options.min_lr) / static_cast<double>(options.steps - 1);
  double smooth = 0, weight = 0, lowest = INFINITY;
  loader->begin();
  for (int64_t i = 0; i < options.steps; ++i) {
    auto batch = loader->next();
    if (!batch) {
      loader->begin();
      batch = loader->next();
      if (!batch) break;
    }
    const double lr = options.min_lr * std::exp(growth * static_cast<double>(i));
    for (const auto& optimizer : configured.optimizers) {
      for (auto& group : optimizer->param_groups()) group.options().set_lr(lr);
      optimizer->zero_grad();
    }
    const Tensor loss = model.training_step(*batch, i);
    if (!loss.defined()) continue;
    const double value = loss.item<double>();
    smooth = 0.9 * smooth + 0.1 * value;
    weight = 0.9 * weight + 0.1;
    const double now = smooth / weight;
    if (!std::isfinite(value) || now > options.stop_factor * lowest) break;
    lowest = std::min(lowest, now);
    result.lrs.push_back(lr);
    result.losses.push_back(now);
    loss.backward();
    for (const auto& optimizer : configured.optimizers) optimizer->step();
  }
  result.suggestion = steepest(result);
  return result;
}

void freeze(nn::Module& module) {
  for (Tensor& p : module.parameters()) p.set_requires_grad(false);
}
void unfreeze(nn::Module& module) {
  for (Tensor& p : module.parameters()) p.set_requires_grad(true);
}

std::vector<std::vector<Tensor>> parameters_by_layer(const nn::Module& model) {
  std::vector<std::vector<Tensor>> out;
  for (const auto& child : model.children()) {
    std::vector<Tensor> parameters = child->parameters();
    if (!parameters.empty()) out.push_back(std::move(parameters));
  }
  std::vector<Tensor> own = model.parameters(false);
  if (!own.empty()) out.push_back(std::move(own));
  return out;
}

std::vector<double> layer_rates(size_t layers, double lr, double factor) {
  std::vector<double> out;
  for (size_t i = 0; i < layers; ++i) {
    const double part = layers > 1 ? static_cast<double>(layers - 1 - i) / static_cast<double>(layers - 1) : 0;
    out.push_back(lr * std::pow(factor, -part));
  }
  return out;
}

}  // namespace taeda::train
