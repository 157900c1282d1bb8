// SPDX-License-Identifier: Apache-2.0
// What the trainer promises: counts, reports, callbacks, clear errors.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/train/support.h"

namespace taeda::train {
namespace {

struct Linear : train::Module {
  nn::Linear layer = nullptr;
  double lr = 0.1;
  int64_t validations = 0;
  Linear() { layer = register_module("layer", nn::Linear(32, 10)); }
  Tensor training_step(const Batch& batch, int64_t) override {
    return nn::functional::cross_entropy(layer(batch.data), batch.target);
  }
  void validation_step(const Batch& batch, int64_t index) override {
    validations += index == 0;
    const Tensor scores = layer(batch.data);
    log("val_loss", nn::functional::cross_entropy(scores, batch.target));
    log("val_accuracy", accuracy);
    accuracy.update(scores, batch.target);
    show_predictions(scores, batch);
  }
  Tensor predict_step(const Batch& batch, int64_t) override { return layer(batch.data).argmax(1); }
  Optimizers configure_optimizers() override { return optim::SGD(parameters(), lr); }
  Accuracy accuracy;
};

auto loader_of(int64_t rows, size_t batch = 10, uint64_t seed = 1) {
  return data::make_data_loader<data::samplers::SequentialSampler>(class_rows(rows, seed).map(data::transforms::Stack<>()), batch);
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Trainer, CountsStepsEpochsAndValidations) {
  auto train = loader_of(95), val = loader_of(30, 10, 2);
  Linear model;
  auto result = Trainer({.max_epochs = 3, .accumulate_grad_batches = 4, .val_check_interval = 0.5, .quiet = true}).fit(model, train, val);
  EXPECT_EQ(result.steps, 9);  // 10 batches an epoch: 4, 4 and 2
  EXPECT_EQ(model.validations, 6);
  model.validations = 0;
  result = Trainer({.max_steps = 7, .val_check_interval = 3, .quiet = true}).fit(model, train, val);
  EXPECT_EQ(result.steps, 7);
  EXPECT_EQ(result.stopped_by, "max_steps");
  EXPECT_EQ(model.validations, 2);
  model.validations = 0;
  result = Trainer({.max_epochs = 4, .check_val_every_n_epoch = 2, .limit_train_batches = 0.5, .quiet = true}).fit(model, train, val);
  EXPECT_EQ(result.steps, 20);
  EXPECT_EQ(model.validations, 2);
  result = Trainer({.fast_dev_run = 2, .quiet = true}).fit(model, train, val);
  EXPECT_EQ(result.steps, 2);
}

TEST(Trainer, AccumulationEqualsOneLargeBatch) {
  auto small = loader_of(80, 10), large = loader_of(80, 40);
  manual_seed(1);
  Linear one;
  manual_seed(1);
  Linear other;
  Trainer({.max_epochs = 2, .accumulate_grad_batches = 4, .quiet = true}).fit(one, small);
  Trainer({.max_epochs = 2, .quiet = true}).fit(other, large);
  EXPECT_TRUE(allclose(one.layer->weight, other.layer->weight, 1e-4, 1e-6));
}

TEST(Trainer, CompiledStepsGiveTheSameBits) {
  auto first = loader_of(90), second = loader_of(90);
  manual_seed(1);
  Linear one;
  manual_seed(1);
  Linear other;
  const auto plain = Trainer({.max_epochs = 3, .accumulate_grad_batches = 2, .gradient_clip = 0.1, .quiet = true}).fit(one, first);
  const auto fast = Trainer({.max_epochs = 3, .accumulate_grad_batches = 2, .gradient_clip = 0.1, .compile = true, .quiet = true}).fit(other, second);
  EXPECT_EQ(plain.steps, fast.steps);
  EXPECT_TRUE(one.layer->weight.equal(other.layer->weight));
  EXPECT_TRUE(one.layer->bias.equal(other.layer->bias));
}

TEST(Trainer, OverfitsTheSameBatches) {
  auto loader = data::make_data_loader(class_rows(500).map(data::transforms::Stack<>()), 10);
  Linear model;
  model.lr = 0.5;
  const auto result = Trainer({.max_epochs = 100, .overfit_batches = 1, .quiet = true}).fit(model, loader);
  EXPECT_EQ(result.steps, 100);
  EXPECT_LT(result.metrics.at("train_loss"), 0.05);
}

TEST(Trainer, ValidatesTestsAndPredicts) {
  auto loader = loader_of(25);
  Linear model;
  Trainer trainer({.quiet = true});
  const auto values = trainer.validate(model, loader);
  EXPECT_TRUE(model.is_training());
  EXPECT_EQ(values.count("val_loss"), 1u);
  // Weighted by rows: equals the loss of all rows at once.
  const auto rows = class_rows(25);
  EXPECT_NEAR(values.at("val_loss"), nn::functional::cross_entropy(model.layer(rows.data()), rows.targets()).item<double>(), 1e-6);
  EXPECT_EQ(trainer.test(model, loader).count("test_loss"), 1u);
  const auto predictions = trainer.predict(model, loader);
  ASSERT_EQ(predictions.size(), 3u);
  EXPECT_EQ(predictions[2].size(0), 5);
}

TEST(Trainer, SeveralOptimizersAndSchedules) {
  struct Two : Linear {
    nn::Linear second = nullptr;
    Two() { second = register_module("second", nn::Linear(32, 10)); }
    Tensor training_step(const Batch& batch, int64_t) override {
      return nn::functional::cross_entropy(layer(batch.data) + second(batch.data), batch.target);
    }
    Optimizers configure_optimizers() override {
      return Optimizers(optim::SGD(layer->parameters(), 0.1))
          .schedule<optim::StepLR>(1, 0.5)
          .add(optim::Adam(second->parameters(), 0.01))
          .schedule_by_step<optim::ExponentialLR>(0.9);
    }
  } model;
  auto loader = loader_of(50);
  Trainer trainer({.max_epochs = 2, .quiet = true});
  trainer.fit(model, loader);
  EXPECT_DOUBLE_EQ(trainer.lr(), 0.025);
  EXPECT_NEAR(trainer.optimizers()[1]->param_groups()[0].options().get_lr(), 0.01 * std::pow(0.9, 10), 1e-12);
}

TEST(Checkpoints, KeepTheBestByARisingMetric) {
  struct Rising : Linear {
    double value = 0;
    void validation_step(const Batch&, int64_t index) override {
      static constexpr double kValues[] = {0.1, 0.5, 0.3, 0.9, 0.2, 0.7};
      if (index == 0) value = kValues[trainer().epoch() % 6];
      log("val_accuracy", value);
    }
  } model;
  TemporaryFolder folder;
  auto train = loader_of(20), val = loader_of(20);
  auto checkpoint = std::make_shared<ModelCheckpoint>(CheckpointOptions{.monitor = "val_accuracy", .save_top_k = 3});
  TrainerOptions options{.max_epochs = 6, .quiet = true};
  options.out_dir = folder.path();
  options.callbacks = {checkpoint};
  const auto result = Trainer(options).fit(model, train, val);
  ASSERT_EQ(checkpoint->kept().size(), 3u);
  EXPECT_EQ(checkpoint->kept()[0].second, 0.9);
  EXPECT_EQ(checkpoint->kept()[1].second, 0.7);
  EXPECT_EQ(checkpoint->kept()[2].second, 0.5);
  EXPECT_NE(result.best_checkpoint.find("epoch4"), std::string::npos);
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("checkpoints"))) {
    (void)entry;
    ++files;
  }
  EXPECT_EQ(files, 5u);  // three, last.pt, best.safetensors
  Linear again;
  load(again, folder.file("checkpoints/best.safetensors"));
  EXPECT_NE(message_of([] { ModelCheckpoint(CheckpointOptions{.monitor = "val_wobble"}); }).find("Mode::kMax"), std::string::npos);
  EXPECT_NO_THROW(ModelCheckpoint(CheckpointOptions{.monitor = "val_wobble", .mode = Mode::kMin}));
}

