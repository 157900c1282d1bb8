// SPDX-License-Identifier: Apache-2.0
// The engine's walk.
#include "taeda/autograd/engine.h"

#include <algorithm>
#include <thread>

#include "taeda/autograd/accumulate_grad.h"
#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/extras.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda::autograd {

namespace {

/// Nested backwards beyond this depth get a thread, and so a stack, of their own.
constexpr int kMaxDepthOnOneStack = 40;
/// Records that a thread keeps for its next backward.
constexpr size_t kKeptBlocks = 64;

thread_local constinit GraphTask* tls_task TAEDA_NODE_TLS = nullptr;

std::unique_ptr<EngineScratch>& spare_scratch() {
  thread_local std::unique_ptr<EngineScratch> spare;
  return spare;
}

uint32_t next_task_id() {
  static constinit std::atomic<uint32_t> last{0};
  uint32_t id = 0;
  while (id == 0) id = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return id;
}

/// A lock that sleeps when it has to wait: a node may run for long in another backward.
class BusyGuard {
 public:
  explicit BusyGuard(Node& node) : busy_(node.busy) {
    uint8_t free = 0;
    if (busy_.compare_exchange_strong(free, 1, std::memory_order_acquire)) return;
    while (busy_.exchange(2, std::memory_order_acquire) != 0) busy_.wait(2, std::memory_order_relaxed);
  }
  ~BusyGuard() {
    if (busy_.exchange(0, std::memory_order_release) == 2) busy_.notify_all();
  }
  BusyGuard(const BusyGuard&) = delete;
  BusyGuard& operator=(const BusyGuard&) = delete;

 private:
  std::atomic<uint8_t>& busy_;
};

bool expandable(IntArrayRef from, IntArrayRef to) {
  if (from.size() > to.size()) return false;
  const size_t lead = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1 && from[i] != to[lead + i]) return false;
  }
  return true;
}

[[noreturn]] TAEDA_COLD void throw_bad_gradient(const Tensor& g, const OutputMeta& meta, const Node* from, size_t index) {
  TAEDA_CHECK(false, "[", from ? from->name() : std::string("backward"), "] gradient ", index,
              " must fit the tensor it belongs to: got ", g.scalar_type(), g.sizes(), " for ", meta.dtype,
              IntArrayRef(meta.sizes), from ? "; the node's backward must return a gradient of its input's shape"
                                            : "; pass a gradient of the tensor's shape");
  __builtin_unreachable();
}

TAEDA_COLD void conform_slow(Tensor& g, const OutputMeta& meta, const Node* from, size_t index) {
  if (meta.dtype == ScalarType::Undefined) return;
  if (!is_floating_type(g.scalar_type())) throw_bad_gradient(g, meta, from, index);
  if (g.sizes() != IntArrayRef(meta.sizes)) {
    if (!expandable(meta.sizes, g.sizes())) throw_bad_gradient(g, meta, from, index);
    g = sum_to(g, meta.sizes);
  }
  if (g.scalar_type() != meta.dtype) g = g.to(meta.dtype);
}

}  // namespace

void conform(Tensor& gradient, const OutputMeta& meta, const Node* from, size_t index) {
  const TensorImpl& g = *gradient.unsafeGetTensorImpl();
  if (TAEDA_LIKELY(g.dtype == meta.dtype && g.ndim == meta.sizes.size() &&
                   std::equal(meta.sizes.begin(), meta.sizes.end(), g.dims))) {
    return;
  }
  conform_slow(gradient, meta, from, index);
}

GraphTask* current_task() { return tls_task; }

GraphTask::GraphTask(bool keep_graph, bool create_graph)
    : id_(next_task_id()), keep_graph_(keep_graph), create_graph_(create_graph), scratch_(std::move(spare_scratch())) {
  if (!scratch_) scratch_ = std::make_unique<EngineScratch>();
}

