// SPDX-License-Identifier: Apache-2.0
// Attention that is written out becomes the fused operator: counted, and compared with sums in float64.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "taeda/graph/capture.h"
#include "taeda/graph/passes/passes.h"
#include "tests/graph/same.h"

namespace taeda::graph {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

size_t count(const Graph& g, std::string_view name) {
  size_t n = 0;
  for (const Node& node : g.nodes) n += node.op->name == name;
  return n;
}

/// (batch, length, heads * width) in heads.
Tensor heads(const Tensor& x, int64_t heads) { return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2); }
Tensor joined(const Tensor& x) { return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)}); }

enum class Mask { kNone, kCausal, kAdded, kGiven };

/// `mask` (length, keys): what takes no part.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, Mask how, const Tensor& mask, bool divides) {
  Tensor scores = q.matmul(k.transpose(-2, -1));
  const double scale = std::sqrt(static_cast<double>(q.size(-1)));
  scores = divides ? scores / scale : scores * (1 / scale);
  if (how == Mask::kCausal) scores = scores.masked_fill(ones({q.size(-2), k.size(-2)}).tril() == 0, -kInf);
  if (how == Mask::kGiven) scores = scores.masked_fill(mask, -kInf);
  if (how == Mask::kAdded) scores = scores + zeros_like(mask, q.scalar_type()).masked_fill(mask, -kInf);
  return scores.softmax(-1).matmul(v);
}

/// Both within a rounding of the sums in float64.
void check_close(const Tensor& got, const Tensor& want, const Tensor& exact) {
  ASSERT_EQ(got.sizes(), want.sizes());
  EXPECT_TRUE(got.isnan().equal(want.isnan()));
  const auto error = [&](const Tensor& t) { return (t.to(kDouble) - exact).nan_to_num(0).abs().max().item<double>(); };
  EXPECT_LE(error(got), 4e-6);
  EXPECT_LE(error(got), 4 * error(want) + 1e-7);
}

TEST(GraphAttention, WrittenOutBecomesTheFusedOperator) {
  manual_seed(1);
  const NoGradGuard no_grad;
  const Tensor mask = rand({6, 6}) < 0.4;
  mask.select(0, 3).fill_(true);  // a row without any key
  for (const Mask how : {Mask::kNone, Mask::kCausal, Mask::kAdded, Mask::kGiven}) {
    for (const bool divides : {true, false}) {
      for (const int64_t batch : {1, 3}) {
        const Function f = [&](const Tensors& in) { return Tensors{joined(attention(heads(in[0], 2), heads(in[1], 2), heads(in[2], 2), how, mask, divides))}; };
        const Tensors x{randn({batch, 6, 8}), randn({batch, 6, 8}), randn({batch, 6, 10})};
        Graph g = capture(f, x);
        EXPECT_EQ(count(g, "_fused_attention"), 0u);
        optimize(g, {.frozen = true, .verify = true});
        EXPECT_EQ(count(g, "_fused_attention"), 1u) << g.text();
        EXPECT_EQ(count(g, "bmm") + count(g, "_softmax"), 0u) << g.text();
        check_close(run(g, x)[0], f(x)[0], f({x[0].to(kDouble), x[1].to(kDouble), x[2].to(kDouble)})[0]);
      }
    }
  }
}

TEST(GraphAttention, WithoutHeadsAndWithDynamicSizes) {
  manual_seed(2);
  const NoGradGuard no_grad;
  const Function plain = [](const Tensors& in) { return Tensors{attention(in[0], in[1], in[2], Mask::kCausal, Tensor(), true)}; };
  const Tensors three{randn({4, 5, 8}), randn({4, 5, 8}), randn({4, 5, 6})};
  Graph g = capture(plain, three);
  optimize(g, {.frozen = true, .verify = true});
  EXPECT_EQ(count(g, "_fused_attention"), 1u) << g.text();
  check_close(run(g, three)[0], plain(three)[0], plain({three[0].to(kDouble), three[1].to(kDouble), three[2].to(kDouble)})[0]);

  const Function f = [](const Tensors& in) { return Tensors{joined(attention(heads(in[0], 2), heads(in[0], 2), heads(in[0], 2), Mask::kCausal, Tensor(), true))}; };
  Graph dynamic = capture(f, {randn({2, 4, 8})}, {}, {.dynamic = {{0, 0, "batch", 1, 8}, {0, 1, "time", 1, 40}}});
  optimize(dynamic, {.frozen = true, .verify = true});
  EXPECT_EQ(count(dynamic, "_fused_attention"), 1u) << dynamic.text();
  EXPECT_EQ(parse(dynamic.text(), dynamic.stored()).text(), dynamic.text());
  for (int64_t n = 1; n <= 40; ++n) {
    const Tensor x = randn({1 + n % 4, n, 8});
    check_close(run(dynamic, {x})[0], f({x})[0], f({x.to(kDouble)})[0]);
  }
}

