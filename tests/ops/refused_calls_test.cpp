// SPDX-License-Identifier: Apache-2.0
// Odd calls and what LibTorch 2.13 was seen to do with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "taeda/core/error.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace {

TEST(OddCalls, AreRefusedAsByLibTorch) {
  const Tensor flags = taeda::ones({4}, kBool), points = taeda::rand({3, 2});
  EXPECT_THROW(taeda::arange(3, kBool), NotImplementedError);
  EXPECT_THROW(taeda::arange(0, 3, 1, kBool), NotImplementedError);
  EXPECT_THROW(taeda::range(0, 3, 1, kBool), NotImplementedError);
  EXPECT_THROW(taeda::gradient(flags, Scalar(1), IntArrayRef{0}), Error);
  EXPECT_THROW(taeda::gradient(flags, IntArrayRef{0}), Error);
  EXPECT_THROW(taeda::cdist(points, points, 2, 3), Error);
  EXPECT_THROW(taeda::cdist(points, points, 2, -1), Error);
}

TEST(OddCalls, GiveResultsAsByLibTorch) {
  EXPECT_EQ(taeda::block_diag({}).sizes(), (IntArrayRef{1, 0}));
  EXPECT_EQ(taeda::cdist(taeda::rand({3, 2}), taeda::rand({4, 2}), 2, 2).sizes(), (IntArrayRef{3, 4}));
}

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

Tensor floats(std::initializer_list<float> values) {
  Tensor t = taeda::empty({static_cast<int64_t>(values.size())}, kFloat);
  std::copy(values.begin(), values.end(), t.data_ptr<float>());
  return t;
}

TEST(OddCalls, UnknownReductionsOfClassLossesAreRefused) {
  const Tensor scores = taeda::rand({2, 3}), classes = taeda::zeros({2}, kLong);
  for (const int64_t reduction : {-1, 3, 1000}) {
    EXPECT_THROW(taeda::nll_loss(scores, classes, {}, reduction), ValueError);
    EXPECT_THROW(taeda::nll_loss_nd(scores, classes, {}, reduction), ValueError);
    EXPECT_THROW(taeda::cross_entropy_loss(scores, classes, {}, reduction), ValueError);
    EXPECT_THROW(taeda::cross_entropy_loss(scores, scores, {}, reduction), ValueError);
    EXPECT_THROW(taeda::cross_entropy_loss(scores, scores, {}, reduction, -100, 0.1), ValueError);
    EXPECT_THROW(taeda::nll_loss_backward(taeda::ones({}), scores, classes, {}, reduction, -100, taeda::ones({})), ValueError);
  }
}

TEST(OddCalls, HugeOrdersOfNormsAreRoundedToTheDtype) {
  const Tensor rows = floats({1.f, 2.f, 3.f, 4.f, -3.f, 1.f, 0.f, 7.f, -2.f}).reshape({3, 3});
  EXPECT_TRUE(taeda::equal(taeda::pdist(rows, 1e300), floats({5.f, 5.f, 10.f})));
  EXPECT_TRUE(taeda::equal(taeda::pdist(rows, 1e-300), floats({3.f, 3.f, 3.f})));
  EXPECT_TRUE(taeda::equal(taeda::cdist(rows, rows, 1e300).select(0, 0), floats({0.f, 5.f, 5.f})));
  EXPECT_TRUE(taeda::equal(taeda::linalg_vector_norm(rows, 1e300, IntArrayRef{1}), taeda::ones({3})));
  EXPECT_TRUE(taeda::equal(taeda::pairwise_distance(rows, rows.add(1), 1e300), taeda::ones({3})));
  const Tensor halves = taeda::linalg_vector_norm(rows.to(kHalf), -1, IntArrayRef{1});
  EXPECT_TRUE(taeda::allclose(halves.to(kFloat), floats({0.5454f, 0.6313f, 0.f}), 1e-4));
}

