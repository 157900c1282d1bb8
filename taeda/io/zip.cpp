// SPDX-License-Identifier: Apache-2.0
// Zip archives (PKWARE's APPNOTE 6.3: sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16, 4.5.3).
#include "taeda/io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "taeda/core/error.h"

namespace taeda::io {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50, kDirectoryHeader = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kEnd64Locator = 0x07064b50;
constexpr size_t kLocalHeaderSize = 30, kDirectoryHeaderSize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
constexpr uint32_t kMax32 = 0xffffffffu;
constexpr uint16_t kZip64Extra = 0x0001, kPaddingExtra = 0x4246;
constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint16_t kDate = 0x0021;  // 1 January 1980, the format's zero

/// Reads little-endian numbers from a string, checking the bounds.
class Fields {
 public:
  Fields(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}
  uint64_t number(size_t width) {
    const std::string_view part = take(width);
    uint64_t value = 0;
    std::memcpy(&value, part.data(), width);
    return value;
  }
  uint16_t u16() { return static_cast<uint16_t>(number(2)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() { return number(8); }
  std::string_view take(size_t n) {
    TAEDA_CHECK_IO(n <= bytes_.size(), "[zip] ", file_, ": a header ends too early; the file is damaged");
    const std::string_view part = bytes_.substr(0, n);
    bytes_.remove_prefix(n);
    return part;
  }
  bool empty() const { return bytes_.empty(); }
  size_t size() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  const std::string& file_;
};

void put(std::string& out, uint64_t value, size_t width) { out.append(reinterpret_cast<const char*>(&value), width); }

uint32_t checksum(const void* data, uint64_t size, uint32_t crc = 0) {
  const auto* bytes = static_cast<const Bytef*>(data);
  while (size > 0) {
    const auto part = static_cast<uInt>(std::min<uint64_t>(size, 1u << 30));
    crc = static_cast<uint32_t>(::crc32(crc, bytes, part));
    bytes += part;
    size -= part;
  }
  return crc;
}

/// Place of the end record: the last one whose comment reaches exactly to the end of the file.
uint64_t find_end(const Source& source, std::string* record) {
  const uint64_t window = std::min<uint64_t>(source.size(), kEndSize + 0xffff);
  if (window >= kEndSize) {
    const std::string tail = source.read(source.size() - window, window);
    for (size_t i = tail.size() - kEndSize + 1; i-- > 0;) {
      uint32_t signature;
      uint16_t comment;
      std::memcpy(&signature, tail.data() + i, 4);
      std::memcpy(&comment, tail.data() + i + 20, 2);
      if (signature == kEnd && i + kEndSize + comment == tail.size()) {
        *record = tail.substr(i, kEndSize);
        return source.size() - window + i;
      }
    }
  }
  TAEDA_CHECK_IO(false, "[zip] ", source.name(), " has no directory at its end; the file is truncated or not a zip archive");
  __builtin_unreachable();
}

struct Directory {
  uint64_t count, size, offset, end;
};

Directory find_directory(const Source& source) {
  std::string record;
  const uint64_t end = find_end(source, &record);
  Fields fields(record, source.name());
  fields.take(4);
  const uint16_t disk = fields.u16(), directory_disk = fields.u16();
  const uint16_t here = fields.u16(), total = fields.u16();
  Directory directory{total, fields.u32(), 0, end};
  directory.offset = fields.u32();
  TAEDA_CHECK_IO((disk == 0 || disk == 0xffff) && (directory_disk == 0 || directory_disk == 0xffff) && here == total,
                 "[zip] ", source.name(), " is one part of a divided archive; join the parts first");
  if ((total == 0xffff || directory.size == kMax32 || directory.offset == kMax32) && end >= kLocatorSize) {
    const std::string bytes = source.read(end - kLocatorSize, kLocatorSize);
    Fields locator(bytes, source.name());
    if (locator.u32() == kEnd64Locator) {
      locator.take(4);
      const uint64_t place = locator.u64();
      TAEDA_CHECK_IO(place <= end && end - place >= kEnd64Size + kLocatorSize, "[zip] ", source.name(),
                     ": the 64-bit end record is said to lie at ", place, ", outside the file; the file is damaged");
      const std::string bytes64 = source.read(place, kEnd64Size);
      Fields record64(bytes64, source.name());
      TAEDA_CHECK_IO(record64.u32() == kEnd64, "[zip] ", source.name(), ": no 64-bit end record at ", place,
                     "; the file is damaged");
      record64.take(20);
      const uint64_t here64 = record64.u64();
      directory = {record64.u64(), record64.u64(), 0, place};
      directory.offset = record64.u64();
      TAEDA_CHECK_IO(here64 == directory.count, "[zip] ", source.name(), " is one part of a divided archive; join the parts first");
    }
  }
  TAEDA_CHECK_IO(directory.offset <= directory.end && directory.size <= directory.end - directory.offset &&
                     directory.count <= directory.size / kDirectoryHeaderSize,
                 "[zip] ", source.name(), ": the directory (", directory.count, " entries, ", directory.size, " bytes at ",
                 directory.offset, ") does not fit the file; the file is damaged");
  return directory;
}

/// 64-bit values of an entry, from its extra fields; the 32-bit fields say which are there.
void read_extra(std::string_view extra, ZipReader::Entry& entry, const std::string& file) {
  Fields fields(extra, file);
  while (fields.size() >= 4) {
    const uint16_t kind = fields.u16();
    const uint16_t length = fields.u16();
    Fields field(fields.take(length), file);
    if (kind != kZip64Extra) continue;
    if (entry.size == kMax32) entry.size = field.u64();
    if (entry.stored_size == kMax32) entry.stored_size = field.u64();
    if (entry.header_offset == kMax32) entry.header_offset = field.u64();
  }
}

std::string deflate_bytes(const void* data, uint64_t size) {
  TAEDA_CHECK_VALUE(size < (uint64_t{1} << 31), "[zip] compressed entries must be smaller than 2 GiB: got ", size,
                    " bytes; store it uncompressed");
  z_stream stream{};
  TAEDA_CHECK_IO(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
                 "[zip] the compressor could not be started; free some memory");
  std::string out(deflateBound(&stream, static_cast<uLong>(size)), '\0');
  stream.next_in = static_cast<Bytef*>(const_cast<void*>(data));
  stream.avail_in = static_cast<uInt>(size);
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  TAEDA_CHECK_IO(status == Z_STREAM_END, "[zip] compression failed with code ", status, "; store the entry uncompressed");
  return out;
}

}  // namespace

bool ZipReader::is_zip(const Source& source) {
  if (source.size() < kEndSize) return false;
  uint32_t signature = 0;
  source.read(0, &signature, 4);
  return signature == kLocalHeader || signature == kEnd;
}

ZipReader::ZipReader(SourcePtr source) : source_(std::move(source)) {
  const Directory directory = find_directory(*source_);
  parse_directory(source_->read(directory.offset, directory.size), directory.count);
  check_overlaps(directory.offset);
}

void ZipReader::parse_directory(const std::string& directory, uint64_t count) {
  Fields fields(directory, name());
  entries_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    TAEDA_CHECK_IO(fields.u32() == kDirectoryHeader, "[zip] ", name(), ": entry ", i,
                   " of the directory has no header; the file is damaged");
    Entry entry;
    fields.take(4);
    const uint16_t flags = fields.u16();
    entry.method = fields.u16();
    fields.take(4);
    entry.crc = fields.u32();
    entry.stored_size = fields.u32();
    entry.size = fields.u32();
    const uint16_t name_length = fields.u16(), extra_length = fields.u16(), comment_length = fields.u16();
    fields.take(8);
    entry.header_offset = fields.u32();
    entry.name = fields.take(name_length);
    read_extra(fields.take(extra_length), entry, name());
    fields.take(comment_length);
    TAEDA_CHECK_IO((flags & 1) == 0, "[zip] ", name(), ": entry '", entry.name, "' is encrypted; decrypt the archive first");
    TAEDA_CHECK_IO(entry.method != kStored || entry.size == entry.stored_size, "[zip] ", name(), ": entry '", entry.name,
                   "' is stored, but its two sizes differ (", entry.size, " and ", entry.stored_size, "); the file is damaged");
    // Deflate cannot shrink data more than 1032 times: a larger claim is a lie, found before memory is asked for.
    TAEDA_CHECK_IO(entry.method != kDeflated || entry.size / 1040 <= entry.stored_size + 16, "[zip] ", name(), ": entry '",
                   entry.name, "' claims ", entry.size, " bytes from ", entry.stored_size, " compressed ones; the file is damaged");
    TAEDA_CHECK_IO(places_.emplace(entry.name, entries_.size()).second, "[zip] ", name(), ": the entry '", entry.name,
                   "' occurs twice; the file is damaged");
    entries_.push_back(std::move(entry));
  }
}

void ZipReader::check_overlaps(uint64_t directory_offset) const {
  std::vector<const Entry*> order;
  for (const Entry& entry : entries_) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) { return a->header_offset < b->header_offset; });
  for (size_t i = 0; i < order.size(); ++i) {
    const uint64_t next = i + 1 < order.size() ? order[i + 1]->header_offset : directory_offset;
    const uint64_t begin = order[i]->header_offset;
    TAEDA_CHECK_IO(begin <= next && next - begin >= kLocalHeaderSize && order[i]->stored_size <= next - begin - kLocalHeaderSize,
                   "[zip] ", name(), ": entry '", order[i]->name, "' (", order[i]->stored_size, " bytes at ", begin,
                   ") overlaps what follows at ", next, "; the file is damaged");
  }
}

