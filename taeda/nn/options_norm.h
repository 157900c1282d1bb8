// SPDX-License-Identifier: Apache-2.0
// Options of normalisation.
#pragma once

#include "taeda/core/arg.h"
#include "taeda/core/tensor.h"
#include "taeda/nn/enum.h"
#include "taeda/nn/expanding_array.h"

namespace taeda::nn {

struct TAEDA_API BatchNormOptions {
  BatchNormOptions(int64_t num_features) : num_features_(num_features) {}
  TAEDA_ARG(int64_t, num_features);
  TAEDA_ARG(double, eps) = 1e-5;
  TAEDA_ARG(std::optional<double>, momentum) = 0.1;
  TAEDA_ARG(bool, affine) = true;
  TAEDA_ARG(bool, track_running_stats) = true;
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;
namespace functional {
struct TAEDA_API BatchNormFuncOptions {
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(Tensor, bias);
  TAEDA_ARG(bool, training) = false;
  TAEDA_ARG(double, momentum) = 0.1;
  TAEDA_ARG(double, eps) = 1e-5;
};
}
struct TAEDA_API InstanceNormOptions {
  InstanceNormOptions(int64_t num_features) : num_features_(num_features) {}
  TAEDA_ARG(int64_t, num_features);
  TAEDA_ARG(double, eps) = 1e-5;
  TAEDA_ARG(double, momentum) = 0.1;
  TAEDA_ARG(bool, affine) = false;
  TAEDA_ARG(bool, track_running_stats) = false;
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;
namespace functional {
struct TAEDA_API InstanceNormFuncOptions {
  TAEDA_ARG(Tensor, running_mean);
  TAEDA_ARG(Tensor, running_var);
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(Tensor, bias);
  TAEDA_ARG(bool, use_input_stats) = true;
  TAEDA_ARG(double, momentum) = 0.1;
  TAEDA_ARG(double, eps) = 1e-5;
};
}
struct TAEDA_API LayerNormOptions {
  LayerNormOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}
  TAEDA_ARG(std::vector<int64_t>, normalized_shape);
  TAEDA_ARG(double, eps) = 1e-5;
  TAEDA_ARG(bool, elementwise_affine) = true;
};
namespace functional {
struct TAEDA_API LayerNormFuncOptions {
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}
  TAEDA_ARG(std::vector<int64_t>, normalized_shape);
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(Tensor, bias);
  TAEDA_ARG(double, eps) = 1e-5;
};
}
struct TAEDA_API LocalResponseNormOptions {
  LocalResponseNormOptions(int64_t size) : size_(size) {}
  TAEDA_ARG(int64_t, size);
  TAEDA_ARG(double, alpha) = 1e-4;
  TAEDA_ARG(double, beta) = 0.75;
  TAEDA_ARG(double, k) = 1.;
};
struct TAEDA_API CrossMapLRN2dOptions {
  CrossMapLRN2dOptions(int64_t size) : size_(size) {}
  TAEDA_ARG(int64_t, size);
  TAEDA_ARG(double, alpha) = 1e-4;
  TAEDA_ARG(double, beta) = 0.75;
  TAEDA_ARG(int64_t, k) = 1;
};
struct TAEDA_API GroupNormOptions {
  GroupNormOptions(int64_t num_groups, int64_t num_channels) : num_groups_(num_groups), num_channels_(num_channels) {}
  TAEDA_ARG(int64_t, num_groups);
  TAEDA_ARG(int64_t, num_channels);
  TAEDA_ARG(double, eps) = 1e-5;
  TAEDA_ARG(bool, affine) = true;
};
namespace functional {
using LocalResponseNormFuncOptions = LocalResponseNormOptions;
struct TAEDA_API GroupNormFuncOptions {
  GroupNormFuncOptions(int64_t num_groups) : num_groups_(num_groups) {}
  TAEDA_ARG(int64_t, num_groups);
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(Tensor, bias);
  TAEDA_ARG(double, eps) = 1e-5;
};
struct TAEDA_API NormalizeFuncOptions {
  TAEDA_ARG(double, p) = 2.0;
  TAEDA_ARG(int64_t, dim) = 1;
  TAEDA_ARG(double, eps) = 1e-12;
  TAEDA_ARG(std::optional<Tensor>, out) = std::nullopt;
};
}

}  // namespace taeda::nn
