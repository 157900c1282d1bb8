// SPDX-License-Identifier: Apache-2.0
// Dead code and common subexpressions.
#include <map>

#include "taeda/graph/graph.h"

namespace taeda::graph {

size_t remove_dead(Graph& graph) {
  std::vector<bool> wanted(graph.values.size());
  for (const Id id : graph.outputs) wanted[static_cast<size_t>(id)] = true;
  for (const Mutation& m : graph.mutations) wanted[static_cast<size_t>(m.value)] = true;
  std::vector<Node> kept;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    Node& node = graph.nodes[n];
    bool need = node.random;
    for (const Id id : node.results) need |= id >= 0 && wanted[static_cast<size_t>(id)];
    for (const Update& u : node.updates) need |= wanted[static_cast<size_t>(u.value)];
    if (!need) continue;
    for (const Id id : operands(node)) wanted[static_cast<size_t>(id)] = true;
    kept.insert(kept.begin(), std::move(node));
  }
  const size_t gone = graph.nodes.size() - kept.size();
  graph.nodes = std::move(kept);
  return gone;
}

namespace {
void rename(Arg& arg, const std::vector<Id>& names) {
  if (arg.value >= 0) arg.value = names[static_cast<size_t>(arg.value)];
  for (Arg& item : arg.items) rename(item, names);
}

/// The node alone as text, its results left out: equal for equal work.
std::string key_of(const Graph& graph, const Node& node) {
  Graph alone;
  alone.values = graph.values;
  for (Datum& v : alone.values) v.origin = Origin::kResult;
  Node call = node;
  call.results.clear();
  call.path.clear();
  call.updates.clear();
  alone.nodes.push_back(std::move(call));
  return alone.text();
}
}  // namespace

size_t join_common(Graph& graph) {
  std::vector<Id> names(graph.values.size());
  for (size_t id = 0; id < names.size(); ++id) names[id] = static_cast<Id>(id);
  std::map<std::string, size_t> seen;
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    for (Arg& arg : node.args) rename(arg, names);
    if (!node.random) {
      const auto [at, fresh] = seen.emplace(key_of(graph, node), kept.size());
      if (!fresh) {
        const Node& first = kept[at->second];
        for (size_t i = 0; i < node.results.size(); ++i) {
          if (node.results[i] >= 0) names[static_cast<size_t>(node.results[i])] = first.results[i];
        }
        for (size_t i = 0; i < node.updates.size(); ++i) names[static_cast<size_t>(node.updates[i].value)] = first.updates[i].value;
        continue;
      }
    }
    kept.push_back(std::move(node));
  }
  const size_t gone = graph.nodes.size() - kept.size();
  graph.nodes = std::move(kept);
  for (Id& id : graph.outputs) id = names[static_cast<size_t>(id)];
  for (Mutation& m : graph.mutations) m.value = names[static_cast<size_t>(m.value)];
  return gone;
}

}  // namespace taeda::graph
