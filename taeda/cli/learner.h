// SPDX-License-Identifier: Apache-2.0
// What the program trains: a network with the loss and the metrics of its task.
#pragma once

#include "taeda/cli/models.h"
#include "taeda/train/module.h"

namespace taeda::cli {

class Learner final : public train::Module {
 public:
  Learner(RunConfig config, const DataSet& data);
  Tensor training_step(const train::Batch& batch, int64_t batch_index) override;
  void validation_step(const train::Batch& batch, int64_t batch_index) override;
  Tensor predict_step(const train::Batch& batch, int64_t batch_index) override;
  train::Optimizers configure_optimizers() override;
  Network& network() { return *network_; }

 private:
  Tensor loss(const Tensor& scores, const Tensor& target) const;
  RunConfig config_;
  Task task_;
  int64_t outputs_;
  double target_spread_ = 1;
  std::shared_ptr<Network> network_;
};

}  // namespace taeda::cli