const ZipReader::Entry* ZipReader::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &entries_[found->second];
}

const ZipReader::Entry& ZipReader::at(const std::string& wanted) const {
  const Entry* entry = find(wanted);
  TAEDA_CHECK_IO(entry != nullptr, "[zip] ", name(), " has no entry '", wanted, "'; the file is damaged or of another kind");
  return *entry;
}

uint64_t ZipReader::data_offset(const Entry& entry) const {
  const std::string bytes = source_->read(entry.header_offset, kLocalHeaderSize);
  Fields fields(bytes, name());
  const bool found = fields.u32() == kLocalHeader;
  fields.take(22);
  const uint16_t name_length = fields.u16(), extra_length = fields.u16();
  const std::string local = found ? source_->read(entry.header_offset + kLocalHeaderSize, name_length) : std::string();
  TAEDA_CHECK_IO(found && local == entry.name, "[zip] ", name(), ": entry '", entry.name, "' is not where the directory says (",
                 entry.header_offset, "); the file is damaged");
  const uint64_t offset = entry.header_offset + kLocalHeaderSize + name_length + extra_length;
  TAEDA_CHECK_IO(offset <= source_->size() && entry.stored_size <= source_->size() - offset, "[zip] ", name(), ": entry '",
                 entry.name, "' reaches beyond the end; the file is truncated");
  return offset;
}

