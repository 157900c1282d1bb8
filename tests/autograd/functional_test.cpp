// SPDX-License-Identifier: Apache-2.0
// Jacobians, Hessians and their products, against formulas; gradient checks.
#include "taeda/autograd/functional.h"

#include "taeda/autograd/custom_function.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/autograd/graphviz.h"
#include "tests/autograd/common.h"

namespace taeda::test {
namespace {

namespace fn = autograd::functional;
using autograd::variable_list;

Tensor cubes(const Tensor& x) { return x * x * x; }
Tensor sum_of_cubes(const Tensor& x) { return (x * x * x).sum(); }

TEST(Functional, Products) {
  const Tensor x = of({1, 2}), v = of({3, 5});
  const auto [y, left] = fn::vjp(cubes, x, v);
  EXPECT_VALUES(y, {1, 8});
  EXPECT_VALUES(left, {9, 60});
  EXPECT_VALUES(fn::jvp(cubes, x, v).second, {9, 60});
  EXPECT_VALUES(fn::hvp(sum_of_cubes, x, v).second, {18, 60});
  EXPECT_VALUES(fn::vhp(sum_of_cubes, x, v).second, {18, 60});
  EXPECT_FALSE(left.requires_grad());
}

TEST(Functional, JacobianAndHessian) {
  const Tensor x = of({1, 2});
  const Tensor j = fn::jacobian(cubes, x);
  EXPECT_EQ(j.sizes(), IntArrayRef({2, 2}));
  EXPECT_VALUES(j, {3, 0, 0, 12});
  EXPECT_VALUES(fn::hessian(sum_of_cubes, x), {6, 0, 0, 12});
}

TEST(Functional, SeveralInputsAndOutputs) {
  const Tensor a = of({1, 2}), b = of({3});
  const auto f = [](const variable_list& in) -> variable_list { return {in[0] * in[1], (in[0] * in[0]).sum() * in[1]}; };
  const auto j = fn::jacobian(f, {a, b});
  EXPECT_VALUES(j[0][0], {3, 0, 0, 3});
  EXPECT_VALUES(j[0][1], {1, 2});
  EXPECT_VALUES(j[1][0], {6, 12});
  EXPECT_VALUES(j[1][1], {5});
  const auto h = fn::hessian([&](const variable_list& in) -> variable_list { return {f(in)[1]}; }, {a, b});
  EXPECT_VALUES(h[0][0], {6, 0, 0, 6});
  EXPECT_VALUES(h[0][1], {2, 4});
  EXPECT_VALUES(h[1][0], {2, 4});
  EXPECT_VALUES(h[1][1], {0});
  EXPECT_VALUES(fn::jvp(f, {a, b}, {of({1, 0}), of({2})}).second[0], {3 + 2, 4});
}

TEST(Functional, DerivativesOfDerivatives) {
  const Tensor x = leaf({1, 2});
  const Tensor j = fn::jacobian(cubes, x, true);
  j.sum().backward();
  EXPECT_VALUES(x.grad(), {6, 12});
}

TEST(Functional, Independence) {
  const Tensor x = of({1, 2});
  const auto constant = [](const Tensor&) { return of({7}); };
  EXPECT_VALUES(fn::jacobian(constant, x), {0, 0});
  expect_error([&] { fn::jacobian(constant, x, false, true); }, {"[jacobian]", "depend"});
  expect_error([&] { fn::vjp(cubes, x); }, {"[vjp]", "pass v"});
  expect_error([&] { fn::vjp(cubes, x, of({1, 2, 3})); }, {"[vjp]", "[3]", "[2]"});
  expect_error([&] { fn::hessian(cubes, x); }, {"[hessian]", "one element"});
}

struct WrongGradient : autograd::Function<WrongGradient> {
  static Tensor forward(autograd::AutogradContext*, Tensor a) { return a * 2; }
  static variable_list backward(autograd::AutogradContext*, variable_list grads) { return {grads[0] * 3}; }
};

TEST(Gradcheck, AcceptsRightGradients) {
  const Tensor x = leaf({0.3, -0.7, 1.5}), y = leaf({1.1, 0.2, -0.4});
  const auto f = [](const variable_list& in) -> variable_list { return {(in[0] * in[1]).tanh(), in[0].exp()}; };
  EXPECT_TRUE(autograd::gradcheck(f, {x, y}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {x, y}));
  EXPECT_VALUES(x, {0.3, -0.7, 1.5});
}

TEST(Gradcheck, SaysWhereAGradientIsWrong) {
  const Tensor x = leaf({0.3, -0.7});
  const auto f = [](const Tensor& t) { return WrongGradient::apply(t); };
  expect_error([&] { autograd::gradcheck(f, x); }, {"analytic", "numerical", "3", "2", "result 0(0)", "input 0(0)", "WrongGradient"});
  autograd::GradcheckOptions quiet;
  quiet.raise_exception = false;
  EXPECT_FALSE(autograd::gradcheck(f, x, quiet));
  expect_error([&] { autograd::gradcheck(cubes, leaf({1}, kFloat)); }, {"float64"});
  expect_error([&] { autograd::gradcheck(cubes, of({1})); }, {"require grad"});
}

TEST(Gradcheck, NonContiguousInputs) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor view = x.detach().t().requires_grad_();
  EXPECT_TRUE(autograd::gradcheck([](const Tensor& t) { return (t * t).sum(); }, view));
}

TEST(Graphviz, ShowsNodesAndLeaves) {
  const Tensor w = leaf({1, 2});
  autograd::set_name(w, "layer.weight");
  const std::string dot = autograd::graphviz((w * 2).exp());
  for (const char* part : {"digraph", "ExpBackward0", "MulBackward0", "layer.weight", "->"}) {
    EXPECT_NE(dot.find(part), std::string::npos) << part << " in " << dot;
  }
}

}  // namespace
}  // namespace taeda::test
