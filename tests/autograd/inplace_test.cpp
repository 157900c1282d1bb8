// SPDX-License-Identifier: Apache-2.0
// In-place changes and views: what is allowed, and what the gradients are.
#include <cmath>
#include <functional>

#include "tests/autograd/common.h"

namespace taeda::test {
namespace {

TEST(Inplace, EqualsTheOutOfPlaceForm) {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 1;
  y.mul_(3);
  y.add_(x);
  EXPECT_VALUES(y, {4, 8});
  y.sum().backward();
  EXPECT_VALUES(x.grad(), {4, 4});
}

TEST(Inplace, LeavesAreProtected) {
  const Tensor x = leaf({1, 2});
  expect_error([&] { x.add_(1); }, {"leaf", "NoGradGuard"});
  expect_error([&] { x.view({2, 1}).mul_(2); }, {"view of a leaf"});
  EXPECT_VALUES(x, {1, 2});
  {
    const NoGradGuard off;
    x.add_(1);
  }
  EXPECT_VALUES(x, {2, 3});
  EXPECT_TRUE(x.requires_grad());
  EXPECT_EQ(x._version(), 1);
}

TEST(Inplace, ALeafWithoutGradJoinsTheGraph) {
  const Tensor z = of({1, 2, 3});
  const Tensor w = leaf({4, 5, 6});
  z.add_(w);
  EXPECT_TRUE(z.requires_grad());
  EXPECT_FALSE(z.is_leaf());
  (z * z).sum().backward();
  EXPECT_VALUES(w.grad(), {10, 14, 18});
}

TEST(Inplace, ChangedInputsAreReported) {
  const Tensor x = leaf({1, 2});
  const Tensor h = x * 1;
  const Tensor y = h * h;
  h.add_(1);
  expect_error([&] { y.sum().backward(); },
               {"MulBackward", "modified by an in-place operation", "Double[2]", "version 1", "version 0", "add_", "clone()"});
}

TEST(Inplace, ChangedResultsAreReported) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x.exp();
  y.mul_(2);
  expect_error([&] { y.sum().backward(); }, {"ExpBackward", "result 0", "mul_"});
}

TEST(Inplace, ParametersAreNamed) {
  const Tensor w = leaf({1, 2});
  autograd::set_name(w, "layer1.weight");
  const Tensor x = leaf({3, 4});
  const Tensor y = w * x;
  {
    const NoGradGuard off;
    w.add_(1);
  }
  expect_error([&] { y.sum().backward(); }, {"parameter 'layer1.weight'", "version 1"});
}

TEST(Inplace, DetachSharesTheVersionAndDataDoesNot) {
  const Tensor x = leaf({1, 2});
  {
    const Tensor y = x.exp();
    const Tensor d = y.detach();
    EXPECT_FALSE(d.requires_grad());
    EXPECT_FALSE(d.is_view());
    d.mul_(2);
    EXPECT_EQ(y._version(), 1);
    expect_error([&] { y.sum().backward(); }, {"modified by an in-place operation"});
  }
  const Tensor y = x.exp();
  const Tensor d = y.data();
  d.mul_(2);
  EXPECT_EQ(y._version(), 0);
  EXPECT_EQ(d._version(), 1);
  y.sum().backward();  // with the changed values, as in PyTorch
  EXPECT_NEAR(values(x.grad())[0], 2 * std::exp(1.0), 1e-9);
}

TEST(Inplace, DataThatWasSavedIsStillChecked) {
  const Tensor x = leaf({1, 2});
  const Tensor d = of({1, 2}).data();
  const Tensor y = x * d;
  d.mul_(2);
  expect_error([&] { y.sum().backward(); }, {"modified by an in-place operation"});
}

TEST(Inplace, ThroughAViewReachesTheBase) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = x * 1;
  const Tensor part = y.slice(0, 1, 3);
  part.mul_(10);
  EXPECT_EQ(y.grad_fn()->name(), "torch::autograd::CopySlices");
  EXPECT_EQ(part.grad_fn()->name(), "AsStridedBackward0");
  y.sum().backward({}, true);
  EXPECT_VALUES(x.grad(), {1, 10, 10, 1});
  x.mutable_grad() = Tensor();
  part.sum().backward();
  EXPECT_VALUES(x.grad(), {0, 10, 10, 0});
}

TEST(Inplace, OnTheBaseIsSeenByViews) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = x * 1;
  const Tensor part = y.view({2, 2}).select(0, 1);
  y.mul_(y.detach() * 2);
  EXPECT_VALUES(part, {18, 32});
  part.sum().backward();
  EXPECT_VALUES(x.grad(), {0, 0, 6, 8});
}

