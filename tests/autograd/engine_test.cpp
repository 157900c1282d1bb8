// SPDX-License-Identifier: Apache-2.0
// Walks over graphs: accumulation, retained and recorded graphs, restricted walks, errors.
#include <cmath>

#include <pthread.h>

#include "tests/autograd/common.h"

namespace taeda::test {
namespace {

TEST(Engine, MeanOfTwiceX) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor z = (x * 2).mean();
  z.backward();
  EXPECT_VALUES(x.grad(), {2.0 / 3, 2.0 / 3, 2.0 / 3});
  EXPECT_TRUE(x.is_leaf());
  EXPECT_FALSE(z.is_leaf());
}

TEST(Engine, GradientsAddUpOverBackwards) {
  const Tensor x = leaf({1, 2});
  (x * 3).sum().backward();
  (x * 4).sum().backward();
  EXPECT_VALUES(x.grad(), {7, 7});
}

TEST(Engine, AddsInPlaceIntoAnExistingGradient) {
  const Tensor flat = of({0, 0, 0, 0});
  const Tensor x = leaf({1, 2});
  x.mutable_grad() = flat.slice(0, 1, 3);
  const void* where = x.grad().const_data_ptr();
  (x * 3).sum().backward();
  (x * x).sum().backward();
  EXPECT_EQ(x.grad().const_data_ptr(), where);
  EXPECT_VALUES(flat, {0, 5, 7, 0});
}

TEST(Engine, AGradientIsNeverSharedWithTheOneGiven) {
  const Tensor x = leaf({1, 2});
  const Tensor g = of({1, 1});
  x.view({2, 1}).backward(g.view({2, 1}));
  x.mutable_grad().mul_(5);
  EXPECT_VALUES(g, {1, 1});
  const Tensor y = leaf({1, 2});
  (x + y).backward(g);
  EXPECT_NE(x.grad().const_data_ptr(), y.grad().const_data_ptr());
}

TEST(Engine, DiamondsAreWalkedOnce) {
  const Tensor x = leaf({2});
  const Tensor a = x * x;
  const Tensor b = a * 3;
  const Tensor c = a * a;
  (b + c + a).sum().backward();  // 4 x² + x⁴
  EXPECT_VALUES(x.grad(), {8 * 2.0 + 4 * 8.0});
}

TEST(Engine, BroadcastGradientsAreSummed) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor row = leaf({1, 2, 3});
  const Tensor column = leaf({1, 2}, {2, 1});
  const Tensor scalar = leaf({2}, IntArrayRef());
  (x * row + column * scalar).sum().backward();
  EXPECT_VALUES(row.grad(), {5, 7, 9});
  EXPECT_VALUES(column.grad(), {6, 6});
  EXPECT_VALUES(scalar.grad(), {9});
  EXPECT_EQ(column.grad().sizes(), IntArrayRef({2, 1}));
}

TEST(Engine, SecondWalkNeedsRetainGraph) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x.exp().sum();
  y.backward({}, true);
  y.backward();
  EXPECT_NEAR(values(x.grad())[0], 2 * std::exp(1.0), 1e-12);
  expect_error([&] { y.backward(); }, {"ExpBackward", "retain_graph"});
  const Tensor plain = (x * 2).sum();  // nothing saved: walks as often as wished
  plain.backward();
  plain.backward();
}

TEST(Engine, HigherDerivatives) {
  const Tensor x = leaf({2});
  const Tensor y = x * x * x;
  const Tensor g = autograd::grad({y}, {x}, {}, std::nullopt, true)[0];
  EXPECT_VALUES(g, {12});
  const Tensor gg = autograd::grad({g}, {x}, {}, std::nullopt, true)[0];
  EXPECT_VALUES(gg, {12});
  EXPECT_VALUES(autograd::grad({gg}, {x})[0], {6});
  EXPECT_FALSE(x.grad().defined());
}

TEST(Engine, CreateGraphAccumulatesWithHistory) {
  const Tensor x = leaf({3});
  (x * x).sum().backward({}, std::nullopt, true);
  EXPECT_TRUE(x.grad().requires_grad());
  const Tensor first = x.grad();
  x.mutable_grad() = Tensor();
  first.sum().backward();
  EXPECT_VALUES(x.grad(), {2});
}

