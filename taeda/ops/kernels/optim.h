// SPDX-License-Identifier: Apache-2.0
// Arguments of the fused optimizer steps: one pass over all parameters.
#pragma once

#include <span>

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

/// One parameter with its gradient and state: dense arrays of `n` elements of one dtype, in the same memory order.
struct OptimTensor {
  void* param;
  const void* grad;
  void* state[3];       ///< null where the rule has no such state
  int64_t n;
  bool first = false;   ///< first step of this parameter (SGD: the momentum buffer starts as the gradient)
  double step_size = 0; ///< per-parameter factors that depend on its step count
  double bias2_sqrt = 1;
  double second_step = 0;
};

enum class OptimRule : uint8_t { kSgd, kAdam, kAdagrad, kRmsprop, kAdadelta, kAdamax, kNadam, kRadam, kRprop, kAsgd };

struct OptimStepArgs {
  OptimRule rule;
  ScalarType dtype;  ///< float32 or float64
  double lr = 0, weight_decay = 0, eps = 0;
  double beta1 = 0, beta2 = 0;  ///< Adam's betas; momentum and dampening; RMSprop's alpha and Adadelta's rho (beta2); Rprop's factors
  double dampening = 0;
  double smallest = 0, largest = 0;  ///< Rprop: bounds of the step size
  double inverse_scale = 1;     ///< gradients are multiplied by it first
  bool nesterov = false, amsgrad = false, decoupled = false, centered = false, maximize = false;
  std::span<const OptimTensor> tensors;
};
extern TAEDA_API DeviceKernel<void(const OptimStepArgs&)> optim_step_kernel;

}  // namespace taeda
