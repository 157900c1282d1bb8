// SPDX-License-Identifier: Apache-2.0
// Joint graphs and their two parts give eager's bits, and keep no more than eager.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "taeda/autograd/saved_tensor_hooks.h"
#include "taeda/graph/capture.h"
#include "taeda/graph/gradient.h"
#include "taeda/graph/passes/passes.h"
#include "tests/graph/same.h"

namespace taeda::graph {
namespace {

/// A function and what it is run on.
class Check {
 public:
  Check(Function function, Tensors inputs, States states = {}) : function_(std::move(function)), inputs_(std::move(inputs)), states_(std::move(states)) {
    for (const auto& [name, t] : states_) before_.push_back(t.detach().clone());
  }

  enum Of { kBoth, kFunction, kGraph };
  void run(Of of = kBoth) {
    reset();
    const Graph forward = capture(function_, inputs_, states_);
    reset();
    const JointGraph joint = of == kGraph ? gradient(forward) : gradient(function_, inputs_, states_);
    reset();
    eager(joint);
    check(joint, forward);
    if (of == kBoth) check(gradient(forward), forward);
  }
  void check(const JointGraph& joint, const Graph& forward) {
    order_as(joint.wanted);
    ASSERT_EQ(joint.wanted, names_);
    SCOPED_TRACE(joint.graph.text());
    EXPECT_EQ(random_nodes(joint.graph), random_nodes(forward));
    compare(graph::run(joint.graph, both()), "joint");
    const Graph again = parse(joint.graph.text(), joint.graph.stored());
    EXPECT_EQ(again.text(), joint.graph.text());
    compare(graph::run(again, both()), "parsed");
    Graph fast = joint.graph;
    optimize(fast, {.verify = true});
    compare(graph::run(fast, both()), "optimized");
    for (const double recompute : {0.25, 0.0, std::numeric_limits<double>::infinity()}) split(joint, recompute);
  }

  SplitGraph parts;          ///< at the usual cost of computing again
  int64_t eager_bytes = 0;   ///< that eager's nodes hold beside inputs, states and results

 private:
  static size_t random_nodes(const Graph& g) {
    return static_cast<size_t>(std::count_if(g.nodes.begin(), g.nodes.end(), [](const Node& n) { return n.random; }));
  }
  void reset() {
    const NoGradGuard no_grad;
    for (size_t i = 0; i < states_.size(); ++i) states_[i].second.copy_(before_[i]);
    manual_seed(7);
  }
  Tensors both() const {
    Tensors all = inputs_;
    all.insert(all.end(), cotangents_.begin(), cotangents_.end());
    return all;
  }

