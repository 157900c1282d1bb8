// SPDX-License-Identifier: Apache-2.0
// Grad mode, no-grad and inference mode.
#include <thread>

#include "taeda/core/parallel.h"
#include "tests/autograd/common.h"

namespace taeda::test {
namespace {

TEST(Modes, GuardsNest) {
  EXPECT_TRUE(GradMode::is_enabled());
  {
    const NoGradGuard off;
    EXPECT_FALSE(GradMode::is_enabled());
    {
      const AutoGradMode on(true);
      EXPECT_TRUE(GradMode::is_enabled());
      EXPECT_TRUE((leaf({1}) * 2).requires_grad());
    }
    EXPECT_FALSE(GradMode::is_enabled());
  }
  EXPECT_TRUE(GradMode::is_enabled());
  GradMode::set_enabled(false);
  EXPECT_FALSE((leaf({1}) * 2).requires_grad());
  set_grad_enabled(true);
  EXPECT_TRUE(is_grad_enabled());
}

TEST(Modes, EachThreadHasItsOwn) {
  const NoGradGuard off;
  bool other = false;
  std::thread([&] { other = GradMode::is_enabled(); }).join();
  EXPECT_TRUE(other);
}

TEST(Modes, PoolTasksInheritThem) {
  const NoGradGuard off;
  std::atomic<int> enabled{0};
  parallel_for(0, 64, 1, [&](int64_t, int64_t) {
    if (GradMode::is_enabled()) ++enabled;
  });
  EXPECT_EQ(enabled.load(), 0);
}

TEST(Modes, BackwardRunsWithoutRecording) {
  const Tensor x = leaf({1});
  bool enabled = true;
  x.register_hook([&](Tensor) { enabled = GradMode::is_enabled(); });
  (x * 2).backward();
  EXPECT_FALSE(enabled);
  (x * 2).backward({}, std::nullopt, true);
  EXPECT_TRUE(enabled);
}

TEST(InferenceMode, MakesInferenceTensors) {
  const Tensor x = leaf({1, 2});
  Tensor i;
  {
    const InferenceMode mode;
    EXPECT_TRUE(InferenceMode::is_enabled());
    EXPECT_FALSE(GradMode::is_enabled());
    i = x * 2;
    EXPECT_TRUE(i.is_inference());
    EXPECT_FALSE(i.requires_grad());
    i.add_(1);  // allowed inside
    EXPECT_FALSE(x.view({2, 1}).is_inference());
    {
      const InferenceMode normal(false);
      EXPECT_FALSE((x * 2).is_inference());
      EXPECT_TRUE((x * 2).requires_grad());
    }
  }
  EXPECT_TRUE(i.view({2, 1}).is_inference());
  EXPECT_FALSE((i + 1).is_inference());
  expect_error([&] { i.add_(1); }, {"inference", "clone()"});
  expect_error([&] { (void)(x * i); }, {"inference tensors cannot be saved", "clone"});
  expect_error([&] { i.requires_grad_(); }, {"inference"});
  EXPECT_TRUE((x + i).requires_grad());  // nothing saved
  (x * i.clone()).sum().backward();
  EXPECT_VALUES(x.grad(), {3, 5});
}

TEST(InferenceMode, ViewsOfNormalTensors) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 1;
  Tensor view;
  {
    const InferenceMode mode;
    view = y.view({2, 1});
    EXPECT_TRUE(view.is_view());
    view.add_(1);
  }
  EXPECT_EQ(y._version(), 1);
  expect_error([&] { view.mul_(2); }, {"inference mode"});
}

}  // namespace
}  // namespace taeda::test
