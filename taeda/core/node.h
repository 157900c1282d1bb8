// SPDX-License-Identifier: Apache-2.0
// The dynamic graph as seen by operators: nodes, edges, saved tensors, and the functions through which an operator's
// door attaches a node to its results. The engine that walks the graph lives in taeda/autograd.
#pragma once

#include <atomic>
#include <functional>
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
      if (!rest_) rest_ = new std::vector<Edge>;
      rest_->push_back(std::move(edge));
    }
    ++size_;
  }
  size_t size() const { return size_; }
  Edge& operator[](size_t i) { return TAEDA_LIKELY(i < kInline) ? slot(i) : (*rest_)[i - kInline]; }
  const Edge& operator[](size_t i) const { return const_cast<EdgeList&>(*this)[i]; }
  void clear() {
    for (size_t i = 0; i < std::min<size_t>(size_, kInline); ++i) slot(i).~Edge();
    delete std::exchange(rest_, nullptr);
    size_ = 0;
  }

 private:
  static constexpr uint32_t kInline = 3;
  Edge& slot(size_t i) { return reinterpret_cast<Edge*>(inline_)[i]; }
  alignas(Edge) unsigned char inline_[kInline * sizeof(Edge)];
  uint32_t size_ = 0;
  std::vector<Edge>* rest_ = nullptr;
};

/// Shape and dtype of one forward output: what its gradient must have.
struct OutputMeta {
  DimVector sizes;
  ScalarType dtype = ScalarType::Float;
  Device device;
};

/// Rare parts of a node: hooks, the forward call site, user-visible names. Defined in taeda/autograd/extras.h.
struct NodeExtras;

enum NodeFlag : uint8_t {
  kNodeAccumulator = 1,     ///< adds into a leaf's `.grad`
  kNodeWantsUndefined = 2,  ///< is called even when no gradient reached it
};

/// Sequence number of accumulators: they run as soon as their gradient is complete.
inline constexpr uint64_t kFirstSequence = ~uint64_t{0};

namespace detail {
#if defined(__GNUC__)
#define TAEDA_NODE_TLS __attribute__((tls_model("initial-exec")))
#else
#define TAEDA_NODE_TLS
#endif
/// The thread's clock of node creation.
extern TAEDA_API thread_local constinit uint64_t tls_sequence TAEDA_NODE_TLS;
/// Bit i: edge i of the node that runs on this thread leads to a wanted gradient (edges from 63 on share the last bit).
extern TAEDA_API thread_local constinit uint64_t tls_edge_mask TAEDA_NODE_TLS;
}  // namespace detail

/// One recorded operator. Backward calls `backward` with one gradient for each forward output (undefined = zero) and
/// gets one for each edge (undefined = none).
/// Invariant: `sequence_nr` is greater than that of every node an edge leads to, accumulators aside (a Lamport clock, so
/// it also holds for graphs built by several threads).
struct TAEDA_API Node {
  RefCount references;
  std::atomic<uint32_t> engine_owner{0};  ///< the running backward that owns `engine_slot`; 0: none
  void* engine_slot = nullptr;            ///< the owner's record of this node; links dying nodes at the end of its life
  uint64_t sequence_nr;
  NodeExtras* extras = nullptr;
  uint32_t output_count = 0;
  std::atomic<uint8_t> busy{0};           ///< held while `backward` runs: 0 free, 1 held, 2 held and waited for
  uint8_t node_flags = 0;                 ///< NodeFlag bits
  EdgeList next_edges_;
  OutputMeta first_output;
  std::vector<OutputMeta>* more_outputs = nullptr;  ///< outputs beyond the first

  Node() : sequence_nr(++detail::tls_sequence) {}
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  static void* operator new(size_t size) { return small_alloc(size); }
  static void operator delete(void* p, size_t size) { small_free(p, size); }

  static void retain(Node* n) noexcept { n->references.retain(); }
  /// Iterative: a chain of any length frees on a small stack.
  static void release(Node* n) noexcept {
    // Accumulators are found again through a weak pointer, so their count must reach zero.
    const bool last = n->node_flags & kNodeAccumulator ? n->references.release_counted() : n->references.release();
    if (last) destroy(n);
  }
  size_t use_count() const noexcept { return references.value(); }

  /// Fills `grads_out[i]` for every edge i for which `needs(i)`. `grads_in` may be moved from.
  virtual void backward(std::span<Tensor> grads_in, std::span<Tensor> grads_out) = 0;
  /// As LibTorch prints it: operators as "MulBackward0", other nodes with their namespace.
  virtual std::string name() const = 0;
  /// Frees saved tensors (after a backward without retain_graph).
  virtual void release_variables() {}
  bool is_accumulator() const { return node_flags & kNodeAccumulator; }

