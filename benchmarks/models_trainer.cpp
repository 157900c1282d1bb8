// What the trainer adds to a step: an epoch of 5,000 steps of a 32-wide perceptron, by hand and with the trainer, its bar and a log
// file. Bars: see benchmarks/peer.h; half a microsecond a step is 2.5 ms here.
// no peer
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/peer.h"

#include <cstdio>
#include <filesystem>

#include "taeda/train.h"

namespace {

using torch::Tensor;
namespace nn = torch::nn;
namespace train = taeda::train;

struct Classifier : train::Module {
  nn::Sequential model = register_module("model", nn::Sequential(nn::Linear(32, 32), nn::ReLU(), nn::Linear(32, 10)));
  Tensor training_step(const train::Batch& batch, int64_t) override {
    return nn::functional::cross_entropy(model->forward(batch.data), batch.target);
  }
  train::Optimizers configure_optimizers() override { return torch::optim::SGD(parameters(), torch::optim::SGDOptions(0.01)); }
};

auto loader() {
  constexpr int64_t kRows = 40'000;
  auto rows = torch::data::datasets::TensorPairDataset(torch::randn({kRows, 32}), torch::randint(0, 10, {kRows}, torch::kLong));
  return std::shared_ptr(torch::data::make_data_loader(std::move(rows).map(torch::data::transforms::Stack<>()), 8));
}

auto by_hand() {
  auto model = std::make_shared<Classifier>();
  auto optimizer = std::make_shared<torch::optim::SGD>(model->parameters(), torch::optim::SGDOptions(0.01));
  return [model, optimizer, batches = loader()] {
    double total = 0;
    for (auto& batch : *batches) {
      optimizer->zero_grad();
      const Tensor loss = model->training_step(batch, 0);
      loss.backward();
      optimizer->step();
      total += loss.item<double>();
    }
    return total;
  };
}

auto with_trainer() {
  const auto log = std::filesystem::temp_directory_path() / "taeda_bench_trainer.csv";
  return [batches = loader(), log, sink = std::shared_ptr<std::FILE>(std::fopen("/dev/null", "w"), std::fclose)] {
    Classifier model;
    train::TrainerOptions options;
    options.max_epochs = 1;
    options.progress_bar = options.model_summary = false;
    options.callbacks = {std::make_shared<train::ProgressBar>(sink.get(), /*terminal=*/true)};
    options.loggers = {std::make_shared<train::CSVLogger>(log.string())};
    return train::Trainer(options).fit(model, *batches).steps;
  };
}

void register_all() {
  bench::add("epoch_by_hand", "", by_hand);
  bench::add("epoch_with_trainer", "over_epoch_by_hand<=1.02 more_than_epoch_by_hand<=2.5e6", with_trainer);
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, register_all); }
