// SPDX-License-Identifier: Apache-2.0
// Random fills of tensors of any layout, in the order of their memory.
#pragma once

#include "taeda/core/random_fill.h"
#include "taeda/core/tensor.h"
#include "taeda/ops/pointwise_run.h"

namespace taeda::detail {

/// The dimensions by descending stride.
TAEDA_API DimVector memory_order(const Tensor& self);
/// The tensor with its dimensions ordered by descending stride: row-major order of it is memory order.
TAEDA_API Tensor in_memory_order(const Tensor& self);

/// Calls fill(T* out, int64_t n, bool contiguous) on the elements in memory order; `contiguous` tells whether the tensor
/// itself is.
template <class T, class Fill>
void fill_in_memory_order(const Tensor& self, const Fill& fill) {
  if (self.numel() == 0) return;
  if (self.is_contiguous() || self.is_non_overlapping_and_dense()) {
    fill(reinterpret_cast<T*>(self.impl().data()), self.numel(), self.is_contiguous());
    return;
  }
  const Tensor ordered = in_memory_order(self);
  Tensor plain = make_tensor(ordered.sizes(), self.scalar_type(), self.device());
  fill(reinterpret_cast<T*>(plain.impl().data()), self.numel(), false);
  pointwise::copy_elements(ordered.impl(), plain.impl());
}
TAEDA_API void fill_normal_tensor(const Tensor& self, double mean, double std, const std::optional<Generator>& generator);
TAEDA_API void fill_uniform_tensor(const Tensor& self, double from, double to, const std::optional<Generator>& generator);
/// base ... base + range - 1; throws Error where the dtype cannot hold them.
TAEDA_API void fill_range_tensor(const Tensor& self, int64_t base, uint64_t range, const std::optional<Generator>& generator);
/// The largest integer up to which the dtype holds every integer.
TAEDA_API int64_t largest_exact(ScalarType dtype);

}  // namespace taeda::detail
