// SPDX-License-Identifier: Apache-2.0
// Result dtypes over all pairs of dtypes, for tensors, 0-dim tensors and numbers. The tables are PyTorch 2.13's, printed by a
// program that multiplies ones of each dtype; a digit is the position in `kTypes`.
#include <gtest/gtest.h>

#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda {
namespace {

constexpr ScalarType kTypes[] = {kBool, kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble};
constexpr const char* kEqualRank[] = {"0123456789", "1133456789", "2323456789", "3333456789", "4444456789",
                                      "5555556789", "6666666889", "7777778789", "8888888889", "9999999999"};
constexpr const char* kTensorWithZeroDim[] = {"0123456789", "1111116789", "2222226789", "3333336789", "4444446789",
                                              "5555556789", "6666666666", "7777777777", "8888888888", "9999999999"};
constexpr const char* kZeroDimWithTensor[] = {"0123456789", "1123456789", "2123456789", "3123456789", "4123456789",
                                              "5123456789", "6666666789", "7777776789", "8888886789", "9999996789"};
/// Columns: tensor with true, * 2, * 2.0; 0-dim tensor * 2, * 2.0; tensor / 2, / int64 tensor; sum, exp, prod, cumsum.
constexpr const char* kUnaryAndNumbers[] = {"05858885855", "11818885855", "22828885855", "33838885855", "44848885855",
                                            "55858885855", "66666666666", "77777777777", "88888888888", "99999999999"};

Tensor ones_of(ScalarType type, bool zero_dim) { return taeda::ones(zero_dim ? std::vector<int64_t>{} : std::vector<int64_t>{2}, type); }

void expect_table(const char* const* table, bool zero_dim_left, bool zero_dim_right) {
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 10; ++j) {
      const Tensor left = ones_of(kTypes[i], zero_dim_left), right = ones_of(kTypes[j], zero_dim_right);
      const ScalarType want = kTypes[table[i][j] - '0'];
      EXPECT_EQ(taeda::mul(left, right).scalar_type(), want) << kTypes[i] << " * " << kTypes[j];
      EXPECT_EQ(taeda::result_type(left, right), want) << kTypes[i] << " with " << kTypes[j];
    }
  }
}

TEST(Promotion, TensorsOfEqualRank) {
  expect_table(kEqualRank, false, false);
  expect_table(kEqualRank, true, true);
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 10; ++j) EXPECT_EQ(promote_types(kTypes[i], kTypes[j]), kTypes[kEqualRank[i][j] - '0']);
  }
}
TEST(Promotion, ZeroDimTensorsCountLess) {
  expect_table(kTensorWithZeroDim, false, true);
  expect_table(kZeroDimWithTensor, true, false);
}
TEST(Promotion, NumbersDivisionAndReductions) {
  for (int i = 0; i < 10; ++i) {
    const Tensor t = ones_of(kTypes[i], false), zero_dim = ones_of(kTypes[i], true);
    const ScalarType got[] = {taeda::result_type(t, Scalar(true)), (t * 2).scalar_type(), (t * 2.0).scalar_type(), (zero_dim * 2).scalar_type(),
                              (zero_dim * 2.0).scalar_type(), (t / 2).scalar_type(), (t / ones_of(kLong, false)).scalar_type(), t.sum().scalar_type(),
                              t.exp().scalar_type(), t.prod().scalar_type(), t.cumsum(0).scalar_type()};
    for (int k = 0; k < 11; ++k) EXPECT_EQ(got[k], kTypes[kUnaryAndNumbers[i][k] - '0']) << kTypes[i] << ", column " << k;
  }
}

TEST(SumDtype, AddsInTheDtypeAskedFor) {
  const Tensor thousands = taeda::full({4096}, 1.0009765625, kHalf);  // 4100 exactly, which float16 rounds to 4096 + 4
  EXPECT_EQ(thousands.sum(kFloat).item<float>(), 4100.0F);
  EXPECT_EQ(taeda::full({100000}, 1, kHalf).sum(kFloat).item<float>(), 100000.0F);  // beyond float16
  EXPECT_EQ(taeda::full({3, 100000}, 1, kBFloat16).sum({1}, false, kDouble)[2].item<double>(), 100000.0);
  EXPECT_EQ(taeda::full({100000}, 1, kHalf).mean(kFloat).item<float>(), 1.0F);
  EXPECT_EQ(taeda::full({300}, 1, kByte).sum(kByte).item<int64_t>(), 300 % 256);
  EXPECT_EQ(taeda::full({10}, 0.75).sum(kLong).item<int64_t>(), 0);  // converted first, as in PyTorch
  EXPECT_EQ(taeda::full({70000}, 2, kHalf).nansum({0}, false, kFloat).item<float>(), 140000.0F);
  EXPECT_EQ(taeda::full({17}, 2, kHalf).prod(kFloat).item<float>(), 131072.0F);
}

}  // namespace
}  // namespace taeda
