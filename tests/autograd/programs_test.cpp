// SPDX-License-Identifier: Apache-2.0
// Programs as they are written for LibTorch: recursion over trees, loops, branches, custom functions, penalties.
#include <cmath>

#include <gtest/gtest.h>

#include "taeda/torch.h"

namespace {

using namespace torch::autograd;  // NOLINT(google-build-using-namespace)
using torch::Tensor;

TEST(Programs, FirstPage) {
  auto x = torch::ones({2, 2}, torch::requires_grad());
  auto y = x + 2;
  auto z = y * y * 3;
  auto out = z.mean();
  out.backward();
  EXPECT_TRUE(torch::allclose(x.grad(), torch::full({2, 2}, 4.5)));
  EXPECT_TRUE(y.grad_fn() != nullptr);

  auto a = torch::randn({2, 2});
  a = ((a * 3) / (a - 1));
  EXPECT_FALSE(a.requires_grad());
  a.requires_grad_(true);
  auto b = (a * a).sum();
  EXPECT_TRUE(b.requires_grad());
}

TEST(Programs, VectorJacobianProductInALoop) {
  torch::manual_seed(3);
  auto x = torch::randn(3, torch::requires_grad());
  auto y = x * 2;
  int doublings = 1;
  while (y.norm().item<double>() < 1000) {
    y = y * 2;
    ++doublings;
  }
  auto v = torch::tensor({0.1, 1.0, 0.0001}, torch::kFloat);
  y.backward(v);
  EXPECT_TRUE(torch::allclose(x.grad(), v * std::pow(2.0, doublings)));
}

TEST(Programs, GradientPenalty) {
  torch::manual_seed(4);
  auto weight = torch::randn({1, 4}, torch::requires_grad());
  auto input = torch::randn({3, 4}).requires_grad_(true);
  auto output = torch::matmul(input, weight.t()).tanh();
  auto gradient = torch::autograd::grad({output}, {input}, /*grad_outputs=*/{torch::ones_like(output)},
                                        /*retain_graph=*/true, /*create_graph=*/true)[0];
  auto penalty = torch::pow((gradient.norm(2, /*dim=*/1) - 1), 2).mean();
  (output.mean() + penalty).backward();
  EXPECT_TRUE(input.grad().defined());
  EXPECT_TRUE(weight.grad().defined());
  EXPECT_TRUE(torch::isfinite(weight.grad()).all().item<bool>());
}

class LinearFunction : public Function<LinearFunction> {
 public:
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor input, torch::Tensor weight,
                               torch::Tensor bias = torch::Tensor()) {
    ctx->save_for_backward({input, weight, bias});
    auto output = input.mm(weight.t());
    if (bias.defined()) output += bias.unsqueeze(0).expand_as(output);
    return output;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grad_outputs) {
    auto saved = ctx->get_saved_variables();
    auto input = saved[0];
    auto weight = saved[1];
    auto bias = saved[2];
    auto grad_output = grad_outputs[0];
    auto grad_input = grad_output.mm(weight);
    auto grad_weight = grad_output.t().mm(input);
    auto grad_bias = torch::Tensor();
    if (bias.defined()) grad_bias = grad_output.sum(0);
    return {grad_input, grad_weight, grad_bias};
  }
};

class MulConstant : public Function<MulConstant> {
 public:
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor tensor, double constant) {
    ctx->saved_data["constant"] = constant;
    return tensor * constant;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grad_outputs) {
    return {grad_outputs[0] * ctx->saved_data["constant"].toDouble(), torch::Tensor()};
  }
};

