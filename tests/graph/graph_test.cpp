// SPDX-License-Identifier: Apache-2.0
// Captured functions: the graph's run against the function, before and after passes.
#include <gtest/gtest.h>

#include <cstring>

#include "taeda/graph/capture.h"
#include "taeda/taeda.h"

namespace taeda::graph {
namespace {

using Tensors = std::vector<Tensor>;

bool same(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return false;
  const Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  return std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

Tensors copies(const Tensors& list) {
  Tensors result;
  for (const Tensor& t : list) result.push_back(t.clone());
  return result;
}

/// Captures with `examples`, and compares graph and function on `inputs`, which the function may change.
void check(const Function& f, const Tensors& examples, const Tensors& inputs, const States& states = {}) {
  Graph g = capture(f, examples, states);
  for (int pass = 0; pass < 3; ++pass) {
    if (pass == 1) join_common(g);
    if (pass == 2) remove_dead(g);
    g.verify();
    const NoGradGuard no_grad;
    const Tensors a = copies(inputs), b = copies(inputs);
    manual_seed(7);
    const Tensors want = f(a);
    manual_seed(7);
    const Tensors got = run(g, b);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(same(got[i], want[i])) << "output " << i << " after pass " << pass << '\n' << g.text();
    for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same(a[i], b[i])) << "input " << i << " after pass " << pass << '\n' << g.text();
  }
}

TEST(Graph, PointwiseAndMatrixProductsEqualTheFunction) {
  manual_seed(1);
  check([](const Tensors& in) { return Tensors{(in[0].matmul(in[1].t()) * 1.5 + 0.5).tanh().softmax(-1), in[0].sum(0, true)}; },
        {randn({3, 4}), randn({5, 4})}, {randn({3, 4}), randn({5, 4})});
}

TEST(Graph, WritesThroughViewsReachTheInput) {
  manual_seed(2);
  check([](const Tensors& in) {
          in[0].select(0, 1).add_(2.0);
          in[0].t().mul_(in[0].t());
          const Tensor y = in[0].clone();
          y.slice(1, 1, 3).zero_();
          return Tensors{y, in[0].exp()};
        },
        {randn({3, 4})}, {randn({3, 4})});
}

TEST(Graph, RandomOperatorsStayInOrder) {
  const Function f = [](const Tensors& in) {
    rand({2});
    return Tensors{dropout(in[0], 0.5, true), rand({2}), rand({2})};
  };
  check(f, {ones({8})}, {ones({8})});
  Graph g = capture(f, {ones({8})});
  size_t random = 0;
  join_common(g);
  remove_dead(g);
  for (const Node& node : g.nodes) random += node.random;
  EXPECT_EQ(random, 4u);
}

TEST(Graph, ModulesHaveNamedStatesAndTheirMutations) {
  manual_seed(3);
  nn::Sequential model(nn::Linear(4, 6), nn::BatchNorm1d(6), nn::ReLU());
  const Graph g = capture([&](const Tensors& in) { return Tensors{model->forward(in[0])}; }, {randn({5, 4})}, states_of(*model));
  EXPECT_NE(g.text().find("\"0.weight\""), std::string::npos) << g.text();
  EXPECT_NE(g.text().find("in \"1\""), std::string::npos) << g.text();
  EXPECT_GE(g.mutations.size(), 2u) << g.text();
  const Tensor x = randn({5, 4});
  const Tensor mean = model->named_buffers()["1.running_mean"].clone();
  const Tensor got = run(g, {x})[0];
  const Tensor mean_after_graph = model->named_buffers()["1.running_mean"].clone();
  EXPECT_FALSE(same(mean, mean_after_graph));
  model->named_buffers()["1.running_mean"].copy_(mean);
  const NoGradGuard no_grad;
  EXPECT_TRUE(same(got, model->forward(x)));
  EXPECT_TRUE(same(model->named_buffers()["1.running_mean"], mean_after_graph));
}

TEST(Graph, CommonAndDeadNodesGo) {
  Graph g = capture([](const Tensors& in) {
    in[0].sin();
    return Tensors{in[0].exp() + in[0].exp()};
  }, {ones({3})});
  EXPECT_EQ(g.nodes.size(), 4u) << g.text();
  EXPECT_EQ(join_common(g), 1u);
  EXPECT_EQ(remove_dead(g), 1u);
  g.verify();
  EXPECT_EQ(g.nodes.size(), 2u) << g.text();
}

TEST(Graph, NumbersThatDifferInTheirSignOfZeroStayApart) {
  Graph g = capture([](const Tensors& in) { return Tensors{in[0] * 0.0, in[0] * -0.0}; }, {ones({3})});
  EXPECT_EQ(join_common(g), 0u);
}

TEST(Graph, ValuesCannotBeLookedAt) {
  const Function f = [](const Tensors& in) { return Tensors{in[0] * in[0].sum().item<double>()}; };
  EXPECT_THROW(capture(f, {ones({3})}), Error);
  EXPECT_EQ(ones({3}).sum().item<double>(), 3);  // the capture is over
}

TEST(Graph, WrongInputsAndGraphsAreErrors) {
  Graph g = capture([](const Tensors& in) { return Tensors{in[0].exp().sin()}; }, {ones({3})});
  EXPECT_THROW(run(g, {ones({4})}), ValueError);
  EXPECT_THROW(run(g, {}), ValueError);
  EXPECT_NE(g.dot().find("label=\"exp\""), std::string::npos) << g.dot();
  std::swap(g.nodes[0], g.nodes[1]);
  EXPECT_THROW(g.verify(), Error);
}

}  // namespace
}  // namespace taeda::graph
