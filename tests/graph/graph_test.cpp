// SPDX-License-Identifier: Apache-2.0
// Captured functions: the graph's run against the function, before and after passes.
#include <gtest/gtest.h>

#include "taeda/graph/capture.h"
#include "taeda/graph/passes/passes.h"
#include "tests/graph/same.h"

namespace taeda::graph {
namespace {

Tensors copies(const Tensors& list) {
  Tensors result;
  for (const Tensor& t : list) result.push_back(t.clone());
  return result;
}

/// Captures with `examples`, and compares graph and function on `inputs`, which the function may change, after each pass.
void check(const Function& f, const Tensors& examples, const Tensors& inputs, const States& states = {}) {
  Graph g = capture(f, examples, states);
  const auto compare = [&](const std::string& pass, const Graph& graph) {
    const NoGradGuard no_grad;
    const Tensors a = copies(inputs), b = copies(inputs);
    manual_seed(7);
    const Tensors want = f(a);
    manual_seed(7);
    const Tensors got = run(graph, b);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(same(got[i], want[i])) << "output " << i << " after " << pass << '\n' << graph.text();
    for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same(a[i], b[i])) << "input " << i << " after " << pass << '\n' << graph.text();
  };
  compare("capture", g);
  PassOptions options;
  options.verify = true;
  options.after = compare;
  optimize(g, options);
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

/// The error of `f`, empty when there is none.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Graph, StatisticsInOneTensorAreBothUpdated) {
  manual_seed(4);
  check([](const Tensors& in) { return Tensors{batch_norm(in[0], {}, {}, in[1][0], in[1][1], true, 0.1, 1e-5, false)}; },
        {randn({5, 4}), ones({2, 4})}, {randn({5, 4}), ones({2, 4})});
}

TEST(Graph, OneTensorForBothStatisticsIsRefused) {
  const Function f = [](const Tensors& in) { return Tensors{batch_norm(in[0], {}, {}, in[1], in[1], true, 0.1, 1e-5, false)}; };
  EXPECT_NE(error_of([&] { capture(f, {ones({5, 4}), ones({4})}); }).find("shares no elements"), std::string::npos);
}

TEST(Graph, InputsThatShareMemoryMustNotBeChanged) {
  const Function reads = [](const Tensors& in) { return Tensors{in[0] + in[1]}; };
  const Function writes = [](const Tensors& in) { return in[0].add_(1.0), Tensors{in[1] * 2.0}; };
  const Tensor x = ones({3, 4});
  EXPECT_TRUE(same(run(capture(reads, {x, x}), {x, x})[0], x + x));
  EXPECT_NE(error_of([&] { capture(writes, {x, x}); }).find("shares no memory"), std::string::npos);
  EXPECT_NE(error_of([&] { capture(writes, {x, x.t()}); }).find("shares no memory"), std::string::npos);
  const Graph g = capture(writes, {x[0], x[1]});
  EXPECT_NE(error_of([&] { run(g, {x[0], x[0]}); }).find("shares no memory"), std::string::npos);
  EXPECT_TRUE(same(x, ones({3, 4})));
  EXPECT_TRUE(same(run(g, {x[0], x[1]})[0], full({4}, 2.0)));
  EXPECT_TRUE(same(x[0], full({4}, 2.0)));
}

TEST(Graph, ChangedInputsShareNoMemoryWithStatesOrConstants) {
  const Tensor c = ones({4});
  const Function f = [&](const Tensors& in) { return in[0].add_(1.0), Tensors{c * 2.0}; };
  EXPECT_NE(error_of([&] { capture(f, {c}); }).find("shares no memory"), std::string::npos);
  EXPECT_NE(error_of([&] { capture(f, {c}, {{"c", c}}); }).find("shares no memory"), std::string::npos);
  const Graph g = capture(f, {ones({4})}, {{"c", c}});
  EXPECT_NE(error_of([&] { run(g, {c}); }).find("shares no memory"), std::string::npos);
}

TEST(Graph, ViewsOfConstantsWithGapsReadWhatTheyShow) {
  const Tensor c = arange(12, kFloat).view({4, 3}).slice(1, 0, 2), far = arange(12, kFloat).view({4, 3});
  check([&](const Tensors& in) {
          return Tensors{in[0] + c, in[0][0] + c.select(0, 2), in[0][0] + far.select(0, 1).slice(0, 1), in[0] + far.slice(1, 1), c.t().exp().select(1, 1) * 2.0};
        },
        {ones({4, 2})}, {randn({4, 2})});
}

TEST(Graph, ViewsInPlaceAreForTemporariesOnly) {
  check([](const Tensors& in) {
          const Tensor y = in[0].exp();
          y.transpose_(0, 1).mul_(2.0);
          return Tensors{y.unsqueeze_(0), y + 1.0};
        },
        {ones({3, 4})}, {randn({3, 4})});
  const Function f = [](const Tensors& in) { return Tensors{in[0].t_()}; };
  EXPECT_NE(error_of([&] { capture(f, {ones({3, 4})}); }).find("leaves the sizes"), std::string::npos);
}

TEST(Graph, ViewsInPlaceThatChangeNothingWriteNothing) {
  check([](const Tensors& in) {
          const Tensor y = in[0].expand({3, 3}), z = in[0].exp();
          y.squeeze_(-1);
          z.transpose_(0, 0);
          return Tensors{y + 1.0, z};
        },
        {ones({3, 1})}, {randn({3, 1})});
}

TEST(Graph, OperatorsThatReadWhatTheyWriteAreRefusedUnlessPointwise) {
  const Function scatter = [](const Tensors& in) { return Tensors{in[0].put_(in[0], in[0])}; };
  EXPECT_NE(error_of([&] { capture(scatter, {tensor({2, 1, 0}, kLong)}); }).find("shares no elements"), std::string::npos);
  check([](const Tensors& in) { return Tensors{in[0].mul_(in[0]).addcmul_(in[0], in[0])}; }, {ones({3})}, {randn({3})});
  const Function expanded = [](const Tensors& in) { return Tensors{in[0].expand({4, 3}).zero_()}; };
  EXPECT_NE(error_of([&] { capture(expanded, {ones({1})}); }).find("lie apart"), std::string::npos);
}

TEST(Graph, NumbersBeforeTensorsKeepTheirPlaces) {
  check([](const Tensors& in) { return Tensors{polygamma(2, in[0]), pow(2.0, in[0])}; }, {ones({4})}, {rand({4})});
}

TEST(Graph, OutputsDoNotReachConstants) {
  const Tensor c = ones({4});
  const Graph g = capture([&](const Tensors&) { return Tensors{c, c.slice(0, 1)}; }, {ones({1})});
  for (const Tensor& t : run(g, {ones({1})})) t.fill_(5.0);
  EXPECT_TRUE(same(run(g, {ones({1})})[0], c));
}

TEST(Graph, SizesThatFollowFromValuesAreCheckedAtTheRun) {
  const Graph g = capture([](const Tensors& in) { return Tensors{in[0].nonzero().select(1, 0) + 1}; }, {tensor({1.0, 0.0, 2.0})});
  EXPECT_TRUE(same(run(g, {tensor({0.0, 3.0, 2.0})})[0], tensor({2, 3}, kLong)));
  EXPECT_NE(error_of([&] { run(g, {ones({3})}); }).find("sizes of results"), std::string::npos);
}

TEST(Graph, StatesCannotBeLookedAtBeforeAnOperatorReadsThem) {
  const Tensor s = ones({1});
  const Function f = [&](const Tensors& in) { return Tensors{in[0] * s.item<double>()}; };
  EXPECT_NE(error_of([&] { capture(f, {ones({3})}, {{"s", s}}); }).find("does not look at values"), std::string::npos);
  EXPECT_EQ(s.item<double>(), 1);
}

}  // namespace
}  // namespace taeda::graph
