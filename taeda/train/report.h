// SPDX-License-Identifier: Apache-2.0
// One HTML file that shows a run: curves, confusion matrix, worst samples, model, configuration, environment.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taeda/train/callback.h"
#include "taeda/train/loggers.h"
#include "taeda/train/metrics.h"
#include "taeda/train/summary.h"

namespace taeda::train {

struct ReportOptions {
  std::string path = "";                 ///< empty: report.html in the trainer's out_dir
  std::string title = "Training run";
  std::vector<std::string> class_names = {};
  std::vector<std::pair<std::string, std::string>> config = {};
  int64_t worst_samples = 24;
};

/// Writes the file after each epoch and at the end; it needs nothing from the network. The confusion matrix and the samples come from what the
/// model shows with `show_predictions` in its validation step.
class TAEDA_API Report : public Callback {
 public:
  explicit Report(ReportOptions options = {});
  ~Report() override;
  const std::string& path() const { return options_.path; }
  /// The whole page.
  std::string html(const Trainer& trainer) const;

  std::shared_ptr<Logger> logger() override { return memory_; }
  void on_fit_start(Trainer& trainer, Module& model) override;
  void on_validation_start(Trainer& trainer, Module& model) override;
  void on_predictions(Trainer& trainer, Module& model, const Tensor& scores, const Batch& batch) override;
  void on_train_epoch_end(Trainer& trainer, Module& model) override;
  void on_fit_end(Trainer& trainer, Module& model) override;

 private:
  struct Sample {
    double loss = 0, probability = 0;
    int64_t target = 0, predicted = 0;
    std::string png;
  };
  std::string class_name(int64_t index) const;
  std::string tiles_html(const Trainer& trainer) const;
  std::string model_html() const;
  std::string confusion_html() const;
  std::string worst_html() const;
  void write(Trainer& trainer);

  ReportOptions options_;
  std::shared_ptr<MemoryLogger> memory_ = std::make_shared<MemoryLogger>();
  ModelInfo model_;
  std::unique_ptr<ConfusionMatrix> confusion_;
  std::vector<Sample> worst_;  ///< largest loss first
};

}  // namespace taeda::train
