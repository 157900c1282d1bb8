// SPDX-License-Identifier: Apache-2.0
// What can be plugged into a run.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "taeda/train/module.h"

namespace taeda::train {

class Logger;

/// Called by the trainer at each stage of a run, in the order given; those that `runs_last` (checkpoints) after all others.
class TAEDA_API Callback {
 public:
  Callback() = default;
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  virtual ~Callback();

  virtual void on_fit_start(Trainer&, Module&) {}
  virtual void on_fit_end(Trainer&, Module&) {}
  virtual void on_train_epoch_start(Trainer&, Module&) {}
  virtual void on_train_epoch_end(Trainer&, Module&) {}
  virtual void on_train_batch_start(Trainer&, Module&, const Batch&) {}
  /// `loss` may be undefined.
  virtual void on_train_batch_end(Trainer&, Module&, const Batch&, const Tensor& /*loss*/) {}
  virtual void on_before_optimizer_step(Trainer&, Module&) {}
  virtual void on_after_optimizer_step(Trainer&, Module&) {}
  /// Validation inside a fit, and `validate`.
  virtual void on_validation_start(Trainer&, Module&) {}
  virtual void on_validation_end(Trainer&, Module&) {}
  /// After `on_validation_end` of all callbacks, checkpoints included.
  virtual void after_validation(Trainer&, Module&) {}
  virtual void on_test_start(Trainer&, Module&) {}
  virtual void on_test_end(Trainer&, Module&) {}
  /// After each batch of validation, test and prediction.
  virtual void on_eval_batch_end(Trainer&, Module&, const Batch&) {}
  virtual void on_predictions(Trainer&, Module&, const Tensor& /*scores*/, const Batch&) {}
  virtual void on_exception(Trainer&, Module&, std::exception_ptr) {}

  /// Under this name the state lies in checkpoints; empty: there is none.
  virtual std::string state_name() const { return {}; }
  virtual void save(serialize::OutputArchive&) const {}
  virtual void load(serialize::InputArchive&) {}
  virtual bool runs_last() const { return false; }
  /// A logger that belongs to the callback and gets the run's values.
  virtual std::shared_ptr<Logger> logger() { return nullptr; }
};

}  // namespace taeda::train
