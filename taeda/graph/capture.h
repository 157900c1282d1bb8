// SPDX-License-Identifier: Apache-2.0
// From a function of tensors to its graph: it is run once on copies of example inputs, below autograd.
//
//     graph::Graph g = graph::capture([&](const std::vector<Tensor>& in) { return std::vector{model->forward(in[0])}; }, {x},
//                                     graph::states_of(*model));
#pragma once

#include <functional>

#include "taeda/graph/graph.h"

namespace taeda::graph {

using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// A dimension of an input whose size may differ between runs. Equal symbols are equal sizes.
///
///     const graph::Symbol time{"time", 1, 256};  // the range of its sizes
///     graph::capture(f, {x, mask}, states, {.dynamic = {{0, 0, "batch"}, {0, 1, time}, {1, 0, time}}});
struct Dynamic {
  size_t input = 0;
  int64_t dim = 0;  ///< from the end where negative
  Symbol symbol;
};

struct CaptureOptions {
  /// The function is then run at some 20 sizes in the ranges, both ends among them; what differs between these runs becomes a formula of the
  /// symbols, and the graph is compared with the function at sizes that no formula was made from. Throws ValueError where the function calls other
  /// operators at another size, where a constant or a number that is no integer follows from a size, and where no formula fits.
  /// Examples give dtype, layout, static sizes, and elements, which are repeated or left out for other sizes.
  std::vector<Dynamic> dynamic = {};
};

/// Tensors of the program that are among `states` become states by name, others constants. The function must be one of its inputs'
/// values through operators alone: looking at a value, a raw pointer, the generator's state or an out= form throws Error, and so do
/// gradients and operators without a schema. What the function changes must share no memory with other inputs or states.
TAEDA_API Graph capture(const Function& function, const std::vector<Tensor>& examples, const States& states = {}, const CaptureOptions& options = {});

/// Parameters and buffers of a module by name.
template <class Module>
States states_of(const Module& module) {
  States states;
  for (const auto& item : module.named_parameters()) states.emplace_back(item.key(), item.value());
  for (const auto& item : module.named_buffers()) states.emplace_back(item.key(), item.value());
  return states;
}

}  // namespace taeda::graph
