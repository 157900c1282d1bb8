// SPDX-License-Identifier: Apache-2.0
// Augmentations of images (channels, height, width), uint8 or float. Random choices come from `current_random()`: the same for a batch
// whichever thread makes it.
#pragma once

#include <array>
#include <vector>

#include "taeda/data/random.h"
#include "taeda/data/transforms.h"
#include "taeda/io/image.h"

namespace taeda::data {

/// How far `RandomAffine` goes.
struct AffineRange {
  double degrees = 0;    ///< turns by at most so much either way
  double translate = 0;  ///< moves by at most so many pixels along each axis
  double scale = 0;      ///< sizes by a factor from 1 - scale to 1 + scale
  double shear = 0;      ///< slants by at most so many degrees
  double flip = 0;       ///< the probability of a mirror image
  double fill = 0;       ///< of what comes in from outside
};

}  // namespace taeda::data

namespace taeda::data::detail {
TAEDA_API Tensor random_crop(const Tensor& image, int64_t height, int64_t width, int64_t padding, double fill, Random& random);
TAEDA_API Tensor random_resized_crop(const Tensor& image, int64_t height, int64_t width, std::array<double, 2> scale, std::array<double, 2> ratio,
                                     Random& random);
TAEDA_API Tensor color_jitter(const Tensor& image, double brightness, double contrast, double saturation, double hue, Random& random);
TAEDA_API Tensor resize_shorter(const Tensor& image, int64_t size);
TAEDA_API Tensor random_affine(const Tensor& images, const AffineRange& range, Random& random);
}  // namespace taeda::data::detail

namespace taeda::data::transforms {

/// To height × width; with one number, the shorter side to it, the shape kept.
template <class Target = Tensor>
struct Resize : public TensorTransform<Target> {
  explicit Resize(int64_t size) : height(size), width(0) {}
  Resize(int64_t height, int64_t width) : height(height), width(width) {}
  Tensor operator()(Tensor image) override {
    return width ? io::resize_image(image, height, width) : data::detail::resize_shorter(image, height);
  }
  int64_t height, width;
};

template <class Target = Tensor>
struct CenterCrop : public TensorTransform<Target> {
  explicit CenterCrop(int64_t size) : CenterCrop(size, size) {}
  CenterCrop(int64_t height, int64_t width) : height(height), width(width) {}
  Tensor operator()(Tensor image) override { return io::center_crop_image(image, height, width); }
  int64_t height, width;
};

/// A part at a random place, after `padding` pixels of `fill` were put around the image.
template <class Target = Tensor>
struct RandomCrop : public TensorTransform<Target> {
  explicit RandomCrop(int64_t size, int64_t padding = 0, double fill = 0) : height(size), width(size), padding(padding), fill(fill) {}
  RandomCrop(int64_t height, int64_t width, int64_t padding, double fill) : height(height), width(width), padding(padding), fill(fill) {}
  Tensor operator()(Tensor image) override { return data::detail::random_crop(image, height, width, padding, fill, current_random()); }
  int64_t height, width, padding;
  double fill;
};

/// A part of random size (`scale`: its share of the area) and shape (`ratio`: width by height) at a random place, resized (Szegedy 2015).
template <class Target = Tensor>
struct RandomResizedCrop : public TensorTransform<Target> {
  explicit RandomResizedCrop(int64_t size, std::array<double, 2> scale = {0.08, 1.0}, std::array<double, 2> ratio = {3.0 / 4, 4.0 / 3})
      : height(size), width(size), scale(scale), ratio(ratio) {}
  Tensor operator()(Tensor image) override {
    return data::detail::random_resized_crop(image, height, width, scale, ratio, current_random());
  }
  int64_t height, width;
  std::array<double, 2> scale, ratio;
};

template <class Target = Tensor>
struct RandomHorizontalFlip : public TensorTransform<Target> {
  explicit RandomHorizontalFlip(double p = 0.5) : p(p) {}
  Tensor operator()(Tensor image) override { return current_random().chance(p) ? io::flip_image_horizontal(image) : image; }
  double p;
};

template <class Target = Tensor>
struct RandomVerticalFlip : public TensorTransform<Target> {
  explicit RandomVerticalFlip(double p = 0.5) : p(p) {}
  Tensor operator()(Tensor image) override { return current_random().chance(p) ? io::flip_image_vertical(image) : image; }
  double p;
};

/// Factors from [max(0, 1 - x), 1 + x] for brightness, contrast and saturation, a turn from [-hue, hue], in random order.
template <class Target = Tensor>
struct ColorJitter : public TensorTransform<Target> {
  explicit ColorJitter(double brightness = 0, double contrast = 0, double saturation = 0, double hue = 0)
      : brightness(brightness), contrast(contrast), saturation(saturation), hue(hue) {}
  Tensor operator()(Tensor image) override {
    return data::detail::color_jitter(image, brightness, contrast, saturation, hue, current_random());
  }
  double brightness, contrast, saturation, hue;
};

/// Turns, moves, sizes and slants around the middle, each by a random amount in its range, with bilinear interpolation. Batches of tensors in memory
/// are changed whole.
template <class Target = Tensor>
struct RandomAffine : public TensorTransform<Target> {
  explicit RandomAffine(AffineRange range) : range(range) {}
  Tensor operator()(Tensor image) override { return data::detail::random_affine(image, range, current_random()); }
  Example<Tensor, Target> apply_stacked(Example<Tensor, Target> batch) {
    batch.data = data::detail::random_affine(batch.data, range, current_random());
    return batch;
  }
  AffineRange range;
};

/// uint8 to float32 in [0, 1], then (x - mean) / stddev by channel where given: one pass.
template <class Target = Tensor>
struct ToFloat : public TensorTransform<Target> {
  explicit ToFloat(std::vector<double> mean = {}, std::vector<double> stddev = {}) : mean(std::move(mean)), stddev(std::move(stddev)) {}
  Tensor operator()(Tensor image) override { return io::image_to_float(image, mean, stddev); }
  std::vector<double> mean, stddev;
};

}  // namespace taeda::data::transforms
