// SPDX-License-Identifier: Apache-2.0
// Graphs with symbolic sizes: the function's bits at every size of the ranges, before and after passes, as text and as files.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>

#include "taeda/graph/capture.h"
#include "taeda/graph/executable.h"
#include "taeda/graph/file.h"
#include "taeda/graph/memory_plan.h"
#include "taeda/graph/passes/passes.h"
#include "tests/graph/changed_texts.h"
#include "tests/graph/same.h"

namespace taeda::graph {
namespace {

/// Inputs for one size of each symbol.
using Make = std::function<Tensors(const std::vector<int64_t>&)>;

Tensors copies(const Tensors& list) {
  Tensors result;
  for (const Tensor& t : list) result.push_back(t.clone());
  return result;
}

/// The error of `f`, empty when there is none.
template <class E = ValueError, class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "";
}

void compare(const Function& f, const Graph& g, const Make& make, const std::vector<std::vector<int64_t>>& sizes, const std::string& pass) {
  const NoGradGuard no_grad;
  const Executable executable(g);
  for (const std::vector<int64_t>& point : sizes) {
    const Tensors x = make(point), a = copies(x), b = copies(x);
    manual_seed(7);
    const Tensors want = f(a);
    manual_seed(7);
    const Tensors got = executable.run(b);
    ASSERT_EQ(got.size(), want.size());
    const std::string where = str(pass, " at ", IntArrayRef(point), '\n');
    for (size_t i = 0; i < got.size(); ++i) ASSERT_TRUE(same(got[i], want[i])) << where << "output " << i << '\n' << g.text();
    for (size_t i = 0; i < a.size(); ++i) ASSERT_TRUE(same(a[i], b[i])) << where << "input " << i << '\n' << g.text();
  }
}

/// Captures, and compares with the function at `sizes`: the graph, its text read back, its file, and what each pass makes of it.
Graph check(const Function& f, const Make& make, const std::vector<int64_t>& example, const std::vector<Dynamic>& dynamic,
            const std::vector<std::vector<int64_t>>& sizes, const States& states = {}) {
  Graph g = capture(f, make(example), states, {.dynamic = dynamic});
  g.verify();
  EXPECT_FALSE(g.symbols.empty());
  compare(f, g, make, sizes, "capture");
  const Graph back = parse(g.text(), g.stored());
  EXPECT_EQ(back.text(), g.text());
  EXPECT_EQ(back.symbols, g.symbols);
  compare(f, back, make, sizes, "parse");
  const std::string path = testing::TempDir() + "taeda_dynamic_test.safetensors";
  save(g, path);
  const Graph loaded = load(path);
  std::remove(path.c_str());
  EXPECT_EQ(loaded.text(), g.text());
  Graph after = g;
  PassOptions options;
  options.verify = true;
  options.after = [&](const std::string& pass, const Graph& graph) { compare(f, graph, make, sizes, pass); };
  optimize(after, options);
  compare(f, parse(after.text(), after.stored()), make, sizes, "optimize");
  return g;
}

std::vector<std::vector<int64_t>> each(const std::vector<int64_t>& sizes) {
  std::vector<std::vector<int64_t>> points;
  for (const int64_t n : sizes) points.push_back({n});
  return points;
}

TEST(GraphDynamic, MultilayerPerceptronsRunAtEveryBatch) {
  manual_seed(1);
  nn::Sequential model(nn::Linear(4, 6), nn::ReLU(), nn::Linear(6, 3));
  const Graph g = check([&](const Tensors& in) { return Tensors{model->forward(in[0]).softmax(-1)}; },
                        [](const std::vector<int64_t>& n) { return Tensors{randn({n[0], 4})}; }, {1}, {{0, 0, "batch"}}, each({1, 2, 3, 4, 5, 17, 64}),
                        states_of(*model));
  EXPECT_NE(g.text().find("symbol batch in [1, 64]\n"), std::string::npos) << g.text();
  EXPECT_NE(g.text().find(": Float[batch, 3]"), std::string::npos) << g.text();
}

TEST(GraphDynamic, FormulasAreSumsProductsAndDivisions) {
  const Graph g = check(
      [](const Tensors& in) {
        const Tensor x = in[0];
        const int64_t b = x.size(0), n = x.size(2);
        return Tensors{cat({x, x, x.slice(2, 0, 1)}, 2), x.reshape({b * 3, n}).sum(0), x.slice(2, 0, n / 2) * 2, x.slice(2, 0, n, 3).exp(),
                       arange(n).add(x.size(0)), x.transpose(0, 2).contiguous()};
      },
      [](const std::vector<int64_t>& n) { return Tensors{randn({n[0], 3, n[1]})}; }, {2, 5}, {{0, 0, "batch"}, {0, -1, "seq", 1, 32}},
      {{1, 1}, {1, 2}, {2, 1}, {3, 3}, {2, 5}, {64, 32}, {7, 31}, {4, 4}, {3, 12}});
  const std::string text = g.text();
  for (const char* type : {"Float[batch, 3, 2*seq+1]", "Float[3*batch, seq]", "[batch, 3, seq//2]", "[batch, 3, (seq+2)//3]", "Long[seq]", "Float[seq, 3, batch]"}) {
    EXPECT_NE(text.find(type), std::string::npos) << type << '\n' << text;
  }
}

TEST(GraphDynamic, ConvolutionsRunAtEveryBatchAndResolution) {
  manual_seed(2);
  nn::Sequential model(nn::Conv2d(nn::Conv2dOptions(3, 4, 3).stride(2).padding(1)), nn::BatchNorm2d(4), nn::ReLU(), nn::MaxPool2d(2),
                       nn::Conv2d(nn::Conv2dOptions(4, 5, 3).padding(1)));
  model->eval();
  const Graph g = check([&](const Tensors& in) { return Tensors{model->forward(in[0]), model->forward(in[0]).mean({2, 3}).flatten(1)}; },
                        [](const std::vector<int64_t>& n) { return Tensors{randn({n[0], 3, n[1], n[2]})}; }, {2, 16, 16},
                        {{0, 0, "batch", 1, 8}, {0, 2, "height", 4, 40}, {0, 3, "width", 4, 40}},
                        {{1, 4, 4}, {1, 17, 5}, {2, 16, 16}, {8, 39, 40}, {3, 22, 31}}, states_of(*model));
  EXPECT_NE(g.text().find("Float[batch, 4, (height+1)//2, (width+1)//2]"), std::string::npos) << g.text();
  EXPECT_NE(g.text().find("Float[batch, 5, (height+1)//4, (width+1)//4]"), std::string::npos) << g.text();
  Graph frozen = g;
  optimize(frozen, {.frozen = true, .verify = true});
  const NoGradGuard no_grad;
  for (const int64_t n : {1, 3, 8}) {
    const Tensor x = randn({n, 3, 20, 13});
    EXPECT_TRUE(allclose(run(frozen, {x})[0], model->forward(x), 1e-4, 1e-5));
  }
}

/// One block with causal attention of two heads.
struct Attention {
  Tensor tokens = randn({11, 8}), places = randn({32, 8}), in = randn({24, 8}) * 0.3, out = randn({8, 8}) * 0.3;
  Tensor mask = ones({32, 32}).tril().to(kBool);

