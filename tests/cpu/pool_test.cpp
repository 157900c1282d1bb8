// Max pooling against loops over the definition: sizes around a vector's length, strides, padding, dilation, special values.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "taeda/torch.h"

namespace taeda::test {
namespace {

struct Window {
  int64_t height, width, kernel, stride, pad, dilation;
  bool ceil;
};
const Window kWindows[] = {
    {24, 24, 2, 2, 0, 1, false}, {112, 112, 3, 2, 1, 1, false}, {9, 7, 3, 1, 1, 1, false},  {5, 40, 2, 1, 0, 1, false}, {6, 33, 3, 2, 1, 1, true},
    {13, 17, 3, 3, 1, 1, false}, {8, 19, 2, 2, 1, 2, false},    {4, 3, 3, 2, 1, 1, false},  {1, 50, 1, 1, 0, 1, false}, {21, 66, 5, 2, 2, 1, true},
    {3, 2, 2, 2, 1, 1, false},
};

/// Numbers among which nan, infinities and equal ones are frequent.
Tensor special(IntArrayRef sizes, ScalarType dtype) {
  Tensor x = taeda::randint(-20, 20, sizes, TensorOptions(dtype)) / 4;
  const double values[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  const Tensor place = taeda::rand(sizes, TensorOptions());
  for (int i = 0; i < 3; ++i) x = x.masked_fill(place.lt(0.02 * (i + 1)).logical_and(place.ge(0.02 * i)), values[i]);
  return x;
}

class MaxPool : public testing::TestWithParam<ScalarType> {};

TEST_P(MaxPool, EqualsTheDefinitionWithPositions) {
  manual_seed(2);
  for (const Window& w : kWindows) {
    const Tensor x = special({2, 3, w.height, w.width}, GetParam());
    const auto [values, positions] = taeda::max_pool2d_with_indices(x, w.kernel, w.stride, w.pad, w.dilation, w.ceil);
    const Tensor in = x.to(kDouble), out = values.to(kDouble);
    const auto* a = in.const_data_ptr<double>();
    const auto* b = out.const_data_ptr<double>();
    const auto* p = positions.const_data_ptr<int64_t>();
    for (int64_t plane = 0; plane < 6; ++plane, a += w.height * w.width) {
      for (int64_t y = 0; y < values.size(2); ++y) {
        for (int64_t i = 0; i < values.size(3); ++i, ++b, ++p) {
          double best = -std::numeric_limits<double>::infinity();
          int64_t at = -1;
          for (int64_t u = 0; u < w.kernel; ++u) {
            for (int64_t v = 0; v < w.kernel; ++v) {
              const int64_t r = y * w.stride - w.pad + u * w.dilation, c = i * w.stride - w.pad + v * w.dilation;
              if (r < 0 || r >= w.height || c < 0 || c >= w.width) continue;
              const double value = a[r * w.width + c];
              if (at < 0 || value > best || std::isnan(value)) best = value, at = r * w.width + c;
            }
          }
          ASSERT_TRUE(*b == best || (std::isnan(*b) && std::isnan(best))) << w.height << " x " << w.width << " at " << y << ", " << i << ": " << *b << ", not " << best;
          ASSERT_EQ(*p, at) << w.height << " x " << w.width << " at " << y << ", " << i;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, MaxPool, testing::Values(kFloat, kDouble, kHalf), [](const auto& info) { return str(info.param); });

}  // namespace
}  // namespace taeda::test
