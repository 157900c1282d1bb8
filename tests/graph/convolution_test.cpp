// SPDX-License-Identifier: Apache-2.0
// Convolutions with an epilogue: the bits of the separate operators, whatever the geometry; and what the pass puts into them.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <limits>

#include "taeda/graph/capture.h"
#include "taeda/graph/executable.h"
#include "taeda/graph/passes/passes.h"
#include "taeda/ops/conv.h"
#include "tests/graph/same.h"

namespace taeda::graph {
namespace {

struct Geometry {
  std::vector<int64_t> input, weight, stride, padding, dilation;
  int64_t groups;
};

const std::vector<Geometry> kGeometries{
    {{2, 8, 9, 9}, {16, 8, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},    {{1, 5, 7, 7}, {13, 5, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1},
    {{3, 6, 10, 8}, {9, 2, 3, 2}, {2, 1}, {2, 0}, {1, 2}, 3},    {{2, 4, 6, 6}, {4, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 4},
    {{1, 3, 30}, {7, 3, 5}, {2}, {3}, {1}, 1},                   {{2, 2, 4, 5, 6}, {3, 2, 2, 3, 2}, {1, 2, 1}, {0, 1, 1}, {1, 1, 2}, 1},
    {{1, 300, 7, 7}, {24, 300, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1}, {{1, 40, 14, 14}, {8, 40, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 1},
    {{2, 3, 1, 1}, {1, 3, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1}};

TEST(GraphConvolution, EpiloguesHaveTheBitsOfTheOperators) {
  manual_seed(1);
  const NoGradGuard no_grad;
  for (const Geometry& g : kGeometries) {
    for (const ScalarType dtype : {kFloat, kDouble}) {
      const Tensor x = randn(g.input).to(dtype), w = randn(g.weight).to(dtype), b = randn({g.weight[0]}).to(dtype);
      x.view({-1})[0].fill_(-0.0);
      x.view({-1})[x.numel() - 1].fill_(std::numeric_limits<double>::quiet_NaN());
      const detail::ConvWindow window{DimVector(IntArrayRef(g.stride)), DimVector(IntArrayRef(g.padding)), DimVector(IntArrayRef(g.dilation)), g.groups};
      const std::vector<int64_t> none(g.stride.size(), 0);
      for (const bool bias : {false, true}) {
        const std::optional<Tensor> add_bias = bias ? std::optional<Tensor>(b) : std::nullopt;
        const Tensor plain = convolution(x, w, add_bias, g.stride, g.padding, g.dilation, false, none, g.groups);
        const Tensor other = randn(plain.sizes()).to(dtype);
        for (const bool packed : {false, true}) {
          for (const bool add : {false, true}) {
            for (const bool relu : {false, true}) {
              const detail::ConvEpilogue after{add ? other : Tensor(), relu, packed ? detail::pack_convolution(w, g.groups) : Tensor()};
              Tensor want = add ? plain + other : plain;
              if (relu) want = taeda::relu(want);
              EXPECT_TRUE(same(detail::convolution_with(x, w, add_bias, window, after), want))
                  << IntArrayRef(g.input) << IntArrayRef(g.weight) << dtype << bias << packed << add << relu;
            }
          }
        }
      }
    }
  }
}

TEST(GraphConvolution, NothingIsReadBehindTheInput) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t size = 4 * page;
  char* memory = static_cast<char*>(mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(memory + size, page, PROT_NONE), 0);
  const NoGradGuard no_grad;
  for (const Geometry& g : kGeometries) {
    int64_t count = 1;
    for (const int64_t n : g.input) count *= n;
    if (static_cast<size_t>(count) * sizeof(float) > size) continue;
    const Tensor input = from_blob(reinterpret_cast<float*>(memory + size) - count, g.input, kFloat);
    input.copy_(randn(g.input));
    const Tensor w = randn(g.weight);
    const std::vector<int64_t> none(g.stride.size(), 0);
    const auto call = [&](const Tensor& x) { return convolution(x, w, std::nullopt, g.stride, g.padding, g.dilation, false, none, g.groups); };
    EXPECT_TRUE(same(call(input), call(input.clone())));
  }
  munmap(memory, size + page);
}

TEST(GraphConvolution, WrongEpiloguesAreRefused) {
  const Tensor x = ones({1, 2, 4, 4}), w = ones({3, 2, 3, 3});
  const detail::ConvWindow window{DimVector{1, 1}, DimVector{0, 0}, DimVector{1, 1}, 1};
  EXPECT_THROW(detail::convolution_with(x, w, std::nullopt, window, {ones({1, 3, 2, 3}), false, {}}), Error);
  EXPECT_THROW(detail::convolution_with(x, w, std::nullopt, window, {ones({1, 3, 2, 2}, kDouble), false, {}}), Error);
  EXPECT_THROW(detail::convolution_with(x, w, std::nullopt, window, {ones({1, 3, 2, 2}).transpose(2, 3), false, {}}), Error);
  EXPECT_THROW(detail::convolution_with(ones({1, 1, 4, 4}), w, std::nullopt, window, {}), Error);
}

/// A residual block with a side branch, in place and not.
struct Block : nn::Module {
  explicit Block(bool in_place) : in_place_(in_place) {
    body = register_module("body", nn::Conv2d(nn::Conv2dOptions(4, 8, 3).padding(1)));
    norm = register_module("norm", nn::BatchNorm2d(8));
    side = register_module("side", nn::Conv2d(4, 8, 1));
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = norm(body(x));
    return in_place_ ? y.add_(side(x)).relu_() : relu(y + side(x));
  }
  nn::Conv2d body = nullptr, side = nullptr;
  nn::BatchNorm2d norm = nullptr;
  bool in_place_;
};

TEST(GraphConvolution, ResidualBlocksBecomeTwoNodes) {
  manual_seed(2);
  const NoGradGuard no_grad;
  for (const bool in_place : {false, true}) {
    const auto block = std::make_shared<Block>(in_place);
    block->eval();
    const Tensor x = randn({2, 4, 6, 6});
    Graph g = capture([&](const Tensors& in) { return Tensors{block->forward(in[0])}; }, {x}, states_of(*block));
    freeze_states(g);
    fold_batch_norm(g, false);
    remove_dead(g);
    const Tensor want = run(g, {x})[0];
    EXPECT_EQ(fuse_convolution(g), 2u) << g.text();
    remove_dead(g);
    g.verify();
    EXPECT_EQ(g.nodes.size(), 2u) << g.text();
    const std::string text = g.text();
    EXPECT_NE(text.find("fused_convolution("), std::string::npos) << text;
    EXPECT_EQ(parse(text, g.stored()).text(), text);
    const Executable fast(g);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(same(fast.run({x})[0], want)) << text;
    EXPECT_TRUE(same(run(g, {x})[0], want));
    EXPECT_TRUE(want.allclose(block->forward(x), 1e-4, 1e-5));
  }
}

TEST(GraphConvolution, WhatOthersReadStaysApart) {
  nn::Conv2d map(2, 3, 1);
  const auto fused = [&](const Function& f) {
    Graph g = capture(f, {ones({1, 2, 4, 4})}, states_of(*map));
    freeze_states(g);
    const size_t n = fuse_convolution(g);
    g.verify();
    return n;
  };
  EXPECT_EQ(fused([&](const Tensors& in) { return Tensors{relu(map(in[0]))}; }), 1u);
  EXPECT_EQ(fused([&](const Tensors& in) { const Tensor y = map(in[0]); return Tensors{y, relu(y)}; }), 0u);
  EXPECT_EQ(fused([&](const Tensors& in) { const Tensor y = map(in[0]); return Tensors{y + y}; }), 0u);
  EXPECT_EQ(fused([&](const Tensors& in) { return Tensors{map(in[0]) + ones({3, 1, 1})}; }), 0u);
  EXPECT_EQ(fused([&](const Tensors& in) { return Tensors{map(in[0]).add(ones({1, 3, 4, 4}), 2)}; }), 0u);
  EXPECT_EQ(fused([&](const Tensors& in) { return Tensors{relu(relu(map(in[0]) + ones({1, 3, 4, 4})))}; }), 2u);
}

TEST(GraphExecutable, RunsOftenAndInPlaceWhereNobodySees) {
  const Function f = [](const Tensors& in) {
    const Tensor y = in[0].exp(), z = in[0].sin();
    y.add_(1.0).mul_(z);
    const Tensor v = z.view({6});
    z.mul_(2.0);
    return Tensors{y, v, cat({y, z}, 0), y.mul_(y)};
  };
  const Tensor x = randn({2, 3});
  const Graph g = capture(f, {x});
  const Executable fast(g);
  for (int i = 0; i < 3; ++i) {
    const Tensor input = randn({2, 3}), before = input.clone();
    const Tensors want = f({input.clone()}), got = fast.run({input});
    for (size_t k = 0; k < want.size(); ++k) EXPECT_TRUE(same(got[k], want[k])) << k << g.text();
    EXPECT_TRUE(same(input, before));
  }
}

}  // namespace
}  // namespace taeda::graph
