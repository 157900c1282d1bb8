// SPDX-License-Identifier: Apache-2.0
// A model that knows how it is trained: its steps, its optimizers, what it reports.
#pragma once

#include <string_view>

#include "taeda/data/example.h"
#include "taeda/nn/module.h"
#include "taeda/train/log_book.h"
#include "taeda/train/optimizers.h"

namespace taeda::train {

class Trainer;

/// What loaders give: `data` and `target`.
using Batch = data::Example<>;

/// Base of models for the Trainer. Only `training_step` must be written:
///
///     struct Classifier : train::Module {
///       nn::Linear layer = register_module("layer", nn::Linear(32, 10));
///       Tensor training_step(const train::Batch& batch, int64_t) override {
///         return nn::functional::cross_entropy(layer(batch.data), batch.target);
///       }
///       train::Optimizers configure_optimizers() override { return optim::SGD(parameters(), 0.1); }
///     };
class TAEDA_API Module : public nn::Module {
 public:
  using nn::Module::Module;

  /// The loss of a batch. An undefined tensor skips the batch.
  virtual Tensor training_step(const Batch& batch, int64_t batch_index) = 0;
  /// Reports values with `log`. Runs in evaluation mode without gradients. By default the loss of `training_step` as "val_loss".
  virtual void validation_step(const Batch& batch, int64_t batch_index);
  /// By default the same as `validation_step`; names that begin with "val_" begin with "test_" instead.
  virtual void test_step(const Batch& batch, int64_t batch_index);
  /// What `Trainer::predict` collects.
  virtual Tensor predict_step(const Batch& batch, int64_t batch_index);
  /// An input of `predict_step`, with which layers' output shapes are found; undefined: they are not shown.
  virtual Tensor example_input() const { return {}; }
  /// By default Adam with its default options over all parameters.
  virtual Optimizers configure_optimizers();
  /// false: `training_step` calls `backward` and steps the trainer's optimizers itself.
  virtual bool automatic_optimization() const { return true; }

  virtual void on_fit_start() {}
  virtual void on_fit_end() {}
  virtual void on_train_epoch_start() {}
  virtual void on_train_epoch_end() {}
  virtual void on_validation_epoch_start() {}
  virtual void on_validation_epoch_end() {}
  virtual void on_before_optimizer_step() {}
  /// More state for checkpoints than parameters and buffers.
  virtual void on_save_checkpoint(serialize::OutputArchive&) const {}
  virtual void on_load_checkpoint(serialize::InputArchive&) {}

  /// Reports a value of the running step: shown, logged, and there for callbacks to follow. Does nothing outside a Trainer's run.
  void log(std::string_view name, double value, const LogOptions& options = {});
  void log(std::string_view name, const Tensor& value, const LogOptions& options = {});
  /// Reports a metric that the step has updated: computed and reset at the end of the epoch. It must outlive the run.
  void log(std::string_view name, Metric& metric, const LogOptions& options = {});
  /// Shows what the model says of a validation or test batch to callbacks (the report's confusion matrix and worst samples).
  /// scores: (rows, classes), or (rows) for regression.
  void show_predictions(const Tensor& scores, const Batch& batch);

  /// The trainer that runs this model. Throws Error when there is none.
  Trainer& trainer() const;
  bool has_trainer() const { return trainer_ != nullptr; }

 private:
  friend class Trainer;
  Trainer* trainer_ = nullptr;
};

}  // namespace taeda::train
