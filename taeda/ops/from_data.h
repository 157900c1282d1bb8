// SPDX-License-Identifier: Apache-2.0
// Tensors from C++ values, foreign memory and files.
#pragma once

#include <functional>
#include <string>

#include "taeda/core/tensor.h"

namespace taeda {

namespace detail {

/// What `tensor(…)` takes: a number, a (nested) braced list of numbers, or an array of numbers.
/// Refers to braced lists without copying them: lives no longer than the call's full expression.
class TAEDA_API TensorData {
 public:
  TensorData() : kind_(Kind::kList), sizes_{0} {}
  template <class T>
    requires(std::is_arithmetic_v<T> || is_reduced_float<T>)
  TensorData(T value) : kind_(Kind::kScalar), type_(dtype_of<T>()), scalar_(value) {}
  TensorData(std::initializer_list<TensorData> list);
  template <class T>
    requires(std::is_arithmetic_v<T> || is_reduced_float<T>)
  TensorData(ArrayRef<T> values) : kind_(Kind::kArray), type_(dtype_of<T>()), sizes_{static_cast<int64_t>(values.size())} {
    array_ = values.data();
    if constexpr (!std::is_same_v<T, typed<T>>) convert(values);
  }
  template <class T>
    requires((std::is_arithmetic_v<T> || is_reduced_float<T>) && !std::is_same_v<T, bool>)
  TensorData(const std::vector<T>& values) : TensorData(ArrayRef<T>(values)) {}
  TensorData(const std::vector<bool>& values);

  /// The tensor, in the given dtype or the one that the values ask for: int64 for int and int64, the default dtype for
  /// float and double, else their own.
  Tensor make(const TensorOptions& options) const;

 private:
  enum class Kind : uint8_t { kScalar, kList, kArray };
  // The element type that stores T: int64 for `long` and `long long` alike, and for unsigned types without a dtype.
  template <class T>
  using typed = std::conditional_t<std::is_same_v<T, bool> || std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                       is_reduced_float<T>, T,
                std::conditional_t<std::is_floating_point_v<T>, double,
                std::conditional_t<sizeof(T) == 1, std::conditional_t<std::is_unsigned_v<T>, uint8_t, int8_t>,
                std::conditional_t<sizeof(T) == 2 && std::is_signed_v<T>, int16_t,
                std::conditional_t<sizeof(T) == 4 && std::is_signed_v<T>, int32_t, int64_t>>>>>;
  template <class T>
  static constexpr ScalarType dtype_of() {
    return scalar_type_of<typed<T>>;
  }
  template <class T>
  void convert(ArrayRef<T> values) {
    if constexpr (sizeof(T) == sizeof(typed<T>)) return;  // the same bits
    owned_.assign(values.begin(), values.end());
    array_ = owned_.data();
  }
  void fill(Tensor& out, int64_t& at) const;

  Kind kind_;
  ScalarType type_ = ScalarType::Undefined;
  Scalar scalar_;
  DimVector sizes_;
  const TensorData* items_ = nullptr;
  size_t count_ = 0;
  const void* array_ = nullptr;
  std::vector<double> owned_;
};

}  // namespace detail

/// A new tensor with the given values: `tensor(3)`, `tensor({1.5, 2.5})`, `tensor({{1, 2}, {3, 4}}, kFloat)`, or a vector.
TAEDA_API Tensor tensor(const detail::TensorData& data, const TensorOptions& options = {});

using Deleter = std::function<void(void*)>;

/// A tensor over memory that somebody else owns. It must outlive the tensor and its views; `deleter`, where given, is
/// called with `data` when the last of them is gone. Without strides the elements lie in row-major order.
TAEDA_API Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {});
TAEDA_API Tensor from_blob(void* data, IntArrayRef sizes, const Deleter& deleter, const TensorOptions& options = {});
TAEDA_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {});
TAEDA_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const Deleter& deleter,
                           const TensorOptions& options = {});

/// Takes over the vector's memory; no copy. `sizes` defaults to one dimension.
template <class T>
Tensor from_vector(std::vector<T> values, std::optional<std::vector<int64_t>> sizes = std::nullopt) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements in memory: use tensor(values)");
  auto* owner = new std::vector<T>(std::move(values));
  const auto n = static_cast<int64_t>(owner->size());
  try {
    const std::vector<int64_t> shape = sizes.value_or(std::vector<int64_t>{n});
    int64_t numel = 1;
    for (const int64_t s : shape) numel *= s;
    TAEDA_CHECK(numel == n, "[from_vector] the sizes must multiply to the number of values: got ", IntArrayRef(shape), " for ", n,
                "; correct the sizes");
    return from_blob(owner->data(), shape, [owner](void*) { delete owner; }, TensorOptions(scalar_type_of<T>));
  } catch (...) {
    delete owner;
    throw;
  }
}

/// The first `size` elements of a file (of the options' dtype). `shared`: the file is mapped, writes reach it, and it is
/// made or lengthened where needed; otherwise it is read.
TAEDA_API Tensor from_file(std::string_view filename, std::optional<bool> shared = std::nullopt,
                           std::optional<int64_t> size = 0, const TensorOptions& options = {});

/// Iteration over the first dimension: `for (Tensor row : t)`.
class RowIterator {
 public:
  using value_type = Tensor;
  using difference_type = int64_t;
  using reference = Tensor;
  using pointer = void;
  using iterator_category = std::input_iterator_tag;
  RowIterator(const Tensor& tensor, int64_t at) : tensor_(&tensor), at_(at) {}
  Tensor operator*() const { return (*tensor_)[at_]; }
  RowIterator& operator++() {
    ++at_;
    return *this;
  }
  RowIterator operator++(int) {
    RowIterator old = *this;
    ++at_;
    return old;
  }
  bool operator==(const RowIterator& other) const { return at_ == other.at_; }

 private:
  const Tensor* tensor_;
  int64_t at_;
};
inline RowIterator begin(const Tensor& tensor) { return {tensor, 0}; }
inline RowIterator end(const Tensor& tensor) { return {tensor, tensor.size(0)}; }

}  // namespace taeda