TEST(Checkpoints, AMetricThatIsNeverReportedIsNamedWithThoseThatAre) {
  TemporaryFolder folder;
  auto train = loader_of(20), val = loader_of(20);
  Linear model;
  TrainerOptions options{.max_epochs = 1, .quiet = true};
  options.out_dir = folder.path();
  options.callbacks = {std::make_shared<ModelCheckpoint>(CheckpointOptions{.monitor = "val_f1"})};
  const std::string message = message_of([&] { Trainer(options).fit(model, train, val); });
  EXPECT_NE(message.find("'val_f1'"), std::string::npos) << message;
  EXPECT_NE(message.find("val_accuracy"), std::string::npos) << message;
}

TEST(Callbacks, EarlyStoppingEndsTheRun) {
  auto train = loader_of(20), val = loader_of(20);
  Linear model;
  model.lr = 0;
  TrainerOptions options{.max_epochs = 50, .quiet = true};
  options.callbacks = {std::make_shared<EarlyStopping>(EarlyStoppingOptions{.monitor = "val_loss", .patience = 3})};
  const auto result = Trainer(options).fit(model, train, val);
  EXPECT_EQ(result.epochs, 4);
  EXPECT_NE(result.stopped_by.find("early stopping"), std::string::npos);
}

TEST(Callbacks, TheFinderPutsEverythingBack) {
  manual_seed(4);
  auto loader = data::make_data_loader(class_rows(100).map(data::transforms::Stack<>()), 10);
  Linear model;
  const Tensor weight = model.layer->weight.detach().clone();
  const Tensor generator = default_generator().get_state();
  const LRFinderResult found = find_lr(model, loader, {.min_lr = 1e-4, .max_lr = 100, .steps = 60});
  EXPECT_TRUE(equal(model.layer->weight, weight));
  EXPECT_TRUE(equal(default_generator().get_state(), generator));
  EXPECT_GT(found.suggestion, 1e-4);
  EXPECT_LT(found.suggestion, 20);
  // The run that follows is the run without the finder.
  Trainer({.max_epochs = 2, .quiet = true}).fit(model, loader);
  manual_seed(4);
  auto again = data::make_data_loader(class_rows(100).map(data::transforms::Stack<>()), 10);
  Linear other;
  Trainer({.max_epochs = 2, .quiet = true}).fit(other, again);
  EXPECT_TRUE(equal(model.layer->weight, other.layer->weight));
}

