// What recording and walking the graph costs, one thread. Bars: see benchmarks/peer.h.
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/peer.h"

#include <memory>
#include <tuple>
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
    benchmark::DoNotOptimize(call());  // pages and caches that are new at the first call
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

/// A character GPT (4 layers, 4 heads, width 128, blocks of 64, batches of 12) and its AdamW step.
struct CharacterGpt {
  static constexpr int64_t kVocabulary = 65, kWidth = 128, kHeads = 4, kBlock = 64, kBatch = 12, kLayers = 4;
  struct Layer {
    torch::nn::LayerNorm norm1{torch::nn::LayerNormOptions({kWidth})}, norm2{torch::nn::LayerNormOptions({kWidth})};
    torch::nn::Linear attention{kWidth, 3 * kWidth}, projection{kWidth, kWidth}, up{kWidth, 4 * kWidth}, down{4 * kWidth, kWidth};
  };
  torch::nn::Embedding tokens{kVocabulary, kWidth}, positions{kBlock, kWidth};
  std::vector<Layer> layers = std::vector<Layer>(kLayers);
  torch::nn::LayerNorm norm{torch::nn::LayerNormOptions({kWidth})};
  torch::nn::Linear head{kWidth, kVocabulary};
  Tensor input = torch::randint(0, kVocabulary, {kBatch, kBlock}, torch::kInt64);
  Tensor target = torch::randint(0, kVocabulary, {kBatch * kBlock}, torch::kInt64);
  Tensor places = torch::arange(kBlock);
  std::shared_ptr<torch::optim::AdamW> optimizer;

  CharacterGpt() {
    // Containers share their handles when they are copied, and so would the layers.
    for (Layer& layer : layers) layer = Layer();
    std::vector<Tensor> parameters;
    const auto take = [&](const torch::nn::Module& module) {
      for (const Tensor& p : module.parameters()) parameters.push_back(p);
    };
    take(*tokens), take(*positions), take(*norm), take(*head);
    for (const Layer& layer : layers) {
      take(*layer.norm1), take(*layer.norm2), take(*layer.attention), take(*layer.projection), take(*layer.up), take(*layer.down);
    }
    optimizer = std::make_shared<torch::optim::AdamW>(parameters, torch::optim::AdamWOptions(1e-3));
  }
  Tensor step() {
    Tensor x = tokens->forward(input) + positions->forward(places);
    for (Layer& layer : layers) {
      const Tensor qkv = layer.attention->forward(layer.norm1->forward(x)).view({kBatch, kBlock, 3, kHeads, kWidth / kHeads});
      const Tensor parts = qkv.permute({2, 0, 3, 1, 4});
      const Tensor mixed = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, /*is_causal=*/true);
      x = x + layer.projection->forward(mixed.transpose(1, 2).reshape({kBatch, kBlock, kWidth}));
      x = x + layer.down->forward(torch::gelu(layer.up->forward(layer.norm2->forward(x))));
    }
    const Tensor logits = head->forward(norm->forward(x)).view({kBatch * kBlock, kVocabulary});
    const Tensor loss = torch::nn::functional::cross_entropy(logits, target);
    optimizer->zero_grad();
    loss.backward();
    optimizer->step();
    return loss;
  }
};

void register_all() {
  add("add_4_recorded", "ratio>=4.2", [] { return [a = four().requires_grad_(), b = four()] { return a + b; }; });
  add("mul_4_recorded", "ratio>=4",
      [] { return [a = four().requires_grad_(), b = four().requires_grad_()] { return a * b; }; });
  add("mean_of_twice_x", "ratio>=10", [] {
    return [] {
      const Tensor x = torch::randn({3}, torch::requires_grad());
      const Tensor z = (x * 2).mean();
      z.backward();
      return x.grad();
    };
  });
  add("tanh_20", "ratio>=7.5", [] {
    return [x = four().requires_grad_(), one = four()] {
      Tensor y = x;
      for (int i = 0; i < 20; ++i) y = torch::tanh(y);
      y.backward(one);
      return y;
    };
  });
  add("perceptron", "", [] { return [p = Perceptron()] { return p.step(); }; });
  add("lstm_cell_50", "ratio>=6.7", [] { return [m = LongShortTermMemory()] { return m.step(); }; });
  add("character_gpt", "", [] { return [m = std::make_shared<CharacterGpt>()] { return m->step(); }; });
  benchmark::RegisterBenchmark("chain_1M_backward", walk_chain)->Iterations(2);
#ifndef TAEDA_PEER_TORCH
  using torch::autograd::AnomalyLevel;
  using torch::autograd::DetectAnomalyGuard;
  add("perceptron_cheap_anomaly", "over_perceptron<=1.1", [] {
    return [p = Perceptron()] {
      const DetectAnomalyGuard guard(AnomalyLevel::kCheap);
      return p.step();
    };
  });
  add("character_gpt_cheap_anomaly", "over_character_gpt<=1.1", [] {
    return [m = std::make_shared<CharacterGpt>()] {
      const DetectAnomalyGuard guard(AnomalyLevel::kCheap);
      return m->step();
    };
  });
  const auto large = [] { return torch::full({1 << 24}, 0.5F); };
  add("add_16M", "", [=] { return [a = large(), b = large()] { return a + b; }; });
  add("add_16M_cheap_anomaly", "over_add_16M<=1.1", [=] {
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
