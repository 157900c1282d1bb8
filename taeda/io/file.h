// SPDX-License-Identifier: Apache-2.0
// Where bytes come from and go to: files, memory, streams; and files that are replaced whole or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "taeda/core/export.h"

namespace taeda::io {

/// Bytes that can be read at any place. Reading is safe from several threads at once.
class TAEDA_API Source {
 public:
  Source(std::string name, uint64_t size) : name_(std::move(name)), size_(size) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source();

  /// For error messages: the path, or what kind of memory it is.
  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }
  /// Copies `n` bytes from `offset`. Throws IoError when they do not all lie inside.
  void read(uint64_t offset, void* out, uint64_t n) const;
  /// As `read`, into a string. `n` is checked against the size before memory is asked for.
  std::string read(uint64_t offset, uint64_t n) const;
  std::string read_all() const { return read(0, size_); }

 protected:
  virtual void do_read(uint64_t offset, void* out, uint64_t n) const = 0;

 private:
  std::string name_;
  uint64_t size_;
};

using SourcePtr = std::shared_ptr<const Source>;

/// A regular file. Throws IoError when it cannot be opened.
TAEDA_API SourcePtr open_file(const std::string& path);
/// Owned bytes.
TAEDA_API SourcePtr make_source(std::string bytes, std::string name = "memory");
/// Borrowed bytes, which must outlive the source.
TAEDA_API SourcePtr borrow_source(const void* data, size_t size, std::string name = "memory");
/// Everything from the stream's place to its end.
TAEDA_API SourcePtr read_stream(std::istream& stream, std::string name = "stream");
/// `read(position, buffer, n)` returns how many bytes it wrote.
TAEDA_API SourcePtr make_source(std::function<size_t(uint64_t, void*, size_t)> read, uint64_t size);

/// Takes bytes in order.
class TAEDA_API Sink {
 public:
  virtual ~Sink();
  virtual void write(const void* data, size_t size) = 0;
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
};

class TAEDA_API StringSink final : public Sink {
 public:
  using Sink::write;
  ~StringSink() override;
  void write(const void* data, size_t size) override { bytes.append(static_cast<const char*>(data), size); }
  std::string bytes;
};

class TAEDA_API FunctionSink final : public Sink {
 public:
  using Sink::write;
  explicit FunctionSink(std::function<size_t(const void*, size_t)> function) : function_(std::move(function)) {}
  ~FunctionSink() override;
  /// Throws IoError when the function takes fewer bytes than it was given.
  void write(const void* data, size_t size) override;

 private:
  std::function<size_t(const void*, size_t)> function_;
};

/// Writes a file beside `path` and puts it in place on `commit()`: whatever happens before, the process being killed included,
/// `path` holds its old content whole; afterwards the new one, on the disk. Without `commit()` nothing is left.
/// Several writers of one path do not disturb each other; the last to commit wins. Symbolic links are followed.
class TAEDA_API AtomicFile final : public Sink {
 public:
  using Sink::write;
  /// Throws IoError when the folder cannot be written.
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile() override;
  void write(const void* data, size_t size) override;
  /// Flushes to the disk and renames. Throws IoError, and leaves the old file, when any of it fails.
  void commit();

 private:
  void flush();
  [[noreturn]] void fail(const char* what) const;

  std::string path_;  ///< as given, for messages
  std::string target_;
  std::string temporary_;
  std::string buffer_;
  int file_ = -1;
};

/// The whole file. Throws IoError when it is larger than `limit`.
TAEDA_API std::string read_file(const std::string& path, uint64_t limit = UINT64_MAX);
/// Replaces the file atomically.
TAEDA_API void write_file(const std::string& path, std::string_view bytes);

}  // namespace taeda::io
