// SPDX-License-Identifier: Apache-2.0
// The loop itself: epochs, batches, optimizer steps, validation in between.
#include <cmath>
#include <sstream>

#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/autograd.h"
#include "taeda/nn/utils.h"
#include "taeda/ops/functions.h"
#include "taeda/train/trainer.h"

namespace taeda::train {

void Trainer::run_epochs() {
  check_limits();
  if (resumed_ && progress_.epoch_open && validation_due()) validate_now();
  while (!is_stopping()) {
    if (!progress_.epoch_open) open_epoch();
    train_epoch();
    const bool complete = batches_per_epoch_ < 0 ? !is_stopping() : progress_.batch >= batches_per_epoch_;
    const bool last = is_stopping() || (max_epochs_ >= 0 && progress_.epoch + 1 >= max_epochs_);
    if (complete && last) validate_at_end();
    if (complete && !validation_cut_) close_epoch();
    check_limits();
  }
}

void Trainer::open_epoch() {
  progress_.epoch_open = true;
  progress_.batch = 0;
  train_log_.start_epoch();
  model_->on_train_epoch_start();
  each([&](Callback& c) { c.on_train_epoch_start(*this, *model_); });
}

bool Trainer::next_batch(Batch& batch) {
  if (options_.overfit_batches > 0) {
    batch = overfit_[static_cast<size_t>(progress_.batch)];
    return true;
  }
  auto next = train_loader_->next();
  if (!next) return false;
  batch = std::move(*next);
  return true;
}

void Trainer::train_epoch() {
  // A loader that was left before its end in the epoch that the checkpoint closed would go on with it.
  if (std::exchange(resumed_, false) && progress_.batch == 0 && progress_.left_early && options_.overfit_batches == 0) train_loader_->begin();
  if (options_.overfit_batches == 0) train_loader_->begin();
  progress_.left_early = true;
  Batch batch;
  while (!is_stopping() && (batches_per_epoch_ < 0 || progress_.batch < batches_per_epoch_)) {
    if (!next_batch(batch)) {
      progress_.left_early = false;
      if (batches_per_epoch_ >= 0) batches_per_epoch_ = progress_.batch;  // fewer than the loader promised
      break;
    }
    train_batch(batch);
    after_batch();
  }
  if (batches_per_epoch_ < 0 && !is_stopping()) {
    if (progress_.accumulated > 0) optimizer_step();
    if (val_loader_ && progress_.validated_at != progress_.total_batches && options_.check_val_every_n_epoch > 0 && in_validated_epoch()) {
      validate_now();
    }
  }
}

void Trainer::train_batch(Batch& batch) {
  stage_ = Stage::kTrain;
  batch_rows_ = batch.data.defined() && batch.data.dim() > 0 ? batch.data.size(0) : 1;
  each([&](Callback& c) { c.on_train_batch_start(*this, *model_, batch); });
  if (options_.check_finite) keep_generator();
  const Tensor loss = learn_ ? learn_(batch) : learn(batch);
  stage_ = Stage::kTrain;
  if (!options_.loggers.empty() && progress_.accumulated == 0 && progress_.global_step % options_.log_every_n_steps == 0) log_step_values();
  each([&](Callback& c) { c.on_train_batch_end(*this, *model_, batch, loss); });
}

/// Loss, gradients and, when its turn has come, the optimizer's step.
Tensor Trainer::learn(const Batch& batch) {
  const bool automatic = model_->automatic_optimization();
  if (automatic && progress_.accumulated == 0) {
    for (const auto& optimizer : configured_.optimizers) optimizer->zero_grad();
  }
  Tensor loss = model_->training_step(batch, progress_.batch);
  if (loss.defined()) {
    last_loss_ = loss.item<double>();
    if (options_.check_finite && !std::isfinite(last_loss_)) on_bad_loss(batch, last_loss_);
    static constexpr LogOptions kLoss{.on_step = true, .on_epoch = true};
    if (!model_logs_loss_) train_log_.record("train_loss", last_loss_, kLoss, static_cast<double>(batch_rows_), true);
  }
  ++progress_.batch;
  ++progress_.total_batches;
  if (automatic && loss.defined()) {
    const int64_t window = options_.accumulate_grad_batches;
    if (window > 1) loss.div(static_cast<double>(window)).backward();
    else loss.backward();
    const bool last = progress_.batch == batches_per_epoch_;
    if (++progress_.accumulated >= window || last) optimizer_step();
  } else if (!automatic) {
    ++progress_.global_step;
    step_schedules(Interval::kStep);
  }
  return loss;
}

void Trainer::optimizer_step() {
  model_->on_before_optimizer_step();
  each([&](Callback& c) { c.on_before_optimizer_step(*this, *model_); });
  if (options_.gradient_clip > 0) nn::utils::clip_grad_norm_(model_->parameters(), options_.gradient_clip);
  if (options_.gradient_clip_value > 0) nn::utils::clip_grad_value_(model_->parameters(), options_.gradient_clip_value);
  for (const auto& optimizer : configured_.optimizers) optimizer->step();
  progress_.accumulated = 0;
  ++progress_.global_step;
  step_schedules(Interval::kStep);
  each([&](Callback& c) { c.on_after_optimizer_step(*this, *model_); });
}

void Trainer::step_schedules(Interval interval) {
  const int64_t count = interval == Interval::kStep ? progress_.global_step : progress_.epoch;
  for (const ScheduleConfig& config : configured_.schedules) {
    if (config.interval != interval || count % config.frequency != 0) continue;
    if (config.scheduler) config.scheduler->step();
    else config.plateau->step(metric(config.monitor));
  }
}

void Trainer::after_batch() {
  if (validation_due()) validate_now();
  if (options_.interrupt && options_.interrupt->load(std::memory_order_relaxed)) stop("interrupt");
  if (options_.max_steps >= 0 && progress_.global_step >= options_.max_steps && progress_.accumulated == 0) stop("max_steps");
  if (options_.max_minutes > 0 && seconds() >= options_.max_minutes * 60) stop("max_minutes");
}

void Trainer::check_limits() {
  if (options_.max_steps >= 0 && progress_.global_step >= options_.max_steps) stop("max_steps");
  if (!progress_.epoch_open && max_epochs_ >= 0 && progress_.epoch >= max_epochs_) stop("max_epochs");
}

bool Trainer::in_validated_epoch() const {
  return options_.check_val_every_n_epoch == 0 || (progress_.epoch + 1) % options_.check_val_every_n_epoch == 0;
}

bool Trainer::validation_due() const {
  if (!val_loader_ || val_every_ <= 0 || progress_.batch == 0 || progress_.validated_at == progress_.total_batches) return false;
  if (!in_validated_epoch()) return false;
  const bool across_epochs = options_.check_val_every_n_epoch == 0 || (val_every_ > batches_per_epoch_ && batches_per_epoch_ >= 0);
  return (across_epochs ? progress_.total_batches : progress_.batch) % val_every_ == 0;
}

void Trainer::validate_at_end() {
  const bool seen = progress_.validated_at == progress_.total_batches;
  if (options_.validate_at_end && val_loader_ && val_batches_ != 0 && !seen && progress_.total_batches > 0 && stop_reason_ != "interrupt") validate_now();
}

void Trainer::validate_now() {
  progress_.validated_at = progress_.total_batches;
  eval_pass(val_loader_, Stage::kValidate, options_.fast_dev_run > 0 ? Amount(options_.fast_dev_run) : options_.limit_val_batches);
  model_->train();
  stage_ = Stage::kTrain;
}

void Trainer::close_epoch() {
  progress_.epoch_open = false;
  ++progress_.epoch;
  publish(train_log_.epoch_values());
  step_schedules(Interval::kEpoch);
  model_->on_train_epoch_end();
  each([&](Callback& c) { c.on_train_epoch_end(*this, *model_); });
}

void Trainer::eval_pass(LoaderRef& loader, Stage stage, Amount limit) {
  const bool testing = stage == Stage::kTest;
  const auto size = loader->size();
  const int64_t batches = limit.of(size ? static_cast<int64_t>(*size) : -1);
  stage_ = stage;
  model_->eval();
  const NoGradGuard no_grad;
  eval_log_.start_epoch();
  if (!testing) model_->on_validation_epoch_start();
  each([&](Callback& c) { testing ? c.on_test_start(*this, *model_) : c.on_validation_start(*this, *model_); });
  const bool overfit = options_.overfit_batches > 0 && !overfit_.empty() && stage == Stage::kValidate;
  if (!overfit) loader->begin();
  bool left_early = !overfit;
  validation_cut_ = false;
  for (int64_t i = 0; left_early || overfit; ++i) {
    if (options_.interrupt && options_.interrupt->load(std::memory_order_relaxed) && &loader == &val_loader_) {
      // Done again, whole, when the run goes on.
      validation_cut_ = true;
      progress_.validated_at = -1;
      stop("interrupt");
      break;
    }
    if (batches >= 0 && i >= batches && (!size || batches < static_cast<int64_t>(*size) || overfit)) break;
    std::optional<Batch> batch;
    if (!overfit) batch = loader->next();
    else if (i < static_cast<int64_t>(overfit_.size())) batch = overfit_[static_cast<size_t>(i)];
    if (!batch) {
      left_early = false;
      break;
    }
    batch_rows_ = batch->data.defined() && batch->data.dim() > 0 ? batch->data.size(0) : 1;
    if (testing) model_->test_step(*batch, i);
    else model_->validation_step(*batch, i);
    each([&](Callback& c) { c.on_eval_batch_end(*this, *model_, *batch); });
  }
  if (&loader == &val_loader_) progress_.val_left_early = left_early;
  if (validation_cut_) {
    each([&](Callback& c) { c.after_validation(*this, *model_); });
    return;
  }
  if (!testing) model_->on_validation_epoch_end();
  if (!sanity_check_) publish(eval_log_.epoch_values());
  each([&](Callback& c) { testing ? c.on_test_end(*this, *model_) : c.on_validation_end(*this, *model_); });
  if (!testing) each([&](Callback& c) { c.after_validation(*this, *model_); });
}

void Trainer::replay_training(int64_t limit) {
  const NoGradGuard no_grad;
  const Tensor generator = default_generator().get_state();
  std::stringstream place;
  const bool keep_place = overfit_.empty() && train_loader_->can_be_saved();
  if (keep_place) {
    serialize::OutputArchive archive;
    train_loader_->save(archive);
    archive.save_to(place);
  }
  Trainer* const trainer = std::exchange(model_->trainer_, nullptr);  // what the steps report is known already
  try {
    if (overfit_.empty()) train_loader_->begin();
    for (int64_t i = 0; limit < 0 || i < limit; ++i) {
      std::optional<Batch> batch;
      if (overfit_.empty()) batch = train_loader_->next();
      else if (i < static_cast<int64_t>(overfit_.size())) batch = overfit_[static_cast<size_t>(i)];
      if (!batch) break;
      model_->training_step(*batch, i);
    }
  } catch (...) {
    model_->trainer_ = trainer;
    throw;
  }
  model_->trainer_ = trainer;
  if (keep_place) {
    serialize::InputArchive archive;
    archive.load_from(place);
    train_loader_->load(archive);
    if (!progress_.epoch_open && progress_.left_early) train_loader_->begin();  // else the next loop would go on with the epoch that is over
  }
  default_generator().set_state(generator);
}

void Trainer::log_step_values() {
  row_.clear();
  train_log_.append_step_values(row_);
  for (size_t i = 0; i < configured_.optimizers.size(); ++i) {
    row_.emplace_back(i == 0 ? "lr" : str("lr_", i), configured_.optimizers[i]->param_groups()[0].options().get_lr());
  }
  for (const auto& logger : options_.loggers) logger->log_metrics(row_, progress_.global_step, progress_.epoch);
}

void Trainer::publish(const MetricList& values) {
  if (values.empty()) return;
  for (const auto& [name, value] : values) published_[name] = value;
  if (stage_ == Stage::kIdle) return;
  for (const auto& logger : options_.loggers) logger->log_metrics(values, progress_.global_step, progress_.epoch);
}

}  // namespace taeda::train