GraphTask::~GraphTask() {
  EngineScratch& s = *scratch_;
  for (size_t i = 0; i < s.used; ++i) {
    NodeRecord& r = s.at(i);
    if (r.owned) r.node->engine_owner.store(0, std::memory_order_release);
    delete r.more;
    r = NodeRecord{};
  }
  s.used = 0;
  s.stack.clear();
  s.heap.clear();
  if (s.blocks.size() > kKeptBlocks) s.blocks.resize(kKeptBlocks);
  spare_scratch() = std::move(scratch_);
}

NodeRecord* GraphTask::find(Node* node, bool* created) {
  *created = false;
  if (node->engine_owner.load(std::memory_order_acquire) == id_) return static_cast<NodeRecord*>(node->engine_slot);
  if (!foreign_.empty()) {
    const auto it = foreign_.find(node);
    if (it != foreign_.end()) return it->second;
  }
  *created = true;
  NodeRecord* record = scratch_->take();
  record->node = node;
  uint32_t unowned = 0;
  if (node->engine_owner.compare_exchange_strong(unowned, id_, std::memory_order_acquire)) {
    node->engine_slot = record;
    record->owned = true;
  } else {
    foreign_.emplace(node, record);
  }
  return record;
}

NodeRecord* GraphTask::find(Node* node) {
  bool created = false;
  return find(node, &created);
}

void GraphTask::add_root(const Edge& edge, Tensor gradient) { roots_.push_back({edge, std::move(gradient)}); }

void GraphTask::capture(const Edge& edge, size_t slot, bool run) {
  capture_owners_.push_back(edge);
  captures_.push_back({edge.function.get(), edge.input_nr, slot, run});
}

void GraphTask::count_dependencies() {
  std::vector<NodeRecord*>& stack = scratch_->stack;
  for (const Root& root : roots_) {
    bool created = false;
    NodeRecord* record = find(root.edge.function.get(), &created);
    if (created) stack.push_back(record);
  }
  while (!stack.empty()) {
    const Node& node = *stack.back()->node;
    stack.pop_back();
    for (size_t i = 0, n = node.next_edges_.size(); i < n; ++i) {
      Node* next = node.next_edges_[i].function.get();
      if (next == nullptr) continue;
      bool created = false;
      NodeRecord* record = find(next, &created);
      ++record->dependencies;
      if (created) stack.push_back(record);
    }
  }
}

// Only what leads to a captured gradient runs. Records are visited leaves first: in the reverse of an order in which
// every node comes before those its edges lead to.
void GraphTask::mark_wanted() {
  EngineScratch& s = *scratch_;
  for (size_t i = 0; i < s.used; ++i) s.at(i).runs = s.at(i).wanted = false;
  for (const Capture& c : captures_) {
    bool created = false;
    NodeRecord* record = find(c.node, &created);  // a node that no root reaches gets a record that never becomes ready
    record->captured = record->wanted = true;
    record->runs = c.run;
  }
  std::vector<NodeRecord*> order;
  std::unordered_map<NodeRecord*, uint32_t> left;
  for (const Root& root : roots_) {
    NodeRecord* record = find(root.edge.function.get());
    if (record->dependencies == 0 && left.emplace(record, 0).second) order.push_back(record);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    const Node& node = *order[at]->node;
    for (size_t i = 0; i < node.next_edges_.size(); ++i) {
      Node* next = node.next_edges_[i].function.get();
      if (next == nullptr) continue;
      NodeRecord* record = find(next);
      const auto it = left.emplace(record, record->dependencies).first;
      if (--it->second == 0) order.push_back(record);
    }
  }
  for (size_t at = order.size(); at-- > 0;) {
    NodeRecord& record = *order[at];
    const Node& node = *record.node;
    for (size_t i = 0; i < node.next_edges_.size() && !(record.runs && record.wanted); ++i) {
      Node* next = node.next_edges_[i].function.get();
      if (next != nullptr && find(next)->wanted) record.runs = record.wanted = true;
    }
  }
}

void GraphTask::push_ready(NodeRecord* record) {
  if (!record->wanted) return;
  scratch_->heap.push_back({record->node->sequence_nr, record});
  std::push_heap(scratch_->heap.begin(), scratch_->heap.end());
}

