// SPDX-License-Identifier: Apache-2.0
// `backward` and `grad`: checks of what the caller gives, and the task they become.
#include "taeda/autograd/autograd.h"

#include <algorithm>
#include <mutex>

#include "taeda/autograd/accumulate_grad.h"
#include "taeda/autograd/engine.h"
#include "taeda/autograd/extras.h"
#include "taeda/core/host_watch.h"
#include "taeda/ops/functions.h"

namespace taeda::autograd {

void run_task(GraphTask& task);

namespace {

/// The gradient with which the walk starts at `tensor`, number `i` of its list.
Tensor root_gradient(const Tensor& tensor, const Tensor& given, bool create_graph, size_t i, const char* op) {
  if (!given.defined()) {
    TAEDA_CHECK(tensor.numel() == 1, "[", op, "] a gradient can be left out only for tensors of one element: got ",
                describe(tensor), " as tensor ", i, "; pass a gradient of that shape, or reduce the tensor with sum() first");
    TAEDA_CHECK(is_floating_type(tensor.scalar_type()), "[", op,
                "] only floating point tensors have a gradient: got ", describe(tensor), "; convert it first");
    return taeda::detail::below_door([&] { return taeda::ones(tensor.sizes(), tensor.options()); });
  }
  TAEDA_CHECK(is_floating_type(given.scalar_type()), "[", op, "] a gradient must have a floating point dtype: got ",
              given.scalar_type(), " for ", describe(tensor), "; convert it with to(", tensor.scalar_type(), ")");
  TAEDA_CHECK(given.sizes() == tensor.sizes(), "[", op, "] a gradient must have the shape of its tensor: got ",
              given.sizes(), " for ", describe(tensor), " as tensor ", i, "; pass a gradient of that shape");
  if (given.scalar_type() == tensor.scalar_type()) return given;
  const AutoGradMode mode(create_graph);
  return given.to(tensor.scalar_type());
}

void add_roots(GraphTask& task, TensorList tensors, TensorList gradients, bool create_graph, const char* op) {
  TAEDA_CHECK(gradients.empty() || gradients.size() == tensors.size(), "[", op,
              "] there must be a gradient for each tensor: got ", gradients.size(), " gradients for ", tensors.size(),
              " tensors; pass an undefined tensor where the gradient is 1");
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    TAEDA_CHECK(t.defined(), "[", op, "] tensors must be defined: got an empty handle as tensor ", i,
                "; leave it out");
    Edge edge = gradient_edge(t);
    TAEDA_CHECK(edge.is_valid(), "[", op, "] element ", i,
                " of tensors does not require grad and does not have a grad_fn: got ", describe(t),
                "; compute it from tensors that require grad, outside NoGradGuard");
    task.add_root(edge, root_gradient(t, gradients.empty() ? Tensor() : gradients[i], create_graph, i, op));
  }
}

}  // namespace

void backward_of(TensorList tensors, TensorList gradients, bool retain_graph, bool create_graph, TensorList inputs,
                 bool inputs_given) {
  TAEDA_CHECK(!inputs_given || !inputs.empty(),
              "[backward] inputs must not be empty when they are given: got an empty list; leave them out to accumulate "
              "into all leaves");
  GraphTask task(retain_graph, create_graph);
  add_roots(task, tensors, gradients, create_graph, "backward");
  if (TAEDA_UNLIKELY(taeda::detail::tls_host_watch != nullptr)) {
    for (const Tensor& t : tensors) taeda::detail::tls_host_watch->backward(t.mutable_impl(), retain_graph);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    TAEDA_CHECK(inputs[i].requires_grad(), "[backward] every input must require grad: got ", describe(inputs[i]),
                " as input ", i, "; leave it out, or call requires_grad_() before the forward");
    if (inputs[i].is_leaf()) {
      if (IntrusivePtr<Node> node = find_accumulator(inputs[i])) task.capture({node, 0}, 0, true);
    } else {
      inputs[i].retain_grad();
      task.capture(gradient_edge(inputs[i]), 0, false);
    }
  }
  if (inputs_given && task.has_no_captures()) return;  // no input takes part in any graph
  run_task(task);
}

