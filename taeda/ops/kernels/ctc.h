// SPDX-License-Identifier: Apache-2.0
// Kernel of connectionist temporal classification.
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

/// log_probs (time, batch, classes), float32 or float64. Targets of sample b: target_lengths[b] numbers from offsets[b] on.
struct CtcArgs {
  ScalarType dtype;
  const void* log_probs;
  const int64_t* targets;
  const int64_t* offsets;         ///< (batch), in elements
  const int64_t* input_lengths;   ///< (batch)
  const int64_t* target_lengths;  ///< (batch)
  void* loss;                     ///< (batch): negative log-likelihoods
  const void* grad;               ///< (batch); null forwards
  void* grad_in;                  ///< shaped as log_probs, zeros before; null forwards
  int64_t time, batch, classes, blank;
  bool zero_infinity;             ///< samples that cannot be aligned get no gradient
};
extern TAEDA_API DeviceKernel<void(const CtcArgs&)> ctc_kernel;

}  // namespace taeda
