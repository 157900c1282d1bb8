// SPDX-License-Identifier: Apache-2.0
// Drawing of the progress bar, and the table of a model's layers.
#include "taeda/train/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "taeda/train/callbacks.h"
#include "taeda/train/trainer.h"

namespace taeda::train {

std::string format_seconds(double seconds) {
  const auto total = static_cast<int64_t>(std::max(0.0, seconds));
  char text[32];
  if (total >= 3600) std::snprintf(text, sizeof(text), "%d:%02d:%02d", int(total / 3600), int(total / 60 % 60), int(total % 60));
  else std::snprintf(text, sizeof(text), "%d:%02d", int(total / 60), int(total % 60));
  return text;
}

namespace {
std::string number(double value) {
  char text[32];
  const double size = std::abs(value);
  if (value == std::floor(value) && size < 1e6) std::snprintf(text, sizeof(text), "%.0f", value);
  else if (size >= 1e-3 && size < 1e4) std::snprintf(text, sizeof(text), "%.4f", value);
  else std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}
}  // namespace

ProgressBar::ProgressBar(std::FILE* stream, std::optional<bool> terminal)
    : stream_(stream), terminal_(terminal.value_or(isatty(fileno(stream)) != 0)),
      pause_(terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(30000)) {}

void ProgressBar::on_fit_start(Trainer& trainer, Module&) {
  epoch_start_ = last_ = Clock::now();
  first_batch_ = trainer.progress().batch;
}

void ProgressBar::on_train_epoch_start(Trainer&, Module&) {
  epoch_start_ = last_ = Clock::now();
  first_batch_ = 0;
}

void ProgressBar::on_train_batch_end(Trainer& trainer, Module&, const Batch&, const Tensor&) {
  const auto now = Clock::now();
  if (now - last_ < pause_) return;
  last_ = now;
  draw(trainer, "", trainer.progress().batch, trainer.batches_per_epoch(), std::chrono::duration<double>(now - epoch_start_).count());
}

void ProgressBar::on_validation_start(Trainer&, Module&) {
  eval_start_ = Clock::now();
  eval_done_ = 0;
}

void ProgressBar::on_eval_batch_end(Trainer& trainer, Module&, const Batch&) {
  ++eval_done_;
  if (!terminal_ || trainer.stage() != Stage::kValidate) return;
  const auto now = Clock::now();
  if (now - last_ < pause_) return;
  last_ = now;
  draw(trainer, "validation ", eval_done_, trainer.val_batches(), std::chrono::duration<double>(now - eval_start_).count());
}

void ProgressBar::draw(const Trainer& trainer, const char* what, int64_t done, int64_t total, double seconds) {
  std::string line = "epoch " + std::to_string(trainer.epoch() + 1);
  if (trainer.max_epochs() > 0 && trainer.max_epochs() < 1000) line += "/" + std::to_string(trainer.max_epochs());
  line += " " + std::string(what);
  if (terminal_ && total > 0) {
    constexpr int kWidth = 24;
    const auto filled = static_cast<int>(kWidth * done / total);
    line += " [" + std::string(static_cast<size_t>(filled), '=') + (filled < kWidth ? ">" : "") +
            std::string(static_cast<size_t>(std::max(0, kWidth - filled - 1)), ' ') + "]";
  }
  line += " " + std::to_string(done) + (total > 0 ? "/" + std::to_string(total) : "");
  const int64_t counted = *what ? done : done - first_batch_;
  if (seconds > 0 && counted > 0) {
    const double rate = static_cast<double>(counted) / seconds;
    char text[48];
    std::snprintf(text, sizeof(text), rate >= 10 ? "  %.0f batches/s" : "  %.2f batches/s", rate);
    line += text;
    if (total > 0) line += "  " + format_seconds(static_cast<double>(total - done) / rate) + " left";
  }
  if (!*what) line += "  loss " + number(trainer.last_loss());
  for (const auto& slot : trainer.train_log().slots()) {
    if (slot.prog_bar && slot.reported && !slot.metric) line += "  " + slot.name + " " + number(slot.last);
  }
  if (terminal_) {
    std::fprintf(stream_, "\r\033[K%s", line.c_str());
    drawn_ = true;
  } else {
    std::fprintf(stream_, "%s\n", line.c_str());
  }
  std::fflush(stream_);
}

void ProgressBar::clear() {
  if (std::exchange(drawn_, false)) std::fputs("\r\033[K", stream_);
}

void ProgressBar::on_train_epoch_end(Trainer& trainer, Module&) {
  clear();
  std::string line = "epoch " + std::to_string(trainer.epoch());
  if (trainer.max_epochs() > 0 && trainer.max_epochs() < 1000) line += "/" + std::to_string(trainer.max_epochs());
  line += "  step " + std::to_string(trainer.global_step());
  const auto add = [&](const LogBook& book) {
    for (const auto& [name, value] : book.epoch_values()) {
      const bool part = name.size() > 6 && name.compare(name.size() - 6, 6, "_epoch") == 0;
      if (!part) line += "  " + name + " " + number(value);
    }
  };
  add(trainer.train_log());
  if (trainer.progress().validated_at == trainer.progress().total_batches) add(trainer.eval_log());
  line += "  " + format_seconds(std::chrono::duration<double>(Clock::now() - epoch_start_).count());
  std::fprintf(stream_, "%s\n", line.c_str());
  std::fflush(stream_);
}

void ProgressBar::on_fit_end(Trainer& trainer, Module&) {
  clear();
  std::fprintf(stream_, "done after %lld steps in %s (%s)\n", static_cast<long long>(trainer.global_step()),
               format_seconds(trainer.seconds()).c_str(), trainer.stop_reason().c_str());
  std::fflush(stream_);
}
void ProgressBar::on_exception(Trainer&, Module&, std::exception_ptr) {
  if (drawn_) std::fputc('\n', stream_);
  drawn_ = false;
}

std::vector<LayerInfo> summarize(const nn::Module& model) {
  std::vector<LayerInfo> out;
  const auto add = [&](const std::string& name, const nn::Module& module) {
    LayerInfo info;
    info.name = name.empty() ? "(model)" : name;
    info.type = module.name();
    const size_t colon = info.type.rfind("::");
    if (colon != std::string::npos) info.type = info.type.substr(colon + 2);
    if (info.type.size() > 4 && info.type.compare(info.type.size() - 4, 4, "Impl") == 0) info.type.resize(info.type.size() - 4);
    for (const auto& item : module.named_parameters(false)) {
      if (!item.value().defined()) continue;
      info.parameters += item.value().numel();
      if (item.value().requires_grad()) info.trainable += item.value().numel();
      info.shapes += str(info.shapes.empty() ? "" : " ", item.key(), " ", item.value().sizes());
    }
    if (info.parameters > 0 || (!name.empty() && module.children().empty())) out.push_back(std::move(info));
  };
  add("", model);
  for (const auto& item : model.named_modules(std::string(), false)) add(item.key(), *item.value());
  return out;
}

std::string summary_table(const nn::Module& model) {
  const std::vector<LayerInfo> rows = summarize(model);
  size_t name_width = 5, type_width = 4;
  int64_t bytes = 0, parameters = 0, trainable = 0;
  for (const LayerInfo& row : rows) {
    name_width = std::max(name_width, row.name.size());
    type_width = std::max(type_width, row.type.size());
    parameters += row.parameters;
    trainable += row.trainable;
  }
  for (const Tensor& p : model.parameters()) bytes += p.defined() ? p.numel() * static_cast<int64_t>(p.element_size()) : 0;
  const auto pad = [](std::string text, size_t width) { return text + std::string(width - std::min(width, text.size()), ' '); };
  std::string out = pad("layer", name_width) + "  " + pad("type", type_width) + "  parameters  shapes\n";
  for (const LayerInfo& row : rows) {
    std::string count = std::to_string(row.parameters);
    out += pad(row.name, name_width) + "  " + pad(row.type, type_width) + "  " + std::string(10 - std::min<size_t>(10, count.size()), ' ') + count +
           "  " + row.shapes + "\n";
  }
  char text[96];
  std::snprintf(text, sizeof(text), "%lld parameters, %lld trainable, %.2f MiB\n", static_cast<long long>(parameters),
                static_cast<long long>(trainable), static_cast<double>(bytes) / 1048576.0);
  return out + text;
}

void ModelSummary::on_fit_start(Trainer&, Module& model) { std::fputs(summary_table(model).c_str(), stderr); }

}  // namespace taeda::train
