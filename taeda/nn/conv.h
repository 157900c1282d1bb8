// SPDX-License-Identifier: Apache-2.0
// Convolutions over one, two and three dimensions, and their transposes.
#pragma once

#include "taeda/nn/functional.h"
#include "taeda/nn/any.h"

namespace taeda::nn {

/// What convolutions share: weight (out, in / groups, kernel…) and bias (out).
template <size_t D, class Derived, class Options>
class TAEDA_API ConvNdImpl : public Cloneable<Derived> {
 public:
  explicit ConvNdImpl(Options options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Options options;
  Tensor weight;
  Tensor bias;

 protected:
  /// The input padded as padding_mode says, for modes other than zeros.
  Tensor pad_input(const Tensor& input) const;
};

#define TAEDA_DECLARE_CONV(rank) \
  class TAEDA_API Conv##rank##dImpl : public ConvNdImpl<rank, Conv##rank##dImpl, Conv##rank##dOptions> { \
   public: \
    Conv##rank##dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<rank> kernel_size) \
        : Conv##rank##dImpl(Conv##rank##dOptions(input_channels, output_channels, kernel_size)) {} \
    explicit Conv##rank##dImpl(Conv##rank##dOptions options_) : ConvNdImpl(std::move(options_)) {} \
    Tensor forward(const Tensor& input); \
  }; \
  TAEDA_MODULE(Conv##rank##d); \
  class TAEDA_API ConvTranspose##rank##dImpl \
      : public ConvNdImpl<rank, ConvTranspose##rank##dImpl, ConvTranspose##rank##dOptions> { \
   public: \
    ConvTranspose##rank##dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<rank> kernel_size) \
        : ConvTranspose##rank##dImpl(ConvTranspose##rank##dOptions(input_channels, output_channels, kernel_size)) {} \
    explicit ConvTranspose##rank##dImpl(ConvTranspose##rank##dOptions options_) : ConvNdImpl(std::move(options_)) {} \
    Tensor forward(const Tensor& input, const std::optional<IntArrayRef>& output_size = std::nullopt); \
    TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<IntArrayRef>())}) \
  }; \
  TAEDA_MODULE(ConvTranspose##rank##d)
TAEDA_DECLARE_CONV(1);
TAEDA_DECLARE_CONV(2);
TAEDA_DECLARE_CONV(3);
#undef TAEDA_DECLARE_CONV

}  // namespace taeda::nn
