// SPDX-License-Identifier: Apache-2.0
// What each option of the trainer does.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "tests/train/support.h"

namespace taeda::train {
namespace {

struct Net : train::Module {
  nn::Linear layer = nullptr;
  double lr = 0.1;
  int64_t trained = 0, validated = 0, tested = 0;
  Net() { layer = register_module("layer", nn::Linear(32, 10)); }
  Tensor training_step(const Batch& batch, int64_t) override {
    ++trained;
    return nn::functional::cross_entropy(layer(batch.data), batch.target);
  }
  void validation_step(const Batch& batch, int64_t) override {
    ++validated;
    log("val_loss", nn::functional::cross_entropy(layer(batch.data), batch.target));
  }
  void test_step(const Batch& batch, int64_t index) override {
    ++tested;
    validation_step(batch, index);
  }
  Tensor predict_step(const Batch& batch, int64_t) override { return layer(batch.data).argmax(1); }
  Optimizers configure_optimizers() override { return optim::SGD(parameters(), lr); }
};

auto loader_of(int64_t rows, size_t batch = 10) {
  return data::make_data_loader<data::samplers::SequentialSampler>(class_rows(rows).map(data::transforms::Stack<>()), batch);
}

TEST(Options, WrongValuesAreNamed) {
  const auto refused = [](TrainerOptions options, const char* name) {
    try {
      Trainer trainer(std::move(options));
      FAIL() << name;
    } catch (const ValueError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  };
  refused({.accumulate_grad_batches = 0}, "accumulate_grad_batches");
  refused({.gradient_clip = -1}, "clipped");
  refused({.check_val_every_n_epoch = 0}, "check_val_every_n_epoch");
  refused({.val_check_interval = 0.5, .check_val_every_n_epoch = 0}, "check_val_every_n_epoch");
  refused({.log_every_n_steps = 0}, "log_every_n_steps");
  refused({.detect_anomaly = "on"}, "detect_anomaly");
}

TEST(Options, LimitsOfBatches) {
  auto train = loader_of(100), val = loader_of(60);
  Net model;
  Trainer trainer({.max_epochs = 2, .limit_train_batches = 3, .limit_val_batches = 0.5, .limit_test_batches = 2, .limit_predict_batches = 4, .quiet = true});
  trainer.fit(model, train, val);
  EXPECT_EQ(model.trained, 6);
  EXPECT_EQ(model.validated, 6);
  trainer.test(model, val);
  EXPECT_EQ(model.tested, 2);
  EXPECT_EQ(trainer.predict(model, val).size(), 4u);
  model.validated = 0;
  Trainer({.max_epochs = 1, .limit_val_batches = 0, .quiet = true}).fit(model, train, val);
  EXPECT_EQ(model.validated, 0);
  EXPECT_THROW(Trainer({.max_epochs = 1, .limit_train_batches = 0, .quiet = true}).fit(model, train), ValueError);
}

TEST(Options, ValidationAtTheEndAndBeforeTheStart) {
  auto train = loader_of(100), val = loader_of(20);
  Net model;
  auto result = Trainer({.max_steps = 7, .quiet = true}).fit(model, train, val);
  EXPECT_EQ(model.validated, 0);
  result = Trainer({.max_steps = 7, .validate_at_end = true, .quiet = true}).fit(model, train, val);
  EXPECT_EQ(model.validated, 2);
  EXPECT_EQ(result.metrics.count("val_loss"), 1u);
  model.validated = 0;
  Trainer({.max_epochs = 1, .validate_at_end = true, .quiet = true}).fit(model, train, val);
  EXPECT_EQ(model.validated, 2);  // the one at the end of the epoch is enough
  model.validated = 0;
  Trainer({.max_epochs = 3, .val_check_interval = 8, .check_val_every_n_epoch = 0, .limit_val_batches = 1, .quiet = true}).fit(model, train, val);
  EXPECT_EQ(model.validated, 3);  // after batches 8, 16 and 24 of 30
  model.validated = 0;
  Trainer({.max_epochs = 3, .val_check_interval = 8, .check_val_every_n_epoch = 0, .validate_at_end = true, .limit_val_batches = 1, .quiet = true})
      .fit(model, train, val);
  EXPECT_EQ(model.validated, 4);
  model.validated = 0;
  model.lr = 0;
  result = Trainer({.max_epochs = 1, .limit_val_batches = 1, .num_sanity_val_steps = 2, .quiet = true}).fit(model, train, val);
  EXPECT_EQ(model.validated, 3);
}

TEST(Options, GradientsAreClippedByNormAndByValue) {
  struct Large : Net {
    Tensor training_step(const Batch& batch, int64_t) override { return layer(batch.data).pow(2).sum(); }
  };
  struct Watch : Callback {
    std::vector<double> norms, values;
    void on_after_optimizer_step(Trainer&, Module& model) override {
      double norm = 0, value = 0;
      for (const Tensor& p : model.parameters()) {
        norm += p.grad().pow(2).sum().item<double>();
        value = std::max(value, p.grad().abs().max().item<double>());
      }
      norms.push_back(std::sqrt(norm));
      values.push_back(value);
    }
  };
  auto train = loader_of(30);
  Large model;
  model.lr = 1e-6;
  const auto run = [&](TrainerOptions options) {
    auto watch = std::make_shared<Watch>();
    options.callbacks = {watch};
    Trainer(options).fit(model, train);
    return *std::max_element(watch->norms.begin(), watch->norms.end()) + 1000 * (*std::max_element(watch->values.begin(), watch->values.end()) > 0.25001);
  };
  EXPECT_GT(run({.max_epochs = 1, .quiet = true}), 1000);
  EXPECT_NEAR(run({.max_epochs = 1, .gradient_clip = 0.1, .quiet = true}), 0.1, 1e-4);
  EXPECT_LT(run({.max_epochs = 1, .gradient_clip_value = 0.25, .quiet = true}), 1000);
}

TEST(Options, TimeStepsAndSeed) {
  auto train = loader_of(100);
  Net model;
  auto result = Trainer({.max_minutes = 0.05 / 60, .quiet = true}).fit(model, train);
  EXPECT_EQ(result.stopped_by, "max_minutes");
  EXPECT_GE(result.seconds, 0.05);
  result = Trainer({.max_epochs = 3, .max_steps = 15, .quiet = true}).fit(model, train);
  EXPECT_EQ(result.steps, 15);
  result = Trainer({.max_epochs = 1, .max_steps = 15, .quiet = true}).fit(model, train);
  EXPECT_EQ(result.stopped_by, "max_epochs");
  const auto order = [&] {
    auto shuffled = data::make_data_loader(class_rows(50).map(data::transforms::Stack<>()), 10);
    struct First : Callback {
      Tensor target;
      void on_train_batch_start(Trainer&, Module&, const Batch& batch) override {
        if (!target.defined()) target = batch.target.clone();
      }
    };
    auto first = std::make_shared<First>();
    TrainerOptions options{.max_epochs = 1, .seed = 11, .quiet = true};
    options.callbacks = {first};
    Trainer(options).fit(model, shuffled);
    return first->target;
  };
  EXPECT_TRUE(equal(order(), order()));
}

TEST(Options, AFastDevRunWritesNothing) {
  TemporaryFolder folder;
  auto train = loader_of(100), val = loader_of(60);
  Net model;
  TrainerOptions options{.max_epochs = 50, .fast_dev_run = 2, .log_every_n_steps = 1, .quiet = true};
  options.out_dir = folder.file("out");
  options.loggers = {std::make_shared<CSVLogger>(folder.file("log.csv"))};
  options.callbacks = {std::make_shared<ModelCheckpoint>(CheckpointOptions{.dir = folder.file("checkpoints"), .monitor = "val_loss"})};
  const auto result = Trainer(options).fit(model, train, val);
  EXPECT_EQ(result.steps, 2);
  EXPECT_EQ(model.validated, 2);
  EXPECT_FALSE(std::filesystem::exists(folder.file("log.csv")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("checkpoints")));
}

TEST(Options, HyperparametersReachTheLoggersOnce) {
  struct Keeps : Logger {
    int told = 0;
    std::vector<std::pair<std::string, std::string>> values;
    void log_hyperparameters(const std::vector<std::pair<std::string, std::string>>& v) override {
      values = v;
      ++told;
    }
    void log_metrics(const MetricList&, int64_t, int64_t) override {}
  };
  auto keeps = std::make_shared<Keeps>();
  auto train = loader_of(20);
  Net model;
  TrainerOptions options{.max_epochs = 2, .quiet = true};
  options.hyperparameters = {{"lr", "0.1"}, {"model", "linear"}};
  options.loggers = {keeps};
  Trainer(options).fit(model, train);
  EXPECT_EQ(keeps->told, 1);
  EXPECT_EQ(keeps->values, options.hyperparameters);
}

TEST(Options, ManualOptimizationStepsItself) {
  struct Manual : Net {
    bool automatic_optimization() const override { return false; }
    Tensor training_step(const Batch& batch, int64_t) override {
      auto& optimizer = *trainer().optimizers()[0];
      optimizer.zero_grad();
      const Tensor loss = nn::functional::cross_entropy(layer(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      return loss.detach();
    }
  } manual;
  Net automatic;
  const NoGradGuard no_grad;
  manual.layer->weight.copy_(automatic.layer->weight);
  manual.layer->bias.copy_(automatic.layer->bias);
  const AutoGradMode recording(true);
  auto train = loader_of(50);
  EXPECT_EQ(Trainer({.max_epochs = 2, .quiet = true}).fit(manual, train).steps, 10);
  Trainer({.max_epochs = 2, .quiet = true}).fit(automatic, train);
  EXPECT_TRUE(equal(manual.layer->weight, automatic.layer->weight));
}

TEST(Options, AnInterruptCutsValidationShortAndLeavesItForTheNextRun) {
  TemporaryFolder folder;
  auto train = loader_of(40), val = loader_of(60);
  std::atomic<bool> interrupt{false};
  struct Slow : Net {
    std::atomic<bool>* interrupt = nullptr;
    void validation_step(const Batch& batch, int64_t index) override {
      Net::validation_step(batch, index);
      if (interrupt && trainer().epoch() == 1 && index == 2) interrupt->store(true);
    }
  };
  const auto run = [&](Slow& model, bool resume) {
    TrainerOptions options{.max_epochs = 3, .quiet = true};
    options.out_dir = folder.path();
    options.interrupt = &interrupt;
    if (resume) options.resume_from = folder.file("checkpoints/last.pt");
    return Trainer(options).fit(model, train, val);
  };
  manual_seed(3);
  Slow whole;
  const double loss = run(whole, false).metrics.at("val_loss");
  manual_seed(3);
  Slow broken;
  broken.interrupt = &interrupt;
  EXPECT_EQ(run(broken, false).stopped_by, "interrupt");
  EXPECT_EQ(broken.validated, 6 + 3);
  interrupt.store(false);
  Slow again;
  EXPECT_EQ(run(again, true).metrics.at("val_loss"), loss);
  EXPECT_EQ(again.validated, 12);
  EXPECT_EQ(again.trained, 4);
}

TEST(Options, AnUndefinedLossSkipsTheBatch) {
  struct Skips : Net {
    Tensor training_step(const Batch& batch, int64_t index) override { return index % 2 ? Tensor() : Net::training_step(batch, index); }
  } model;
  auto train = loader_of(60);
  EXPECT_EQ(Trainer({.max_epochs = 1, .quiet = true}).fit(model, train).steps, 3);
}

TEST(Options, ALoaderOfUnknownLengthIsReadToItsEnd) {
  struct Stream : data::datasets::StatefulDataset<Stream> {
    int64_t left = 0;
    void reset() override { left = 35; }
    std::optional<std::vector<data::Example<>>> get_batch(size_t size) override {
      if (left == 0) return std::nullopt;
      std::vector<data::Example<>> out;
      for (; left > 0 && out.size() < size; --left) out.emplace_back(ones({32}), zeros({}, kLong));
      return out;
    }
    std::optional<size_t> size() const override { return std::nullopt; }
    void save(serialize::OutputArchive&) const override {}
    void load(serialize::InputArchive&) override {}
  };
  auto train = data::make_data_loader(Stream().map(data::transforms::Stack<>()), data::DataLoaderOptions(10));
  auto val = loader_of(20);
  Net model;
  const auto result = Trainer({.max_epochs = 2, .quiet = true}).fit(model, train, val);
  EXPECT_EQ(result.epochs, 2);
  EXPECT_EQ(result.steps, 8);
  EXPECT_EQ(model.validated, 4);
}

}  // namespace
}  // namespace taeda::train
