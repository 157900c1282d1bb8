// SPDX-License-Identifier: Apache-2.0
// Types and arguments that follow from symbols.
#pragma once

#include <vector>

#include "taeda/graph/graph.h"

namespace taeda::graph {

std::vector<Size> sizes_of(const Type& type);
std::vector<Size> strides_of(const Type& type);
Type make_type(ScalarType dtype, const std::vector<Size>& sizes, const std::vector<Size>& strides);
/// Row-major, where no size is 0.
std::vector<Size> contiguous_strides(const std::vector<Size>& sizes);
bool is_contiguous(const Type& type);

inline bool is_symbolic(const Type& type) { return !type.symbolic.empty(); }
inline bool is_symbolic(const Arg& arg) { return !arg.symbolic.empty(); }
bool has_symbolic_arguments(const Node& node);

/// A list of sizes as an argument.
Arg sizes_arg(const std::vector<Size>& sizes);

/// "2, 3*time"
std::string text_of(const std::vector<Size>& sizes);

/// With symbols of `values` replaced; others stay.
Type with(const Type& type, const SymbolValues& values);
Arg with(const Arg& arg, const SymbolValues& values);

/// The sizes that `inputs` give to the graph's symbols. Throws ValueError where inputs contradict each other or leave a range.
SymbolValues bind(const Graph& graph, const std::vector<Tensor>& inputs);

}  // namespace taeda::graph