TEST(Programs, CustomFunctionsOfTheTutorial) {
  auto x = torch::randn({2, 3}).requires_grad_();
  auto weight = torch::randn({4, 3}).requires_grad_();
  auto bias = torch::randn({4}).requires_grad_();
  auto y = LinearFunction::apply(x, weight, bias);
  y.sum().backward();
  auto by_function = weight.grad().clone();
  weight.mutable_grad() = torch::Tensor();
  torch::linear(x, weight, bias).sum().backward();
  EXPECT_TRUE(torch::allclose(by_function, weight.grad()));
  EXPECT_TRUE(torch::allclose(bias.grad(), torch::full({4}, 4.0F)));
  auto no_bias = LinearFunction::apply(x, weight, torch::Tensor());
  no_bias.sum().backward();

  auto m = MulConstant::apply(torch::ones({2}).requires_grad_(), 5.5);
  EXPECT_FLOAT_EQ(m.sum().item<float>(), 11);
}

/// A binary tree with a value at each leaf.
struct Tree {
  Tensor value;
  std::unique_ptr<Tree> left, right;
};
std::unique_ptr<Tree> make_tree(int depth, bool skewed) {
  auto tree = std::make_unique<Tree>();
  if (depth == 0) {
    tree->value = torch::randn({1, 4});
    return tree;
  }
  tree->left = make_tree(depth - 1, skewed);
  tree->right = make_tree(skewed ? 0 : depth - 1, skewed);
  return tree;
}

/// A binary tree LSTM (Tai, Socher, Manning 2015): the structure of the computation is that of the tree.
struct TreeLstm {
  Tensor embed = (torch::randn({8, 4}) * 0.5).requires_grad_();
  Tensor left = (torch::randn({40, 8}) * 0.5).requires_grad_();
  Tensor right = (torch::randn({40, 8}) * 0.5).requires_grad_();
  Tensor bias = torch::zeros({40}).requires_grad_();

  std::pair<Tensor, Tensor> run(const Tree& tree) const {
    if (tree.value.defined()) {
      auto c = torch::linear(tree.value, embed);
      return {torch::tanh(c), c};
    }
    auto [hl, cl] = run(*tree.left);
    auto [hr, cr] = run(*tree.right);
    auto gates = (torch::matmul(hl, left.t()) + torch::matmul(hr, right.t()) + bias).chunk(5, 1);
    auto i = torch::sigmoid(gates[0]), fl = torch::sigmoid(gates[1]), fr = torch::sigmoid(gates[2]);
    auto o = torch::sigmoid(gates[3]), u = torch::tanh(gates[4]);
    auto c = i * u + fl * cl + fr * cr;
    return {o * torch::tanh(c), c};
  }
  std::vector<Tensor> parameters() const { return {embed, left, right, bias}; }
};

