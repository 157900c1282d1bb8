// SPDX-License-Identifier: Apache-2.0
// Upsampling, pixel shuffles and sliding windows.
#include "taeda/nn/resample.h"

#include <ostream>

#include "taeda/nn/functional.h"

namespace taeda::nn {

namespace F = functional;

void UpsampleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Upsample(";
  if (options.scale_factor()) {
    stream << "scale_factor=" << ArrayRef<double>(*options.scale_factor());
  } else if (options.size()) {
    stream << "size=" << IntArrayRef(*options.size());
  }
  stream << ", mode=" << enumtype::get_enum_name(options.mode()) << ")";
}
Tensor UpsampleImpl::forward(const Tensor& input) {
  F::InterpolateFuncOptions o;
  std::visit([&](const auto& mode) { o.mode(mode); }, noted(options).mode());
  return F::interpolate(input,
                        o.size(options.size()).scale_factor(options.scale_factor()).align_corners(options.align_corners()));
}

void PixelShuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PixelShuffle(upscale_factor=" << options.upscale_factor() << ")";
}
Tensor PixelShuffleImpl::forward(const Tensor& input) { return F::pixel_shuffle(input, noted(options)); }
void PixelUnshuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PixelUnshuffle(downscale_factor=" << options.downscale_factor() << ")";
}
Tensor PixelUnshuffleImpl::forward(const Tensor& input) { return F::pixel_unshuffle(input, noted(options)); }

void FoldImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Fold(output_size=" << options.output_size() << ", kernel_size=" << options.kernel_size()
         << ", dilation=" << options.dilation() << ", padding=" << options.padding() << ", stride=" << options.stride() << ")";
}
Tensor FoldImpl::forward(const Tensor& input) { return F::fold(input, noted(options)); }
void UnfoldImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Unfold(kernel_size=" << options.kernel_size() << ", dilation=" << options.dilation()
         << ", padding=" << options.padding() << ", stride=" << options.stride() << ")";
}
Tensor UnfoldImpl::forward(const Tensor& input) { return F::unfold(input, noted(options)); }

}  // namespace taeda::nn
