// SPDX-License-Identifier: Apache-2.0
// Help for passes.
#pragma once

#include "taeda/graph/passes/passes.h"

namespace taeda::graph {

template <class... Args>
void note(Notes* notes, const Args&... args) {
  if (notes) notes->push_back(str(args...));
}

/// Every value that a node, an output or a mutation reads becomes names[value].
void replace_values(Node& node, const std::vector<Id>& names);
void replace_values(Graph& graph, const std::vector<Id>& names);

/// Values whose memory an output is or shows: a caller may write it, so it must not become that of something else.
std::vector<bool> given_out(const Graph& graph);
/// How often each value is read, outputs and mutations included.
std::vector<int> count_uses(const Graph& graph);
/// The node that makes each value, or -1.
std::vector<int> makers_of(const Graph& graph);
/// A new constant.
Id add_constant(Graph& graph, const Tensor& tensor);

inline bool is_operator(const Node& node, std::string_view name) { return name == node.op->name; }
/// Whether a node's result may lie in the memory of its first argument.
inline bool may_show(const Node& node) { return node.op->kind == OpKind::kView || is_operator(node, "reshape"); }

}  // namespace taeda::graph
