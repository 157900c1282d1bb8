// SPDX-License-Identifier: Apache-2.0
// Joint graphs in two. What to keep is a minimal cut between what the forward can do and what gradients read: each value has an edge that
// costs its bytes (it is kept), each node one that costs a share of them (it runs again).
#include <algorithm>
#include <cmath>
#include <set>

#include "taeda/core/tensor.h"
#include "taeda/graph/gradient.h"
#include "taeda/graph/min_cut.h"
#include "taeda/graph/passes/rewrite.h"

namespace taeda::graph {

namespace {

size_t at(int64_t id) { return static_cast<size_t>(id); }

std::vector<Id> results_of(const Node& node) {
  std::vector<Id> ids;
  for (const Id id : node.results) {
    if (id >= 0) ids.push_back(id);
  }
  for (const Update& u : node.updates) ids.push_back(u.value);
  return ids;
}

class Splitter {
 public:
  Splitter(const JointGraph& joint, const SplitOptions& options)
      : graph_(joint.graph), options_(options), makers_(makers_of(graph_)), kept_(graph_.values.size()), back_(graph_.nodes.size()) {
    const auto middle = [](const std::vector<Id>& ids, size_t n) { return ids.begin() + static_cast<std::ptrdiff_t>(n); };
    inputs_.assign(graph_.inputs.begin(), middle(graph_.inputs, joint.inputs));
    cotangents_.assign(middle(graph_.inputs, joint.inputs), graph_.inputs.end());
    results_.assign(graph_.outputs.begin(), middle(graph_.outputs, joint.results));
    gradients_.assign(middle(graph_.outputs, joint.results), graph_.outputs.end());
    find_late();
    find_needed();
    find_free();
  }

  SplitGraph run() {
    cut();
    SplitGraph split;
    split.results = results_.size();
    split.forward = split.backward = graph_;
    split.forward.inputs = inputs_;
    split.forward.outputs = results_;
    split.backward.inputs.clear();
    split.backward.mutations.clear();
    for (size_t id = 0; id < kept_.size(); ++id) {
      if (!kept_[id]) continue;
      Datum& given = split.backward.values[id];
      if (given.origin != Origin::kInput) given = {given.type, Origin::kInput, str("saved", split.backward.inputs.size()), Tensor()};
      split.backward.inputs.push_back(static_cast<Id>(id));
      split.forward.outputs.push_back(static_cast<Id>(id));
      if (!free_[id]) split.saved_bytes += bytes_of(static_cast<Id>(id));
    }
    split.backward.inputs.insert(split.backward.inputs.end(), cotangents_.begin(), cotangents_.end());
    split.backward.outputs = gradients_;
    keep_nodes(split.forward, false);
    keep_nodes(split.backward, true);
    for (size_t n = 0; n < back_.size(); ++n) split.recomputed += back_[n] && needed_[n] && graph_.nodes[n].op->kind != OpKind::kView;
    split.needed_bytes = eager_bytes();
    for (Graph* part : {&split.forward, &split.backward}) {
      remove_dead(*part);
      part->verify();
    }
    return split;
  }

 private:
  int64_t bytes_of(Id id) const {
    const Type& type = graph_.values[at(id)].type;
    return static_cast<int64_t>(detail::storage_bytes(type.sizes, type.strides, 0, item_size(type.dtype), "graph"));
  }
  /// Nodes that follow from cotangents.
  void find_late() {
    std::vector<bool> late(graph_.values.size());
    for (const Id id : cotangents_) late[at(id)] = true;
    for (const Node& node : graph_.nodes) {
      const std::vector<Id> ids = operands(node);
      late_.push_back(std::any_of(ids.begin(), ids.end(), [&](Id id) { return late[at(id)]; }));
      for (const Id id : results_of(node)) late[at(id)] = late_.back();
    }
  }
  /// Nodes that results and mutations follow from, and random ones.
  void find_needed() {
    needed_.resize(graph_.nodes.size());
    std::vector<bool> wanted(graph_.values.size());
    for (const Id id : results_) wanted[at(id)] = true;
    for (const Mutation& m : graph_.mutations) wanted[at(m.value)] = true;
    for (size_t n = graph_.nodes.size(); n-- > 0;) {
      const Node& node = graph_.nodes[n];
      const std::vector<Id> made = results_of(node);
      needed_[n] = !late_[n] && (node.random || std::any_of(made.begin(), made.end(), [&](Id id) { return wanted[at(id)]; }));
      if (!needed_[n]) continue;
      for (const Id id : operands(node)) wanted[at(id)] = true;
    }
  }
  /// Values in memory that is kept anyway: that of inputs, states and constants that the run does not change, and of results.
  void find_free() {
    free_.resize(graph_.values.size());
    for (size_t id = 0; id < free_.size(); ++id) free_[id] = makers_[id] < 0;
    for (const Mutation& m : graph_.mutations) free_[at(m.target)] = false;
    std::vector<Id> out = results_;
    while (!out.empty()) {
      const Id id = out.back();
      out.pop_back();
      const int n = makers_[at(id)];
      if (n < 0) continue;
      free_[at(id)] = true;
      if (graph_.nodes[at(n)].op->kind == OpKind::kView) out.push_back(operands(graph_.nodes[at(n)])[0]);
    }
  }

