// SPDX-License-Identifier: Apache-2.0
// Checkpointing: equal bits, restored generators, less memory.
#include "taeda/autograd/checkpoint.h"

#include "taeda/core/allocator.h"
#include "taeda/core/generator.h"
#include "tests/autograd/common.h"

namespace taeda::test {
namespace {

using autograd::checkpoint;
using autograd::CheckpointOptions;

Tensor block(const Tensor& x, const Tensor& w) { return (x * w).tanh().exp() * x; }

TEST(Checkpoint, GradientsAreBitwiseEqual) {
  const Tensor x = leaf({0.1, -0.5, 0.9}), w = leaf({1.5, 0.3, -2});
  block(x, w).sum().backward();
  const std::vector<double> want_x = values(x.grad()), want_w = values(w.grad());
  x.mutable_grad() = w.mutable_grad() = Tensor();
  int calls = 0;
  const Tensor y = checkpoint([&calls](const Tensor& a, const Tensor& b) { ++calls; return block(a, b); }, x, w);
  EXPECT_EQ(calls, 1);
  y.sum().backward();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(values(x.grad()), want_x);
  EXPECT_EQ(values(w.grad()), want_w);
}

TEST(Checkpoint, CapturedParametersAndGrad) {
  const Tensor x = of({0.1, -0.5, 0.9}), w = leaf({1.5, 0.3, -2});
  const Tensor want = autograd::grad({block(x, w).sum()}, {w})[0];
  const Tensor y = checkpoint([&w](const Tensor& a) { return block(a, w); }, x);
  EXPECT_EQ(values(autograd::grad({y.sum()}, {w})[0]), values(want));
}

TEST(Checkpoint, Nested) {
  const Tensor x = leaf({0.1, -0.5, 0.9}), w = leaf({1.5, 0.3, -2});
  block(block(block(x, w), w) * 2, w).sum().backward();
  const std::vector<double> want_x = values(x.grad()), want_w = values(w.grad());
  x.mutable_grad() = w.mutable_grad() = Tensor();
  const auto inner = [&w](const Tensor& a) { return block(a, w); };
  const auto outer = [&](const Tensor& a) {
    const Tensor b = checkpoint(inner, a);
    return checkpoint(inner, b) * 2;
  };
  checkpoint([&](const Tensor& a) { return block(outer(a), w); }, x).sum().backward();
  EXPECT_EQ(values(x.grad()), want_x);
  EXPECT_EQ(values(w.grad()), want_w);
}

TEST(Checkpoint, SeveralOutputsAndOtherArguments) {
  const Tensor x = leaf({0.1, -0.5, 0.9});
  const auto f = [](const autograd::variable_list& in, double scale, int power) {
    Tensor y = in[0].exp() * scale;
    for (int i = 1; i < power; ++i) y = y * in[0];
    return std::make_tuple(y, in[0].tanh());
  };
  {
    const auto [a, b] = f({x}, 2.0, 3);
    (a.sum() + (b * b).sum()).backward();
  }
  const std::vector<double> want = values(x.grad());
  x.mutable_grad() = Tensor();
  const auto [a, b] = checkpoint(f, autograd::variable_list{x}, 2.0, 3);
  (a.sum() + (b * b).sum()).backward();
  EXPECT_EQ(values(x.grad()), want);
}

TEST(Checkpoint, TwiceWithRetainedGraphAndSecondOrder) {
  const Tensor x = leaf({0.1, -0.5, 0.9});
  const auto f = [](const Tensor& a) { return (a * a).exp() * a; };
  const Tensor want = autograd::grad({autograd::grad({f(x).sum()}, {x}, {}, {}, true)[0].sum()}, {x})[0];
  const Tensor y = checkpoint(f, x);
  const Tensor first = autograd::grad({y.sum()}, {x}, {}, true)[0];
  EXPECT_EQ(values(autograd::grad({y.sum()}, {x}, {}, true)[0]), values(first));
  const Tensor g = autograd::grad({y.sum()}, {x}, {}, {}, true)[0];
  EXPECT_EQ(values(autograd::grad({g.sum()}, {x})[0]), values(want));
}

/// Drops elements by drawing from the default generator.
Tensor drop(const Tensor& x) {
  Tensor mask = taeda::empty(x.sizes(), x.options());
  auto* data = mask.mutable_data_ptr<double>();
  for (int64_t i = 0; i < mask.numel(); ++i) data[i] = cpu_generator().uniform_double() < 0.5 ? 0 : 2;
  return x * mask;
}

TEST(Checkpoint, RandomNumbersAreDrawnAgain) {
  const auto f = [](const Tensor& a) { return drop(drop(a.exp()) * a); };
  const auto run = [&](bool with, bool preserve, uint64_t* next) {
    const Tensor x = leaf({0.1, -0.5, 0.9, 1.1, 2, 3, 0.4, 0.2});
    manual_seed(7);
    const Tensor y = with ? checkpoint(CheckpointOptions{.preserve_rng_state = preserve}, f, x) : f(x);
    const Tensor z = drop(y);
    z.sum().backward();
    *next = cpu_generator().random();
    return values(x.grad());
  };
  uint64_t next_plain = 0, next_checkpointed = 0, next_loose = 0;
  const auto plain = run(false, true, &next_plain);
  EXPECT_EQ(run(true, true, &next_checkpointed), plain);
  EXPECT_EQ(next_plain, next_checkpointed);
  EXPECT_NE(run(true, false, &next_loose), plain);
}

TEST(Checkpoint, Sequential) {
  const Tensor x = leaf({0.1, -0.5, 0.9}), w = leaf({1.5, 0.3, -2});
  std::vector<std::function<Tensor(const Tensor&)>> layers(7, [&w](const Tensor& a) { return block(a, w) * 0.5; });
  Tensor y = x;
  for (const auto& f : layers) y = f(y);
  y.sum().backward();
  const std::vector<double> want_x = values(x.grad()), want_w = values(w.grad());
  for (const int64_t segments : {1, 2, 3, 7}) {
    x.mutable_grad() = w.mutable_grad() = Tensor();
    autograd::checkpoint_sequential(layers, segments, x).sum().backward();
    EXPECT_EQ(values(x.grad()), want_x) << segments;
    EXPECT_EQ(values(w.grad()), want_w) << segments;
  }
  expect_error([&] { autograd::checkpoint_sequential(layers, 8, x); }, {"segments", "8", "7"});
}

TEST(Checkpoint, WithoutGradItOnlyCalls) {
  const NoGradGuard off;
  EXPECT_FALSE(checkpoint([](const Tensor& a) { return a * 2; }, leaf({1})).requires_grad());
}

TEST(Checkpoint, FunctionsThatChangeAreReported) {
  const Tensor x = leaf({1});
  int calls = 0;
  const Tensor y = checkpoint([&calls](const Tensor& a) { return ++calls == 1 ? a.exp().exp() : a.exp(); }, x);
  expect_error([&] { y.backward(); }, {"[checkpoint]", "same tensors", "1 for 2"});
}

TEST(Checkpoint, ActivationsOfADeepNetworkFall) {
  constexpr int64_t kLayers = 32, kBatch = 256, kWidth = 128;
  const size_t activation = static_cast<size_t>(kBatch * kWidth) * sizeof(float);
  std::vector<Tensor> weights;
  for (int64_t i = 0; i < kLayers; ++i) weights.push_back((taeda::ones({kWidth}) * 1.01).requires_grad_());
  std::vector<std::function<Tensor(const Tensor&)>> layers;
  // Each layer saves its input and the result of tanh.
  for (const Tensor& w : weights) layers.emplace_back([&w](const Tensor& x) { return (x * w).tanh(); });
  const Tensor x = taeda::ones({kBatch, kWidth});
  const auto peak_of = [&](int64_t segments) {
    for (const Tensor& w : weights) w.mutable_grad() = Tensor();
    const size_t before = memory_stats().current;
    reset_peak_stats();
    Tensor y = segments == 0 ? x : autograd::checkpoint_sequential(layers, segments, x);
    if (segments == 0) {
      for (const auto& f : layers) y = f(y);
    }
    y.sum().backward();
    return static_cast<double>(memory_stats().peak - before) / static_cast<double>(activation);
  };
  const double plain = peak_of(0), checkpointed = peak_of(8);
  RecordProperty("activations_without", std::to_string(plain));
  RecordProperty("activations_with", std::to_string(checkpointed));
  EXPECT_GE(plain, static_cast<double>(kLayers));
  EXPECT_LE(checkpointed, 0.6 * plain);  // 8 inputs, and the 4 layers of one segment
}

}  // namespace
}  // namespace taeda::test
