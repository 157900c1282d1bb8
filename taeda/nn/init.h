// SPDX-License-Identifier: Apache-2.0
// Initialisation of parameters. Every function changes the tensor in place, without recording, and returns it.
#pragma once

#include <utility>
#include "taeda/core/tensor.h"
#include "taeda/nn/enum.h"

namespace taeda::nn::init {

using NonlinearityType =
    std::variant<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D, enumtype::kConv3D, enumtype::kConvTranspose1D,
                 enumtype::kConvTranspose2D, enumtype::kConvTranspose3D, enumtype::kSigmoid, enumtype::kTanh, enumtype::kReLU,
                 enumtype::kLeakyReLU>;
using FanModeType = std::variant<enumtype::kFanIn, enumtype::kFanOut>;

/// The recommended gain of a nonlinearity; `param` is LeakyReLU's negative slope.
TAEDA_API double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);
TAEDA_API Tensor constant_(Tensor tensor, Scalar value);
/// The Dirac delta: a convolution with it passes channels through, in each group. 3 to 5 dimensions.
TAEDA_API Tensor dirac_(Tensor tensor, int64_t groups = 1);
TAEDA_API Tensor eye_(Tensor matrix);
/// Three forms, so that calls without `init::` mean this one too, and not the operator of that name.
TAEDA_API Tensor normal_(const Tensor& tensor, double mean = 0, double std = 1);
inline Tensor normal_(Tensor& tensor, double mean = 0, double std = 1) { return init::normal_(std::as_const(tensor), mean, std); }
inline Tensor normal_(Tensor&& tensor, double mean = 0, double std = 1) { return init::normal_(std::as_const(tensor), mean, std); }
TAEDA_API Tensor ones_(Tensor tensor);
/// A (semi-)orthogonal matrix (Saxe, McClelland, Ganguli 2014).
TAEDA_API Tensor orthogonal_(Tensor tensor, double gain = 1.0);
/// A sparse matrix with `sparsity` of each column zero (Martens 2010).
TAEDA_API Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);
TAEDA_API Tensor uniform_(const Tensor& tensor, double low = 0, double high = 1);
inline Tensor uniform_(Tensor& tensor, double low = 0, double high = 1) { return init::uniform_(std::as_const(tensor), low, high); }
inline Tensor uniform_(Tensor&& tensor, double low = 0, double high = 1) { return init::uniform_(std::as_const(tensor), low, high); }
/// He, Zhang, Ren, Sun 2015.
TAEDA_API Tensor kaiming_normal_(Tensor tensor, double a = 0, FanModeType mode = enumtype::kFanIn(),
                                 NonlinearityType nonlinearity = enumtype::kLeakyReLU());
TAEDA_API Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanModeType mode = enumtype::kFanIn(),
                                  NonlinearityType nonlinearity = enumtype::kLeakyReLU());
/// Glorot, Bengio 2010.
TAEDA_API Tensor xavier_normal_(Tensor tensor, double gain = 1.0);
TAEDA_API Tensor xavier_uniform_(Tensor tensor, double gain = 1.0);
/// A normal distribution cut off at `a` and `b`.
TAEDA_API Tensor trunc_normal_(Tensor tensor, double mean = 0, double std = 1, double a = -2, double b = 2);
TAEDA_API Tensor zeros_(Tensor tensor);
/// Inputs and outputs that an element of the weight connects: (fan in, fan out).
TAEDA_API std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor);

}  // namespace taeda::nn::init
