// SPDX-License-Identifier: Apache-2.0
// What losses share: the reduction of elementwise losses.
#pragma once

#include "taeda/core/tensor.h"
#include "taeda/ops/functions.h"

namespace taeda::detail {

enum LossReduction : int64_t { kReduceNone = 0, kReduceMean = 1, kReduceSum = 2 };

/// Other numbers leave the loss as it is; losses that refuse them call check_reduction first.
inline Tensor reduce_loss(const Tensor& loss, int64_t reduction) {
  return reduction == kReduceMean ? loss.mean() : reduction == kReduceSum ? loss.sum() : loss;
}
inline void check_reduction(int64_t reduction, const char* op) {
  TAEDA_CHECK(reduction >= 0 && reduction <= 2, "[", op, "] reduction is none (0), mean (1) or sum (2): got ", reduction, "; use one of these");
}
/// Losses of integers alone have no kernel.
inline void check_floating_loss(ScalarType type, const char* op) {
  TAEDA_CHECK_NOT_IMPLEMENTED(is_floating_type(type), "[", op, "] is not implemented for ", type, "; convert the input to a floating dtype");
}
/// A loss in the dtype of the tensor that it is written over.
inline Tensor loss_like(const Tensor& loss, const Tensor& written, const char* op) {
  TAEDA_CHECK(can_cast(loss.scalar_type(), written.scalar_type()), "[", op, "] result type ", loss.scalar_type(),
              " can't be cast to the desired output type ", written.scalar_type(), "; convert the operand to a floating dtype");
  return loss.scalar_type() == written.scalar_type() ? loss : loss.to(written.scalar_type());
}
/// The number of a reduction's name. Throws ValueError for other names.
inline int64_t reduction_of(std::string_view name) {
  if (name == "none") return kReduceNone;
  if (name == "mean") return kReduceMean;
  TAEDA_CHECK_VALUE(name == "sum", "[loss] reduction is 'none', 'mean' or 'sum': got '", name, "'; use one of these");
  return kReduceSum;
}

}  // namespace taeda::detail
