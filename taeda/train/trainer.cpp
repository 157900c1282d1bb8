// SPDX-License-Identifier: Apache-2.0
// The trainer outside its loop: setting up, evaluation, reports.
#include "taeda/compile/compile.h"
#include "taeda/train/trainer.h"

#include <algorithm>
#include <cmath>

#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/autograd.h"
#include "taeda/io/folder.h"
#include "taeda/ops/functions.h"
#include "taeda/train/callbacks.h"
#include "taeda/train/progress.h"
#include "taeda/train/summary.h"

namespace taeda::train {

Trainer::Trainer(TrainerOptions options) : options_(std::move(options)) {
  const TrainerOptions& o = options_;
  TAEDA_CHECK_VALUE(o.accumulate_grad_batches >= 1, "[Trainer] accumulate_grad_batches must be at least 1: got ",
                    o.accumulate_grad_batches, "; 1 steps after every batch");
  TAEDA_CHECK_VALUE(o.log_every_n_steps >= 1, "[Trainer] log_every_n_steps must be at least 1: got ", o.log_every_n_steps, "; give one");
  TAEDA_CHECK_VALUE(o.check_val_every_n_epoch >= 1 || (o.check_val_every_n_epoch == 0 && o.val_check_interval.is_count()),
                    "[Trainer] check_val_every_n_epoch must be at least 1, or 0 beside a val_check_interval in batches: got ", o.check_val_every_n_epoch,
                    "; leave the validation loader out to validate never");
  TAEDA_CHECK_VALUE(o.gradient_clip >= 0 && o.gradient_clip_value >= 0, "[Trainer] gradients can be clipped at positive bounds: got ",
                    o.gradient_clip, " and ", o.gradient_clip_value, "; 0 is no clipping");
  TAEDA_CHECK_VALUE(o.detect_anomaly == "off" || o.detect_anomaly == "cheap" || o.detect_anomaly == "full",
                    "[Trainer] detect_anomaly must be \"off\", \"cheap\" or \"full\": got \"", o.detect_anomaly, "\"; correct it");
  max_epochs_ = o.max_epochs >= 0 ? o.max_epochs : o.max_steps >= 0 || o.max_minutes > 0 ? -1 : 1000;
  if (o.fast_dev_run > 0) {
    max_epochs_ = 1;
    options_.max_steps = -1;
    options_.loggers.clear();
    options_.checkpoints = false;
    options_.num_sanity_val_steps = 0;
  }
  take_callbacks();
}

Trainer::~Trainer() {
  if (model_ && model_->trainer_ == this) model_->trainer_ = nullptr;
}

void Trainer::take_callbacks() {
  callbacks_ = options_.callbacks;
  for (const auto& callback : callbacks_) TAEDA_CHECK_VALUE(callback, "[Trainer] callbacks must exist: got an empty pointer; leave it out");
  if (options_.fast_dev_run > 0) std::erase_if(callbacks_, [](const auto& c) { return dynamic_cast<const ModelCheckpoint*>(c.get()); });
  if (!options_.quiet) {
    if (options_.model_summary && !find<ModelSummary>()) callbacks_.insert(callbacks_.begin(), std::make_shared<ModelSummary>());
  }
  if (options_.checkpoints && !options_.out_dir.empty() && !find<ModelCheckpoint>()) {
    callbacks_.push_back(std::make_shared<ModelCheckpoint>(CheckpointOptions{}));
  }
  if (!options_.quiet && options_.progress_bar && !find<ProgressBar>()) callbacks_.push_back(std::make_shared<ProgressBar>());
  for (const auto& callback : callbacks_) {
    if (options_.fast_dev_run > 0) break;
    if (const auto logger = callback->logger()) options_.loggers.push_back(logger);
  }
  std::stable_partition(callbacks_.begin(), callbacks_.end(), [](const auto& c) { return !c->runs_last(); });
}

void Trainer::attach(Module& model) {
  model_ = &model;
  model.trainer_ = this;
}

FitResult Trainer::fit_module(Module& model, LoaderRef train, LoaderRef val) {
  setup_fit(model, std::move(train), std::move(val));
  const autograd::DetectAnomalyGuard guard(options_.detect_anomaly == "off"     ? autograd::anomaly_level()
                                           : options_.detect_anomaly == "cheap" ? autograd::AnomalyLevel::kCheap
                                                                                : autograd::AnomalyLevel::kFull);
  FitResult result;
  try {
    if (!resumed_ && !options_.hyperparameters.empty()) {
      for (const auto& logger : options_.loggers) logger->log_hyperparameters(options_.hyperparameters);
    }
    model_->on_fit_start();
    each([&](Callback& c) { c.on_fit_start(*this, *model_); });
    if (options_.num_sanity_val_steps > 0 && val_loader_ && !resumed_) {
      sanity_check_ = true;
      eval_pass(val_loader_, Stage::kValidate, Amount(options_.num_sanity_val_steps));
      sanity_check_ = false;
    }
    model_->train();
    stage_ = Stage::kTrain;
    run_epochs();
    if (progress_.epoch_open) validate_at_end();
    finish_fit(result);
  } catch (...) {
    sanity_check_ = false;
    const std::exception_ptr error = std::current_exception();
    each([&](Callback& c) { c.on_exception(*this, *model_, error); });
    for (const auto& logger : options_.loggers) logger->flush();
    stage_ = Stage::kIdle;
    model_->trainer_ = nullptr;
    throw;
  }
  return result;
}

void Trainer::setup_fit(Module& model, LoaderRef train, LoaderRef val) {
  TAEDA_CHECK_VALUE(train, "[fit] there must be a training loader: got none; make one with make_data_loader");
  if (options_.seed) manual_seed(*options_.seed);
  attach(model);
  train_loader_ = std::move(train);
  val_loader_ = std::move(val);
  progress_ = {};
  published_.clear();
  train_log_ = {};
  eval_log_ = {};
  stop_reason_.clear();
  model_logs_loss_ = false;
  validation_cut_ = false;
  seconds_before_ = 0;
  started_ = std::chrono::steady_clock::now();
  if (!options_.out_dir.empty()) io::make_folder(options_.out_dir);
  overfit_.clear();
  if (options_.overfit_batches > 0) {
    train_loader_->begin();
    while (static_cast<int64_t>(overfit_.size()) < options_.overfit_batches) {
      auto batch = train_loader_->next();
      if (!batch) break;
      overfit_.push_back(std::move(*batch));
    }
  }
  count_batches();
  setup_optimizers();
  learn_ = nullptr;
  if (options_.compile) {
    learn_ = [step = taeda::compile([this](const Batch& batch) { return learn(batch); })](const Batch& batch) { return step(batch); };
  }
  resumed_ = false;
  if (!options_.resume_from.empty()) load_checkpoint(options_.resume_from);
}

void Trainer::count_batches() {
  const auto size = train_loader_->size();
  batches_per_epoch_ = size ? static_cast<int64_t>(*size) : -1;
  if (options_.overfit_batches > 0) batches_per_epoch_ = static_cast<int64_t>(overfit_.size());
  const Amount limit = options_.fast_dev_run > 0 ? Amount(options_.fast_dev_run) : options_.limit_train_batches;
  batches_per_epoch_ = limit.of(batches_per_epoch_);
  TAEDA_CHECK_VALUE(batches_per_epoch_ != 0, "[fit] an epoch must have batches: got none (loader of ", size ? *size : 0,
                    " batches); raise limit_train_batches, or lower the batch size where the loader drops the last batch");
  val_batches_ = val_every_ = -1;
  if (!val_loader_) return;
  const auto val_size = val_loader_->size();
  const Amount val_limit = options_.fast_dev_run > 0 ? Amount(options_.fast_dev_run) : options_.limit_val_batches;
  val_batches_ = val_limit.of(val_size ? static_cast<int64_t>(*val_size) : -1);
  const Amount every = options_.val_check_interval;
  if (every.is_count()) {
    val_every_ = every.of(-1);
  } else if (batches_per_epoch_ >= 0) {
    val_every_ = std::max<int64_t>(1, every.of(batches_per_epoch_));
  }
  if (val_batches_ == 0) val_every_ = -1;
}

void Trainer::setup_optimizers() {
  configured_ = model_->configure_optimizers();
  if (options_.adjust_optimizers) options_.adjust_optimizers(configured_);
  TAEDA_CHECK_VALUE(!configured_.optimizers.empty() || !model_->automatic_optimization(),
                    "[fit] configure_optimizers must give an optimizer: got none; return one, such as optim::Adam(parameters(), 1e-3)");
  for (const ScheduleConfig& config : configured_.schedules) {
    TAEDA_CHECK_VALUE(config.frequency >= 1 && (config.scheduler || config.plateau),
                      "[fit] a schedule must exist and have a positive frequency: got frequency ", config.frequency, "; correct it");
    TAEDA_CHECK_VALUE(config.scheduler || !config.monitor.empty(), "[fit] a plateau schedule needs a metric to follow: got none; name it");
  }
}

void Trainer::finish_fit(FitResult& result) {
  model_->on_fit_end();
  each([&](Callback& c) { c.on_fit_end(*this, *model_); });
  for (const auto& logger : options_.loggers) logger->close();
  result.epochs = progress_.epoch;
  result.steps = progress_.global_step;
  result.seconds = seconds();
  result.stopped_by = stop_reason_;
  result.metrics = metrics();
  if (const auto* checkpoint = find<ModelCheckpoint>()) {
    result.best_checkpoint = checkpoint->best_path();
    result.last_checkpoint = checkpoint->last_path();
  }
  stage_ = Stage::kIdle;
  model_->trainer_ = nullptr;
}

std::map<std::string, double> Trainer::evaluate(Module& model, LoaderRef loader, Stage stage) {
  TAEDA_CHECK_VALUE(loader, "[validate] there must be a loader: got none; make one with make_data_loader");
  Trainer* const before = model.trainer_;
  attach(model);
  const bool training = model.is_training();
  eval_log_ = {};
  eval_pass(loader, stage, stage == Stage::kTest ? options_.limit_test_batches : options_.limit_val_batches);
  std::map<std::string, double> out;
  for (const auto& [name, value] : eval_log_.epoch_values()) out[name] = value;
  model.train(training);
  stage_ = Stage::kIdle;
  model.trainer_ = before;
  return out;
}

std::vector<Tensor> Trainer::predict_module(Module& model, LoaderRef loader) {
  TAEDA_CHECK_VALUE(loader, "[predict] there must be a loader: got none; make one with make_data_loader");
  const auto size = loader->size();
  const int64_t batches = options_.limit_predict_batches.of(size ? static_cast<int64_t>(*size) : -1);
  Trainer* const before = model.trainer_;
  attach(model);
  const bool training = model.is_training();
  stage_ = Stage::kPredict;
  model.eval();
  const NoGradGuard no_grad;
  std::vector<Tensor> out;
  loader->begin();
  for (int64_t i = 0; batches < 0 || i < batches; ++i) {
    auto batch = loader->next();
    if (!batch) break;
    out.push_back(model.predict_step(*batch, i));
    each([&](Callback& c) { c.on_eval_batch_end(*this, model, *batch); });
  }
  model.train(training);
  stage_ = Stage::kIdle;
  model.trainer_ = before;
  return out;
}

int64_t Trainer::estimated_steps() const {
  const int64_t limit = options_.max_steps;
  if (max_epochs_ < 0 || batches_per_epoch_ < 0) return limit;
  const int64_t window = options_.accumulate_grad_batches;
  const int64_t steps = max_epochs_ * ((batches_per_epoch_ + window - 1) / window);
  return limit >= 0 ? std::min(limit, steps) : steps;
}

double Trainer::lr(size_t group) const {
  TAEDA_CHECK(!configured_.optimizers.empty(), "[Trainer] there is a rate while a run is under way: got no optimizer; call fit first");
  const auto& groups = configured_.optimizers[0]->param_groups();
  TAEDA_CHECK_INDEX(group < groups.size(), "[Trainer] the group must be one of ", groups.size(), ": got ", group, "; count from 0");
  return groups[group].options().get_lr();
}

std::map<std::string, double> Trainer::metrics() const {
  std::map<std::string, double> out = published_;
  if (progress_.epoch_open) {
    MetricList steps;
    train_log_.append_step_values(steps);
    for (const auto& [name, value] : steps) out[name] = value;
  }
  return out;
}

double Trainer::metric(const std::string& name) const {
  const auto all = metrics();
  const auto found = all.find(name);
  if (found != all.end()) return found->second;
  std::string names;
  for (const auto& [known, value] : all) names += (names.empty() ? "" : ", ") + known;
  TAEDA_CHECK_VALUE(false, "[Trainer] a followed metric must be reported with log(): got '", name, "'; reported are ",
                    names.empty() ? "none" : names);
  return 0;
}

double Trainer::seconds() const {
  return seconds_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

void Trainer::stop(std::string why) {
  if (stop_reason_.empty()) stop_reason_ = std::move(why);
}

void Trainer::record(std::string_view name, double value, const LogOptions& options) {
  const double weight = static_cast<double>(options.batch_size > 0 ? options.batch_size : batch_rows_);
  if (stage_ == Stage::kTrain) {
    if (name == "train_loss") model_logs_loss_ = true;
    train_log_.record(name, value, options, weight, true);
  } else if (stage_ == Stage::kTest && name.substr(0, 4) == "val_") {
    eval_log_.record("test_" + std::string(name.substr(4)), value, options, weight, false);
  } else {
    eval_log_.record(name, value, options, weight, false);
  }
}

void Trainer::record(std::string_view name, Metric& metric, const LogOptions& options) {
  if (stage_ == Stage::kTrain) train_log_.record(name, metric, options, true);
  else if (stage_ == Stage::kTest && name.substr(0, 4) == "val_") eval_log_.record("test_" + std::string(name.substr(4)), metric, options, false);
  else eval_log_.record(name, metric, options, false);
}

void Trainer::show_predictions(Module& model, const Tensor& scores, const Batch& batch) {
  if (stage_ == Stage::kTrain || sanity_check_) return;
  each([&](Callback& c) { c.on_predictions(*this, model, scores, batch); });
}

}  // namespace taeda::train
