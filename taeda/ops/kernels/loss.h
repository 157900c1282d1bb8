// SPDX-License-Identifier: Apache-2.0
// Kernels of the negative log-likelihood. Log-probabilities (batch, classes, inner), targets (batch, inner) int64.
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

struct NllArgs {
  ScalarType dtype;    ///< float32 or float64, of log-probabilities, weights and results
  const void* in;      ///< log-probabilities; null backwards
  const int64_t* target;
  const void* weight;  ///< (classes) or null
  void* out;           ///< losses (batch, inner), or one number when reduced
  void* total_weight;  ///< sum of the weights of the targets that count
  int64_t batch, classes, inner;
  int64_t reduction;   ///< 0 none, 1 mean, 2 sum
  int64_t ignore_index;
};
/// Throws IndexError when a target lies outside the classes and is not `ignore_index`.
extern TAEDA_API DeviceKernel<void(const NllArgs&)> nll_kernel;

struct NllBackwardArgs {
  ScalarType dtype;
  const void* grad;    ///< (batch, inner), or one number when reduced
  const int64_t* target;
  const void* weight;
  const void* total_weight;
  void* out;           ///< (batch, classes, inner), zeros before
  int64_t batch, classes, inner;
  int64_t reduction;
  int64_t ignore_index;
};
extern TAEDA_API DeviceKernel<void(const NllBackwardArgs&)> nll_backward_kernel;

}  // namespace taeda
