// SPDX-License-Identifier: Apache-2.0
// Averages of weights, schedules and what can be plugged into a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "tests/train/support.h"

namespace taeda::train {
namespace {

struct Net : train::Module {
  nn::Linear first = nullptr, last = nullptr;
  nn::BatchNorm1d norm = nullptr;
  double lr = 0.1;
  Net() {
    first = register_module("first", nn::Linear(32, 8));
    norm = register_module("norm", nn::BatchNorm1d(8));
    last = register_module("last", nn::Linear(8, 10));
  }
  Tensor forward(const Tensor& x) { return last(relu(norm(first(x)))); }
  Tensor training_step(const Batch& batch, int64_t) override { return nn::functional::cross_entropy(forward(batch.data), batch.target); }
  Tensor predict_step(const Batch& batch, int64_t) override { return forward(batch.data); }
  Tensor example_input() const override { return zeros({1, 32}); }
  Optimizers configure_optimizers() override { return optim::SGD(parameters(), lr); }
};

auto loader_of(int64_t rows, size_t batch = 10) {
  return data::make_data_loader<data::samplers::SequentialSampler>(class_rows(rows).map(data::transforms::Stack<>()), batch);
}

/// Runs a function after each optimizer step.
struct EachStep : Callback {
  explicit EachStep(std::function<void(Trainer&, Module&)> f) : f(std::move(f)) {}
  void on_after_optimizer_step(Trainer& trainer, Module& model) override { f(trainer, model); }
  std::function<void(Trainer&, Module&)> f;
};

TEST(Averages, EMAFollowsItsDefinition) {
  auto train = loader_of(50);
  Net model;
  Tensor average = model.first->weight.detach().clone();
  auto ema = std::make_shared<EMA>(0.6);
  TrainerOptions options{.max_epochs = 2, .quiet = true};
  double n = 0;
  options.callbacks = {ema, std::make_shared<EachStep>([&](Trainer&, Module&) {
                         const double decay = std::min(0.6, (1 + n) / (10 + n));
                         average = average * decay + model.first->weight.detach() * (1 - decay);
                         ++n;
                       })};
  Trainer(options).fit(model, train);
  EXPECT_EQ(n, 10);
  EXPECT_TRUE(allclose(model.first->weight, average, 1e-5, 1e-7));
  EXPECT_FALSE(allclose(ema->averages()[0], average, 1e-3, 1e-5));  // there the last step's weights wait
}

TEST(Averages, TheBestCheckpointHoldsTheWeightsThatWereMeasured) {
  struct Measured : Net {
    void validation_step(const Batch& batch, int64_t) override { log("val_loss", nn::functional::cross_entropy(forward(batch.data), batch.target)); }
  } model;
  TemporaryFolder folder;
  auto train = loader_of(100), val = loader_of(40);
  TrainerOptions options{.max_epochs = 3, .quiet = true};
  options.out_dir = folder.path();
  auto best = std::make_shared<ModelCheckpoint>(CheckpointOptions{.monitor = "val_loss"});
  options.callbacks = {std::make_shared<EMA>(0.9), best};
  Trainer(options).fit(model, train, val);
  Measured again;
  load(again, folder.file("checkpoints/best.safetensors"));
  EXPECT_EQ(Trainer({.quiet = true}).validate(again, val).at("val_loss"), best->best_value());
}

TEST(Averages, SWAIsTheMeanOfTheLastEpochsWithFreshStatistics) {
  auto train = loader_of(100);
  Net model;
  model.lr = 0.3;
  Tensor sum = zeros({8, 32});
  struct Ends : Callback {
    Tensor* sum;
    explicit Ends(Tensor* s) : sum(s) {}
    void on_train_epoch_end(Trainer& trainer, Module& m) override {
      if (trainer.epoch() >= 3) *sum += m.named_parameters()["first.weight"].detach();
    }
  };
  const Tensor place = default_generator().get_state();
  TrainerOptions options{.max_epochs = 4, .quiet = true};
  options.callbacks = {std::make_shared<Ends>(&sum), std::make_shared<SWA>(3)};
  Trainer(options).fit(model, train);
  EXPECT_TRUE(allclose(model.first->weight, sum / 2, 1e-5, 1e-7));
  EXPECT_TRUE(equal(default_generator().get_state(), place));
  // The statistics are those of the averaged network: the plain mean over the batches.
  Tensor mean = zeros({8});
  const NoGradGuard no_grad;
  int batches = 0;
  for (auto& batch : *train) {
    mean += model.first(batch.data).mean(0);
    ++batches;
  }
  EXPECT_TRUE(allclose(model.norm->running_mean, mean / batches, 1e-4, 1e-5));
  EXPECT_EQ(model.norm->options.momentum(), 0.1);
}

TEST(Layers, FreezingLeavesWeightsAlone) {
  auto train = loader_of(50);
  Net model;
  freeze_to(model, -1);
  EXPECT_FALSE(model.first->weight.requires_grad());
  EXPECT_FALSE(model.norm->weight.requires_grad());
  EXPECT_TRUE(model.last->weight.requires_grad());
  const Tensor first = model.first->weight.detach().clone(), last = model.last->weight.detach().clone();
  Trainer({.max_epochs = 1, .quiet = true}).fit(model, train);
  EXPECT_TRUE(equal(model.first->weight, first));
  EXPECT_FALSE(equal(model.last->weight, last));
  freeze_to(model, 0);
  EXPECT_TRUE(model.first->weight.requires_grad());
  EXPECT_THROW(freeze_to(model, 4), ValueError);
  EXPECT_THROW(freeze_to(model, -4), ValueError);
}

TEST(Layers, RatesGrowFromTheFirstToTheLast) {
  struct Layered : Net {
    Optimizers configure_optimizers() override { return optim::AdamW(layer_groups<optim::AdamWOptions>(*this, 0.01, 100)); }
  } model;
  auto train = loader_of(20);
  Trainer trainer({.max_epochs = 1, .quiet = true});
  trainer.fit(model, train);
  EXPECT_NEAR(trainer.lr(0), 1e-4, 1e-12);
  EXPECT_NEAR(trainer.lr(1), 1e-3, 1e-12);
  EXPECT_NEAR(trainer.lr(2), 1e-2, 1e-12);
}

TEST(OneCycle, RisesAndFallsInPlaceOfTheModelsSchedule) {
  struct Scheduled : Net {
    Optimizers configure_optimizers() override {
      return Optimizers(optim::SGD(parameters(), optim::SGDOptions(0.5).momentum(0.9))).schedule_by_step<optim::ExponentialLR>(0.5);
    }
  } model;
  auto train = loader_of(100);
  std::vector<double> rates;
  TrainerOptions options{.quiet = true};
  options.callbacks = {std::make_shared<EachStep>([&](Trainer& t, Module&) { rates.push_back(t.lr()); })};
  const FitResult result = fit_one_cycle(model, train, {}, {.epochs = 4, .max_lr = {0.2}}, options);
  ASSERT_EQ(result.steps, 40);
  const auto top = std::max_element(rates.begin(), rates.end());
  EXPECT_NEAR(*top, 0.2, 1e-3);  // between two steps
  EXPECT_NEAR(static_cast<double>(top - rates.begin()), 0.25 * 40, 1.01);
  EXPECT_LT(rates.back(), 0.2 / 1e4);
  EXPECT_TRUE(std::is_sorted(rates.begin(), top) && std::is_sorted(rates.rbegin(), std::make_reverse_iterator(top)));
  EXPECT_THROW(fit_one_cycle(model, train, {}, {.epochs = 0}), ValueError);
  for (const int64_t rows : {10, 20, 30, 40}) {  // so short that the rise has no step
    auto few = loader_of(rows);
    rates.clear();
    fit_one_cycle(model, few, {}, {.epochs = 1, .max_lr = {0.2}}, options);
    for (const double rate : rates) EXPECT_TRUE(std::isfinite(rate) && rate <= 0.2) << rows << " rows: " << rate;
  }
}

TEST(Callbacks, MonitorScheduleAndTimer) {
  struct TwoGroups : Net {
    Optimizers configure_optimizers() override {
      return optim::SGD({optim::OptimizerParamGroup(first->parameters(), std::make_unique<optim::SGDOptions>(0.1)),
                         optim::OptimizerParamGroup(last->parameters(), std::make_unique<optim::SGDOptions>(0.2))},
                        optim::SGDOptions(0.3));
    }
  } model;
  auto train = loader_of(80);
  auto rows = std::make_shared<MemoryLogger>();
  TrainerOptions options{.max_epochs = 3, .quiet = true};
  options.loggers = {rows};
  options.callbacks = {std::make_shared<LRMonitor>(2), std::make_shared<GradientAccumulationSchedule>(std::map<int64_t, int64_t>{{0, 4}, {2, 1}})};
  const FitResult result = Trainer(options).fit(model, train);
  EXPECT_EQ(result.steps, 2 + 2 + 8);
  std::map<std::string, std::vector<MemoryLogger::Point>> series(rows->series().begin(), rows->series().end());
  ASSERT_EQ(series.at("lr_0_1").size(), 6u);
  EXPECT_EQ(series.at("lr_0_0")[0].value, 0.1);
  EXPECT_EQ(series.at("lr_0_1")[5].value, 0.2);
  EXPECT_THROW(GradientAccumulationSchedule(std::map<int64_t, int64_t>{{0, 0}}), ValueError);
  options = {.max_epochs = -1, .quiet = true};
  options.callbacks = {std::make_shared<Timer>(0.05)};
  EXPECT_EQ(Trainer(options).fit(model, train).stopped_by, "timer");
}

TEST(Callbacks, RunInOrderAndCheckpointsLast) {
  auto train = loader_of(20), val = loader_of(20);
  std::string order;
  struct Tells : Callback {
    std::string* order;
    char name;
    Tells(std::string* o, char n) : order(o), name(n) {}
    void on_validation_end(Trainer&, Module&) override { *order += name; }
    void after_validation(Trainer&, Module&) override { *order += static_cast<char>(std::toupper(name)); }
  };
  struct Last : Tells {
    using Tells::Tells;
    bool runs_last() const override { return true; }
  };
  TrainerOptions options{.max_epochs = 1, .quiet = true};
  options.callbacks = {std::make_shared<Last>(&order, 'c'), std::make_shared<Tells>(&order, 'a'), std::make_shared<Tells>(&order, 'b')};
  Net model;
  Trainer(options).fit(model, train, val);
  EXPECT_EQ(order, "abcABC");
}

TEST(Summary, KnowsShapesOfLayersWithParameters) {
  Net model;
  const Tensor weight = model.first->weight.detach().clone(), mean = model.norm->running_mean.clone(), place = default_generator().get_state();
  const ModelInfo info = inspect(model, model.example_input());
  ASSERT_EQ(info.layers.size(), 3u);
  EXPECT_EQ(info.layers[0].output, "(1, 8)");
  EXPECT_EQ(info.layers[1].output, "(1, 8)");
  EXPECT_EQ(info.layers[2].output, "(1, 10)");
  EXPECT_EQ(info.parameters, 33 * 8 + 16 + 90);
  EXPECT_EQ(info.parameter_bytes, 4 * info.parameters);
  EXPECT_TRUE(equal(model.first->weight, weight) && equal(model.norm->running_mean, mean) && equal(default_generator().get_state(), place));
  EXPECT_TRUE(model.is_training());
  const std::string table = summary_table(info);
  EXPECT_NE(table.find("first  Linear       (1, 8)"), std::string::npos) << table;
}

TEST(Summary, LooksIntoSequences) {
  struct Convs : train::Module {
    nn::Sequential body{nn::Conv2d(nn::Conv2dOptions(1, 4, 3)), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(36, 5)};
    nn::LSTM rnn = nullptr;
    Convs() {
      register_module("body", body);
      rnn = register_module("rnn", nn::LSTM(nn::LSTMOptions(5, 7)));
    }
    Tensor training_step(const Batch& batch, int64_t) override { return body->forward(batch.data).sum(); }
    Tensor predict_step(const Batch& batch, int64_t) override { return std::get<0>(rnn(body->forward(batch.data).unsqueeze(0))); }
  } model;
  const ModelInfo info = inspect(model, zeros({2, 1, 8, 8}));
  std::map<std::string, std::string> outputs;
  for (const LayerInfo& layer : info.layers) outputs[layer.name] = layer.output;
  EXPECT_EQ(outputs["body.0"], "(2, 4, 6, 6)");
  EXPECT_EQ(outputs["body.1"], "(2, 4, 6, 6)");
  EXPECT_EQ(outputs["body.2"], "(2, 4, 3, 3)");
  EXPECT_EQ(outputs["body.3"], "(2, 36)");
  EXPECT_EQ(outputs["body.4"], "(2, 5)");
  EXPECT_EQ(info.output.sizes(), (IntArrayRef{1, 2, 7}));
  EXPECT_EQ(model.body->forward(ones({1, 1, 8, 8})).size(1), 5);  // as it was before
}

}  // namespace
}  // namespace taeda::train
