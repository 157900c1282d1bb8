// SPDX-License-Identifier: Apache-2.0
// Losses, metrics and optimizers of the program's tasks.
#include "taeda/cli/learner.h"

#include <algorithm>
#include <cmath>

#include "taeda/nn/functional.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"
#include "taeda/train/trainer.h"

namespace taeda::cli {

Learner::Learner(RunConfig config, const DataSet& data)
    : Module("Learner"), config_(std::move(config)), task_(data.task), outputs_(data.outputs),
      target_spread_(data.encoder.target_spread()), network_(register_module("network", make_network(config_, data))) {}

Tensor Learner::loss(const Tensor& scores, const Tensor& target) const {
  if (task_ == Task::kRegression) return nn::functional::mse_loss(scores, target);
  if (task_ == Task::kLanguage) {
    return nn::functional::cross_entropy(scores.reshape({-1, outputs_}), target.reshape(IntArrayRef(int64_t{-1})));
  }
  return nn::functional::cross_entropy(scores, target);
}

namespace {
/// The batch moved by up to a fourteenth of its side, at least a pixel, in each direction, background coming in.
Tensor shifted(const Tensor& images) {
  const int64_t reach = std::max<int64_t>(1, std::min(images.size(-2), images.size(-1)) / 14);
  const Tensor padded = taeda::constant_pad_nd(images, {reach, reach, reach, reach}, kBackground);
  const Tensor offset = taeda::randint(0, 2 * reach + 1, {2}, TensorOptions(kLong));
  return padded.narrow(-2, offset[0].item<int64_t>(), images.size(-2)).narrow(-1, offset[1].item<int64_t>(), images.size(-1)).contiguous();
}
}  // namespace

Tensor Learner::training_step(const train::Batch& batch, int64_t /*batch_index*/) {
  const bool image = task_ == Task::kClassification && batch.data.dim() == 4;
  return loss(network_->forward(image && config_.augment ? shifted(batch.data) : batch.data), batch.target);
}

void Learner::validation_step(const train::Batch& batch, int64_t /*batch_index*/) {
  const Tensor scores = network_->forward(batch.data);
  log("val_loss", loss(scores, batch.target));
  if (task_ == Task::kRegression) {
    const double scale = target_spread_;
    log("val_mae", (scores - batch.target).abs().mean().item<double>() * scale);
    return;
  }
  const Tensor right = scores.argmax(-1).eq(batch.target);
  log("val_accuracy", right.to(kFloat).mean());
  if (task_ == Task::kClassification) show_predictions(scores, batch);
}

Tensor Learner::predict_step(const train::Batch& batch, int64_t /*batch_index*/) { return network_->forward(batch.data); }

train::Optimizers Learner::configure_optimizers() {
  const double lr = config_.lr > 0 ? config_.lr : default_lr(config_.model);
  train::Optimizers result(optim::AdamW(network_->parameters(), optim::AdamWOptions(lr).weight_decay(config_.weight_decay)));
  const int64_t steps = trainer().estimated_steps();
  if (config_.schedule == "onecycle" && steps > 1) {
    result.schedule_by_step<optim::OneCycleLR>(lr, steps + 1);
  } else if (config_.schedule == "cosine" && steps > 1) {
    result.schedule_by_step<optim::CosineAnnealingLR>(steps);
  } else {
    TAEDA_CHECK_VALUE(config_.schedule == "none" || config_.schedule == "onecycle" || config_.schedule == "cosine",
                      "[schedule] unknown schedule: got \"", config_.schedule, "\"; use onecycle, cosine or none");
  }
  return result;
}

}  // namespace taeda::cli
