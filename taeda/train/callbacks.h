// SPDX-License-Identifier: Apache-2.0
// The callbacks that come with the trainer.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "taeda/train/callback.h"

namespace taeda::train {

/// Which way a metric improves.
enum class Mode { kMin, kMax };

/// The direction of a metric known by its name ("val_loss", "val_accuracy", …). Throws ValueError that asks for it when it is not.
TAEDA_API Mode known_mode(const std::string& metric);

struct CheckpointOptions {
  std::string dir = "";                    ///< empty: "checkpoints" in the trainer's out_dir
  std::string monitor = "";                ///< keeps the best by this metric
  std::optional<Mode> mode = std::nullopt;  ///< by default known from the metric's name
  int64_t save_top_k = 1;                  ///< -1: all
  bool save_last = true;                   ///< last.pt, after each validation and epoch and at the end
  int64_t every_n_steps = 0;               ///< also last.pt after so many optimizer steps
  double every_n_minutes = 0;
  int64_t every_n_epochs = 1;
  bool safetensors = true;                 ///< the best weights also as best.safetensors
};

/// Writes checkpoints; `Trainer` options `resume_from` takes any of them.
class TAEDA_API ModelCheckpoint : public Callback {
 public:
  explicit ModelCheckpoint(CheckpointOptions options = {});
  /// The best file so far, and its value; empty while there is none.
  std::string best_path() const;
  double best_value() const;
  std::string last_path() const { return last_path_; }
  /// Optimizer steps done when the best file was written; -1 while there is none.
  int64_t best_step() const { return best_step_; }
  const std::string& monitor() const { return options_.monitor; }
  /// The files kept, best first.
  const std::vector<std::pair<std::string, double>>& kept() const { return kept_; }

  void on_fit_start(Trainer& trainer, Module& model) override;
  void on_train_batch_end(Trainer& trainer, Module& model, const Batch& batch, const Tensor& loss) override;
  void on_validation_end(Trainer& trainer, Module& model) override;
  void on_train_epoch_end(Trainer& trainer, Module& model) override;
  void on_fit_end(Trainer& trainer, Module& model) override;
  std::string state_name() const override { return "ModelCheckpoint" + (options_.monitor.empty() ? "" : "_" + options_.monitor); }
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  bool runs_last() const override { return true; }

 private:
  void save_best(Trainer& trainer);
  void save_last(Trainer& trainer);
  bool seen_in_validation(const Trainer& trainer) const;

  CheckpointOptions options_;
  Mode mode_ = Mode::kMin;
  std::vector<std::pair<std::string, double>> kept_;
  std::string last_path_;
  int64_t last_step_ = -1;  ///< optimizer steps at the last save by step
  int64_t best_step_ = -1;
  std::chrono::steady_clock::time_point last_time_;
};

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  std::optional<Mode> mode = std::nullopt;
  int64_t patience = 3;      ///< checks without improvement before the run ends
  double min_delta = 0;      ///< what counts as improvement
  std::optional<double> stopping_threshold = std::nullopt;  ///< good enough
};

/// Ends the run when a metric no longer improves.
class TAEDA_API EarlyStopping : public Callback {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options = {});
  void on_fit_start(Trainer& trainer, Module& model) override;
  void on_validation_end(Trainer& trainer, Module& model) override;
  void on_train_epoch_end(Trainer& trainer, Module& model) override;
  std::string state_name() const override { return "EarlyStopping_" + options_.monitor; }
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  void check(Trainer& trainer);
  EarlyStoppingOptions options_;
  Mode mode_ = Mode::kMin;
  double best_ = 0;
  bool any_ = false;
  int64_t waited_ = 0;
};

}  // namespace taeda::train