TEST(Callbacks, FreezeAndRates) {
  Linear model;
  freeze(model);
  EXPECT_FALSE(model.layer->weight.requires_grad());
  unfreeze(model);
  EXPECT_TRUE(model.layer->weight.requires_grad());
  EXPECT_EQ(layer_rates(3, 1.0, 100), (std::vector<double>{0.01, 0.1, 1.0}));
}

TEST(BadLoss, NamesTheFirstBadOperatorAndSavesTheBatch) {
  struct Bad : Linear {
    Tensor training_step(const Batch& batch, int64_t index) override {
      const Tensor scores = layer(batch.data);
      if (index == 2) return log(scores.abs().neg()).mean();
      return nn::functional::cross_entropy(scores, batch.target);
    }
    static Tensor log(const Tensor& x) { return taeda::log(x); }
  } model;
  TemporaryFolder folder;
  auto train = loader_of(50);
  TrainerOptions options{.max_epochs = 1, .quiet = true};
  options.out_dir = folder.path();
  const std::string message = message_of([&] { Trainer(options).fit(model, train); });
  EXPECT_NE(message.find("[log"), std::string::npos) << message;
  EXPECT_NE(message.find("bad_batch_2.pt"), std::string::npos) << message;
  serialize::InputArchive batch;
  batch.load_from(folder.file("bad_batch_2.pt"));
  Tensor data;
  batch.read("data", data);
  EXPECT_EQ(data.size(0), 10);
}

TEST(Loggers, WriteWhatWasReported) {
  TemporaryFolder folder;
  auto train = loader_of(30), val = loader_of(20);
  Linear model;
  model.lr = 0;  // so that there are wrong answers to show
  TrainerOptions options{.max_epochs = 2, .log_every_n_steps = 1, .quiet = true};
  options.out_dir = folder.path();
  auto board = std::make_shared<TensorBoardLogger>(folder.file("board"));
  options.loggers = {std::make_shared<CSVLogger>(folder.file("log.csv")), std::make_shared<JSONLinesLogger>(folder.file("log.jsonl")), board};
  board->log_hyperparameters({{"lr", "0.1"}, {"model", "linear"}});
  board->add_histogram("weights", model.layer->weight, 0);
  board->add_image("noise", ones({3, 8, 8}, kUInt8), 0);
  options.callbacks = {std::make_shared<Report>(ReportOptions{.title = "A <test>", .config = {{"lr", "0.1"}}})};
  Trainer(options).fit(model, train, val);
  const std::string csv = io::read_file(folder.file("log.csv")), lines = io::read_file(folder.file("log.jsonl"));
  EXPECT_NE(csv.find("6,2,train_loss"), std::string::npos) << csv;
  EXPECT_NE(csv.find("3,0,val_accuracy,"), std::string::npos) << csv;
  EXPECT_NE(lines.find("{\"step\": 1, \"epoch\": 0, \"train_loss_step\": "), std::string::npos) << lines;
  const std::string events = io::read_file(board->path());
  EXPECT_NE(events.find("brain.Event:2"), std::string::npos);
  EXPECT_NE(events.find("val_accuracy"), std::string::npos);
  const std::string page = io::read_file(folder.file("report.html"));
  for (const char* part : {"<svg", "A &lt;test&gt;", "Confusion matrix", "Worst samples", "val_accuracy", "Linear", "</html>"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(page.find("http"), std::string::npos);  // needs nothing from outside
}

}  // namespace
}  // namespace taeda::train
