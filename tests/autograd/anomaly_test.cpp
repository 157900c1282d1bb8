// SPDX-License-Identifier: Apache-2.0
// Anomaly mode: what is reported, and what is not.
#include "taeda/autograd/anomaly.h"

#include <cmath>
#include <limits>

#include "tests/autograd/common.h"

namespace taeda::test {
namespace {

using autograd::AnomalyLevel;
using autograd::DetectAnomalyGuard;

TEST(Anomaly, ForwardResultsAreReportedWithRanges) {
  const DetectAnomalyGuard guard(AnomalyLevel::kCheap);
  const Tensor x = leaf({4, 1, 0.5, 800}, {2, 2});
  expect_error([&] { x.exp(); }, {"[exp]", "inf", "(1, 1)", "Double[2, 2]", "self", "[0.5, 800]"});
  expect_error([&] { (x - 1).sqrt(); }, {"[sqrt]", "nan", "(1, 0)", "[-0.5, 799]", "1 NaN"});
  expect_error([&] { of({1, 0}).log(); }, {"[log]", "inf"});  // no gradient needed
}

TEST(Anomaly, InfinitiesThatWereAskedForPass) {
  const DetectAnomalyGuard guard(AnomalyLevel::kCheap);
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = leaf({1, 2, 3});
  const Tensor mask = of({0, 1, 0}) > 0;
  const Tensor y = x.masked_fill(mask, -inf);
  EXPECT_VALUES(y.exp().sum(), {std::exp(1.0) + std::exp(3.0)});
  (y.exp() * 2).sum().backward();
  EXPECT_EQ(values(x.grad())[1], 0);
  EXPECT_TRUE(std::isinf(values(y + 1)[1]));
}

TEST(Anomaly, GradientsAreReported) {
  const Tensor x = leaf({4, 0});
  const Tensor y = x.sqrt().sum();
  const DetectAnomalyGuard guard(AnomalyLevel::kCheap);
  expect_error([&] { y.backward(); }, {"SqrtBackward", "gradient 0", "inf", "(1)", "incoming gradient 0", "[1, 1]"});
}

TEST(Anomaly, ParametersAreNamed) {
  const Tensor w = leaf({1, 1000});
  autograd::set_name(w, "layer1.weight");
  const DetectAnomalyGuard guard(AnomalyLevel::kCheap);
  expect_error([&] { w.exp(); }, {"parameter 'layer1.weight'"});
}

TEST(Anomaly, FullLevelRemembersTheCall) {
  const DetectAnomalyGuard guard(AnomalyLevel::kFull);
  const Tensor x = leaf({4, 0});
  const Tensor y = x.sqrt();
  EXPECT_FALSE(autograd::anomaly::call_site(*y.grad_fn()).empty());
  expect_error([&] { y.sum().backward(); }, {"SqrtBackward", "called at"});
}

TEST(Anomaly, IsOffByDefaultAndRestored) {
  EXPECT_FALSE(autograd::AnomalyMode::is_enabled());
  {
    const DetectAnomalyGuard guard;
    EXPECT_TRUE(autograd::AnomalyMode::is_enabled());
    EXPECT_EQ(autograd::anomaly_level(), AnomalyLevel::kFull);
  }
  EXPECT_FALSE(autograd::AnomalyMode::is_enabled());
  EXPECT_TRUE(std::isinf(values(of({1000}).exp())[0]));
  autograd::set_detect_anomaly("cheap");
  EXPECT_EQ(autograd::anomaly_level(), AnomalyLevel::kCheap);
  autograd::set_detect_anomaly("off");
  expect_error([] { autograd::set_detect_anomaly("some"); }, {"off, cheap or full"});
}

TEST(Anomaly, LargeTensorsAreCheckedInBlocks) {
  const DetectAnomalyGuard guard(AnomalyLevel::kCheap);
  const Tensor x = taeda::ones({100'000});
  EXPECT_NO_THROW(x + x);
  x.mutable_data_ptr<float>()[77'777] = std::numeric_limits<float>::max();
  expect_error([&] { x + x; }, {"[add]", "(77777)"});
}

}  // namespace
}  // namespace taeda::test
