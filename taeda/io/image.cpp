// SPDX-License-Identifier: Apache-2.0
// Images: choosing the format, parts, mirroring, and the way to float tensors.
#include "taeda/io/image.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "taeda/io/image_pixels.h"

namespace taeda::io {
namespace {

constexpr uint64_t kMaxFile = uint64_t{1} << 31;

bool is_jpeg(std::string_view bytes) { return bytes.substr(0, 3) == "\xff\xd8\xff"; }
bool is_png(std::string_view bytes) { return bytes.substr(0, 8) == "\x89PNG\r\n\x1a\n"; }

bool ends_with(std::string_view text, std::string_view end) {
  if (text.size() < end.size()) return false;
  const std::string_view tail = text.substr(text.size() - end.size());
  return std::equal(tail.begin(), tail.end(), end.begin(), [](char a, char b) { return (a | 0x20) == (b | 0x20); });
}

template <class T>
void copy_strided(const Tensor& from, const Pixels<T>& to) {
  const auto* data = reinterpret_cast<const T*>(raw_data(from));
  const int64_t channel = from.stride(0), row = from.stride(1), column = from.stride(2);
  for (int64_t y = 0; y < to.height; ++y) {
    T* out = to.row(y);
    for (int64_t x = 0; x < to.width; ++x) {
      for (int64_t c = 0; c < to.channels; ++c) *out++ = data[c * channel + y * row + x * column];
    }
  }
}

/// A part that lies inside, over the same memory.
Tensor inner_part(const Tensor& image, int64_t top, int64_t left, int64_t height, int64_t width) {
  Tensor part(IntrusivePtr<TensorImpl>::adopt(TensorImpl::make_alias(image.impl())));
  part.mutable_impl().set_sizes_strides({image.size(0), height, width}, image.strides());
  part.mutable_impl().offset = image.storage_offset() + top * image.stride(1) + left * image.stride(2);
  return part;
}

template <class T>
Tensor flip(const Tensor& image, bool horizontal) {
  const Pixels<const T> in = pixels<const T>(image);
  Tensor result = make_image(in.channels, in.height, in.width, image.scalar_type());
  const Pixels<T> out = pixels<T>(result);
  for (int64_t y = 0; y < in.height; ++y) {
    const T* from = in.row(horizontal ? y : in.height - 1 - y);
    T* to = out.row(y);
    if (!horizontal) {
      std::copy(from, from + in.width * in.channels, to);
      continue;
    }
    for (int64_t x = 0; x < in.width; ++x) {
      for (int64_t c = 0; c < in.channels; ++c) to[x * in.channels + c] = from[(in.width - 1 - x) * in.channels + c];
    }
  }
  return result;
}

Tensor flip_image(const Tensor& image, bool horizontal, const char* op) {
  check_image(image, op);
  const Tensor rows = interleaved(image);
  return dispatch_image(rows, [&](auto type) { return flip<decltype(type)>(rows, horizontal); });
}

double channel_value(ArrayRef<double> values, int64_t channel, double otherwise) {
  return values.empty() ? otherwise : values.size() == 1 ? values[0] : values[static_cast<size_t>(channel)];
}

}  // namespace

Tensor interleaved(const Tensor& image) {
  const bool adjacent = image.stride(0) == 1 || image.size(0) == 1;
  if (adjacent && image.stride(2) == image.size(0)) return image;
  Tensor copy = make_image(image.size(0), image.size(1), image.size(2), image.scalar_type());
  dispatch_image(image, [&](auto type) { copy_strided(image, pixels<decltype(type)>(copy)); });
  return copy;
}

namespace detail {
void check_pixels(const ImageInfo& info, const DecodeOptions& options, const std::string& name) {
  TAEDA_CHECK_IO(info.width > 0 && info.height > 0 && info.width <= options.max_pixels / info.height, "[image] ", name, " is too large: ",
                 info.width, " x ", info.height, " pixels, the limit is ", options.max_pixels, " in all; raise max_pixels if the file is trusted");
}
}  // namespace detail

ImageInfo image_info(std::string_view bytes, const std::string& name) {
  TAEDA_CHECK_IO(is_jpeg(bytes) || is_png(bytes), "[image] ", name, " is neither a JPEG nor a PNG image; convert it to one of them");
  return is_jpeg(bytes) ? detail::jpeg_info(bytes, name) : detail::png_info(bytes, name);
}

Tensor decode_image(std::string_view bytes, const DecodeOptions& options, const std::string& name) {
  TAEDA_CHECK_IO(is_jpeg(bytes) || is_png(bytes), "[image] ", name, " is neither a JPEG nor a PNG image; convert it to one of them");
  return is_jpeg(bytes) ? detail::decode_jpeg(bytes, options, name) : detail::decode_png(bytes, options, name);
}

Tensor load_image(const std::string& path, const DecodeOptions& options) {
  return decode_image(read_file(path, kMaxFile), options, path);
}

void save_image(const std::string& path, const Tensor& image) {
  const bool png = ends_with(path, ".png");
  TAEDA_CHECK_VALUE(png || ends_with(path, ".jpg") || ends_with(path, ".jpeg"),
                    "[save_image] the name must end in .png, .jpg or .jpeg: got ", path, "; choose one of them");
  write_file(path, png ? encode_png(image) : encode_jpeg(image));
}

Tensor crop_image(const Tensor& image, int64_t top, int64_t left, int64_t height, int64_t width, double fill) {
  check_image(image, "crop_image");
  constexpr int64_t kMax = int64_t{1} << 24;
  TAEDA_CHECK_VALUE(height > 0 && width > 0 && height <= kMax && width <= kMax && std::abs(top) <= kMax && std::abs(left) <= kMax,
                    "[crop_image] sizes must be positive: got top ", top, ", left ", left, ", height ", height, ", width ", width,
                    "; check them");
  const int64_t y0 = std::clamp<int64_t>(top, 0, image.size(1)), y1 = std::clamp<int64_t>(top + height, 0, image.size(1));
  const int64_t x0 = std::clamp<int64_t>(left, 0, image.size(2)), x1 = std::clamp<int64_t>(left + width, 0, image.size(2));
  if (y1 - y0 == height && x1 - x0 == width) return inner_part(image, top, left, height, width);
  Tensor result = make_image(image.size(0), height, width, image.scalar_type());
  dispatch_image(image, [&](auto type) {
    using T = decltype(type);
    const Pixels<T> out = pixels<T>(result);
    std::fill(out.data, out.data + result.numel(), static_cast<T>(fill));
    if (y1 <= y0 || x1 <= x0) return;
    Pixels<T> inner = out;
    inner.data += (y0 - top) * out.row_stride + (x0 - left) * out.channels;
    inner.height = y1 - y0;
    inner.width = x1 - x0;
    copy_strided(inner_part(image, y0, x0, inner.height, inner.width), inner);
  });
  return result;
}

Tensor center_crop_image(const Tensor& image, int64_t height, int64_t width) {
  check_image(image, "center_crop_image");
  // Halves are rounded to even, as the common Python library does.
  const auto start = [](int64_t whole, int64_t part) { return static_cast<int64_t>(std::nearbyint(static_cast<double>(whole - part) / 2)); };
  return crop_image(image, start(image.size(1), height), start(image.size(2), width), height, width);
}

Tensor flip_image_horizontal(const Tensor& image) { return flip_image(image, true, "flip_image_horizontal"); }
Tensor flip_image_vertical(const Tensor& image) { return flip_image(image, false, "flip_image_vertical"); }

Tensor image_to_float(const Tensor& image, ArrayRef<double> mean, ArrayRef<double> stddev) {
  check_image(image, "image_to_float");
  const int64_t channels = image.size(0), height = image.size(1), width = image.size(2);
  for (const ArrayRef<double> values : {mean, stddev}) {
    TAEDA_CHECK_VALUE(values.size() <= 1 || values.size() == static_cast<size_t>(channels),
                      "[image_to_float] one value, or one a channel, is needed: got ", values.size(), " for ", channels, " channels; check mean and stddev");
  }
  Tensor result = make_tensor({channels, height, width}, kFloat);
  auto* out = reinterpret_cast<float*>(raw_data(result));
  for (int64_t c = 0; c < channels; ++c) {
    const auto center = static_cast<float>(channel_value(mean, c, 0)), spread = static_cast<float>(channel_value(stddev, c, 1));
    TAEDA_CHECK_VALUE(spread != 0, "[image_to_float] the standard deviation must not be zero: got 0 for channel ", c, "; use 1 for a constant channel");
    std::array<float, 256> table;
    for (int i = 0; i < 256; ++i) table[static_cast<size_t>(i)] = (static_cast<float>(i) / 255.0f - center) / spread;
    for (int64_t y = 0; y < height; ++y, out += width) {
      dispatch_image(image, [&](auto type) {
        using T = decltype(type);
        const auto* in = reinterpret_cast<const T*>(raw_data(image)) + c * image.stride(0) + y * image.stride(1);
        const int64_t step = image.stride(2);
        for (int64_t x = 0; x < width; ++x) {
          if constexpr (std::is_same_v<T, uint8_t>) out[x] = table[in[x * step]];
          else out[x] = (in[x * step] - center) / spread;
        }
      });
    }
  }
  return result;
}

}  // namespace taeda::io