TEST(Engine, GradLeavesGradAloneAndReportsUnused) {
  const Tensor x = leaf({1}), y = leaf({2}), unused = leaf({3});
  const Tensor z = x * y;
  expect_error([&] { autograd::grad({z}, {x, unused}, {}, true); }, {"[grad]", "element 1", "allow_unused"});
  const auto grads = autograd::grad({z}, {x, unused, y}, {}, true, false, true);
  EXPECT_VALUES(grads[0], {2});
  EXPECT_FALSE(grads[1].defined());
  EXPECT_VALUES(grads[2], {1});
  EXPECT_FALSE(x.grad().defined());
}

TEST(Engine, GradOfIntermediateTensors) {
  const Tensor x = leaf({3});
  const Tensor h = x * x;
  const Tensor y = h * h;
  const auto grads = autograd::grad({y}, {h, y, x}, {}, true);
  EXPECT_VALUES(grads[0], {18});
  EXPECT_VALUES(grads[1], {1});
  EXPECT_VALUES(grads[2], {108});
}

TEST(Engine, OnlyWhatLeadsToTheInputsRuns) {
  const Tensor x = leaf({1, 2}), y = leaf({3, 4});
  bool ran = false;
  const Tensor side = y.exp();
  side.register_hook([&](const Tensor& g) {
    ran = true;
    return g;
  });
  const Tensor z = (x * side).sum();
  autograd::grad({z}, {x}, {}, true);
  EXPECT_FALSE(ran);
  z.backward({}, true, false, std::vector<Tensor>{x});
  EXPECT_FALSE(ran);
  EXPECT_TRUE(x.grad().defined());
  EXPECT_FALSE(y.grad().defined());
  z.backward();
  EXPECT_TRUE(ran);
}

TEST(Engine, InputsThatAreNoLeavesRetainTheirGradient) {
  const Tensor x = leaf({1, 2});
  const Tensor h = x * 3;
  autograd::backward({(h * h).sum()}, {}, std::nullopt, false, {h});
  EXPECT_VALUES(h.grad(), {6, 12});
  EXPECT_FALSE(x.grad().defined());
}

TEST(Engine, SeveralRootsShareOneWalk) {
  const Tensor x = leaf({2});
  const Tensor h = x.exp();
  const Tensor a = (h * 2).sum(), b = (h * 3).sum();
  autograd::backward({a, b});
  EXPECT_NEAR(values(x.grad())[0], 5 * std::exp(2.0), 1e-9);
  const Tensor y = leaf({2});
  const Tensor sum = y * 1;
  autograd::backward({sum, sum}, {of({1}), of({10})});
  EXPECT_VALUES(y.grad(), {11});
  const Tensor w = leaf({2});
  const Tensor lower = w * 2;
  const Tensor upper = lower * 5;  // one root lies beneath the other
  autograd::backward({lower, upper});
  EXPECT_VALUES(w.grad(), {12});
}

TEST(Engine, LeavesAsRoots) {
  const Tensor x = leaf({2, 3});
  x.backward(of({1, 5}));
  EXPECT_VALUES(x.grad(), {1, 5});
}

TEST(Engine, BadInputHasErrorsOfItsOwn) {
  const Tensor x = leaf({1, 2, 3});
  expect_error([&] { (x * 2).backward(); }, {"one element", "[3]", "sum()"});
  expect_error([&] { (x * 2).backward(of({1, 2})); }, {"shape", "[2]", "[3]"});
  expect_error([&] { (x * 2).backward(taeda::ones({3}, TensorOptions(kLong))); }, {"floating", "Long"});
  (x * 2).backward(of({1, 1, 1}, kFloat));
  expect_error([&] { taeda::zeros({1}).backward(); }, {"does not require grad", "grad_fn"});
  expect_error([&] { autograd::backward({(x * 2).sum()}, {of({1}), of({1})}); }, {"2", "1"});
  expect_error([&] { autograd::backward({Tensor()}); }, {"empty handle"});
  expect_error([&] { taeda::zeros({2}, TensorOptions(kLong)).requires_grad_(); }, {"floating", "Long"});
  expect_error([&] { (x * 2).requires_grad_(false); }, {"leaf", "detach()"});
  expect_error([&] { autograd::grad({(x * 2).sum()}, {}); }, {"[grad]", "empty"});
  expect_error([&] { (x * 2).sum().backward({}, {}, false, std::vector<Tensor>{}); }, {"inputs", "empty"});
  expect_error([&] { autograd::queue_callback([] {}); }, {"backward runs"});
}

