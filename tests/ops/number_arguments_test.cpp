// SPDX-License-Identifier: Apache-2.0
// Numbers that a dtype cannot hold, and factories with options: what LibTorch 2.13 was seen to do with them.
#include <gtest/gtest.h>

#include <cmath>

#include "taeda/core/error.h"
#include "taeda/ops/from_data.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace {

bool same(const Tensor& t, std::initializer_list<double> want) {
  return taeda::equal(t.to(kDouble), taeda::tensor(ArrayRef<double>(want), TensorOptions(kDouble)));
}

TEST(NumberArguments, WholeNumbersWrapToTheDtypeOfTensors) {
  const Tensor bytes = taeda::tensor({1, 3}, kByte), chars = taeda::tensor({1, 3}, kChar);
  EXPECT_TRUE(same(bytes.lt(-1), {1, 1}));  // -1 is 255
  EXPECT_TRUE(same(bytes.lt(taeda::tensor(-1)), {1, 1}));
  EXPECT_TRUE(same(chars.lt(int64_t{1} << 40), {0, 0}));
  EXPECT_TRUE(same(taeda::floor_divide(bytes, -1), {0, 0}));
  EXPECT_TRUE(same(taeda::remainder(bytes, -1), {1, 3}));
  EXPECT_TRUE(same(taeda::remainder(Scalar(300), chars), {0, 2}));
  EXPECT_TRUE(same(taeda::clamp(bytes, 0, -1), {1, 3}));
  EXPECT_TRUE(same(chars.add(300), {45, 47}));
  EXPECT_TRUE(same(taeda::bitwise_left_shift(chars, 256), {1, 3}));
  EXPECT_THROW(taeda::floor_divide(bytes, 256), Error);  // 256 is 0
  EXPECT_THROW(chars.clone().remainder_(int64_t{1} << 40), Error);
}

TEST(NumberArguments, NumbersMustFitTheDtype) {
  const Tensor chars = taeda::tensor({1, 3}, kChar), halves = chars.to(kHalf), floats = chars.to(kFloat), picks = chars.eq(1);
  EXPECT_THROW(taeda::clamp(chars, 0, 300), Error);
  EXPECT_THROW(taeda::clamp_min(chars, 300), Error);
  EXPECT_THROW(chars.clone().clamp_(0, 2.5), Error);
  EXPECT_THROW(taeda::clamp(halves, 0, 70000), Error);
  EXPECT_THROW(taeda::clamp_max(floats, 1e39), Error);
  EXPECT_TRUE(same(taeda::clamp(floats, 2, HUGE_VAL), {2, 3}));
  EXPECT_THROW(taeda::pow(chars, 300), Error);
  EXPECT_THROW(taeda::pow(chars, -1), Error);
  EXPECT_TRUE(std::isinf(taeda::pow(floats, 1e300)[1].item<float>()));
  EXPECT_THROW(taeda::threshold(chars, 1, 300), Error);
  EXPECT_THROW(taeda::where(picks, chars, 300), Error);
  EXPECT_THROW(taeda::add(chars, chars, 300), Error);
  EXPECT_THROW(taeda::add(chars, chars, 1.5), Error);
  EXPECT_THROW(taeda::add(floats, floats, true), Error);
  EXPECT_THROW(taeda::sub(floats, true), Error);
  EXPECT_THROW(taeda::sub(floats, picks), Error);
  EXPECT_THROW(taeda::elu(floats, 1e39), Error);
  EXPECT_THROW(taeda::full({2}, 127.5, kChar), Error);
  EXPECT_THROW(taeda::full({2}, -1.0, kByte), Error);
  EXPECT_TRUE(same(taeda::full({1}, -255, kByte), {1}));
  EXPECT_THROW(taeda::full({2}, -256, kByte), Error);
  EXPECT_THROW(taeda::tensor({300, 2}, kChar), Error);
  EXPECT_THROW(taeda::tensor(1e40), Error);
  EXPECT_THROW(taeda::tensor(1e40, kDouble).item<float>(), Error);
  EXPECT_THROW(taeda::randperm(129, kChar), Error);
  EXPECT_EQ(taeda::randperm(128, kChar).sum().item<int64_t>(), 8128);
  EXPECT_THROW(taeda::randperm(2050, kHalf), Error);
  EXPECT_THROW(taeda::linspace(0, 300, 4, kChar), Error);
  EXPECT_TRUE(same(taeda::linspace(-2, 2, 3, kByte), {254, 128, 2}));
}

