// SPDX-License-Identifier: Apache-2.0
// Averages of weights, the learning-rate finder, and small helpers.
#include "taeda/train/callbacks_more.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "taeda/autograd/autograd.h"
#include "taeda/nn/norm.h"
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

namespace detail {

void WeightAverages::start(const nn::Module& model) {
  tensors_.clear();
  exchanged_ = false;
  for (const Tensor& p : model.parameters()) tensors_.push_back(p.detach().clone());
}

void WeightAverages::move_towards(const nn::Module& model, double part) {
  const NoGradGuard no_grad;
  const std::vector<Tensor> parameters = model.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) tensors_.at(i).lerp_(parameters[i], part);
}

void WeightAverages::exchange(nn::Module& model) {
  const NoGradGuard no_grad;
  std::vector<Tensor> parameters = model.parameters();
  TAEDA_CHECK(parameters.size() == tensors_.size(), "[averages] the model must keep its parameters during a run: got ", parameters.size(),
              " beside averages of ", tensors_.size(), "; make a new callback for another model");
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor kept = parameters[i].detach().clone();
    parameters[i].copy_(tensors_[i]);
    tensors_[i].copy_(kept);
  }
  exchanged_ = !exchanged_;
}

void WeightAverages::save(serialize::OutputArchive& archive) const {
  archive.write("exchanged", Value(exchanged_));
  for (size_t i = 0; i < tensors_.size(); ++i) archive.write(str("averages.", i), tensors_[i]);
}

void WeightAverages::load(serialize::InputArchive& archive) {
  Value exchanged;
  archive.read("exchanged", exchanged);
  exchanged_ = exchanged.to_bool();
  tensors_.clear();
  Tensor average;
  for (size_t i = 0; archive.try_read(str("averages.", i), average); ++i) tensors_.push_back(std::exchange(average, Tensor()));
}

}  // namespace detail

EMA::EMA(double decay, bool keep) : decay_(decay), keep_(keep) {
  TAEDA_CHECK_VALUE(decay >= 0 && decay < 1, "[EMA] the decay must be in [0, 1): got ", decay, "; 0.999 is usual");
}
void EMA::on_fit_start(Trainer& trainer, Module& model) {
  if (trainer.progress().total_batches == 0) {
    steps_ = 0;
    averages_.start(model);
  } else if (averages_.exchanged()) {  // of a checkpoint written while the model had the averages
    averages_.exchange(model);
  }
}
void EMA::on_after_optimizer_step(Trainer&, Module& model) {
  if (averages_.empty()) averages_.start(model);  // the checkpoint was written without averages
  const auto n = static_cast<double>(steps_++);
  averages_.move_towards(model, 1 - std::min(decay_, (1 + n) / (10 + n)));
}
void EMA::on_validation_start(Trainer&, Module& model) {
  if (steps_ > 0 && !averages_.exchanged()) averages_.exchange(model);
}
void EMA::after_validation(Trainer&, Module& model) {
  if (averages_.exchanged()) averages_.exchange(model);
}
void EMA::on_fit_end(Trainer& trainer, Module& model) {
  if (keep_ && steps_ > 0 && trainer.stop_reason() != "interrupt") averages_.exchange(model);
}
void EMA::on_exception(Trainer&, Module& model, std::exception_ptr) {
  if (averages_.exchanged()) averages_.exchange(model);
}
void EMA::save(serialize::OutputArchive& archive) const {
  archive.write("steps", Value(steps_));
  averages_.save(archive);
}
void EMA::load(serialize::InputArchive& archive) {
  Value steps;
  archive.read("steps", steps);
  steps_ = steps.to_int();
  averages_.load(archive);
}

namespace {

/// Forgets the statistics of batch norms, which then take the plain mean of all batches. Returns the momenta there were.
std::vector<std::optional<double>> restart_batch_norms(nn::Module& model) {
  std::vector<std::optional<double>> momenta;
  const auto restart = [&](auto* norm) {
    if (!norm) return;
    momenta.push_back(norm->options.momentum());
    norm->options.momentum(std::nullopt);
    norm->reset_running_stats();
  };
  for (const auto& module : model.modules(false)) {
    restart(module->as<nn::BatchNorm1dImpl>());
    restart(module->as<nn::BatchNorm2dImpl>());
    restart(module->as<nn::BatchNorm3dImpl>());
  }
  return momenta;
}

void give_momenta_back(nn::Module& model, const std::vector<std::optional<double>>& momenta) {
  size_t next = 0;
  const auto give = [&](auto* norm) {
    if (norm) norm->options.momentum(momenta[next++]);
  };
  for (const auto& module : model.modules(false)) {
    give(module->as<nn::BatchNorm1dImpl>());
    give(module->as<nn::BatchNorm2dImpl>());
    give(module->as<nn::BatchNorm3dImpl>());
  }
}

void copy_into(std::vector<Tensor> to, const std::vector<Tensor>& from) {
  const NoGradGuard no_grad;
  for (size_t i = 0; i < to.size(); ++i) to[i].copy_(from.at(i));
}

}  // namespace

