// SPDX-License-Identifier: Apache-2.0
// Defaults of a module's steps, and the way of its reports to the trainer.
#include "taeda/train/module.h"

#include "taeda/ops/functions.h"
#include "taeda/train/trainer.h"

namespace taeda::train {

Callback::~Callback() = default;
Logger::~Logger() = default;

void Module::validation_step(const Batch& batch, int64_t batch_index) {
  // The reports of the training step would come under its own names.
  Trainer* const trainer = std::exchange(trainer_, nullptr);
  const Tensor loss = training_step(batch, batch_index);
  trainer_ = trainer;
  if (loss.defined()) log("val_loss", loss, {.prog_bar = true});
}

void Module::test_step(const Batch& batch, int64_t batch_index) { validation_step(batch, batch_index); }

Tensor Module::predict_step(const Batch&, int64_t) {
  TAEDA_CHECK_NOT_IMPLEMENTED(false, "[predict] the model must say what it predicts: got a module without predict_step; override it");
  return {};
}

Optimizers Module::configure_optimizers() { return optim::Adam(parameters(), optim::AdamOptions()); }

Trainer& Module::trainer() const {
  TAEDA_CHECK(trainer_, "[train] a trainer must be running the model: got none; call this from a step or hook");
  return *trainer_;
}

void Module::log(std::string_view name, double value, const LogOptions& options) {
  if (trainer_) trainer_->record(name, value, options);
}
void Module::log(std::string_view name, const Tensor& value, const LogOptions& options) {
  if (trainer_) trainer_->record(name, value.item<double>(), options);
}
void Module::log(std::string_view name, Metric& metric, const LogOptions& options) {
  if (trainer_) trainer_->record(name, metric, options);
}
void Module::show_predictions(const Tensor& scores, const Batch& batch) {
  if (trainer_) trainer_->show_predictions(*this, scores, batch);
}

}  // namespace taeda::train
