// SPDX-License-Identifier: Apache-2.0
// Drawing of the progress bar and the table below it.
#include "taeda/train/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

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

bool is_terminal(std::FILE* stream) {
  const char* const kind = std::getenv("TERM");
  return isatty(fileno(stream)) != 0 && kind && std::string(kind) != "dumb";
}

/// Training batches until the end of the run, or of the epoch where the run has none.
int64_t batches_left(const Trainer& trainer) {
  const int64_t each = trainer.batches_per_epoch(), done = trainer.progress().batch;
  int64_t left = each < 0 ? -1 : each - done;
  if (each >= 0 && trainer.max_epochs() > 0 && trainer.max_epochs() < 1000) left += (trainer.max_epochs() - trainer.epoch() - 1) * each;
  if (trainer.options().max_steps < 0) return left;
  const int64_t by_steps = (trainer.options().max_steps - trainer.global_step()) * trainer.options().accumulate_grad_batches;
  return left < 0 || trainer.max_epochs() < 0 ? by_steps : std::min(left, by_steps);
}
}  // namespace

ProgressBar::ProgressBar(std::FILE* stream, std::optional<bool> terminal)
    : stream_(stream), terminal_(terminal.value_or(is_terminal(stream))),
      pause_(terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(30000)) {}

void ProgressBar::on_fit_start(Trainer& trainer, Module&) {
  epoch_start_ = last_ = Clock::now();
  first_batch_ = trainer.progress().batch;
  columns_.clear();
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
    const int64_t remaining = *what ? total - done : batches_left(trainer);
    if (total > 0 && remaining >= 0) line += "  " + format_seconds(static_cast<double>(remaining) / rate) + " left";
  }
  if (!*what) line += "  loss " + number(trainer.last_loss());
  for (const auto& slot : trainer.train_log().slots()) {
    if (slot.prog_bar && slot.reported && !slot.metric) line += "  " + slot.name + " " + number(slot.last);
  }
  if (terminal_) {
    struct winsize window {};
    // A line that wraps could not be drawn over. All of it is ASCII but for names that models choose.
    if (ioctl(fileno(stream_), TIOCGWINSZ, &window) == 0 && window.ws_col > 1 && line.size() >= window.ws_col) line.resize(window.ws_col - 1u);
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

/// One row: where the run is, the reduced values of the epoch so far, how long the epoch has taken.
void ProgressBar::add_row(const Trainer& trainer, bool validated) {
  const bool open = trainer.progress().epoch_open;
  const int64_t batches = trainer.batches_per_epoch();
  std::string epoch = std::to_string(trainer.epoch());
  if (open && batches > 0) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.2f", static_cast<double>(trainer.epoch()) + static_cast<double>(trainer.progress().batch) / static_cast<double>(batches));
    epoch = text;
  }
  std::vector<std::pair<std::string, std::string>> cells = {{"epoch", epoch}, {"step", std::to_string(trainer.global_step())}};
  const auto add = [&](const LogBook& book) {
    for (const auto& [name, value] : book.epoch_values()) {
      const bool part = name.size() > 6 && name.compare(name.size() - 6, 6, "_epoch") == 0;
      if (!part) cells.emplace_back(name, number(value));
    }
  };
  add(trainer.train_log());
  if (validated) add(trainer.eval_log());
  const auto* const checkpoint = trainer.find<ModelCheckpoint>();
  const bool best = validated && checkpoint && !checkpoint->monitor().empty() && checkpoint->best_step() == trainer.global_step();
  cells.emplace_back("time", format_seconds(std::chrono::duration<double>(Clock::now() - epoch_start_).count()));
  // Columns stay: a row without one of the values leaves its place empty.
  std::vector<std::string> names = columns_;
  for (const auto& [name, text] : cells) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.insert(names.empty() || names.back() != "time" ? names.end() : names.end() - 1, name);
  }
  const auto line = [&](const auto& text_of) {
    std::string out;
    for (size_t i = 0; i < names.size(); ++i) {
      const size_t width = std::max(names[i].size(), size_t{i < 2 ? 6u : 8u});
      const std::string text = text_of(names[i]);
      out += std::string(width - std::min(width, text.size()), ' ') + text + (i + 1 < names.size() ? "  " : "");
    }
    return out;
  };
  const auto cell = [&](const std::string& name) {
    const auto found = std::find_if(cells.begin(), cells.end(), [&](const auto& c) { return c.first == name; });
    return found == cells.end() ? std::string() : found->second;
  };
  clear();
  if (names != columns_) std::fprintf(stream_, "%s\n", line([](const std::string& name) { return name; }).c_str());
  columns_ = names;
  std::fprintf(stream_, "%s%s\n", line(cell).c_str(), best ? " *" : "");
  std::fflush(stream_);
}

void ProgressBar::after_validation(Trainer& trainer, Module&) {
  // The one at the end of an epoch is in the epoch's row.
  const Progress& p = trainer.progress();
  if (trainer.is_sanity_check() || !p.epoch_open || p.batch == trainer.batches_per_epoch() || p.validated_at != p.total_batches) return;
  add_row(trainer, true);
}

void ProgressBar::on_train_epoch_end(Trainer& trainer, Module&) {
  add_row(trainer, trainer.progress().validated_at == trainer.progress().total_batches);
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

}  // namespace taeda::train