SWA::SWA(double start) : start_(start) {
  TAEDA_CHECK_VALUE(start >= 0, "[SWA] the averaging must start at a part of the epochs or at an epoch: got ", start, "; 0.75 is usual");
}
void SWA::on_fit_start(Trainer& trainer, Module& model) {
  if (trainer.progress().total_batches == 0) {
    count_ = 0;
    averages_ = {};
  } else if (averages_.exchanged()) {
    averages_.exchange(model);
    copy_into(model.buffers(), buffers_);
  }
  buffers_.clear();
}
void SWA::on_train_epoch_end(Trainer& trainer, Module& model) {
  double from = start_;
  if (start_ <= 1) {
    TAEDA_CHECK_VALUE(trainer.max_epochs() > 0, "[SWA] a part of the epochs needs to know how many there are: got no max_epochs; give one");
    from = std::ceil(start_ * static_cast<double>(trainer.max_epochs()));
  }
  if (static_cast<double>(trainer.epoch()) < from) return;
  if (++count_ == 1) averages_.start(model);
  else averages_.move_towards(model, 1.0 / static_cast<double>(count_));
}
void SWA::on_fit_end(Trainer& trainer, Module& model) {
  if (count_ == 0 || trainer.stop_reason() == "interrupt") return;
  for (const Tensor& buffer : model.buffers()) buffers_.push_back(buffer.detach().clone());
  averages_.exchange(model);
  const auto momenta = restart_batch_norms(model);
  if (momenta.empty()) return;
  model.train();
  trainer.replay_training(trainer.batches_per_epoch());
  give_momenta_back(model, momenta);
}
void SWA::save(serialize::OutputArchive& archive) const {
  archive.write("count", Value(count_));
  averages_.save(archive);
  for (size_t i = 0; i < buffers_.size(); ++i) archive.write(str("buffers.", i), buffers_[i]);
}
void SWA::load(serialize::InputArchive& archive) {
  Value count;
  archive.read("count", count);
  count_ = count.to_int();
  averages_.load(archive);
  buffers_.clear();
  Tensor buffer;
  for (size_t i = 0; archive.try_read(str("buffers.", i), buffer); ++i) buffers_.push_back(std::exchange(buffer, Tensor()));
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

void freeze_to(nn::Module& model, int64_t layers) {
  std::vector<std::vector<Tensor>> all = parameters_by_layer(model);
  const auto count = static_cast<int64_t>(all.size());
  const int64_t frozen = layers < 0 ? count + layers : layers;
  TAEDA_CHECK_VALUE(frozen >= 0 && frozen <= count, "[freeze_to] the model has ", count, " layers with parameters: got ", layers,
                    "; count those to freeze, or with a minus those to leave");
  for (int64_t i = 0; i < count; ++i) {
    for (Tensor& p : all[static_cast<size_t>(i)]) p.set_requires_grad(i >= frozen);
  }
}

FitResult fit_one_cycle(Module& model, LoaderRef train, LoaderRef val, const OneCyclePolicy& policy, TrainerOptions options) {
  TAEDA_CHECK_VALUE(policy.epochs >= 1 && policy.div > 0 && policy.div_final > 0, "[fit_one_cycle] epochs and divisors must be positive: got ",
                    policy.epochs, ", ", policy.div, " and ", policy.div_final, "; correct them");
  options.max_epochs = policy.epochs;
  options.adjust_optimizers = [&](Optimizers& configured) {
    const int64_t steps = model.trainer().estimated_steps();
    TAEDA_CHECK_VALUE(steps > 0, "[fit_one_cycle] the loader must know how many batches it gives: got one that does not; use a sampler of known size");
    configured.schedules.clear();
    for (const auto& optimizer : configured.optimizers) {
      optim::OneCycleOptions cycle{.max_lr = policy.max_lr, .total_steps = steps + 1, .pct_start = policy.pct_start,
                                   .base_momentum = policy.min_momentum, .max_momentum = policy.max_momentum, .div_factor = policy.div,
                                   .final_div_factor = policy.div_final / policy.div};
      if (cycle.max_lr.empty()) {
        for (const auto& group : optimizer->param_groups()) cycle.max_lr.push_back(group.options().get_lr());
      }
      configured.add_schedule({.scheduler = std::make_shared<optim::OneCycleLR>(*optimizer, std::move(cycle)), .interval = Interval::kStep});
    }
  };
  return Trainer(std::move(options)).fit(model, std::move(train), std::move(val));
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
