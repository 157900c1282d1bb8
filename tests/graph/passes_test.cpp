// SPDX-License-Identifier: Apache-2.0
// Each pass by its printed before and after, and by the bits of its results.
#include <gtest/gtest.h>

#include <limits>

#include "taeda/core/allocator.h"
#include "taeda/graph/capture.h"
#include "taeda/graph/executable.h"
#include "taeda/graph/passes/passes.h"
#include "tests/graph/same.h"

namespace taeda::graph {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

Tensor special() { return tensor({0.0, -0.0, 1.5, -2.5, kInf, -kInf, kNan, 1e-45, -1e-45, 3e38}); }

/// The graph of f(x) after simplify and remove_dead; its results are f's on special values.
std::string simplified(const Function& f, const Tensor& x) {
  const NoGradGuard no_grad;
  Graph g = capture(f, {x});
  simplify(g);
  remove_dead(g);
  g.verify();
  const Tensors want = f({x}), got = run(g, {x});
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(same(got.at(i), want[i])) << i << '\n' << g.text();
  const std::string text = g.text();
  return text.substr(text.find("\n", text.find("input")) + 1);
}

TEST(GraphPasses, NeutralElementsGo) {
  // A result that is given out keeps memory of its own, so that each ends in exp().
  EXPECT_EQ(simplified([](const Tensors& in) { return Tensors{(in[0] * 1).exp(), (in[0] / 1.0).exp(), (in[0] - 0.0).exp(), (in[0] + -0.0).exp()}; }, special()),
            "%1: Float[10] = exp(%0)\n%2: Float[10] = exp(%0)\n%3: Float[10] = exp(%0)\n%4: Float[10] = exp(%0)\nreturn %1, %2, %3, %4\n");
  EXPECT_EQ(simplified([](const Tensors& in) { return Tensors{((in[0] + 0) * 1 - 0).abs()}; }, tensor({3, -4}, kLong)), "%1: Long[2] = abs(%0)\nreturn %1\n");
}

TEST(GraphPasses, WhatChangesTheSignOfZeroOrTheDtypeStays) {
  const std::string text = simplified(
      [](const Tensors& in) { return Tensors{(in[0] + 0.0).exp(), (in[0] - -0.0).exp(), (in[0] * -1).exp(), (in[0] + 0).exp()}; }, special());
  EXPECT_EQ(std::count(text.begin(), text.end(), '='), 8) << text;
  const std::string cast = simplified([](const Tensors& in) { return Tensors{(in[0] * 1.0).exp()}; }, tensor({3, -4}, kLong));
  EXPECT_EQ(std::count(cast.begin(), cast.end(), '='), 2) << cast;
}

TEST(GraphPasses, ResultsThatAreGivenOutKeepTheirMemory) {
  const Graph before = capture([](const Tensors& in) { return Tensors{in[0] * 1, in[0].clone().view({2}), in[0].exp(), in[0].exp()}; }, {ones({2})});
  Graph g = before;
  optimize(g);
  EXPECT_EQ(g.text(), before.text());
  const Tensor x = ones({2});
  const Tensors out = run(g, {x});
  for (const Tensor& t : out) t.fill_(5.0);
  EXPECT_TRUE(same(x, ones({2})));
  EXPECT_FALSE(out[2].impl().storage == out[3].impl().storage);
}

TEST(GraphPasses, ViewsOfViewsAndCopiesGo) {
  EXPECT_EQ(simplified([](const Tensors& in) { return Tensors{in[0].clone().t().exp().t().view({2, 3}).clone().view({6}).view({3, 2}).sin()}; }, rand({2, 3})),
            "%1: Float[3, 2] strides [1, 3] = permute(%0, [1, 0])\n%2: Float[3, 2] strides [1, 3] = exp(%1)\n"
            "%3: Float[2, 3] = permute(%2, [1, 0])\n%4: Float[3, 2] = view(%3, [3, 2])\n%5: Float[3, 2] = sin(%4)\nreturn %5\n");
}

TEST(GraphPasses, PermutationsCompose) {
  Graph g = parse("graph 1\ninput %0: Float[2, 3, 4]\n%1: Float[3, 4, 2] strides [4, 1, 12] = permute(%0, [1, 2, 0])\n"
                  "%2: Float[4, 2, 3] strides [1, 12, 4] = permute(%1, [1, -1, 0])\n%3: Float[2, 3, 4] = permute(%2, [1, 2, 0])\n%4: Float[2, 3, 4] = exp(%3)\n"
                  "return %2, %4\n");
  const Tensor x = randn({2, 3, 4});
  const Tensors want = run(g, {x});
  EXPECT_EQ(simplify(g), 3u);
  remove_dead(g);
  EXPECT_EQ(g.text(), "graph 1\ninput %0: Float[2, 3, 4]\n%1: Float[4, 2, 3] strides [1, 12, 4] = permute(%0, [2, 0, 1])\n%2: Float[2, 3, 4] = exp(%0)\nreturn %1, %2\n");
  const Tensors got = run(g, {x});
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(same(got[i], want[i])) << i;
}

TEST(GraphPasses, CastsToWiderDtypesAndBackGo) {
  EXPECT_EQ(simplified([](const Tensors& in) { return Tensors{in[0].to(kDouble).to(kFloat).exp()}; }, special()), "%1: Float[10] = exp(%0)\nreturn %1\n");
  for (const auto& [from, to] : {std::pair(kFloat, kHalf), std::pair(kDouble, kFloat), std::pair(kBFloat16, kHalf), std::pair(kFloat, kLong)}) {
    const std::string text = simplified([&](const Tensors& in) { return Tensors{in[0].to(to).to(from).exp()}; }, rand({4}).to(from));
    EXPECT_EQ(std::count(text.begin(), text.end(), '='), 3) << text;
  }
}

TEST(GraphPasses, ConstantsAreComputedOnce) {
  const Tensor c = tensor({1.0, 2.0});
  const Function f = [&](const Tensors& in) { return Tensors{in[0] * (c.exp() + arange(2)), in[0] + rand({2})}; };
  Graph g = capture(f, {ones({2})});
  EXPECT_EQ(fold_constants(g, 1 << 20), 3u) << g.text();
  remove_dead(g);
  EXPECT_EQ(g.nodes.size(), 3u) << g.text();
  manual_seed(1);
  const Tensors want = f({ones({2})});
  manual_seed(1);
  const Tensors got = run(g, {ones({2})});
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(same(got[i], want[i])) << i;
  Graph large = capture([](const Tensors& in) { return Tensors{in[0] + zeros({1000})}; }, {ones({1})});
  EXPECT_EQ(fold_constants(large, 3999), 0u);
  EXPECT_EQ(fold_constants(large, 4000), 1u);
}

TEST(GraphPasses, ErrorsOfConstantsStayWhereTheyAre) {
  Graph g = parse("graph 1\nconstant %0: Float[2] = [1.0, 2.0]\n%1: Float[3] = view(%0, [3])\nreturn %1\n");
  EXPECT_EQ(fold_constants(g, 1000), 0u);
  EXPECT_THROW(run(g, {}), Error);
}

TEST(GraphPasses, FrozenStatesNoLongerFollowTheProgram) {
  nn::Sequential model(nn::Linear(3, 2));
  const NoGradGuard no_grad;
  Graph g = capture([&](const Tensors& in) { return Tensors{model->forward(in[0])}; }, {ones({4, 3})}, states_of(*model));
  const Tensor want = model->forward(ones({4, 3}));
  EXPECT_EQ(freeze_states(g), 2u);
  model->parameters()[0].fill_(7.0);
  EXPECT_TRUE(same(run(g, {ones({4, 3})})[0], want));
  Graph changing = capture([&](const Tensors&) { return model->parameters()[1].add_(1.0), Tensors{model->parameters()[1]}; }, {ones({1})}, states_of(*model));
  EXPECT_EQ(freeze_states(changing), 0u);
}

/// Each element of `got` is within (terms + 4) eps of `exact`, relative to the sums of its terms' magnitudes.
void expect_within(const Tensor& got, const Tensor& exact, const Tensor& magnitudes, double terms) {
  const double eps = got.scalar_type() == kFloat ? 0x1p-23 : 0x1p-52;
  EXPECT_TRUE((got.to(kDouble) - exact).abs().le(magnitudes * (eps * (terms + 4))).all().item<bool>());
}

TEST(GraphPasses, BatchNormsGoIntoConvolutionsAndLinearMaps) {
  manual_seed(8);
  const NoGradGuard no_grad;
  for (const bool bias : {false, true}) {
    for (const bool affine : {false, true}) {
      for (const int64_t groups : {1, 2}) {
        nn::Sequential model(nn::Conv2d(nn::Conv2dOptions(4, 6, 3).groups(groups).bias(bias)), nn::BatchNorm2d(nn::BatchNormOptions(6).affine(affine)),
                             nn::Flatten(), nn::Linear(nn::LinearOptions(6 * 9, 5).bias(bias)), nn::BatchNorm1d(nn::BatchNormOptions(5).affine(affine)));
        for (int i = 0; i < 3; ++i) model->forward(randn({8, 4, 5, 5}) * 3.0 + 1.0);
        if (affine) {
          for (const size_t p : {bias ? 2u : 1u, bias ? 3u : 2u}) model->parameters()[p].copy_(randn({6}));
        }
        model->eval();
        const Tensor x = randn({8, 4, 5, 5});
        Graph g = capture([&](const Tensors& in) { return Tensors{model->forward(in[0])}; }, {x}, states_of(*model));
        freeze_states(g);
        EXPECT_EQ(fold_batch_norm(g, false), 2u) << g.text();
        remove_dead(g);
        g.verify();
        EXPECT_EQ(g.nodes.size(), 3u) << g.text();
        const Tensor got = run(g, {x})[0];
        EXPECT_TRUE(got.allclose(model->forward(x), 1e-4, 1e-5));
        Graph one = g;
        one.outputs = {one.nodes[0].results[0]};
        remove_dead(one);
        const Tensor weight = one.values[static_cast<size_t>(one.nodes[0].args[1].value)].tensor.to(kDouble);
        const Tensor shift = one.values[static_cast<size_t>(one.nodes[0].args[2].value)].tensor.to(kDouble);
        model->to(kDouble);
        const Tensor exact = model[1]->as<nn::BatchNorm2d>()->forward(model[0]->as<nn::Conv2d>()->forward(x.to(kDouble)));
        const Tensor magnitudes = conv2d(x.to(kDouble).abs(), weight.abs(), shift.abs(), {1, 1}, IntArrayRef{0, 0}, {1, 1}, groups);
        expect_within(run(one, {x})[0], exact, magnitudes, 1 + 4.0 / static_cast<double>(groups) * 9);
      }
    }
  }
}

TEST(GraphPasses, BatchNormsThatMustStayStay) {
  const NoGradGuard no_grad;
  nn::Sequential model(nn::Conv2d(4, 6, 3), nn::BatchNorm2d(6));
  const Tensor x = randn({2, 4, 5, 5});
  const auto folded = [&](const Function& f, bool freeze) {
    Graph g = capture(f, {x}, states_of(*model));
    if (freeze) freeze_states(g);
    return fold_batch_norm(g, false);
  };
  const Function forward = [&](const Tensors& in) { return Tensors{model->forward(in[0])}; };
  EXPECT_EQ(folded(forward, true), 0u);  // training
  model->eval();
  EXPECT_EQ(folded(forward, false), 0u);  // weights may change
  EXPECT_EQ(folded(forward, true), 1u);
  Graph states = capture(forward, {x}, states_of(*model));
  EXPECT_EQ(fold_batch_norm(states, true), 1u);
  const Function both = [&](const Tensors& in) {
    const Tensor y = model[0]->as<nn::Conv2d>()->forward(in[0]);
    return Tensors{y, model[1]->as<nn::BatchNorm2d>()->forward(y)};
  };
  EXPECT_EQ(folded(both, true), 0u);
}

TEST(GraphPasses, FrozenModelsStandAlone) {
  manual_seed(9);
  const NoGradGuard no_grad;
  nn::Sequential model(nn::Conv2d(3, 8, 3), nn::BatchNorm2d(8), nn::ReLU(), nn::Flatten(), nn::Linear(8 * 16, 4));
  model->eval();
  const Tensor x = randn({2, 3, 6, 6}), want = model->forward(x);
  Graph g = capture([&](const Tensors& in) { return Tensors{model->forward(in[0])}; }, {x}, states_of(*model));
  PassOptions options;
  options.frozen = options.verify = true;
  optimize(g, options);
  EXPECT_EQ(g.nodes.size(), 3u) << g.text();
  for (const Tensor& p : model->parameters()) p.fill_(7.0);
  const Executable fast(g), again(g);
  for (const Executable* e : {&fast, &again}) EXPECT_TRUE(e->run({x})[0].allclose(want, 1e-5, 1e-6));
  EXPECT_TRUE(run(g, {x})[0].allclose(want, 1e-5, 1e-6));
}

TEST(GraphPasses, CapturesFreeWhatTheFunctionForgets) {
  const Tensor x = ones({1 << 18});
  reset_peak_stats();
  const size_t before = memory_stats().current;
  const Graph g = capture([](const Tensors& in) {
    Tensor y = in[0];
    for (int i = 0; i < 200; ++i) y = y.sin();
    return Tensors{y};
  }, {x});
  EXPECT_EQ(g.nodes.size(), 200u);
  EXPECT_LT(memory_stats().peak - before, size_t{40} << 20);
  const Tensor got = run(g, {x})[0];
  Tensor want = x;
  for (int i = 0; i < 200; ++i) want = want.sin();
  EXPECT_TRUE(same(got, want));
}

TEST(GraphPasses, TheLogSaysWhatChanged) {
  PassOptions options;
  options.notes = options.verify = true;
  Graph g = capture([](const Tensors& in) {
    const Tensor y = (in[0] * 1).exp();
    return Tensors{y + in[0].exp()};
  }, {ones({2})});
  const std::vector<PassRun> runs = optimize(g, options);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].pass, "simplify");
  EXPECT_EQ(runs[0].notes, Notes{"%1: Float[2] = mul.Scalar(%0, 1) is %0"});
  EXPECT_EQ(runs[1].pass, "join_common");
  EXPECT_EQ(runs[1].notes, Notes{"%3: Float[2] = exp(%0) is %2"});
  EXPECT_EQ(runs[2].pass, "remove_dead");
  EXPECT_EQ(runs[2].notes, Notes{"%1: Float[2] = mul.Scalar(%0, 1)"});
  EXPECT_EQ(runs[2].nodes, 2u);
  EXPECT_GE(all_passes().size(), 6u);
}

TEST(GraphPasses, ThousandsOfNodesTakeLinearTime) {
  Graph g = capture([](const Tensors& in) {
    Tensor x = in[0];
    for (int i = 0; i < 5000; ++i) x = (x * 1).sin() + in[0].exp();
    return Tensors{x};
  }, {ones({2})});
  EXPECT_EQ(g.nodes.size(), 20000u);
  optimize(g);
  EXPECT_EQ(g.nodes.size(), 10001u);
}

}  // namespace
}  // namespace taeda::graph
