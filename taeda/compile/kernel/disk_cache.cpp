// SPDX-License-Identifier: Apache-2.0
// A file is: a line with the format's name, length of the key, length of the object and digest of both; the key; the object. The key is kept whole, so that two
// keys of one digest cannot be confused.
#include "taeda/compile/kernel/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <atomic>

namespace taeda::kernel {

namespace {

constexpr const char* kFormat = "taeda-kernel-1";
constexpr off_t kMaxFile = 64 << 20;

std::string path_of(const std::string& folder, const std::string& key) { return folder + "/" + digest(key) + ".kernel"; }

/// Code is run only from files and folders that nobody else can write.
bool own(const struct stat& s) { return s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0; }

std::string header_of(const std::string& key, const std::string& object) {
  return std::string(kFormat) + " " + std::to_string(key.size()) + " " + std::to_string(object.size()) + " " + digest(key + object) + "\n";
}

std::optional<std::string> read_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return std::nullopt;
  struct stat s;
  std::string bytes;
  if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && own(s) && s.st_size <= kMaxFile) {
    bytes.resize(static_cast<size_t>(s.st_size));
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = read(fd, bytes.data() + done, bytes.size() - done);
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    bytes.resize(done);
  }
  close(fd);
  return bytes;
}

bool write_all(int fd, const std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

std::string digest(const std::string& text) {
  // Two multiplicative hashes with different starts and multipliers, mixed at the end (after MurmurHash's finaliser).
  uint64_t a = 0x243f6a8885a308d3u ^ text.size(), b = 0x13198a2e03707344u;
  for (const char c : text) {
    a = (a ^ static_cast<unsigned char>(c)) * 0x9e3779b97f4a7c15u;
    a ^= a >> 32;
    b = (b + static_cast<unsigned char>(c)) * 0xc2b2ae3d27d4eb4fu;
    b ^= b >> 29;
  }
  const auto mix = [](uint64_t h) {
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
  };
  char hex[33];
  std::snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(mix(a)), static_cast<unsigned long long>(mix(b ^ a)));
  return hex;
}

std::optional<std::string> read_cached(const std::string& folder, const std::string& key) {
  struct stat s;
  if (stat(folder.c_str(), &s) != 0 || !own(s)) return std::nullopt;
  const std::optional<std::string> bytes = read_file(path_of(folder, key));
  if (!bytes) return std::nullopt;
  const size_t line = bytes->find('\n');
  if (line == std::string::npos || bytes->size() - line - 1 < key.size() || bytes->compare(line + 1, key.size(), key) != 0) return std::nullopt;
  std::string object = bytes->substr(line + 1 + key.size());
  if (bytes->compare(0, line + 1, header_of(key, object)) != 0) return std::nullopt;
  return object;
}

void write_cached(const std::string& folder, const std::string& key, const std::string& object) {
  static std::atomic<unsigned> count{0};
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), error);
  if (mkdir(folder.c_str(), 0700) != 0) {
    struct stat s;
    if (stat(folder.c_str(), &s) != 0 || !own(s)) return;
  }
  const std::string path = path_of(folder, key);
  const std::string temporary = path + "." + std::to_string(getpid()) + "." + std::to_string(count.fetch_add(1));
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return;
  const bool written = write_all(fd, header_of(key, object)) && write_all(fd, key) && write_all(fd, object);
  const bool closed = close(fd) == 0;
  if (!written || !closed || rename(temporary.c_str(), path.c_str()) != 0) unlink(temporary.c_str());
}

}  // namespace taeda::kernel
