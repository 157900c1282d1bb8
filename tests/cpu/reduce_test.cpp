// SPDX-License-Identifier: Apache-2.0
// Reductions of integers of every width and length against a plain count; moments of constants.
#include <gtest/gtest.h>

#include <cmath>

#include "taeda/ops/functions.h"

namespace taeda {
namespace {

int64_t counted(const Tensor& whole) {
  int64_t total = 0;
  for (int64_t i = 0; i < whole.numel(); ++i) total += whole.data_ptr<int64_t>()[i];
  return total;
}

TEST(ReduceIntegers, SumsOfAllWidthsAndLengthsAreExact) {
  for (const ScalarType type : {kChar, kByte, kShort, kInt, kLong, kBool}) {
    for (int64_t n = 0; n < 300; ++n) {
      const Tensor x = taeda::arange(n).mul(7).remainder(53).to(type), whole = x.to(kLong);
      const int64_t want = counted(whole);
      SCOPED_TRACE(testing::Message() << n << " elements of " << type);
      ASSERT_EQ(x.sum().item<int64_t>(), want);
      ASSERT_EQ(x.view({1, n}).sum(1).item<int64_t>(), want);
      ASSERT_EQ(x.view({n, 1}).expand({n, 3}).sum(0)[1].item<int64_t>(), want);
      ASSERT_EQ(x.count_nonzero().item<int64_t>(), counted(whole.ne(0).to(kLong)));
      ASSERT_EQ(x.any().item<bool>(), want != 0);
      ASSERT_EQ(x.all().item<bool>(), counted(whole.eq(0).to(kLong)) == 0);
      if (n > 0) {
        ASSERT_EQ(x.max().to(kLong).item<int64_t>(), whole.max().item<int64_t>());
      }
    }
  }
}

TEST(Moments, OfElementsThatAreAllTheSameAreExact) {
  for (const double value : {1e10, -1e10, 1e8, 3.3e7, 123456.789, 0.1, 1e-20, 1e30}) {
    for (const int64_t n : {2, 3, 5, 7, 16, 33, 100, 1000}) {
      SCOPED_TRACE(testing::Message() << n << " times " << value);
      const Tensor row = taeda::full({n}, value), table = taeda::full({n, 3}, value);
      EXPECT_EQ(row.var().item<double>(), 0);
      EXPECT_EQ(row.std().item<double>(), 0);
      EXPECT_EQ(table.std(0).abs().max().item<double>(), 0);
      EXPECT_EQ(table.t().contiguous().var(1).abs().max().item<double>(), 0);
      const auto [variance, mean] = taeda::var_mean(row);
      EXPECT_EQ(variance.item<double>(), 0);
      EXPECT_EQ(mean.item<float>(), static_cast<float>(value));
      if (std::abs(value) > 1e20) continue;
      EXPECT_EQ(taeda::layer_norm(row, {n}).abs().max().item<double>(), 0);
    }
  }
}

}  // namespace
}  // namespace taeda
