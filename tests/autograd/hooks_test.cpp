// SPDX-License-Identifier: Apache-2.0
// Hooks on tensors, nodes, leaves and saved tensors; callbacks.
#include <cmath>

#include "tests/autograd/common.h"

namespace taeda::test {
namespace {

TEST(Hooks, OnResultsAndLeaves) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  y.register_hook([](Tensor g) { return g * 10; });
  std::vector<double> seen;
  x.register_hook([&](Tensor g) { seen = values(g); });
  y.sum().backward();
  EXPECT_VALUES(x.grad(), {20, 20});
  EXPECT_EQ(seen, (std::vector<double>{20, 20}));
}

TEST(Hooks, RunInOrderAndCanBeRemoved) {
  const Tensor x = leaf({1});
  const Tensor y = x * 1;
  y.register_hook([](Tensor g) { return g + 1; });
  const unsigned second = y.register_hook([](Tensor g) { return g * 10; });
  y.backward({}, true);
  EXPECT_VALUES(x.grad(), {20});
  y.remove_hook(second);
  x.mutable_grad() = Tensor();
  y.backward();
  EXPECT_VALUES(x.grad(), {2});
  expect_error([&] { y.remove_hook(12345); }, {"remove_hook"});
  const unsigned on_leaf = x.register_hook([](Tensor g) { return g * 100; });
  x.remove_hook(on_leaf);
  x.mutable_grad() = Tensor();
  (x * 1).backward();
  EXPECT_VALUES(x.grad(), {1});
}

TEST(Hooks, SeeTheWholeGradient) {
  const Tensor x = leaf({3});
  const Tensor h = x * 1;
  int calls = 0;
  h.register_hook([&](Tensor g) {
    ++calls;
    EXPECT_VALUES(g, {2 + 6});
  });
  (h * 2 + h * h).backward();
  EXPECT_EQ(calls, 1);
}

TEST(Hooks, BeforeAnInPlaceChangeKeepTheirPlace) {
  const Tensor x = leaf({1});
  const Tensor h = x * 2;
  h.register_hook([](Tensor g) { return g * 10; });
  h.mul_(3);
  h.backward();
  EXPECT_VALUES(x.grad(), {60});
}

TEST(Hooks, MayNotChangeTheShape) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  y.register_hook([](Tensor) { return taeda::ones({3}, TensorOptions(kDouble)); });
  expect_error([&] { y.sum().backward(); }, {"register_hook", "[3]", "[2]"});
  expect_error([&] { of({1}).register_hook([](Tensor g) { return g; }); }, {"require grad"});
}

TEST(Hooks, RetainGradComesLast) {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  y.retain_grad();
  y.register_hook([](Tensor g) { return g * 7; });
  EXPECT_TRUE(y.retains_grad());
  EXPECT_FALSE(x.retains_grad());
  (y * 1).backward();
  EXPECT_VALUES(y.grad(), {7});
  expect_error([&] { of({1}).retain_grad(); }, {"require grad"});
}

TEST(Hooks, ATensorThatRetainsMayDieFirst) {
  const Tensor x = leaf({1});
  Tensor z;
  {
    const Tensor y = x * 2;
    y.retain_grad();
    z = y * 3;
  }
  z.backward();
  EXPECT_VALUES(x.grad(), {6});
}

TEST(Hooks, AfterAccumulation) {
  const Tensor x = leaf({1, 2});
  int calls = 0;
  const unsigned key = autograd::register_post_accumulate_grad_hook(x, [&](const Tensor& t) {
    ++calls;
    EXPECT_TRUE(t.is_same(x));
    EXPECT_VALUES(t.grad(), {2, 2});
    x.mutable_grad() = Tensor();  // an optimizer that steps inside backward
  });
  const Tensor y = x * 2;
  y.sum().backward({}, true);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(x.grad().defined());
  autograd::remove_post_accumulate_grad_hook(x, key);
  y.sum().backward();
  EXPECT_EQ(calls, 1);
  expect_error([&] { autograd::register_post_accumulate_grad_hook(y, [](const Tensor&) {}); }, {"leaf"});
}

TEST(Hooks, OnNodes) {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  const auto node = y.grad_fn();
  std::string order;
  node->add_pre_hook([&](const autograd::variable_list& grads) {
    order += "pre ";
    return autograd::variable_list{grads[0] * 5};
  });
  node->add_post_hook([&](const autograd::variable_list& out, const autograd::variable_list& in) {
    order += "post";
    EXPECT_EQ(values(in[0]), std::vector<double>{5});
    autograd::variable_list changed = out;
    changed[0] = changed[0] + 1;
    return changed;
  });
  y.backward();
  EXPECT_EQ(order, "pre post");
  EXPECT_VALUES(x.grad(), {11});
}

TEST(Hooks, CallbacksRunAtTheEnd) {
  const Tensor x = leaf({1}), y = leaf({1});
  bool x_done = false, y_done = false, called = false;
  const Tensor h = x * y;
  x.register_hook([&](Tensor) { x_done = true; });
  y.register_hook([&](Tensor) { y_done = true; });
  h.register_hook([&](Tensor) {
    autograd::queue_callback([&] {
      EXPECT_TRUE(x_done && y_done);
      EXPECT_TRUE(x.grad().defined() && y.grad().defined());
      called = true;
    });
  });
  (h * 1).backward();
  EXPECT_TRUE(called);
}

TEST(Hooks, SavedTensorsMayBePacked) {
  const Tensor x = leaf({0.5, 2});
  int packed = 0, unpacked = 0;
  Tensor y;
  {
    const autograd::SavedTensorHooksGuard hooks(
        [&](const Tensor& t) -> Value {
          ++packed;
          EXPECT_FALSE(t.requires_grad());
          return t.to(kFloat);
        },
        [&](const Value& v) {
          ++unpacked;
          return v.toTensor().to(kDouble);
        });
    y = (x * x).exp();
  }
  EXPECT_EQ(packed, 3);  // both factors, and the result of exp
  const Tensor g = autograd::grad({y.sum()}, {x}, {}, std::nullopt, true)[0];
  EXPECT_GE(unpacked, 3);
  const double want = 2 * 0.5 * std::exp(0.25);
  EXPECT_NEAR(values(g)[0], want, 1e-6);
  const Tensor gg = autograd::grad({g.sum()}, {x})[0];
  EXPECT_NEAR(values(gg)[0], (2 + 4 * 0.25) * std::exp(0.25), 1e-5);
  expect_error([] { autograd::SavedTensorHooksGuard bad({}, {}); }, {"callable"});
}

}  // namespace
}  // namespace taeda::test
