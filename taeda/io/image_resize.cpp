// SPDX-License-Identifier: Apache-2.0
// Resizing: a horizontal and a vertical pass of weighted sums; weights are tabulated once an axis.
#include <algorithm>
#include <cmath>
#include <vector>

#include "taeda/io/image_pixels.h"

namespace taeda::io {
namespace {

/// Output i of an axis is Σ weights[i·taps + k] · input[first[i] + k], k < count[i].
struct Axis {
  std::vector<int64_t> first;
  std::vector<int64_t> count;
  std::vector<double> weights;
  int64_t taps = 0;
};

Axis bilinear_axis(int64_t in, int64_t out, bool antialias) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double stretch = antialias && scale > 1 ? scale : 1.0;  // half the width of the triangle, in input pixels
  Axis axis;
  axis.taps = static_cast<int64_t>(std::ceil(stretch)) * 2 + 1;
  axis.first.resize(static_cast<size_t>(out));
  axis.count.resize(static_cast<size_t>(out));
  axis.weights.resize(static_cast<size_t>(out * axis.taps));
  for (int64_t i = 0; i < out; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const int64_t first = std::max<int64_t>(0, static_cast<int64_t>(center - stretch + 0.5));
    const int64_t end = std::min(in, static_cast<int64_t>(center + stretch + 0.5));
    double* weights = &axis.weights[static_cast<size_t>(i * axis.taps)];
    double sum = 0;
    for (int64_t k = 0; k < end - first; ++k) {
      weights[k] = std::max(0.0, 1.0 - std::abs((static_cast<double>(first + k) - center + 0.5) / stretch));
      sum += weights[k];
    }
    for (int64_t k = 0; k < end - first; ++k) weights[k] /= sum;
    axis.first[static_cast<size_t>(i)] = first;
    axis.count[static_cast<size_t>(i)] = end - first;
  }
  return axis;
}

/// uint8 is summed in 32-bit integers with weights of 22 bits: exact, the same on every machine, and fast.
constexpr int kBits = 22;

template <class T>
struct Arithmetic;
template <>
struct Arithmetic<uint8_t> {
  using Weight = int32_t;
  static Weight weight(double w) { return static_cast<Weight>(w * (1 << kBits) + 0.5); }
  static constexpr Weight kStart = 1 << (kBits - 1);
  static uint8_t finish(Weight sum) { return static_cast<uint8_t>(std::clamp(sum >> kBits, 0, 255)); }
};
template <>
struct Arithmetic<float> {
  using Weight = float;
  static Weight weight(double w) { return static_cast<float>(w); }
  static constexpr Weight kStart = 0;
  static float finish(float sum) { return sum; }
};

template <class T>
std::vector<typename Arithmetic<T>::Weight> weights_of(const Axis& axis) {
  std::vector<typename Arithmetic<T>::Weight> weights(axis.weights.size());
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = Arithmetic<T>::weight(axis.weights[i]);
  return weights;
}

template <class T, int kChannels>
void horizontal_row(const T* in, T* out, int64_t width, const Axis& axis, const typename Arithmetic<T>::Weight* weights) {
  for (int64_t x = 0; x < width; ++x, weights += axis.taps) {
    const T* from = in + axis.first[static_cast<size_t>(x)] * kChannels;
    typename Arithmetic<T>::Weight sums[kChannels];
    for (auto& sum : sums) sum = Arithmetic<T>::kStart;
    for (int64_t k = 0; k < axis.count[static_cast<size_t>(x)]; ++k) {
      for (int c = 0; c < kChannels; ++c) sums[c] += from[k * kChannels + c] * weights[k];
    }
    for (int c = 0; c < kChannels; ++c) *out++ = Arithmetic<T>::finish(sums[c]);
  }
}

template <class T>
void horizontal(const Pixels<const T>& in, int64_t y0, const Pixels<T>& out, const Axis& axis) {
  const auto weights = weights_of<T>(axis);
  for (int64_t y = 0; y < out.height; ++y) {
    const T* from = in.row(y + y0);
    switch (in.channels) {
      case 1: horizontal_row<T, 1>(from, out.row(y), out.width, axis, weights.data()); break;
      case 2: horizontal_row<T, 2>(from, out.row(y), out.width, axis, weights.data()); break;
      case 3: horizontal_row<T, 3>(from, out.row(y), out.width, axis, weights.data()); break;
      default: horizontal_row<T, 4>(from, out.row(y), out.width, axis, weights.data()); break;
    }
  }
}

template <class T>
void vertical(const Pixels<const T>& in, int64_t y0, const Pixels<T>& out, const Axis& axis) {
  using Weight = typename Arithmetic<T>::Weight;
  const auto weights = weights_of<T>(axis);
  const int64_t n = out.width * out.channels;
  std::vector<Weight> sums(static_cast<size_t>(n));
  for (int64_t y = 0; y < out.height; ++y) {
    std::fill(sums.begin(), sums.end(), Arithmetic<T>::kStart);
    for (int64_t k = 0; k < axis.count[static_cast<size_t>(y)]; ++k) {
      const T* from = in.row(axis.first[static_cast<size_t>(y)] + k - y0);
      const Weight w = weights[static_cast<size_t>(y * axis.taps + k)];
      for (int64_t i = 0; i < n; ++i) sums[static_cast<size_t>(i)] += from[i] * w;
    }
    T* to = out.row(y);
    for (int64_t i = 0; i < n; ++i) to[i] = Arithmetic<T>::finish(sums[static_cast<size_t>(i)]);
  }
}

template <class T>
Tensor bilinear(const Tensor& image, int64_t height, int64_t width, bool antialias) {
  const Pixels<const T> in = pixels<const T>(image);
  const Axis rows = bilinear_axis(in.height, height, antialias), columns = bilinear_axis(in.width, width, antialias);
  Tensor result = make_image(in.channels, height, width, image.scalar_type());
  if (width == in.width) {
    vertical<T>(in, 0, pixels<T>(result), rows);
    return result;
  }
  const int64_t y0 = rows.first.front(), y1 = rows.first.back() + rows.count.back();  // rows that count
  if (height == in.height) {
    horizontal<T>(in, 0, pixels<T>(result), columns);
    return result;
  }
  const Tensor narrow = make_image(in.channels, y1 - y0, width, image.scalar_type());
  horizontal<T>(in, y0, pixels<T>(narrow), columns);
  vertical<T>(pixels<const T>(narrow), y0, pixels<T>(result), rows);
  return result;
}

template <class T>
Tensor nearest(const Tensor& image, int64_t height, int64_t width) {
  const Pixels<const T> in = pixels<const T>(image);
  Tensor result = make_image(in.channels, height, width, image.scalar_type());
  const Pixels<T> out = pixels<T>(result);
  std::vector<int64_t> columns(static_cast<size_t>(width));
  for (int64_t x = 0; x < width; ++x) columns[static_cast<size_t>(x)] = x * in.width / width * in.channels;
  for (int64_t y = 0; y < height; ++y) {
    const T* from = in.row(y * in.height / height);
    T* to = out.row(y);
    for (const int64_t column : columns) {
      for (int64_t c = 0; c < in.channels; ++c) *to++ = from[column + c];
    }
  }
  return result;
}

}  // namespace

Tensor resize_image(const Tensor& image, int64_t height, int64_t width, Interpolation mode, bool antialias) {
  check_image(image, "resize_image");
  constexpr int64_t kMax = int64_t{1} << 20;
  TAEDA_CHECK_VALUE(height > 0 && width > 0 && height <= kMax && width <= kMax,
                    "[resize_image] the new size must be positive: got ", height, " x ", width, "; check it");
  const Tensor rows = interleaved(image);
  if (height == image.size(1) && width == image.size(2)) return rows;
  return dispatch_image(rows, [&](auto type) {
    using T = decltype(type);
    return mode == Interpolation::kNearest ? nearest<T>(rows, height, width) : bilinear<T>(rows, height, width, antialias);
  });
}

}  // namespace taeda::io
