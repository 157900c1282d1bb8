// The calling convention of pointwise kernels, and their table.
//
// A kernel is one inner loop over n elements:
//     loop(ptrs, byte_strides, n, attrs)
//   ptrs[0]         output; element i is at ptrs[0] + i * byte_strides[0]
//   ptrs[1..]       inputs in the order of the kernel's arguments, likewise; a stride of 0 broadcasts one element
//   attrs           the operator's scalar attributes (schema arguments of type Scalar, float, int, bool) in schema order,
//                   all in the compute type: float for f32, double for f64, int64_t for i64. May be null if there are none
// Element types: everything is in the compute type, except that
//   * the output has one byte per element (0 or 1) where bool_result is set (comparisons, isnan, ...),
//   * inputs set in mask_inputs (the condition of where) have one byte per element, nonzero meaning true.
// Inputs with stride sizeof(element) or 0 and an output with stride sizeof(element) take the fast loop, anything else
// goes through small blocks. An input may be exactly the output (same pointer and stride); other overlap is not allowed.
// Body and tail give equal bits: an element's result does not depend on n or on its place.
// Where the compute type does not have the operator, the pointer is null.
//
// Kernels: `Op` (the forward) takes the schema's tensors. `Op_grad_x` is the gradient masked_product(grad, d out / d x):
// inputs are the cotangent, then the saved tensors named by the definition's grad_x (schema names or `result`, in the
// order of its parameters; see PointwiseKernelInfo). A gradient that is the cotangent itself has no kernel (kIdentity).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "taeda/core/export.h"
#include "taeda/cpu/simd_target.h"

namespace taeda::cpu {

using PointwiseLoop = void (*)(char* const* ptrs, const int64_t* byte_strides, int64_t n, const void* attrs);

/// The loops of one kernel; null where the compute type does not have it.
struct PointwiseKernel {
  PointwiseLoop f32, f64, i64;
};

/// What does not depend on the instruction set.
struct PointwiseKernelInfo {
  const char* name;       // "Exp", "Exp_grad_self"
  const char* arguments;  // the inputs, comma separated: "self,other" or "grad,result"
  uint8_t inputs;
  uint8_t attrs;
  bool bool_result;
  uint8_t mask_inputs;  // bit i: input i is bool
};

enum class PointwiseKernelId : uint16_t;  // generated/cpu/pointwise_ids.h

namespace detail {
TAEDA_API extern std::atomic<const PointwiseKernel*> pointwise_table_cache;  // null until first asked
TAEDA_API const PointwiseKernel* select_pointwise_table();
}  // namespace detail

/// The kernel for the instruction set in use.
inline const PointwiseKernel& pointwise_kernel(PointwiseKernelId id) {
  const PointwiseKernel* table = detail::pointwise_table_cache.load(std::memory_order_acquire);
  if (table == nullptr) [[unlikely]] table = detail::select_pointwise_table();
  return table[static_cast<uint16_t>(id)];
}

/// The kernel for a given instruction set, which the processor must have; for tests and benchmarks.
TAEDA_API const PointwiseKernel& pointwise_kernel(PointwiseKernelId id, SimdTarget target);

TAEDA_API const PointwiseKernelInfo& pointwise_kernel_info(PointwiseKernelId id);

/// Number of kernels; ids are 0 .. count - 1.
TAEDA_API int pointwise_kernel_count();

/// The kernel of that name ("Exp", "Exp_grad_self"), or -1. Searches linearly: for tests and tools.
TAEDA_API int find_pointwise_kernel(const char* name);

/// Runs `loop`, which wants dense operands, on strided ones: copies blocks in and out. Used by the loops themselves.
void run_pointwise_strided(PointwiseLoop loop, int inputs, uint64_t sizes, char* const* ptrs, const int64_t* byte_strides, int64_t n,
                           const void* attrs);

}  // namespace taeda::cpu
