// SPDX-License-Identifier: Apache-2.0
// JPEG images through libjpeg-turbo. Its errors leave by longjmp; every function that calls it holds trivial objects only.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>
// jerror.h needs the types of jpeglib.h before it.
#include <jerror.h>

#include "taeda/io/image_pixels.h"

namespace taeda::io {
namespace {

constexpr int kMaxScans = 500;  // a progressive image may have thousands, each a pass over all pixels

struct Errors {
  jpeg_error_mgr base;
  std::jmp_buf leave;
  char message[JMSG_LENGTH_MAX];
};

void on_error(j_common_ptr info) {
  auto* errors = reinterpret_cast<Errors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->leave, 1);
}

/// Warnings that mean lost pixels are errors here: a truncated file must not train as a half-grey picture.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  const int code = info->err->msg_code;
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_ARITH_BAD_CODE) on_error(info);
}

void on_progress(j_common_ptr info) {
  const auto* decoder = reinterpret_cast<j_decompress_ptr>(info);
  if (decoder->input_scan_number > kMaxScans) {
    std::snprintf(reinterpret_cast<Errors*>(info->err)->message, JMSG_LENGTH_MAX, "more than %d scans", kMaxScans);
    std::longjmp(reinterpret_cast<Errors*>(info->err)->leave, 1);
  }
}

void prepare(Errors& errors) {
  jpeg_std_error(&errors.base);
  errors.base.error_exit = on_error;
  errors.base.emit_message = on_message;
  errors.message[0] = '\0';
}

class JpegDecoder {
 public:
  explicit JpegDecoder(std::string_view bytes) : bytes_(bytes) {
    prepare(errors_);
    decoder_.err = &errors_.base;
  }
  ~JpegDecoder() {
    if (created_) jpeg_destroy_decompress(&decoder_);
  }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  bool read_header() {
    if (setjmp(errors_.leave)) return false;
    jpeg_create_decompress(&decoder_);
    created_ = true;
    progress_ = {};
    progress_.progress_monitor = on_progress;
    decoder_.progress = &progress_;
    jpeg_mem_src(&decoder_, reinterpret_cast<const unsigned char*>(bytes_.data()), static_cast<unsigned long>(bytes_.size()));
    return jpeg_read_header(&decoder_, TRUE) == JPEG_HEADER_OK;
  }
  bool start(ImageMode mode, unsigned eighths) {
    if (setjmp(errors_.leave)) return false;
    const bool four = decoder_.jpeg_color_space == JCS_CMYK || decoder_.jpeg_color_space == JCS_YCCK;
    const bool gray = mode == ImageMode::kGray || (mode == ImageMode::kUnchanged && decoder_.num_components == 1);
    decoder_.out_color_space = four ? JCS_CMYK : gray ? JCS_GRAYSCALE : JCS_RGB;
    decoder_.scale_num = eighths;
    decoder_.scale_denom = 8;
    return jpeg_start_decompress(&decoder_);
  }
  bool read_rows(unsigned char* data, size_t row_stride) {
    if (setjmp(errors_.leave)) return false;
    while (decoder_.output_scanline < decoder_.output_height) {
      unsigned char* rows[4];
      for (unsigned i = 0; i < 4; ++i) rows[i] = data + (decoder_.output_scanline + i) * row_stride;
      const unsigned left = decoder_.output_height - decoder_.output_scanline;
      jpeg_read_scanlines(&decoder_, rows, left < 4 ? left : 4);
    }
    return jpeg_finish_decompress(&decoder_);
  }

  const jpeg_decompress_struct& state() const { return decoder_; }
  const char* message() const { return errors_.message[0] ? errors_.message : "it ends too early"; }

 private:
  std::string_view bytes_;
  Errors errors_;
  jpeg_progress_mgr progress_;
  jpeg_decompress_struct decoder_;
  bool created_ = false;
};

void check(bool ok, const JpegDecoder& decoder, const std::string& name) {
  TAEDA_CHECK_IO(ok, "[image] ", name, " is not a readable JPEG image: ", decoder.message(), "; the file is truncated or damaged");
}

