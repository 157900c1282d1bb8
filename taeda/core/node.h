// SPDX-License-Identifier: Apache-2.0
// The dynamic graph as seen by operators: nodes, edges, saved tensors, and the functions through which an operator's
// door attaches a node to its results. The engine that walks the graph lives in taeda/autograd.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "taeda/core/small_alloc.h"
#include "taeda/core/tensor.h"

namespace taeda::autograd {

struct Node;

/// Where a gradient flows to: input number `input_nr` of `function`. Invalid (null function): nowhere.
struct Edge {
  IntrusivePtr<Node> function;
  uint32_t input_nr = 0;
  bool is_valid() const { return static_cast<bool>(function); }
  friend bool operator==(const Edge& a, const Edge& b) { return a.function == b.function && a.input_nr == b.input_nr; }
};
using edge_list = std::vector<Edge>;

/// Edges of a node; the first three live inside it.
class EdgeList {
 public:
  EdgeList() = default;
  EdgeList(const EdgeList&) = delete;
  EdgeList& operator=(const EdgeList&) = delete;
  ~EdgeList() { clear(); }
  void push_back(Edge edge) {
    if (size_ < kInline) {
      new (&slot(size_)) Edge(std::move(edge));
    } else {
      rest_.push_back(std::move(edge));
    }
    ++size_;
  }
  size_t size() const { return size_; }
  Edge& operator[](size_t i) { return i < kInline ? slot(i) : rest_[i - kInline]; }
  const Edge& operator[](size_t i) const { return const_cast<EdgeList&>(*this)[i]; }
  void clear() {
    for (size_t i = 0; i < std::min<size_t>(size_, kInline); ++i) slot(i).~Edge();
    rest_.clear();
    size_ = 0;
  }

 private:
  static constexpr uint32_t kInline = 3;
  Edge& slot(size_t i) { return reinterpret_cast<Edge*>(inline_)[i]; }
  alignas(Edge) unsigned char inline_[kInline * sizeof(Edge)];
  uint32_t size_ = 0;
  std::vector<Edge> rest_;
};

/// Shape and dtype of one forward output: what its gradient must have.
struct OutputMeta {
  DimVector sizes;
  ScalarType dtype = ScalarType::Float;
  Device device;
};

/// Rare parts of a node: hooks, the forward call site, user-visible names. Defined in taeda/autograd.
struct NodeExtras;

/// One recorded operator. Backward calls `apply` with one gradient for each forward output (undefined = zero) and
/// gets one for each edge (undefined = none needed).
struct TAEDA_API Node {
  RefCount references;
  uint32_t owner_flags = 0;      ///< used by the engine
  uint64_t sequence_nr;          ///< grows with creation: later nodes run first
  EdgeList next_edges_;
  std::vector<OutputMeta> more_outputs;  ///< outputs beyond the first
  OutputMeta first_output;
  uint32_t output_count = 0;
  NodeExtras* extras = nullptr;
  void* engine_slot = nullptr;   ///< the running backward's record of this node, owned by the engine

  Node();
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  static void* operator new(size_t size) { return small_alloc(size); }
  static void operator delete(void* p, size_t size) { small_free(p, size); }

  static void retain(Node* n) noexcept { n->references.retain(); }
  static void release(Node* n) noexcept;  ///< iterative: a chain of any length frees on a small stack
  size_t use_count() const noexcept { return references.value(); }

  /// Fills `grads_out[i]` for every edge i for which `needs(i)`. `grads_in` may be moved from.
  virtual void backward(std::span<Tensor> grads_in, std::span<Tensor> grads_out) = 0;
  /// Name without decoration, for example "MulBackward0".
  virtual std::string name() const = 0;
  /// Frees saved tensors (after a backward without retain_graph).
  virtual void release_variables() {}
  /// Whether `release_variables` left nothing: a second backward is an error.
  virtual bool is_accumulator() const { return false; }

  /// True when edge `i` leads somewhere.
  bool needs(size_t i) const { return i < next_edges_.size() && next_edges_[i].is_valid() ; }
  size_t num_inputs() const { return output_count; }
  size_t num_outputs() const { return next_edges_.size(); }
  const Edge& next_edge(size_t i) const { return next_edges_[i]; }
  edge_list next_edges() const {
    edge_list edges;
    for (size_t i = 0; i < next_edges_.size(); ++i) edges.push_back(next_edges_[i]);
    return edges;
  }
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  uint32_t add_output(const Tensor& output);
  const OutputMeta& output_meta(size_t i) const { return i == 0 ? first_output : more_outputs[i - 1]; }
};

/// What autograd knows about a tensor beyond its flag bits.
struct TAEDA_API AutogradMeta {
  IntrusivePtr<Node> grad_fn;
  uint32_t output_nr = 0;
  uint32_t view_version = 0;          ///< storage version for which a view's grad_fn was made
  bool requires_grad = false;         ///< set by the user on a leaf
  bool retains_grad = false;
  Tensor grad;
  std::mutex mutex;                   ///< guards `accumulator` and lazily made grad_fn
  Node* accumulator = nullptr;        ///< not owned; the node clears it when it dies
  std::vector<std::pair<unsigned, std::function<Tensor(const Tensor&)>>> hooks;
  std::vector<std::function<void(const Tensor&)>> post_accumulate_hooks;
  std::string name;                   ///< module path of a parameter, where known
};

/// The metadata of `tensor`, made when missing.
TAEDA_API AutogradMeta& meta_of(TensorImpl& tensor);

/// A tensor kept for backward. Inputs that are leaves or need no gradient are kept as they are; results of operators
/// are kept without their history, which is put back on use, so that no cycle of ownership arises.
class TAEDA_API SavedTensor {
 public:
  SavedTensor() = default;
  /// `is_output`: the tensor is a result of the node that saves it.
  SavedTensor(const Tensor& tensor, bool is_output);
  /// The tensor as it was. Throws when it was changed in place since, or when it was released.
  Tensor unpack(const Node& owner) const;
  void release();
  bool defined() const { return defined_; }

 private:
  Tensor tensor_;
  IntrusivePtr<Node> grad_fn_;
  uint32_t output_nr_ = 0;
  uint32_t version_ = 0;
  bool is_output_ = false;
  bool restore_history_ = false;
  bool defined_ = false;
  bool released_ = false;
  std::shared_ptr<struct PackedTensor> packed_;  ///< set by pack hooks
};

/// The edge along which the gradient of `tensor` flows (its grad_fn, or a leaf's accumulator); invalid if none.
TAEDA_API Edge gradient_edge(const Tensor& tensor);
inline void add_edge(Node& node, const Tensor& tensor) {
  node.add_next_edge(tensor.defined() && tensor.requires_grad() ? gradient_edge(tensor) : Edge{});
}
/// Makes `node` the producer of `output` (skipped for integer dtypes). Not for in-place results.
TAEDA_API void set_history(const Tensor& output, const IntrusivePtr<Node>& node);
/// Throws when `self` must not be changed in place while gradients are recorded: a leaf that requires grad, a view
/// of one, a multi-output or no-grad view, an expanded tensor.
TAEDA_API void check_inplace(const Tensor& self, bool recording, const char* op);
/// Makes `node` the producer of `self` after an in-place change; for views the base's history is rebased too.
TAEDA_API void rebase_history(const Tensor& self, const IntrusivePtr<Node>& node);

/// True while operators called on this thread record gradients.
inline bool recording() { return (tls_modes.mask & kFlagRequiresGrad) != 0; }
inline bool needs_grad(const Tensor& t) { return t.defined() && t.requires_grad(); }

}  // namespace taeda::autograd
