// An epoch of MNIST (60,000 images, batches of 64): reading, shuffling, a convolutional network, Adam. The folder with MNIST's four
// plain IDX files is that of the variable MNIST_DIR. Bars: see benchmarks/peer.h.
// threads: 1 2
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/peer.h"

#ifndef TAEDA_PEER_TORCH
#include "taeda/train.h"
#endif

namespace {

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

const char* folder() { return std::getenv("MNIST_DIR"); }

nn::Sequential network() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 32, 3)), nn::ReLU(), nn::Conv2d(nn::Conv2dOptions(32, 64, 3)), nn::ReLU(),
                        nn::MaxPool2d(nn::MaxPool2dOptions(2)), nn::Flatten(), nn::Linear(64 * 12 * 12, 128), nn::ReLU(), nn::Linear(128, 10));
}
auto loader() {
  return torch::data::make_data_loader(torch::data::datasets::MNIST(folder())
                                           .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                                           .map(torch::data::transforms::Stack<>()),
                                       64);
}

/// The loop that everybody writes.
auto plain_loop() {
  nn::Sequential model = network();
  auto optimizer = std::make_shared<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(1e-3));
  return [model, optimizer, batches = std::shared_ptr(loader())]() mutable {
    double total = 0;
    for (auto& batch : *batches) {
      optimizer->zero_grad();
      const Tensor loss = F::cross_entropy(model->forward(batch.data), batch.target);
      loss.backward();
      optimizer->step();
      total += loss.item<double>();
    }
    return total;
  };
}

#ifndef TAEDA_PEER_TORCH
struct Classifier : taeda::train::Module {
  nn::Sequential model = register_module("model", network());
  Tensor training_step(const taeda::train::Batch& batch, int64_t) override { return F::cross_entropy(model->forward(batch.data), batch.target); }
  taeda::train::Optimizers configure_optimizers() override { return torch::optim::Adam(parameters(), torch::optim::AdamOptions(1e-3)); }
};
/// The same with the trainer, its bar and its log.
auto trainer() {
  return [batches = std::shared_ptr(loader())] {
    Classifier model;
    return taeda::train::Trainer({.max_epochs = 1}).fit(model, *batches).steps;
  };
}
#endif

void register_all() {
  if (folder() == nullptr) return;
  bench::add("mnist_epoch", "ratio>=1.5 memory<=1", plain_loop)->Iterations(1);
#ifndef TAEDA_PEER_TORCH
  bench::add("mnist_epoch_trainer", "over_mnist_epoch<=1.02", trainer)->Iterations(1);
#endif
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, register_all); }