TEST(Inplace, ChainsOfViewsAndSeveralWrites) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor w = leaf({10, 20});
  const Tensor y = x * 2;
  const Tensor column = y.t().select(0, 1);   // y[:, 1]
  column.copy_(w);
  const Tensor row = y.select(0, 0);
  row.mul_(3);
  EXPECT_VALUES(y, {6, 30, 18, 8, 20, 12});
  EXPECT_VALUES(column, {30, 20});
  (y * y).sum().backward();
  // y = 3 * {2 x0, w0, 2 x2}, {2 x3, w1, 2 x5}
  EXPECT_VALUES(x.grad(), {2 * 6 * 6, 0, 2 * 18 * 6, 2 * 8 * 2, 0, 2 * 12 * 2});
  EXPECT_VALUES(w.grad(), {2 * 30 * 3, 2 * 20});
}

TEST(Inplace, WritingIntoATensorWithoutGradThroughAView) {
  const Tensor z = taeda::zeros({4}, TensorOptions(kDouble));
  const Tensor w = leaf({1, 2});
  z.slice(0, 0, 2).copy_(w);
  z.slice(0, 1, 3).add_(w * 3);
  EXPECT_TRUE(z.requires_grad());
  EXPECT_VALUES(z, {1, 5, 6, 0});
  (z * of({1, 10, 100, 1000})).sum().backward();
  EXPECT_VALUES(w.grad(), {1 + 30, 10 + 300});
}

TEST(Inplace, OverwrittenPartsLoseTheirGradient) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = x * 1;
  y.slice(0, 0, 1).copy_(of({9}));
  y.slice(0, 1, 2).zero_();
  y.sum().backward();
  EXPECT_VALUES(x.grad(), {0, 0, 1});
  const Tensor z = x * 1;
  z.copy_(of({1, 2, 3}));
  z.sum().backward();
  EXPECT_VALUES(x.grad(), {0, 0, 1});
  const Tensor w = leaf({5}, IntArrayRef());
  const Tensor f = x * 1;
  f.fill_(w);
  f.sum().backward();
  EXPECT_VALUES(x.grad(), {0, 0, 1});
  EXPECT_VALUES(w.grad(), {3});
}

TEST(Inplace, IndexedAssignment) {
  const Tensor x = leaf({1, 2, 3});
  Tensor y = x * 1;
  y[1] = 7;
  y[0] = x[2] * 5;
  (y * y).sum().backward();
  EXPECT_VALUES(x.grad(), {0, 0, 6 + 2 * 15 * 5});
}

TEST(Inplace, GradientsOfGradientsThroughCopySlices) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = x * x;
  y.slice(0, 1, 3).mul_(x.slice(0, 0, 2));  // {x0², x1² x0, x2² x1}
  const Tensor g = autograd::grad({y.sum()}, {x}, {}, std::nullopt, true)[0];
  EXPECT_VALUES(g, {2 + 4, 2 * 2 * 1 + 9, 2 * 3 * 2});
  const Tensor gg = autograd::grad({g.sum()}, {x})[0];
  // g = {2 x0 + x1², 2 x1 x0 + x2², 2 x2 x1}
  EXPECT_VALUES(gg, {2 + 2 * 2, 2 * 2 + 2 * 1 + 2 * 3, 2 * 3 + 2 * 2});
}

TEST(Inplace, ViewsMadeWithoutGradMustNotChangeWithIt) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = x * 1;
  Tensor v;
  {
    const NoGradGuard off;
    v = y.slice(0, 0, 2);
    v.mul_(2);
  }
  EXPECT_EQ(y._version(), 1);
  expect_error([&] { v.mul_(2); }, {"no_grad"});
  y.sum().backward();
  EXPECT_VALUES(x.grad(), {1, 1, 1});
  Tensor of_leaf;
  {
    const NoGradGuard off;
    of_leaf = x[0];
  }
  expect_error([&] { of_leaf.mul_(2); }, {"no_grad"});
  expect_error([&] { y.mul_(2); (void)(v * 2); }, {"no_grad", "base"});
}

TEST(Inplace, ViewsOfSeveralMustNotChange) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = x * 1;
  const std::vector<Tensor> parts = y.split(1);
  expect_error([&] { parts[0].mul_(2); }, {"several views", "out-of-place"});
}

TEST(Inplace, ExpandedTensorsMustNotChange) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = (x * 1).expand({2, 3});
  expect_error([&] { y.add_(1); }, {"memory location", "clone()"});
}

