// SPDX-License-Identifier: Apache-2.0
// Pooling modules.
#include "taeda/nn/pooling.h"

#include <ostream>

#include "taeda/nn/functional.h"

namespace taeda::nn {

namespace F = functional;

#define TAEDA_DEFINE_POOLS(rank)                                                                                    \
  Tensor MaxPool##rank##dImpl::forward(const Tensor& input) { return F::max_pool##rank##d(input, noted(options)); } \
  std::tuple<Tensor, Tensor> MaxPool##rank##dImpl::forward_with_indices(const Tensor& input) {                      \
    return F::max_pool##rank##d_with_indices(input, noted(options));                                                \
  }                                                                                                                 \
  void MaxPool##rank##dImpl::pretty_print(std::ostream& stream) const {                                             \
    stream << std::boolalpha << "torch::nn::MaxPool" #rank "d(kernel_size=" << options.kernel_size()                \
           << ", stride=" << options.stride() << ", padding=" << options.padding()                                  \
           << ", dilation=" << options.dilation() << ", ceil_mode=" << options.ceil_mode() << ")";                  \
  }                                                                                                                 \
  Tensor AvgPool##rank##dImpl::forward(const Tensor& input) { return F::avg_pool##rank##d(input, noted(options)); } \
  void AvgPool##rank##dImpl::pretty_print(std::ostream& stream) const {                                             \
    stream << "torch::nn::AvgPool" #rank "d(kernel_size=" << options.kernel_size() << ", stride=" << options.stride() \
           << ", padding=" << options.padding() << ")";                                                             \
  }                                                                                                                 \
  Tensor AdaptiveAvgPool##rank##dImpl::forward(const Tensor& input) {                                               \
    return F::adaptive_avg_pool##rank##d(input, noted(options));                                                    \
  }                                                                                                                 \
  void AdaptiveAvgPool##rank##dImpl::pretty_print(std::ostream& stream) const {                                     \
    stream << "torch::nn::AdaptiveAvgPool" #rank "d(output_size=" << options.output_size() << ")";                  \
  }                                                                                                                 \
  Tensor AdaptiveMaxPool##rank##dImpl::forward(const Tensor& input) {                                               \
    return F::adaptive_max_pool##rank##d(input, noted(options));                                                    \
  }                                                                                                                 \
  std::tuple<Tensor, Tensor> AdaptiveMaxPool##rank##dImpl::forward_with_indices(const Tensor& input) {                \
    return F::adaptive_max_pool##rank##d_with_indices(input, noted(options));                                       \
  }                                                                                                                 \
  Tensor MaxUnpool##rank##dImpl::forward(const Tensor& input, const Tensor& indices,                                \
                                         const std::optional<std::vector<int64_t>>& output_size) {                  \
    return F::max_unpool##rank##d(input, indices,                                                                   \
                                  F::MaxUnpool##rank##dFuncOptions(noted(options).kernel_size())                    \
                                      .stride(options.stride())                                                     \
                                      .padding(options.padding())                                                   \
                                      .output_size(output_size));                                                   \
  }                                                                                                                 \
  void MaxUnpool##rank##dImpl::pretty_print(std::ostream& stream) const {                                           \
    stream << std::boolalpha << "torch::nn::MaxUnpool" #rank "d(kernel_size=" << options.kernel_size()              \
           << ", stride=" << options.stride() << ", padding=" << options.padding() << ")";                          \
  }                                                                                                                 \
  Tensor LPPool##rank##dImpl::forward(const Tensor& input) { return F::lp_pool##rank##d(input, noted(options)); }   \
  void LPPool##rank##dImpl::pretty_print(std::ostream& stream) const {                                              \
    stream << std::boolalpha << "torch::nn::LPPool" #rank "d(norm_type=" << options.norm_type()                     \
           << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride()                          \
           << ", ceil_mode=" << options.ceil_mode() << ")";                                                         \
  }                                                                                                                 \
  void AdaptiveMaxPool##rank##dImpl::pretty_print(std::ostream& stream) const {                                     \
    stream << "torch::nn::AdaptiveMaxPool" #rank "d(output_size=" << options.output_size() << ")";                  \
  }
TAEDA_DEFINE_POOLS(1)
TAEDA_DEFINE_POOLS(2)
TAEDA_DEFINE_POOLS(3)
#undef TAEDA_DEFINE_POOLS

namespace {
template <class Options>
void check_fractional(const Options& options, const char* name) {
  TAEDA_CHECK(options.output_size().has_value() != options.output_ratio().has_value(), "[", name,
              "] requires specifying either an output size, or a pooling ratio: got ",
              options.output_size() ? "both" : "neither", "; set output_size or output_ratio");
  if (!options.output_ratio()) return;
  for (const double ratio : **options.output_ratio()) {
    TAEDA_CHECK(ratio > 0 && ratio < 1, "[", name, "] output_ratio must be between 0 and 1: got ", ratio, "; choose such a ratio");
  }
}
}  // namespace

#define TAEDA_DEFINE_FRACTIONAL_POOL(rank)                                                                       \
  FractionalMaxPool##rank##dImpl::FractionalMaxPool##rank##dImpl(FractionalMaxPool##rank##dOptions options_)     \
      : options(std::move(options_)) {                                                                           \
    FractionalMaxPool##rank##dImpl::reset();                                                                     \
  }                                                                                                              \
  void FractionalMaxPool##rank##dImpl::reset() {                                                                 \
    _random_samples = register_buffer("_random_samples", options._random_samples());                             \
    check_fractional(options, "FractionalMaxPool" #rank "d");                                                    \
  }                                                                                                              \
  std::tuple<Tensor, Tensor> FractionalMaxPool##rank##dImpl::forward_with_indices(const Tensor& input) {         \
    return F::fractional_max_pool##rank##d_with_indices(                                                         \
        input, FractionalMaxPool##rank##dOptions(noted(options))._random_samples(_random_samples));              \
  }                                                                                                              \
  Tensor FractionalMaxPool##rank##dImpl::forward(const Tensor& input) {                                          \
    return std::get<0>(forward_with_indices(input));                                                             \
  }                                                                                                              \
  void FractionalMaxPool##rank##dImpl::pretty_print(std::ostream& stream) const {                                \
    stream << "torch::nn::FractionalMaxPool" #rank "d()";                                                        \
  }
TAEDA_DEFINE_FRACTIONAL_POOL(2)
TAEDA_DEFINE_FRACTIONAL_POOL(3)
#undef TAEDA_DEFINE_FRACTIONAL_POOL

}  // namespace taeda::nn