TEST(Engine, MixedDtypesMeetTheirLeavesDtype) {
  const Tensor x = leaf({1, 2}, kFloat);
  const Tensor y = leaf({3, 4}, kDouble);
  (x * y).sum().backward();
  EXPECT_EQ(x.grad().scalar_type(), kFloat);
  EXPECT_EQ(y.grad().scalar_type(), kDouble);
  EXPECT_VALUES(x.grad(), {3, 4});
}

TEST(Engine, TensorsWithoutGradRecordNothing) {
  const Tensor x = of({1, 2});
  EXPECT_FALSE((x * 2).grad_fn());
  const Tensor y = leaf({1, 2});
  const NoGradGuard off;
  EXPECT_FALSE((y * 2).requires_grad());
  EXPECT_FALSE(y.exp().grad_fn());
}

TEST(Engine, GraphCanBeWalkedByUsers) {
  const Tensor x = leaf({1});
  const Tensor y = (x * 2).exp();
  EXPECT_EQ(y.grad_fn()->name(), "ExpBackward0");
  const autograd::edge_list edges = y.grad_fn()->next_edges();
  ASSERT_GE(edges.size(), 1u);
  EXPECT_EQ(edges[0].function->name(), "MulBackward0");
  EXPECT_EQ(edges[0].function->next_edge(0).function->name(), "torch::autograd::AccumulateGrad");
  EXPECT_EQ(y.output_nr(), 0);
  EXPECT_GT(y.grad_fn()->sequence_number(), edges[0].function->sequence_number());
}

TEST(Engine, OneAccumulatorForEachLeaf) {
  const Tensor x = leaf({1});
  const Tensor a = x * 2, b = x.exp();
  EXPECT_EQ(a.grad_fn()->next_edge(0).function, b.grad_fn()->next_edge(0).function);
}

TEST(Engine, AnErrorLeavesTheEngineUsable) {
  const Tensor x = leaf({1, 2});
  const Tensor y = (x * 2).exp();
  y.register_hook([](const Tensor&) -> Tensor { throw std::out_of_range("from a hook"); });
  EXPECT_THROW(y.sum().backward({}, true), std::out_of_range);
  EXPECT_FALSE(autograd::in_backward());
  EXPECT_TRUE(GradMode::is_enabled());
  (x * 3).sum().backward();
  EXPECT_VALUES(x.grad(), {3, 3});
}

/// Runs `f` on a thread with 512 KB of stack.
template <class F>
void on_small_stack(F f) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 512 << 10);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, [](void* p) -> void* { (*static_cast<F*>(p))(); return nullptr; }, &f), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Engine, ChainOfAMillionNodesRunsAndFreesOnASmallStack) {
  on_small_stack([] {
    const Tensor x = leaf({1}, kFloat);
    Tensor y = x;
    for (int i = 0; i < 1'000'000; ++i) y = y + 1;
    y.sum().backward();
    EXPECT_EQ(values(x.grad())[0], 1.0);
    y = Tensor();
  });
}

TEST(Engine, DeepScenario) {
  on_small_stack([] {
    const Tensor x = leaf({1});
    const Tensor c = of({1e-6});
    {
      Tensor dropped = x;
      for (int i = 0; i < 100'000; ++i) dropped = dropped + dropped * c;
    }
    Tensor y = x;
    for (int i = 0; i < 100'000; ++i) y = y + y * c;
    y.sum().backward();
    EXPECT_NEAR(values(x.grad())[0], std::pow(1 + 1e-6, 100'000), 1e-9);
  });
}

}  // namespace
}  // namespace taeda::test
