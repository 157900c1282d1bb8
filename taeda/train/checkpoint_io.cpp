// SPDX-License-Identifier: Apache-2.0
// The whole state of a run in one file, and what is done when a loss is not finite.
#include <cmath>
#include <filesystem>

#include "taeda/autograd/anomaly.h"
#include "taeda/core/version.h"
#include "taeda/io/archive.h"
#include "taeda/ops/functions.h"
#include "taeda/train/trainer.h"

namespace taeda::train {

namespace {

constexpr int64_t kCheckpointVersion = 1;

/// The counters by name, for writing and reading.
template <class P, class F>
void visit(P& progress, F&& f) {
  f("epoch", progress.epoch);
  f("global_step", progress.global_step);
  f("total_batches", progress.total_batches);
  f("batch", progress.batch);
  f("accumulated", progress.accumulated);
  f("validated_at", progress.validated_at);
  f("epoch_open", progress.epoch_open);
  f("left_early", progress.left_early);
  f("val_left_early", progress.val_left_early);
}

template <class T>
void write_part(serialize::OutputArchive& archive, const std::string& name, T&& write) {
  serialize::OutputArchive part;
  write(part);
  archive.write(name, part);
}
template <class T>
bool read_part(serialize::InputArchive& archive, const std::string& name, T&& read) {
  serialize::InputArchive part;
  if (!archive.try_read(name, part)) return false;
  read(part);
  return true;
}

}  // namespace

void Trainer::save_checkpoint(const std::string& path, bool weights_only) {
  TAEDA_CHECK(model_, "[save_checkpoint] there must be a model: got none; call fit first");
  serialize::OutputArchive archive;
  if (weights_only) {
    model_->save(archive);
    archive.save_to(path);
    return;
  }
  archive.write("taeda_checkpoint", Value(kCheckpointVersion));
  archive.write("taeda_version", Value(str(TAEDA_VERSION_MAJOR, ".", TAEDA_VERSION_MINOR, ".", TAEDA_VERSION_PATCH)));
  write_part(archive, "progress", [&](auto& a) { visit(progress_, [&](const char* name, const auto& v) { a.write(name, Value(v)); }); });
  write_part(archive, "model", [&](auto& a) { model_->save(a); });
  for (size_t i = 0; i < configured_.optimizers.size(); ++i) {
    write_part(archive, str("optimizers.", i), [&](auto& a) { configured_.optimizers[i]->save(a); });
  }
  for (size_t i = 0; i < configured_.schedules.size(); ++i) {
    const ScheduleConfig& config = configured_.schedules[i];
    write_part(archive, str("schedules.", i), [&](auto& a) { config.scheduler ? config.scheduler->save(a) : config.plateau->save(a); });
  }
  archive.write("generator", default_generator().get_state());
  if (progress_.accumulated > 0) write_part(archive, "gradients", [&](auto& a) { save_gradients(a); });
  if (train_loader_ && train_loader_->can_be_saved()) write_part(archive, "train_loader", [&](auto& a) { train_loader_->save(a); });
  if (val_loader_ && val_loader_->can_be_saved()) write_part(archive, "val_loader", [&](auto& a) { val_loader_->save(a); });
  write_part(archive, "train_log", [&](auto& a) { train_log_.save(a); });
  Dict published;
  for (const auto& [name, value] : published_) published.set(Value(name), Value(value));
  archive.write("metrics", Value(std::move(published)));
  archive.write("last_loss", Value(last_loss_));
  archive.write("model_logs_loss", Value(model_logs_loss_));
  archive.write("seconds", Value(seconds()));
  each([&](Callback& c) {
    if (!c.state_name().empty()) write_part(archive, "callbacks." + c.state_name(), [&](auto& a) { c.save(a); });
  });
  for (const auto& logger : options_.loggers) {
    if (!logger->state_name().empty()) write_part(archive, "loggers." + logger->state_name(), [&](auto& a) { logger->save(a); });
  }
  write_part(archive, "user", [&](auto& a) { model_->on_save_checkpoint(a); });
  archive.save_to(path);
}

void Trainer::load_checkpoint(const std::string& path) {
  TAEDA_CHECK(model_, "[load_checkpoint] there must be a model: got none; set TrainerOptions::resume_from, or call this inside a run");
  serialize::InputArchive archive;
  archive.load_from(path);
  Value version;
  TAEDA_CHECK_IO(archive.try_read("taeda_checkpoint", version), "[load_checkpoint] ", path,
                 ": a run goes on from a checkpoint of a trainer: got a file without training state; load weights with load(model, path)");
  TAEDA_CHECK_IO(version.to_int() <= kCheckpointVersion, "[load_checkpoint] ", path, ": checkpoints up to version ", kCheckpointVersion,
                 " can be read: got ", version.to_int(), "; use the program version that wrote it or a later one");
  const auto need = [&](const std::string& name, auto&& read) {
    serialize::InputArchive part;
    archive.read(name, part);
    read(part);
  };
  need("model", [&](auto& a) { model_->load(a); });
  for (size_t i = 0; i < configured_.optimizers.size(); ++i) {
    need(str("optimizers.", i), [&](auto& a) { configured_.optimizers[i]->load(a); });
  }
  for (size_t i = 0; i < configured_.schedules.size(); ++i) {
    const ScheduleConfig& config = configured_.schedules[i];
    need(str("schedules.", i), [&](auto& a) { config.scheduler ? config.scheduler->load(a) : config.plateau->load(a); });
  }
  need("progress", [&](auto& a) {
    visit(progress_, [&](const char* name, auto& v) {
      Value value;
      a.read(name, value);
      if constexpr (std::is_same_v<std::remove_reference_t<decltype(v)>, bool>) v = value.to_bool();
      else v = value.to_int();
    });
  });
  if (progress_.accumulated > 0) need("gradients", [&](auto& a) { load_gradients(a); });
  if (train_loader_ && train_loader_->can_be_saved()) read_part(archive, "train_loader", [&](auto& a) { train_loader_->load(a); });
  if (val_loader_ && val_loader_->can_be_saved()) read_part(archive, "val_loader", [&](auto& a) { val_loader_->load(a); });
  if (val_loader_ && progress_.val_left_early) val_loader_->begin();  // else the next validation would go on with the last one
  read_part(archive, "train_log", [&](auto& a) { train_log_.load(a); });
  published_.clear();
  Value value;
  if (archive.try_read("metrics", value) && value.is_dict()) {
    for (const auto& [name, number] : value.dict()) published_[name.string()] = number.to_double();
  }
  if (archive.try_read("last_loss", value)) last_loss_ = value.to_double();
  if (archive.try_read("model_logs_loss", value)) model_logs_loss_ = value.to_bool();
  if (archive.try_read("seconds", value)) seconds_before_ = value.to_double();
  each([&](Callback& c) {
    if (!c.state_name().empty()) read_part(archive, "callbacks." + c.state_name(), [&](auto& a) { c.load(a); });
  });
  for (const auto& logger : options_.loggers) {
    if (!logger->state_name().empty()) read_part(archive, "loggers." + logger->state_name(), [&](auto& a) { logger->load(a); });
  }
  if (!read_part(archive, "user", [&](auto& a) { model_->on_load_checkpoint(a); })) {
    serialize::InputArchive none;
    model_->on_load_checkpoint(none);
  }
  // Last: reading may have drawn numbers.
  archive.read("generator", value);
  default_generator().set_state(value.tensor());
  resumed_ = true;
}

void Trainer::save_gradients(serialize::OutputArchive& archive) const {
  for (const auto& item : model_->named_parameters()) {
    const Tensor grad = item.value().grad();
    if (grad.defined()) archive.write(item.key(), grad);
  }
}

void Trainer::load_gradients(serialize::InputArchive& archive) {
  for (auto& item : model_->named_parameters()) {
    Tensor grad;
    item.value().mutable_grad() = archive.try_read(item.key(), grad) ? grad : Tensor();
  }
}

void Trainer::keep_generator() {
  // The state is large; it is copied again only when something has been drawn since.
  auto* const now = default_generator().get<CPUGeneratorImpl>();
  if (!kept_generator_.defined()) {
    kept_generator_ = default_generator().clone();
    return;
  }
  auto* const kept = kept_generator_.get<CPUGeneratorImpl>();
  const Mt19937& a = now->engine();
  const Mt19937& b = kept->engine();
  if (a.next == b.next && a.state[0] == b.state[0] && a.state[1] == b.state[1]) return;
  kept_generator_ = default_generator().clone();
}

void Trainer::on_bad_loss(const Batch& batch, double loss) {
  const std::string folder = options_.out_dir.empty() ? std::filesystem::temp_directory_path().string() : options_.out_dir;
  const std::string file = (std::filesystem::path(folder) / str("bad_batch_", progress_.global_step, ".pt")).string();
  std::string saved = "the batch is saved in " + file;
  try {
    serialize::OutputArchive archive;
    if (batch.data.defined()) archive.write("data", batch.data);
    if (batch.target.defined()) archive.write("target", batch.target);
    archive.save_to(file);
  } catch (const std::exception& error) {
    saved = str("the batch could not be saved: ", error.what());
  }
  std::string bad;
  for (const auto& item : model_->named_parameters()) {
    if (!item.value().detach().isfinite().all().item<bool>()) bad += (bad.empty() ? "" : ", ") + item.key();
  }
  std::string first;
  if (bad.empty()) {
    // The same step once more, from the same random numbers, with every result checked.
    const Generator now = default_generator().clone();
    default_generator().set_state(kept_generator_.get_state());
    try {
      const autograd::DetectAnomalyGuard guard(autograd::AnomalyLevel::kCheap);
      model_->trainer_ = nullptr;
      model_->training_step(batch, progress_.batch);
      first = "no operator of the repeated step gave a bad value: the step may depend on something that changes";
    } catch (const std::exception& error) {
      first = str("the first bad value: ", error.what());
    }
    model_->trainer_ = this;
    default_generator().set_state(now.get_state());
  }
  const bool bad_data = batch.data.defined() && batch.data.is_floating_point() && !batch.data.isfinite().all().item<bool>();
  std::string advice;
  if (bad_data) advice = "the batch itself holds such values: clean the data";
  else if (!bad.empty()) advice = str("these parameters hold such values since an earlier step: ", bad,
                                      "; go on from a checkpoint with a lower learning rate, gradient_clip = 1, or detect_anomaly = \"cheap\" to find the step");
  else advice = "guard that operator (a small eps inside log, sqrt and divisions), lower the learning rate, or set gradient_clip";
  TAEDA_CHECK(false, "[fit] the loss must be finite: got ", loss, " at step ", progress_.global_step, " (epoch ", progress_.epoch + 1,
              ", batch ", progress_.batch + 1, "); ", saved, first.empty() ? "" : "; ", first, "; ", advice);
  __builtin_unreachable();
}

}  // namespace taeda::train
