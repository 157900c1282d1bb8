// SPDX-License-Identifier: Apache-2.0
// The rare parts of nodes and tensors' metadata: hooks, names, where an operator was called.
#pragma once

#include <mutex>

#include "taeda/core/node.h"

namespace taeda::autograd {

/// A hook on one output of a node, called with the finished gradient.
struct OutputHook {
  uint32_t output_nr;
  unsigned key;
  TensorHook hook;
};
/// A tensor that keeps its gradient although it is no leaf. Not owned: the tensor's metadata withdraws when it dies.
struct RetainedOutput {
  uint32_t output_nr;
  AutogradMeta* meta;
};

struct NodeExtras {
  std::mutex mutex;  ///< guards `retained`
  std::vector<OutputHook> output_hooks;
  std::vector<RetainedOutput> retained;
  std::vector<std::pair<unsigned, Node::PreHook>> pre_hooks;
  std::vector<std::pair<unsigned, Node::PostHook>> post_hooks;
  std::vector<void*> call_site;  ///< return addresses, innermost first; symbolised when printed
  std::string module_path;
};

struct MetaExtras {
  std::vector<std::pair<unsigned, TensorHook>> hooks;  ///< of a leaf; a non-leaf's hooks are its node's
  std::vector<std::pair<unsigned, std::function<void(const Tensor&)>>> post_accumulate_hooks;
  std::string name;  ///< module path of a parameter, where known
};

/// The extras of `node`, made when missing. Not to be called while the node may run.
NodeExtras& extras_of(Node& node);
MetaExtras& extras_of(AutogradMeta& meta);

/// A key that no other hook has.
unsigned next_hook_key();

/// Applies the tensor hooks on `output_nr` of `node` to `grad`, then stores it where a tensor retains it.
void run_output_hooks(Node& node, uint32_t output_nr, Tensor& grad);
/// Throws when a hook returned a gradient of another shape or dtype.
void check_hook_result(const Tensor& before, const Tensor& after, const char* kind);

/// Moves the retaining of `meta`'s gradient to its present grad_fn.
void retain_on(Node& node, uint32_t output_nr, AutogradMeta& meta);
void stop_retaining(AutogradMeta& meta) noexcept;

/// Before `changed`, whose elements were just overwritten, gets `node` as its history: earlier nodes of the graph that saved it, or
/// a view of it, would own their own successors and never be freed. What they saved is out of date and can only be reported:
/// an alias without that history takes its place.
void forget_overwritten(Node& node, TensorImpl& changed);
namespace detail {
/// Not null: SavedTensor::release is asked by `forget_overwritten` and lets go of nothing else.
extern thread_local constinit const TensorImpl* tls_overwritten TAEDA_NODE_TLS;
}

/// The node that made `tensor`; null for leaves. A view's node is made anew when its base has changed since.
Node* producer_of(TensorImpl& tensor);

/// "parameter 'layer1.weight'" or "tensor", with dtype and shape.
std::string describe(const Tensor& tensor);

}  // namespace taeda::autograd
