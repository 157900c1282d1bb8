// SPDX-License-Identifier: Apache-2.0
// Zip archives, both ways: stored and deflated entries, 64-bit sizes, checksums. What `.pt` and `.npz` files are made of.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "taeda/io/file.h"

namespace taeda::io {

/// An opened archive. The directory is checked when it is opened: places, sizes, overlaps (so that no entry can be counted
/// twice, as in archives made to explode), duplicate names; checksums when an entry is read.
class TAEDA_API ZipReader {
 public:
  struct Entry {
    std::string name;
    uint64_t size = 0;
    uint64_t stored_size = 0;
    uint64_t header_offset = 0;
    uint32_t crc = 0;
    uint16_t method = 0;  ///< 0: stored, 8: deflated
  };

  /// Throws IoError naming the file and the fault.
  explicit ZipReader(SourcePtr source);
  static bool is_zip(const Source& source);

  const std::string& name() const { return source_->name(); }
  const std::vector<Entry>& entries() const { return entries_; }
  /// Null when there is none of that name.
  const Entry* find(const std::string& name) const;
  /// Throws IoError when there is none of that name.
  const Entry& at(const std::string& name) const;
  /// The content, its checksum verified. Throws IoError when it is larger than `limit`.
  std::string read(const Entry& entry, uint64_t limit = UINT64_MAX) const;
  /// As `read`, into `entry.size` bytes at `out`.
  void read_into(const Entry& entry, void* out) const;

 private:
  uint64_t data_offset(const Entry& entry) const;
  void parse_directory(const std::string& directory, uint64_t count);
  void check_overlaps(uint64_t directory_offset) const;
  void inflate_into(const Entry& entry, uint64_t offset, void* out) const;

  SourcePtr source_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> places_;
};

/// Writes an archive in one pass. Entries carry no times, so that equal content gives equal files.
class TAEDA_API ZipWriter {
 public:
  explicit ZipWriter(Sink& sink) : sink_(sink) {}
  /// Adds an entry. The data begin at a multiple of `alignment` (a power of two). Throws ValueError for a name given twice.
  void add(const std::string& name, std::string_view data, uint64_t alignment = 1, bool compress = false);
  /// Writes the directory. Nothing can be added afterwards.
  void finish();

 private:
  void write(std::string_view bytes);

  Sink& sink_;
  uint64_t place_ = 0;
  std::vector<ZipReader::Entry> entries_;
  std::unordered_map<std::string, bool> names_;
};

}  // namespace taeda::io
