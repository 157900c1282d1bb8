// SPDX-License-Identifier: Apache-2.0
// Minimal cuts of directed graphs with capacities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace taeda::graph {

class MinCut {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;  ///< the capacity of an edge that is not to be cut

  explicit MinCut(size_t vertices) : edges_(vertices) {}
  void add(size_t from, size_t to, int64_t capacity);
  /// Which vertices lie on the side of `sink`; of all minimal cuts, the one with the fewest.
  std::vector<bool> sink_side(size_t source, size_t sink);

 private:
  struct Edge {
    size_t to, back;  ///< `back`: the place of the opposite edge
    int64_t left;
  };
  bool find_levels(size_t source, size_t sink);
  bool push(size_t source, size_t sink);

  std::vector<std::vector<Edge>> edges_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

}  // namespace taeda::graph
