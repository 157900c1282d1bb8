// SPDX-License-Identifier: Apache-2.0
#include "taeda/graph/layout.h"

#include <algorithm>

#include "taeda/core/overlap.h"

namespace taeda::graph {

Type type_of(const Tensor& t) { return {t.scalar_type(), t.sizes().vec(), t.strides().vec(), {}}; }

int64_t end_of(const Tensor& t) {
  int64_t end = t.storage_offset() + (t.numel() != 0);
  for (int64_t d = 0; t.numel() != 0 && d < t.dim(); ++d) end += (t.size(d) - 1) * t.stride(d);
  return end;
}

bool share_elements(const Tensor& a, const Tensor& b) {
  if (a.impl().storage != b.impl().storage || a.numel() == 0 || b.numel() == 0) return false;
  const auto bytes = [](const Tensor& t, int64_t at) { return at * static_cast<int64_t>(t.element_size()); };
  return bytes(a, a.storage_offset()) < bytes(b, end_of(b)) && bytes(b, b.storage_offset()) < bytes(a, end_of(a));
}

bool overlaps_itself(const Tensor& t) { return detail::may_overlap_itself(t.sizes(), t.strides()); }

Tensor copy_as_laid_out(const Tensor& t) {
  const Tensor copy = make_tensor_strided(t.sizes(), t.strides(), t.scalar_type());
  const int64_t length = end_of(t) - t.storage_offset();
  make_view(copy, {length}, {1}, 0).copy_(make_view(t, {length}, {1}, t.storage_offset()));
  return copy;
}

void check_apart(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<std::pair<Id, Tensor>> outside;
  for (size_t i = 0; i < inputs.size(); ++i) outside.emplace_back(graph.inputs[i], inputs[i]);
  for (size_t id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].origin == Origin::kState) outside.emplace_back(static_cast<Id>(id), graph.values[id].tensor);
  }
  for (const Mutation& m : graph.mutations) {
    for (const auto& [target, written] : outside) {
      if (target != m.target) continue;
      for (const auto& [id, other] : outside) {
        TAEDA_CHECK_VALUE(id == target || !share_elements(written, other), "[graph] what a run changes shares no memory with other inputs or states: got ",
                          graph.values[static_cast<size_t>(target)].name, " and ", graph.values[static_cast<size_t>(id)].name,
                          ", which do; clone() one of them");
      }
    }
  }
}

}  // namespace taeda::graph
