// SPDX-License-Identifier: Apache-2.0
// Random parts and colours of images.
#include "taeda/data/image_transforms.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "taeda/io/tensor_bytes.h"

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

namespace {

/// Where in the source the pixel (x, y) of the result lies, both measured from the middle: (a x + b y + c, d x + e y + f).
struct AffineMap {
  double a, b, c, d, e, f;
};

AffineMap draw_map(const AffineRange& range, Random& random) {
  const double radians = std::numbers::pi / 180;
  const double turn = random.uniform(-range.degrees, range.degrees) * radians, slant = std::tan(random.uniform(-range.shear, range.shear) * radians);
  const double size = 1 / random.uniform(1 - range.scale, 1 + range.scale);
  const double right = random.uniform(-range.translate, range.translate), down = random.uniform(-range.translate, range.translate);
  const double mirror = random.chance(range.flip) ? -1 : 1;
  const double cosine = std::cos(turn) * size, sine = std::sin(turn) * size;
  AffineMap m{mirror * (cosine + slant * sine), mirror * (sine - slant * cosine), 0, -sine, cosine, 0};
  m.c = -(m.a * right + m.b * down);
  m.f = -(m.d * right + m.e * down);
  return m;
}

template <class T>
void sample_plane(const T* from, T* to, int64_t height, int64_t width, const AffineMap& m, double fill) {
  const double middle_x = static_cast<double>(width - 1) / 2, middle_y = static_cast<double>(height - 1) / 2;
  const auto pixel = [&](int64_t y, int64_t x) {
    return y >= 0 && y < height && x >= 0 && x < width ? static_cast<double>(from[y * width + x]) : fill;
  };
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const double right = static_cast<double>(x) - middle_x, down = static_cast<double>(y) - middle_y;
      const double sx = m.a * right + m.b * down + m.c + middle_x, sy = m.d * right + m.e * down + m.f + middle_y;
      const double left = std::floor(sx), top = std::floor(sy), px = sx - left, py = sy - top;
      // Far outside nothing is read; this also keeps the conversion to integers in range.
      double value = fill;
      if (left >= -1 && top >= -1 && left < static_cast<double>(width) && top < static_cast<double>(height)) {
        const auto ix = static_cast<int64_t>(left), iy = static_cast<int64_t>(top);
        value = (1 - py) * ((1 - px) * pixel(iy, ix) + px * pixel(iy, ix + 1)) + py * ((1 - px) * pixel(iy + 1, ix) + px * pixel(iy + 1, ix + 1));
      }
      if constexpr (std::is_integral_v<T>) to[y * width + x] = static_cast<T>(std::lround(std::clamp(value, 0.0, 255.0)));
      else to[y * width + x] = static_cast<T>(value);
    }
  }
}

}  // namespace

Tensor random_affine(const Tensor& images, const AffineRange& range, Random& random) {
  const ScalarType type = images.scalar_type();
  TAEDA_CHECK_VALUE((images.dim() == 3 || images.dim() == 4) && (type == kFloat || type == kByte),
                    "[RandomAffine] images must be float32 or uint8 (channels, height, width), or a batch of them: got ", type, " ", images.sizes(),
                    "; reshape or convert them first");
  TAEDA_CHECK_VALUE(range.scale >= 0 && range.scale < 1 && std::abs(range.shear) < 90,
                    "[RandomAffine] scale must be in [0, 1) and shear below 90 degrees: got ", range.scale, " and ", range.shear, "; lower them");
  const Tensor source = images.contiguous();
  Tensor result = make_tensor(images.sizes().vec(), type);
  const int64_t height = images.size(-2), width = images.size(-1), channels = images.size(-3), plane = height * width;
  const int64_t count = images.dim() == 4 ? images.size(0) : 1;
  const auto change = [&](auto* to, const auto* from) {
    for (int64_t i = 0; i < count; ++i) {
      const AffineMap m = draw_map(range, random);
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t at = (i * channels + c) * plane;
        sample_plane(from + at, to + at, height, width, m, range.fill);
      }
    }
  };
  if (type == kFloat) change(reinterpret_cast<float*>(io::raw_data(result)), source.const_data_ptr<float>());
  else change(reinterpret_cast<uint8_t*>(io::raw_data(result)), source.const_data_ptr<uint8_t>());
  return result;
}

}  // namespace taeda::data::detail