TEST(Programs, TreeLstmLearns) {
  torch::manual_seed(5);
  const TreeLstm model;
  const auto balanced = make_tree(4, false), skewed = make_tree(9, true);
  double first = 0, last = 0;
  for (int step = 0; step < 40; ++step) {
    auto loss = (model.run(*balanced).first - 0.5).pow(2).mean() + (model.run(*skewed).first + 0.5).pow(2).mean();
    loss.backward();
    torch::NoGradGuard no_grad;
    for (const Tensor& p : model.parameters()) {
      p.sub_(p.grad(), 0.1);
      p.mutable_grad().zero_();
    }
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  EXPECT_LT(last, 0.5 * first);
}

TEST(Programs, DeadBranchOfAWhere) {
  auto a = torch::full({}, 100.0F).requires_grad_();
  torch::where(a <= 0, a.exp(), 1 + a).backward();
  EXPECT_EQ(a.grad().item<float>(), 1);
  auto x = torch::tensor({-1.0F, -4.0F}).requires_grad_();
  torch::where(x > 0, x.sqrt(), x).sum().backward();
  EXPECT_TRUE(torch::equal(x.grad(), torch::ones({2})));
}

/// A nan cotangent reaches only the inputs that were taken; what multiplies passes it on. The table is PyTorch 2.13's, whose
/// cotangent is nan everywhere and whose input is {-1, 0, 1}.
TEST(Programs, NanCotangentStopsAtBranchesNotTaken) {
  using F = std::function<Tensor(const Tensor&)>;
  const Tensor zero = torch::zeros({3}, torch::kFloat64), half = torch::full({3}, 0.5, torch::kFloat64);
  const std::vector<std::tuple<std::string, F, std::vector<bool>>> table{
      {"relu", [](const Tensor& t) { return torch::relu(t); }, {false, false, true}},
      {"clamp", [](const Tensor& t) { return torch::clamp(t, -0.5, 0.5); }, {false, true, false}},
      {"clamp by tensors", [&](const Tensor& t) { return torch::clamp(t, -half, half); }, {false, true, false}},
      {"clamp_min", [](const Tensor& t) { return torch::clamp_min(t, 0.5); }, {false, false, true}},
      {"maximum", [&](const Tensor& t) { return torch::maximum(t, zero); }, {false, true, true}},
      {"fmax", [&](const Tensor& t) { return torch::fmax(t, zero); }, {false, true, true}},
      {"hardtanh", [](const Tensor& t) { return torch::hardtanh(t, -0.5, 0.5); }, {false, true, false}},
      {"relu6", [](const Tensor& t) { return torch::relu6(t); }, {false, false, true}},
      {"hardsigmoid", [](const Tensor& t) { return torch::hardsigmoid(4 * t); }, {false, true, false}},
      {"hardswish", [](const Tensor& t) { return torch::hardswish(4 * t); }, {false, true, true}},
      {"softshrink", [](const Tensor& t) { return torch::softshrink(t); }, {true, false, true}},
      {"hardshrink", [](const Tensor& t) { return torch::hardshrink(t); }, {true, false, true}},
      {"threshold", [](const Tensor& t) { return torch::threshold(t, 0.5, 0); }, {false, false, true}},
      {"where", [&](const Tensor& t) { return torch::where(t > 0, t, zero); }, {false, false, true}},
      {"masked_fill", [](const Tensor& t) { return t.masked_fill(t > 0, 0); }, {true, true, false}},
      {"leaky_relu", [](const Tensor& t) { return torch::leaky_relu(t, 0); }, {true, true, true}},
      {"abs", [](const Tensor& t) { return t.abs(); }, {true, true, true}},
      {"mul", [](const Tensor& t) { return t * 0; }, {true, true, true}}};
  for (const auto& [name, f, is_nan] : table) {
    for (const bool create_graph : {false, true}) {
      const Tensor x = torch::tensor({-1.0, 0.0, 1.0}, torch::kFloat64).requires_grad_();
      const Tensor y = f(x);
      const Tensor g = torch::autograd::grad({y}, {x}, {torch::full_like(y, std::nan(""))}, true, create_graph)[0];
      for (int64_t i = 0; i < 3; ++i) {
        const double value = g[i].item<double>();
        EXPECT_TRUE(is_nan[static_cast<size_t>(i)] ? std::isnan(value) : value == 0) << name << " at " << i << ": " << value << ", create_graph " << create_graph;
      }
    }
  }
}

Tensor early(const Tensor& x, int rounds) {
  auto y = x;
  for (int i = 0; i < rounds; ++i) {
    y = y * y;
    if (y.max().item<float>() > 100) return y.sum();
  }
  return y.mean();
}

TEST(Programs, EarlyReturn) {
  auto x = torch::tensor({3.0F, 1.0F}).requires_grad_();
  early(x, 10).backward();  // x⁸ summed
  EXPECT_FLOAT_EQ(x.grad()[0].item<float>(), 8 * std::pow(3.0F, 7));
  auto y = torch::tensor({1.0F, 1.0F}).requires_grad_();
  early(y, 3).backward();
  EXPECT_FLOAT_EQ(y.grad()[1].item<float>(), 4);
}

TEST(Programs, NoGradRecordsNothingAtAnySize) {
  auto w = torch::ones({1}).requires_grad_();
  torch::NoGradGuard guard;
  for (const int64_t n : {1, 1000, 1'000'000}) {
    auto y = (torch::ones({n}) * w).exp().sum();
    EXPECT_FALSE(y.requires_grad()) << n;
    EXPECT_TRUE(y.grad_fn() == nullptr);
  }
}

}  // namespace
