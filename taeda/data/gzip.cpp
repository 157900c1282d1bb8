// SPDX-License-Identifier: Apache-2.0
// Decompression of gzip files through zlib.
#include "taeda/data/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "taeda/core/error.h"

namespace taeda::data {

struct GzipReader::State {
  z_stream stream{};
  std::string block;
  bool finished = false;
  ~State() { inflateEnd(&stream); }
};

GzipReader::GzipReader(const io::Source& source) : source_(source) {
  unsigned char magic[2] = {};
  source.read(0, magic, std::min<uint64_t>(source.size(), 2));
  if (magic[0] != 0x1f || magic[1] != 0x8b) return;
  state_ = std::make_unique<State>();
  TAEDA_CHECK_IO(inflateInit2(&state_->stream, 16 + MAX_WBITS) == Z_OK, "[gzip] the decompressor could not be started; free some memory");
}
GzipReader::~GzipReader() = default;

uint64_t GzipReader::most_left() const {
  const uint64_t left = source_.size() - place_;
  return state_ ? (left + state_->stream.avail_in) * 1040 + state_->block.size() : left;
}

uint64_t GzipReader::read_some(void* out, uint64_t n) {
  z_stream& stream = state_->stream;
  stream.next_out = static_cast<Bytef*>(out);
  const auto room = static_cast<uInt>(std::min<uint64_t>(n, 1u << 30));
  stream.avail_out = room;
  while (stream.avail_out == room && !state_->finished) {
    if (stream.avail_in == 0 && place_ < source_.size()) {
      const uint64_t part = std::min<uint64_t>(source_.size() - place_, 1u << 18);
      state_->block = source_.read(place_, part);
      place_ += part;
      stream.next_in = reinterpret_cast<Bytef*>(state_->block.data());
      stream.avail_in = static_cast<uInt>(part);
    }
    const int status = inflate(&stream, Z_NO_FLUSH);
    const bool starved = status == Z_BUF_ERROR && stream.avail_in == 0 && place_ == source_.size();
    TAEDA_CHECK_IO((status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR) && !starved, "[gzip] ", source_.name(),
                   " cannot be decompressed (code ", status, "); the file is truncated or damaged");
    if (status == Z_STREAM_END) {
      const bool more = stream.avail_in > 0 || place_ < source_.size();
      TAEDA_CHECK_IO(!more, "[gzip] ", source_.name(), ": data go on after the compressed ones; the file is damaged");
      state_->finished = true;
    }
  }
  return room - stream.avail_out;
}

void GzipReader::read(void* out, uint64_t n) {
  if (!state_) {
    source_.read(place_, out, n);
    place_ += n;
    return;
  }
  auto* to = static_cast<char*>(out);
  while (n > 0) {
    const uint64_t got = read_some(to, n);
    TAEDA_CHECK_IO(got > 0, "[gzip] ", source_.name(), " ends too early; the file is truncated");
    to += got;
    n -= got;
  }
}

bool GzipReader::at_end() {
  if (!state_) return place_ == source_.size();
  char byte;
  return read_some(&byte, 1) == 0;
}

}  // namespace taeda::data