  /// `how`: the mask is made in the function, or is a part of one that is there, or the operator's own.
  Tensor forward(const Tensor& ids, int how) const {
    const int64_t b = ids.size(0), n = ids.size(1);
    const Tensor x = embedding(tokens, ids) + (how == 0 ? embedding(places, arange(n)) : places.slice(0, 0, n));
    const std::vector<Tensor> qkv = layer_norm(x, {8}).matmul(in.t()).split(8, -1);
    const auto heads = [&](const Tensor& t) { return t.view({b, n, 2, 4}).transpose(1, 2); };
    const Tensor q = heads(qkv[0]), k = heads(qkv[1]), v = heads(qkv[2]);
    Tensor y;
    if (how == 2) {
      y = scaled_dot_product_attention(q, k, v, {}, 0.0, true);
    } else {
      const Tensor allowed = how == 0 ? ones({n, n}).tril() : mask.slice(0, 0, n).slice(1, 0, n);
      const Tensor scores = q.matmul(k.transpose(-2, -1)) / std::sqrt(4.0);
      y = scores.masked_fill(allowed == 0, -std::numeric_limits<double>::infinity()).softmax(-1).matmul(v);
    }
    return y.transpose(1, 2).contiguous().view({b, n, 8}).matmul(out.t()) + x;
  }
};

TEST(GraphDynamic, TransformersWithCausalMasksRunAtEveryLength) {
  manual_seed(3);
  const Attention a;
  std::vector<std::vector<int64_t>> sizes;
  for (int64_t n = 1; n <= 32; ++n) sizes.push_back({1 + n % 3, n});
  for (const int how : {0, 1, 2}) {
    const States states = how == 0 ? States{{"tokens", a.tokens}, {"places", a.places}, {"in", a.in}, {"out", a.out}, {"mask", a.mask}} : States();
    const Graph g = check([&](const Tensors& in) { return Tensors{a.forward(in[0], how)}; },
                          [](const std::vector<int64_t>& n) { return Tensors{randint(11, {n[0], n[1]}, kLong)}; }, {1, 4},
                          {{0, 0, "batch", 1, 8}, {0, 1, "time", 1, 32}}, sizes, states);
    EXPECT_NE(g.text().find("Float[batch, time, 8]"), std::string::npos) << g.text();
    const Executable fast(g);
    EXPECT_NE(error_of([&] { fast.run({zeros({1, 33}, kLong)}); }).find("time lies in 1 to 32: got 33"), std::string::npos);
    EXPECT_NE(error_of([&] { fast.run({zeros({0, 3}, kLong)}); }).find("batch lies in 1 to 8: got 0"), std::string::npos);
  }
}

TEST(GraphDynamic, RecurrentNetworksRunAtEveryBatch) {
  manual_seed(4);
  nn::LSTM lstm(nn::LSTMOptions(3, 5).num_layers(2));
  check([&](const Tensors& in) {
          const auto [y, state] = lstm->forward(in[0]);
          return Tensors{y, std::get<0>(state), std::get<1>(state)};
        },
        [](const std::vector<int64_t>& n) { return Tensors{randn({4, n[0], 3})}; }, {2}, {{0, 1, "batch", 1, 16}}, each({1, 2, 3, 7, 16}), states_of(*lstm));
}

TEST(GraphDynamic, StatisticsChangeAsIfTheFunctionHadRunOnce) {
  manual_seed(5);
  nn::BatchNorm1d norm(3), other(3);
  const Function f = [&](const Tensors& in) { return Tensors{norm->forward(in[0]), dropout(in[0], 0.5, true), rand({in[0].size(0)})}; };
  const Tensor x = randn({6, 3});
  manual_seed(9);
  const Graph g = capture(f, {x}, states_of(*norm), {.dynamic = {{0, 0, "batch", 2, 32}}});
  const Tensor next = rand({3});
  EXPECT_EQ(norm->named_buffers()["num_batches_tracked"].item<int64_t>(), 1);
  EXPECT_EQ(g.mutations.size(), 3u) << g.text();
  const NoGradGuard no_grad;
  const Tensor mean = norm->named_buffers()["running_mean"], before = mean.clone();
  manual_seed(1);
  const Tensors got = run(g, {x});
  const Tensor after = mean.clone();
  EXPECT_FALSE(same(before, after));
  mean.copy_(before);
  manual_seed(1);
  const Tensors want = f({x});
  EXPECT_TRUE(same(mean, after));
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(same(got[i], want[i])) << i;
}

TEST(GraphDynamic, InputsAndStatesAreWrittenThroughViewsOfAnySize) {
  check([](const Tensors& in) {
          in[0].slice(0, 1).add_(in[1].slice(0, 1));
          in[0].select(1, 2).zero_();
          const Tensor y = zeros({in[0].size(0), 4});
          y.slice(1, 0, 2).copy_(in[0].slice(1, 1, 3));
          return Tensors{y, in[0].t().exp()};
        },
        [](const std::vector<int64_t>& n) { return Tensors{randn({n[0], 4}), randn({n[0], 1})}; }, {5}, {{0, 0, "n", 1, 20}, {1, 0, "n", 1, 20}},
        each({1, 2, 3, 4, 5, 20}));
}

TEST(GraphDynamic, NoElementsAreAnOrdinarySize) {
  check([](const Tensors& in) { return Tensors{in[0].t().matmul(in[0]), in[0].sum(0), (in[0] * 2).reshape({-1, 2}).exp(), in[0].t() + 1}; },
        [](const std::vector<int64_t>& n) { return Tensors{randn({n[0], 4})}; }, {3}, {{0, 0, "n", 0, 9}}, each({0, 1, 2, 5, 9}));
}

TEST(GraphDynamic, ConstantsKeepTheirSizeAndPartsOfThemAreNodes) {
  const Tensor table = randn({40, 3}), number = tensor(2.5);
  const Graph g = check([&](const Tensors& in) {
                          const int64_t n = in[0].size(0);
                          return Tensors{in[0] + table.slice(0, 0, n), in[0] * number, table.select(1, 1).slice(0, 2, n + 2) + 1, ones({n, n}).tril(),
                                         full({2}, 3.0).mul(n), in[0] / in[0].size(0), arange(n + 1, kFloat).flip(0)};
                        },
                        [](const std::vector<int64_t>& n) { return Tensors{randn({n[0], 3})}; }, {4}, {{0, 0, "n", 1, 30}}, each({1, 2, 3, 6, 29, 30}));
  Graph after = g;
  optimize(after);
  size_t kept = 0;
  for (const Node& node : after.nodes) kept += node.op->name == std::string_view("arange") || node.op->name == std::string_view("ones");
  EXPECT_EQ(kept, 2u) << after.text();
}

TEST(GraphDynamic, WhatFollowsFromASizeOtherwiseIsRefused) {
  const Symbol n{"n", 1, 32};
  const auto refused = [&](const Function& f) { return error_of([&] { capture(f, {ones({4, 3})}, {}, {.dynamic = {{0, 0, n}}}); }); };
  const auto expect = [&](const Function& f, const std::string& message) {
    const std::string error = refused(f);
    EXPECT_NE(error.find(message), std::string::npos) << error;
  };
  expect([](const Tensors& in) {
           Tensor h = zeros({3});
           for (int64_t t = 0; t < in[0].size(0); ++t) h = (h + in[0][t]).tanh();
           return Tensors{h};
         },
         "calls the same operators at every size");
  expect([](const Tensors& in) { return Tensors{in[0] * std::sqrt(static_cast<double>(in[0].size(0)))}; }, "no number but integers");
  const Tensor odd = ones({2}), even = zeros({2});
  expect([&](const Tensors& in) { return Tensors{in[0].sum() + (in[0].size(0) % 2 ? odd : even)}; }, "constants of a function");
  expect([](const Tensors& in) { return Tensors{in[0].slice(0, 0, std::min<int64_t>(in[0].size(0), 12)) * 2}; }, "differs at n = 32");
  expect([](const Tensors& in) { return Tensors{in[0].size(0) == 1 ? in[0].exp() : in[0].sin()}; }, "differs at n = 1");
  expect([](const Tensors& in) { return Tensors{in[0].size(0) > 31 ? in[0].exp() : in[0].sin()}; }, "differs at n = 32");
  expect([](const Tensors& in) { return Tensors{full({1}, 1).mul(in[0].size(0) * in[0].size(0) % 7)}; }, "by small numbers: an argument of");
  expect([](const Tensors& in) { return Tensors{in[0].slice(0, 0, -1).squeeze(0) + 1.0}; }, "differs at n = 2");
  expect([](const Tensors& in) { return Tensors{in[0].slice(0, 2) + 1.0}; }, "formulas hold in the whole range: sizes and strides are at least 0: got -1");
  expect([](const Tensors& in) { return Tensors{in[0].sizes() == in[0].t().sizes() ? in[0].exp() : in[0].sin()}; }, "differs at n = 3");
  EXPECT_NE(error_of<Error>([&] { capture([](const Tensors& in) { return Tensors{in[0].view({2, -1})}; }, {ones({4, 3})}, {}, {.dynamic = {{0, 0, n}}}); })
                .find("while capturing at n = "), std::string::npos);
}

TEST(GraphDynamic, WrongDeclarationsAreRefused) {
  const Function f = [](const Tensors& in) { return Tensors{in[0] * 2}; };
  const auto error = [&](std::vector<Dynamic> dynamic) { return error_of([&] { capture(f, {ones({4, 3})}, {}, {.dynamic = std::move(dynamic)}); }); };
  EXPECT_EQ(error({{0, 0, "n"}}), "");
  EXPECT_NE(error({{1, 0, "n"}}).find("got input 1 of 1"), std::string::npos);
  EXPECT_NE(error({{0, 2, "n"}}).find("got 2 of the 2"), std::string::npos);
  EXPECT_NE(error({{0, 0, "2n"}}).find("the name of a symbol"), std::string::npos);
  EXPECT_NE(error({{0, 0, "none"}}).find("the name of a symbol"), std::string::npos);
  EXPECT_NE(error({{0, 0, "n", 4, 4}}).find("has a range"), std::string::npos);
  EXPECT_NE(error({{0, 0, "n", -1, 4}}).find("has a range"), std::string::npos);
  EXPECT_NE(error({{0, 0, "n", 5, 9}}).find("examples lie in the ranges"), std::string::npos);
  EXPECT_NE(error({{0, 0, "n"}, {0, 0, "m"}}).find("dynamic once"), std::string::npos);
  EXPECT_NE(error({{0, 0, "n"}, {0, 1, "n", 1, 9}}).find("one range"), std::string::npos);
}

TEST(GraphDynamic, InputsOfARunAgreeOnTheirSizes) {
  const Symbol n{"n", 1, 9};
  const Graph g = capture([](const Tensors& in) { return Tensors{in[0] + in[1]}; }, {ones({4, 3}), ones({4, 1})}, {}, {.dynamic = {{0, 0, n}, {1, 0, n}}});
  EXPECT_TRUE(same(run(g, {ones({9, 3}), ones({9, 1})})[0], full({9, 3}, 2.0)));
  EXPECT_NE(error_of([&] { run(g, {ones({9, 3}), ones({8, 1})}); }).find("an input has"), std::string::npos);
  EXPECT_NE(error_of([&] { run(g, {ones({9, 3}), ones({1, 1})}); }).find("an input has"), std::string::npos);
  EXPECT_NE(error_of([&] { run(g, {ones({9, 4}), ones({9, 1})}); }).find("an input has"), std::string::npos);
  EXPECT_NE(error_of([&] { run(g, {ones({9}), ones({9, 1})}); }).find("an input has"), std::string::npos);
  EXPECT_NE(error_of([&] { run(g, {ones({10, 3}), ones({10, 1})}); }).find("n lies in 1 to 9: got 10"), std::string::npos);
}

TEST(GraphDynamic, MemoryIsPlannedForEverySize) {
  const Graph g = capture([](const Tensors& in) { return Tensors{in[0].exp().sin().cos().tanh().view({-1}).exp().neg()}; }, {ones({4, 16})}, {},
                          {.dynamic = {{0, 0, "n", 1, 100}}});
  for (const int64_t n : {1, 4, 100}) {
    EXPECT_EQ(plan_memory(g, {{"n", n}}).arena, 2 * 64 * n);
    const Graph one = specialize(g, {{"n", n}});
    one.verify();
    EXPECT_TRUE(one.symbols.empty());
    EXPECT_EQ(parse(one.text()).text(), one.text());
    EXPECT_TRUE(same(run(one, {ones({n, 16})})[0], run(g, {ones({n, 16})})[0]));
  }
  EXPECT_NE(error_of([&] { plan_memory(g); }).find("n has none"), std::string::npos);
  EXPECT_NE(error_of([&] { specialize(g, {{"n", 101}}); }).find("n lies in 1 to 100"), std::string::npos);
  EXPECT_NE(error_of([&] { specialize(g, {{"m", 1}}); }).find("symbols of the graph"), std::string::npos);
}

TEST(GraphDynamic, ThreadsRunDifferentSizesAtOnce) {
  const Function f = [](const Tensors& in) { return Tensors{in[0].t().matmul(in[0]).add(in[0].size(0)), arange(in[0].size(0)).flip(0) * 2}; };
  const Executable executable(capture(f, {ones({4, 3})}, {}, {.dynamic = {{0, 0, "n"}}}));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int64_t first = 1; first <= 4; ++first) {
    threads.emplace_back([&, first] {
      const NoGradGuard no_grad;
      for (int64_t i = 0; i < 200; ++i) {
        const Tensor x = full({1 + (first * 7 + i) % 20, 3}, static_cast<double>(i));
        const Tensors got = executable.run({x}), want = f({x});
        wrong += !same(got[0], want[0]) || !same(got[1], want[1]);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(GraphDynamic, FormulasHaveOneForm) {
  const auto form = [](const std::string& formula) {
    const std::string text = "graph 1\nsymbol a in [0, 9]\nsymbol b in [0, 9]\ninput %0: Float[a, b, " + formula + "]\nreturn %0\n";
    const std::string out = parse(text).text();
    EXPECT_EQ(parse(out).text(), out);
    const size_t begin = out.find("[a, b, ") + 7;
    return out.substr(begin, out.find(']', begin) - begin);
  };
  const std::vector<std::pair<std::string, std::string>> forms{
      {"a", "a"}, {"1+a", "a+1"}, {"a + b*2 + a", "2*a+2*b"}, {"2*(a+1)-a", "a+2"}, {"b*a", "a*b"}, {"(a+b)*(a+b)", "a*a+2*a*b+b*b"},
      {"(2*a+3)//2", "a+1"}, {"(a-1)//2+1", "(a+1)//2"}, {"((a+1)//2+1)//2", "(a+3)//4"}, {"(3*a)//2", "a+a//2"}, {"(4*a+6)//8", "(a+1)//2"}, {"(2*a*b+a)//4", "(2*a*b+a)//4"},
      {"3*(a//2)*b", "3*(a//2)*b"}, {"100-a-b", "-a-b+100"}, {"a//2+1", "a//2+1"}, {"9-a//2-1", "-(a//2)+8"}, {"7", "7"}, {"a-a+5", "5"}, {"a*(b//3)//2", "(a*(b//3))//2"}};
  for (const auto& [formula, want] : forms) EXPECT_EQ(form(formula), want) << formula;
}

TEST(GraphDynamic, HostileTextsAreRefused) {
  const auto with = [](const std::string& symbols, const std::string& line) {
    return "graph 1\n" + symbols + "input %0: Float[n, 2]\n" + line + "\nreturn %0\n";
  };
  const std::string n = "symbol n in [1, 64]\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {with("", ""), "line 2, column 17: expected a number from"},
      {with("symbol n in [1, 64]\nsymbol n in [1, 64]\n", ""), "line 3, column 8: a symbol is declared once"},
      {with("symbol n in [-1, 64]\n", ""), "line 2, column 8: a range goes from 0"},
      {with("symbol n in [9, 8]\n", ""), "line 2, column 8: a range goes from 0"},
      {with("symbol none in [1, 8]\n", ""), "line 2, column 8: expected a name"},
      {with("symbol n [1, 8]\n", ""), "expected \"in\" and a range"},
      {with("symbol n in [1, 99999999999999999999]\n", ""), "expected a size from"},
      {with("symbol n in [1, 9223372036854775807]\n", ""), "line 3, column 7: "},
      {with(n + "symbol m in [1, 2]\n", ""), "a symbol is the whole size of a dimension of an input: m is of none"},
      {with(n, "%1: Float[m, 2] = sin(%0)"), "line 4, column 11: a symbol is declared before it is used; got \"m, 2]"},
      {with(n, "%1: Float[n-9, 2] = sin(%0)"), "line 4, column 1: sizes and strides are at least 0"},
      {with(n, "%1: Float[n*4611686018427387904, 2] = sin(%0)"), "line 4, column 1: "},
      {with(n, "%1: Float[n*4611686018427387904*4, 2] = sin(%0)"), "line 4, column 32: sizes fit 64 bits"},
      {with(n, "%1: Float[n*n*n*n*n*n*n*n*n*n*n*n*n*n, 2] = sin(%0)"), "at most 12 factors"},
      {with(n, "%1: Float[n//0, 2] = sin(%0)"), "a size is divided by a number of at least 1"},
      {with(n, "%1: Float[n//n, 2] = sin(%0)"), "expected a divisor"},
      {with(n, "%1: Float[n/2, 2] = sin(%0)"), "expected \"/\""},
      {with(n, "%1: Float[" + std::string(1000, '(') + "n, 2] = sin(%0)"), "expected no deeper parentheses"},
      {with(n, "%1: Float[n+, 2] = sin(%0)"), "expected a size"},
      {with(n, "%1: Float[-1, n] = sin(%0)"), "line 4, column 1: a type has -1 for each"},
      {with(n, "%1: Float[-1, 2] = sin(%0)"), "line 4, column 1: sizes and strides are at least 0"},
      {with(n, "constant %1: Float[n] = [1.0]"), "line 4, column 1: a state or constant has one size"},
      {with(n, "state %1: Float[n] \"w\""), "line 4, column 1: a state or constant has one size"},
      {with(n, "%1: Float[n, 2] = sum.dim_IntList(%0, [0], n, none)"), "arguments fit the schema: argument 2 of sum"},
      {with(n, "%1: Float[n, 2] = mul.Scalar(%0, m)"), "a symbol is declared before it is used"},
      {with(n, "%1: Float[n, 2] = cat([%0, n], 0)"), "arguments fit the schema: argument 0 of cat"},
      {with(n, "%1: Float[2*n] = view(%0, [n*n])"), ""},
      {with(n, "%1: Float[n, 2] of 0 = sin(%0)\n%2: Float[2, n] of 0 = sin_(%0)"), "an update has its argument's type"},
  };
  for (const auto& [text, message] : cases) {
    const std::string error = error_of([&] { parse(text); });
    if (message.empty()) {
      EXPECT_EQ(error, "") << text;
    } else {
      EXPECT_TRUE(error.starts_with("[graph] line ") && error.find(message) != std::string::npos) << text.substr(0, 200) << "\ngot      " << error << "\nexpected " << message;
    }
  }
  // What a formula says is compared with what operators give.
  const Graph wrong = parse(with(n, "%1: Float[n+1, 2] = sin(%0)"));
  EXPECT_NE(error_of([&] { run(wrong, {ones({3, 2})}); }).find("sizes of results"), std::string::npos);
}

TEST(GraphDynamic, ChangedTextsAreRefusedOrReadBack) {
  const Attention a;
  const Graph g = capture([&](const Tensors& in) { return Tensors{a.forward(in[0], 0), in[0].slice(1, 0, in[0].size(1) / 2) + 1}; }, {zeros({2, 4}, kLong)},
                          {}, {.dynamic = {{0, 0, "batch", 1, 8}, {0, 1, "time", 1, 32}}});
  EXPECT_GT(refused_changes(g, "%_=,()[]*/+- 0123456789time", 2000), 1000u);
}

}  // namespace
}  // namespace taeda::graph
