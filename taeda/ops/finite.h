// SPDX-License-Identifier: Apache-2.0
// Whether numbers are finite: for anomaly mode, fused into pointwise kernels, one pass over other results.
#pragma once

#include <algorithm>

#include "taeda/core/tensor.h"

namespace taeda::detail {

/// True when none of the `n` adjoining elements is NaN or infinite. Integers always are.
TAEDA_API bool all_finite(const void* data, int64_t n, ScalarType dtype);
/// The same for a tensor of any layout.
TAEDA_API bool all_finite(const Tensor& tensor);

/// The blocks that kernels of this thread have found finite since `clear`, at most the last four.
struct FiniteBlocks {
  const void* data[4];
  uint32_t count;
  void clear() { count = 0; }
  void add(const void* block) { data[count++ % 4] = block; }
  bool has(const void* block) const {
    for (uint32_t i = 0; i < std::min<uint32_t>(count, 4); ++i) {
      if (data[i] == block) return true;
    }
    return false;
  }
};
extern TAEDA_API thread_local constinit FiniteBlocks tls_finite_blocks;

}  // namespace taeda::detail
