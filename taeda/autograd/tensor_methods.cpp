// SPDX-License-Identifier: Apache-2.0
// The members of Tensor that concern autograd.
#include <mutex>

#include "taeda/autograd/accumulate_grad.h"
#include "taeda/autograd/autograd.h"
#include "taeda/autograd/extras.h"
#include "taeda/autograd/grad_mode.h"
#include "taeda/core/host_watch.h"

namespace taeda {

using autograd::AutogradMeta;
using autograd::meta_of;
using autograd::Node;

const Tensor& Tensor::requires_grad_(bool wanted) const {
  TensorImpl& t = mutable_impl();
  TAEDA_CHECK(is_leaf() || wanted,
              "[requires_grad_] only a leaf's flag may be turned off: got ", autograd::describe(*this), " made by ",
              t.autograd && t.autograd->grad_fn ? t.autograd->grad_fn->name() : std::string("an operator"),
              "; use detach() for a tensor without history");
  TAEDA_CHECK(!wanted || is_floating_type(t.dtype) || is_complex_type(t.dtype),
              "[requires_grad_] only tensors of floating point dtype can require gradients: got ", t.dtype,
              "; convert with to(kFloat) first");
  TAEDA_CHECK(!wanted || !(t.flags & kFlagInference) || tls_modes.inference,
              "[requires_grad_] an inference tensor cannot require gradients outside InferenceMode: got ",
              autograd::describe(*this), "; clone() it first");
  if (!wanted && t.autograd == nullptr) return *this;
  if (t.autograd && t.autograd->grad_fn) return *this;
  meta_of(t).requires_grad = wanted;
  t.flags = static_cast<uint8_t>(wanted ? t.flags | kFlagRequiresGrad : t.flags & ~kFlagRequiresGrad);
  return *this;
}

const Tensor& Tensor::set_requires_grad(bool wanted) const {
  return !wanted && !is_leaf() ? *this : requires_grad_(wanted);
}

int64_t Tensor::_version() const {
  TAEDA_CHECK(!is_inference(), "[_version] changes of inference tensors are not counted: got ", autograd::describe(*this),
              "; clone() it outside InferenceMode");
  return impl().version();
}

bool Tensor::is_leaf() const {
  TensorImpl& t = mutable_impl();
  return !requires_grad() || autograd::producer_of(t) == nullptr;
}

const Tensor& Tensor::grad() const {
  static constinit const Tensor none;
  const TensorImpl& t = impl();
  if (TAEDA_UNLIKELY(detail::tls_host_watch != nullptr)) detail::tls_host_watch->gradient(mutable_impl());
  if (t.autograd == nullptr) return none;
  if (TAEDA_UNLIKELY(t.autograd->grad_fn && !t.autograd->retains_grad && !t.autograd->grad.defined())) {
    static constinit std::atomic<bool> said{false};
    if (!said.exchange(true)) {
      TAEDA_WARN("[grad] a tensor that is not a leaf keeps no gradient: got ", autograd::describe(*this),
                 "; call retain_grad() on it before backward (said once)");
    }
  }
  return t.autograd->grad;
}

Tensor& Tensor::mutable_grad() const {
  if (TAEDA_UNLIKELY(detail::tls_host_watch != nullptr)) detail::tls_host_watch->gradient(mutable_impl());
  return meta_of(mutable_impl()).grad;
}

IntrusivePtr<Node> Tensor::grad_fn() const {
  if (!defined()) return {};
  return IntrusivePtr<Node>::share(autograd::producer_of(mutable_impl()));
}

int64_t Tensor::output_nr() const {
  const TensorImpl& t = impl();
  return t.autograd ? t.autograd->output_nr : 0;
}

void Tensor::retain_grad() const {
  TAEDA_CHECK(requires_grad(), "[retain_grad] the tensor must require grad: got ", autograd::describe(*this),
              "; call requires_grad_() first");
  if (is_leaf()) return;  // keeps its gradient anyway
  TensorImpl& t = mutable_impl();
  Node* node = autograd::producer_of(t);
  if (t.autograd->retains_grad) return;
  autograd::retain_on(*node, t.autograd->output_nr, *t.autograd);
}

bool Tensor::retains_grad() const { return impl().autograd && impl().autograd->retains_grad; }

Tensor Tensor::detach() const { return make_alias(*this); }

Tensor& Tensor::detach_() const {
  TensorImpl& t = mutable_impl();
  TAEDA_CHECK(!t.view_base, "[detach_] a view cannot be detached in place: got ", autograd::describe(*this),
              "; use detach()");
  if (AutogradMeta* meta = t.autograd) {
    if (meta->retains_grad) autograd::stop_retaining(*meta);
    meta->requires_grad = false;
    meta->grad_fn.reset();
    meta->output_nr = 0;
  }
  t.flags = static_cast<uint8_t>(t.flags & ~kFlagRequiresGrad);
  return const_cast<Tensor&>(*this);
}

Tensor Tensor::variable_data() const {
  Tensor alias = make_alias(*this);
  alias.mutable_impl().untracked = true;
  return alias;
}

void Tensor::set_data(const Tensor& new_data) const {
  TensorImpl& t = mutable_impl();
  const TensorImpl& from = new_data.impl();
  TAEDA_CHECK(!requires_grad() || is_floating_type(from.dtype),
              "[set_data] data of a tensor that requires grad must have a floating dtype: got ", from.dtype,
              "; convert it first");
  if (t.autograd && t.autograd->accumulator) {
    // A later gradient has the new shape: whoever still holds the old accumulator keeps it.
    const std::lock_guard lock(t.autograd->lock);
    if (t.dtype != from.dtype || t.sizes() != from.sizes()) t.autograd->accumulator = nullptr;
  }
  t.storage = from.storage;
  t.offset = from.offset;
  t.dtype = from.dtype;
  t.device_ = from.device_;
  t.set_sizes_strides(from.sizes(), from.strides());
}

const Tensor Tensor::_base() const {
  TAEDA_CHECK(is_view(), "[_base] only views have a base: got ", autograd::describe(*this), "; check is_view() first");
  return Tensor(impl().view_base);
}

bool detail::has_gradient_hooks(const TensorImpl& leaf) {
  const autograd::MetaExtras* extras = leaf.autograd ? leaf.autograd->extras : nullptr;
  return extras && (!extras->hooks.empty() || !extras->post_accumulate_hooks.empty());
}

unsigned Tensor::add_hook(std::function<Tensor(const Tensor&)> hook) const {
  TAEDA_CHECK(requires_grad(), "[register_hook] the tensor must require grad: got ", autograd::describe(*this),
              "; call requires_grad_() first");
  TensorImpl& t = mutable_impl();
  const unsigned key = autograd::next_hook_key();
  if (Node* node = autograd::producer_of(t)) {
    autograd::extras_of(*node).output_hooks.push_back({t.autograd->output_nr, key, std::move(hook)});
  } else {
    autograd::extras_of(meta_of(t)).hooks.emplace_back(key, std::move(hook));
  }
  return key;
}

void Tensor::remove_hook(unsigned position) const {
  TensorImpl& t = mutable_impl();
  const auto same = [&](const auto& entry) { return entry.first == position; };
  size_t removed = 0;
  if (t.autograd && t.autograd->extras) removed += std::erase_if(t.autograd->extras->hooks, same);
  if (Node* node = autograd::producer_of(t); node && node->extras) {
    removed += std::erase_if(node->extras->output_hooks, [&](const auto& h) { return h.key == position; });
  }
  TAEDA_CHECK_INDEX(removed != 0, "[remove_hook] the tensor must have the hook: got position ", position,
                    "; pass what register_hook returned");
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::optional<TensorList> inputs) const {
  autograd::backward_of({this, 1}, {&gradient, 1}, retain_graph.value_or(create_graph), create_graph,
                        inputs ? *inputs : TensorList(), inputs.has_value());
}

}  // namespace taeda
