// SPDX-License-Identifier: Apache-2.0
// Kernels of normalisations; float32 or float64, row-major.
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

/// Rows of n elements, each to mean 0 and variance 1, times weight plus bias.
struct LayerNormArgs {
  ScalarType dtype;
  const void* in;      ///< (rows, n)
  const void* weight;  ///< (n) or null
  const void* bias;    ///< (n) or null
  void* out;
  void* mean;          ///< (rows)
  void* rstd;          ///< (rows), 1 / sqrt(variance + eps)
  int64_t rows, n;
  double eps;
};
extern TAEDA_API DeviceKernel<void(const LayerNormArgs&)> layer_norm_kernel;

struct LayerNormBackwardArgs {
  ScalarType dtype;
  const void* grad;
  const void* in;
  const void* mean;
  const void* rstd;
  const void* weight;  ///< or null
  void* grad_in;       ///< or null, as the two below
  void* grad_weight;
  void* grad_bias;
  int64_t rows, n;
};
extern TAEDA_API DeviceKernel<void(const LayerNormBackwardArgs&)> layer_norm_backward_kernel;

/// y = x * scale[c] + shift[c] over (batch, channels, inner).
struct ChannelAffineArgs {
  ScalarType dtype;
  const void* in;
  const void* scale;  ///< (channels)
  const void* shift;
  void* out;
  int64_t batch, channels, inner;
};
extern TAEDA_API DeviceKernel<void(const ChannelAffineArgs&)> channel_affine_kernel;

/// Mean and biased variance of each channel.
struct ChannelMomentsArgs {
  ScalarType dtype;
  const void* in;
  void* mean;
  void* var;
  int64_t batch, channels, inner;
};
extern TAEDA_API DeviceKernel<void(const ChannelMomentsArgs&)> channel_moments_kernel;

struct BatchNormBackwardArgs {
  ScalarType dtype;
  const void* grad;
  const void* in;
  const void* mean;    ///< (channels): of the batch in training, running otherwise
  const void* rstd;
  const void* weight;  ///< or null
  void* grad_in;       ///< or null, as the two below
  void* grad_weight;
  void* grad_bias;
  int64_t batch, channels, inner;
  bool training;
};
extern TAEDA_API DeviceKernel<void(const BatchNormBackwardArgs&)> batch_norm_backward_kernel;

}  // namespace taeda
