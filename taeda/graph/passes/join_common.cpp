// SPDX-License-Identifier: Apache-2.0
// Common subexpressions.
#include <numeric>
#include <unordered_map>

#include "taeda/graph/passes/rewrite.h"
#include "taeda/graph/text.h"

namespace taeda::graph {

namespace {

std::vector<Id> made_by(const Node& node) {
  std::vector<Id> ids = node.results;
  for (const Update& u : node.updates) ids.push_back(u.value);
  return ids;
}

std::string names_of(const std::vector<Id>& ids) {
  std::string names;
  for (const Id id : ids) {
    if (id >= 0) names += str(names.empty() ? "%" : ", %", id);
  }
  return names;
}

/// Whether `node`, which does what `first` does, can give way to it.
bool replaceable(const Graph& graph, const std::vector<Id>& first, const std::vector<Id>& node, const std::vector<bool>& given_out) {
  if (first.size() != node.size()) return false;
  for (size_t i = 0; i < node.size(); ++i) {
    if ((first[i] < 0) != (node[i] < 0)) return false;
    if (node[i] < 0) continue;
    const auto at = static_cast<size_t>(node[i]);
    if (given_out[at] || graph.values[at].type != graph.values[static_cast<size_t>(first[i])].type) return false;
  }
  return true;
}

}  // namespace

size_t join_common(Graph& graph, Notes* notes) {
  std::vector<Id> names(graph.values.size());
  std::iota(names.begin(), names.end(), 0);
  const std::vector<bool> out = given_out(graph);
  std::unordered_map<std::string, std::vector<Id>> seen;
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    replace_values(node, names);
    if (!node.random) {
      const std::vector<Id> ids = made_by(node);
      const auto [at, fresh] = seen.emplace(call_of(node), ids);
      if (!fresh && replaceable(graph, at->second, ids, out)) {
        for (size_t i = 0; i < ids.size(); ++i) {
          if (ids[i] >= 0) names[static_cast<size_t>(ids[i])] = at->second[i];
        }
        note(notes, text_of(graph, node), " is ", names_of(at->second));
        continue;
      }
    }
    kept.push_back(std::move(node));
  }
  const size_t gone = graph.nodes.size() - kept.size();
  graph.nodes = std::move(kept);
  replace_values(graph, names);
  return gone;
}

}  // namespace taeda::graph
