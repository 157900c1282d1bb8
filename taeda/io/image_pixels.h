// SPDX-License-Identifier: Apache-2.0
// Images as rows of pixels, for the loops of this room.
#pragma once

#include "taeda/io/image.h"
#include "taeda/io/tensor_bytes.h"

namespace taeda::io {

/// Pixels with their channels side by side.
template <class T>
struct Pixels {
  T* data;
  int64_t height, width, channels, row_stride;
  T* row(int64_t y) const { return data + y * row_stride; }
};

/// A new image of uninitialised pixels.
inline Tensor make_image(int64_t channels, int64_t height, int64_t width, ScalarType dtype) {
  return make_tensor_strided({channels, height, width}, {1, width * channels, channels}, dtype);
}

inline void check_image(const Tensor& image, const char* op) {
  TAEDA_CHECK_VALUE(image.defined() && image.dim() == 3 && image.size(0) >= 1 && image.size(0) <= 4 && image.size(1) > 0 &&
                        image.size(2) > 0 && (image.scalar_type() == kByte || image.scalar_type() == kFloat),
                    "[", op, "] an image is a tensor (1 to 4 channels, height, width) of uint8 or float32: got ",
                    image.defined() ? str(image.scalar_type(), image.sizes()) : std::string("an undefined tensor"), "; convert it first");
}

/// The image itself when its channels lie side by side, else a copy of which that is true.
TAEDA_API Tensor interleaved(const Tensor& image);

template <class T>
Pixels<T> pixels(const Tensor& image) {
  return {reinterpret_cast<T*>(raw_data(image)), image.size(1), image.size(2), image.size(0), image.stride(1)};
}

/// Calls `f(T())` with the element type of an image.
template <class F>
decltype(auto) dispatch_image(const Tensor& image, F&& f) {
  return image.scalar_type() == kByte ? f(uint8_t()) : f(float());
}

namespace detail {
ImageInfo jpeg_info(std::string_view bytes, const std::string& name);
ImageInfo png_info(std::string_view bytes, const std::string& name);
Tensor decode_jpeg(std::string_view bytes, const DecodeOptions& options, const std::string& name);
Tensor decode_png(std::string_view bytes, const DecodeOptions& options, const std::string& name);
/// Throws IoError beyond `options.max_pixels`.
void check_pixels(const ImageInfo& info, const DecodeOptions& options, const std::string& name);
}  // namespace detail
}  // namespace taeda::io
