// SPDX-License-Identifier: Apache-2.0
// Functions and their gradients in one graph, and that in two.
//
//     graph::JointGraph joint = graph::gradient(f, {x}, graph::states_of(*model));
//     graph::SplitGraph parts = graph::split_gradient(joint);
//     std::vector<Tensor> out = graph::run(parts.forward, {x});     // results, then what is saved
#pragma once

#include <optional>

#include "taeda/graph/capture.h"

namespace taeda::graph {

struct GradientOptions {
  /// Places of the inputs to differentiate by; without: every floating input.
  std::optional<std::vector<size_t>> inputs = {};
  /// Names of states to differentiate by; without: those that require grad and have a gradient.
  std::optional<std::vector<std::string>> states = {};
  /// Of graphs: inputs for operators whose course follows from values; without: zeros for integers, ones for the others.
  std::vector<Tensor> examples = {};
};

/// A graph with its gradients. Inputs: those of the graph, then a cotangent for each floating result. Outputs: results, then gradients.
struct JointGraph {
  Graph graph;
  size_t inputs = 0, results = 0;   ///< of the graph that was differentiated
  std::vector<std::string> wanted = {};  ///< what the gradients are for, by name
};

/// Runs a function once, as capture() does, but as eager code that records gradients, then autograd back through it, and writes down both:
/// detach(), parts without gradients, and gradients of its own count as in eager code. What a gradient does not depend on gets zeros.
TAEDA_API JointGraph gradient(const Function& function, const std::vector<Tensor>& examples, const States& states = {}, const GradientOptions& options = {});
/// The same of the operators of a graph, which knows nothing of detach() and of parts without gradients: gradients are those of the whole.
/// Operators without a gradient throw as autograd does, those that only graphs have, and symbols, NotImplementedError. The generator is left as it was.
TAEDA_API JointGraph gradient(const Graph& graph, const GradientOptions& options = {});

struct SplitOptions {
  /// What computing a byte again costs against keeping it: 0 computes all that is pointwise again, infinity nothing.
  double recompute = 0.25;
};

/// A joint graph in two. `forward` gives the results, then what is saved; `backward` takes what is saved, then the cotangents.
struct SplitGraph {
  Graph forward, backward;
  size_t results = 0;
  int64_t saved_bytes = 0;   ///< kept from forward to backward beside inputs, states, constants and results
  int64_t needed_bytes = 0;  ///< what keeping all that gradients read would take, as autograd does
  size_t recomputed = 0;     ///< nodes of the forward that the backward runs again
};

/// Chooses what to save and what to compute again (views and pointwise operators, never random ones): the least cost, a minimal cut.
TAEDA_API SplitGraph split_gradient(const JointGraph& joint, const SplitOptions& options = {});

}  // namespace taeda::graph
