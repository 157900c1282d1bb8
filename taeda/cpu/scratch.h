// SPDX-License-Identifier: Apache-2.0
// Working memory of kernels: a block of the CPU allocator for the time of a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "taeda/core/allocator.h"

namespace taeda::cpu {

/// Uninitialised room for `count` elements of T, aligned to 64 bytes.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t count)
      : bytes_(static_cast<size_t>(count) * sizeof(T)), data_(static_cast<T*>(cpu_allocate(bytes_))) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { cpu_deallocate(data_, bytes_); }
  T* data() const { return data_; }
  T& operator[](int64_t i) const { return data_[i]; }

 private:
  size_t bytes_;
  T* data_;
};

}  // namespace taeda::cpu
