// SPDX-License-Identifier: Apache-2.0
// Keeping the best and the last checkpoints; ending a run that no longer improves.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "taeda/io/folder.h"
#include "taeda/train/callbacks.h"
#include "taeda/train/trainer.h"

namespace taeda::train {

namespace fs = std::filesystem;

Mode known_mode(const std::string& metric) {
  std::string name = metric;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has = [&](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(), [&](const char* word) { return name.find(word) != std::string::npos; });
  };
  const bool lower = has({"loss", "error", "mse", "mae", "perplexity", "ppl", "nll", "wer", "cer"});
  const bool higher = has({"acc", "f1", "auc", "auroc", "precision", "recall", "iou", "r2", "score", "bleu", "dice", "psnr", "ssim"});
  TAEDA_CHECK_VALUE(lower != higher, "[callbacks] the direction of a followed metric must be known: got '", metric,
                    "'; say mode = Mode::kMin or Mode::kMax");
  return lower ? Mode::kMin : Mode::kMax;
}

ModelCheckpoint::ModelCheckpoint(CheckpointOptions options) : options_(std::move(options)) {
  if (!options_.monitor.empty()) mode_ = options_.mode ? *options_.mode : known_mode(options_.monitor);
  TAEDA_CHECK_VALUE(options_.every_n_epochs >= 1, "[ModelCheckpoint] every_n_epochs must be at least 1: got ", options_.every_n_epochs,
                    "; 1 saves after every epoch");
}

std::string ModelCheckpoint::best_path() const { return kept_.empty() || options_.monitor.empty() ? std::string() : kept_.front().first; }
double ModelCheckpoint::best_value() const { return kept_.empty() ? std::nan("") : kept_.front().second; }

void ModelCheckpoint::on_fit_start(Trainer& trainer, Module&) {
  if (options_.dir.empty()) {
    TAEDA_CHECK_VALUE(!trainer.options().out_dir.empty(),
                      "[ModelCheckpoint] checkpoints need a folder: got none; set CheckpointOptions::dir or TrainerOptions::out_dir");
    options_.dir = (fs::path(trainer.options().out_dir) / "checkpoints").string();
  }
  io::make_folder(options_.dir);
  last_time_ = std::chrono::steady_clock::now();
}

bool ModelCheckpoint::seen_in_validation(const Trainer& trainer) const {
  const auto& slots = trainer.eval_log().slots();
  return std::any_of(slots.begin(), slots.end(), [&](const LogBook::Slot& s) { return s.name == options_.monitor && s.reported; });
}

void ModelCheckpoint::on_train_batch_end(Trainer& trainer, Module&, const Batch&, const Tensor&) {
  const int64_t step = trainer.global_step();
  bool due = options_.every_n_steps > 0 && step != last_step_ && step % options_.every_n_steps == 0;
  if (options_.every_n_minutes > 0) {
    due |= std::chrono::steady_clock::now() - last_time_ >= std::chrono::duration<double>(options_.every_n_minutes * 60);
  }
  if (!due || trainer.progress().accumulated > 0) return;
  last_step_ = step;
  save_last(trainer);
}

void ModelCheckpoint::on_validation_end(Trainer& trainer, Module&) {
  if (trainer.is_sanity_check() || !trainer.progress().epoch_open) return;
  if (!options_.monitor.empty() && seen_in_validation(trainer)) save_best(trainer);
  if (options_.save_last) save_last(trainer);
}

void ModelCheckpoint::on_train_epoch_end(Trainer& trainer, Module&) {
  if (trainer.epoch() % options_.every_n_epochs != 0) return;
  if (!options_.monitor.empty() && !seen_in_validation(trainer)) save_best(trainer);
  if (options_.save_last) save_last(trainer);
}

void ModelCheckpoint::on_fit_end(Trainer& trainer, Module&) {
  if (options_.save_last) save_last(trainer);
}

