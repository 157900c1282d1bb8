// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "taeda/graph/dynamic_capture.h"
#include "taeda/graph/passes/rewrite.h"
#include "taeda/graph/symbols.h"
#include "taeda/ops/view.h"

namespace taeda::graph {

namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

/// Copies between the calls of other operators that are no views.
struct Gaps {
  explicit Gaps(const Graph& graph) : copies(1) {
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      if (is_operator(node, "clone")) {
        copies.back().push_back(n);
      } else if (node.op->kind != OpKind::kView) {
        calls.push_back(node.op);
        copies.emplace_back();
      }
    }
  }
  std::vector<const OpInfo*> calls;
  std::vector<std::vector<size_t>> copies;
};

class Restorer {
 public:
  explicit Restorer(Graph& graph) : graph_(graph), gaps_(graph), views_(graph.nodes.size(), -1), seen_(graph.nodes.size()) {
    const std::vector<int> uses = count_uses(graph), makers = makers_of(graph);
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& view = graph.nodes[n];
      const Id x = is_operator(view, "view") && !*view.op->overload ? view.args[0].value : -1;
      const int maker = x < 0 ? -1 : makers[at(x)];
      if (maker < 0 || uses[at(x)] != 1 || !is_operator(graph.nodes[at(maker)], "clone")) continue;
      const Value& format = graph.nodes[at(maker)].args[1].attribute;
      if (format.is_int() && format.to_int() == static_cast<int64_t>(MemoryFormat::Contiguous)) views_[at(maker)] = static_cast<int>(n);
    }
  }

  void look(const SymbolValues& values, const Graph& special) {
    const Gaps other(special);
    if (other.calls != gaps_.calls) return;
    for (size_t gap = 0; gap < gaps_.copies.size(); ++gap) {
      std::vector<size_t> viewable;
      for (const size_t n : gaps_.copies[gap]) {
        if (views_[n] >= 0 && is_viewable(n, values)) viewable.push_back(n);
      }
      const bool gone = other.copies[gap].size() + viewable.size() == gaps_.copies[gap].size();
      for (const size_t n : viewable) seen_[n] |= gone ? kGone : kThere;
    }
  }
  void change() {
    std::vector<bool> drop(graph_.nodes.size());
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (seen_[n] != kGone) continue;
      Node& view = graph_.nodes[at(views_[n])];
      view.op = find_ops("reshape")[0];
      view.args[0] = graph_.nodes[n].args[0];
      drop[n] = true;
    }
    std::vector<Node> kept;
    for (size_t n = 0; n < drop.size(); ++n) {
      if (!drop[n]) kept.push_back(std::move(graph_.nodes[n]));
    }
    graph_.nodes = std::move(kept);
    renumber(graph_);
  }

 private:
  enum : uint8_t { kGone = 1, kThere = 2 };
  bool is_viewable(size_t n, const SymbolValues& values) const {
    const Type from = with(graph_.values[at(graph_.nodes[n].args[0].value)].type, values);
    const Type to = with(graph_.values[at(graph_.nodes[at(views_[n])].results[0])].type, values);
    return detail::view_strides(from.sizes, from.strides, detail::checked_numel(from.sizes, "graph"), to.sizes).has_value();
  }

  Graph& graph_;
  Gaps gaps_;
  std::vector<int> views_;      ///< of copies: the view that alone reads it, or -1
  std::vector<uint8_t> seen_;
};

}  // namespace

void restore_reshapes(Graph& graph, const std::vector<std::pair<SymbolValues, Graph>>& special) {
  Restorer restorer(graph);
  for (const auto& [values, look] : special) restorer.look(values, look);
  restorer.change();
}

}  // namespace taeda::graph
