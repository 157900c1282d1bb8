// SPDX-License-Identifier: Apache-2.0
// The first example of every tutorial.
#include <gtest/gtest.h>

#include "tests/train/support.h"

namespace taeda::train {
namespace {

struct Classifier : train::Module {
  nn::Linear layer = nullptr;
  Classifier() { layer = register_module("layer", nn::Linear(32, 10)); }
  Tensor training_step(const train::Batch& batch, int64_t) override {
    return nn::functional::cross_entropy(layer(batch.data), batch.target);
  }
  train::Optimizers configure_optimizers() override { return optim::SGD(parameters(), 0.1); }
};

TEST(Example, TheClassicTenLines) {
  manual_seed(0);
  auto loader = data::make_data_loader(class_rows(500).map(data::transforms::Stack<>()), 50);
  Classifier model;
  const FitResult result = Trainer({.max_epochs = 10, .quiet = true}).fit(model, loader);
  EXPECT_EQ(result.epochs, 10);
  EXPECT_EQ(result.steps, 100);
  EXPECT_EQ(result.stopped_by, "max_epochs");
  EXPECT_LT(result.metrics.at("train_loss"), 0.2);
}

TEST(Example, EqualsTheLoopWrittenByHand) {
  manual_seed(3);
  auto loader = data::make_data_loader(class_rows(205).map(data::transforms::Stack<>()), 50);
  auto model = std::make_shared<Classifier>();
  Trainer({.max_epochs = 3, .quiet = true}).fit(model, loader);

  manual_seed(3);
  auto again = data::make_data_loader(class_rows(205).map(data::transforms::Stack<>()), 50);
  Classifier other;
  optim::SGD optimizer(other.parameters(), 0.1);
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch : *again) {
      optimizer.zero_grad();
      nn::functional::cross_entropy(other.layer(batch.data), batch.target).backward();
      optimizer.step();
    }
  }
  EXPECT_TRUE(equal(model->layer->weight, other.layer->weight));
}

}  // namespace
}  // namespace taeda::train
