// The flat kernel tables, gathered at the first use.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "taeda/cpu/pointwise_table.h"

namespace taeda::cpu {
namespace {

using Table = PointwiseKernel[kPointwiseKernels];
Table tables[kSimdTargets];  // zero until gathered

const PointwiseKernel* gather(int target) {
  PointwiseKernel* out = tables[target];
  for (int k = 0; k < detail::pointwise_part_count; ++k) {
    const detail::PointwisePart& part = detail::pointwise_parts[target][k];
    out = std::copy_n(part.kernels, part.count, out);
  }
  return tables[target];
}

// One function-local constant for each target: its guard makes the first call of several threads safe.
const PointwiseKernel* table_of(SimdTarget target) {
  switch (target) {
    case SimdTarget::Sse4: {
      static const PointwiseKernel* const table = gather(0);
      return table;
    }
    case SimdTarget::Avx2: {
      static const PointwiseKernel* const table = gather(1);
      return table;
    }
    default: {
      static const PointwiseKernel* const table = gather(2);
      return table;
    }
  }
}

}  // namespace

namespace detail {

std::atomic<const PointwiseKernel*> pointwise_table_cache{nullptr};

const PointwiseKernel* select_pointwise_table() {
  const PointwiseKernel* table = table_of(simd_target());
  pointwise_table_cache.store(table, std::memory_order_release);
  return table;
}

}  // namespace detail

const PointwiseKernel& pointwise_kernel(PointwiseKernelId id, SimdTarget target) {
  return table_of(target)[static_cast<uint16_t>(id)];
}
const PointwiseKernelInfo& pointwise_kernel_info(PointwiseKernelId id) { return detail::pointwise_infos[static_cast<uint16_t>(id)]; }
int pointwise_kernel_count() { return kPointwiseKernels; }
int find_pointwise_kernel(const char* name) {
  for (int i = 0; i < kPointwiseKernels; ++i) {
    if (std::strcmp(detail::pointwise_infos[i].name, name) == 0) return i;
  }
  return -1;
}

}  // namespace taeda::cpu
