// SPDX-License-Identifier: Apache-2.0
// The training loop: epochs, validation, checkpoints, callbacks and loggers around a train::Module.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "taeda/core/generator.h"
#include "taeda/train/callback.h"
#include "taeda/train/loader_ref.h"
#include "taeda/train/logger.h"
#include "taeda/train/module.h"
#include "taeda/train/options.h"

namespace taeda::train {

struct LRFinderOptions;
struct LRFinderResult;

enum class Stage { kIdle, kTrain, kValidate, kTest, kPredict };

/// Where a run stands. Saved in checkpoints.
struct Progress {
  int64_t epoch = 0;          ///< epochs completed
  int64_t global_step = 0;    ///< optimizer steps
  int64_t total_batches = 0;  ///< batches trained on in all epochs
  int64_t batch = 0;          ///< batches of the epoch under way
  int64_t accumulated = 0;    ///< batches whose gradients wait for the next step
  int64_t validated_at = -1;  ///< `total_batches` at the last validation
  bool epoch_open = false;    ///< an epoch is under way
  bool left_early = false;    ///< the loader was not read to its end in the last epoch
  bool val_left_early = false;  ///< the same of the validation loader
};

/// What came of a fit.
struct FitResult {
  int64_t epochs = 0, steps = 0;
  double seconds = 0;
  std::string stopped_by;             ///< "max_epochs", "max_steps", "max_minutes", "interrupt" or what `stop` was told
  std::map<std::string, double> metrics;
  std::string best_checkpoint, last_checkpoint;
};

/// `Trainer({.max_epochs = 10}).fit(model, loader);`
class TAEDA_API Trainer {
 public:
  explicit Trainer(TrainerOptions options = {});
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  ~Trainer();

  /// Trains. `model`: a train::Module, or a pointer or holder of one. Throws Error when the loss is not finite (see `check_finite`).
  template <class M>
  FitResult fit(M&& model, LoaderRef train, LoaderRef val = {}) {
    return fit_module(as_module(model), std::move(train), std::move(val));
  }
  /// One pass in evaluation mode; returns the values that the steps reported.
  template <class M>
  std::map<std::string, double> validate(M&& model, LoaderRef loader) {
    return evaluate(as_module(model), std::move(loader), Stage::kValidate);
  }
  template <class M>
  std::map<std::string, double> test(M&& model, LoaderRef loader) {
    return evaluate(as_module(model), std::move(loader), Stage::kTest);
  }
  /// What `predict_step` gives for each batch.
  template <class M>
  std::vector<Tensor> predict(M&& model, LoaderRef loader) {
    return predict_module(as_module(model), std::move(loader));
  }

  const TrainerOptions& options() const { return options_; }
  const Progress& progress() const { return progress_; }
  int64_t epoch() const { return progress_.epoch; }
  int64_t global_step() const { return progress_.global_step; }
  /// Epochs to do; -1 without a limit.
  int64_t max_epochs() const { return max_epochs_; }
  /// Batches of an epoch, as limited; -1 where the loader does not know its size.
  int64_t batches_per_epoch() const { return batches_per_epoch_; }
  int64_t val_batches() const { return val_batches_; }
  /// Optimizer steps of the whole run; -1 where that is not known. There from `configure_optimizers` on.
  int64_t estimated_steps() const;
  Stage stage() const { return stage_; }
  /// Whether the run is checked before it starts (num_sanity_val_steps).
  bool is_sanity_check() const { return sanity_check_; }
  const std::vector<std::shared_ptr<optim::Optimizer>>& optimizers() const { return configured_.optimizers; }
  const std::vector<ScheduleConfig>& schedules() const { return configured_.schedules; }
  /// The rate of a group of the first optimizer.
  double lr(size_t group = 0) const;
  /// The latest value of every name that was reported.
  std::map<std::string, double> metrics() const;
  /// Throws ValueError, listing the names there are, when `name` was never reported.
  double metric(const std::string& name) const;
  /// The loss of the last batch, as a number.
  double last_loss() const { return last_loss_; }
  double seconds() const;
  const LogBook& train_log() const { return train_log_; }
  const LogBook& eval_log() const { return eval_log_; }
  const std::vector<std::shared_ptr<Callback>>& callbacks() const { return callbacks_; }
  std::vector<std::shared_ptr<Logger>>& loggers() { return options_.loggers; }
  LoaderRef& train_loader() { return train_loader_; }
  LoaderRef& val_loader() { return val_loader_; }
  /// The first callback of a class, or null.
  template <class C>
  C* find() const {
    for (const auto& callback : callbacks_) {
      if (auto* found = dynamic_cast<C*>(callback.get())) return found;
    }
    return nullptr;
  }