  bool is_view(Id id) const { return makers_[at(id)] >= 0 && graph_.nodes[at(makers_[at(id)])].op->kind == OpKind::kView; }
  int64_t cost_again(size_t n) const {
    const Node& node = graph_.nodes[n];
    if (node.random) return MinCut::kNever;
    if (node.op->kind == OpKind::kView || !needed_[n]) return 0;
    const bool filled = operands(node).empty();  // zeros, arange
    if (node.op->kind != OpKind::kPointwise && !(node.op->kind == OpKind::kInplace && pointwise_in_place(node)) && !filled) return MinCut::kNever;
    double cost = 0;
    for (const Id id : results_of(node)) cost += options_.recompute * static_cast<double>(bytes_of(id)) * kUnit;
    return cost < static_cast<double>(MinCut::kNever) ? std::llround(cost) : MinCut::kNever;
  }
  static bool pointwise_in_place(const Node& node) {
    std::string_view name = node.op->name;
    name.remove_suffix(name.ends_with('_') ? 1 : 0);
    const auto forms = find_ops(std::string(name));
    return std::any_of(forms.begin(), forms.end(), [](const OpInfo* op) { return op->kind == OpKind::kPointwise; });
  }

  /// Vertices: source, sink, a node each, and two for a value: made and read.
  void cut() {
    const size_t nodes = graph_.nodes.size(), source = 0, sink = 1;
    const auto node_at = [](size_t n) { return 2 + n; };
    const auto made_at = [nodes](Id id) { return 2 + nodes + 2 * at(id); };
    const auto read_at = [&](Id id) { return made_at(id) + 1; };
    MinCut cut(2 + nodes + 2 * graph_.values.size());
    for (size_t n = 0; n < nodes; ++n) {
      if (!late_[n]) {
        cut.add(source, node_at(n), cost_again(n));
        for (const Id id : results_of(graph_.nodes[n])) cut.add(node_at(n), made_at(id), MinCut::kNever);
      }
      for (const Id id : operands(graph_.nodes[n])) cut.add(read_at(id), late_[n] ? sink : node_at(n), MinCut::kNever);
    }
    for (const Id id : gradients_) cut.add(read_at(id), sink, MinCut::kNever);
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const Id id = static_cast<Id>(i);
      if (makers_[i] < 0 && !free_[i]) cut.add(source, made_at(id), MinCut::kNever);  // to be overwritten
      if (makers_[i] >= 0 ? !late_[at(makers_[i])] : !free_[i]) cut.add(made_at(id), read_at(id), is_view(id) ? MinCut::kNever : free_[i] ? 0 : bytes_of(id) * kUnit);
    }
    const std::vector<bool> side = cut.sink_side(source, sink);
    for (size_t n = 0; n < nodes; ++n) back_[n] = late_[n] || side[node_at(n)];
    std::vector<bool> read(graph_.values.size());
    for (size_t n = 0; n < nodes; ++n) {
      for (const Id id : operands(graph_.nodes[n])) read[at(id)] = read[at(id)] || back_[n];
    }
    for (const Id id : gradients_) read[at(id)] = true;
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (!read[i]) continue;
      const bool here = makers_[i] < 0 && free_[i] && graph_.values[i].origin != Origin::kInput;  // states and constants
      const bool made = makers_[i] >= 0 && back_[at(makers_[i])];
      kept_[i] = !here && !made && std::find(cotangents_.begin(), cotangents_.end(), static_cast<Id>(i)) == cotangents_.end();
    }
  }

  void keep_nodes(Graph& part, bool backward) const {
    std::vector<Node> kept;
    for (size_t n = 0; n < part.nodes.size(); ++n) {
      if (backward ? back_[n] : !late_[n]) kept.push_back(std::move(part.nodes[n]));
    }
    part.nodes = std::move(kept);
  }

  /// What gradients read of what the forward makes, each memory once.
  int64_t eager_bytes() const {
    std::set<Id> roots;
    const auto add = [&](Id id) {
      while (is_view(id)) id = operands(graph_.nodes[at(makers_[at(id)])])[0];
      if (!free_[at(id)] && (makers_[at(id)] < 0 || needed_[at(makers_[at(id)])])) roots.insert(id);
    };
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (needed_[n]) continue;
      for (const Id id : operands(graph_.nodes[n])) add(id);
    }
    for (const Id id : gradients_) add(id);
    int64_t bytes = 0;
    for (const Id id : roots) bytes += bytes_of(id);
    return bytes;
  }

  static constexpr int64_t kUnit = 16;  ///< of costs, in a byte
  const Graph& graph_;
  const SplitOptions& options_;
  std::vector<Id> inputs_, cotangents_, results_, gradients_;
  std::vector<int> makers_;
  std::vector<bool> late_, needed_;  ///< by node
  std::vector<bool> free_, kept_;    ///< by value
  std::vector<bool> back_;           ///< nodes of the backward
};

}  // namespace

SplitGraph split_gradient(const JointGraph& joint, const SplitOptions& options) {
  TAEDA_CHECK_VALUE(options.recompute >= 0, "[graph] what a byte costs to compute again is at least 0: got ", options.recompute, "; pass another");
  TAEDA_CHECK_VALUE(joint.inputs <= joint.graph.inputs.size() && joint.results + joint.wanted.size() == joint.graph.outputs.size(),
                    "[graph] a joint graph has its results, then a gradient for each name: got ", joint.graph.outputs.size(), " outputs for ", joint.results,
                    " and ", joint.wanted.size(), "; pass what gradient() gave");
  return Splitter(joint, options).run();
}

}  // namespace taeda::graph
