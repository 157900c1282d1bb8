// SPDX-License-Identifier: Apache-2.0
// Linear maps, convolution and pooling with options.
#include "taeda/nn/functional.h"
#include "taeda/ops/functions.h"

namespace taeda::nn::functional {

namespace {

std::optional<Tensor> optional(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }

/// A convolution with a number or a word as padding.
template <size_t D, class Number, class Word>
Tensor convolve(const ConvFuncOptions<D>& o, const Number& number, const Word& word) {
  return std::visit([&](const auto& padding) -> Tensor {
    using P = std::decay_t<decltype(padding)>;
    if constexpr (std::is_same_v<P, ExpandingArray<D>>) {
      return number(IntArrayRef(*padding));
    } else {
      return word(std::is_same_v<P, enumtype::kValid> ? std::string_view("valid") : std::string_view("same"));
    }
  }, o.padding());
}

/// Adaptive sizes: an absent one keeps the input's.
template <size_t D>
DimVector adaptive_size(const ExpandingArrayWithOptionalElem<D>& wanted, const Tensor& input, const char* op) {
  TAEDA_CHECK(input.dim() > static_cast<int64_t>(D), "[", op, "] the input must have over ", D, " dimensions: got ",
              input.sizes(), "; add a channel dimension");
  DimVector sizes;
  for (size_t i = 0; i < D; ++i) {
    sizes.push_back((*wanted)[i].value_or(input.size(static_cast<int64_t>(i) - static_cast<int64_t>(D))));
  }
  return sizes;
}

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return taeda::linear(input, weight, optional(bias));
}

#define TAEDA_CONV(rank) \
  Tensor conv##rank##d(const Tensor& input, const Tensor& weight, const Conv##rank##dFuncOptions& o) { \
    return convolve<rank>( \
        o, \
        [&](IntArrayRef padding) { \
          return taeda::conv##rank##d(input, weight, optional(o.bias()), *o.stride(), padding, *o.dilation(), o.groups()); \
        }, \
        [&](std::string_view padding) { \
          return taeda::conv##rank##d(input, weight, optional(o.bias()), *o.stride(), padding, *o.dilation(), o.groups()); \
        }); \
  } \
  Tensor conv_transpose##rank##d(const Tensor& input, const Tensor& weight, const ConvTranspose##rank##dFuncOptions& o) { \
    return taeda::conv_transpose##rank##d(input, weight, optional(o.bias()), *o.stride(), *o.padding(), *o.output_padding(), \
                                       o.groups(), *o.dilation()); \
  } \
  Tensor max_pool##rank##d(const Tensor& input, const MaxPool##rank##dFuncOptions& o) { \
    return taeda::max_pool##rank##d(input, *o.kernel_size(), *o.stride(), *o.padding(), *o.dilation(), o.ceil_mode()); \
  } \
  std::tuple<Tensor, Tensor> max_pool##rank##d_with_indices(const Tensor& input, const MaxPool##rank##dFuncOptions& o) { \
    return taeda::max_pool##rank##d_with_indices(input, *o.kernel_size(), *o.stride(), *o.padding(), *o.dilation(), \
                                              o.ceil_mode()); \
  }
TAEDA_CONV(1)
TAEDA_CONV(2)
TAEDA_CONV(3)
#undef TAEDA_CONV

Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& o) {
  return taeda::avg_pool1d(input, *o.kernel_size(), *o.stride(), *o.padding(), o.ceil_mode(), o.count_include_pad());
}
Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& o) {
  return taeda::avg_pool2d(input, *o.kernel_size(), *o.stride(), *o.padding(), o.ceil_mode(), o.count_include_pad(),
                           o.divisor_override());
}
Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& o) {
  return taeda::avg_pool3d(input, *o.kernel_size(), *o.stride(), *o.padding(), o.ceil_mode(), o.count_include_pad(),
                           o.divisor_override());
}
Tensor adaptive_avg_pool1d(const Tensor& input, const AdaptiveAvgPool1dFuncOptions& o) {
  return taeda::adaptive_avg_pool1d(input, *o.output_size());
}
Tensor adaptive_avg_pool2d(const Tensor& input, const AdaptiveAvgPool2dFuncOptions& o) {
  return taeda::adaptive_avg_pool2d(input, adaptive_size<2>(o.output_size(), input, "adaptive_avg_pool2d"));
}
Tensor adaptive_avg_pool3d(const Tensor& input, const AdaptiveAvgPool3dFuncOptions& o) {
  return taeda::adaptive_avg_pool3d(input, adaptive_size<3>(o.output_size(), input, "adaptive_avg_pool3d"));
}
Tensor adaptive_max_pool1d(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& o) {
  return std::get<0>(taeda::adaptive_max_pool1d(input, *o.output_size()));
}
Tensor adaptive_max_pool2d(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& o) {
  return std::get<0>(taeda::adaptive_max_pool2d(input, adaptive_size<2>(o.output_size(), input, "adaptive_max_pool2d")));
}
Tensor adaptive_max_pool3d(const Tensor& input, const AdaptiveMaxPool3dFuncOptions& o) {
  return std::get<0>(taeda::adaptive_max_pool3d(input, adaptive_size<3>(o.output_size(), input, "adaptive_max_pool3d")));
}

}  // namespace taeda::nn::functional