  void eager(const JointGraph& joint) {
    std::map<std::string, Tensor> by;
    Tensors in, saved;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      in.push_back(inputs_[i].detach().clone());
      if (in[i].is_floating_point()) by[str("input", i)] = in[i].requires_grad_(true);
    }
    for (const auto& [name, t] : states_) by[name] = t;
    Tensors results;
    {
      const autograd::SavedTensorHooksGuard hooks([&](const Tensor& t) { return saved.push_back(t.detach()), Value(t); }, [](const Value& v) { return v.tensor(); });
      results = function_(in);
    }
    std::set<const void*> known;
    for (const Tensors& list : {in, results}) {
      for (const Tensor& t : list) known.insert(t.impl().storage.get());
    }
    for (const auto& [name, t] : states_) known.insert(t.impl().storage.get());
    for (const Tensor& t : saved) {
      if (known.insert(t.impl().storage.get()).second) eager_bytes += static_cast<int64_t>(t.impl().storage->nbytes);
    }
    manual_seed(11);
    Tensors from, with, wanted;
    for (const Tensor& r : results) {
      if (!r.is_floating_point()) continue;
      cotangents_.push_back(randn(r.sizes(), r.scalar_type()));
      if (r.requires_grad()) from.push_back(r), with.push_back(cotangents_.back());
    }
    for (const std::string& name : joint.wanted) wanted.push_back(by.at(name));
    const Tensors gradients = autograd::grad(from, wanted, with, false, false, true);
    for (const Tensor& r : results) expected_.push_back(r.detach());
    for (size_t i = 0; i < wanted.size(); ++i) expected_.push_back(gradients[i].defined() ? gradients[i] : zeros_like(wanted[i]));
    names_ = joint.wanted;
    for (const auto& [name, t] : states_) after_.push_back(t.detach().clone());
    reset();
  }
  /// Graphs have states in the order in which they read them.
  void order_as(const std::vector<std::string>& wanted) {
    const size_t results = expected_.size() - names_.size();
    for (size_t i = 0; i < std::min(wanted.size(), names_.size()); ++i) {
      const auto at = std::find(names_.begin() + static_cast<std::ptrdiff_t>(i), names_.end(), wanted[i]);
      if (at == names_.end()) continue;
      std::swap(expected_[results + i], expected_[results + static_cast<size_t>(at - names_.begin())]);
      std::swap(names_[i], *at);
    }
  }
  void compare(const Tensors& got, const std::string& what) {
    ASSERT_EQ(got.size(), expected_.size()) << what;
    const size_t results = expected_.size() - names_.size();
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(same(got[i], expected_[i])) << what << ": " << (i < results ? str("result ", i) : "gradient of " + names_[i - results]) << "\ngot "
                                              << got[i].flatten().slice(0, 0, 8) << "\nfor " << expected_[i].flatten().slice(0, 0, 8);
    }
    for (size_t i = 0; i < states_.size(); ++i) EXPECT_TRUE(same(states_[i].second, after_[i])) << what << ": " << states_[i].first;
    reset();
  }
  void split(const JointGraph& joint, double recompute) {
    const SplitGraph split = split_gradient(joint, {.recompute = recompute});
    SCOPED_TRACE(split.forward.text() + split.backward.text());
    EXPECT_EQ(random_nodes(split.forward), random_nodes(joint.graph));
    EXPECT_EQ(random_nodes(split.backward), 0u);
    EXPECT_LE(split.saved_bytes, eager_bytes) << recompute;
    EXPECT_LE(split.saved_bytes, split.needed_bytes) << recompute;
    Tensors out = graph::run(split.forward, inputs_), given;
    given.assign(out.begin() + static_cast<std::ptrdiff_t>(split.results), out.end());
    out.resize(split.results);
    given.insert(given.end(), cotangents_.begin(), cotangents_.end());
    const Tensors gradients = graph::run(split.backward, given);
    out.insert(out.end(), gradients.begin(), gradients.end());
    compare(out, str("split at ", recompute));
    if (recompute == 0.25) parts = split;
    if (recompute > 1) { EXPECT_EQ(split.recomputed, 0u); }
  }

  Function function_;
  Tensors inputs_, before_, cotangents_, expected_, after_;
  States states_;
  std::vector<std::string> names_;
};

template <class Module>
void check_module(Module& module, const Tensor& x) {
  Check check([&](const Tensors& in) { return Tensors{module->forward(in[0])}; }, {x}, states_of(*module));
  check.run();
  std::cout << "[ saved ] " << check.parts.saved_bytes << " bytes, eager " << check.eager_bytes << ", recomputed " << check.parts.recomputed << '\n';
}

TEST(GraphGradient, PointwiseOperators) {
  manual_seed(1);
  Check([](const Tensors& in) { return Tensors{(in[0] * in[1]).tanh() * in[0].sigmoid() + (-in[0] * in[0]).exp()}; }, {randn({5, 7}), randn({7})}).run();
  Check([](const Tensors& in) { return Tensors{(in[0] * 1.5 + 0.5).relu().pow(2), where(in[0] > 0, in[0], in[0] * 0.1)}; }, {randn({40})}).run();
}

TEST(GraphGradient, ViewsAndUpdates) {
  manual_seed(2);
  Check([](const Tensors& in) {
    Tensor y = in[0].t().sin();
    y.mul_(in[1]);
    return Tensors{y.slice(1, 1, 3).exp(), y.reshape({-1}).cumsum(0), y.select(0, 1).expand({3, 4}) * 2};
  }, {randn({4, 5}), randn({5, 4})}).run();
}

TEST(GraphGradient, UpdatesOfViewsAreOfGraphsAlone) {
  manual_seed(2);
  const Function f = [](const Tensors& in) {
    const Tensor y = in[0].sin();
    y.select(0, 1).add_(in[1]).mul_(2);
    return Tensors{y.exp()};
  };
  Check(f, {randn({4, 5}), randn({5})}).run(Check::kGraph);
  EXPECT_THROW(gradient(f, {randn({4, 5}), randn({5})}), Error);
}

