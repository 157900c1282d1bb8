// SPDX-License-Identifier: Apache-2.0
// Dead code.
#include <algorithm>

#include "taeda/graph/passes/rewrite.h"
#include "taeda/graph/text.h"

namespace taeda::graph {

size_t remove_dead(Graph& graph, Notes* notes) {
  std::vector<bool> wanted(graph.values.size());
  for (const Id id : graph.outputs) wanted[static_cast<size_t>(id)] = true;
  for (const Mutation& m : graph.mutations) wanted[static_cast<size_t>(m.value)] = true;
  std::vector<Node> kept;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    Node& node = graph.nodes[n];
    bool need = node.random;
    for (const Id id : node.results) need |= id >= 0 && wanted[static_cast<size_t>(id)];
    for (const Update& u : node.updates) need |= wanted[static_cast<size_t>(u.value)];
    if (!need) {
      note(notes, text_of(graph, node));
      continue;
    }
    for (const Id id : operands(node)) wanted[static_cast<size_t>(id)] = true;
    kept.push_back(std::move(node));
  }
  std::reverse(kept.begin(), kept.end());
  const size_t gone = graph.nodes.size() - kept.size();
  graph.nodes = std::move(kept);
  renumber(graph);
  return gone;
}

}  // namespace taeda::graph
