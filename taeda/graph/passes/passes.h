// SPDX-License-Identifier: Apache-2.0
// What makes a graph smaller or faster. Exact passes leave every bit of every result and mutation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "taeda/graph/graph.h"

namespace taeda::graph {

/// What passes say about their changes, a line each.
using Notes = std::vector<std::string>;

struct PassOptions {
  /// States that the graph does not change become constants, convolutions take the batch norms, sums and relus behind them, and attention that
  /// is written out becomes the fused operator: for inference with weights as they are now. Not bitwise (fold_batch_norm, fuse_attention).
  bool frozen = false;
  /// fold_constants makes no constants of more bytes.
  size_t fold_bytes = size_t{1} << 20;
  /// Check the graph after each pass.
#ifdef NDEBUG
  bool verify = false;
#else
  bool verify = true;
#endif
  /// Keep what passes say.
  bool notes = false;
  /// Called after each pass that changed something.
  std::function<void(const std::string& pass, const Graph& graph)> after = {};
};

/// One run of one pass.
struct PassRun {
  std::string pass;
  size_t changes = 0;
  size_t nodes = 0;  ///< left
  Notes notes;
};

/// Runs the passes until none changes anything. Returns the runs that changed something, in order.
TAEDA_API std::vector<PassRun> optimize(Graph& graph, const PassOptions& options = {});

struct PassInfo {
  const char* name;
  const char* what;
  bool exact;
};
/// The passes there are, in the order in which they run first.
TAEDA_API std::vector<PassInfo> all_passes();

// The passes one by one. Each returns how many changes it made.

/// Removes nodes that nothing needs, and the values that go with them; numbers the rest anew.
TAEDA_API size_t remove_dead(Graph& graph, Notes* notes = nullptr);
/// Joins nodes that compute the same. Values that are given out keep memory of their own.
TAEDA_API size_t join_common(Graph& graph, Notes* notes = nullptr);
/// Computes what follows from constants alone, unless random or larger than `bytes`.
TAEDA_API size_t fold_constants(Graph& graph, size_t bytes, Notes* notes = nullptr);
/// Exact algebra: x * 1, x - 0.0, -(-x), views of views, copies that nobody can tell from their origin, casts there and back.
TAEDA_API size_t simplify(Graph& graph, Notes* notes = nullptr);
/// Makes constants of the states that the graph reads and does not change.
TAEDA_API size_t freeze_states(Graph& graph, Notes* notes = nullptr);
/// Puts batch norms by fixed statistics into the convolution or linear map before them, where all of their parameters are constants or, if
/// `frozen`, states that the graph does not change: weight and bias are computed in float64 and rounded once. Not the separate operators' bits: each result is within (n + 4) eps of the sum of its n
/// terms' magnitudes, eps being 2^-23 or 2^-52.
TAEDA_API size_t fold_batch_norm(Graph& graph, bool frozen, Notes* notes = nullptr);
/// Makes attention that is written out (bmm, scale, a mask that is added or fills with -inf, softmax, bmm) the fused operator, whose memory grows
/// linearly with the lengths. Not the separate operators' bits: sums have another order. Rows without any key stay NaN.
TAEDA_API size_t fuse_attention(Graph& graph, Notes* notes = nullptr);
/// Puts an addition of a tensor of equal type and a relu behind a convolution into it. Exact.
TAEDA_API size_t fuse_convolution(Graph& graph, Notes* notes = nullptr);

}  // namespace taeda::graph
