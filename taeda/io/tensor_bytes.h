// SPDX-License-Identifier: Apache-2.0
// Tensors as plain bytes, for the readers and writers of this room.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>

#include "taeda/core/tensor.h"
#include "taeda/io/file.h"

namespace taeda::io {

/// Π sizes · itemsize; false when a size is negative or the product does not fit 63 bits.
inline bool byte_count(IntArrayRef sizes, size_t itemsize, uint64_t* bytes) {
  uint64_t total = itemsize;
  bool empty = false;
  for (int64_t size : sizes) {
    if (size < 0) return false;
    if (size == 0) empty = true;
    else if (__builtin_mul_overflow(total, static_cast<uint64_t>(size), &total) || total > INT64_MAX) return false;
  }
  *bytes = empty ? 0 : total;
  return true;
}

/// The elements' own memory. Does not count as a write: for filling tensors nobody has seen yet, and for reading.
inline char* raw_data(const Tensor& tensor) { return tensor.impl().data(); }

/// Fills a new contiguous tensor from a source.
inline Tensor read_tensor(const Source& source, uint64_t offset, IntArrayRef sizes, ScalarType dtype) {
  Tensor tensor = make_tensor(sizes, dtype);
  source.read(offset, raw_data(tensor), tensor.nbytes());
  return tensor;
}

/// Reverses the bytes of each element.
inline void swap_bytes(void* data, size_t count, size_t itemsize) {
  if (itemsize < 2) return;
  auto* bytes = static_cast<char*>(data);
  for (size_t i = 0; i < count; ++i) std::reverse(bytes + i * itemsize, bytes + (i + 1) * itemsize);
}

/// The tensor as contiguous memory on the CPU, without a gradient history.
inline Tensor contiguous_on_cpu(const Tensor& tensor, const std::string& name) {
  TAEDA_CHECK_VALUE(tensor.defined(), "[save] every tensor must be defined: got an undefined one for '", name,
                    "'; leave it out");
  const Tensor plain = tensor.requires_grad() ? make_alias(tensor) : tensor;
  const Tensor here = plain.is_cpu() ? plain : plain.cpu();
  return here.is_contiguous() ? here : here.contiguous();
}

/// Bool tensors hold 0 or 1 and nothing else; a file may say otherwise.
inline void normalize_bools(const Tensor& tensor) {
  if (tensor.scalar_type() != kBool) return;
  auto* bytes = reinterpret_cast<unsigned char*>(raw_data(tensor));
  for (int64_t i = 0; i < tensor.numel(); ++i) bytes[i] = bytes[i] != 0;
}

}  // namespace taeda::io