TEST(NumberArguments, BoundsMayPromoteOrBeReversed) {
  const Tensor flags = taeda::tensor({1, 0}, kBool);
  EXPECT_EQ(taeda::clamp(flags, 0, 300).scalar_type(), kLong);
  EXPECT_TRUE(same(taeda::hardtanh(taeda::tensor({1., 3.}), 0, -1), {-1, -1}));
}

TEST(FactoryOptions, OptionsWithoutADtypeMeanTheDefaultDtype) {
  const TensorOptions none;
  EXPECT_EQ(taeda::randint(9, {2}).scalar_type(), kLong);
  EXPECT_EQ(taeda::randint(9, {2}, none).scalar_type(), kFloat);
  EXPECT_EQ(taeda::randint(2, 9, {2}, TensorOptions(kCPU)).scalar_type(), kFloat);
  EXPECT_TRUE(taeda::randint(9, {2}, TensorOptions().requires_grad(true)).requires_grad());
  EXPECT_EQ(taeda::randperm(9, none).scalar_type(), kLong);
  EXPECT_EQ(taeda::arange(9, none).scalar_type(), kLong);
  EXPECT_EQ(taeda::tril_indices(2, 2, 0, none).scalar_type(), kLong);
}

TEST(FactoryOptions, OutputsKeepTheirDtype) {
  Tensor longs = taeda::empty({0}, kLong), flags = taeda::empty({0}, kBool), chars = taeda::empty({0}, kChar), floats = taeda::empty({0});
  EXPECT_TRUE(same(taeda::full_out(longs, {2}, 1.5), {1, 1}));
  EXPECT_TRUE(same(taeda::ones_out(flags, {2}), {1, 1}));
  EXPECT_TRUE(same(taeda::linspace_out(longs, 0, 3, 5), {0, 0, 1, 2, 3}));
  EXPECT_TRUE(same(taeda::arange_out(longs, 4.5), {0, 1, 2, 3}));
  EXPECT_EQ(taeda::eye_out(longs, 2).sum().item<int64_t>(), 2);
  EXPECT_EQ(taeda::zeros_like_out(longs, taeda::ones({3})).sum().item<int64_t>(), 0);
  EXPECT_THROW(taeda::randint_out(chars, 2, 1000, {3}), Error);
  EXPECT_THROW(taeda::tril_indices_out(floats, 2, 2), NotImplementedError);
  EXPECT_THROW(taeda::rand_out(longs, {2}), NotImplementedError);
  EXPECT_THROW(taeda::arange_out(flags, 4), NotImplementedError);
}

TEST(FactoryOptions, BoolHasNoRangesAndMethodsLeaveGradientsOut) {
  EXPECT_THROW(taeda::linspace(0, 1, 2, kBool), NotImplementedError);
  EXPECT_THROW(taeda::logspace(0, 1, 2, 10, kBool), NotImplementedError);
  EXPECT_THROW(taeda::randperm(3, kBool), NotImplementedError);
  EXPECT_FALSE(taeda::ones({2}).new_zeros({2}, TensorOptions().requires_grad(true)).requires_grad());
  const TensorOptions last = TensorOptions().memory_format(MemoryFormat::ChannelsLast);
  EXPECT_TRUE(taeda::zeros({1, 2, 2, 2}, last).is_contiguous());
  EXPECT_TRUE(taeda::empty({1, 2, 2, 2}, last).is_contiguous(MemoryFormat::ChannelsLast));
}

}  // namespace
}  // namespace taeda
