// SPDX-License-Identifier: Apache-2.0
// Tensors kept for backward, and the check that nobody changed them since.
#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/extras.h"
#include "taeda/autograd/saved_tensor_hooks.h"

namespace taeda::autograd {

namespace detail {
thread_local constinit TensorPacker* tls_packer TAEDA_NODE_TLS = nullptr;
thread_local constinit const TensorImpl* tls_overwritten TAEDA_NODE_TLS = nullptr;
}

PackedTensor::~PackedTensor() = default;
TensorPacker::~TensorPacker() = default;

namespace {
struct HookedTensor final : PackedTensor {
  HookedTensor(const SavedHooks& h, Value v) : hooks(h), value(std::move(v)) {}
  Tensor unpack() override { return hooks.unpack(value); }
  SavedHooks hooks;
  Value value;
};
}  // namespace

PackedTensor* SavedTensorHooksGuard::Packer::pack(const Tensor& tensor) {
  return new HookedTensor(hooks, hooks.pack(tensor));
}

SavedTensorHooksGuard::SavedTensorHooksGuard(SavedHooks hooks)
    : packer_(std::move(hooks)), outer_(detail::tls_packer) {
  TAEDA_CHECK(packer_.hooks.pack && packer_.hooks.unpack,
              "[SavedTensorHooksGuard] both hooks must be callable: got an empty ",
              packer_.hooks.pack ? "unpack" : "pack", " hook; pass a function for each");
  detail::tls_packer = &packer_;
}
SavedTensorHooksGuard::~SavedTensorHooksGuard() { detail::tls_packer = outer_; }

SavedTensor::SavedTensor(const Tensor& tensor, bool is_output, uint32_t output_nr)
    : output_nr_(output_nr), is_output_(is_output) {
  if (!tensor.defined()) return;
  const TensorImpl& impl = tensor.impl();
  TAEDA_CHECK(!(impl.flags & kFlagInference),
              "[autograd] inference tensors cannot be saved for backward: got ", describe(tensor),
              "; clone it outside InferenceMode and use the clone");
  // A result's history leads to the node that saves it: keep an alias without history.
  tensor_ = is_output ? make_alias(tensor) : tensor;
  if (!is_output) count(tensor.impl());
  version_ = tensor_.impl().version();
  state_ = State::kPlain;
  if (TAEDA_UNLIKELY(detail::tls_packer != nullptr)) pack_by(*detail::tls_packer);
}

void SavedTensor::pack_by(TensorPacker& packer) {
  TAEDA_CHECK(state_ == State::kPlain, "[SavedTensor] packing needs a saved tensor that is not packed: got ",
              state_ == State::kPacked ? "one that is" : "none", "; pack it once, before backward");
  const ModesGuard modes;  // packing is no part of the graph, and what it saves is not packed again
  tls_modes.grad_enabled = false;
  refresh_mask(tls_modes);
  TensorPacker* const outer = std::exchange(detail::tls_packer, nullptr);
  try {
    packed_ = packer.pack(tensor_.requires_grad() ? make_alias(tensor_) : tensor_);
  } catch (...) {
    detail::tls_packer = outer;
    throw;
  }
  detail::tls_packer = outer;
  if (!is_output_) packed_->edge = gradient_edge(tensor_);
  if (counted_) uncount();
  tensor_.reset();
  state_ = State::kPacked;
}

void SavedTensor::drop_packed() noexcept {
  delete packed_;
  packed_ = nullptr;
}

namespace {
/// What is reported of a tensor that was changed: its geometry, version and producer.
Tensor remains_of(const Tensor& tensor) {
  Tensor alias = make_alias(tensor);
  const AutogradMeta* meta = tensor.impl().autograd;
  if (meta && meta->grad_fn) meta_of(alias.mutable_impl()).grad_fn = meta->grad_fn;
  return alias;
}
}  // namespace

void SavedTensor::release() {
  if (state_ == State::kEmpty) return;
  if (TAEDA_UNLIKELY(detail::tls_overwritten != nullptr)) {
    if (state_ != State::kPlain || is_output_ || !tensor_.defined() || tensor_.impl().version() == version_) return;
    const TensorImpl& impl = tensor_.impl();
    if (&impl != detail::tls_overwritten && impl.view_base.get() != detail::tls_overwritten) return;
    if (counted_) uncount();
    tensor_ = remains_of(tensor_);
    return;
  }
  if (counted_) uncount();
  tensor_.reset();
  if (packed_) drop_packed();
  state_ = State::kReleased;
}

namespace {
/// The same data with a history; without one where nothing is recorded.
Tensor with_edge(const Tensor& plain, IntrusivePtr<Node> node, uint32_t output_nr) {
  Tensor result = make_alias(plain);
  if (!node || !is_floating_type(plain.scalar_type()) || !recording()) return result;
  AutogradMeta& meta = meta_of(result.mutable_impl());
  meta.grad_fn = std::move(node);
  meta.output_nr = output_nr;
  result.mutable_impl().flags |= kFlagRequiresGrad;
  return result;
}
}  // namespace

Tensor SavedTensor::with_history(const Tensor& plain, const Node& owner) const {
  return with_edge(plain, IntrusivePtr<Node>::share(const_cast<Node*>(&owner)), output_nr_);
}

Tensor SavedTensor::unpack_slow(const Node& owner) const {
  if (state_ == State::kEmpty) return {};
  TAEDA_CHECK(state_ != State::kReleased, "[", owner.name(),
              "] a graph can be walked back once: its saved tensors were freed by an earlier backward; pass "
              "retain_graph=true (or create_graph=true) to that backward, or compute the forward again");
  if (state_ == State::kPacked) {
    const Tensor value = packed_->unpack();
    TAEDA_CHECK(value.defined(), "[", owner.name(),
                "] an unpack hook must return the saved tensor: got an undefined one; return a tensor");
    // The gradient of a gradient flows on along the original's edge.
    return is_output_ ? with_history(value, owner) : with_edge(value, packed_->edge.function, packed_->edge.input_nr);
  }
  if (tensor_.impl().version() != version_) throw_modified(owner);
  return is_output_ ? with_history(tensor_, owner) : tensor_;
}

void SavedTensor::throw_modified(const Node& owner) const {
  if (counted_) uncount();
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
  const std::string site = anomaly::call_site(owner);
  std::string where;
  if (owner.extras && !owner.extras->module_path.empty()) where = " in module " + owner.extras->module_path;
  TAEDA_CHECK(false, "[", owner.name(), "] a tensor needed for its gradient was modified by an in-place operation: got ",
              describe(changed), ", ", role, where, ", at version ", impl.version(), " where version ", version_,
              " was saved", writer ? str("; last changed by ", writer) : std::string(),
              "; use the out-of-place form of that operation, or clone() the tensor before it (set_detect_anomaly(\"full\")"
              " adds where the operator was called)", site.empty() ? site : "\nthe operator was called at\n" + site);
  __builtin_unreachable();
}

}  // namespace taeda::autograd