/// Four-colour images, written inverted as every known program does, to three colours or one.
Tensor from_cmyk(const Tensor& image, bool gray) {
  const Pixels<uint8_t> in = pixels<uint8_t>(image);
  Tensor result = make_image(gray ? 1 : 3, in.height, in.width, kByte);
  const Pixels<uint8_t> out = pixels<uint8_t>(result);
  for (int64_t y = 0; y < in.height; ++y) {
    const uint8_t* from = in.row(y);
    uint8_t* to = out.row(y);
    for (int64_t x = 0; x < in.width; ++x, from += 4) {
      const int red = from[0] * from[3] / 255, green = from[1] * from[3] / 255, blue = from[2] * from[3] / 255;
      if (gray) {
        *to++ = static_cast<uint8_t>((red * 19595 + green * 38470 + blue * 7471 + 32768) >> 16);
      } else {
        *to++ = static_cast<uint8_t>(red);
        *to++ = static_cast<uint8_t>(green);
        *to++ = static_cast<uint8_t>(blue);
      }
    }
  }
  return result;
}

/// The smallest of 1, 2, 4, 8 eighths that still covers the wanted size.
unsigned choose_scale(const ImageInfo& info, const DecodeOptions& options) {
  if (options.min_height <= 0 || options.min_width <= 0) return 8;
  for (const unsigned eighths : {1u, 2u, 4u}) {
    if (info.height * eighths / 8 >= options.min_height && info.width * eighths / 8 >= options.min_width) return eighths;
  }
  return 8;
}

class JpegEncoder {
 public:
  JpegEncoder() {
    prepare(errors_);
    encoder_.err = &errors_.base;
  }
  ~JpegEncoder() {
    if (created_) jpeg_destroy_compress(&encoder_);
    std::free(bytes_);
  }
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;

  bool run(const Pixels<uint8_t>& image, int quality) {
    if (setjmp(errors_.leave)) return false;
    jpeg_create_compress(&encoder_);
    created_ = true;
    jpeg_mem_dest(&encoder_, &bytes_, &size_);
    encoder_.image_width = static_cast<unsigned>(image.width);
    encoder_.image_height = static_cast<unsigned>(image.height);
    encoder_.input_components = static_cast<int>(image.channels);
    encoder_.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&encoder_);
    jpeg_set_quality(&encoder_, quality, TRUE);
    jpeg_start_compress(&encoder_, TRUE);
    while (encoder_.next_scanline < encoder_.image_height) {
      unsigned char* row = image.row(encoder_.next_scanline);
      jpeg_write_scanlines(&encoder_, &row, 1);
    }
    jpeg_finish_compress(&encoder_);
    return true;
  }
  std::string bytes() const { return {reinterpret_cast<const char*>(bytes_), size_}; }
  const char* message() const { return errors_.message; }

 private:
  Errors errors_;
  jpeg_compress_struct encoder_;
  bool created_ = false;
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

namespace detail {

ImageInfo jpeg_info(std::string_view bytes, const std::string& name) {
  JpegDecoder decoder(bytes);
  check(decoder.read_header(), decoder, name);
  const auto& state = decoder.state();
  return {state.image_height, state.image_width, state.num_components, "jpeg"};
}

Tensor decode_jpeg(std::string_view bytes, const DecodeOptions& options, const std::string& name) {
  JpegDecoder decoder(bytes);
  check(decoder.read_header(), decoder, name);
  const auto& state = decoder.state();
  const ImageInfo info{state.image_height, state.image_width, state.num_components, "jpeg"};
  check_pixels(info, options, name);
  check(decoder.start(options.mode, choose_scale(info, options)), decoder, name);
  const Tensor image = make_image(state.output_components, state.output_height, state.output_width, kByte);
  check(decoder.read_rows(reinterpret_cast<unsigned char*>(raw_data(image)), static_cast<size_t>(image.stride(1))), decoder, name);
  return state.output_components == 4 ? from_cmyk(image, options.mode == ImageMode::kGray) : image;
}

}  // namespace detail

std::string encode_jpeg(const Tensor& image, int quality) {
  check_image(image, "encode_jpeg");
  TAEDA_CHECK_VALUE(image.scalar_type() == kByte && (image.size(0) == 1 || image.size(0) == 3) && image.size(1) < 65536 && image.size(2) < 65536,
                    "[encode_jpeg] the image must be uint8 with 1 or 3 channels and less than 65536 pixels a side: got ",
                    image.scalar_type(), image.sizes(), "; convert it first");
  TAEDA_CHECK_VALUE(quality >= 1 && quality <= 100, "[encode_jpeg] the quality must lie in 1 to 100: got ", quality, "; choose 90");
  const Tensor rows = interleaved(image);
  JpegEncoder encoder;
  TAEDA_CHECK_IO(encoder.run(pixels<uint8_t>(rows), quality), "[encode_jpeg] the image could not be encoded: ", encoder.message(),
                 "; check its size");
  return encoder.bytes();
}

}  // namespace taeda::io
