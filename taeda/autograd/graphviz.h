// SPDX-License-Identifier: Apache-2.0
// A picture of the graph.
#pragma once

#include <string>

#include "taeda/core/node.h"

namespace taeda::autograd {

/// The graph behind `roots` in the language of Graphviz's `dot`: operators as boxes, leaves with name and shape as
/// ellipses, edges in the direction in which gradients flow.
TAEDA_API std::string graphviz(const variable_list& roots);
inline std::string graphviz(const Tensor& root) { return graphviz(variable_list{root}); }

}  // namespace taeda::autograd
