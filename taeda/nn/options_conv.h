// SPDX-License-Identifier: Apache-2.0
// Options of convolution and pooling.
#pragma once

#include "taeda/core/arg.h"
#include "taeda/core/tensor.h"
#include "taeda/nn/enum.h"
#include "taeda/nn/expanding_array.h"

namespace taeda::nn {

namespace detail {
using conv_padding_mode_t =
    std::variant<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
template <size_t D>
using conv_padding_t = std::variant<ExpandingArray<D>, enumtype::kValid, enumtype::kSame>;
}  // namespace detail
template <size_t D>
struct TAEDA_API ConvOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  using padding_t = detail::conv_padding_t<D>;
  ConvOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  auto padding(std::initializer_list<int64_t> il) -> decltype(*this) { return padding(ExpandingArray<D>(il)); }
  TAEDA_ARG(int64_t, in_channels);
  TAEDA_ARG(int64_t, out_channels);
  TAEDA_ARG(ExpandingArray<D>, kernel_size);
  TAEDA_ARG(ExpandingArray<D>, stride) = 1;
  TAEDA_ARG(padding_t, padding) = ExpandingArray<D>(0);
  TAEDA_ARG(ExpandingArray<D>, dilation) = 1;
  TAEDA_ARG(int64_t, groups) = 1;
  TAEDA_ARG(bool, bias) = true;
  TAEDA_ARG(padding_mode_t, padding_mode) = enumtype::kZeros();
};
template <size_t D>
struct TAEDA_API ConvTransposeOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  ConvTransposeOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  TAEDA_ARG(int64_t, in_channels);
  TAEDA_ARG(int64_t, out_channels);
  TAEDA_ARG(ExpandingArray<D>, kernel_size);
  TAEDA_ARG(ExpandingArray<D>, stride) = 1;
  TAEDA_ARG(ExpandingArray<D>, padding) = 0;
  TAEDA_ARG(ExpandingArray<D>, output_padding) = 0;
  TAEDA_ARG(int64_t, groups) = 1;
  TAEDA_ARG(bool, bias) = true;
  TAEDA_ARG(ExpandingArray<D>, dilation) = 1;
  TAEDA_ARG(padding_mode_t, padding_mode) = enumtype::kZeros();
};
using Conv1dOptions = ConvOptions<1>;
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using Conv3dOptions = ConvOptions<3>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;
namespace functional {
template <size_t D>
struct TAEDA_API ConvFuncOptions {
  using padding_t = nn::detail::conv_padding_t<D>;
  auto padding(std::initializer_list<int64_t> il) -> decltype(*this) { return padding(ExpandingArray<D>(il)); }
  TAEDA_ARG(Tensor, bias);
  TAEDA_ARG(ExpandingArray<D>, stride) = 1;
  TAEDA_ARG(padding_t, padding) = ExpandingArray<D>(0);
  TAEDA_ARG(ExpandingArray<D>, dilation) = 1;
  TAEDA_ARG(int64_t, groups) = 1;
};
template <size_t D>
struct TAEDA_API ConvTransposeFuncOptions {
  TAEDA_ARG(Tensor, bias);
  TAEDA_ARG(ExpandingArray<D>, stride) = 1;
  TAEDA_ARG(ExpandingArray<D>, padding) = 0;
  TAEDA_ARG(ExpandingArray<D>, output_padding) = 0;
  TAEDA_ARG(int64_t, groups) = 1;
  TAEDA_ARG(ExpandingArray<D>, dilation) = 1;
};
using Conv1dFuncOptions = ConvFuncOptions<1>;
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;
}
template <size_t D>
struct TAEDA_API MaxPoolOptions {
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  TAEDA_ARG(ExpandingArray<D>, kernel_size);
  TAEDA_ARG(ExpandingArray<D>, stride);
  TAEDA_ARG(ExpandingArray<D>, padding) = 0;
  TAEDA_ARG(ExpandingArray<D>, dilation) = 1;
  TAEDA_ARG(bool, ceil_mode) = false;
};
template <size_t D>
struct TAEDA_API AvgPoolOptions {
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  TAEDA_ARG(ExpandingArray<D>, kernel_size);
  TAEDA_ARG(ExpandingArray<D>, stride);
  TAEDA_ARG(ExpandingArray<D>, padding) = 0;
  TAEDA_ARG(bool, ceil_mode) = false;
  TAEDA_ARG(bool, count_include_pad) = true;
  TAEDA_ARG(std::optional<int64_t>, divisor_override) = std::nullopt;
};
template <class output_size_t>
struct TAEDA_API AdaptiveAvgPoolOptions {
  AdaptiveAvgPoolOptions(output_size_t output_size) : output_size_(output_size) {}
  TAEDA_ARG(output_size_t, output_size);
};
template <class output_size_t>
struct TAEDA_API AdaptiveMaxPoolOptions {
  AdaptiveMaxPoolOptions(output_size_t output_size) : output_size_(output_size) {}
  TAEDA_ARG(output_size_t, output_size);
};
template <size_t D>
struct TAEDA_API MaxUnpoolOptions {
  MaxUnpoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  TAEDA_ARG(ExpandingArray<D>, kernel_size);
  TAEDA_ARG(ExpandingArray<D>, stride);
  TAEDA_ARG(ExpandingArray<D>, padding) = 0;
};
template <size_t D>
struct TAEDA_API FractionalMaxPoolOptions {
  using ExpandingArrayDouble = ExpandingArray<D, double>;
  FractionalMaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size) {}
  TAEDA_ARG(ExpandingArray<D>, kernel_size);
  TAEDA_ARG(std::optional<ExpandingArray<D>>, output_size) = std::nullopt;
  TAEDA_ARG(std::optional<ExpandingArrayDouble>, output_ratio) = std::nullopt;
  TAEDA_ARG(Tensor, _random_samples);
};
template <size_t D>
struct TAEDA_API LPPoolOptions {
  LPPoolOptions(double norm_type, ExpandingArray<D> kernel_size)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}
  TAEDA_ARG(double, norm_type);
  TAEDA_ARG(ExpandingArray<D>, kernel_size);
  TAEDA_ARG(ExpandingArray<D>, stride);
  TAEDA_ARG(bool, ceil_mode) = false;
};
using MaxUnpool1dOptions = MaxUnpoolOptions<1>;
using MaxUnpool2dOptions = MaxUnpoolOptions<2>;
using MaxUnpool3dOptions = MaxUnpoolOptions<3>;
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;
using LPPool1dOptions = LPPoolOptions<1>;
using LPPool2dOptions = LPPoolOptions<2>;
using LPPool3dOptions = LPPoolOptions<3>;
using MaxPool1dOptions = MaxPoolOptions<1>;
using AvgPool1dOptions = AvgPoolOptions<1>;
using AdaptiveAvgPool1dOptions = AdaptiveAvgPoolOptions<ExpandingArray<1>>;
using AdaptiveMaxPool1dOptions = AdaptiveMaxPoolOptions<ExpandingArray<1>>;
using MaxPool2dOptions = MaxPoolOptions<2>;
using AvgPool2dOptions = AvgPoolOptions<2>;
using AdaptiveAvgPool2dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveMaxPool2dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using MaxPool3dOptions = MaxPoolOptions<3>;
using AvgPool3dOptions = AvgPoolOptions<3>;
using AdaptiveAvgPool3dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<3>>;
using AdaptiveMaxPool3dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<3>>;
namespace functional {
using MaxPool1dFuncOptions = MaxPool1dOptions;
using AvgPool1dFuncOptions = AvgPool1dOptions;
using AdaptiveAvgPool1dFuncOptions = AdaptiveAvgPool1dOptions;
using AdaptiveMaxPool1dFuncOptions = AdaptiveMaxPool1dOptions;
using MaxPool2dFuncOptions = MaxPool2dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;
using AdaptiveMaxPool2dFuncOptions = AdaptiveMaxPool2dOptions;
using MaxPool3dFuncOptions = MaxPool3dOptions;
using AvgPool3dFuncOptions = AvgPool3dOptions;
using AdaptiveAvgPool3dFuncOptions = AdaptiveAvgPool3dOptions;
using AdaptiveMaxPool3dFuncOptions = AdaptiveMaxPool3dOptions;
using FractionalMaxPool2dFuncOptions = FractionalMaxPool2dOptions;
using FractionalMaxPool3dFuncOptions = FractionalMaxPool3dOptions;
using LPPool1dFuncOptions = LPPool1dOptions;
using LPPool2dFuncOptions = LPPool2dOptions;
using LPPool3dFuncOptions = LPPool3dOptions;
template <size_t D>
struct TAEDA_API MaxUnpoolFuncOptions {
  MaxUnpoolFuncOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  TAEDA_ARG(ExpandingArray<D>, kernel_size);
  TAEDA_ARG(ExpandingArray<D>, stride);
  TAEDA_ARG(ExpandingArray<D>, padding) = 0;
  TAEDA_ARG(std::optional<std::vector<int64_t>>, output_size) = std::nullopt;
};
using MaxUnpool1dFuncOptions = MaxUnpoolFuncOptions<1>;
using MaxUnpool2dFuncOptions = MaxUnpoolFuncOptions<2>;
using MaxUnpool3dFuncOptions = MaxUnpoolFuncOptions<3>;
}

}  // namespace taeda::nn
