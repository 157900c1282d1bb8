// SPDX-License-Identifier: Apache-2.0
// Indexing operators beyond the reference values: layouts, views, in-place forms, errors before the first write, gradients
// of gradients.
#include <gtest/gtest.h>

#include "taeda/autograd/autograd.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/ops/from_data.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"
#include "taeda/ops/tensor_index.h"

namespace taeda {
namespace {

using indexing::Slice;

Tensor random_double(IntArrayRef sizes) { return taeda::randn(sizes, kDouble); }

TEST(IndexSelect, TakesAnyLayoutAndBothIndexTypes) {
  const Tensor x = taeda::arange(24, kFloat).view({2, 3, 4});
  const Tensor t = x.transpose(0, 2);
  for (const ScalarType type : {kLong, kInt}) {
    const Tensor index = tensor({2, 0, 2}).to(type);
    EXPECT_TRUE(t.index_select(1, index).equal(t.contiguous().index_select(1, index)));
    EXPECT_TRUE(t.index_select(1, index).select(1, 0).equal(t.select(1, 2)));
  }
  EXPECT_THROW(x.index_select(0, tensor({2})), IndexError);
  EXPECT_THROW(x.index_select(0, tensor({-1})), IndexError);
  EXPECT_THROW(x.index_select(3, tensor({0})), IndexError);
}

TEST(IndexAdd, WritesThroughViewsAndAddsEqualIndices) {
  Tensor x = taeda::zeros({3, 4});
  x.t().index_add_(0, tensor({1, 1, 3}), taeda::ones({3, 3}), 2);
  EXPECT_TRUE(x.equal(tensor({{0, 4, 0, 2}, {0, 4, 0, 2}, {0, 4, 0, 2}}, kFloat)));
}

TEST(IndexWrites, CheckBeforeTheFirstElementIsWritten) {
  Tensor x = taeda::zeros({3});
  const Tensor before = x.clone();
  EXPECT_THROW(x.index_add_(0, tensor({0, 9}), taeda::ones({2})), IndexError);
  EXPECT_THROW(x.scatter_(0, tensor({0, 9}), taeda::ones({2})), Error);
  EXPECT_THROW(x.index_put_({tensor({0, 9})}, taeda::ones({2})), IndexError);
  EXPECT_THROW(x.masked_scatter_(tensor({true, true, true}), taeda::ones({2})), Error);
  EXPECT_THROW(x.put_(tensor({0, 9}), taeda::ones({2})), IndexError);
  EXPECT_TRUE(x.equal(before));
}

TEST(IndexPut, BroadcastsAccumulatesAndTakesMasks) {
  Tensor x = taeda::zeros({2, 3});
  x.index_put_({tensor({0, 0, 1}), tensor({1, 1, 2})}, tensor({1.0, 2.0, 3.0}));
  EXPECT_EQ(x[0][1].item<float>(), 2);  // the last of equal positions wins
  x.index_put_(std::vector<std::optional<Tensor>>{tensor({0, 0}), tensor({1, 1})}, tensor({1.0, 2.0}), true);
  EXPECT_EQ(x[0][1].item<float>(), 5);
  x.index_put_({x > 4}, -1);
  EXPECT_EQ(x[0][1].item<float>(), -1);
  x.index_put_({Slice(), 0}, tensor({7.0, 8.0}));
  EXPECT_EQ(x[1][0].item<float>(), 8);
  x.index_put_({tensor({true, false})}, tensor({1.0, 2.0, 3.0}));
  EXPECT_TRUE(x[0].equal(tensor({1.0, 2.0, 3.0})));
}

TEST(Index, NonAdjacentTensorsPutTheirShapeFirst) {
  const Tensor x = taeda::arange(24).view({2, 3, 4});
  const Tensor a = tensor({0, 1});
  const Tensor b = tensor({1, 3});
  EXPECT_EQ(x.index({a, Slice(), b}).sizes(), IntArrayRef({2, 3}));
  EXPECT_TRUE(x.index({a, Slice(), b})[1].equal(x.index({1, Slice(), 3})));
  EXPECT_EQ(x.index({Slice(), a, b}).sizes(), IntArrayRef({2, 2}));
  EXPECT_TRUE(x.index({Slice(), a, b}).index({Slice(), 1}).equal(x.index({Slice(), 1, 3})));
  EXPECT_EQ(x.index({a.view({2, 1}), a}).sizes(), IntArrayRef({2, 2, 4}));
  EXPECT_EQ(x.index({indexing::None, a}).sizes(), IntArrayRef({1, 2, 3, 4}));
  EXPECT_EQ(x.index({x > 20}).numel(), 3);
  EXPECT_EQ(x.index({true}).sizes(), IntArrayRef({1, 2, 3, 4}));
  EXPECT_EQ(x.index({false}).sizes(), IntArrayRef({0, 2, 3, 4}));
}

TEST(Index, ViewsShareMemory) {
  Tensor x = taeda::zeros({3, 4});
  x.index({1}).fill_(5);
  x.index({Slice(), Slice(1, 3)}).add_(1);
  EXPECT_EQ(x.sum().item<float>(), 26);
  x[0] = tensor({1.0, 2.0, 3.0, 4.0});
  EXPECT_EQ(x[0][3].item<float>(), 4);
}

TEST(Split, PartsAreViewsOfTheWhole) {
  Tensor x = taeda::arange(10, kFloat);
  const auto parts = x.split(4);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[2].numel(), 2);
  parts[1].zero_();
  EXPECT_EQ(x[5].item<float>(), 0);
  EXPECT_EQ(x.chunk(3).size(), 3U);
  EXPECT_EQ(x.tensor_split(3)[0].numel(), 4);
  EXPECT_EQ(taeda::arange(6).view({2, 3}).unbind(1).size(), 3U);
}

TEST(Embedding, PaddingRowGetsNoGradientAndFrequencyScales) {
  Tensor weight = taeda::ones({4, 2}).requires_grad_(true);
  const Tensor index = tensor({{0, 1}, {1, 1}});
  taeda::embedding(weight, index, 0, true).sum().backward();
  EXPECT_TRUE(weight.grad().equal(tensor({{0, 0}, {1, 1}, {0, 0}, {0, 0}}, kFloat)));
  Tensor table = tensor({{3.0, 4.0}, {0.3, 0.4}});
  taeda::embedding_renorm_(table, tensor({0, 1}), 1.0, 2.0);
  EXPECT_NEAR(table[0].square().sum().item<float>(), 1.0, 1e-5);
  EXPECT_EQ(table[1][1].item<float>(), 0.4F);
}

TEST(IndexingGradients, AgreeWithDifferencesTwice) {
  const Tensor x = random_double({3, 4}).requires_grad_(true);
  const Tensor src = random_double({2, 4}).requires_grad_(true);
  const Tensor index = tensor({0, 2});
  const Tensor wide = tensor({{0, 2, 1, 0}, {1, 1, 2, 2}});
  using List = autograd::variable_list;
  const auto check = [&](const std::function<Tensor(const List&)>& f) {
    const auto function = [&](const List& in) { return List{f(in)}; };
    EXPECT_TRUE(autograd::gradcheck(function, {x, src}));
    EXPECT_TRUE(autograd::gradgradcheck(function, {x, src}));
  };
  check([&](const List& in) { return in[0].index_select(0, index) * in[1]; });
  check([&](const List& in) { return in[0].index_add(0, index, in[1] * in[1]); });
  check([&](const List& in) { return in[0].index_copy(0, index, in[1]) * in[0]; });
  check([&](const List& in) { return in[0].gather(0, wide) * in[1]; });
  check([&](const List& in) { return in[0].scatter(0, tensor({{0, 2, 1, 0}}), in[1]) * in[0]; });
  check([&](const List& in) { return in[0].scatter_add(0, wide, in[1] * in[1]); });
  check([&](const List& in) { return in[0].index({index, tensor({1, 1})}) * in[1].sum(); });
  check([&](const List& in) { return in[0].index_put({index}, in[1] * in[1]) * in[0]; });
  check([&](const List& in) { return in[0].masked_fill(in[0] > 0, 0) * in[1].sum(); });
  check([&](const List& in) { return taeda::cat(std::vector<Tensor>{in[0], in[1] * in[1]}); });
  check([&](const List& in) { return taeda::stack(in[0].split(2, 1)).sum() * in[1]; });
  check([&](const List& in) { return in[0].unfold(1, 2, 1) * in[1].sum(); });
  check([&](const List& in) { return in[0].flip({0, 1}) * in[0] + in[1].sum(); });
  check([&](const List& in) { return taeda::pad(in[0].unsqueeze(0), {1, 2}, "reflect") * in[1].sum(); });
}

TEST(Flip, KeepsEveryElement) {
  const Tensor x = taeda::arange(24).view({2, 3, 4});
  EXPECT_TRUE(x.flip({1}).select(1, 0).equal(x.select(1, 2)));
  EXPECT_TRUE(x.flip({0, 2}).flip({2, 0}).equal(x));
  EXPECT_TRUE(x.transpose(0, 2).flip({0}).select(0, 0).equal(x.select(2, 3).t()));
  EXPECT_TRUE(x.roll(1, 2).select(2, 0).equal(x.select(2, 3)));
}

TEST(Topk, OfATensorWithoutDimensionsIsItself) {
  for (const int64_t k : {0, 1}) {
    const auto [values, indices] = taeda::topk(scalar_tensor(2.5), k);
    EXPECT_EQ(values.item<double>(), 2.5) << k;
    EXPECT_EQ(indices.item<int64_t>(), 0) << k;
  }
}

}  // namespace
}  // namespace taeda
