// SPDX-License-Identifier: Apache-2.0
// Options of padding, resampling, pixel and window modules.
#pragma once

#include "taeda/core/arg.h"
#include "taeda/core/tensor.h"
#include "taeda/nn/enum.h"
#include "taeda/nn/expanding_array.h"

namespace taeda::nn {

// Amounts of padding: last dimension first, before and after.
template <size_t D>
struct TAEDA_API ReflectionPadOptions {
  ReflectionPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  TAEDA_ARG(ExpandingArray<D * 2>, padding);
};
template <size_t D>
struct TAEDA_API ReplicationPadOptions {
  ReplicationPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  TAEDA_ARG(ExpandingArray<D * 2>, padding);
};
template <size_t D>
struct TAEDA_API ZeroPadOptions {
  ZeroPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  TAEDA_ARG(ExpandingArray<D * 2>, padding);
};
template <size_t D>
struct TAEDA_API ConstantPadOptions {
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value) : padding_(padding), value_(value) {}
  TAEDA_ARG(ExpandingArray<D * 2>, padding);
  TAEDA_ARG(double, value);
};
using ReflectionPad1dOptions = ReflectionPadOptions<1>;
using ReflectionPad2dOptions = ReflectionPadOptions<2>;
using ReflectionPad3dOptions = ReflectionPadOptions<3>;
using ReplicationPad1dOptions = ReplicationPadOptions<1>;
using ReplicationPad2dOptions = ReplicationPadOptions<2>;
using ReplicationPad3dOptions = ReplicationPadOptions<3>;
using ZeroPad1dOptions = ZeroPadOptions<1>;
using ZeroPad2dOptions = ZeroPadOptions<2>;
using ZeroPad3dOptions = ZeroPadOptions<3>;
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;

struct TAEDA_API PixelShuffleOptions {
  PixelShuffleOptions(int64_t upscale_factor) : upscale_factor_(upscale_factor) {}
  TAEDA_ARG(int64_t, upscale_factor);
};
struct TAEDA_API PixelUnshuffleOptions {
  PixelUnshuffleOptions(int64_t downscale_factor) : downscale_factor_(downscale_factor) {}
  TAEDA_ARG(int64_t, downscale_factor);
};
struct TAEDA_API FoldOptions {
  FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : output_size_(output_size), kernel_size_(kernel_size) {}
  TAEDA_ARG(ExpandingArray<2>, output_size);
  TAEDA_ARG(ExpandingArray<2>, kernel_size);
  TAEDA_ARG(ExpandingArray<2>, dilation) = 1;
  TAEDA_ARG(ExpandingArray<2>, padding) = 0;
  TAEDA_ARG(ExpandingArray<2>, stride) = 1;
};
struct TAEDA_API UnfoldOptions {
  UnfoldOptions(ExpandingArray<2> kernel_size) : kernel_size_(kernel_size) {}
  TAEDA_ARG(ExpandingArray<2>, kernel_size);
  TAEDA_ARG(ExpandingArray<2>, dilation) = 1;
  TAEDA_ARG(ExpandingArray<2>, padding) = 0;
  TAEDA_ARG(ExpandingArray<2>, stride) = 1;
};
struct TAEDA_API UpsampleOptions {
  using mode_t = std::variant<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                              enumtype::kTrilinear>;
  TAEDA_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  TAEDA_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  TAEDA_ARG(mode_t, mode) = enumtype::kNearest();
  TAEDA_ARG(std::optional<bool>, align_corners) = std::nullopt;
};

namespace functional {
using PixelShuffleFuncOptions = PixelShuffleOptions;
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;
using FoldFuncOptions = FoldOptions;
using UnfoldFuncOptions = UnfoldOptions;
struct TAEDA_API PadFuncOptions {
  using mode_t = std::variant<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
  PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}
  TAEDA_ARG(std::vector<int64_t>, pad);
  TAEDA_ARG(mode_t, mode) = enumtype::kConstant();
  TAEDA_ARG(double, value) = 0;
};
struct TAEDA_API InterpolateFuncOptions {
  using mode_t = std::variant<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                              enumtype::kTrilinear, enumtype::kArea, enumtype::kNearestExact>;
  TAEDA_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  TAEDA_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  TAEDA_ARG(mode_t, mode) = enumtype::kNearest();
  TAEDA_ARG(std::optional<bool>, align_corners) = std::nullopt;
  TAEDA_ARG(std::optional<bool>, recompute_scale_factor) = std::nullopt;
  TAEDA_ARG(bool, antialias) = false;
};
struct TAEDA_API GridSampleFuncOptions {
  using mode_t = std::variant<enumtype::kBilinear, enumtype::kNearest, enumtype::kBicubic>;
  using padding_mode_t = std::variant<enumtype::kZeros, enumtype::kBorder, enumtype::kReflection>;
  TAEDA_ARG(mode_t, mode) = enumtype::kBilinear();
  TAEDA_ARG(padding_mode_t, padding_mode) = enumtype::kZeros();
  TAEDA_ARG(std::optional<bool>, align_corners) = std::nullopt;
};
}  // namespace functional

}  // namespace taeda::nn
