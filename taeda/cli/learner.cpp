// SPDX-License-Identifier: Apache-2.0
// Losses, metrics and optimizers of the program's tasks.
#include "taeda/cli/learner.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "taeda/nn/functional.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"
#include "taeda/train/trainer.h"

namespace taeda::cli {

Learner::Learner(RunConfig config, DataInfo data)
    : Module("Learner"), config_(std::move(config)), data_(std::move(data)), network_(register_module("network", make_network(config_, data_))) {
  if (data_.task != Task::kClassification) return;
  precision_ = std::make_unique<train::Precision>(data_.outputs);
  recall_ = std::make_unique<train::Recall>(data_.outputs);
  f1_ = std::make_unique<train::F1>(data_.outputs);
}

Tensor Learner::loss(const Tensor& scores, const Tensor& target) const {
  if (data_.task == Task::kRegression) return nn::functional::mse_loss(scores, target);
  if (data_.task == Task::kLanguage) {
    return nn::functional::cross_entropy(scores.reshape({-1, data_.outputs}), target.reshape(IntArrayRef(int64_t{-1})));
  }
  const double smoothing = is_training() ? config_.label_smoothing : 0;
  return nn::functional::cross_entropy(scores, target, nn::functional::CrossEntropyFuncOptions().label_smoothing(smoothing));
}

Tensor Learner::training_step(const train::Batch& batch, int64_t /*batch_index*/) { return loss(forward(batch.data), batch.target); }

void Learner::log_regression(const Tensor& scores, const Tensor& target) {
  const Tensor miss = (scores - target) * data_.encoder.target_spread();
  r2_.update(scores, target);
  log("val_mae", miss.abs().mean());
  log("val_r2", r2_);
}

void Learner::validation_step(const train::Batch& batch, int64_t /*batch_index*/) {
  const Tensor scores = forward(batch.data);
  log("val_loss", loss(scores, batch.target));
  if (data_.task == Task::kRegression) return log_regression(scores, batch.target);
  if (data_.task == Task::kLanguage) {
    log("val_accuracy", scores.argmax(-1).eq(batch.target).to(kFloat).mean());
    return;
  }
  accuracy_.update(scores, batch.target);
  log("val_accuracy", accuracy_);
  show_predictions(scores, batch);
}

void Learner::test_step(const train::Batch& batch, int64_t batch_index) {
  validation_step(batch, batch_index);
  if (data_.task != Task::kClassification) return;
  const Tensor scores = forward(batch.data);
  precision_->update(scores, batch.target);
  recall_->update(scores, batch.target);
  f1_->update(scores, batch.target);
  log("test_precision", *precision_);
  log("test_recall", *recall_);
  log("test_f1", *f1_);
}

Tensor Learner::predict_step(const train::Batch& batch, int64_t /*batch_index*/) { return forward(batch.data); }

train::Optimizers Learner::configure_optimizers() {
  const double given = std::strtod(config_.lr.c_str(), nullptr);
  const double lr = given > 0 ? given : 1e-3;  // rates are still to be tried
  std::vector<Tensor> matrices, others;
  for (const Tensor& p : network_->parameters()) (p.dim() >= 2 ? matrices : others).push_back(p);
  const auto options = [&](double decay) {
    auto o = std::make_unique<optim::AdamWOptions>(lr);
    o->weight_decay(decay);
    if (data_.task == Task::kLanguage) o->betas({0.9, 0.99});
    return o;
  };
  std::vector<optim::OptimizerParamGroup> groups;
  if (!matrices.empty()) groups.emplace_back(std::move(matrices), options(config_.weight_decay));
  if (!others.empty()) groups.emplace_back(std::move(others), options(0));
  train::Optimizers result(optim::AdamW(std::move(groups), optim::AdamWOptions(lr)));
  const int64_t steps = trainer().estimated_steps();
  if (config_.schedule == "onecycle" && steps > 1) {
    optim::OneCycleOptions cycle{.max_lr = {lr}, .total_steps = steps + 1, .pct_start = data_.task == Task::kLanguage ? 0.1 : 0.25};
    cycle.cycle_momentum = data_.task != Task::kLanguage;
    result.schedule_by_step<optim::OneCycleLR>(std::move(cycle));
  } else if (config_.schedule == "cosine" && steps > 1) {
    result.schedule_by_step<optim::CosineAnnealingLR>(steps);
  }
  return result;
}

void Learner::on_save_checkpoint(serialize::OutputArchive& archive) const {
  archive.write("config", Value(write_toml(config_)));
  archive.write("data", data_.to_value());
}

}  // namespace taeda::cli
