// SPDX-License-Identifier: Apache-2.0
// Sources and sinks of bytes over POSIX files, memory and streams.
#include "taeda/io/file.h"
#include "taeda/io/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <istream>

#include "taeda/core/error.h"

namespace taeda::io {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

class FileSource final : public Source {
 public:
  FileSource(std::string path, uint64_t size, int file) : Source(std::move(path), size), file_(file) {}
  ~FileSource() override { ::close(file_); }

 protected:
  void do_read(uint64_t offset, void* out, uint64_t n) const override {
    auto* to = static_cast<char*>(out);
    while (n > 0) {
      const ssize_t got = ::pread(file_, to, std::min<uint64_t>(n, 1u << 30), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      TAEDA_CHECK_IO(got > 0, "[read] ", name(), " could not be read at byte ", offset, ": ",
                     got < 0 ? std::strerror(errno) : "the file became shorter", "; check the file and the disk");
      to += got;
      offset += static_cast<uint64_t>(got);
      n -= static_cast<uint64_t>(got);
    }
  }

 private:
  int file_;
};

class MemorySource final : public Source {
 public:
  MemorySource(std::string bytes, std::string name)
      : Source(std::move(name), bytes.size()), bytes_(std::move(bytes)), data_(bytes_.data()) {}
  MemorySource(const void* data, size_t size, std::string name)
      : Source(std::move(name), size), data_(static_cast<const char*>(data)) {}

 protected:
  void do_read(uint64_t offset, void* out, uint64_t n) const override { std::memcpy(out, data_ + offset, n); }

 private:
  std::string bytes_;
  const char* data_;
};

class FunctionSource final : public Source {
 public:
  FunctionSource(std::function<size_t(uint64_t, void*, size_t)> read, uint64_t size)
      : Source("read function", size), read_(std::move(read)) {}

 protected:
  void do_read(uint64_t offset, void* out, uint64_t n) const override {
    const size_t got = read_(offset, out, n);
    TAEDA_CHECK_IO(got == n, "[read] the read function must give all bytes it is asked for: got ", got, " of ", n,
                   " at ", offset, "; check the function");
  }

 private:
  std::function<size_t(uint64_t, void*, size_t)> read_;
};

std::string resolve_links(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) ? resolved : path;
}

/// Opens and locks a temporary file of that name for this process alone; -1 with errno when another one holds it.
int open_exclusive(const std::string& name) {
  const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return -1;
  struct stat ours, named;
  // Between open and lock the former holder may have renamed this very file into place: then it is no longer a temporary one.
  if (::flock(file, LOCK_EX | LOCK_NB) == 0 && ::fstat(file, &ours) == 0 && ::stat(name.c_str(), &named) == 0 &&
      ours.st_ino == named.st_ino && ours.st_dev == named.st_dev) {
    return file;
  }
  ::close(file);
  errno = EWOULDBLOCK;
  return -1;
}

}  // namespace

Source::~Source() = default;
Sink::~Sink() = default;
StringSink::~StringSink() = default;
FunctionSink::~FunctionSink() = default;

void Source::read(uint64_t offset, void* out, uint64_t n) const {
  TAEDA_CHECK_IO(offset <= size_ && n <= size_ - offset, "[read] ", name_, " ends too early: ", n, " bytes at ", offset,
                 " were expected, the size is ", size_, "; the file is truncated or damaged");
  if (n) do_read(offset, out, n);
}

std::string Source::read(uint64_t offset, uint64_t n) const {
  TAEDA_CHECK_IO(offset <= size_ && n <= size_ - offset, "[read] ", name_, " ends too early: ", n, " bytes at ", offset,
                 " were expected, the size is ", size_, "; the file is truncated or damaged");
  std::string bytes(n, '\0');
  if (n) do_read(offset, bytes.data(), n);
  return bytes;
}

SourcePtr open_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  TAEDA_CHECK_IO(file >= 0, "[open] ", path, " could not be opened: ", std::strerror(errno), "; check the path");
  struct stat status;
  const bool known = ::fstat(file, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(file);
    TAEDA_CHECK_IO(false, "[open] ", path, " must be a regular file: got ",
                   known && S_ISDIR(status.st_mode) ? "a folder" : "something else", "; give the path of a file");
  }
  return std::make_shared<FileSource>(path, static_cast<uint64_t>(status.st_size), file);
}

SourcePtr make_source(std::string bytes, std::string name) {
  return std::make_shared<MemorySource>(std::move(bytes), std::move(name));
}

