// Training steps of small models: what the framework costs where the arithmetic is next to nothing. Bars: see benchmarks/peer.h.
// threads: 1 2
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/peer.h"

#include <memory>

namespace {

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

/// A perceptron 64-64-64-10 on one row.
struct Perceptron {
  nn::Sequential model{nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 10)};
  Tensor x = torch::randn({1, 64});
  Tensor y = torch::zeros({1}, torch::kLong);
};

template <class Optimizer, class Options>
auto perceptron_step(Options options) {
  return [=] {
    Perceptron p;
    auto optimizer = std::make_shared<Optimizer>(p.model->parameters(), options);
    return [p, optimizer]() mutable {
      optimizer->zero_grad();
      const Tensor loss = F::cross_entropy(p.model->forward(p.x), p.y);
      loss.backward();
      optimizer->step();
      return loss;
    };
  };
}

auto perceptron_inference() {
  Perceptron p;
  p.model->eval();
  return [p]() mutable {
    const torch::NoGradGuard no_grad;
    return p.model->forward(p.x);
  };
}

/// A layer of 64 units over 50 steps of one sequence of 32 features, with its optimizer.
auto lstm_step() {
  nn::LSTM lstm(nn::LSTMOptions(32, 64));
  auto optimizer = std::make_shared<torch::optim::SGD>(lstm->parameters(), torch::optim::SGDOptions(0.01));
  return [lstm, optimizer, x = torch::randn({50, 1, 32})]() mutable {
    optimizer->zero_grad();
    const Tensor loss = std::get<0>(lstm->forward(x)).sum();
    loss.backward();
    optimizer->step();
    return loss;
  };
}

/// The same written as a loop over cells, forward and backward.
auto lstm_cell_loop() {
  nn::LSTMCell cell(nn::LSTMCellOptions(32, 64));
  std::vector<Tensor> inputs;
  for (int i = 0; i < 50; ++i) inputs.push_back(torch::randn({1, 32}));
  return [cell, inputs]() mutable {
    cell->zero_grad();
    Tensor h = torch::zeros({1, 64}), c = torch::zeros({1, 64});
    for (const Tensor& x : inputs) std::tie(h, c) = cell->forward(x, std::make_tuple(h, c));
    const Tensor loss = h.sum();
    loss.backward();
    return loss;
  };
}

void register_all() {
  using torch::optim::AdamOptions;
  using torch::optim::SGDOptions;
  bench::add("mlp_sgd", "ratio>=5.08 memory<=1", perceptron_step<torch::optim::SGD>(SGDOptions(0.01)));
  bench::add("mlp_adam", "ratio>=8.2 memory<=1", perceptron_step<torch::optim::Adam>(AdamOptions(0.001)));
  bench::add("mlp_inference", "ratio>=4.93 memory<=1", perceptron_inference);
  bench::add("lstm_50", "ratio>=2.32 memory<=1", lstm_step);
  bench::add("lstm_cell_50", "ratio>=6.7 memory<=1", lstm_cell_loop);
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, register_all); }
