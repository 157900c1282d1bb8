// SPDX-License-Identifier: Apache-2.0
// The progress bar.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "taeda/train/callback.h"

namespace taeda::train {

/// Shows how far an epoch is, how fast it goes, the loss and what was reported with `prog_bar`: on a terminal in one line that is redrawn a few
/// times a second, elsewhere in a plain line every half a minute. Below it a table grows by a row at each validation and epoch; an asterisk marks
/// the rows at which the best checkpoint was written.
class TAEDA_API ProgressBar : public Callback {
 public:
  /// `terminal`: by default whether the stream is one.
  explicit ProgressBar(std::FILE* stream = stderr, std::optional<bool> terminal = std::nullopt);
  void on_fit_start(Trainer& trainer, Module& model) override;
  void on_train_epoch_start(Trainer& trainer, Module& model) override;
  void on_train_batch_end(Trainer& trainer, Module& model, const Batch& batch, const Tensor& loss) override;
  void on_train_epoch_end(Trainer& trainer, Module& model) override;
  void on_eval_batch_end(Trainer& trainer, Module& model, const Batch& batch) override;
  void on_validation_start(Trainer& trainer, Module& model) override;
  void after_validation(Trainer& trainer, Module& model) override;
  void on_fit_end(Trainer& trainer, Module& model) override;
  void on_exception(Trainer& trainer, Module& model, std::exception_ptr error) override;
  bool runs_last() const override { return true; }

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const Trainer& trainer, const char* what, int64_t done, int64_t total, double seconds);
  void clear();
  void add_row(const Trainer& trainer, bool validated);
  std::vector<std::string> columns_;
  std::FILE* stream_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point epoch_start_, last_, eval_start_;
  int64_t first_batch_ = 0, eval_done_ = 0;
  Clock::duration pause_;
};

/// "1:02:03" or "0:07".
TAEDA_API std::string format_seconds(double seconds);

}  // namespace taeda::train