  /// Ends the run after the batch under way; `why` becomes FitResult::stopped_by.
  void stop(std::string why);
  bool is_stopping() const { return !stop_reason_.empty(); }
  const std::string& stop_reason() const { return stop_reason_; }
  /// Changes options that may change while training.
  void set_accumulate_grad_batches(int64_t n) { options_.accumulate_grad_batches = n; }

  /// Writes everything the run needs to go on exactly: model, optimizers, schedules, generator, loader positions, callbacks, counters.
  /// Replaced atomically. `weights_only`: only the model.
  void save_checkpoint(const std::string& path, bool weights_only = false);
  /// Takes a checkpoint over; `fit` does it for `resume_from`.
  void load_checkpoint(const std::string& path);
  /// Runs `training_step` over the training batches (at most `limit`; -1: all) without gradients and reports, for what layers learn by being run,
  /// such as the statistics of batch norms. The loader's place and the default generator stay as they are.
  void replay_training(int64_t limit = -1);
  /// Adds values to the published ones and hands them to the loggers.
  void publish(const MetricList& values);
  /// Reports of the running step; called by Module::log.
  void record(std::string_view name, double value, const LogOptions& options);
  void record(std::string_view name, Metric& metric, const LogOptions& options);
  void show_predictions(Module& model, const Tensor& scores, const Batch& batch);

 private:
  friend LRFinderResult find_lr(Module& model, LoaderRef loader, const LRFinderOptions& options);
  template <class M>
  static Module& as_module(M& model) {
    if constexpr (std::is_base_of_v<Module, std::remove_cvref_t<M>>) return model;
    else return *model;
  }

  FitResult fit_module(Module& model, LoaderRef train, LoaderRef val);
  std::map<std::string, double> evaluate(Module& model, LoaderRef loader, Stage stage);
  std::vector<Tensor> predict_module(Module& model, LoaderRef loader);

  void attach(Module& model);
  void setup_fit(Module& model, LoaderRef train, LoaderRef val);
  void count_batches();
  void setup_optimizers();
  void run_epochs();
  void open_epoch();
  void train_epoch();
  bool next_batch(Batch& batch);
  void train_batch(Batch& batch);
  Tensor learn(const Batch& batch);
  void optimizer_step();
  void after_batch();
  void close_epoch();
  bool validation_due() const;
  bool in_validated_epoch() const;
  void validate_now();
  void validate_at_end();
  void eval_pass(LoaderRef& loader, Stage stage, Amount limit);
  void step_schedules(Interval interval);
  void check_limits();
  void log_step_values();
  void finish_fit(FitResult& result);
  void take_callbacks();
  void keep_generator();
  [[noreturn]] void on_bad_loss(const Batch& batch, double loss);
  void save_gradients(serialize::OutputArchive& archive) const;
  void load_gradients(serialize::InputArchive& archive);
  template <class F>
  void each(const F& f) {
    for (const auto& callback : callbacks_) f(*callback);
  }

  TrainerOptions options_;
  std::vector<std::shared_ptr<Callback>> callbacks_;
  Module* model_ = nullptr;
  Optimizers configured_;
  LoaderRef train_loader_, val_loader_;
  std::vector<Batch> overfit_;
  int64_t max_epochs_ = -1, batches_per_epoch_ = -1, val_batches_ = -1, val_every_ = -1;
  Progress progress_;
  std::function<Tensor(const Batch&)> learn_;  ///< `learn`, compiled; empty: as it is
  Stage stage_ = Stage::kIdle;
  bool sanity_check_ = false;
  bool resumed_ = false;
  bool validation_cut_ = false;  ///< by an interrupt
  LogBook train_log_, eval_log_;
  std::map<std::string, double> published_;
  int64_t batch_rows_ = 1;
  bool model_logs_loss_ = false;
  double last_loss_ = 0;
  MetricList row_;
  std::string stop_reason_;
  Generator kept_generator_;  ///< as before the batch under way
  std::chrono::steady_clock::time_point started_;
  double seconds_before_ = 0;
};

}  // namespace taeda::train