std::string ZipReader::read(const Entry& entry, uint64_t limit) const {
  TAEDA_CHECK_IO(entry.size <= limit, "[zip] ", name(), ": entry '", entry.name, "' is too large: got ", entry.size,
                 " bytes, the limit is ", limit, "; check that it is the right file");
  std::string bytes(entry.size, '\0');
  read_into(entry, bytes.data());
  return bytes;
}

void ZipReader::read_into(const Entry& entry, void* out) const {
  const uint64_t offset = data_offset(entry);
  if (entry.method == kStored) {
    source_->read(offset, out, entry.size);
  } else {
    TAEDA_CHECK_IO(entry.method == kDeflated, "[zip] ", name(), ": entry '", entry.name, "' is compressed by method ",
                   entry.method, ", only stored (0) and deflated (8) are read; repack the archive");
    inflate_into(entry, offset, out);
  }
  TAEDA_CHECK_IO(checksum(out, entry.size) == entry.crc, "[zip] ", name(), ": the checksum of entry '", entry.name,
                 "' is wrong; the file is damaged");
}

void ZipReader::inflate_into(const Entry& entry, uint64_t offset, void* out) const {
  z_stream stream{};
  TAEDA_CHECK_IO(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "[zip] the decompressor could not be started; free some memory");
  struct End {
    z_stream& stream;
    ~End() { inflateEnd(&stream); }
  } end{stream};
  uint64_t left = entry.stored_size, room = entry.size;
  auto* to = static_cast<Bytef*>(out);
  std::string block;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0 && left > 0) {
      const uint64_t part = std::min<uint64_t>(left, 1u << 18);
      block = source_->read(offset, part);
      offset += part;
      left -= part;
      stream.next_in = reinterpret_cast<Bytef*>(block.data());
      stream.avail_in = static_cast<uInt>(part);
    }
    const auto part = static_cast<uInt>(std::min<uint64_t>(room, 1u << 30));
    Bytef spare[1];
    stream.next_out = part ? to : spare;
    stream.avail_out = part;
    status = inflate(&stream, Z_NO_FLUSH);
    const uInt made = part - stream.avail_out;
    to += made;
    room -= made;
    const bool stuck = made == 0 && status != Z_STREAM_END && (stream.avail_in > 0 || left == 0);
    TAEDA_CHECK_IO((status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR) && !stuck, "[zip] ", name(), ": entry '",
                   entry.name, "' cannot be decompressed (code ", status, "); the file is damaged");
  }
  TAEDA_CHECK_IO(room == 0, "[zip] ", name(), ": entry '", entry.name, "' is ", room, " bytes shorter than the ", entry.size,
                 " it claims; the file is damaged");
}

