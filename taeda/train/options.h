// SPDX-License-Identifier: Apache-2.0
// How a run is done: the options of the trainer, all named and with defaults.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "taeda/core/export.h"

namespace taeda::train {

class Callback;
class Logger;
class Optimizers;

/// A number of batches (`10`), or a part of all (`0.5`; 1.0 is all).
class Amount {
 public:
  template <class T>
    requires(std::is_integral_v<T>)
  Amount(T count) : count_(static_cast<int64_t>(count)) {}  // NOLINT(google-explicit-constructor): `.limit_train_batches = 10`
  template <class T>
    requires(std::is_floating_point_v<T>)
  Amount(T part) : part_(part) {}  // NOLINT(google-explicit-constructor)
  bool is_count() const { return count_ >= 0; }
  bool is_all() const { return !is_count() && part_ >= 1; }
  /// Batches of `total`; for a part of an unknown total (-1), -1.
  int64_t of(int64_t total) const {
    if (is_count()) return total < 0 ? count_ : std::min(count_, total);
    return total < 0 ? -1 : static_cast<int64_t>(static_cast<double>(total) * std::min(part_, 1.0));
  }

 private:
  int64_t count_ = -1;
  double part_ = 1;
};

struct TrainerOptions {
  int64_t max_epochs = -1;              ///< -1: 1000, or no limit when max_steps is given
  int64_t max_steps = -1;               ///< optimizer steps; -1: no limit
  double max_minutes = 0;               ///< 0: no limit
  int64_t accumulate_grad_batches = 1;  ///< batches whose gradients are averaged for one step
  double gradient_clip = 0;             ///< largest joint norm of the gradients; 0: no clipping
  double gradient_clip_value = 0;       ///< largest absolute value of a gradient's element; 0: no clipping
  Amount val_check_interval = 1.0;      ///< validation after so many batches, or that part of an epoch
  int64_t check_val_every_n_epoch = 1;  ///< 0: val_check_interval counts batches on from epoch to epoch
  bool validate_at_end = false;         ///< once more when the run ends after batches that were not validated
  Amount limit_train_batches = 1.0;
  Amount limit_val_batches = 1.0;
  Amount limit_test_batches = 1.0;
  Amount limit_predict_batches = 1.0;
  int64_t overfit_batches = 0;      ///< trains and validates on the first so many batches, the same ones every epoch
  int64_t fast_dev_run = 0;         ///< one epoch of so many batches of everything, without checkpoints and loggers
  int64_t num_sanity_val_steps = 0;  ///< validation batches before the training starts
  int64_t log_every_n_steps = 50;
  std::optional<uint64_t> seed = std::nullopt;  ///< of the default generator, set when fit starts
  bool deterministic = true;        ///< results do not depend on the number of threads (always so at present)
  bool compile = false;             ///< runs each training step, optimizer included, as a compiled function (same bits)
  bool quiet = false;               ///< prints nothing
  bool progress_bar = true;
  bool model_summary = true;
  bool checkpoints = true;          ///< keeps the last checkpoint in out_dir when no ModelCheckpoint is given
  bool check_finite = true;         ///< stops on a loss that is NaN or infinite
  std::string detect_anomaly = "off";  ///< "off", "cheap" or "full" for the whole run
  std::string out_dir = "";         ///< checkpoints, logs, reports; empty: nothing is written
  std::string resume_from = "";     ///< a checkpoint to go on from
  std::vector<std::pair<std::string, std::string>> hyperparameters = {};  ///< told to the loggers when a run starts
  /// Changes what the model's configure_optimizers gave: other schedules, say.
  std::function<void(Optimizers&)> adjust_optimizers = {};
  std::vector<std::shared_ptr<Callback>> callbacks = {};
  std::vector<std::shared_ptr<Logger>> loggers = {};
  /// Set by a signal handler: the run ends after the batch under way, with a checkpoint.
  const std::atomic<bool>* interrupt = nullptr;
};

}  // namespace taeda::train
