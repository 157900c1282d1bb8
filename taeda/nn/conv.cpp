// SPDX-License-Identifier: Apache-2.0
// Convolution modules.
#include "taeda/nn/conv.h"

#include <cmath>
#include <ostream>

#include "taeda/nn/init.h"
#include "taeda/ops/functions.h"

namespace taeda::nn {

namespace {
template <class Options>
constexpr bool is_transposed = requires(const Options& o) { o.output_padding(); };

template <size_t D>
bool all_equal(const ExpandingArray<D>& array, int64_t value) {
  for (const int64_t v : *array) {
    if (v != value) return false;
  }
  return true;
}
template <size_t D>
void print_padding(std::ostream& stream, const detail::conv_padding_t<D>& padding) {
  std::visit([&](const auto& p) {
    if constexpr (std::is_same_v<std::decay_t<decltype(p)>, ExpandingArray<D>>) {
      if (!all_equal(p, 0)) stream << ", padding=" << p;
    } else {
      stream << ", padding='" << (std::is_same_v<std::decay_t<decltype(p)>, enumtype::kValid> ? "valid" : "same") << "'";
    }
  }, padding);
}
template <size_t D>
void print_padding(std::ostream& stream, const ExpandingArray<D>& padding) {
  if (!all_equal(padding, 0)) stream << ", padding=" << padding;
}
}  // namespace

template <size_t D, class Derived, class Options>
ConvNdImpl<D, Derived, Options>::ConvNdImpl(Options options_) : options(std::move(options_)) {
  ConvNdImpl::reset();
}

template <size_t D, class Derived, class Options>
void ConvNdImpl<D, Derived, Options>::reset() {
  TAEDA_CHECK(options.in_channels() > 0 && options.groups() > 0 && options.out_channels() > 0,
              "[conv] in_channels, groups and out_channels must be a positive integer: got ", options.in_channels(), ", ",
              options.groups(), ", ", options.out_channels(), "; pass 1 or more");
  TAEDA_CHECK(options.in_channels() % options.groups() == 0, "[conv] in_channels must be divisible by groups: got ",
              options.in_channels(), " and ", options.groups(), "; change one of them");
  TAEDA_CHECK(options.out_channels() % options.groups() == 0, "[conv] out_channels must be divisible by groups: got ",
              options.out_channels(), " and ", options.groups(), "; change one of them");
  if constexpr (is_transposed<Options>) {
    TAEDA_CHECK(std::holds_alternative<enumtype::kZeros>(options.padding_mode()),
                "[conv_transpose] Only \"zeros\" padding mode is supported: got ",
                enumtype::get_enum_name(options.padding_mode()), "; pad the input yourself");
  } else if (std::holds_alternative<enumtype::kSame>(options.padding())) {
    TAEDA_CHECK(all_equal(options.stride(), 1),
                "[conv] padding='same' is not supported for strided convolutions: got stride ", options.stride(), "; use numbers");
  }
  DimVector sizes;
  sizes.push_back(is_transposed<Options> ? options.in_channels() : options.out_channels());
  sizes.push_back((is_transposed<Options> ? options.out_channels() : options.in_channels()) / options.groups());
  for (const int64_t k : *options.kernel_size()) sizes.push_back(k);
  weight = this->register_parameter("weight", taeda::empty(sizes, TensorOptions()));
  if (options.bias()) {
    bias = this->register_parameter("bias", taeda::empty(IntArrayRef(options.out_channels()), TensorOptions()));
  } else {
    bias = this->register_parameter("bias", Tensor(), /*requires_grad=*/false);
  }
  reset_parameters();
}

template <size_t D, class Derived, class Options>
void ConvNdImpl<D, Derived, Options>::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const int64_t fan_in = std::get<0>(init::_calculate_fan_in_and_fan_out(weight));
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  init::uniform_(bias, -bound, bound);
}

template <size_t D, class Derived, class Options>
void ConvNdImpl<D, Derived, Options>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Conv" << (is_transposed<Options> ? "Transpose" : "") << D << "d("
         << options.in_channels() << ", " << options.out_channels() << ", kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride();
  print_padding(stream, options.padding());
  if (!all_equal(options.dilation(), 1)) stream << ", dilation=" << options.dilation();
  if constexpr (is_transposed<Options>) {
    if (!all_equal(options.output_padding(), 0)) stream << ", output_padding=" << options.output_padding();
  }
  if (options.groups() != 1) stream << ", groups=" << options.groups();
  if (!options.bias()) stream << ", bias=" << std::boolalpha << false;
  if (!std::holds_alternative<enumtype::kZeros>(options.padding_mode())) {
    stream << ", padding_mode=" << enumtype::get_enum_name(options.padding_mode());
  }
  stream << ")";
}