Tensor& GraphTask::input_of(NodeRecord& record, uint32_t nr) {
  if (nr == 0) return record.input;
  if (record.more == nullptr) record.more = new std::vector<Tensor>;
  const size_t wanted = std::max<size_t>(record.node->output_count, nr + 1) - 1;
  if (record.more->size() < wanted) record.more->resize(wanted);
  return (*record.more)[nr - 1];
}

void GraphTask::add_to(Tensor& buffer, Tensor gradient) {
  if (!buffer.defined()) {
    buffer = std::move(gradient);
  } else if (!create_graph_ && sole_owner(buffer)) {
    buffer.add_(gradient);
  } else if (!create_graph_ && sole_owner(gradient)) {
    gradient.add_(buffer);
    buffer = std::move(gradient);
  } else {
    buffer = buffer.add(gradient);
  }
}

void GraphTask::run_hooks(NodeRecord& record, std::span<Tensor> in) {
  Node& node = *record.node;
  if (node.is_accumulator()) {
    run_leaf_hooks(static_cast<AccumulateGrad&>(node), in[0]);
  }
  if (node.extras == nullptr) return;
  if (!node.extras->output_hooks.empty() || !node.extras->retained.empty()) {
    for (uint32_t nr = 0; nr < in.size(); ++nr) run_output_hooks(node, nr, in[nr]);
  }
  if (!record.runs || node.extras->pre_hooks.empty()) return;
  variable_list grads(in.begin(), in.end());
  for (size_t i = 0; i < node.extras->pre_hooks.size(); ++i) {
    const Node::PreHook hook = node.extras->pre_hooks[i].second;
    grads = hook(grads);
    TAEDA_CHECK(grads.size() == in.size(), "[", node.name(), "] a pre hook must return a gradient for each output: got ",
                grads.size(), " for ", in.size(), "; return the list it was given, changed or not");
  }
  std::copy(grads.begin(), grads.end(), in.begin());
}

void GraphTask::store_captures(NodeRecord& record, std::span<Tensor> in) {
  for (const Capture& c : captures_) {
    if (c.node == record.node && c.slot < captured.size() && c.input_nr < in.size()) captured[c.slot] = in[c.input_nr];
  }
}

void GraphTask::call_node(NodeRecord& record, std::span<Tensor> in, std::span<Tensor> out) {
  Node& node = *record.node;
  const bool has_post_hooks = node.extras && !node.extras->post_hooks.empty();
  variable_list seen;
  if (has_post_hooks) seen.assign(in.begin(), in.end());
  {
    const BusyGuard busy(node);
    if (TAEDA_UNLIKELY(tls_modes.anomaly_level != 0)) {
      anomaly::run_node(node, in, out);
    } else {
      node.backward(in, out);
    }
    if (!keep_graph_) node.release_variables();
  }
  for (Tensor& g : in) g.reset();
  if (node.is_accumulator()) run_post_accumulate_hooks(static_cast<AccumulateGrad&>(node));
  if (!has_post_hooks) return;
  variable_list grads(out.begin(), out.end());
  for (size_t i = 0; i < node.extras->post_hooks.size(); ++i) {
    const Node::PostHook hook = node.extras->post_hooks[i].second;
    grads = hook(grads, seen);
    TAEDA_CHECK(grads.size() == out.size(), "[", node.name(), "] a post hook must return a gradient for each edge: got ",
                grads.size(), " for ", out.size(), "; return the list it was given, changed or not");
  }
  std::copy(grads.begin(), grads.end(), out.begin());
}

void GraphTask::pass_on(Node& node, std::span<Tensor> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    const Edge& edge = node.next_edges_[i];
    Node* next = edge.function.get();
    if (next == nullptr) continue;
    NodeRecord* record = find(next);
    if (out[i].defined() && record->wanted) {
      if (edge.input_nr < next->output_count) conform(out[i], next->output_meta(edge.input_nr), &node, i);
      add_to(input_of(*record, edge.input_nr), std::move(out[i]));
    }
    if (--record->dependencies == 0) push_ready(record);
  }
}