void ModelCheckpoint::save_best(Trainer& trainer) {
  const double value = trainer.metric(options_.monitor);
  if (std::isnan(value)) return;
  const auto better = [&](double a, double b) { return mode_ == Mode::kMin ? a < b : a > b; };
  const bool full = options_.save_top_k >= 0 && static_cast<int64_t>(kept_.size()) >= options_.save_top_k;
  if (options_.save_top_k == 0 || (full && !better(value, kept_.back().second))) return;
  const std::string path = (fs::path(options_.dir) / str("epoch", trainer.epoch() + (trainer.progress().epoch_open ? 1 : 0), "-step",
                                                         trainer.global_step(), ".pt")).string();
  std::erase_if(kept_, [&](const auto& entry) { return entry.first == path; });
  const auto place = std::find_if(kept_.begin(), kept_.end(), [&](const auto& entry) { return better(value, entry.second); });
  const bool best = place == kept_.begin();
  if (best) best_step_ = trainer.global_step();
  kept_.insert(place, {path, value});
  std::string dropped;
  if (options_.save_top_k > 0 && static_cast<int64_t>(kept_.size()) > options_.save_top_k) {
    dropped = kept_.back().first;
    kept_.pop_back();
  }
  trainer.save_checkpoint(path);
  if (best && options_.safetensors) trainer.save_checkpoint((fs::path(options_.dir) / "best.safetensors").string(), true);
  std::error_code ignored;
  if (!dropped.empty()) fs::remove(dropped, ignored);
}

void ModelCheckpoint::save_last(Trainer& trainer) {
  last_path_ = (fs::path(options_.dir) / "last.pt").string();
  last_time_ = std::chrono::steady_clock::now();
  trainer.save_checkpoint(last_path_);
}

void ModelCheckpoint::save(serialize::OutputArchive& archive) const {
  Value::List paths, values;
  for (const auto& [path, value] : kept_) {
    paths.emplace_back(path);
    values.emplace_back(value);
  }
  archive.write("paths", Value(std::move(paths)));
  archive.write("values", Value(std::move(values)));
  archive.write("last_step", Value(last_step_));
  archive.write("best_step", Value(best_step_));
}

void ModelCheckpoint::load(serialize::InputArchive& archive) {
  Value paths, values, step;
  archive.read("paths", paths);
  archive.read("values", values);
  archive.read("last_step", step);
  kept_.clear();
  for (size_t i = 0; i < paths.list().size(); ++i) kept_.emplace_back(paths.list()[i].string(), values.list().at(i).to_double());
  last_step_ = step.to_int();
  if (archive.try_read("best_step", step)) best_step_ = step.to_int();
}

EarlyStopping::EarlyStopping(EarlyStoppingOptions options) : options_(std::move(options)) {
  mode_ = options_.mode ? *options_.mode : known_mode(options_.monitor);
}
void EarlyStopping::on_fit_start(Trainer& trainer, Module&) {
  if (trainer.progress().total_batches > 0) return;  // goes on
  any_ = false;
  waited_ = 0;
}
void EarlyStopping::on_validation_end(Trainer& trainer, Module&) {
  if (trainer.is_sanity_check() || !trainer.progress().epoch_open) return;
  for (const auto& slot : trainer.eval_log().slots()) {
    if (slot.name == options_.monitor && slot.reported) check(trainer);
  }
}
void EarlyStopping::on_train_epoch_end(Trainer& trainer, Module&) {
  for (const auto& slot : trainer.eval_log().slots()) {
    if (slot.name == options_.monitor) return;  // checked at validation
  }
  check(trainer);
}
void EarlyStopping::check(Trainer& trainer) {
  const double value = trainer.metric(options_.monitor);
  const double sign = mode_ == Mode::kMin ? 1 : -1;
  if (!any_ || sign * value < sign * best_ - options_.min_delta) {
    best_ = value;
    any_ = true;
    waited_ = 0;
  } else if (++waited_ >= options_.patience) {
    trainer.stop(str("early stopping: ", options_.monitor, " did not improve for ", waited_, " checks"));
  }
  if (!std::isfinite(value)) trainer.stop(str("early stopping: ", options_.monitor, " is ", value));
  if (options_.stopping_threshold && sign * value <= sign * *options_.stopping_threshold) {
    trainer.stop(str("early stopping: ", options_.monitor, " reached ", value));
  }
}
void EarlyStopping::save(serialize::OutputArchive& archive) const {
  archive.write("best", Value(best_));
  archive.write("any", Value(any_));
  archive.write("waited", Value(waited_));
}
void EarlyStopping::load(serialize::InputArchive& archive) {
  Value best, any, waited;
  archive.read("best", best);
  archive.read("any", any);
  archive.read("waited", waited);
  best_ = best.to_double();
  any_ = any.to_bool();
  waited_ = waited.to_int();
}

}  // namespace taeda::train
