// SPDX-License-Identifier: Apache-2.0
// Pooling with options.
#include <cmath>

#include "taeda/nn/functional.h"
#include "taeda/ops/functions.h"

namespace taeda::nn::functional {

namespace {

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

/// The output size that fractional pooling is asked for, as sizes or as a ratio of the input's.
template <size_t D>
DimVector fractional_size(const FractionalMaxPoolOptions<D>& o, const Tensor& input, const char* op) {
  TAEDA_CHECK(o.output_size().has_value() != o.output_ratio().has_value(), "[", op,
              "] requires specifying either an output_size or an output_ratio: got ", o.output_size() ? "both" : "neither",
              "; set one of them");
  DimVector sizes;
  for (size_t i = 0; i < D; ++i) {
    const int64_t size = input.size(static_cast<int64_t>(i) - static_cast<int64_t>(D));
    sizes.push_back(o.output_size() ? (**o.output_size())[i]
                                    : static_cast<int64_t>(static_cast<double>(size) * (**o.output_ratio())[i]));
  }
  return sizes;
}

/// Where the windows lie: given, or drawn uniformly for each plane and dimension.
template <size_t D>
Tensor fractional_samples(const FractionalMaxPoolOptions<D>& o, const Tensor& input) {
  if (o._random_samples().defined()) return o._random_samples();
  const auto d = static_cast<int64_t>(D);
  const int64_t batch = input.dim() == d + 1 ? 1 : input.size(0);
  return taeda::rand({batch, input.size(-d - 1), d}, input.options().requires_grad(false));
}

}  // namespace

#define TAEDA_MAX_POOL(rank) \
  Tensor max_pool##rank##d(const Tensor& input, const MaxPool##rank##dFuncOptions& o) { \
    return taeda::max_pool##rank##d(input, *o.kernel_size(), *o.stride(), *o.padding(), *o.dilation(), o.ceil_mode()); \
  } \
  std::tuple<Tensor, Tensor> max_pool##rank##d_with_indices(const Tensor& input, const MaxPool##rank##dFuncOptions& o) { \
    return taeda::max_pool##rank##d_with_indices(input, *o.kernel_size(), *o.stride(), *o.padding(), *o.dilation(), \
                                              o.ceil_mode()); \
  } \
  Tensor max_unpool##rank##d(const Tensor& input, const Tensor& indices, const MaxUnpool##rank##dFuncOptions& o) { \
    const OptionalIntArrayRef size = o.output_size() ? OptionalIntArrayRef(IntArrayRef(*o.output_size())) : std::nullopt; \
    return taeda::nn_functional_max_unpool##rank##d(input, indices, *o.kernel_size(), IntArrayRef(*o.stride()), *o.padding(), \
                                                 size); \
  } \
  Tensor lp_pool##rank##d(const Tensor& input, const LPPool##rank##dFuncOptions& o) { \
    return taeda::lp_pool##rank##d(input, o.norm_type(), *o.kernel_size(), IntArrayRef(*o.stride()), o.ceil_mode()); \
  }
TAEDA_MAX_POOL(1)
TAEDA_MAX_POOL(2)
TAEDA_MAX_POOL(3)
#undef TAEDA_MAX_POOL

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

std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& o) {
  return taeda::adaptive_max_pool1d(input, *o.output_size());
}
std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& o) {
  return taeda::adaptive_max_pool2d(input, adaptive_size<2>(o.output_size(), input, "adaptive_max_pool2d"));
}
std::tuple<Tensor, Tensor> adaptive_max_pool3d_with_indices(const Tensor& input, const AdaptiveMaxPool3dFuncOptions& o) {
  return taeda::adaptive_max_pool3d(input, adaptive_size<3>(o.output_size(), input, "adaptive_max_pool3d"));
}
Tensor adaptive_max_pool1d(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& o) {
  return std::get<0>(adaptive_max_pool1d_with_indices(input, o));
}
Tensor adaptive_max_pool2d(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& o) {
  return std::get<0>(adaptive_max_pool2d_with_indices(input, o));
}
Tensor adaptive_max_pool3d(const Tensor& input, const AdaptiveMaxPool3dFuncOptions& o) {
  return std::get<0>(adaptive_max_pool3d_with_indices(input, o));
}

std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(const Tensor& input, const FractionalMaxPool2dFuncOptions& o) {
  return taeda::fractional_max_pool2d(input, *o.kernel_size(), fractional_size(o, input, "fractional_max_pool2d"),
                                      fractional_samples(o, input));
}
std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(const Tensor& input, const FractionalMaxPool3dFuncOptions& o) {
  return taeda::fractional_max_pool3d(input, *o.kernel_size(), fractional_size(o, input, "fractional_max_pool3d"),
                                      fractional_samples(o, input));
}
Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& o) {
  return std::get<0>(fractional_max_pool2d_with_indices(input, o));
}
Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& o) {
  return std::get<0>(fractional_max_pool3d_with_indices(input, o));
}

}  // namespace taeda::nn::functional
