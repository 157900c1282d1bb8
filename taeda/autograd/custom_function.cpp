// SPDX-License-Identifier: Apache-2.0
// The parts of custom functions that do not depend on their type.
#include "taeda/autograd/custom_function.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "taeda/autograd/extras.h"
#include "taeda/ops/functions.h"

namespace taeda::autograd {

namespace {
std::string demangled(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type.name();
  std::free(text);
  return name;
}
}  // namespace

variable_list AutogradContext::get_saved_variables() const {
  TAEDA_CHECK(!freed_, "[", node_ ? node_->function_name() : std::string("Function"),
              "] a graph can be walked back once: its saved tensors were freed by an earlier backward; pass "
              "retain_graph=true (or create_graph=true) to that backward, or compute the forward again");
  if (saved_.empty()) return to_save_;  // still in forward
  variable_list list;
  list.reserve(saved_.size());
  for (const SavedTensor& saved : saved_) list.push_back(saved.unpack(*node_));
  return list;
}

void AutogradContext::mark_dirty(const variable_list& inputs) {
  dirty_.clear();
  for (const Tensor& t : inputs) dirty_.insert(t.unsafeGetTensorImpl());
}
void AutogradContext::mark_non_differentiable(const variable_list& outputs) {
  non_differentiable_.clear();
  for (const Tensor& t : outputs) non_differentiable_.insert(t.unsafeGetTensorImpl());
}

bool AutogradContext::needs_input_grad(size_t index) const {
  TAEDA_CHECK(node_ != nullptr, "[needs_input_grad] it is known only in backward: got a call without a node; "
                                "test requires_grad() of the input instead");
  return node_->needs(index);
}
bool AutogradContext::needs_input_grad(std::initializer_list<IndexRange> ranges) const {
  for (const auto& [first, last] : ranges) {
    for (size_t i = first; i < last; ++i) {
      if (needs_input_grad(i)) return true;
    }
  }
  return false;
}

std::unordered_set<TensorImpl*> AutogradContext::get_and_bump_dirty() const {
  for (TensorImpl* t : dirty_) t->count_write("a custom Function");
  return dirty_;
}

CustomNode::CustomNode(Backward f, const std::type_info& t) : function(f), type(&t) {
  node_flags = kNodeWantsUndefined;
  ctx_.node_ = this;
}

std::string CustomNode::name() const { return "torch::autograd::CppNode<" + function_name() + '>'; }
std::string CustomNode::function_name() const { return demangled(*type); }

void CustomNode::release_variables() {
  if (detail::tls_overwritten) {
    for (SavedTensor& saved : ctx_.saved_) saved.release();
    return;
  }
  ctx_.saved_.clear();
  ctx_.to_save_.clear();
  ctx_.freed_ = true;
}

void CustomNode::backward(std::span<Tensor> grads_in, std::span<Tensor> grads_out) {
  variable_list in(std::make_move_iterator(grads_in.begin()), std::make_move_iterator(grads_in.end()));
  if (ctx_.materialize_grads_) {
    for (size_t i = 0; i < in.size(); ++i) {
      const OutputMeta& meta = output_meta(i);
      if (!in[i].defined() && meta.dtype != ScalarType::Undefined) {
        in[i] = taeda::zeros(meta.sizes, TensorOptions(meta.dtype).device(std::optional<Device>(meta.device)));
      }
    }
  }
  variable_list out = function(&ctx_, std::move(in));
  // More gradients than arguments are fine as long as they are undefined.
  while (out.size() > is_tensor_input.size() && !out.back().defined()) out.pop_back();
  TAEDA_CHECK(out.size() == is_tensor_input.size(), "[", function_name(),
              "] backward must return a gradient for each argument of forward: got ", out.size(), " for ",
              is_tensor_input.size(), "; return an undefined Tensor() for arguments without a gradient");
  size_t edge = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (!is_tensor_input[i]) {
      TAEDA_CHECK(!out[i].defined(), "[", function_name(), "] backward must return an undefined gradient for arguments that are no "
                  "tensors: got ", out[i].scalar_type(), out[i].sizes(), " for argument ", i, "; return Tensor() there");
      continue;
    }
    if (edge < grads_out.size()) grads_out[edge] = std::move(out[i]);
    ++edge;
  }
}

void CustomCall::begin() {
  if (!recording()) return;
  recorded = std::any_of(inputs.begin(), inputs.end(), needs_grad);
  if (!recorded) return;
  for (const Tensor& t : inputs) add_edge(*node, t);
}

namespace {

bool contains(const variable_list& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& other) { return other.is_same(t); });
}

/// An input that is returned unchanged comes back as a view, which can have a history of its own.
Tensor view_of_itself(const Tensor& t) {
  Tensor view = make_view(t, t.sizes(), t.strides(), t.storage_offset());
  view.mutable_impl().view_kind = ViewKind::kCustomFunction;
  return view;
}

}  // namespace

void CustomCall::finish(variable_list& outputs) {
  AutogradContext& ctx = node->ctx_;
  const std::unordered_set<TensorImpl*> dirty = ctx.get_and_bump_dirty();
  for (TensorImpl* t : dirty) {
    const Tensor self(IntrusivePtr<TensorImpl>::share(t));
    TAEDA_CHECK(contains(outputs, self), "[", node->function_name(), "] every input marked as dirty must be returned by forward: got ",
                describe(self), " that is no output; return it");
    if (recorded) check_inplace(self, true, "mark_dirty");
  }
  for (Tensor& out : outputs) {
    const bool is_input = out.defined() && contains(inputs, out);
    const bool is_dirty = out.defined() && dirty.contains(out.unsafeGetTensorImpl());
    const bool differentiable = recorded && out.defined() && is_floating_type(out.scalar_type()) &&
                                !ctx.non_differentiable_.contains(out.unsafeGetTensorImpl());
    if (!differentiable) {
      if (recorded) node->add_output(out);
      if (is_input && !is_dirty) out = out.requires_grad() ? out.detach() : view_of_itself(out);
      continue;
    }
    if (is_dirty) {
      TAEDA_CHECK(!out.is_view() || outputs.size() == 1, "[", node->name(),
                  "] a function that changes a view in place must return that view alone: got ", outputs.size(),
                  " outputs; clone() the input first");
      size_t edge = 0;
      while (edge < inputs.size() && !inputs[edge].is_same(out)) ++edge;
      rebase_history(out, node, edge);
      continue;
    }
    if (is_input) out = view_of_itself(out);
    if (out.is_view()) out.mutable_impl().view_kind = ViewKind::kCustomFunction;
    set_history(out, node);
  }
  if (recorded) {
    for (const Tensor& t : ctx.to_save_) {
      const bool is_output = t.defined() && t.requires_grad() && t.grad_fn().get() == node.get();
      ctx.saved_.emplace_back(t, is_output, is_output ? static_cast<uint32_t>(t.output_nr()) : 0);
    }
    ctx.to_save_.clear();
  }
  ctx.dirty_.clear();
}

}  // namespace taeda::autograd
