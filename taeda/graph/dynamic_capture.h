// SPDX-License-Identifier: Apache-2.0
// Graphs with symbolic sizes, from captures at several sizes.
#pragma once

#include <optional>

#include "taeda/graph/capture.h"

namespace taeda::graph {

/// One run of the function. `whole_constants`: constants are the whole memory of the program's tensors, of which views are nodes.
Graph capture_once(const Function& function, const std::vector<Tensor>& examples, const States& states, bool whole_constants);

Graph capture_dynamic(const Function& function, const std::vector<Tensor>& examples, const States& states, const std::vector<Dynamic>& dynamic);

/// In what more than integers two captures of a function differ; empty where in nothing.
std::string difference(const Graph& a, const std::string& at_a, const Graph& b, const std::string& at_b);

/// What a function's captures at several sizes have in common: one graph of formulas. `looks`, those at `points`, by symbol, have no difference(). None where there are integers that no formula fits, of which `failure` then names one.
std::optional<Graph> unify(const std::vector<Graph>& looks, const std::vector<Symbol>& symbols, const std::vector<std::vector<int64_t>>& points,
                           std::string& failure);

/// `reshape` copies at ordinary sizes and shows its argument at others, most often where a dimension has one element; kernels may then round otherwise.
/// Copies of `graph`, followed by a view, that are not in `special`, a capture at sizes where a view would do, become reshape nodes.
void restore_reshapes(Graph& graph, const std::vector<std::pair<SymbolValues, Graph>>& special);

/// Whether two constants hold equal bytes.
bool same_bytes(const Tensor& a, const Tensor& b);

/// "batch = 3, time = 7"
std::string text_of(const std::vector<Symbol>& symbols, const std::vector<int64_t>& point);

}  // namespace taeda::graph
