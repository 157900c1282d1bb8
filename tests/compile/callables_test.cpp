// SPDX-License-Identifier: Apache-2.0
// compile() takes any callable and passes arguments and results through, whatever their types; `torch::` names it as well.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>

#include "taeda/torch.h"

namespace {

using torch::Tensor;

const torch::CompileOptions kOptions{.backend = torch::CompileBackend::kDebug, .step_aside = false};

void expect_equal(const Tensor& got, const Tensor& want) { EXPECT_TRUE(got.equal(want)) << got << '\n' << want; }

TEST(CompileCallables, FunctionsFunctionObjectsAndMembers) {
  struct Scale {
    double by;
    Tensor operator()(const Tensor& x) const { return x * by; }
  };
  const auto object = torch::compile(Scale{3}, kOptions);
  const auto standard = torch::compile(std::function<Tensor(Tensor)>([](Tensor x) { return x.exp(); }), kOptions);
  const auto pointer = torch::compile(+[](const Tensor& x, const Tensor& y) { return x - y; }, kOptions);
  for (int i = 1; i < 4; ++i) {
    const Tensor x = torch::full({3}, 1.f * i);
    expect_equal(object(x), x * 3);
    expect_equal(standard(x), x.exp());
    expect_equal(pointer(x, x * 2), -x);
  }
}

TEST(CompileCallables, NestedArgumentsAndResults) {
  using Rows = std::vector<std::tuple<Tensor, std::optional<Tensor>>>;
  struct Out {
    std::map<std::string, Tensor> named;
    std::pair<std::vector<Tensor>, std::optional<Tensor>> rest;
    double number;
    std::string text;
  };
  const auto f = [](const Rows& rows, std::optional<double> scale, const std::string& name) {
    Out out{{}, {}, scale.value_or(1.0), name};
    Tensor sum = torch::zeros({2});
    for (const auto& [a, b] : rows) {
      Tensor row = a * out.number;
      if (b) row = row + *b;
      out.rest.first.push_back(row);
      sum = sum + row;
    }
    out.named[name] = sum;
    if (rows.size() > 1) out.rest.second = sum.mean();
    return out;
  };
  const auto fast = torch::compile(f, kOptions);
  for (int i = 0; i < 6; ++i) {
    const size_t count = 1 + static_cast<size_t>(i % 2);
    Rows rows;
    for (size_t r = 0; r < count; ++r) {
      rows.emplace_back(torch::randn({2}), i % 3 == 0 ? std::nullopt : std::optional<Tensor>(torch::randn({2})));
    }
    const std::optional<double> scale = i % 3 == 1 ? std::optional<double>(0.5 * i) : std::nullopt;
    const Out got = fast(rows, scale, "sum"), want = f(rows, scale, "sum");
    ASSERT_EQ(got.rest.first.size(), count);
    for (size_t r = 0; r < count; ++r) expect_equal(got.rest.first[r], want.rest.first[r]);
    expect_equal(got.named.at("sum"), want.named.at("sum"));
    ASSERT_EQ(got.rest.second.has_value(), count > 1);
    if (count > 1) expect_equal(*got.rest.second, *want.rest.second);
    EXPECT_EQ(got.number, want.number);
    EXPECT_EQ(got.text, "sum");
  }
}

TEST(CompileCallables, ReferencesMovedArgumentsAndNoResult) {
  const auto fill = torch::compile([](Tensor& out, std::unique_ptr<int> by) { out = out + *by; }, kOptions);
  const auto first = torch::compile([](std::vector<Tensor>& list) -> Tensor& { return list.front().add_(1); }, kOptions);
  for (int i = 0; i < 3; ++i) {
    Tensor x = torch::ones({2});
    fill(x, std::make_unique<int>(i));
    expect_equal(x, torch::full({2}, 1.f + static_cast<float>(i)));
    std::vector<Tensor> list{torch::zeros({2})};
    EXPECT_EQ(&first(list), &list.front());
    expect_equal(list.front(), torch::ones({2}));
  }
}

TEST(CompileCallables, ModulesKeepParametersStateModesAndFiles) {
  torch::manual_seed(3);
  torch::nn::Sequential model(torch::nn::Linear(3, 4), torch::nn::BatchNorm1d(4), torch::nn::Dropout(0.5));
  const auto fast = torch::compile(model, kOptions);
  EXPECT_EQ(fast->parameters().size(), model->parameters().size());
  EXPECT_EQ(fast->state_dict().size(), model->state_dict().size());
  const Tensor x = torch::randn({8, 3});
  for (int i = 0; i < 3; ++i) {
    torch::manual_seed(5);
    const Tensor got = fast(x);
    torch::manual_seed(5);
    expect_equal(got.ne(0), model->forward(x).ne(0));  // the statistics moved, what was dropped is the same
    EXPECT_TRUE(got.requires_grad());
  }
  fast->eval();
  EXPECT_FALSE(model->is_training());
  for (int i = 0; i < 3; ++i) expect_equal(fast(x), model->forward(x));
  std::stringstream file;
  torch::save(fast.function(), file);
  torch::nn::Sequential other(torch::nn::Linear(3, 4), torch::nn::BatchNorm1d(4), torch::nn::Dropout(0.5));
  torch::load(other, file);
  other->eval();
  expect_equal(other->forward(x), fast(x));
  // Loaded into the module, the state is what the compiled call uses.
  for (Tensor& p : other->parameters()) p.detach().mul_(2);
  fast->load_state_dict(other->state_dict());
  expect_equal(fast(x), other->forward(x));
  fast->train();
  EXPECT_TRUE(model->is_training());
}

}  // namespace
