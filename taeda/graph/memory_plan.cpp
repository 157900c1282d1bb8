// SPDX-License-Identifier: Apache-2.0
#include "taeda/graph/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "taeda/graph/passes/rewrite.h"
#include "taeda/ops/view.h"

namespace taeda::graph {

namespace {

constexpr int64_t kAlignment = 64;
size_t at(int64_t id) { return static_cast<size_t>(id); }

int64_t bytes_of(const Type& type) {
  const auto bytes = static_cast<int64_t>(detail::storage_bytes(type.sizes, type.strides, 0, item_size(type.dtype), "graph"));
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool is_expanded(const Type& type) {
  for (size_t d = 0; d < type.sizes.size(); ++d) {
    if (type.strides[d] == 0 && type.sizes[d] > 1) return true;
  }
  return false;
}

/// The memory of each value, as the value that it was made for.
class Lifetimes {
 public:
  explicit Lifetimes(const Graph& graph) : graph_(graph), root_(graph.values.size()), first_(graph.values.size()), last_(graph.values.size()),
                                           made_(graph.values.size()) {
    std::iota(root_.begin(), root_.end(), 0);
    std::vector<int> held = count_uses(graph);  // reads to come of all values in a root's memory
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      const std::vector<Id> ids = operands(node);
      for (const Id id : ids) {
        last_[at(root_[at(id)])] = n;
        --held[at(root_[at(id)])];
      }
      for (const Id id : node.results) {
        if (id >= 0) place(id, shows(node, ids) ? root_[at(ids[0])] : id, n, held);
      }
      for (const Update& u : node.updates) {
        const Id from = ids[at(u.tensor)], root = root_[at(from)];
        const bool alone = graph.values[at(root)].origin == Origin::kResult && held[at(root)] == 0 && std::count(ids.begin(), ids.end(), from) == 1;
        place(u.value, alone && !is_expanded(graph.values[at(from)].type) ? root : u.value, n, held);
      }
    }
    for (const Mutation& m : graph.mutations) last_[at(root_[at(m.value)])] = graph.nodes.size();
  }

  MemoryPlan plan() const {
    MemoryPlan plan;
    plan.buffer_of.assign(graph_.values.size(), -1);
    std::vector<bool> outside(graph_.values.size());
    for (const Id id : graph_.outputs) outside[at(root_[at(id)])] = true;
    for (size_t id = 0; id < root_.size(); ++id) {
      const Id root = root_[id];
      if (!made_[id] || outside[at(root)] || graph_.values[at(root)].origin != Origin::kResult) continue;
      if (at(root) == id) {
        plan.buffer_of[id] = static_cast<int>(plan.buffers.size());
        plan.buffers.push_back({root, 0, bytes_of(graph_.values[id].type), first_[id], last_[id]});
      }
    }
    for (size_t id = 0; id < root_.size(); ++id) plan.buffer_of[id] = plan.buffer_of[at(root_[id])];
    return plan;
  }

 private:
  bool shows(const Node& node, const std::vector<Id>& ids) const {
    if (ids.empty() || !is_operator(node, "reshape")) return !ids.empty() && node.op->kind == OpKind::kView;
    const Type &from = graph_.values[at(ids[0])].type, &to = graph_.values[at(node.results[0])].type;
    return detail::view_strides(from.sizes, from.strides, detail::checked_numel(from.sizes, "graph"), to.sizes).has_value();
  }
  void place(Id id, Id root, size_t n, std::vector<int>& held) {
    made_[at(id)] = true;
    root_[at(id)] = root;
    last_[at(root)] = n;
    if (root == id) first_[at(id)] = n;
    else held[at(root)] += held[at(id)];
  }

  const Graph& graph_;
  std::vector<Id> root_;
  std::vector<size_t> first_, last_;
  std::vector<bool> made_;
};

void choose_offsets(MemoryPlan& plan) {
  std::vector<size_t> order(plan.buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return plan.buffers[a].bytes > plan.buffers[b].bytes; });
  std::vector<const Buffer*> placed;  // by offset
  for (const size_t i : order) {
    Buffer& b = plan.buffers[i];
    for (const Buffer* other : placed) {
      const bool together = other->first <= b.last && b.first <= other->last;
      if (!together || other->offset + other->bytes <= b.offset) continue;
      if (b.offset + b.bytes <= other->offset) break;
      b.offset = other->offset + other->bytes;
    }
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &b, [](const Buffer* x, const Buffer* y) { return x->offset < y->offset; }), &b);
    plan.arena = std::max(plan.arena, b.offset + b.bytes);
    plan.separate += b.bytes;
  }
}

int64_t most_at_once(const MemoryPlan& plan, size_t nodes) {
  std::vector<int64_t> change(nodes + 2);
  for (const Buffer& b : plan.buffers) change[b.first] += b.bytes, change[b.last + 1] -= b.bytes;
  int64_t now = 0, most = 0;
  for (const int64_t c : change) most = std::max(most, now += c);
  return most;
}

}  // namespace

MemoryPlan plan_memory(const Graph& graph, const SymbolValues& values) {
  if (!graph.symbols.empty()) {
    const Graph one = specialize(graph, values);
    TAEDA_CHECK_VALUE(one.symbols.empty(), "[graph] memory is planned for one size of each symbol: ", one.symbols[0].name, " has none; give it one");
    return plan_memory(one);
  }
  MemoryPlan plan = Lifetimes(graph).plan();
  choose_offsets(plan);
  plan.at_once = most_at_once(plan, graph.nodes.size());
  return plan;
}

}  // namespace taeda::graph
