// SPDX-License-Identifier: Apache-2.0
// Helpers of the file tests: temporary folders, committed files, tensors as vectors, and damage of every kind.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "taeda/core/dict.h"
#include "taeda/core/tensor.h"
#include "taeda/io/file.h"

namespace taeda::test {

inline std::string fixture(const std::string& name) { return std::string(TAEDA_DIGITS_DIR) + "/../../tests/io/fixtures/" + name; }

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "taeda_test_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  size_t file_count() const {
    size_t n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) n += entry.is_regular_file();
    return n;
  }

 private:
  std::string path_;
};

template <class T>
Tensor make(std::vector<int64_t> sizes, std::vector<T> values) {
  Tensor tensor = make_tensor(sizes, scalar_type_of<T>);
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<T>());
  return tensor;
}

/// The elements in row-major order, whatever the strides.
template <class T>
std::vector<T> values(const Tensor& tensor) {
  std::vector<T> out;
  const T* data = tensor.const_data_ptr<T>();
  std::vector<int64_t> index(static_cast<size_t>(tensor.dim()), 0);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    int64_t rest = i, place = 0;
    for (int64_t d = tensor.dim() - 1; d >= 0; --d) {
      place += rest % tensor.size(d) * tensor.stride(d);
      rest /= tensor.size(d);
    }
    out.push_back(data[place]);
  }
  return out;
}

/// The call throws IoError whose message contains `part`.
template <class F>
void expect_io_error(F&& f, const std::string& part) {
  try {
    f();
    ADD_FAILURE() << "no error; expected one with: " << part;
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

/// Every truncation of `bytes` must throw an Error; nothing else may happen.
inline void truncate_everywhere(const std::string& bytes, const std::function<void(io::SourcePtr)>& read) {
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THROW(read(io::make_source(bytes.substr(0, n))), Error) << "truncated to " << n << " of " << bytes.size();
  }
}

/// Damaged bytes are read or refused with an Error; crashes and other exceptions are failures. Returns how many were read.
inline size_t flip_bits(const std::string& bytes, size_t rounds, const std::function<void(io::SourcePtr)>& read) {
  std::mt19937 random(1);
  size_t accepted = 0;
  for (size_t i = 0; i < rounds; ++i) {
    std::string damaged = bytes;
    const size_t flips = 1 + random() % 3;
    for (size_t k = 0; k < flips; ++k) damaged[random() % damaged.size()] ^= static_cast<char>(1u << (random() % 8));
    if (random() % 4 == 0) damaged[random() % damaged.size()] = static_cast<char>(random() % 2 ? 0xff : 0x00);
    try {
      read(io::make_source(damaged));
      ++accepted;
    } catch (const Error&) {
    }
  }
  return accepted;
}

}  // namespace taeda::test