TEST(Inplace, DetachInPlace) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  const Tensor v = y.view({2, 1});
  expect_error([&] { v.detach_(); }, {"view", "detach()"});
  y.detach_();
  EXPECT_FALSE(y.requires_grad());
  EXPECT_TRUE(y.is_leaf());
  y.requires_grad_();
  (y * 3).sum().backward();
  EXPECT_VALUES(y.grad(), {3, 3});
  EXPECT_FALSE(x.grad().defined());
}

TEST(Inplace, RetainedGradientFollowsTheTensor) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 1;
  y.retain_grad();
  y.mul_(2);
  (y * 3).sum().backward();
  EXPECT_VALUES(y.grad(), {3, 3});
  EXPECT_VALUES(x.grad(), {6, 6});
}

TEST(Inplace, BasesAndVersions) {
  const Tensor x = of({1, 2, 3, 4});
  const Tensor v = x.view({2, 2}).select(0, 1);
  EXPECT_TRUE(v.is_view());
  EXPECT_TRUE(v._base().is_same(x));
  v.add_(1);
  EXPECT_EQ(x._version(), 1);
  EXPECT_VALUES(x, {1, 2, 4, 5});
  expect_error([&] { (void)x._base(); }, {"view"});
}

/// A number that counts how many of the tensors that a test made are alive.
struct Alive final : TensorExtension {
  explicit Alive(int& n) : count(n) { ++count; }
  ~Alive() override { --count; }
  int& count;
};

// What overwrites its own input in place owns a node that saved that input. Nobody walks these graphs.
TEST(Inplace, OverwrittenInputsDoNotKeepTheirGraphAlive) {
  int alive = 0;
  const auto watched = [&](const Tensor& t) {
    t.mutable_impl().extension = new Alive(alive);
    return t;
  };
  const Tensor x = leaf({1, 2});
  {
    const Tensor h = watched(x * 1);
    h.add_((h * h).exp());
    const Tensor twice = watched(x * 1);
    twice.mul_(twice.sin());
    twice.mul_(twice.sin());
    const Tensor base = watched(x * 1);
    const Tensor part = watched(base.slice(0, 0, 1));
    base.mul_((part * part).sum());
    const Tensor written = watched(x * 1);
    written.slice(0, 0, 1).mul_((written * written).sum());
    const Tensor again = watched(x * 1);
    const Tensor square = again * again;  // not yet among what `again` is made of
    again.add_(1);
    again.mul_(square);
    const Tensor whole = watched(x * 1);
    const Tensor angle = atan2(whole.unsqueeze(0).select(1, 0), whole.unbind()[1]);
    whole.slice(0, 0, 1).mul_(2);
    whole.slice(0, 1, 2).mul_(angle);
    EXPECT_EQ(alive, 7);
  }
  EXPECT_EQ(alive, 0);
}

TEST(Inplace, OverwrittenInputsAreStillReported) {
  const Tensor x = leaf({1, 2});
  const Tensor h = x * 3;
  h.add_((h * h).exp());
  expect_error([&] { h.sum().backward(); }, {"Mul", "modified by an in-place operation", "MulBackward0", "clone()"});
}

TEST(Inplace, WritesIntoViewsDoNotKeepTheirBaseAlive) {
  const Tensor x = randn({4, 4}).requires_grad_();
  const auto rows = [](const Tensor& y) { return y.select(0, 1); };
  const auto strided = [](const Tensor& y) { return y.as_strided({2}, {1}); };
  const auto turned = [](const Tensor& y) { return y.t().narrow(0, 0, 2); };
  for (const std::function<Tensor(const Tensor&)>& view : {std::function<Tensor(const Tensor&)>(rows), std::function<Tensor(const Tensor&)>(strided),
                                                           std::function<Tensor(const Tensor&)>(turned)}) {
    Tensor held;
    {
      Tensor y = x * 1;
      held = y;
      view(y).mul_(2);
      y.sum().backward();
    }
    EXPECT_EQ(held.use_count(), 1u);
  }
}

TEST(Inplace, SetData) {
  const Tensor p = leaf({1, 2});
  (p * p).sum().backward();
  p.set_data(of({5, 6}));
  EXPECT_TRUE(p.requires_grad());
  EXPECT_VALUES(p.grad(), {2, 4});
  p.mutable_grad().zero_();
  (p * p).sum().backward();
  EXPECT_VALUES(p.grad(), {10, 12});
}

TEST(Inplace, SelfAssignmentsWithOverlap) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = x * 1;
  y.slice(0, 1, 4).copy_(y.slice(0, 0, 3).clone());
  EXPECT_VALUES(y, {1, 1, 2, 3});
  (y * of({1, 10, 100, 1000})).sum().backward();
  EXPECT_VALUES(x.grad(), {11, 100, 1000, 0});
}

}  // namespace
}  // namespace taeda::test
