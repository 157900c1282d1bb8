// SPDX-License-Identifier: Apache-2.0
// Pooling modules.
#include "taeda/nn/pooling.h"

#include <ostream>

namespace taeda::nn {

namespace F = functional;

#define TAEDA_DEFINE_POOLS(rank)                                                                                    \
  Tensor MaxPool##rank##dImpl::forward(const Tensor& input) { return F::max_pool##rank##d(input, options); }        \
  std::tuple<Tensor, Tensor> MaxPool##rank##dImpl::forward_with_indices(const Tensor& input) {                      \
    return F::max_pool##rank##d_with_indices(input, options);                                                       \
  }                                                                                                                 \
  void MaxPool##rank##dImpl::pretty_print(std::ostream& stream) const {                                             \
    stream << std::boolalpha << "torch::nn::MaxPool" #rank "d(kernel_size=" << options.kernel_size()                \
           << ", stride=" << options.stride() << ", padding=" << options.padding()                                  \
           << ", dilation=" << options.dilation() << ", ceil_mode=" << options.ceil_mode() << ")";                  \
  }                                                                                                                 \
  Tensor AvgPool##rank##dImpl::forward(const Tensor& input) { return F::avg_pool##rank##d(input, options); }        \
  void AvgPool##rank##dImpl::pretty_print(std::ostream& stream) const {                                             \
    stream << "torch::nn::AvgPool" #rank "d(kernel_size=" << options.kernel_size() << ", stride=" << options.stride() \
           << ", padding=" << options.padding() << ")";                                                             \
  }                                                                                                                 \
  Tensor AdaptiveAvgPool##rank##dImpl::forward(const Tensor& input) {                                               \
    return F::adaptive_avg_pool##rank##d(input, options);                                                           \
  }                                                                                                                 \
  void AdaptiveAvgPool##rank##dImpl::pretty_print(std::ostream& stream) const {                                     \
    stream << "torch::nn::AdaptiveAvgPool" #rank "d(output_size=" << options.output_size() << ")";                  \
  }                                                                                                                 \
  Tensor AdaptiveMaxPool##rank##dImpl::forward(const Tensor& input) {                                               \
    return F::adaptive_max_pool##rank##d(input, options);                                                           \
  }                                                                                                                 \
  void AdaptiveMaxPool##rank##dImpl::pretty_print(std::ostream& stream) const {                                     \
    stream << "torch::nn::AdaptiveMaxPool" #rank "d(output_size=" << options.output_size() << ")";                  \
  }
TAEDA_DEFINE_POOLS(1)
TAEDA_DEFINE_POOLS(2)
TAEDA_DEFINE_POOLS(3)
#undef TAEDA_DEFINE_POOLS

}  // namespace taeda::nn
