// SPDX-License-Identifier: Apache-2.0
// Dtypes and reductions of losses, and odd arguments of other operators: what LibTorch 2.13 was seen to do with them.
#include <gtest/gtest.h>

#include "taeda/core/error.h"
#include "taeda/ops/from_data.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace {

const Tensor& floats() {
  static const Tensor t = taeda::tensor({1., 0., 1.});
  return t;
}
Tensor longs() { return taeda::tensor({1, 1, 0}); }

TEST(LossArguments, ReductionsThatAreUnknownReduceNothingOrAreRefused) {
  const Tensor x = floats(), y = longs().to(kFloat);
  for (const int64_t odd : {-1, 3, 1000}) {
    EXPECT_EQ(taeda::l1_loss(x, y, odd).dim(), 1);
    EXPECT_EQ(taeda::huber_loss(x, y, odd).dim(), 1);
    EXPECT_EQ(taeda::binary_cross_entropy(x, y, {}, odd).dim(), 1);
    EXPECT_EQ(taeda::kl_div(x, y, odd).dim(), 1);
    EXPECT_EQ(taeda::margin_ranking_loss(x, x, y, 0, odd).dim(), 1);
    EXPECT_THROW(taeda::mse_loss(x, y, odd), Error);
    EXPECT_THROW(taeda::smooth_l1_loss(x, y, odd), Error);
    EXPECT_THROW(taeda::soft_margin_loss(x, y, odd), Error);
    EXPECT_THROW(taeda::multi_margin_loss(x.unsqueeze(0), taeda::tensor({1}), 1, 1, {}, odd), Error);
  }
  EXPECT_EQ(taeda::triplet_margin_loss(x, x, x, 0).item<float>(), 0);
}

TEST(LossArguments, DtypesAreThoseOfLibTorch) {
  const Tensor x = floats(), y = longs(), flags = y.to(kBool), doubles = y.to(kDouble);
  EXPECT_FLOAT_EQ(taeda::mse_loss(x, flags).item<float>(), 2.f / 3);  // bool targets count as numbers
  EXPECT_FLOAT_EQ(taeda::smooth_l1_loss(x, flags).item<float>(), 1.f / 3);
  EXPECT_THROW(taeda::l1_loss(x, flags), Error);
  EXPECT_THROW(taeda::mse_loss(y, y), NotImplementedError);
  EXPECT_THROW(taeda::huber_loss(y, y), NotImplementedError);
  EXPECT_THROW(taeda::huber_loss(y, x), Error);
  EXPECT_EQ(taeda::huber_loss(x, doubles).scalar_type(), kFloat);
  EXPECT_EQ(taeda::soft_margin_loss(x, doubles).scalar_type(), kFloat);
  EXPECT_EQ(taeda::binary_cross_entropy_with_logits(doubles, x).scalar_type(), kFloat);
  EXPECT_THROW(taeda::binary_cross_entropy_with_logits(x, y), Error);
  EXPECT_THROW(taeda::binary_cross_entropy(x, y), Error);
  EXPECT_THROW(taeda::binary_cross_entropy(y, y), NotImplementedError);
  EXPECT_THROW(taeda::kl_div(x, y), Error);
  EXPECT_EQ(taeda::hinge_embedding_loss(y, x, 1, 2).scalar_type(), kLong);
  EXPECT_THROW(taeda::hinge_embedding_loss(y, x), Error);
  EXPECT_THROW(taeda::multilabel_margin_loss(x, x), Error);
  EXPECT_THROW(taeda::multi_margin_loss(x.to(kHalf).unsqueeze(0), taeda::tensor({1})), NotImplementedError);
  EXPECT_THROW(taeda::glu(taeda::ones({4}, kLong)), NotImplementedError);
  EXPECT_EQ(taeda::nll_loss(x, taeda::tensor({1}), {}, 0).dim(), 0);
}

TEST(OddArguments, AreAnsweredOrRefusedAsByLibTorch) {
  const Tensor x = floats(), y = longs(), flags = y.to(kBool), image = taeda::rand({1, 2, 4, 4});
  EXPECT_THROW(taeda::isin(flags, y), Error);
  EXPECT_THROW(taeda::isin(x, true), Error);
  EXPECT_THROW(taeda::fft_fftfreq(3, 1, kLong), Error);
  EXPECT_THROW(taeda::_softmax(x, 0, true), Error);
  EXPECT_THROW(taeda::im2col(image, 2, {1, 1}, {0, 0}, {1, 1}), Error);
  EXPECT_EQ(taeda::im2col(image, {2, 2}, {1, 1}, {0, 0}, {1, 1}).sizes(), (IntArrayRef{1, 8, 9}));
  EXPECT_THROW(taeda::index_fill(y.to(kChar), 0, taeda::tensor({0}), 300), Error);
  EXPECT_THROW(taeda::index_add(y.to(kChar), 0, taeda::tensor({0}), taeda::ones({1}, kChar), 300), Error);
  EXPECT_THROW(taeda::addmv(y.to(kChar), taeda::ones({3, 3}, kChar), y.to(kChar), 300), Error);
  EXPECT_TRUE(taeda::equal(taeda::addmv(y, taeda::ones({3, 3}, kLong), y, 2.5, 1), taeda::tensor({4, 4, 2})));
  EXPECT_THROW(taeda::hardtanh(y.to(kByte), -1, 1), Error);
  EXPECT_THROW(taeda::neg(flags), Error);
  EXPECT_THROW(taeda::linalg_vecdot(x, y), Error);
  EXPECT_FALSE(taeda::equal(x, taeda::ones({2}, kLong)));
  EXPECT_EQ(taeda::pad_sequence({flags, x}).scalar_type(), kBool);
  const Tensor table = taeda::rand({3, 4});
  for (const Tensor& t : {table.var(0), table.std(0), table.var({0}), taeda::var(table, {0}), taeda::std(table, 0), std::get<0>(taeda::var_mean(table, 0)),
                          std::get<1>(taeda::std_mean(table, {0}))}) {
    EXPECT_EQ(t.sizes(), (IntArrayRef{4}));  // a dimension, not `unbiased`
  }
  EXPECT_EQ(table.std(false).dim(), 0);
  EXPECT_EQ(taeda::linalg_vecdot(x, x, -2).item<float>(), 2);
  EXPECT_THROW(taeda::linalg_cross(x, y), Error);
  EXPECT_THROW(taeda::linalg_vander(x, 1), Error);
  EXPECT_THROW(taeda::reflection_pad1d(flags.unsqueeze(0), {1, 1}), NotImplementedError);
  EXPECT_THROW(taeda::poisson(x.neg()), Error);
  EXPECT_THROW(taeda::normal(0, x.neg()), Error);
  EXPECT_THROW(x.clone().uniform_(0, 1e39), Error);
  EXPECT_EQ(taeda::einsum("i,j->ij", {x, x.to(kDouble)}).scalar_type(), kDouble);
  EXPECT_EQ(taeda::logspace(0, 3, 1, 10, kBool).numel(), 1);
  EXPECT_EQ(taeda::margin_ranking_loss(x, x.unsqueeze(0), x, 0, 0).sizes(), (IntArrayRef{1, 3}));
  EXPECT_THROW(taeda::diff(x, 0, 3), IndexError);
  EXPECT_THROW(taeda::diff(x, 1, 0, taeda::empty({0, 2})), Error);
}

}  // namespace
}  // namespace taeda