template <size_t D, class Derived, class Options>
Tensor ConvNdImpl<D, Derived, Options>::pad_input(const Tensor& input) const {
  if constexpr (is_transposed<Options>) {
    return input;
  } else {
    std::vector<int64_t> amounts;  // last dimension first, before and after
    for (size_t i = D; i-- > 0;) {
      if (const auto* numbers = std::get_if<ExpandingArray<D>>(&options.padding())) {
        amounts.push_back((**numbers)[i]);
        amounts.push_back((**numbers)[i]);
      } else if (std::holds_alternative<enumtype::kSame>(options.padding())) {
        const int64_t total = (*options.dilation())[i] * ((*options.kernel_size())[i] - 1);
        amounts.push_back(total / 2);
        amounts.push_back(total - total / 2);
      } else {
        amounts.insert(amounts.end(), 2, 0);
      }
    }
    const std::string mode = enumtype::get_enum_name(options.padding_mode());
    return taeda::pad(input, amounts, mode == "kReflect" ? "reflect" : mode == "kReplicate" ? "replicate" : "circular");
  }
}

/// The output padding that makes a transposed convolution give `wanted` sizes.
template <size_t D, class Options>
std::array<int64_t, D> output_padding_for(const Options& options, const Tensor& input,
                                          const std::optional<IntArrayRef>& wanted) {
  if (!wanted) return *options.output_padding();
  IntArrayRef sizes = *wanted;
  if (sizes.size() == D + 2) sizes = sizes.slice(2);
  TAEDA_CHECK(sizes.size() == D, "[conv_transpose] output_size must have ", D, " or ", D + 2, " elements: got ", sizes.size(),
              "; give one for each spatial dimension");
  std::array<int64_t, D> result;
  for (size_t i = 0; i < D; ++i) {
    const int64_t least = (input.size(static_cast<int64_t>(i) - static_cast<int64_t>(D)) - 1) * (*options.stride())[i] -
                          2 * (*options.padding())[i] + (*options.dilation())[i] * ((*options.kernel_size())[i] - 1) + 1;
    TAEDA_CHECK(sizes[i] >= least && sizes[i] < least + (*options.stride())[i], "[conv_transpose] requested an output size of ",
                sizes, ", but valid sizes in dimension ", i, " range from ", least, " to ", least + (*options.stride())[i] - 1,
                "; choose one of them");
    result[i] = sizes[i] - least;
  }
  return result;
}

#define TAEDA_DEFINE_CONV(rank) \
  template class ConvNdImpl<rank, Conv##rank##dImpl, Conv##rank##dOptions>; \
  template class ConvNdImpl<rank, ConvTranspose##rank##dImpl, ConvTranspose##rank##dOptions>; \
  Tensor Conv##rank##dImpl::forward(const Tensor& input) { \
    functional::Conv##rank##dFuncOptions o; \
    o.bias(bias).stride(noted(options).stride()).dilation(options.dilation()).groups(options.groups()); \
    if (std::holds_alternative<enumtype::kZeros>(options.padding_mode())) { \
      return functional::conv##rank##d(input, weight, o.padding(options.padding())); \
    } \
    return functional::conv##rank##d(pad_input(input), weight, o); \
  } \
  Tensor ConvTranspose##rank##dImpl::forward(const Tensor& input, const std::optional<IntArrayRef>& output_size) { \
    return functional::conv_transpose##rank##d( \
        input, weight, \
        functional::ConvTranspose##rank##dFuncOptions() \
            .bias(bias).stride(noted(options).stride()).padding(options.padding()) \
            .output_padding(output_padding_for<rank>(options, input, output_size)) \
            .groups(options.groups()).dilation(options.dilation())); \
  }
TAEDA_DEFINE_CONV(1)
TAEDA_DEFINE_CONV(2)
TAEDA_DEFINE_CONV(3)
#undef TAEDA_DEFINE_CONV

}  // namespace taeda::nn
