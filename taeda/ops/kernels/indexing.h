// SPDX-License-Identifier: Apache-2.0
// Kernels that move elements by position: what the operators hand over. Indices have been checked and wrapped.
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/tensor.h"

namespace taeda {

/// How a written element combines with what is there.
enum class ScatterReduce : uint8_t { kAssign, kAdd, kMul, kMin, kMax };

/// Contiguous blocks: out (outer, count, inner) takes row index[i] of self (outer, rows, inner).
struct IndexSelectArgs {
  char* out;
  const char* self;
  const int64_t* index;
  int64_t outer, rows, count;
  int64_t row_bytes;
};
extern TAEDA_API DeviceKernel<void(const IndexSelectArgs&)> index_select_kernel;

/// self (outer, rows, inner) combines row index[i] with alpha · row i of source (outer, count, inner). A null source
/// stands for `value` everywhere. All contiguous, of one dtype.
struct IndexWriteArgs {
  ScalarType dtype;
  char* self;
  const char* source;
  const int64_t* index;
  int64_t outer, rows, count, inner;
  Scalar alpha = 1;
  Scalar value;
  ScatterReduce reduce;
};
extern TAEDA_API DeviceKernel<void(const IndexWriteArgs&)> index_write_kernel;

/// gather: out[…, i, …] = self[…, index[…, i, …], …] along `dim`; scatter is the reverse. Any strides; all of one rank.
struct GatherArgs {
  const TensorImpl* self;
  const TensorImpl* index;
  const TensorImpl* other;  ///< gather: the result; scatter: the source
  int64_t dim;
  ScatterReduce reduce = ScatterReduce::kAssign;
};
extern TAEDA_API DeviceKernel<void(const GatherArgs&)> gather_kernel;
extern TAEDA_API DeviceKernel<void(const GatherArgs&)> scatter_kernel;

/// Advanced indexing over a common shape. `self` has stride 0 where `offsets` (int64, in bytes) moves.
struct OffsetArgs {
  const TensorImpl* values;  ///< get: the result; put: the source. Its sizes are the common shape
  char* self;
  IntArrayRef self_strides;  ///< in bytes
  const int64_t* offsets;
  IntArrayRef offset_strides;  ///< in bytes
  bool accumulate = false;
};
extern TAEDA_API DeviceKernel<void(const OffsetArgs&)> index_get_kernel;
extern TAEDA_API DeviceKernel<void(const OffsetArgs&)> index_put_kernel;

/// The positions of the elements that are not zero, in row-major order: fills out (ndim, count). `input` is contiguous.
struct NonzeroArgs {
  const TensorImpl* input;
  int64_t* out;
  int64_t count;
};
extern TAEDA_API DeviceKernel<int64_t(const TensorImpl&)> count_nonzero_kernel;
extern TAEDA_API DeviceKernel<void(const NonzeroArgs&)> nonzero_kernel;

/// masked_select (to out) and masked_scatter (from source): contiguous, mask of bool.
struct MaskedMoveArgs {
  char* self;
  const char* other;
  const bool* mask;
  int64_t n;
  int64_t itemsize;
};
extern TAEDA_API DeviceKernel<void(const MaskedMoveArgs&)> masked_select_kernel;  ///< other[mask] -> self
extern TAEDA_API DeviceKernel<void(const MaskedMoveArgs&)> masked_scatter_kernel;

/// Keeps the lower (or upper) triangle of contiguous matrices (batch, rows, columns), zeros elsewhere. May be in place.
struct TriangleArgs {
  char* out;
  const char* self;
  int64_t batch, rows, columns, diagonal;
  int64_t itemsize;
  bool upper;
};
extern TAEDA_API DeviceKernel<void(const TriangleArgs&)> triangle_kernel;

/// Sums rows of grad (count, width) into out (rows, width), zero before; `skip` rows are left out. counts[row], where
/// given, divides.
struct EmbeddingGradArgs {
  ScalarType dtype;
  char* out;
  const char* grad;
  const int64_t* index;
  const int64_t* counts;
  int64_t count, rows, width, skip;
};
extern TAEDA_API DeviceKernel<void(const EmbeddingGradArgs&)> embedding_grad_kernel;

namespace detail {
/// The index as a contiguous int64 tensor. Throws IndexError unless it is int64 or int32.
TAEDA_API Tensor long_index(const Tensor& index, const char* op);
/// Throws IndexError unless all elements of a contiguous int64 tensor lie in [0, size) (or [-size, size) and are then
/// given wrapped, in a copy).
TAEDA_API Tensor wrapped_index(const Tensor& index, int64_t size, const char* op, bool wrap);
/// A contiguous copy that the operator may write.
TAEDA_API Tensor contiguous_copy(const Tensor& self);
}  // namespace detail
}  // namespace taeda
