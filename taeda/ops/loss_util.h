// SPDX-License-Identifier: Apache-2.0
// What losses share: the reduction of elementwise losses.
#pragma once

#include "taeda/core/tensor.h"
#include "taeda/ops/functions.h"

namespace taeda::detail {

enum LossReduction : int64_t { kReduceNone = 0, kReduceMean = 1, kReduceSum = 2 };

inline Tensor reduce_loss(const Tensor& loss, int64_t reduction) {
  TAEDA_CHECK_VALUE(reduction >= 0 && reduction <= 2, "[loss] reduction is none (0), mean (1) or sum (2): got ", reduction,
                    "; use one of these");
  return reduction == kReduceMean ? loss.mean() : reduction == kReduceSum ? loss.sum() : loss;
}
/// The number of a reduction's name. Throws ValueError for other names.
inline int64_t reduction_of(std::string_view name) {
  if (name == "none") return kReduceNone;
  if (name == "mean") return kReduceMean;
  TAEDA_CHECK_VALUE(name == "sum", "[loss] reduction is 'none', 'mean' or 'sum': got '", name, "'; use one of these");
  return kReduceSum;
}

}  // namespace taeda::detail
