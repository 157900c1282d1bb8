// SPDX-License-Identifier: Apache-2.0
// States as constants.
#include "taeda/core/modes.h"
#include "taeda/graph/layout.h"
#include "taeda/graph/passes/rewrite.h"

namespace taeda::graph {

size_t freeze_states(Graph& graph, Notes* notes) {
  const BelowDoorGuard below;
  const std::vector<int> uses = count_uses(graph);
  std::vector<bool> changed(graph.values.size());
  for (const Mutation& m : graph.mutations) changed[static_cast<size_t>(m.target)] = true;
  size_t frozen = 0;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    Datum& v = graph.values[id];
    // Views of a state that begins within other memory count from there.
    if (v.origin != Origin::kState || uses[id] == 0 || changed[id] || v.tensor.storage_offset() != 0) continue;
    v.origin = Origin::kConstant;
    v.tensor = copy_as_laid_out(v.tensor.detach());
    note(notes, '%', id, " \"", v.name, "\"");
    ++frozen;
  }
  return frozen;
}

}  // namespace taeda::graph
