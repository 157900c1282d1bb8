// What compile() gives: whole training steps and a chain of pointwise operators, as they are, interpreted and with generated code
// in one run, one thread. LibTorch has no compile() in C++:
// no peer
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/backends.h"

namespace {

using namespace taeda;  // NOLINT(google-build-using-namespace)
using bench::every_backend;
using bench::replayed;

/// A perceptron 64-64-64-10 and one Adam step on one row.
auto mlp_adam_step() {
  nn::Sequential model(nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 10));
  const auto adam = std::make_shared<optim::Adam>(model->parameters(), optim::AdamOptions(1e-3));
  const Tensor x = randn({1, 64}), y = full({1}, 3, kLong);
  return [=]() mutable {
    adam->zero_grad();
    Tensor loss = cross_entropy_loss(model->forward(x), y);
    loss.backward();
    adam->step();
    return loss;
  };
}

/// The same perceptron on one row, without gradients.
auto mlp_inference() {
  nn::Sequential model(nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 10));
  const Tensor x = randn({1, 64});
  return [=]() mutable {
    const NoGradGuard off;
    return model->forward(x);
  };
}

/// As little as a function can do: what a call costs by itself.
auto one_operator() {
  const Tensor x = randn({1});
  return [x] { return x + 1; };
}

auto pointwise(int64_t n) {
  return [=] {
    const Tensor x = randn({n});
    return [x] {
      const NoGradGuard off;
      Tensor y = tanh(x * 1.5 + 0.5) * sigmoid(x) + exp(-x * x);
      return y;
    };
  };
}

/// A recurrent cell over 50 steps: forward, backward, one step of SGD.
auto recurrent_steps() {
  nn::LSTMCell cell(32, 64);
  const auto sgd = std::make_shared<optim::SGD>(cell->parameters(), optim::SGDOptions(1e-3));
  const Tensor x = randn({50, 1, 32});
  return [=]() mutable {
    sgd->zero_grad();
    Tensor h = zeros({1, 64}), c = zeros({1, 64});
    for (int64_t t = 0; t < 50; ++t) std::tie(h, c) = cell(x[t], std::make_tuple(h, c));
    Tensor loss = h.sum();
    loss.backward();
    sgd->step();
    return loss;
  };
}

}  // namespace

int main(int argc, char** argv) {
  every_backend("mlp_adam_step", mlp_adam_step);
  replayed("mlp_adam_step", mlp_adam_step, "0.7");
  every_backend("mlp_inference", mlp_inference);
  replayed("mlp_inference", mlp_inference, "1");
  every_backend("one_operator", one_operator);
  replayed("one_operator", one_operator, "3");
  every_backend("pointwise_4K", pointwise(4096));
  every_backend("pointwise_1M", pointwise(1 << 20));
  every_backend("pointwise_16M", pointwise(1 << 24));
  replayed("pointwise_4K", pointwise(4096), "0.9");
  every_backend("lstm_cell_50", recurrent_steps);
  replayed("lstm_cell_50", recurrent_steps, "0.7");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
