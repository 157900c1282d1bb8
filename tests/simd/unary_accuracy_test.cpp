// Accuracy of the unary float kernels: every 4,099th float pattern and the special values, on every instruction set.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/simd/kernel_call.h"
#include "tests/simd/unary_reference.h"

namespace taeda::test {
namespace {

std::vector<float> sample_patterns() {
  std::vector<float> all;
  for (uint64_t pattern = 0; pattern < (uint64_t{1} << 32); pattern += 4099) {
    const auto bits = static_cast<uint32_t>(pattern);
    float value;
    std::memcpy(&value, &bits, 4);
    all.push_back(value);
  }
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (float value : {0.0f, -0.0f, 1.0f, -1.0f, kInf, -kInf, std::numeric_limits<float>::quiet_NaN(), 1e-45f, -1e-45f, 1.17549435e-38f,
                      3.40282347e38f, -3.40282347e38f, 88.7228394f, 88.72284f, -103.972f, -87.3365f, 0.5f, -0.5f, 0.99999994f, 1.00000012f}) {
    all.push_back(value);
  }
  return all;
}

class UnaryAccuracy : public testing::TestWithParam<UnaryReference> {};

TEST_P(UnaryAccuracy, StaysWithinItsBoundOnEveryInstructionSet) {
  const UnaryReference& reference = GetParam();
  const std::vector<float> in = sample_patterns();
  std::vector<double> exact(in.size());
  for (size_t i = 0; i < in.size(); ++i) exact[i] = reference.exact(in[i]);
  for (cpu::SimdTarget target : targets()) {
    const std::vector<float> out = call<float, float>(reference.kernel, target, {in});
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      const double error = ulp_error(out[i], exact[i]);
      if (error > worst) worst = error, at = i;
    }
    EXPECT_LE(worst, reference.bound) << reference.kernel << " on " << cpu::simd_target_name(target) << " at " << in[at] << ": got "
                                      << out[at] << ", exactly " << exact[at];
  }
}

INSTANTIATE_TEST_SUITE_P(All, UnaryAccuracy, testing::ValuesIn(kUnaryReferences),
                         [](const auto& info) { return std::string(info.param.kernel); });

// The double loops run the C library or a formula of double accuracy.
TEST_P(UnaryAccuracy, DoubleAgreesWithTheReference) {
  const UnaryReference& reference = GetParam();
  std::vector<double> in;
  for (int i = -400; i <= 400; ++i) in.push_back(i * 0.0473);
  for (cpu::SimdTarget target : targets()) {
    const std::vector<double> out = call<double, double>(reference.kernel, target, {in});
    for (size_t i = 0; i < in.size(); ++i) {
      const double want = reference.exact(in[i]);
      if (std::isnan(want)) EXPECT_TRUE(std::isnan(out[i])) << reference.kernel << " at " << in[i];
      else if (std::isinf(want)) EXPECT_EQ(out[i], want) << reference.kernel << " at " << in[i];
      else EXPECT_NEAR(out[i], want, 1e-14 * std::fabs(want)) << reference.kernel << " at " << in[i];
    }
  }
}

}  // namespace
}  // namespace taeda::test