  /// True when edge `i` leads to a gradient that is wanted.
  bool needs(size_t i) const {
    return i < next_edges_.size() && next_edges_[i].is_valid() && (detail::tls_edge_mask >> std::min<size_t>(i, 63) & 1);
  }
  size_t num_inputs() const { return output_count; }
  size_t num_outputs() const { return next_edges_.size(); }
  const Edge& next_edge(size_t i) const { return next_edges_[i]; }
  edge_list next_edges() const {
    edge_list edges;
    for (size_t i = 0; i < next_edges_.size(); ++i) edges.push_back(next_edges_[i]);
    return edges;
  }
  void add_next_edge(Edge edge) {
    if (edge.function) run_before(*edge.function);
    next_edges_.push_back(std::move(edge));
  }
  /// Replaces edge `i`.
  void set_next_edge(size_t i, Edge edge) {
    if (edge.function) run_before(*edge.function);
    next_edges_[i] = std::move(edge);
  }
  /// Counts `output` as a result of this node (undefined: one that never gets a gradient); returns its number.
  uint32_t add_output(const Tensor& output);
  const OutputMeta& output_meta(size_t i) const { return TAEDA_LIKELY(i == 0) ? first_output : (*more_outputs)[i - 1]; }

  // The names of the compatible interface. Hooks return the gradients to go on with.
  using PreHook = std::function<variable_list(const variable_list& grads)>;
  using PostHook = std::function<variable_list(const variable_list& grads_out, const variable_list& grads_in)>;
  unsigned add_pre_hook(PreHook hook);
  unsigned add_post_hook(PostHook hook);
  /// Runs the node on `grads`, outside any backward.
  variable_list operator()(variable_list grads);
  uint64_t sequence_number() const { return sequence_nr; }
  IntrusivePtr<Node> getptr() { return IntrusivePtr<Node>::share(this); }

 private:
  static void destroy(Node* n) noexcept;
  void run_before(const Node& other) {
    if (other.sequence_nr >= sequence_nr && other.sequence_nr != kFirstSequence) {
      sequence_nr = other.sequence_nr + 1;
      detail::tls_sequence = std::max(detail::tls_sequence, sequence_nr);
    }
  }
};

/// A lock for a few instructions.
class SpinLock {
 public:
  void lock() noexcept {
    while (held_.exchange(true, std::memory_order_acquire)) wait();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  TAEDA_API static void wait() noexcept;
  std::atomic<bool> held_{false};
};

using TensorHook = std::function<Tensor(const Tensor&)>;
/// What few tensors have: hooks and a name. Defined in taeda/autograd/extras.h.
struct MetaExtras;

/// What autograd knows about a tensor beyond its flag bits.
struct TAEDA_API AutogradMeta {
  IntrusivePtr<Node> grad_fn;
  Tensor grad;
  uint64_t first_made = kFirstSequence;  ///< sequence number of what made it before the first recorded change in place
  uint32_t output_nr = 0;
  bool requires_grad = false;         ///< set by the user on a leaf
  bool retains_grad = false;
  SpinLock lock;                      ///< guards `accumulator` and lazily made grad_fn
  Node* accumulator = nullptr;        ///< not owned; the node clears it when it dies
  MetaExtras* extras = nullptr;

