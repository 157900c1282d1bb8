// SPDX-License-Identifier: Apache-2.0
// Modules that change resolution: upsampling, pixel shuffles, sliding windows.
#pragma once

#include "taeda/nn/module.h"
#include "taeda/nn/options_shape.h"

namespace taeda::nn {

/// Resizes the spatial dimensions to `size` or by `scale_factor`; see functional::interpolate.
class TAEDA_API UpsampleImpl : public Cloneable<UpsampleImpl> {
 public:
  explicit UpsampleImpl(UpsampleOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  UpsampleOptions options;
};
TAEDA_MODULE(Upsample);

/// (…, C · r², H, W) → (…, C, H · r, W · r) (Shi et al. 2016).
class TAEDA_API PixelShuffleImpl : public Cloneable<PixelShuffleImpl> {
 public:
  explicit PixelShuffleImpl(const PixelShuffleOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  PixelShuffleOptions options;
};
TAEDA_MODULE(PixelShuffle);

/// (…, C, H · r, W · r) → (…, C · r², H, W).
class TAEDA_API PixelUnshuffleImpl : public Cloneable<PixelUnshuffleImpl> {
 public:
  explicit PixelUnshuffleImpl(const PixelUnshuffleOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  PixelUnshuffleOptions options;
};
TAEDA_MODULE(PixelUnshuffle);

/// Sums windows (N, C · kernel, L) into an image (N, C, *output_size).
class TAEDA_API FoldImpl : public Cloneable<FoldImpl> {
 public:
  FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size) : FoldImpl(FoldOptions(output_size, kernel_size)) {}
  explicit FoldImpl(const FoldOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  FoldOptions options;
};
TAEDA_MODULE(Fold);

/// The windows of an image (N, C, H, W) as columns (N, C · kernel, L).
class TAEDA_API UnfoldImpl : public Cloneable<UnfoldImpl> {
 public:
  UnfoldImpl(ExpandingArray<2> kernel_size) : UnfoldImpl(UnfoldOptions(kernel_size)) {}
  explicit UnfoldImpl(const UnfoldOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  UnfoldOptions options;
};
TAEDA_MODULE(Unfold);

}  // namespace taeda::nn
