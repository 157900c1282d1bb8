// SPDX-License-Identifier: Apache-2.0
// Names and numbers of values.
#include "taeda/graph/verify.h"
#include "taeda/graph/passes/rewrite.h"

namespace taeda::graph {

namespace {

void collect(const Arg& arg, std::vector<Id>& ids) {
  if (arg.value >= 0) ids.push_back(arg.value);
  for (const Arg& item : arg.items) collect(item, ids);
}

void rename(Arg& arg, const std::vector<Id>& names) {
  if (arg.value >= 0) arg.value = names[static_cast<size_t>(arg.value)];
  for (Arg& item : arg.items) rename(item, names);
}

}  // namespace

std::string name_of(const OpInfo& op) { return *op.overload ? str(op.name, '.', op.overload) : std::string(op.name); }

std::vector<Id> operands(const Node& node) {
  std::vector<Id> ids;
  for (const Arg& arg : node.args) collect(arg, ids);
  return ids;
}

void replace_values(Node& node, const std::vector<Id>& names) {
  for (Arg& arg : node.args) rename(arg, names);
}

void replace_values(Graph& graph, const std::vector<Id>& names) {
  for (Node& node : graph.nodes) replace_values(node, names);
  for (Id& id : graph.outputs) id = names[static_cast<size_t>(id)];
  for (Mutation& m : graph.mutations) m.value = names[static_cast<size_t>(m.value)];
}

void renumber(Graph& graph) {
  std::vector<bool> read(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (const Id id : operands(node)) read[static_cast<size_t>(id)] = true;
  }
  for (const Id id : graph.outputs) read[static_cast<size_t>(id)] = true;
  for (const Mutation& m : graph.mutations) read[static_cast<size_t>(m.target)] = read[static_cast<size_t>(m.value)] = true;
  std::vector<Id> names(graph.values.size(), -1);
  std::vector<Datum> kept;
  const auto keep = [&](Id& id) {
    if (id < 0) return;
    names[static_cast<size_t>(id)] = static_cast<Id>(kept.size());
    kept.push_back(std::move(graph.values[static_cast<size_t>(id)]));
    id = names[static_cast<size_t>(id)];
  };
  for (Id& id : graph.inputs) keep(id);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Origin origin = graph.values[i].origin;
    Id id = static_cast<Id>(i);
    if (read[i] && names[i] < 0 && (origin == Origin::kState || origin == Origin::kConstant)) keep(id);
  }
  for (Node& node : graph.nodes) {
    for (Id& id : node.results) keep(id);
    for (Update& u : node.updates) keep(u.value);
  }
  for (Mutation& m : graph.mutations) m.target = names[static_cast<size_t>(m.target)];
  replace_values(graph, names);
  graph.values = std::move(kept);
}

void Graph::verify() const {
  Part part;
  graph::verify(*this, part);
}

}  // namespace taeda::graph
