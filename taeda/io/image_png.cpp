// SPDX-License-Identifier: Apache-2.0
// PNG images through libpng. Its errors leave by longjmp; every function that calls it holds trivial objects only.
#include <png.h>

#include <cstdio>
#include <vector>

#include "taeda/io/image_pixels.h"

namespace taeda::io {
namespace {

constexpr png_uint_32 kMaxSide = 1u << 20;
constexpr png_alloc_size_t kMaxChunk = png_alloc_size_t{1} << 24;  // of ancillary data, which are skipped anyway

struct State {
  std::string_view bytes;
  size_t place = 0;
  char message[200] = "";
};

void on_error(png_structp png, png_const_charp message) {
  auto* state = static_cast<State*>(png_get_error_ptr(png));
  std::snprintf(state->message, sizeof(state->message), "%s", message);
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, png_size_t n) {
  auto* state = static_cast<State*>(png_get_io_ptr(png));
  if (n > state->bytes.size() - state->place) png_error(png, "it ends too early");
  std::memcpy(to, state->bytes.data() + state->place, n);
  state->place += n;
}

class PngDecoder {
 public:
  explicit PngDecoder(std::string_view bytes) { state_.bytes = bytes; }
  ~PngDecoder() {
    if (png_) png_destroy_read_struct(&png_, &info_, nullptr);
  }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  bool read_header() {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state_, on_error, on_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_ || setjmp(png_jmpbuf(png_))) return false;
    png_set_user_limits(png_, kMaxSide, kMaxSide);
    png_set_chunk_malloc_max(png_, kMaxChunk);
    png_set_read_fn(png_, &state_, read_bytes);
    png_read_info(png_, info_);
    return true;
  }
  /// Sets the conversions to 8 bits a channel, and gives the number of channels.
  bool start(ImageMode mode, int* channels) {
    if (setjmp(png_jmpbuf(png_))) return false;
    const int type = png_get_color_type(png_, info_);
    const bool alpha = (type & PNG_COLOR_MASK_ALPHA) || png_get_valid(png_, info_, PNG_INFO_tRNS);
    png_set_expand(png_);  // palettes, less than 8 bits, transparent colours
    png_set_strip_16(png_);
    if (alpha && mode != ImageMode::kUnchanged) png_set_strip_alpha(png_);
    if (mode == ImageMode::kColor) png_set_gray_to_rgb(png_);
    if (mode == ImageMode::kGray && (type & PNG_COLOR_MASK_COLOR)) {
      png_set_rgb_to_gray_fixed(png_, PNG_ERROR_ACTION_NONE, 29900, 58700);
    }
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    *channels = png_get_channels(png_, info_);
    return png_get_bit_depth(png_, info_) == 8;
  }
  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }
  ImageInfo info() const {
    return {png_get_image_height(png_, info_), png_get_image_width(png_, info_), png_get_channels(png_, info_), "png"};
  }
  const char* message() const { return state_.message[0] ? state_.message : "out of memory"; }

 private:
  State state_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

void check(bool ok, const PngDecoder& decoder, const std::string& name) {
  TAEDA_CHECK_IO(ok, "[image] ", name, " is not a readable PNG image: ", decoder.message(), "; the file is truncated or damaged");
}

void write_bytes(png_structp png, png_bytep from, png_size_t n) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(from), n);
}
void flush_bytes(png_structp) {}

bool write_png(const Pixels<uint8_t>& image, int level, State& state, std::string& out) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  if (!info || setjmp(png_jmpbuf(png))) {
    if (png) png_destroy_write_struct(&png, nullptr);
    return false;
  }
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_write_fn(png, &out, write_bytes, flush_bytes);
  png_set_compression_level(png, level);
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height), 8, kTypes[image.channels - 1],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (int64_t y = 0; y < image.height; ++y) png_write_row(png, image.row(y));
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return true;
}

}  // namespace

namespace detail {

ImageInfo png_info(std::string_view bytes, const std::string& name) {
  PngDecoder decoder(bytes);
  check(decoder.read_header(), decoder, name);
  return decoder.info();
}

Tensor decode_png(std::string_view bytes, const DecodeOptions& options, const std::string& name) {
  PngDecoder decoder(bytes);
  check(decoder.read_header(), decoder, name);
  const ImageInfo info = decoder.info();
  check_pixels(info, options, name);
  int channels = 0;
  check(decoder.start(options.mode, &channels), decoder, name);
  const Tensor image = make_image(channels, info.height, info.width, kByte);
  std::vector<png_bytep> rows(static_cast<size_t>(info.height));
  const Pixels<uint8_t> out = pixels<uint8_t>(image);
  for (int64_t y = 0; y < info.height; ++y) rows[static_cast<size_t>(y)] = out.row(y);
  check(decoder.read_rows(rows.data()), decoder, name);
  return image;
}

}  // namespace detail

std::string encode_png(const Tensor& image, int level) {
  check_image(image, "encode_png");
  TAEDA_CHECK_VALUE(image.scalar_type() == kByte, "[encode_png] the image must be uint8: got ", image.scalar_type(),
                    "; multiply by 255 and convert it");
  TAEDA_CHECK_VALUE(level >= 0 && level <= 9, "[encode_png] the level must lie in 0 to 9: got ", level, "; choose 6");
  const Tensor rows = interleaved(image);
  State state;
  std::string bytes;
  TAEDA_CHECK_IO(write_png(pixels<uint8_t>(rows), level, state, bytes), "[encode_png] the image could not be encoded: ",
                 state.message, "; check its size");
  return bytes;
}

}  // namespace taeda::io
