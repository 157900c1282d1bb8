// SPDX-License-Identifier: Apache-2.0
// Dinic (1970): blocking flows over levels.
#include "taeda/graph/min_cut.h"

#include <algorithm>

namespace taeda::graph {

void MinCut::add(size_t from, size_t to, int64_t capacity) {
  edges_[from].push_back({to, edges_[to].size(), std::min(capacity, kNever)});
  edges_[to].push_back({from, edges_[from].size() - 1, 0});
}

bool MinCut::find_levels(size_t source, size_t sink) {
  level_.assign(edges_.size(), -1);
  std::vector<size_t> queue{source};
  level_[source] = 0;
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const Edge& e : edges_[queue[i]]) {
      if (e.left == 0 || level_[e.to] >= 0) continue;
      level_[e.to] = level_[queue[i]] + 1;
      queue.push_back(e.to);
    }
  }
  return level_[sink] >= 0;
}

/// Fills one path of the levels. False where there is none left.
bool MinCut::push(size_t source, size_t sink) {
  std::vector<Edge*> path;
  size_t v = source;
  while (v != sink) {
    std::vector<Edge>& out = edges_[v];
    size_t& i = next_[v];
    while (i < out.size() && (out[i].left == 0 || level_[out[i].to] != level_[v] + 1)) ++i;
    if (i < out.size()) {
      path.push_back(&out[i]);
      v = out[i].to;
      continue;
    }
    if (path.empty()) return false;
    v = edges_[path.back()->to][path.back()->back].to;
    ++next_[v];
    path.pop_back();
  }
  int64_t flow = kNever;
  for (const Edge* e : path) flow = std::min(flow, e->left);
  for (Edge* e : path) {
    e->left -= flow;
    int64_t& back = edges_[e->to][e->back].left;
    back = std::min(back + flow, 2 * kNever);
  }
  return true;
}

std::vector<bool> MinCut::sink_side(size_t source, size_t sink) {
  while (find_levels(source, sink)) {
    next_.assign(edges_.size(), 0);
    while (push(source, sink)) {
    }
  }
  std::vector<bool> side(edges_.size());
  std::vector<size_t> queue{sink};
  side[sink] = true;
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const Edge& e : edges_[queue[i]]) {
      if (side[e.to] || edges_[e.to][e.back].left == 0) continue;
      side[e.to] = true;
      queue.push_back(e.to);
    }
  }
  return side;
}

}  // namespace taeda::graph