void GraphTask::execute(NodeRecord& record) {
  Node& node = *record.node;
  std::vector<Tensor> many;
  std::span<Tensor> in(&record.input, 1);
  if (TAEDA_UNLIKELY(node.output_count > 1 || record.more != nullptr)) {
    many.resize(std::max<size_t>(node.output_count, record.more ? record.more->size() + 1 : 1));
    many[0] = std::move(record.input);
    if (record.more) std::move(record.more->begin(), record.more->end(), many.begin() + 1);
    in = many;
  }
  if (TAEDA_UNLIKELY(node.extras != nullptr || (node.node_flags & kNodeAccumulator))) run_hooks(record, in);
  if (TAEDA_UNLIKELY(record.captured)) store_captures(record, in);
  if (!record.runs) {
    record.input.reset();
    return;
  }

  Tensor few[4];
  std::vector<Tensor> more_out;
  const size_t edges = node.next_edges_.size();
  std::span<Tensor> out(few, std::min<size_t>(edges, 4));
  if (TAEDA_UNLIKELY(edges > 4)) {
    more_out.resize(edges);
    out = more_out;
  }
  const bool reached = (node.node_flags & kNodeWantsUndefined) ||
                       std::any_of(in.begin(), in.end(), [](const Tensor& g) { return g.defined(); });
  uint64_t mask = ~uint64_t{0};
  if (TAEDA_UNLIKELY(!captures_.empty())) {
    mask = 0;
    for (size_t i = 0; i < edges; ++i) {
      Node* next = node.next_edges_[i].function.get();
      if (next && find(next)->wanted) mask |= uint64_t{1} << std::min<size_t>(i, 63);
    }
  }
  if (reached) {
    const uint64_t outer_mask = std::exchange(detail::tls_edge_mask, mask);
    try {
      call_node(record, in, out);
    } catch (...) {
      detail::tls_edge_mask = outer_mask;
      throw;
    }
    detail::tls_edge_mask = outer_mask;
  }
  pass_on(node, out);
}

void GraphTask::loop() {
  std::vector<EngineScratch::Ready>& heap = scratch_->heap;
  while (!heap.empty()) {
    NodeRecord* record = heap.front().record;
    if (heap.size() > 1) std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
    execute(*record);
  }
}

void GraphTask::run() {
  count_dependencies();
  if (!captures_.empty()) mark_wanted();
  for (Root& root : roots_) {
    NodeRecord* record = find(root.edge.function.get());
    if (root.gradient.defined()) add_to(input_of(*record, root.edge.input_nr), std::move(root.gradient));
  }
  for (const Root& root : roots_) {
    NodeRecord* record = find(root.edge.function.get());
    if (record->dependencies != 0) continue;
    record->dependencies = ~uint32_t{0};  // a node that is the root of several tensors starts once
    push_ready(record);
  }

  const ModesGuard modes;
  tls_modes.grad_enabled = create_graph_;
  refresh_mask(tls_modes);
  outer = std::exchange(tls_task, this);
  depth = outer ? outer->depth + 1 : 0;
  const uint64_t outer_mask = std::exchange(detail::tls_edge_mask, ~uint64_t{0});
  try {
    loop();
    for (size_t i = 0; i < callbacks.size(); ++i) {  // a callback may queue more
      const auto callback = std::move(callbacks[i]);
      callback();
    }
  } catch (...) {
    tls_task = outer;
    detail::tls_edge_mask = outer_mask;
    throw;
  }
  tls_task = outer;
  detail::tls_edge_mask = outer_mask;
}

/// Runs `task` on this thread, or on a fresh one when backwards are nested deeply.
void run_task(GraphTask& task) {
  GraphTask* const outer = tls_task;
  if (outer == nullptr || (outer->depth + 1) % kMaxDepthOnOneStack != 0) {
    task.run();
    return;
  }
  std::exception_ptr error;
  const Modes modes = tls_modes;
  std::thread([&] {
    tls_modes = modes;
    tls_task = outer;
    try {
      task.run();
    } catch (...) {
      error = std::current_exception();
    }
    tls_task = nullptr;
  }).join();
  if (error) std::rethrow_exception(error);
}

}  // namespace taeda::autograd
