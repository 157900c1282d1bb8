// SPDX-License-Identifier: Apache-2.0
// Padding, resampling and sliding windows with options.
#include "taeda/nn/functional.h"
#include "taeda/nn/functional_detail.h"
#include "taeda/ops/functions.h"

namespace taeda::nn::functional {

Tensor pad(const Tensor& input, const PadFuncOptions& o) {
  const bool constant = std::holds_alternative<enumtype::kConstant>(o.mode());
  return taeda::pad(input, o.pad(), nn::detail::word(o.mode()), constant ? std::optional<double>(o.value()) : std::nullopt);
}
Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& o) {
  return taeda::pixel_shuffle(input, o.upscale_factor());
}
Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& o) {
  return taeda::pixel_unshuffle(input, o.downscale_factor());
}
Tensor fold(const Tensor& input, const FoldFuncOptions& o) {
  return taeda::nn_functional_fold(input, *o.output_size(), *o.kernel_size(), *o.dilation(), *o.padding(), *o.stride());
}
Tensor unfold(const Tensor& input, const UnfoldFuncOptions& o) {
  return taeda::nn_functional_unfold(input, *o.kernel_size(), *o.dilation(), *o.padding(), *o.stride());
}

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& o) {
  const OptionalIntArrayRef size = o.size() ? OptionalIntArrayRef(IntArrayRef(*o.size())) : std::nullopt;
  std::vector<double> factors;
  if (o.scale_factor()) {
    factors = *o.scale_factor();
    // One factor stands for all dimensions, as in Python.
    if (factors.size() == 1 && input.dim() > 3) factors.resize(static_cast<size_t>(input.dim() - 2), factors.front());
  }
  const OptionalArrayRef<double> scale = o.scale_factor() ? OptionalArrayRef<double>(ArrayRef<double>(factors)) : std::nullopt;
  return taeda::nn_functional_interpolate(input, size, scale, nn::detail::word(o.mode()), o.align_corners(),
                                          o.recompute_scale_factor(), o.antialias());
}
Tensor affine_grid(const Tensor& theta, const IntArrayRef& size, bool align_corners) {
  TAEDA_CHECK(theta.is_floating_point(), "[affine_grid] Expected theta to have floating point type, but got ",
              theta.scalar_type(), "; convert it");
  return taeda::affine_grid_generator(theta, size, align_corners);
}
Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& o) {
  return taeda::nn_functional_grid_sample(input, grid, nn::detail::word(o.mode()), nn::detail::word(o.padding_mode()),
                                          o.align_corners());
}

}  // namespace taeda::nn::functional
