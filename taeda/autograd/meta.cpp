// SPDX-License-Identifier: Apache-2.0
// Tensors' metadata, and the edges between tensors and the graph.
#include <mutex>

#include "taeda/autograd/accumulate_grad.h"
#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/extras.h"

namespace taeda {

void detail::destroy_autograd_meta(autograd::AutogradMeta* meta) noexcept {
  if (meta->retains_grad) autograd::stop_retaining(*meta);
  delete meta->extras;
  delete meta;
}

namespace autograd {

AutogradMeta& meta_of(TensorImpl& tensor) {
  AutogradMeta* meta = __atomic_load_n(&tensor.autograd, __ATOMIC_ACQUIRE);
  if (TAEDA_LIKELY(meta != nullptr)) return *meta;
  auto* fresh = new AutogradMeta;  // another thread may be making it too
  if (__atomic_compare_exchange_n(&tensor.autograd, &meta, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return *fresh;
  }
  delete fresh;
  return *meta;
}

Edge gradient_edge(const Tensor& tensor) {
  if (!tensor.requires_grad()) return {};
  TensorImpl& impl = tensor.mutable_impl();
  if (impl.view_base) {
    if (Node* producer = producer_of(impl)) {
      return {IntrusivePtr<Node>::share(producer), impl.autograd->output_nr};
    }
  } else if (AutogradMeta* meta = impl.autograd; meta && meta->grad_fn) {
    return {meta->grad_fn, meta->output_nr};
  }
  // A view that was taken without recording takes part in no graph, although its base requires grad.
  if (!impl.autograd || !impl.autograd->requires_grad) return {};
  return {accumulator_of(tensor), 0};
}

void set_history(const Tensor& output, IntrusivePtr<Node> node) {
  const uint32_t nr = node->add_output(output);
  if (!output.defined() || !is_floating_type(output.scalar_type())) return;
  TensorImpl& impl = output.mutable_impl();
  TAEDA_CHECK(!(impl.flags & kFlagInference), "[", node->name(),
              "] inference tensors cannot take part in a recorded graph: got an inference tensor as the result; "
              "clone it outside InferenceMode first");
  if (TAEDA_UNLIKELY(tls_modes.anomaly_level > 1)) anomaly::keep_call_site(*node);
  AutogradMeta& meta = meta_of(impl);
  meta.grad_fn = std::move(node);
  meta.output_nr = nr;
  impl.view_version = impl.version();
  impl.flags |= kFlagRequiresGrad;
}

std::string describe(const Tensor& tensor) {
  const AutogradMeta* meta = tensor.impl().autograd;
  const std::string what = str(tensor.scalar_type(), tensor.sizes());
  if (meta && meta->extras && !meta->extras->name.empty()) return str("parameter '", meta->extras->name, "' ", what);
  return str("tensor ", what);
}

}  // namespace autograd
}  // namespace taeda