TEST(GraphGradient, WrongOptionsAreErrors) {
  const Function f = [](const Tensors& in) { return Tensors{in[0].sin() * in[1]}; };
  const Tensors in{ones({3}), ones({3}, kLong)};
  EXPECT_THROW(gradient(f, in, {}, {.inputs = {{1}}}), ValueError);
  EXPECT_THROW(gradient(f, in, {}, {.inputs = {{2}}}), IndexError);
  EXPECT_THROW(gradient(f, in, {}, {.states = {{"w"}}}), ValueError);
  EXPECT_THROW(gradient(f, in, {}, {.examples = in}), ValueError);
  EXPECT_THROW(gradient(capture(f, in), {.examples = {ones({4}), in[1]}}), ValueError);
  EXPECT_THROW(gradient(capture(f, in, {}, {.dynamic = {{0, 0, Symbol{"n"}}, {1, 0, Symbol{"n"}}}})), NotImplementedError);
  JointGraph joint = gradient(f, in);
  EXPECT_EQ(joint.wanted, std::vector<std::string>{"input0"});
  EXPECT_THROW(split_gradient(joint, {.recompute = -1}), ValueError);
  joint.wanted.clear();
  EXPECT_THROW(split_gradient(joint), ValueError);
}

TEST(GraphGradient, SomeResultsHaveNoGradient) {
  manual_seed(3);
  Check([](const Tensors& in) { return Tensors{in[0].argmax(1), in[0].sum(), in[1].detach().cos()}; }, {randn({4, 5}), randn({3})}).run(Check::kFunction);
}

TEST(GraphGradient, MultilayerPerceptron) {
  manual_seed(4);
  nn::Sequential model(nn::Linear(16, 32), nn::ReLU(), nn::Linear(32, 32), nn::GELU(), nn::Dropout(0.3), nn::Linear(32, 4));
  check_module(model, randn({8, 16}));
}

TEST(GraphGradient, ConvolutionsWithBatchNorm) {
  manual_seed(5);
  nn::Sequential model(nn::Conv2d(3, 8, 3), nn::BatchNorm2d(8), nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(8, 8, 3), nn::ReLU(), nn::Flatten(), nn::Linear(32, 5));
  check_module(model, randn({4, 3, 10, 10}));
}

TEST(GraphGradient, Lstm) {
  manual_seed(6);
  nn::LSTM lstm(nn::LSTMOptions(6, 8));
  Check check([&](const Tensors& in) {
    const auto [y, state] = lstm->forward(in[0]);
    return Tensors{y, std::get<1>(state)};
  }, {randn({5, 3, 6})}, states_of(*lstm));
  check.run();
}

/// Attention over what came before and a feed-forward part, with dropout.
Tensor block(const nn::LayerNorm& before, nn::Linear& qkv, nn::Linear& out, const nn::LayerNorm& between, nn::Sequential& rest, const Tensor& x) {
  const int64_t batch = x.size(0), time = x.size(1), width = x.size(2);
  const Tensors parts = qkv->forward(nn::LayerNorm(before)->forward(x)).split(width, 2);
  const auto heads = [&](const Tensor& t) { return t.view({batch, time, 2, width / 2}).transpose(1, 2); };
  const Tensor y = scaled_dot_product_attention(heads(parts[0]), heads(parts[1]), heads(parts[2]), {}, 0.0, true);
  const Tensor mixed = x + dropout(out->forward(y.transpose(1, 2).reshape({batch, time, width})), 0.1, true);
  return mixed + rest->forward(nn::LayerNorm(between)->forward(mixed));
}

TEST(GraphGradient, TransformerBlock) {
  manual_seed(8);
  const nn::LayerNorm before(nn::LayerNormOptions({16})), between(nn::LayerNormOptions({16}));
  nn::Linear qkv(16, 48), out(16, 16);
  nn::Sequential rest(nn::Linear(16, 64), nn::GELU(), nn::Linear(64, 16), nn::Dropout(0.1));
  States states;
  const auto add = [&](const std::string& name, const auto& module) {
    for (const auto& [key, t] : states_of(*module)) states.emplace_back(name + "." + key, t);
  };
  add("before", before), add("qkv", qkv), add("out", out), add("between", between), add("rest", rest);
  Check check([&](const Tensors& in) { return Tensors{block(before, qkv, out, between, rest, in[0])}; }, {randn({2, 6, 16})}, states);
  check.run();
  std::cout << "[ saved ] " << check.parts.saved_bytes << " bytes, eager " << check.eager_bytes << ", recomputed " << check.parts.recomputed << '\n';
}

}  // namespace
}  // namespace taeda::graph
