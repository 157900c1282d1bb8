// SPDX-License-Identifier: Apache-2.0
// Linear maps and convolution with options.
#include "taeda/nn/functional.h"
#include "taeda/nn/functional_detail.h"
#include "taeda/ops/functions.h"

namespace taeda::nn::functional {

namespace {

using nn::detail::optional;

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

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return taeda::linear(input, weight, optional(bias));
}
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
  return taeda::bilinear(input1, input2, weight, optional(bias));
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
  }
TAEDA_CONV(1)
TAEDA_CONV(2)
TAEDA_CONV(3)
#undef TAEDA_CONV

}  // namespace taeda::nn::functional
