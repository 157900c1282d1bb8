// SPDX-License-Identifier: Apache-2.0
// The order of the passes.
#include "taeda/graph/passes/passes.h"

namespace taeda::graph {

namespace {

/// Bounds the rounds; each pass makes the graph smaller, so that few are needed.
constexpr int kMaxRounds = 16;

struct Pass {
  PassInfo info;
  size_t (*run)(Graph& graph, const PassOptions& options, Notes* notes);
  bool once, frozen_only;
};

const Pass kPasses[] = {
    // Before states are copied: most of those weights are then needed no more.
    {{"fold_batch_norm", "convolutions and linear maps take the batch norm behind them", false},
     [](Graph& g, const PassOptions&, Notes* notes) { return fold_batch_norm(g, true, notes); }, false, true},
    {{"freeze_states", "states that the graph does not change become constants", true},
     [](Graph& g, const PassOptions&, Notes* notes) { return freeze_states(g, notes); }, true, true},
    {{"fold_constants", "what follows from constants alone is computed now", true},
     [](Graph& g, const PassOptions& o, Notes* notes) { return fold_constants(g, o.fold_bytes, notes); }, false, false},
    {{"simplify", "x * 1, x - 0.0, -(-x), views of views, copies, casts there and back", true},
     [](Graph& g, const PassOptions&, Notes* notes) { return simplify(g, notes); }, false, false},
    {{"join_common", "nodes that compute the same become one", true},
     [](Graph& g, const PassOptions&, Notes* notes) { return join_common(g, notes); }, false, false},
    {{"remove_dead", "nodes that nothing needs go", true},
     [](Graph& g, const PassOptions&, Notes* notes) { return remove_dead(g, notes); }, false, false},
    {{"fuse_attention", "attention that is written out becomes the fused operator", false},
     [](Graph& g, const PassOptions&, Notes* notes) { return fuse_attention(g, notes); }, false, true},
    {{"fuse_convolution", "convolutions take the sum and the relu behind them", true},
     [](Graph& g, const PassOptions&, Notes* notes) { return fuse_convolution(g, notes); }, false, true},
};

}  // namespace

std::vector<PassInfo> all_passes() {
  std::vector<PassInfo> list;
  for (const Pass& pass : kPasses) list.push_back(pass.info);
  return list;
}

std::vector<PassRun> optimize(Graph& graph, const PassOptions& options) {
  std::vector<PassRun> runs;
  bool changed = true;
  for (int round = 0; changed && round < kMaxRounds; ++round) {
    changed = false;
    for (const Pass& pass : kPasses) {
      if ((pass.once && round > 0) || (pass.frozen_only && !options.frozen)) continue;
      PassRun run;
      run.pass = pass.info.name;
      run.changes = pass.run(graph, options, options.notes ? &run.notes : nullptr);
      if (options.verify) graph.verify();
      if (run.changes == 0) continue;
      changed = true;
      run.nodes = graph.nodes.size();
      if (options.after) options.after(run.pass, graph);
      runs.push_back(std::move(run));
    }
  }
  renumber(graph);
  return runs;
}

}  // namespace taeda::graph
