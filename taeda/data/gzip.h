// SPDX-License-Identifier: Apache-2.0
// Gzip files as a stream of bytes; plain files pass through.
#pragma once

#include <memory>
#include <string>

#include "taeda/io/file.h"

namespace taeda::data {

/// Reads forwards. The checksum at the end is verified by `at_end`.
class TAEDA_API GzipReader {
 public:
  explicit GzipReader(const io::Source& source);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Throws IoError when the data end before `n` bytes, or are damaged.
  void read(void* out, uint64_t n);
  /// Whether all data are read. Throws IoError when the checksum is wrong.
  bool at_end();
  /// No more than this many bytes can still come: known from the size of the file.
  uint64_t most_left() const;

 private:
  struct State;
  uint64_t read_some(void* out, uint64_t n);

  const io::Source& source_;
  uint64_t place_ = 0;
  std::unique_ptr<State> state_;  ///< null: a plain file
};

}  // namespace taeda::data
