// What compile() gives: whole training steps and small functions, eager against compiled in one run, one thread.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "taeda/taeda.h"

namespace {

using namespace taeda;  // NOLINT(google-build-using-namespace)

/// Times `make()`'s closure as it is and compiled.
template <class Make>
void both(const std::string& name, Make make) {
  for (const bool compiled : {false, true}) {
    benchmark::RegisterBenchmark((name + (compiled ? "/compiled" : "/eager")).c_str(), [=](benchmark::State& state) {
      set_num_threads(1);
      manual_seed(1);
      const auto call = compile(make(), {.backend = compiled ? CompileBackend::kInterpreter : CompileBackend::kEager});
      for (int i = 0; i < 3; ++i) call();
      for (auto _ : state) {
        Tensor result = call();
        benchmark::DoNotOptimize(result.impl().data());
      }
    });
  }
}

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

/// A recurrent cell over 50 steps, forward and backward.
auto recurrent_steps() {
  nn::LSTMCell cell(32, 64);
  const Tensor x = randn({50, 1, 32});
  return [=]() mutable {
    Tensor h = zeros({1, 64}), c = zeros({1, 64});
    for (int64_t t = 0; t < 50; ++t) std::tie(h, c) = cell(x[t], std::make_tuple(h, c));
    h.sum().backward();
    Tensor first;
    for (const Tensor& p : cell->parameters()) first = std::exchange(p.mutable_grad(), Tensor());
    return first;
  };
}

}  // namespace

int main(int argc, char** argv) {
  both("mlp_adam_step", mlp_adam_step);
  both("pointwise/4K", pointwise(4096));
  both("pointwise/1M", pointwise(1 << 20));
  both("pointwise/16M", pointwise(1 << 24));
  both("lstm_cell_50", recurrent_steps);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