TEST(GraphAttention, CausalMasksAreRecognised) {
  manual_seed(3);
  const NoGradGuard no_grad;
  const Tensor table = ones({1, 1, 12, 12}).tril();
  using Scores = std::function<Tensor(const Tensor& scores, int64_t n)>;
  const auto part = [](const Tensor& t, int64_t n) { return t.slice(-2, 0, n).slice(-1, 0, n); };
  const auto check = [&](const Scores& masked, bool causal) {
    const Function f = [&](const Tensors& in) {
      const Tensor q = heads(in[0], 2);
      return Tensors{joined(masked(q.matmul(q.transpose(-2, -1)) * 0.5, in[0].size(1)).softmax(-1).matmul(q))};
    };
    for (const bool dynamic : {false, true}) {
      CaptureOptions options;
      if (dynamic) options.dynamic = {{0, 1, "time", 1, 12}};
      Graph g = capture(f, {randn({3, 7, 8})}, {}, options);
      optimize(g, {.frozen = true, .verify = true});
      ASSERT_EQ(count(g, "_fused_attention"), 1u) << g.text();
      EXPECT_EQ(g.text().find("none, true, 0.5") != std::string::npos, causal) << g.text();
      for (const int64_t n : dynamic ? std::vector<int64_t>{1, 2, 7, 12} : std::vector<int64_t>{7}) {
        const Tensor x = randn({3, n, 8});
        check_close(run(g, {x})[0], f({x})[0], f({x.to(kDouble)})[0]);
      }
    }
  };
  check([](const Tensor& s, int64_t n) { return s.masked_fill(ones({n, n}).tril() == 0, -kInf); }, true);
  check([](const Tensor& s, int64_t n) { return s.masked_fill(ones({n, n}, kBool).tril().logical_not(), -kInf); }, true);
  check([](const Tensor& s, int64_t n) { return s.masked_fill(ones({n, n}).triu(1).to(kBool), -kInf); }, true);
  check([](const Tensor& s, int64_t n) { return s + full({n, n}, -kInf, s.scalar_type()).triu(1); }, true);
  check([](const Tensor& s, int64_t n) { return s + zeros({n, n}, s.scalar_type()).masked_fill(ones({n, n}).triu(1) != 0, -kInf); }, true);
  check([&](const Tensor& s, int64_t n) { return s.masked_fill(part(table, n) == 0, -kInf); }, true);
  check([&](const Tensor& s, int64_t n) { return s.masked_fill(table.slice(2, 0, n).slice(3, 0, n).logical_not(), -kInf); }, true);
  check([](const Tensor& s, int64_t n) { return s.masked_fill(ones({n, n}).tril(1) == 0, -kInf); }, false);
  check([](const Tensor& s, int64_t n) { return s.masked_fill(ones({n, n}).triu() == 0, -kInf); }, false);
  check([](const Tensor& s, int64_t n) { return s.masked_fill(ones({n, n}).triu(2).to(kBool), -kInf); }, false);
  check([&](const Tensor& s, int64_t n) { return s.masked_fill(part(table, n).flip(2) == 0, -kInf); }, false);
}

TEST(GraphAttention, OtherPatternsStay) {
  const NoGradGuard no_grad;
  const Tensors x{randn({2, 3, 4}), randn({2, 4, 3}), randn({2, 3, 5})};
  const auto stays = [&](const std::function<Tensors(const Tensor&)>& middle) {
    const Function f = [&](const Tensors& in) {
      Tensors list = middle(in[0].bmm(in[1]));
      list[0] = list[0].bmm(in[2]);
      return list;
    };
    Graph g = capture(f, x);
    optimize(g, {.frozen = true, .verify = true});
    EXPECT_EQ(count(g, "_fused_attention"), 0u) << g.text();
    const Tensors want = f(x), got = run(g, x);
    for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(same(got[i], want[i])) << i << g.text();
  };
  const Tensor mask = tensor({true, false, true});
  stays([](const Tensor& s) { return Tensors{s.softmax(1)}; });
  stays([](const Tensor& s) { return Tensors{s * 2}; });
  stays([&](const Tensor& s) { return Tensors{s.masked_fill(mask, -1e9).softmax(-1)}; });
  stays([](const Tensor& s) { return Tensors{(s * -0.5).softmax(-1)}; });
  stays([](const Tensor& s) { const Tensor w = s.softmax(-1); return Tensors{w, w.exp()}; });       // the weights are given out
  stays([](const Tensor& s) { return Tensors{s.softmax(-1), s.exp()}; });                          // so are the scores
  stays([](const Tensor& s) { return Tensors{s.softmax(-1).view({2, 3, 3}).transpose(1, 2)}; });   // turned weights
  stays([&](const Tensor& s) { return Tensors{(s + s).softmax(-1)}; });
  // Heads that become rows of the second product.
  const Function rows = [](const Tensors& in) { return Tensors{in[0].bmm(in[1]).view({2, 2, 3, 3}).softmax(-1).view({2, 6, 3}).bmm(in[2])}; };
  Graph g = capture(rows, {randn({4, 3, 4}), randn({4, 4, 3}), randn({2, 3, 5})});
  EXPECT_EQ(fuse_attention(g), 0u);
}

}  // namespace
}  // namespace taeda::graph