TEST(OddCalls, HugeCountsAreRefusedAtOnce) {
  const Tensor x = floats({2.5f, 7.f});
  for (const int64_t p : {int64_t{1} << 62, kMost}) EXPECT_THROW(taeda::mvlgamma(x, p), Error);
  EXPECT_THROW(taeda::mvlgamma(taeda::ones({2}, kBool), 1), Error);
  EXPECT_THROW(taeda::vander(x, kMost), Error);
  EXPECT_THROW(taeda::linalg_vander(x, kMost), Error);
  EXPECT_THROW(taeda::tril_indices(kMost, kMost), Error);
  EXPECT_THROW(taeda::tril_indices(kMost, 1), Error);
  EXPECT_THROW(taeda::triu_indices(kMost, kMost), Error);
  EXPECT_EQ(taeda::triu_indices(kMost, 1).sizes(), (IntArrayRef{2, 1}));
  EXPECT_EQ(taeda::tril_indices(kMost, 0).sizes(), (IntArrayRef{2, 0}));
  EXPECT_THROW(taeda::tril_indices(2, 2, 0, kChar), NotImplementedError);
  EXPECT_THROW(taeda::triu_indices(2, 2, 0, kFloat), NotImplementedError);
}

TEST(OddCalls, TriangleIndicesAreThePlacesOnTheirSide) {
  for (const int64_t rows : {0, 1, 3, 5}) {
    for (const int64_t columns : {0, 1, 3, 5}) {
      for (const int64_t offset : std::initializer_list<int64_t>{kLeast, -9, -3, -1, 0, 1, 2, 9, kMost}) {
        const int64_t near = std::clamp<int64_t>(offset, -9, 9);
        const Tensor all = taeda::ones({rows, columns});
        EXPECT_TRUE(taeda::equal(taeda::tril_indices(rows, columns, offset), all.tril(near).nonzero().t()));
        EXPECT_TRUE(taeda::equal(taeda::triu_indices(rows, columns, offset), all.triu(near).nonzero().t()));
      }
    }
  }
}

Tensor seeded(ScalarType type, int64_t from, std::optional<int64_t> to) {
  manual_seed(3);
  Tensor t = taeda::empty({3}, type);
  return t.random_(from, to).to(kFloat);
}

TEST(OddCalls, IntegersOfWideRangesAreLibTorchs) {
  struct Case {
    ScalarType type;
    int64_t from, to;
    float first, second, third;
  };
  constexpr int64_t k24 = int64_t{1} << 24, k31 = int64_t{1} << 31, k40 = int64_t{1} << 40;
  const Case cases[] = {
      {kFloat, 0, k31, 322108832.f, 540317056.f, 399205952.f},
      {kFloat, 0, k40, 1.06117897e+12f, 7.52159556e+11f, 1.11366236e+10f},
      {kFloat, -k40, k40, 7.58374597e+11f, 3.6285114e+11f, 9.50721577e+11f},
      {kFloat, k24 - 3, k24 + 9, 16777224.f, 16777220.f, 16777214.f},
      {kFloat, k24 + 1, k24 + 2, 16777216.f, 16777216.f, 16777216.f},
      {kDouble, 0, k40, 4.55570294e+11f, 1.07305441e+12f, 7.90795085e+11f},
      {kBFloat16, 0, k31, 570425344.f, 2.08876339e+09f, 1.44284058e+09f},
      {kBFloat16, 0, k40, 6.92563476e+10f, 1.62135015e+11f, 2.36223201e+11f},
      {kBFloat16, 0, k24 + 1, 71168.f, 1769472.f, 4784128.f},
  };
  for (const Case& c : cases) {
    const Tensor expected = floats({c.first, c.second, c.third});
    EXPECT_TRUE(taeda::allclose(seeded(c.type, c.from, c.to), expected, 1e-7)) << c.type << " " << c.to;
  }
  for (const ScalarType type : {kLong, kDouble, kFloat}) {
    const Tensor drawn = seeded(type, kLeast, std::nullopt);
    EXPECT_TRUE(taeda::allclose(drawn, floats({-8.286316e+18f, -5.3837224e+18f, 5.36624511e+18f}), 1e-7)) << type;
  }
  for (const int64_t to : {int64_t{65506}, int64_t{100000}, k31}) EXPECT_THROW(seeded(kHalf, 0, to), Error);
  EXPECT_THROW(seeded(kHalf, -65505, 0), Error);
  EXPECT_THROW(seeded(kBFloat16, k24 + 1, k24 + 2), Error);
  EXPECT_THROW(seeded(kFloat, k24, std::nullopt), Error);
  EXPECT_THROW(seeded(kHalf, kLeast, std::nullopt), Error);
}
}  // namespace
}  // namespace taeda