SourcePtr borrow_source(const void* data, size_t size, std::string name) {
  return std::make_shared<MemorySource>(data, size, std::move(name));
}

SourcePtr read_stream(std::istream& stream, std::string name) {
  std::string bytes;
  char block[1 << 16];
  while (stream.read(block, sizeof(block)) || stream.gcount() > 0) bytes.append(block, static_cast<size_t>(stream.gcount()));
  TAEDA_CHECK_IO(!stream.bad(), "[read] the stream could not be read after ", bytes.size(), " bytes; check its source");
  return make_source(std::move(bytes), std::move(name));
}

SourcePtr make_source(std::function<size_t(uint64_t, void*, size_t)> read, uint64_t size) {
  return std::make_shared<FunctionSource>(std::move(read), size);
}

void FunctionSink::write(const void* data, size_t size) {
  const size_t taken = function_(data, size);
  TAEDA_CHECK_IO(taken == size, "[write] the write function must take all bytes it is given: took ", taken, " of ", size,
                 "; check the function");
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(resolve_links(path)) {
  const size_t slash = target_.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : target_.substr(0, slash + 1);
  const std::string name = target_.substr(folder.size());
  TAEDA_CHECK_IO(!name.empty(), "[save] a file name is needed: got '", path, "'; give the path of a file");
  // A fixed name: what a killed writer left is taken over by the next one and not left behind.
  for (int attempt = 0; attempt < 1000 && file_ < 0; ++attempt) {
    temporary_ = folder + "." + name + (attempt ? "." + std::to_string(attempt) : std::string()) + ".tmp";
    file_ = open_exclusive(temporary_);
    if (file_ < 0 && errno != EWOULDBLOCK) break;
  }
  if (file_ < 0 || ::ftruncate(file_, 0) != 0) fail("created");
  struct stat old;
  if (::stat(target_.c_str(), &old) == 0) {
    if (!S_ISREG(old.st_mode)) {
      errno = S_ISDIR(old.st_mode) ? EISDIR : EINVAL;
      const int reason = errno;
      ::unlink(temporary_.c_str());
      ::close(std::exchange(file_, -1));
      errno = reason;
      fail("replaced");
    }
    (void)::fchmod(file_, old.st_mode & 07777);
  }
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::unlink(temporary_.c_str());
  ::close(file_);
}

void AtomicFile::fail(const char* what) const {
  TAEDA_CHECK_IO(false, "[save] ", path_, " could not be ", what, ": ", std::strerror(errno),
                 "; check the folder, its permissions and the free space. A former file is still whole");
  __builtin_unreachable();
}

void AtomicFile::flush() {
  const char* from = buffer_.data();
  size_t left = buffer_.size();
  while (left > 0) {
    const ssize_t done = ::write(file_, from, left);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail("written");
    from += done;
    left -= static_cast<size_t>(done);
  }
  buffer_.clear();
}

void AtomicFile::write(const void* data, size_t size) {
  TAEDA_CHECK_IO(file_ >= 0, "[save] ", path_, " is already committed; open another AtomicFile to write again");
  const auto* from = static_cast<const char*>(data);
  while (size > 0) {
    const size_t part = std::min(size, kBufferBytes - buffer_.size());
    buffer_.append(from, part);
    from += part;
    size -= part;
    if (buffer_.size() == kBufferBytes) flush();
  }
}

void AtomicFile::commit() {
  TAEDA_CHECK_IO(file_ >= 0, "[save] ", path_, " is already committed; open another AtomicFile to write again");
  flush();
  if (::fsync(file_) != 0) fail("flushed");
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("put in place");
  ::close(std::exchange(file_, -1));
  const size_t slash = target_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : target_.substr(0, slash + 1);
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {  // the rename itself must reach the disk; a file system that cannot do so is no reason to fail
    (void)::fsync(directory);
    ::close(directory);
  }
}

std::string read_file(const std::string& path, uint64_t limit) {
  const SourcePtr source = open_file(path);
  TAEDA_CHECK_IO(source->size() <= limit, "[read] ", path, " is too large: got ", source->size(), " bytes, the limit is ",
                 limit, "; check that it is the right file");
  return source->read_all();
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && !std::filesystem::is_directory(path, error) && !error) error = std::make_error_code(std::errc::not_a_directory);
  TAEDA_CHECK_IO(!error, "[folder] ", path, " cannot be made: ", error.message(), "; name a folder in a place that can be written");
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace taeda::io