  static void* operator new(size_t size) { return small_alloc(size); }
  static void operator delete(void* p, size_t size) { small_free(p, size); }
};

/// The metadata of `tensor`, made when missing.
TAEDA_API AutogradMeta& meta_of(TensorImpl& tensor);

/// What stands for a saved tensor that hooks have packed away.
struct TAEDA_API PackedTensor {
  PackedTensor() = default;
  PackedTensor(const PackedTensor&) = delete;
  PackedTensor& operator=(const PackedTensor&) = delete;
  virtual ~PackedTensor();
  virtual Tensor unpack() = 0;
  Edge edge;  ///< history of a packed input
};
/// Packs tensors when they are saved.
struct TAEDA_API TensorPacker {
  virtual ~TensorPacker();
  virtual PackedTensor* pack(const Tensor& tensor) = 0;
};
namespace detail {
/// The packer of this thread; null: tensors are saved as they are.
extern TAEDA_API thread_local constinit TensorPacker* tls_packer TAEDA_NODE_TLS;
}

/// A tensor kept for backward. Inputs are kept as they are; results of the node itself are kept without their history,
/// which is put back on use, so that no cycle of ownership arises.
class TAEDA_API SavedTensor {
 public:
  SavedTensor() = default;
  /// `is_output`: the tensor is result number `output_nr` of the node that saves it.
  SavedTensor(const Tensor& tensor, bool is_output, uint32_t output_nr = 0);
  SavedTensor(SavedTensor&& other) noexcept { swap(other); }
  SavedTensor& operator=(SavedTensor&& other) noexcept {
    SavedTensor moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~SavedTensor() {
    if (counted_) uncount();
    if (packed_) drop_packed();
  }
  /// The tensor as it was. Throws when it was changed in place since, or when it was released.
  Tensor unpack(const Node& owner) const {
    // The usual case: an unchanged tensor whose history is not asked for.
    if (TAEDA_LIKELY(state_ == State::kPlain && tensor_.impl().version() == version_ &&
                     (!is_output_ || !(tls_modes.mask & kFlagRequiresGrad)))) {
      return tensor_;
    }
    return unpack_slow(owner);
  }
  void release();
  bool defined() const { return state_ == State::kPlain || state_ == State::kPacked; }
  /// Lets `packer` keep the tensor from now on. Throws when there is nothing to pack.
  void pack_by(struct TensorPacker& packer);

 private:
  enum class State : uint8_t { kEmpty, kPlain, kPacked, kReleased };
  Tensor unpack_slow(const Node& owner) const;
  Tensor with_history(const Tensor& plain, const Node& owner) const;
  [[noreturn]] void throw_modified(const Node& owner) const;
  void drop_packed() noexcept;
  /// Inputs whose history may change are counted by what owns that history.
  void count(const TensorImpl& impl) noexcept {
    if (!impl.view_base && (impl.flags & kFlagRequiresGrad) && !(impl.autograd && impl.autograd->grad_fn)) return;
    counted_ = true;
    owner_of_history(impl).savers.fetch_add(1, std::memory_order_relaxed);
  }
  void uncount() const noexcept {
    counted_ = false;
    owner_of_history(tensor_.impl()).savers.fetch_sub(1, std::memory_order_relaxed);
  }
  static TensorImpl& owner_of_history(const TensorImpl& impl) noexcept {
    return const_cast<TensorImpl&>(impl.view_base ? *impl.view_base : impl);
  }
  void swap(SavedTensor& other) noexcept {
    std::swap(tensor_, other.tensor_);
    std::swap(version_, other.version_);
    std::swap(output_nr_, other.output_nr_);
    std::swap(state_, other.state_);
    std::swap(is_output_, other.is_output_);
    std::swap(counted_, other.counted_);
    std::swap(packed_, other.packed_);
  }

  mutable Tensor tensor_;  ///< dropped when found stale, which may break a cycle of ownership
  uint32_t version_ = 0;
  uint32_t output_nr_ = 0;
  State state_ = State::kEmpty;
  bool is_output_ = false;
  mutable bool counted_ = false;
  struct PackedTensor* packed_ = nullptr;
};

/// The edge along which the gradient of `tensor` flows (its grad_fn, or a leaf's accumulator); invalid if none.
TAEDA_API Edge gradient_edge(const Tensor& tensor);
inline void add_edge(Node& node, const Tensor& tensor) {
  node.add_next_edge(tensor.defined() && tensor.requires_grad() ? gradient_edge(tensor) : Edge{});
}
/// Makes `node` the producer of its next output, `output`. Results that cannot have a gradient (undefined, of integer
/// dtype) are counted only. Not for in-place results.
TAEDA_API void set_history(const Tensor& output, IntrusivePtr<Node> node);
/// Throws when `self` must not be changed in place while gradients are recorded: a leaf that requires grad, a view
/// of one, a multi-output or no-grad view, an expanded tensor.
TAEDA_API void check_inplace(const Tensor& self, bool recording, const char* op);
/// Makes `node` the producer of `self` after an in-place change; for views the base's history is rebased too. Edge
/// number `self_edge` of the node leads to the former history of `self`.
TAEDA_API void rebase_history(const Tensor& self, IntrusivePtr<Node> node, size_t self_edge = 0);

/// True while operators called on this thread record gradients.
inline bool recording() { return (tls_modes.mask & kFlagRequiresGrad) != 0; }
inline bool needs_grad(const Tensor& t) { return t.defined() && t.requires_grad(); }

}  // namespace taeda::autograd
