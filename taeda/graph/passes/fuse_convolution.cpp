// SPDX-License-Identifier: Apache-2.0
// Convolutions with the addition and the relu that follow them, done while the results are written.
#include <optional>

#include "taeda/graph/fused.h"
#include "taeda/graph/layout.h"
#include "taeda/graph/passes/rewrite.h"
#include "taeda/graph/symbols.h"
#include "taeda/graph/text.h"

namespace taeda::graph {

namespace {

class Fuser {
 public:
  Fuser(Graph& graph, Notes* notes) : graph_(graph), notes_(notes), uses_(count_uses(graph)), makers_(makers_of(graph)) {}

  size_t run() {
    size_t fused = 0;
    std::vector<bool> gone(graph_.nodes.size());
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      Node& node = graph_.nodes[n];
      const std::optional<Step> step = step_of(node);
      if (!step) continue;
      // Either term of a sum may be the convolution.
      for (const bool swapped : {false, true}) {
        const Id x = swapped ? step->other : step->input, other = swapped ? step->input : step->other;
        if (x < 0 || (swapped && !step->swaps)) continue;
        const int maker = makers_[at(x)];
        if (maker < 0 || uses_[at(x)] != 1 || !takes(x, other, step->result)) continue;
        std::optional<Node> with = fusible(graph_.nodes[at(maker)], other);
        if (!with) continue;
        if (other >= 0) with->args[kAdd] = Arg::of_value(other);
        else with->args[kRelu] = Arg::of_attribute(Value(true));
        with->results = {step->result};
        note(notes_, text_of(graph_, node), " goes into %", x);
        // The later place: there both terms are made.
        gone[at(maker)] = true;
        node = std::move(*with);
        makers_[at(step->result)] = static_cast<int>(n);
        ++fused;
        break;
      }
    }
    std::vector<Node> kept;
    for (size_t n = 0; n < gone.size(); ++n) {
      if (!gone[n]) kept.push_back(std::move(graph_.nodes[n]));
    }
    graph_.nodes = std::move(kept);
    return fused;
  }

 private:
  /// relu(input), or input + other.
  struct Step {
    Id input, other, result;
    bool swaps = false;
  };
  static size_t at(int id) { return static_cast<size_t>(id); }

  static std::optional<Step> step_of(const Node& node) {
    const bool fresh = node.results.size() == 1 && node.results[0] >= 0 && node.updates.empty();
    const bool in_place = node.updates.size() == 1 && node.updates[0].tensor == 0 && (node.results.empty() || node.results == std::vector<Id>{-1});
    if (node.random || !(in_place || fresh)) return {};
    const Id result = fresh ? node.results[0] : node.updates[0].value;
    if (is_operator(node, fresh ? "relu" : "relu_")) return Step{node.args[0].value, -1, result};
    if (!is_operator(node, fresh ? "add" : "add_") || node.args.size() != 3 || node.args[1].value < 0) return {};
    const Value& alpha = node.args[2].attribute;
    if (!alpha.is_int() || alpha.to_int() != 1) return {};
    return Step{node.args[0].value, node.args[1].value, result, true};
  }
  /// Whether the types are those of an epilogue.
  bool takes(Id x, Id other, Id result) const {
    const Type& type = graph_.values[at(x)].type;
    if (other == x || graph_.values[at(result)].type != type || (type.dtype != kFloat && type.dtype != kDouble)) return false;
    return is_contiguous(type) && (other < 0 || graph_.values[at(other)].type == type);
  }
  /// The convolution as a fused one that can take one step more.
  static std::optional<Node> fusible(const Node& map, Id other) {
    if (map.op == &kFusedConvolution) {
      const bool full = map.args[kRelu].attribute.to_bool() || (other >= 0 && map.args[kAdd].value >= 0);
      return full ? std::nullopt : std::optional<Node>(map);
    }
    if (!is_operator(map, "convolution") || has_symbolic_arguments(map) || map.args[6].attribute.to_bool() || map.args[1].value < 0) return {};
    Node node;
    node.op = &kFusedConvolution;
    node.path = map.path;
    node.args = {map.args[0], map.args[1], map.args[2], Arg(), map.args[3], map.args[4], map.args[5], map.args[8], Arg::of_attribute(Value(false))};
    return node;
  }

  Graph& graph_;
  Notes* notes_;
  std::vector<int> uses_, makers_;
};

}  // namespace

size_t fuse_convolution(Graph& graph, Notes* notes) { return Fuser(graph, notes).run(); }

}  // namespace taeda::graph
