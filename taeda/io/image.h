// SPDX-License-Identifier: Apache-2.0
// Images: JPEG and PNG files to tensors and back, and the pixel work of data pipelines on uint8 and float images.
#pragma once

#include <string>
#include <string_view>

#include "taeda/core/array_ref.h"
#include "taeda/core/tensor.h"
#include "taeda/io/file.h"

// Everywhere here an image is a tensor (channels, height, width) of uint8 or float32 with 1 to 4 channels. Results keep the channels of a pixel
// side by side in memory (strides {1, width · channels, channels}), which is how files hold them and what the loops below like; any
// other strides are accepted.
namespace taeda::io {

/// Channels of a decoded image: as in the file, one of luminance, or three of colour (alpha is dropped).
enum class ImageMode { kUnchanged, kGray, kColor };

struct ImageInfo {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;  ///< as stored
  const char* format = "";  ///< "jpeg" or "png"
};

struct DecodeOptions {
  ImageMode mode = ImageMode::kColor;
  /// When both are given, a JPEG image may come at 1/2, 1/4 or 1/8 of its size, as long as it is at least this large: much faster
  /// where it is made smaller anyway.
  int64_t min_height = 0;
  int64_t min_width = 0;
  /// Larger images are refused before memory is asked for.
  int64_t max_pixels = int64_t{1} << 27;
};

/// Throws IoError, naming the image, when the bytes begin neither as JPEG nor as PNG, or their header is damaged.
TAEDA_API ImageInfo image_info(std::string_view bytes, const std::string& name = "image");
/// uint8 (channels, height, width). Throws IoError for damaged or truncated images and for those beyond `max_pixels`.
TAEDA_API Tensor decode_image(std::string_view bytes, const DecodeOptions& options = {}, const std::string& name = "image");
TAEDA_API Tensor load_image(const std::string& path, const DecodeOptions& options = {});

/// `image`: uint8 with 1 or 3 channels; `quality` 1 to 100.
TAEDA_API std::string encode_jpeg(const Tensor& image, int quality = 90);
/// `image`: uint8 with 1 to 4 channels (1 and 2: grey, 2 and 4: with alpha); `level` 0 to 9 is zlib's.
TAEDA_API std::string encode_png(const Tensor& image, int level = 6);
/// Chooses the format by the name's end: .png, .jpg, .jpeg. Written atomically.
TAEDA_API void save_image(const std::string& path, const Tensor& image);

enum class Interpolation { kNearest, kBilinear };

/// A new image of the given size. Bilinear: each output pixel is the weighted mean of the input pixels under a triangle
/// around its centre; with `antialias` the triangle grows with the reduction (as in Pillow), without it two pixels a side
/// are used (as in `interpolate`). uint8 is computed in fixed point and rounded.
TAEDA_API Tensor resize_image(const Tensor& image, int64_t height, int64_t width, Interpolation mode = Interpolation::kBilinear,
                              bool antialias = true);
/// A part of the image; what lies outside is `fill`. Inside parts share the image's memory.
TAEDA_API Tensor crop_image(const Tensor& image, int64_t top, int64_t left, int64_t height, int64_t width, double fill = 0);
TAEDA_API Tensor center_crop_image(const Tensor& image, int64_t height, int64_t width);
TAEDA_API Tensor flip_image_horizontal(const Tensor& image);
TAEDA_API Tensor flip_image_vertical(const Tensor& image);

/// Colour changes on images of 3 channels (the first two also on 1). Factors: 0 removes the property, 1 keeps it. Float images lie in
/// [0, 1]. uint8 results are truncated, as by the common Python library, so that equal factors give equal images.
TAEDA_API Tensor adjust_brightness(const Tensor& image, double factor);
TAEDA_API Tensor adjust_contrast(const Tensor& image, double factor);
TAEDA_API Tensor adjust_saturation(const Tensor& image, double factor);
/// Turns the hue by `shift` of a full circle, -0.5 to 0.5.
TAEDA_API Tensor adjust_hue(const Tensor& image, double shift);

/// A contiguous float32 image: uint8 is divided by 255; then (x - mean) / stddev by channel where these are given (one value
/// counts for all channels).
TAEDA_API Tensor image_to_float(const Tensor& image, ArrayRef<double> mean = {}, ArrayRef<double> stddev = {});

}  // namespace taeda::io
