// SPDX-License-Identifier: Apache-2.0
// Life of graph nodes: outputs, hooks, iterative destruction.
#include "taeda/core/node.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "taeda/autograd/extras.h"
#include "taeda/autograd/grad_mode.h"

namespace taeda::autograd {

namespace detail {
thread_local constinit uint64_t tls_sequence TAEDA_NODE_TLS = 0;
thread_local constinit uint64_t tls_edge_mask TAEDA_NODE_TLS = ~uint64_t{0};
}  // namespace detail

namespace {
/// Nodes that lost their last owner while another was being destroyed on this thread.
struct Dying {
  bool active = false;
  Node* head = nullptr;
};
thread_local constinit Dying tls_dying TAEDA_NODE_TLS;
}  // namespace

void SpinLock::wait() noexcept { std::this_thread::yield(); }

Node::~Node() {
  delete extras;
  delete more_outputs;
}

void Node::destroy(Node* n) noexcept {
  Dying& dying = tls_dying;
  if (dying.active) {
    n->engine_slot = dying.head;
    dying.head = n;
    return;
  }
  dying.active = true;
  while (n != nullptr) {
    delete n;  // whatever it owned last is linked into the list
    n = dying.head;
    if (n != nullptr) dying.head = static_cast<Node*>(n->engine_slot);
  }
  dying.active = false;
}

uint32_t Node::add_output(const Tensor& output) {
  if (output_count > 0 && more_outputs == nullptr) more_outputs = new std::vector<OutputMeta>;
  OutputMeta& meta = output_count == 0 ? first_output : more_outputs->emplace_back();
  if (output.defined()) {
    const TensorImpl& impl = output.impl();
    meta.sizes.resize(impl.ndim);
    std::copy_n(impl.sizes().data(), impl.ndim, meta.sizes.data());
    meta.dtype = impl.dtype;
    meta.device = impl.device_;
  } else {
    meta.dtype = ScalarType::Undefined;
  }
  return output_count++;
}

unsigned Node::add_pre_hook(PreHook hook) {
  const unsigned key = next_hook_key();
  extras_of(*this).pre_hooks.emplace_back(key, std::move(hook));
  return key;
}
unsigned Node::add_post_hook(PostHook hook) {
  const unsigned key = next_hook_key();
  extras_of(*this).post_hooks.emplace_back(key, std::move(hook));
  return key;
}

variable_list Node::operator()(variable_list grads) {
  variable_list out(num_outputs());
  backward(grads, out);
  return out;
}

NodeExtras& extras_of(Node& node) {
  if (node.extras == nullptr) node.extras = new NodeExtras;
  return *node.extras;
}
MetaExtras& extras_of(AutogradMeta& meta) {
  if (meta.extras == nullptr) meta.extras = new MetaExtras;
  return *meta.extras;
}

unsigned next_hook_key() {
  static constinit std::atomic<unsigned> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void check_hook_result(const Tensor& before, const Tensor& after, const char* kind) {
  TAEDA_CHECK(after.sizes() == before.sizes() && after.scalar_type() == before.scalar_type(), "[", kind,
              "] a hook must return a gradient of the same shape and dtype: got ", after.scalar_type(), after.sizes(),
              " for ", before.scalar_type(), before.sizes(), "; reshape or convert it in the hook");
}

void run_output_hooks(Node& node, uint32_t output_nr, Tensor& grad) {
  NodeExtras& extras = *node.extras;
  for (size_t i = 0; i < extras.output_hooks.size(); ++i) {  // a hook may add hooks
    if (extras.output_hooks[i].output_nr != output_nr || !grad.defined()) continue;
    const TensorHook hook = extras.output_hooks[i].hook;
    Tensor changed = hook(grad);
    if (!changed.defined()) continue;
    check_hook_result(grad, changed, "register_hook");
    grad = std::move(changed);
  }
  if (extras.retained.empty() || !grad.defined()) return;
  const std::lock_guard lock(extras.mutex);
  for (const RetainedOutput& r : extras.retained) {
    if (r.output_nr != output_nr) continue;
    r.meta->grad = r.meta->grad.defined() ? r.meta->grad.add(grad) : grad.clone();
  }
}

void retain_on(Node& node, uint32_t output_nr, AutogradMeta& meta) {
  NodeExtras& extras = extras_of(node);
  const std::lock_guard lock(extras.mutex);
  extras.retained.push_back({output_nr, &meta});
  meta.retains_grad = true;
}

void stop_retaining(AutogradMeta& meta) noexcept {
  if (!meta.retains_grad) return;
  meta.retains_grad = false;
  if (!meta.grad_fn || !meta.grad_fn->extras) return;
  NodeExtras& extras = *meta.grad_fn->extras;
  const std::lock_guard lock(extras.mutex);
  std::erase_if(extras.retained, [&](const RetainedOutput& r) { return r.meta == &meta; });
}

}  // namespace taeda::autograd