void backward(const variable_list& tensors, const variable_list& grad_tensors, std::optional<bool> retain_graph,
              bool create_graph, const variable_list& inputs) {
  backward_of(tensors, grad_tensors, retain_graph.value_or(create_graph), create_graph, inputs, !inputs.empty());
}

variable_list grad(const variable_list& outputs, const variable_list& inputs, const variable_list& grad_outputs,
                   std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
  TAEDA_CHECK(!inputs.empty(), "[grad] inputs must not be empty: got an empty list; pass the tensors to differentiate by");
  GraphTask task(retain_graph.value_or(create_graph), create_graph);
  add_roots(task, outputs, grad_outputs, create_graph, "grad");
  task.captured.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    TAEDA_CHECK(inputs[i].requires_grad(), "[grad] element ", i, " of the inputs must require grad: got ",
                inputs[i].defined() ? describe(inputs[i]) : std::string("an empty handle"),
                "; call requires_grad_() before the forward");
    Edge edge;
    if (inputs[i].is_leaf()) {
      edge = {find_accumulator(inputs[i]), 0};
    } else {
      edge = gradient_edge(inputs[i]);
    }
    if (edge.is_valid()) task.capture(edge, i, false);
  }
  if (!task.has_no_captures()) run_task(task);
  for (size_t i = 0; i < inputs.size() && !allow_unused; ++i) {
    TAEDA_CHECK(task.captured[i].defined(), "[grad] element ", i,
                " of the inputs must have been used in the graph of the outputs: got ", describe(inputs[i]),
                ", which no output depends on; pass allow_unused=true for an undefined gradient");
  }
  return std::move(task.captured);
}

void queue_callback(std::function<void()> callback) {
  GraphTask* task = current_task();
  TAEDA_CHECK(task != nullptr, "[queue_callback] callbacks can be queued only while backward runs on this thread: got a "
                               "call outside; queue it from a hook or from a node's backward");
  task->callbacks.push_back(std::move(callback));
}

bool in_backward() { return current_task() != nullptr; }

unsigned register_post_accumulate_grad_hook(const Tensor& leaf, std::function<void(const Tensor&)> hook) {
  TAEDA_CHECK(leaf.requires_grad() && leaf.is_leaf(),
              "[register_post_accumulate_grad_hook] the tensor must be a leaf that requires grad: got ", describe(leaf),
              "; use register_hook for results of operators");
  const unsigned key = next_hook_key();
  extras_of(meta_of(leaf.mutable_impl())).post_accumulate_hooks.emplace_back(key, std::move(hook));
  return key;
}

void remove_post_accumulate_grad_hook(const Tensor& leaf, unsigned key) {
  AutogradMeta* meta = leaf.impl().autograd;
  if (meta == nullptr || meta->extras == nullptr) return;
  std::erase_if(meta->extras->post_accumulate_hooks, [&](const auto& entry) { return entry.first == key; });
}

void set_name(const Tensor& tensor, std::string name) {
  if (name.empty() && !tensor.impl().autograd) return;
  extras_of(meta_of(tensor.mutable_impl())).name = std::move(name);
}

std::string name_of(const Tensor& tensor) {
  const AutogradMeta* meta = tensor.impl().autograd;
  return meta && meta->extras ? meta->extras->name : std::string();
}

IntrusivePtr<Node> impl::grad_accumulator(const Tensor& leaf) {
  TAEDA_CHECK(leaf.is_leaf(), "[grad_accumulator] only a leaf has an accumulator: got ", describe(leaf), "; use its grad_fn()");
  return leaf.requires_grad() ? accumulator_of(leaf) : IntrusivePtr<Node>();
}

}  // namespace taeda::autograd
