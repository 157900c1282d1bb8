// SPDX-License-Identifier: Apache-2.0
// What the program trains: a network with the loss and the metrics of its task.
#pragma once

#include "taeda/cli/models.h"
#include "taeda/train/metrics.h"
#include "taeda/train/module.h"

namespace taeda::cli {

class Learner final : public train::Module {
 public:
  Learner(RunConfig config, DataInfo data);
  Tensor training_step(const train::Batch& batch, int64_t batch_index) override;
  void validation_step(const train::Batch& batch, int64_t batch_index) override;
  void test_step(const train::Batch& batch, int64_t batch_index) override;
  Tensor predict_step(const train::Batch& batch, int64_t batch_index) override;
  Tensor example_input() const override { return example_of(data_); }
  train::Optimizers configure_optimizers() override;
  /// The configuration and the description of the data, so that a checkpoint is all that is needed to use the model.
  void on_save_checkpoint(serialize::OutputArchive& archive) const override;

  Tensor forward(const Tensor& input) { return network_->forward(input); }
  const DataInfo& data() const { return data_; }
  const RunConfig& config() const { return config_; }
  /// Sets the highest rate, as found by trying.
  void set_lr(const std::string& lr) { config_.lr = lr; }
  /// The metric by which the best checkpoint is chosen.
  std::string monitor() const { return data_.task == Task::kClassification ? "val_accuracy" : "val_loss"; }

 private:
  Tensor loss(const Tensor& scores, const Tensor& target) const;
  void log_regression(const Tensor& scores, const Tensor& target);
  RunConfig config_;
  DataInfo data_;
  std::shared_ptr<Network> network_;
  train::Accuracy accuracy_;
  train::R2Score r2_;
  std::unique_ptr<train::Precision> precision_;
  std::unique_ptr<train::Recall> recall_;
  std::unique_ptr<train::F1> f1_;
};

}  // namespace taeda::cli
