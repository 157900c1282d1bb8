// What recording and walking the graph costs, one thread. Bars: see benchmarks/peer.h.
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/peer.h"

#include <vector>

#ifndef TAEDA_PEER_TORCH
#include "taeda/autograd/anomaly.h"
#endif

namespace {

using torch::Tensor;

/// Registers a benchmark that calls `make()` once for a closure and then times the closure.
template <class Make>
void add(const char* name, const char* bars, Make make) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
    auto call = make();
    for (auto _ : state) {
      auto result = call();
      benchmark::DoNotOptimize(result);
    }
    state.SetLabel(bars);
  });
}

Tensor four() { return torch::tensor({1.0F, 2.0F, 3.0F, 4.0F}); }

/// The walk over a chain of a million additions, without building it. A node's time is a millionth of it.
void walk_chain(benchmark::State& state) {
  const Tensor x = torch::ones({1}, torch::requires_grad());
  for (auto _ : state) {
    state.PauseTiming();
    Tensor y = x;
    for (int i = 0; i < 1'000'000; ++i) y = y + 1;
    const Tensor one = torch::ones({1});
    state.ResumeTiming();
    y.backward(one);
    state.PauseTiming();
    y = Tensor();
    state.ResumeTiming();
  }
  state.SetLabel("ratio>=4");
}

/// A perceptron 64-64-64-10 and its loss on one row.
struct Perceptron {
  std::vector<Tensor> parameters;
  Tensor x = torch::randn({1, 64});
  Perceptron() {
    const int64_t sizes[] = {64, 64, 64, 10};
    for (int i = 0; i < 3; ++i) {
      parameters.push_back((torch::randn({sizes[i + 1], sizes[i]}) * 0.1).requires_grad_());
      parameters.push_back(torch::zeros({sizes[i + 1]}).requires_grad_());
    }
  }
  Tensor step() const {
    Tensor h = x;
    for (size_t i = 0; i < 6; i += 2) {
      h = torch::linear(h, parameters[i], parameters[i + 1]);
      if (i < 4) h = torch::relu(h);
    }
    Tensor loss = (h * h).mean();
    loss.backward();
    for (const Tensor& p : parameters) p.mutable_grad().reset();
    return loss;
  }
};

/// An LSTM cell 32 to 64 over 50 steps, forward and backward, from its parts.
struct LongShortTermMemory {
  Tensor input_weight = (torch::randn({256, 32}) * 0.1).requires_grad_();
  Tensor hidden_weight = (torch::randn({256, 64}) * 0.1).requires_grad_();
  Tensor input_bias = torch::zeros({256}).requires_grad_();
  Tensor hidden_bias = torch::zeros({256}).requires_grad_();
  std::vector<Tensor> inputs;
  LongShortTermMemory() {
    for (int i = 0; i < 50; ++i) inputs.push_back(torch::randn({1, 32}));
  }
  Tensor step() const {
    Tensor h = torch::zeros({1, 64}), c = torch::zeros({1, 64});
    for (const Tensor& x : inputs) {
      std::tie(h, c) = torch::lstm_cell(x, {h, c}, input_weight, hidden_weight, input_bias, hidden_bias);
    }
    Tensor loss = h.sum();
    loss.backward();
    return loss;
  }
};

void register_all() {
  add("add_4_recorded", "ns<=200 ratio>=4", [] { return [a = four().requires_grad_(), b = four()] { return a + b; }; });
  add("mul_4_recorded", "ratio>=4",
      [] { return [a = four().requires_grad_(), b = four().requires_grad_()] { return a * b; }; });
  add("mean_of_twice_x", "ns<=1500 ratio>=10", [] {
    return [] {
      const Tensor x = torch::randn({3}, torch::requires_grad());
      const Tensor z = (x * 2).mean();
      z.backward();
      return x.grad();
    };
  });
  add("tanh_20", "ns<=9000 ratio>=7", [] {
    return [x = four().requires_grad_(), one = four()] {
      Tensor y = x;
      for (int i = 0; i < 20; ++i) y = torch::tanh(y);
      y.backward(one);
      return y;
    };
  });
  add("perceptron", "", [] { return [p = Perceptron()] { return p.step(); }; });
  add("lstm_cell_50", "ns<=500000 ratio>=6", [] { return [m = LongShortTermMemory()] { return m.step(); }; });
  benchmark::RegisterBenchmark("chain_1M_backward", walk_chain)->Iterations(2);
#ifndef TAEDA_PEER_TORCH
  using torch::autograd::AnomalyLevel;
  using torch::autograd::DetectAnomalyGuard;
  add("perceptron_cheap_anomaly", "", [] {
    return [p = Perceptron()] {
      const DetectAnomalyGuard guard(AnomalyLevel::kCheap);
      return p.step();
    };
  });
  const auto large = [] { return torch::full({1 << 24}, 0.5F); };
  add("add_16M", "", [=] { return [a = large(), b = large()] { return a + b; }; });
  add("add_16M_cheap_anomaly", "", [=] {
    return [a = large(), b = large()] {
      const DetectAnomalyGuard guard(AnomalyLevel::kCheap);
      return a + b;
    };
  });
#endif
}

}  // namespace

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(0);
  register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
