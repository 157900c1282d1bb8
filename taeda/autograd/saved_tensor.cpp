// SPDX-License-Identifier: Apache-2.0
// Tensors kept for backward, and the check that nobody changed them since.
#include "taeda/autograd/extras.h"
#include "taeda/autograd/saved_tensor_hooks.h"

namespace taeda::autograd {

/// What pack hooks left in a tensor's place.
struct PackedTensor {
  SavedHooks hooks;
  Value value;
};

namespace {
thread_local constinit const SavedHooks* tls_hooks TAEDA_NODE_TLS = nullptr;
}

SavedTensorHooksGuard::SavedTensorHooksGuard(SavedHooks hooks) : hooks_(std::move(hooks)), outer_(tls_hooks) {
  TAEDA_CHECK(hooks_.pack && hooks_.unpack, "[SavedTensorHooksGuard] both hooks must be callable: got an empty ",
              hooks_.pack ? "unpack" : "pack", " hook; pass a function for each");
  tls_hooks = &hooks_;
}
SavedTensorHooksGuard::~SavedTensorHooksGuard() { tls_hooks = outer_; }

SavedTensor::SavedTensor(const Tensor& tensor, bool is_output, uint32_t output_nr)
    : output_nr_(output_nr), is_output_(is_output) {
  if (!tensor.defined()) return;
  const TensorImpl& impl = tensor.impl();
  TAEDA_CHECK(!(impl.flags & kFlagInference),
              "[autograd] inference tensors cannot be saved for backward: got ", describe(tensor),
              "; clone it outside InferenceMode and use the clone");
  // A result's history leads to the node that saves it: keep an alias without history.
  tensor_ = is_output ? make_alias(tensor) : tensor;
  version_ = tensor_.impl().version();
  state_ = State::kPlain;
  if (TAEDA_UNLIKELY(tls_hooks != nullptr)) register_hooks(*tls_hooks);
}

void SavedTensor::register_hooks(SavedHooks hooks) {
  TAEDA_CHECK(state_ == State::kPlain, "[register_hooks] hooks need a saved tensor without hooks: got ",
              state_ == State::kPacked ? "one that has hooks" : "none", "; register them once, before backward");
  Value value;
  {
    const ModesGuard modes;  // packing is no part of the graph, and what it saves is not packed again
    const SavedHooks* const outer = std::exchange(tls_hooks, nullptr);
    tls_modes.grad_enabled = false;
    refresh_mask(tls_modes);
    try {
      value = hooks.pack(is_output_ ? tensor_ : tensor_.requires_grad() ? make_alias(tensor_) : tensor_);
    } catch (...) {
      tls_hooks = outer;
      throw;
    }
    tls_hooks = outer;
  }
  packed_ = new PackedTensor{std::move(hooks), std::move(value)};
  state_ = State::kPacked;
  if (is_output_ || !tensor_.requires_grad()) tensor_.reset();  // an input with history stays reachable for its edges
}

void SavedTensor::drop_packed() noexcept {
  delete packed_;
  packed_ = nullptr;
}

void SavedTensor::release() {
  if (state_ == State::kEmpty) return;
  tensor_.reset();
  if (packed_) drop_packed();
  state_ = State::kReleased;
}

Tensor SavedTensor::with_history(const Tensor& plain, const Node& owner) const {
  Tensor result = make_alias(plain);
  if (!is_floating_type(plain.scalar_type()) || !(tls_modes.mask & kFlagRequiresGrad)) return result;
  AutogradMeta& meta = meta_of(result.mutable_impl());
  meta.grad_fn = IntrusivePtr<Node>::share(const_cast<Node*>(&owner));
  meta.output_nr = output_nr_;
  result.mutable_impl().flags |= kFlagRequiresGrad;
  return result;
}

Tensor SavedTensor::unpack_slow(const Node& owner) const {
  if (state_ == State::kEmpty) return {};
  TAEDA_CHECK(state_ != State::kReleased, "[", owner.name(),
              "] a graph can be walked back once: its saved tensors were freed by an earlier backward; pass "
              "retain_graph=true (or create_graph=true) to that backward, or compute the forward again");
  if (state_ == State::kPacked) {
    Tensor value = packed_->hooks.unpack(packed_->value);
    TAEDA_CHECK(value.defined(), "[", owner.name(),
                "] an unpack hook must return the saved tensor: got an undefined one; return a tensor");
    if (is_output_) return with_history(value, owner);
    if (!tensor_.defined() || !(tls_modes.mask & kFlagRequiresGrad)) return value;
    // The gradient of a gradient flows on along the original's edge.
    Tensor result = make_alias(value);
    Edge edge = gradient_edge(tensor_);
    AutogradMeta& meta = meta_of(result.mutable_impl());
    if (edge.function->is_accumulator()) return tensor_;
    meta.grad_fn = std::move(edge.function);
    meta.output_nr = edge.input_nr;
    result.mutable_impl().flags |= kFlagRequiresGrad;
    return result;
  }
  if (tensor_.impl().version() != version_) throw_modified(owner);
  return is_output_ ? with_history(tensor_, owner) : tensor_;
}

void SavedTensor::throw_modified(const Node& owner) const {
  const Tensor changed = std::move(tensor_);
  const TensorImpl& impl = changed.impl();
  const char* writer = impl.storage->last_writer.load(std::memory_order_relaxed);
  std::string role;
  if (is_output_) {
    role = str("result ", output_nr_, " of ", owner.name());
  } else {
    role = "an input of " + owner.name();
    if (impl.autograd && impl.autograd->grad_fn) role += ", made by " + impl.autograd->grad_fn->name();
  }
  std::string where;
  if (owner.extras && !owner.extras->module_path.empty()) where = " in module " + owner.extras->module_path;
  TAEDA_CHECK(false, "[", owner.name(), "] a tensor needed for its gradient was modified by an in-place operation: got ",
              describe(changed), ", ", role, where, ", at version ", impl.version(), " where version ", version_,
              " was saved", writer ? str("; last changed by ", writer) : std::string(),
              "; use the out-of-place form of that operation, or clone() the tensor before it (set_detect_anomaly(\"full\")"
              " adds where the operator was called)");
  __builtin_unreachable();
}

}  // namespace taeda::autograd