void ZipWriter::write(std::string_view bytes) {
  sink_.write(bytes.data(), bytes.size());
  place_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::string_view data, uint64_t alignment, bool compress) {
  TAEDA_CHECK_VALUE(name.size() < 0xffff && names_.emplace(name, true).second,
                    "[zip] entry names must be short and differ: got '", name, "' again; rename it");
  ZipReader::Entry entry{name, data.size(), data.size(), place_, checksum(data.data(), data.size()), kStored};
  std::string packed;
  if (compress) {
    packed = deflate_bytes(data.data(), data.size());
    if (packed.size() < data.size()) {
      data = packed;
      entry.stored_size = packed.size();
      entry.method = kDeflated;
    }
  }
  const bool wide = entry.size >= kMax32 || entry.stored_size >= kMax32;
  std::string extra;
  if (wide) {
    put(extra, kZip64Extra, 2);
    put(extra, 16, 2);
    put(extra, entry.size, 8);
    put(extra, entry.stored_size, 8);
  }
  if (alignment > 1) {
    const uint64_t begin = place_ + kLocalHeaderSize + name.size() + extra.size() + 4;
    const uint64_t padding = (alignment - begin % alignment) % alignment;
    put(extra, kPaddingExtra, 2);
    put(extra, padding, 2);
    extra.append(padding, 'Z');
  }
  std::string header;
  put(header, kLocalHeader, 4);
  put(header, wide ? 45 : 20, 2);
  put(header, 0x0800, 2);  // names are UTF-8
  put(header, entry.method, 2);
  put(header, 0, 2);
  put(header, kDate, 2);
  put(header, entry.crc, 4);
  put(header, wide ? kMax32 : entry.stored_size, 4);
  put(header, wide ? kMax32 : entry.size, 4);
  put(header, name.size(), 2);
  put(header, extra.size(), 2);
  write(header + name + extra);
  write(data);
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
  const uint64_t begin = place_;
  for (const ZipReader::Entry& entry : entries_) {
    const bool wide = entry.size >= kMax32 || entry.stored_size >= kMax32;
    const bool far = entry.header_offset >= kMax32;
    std::string extra;
    if (wide || far) {
      put(extra, kZip64Extra, 2);
      put(extra, (wide ? 16 : 0) + (far ? 8 : 0), 2);
      if (wide) put(extra, entry.size, 8);
      if (wide) put(extra, entry.stored_size, 8);
      if (far) put(extra, entry.header_offset, 8);
    }
    std::string header;
    put(header, kDirectoryHeader, 4);
    put(header, wide || far ? 45 : 20, 2);
    put(header, wide || far ? 45 : 20, 2);
    put(header, 0x0800, 2);
    put(header, entry.method, 2);
    put(header, 0, 2);
    put(header, kDate, 2);
    put(header, entry.crc, 4);
    put(header, wide ? kMax32 : entry.stored_size, 4);
    put(header, wide ? kMax32 : entry.size, 4);
    put(header, entry.name.size(), 2);
    put(header, extra.size(), 2);
    put(header, 0, 2);   // comment
    put(header, 0, 4);   // disk, internal attributes
    put(header, 0, 4);   // external attributes
    put(header, far ? kMax32 : entry.header_offset, 4);
    write(header + entry.name + extra);
  }
  const uint64_t count = entries_.size(), size = place_ - begin;
  std::string end;
  if (count >= 0xffff || begin >= kMax32 || size >= kMax32) {
    const uint64_t place = place_;
    put(end, kEnd64, 4);
    put(end, kEnd64Size - 12, 8);
    put(end, 45, 2);
    put(end, 45, 2);
    put(end, 0, 8);
    put(end, count, 8);
    put(end, count, 8);
    put(end, size, 8);
    put(end, begin, 8);
    put(end, kEnd64Locator, 4);
    put(end, 0, 4);
    put(end, place, 8);
    put(end, 1, 4);
  }
  put(end, kEnd, 4);
  put(end, 0, 4);
  put(end, std::min<uint64_t>(count, 0xffff), 2);
  put(end, std::min<uint64_t>(count, 0xffff), 2);
  put(end, std::min<uint64_t>(size, kMax32), 4);
  put(end, std::min<uint64_t>(begin, kMax32), 4);
  put(end, 0, 2);
  write(end);
}

}  // namespace taeda::io
