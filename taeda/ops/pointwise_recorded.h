// SPDX-License-Identifier: Apache-2.0
// Recorded calls of pointwise operators, for those who join them into larger loops.
#pragma once

#include "taeda/ops/capture.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda::pointwise {

/// A recorded call as a kernel and its inputs.
struct Recorded {
  enum class Form : uint8_t { kFresh, kInPlace, kGradient };
  const Op* op = nullptr;
  Form form = Form::kFresh;
  int kernel = -1;                          ///< a PointwiseKernelId
  ScalarType compute = ScalarType::Undefined;  ///< of gradients: the dtype it computes in; else it follows from the inputs
  int inputs = 0;                           ///< in order; tensors and numbers are each taken in order
  uint64_t tensor_mask = 0;                 ///< which inputs are tensors
  int attributes = 0;                       ///< the last numbers of the call
};

/// What `target` with `words` is, when it is a pointwise call.
TAEDA_API std::optional<Recorded> recorded(const capture::Target& target, const uint64_t* words);

inline constexpr int kMaxGradientInputs = 8;
/// Derivative times cotangent by the kernel of a gradient: in[0] is the cotangent, the others broadcast to it and are of the dtypes that
/// the kernel takes.
TAEDA_API Tensor run_gradient(int kernel, ScalarType dtype, const Operand* in, int n, const Scalar* attrs, int attributes, const char* name);

}  // namespace taeda::pointwise
