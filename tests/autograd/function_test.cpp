// SPDX-License-Identifier: Apache-2.0
// Custom functions, written as for LibTorch.
#include "taeda/autograd/custom_function.h"

#include <fstream>

#include "taeda/autograd/gradcheck.h"
#include "tests/autograd/common.h"

namespace taeda::test {
namespace {

using autograd::AutogradContext;
using autograd::Function;
using autograd::Variable;
using autograd::variable_list;

struct MulAdd : Function<MulAdd> {
  static Variable forward(AutogradContext* ctx, Variable a, double factor, Variable b) {
    ctx->saved_data["factor"] = factor;
    ctx->save_for_backward({a, b});
    return a + b * factor + a * b;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const double factor = ctx->saved_data["factor"].toDouble();
    auto saved = ctx->get_saved_variables();
    return {grads[0] + grads[0] * saved[1], Variable(), grads[0] * factor + grads[0] * saved[0]};
  }
};

TEST(CustomFunction, ForwardBackwardAndAgain) {
  const Tensor x = leaf({1, 2}), y = leaf({3, 4});
  const Tensor z = MulAdd::apply(x, 2.0, y);
  EXPECT_VALUES(z, {10, 18});
  EXPECT_NE(z.grad_fn()->name().find("MulAdd"), std::string::npos);
  z.sum().backward({}, true);
  EXPECT_VALUES(x.grad(), {4, 5});
  EXPECT_VALUES(y.grad(), {3, 4});
  EXPECT_TRUE(autograd::gradgradcheck(
      [](const variable_list& in) -> variable_list { return {MulAdd::apply(in[0], 2.0, in[1])}; }, {x, y}));
  z.sum().backward();
  expect_error([&] { z.sum().backward(); }, {"MulAdd", "retain_graph"});
}

TEST(CustomFunction, RecordsNothingWithoutNeed) {
  const Tensor x = of({1, 2});
  EXPECT_FALSE(MulAdd::apply(x, 2.0, x).requires_grad());
  const NoGradGuard off;
  EXPECT_FALSE(MulAdd::apply(leaf({1, 2}), 2.0, x).requires_grad());
}

struct WrongCount : Function<WrongCount> {
  static Variable forward(AutogradContext*, Variable a, Variable b) { return a + b; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0]}; }
};
struct TooMany : Function<TooMany> {
  static Variable forward(AutogradContext*, Variable a) { return a * 1; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0], Variable(), Variable()}; }
};
struct WrongShape : Function<WrongShape> {
  static Variable forward(AutogradContext*, Variable a) { return a * 1; }
  static variable_list backward(AutogradContext*, variable_list) { return {taeda::ones({3}, TensorOptions(kDouble))}; }
};
struct GradForNumber : Function<GradForNumber> {
  static Variable forward(AutogradContext*, Variable a, int64_t) { return a * 1; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0], grads[0]}; }
};

TEST(CustomFunction, WrongGradientsAreReported) {
  const Tensor x = leaf({1, 2});
  expect_error([&] { WrongCount::apply(x, x).sum().backward(); }, {"WrongCount", "1 for 2"});
  expect_error([&] { WrongShape::apply(x).sum().backward(); }, {"WrongShape", "[3]", "[2]"});
  expect_error([&] { GradForNumber::apply(x, 3).sum().backward(); }, {"GradForNumber", "argument 1"});
  TooMany::apply(x).sum().backward();
  EXPECT_VALUES(x.grad(), {1, 1});
}

struct TwoOutputs : Function<TwoOutputs> {
  static variable_list forward(AutogradContext* ctx, Variable a) {
    const Variable sign = a > 0;
    ctx->mark_non_differentiable({sign});
    return {a * 2, a * 3, sign};
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    EXPECT_EQ(grads.size(), 3u);
    EXPECT_TRUE(grads[1].defined());
    EXPECT_TRUE(grads[2].defined() && grads[2].scalar_type() == kBool);  // zeros, like those of the others
    return {grads[0] * 2 + grads[1] * 3};
  }
};
struct NoZeros : Function<NoZeros> {
  static variable_list forward(AutogradContext* ctx, Variable a) {
    ctx->set_materialize_grads(false);
    return {a * 2, a * 3};
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    EXPECT_TRUE(grads[0].defined());
    EXPECT_FALSE(grads[1].defined());
    return {grads[0] * 2};
  }
};

TEST(CustomFunction, SeveralOutputs) {
  const Tensor x = leaf({1, -2});
  const variable_list out = TwoOutputs::apply(x);
  EXPECT_FALSE(out[2].requires_grad());
  EXPECT_EQ(out[1].output_nr(), 1);
  out[0].sum().backward();
  EXPECT_VALUES(x.grad(), {2, 2});
  NoZeros::apply(x)[0].sum().backward();
  EXPECT_VALUES(x.grad(), {4, 4});
}

struct DoubleInPlace : Function<DoubleInPlace> {
  static Variable forward(AutogradContext* ctx, Variable a) {
    a.mul_(2);
    ctx->mark_dirty({a});
    return a;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};
struct ForgetsDirty : Function<ForgetsDirty> {
  static Variable forward(AutogradContext* ctx, Variable a) {
    ctx->mark_dirty({a});
    return a * 1;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0]}; }
};

