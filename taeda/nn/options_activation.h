// SPDX-License-Identifier: Apache-2.0
// Options of activation functions.
#pragma once

#include "taeda/core/arg.h"
#include "taeda/core/tensor.h"
#include "taeda/nn/enum.h"
#include "taeda/nn/expanding_array.h"

namespace taeda::nn {

struct TAEDA_API ELUOptions {
  TAEDA_ARG(double, alpha) = 1.0;
  TAEDA_ARG(bool, inplace) = false;
};
struct TAEDA_API SELUOptions {
  SELUOptions(bool inplace = false) : inplace_(inplace) {}
  TAEDA_ARG(bool, inplace);
};
struct TAEDA_API GLUOptions {
  GLUOptions(int64_t dim = -1) : dim_(dim) {}
  TAEDA_ARG(int64_t, dim);
};
struct TAEDA_API GELUOptions {
  TAEDA_ARG(std::string, approximate) = "none";
};
struct TAEDA_API HardshrinkOptions {
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  TAEDA_ARG(double, lambda);
};
struct TAEDA_API HardtanhOptions {
  TAEDA_ARG(double, min_val) = -1.0;
  TAEDA_ARG(double, max_val) = 1.0;
  TAEDA_ARG(bool, inplace) = false;
};
struct TAEDA_API LeakyReLUOptions {
  TAEDA_ARG(double, negative_slope) = 1e-2;
  TAEDA_ARG(bool, inplace) = false;
};
struct TAEDA_API SoftmaxOptions {
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  TAEDA_ARG(int64_t, dim);
};
namespace functional {
struct TAEDA_API SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  TAEDA_ARG(int64_t, dim);
  TAEDA_ARG(std::optional<Dtype>, dtype) = std::nullopt;
};
}
struct TAEDA_API SoftminOptions {
  SoftminOptions(int64_t dim) : dim_(dim) {}
  TAEDA_ARG(int64_t, dim);
};
namespace functional {
struct TAEDA_API SoftminFuncOptions {
  SoftminFuncOptions(int64_t dim) : dim_(dim) {}
  TAEDA_ARG(int64_t, dim);
  TAEDA_ARG(std::optional<Dtype>, dtype) = std::nullopt;
};
}
struct TAEDA_API LogSoftmaxOptions {
  LogSoftmaxOptions(int64_t dim) : dim_(dim) {}
  TAEDA_ARG(int64_t, dim);
};
namespace functional {
struct TAEDA_API LogSoftmaxFuncOptions {
  LogSoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  TAEDA_ARG(int64_t, dim);
  TAEDA_ARG(std::optional<Dtype>, dtype) = std::nullopt;
};
}
struct TAEDA_API PReLUOptions {
  TAEDA_ARG(int64_t, num_parameters) = 1;
  TAEDA_ARG(double, init) = 0.25;
};
struct TAEDA_API ReLUOptions {
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  TAEDA_ARG(bool, inplace);
};
struct TAEDA_API ReLU6Options {
  ReLU6Options(bool inplace = false) : inplace_(inplace) {}
  TAEDA_ARG(bool, inplace);
};
struct TAEDA_API RReLUOptions {
  TAEDA_ARG(double, lower) = 1.0 / 8.0;
  TAEDA_ARG(double, upper) = 1.0 / 3.0;
  TAEDA_ARG(bool, inplace) = false;
};
namespace functional {
struct TAEDA_API RReLUFuncOptions {
  TAEDA_ARG(double, lower) = 1.0 / 8.0;
  TAEDA_ARG(double, upper) = 1.0 / 3.0;
  TAEDA_ARG(bool, training) = false;
  TAEDA_ARG(bool, inplace) = false;
};
}
struct TAEDA_API CELUOptions {
  TAEDA_ARG(double, alpha) = 1.0;
  TAEDA_ARG(bool, inplace) = false;
};
struct TAEDA_API SoftplusOptions {
  TAEDA_ARG(double, beta) = 1.0;
  TAEDA_ARG(double, threshold) = 20.0;
};
struct TAEDA_API SoftshrinkOptions {
  SoftshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  TAEDA_ARG(double, lambda);
};
struct TAEDA_API ThresholdOptions {
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  TAEDA_ARG(double, threshold);
  TAEDA_ARG(double, value);
  TAEDA_ARG(bool, inplace) = false;
};
namespace functional {
struct TAEDA_API GumbelSoftmaxFuncOptions {
  TAEDA_ARG(double, tau) = 1.0;
  TAEDA_ARG(bool, hard) = false;
  TAEDA_ARG(int, dim) = -1;
};
using ELUFuncOptions = ELUOptions;
using SELUFuncOptions = SELUOptions;
using GLUFuncOptions = GLUOptions;
using GELUFuncOptions = GELUOptions;
using HardshrinkFuncOptions = HardshrinkOptions;
using HardtanhFuncOptions = HardtanhOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using ReLUFuncOptions = ReLUOptions;
using ReLU6FuncOptions = ReLU6Options;
using CELUFuncOptions = CELUOptions;
using SoftplusFuncOptions = SoftplusOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;
using ThresholdFuncOptions = ThresholdOptions;
}

}  // namespace taeda::nn
