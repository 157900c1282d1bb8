// SPDX-License-Identifier: Apache-2.0
// Operators registered from outside: TORCH_LIBRARY blocks, schemas, typed functions, gradients, threads.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <thread>

namespace {

torch::Tensor scaled(const torch::Tensor& x, double by) { return x * by; }
torch::Tensor cube_forward(const torch::Tensor& x) { return x * x * x; }

struct Cube : torch::autograd::Function<Cube> {
  static torch::Tensor forward(torch::autograd::AutogradContext* ctx, const torch::Tensor& x) {
    ctx->save_for_backward({x});
    return cube_forward(x);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const torch::Tensor x = ctx->get_saved_variables()[0];
    return {grads[0] * 3 * x * x};
  }
};
torch::Tensor cube_autograd(const torch::Tensor& x) { return Cube::apply(x); }

}  // namespace

TORCH_LIBRARY(mine, m) {
  m.def("scaled(Tensor x, float by=2.0) -> Tensor", &scaled);
  m.def("inferred", [](const torch::Tensor& x, int64_t n, std::vector<int64_t> sizes) {
    return std::make_tuple(x + n, torch::zeros(sizes));
  });
  m.def("cube(Tensor x) -> Tensor");
  m.def("join(Tensor[] list, Tensor? extra=None, *, str mode=\"sum\") -> Tensor");
}
TORCH_LIBRARY_IMPL(mine, CPU, m) {
  m.impl("cube", TORCH_FN(cube_forward));
  m.impl("join", [](at::TensorList list, const std::optional<at::Tensor>& extra, const std::string& mode) {
    torch::Tensor total = extra ? *extra : torch::zeros({});
    for (const auto& t : list) total = total + t;
    return mode == "sum" ? total : total / static_cast<int64_t>(list.size());
  });
}
TORCH_LIBRARY_IMPL(mine, Autograd, m) { m.impl("cube", TORCH_FN(cube_autograd)); }

namespace {

TEST(CustomOperator, IsCalledByNameWithDefaults) {
  const torch::Tensor x = torch::ones({3});
  EXPECT_TRUE(torch::equal(taeda::call_op("mine::scaled", {x}).tensor(), x * 2));
  EXPECT_TRUE(torch::equal(taeda::call_op("mine::scaled", {x}, {{"by", 3.0}}).tensor(), x * 3));
  EXPECT_TRUE(torch::equal(taeda::call_op("mine::scaled", {x, 4}).tensor(), x * 4));
  EXPECT_THROW(taeda::call_op("mine::scaled", {x, "two"}), c10::TypeError);
  EXPECT_THROW(taeda::call_op("mine::absent", {x}), c10::NotImplementedError);
}

TEST(CustomOperator, SchemaFollowsFromTheFunction) {
  const auto found = taeda::find_ops("mine::inferred");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_STREQ(found[0]->schema, "mine::inferred(Tensor _0, int _1, int[] _2) -> (Tensor, Tensor)");
  const taeda::Value result = taeda::call_op("mine::inferred", {torch::ones({2}), 5, std::vector<int64_t>{2, 3}});
  EXPECT_EQ(result.list()[0].tensor()[0].item<float>(), 6);
  EXPECT_EQ(result.list()[1].tensor().sizes(), torch::IntArrayRef({2, 3}));
}

TEST(CustomOperator, ListsOptionalsAndKeywords) {
  const std::vector<torch::Tensor> list{torch::ones({2}), torch::ones({2})};
  EXPECT_EQ(taeda::call_op("mine::join", {list}).tensor()[0].item<float>(), 2);
  EXPECT_EQ(taeda::call_op("mine::join", {list, torch::ones({2})}, {{"mode", "mean"}}).tensor()[1].item<float>(), 1.5F);
}

TEST(CustomOperator, GradientsFollowFromOperatorsOrFromAFunction) {
  torch::Tensor x = torch::full({2}, 3.0, torch::requires_grad());
  taeda::call_op("mine::scaled", {x, 5.0}).tensor().sum().backward();
  EXPECT_EQ(x.grad()[0].item<float>(), 5);
  x.mutable_grad().reset();
  taeda::call_op("mine::cube", {x}).tensor().sum().backward();
  EXPECT_EQ(x.grad()[0].item<float>(), 27);
  torch::NoGradGuard guard;
  EXPECT_FALSE(taeda::call_op("mine::cube", {x}).tensor().requires_grad());
}

TEST(CustomOperator, IsListedOnce) {
  int seen = 0;
  for (const taeda::OpInfo* op : taeda::all_ops()) seen += std::string(op->name) == "mine::scaled";
  EXPECT_EQ(seen, 1);
  EXPECT_THROW(taeda::register_op("mine::scaled(Tensor x) -> Tensor", [](const torch::Tensor& x) { return x; }), c10::Error);
  EXPECT_THROW(taeda::register_op("mine::wrong(Tensor x, int n) -> Tensor", [](const torch::Tensor& x) { return x; }), c10::TypeError);
  EXPECT_THROW(taeda::register_op("mine::broken", [](const torch::Tensor& x) { return x; }), c10::ValueError);
}

TEST(CustomOperator, RegistrationIsSafeFromManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      for (int k = 0; k < 20; ++k) {
        const std::string name = "many::op_" + std::to_string(i) + "_" + std::to_string(k);
        taeda::register_op(name + "(Tensor x) -> Tensor", [k](const torch::Tensor& x) { return x + k; });
        EXPECT_EQ(taeda::call_op(name, {torch::zeros({1})}).tensor().item<float>(), static_cast<float>(k));
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST(CustomOperator, TypedCall) {
  const taeda::TypedOperator<torch::Tensor(const torch::Tensor&, double)> op("mine::scaled");
  EXPECT_EQ(op.call(torch::ones({1}), 2.5).item<float>(), 2.5F);
}

}  // namespace
