// SPDX-License-Identifier: Apache-2.0
// Accumulation into `.grad`, in place where a gradient is already there.
#include "taeda/autograd/accumulate_grad.h"

#include <mutex>

#include "taeda/autograd/extras.h"
#include "taeda/autograd/grad_mode.h"
#include "taeda/core/host_watch.h"

namespace taeda::autograd {

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : variable(leaf) {
  sequence_nr = kFirstSequence;
  node_flags = kNodeAccumulator;
  add_output(leaf);
}

AccumulateGrad::~AccumulateGrad() {
  AutogradMeta& m = meta();
  const std::lock_guard lock(m.lock);
  if (m.accumulator == this) m.accumulator = nullptr;
}

bool sole_owner(const Tensor& t) {
  const TensorImpl& impl = t.impl();
  return impl.use_count() == 1 && impl.storage->owners() == 1 && impl.storage->deleter == nullptr &&
         impl.autograd == nullptr && impl.view_base == nullptr && !impl.untracked &&
         !(impl.flags & (kFlagRequiresGrad | kFlagInference)) && impl.is_non_overlapping_and_dense();
}

namespace {

/// A gradient has the leaf's strides where the leaf is dense, else row-major ones.
bool has_layout_of(const Tensor& grad, const Tensor& leaf) {
  if (!leaf.is_non_overlapping_and_dense() || leaf.is_contiguous()) return grad.is_contiguous();
  const IntArrayRef sizes = grad.sizes(), a = grad.strides(), b = leaf.strides();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1 && a[i] != b[i]) return false;
  }
  return true;
}

Tensor copy_with_layout_of(const Tensor& grad, const Tensor& leaf) {
  if (!leaf.is_non_overlapping_and_dense() || leaf.is_contiguous()) return grad.clone(MemoryFormat::Contiguous);
  Tensor copy = make_tensor_strided(leaf.sizes(), leaf.strides(), grad.scalar_type(), grad.device());
  copy.copy_(grad);
  return copy;
}

}  // namespace

void AccumulateGrad::backward(std::span<Tensor> grads_in, std::span<Tensor>) {
  Tensor grad = std::move(grads_in[0]);
  if (!grad.defined()) return;
  if (TAEDA_UNLIKELY(taeda::detail::tls_host_watch != nullptr)) taeda::detail::tls_host_watch->gradient(variable.mutable_impl());
  Tensor& held = meta().grad;
  if (held.defined()) {
    if (GradMode::is_enabled()) {
      held = held.add(grad);
    } else {
      held.add_(grad);  // also into a view of a flat buffer
    }
  } else if (!GradMode::is_enabled() && sole_owner(grad) && has_layout_of(grad, variable)) {
    held = std::move(grad);
  } else {
    held = copy_with_layout_of(GradMode::is_enabled() ? grad : grad.detach(), variable);
  }
}

IntrusivePtr<Node> find_accumulator(const Tensor& leaf) {
  AutogradMeta* meta = leaf.impl().autograd;
  if (meta == nullptr) return {};
  const std::lock_guard lock(meta->lock);
  if (meta->accumulator && meta->accumulator->references.retain_if_alive()) {
    return IntrusivePtr<Node>::adopt(meta->accumulator);
  }
  return {};
}

IntrusivePtr<Node> accumulator_of(const Tensor& leaf) {
  AutogradMeta& meta = meta_of(leaf.mutable_impl());
  const std::lock_guard lock(meta.lock);
  if (meta.accumulator && meta.accumulator->references.retain_if_alive()) {
    return IntrusivePtr<Node>::adopt(meta.accumulator);
  }
  auto node = IntrusivePtr<AccumulateGrad>::adopt(new AccumulateGrad(leaf));
  meta.accumulator = node.get();
  return node;
}

void run_leaf_hooks(AccumulateGrad& node, Tensor& grad) {
  AutogradMeta& meta = node.meta();
  if (meta.extras == nullptr || !grad.defined()) return;
  for (size_t i = 0; i < meta.extras->hooks.size(); ++i) {
    const TensorHook hook = meta.extras->hooks[i].second;
    Tensor changed = hook(grad);
    if (!changed.defined()) continue;
    check_hook_result(grad, changed, "register_hook");
    grad = std::move(changed);
  }
}

void run_post_accumulate_hooks(AccumulateGrad& node) {
  AutogradMeta& meta = node.meta();
  if (meta.extras == nullptr) return;
  for (size_t i = 0; i < meta.extras->post_accumulate_hooks.size(); ++i) {
    const auto hook = meta.extras->post_accumulate_hooks[i].second;
    hook(node.variable);
  }
}

}  // namespace taeda::autograd
