// SPDX-License-Identifier: Apache-2.0
// Constants of constants.
#include <algorithm>

#include "taeda/graph/layout.h"
#include "taeda/graph/symbols.h"
#include "taeda/graph/passes/rewrite.h"
#include "taeda/graph/text.h"

namespace taeda::graph {

namespace {

size_t bytes_of(const Type& type) {
  int64_t count = 1;
  for (const int64_t size : type.sizes) count *= size;
  return static_cast<size_t>(count) * item_size(type.dtype);
}

/// Whether the node's results follow from constants, and nobody has to see them made.
bool can_fold(const Graph& graph, const Node& node, size_t bytes) {
  if (node.random || !node.updates.empty() || node.op->custom || has_symbolic_arguments(node)) return false;
  size_t made = 0;
  for (const Id id : node.results) {
    if (id < 0) continue;
    const Type& type = graph.values[static_cast<size_t>(id)].type;
    if (is_symbolic(type)) return false;
    made += bytes_of(type);
  }
  const std::vector<Id> ids = operands(node);
  return made <= bytes && std::all_of(ids.begin(), ids.end(), [&](Id id) { return graph.values[static_cast<size_t>(id)].origin == Origin::kConstant; });
}

/// What the node gives, none where it throws: then it does so when the graph runs. `names` has room for every value.
std::vector<Tensor> results_of(const Graph& graph, const Node& node, std::vector<Id>& names) {
  Graph alone;
  const auto add = [&](Id id) {
    names[static_cast<size_t>(id)] = static_cast<Id>(alone.values.size());
    alone.values.push_back(graph.values[static_cast<size_t>(id)]);
    return names[static_cast<size_t>(id)];
  };
  for (const Id id : operands(node)) add(id);
  Node copy = node;
  replace_values(copy, names);
  for (Id& id : copy.results) {
    if (id >= 0) alone.outputs.push_back(id = add(id));
  }
  alone.nodes.push_back(std::move(copy));
  try {
    const std::vector<Tensor> results = graph::run(alone, {});
    for (size_t i = 0; i < results.size(); ++i) {
      if (type_of(results[i]) != alone.values[static_cast<size_t>(alone.outputs[i])].type) return {};  // laid out otherwise: a constant keeps its type
    }
    return results;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

size_t fold_constants(Graph& graph, size_t bytes, Notes* notes) {
  size_t folded = 0;
  std::vector<Id> names(graph.values.size());
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    const std::vector<Tensor> results = can_fold(graph, node, bytes) ? results_of(graph, node, names) : std::vector<Tensor>();
    if (results.empty()) {
      kept.push_back(std::move(node));
      continue;
    }
    size_t at = 0;
    for (const Id id : node.results) {
      if (id < 0) continue;
      Datum& v = graph.values[static_cast<size_t>(id)];
      v.origin = Origin::kConstant;
      v.tensor = copy_as_laid_out(results[at++]);
    }
    note(notes, text_of(graph, node), " is constant");
    ++folded;
  }
  graph.nodes = std::move(kept);
  return folded;
}

}  // namespace taeda::graph
