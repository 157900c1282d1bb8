// SPDX-License-Identifier: Apache-2.0
// Reductions of integers of every width and length against a plain count.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace taeda