TEST(CustomFunction, DirtyInputs) {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 1;
  const Tensor z = DoubleInPlace::apply(y);
  EXPECT_TRUE(z.is_same(y));
  EXPECT_VALUES(y, {2, 4});
  y.sum().backward();
  EXPECT_VALUES(x.grad(), {2, 2});
  const Tensor base = x * 1;
  DoubleInPlace::apply(base.slice(0, 0, 1));
  EXPECT_EQ(base.grad_fn()->name(), "torch::autograd::CopySlices");
  x.mutable_grad() = Tensor();
  base.sum().backward();
  EXPECT_VALUES(x.grad(), {2, 1});
  expect_error([&] { ForgetsDirty::apply(x * 1); }, {"ForgetsDirty", "dirty", "return"});
  expect_error([&] { DoubleInPlace::apply(x); }, {"leaf"});
}

struct Pass : Function<Pass> {
  static Variable forward(AutogradContext*, Variable a) { return a; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 10}; }
};
struct FirstRow : Function<FirstRow> {
  static Variable forward(AutogradContext*, Variable a) { return a.select(0, 0); }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    (void)ctx;
    Tensor g = taeda::zeros({2, 2}, TensorOptions(kDouble));
    g.select(0, 0).copy_(grads[0]);
    return {g};
  }
};

TEST(CustomFunction, ReturnedInputsAndViews) {
  const Tensor x = leaf({1, 2});
  const Tensor y = Pass::apply(x);
  EXPECT_FALSE(y.is_same(x));
  EXPECT_TRUE(x.is_leaf());
  y.sum().backward();
  EXPECT_VALUES(x.grad(), {10, 10});
  const Tensor m = leaf({1, 2, 3, 4}, {2, 2});
  const Tensor row = FirstRow::apply(m * 1);
  expect_error([&] { row.mul_(2); }, {"custom Function", "clone()"});
}

struct SavesItsOutput : Function<SavesItsOutput> {
  static Variable forward(AutogradContext* ctx, Variable a) {
    const Variable out = a.exp();
    ctx->save_for_backward({out});
    return out;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * ctx->get_saved_variables()[0]};
  }
};

TEST(CustomFunction, SavedOutputsAreDifferentiable) {
  const Tensor x = leaf({0.5, 1});
  const auto f = [](const Tensor& t) { return SavesItsOutput::apply(t); };
  EXPECT_TRUE(autograd::gradcheck(f, x));
  EXPECT_TRUE(autograd::gradgradcheck(f, x));
  const Tensor y = SavesItsOutput::apply(x);
  y.mul_(2);
  expect_error([&] { y.sum().backward(); }, {"modified by an in-place operation"});
}

struct Optional : Function<Optional> {
  static Variable forward(AutogradContext* ctx, Variable a, std::optional<Tensor> b, variable_list more) {
    ctx->saved_data["has"] = b.has_value();
    Variable sum = a * 1;
    if (b) sum = sum + *b;
    for (const Variable& v : more) sum = sum + v;
    return sum;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    EXPECT_TRUE(ctx->needs_input_grad(0));
    variable_list out{grads[0]};
    out.push_back(ctx->saved_data["has"].toBool() ? grads[0] * 2 : Variable());
    out.push_back(grads[0] * 3);
    out.push_back(grads[0] * 4);
    return out;
  }
};

TEST(CustomFunction, OptionalTensorsAndLists) {
  const Tensor a = leaf({1}), b = leaf({1}), c = leaf({1}), d = leaf({1});
  Optional::apply(a, std::optional<Tensor>(b), variable_list{c, d}).backward();
  EXPECT_VALUES(b.grad(), {2});
  EXPECT_VALUES(c.grad(), {3});
  EXPECT_VALUES(d.grad(), {4});
  Optional::apply(a, std::optional<Tensor>(), variable_list{c, d}).backward();
  EXPECT_VALUES(d.grad(), {8});
}

/// Calls backward inside backward.
struct Reentrant : Function<Reentrant> {
  static Variable forward(AutogradContext* ctx, Variable a) {
    ctx->save_for_backward({a});
    return a * a;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const AutoGradMode on(true);
    const Variable a = ctx->get_saved_variables()[0].detach().requires_grad_();
    (a * a).sum().backward();
    return {grads[0] * a.grad()};
  }
};

TEST(CustomFunction, BackwardInsideBackward) {
  const Tensor x = leaf({1, 2});
  (Reentrant::apply(x) * 3).sum().backward();
  EXPECT_VALUES(x.grad(), {6, 12});
}

struct Nested : Function<Nested> {
  static Variable forward(AutogradContext* ctx, Variable a, int64_t depth) {
    ctx->saved_data["depth"] = depth;
    return a * 1;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const int64_t depth = ctx->saved_data["depth"].toInt();
    if (depth == 0) return {grads[0], Variable()};
    const AutoGradMode on(true);
    const Tensor inner = leaf({1});
    Nested::apply(inner, depth - 1).backward();
    return {grads[0] * inner.grad(), Variable()};
  }
};

TEST(CustomFunction, DeeplyNestedBackwards) {
  const Tensor x = leaf({1});
  Nested::apply(x, 500).backward();
  EXPECT_VALUES(x.grad(), {1});
}

TEST(CustomFunction, MemoryIsFlatOverAHundredThousandSteps) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer keeps freed memory";
#endif
  const auto resident = [] {
    std::ifstream file("/proc/self/statm");
    long size = 0, pages = 0;
    file >> size >> pages;
    return pages * 4;  // KB
  };
  const Tensor x = leaf({1, 2, 3, 4}), y = leaf({1, 1, 1, 1});
  const auto step = [&] {
    MulAdd::apply(x, 0.5, y).sum().backward();
    x.mutable_grad() = Tensor();
    y.mutable_grad() = Tensor();
  };
  for (int i = 0; i < 1'000; ++i) step();
  const long before = resident();
  for (int i = 0; i < 100'000; ++i) step();
  EXPECT_LT(resident() - before, 1024);
}

}  // namespace
}  // namespace taeda::test
