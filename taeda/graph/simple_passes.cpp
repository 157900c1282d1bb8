// SPDX-License-Identifier: Apache-2.0
// Dead code and common subexpressions.
#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "taeda/graph/text.h"
#include "taeda/graph/verify.h"

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
    kept.push_back(std::move(node));
  }
  std::reverse(kept.begin(), kept.end());
  const size_t gone = graph.nodes.size() - kept.size();
  graph.nodes = std::move(kept);
  renumber(graph);
  return gone;
}

namespace {

/// Values whose memory an output is or shows: what makes them stays apart, for a caller may write what it gets.
std::vector<bool> given_out(const Graph& graph) {
  std::vector<bool> out(graph.values.size());
  for (const Id id : graph.outputs) out[static_cast<size_t>(id)] = true;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    const bool shown = node.op->kind == OpKind::kView && std::any_of(node.results.begin(), node.results.end(), [&](Id id) {
      return id >= 0 && out[static_cast<size_t>(id)];
    });
    if (!shown) continue;
    for (const Id id : operands(node)) out[static_cast<size_t>(id)] = true;
  }
  return out;
}

std::vector<Id> made_by(const Node& node) {
  std::vector<Id> ids = node.results;
  for (const Update& u : node.updates) ids.push_back(u.value);
  return ids;
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

size_t join_common(Graph& graph) {
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
