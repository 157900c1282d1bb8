// SPDX-License-Identifier: Apache-2.0
// Brightness, contrast, saturation and hue.
#include <algorithm>
#include <cmath>

#include "taeda/io/image_pixels.h"

namespace taeda::io {
namespace {

template <class T>
constexpr float kBound = std::is_same_v<T, uint8_t> ? 255.0f : 1.0f;

template <class T>
T store(float value) {
  return static_cast<T>(std::clamp(value, 0.0f, kBound<T>));
}

/// Luminance after ITU-R BT.601, in the element type.
template <class T>
T gray(const T* pixel) {
  return static_cast<T>(0.2989f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2]);
}

/// out = f(in) pixel by pixel.
template <class T, class F>
Tensor map_pixels(const Tensor& image, F&& f) {
  const Pixels<const T> in = pixels<const T>(image);
  Tensor result = make_image(in.channels, in.height, in.width, image.scalar_type());
  const Pixels<T> out = pixels<T>(result);
  for (int64_t y = 0; y < in.height; ++y) {
    const T* from = in.row(y);
    T* to = out.row(y);
    for (int64_t x = 0; x < in.width; ++x, from += in.channels, to += in.channels) f(from, to);
  }
  return result;
}

template <class T>
double mean_luminance(const Tensor& image) {
  const Pixels<const T> in = pixels<const T>(image);
  double sum = 0;
  for (int64_t y = 0; y < in.height; ++y) {
    const T* pixel = in.row(y);
    for (int64_t x = 0; x < in.width; ++x, pixel += in.channels) sum += in.channels >= 3 ? gray(pixel) : pixel[0];
  }
  return sum / static_cast<double>(in.height * in.width);
}

void check_factor(const char* op, double factor) {
  TAEDA_CHECK_VALUE(factor >= 0 && std::isfinite(factor), "[", op, "] the factor must not be negative: got ", factor, "; 1 changes nothing");
}

Tensor checked(const char* op, const Tensor& image, bool color) {
  check_image(image, op);
  TAEDA_CHECK_VALUE(image.size(0) == 3 || (image.size(0) == 1 && !color), "[", op, "] the image must have ", color ? "3" : "1 or 3",
                    " channels: got ", image.size(0), "; drop alpha, repeat grey");
  return interleaved(image);
}

/// One pixel's hue turned by `shift` of the circle (red, green, blue in [0, 1]); after Smith 1978.
void turn_hue(float shift, float& r, float& g, float& b) {
  const float value = std::max({r, g, b}), least = std::min({r, g, b}), range = value - least;
  if (range == 0) return;
  const float saturation = range / value;
  const float rc = (value - r) / range, gc = (value - g) / range, bc = (value - b) / range;
  float hue = value == r ? bc - gc : value == g ? 2 + rc - bc : 4 + gc - rc;
  hue = hue / 6 + 1 + shift;
  hue -= std::floor(hue);
  const float sector = std::floor(hue * 6), f = hue * 6 - sector;
  const float p = value * (1 - saturation), q = value * (1 - saturation * f), t = value * (1 - saturation * (1 - f));
  switch (static_cast<int>(sector) % 6) {
    case 0: r = value, g = t, b = p; break;
    case 1: r = q, g = value, b = p; break;
    case 2: r = p, g = value, b = t; break;
    case 3: r = p, g = q, b = value; break;
    case 4: r = t, g = p, b = value; break;
    default: r = value, g = p, b = q; break;
  }
}

}  // namespace

Tensor adjust_brightness(const Tensor& image, double factor) {
  check_factor("adjust_brightness", factor);
  const Tensor rows = checked("adjust_brightness", image, false);
  const auto k = static_cast<float>(factor);
  const int64_t channels = image.size(0);
  return dispatch_image(rows, [&](auto type) {
    using T = decltype(type);
    return map_pixels<T>(rows, [&](const T* in, T* out) {
      for (int64_t c = 0; c < channels; ++c) out[c] = store<T>(k * in[c]);
    });
  });
}

Tensor adjust_contrast(const Tensor& image, double factor) {
  check_factor("adjust_contrast", factor);
  const Tensor rows = checked("adjust_contrast", image, false);
  const auto k = static_cast<float>(factor);
  const int64_t channels = image.size(0);
  return dispatch_image(rows, [&](auto type) {
    using T = decltype(type);
    const float rest = (1 - k) * static_cast<float>(mean_luminance<T>(rows));
    return map_pixels<T>(rows, [&](const T* in, T* out) {
      for (int64_t c = 0; c < channels; ++c) out[c] = store<T>(k * in[c] + rest);
    });
  });
}

Tensor adjust_saturation(const Tensor& image, double factor) {
  check_factor("adjust_saturation", factor);
  const Tensor rows = checked("adjust_saturation", image, true);
  const auto k = static_cast<float>(factor);
  return dispatch_image(rows, [&](auto type) {
    using T = decltype(type);
    return map_pixels<T>(rows, [&](const T* in, T* out) {
      const float rest = (1 - k) * gray(in);
      for (int c = 0; c < 3; ++c) out[c] = store<T>(k * in[c] + rest);
    });
  });
}

Tensor adjust_hue(const Tensor& image, double shift) {
  TAEDA_CHECK_VALUE(shift >= -0.5 && shift <= 0.5, "[adjust_hue] the shift must lie in -0.5 to 0.5: got ", shift, "; 0 changes nothing");
  const Tensor rows = checked("adjust_hue", image, true);
  const auto turn = static_cast<float>(shift);
  return dispatch_image(rows, [&](auto type) {
    using T = decltype(type);
    return map_pixels<T>(rows, [&](const T* in, T* out) {
      float r = in[0] / kBound<T>, g = in[1] / kBound<T>, b = in[2] / kBound<T>;
      turn_hue(turn, r, g, b);
      // 0.999 more than the bound: every level gets an equal share of [0, 1] when fractions are dropped.
      const float k = std::is_same_v<T, uint8_t> ? 255.999f : 1.0f;
      out[0] = store<T>(r * k), out[1] = store<T>(g * k), out[2] = store<T>(b * k);
    });
  });
}

}  // namespace taeda::io
