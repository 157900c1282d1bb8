// SPDX-License-Identifier: Apache-2.0
// The rules of graphs.
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

}  // namespace taeda::graph
