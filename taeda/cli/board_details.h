// SPDX-License-Identifier: Apache-2.0
// What TensorBoard shows of a run besides its values: histograms of the weights, and mistakes as pictures.
#pragma once

#include <memory>

#include "taeda/train/callback.h"
#include "taeda/train/loggers.h"

namespace taeda::cli {

class BoardDetails final : public train::Callback {
 public:
  explicit BoardDetails(std::shared_ptr<train::TensorBoardLogger> board) : board_(std::move(board)) {}
  void on_validation_start(train::Trainer& trainer, train::Module& model) override;
  void on_predictions(train::Trainer& trainer, train::Module& model, const Tensor& scores, const train::Batch& batch) override;
  void on_train_epoch_end(train::Trainer& trainer, train::Module& model) override;

 private:
  std::shared_ptr<train::TensorBoardLogger> board_;
  int64_t pictures_ = 0;  ///< since the validation began
};

}  // namespace taeda::cli
