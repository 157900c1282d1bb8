// SPDX-License-Identifier: Apache-2.0
// Walking the graph back: `backward` and `grad`, hooks that are no members of Tensor, callbacks.
#pragma once

#include "taeda/autograd/grad_mode.h"
#include "taeda/autograd/saved_tensor_hooks.h"
#include "taeda/core/node.h"

namespace taeda::autograd {

/// Sum of gradients of `tensors` with respect to the graph's leaves, added into the leaves' `.grad`.
/// grad_tensors: for each tensor its gradient, of the same shape; may be left out for one-element tensors.
/// retain_graph: keep what the graph saved, for another walk; by default as create_graph.
/// create_graph: record the walk itself, for higher derivatives.
/// inputs: if not empty, only these tensors get a gradient (tensors that are no leaves retain theirs).
/// Throws Error when a tensor has no history, a gradient has a wrong shape, or the graph was walked back before.
TAEDA_API void backward(const variable_list& tensors, const variable_list& grad_tensors = {},
                        std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                        const variable_list& inputs = {});

/// The sum of gradients of `outputs` with respect to each of `inputs`; `.grad` is left alone.
/// Throws Error when an input is not part of the graph, unless allow_unused: its gradient is undefined then.
TAEDA_API variable_list grad(const variable_list& outputs, const variable_list& inputs,
                             const variable_list& grad_outputs = {}, std::optional<bool> retain_graph = std::nullopt,
                             bool create_graph = false, bool allow_unused = false);

/// `backward` without copies of its lists. An undefined gradient stands for 1.
TAEDA_API void backward_of(TensorList tensors, TensorList gradients, bool retain_graph, bool create_graph,
                           TensorList inputs, bool inputs_given);

/// Calls `callback` on this thread at the end of the backward that runs now. Throws Error outside of one.
TAEDA_API void queue_callback(std::function<void()> callback);
/// True while this thread runs a backward.
TAEDA_API bool in_backward();

/// Calls `hook(leaf)` each time a gradient was added into the leaf's `.grad`. Returns a key for removal.
TAEDA_API unsigned register_post_accumulate_grad_hook(const Tensor& leaf, std::function<void(const Tensor&)> hook);
TAEDA_API void remove_post_accumulate_grad_hook(const Tensor& leaf, unsigned key);

/// The name by which errors and reports call a tensor, for example its module path. Empty when unknown.
TAEDA_API void set_name(const Tensor& tensor, std::string name);
TAEDA_API std::string name_of(const Tensor& tensor);

namespace impl {
/// The node that adds into the `.grad` of a leaf that requires grad; null for other tensors. Throws Error for a tensor with history.
TAEDA_API IntrusivePtr<Node> grad_accumulator(const Tensor& leaf);
using autograd::gradient_edge;
}  // namespace impl

}  // namespace taeda::autograd
