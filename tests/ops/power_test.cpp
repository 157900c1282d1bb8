// SPDX-License-Identifier: Apache-2.0
// The powers 1, 2 and 3 are products, in whichever lane of a vector they stand and however the exponent is given.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "taeda/taeda.h"

namespace {

using namespace taeda;

const double kInf = std::numeric_limits<double>::infinity();

Tensor bases(ScalarType dtype) {
  const Tensor special = tensor({0.0, -0.0, 1.0, -1.0, 1e-30, -3.7, kInf, -kInf, std::nan("")}, TensorOptions(kDouble));
  return cat({special, randn({200}, TensorOptions(kDouble))}).to(dtype);
}

TEST(Power, CommonExponentsAreProducts) {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kHalf}) {
    const Tensor x = bases(dtype), wide = dtype == kDouble ? x : x.to(kFloat);
    const Tensor expected[] = {x, (wide * wide).to(dtype), (wide * wide * wide).to(dtype)};
    for (int n = 1; n <= 3; ++n) {
      SCOPED_TRACE(str(dtype, " to the power of ", n));
      const Tensor exponents = full_like(x, n);
      for (const Tensor& y : {x.pow(n), x.pow(exponents), x.pow(exponents[0])}) {
        EXPECT_TRUE(equal(y.nan_to_num(7), expected[n - 1].nan_to_num(7)));
        EXPECT_TRUE(equal(y.isnan(), x.isnan()));
        EXPECT_TRUE(equal(y.signbit(), expected[n - 1].signbit()));
      }
    }
  }
}

TEST(Power, MixedExponentsGiveWhatEachGivesAlone) {
  const Tensor x = bases(kFloat);
  const Tensor choices = tensor({1.f, 2.f, 3.f, 0.5f, -1.f, 0.f, 2.5f});
  const Tensor exponents = choices.index({arange(x.numel()).remainder(7)});
  const Tensor mixed = x.pow(exponents);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float alone = x.slice(0, i, i + 1).pow(exponents[i].item<double>()).item<float>();
    const float here = mixed[i].item<float>();
    EXPECT_TRUE(here == alone || (std::isnan(here) && std::isnan(alone))) << x[i] << " to " << exponents[i];
  }
}

TEST(Power, GradientOfASquareIsExact) {
  const Tensor x = randn({100}, requires_grad());
  x.pow(2).sum().backward();
  EXPECT_TRUE(equal(x.grad(), 2 * x.detach()));
}

}  // namespace
