// SPDX-License-Identifier: Apache-2.0
// The rules of graphs, and help for who changes one.
#pragma once

#include "taeda/graph/graph.h"

namespace taeda::graph {

/// A part of a graph.
struct Part {
  enum Kind : uint8_t { kNothing, kValue, kNode, kOutput, kMutation } kind = kNothing;
  size_t index = 0;
};

/// Graph::verify(); where it throws, `part` is the one that breaks a rule.
void verify(const Graph& graph, Part& part);

/// Every value that a node, an output or a mutation reads becomes names[value].
void replace_values(Node& node, const std::vector<Id>& names);
void replace_values(Graph& graph, const std::vector<Id>& names);

}  // namespace taeda::graph
