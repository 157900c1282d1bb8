// Strided operands of pointwise kernels: gathered to dense blocks, computed, scattered.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "taeda/cpu/pointwise_abi.h"

namespace taeda::cpu {
namespace {

constexpr int64_t kBlock = 256;
constexpr int kMaxOperands = 8;

template <class T>
void copy_typed(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, sizeof(T));
}

void copy_elements(int size, char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t n) {
  switch (size) {
    case 1: return copy_typed<uint8_t>(to, to_stride, from, from_stride, n);
    case 4: return copy_typed<uint32_t>(to, to_stride, from, from_stride, n);
    default: return copy_typed<uint64_t>(to, to_stride, from, from_stride, n);
  }
}

}  // namespace

void run_pointwise_strided(PointwiseLoop loop, int inputs, uint64_t sizes, char* const* ptrs, const int64_t* byte_strides, int64_t n,
                           const void* attrs) {
  alignas(64) char blocks[kMaxOperands][kBlock * 8];
  char* block_ptrs[kMaxOperands];
  int64_t block_strides[kMaxOperands];
  bool dense[kMaxOperands];
  for (int k = 0; k <= inputs; ++k) {
    const int64_t size = static_cast<int64_t>((sizes >> (8 * k)) & 0xff);
    dense[k] = byte_strides[k] == size || (k > 0 && byte_strides[k] == 0);
    block_strides[k] = dense[k] ? byte_strides[k] : size;
  }
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t count = std::min(kBlock, n - done);
    for (int k = 0; k <= inputs; ++k) {
      char* at = ptrs[k] + done * byte_strides[k];
      block_ptrs[k] = dense[k] ? at : blocks[k];
      const int size = static_cast<int>((sizes >> (8 * k)) & 0xff);
      if (k > 0 && !dense[k]) copy_elements(size, blocks[k], size, at, byte_strides[k], count);
    }
    loop(block_ptrs, block_strides, count, attrs);
    const int out_size = static_cast<int>(sizes & 0xff);
    if (!dense[0]) copy_elements(out_size, ptrs[0] + done * byte_strides[0], byte_strides[0], blocks[0], out_size, count);
  }
}

}  // namespace taeda::cpu
