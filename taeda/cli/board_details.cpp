// SPDX-License-Identifier: Apache-2.0
// Histograms and pictures for TensorBoard.
#include "taeda/cli/board_details.h"

#include <algorithm>

#include "taeda/ops/functions.h"
#include "taeda/train/trainer.h"

namespace taeda::cli {

namespace {
constexpr int64_t kMostPictures = 8;
}

void BoardDetails::on_validation_start(train::Trainer&, train::Module&) { pictures_ = 0; }

void BoardDetails::on_predictions(train::Trainer& trainer, train::Module&, const Tensor& scores, const train::Batch& batch) {
  if (batch.data.dim() != 4 || scores.dim() != 2 || (batch.data.size(1) != 1 && batch.data.size(1) != 3)) return;
  const Tensor wrong = scores.argmax(1).ne(batch.target);
  for (int64_t i = 0; i < batch.data.size(0) && pictures_ < kMostPictures; ++i) {
    if (!wrong[i].item<bool>()) continue;
    const Tensor image = batch.data[i].detach();
    const double low = image.min().item<double>(), range = std::max(1e-12, image.max().item<double>() - low);
    board_->add_image(str("mistakes/", pictures_++), image.sub(low).mul(255 / range).round().to(kUInt8).contiguous(), trainer.global_step());
  }
}

void BoardDetails::on_train_epoch_end(train::Trainer& trainer, train::Module& model) {
  for (const auto& item : model.named_parameters()) board_->add_histogram(item.key(), item.value(), trainer.global_step());
}

}  // namespace taeda::cli
