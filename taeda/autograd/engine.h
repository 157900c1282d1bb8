// SPDX-License-Identifier: Apache-2.0
// The engine: runs the nodes of a graph from its roots to the leaves, each once all its gradients are there.
//
// One backward is one task, run by the calling thread. Nodes become records in the order in which a walk over the edges
// meets them; a heap gives the ready node with the highest sequence number, so that the order is that of the forward,
// reversed. Whatever a task notes about a node hangs on the node itself (`engine_slot`), unless another task that runs at
// the same time has taken that place: then in a hash map.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include "taeda/autograd/autograd.h"

namespace taeda::autograd {

/// What a task knows about one node.
/// Invariant: `dependencies` is the number of edges into the node from nodes that have not run yet.
struct NodeRecord {
  Node* node = nullptr;
  Tensor input;                         ///< gradient of output 0
  std::vector<Tensor>* more = nullptr;  ///< gradients of outputs 1…
  uint32_t dependencies = 0;
  bool runs = true;      ///< the node itself is to run
  bool wanted = true;    ///< gradients flowing into the node are of use
  bool captured = false; ///< the task wants gradients that flow into this node
  bool owned = false;    ///< the record hangs on the node
};

/// Records and work lists of a task, kept by the thread for the next one.
struct EngineScratch {
  struct Ready {
    uint64_t sequence_nr;
    NodeRecord* record;
    bool operator<(const Ready& other) const { return sequence_nr < other.sequence_nr; }
  };
  static constexpr size_t kBlock = 512;
  std::vector<std::unique_ptr<NodeRecord[]>> blocks;
  size_t used = 0;
  std::vector<NodeRecord*> stack;
  std::vector<Ready> heap;

  NodeRecord* take() {
    const size_t block = used / kBlock;
    if (block == blocks.size()) blocks.push_back(std::make_unique<NodeRecord[]>(kBlock));
    return &blocks[block][used++ % kBlock];
  }
  NodeRecord& at(size_t i) { return blocks[i / kBlock][i % kBlock]; }
};

class GraphTask {
 public:
  GraphTask(bool keep_graph, bool create_graph);
  ~GraphTask();
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;

  void add_root(const Edge& edge, Tensor gradient);
  /// Restricts the walk to what leads to captured gradients. `run_leaves`: accumulators among them also run.
  void capture(const Edge& edge, size_t slot, bool run);
  void run();

  bool has_no_captures() const { return captures_.empty(); }

  std::vector<Tensor> captured;
  std::vector<std::function<void()>> callbacks;
  GraphTask* outer = nullptr;  ///< the task during whose node this one was started
  int depth = 0;

 private:
  NodeRecord* find(Node* node, bool* created);
  NodeRecord* find(Node* node);
  void count_dependencies();
  void mark_wanted();
  void push_ready(NodeRecord* record);
  void loop();
  void execute(NodeRecord& record);
  void call_node(NodeRecord& record, std::span<Tensor> in, std::span<Tensor> out);
  void pass_on(Node& node, std::span<Tensor> out);
  Tensor& input_of(NodeRecord& record, uint32_t nr);
  void add_to(Tensor& buffer, Tensor gradient);
  void run_hooks(NodeRecord& record, std::span<Tensor> in);
  void store_captures(NodeRecord& record, std::span<Tensor> in);

  struct Capture {
    Node* node;
    uint32_t input_nr;
    size_t slot;
    bool run;
  };
  struct Root {
    Edge edge;
    Tensor gradient;
  };
  uint32_t id_;
  bool keep_graph_;
  bool create_graph_;
  std::unique_ptr<EngineScratch> scratch_;
  std::vector<Root> roots_;
  std::vector<Capture> captures_;
  std::vector<Edge> capture_owners_;
  std::unordered_map<Node*, NodeRecord*> foreign_;
};

/// The task that runs on this thread; null outside of backward.
GraphTask* current_task();

/// Brings a gradient to the shape and dtype of what it is the gradient of. `from`: the node that computed it.
void conform(Tensor& gradient, const OutputMeta& meta, const Node* from, size_t index);

}  // namespace taeda::autograd
