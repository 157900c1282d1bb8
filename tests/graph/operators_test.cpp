// SPDX-License-Identifier: Apache-2.0
// Every case of the reference values, captured, run, and run again after every exact pass: the graph's bits are the operator's.
#include <gtest/gtest.h>

#include <set>

#include "taeda/graph/capture.h"
#include "taeda/graph/gradient.h"
#include "taeda/graph/passes/passes.h"
#include "tests/graph/same.h"
#include "tests/support/oracle_call.h"

namespace taeda::graph {
namespace {

using test::Call;
using test::Json;

/// The arguments of a case and its tensors, those that need no gradient made.
struct Arguments {
  explicit Arguments(const Json& c) {
    for (size_t i = 0; i < c["args"].size(); ++i) call.args.push_back(call.value(c["args"][i], {"args", i}));
    for (const auto& [key, v] : c["kwargs"].items()) call.kwargs.emplace_back(key, call.value(v, {"kwargs", key}));
    for (const auto& [path, t] : call.tensors) tensors.push_back(t);
    test::adapt_python(c["op"], call.args, call.kwargs);
  }
  Call call;
  Tensors tensors;
};

/// `v` with the tensors of `from` taken from `to`.
Value with(const Value& v, const Tensors& from, const Tensors& to) {
  if (v.is_list()) {
    Value::List list;
    for (const Value& item : v.list()) list.push_back(with(item, from, to));
    return Value(std::move(list));
  }
  if (!v.is_tensor()) return v;
  for (size_t i = 0; i < from.size(); ++i) {
    if (v.tensor().defined() && from[i].is_same(v.tensor())) return Value(to[i]);
  }
  return v;
}

/// The call of a case as a function of its tensors.
Function function_of(const std::string& name, const Arguments& a) {
  return [&](const Tensors& in) {
    std::vector<Value> args, results;
    Kwargs kwargs;
    for (const Value& v : a.call.args) args.push_back(with(v, a.tensors, in));
    for (const auto& [key, v] : a.call.kwargs) kwargs.emplace_back(key, with(v, a.tensors, in));
    test::flatten(call_op(name, args, kwargs), results);
    Tensors list;
    for (const Value& r : results) {
      if (r.is_tensor() && r.tensor().defined()) list.push_back(r.tensor());
    }
    return list;
  };
}

/// Operators that look at values, at least in some of their forms.
bool may_refuse(const std::string& op) {
  static const std::set<std::string> names{
      "allclose",    "corrcoef",         "cov",          "equal",         "histogramdd",     "linalg.lstsq",
      "linalg.lu",   "linalg.lu_solve",  "linalg.solve", "linalg.solve_ex", "linalg.tensorsolve", "lu_solve",
      "lu_unpack",   "max",              "min",          "nanquantile",   "narrow",          "nn.functional.ctc_loss",
      "quantile",    "tensor_split",     "nn.functional.embedding_bag",   "nn.functional.gaussian_nll_loss",
      "nn.functional.multi_margin_loss", "nn.functional.multilabel_margin_loss", "nn.functional.one_hot", "nn.functional.rrelu"};
  return names.contains(op);
}

class GraphOperators : public testing::TestWithParam<std::string> {};

TEST_P(GraphOperators, EqualEager) {
  const std::string name = test::registry_name(GetParam());
  if (test::is_special(GetParam()) || name.empty()) GTEST_SKIP() << "called otherwise than by name";
  const NoGradGuard no_grad;
  for (const Json& c : test::operator_cases().at(GetParam())) {
    const Arguments a(c);
    const Function f = function_of(name, a);
    Tensors x;
    for (const Tensor& t : a.tensors) x.push_back(t.detach());
    Graph g;
    try {
      manual_seed(11);
      g = capture(f, x);
    } catch (const std::exception& e) {
      if (std::string(e.what()).starts_with("[graph]")) {
        EXPECT_TRUE(may_refuse(GetParam())) << c["id"] << ' ' << e.what();
      } else {
        EXPECT_ANY_THROW(f(x)) << c["id"] << ' ' << e.what();
      }
      continue;
    }
    ASSERT_EQ(parse(g.text(), g.stored()).text(), g.text()) << c["id"];
    manual_seed(11);
    const Tensors want = f(x);
    for (const bool optimized : {false, true}) {
      if (optimized) optimize(g, {.verify = true});
      const Arguments b(c);
      Tensors y;
      for (const Tensor& t : b.tensors) y.push_back(t.detach());
      manual_seed(11);
      const Tensors got = run(g, y);
      ASSERT_EQ(got.size(), want.size()) << c["id"];
      for (size_t i = 0; i < want.size(); ++i) ASSERT_TRUE(same(got[i], want[i])) << c["id"] << " output " << i << '\n' << got[i] << want[i] << g.text();
      for (size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(same(x[i], y[i])) << c["id"] << " argument " << i << '\n' << g.text();
    }
  }
}

/// Results, then gradients by the floating inputs.
Tensors eager_gradients(const Function& f, const Tensors& examples, Tensors& cotangents) {
  Tensors x, by, from, with;
  for (const Tensor& t : examples) {
    x.push_back(t.detach().clone());
    if (t.is_floating_point()) by.push_back(x.back().requires_grad_(true));
  }
  manual_seed(11);
  Tensors all = f(x);
  manual_seed(12);
  for (const Tensor& r : all) {
    if (!r.is_floating_point()) continue;
    cotangents.push_back(randn(r.sizes()).to(r.scalar_type()));
    if (r.requires_grad()) from.push_back(r), with.push_back(cotangents.back());
  }
  const Tensors gradients = from.empty() || by.empty() ? Tensors(by.size()) : autograd::grad(from, by, with, false, false, true);
  for (size_t i = 0; i < by.size(); ++i) all.push_back(gradients[i].defined() ? gradients[i] : zeros_like(by[i]));
  return all;
}

Tensors joined(Tensors a, const Tensors& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// What a joint graph and its two parts give.
std::vector<Tensors> runs_of(const JointGraph& joint, const Tensors& x, const Tensors& cotangents) {
  std::vector<Tensors> runs;
  manual_seed(11);
  runs.push_back(run(joint.graph, joined(x, cotangents)));
  const SplitGraph parts = split_gradient(joint);
  EXPECT_LE(parts.saved_bytes, parts.needed_bytes);
  manual_seed(11);
  Tensors results = run(parts.forward, x);
  const Tensors saved(results.begin() + static_cast<std::ptrdiff_t>(parts.results), results.end());
  results.resize(parts.results);
  runs.push_back(joined(results, run(parts.backward, joined(saved, cotangents))));
  return runs;
}

/// Operators whose gradients look at values, at least in some of their forms.
bool gradient_may_refuse(const std::string& op) {
  static const std::set<std::string> names{"cumprod",    "linalg.det",    "linalg.lu_factor", "linalg.lu_factor_ex", "linalg.vander",
                                           "lu",         "masked.cumprod", "masked.prod",      "prod"};
  return names.contains(op) || may_refuse(op);
}

/// Graphs are captured without gradients, where attention is one operator whatever its mask.
bool gradient_of_graph_may_refuse(const std::string& op) { return op == "nn.functional.scaled_dot_product_attention" || gradient_may_refuse(op); }

/// Gradients of one value are added in the order of the graph's readers.
bool rounds_otherwise(const std::string& op) { return op == "gradient"; }

/// Beside the largest element, of which sums may cancel the most.
bool close(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes() || !a.isfinite().all().item<bool>()) return false;
  const double tolerance = a.element_size() == 8 ? 1e-13 : a.element_size() == 4 ? 1e-5 : 2e-2;
  return a.numel() == 0 || (a.to(kDouble) - b.to(kDouble)).abs().max().item<double>() <= tolerance * (b.to(kDouble).abs().max().item<double>() + 1e-30);
}

TEST_P(GraphOperators, GradientsEqualEager) {
  const std::string name = test::registry_name(GetParam());
  if (test::is_special(GetParam()) || name.empty()) GTEST_SKIP() << "called otherwise than by name";
  for (const Json& c : test::operator_cases().at(GetParam())) {
    const Arguments a(c);
    const Function once = function_of(name, a);
    const Function f = [&](const Tensors& in) {  // leaves must not be written
      Tensors copies;
      for (const Tensor& t : in) copies.push_back(t.clone());
      return once(copies);
    };
    Tensors x, cotangents;
    for (const Tensor& t : a.tensors) x.push_back(t.detach());
    for (const bool of_graph : {false, true}) {
      JointGraph joint;
      try {
        manual_seed(11);
        joint = of_graph ? gradient(capture(f, x), {.examples = x}) : gradient(f, x);
      } catch (const std::exception& e) {
        if (std::string(e.what()).starts_with("[graph]")) {
          EXPECT_TRUE(of_graph ? gradient_of_graph_may_refuse(GetParam()) : gradient_may_refuse(GetParam())) << c["id"] << of_graph << ' ' << e.what();
        } else {
          EXPECT_ANY_THROW(eager_gradients(f, x, cotangents)) << c["id"] << of_graph << ' ' << e.what();
        }
        continue;
      }
      cotangents.clear();
      const Tensors want = eager_gradients(f, x, cotangents);
      for (const Tensors& got : runs_of(joint, x, cotangents)) {
        ASSERT_EQ(got.size(), want.size()) << c["id"];
        for (size_t i = 0; i < want.size(); ++i) {
          ASSERT_TRUE(same(got[i], want[i]) || (of_graph && rounds_otherwise(GetParam()) && close(got[i], want[i]))) << c["id"] << of_graph << " output " << i << '\n' << got[i] << want[i] << joint.graph.text();
        }
      }
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Registry, GraphOperators, testing::ValuesIn(test::operator_names()), test_name);

}  // namespace
}  // namespace taeda::graph
