// SPDX-License-Identifier: Apache-2.0
// Random parts and colours of images.
#include "taeda/data/image_transforms.h"

#include <algorithm>
#include <cmath>

namespace taeda::data::detail {

Tensor resize_shorter(const Tensor& image, int64_t size) {
  const int64_t height = image.size(1), width = image.size(2);
  if (height <= width) return io::resize_image(image, size, std::max<int64_t>(1, size * width / std::max<int64_t>(height, 1)));
  return io::resize_image(image, std::max<int64_t>(1, size * height / std::max<int64_t>(width, 1)), size);
}

Tensor random_crop(const Tensor& image, int64_t height, int64_t width, int64_t padding, double fill, Random& random) {
  const int64_t rows = image.size(1) + 2 * padding, columns = image.size(2) + 2 * padding;
  TAEDA_CHECK_VALUE(padding >= 0 && height <= rows && width <= columns, "[RandomCrop] the part must fit the padded image: got ", height, " x ", width,
                    " of ", rows, " x ", columns, "; resize first, or pad more");
  const int64_t top = random.below(rows - height + 1), left = random.below(columns - width + 1);
  return io::crop_image(image, top - padding, left - padding, height, width, fill);
}

Tensor random_resized_crop(const Tensor& image, int64_t height, int64_t width, std::array<double, 2> scale, std::array<double, 2> ratio,
                           Random& random) {
  const int64_t rows = image.size(1), columns = image.size(2);
  const auto area = static_cast<double>(rows * columns);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double part = area * random.uniform(scale[0], scale[1]);
    const double shape = std::exp(random.uniform(std::log(ratio[0]), std::log(ratio[1])));
    const auto w = static_cast<int64_t>(std::lround(std::sqrt(part * shape))), h = static_cast<int64_t>(std::lround(std::sqrt(part / shape)));
    if (w > 0 && h > 0 && w <= columns && h <= rows) {
      const int64_t top = random.below(rows - h + 1), left = random.below(columns - w + 1);
      return io::resize_image(io::crop_image(image, top, left, h, w), height, width);
    }
  }
  // No such part fits: the largest in the middle whose shape is allowed.
  const double shape = std::clamp(static_cast<double>(columns) / static_cast<double>(rows), ratio[0], ratio[1]);
  const auto w = std::min(columns, static_cast<int64_t>(std::lround(static_cast<double>(rows) * shape)));
  const auto h = std::min(rows, static_cast<int64_t>(std::lround(static_cast<double>(columns) / shape)));
  return io::resize_image(io::center_crop_image(image, h, w), height, width);
}

Tensor color_jitter(const Tensor& image, double brightness, double contrast, double saturation, double hue, Random& random) {
  std::array<int, 4> order = {0, 1, 2, 3};
  for (int i = 3; i > 0; --i) std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(random.below(i + 1))]);
  const auto factor = [&](double x) { return random.uniform(std::max(0.0, 1 - x), 1 + x); };
  const double factors[] = {factor(brightness), factor(contrast), factor(saturation), random.uniform(-hue, hue)};
  Tensor result = image;
  for (const int step : order) {
    if (step == 0 && brightness > 0) result = io::adjust_brightness(result, factors[0]);
    if (step == 1 && contrast > 0) result = io::adjust_contrast(result, factors[1]);
    if (step == 2 && saturation > 0) result = io::adjust_saturation(result, factors[2]);
    if (step == 3 && hue > 0) result = io::adjust_hue(result, factors[3]);
  }
  return result;
}

}  // namespace taeda::data::detail
