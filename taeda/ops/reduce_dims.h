// SPDX-License-Identifier: Apache-2.0
// Shapes of reductions: which dimensions go, what shape remains, and the input brought into (outer, n, inner) form.
#pragma once

#include "taeda/core/tensor.h"
#include "taeda/ops/kernels/reduce.h"

namespace taeda::detail {

/// The dimensions as bits; none given means all. Throws Error on a repeated dimension.
TAEDA_API uint64_t reduce_mask(OptionalIntArrayRef dims, int64_t ndim, const char* op);
inline uint64_t reduce_mask(int64_t dim, int64_t ndim, const char* op) {
  return uint64_t{1} << maybe_wrap_dim(dim, ndim, op);
}
/// The shape without the dimensions of `mask`, or with size 1 in their place.
TAEDA_API DimVector reduced_sizes(IntArrayRef sizes, uint64_t mask, bool keepdim);
/// The number of elements that go into one result.
TAEDA_API int64_t reduced_numel(IntArrayRef sizes, uint64_t mask);

/// A row-major tensor seen as (outer, n, inner), with n the reduced dimensions in order; (outer, inner) are the others
/// in order.
struct Reducible {
  Tensor tensor;
  int64_t outer = 1, n = 1, inner = 1;
};
/// Copies only when the layout asks for it. `any_order`: the order of elements along n may differ.
TAEDA_API Reducible make_reducible(const Tensor& self, uint64_t mask, bool any_order = false);

/// One of the simple reductions. The result has dtype `reduce_dtype`, except that 16-bit floats stay what they are.
TAEDA_API Tensor reduce(ReduceKind kind, const Tensor& self, uint64_t mask, bool keepdim, double divisor = 1);
/// The result of a reduction over dimensions, expanded back: inserts the dimensions of `mask` unless they were kept.
TAEDA_API Tensor restore_dims(const Tensor& reduced, uint64_t mask, int64_t ndim, bool keepdim);
/// Throws IndexError when `op`, which has no identity, would reduce a dimension of size 0.
TAEDA_API void check_not_empty(const Tensor& self, uint64_t mask, const char* op);

}  // namespace taeda::detail
