// SPDX-License-Identifier: Apache-2.0
// In-place changes: what is allowed, and how histories of tensors, bases and views follow.
#include <algorithm>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/extras.h"
#include "taeda/autograd/grad_mode.h"
#include "taeda/autograd/view.h"

namespace taeda::autograd {

namespace {

/// History of a view whose base was changed after it was taken.
struct ViewOfBase final : Node {
  ViewGeometry view;
  ScalarType dtype;
  Device device;
  ViewOfBase(const TensorImpl& base, const TensorImpl& v)
      : view(base, v), dtype(base.dtype), device(base.device_) {}
  std::string name() const override { return "AsStridedBackward0"; }
  void backward(std::span<Tensor> in, std::span<Tensor> out) override {
    if (needs(0)) out[0] = view_replace({}, in[0], view, dtype, device);
  }
};

/// History of a base part of which was changed in place through a view: `node` is the operator that changed the part.
struct CopySlices final : Node {
  ViewGeometry view;
  IntrusivePtr<Node> node;
  ScalarType dtype;
  Device device;
  size_t self_edge;

  CopySlices(const Tensor& base, const TensorImpl& v, IntrusivePtr<Node> op, size_t edge)
      : view(base.impl(), v), node(std::move(op)), dtype(base.scalar_type()), device(base.device()), self_edge(edge) {
    for (size_t i = 0; i < std::max(node->num_outputs(), self_edge + 1); ++i) {
      if (i == self_edge) {
        add_next_edge(gradient_edge(base));
      } else {
        add_next_edge(node->next_edge(i));
      }
    }
    sequence_nr = std::max(sequence_nr, node->sequence_nr + 1);
    add_output(base);
  }
  std::string name() const override { return "torch::autograd::CopySlices"; }
  void release_variables() override {
    if (node) node->release_variables();
  }
  void backward(std::span<Tensor> in, std::span<Tensor> out) override {
    std::vector<Tensor> op_out(node->num_outputs());
    const bool op_needed = [&] {
      for (size_t i = 0; i < op_out.size(); ++i) {
        if (node->needs(i)) return true;
      }
      return false;
    }();
    const Tensor grad = in[0];
    if (op_needed) {
      Tensor part = view_gather(grad, view);
      if (part.is_same(grad)) part = make_alias(grad);
      node->backward({&part, 1}, op_out);
    }
    for (size_t i = 0; i < out.size(); ++i) {
      if (i == self_edge || !needs(i)) continue;
      out[i] = std::move(op_out[i]);
    }
    if (needs(self_edge)) {
      const Tensor through = self_edge < op_out.size() ? op_out[self_edge] : Tensor();
      out[self_edge] = view_replace(grad, through, view, dtype, device);
    }
  }
};

[[noreturn]] void throw_bad_view(const Tensor& self, const char* op, bool indirect) {
  const char* reason = "";
  const char* remedy = "";
  switch (self.impl().view_kind) {
    case ViewKind::kMultiOutput:
      reason = "is one of several views that one operator returned";
      remedy = "use the out-of-place form of the operation";
      break;
    case ViewKind::kNoGrad:
      reason = "was created in no_grad mode and then changed with grad mode enabled, which is ambiguous";
      remedy = "do both inside the no_grad block (not recorded) or both outside (recorded)";
      break;
    case ViewKind::kInference:
      reason = "was created in inference mode and then changed in normal mode, which is ambiguous";
      remedy = "do both inside inference mode (not recorded) or both outside (recorded)";
      break;
    default:
      reason = "was returned by a custom Function, whose backward the in-place change would override";
      remedy = "clone() the output of the custom Function";
  }
  const AutogradMeta* meta = self.impl().autograd;
  TAEDA_CHECK(false, "[", op, "] this view must not be ",
              indirect ? "used after its base was modified in place: " : "modified in place: ", describe(self),
              meta && meta->grad_fn ? str(", output ", meta->output_nr, " of ", meta->grad_fn->name(), ", ") : ", ",
              reason, "; ", remedy);
  __builtin_unreachable();
}

/// Lets the nodes behind `node` that are younger than `made` forget what they saved of `changed`.
void forget_since(uint64_t made, Node& node, TensorImpl& changed) {
  std::vector<Node*> open{&node};
  std::unordered_set<const Node*> seen;
  detail::tls_overwritten = &changed;
  while (!open.empty()) {
    Node* n = open.back();
    open.pop_back();
    n->release_variables();
    for (size_t i = 0; i < n->next_edges_.size(); ++i) {
      Node* next = n->next_edges_[i].function.get();
      if (next && !next->is_accumulator() && next->sequence_nr > made && seen.insert(next).second) open.push_back(next);
    }
  }
  detail::tls_overwritten = nullptr;
}
}  // namespace

void forget_overwritten(Node& node, TensorImpl& changed) {
  // Whoever saved `changed` has an edge to what made it, and so a greater sequence number. Most often what saved it did so
  // since the last change; what saved it earlier may have joined the graph only now.
  const AutogradMeta* meta = changed.autograd;
  const uint64_t last = meta && meta->grad_fn ? meta->grad_fn->sequence_nr : 0;
  forget_since(last, node, changed);
  if (last > 0 && changed.savers.load(std::memory_order_relaxed) > 0) forget_since(meta->first_made, node, changed);
}

Node* producer_of(TensorImpl& impl) {
  if (!impl.view_base || !(impl.view_base->flags & kFlagRequiresGrad)) {
    return impl.autograd ? impl.autograd->grad_fn.get() : nullptr;
  }
  AutogradMeta& meta = meta_of(impl);
  const std::lock_guard lock(meta.lock);
  if (impl.view_version == impl.version()) return meta.grad_fn.get();
  const Tensor self(IntrusivePtr<TensorImpl>::share(&impl));
  if (impl.view_kind != ViewKind::kOrdinary) throw_bad_view(self, "view", true);
  auto node = IntrusivePtr<ViewOfBase>::adopt(new ViewOfBase(*impl.view_base, impl));
  node->add_next_edge(gradient_edge(Tensor(impl.view_base)));
  node->add_output(self);
  const bool retains = meta.retains_grad;
  if (retains) stop_retaining(meta);
  meta.grad_fn = std::move(node);
  meta.output_nr = 0;
  impl.view_version = impl.version();
  if (retains) retain_on(*meta.grad_fn, 0, meta);
  return meta.grad_fn.get();
}

void check_inplace(const Tensor& self, bool recorded, const char* op) {
  const TensorImpl& impl = self.impl();
  TAEDA_CHECK(!(impl.flags & kFlagInference) || tls_modes.inference, "[", op,
              "] inference tensors can be modified in place only inside InferenceMode: got ", describe(self),
              "; clone() it first, or enter InferenceMode");
  if (!recorded || !GradMode::is_enabled()) return;  // operators refuse by themselves what they cannot write
  for (size_t d = 0; d < impl.ndim; ++d) {
    TAEDA_CHECK(impl.strides()[d] != 0 || impl.sizes()[d] <= 1, "[", op,
                "] several elements of the tensor share one memory location: got ", describe(self), ", strides ",
                impl.strides(), "; clone() it before the operation");
  }
  if (impl.view_base) {
    if (impl.view_kind != ViewKind::kOrdinary) throw_bad_view(self, op, false);
    const TensorImpl& base = *impl.view_base;
    TAEDA_CHECK(!(base.flags & kFlagRequiresGrad) || (base.autograd && base.autograd->grad_fn), "[", op,
                "] a view of a leaf that requires grad must not be modified in place: got ", describe(self), " of ",
                describe(Tensor(impl.view_base)), "; change it under NoGradGuard, or clone() the leaf first");
  }
  TAEDA_CHECK(!self.requires_grad() || !self.is_leaf(), "[", op,
              "] a leaf that requires grad must not be modified in place: got ", describe(self),
              "; change it under NoGradGuard, or clone() it first");
}

namespace {
void attach(TensorImpl& impl, IntrusivePtr<Node> node, uint32_t output_nr) {
  AutogradMeta& meta = meta_of(impl);
  if (meta.first_made == kFirstSequence) meta.first_made = meta.grad_fn ? meta.grad_fn->sequence_nr : 0;
  if (impl.savers.load(std::memory_order_relaxed) > 0) forget_overwritten(*node, impl);
  const bool retains = meta.retains_grad;
  if (retains) stop_retaining(meta);
  meta.grad_fn = std::move(node);
  meta.output_nr = output_nr;
  impl.flags |= kFlagRequiresGrad;
  if (retains) retain_on(*meta.grad_fn, output_nr, meta);
}
}  // namespace

void rebase_history(const Tensor& self, IntrusivePtr<Node> node, size_t self_edge) {
  if (!node || !is_floating_type(self.scalar_type())) return;
  if (TAEDA_UNLIKELY(tls_modes.anomaly_level > 1)) anomaly::keep_call_site(*node);
  TensorImpl& impl = self.mutable_impl();
  const uint32_t nr = node->add_output(self);
  if (!impl.view_base) {
    attach(impl, std::move(node), nr);
    return;
  }
  TAEDA_CHECK(nr == 0, "[", node->name(), "] an operator that changes a view in place must have one result: got ", nr + 1,
              "; return only the changed view");
  const Tensor base(impl.view_base);
  auto copy = IntrusivePtr<CopySlices>::adopt(new CopySlices(base, impl, std::move(node), self_edge));
  attach(*impl.view_base, std::move(copy), 0);
  AutogradMeta& meta = meta_of(impl);
  const bool retains = meta.retains_grad;
  if (retains) stop_retaining(meta);
  {
    const std::lock_guard lock(meta.lock);
    impl.view_version = impl.version() - 1;  // its node is out of date
  }
  producer_of(impl);
  if (retains) retain_on(*meta.grad_fn, meta.output_nr, meta);
}

}  // namespace taeda::autograd
