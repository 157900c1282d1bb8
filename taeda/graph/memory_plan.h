// SPDX-License-Identifier: Apache-2.0
// Where results would lie in one block of memory.
#pragma once

#include <cstdint>
#include <vector>

#include "taeda/graph/graph.h"

namespace taeda::graph {

/// One piece of the block: a result and the values that show it.
struct Buffer {
  Id value;
  int64_t offset, bytes;
  size_t first, last;  ///< nodes between which it holds something
};

struct MemoryPlan {
  std::vector<Buffer> buffers;   ///< in the order of the nodes
  std::vector<int> buffer_of;    ///< by value: a place in `buffers`; -1 for what comes from outside, is given out, or shows such memory
  int64_t arena = 0;             ///< bytes of the block
  int64_t at_once = 0;           ///< the most that is held at the same time: no block can be smaller
  int64_t separate = 0;          ///< bytes of all buffers side by side
};

/// Lifetimes and offsets of what a run holds between its nodes. Views lie in what they show; an operator in place writes where its argument lies
/// when nothing else reads it. Larger buffers choose their places first (Pisarchyk, Lee 2020, greedy by size). Sizes that follow
/// from symbols are those for `values`.
TAEDA_API MemoryPlan plan_memory(const Graph& graph, const SymbolValues& values = {});

}  // namespace taeda::graph
