// Models whose arithmetic counts: a convolutional network, a character GPT, ResNet-50. Bars: see benchmarks/peer.h.
// threads: 1 2
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/networks.h"

namespace {

using namespace bench;  // NOLINT(google-build-using-namespace)
namespace F = torch::nn::functional;

/// Two convolutions, a pool and two linear layers for images of 28 by 28, as in MNIST's first examples.
auto cnn_step() {
  nn::Sequential model(nn::Conv2d(nn::Conv2dOptions(1, 32, 3)), nn::ReLU(), nn::Conv2d(nn::Conv2dOptions(32, 64, 3)), nn::ReLU(),
                       nn::MaxPool2d(nn::MaxPool2dOptions(2)), nn::Flatten(), nn::Linear(64 * 12 * 12, 128), nn::ReLU(), nn::Linear(128, 10));
  auto optimizer = std::make_shared<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(1e-3));
  return [model, optimizer, x = torch::rand({64, 1, 28, 28}), y = torch::randint(0, 10, {64}, torch::kLong)]() mutable {
    optimizer->zero_grad();
    const Tensor loss = F::cross_entropy(model->forward(x), y);
    loss.backward();
    optimizer->step();
    return loss;
  };
}

auto gpt_step() {
  auto model = std::make_shared<Gpt>();
  auto optimizer = std::make_shared<torch::optim::AdamW>(model->parameters(), torch::optim::AdamWOptions(1e-3));
  const auto text = [] { return torch::randint(0, kVocabulary, {kBatch, kBlock}, torch::kLong); };
  return [model, optimizer, x = text(), y = text()]() mutable {
    optimizer->zero_grad();
    const Tensor loss = F::cross_entropy(model->forward(x).view({-1, kVocabulary}), y.view({-1}));
    loss.backward();
    optimizer->step();
    return loss;
  };
}

auto resnet_inference(int64_t batch) {
  return [=] {
    return [model = resnet50(), x = torch::rand({batch, 3, 224, 224})]() mutable {
      const torch::NoGradGuard no_grad;
      return model->forward(x);
    };
  };
}

void register_all() {
  bench::add("mnist_cnn_64_adam", "ratio>=1.69 memory<=1", cnn_step);
  bench::add("gpt_adamw", "ratio>=1.89 memory<=1", gpt_step);
  bench::add("resnet50_inference_1", "ratio>=1.6 memory<=1", resnet_inference(1));
  bench::add("resnet50_inference_8", "ratio>=1.7 memory<=1", resnet_inference(8));
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, register_all); }
