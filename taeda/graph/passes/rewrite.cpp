// SPDX-License-Identifier: Apache-2.0
#include "taeda/graph/passes/rewrite.h"

#include <algorithm>

#include "taeda/graph/layout.h"

namespace taeda::graph {

std::vector<bool> given_out(const Graph& graph) {
  std::vector<bool> out(graph.values.size());
  for (const Id id : graph.outputs) out[static_cast<size_t>(id)] = true;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    const bool shown = may_show(node) && std::any_of(node.results.begin(), node.results.end(), [&](Id id) {
      return id >= 0 && out[static_cast<size_t>(id)];
    });
    if (!shown) continue;
    for (const Id id : operands(node)) out[static_cast<size_t>(id)] = true;
  }
  return out;
}

std::vector<int> count_uses(const Graph& graph) {
  std::vector<int> uses(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (const Id id : operands(node)) ++uses[static_cast<size_t>(id)];
  }
  for (const Id id : graph.outputs) ++uses[static_cast<size_t>(id)];
  for (const Mutation& m : graph.mutations) ++uses[static_cast<size_t>(m.value)];
  return uses;
}

std::vector<int> makers_of(const Graph& graph) {
  std::vector<int> makers(graph.values.size(), -1);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const Id id : graph.nodes[n].results) {
      if (id >= 0) makers[static_cast<size_t>(id)] = static_cast<int>(n);
    }
    for (const Update& u : graph.nodes[n].updates) makers[static_cast<size_t>(u.value)] = static_cast<int>(n);
  }
  return makers;
}

Id add_constant(Graph& graph, const Tensor& tensor) {
  graph.values.push_back({type_of(tensor), Origin::kConstant, "", tensor});
  return static_cast<Id>(graph.values.size()) - 1;
}

}  // namespace taeda::graph
