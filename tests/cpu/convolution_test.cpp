// Convolutions and their gradients against loops over the definition, in shapes that the kernels treat differently.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "taeda/torch.h"

namespace taeda::test {
namespace {

struct Case {
  int64_t batch, groups, in, out;  // channels of one group
  int64_t height, width, kernel_h, kernel_w, stride, pad, dilation;
};

const Case kCases[] = {
    {1, 1, 3, 5, 9, 7, 3, 3, 1, 1, 1},   {2, 1, 1, 32, 12, 12, 3, 3, 1, 0, 1}, {1, 1, 16, 13, 7, 7, 1, 1, 1, 0, 1}, {3, 1, 5, 12, 7, 7, 3, 3, 1, 1, 1},
    {2, 1, 3, 8, 17, 15, 7, 7, 2, 3, 1}, {1, 1, 20, 24, 14, 14, 1, 1, 2, 0, 1}, {2, 3, 2, 4, 11, 10, 3, 2, 1, 2, 2}, {2, 6, 1, 1, 13, 19, 3, 3, 1, 1, 1},
    {1, 4, 1, 1, 9, 33, 5, 3, 2, 2, 1},  {1, 1, 40, 9, 5, 5, 3, 3, 1, 1, 1},   {2, 1, 2, 3, 1, 40, 1, 9, 1, 4, 1},  {1, 1, 300, 4, 7, 7, 1, 1, 1, 0, 1},
    {5, 1, 4, 6, 8, 8, 2, 2, 2, 0, 1},   {1, 2, 3, 7, 6, 6, 3, 3, 3, 1, 2},
};

std::string describe(const Case& c) {
  return str("batch ", c.batch, ", groups ", c.groups, ", channels ", c.in, " to ", c.out, ", image ", c.height, " x ", c.width, ", kernel ", c.kernel_h,
             " x ", c.kernel_w, ", stride ", c.stride, ", padding ", c.pad, ", dilation ", c.dilation);
}
int64_t extent(int64_t n, int64_t kernel, const Case& c) { return (n + 2 * c.pad - c.dilation * (kernel - 1) - 1) / c.stride + 1; }

/// Calls f(input index, weight index, output index) for every product of a convolution (flat, contiguous).
template <class F>
void for_each_product(const Case& c, const F& f) {
  const int64_t oh = extent(c.height, c.kernel_h, c), ow = extent(c.width, c.kernel_w, c);
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t o = 0; o < c.groups * c.out; ++o) {
      for (int64_t i = 0; i < c.in; ++i) {
        const int64_t channel = o / c.out * c.in + i;
        for (int64_t y = 0; y < oh; ++y) {
          for (int64_t x = 0; x < ow; ++x) {
            for (int64_t u = 0; u < c.kernel_h; ++u) {
              for (int64_t v = 0; v < c.kernel_w; ++v) {
                const int64_t iy = y * c.stride + u * c.dilation - c.pad, ix = x * c.stride + v * c.dilation - c.pad;
                if (iy < 0 || iy >= c.height || ix < 0 || ix >= c.width) continue;
                f(((b * c.groups * c.in + channel) * c.height + iy) * c.width + ix, ((o * c.in + i) * c.kernel_h + u) * c.kernel_w + v,
                  ((b * c.groups * c.out + o) * oh + y) * ow + x);
              }
            }
          }
        }
      }
    }
  }
}

std::vector<double> doubles(const Tensor& t) {
  const Tensor flat = t.detach().to(kDouble).contiguous();
  const auto* data = flat.const_data_ptr<double>();
  return {data, data + flat.numel()};
}
/// For sums of `terms` products of numbers below 1, both sides rounded at every step.
void expect_near(const Tensor& got, const std::vector<double>& wanted, double terms, const std::string& what) {
  const std::vector<double> values = doubles(got);
  ASSERT_EQ(values.size(), wanted.size()) << what;
  const double bound = 4 * std::sqrt(terms + 1) * (got.scalar_type() == kFloat ? 6e-8 : 1.2e-16) * (1 + std::sqrt(terms));
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i) worst = std::max(worst, std::abs(values[i] - wanted[i]));
  EXPECT_LE(worst, bound) << what;
}

class Convolution : public testing::TestWithParam<ScalarType> {};

TEST_P(Convolution, AndItsGradientsEqualTheDefinition) {
  manual_seed(11);
  for (const Case& c : kCases) {
    const TensorOptions options(GetParam());
    const auto numbers = [&](IntArrayRef sizes) { return taeda::rand(sizes, options) * 2 - 1; };
    const Tensor x = numbers({c.batch, c.groups * c.in, c.height, c.width}).requires_grad_();
    const Tensor w = numbers({c.groups * c.out, c.in, c.kernel_h, c.kernel_w}).requires_grad_();
    const Tensor bias = numbers({c.groups * c.out}).requires_grad_();
    const Tensor y = taeda::conv2d(x, w, bias, c.stride, c.pad, c.dilation, c.groups);
    const Tensor g = numbers(y.sizes());
    y.backward(g);

    const std::vector<double> xs = doubles(x), ws = doubles(w), gs = doubles(g), bs = doubles(bias);
    std::vector<double> out(gs.size()), dx(xs.size()), dw(ws.size());
    const size_t pixels = static_cast<size_t>(y.size(2) * y.size(3));
    for (size_t i = 0; i < out.size(); ++i) out[i] = bs[i / pixels % bs.size()];
    for_each_product(c, [&](int64_t i, int64_t k, int64_t o) {
      const auto a = static_cast<size_t>(i), b = static_cast<size_t>(k), e = static_cast<size_t>(o);
      out[e] += xs[a] * ws[b];
      dx[a] += gs[e] * ws[b];
      dw[b] += gs[e] * xs[a];
    });
    const auto depth = static_cast<double>(c.in * c.kernel_h * c.kernel_w);
    expect_near(y, out, depth, "result, " + describe(c));
    expect_near(x.grad(), dx, static_cast<double>(c.out * c.kernel_h * c.kernel_w), "gradient of the input, " + describe(c));
    expect_near(w.grad(), dw, static_cast<double>(c.batch) * static_cast<double>(pixels), "gradient of the weight, " + describe(c));
  }
}

TEST_P(Convolution, IsTheSameOnTwoThreadsAndForAnyLayout) {
  manual_seed(12);
  const int threads = get_num_threads();
  for (const Case& c : kCases) {
    const TensorOptions options(GetParam());
    const Tensor x = taeda::randn({c.batch, c.groups * c.in, c.height, c.width}, options);
    const Tensor w = taeda::randn({c.groups * c.out, c.in, c.kernel_h, c.kernel_w}, options);
    set_num_threads(1);
    const Tensor one = taeda::conv2d(x, w, {}, c.stride, c.pad, c.dilation, c.groups);
    set_num_threads(2);
    const Tensor two = taeda::conv2d(x.contiguous(MemoryFormat::ChannelsLast), w, {}, c.stride, c.pad, c.dilation, c.groups);
    EXPECT_TRUE(one.equal(two)) << describe(c);
  }
  set_num_threads(threads);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Convolution, testing::Values(kFloat, kDouble), [](const auto& info) { return info.param == kFloat ? "float32" : "float64"; });

}  // namespace
}  // namespace taeda::test
