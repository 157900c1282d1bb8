// SPDX-License-Identifier: Apache-2.0
// Plans are carried out: with every value at its planned place, graphs give the same results.
#include <gtest/gtest.h>

#include "taeda/graph/capture.h"
#include "taeda/graph/memory_plan.h"
#include "taeda/graph/passes/passes.h"
#include "tests/graph/same.h"
#include "tests/support/fuzz_program.h"

namespace taeda::graph {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

/// Runs a graph with its values in one block.
class ArenaRun {
 public:
  ArenaRun(const Graph& graph, const MemoryPlan& plan) : graph_(graph), plan_(plan), block_(full({plan.arena + 1}, 0xff, kByte)), now_(graph.values.size()) {}

  Tensors run(const Tensors& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) now_[at(graph_.inputs[i])] = inputs[i];
    for (size_t id = 0; id < now_.size(); ++id) {
      if (graph_.values[id].tensor.defined()) now_[id] = graph_.values[id].tensor.detach();
    }
    for (const Node& node : graph_.nodes) step(node);
    Tensors results;
    for (const Id id : graph_.outputs) results.push_back(now_[at(id)]);
    return results;
  }

 private:
  /// Where the plan puts a value that is laid out like `t`.
  Tensor placed(Id id, const Tensor& t) {
    const int b = plan_.buffer_of[at(id)];
    if (b < 0) return t.clone();
    const Buffer& buffer = plan_.buffers[at(b)];
    const Type& type = graph_.values[at(id)].type;
    char* place = static_cast<char*>(block_.data_ptr()) + buffer.offset;
    const Tensor there = from_blob(place, {buffer.bytes / static_cast<int64_t>(t.element_size())}, type.dtype).as_strided(type.sizes, type.strides);
    if (place != static_cast<const char*>(t.const_data_ptr())) there.copy_(t);
    return there;
  }
  Value argument(const Arg& arg, bool tensor) {
    if (arg.value >= 0) return Value(now_[at(arg.value)]);
    if (arg.is_list) {
      Value::List list;
      for (const Arg& item : arg.items) list.push_back(argument(item, tensor));
      return Value(std::move(list));
    }
    if (!tensor || !arg.attribute.is_number()) return arg.attribute;
    return Value(wrapped_scalar_tensor(arg.attribute.to_scalar()));
  }
  static Tensor wrapped_scalar_tensor(const Scalar& s) {
    const Tensor t = scalar_tensor(s, s.isFloatingPoint() ? kDouble : s.isBoolean() ? kBool : kLong);
    t.mutable_impl().flags |= kFlagWrappedNumber;
    return t;
  }
  void step(const Node& node) {
    const std::vector<Id> ids = operands(node);
    const Tensors before = now_;
    for (const Update& u : node.updates) {
      // The operator writes where the new value lies.
      const Id from = ids[at(u.tensor)];
      now_[at(u.value)] = placed(u.value, before[at(from)]);
      now_[at(from)] = now_[at(u.value)];
    }
    std::vector<Value> args;
    const std::vector<SchemaArg> schema = parse_schema_args(node.op->schema);
    for (size_t i = 0; i < node.args.size(); ++i) args.push_back(argument(node.args[i], schema[i].type.starts_with("Tensor")));
    const Value result = node.op->invoke(args.data());
    for (const Update& u : node.updates) now_[at(ids[at(u.tensor)])] = before[at(ids[at(u.tensor)])];
    for (size_t i = 0; i < node.results.size(); ++i) {
      if (node.results[i] < 0) continue;
      const Tensor& t = result.is_list() ? result.list()[i].tensor() : result.tensor();
      now_[at(node.results[i])] = node.op->kind == OpKind::kView ? t : placed(node.results[i], t);
    }
  }

  const Graph& graph_;
  const MemoryPlan& plan_;
  Tensor block_;
  Tensors now_;
};

void check_plan(const MemoryPlan& plan) {
  EXPECT_LE(plan.at_once, plan.arena);
  EXPECT_LE(plan.arena, plan.separate);
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& a = plan.buffers[i];
    EXPECT_EQ(a.offset % 64, 0);
    EXPECT_LE(a.offset + a.bytes, plan.arena);
    for (size_t k = 0; k < i; ++k) {
      const Buffer& b = plan.buffers[k];
      const bool together = a.first <= b.last && b.first <= a.last, meet = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      EXPECT_FALSE(together && meet) << '%' << a.value << " and %" << b.value;
    }
  }
}

TEST(GraphMemory, ChainsNeedTwoBuffers) {
  const Graph g = capture([](const Tensors& in) { return Tensors{in[0].exp().sin().cos().tanh().view({16}).exp().neg()}; }, {ones({4, 4})});
  const MemoryPlan plan = plan_memory(g);
  check_plan(plan);
  EXPECT_EQ(plan.buffers.size(), 5u);
  EXPECT_EQ(plan.separate, 5 * 64);
  EXPECT_EQ(plan.arena, 2 * 64);
}

TEST(GraphMemory, OperatorsInPlaceWriteWhereTheirArgumentLies) {
  const Graph g = capture([](const Tensors& in) {
    const Tensor y = in[0].exp();
    y.add_(1).mul_(in[0]);
    return Tensors{y.sum()};
  }, {ones({4, 4})});
  EXPECT_EQ(plan_memory(g).buffers.size(), 1u) << g.text();
  const Graph kept = capture([](const Tensors& in) {
    const Tensor y = in[0].exp(), z = y.sin();
    return Tensors{y.add_(1).sum() + z.sum()};
  }, {ones({4, 4})});
  check_plan(plan_memory(kept));
}

TEST(GraphMemory, RandomProgramsRunInTheirPlannedPlaces) {
  const NoGradGuard no_grad;
  int carried_out = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    const fuzz::Program program(seed, 6 + static_cast<int>(seed % 20));
    const auto inputs = [&] {
      Tensors list;
      for (const Tensor& t : program.inputs(0, 0).tensors) list.push_back(t.detach().clone());
      return list;
    };
    const Function f = [&](const Tensors& in) {
      Tensors kept;
      for (const Tensor& t : program.run({in, Tensor()}, 0).tensors) {
        if (t.defined()) kept.push_back(t.to(kDouble).clone());
      }
      return kept;
    };
    Graph g;
    try {
      manual_seed(seed);
      g = capture(f, inputs());
    } catch (const std::exception&) {
      continue;
    }
    if (seed % 2) optimize(g);
    const MemoryPlan plan = plan_memory(g);
    check_plan(plan);
    manual_seed(seed);
    const Tensors want = run(g, inputs());
    manual_seed(seed);
    const Tensors got = ArenaRun(g, plan).run(inputs());
    for (size_t i = 0; i < want.size(); ++i) ASSERT_TRUE(same(got[i], want[i])) << "seed " << seed << " output " << i << '\n' << g.text();
    ++carried_out;
  }
  EXPECT_GT(carried_out, 100);
}

}  // namespace
}  // namespace taeda::graph
