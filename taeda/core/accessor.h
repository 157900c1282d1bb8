// SPDX-License-Identifier: Apache-2.0
// Typed element access with plain indexing.
#pragma once

#include <cstdint>

#include "taeda/core/array_ref.h"

namespace taeda {

/// N-dimensional view of elements of type T; does not own, does not check bounds.
template <class T, size_t N>
class TensorAccessor {
 public:
  TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  decltype(auto) operator[](int64_t i) const {
    if constexpr (N == 1) {
      return static_cast<T&>(data_[strides_[0] * i]);
    } else {
      return TensorAccessor<T, N - 1>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    }
  }
  IntArrayRef sizes() const { return {sizes_, N}; }
  IntArrayRef strides() const { return {strides_, N}; }
  int64_t size(int64_t i) const { return sizes_[i]; }
  int64_t stride(int64_t i) const { return strides_[i]; }
  T* data() const { return data_; }

 private:
  T* data_;
  const int64_t* sizes_;
  const int64_t* strides_;
};

/// As TensorAccessor, but holds its sizes and strides itself, with indices of type `Index`.
template <class T, size_t N, class Index = int64_t>
class PackedTensorAccessor {
 public:
  PackedTensorAccessor(T* data, const int64_t* sizes, const int64_t* strides) : data_(data) {
    for (size_t i = 0; i < N; ++i) {
      sizes_[i] = static_cast<Index>(sizes[i]);
      strides_[i] = static_cast<Index>(strides[i]);
    }
  }
  decltype(auto) operator[](Index i) const {
    if constexpr (N == 1) {
      return static_cast<T&>(data_[strides_[0] * i]);
    } else {
      return PackedTensorAccessor<T, N - 1, Index>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1, 0);
    }
  }
  Index size(int64_t i) const { return sizes_[i]; }
  Index stride(int64_t i) const { return strides_[i]; }
  T* data() const { return data_; }
  PackedTensorAccessor(T* data, const Index* sizes, const Index* strides, int) : data_(data) {
    for (size_t i = 0; i < N; ++i) {
      sizes_[i] = sizes[i];
      strides_[i] = strides[i];
    }
  }

 private:
  T* data_;
  Index sizes_[N];
  Index strides_[N];
};
template <class T, size_t N>
using PackedTensorAccessor32 = PackedTensorAccessor<T, N, int32_t>;
template <class T, size_t N>
using PackedTensorAccessor64 = PackedTensorAccessor<T, N, int64_t>;

}  // namespace taeda
