// SPDX-License-Identifier: Apache-2.0
// D values of which a single one stands for all.
#pragma once

#include <array>
#include <optional>
#include <ostream>

#include "taeda/core/array_ref.h"

namespace taeda {

/// Made from one value (repeated D times) or from exactly D values; anything else throws Error.
template <size_t D, class T = int64_t>
class TAEDA_API ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(std::vector<T> vec) : ExpandingArray(ArrayRef<T>(vec)) {}
  ExpandingArray(ArrayRef<T> values) {
    TAEDA_CHECK(values.size() == D, "[ExpandingArray] Expected ", D, " values, but instead got ", values.size(),
                "; give one value or one for each dimension");
    std::copy(values.begin(), values.end(), values_.begin());
  }
  ExpandingArray(T single_size) { values_.fill(single_size); }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}
  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator ArrayRef<T>() const { return values_; }
  size_t size() const noexcept { return D; }

 protected:
  std::array<T, D> values_;
};

template <size_t D, class T>
std::ostream& operator<<(std::ostream& stream, const ExpandingArray<D, T>& array) {
  if constexpr (D == 1) {
    return stream << (*array)[0];
  } else {
    return stream << ArrayRef<T>(*array);
  }
}

/// Values of which each may be absent (adaptive pooling: keep that size).
template <size_t D, class T = int64_t>
class TAEDA_API ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
  using Base = ExpandingArray<D, std::optional<T>>;

 public:
  using Base::Base;
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list) : ExpandingArrayWithOptionalElem(ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(ArrayRef<T> values) : Base(std::optional<T>()) {
    TAEDA_CHECK(values.size() == D, "[ExpandingArray] Expected ", D, " values, but instead got ", values.size(),
                "; give one value or one for each dimension");
    for (size_t i = 0; i < D; ++i) this->values_[i] = values[i];
  }
  ExpandingArrayWithOptionalElem(const std::vector<T>& vec) : ExpandingArrayWithOptionalElem(ArrayRef<T>(vec)) {}
  ExpandingArrayWithOptionalElem(T single) : Base(std::optional<T>(single)) {}
};

template <size_t D, class T>
std::ostream& operator<<(std::ostream& stream, const ExpandingArrayWithOptionalElem<D, T>& array) {
  if constexpr (D > 1) stream << '[';
  for (size_t i = 0; i < D; ++i) {
    if (i) stream << ", ";
    const auto& element = (*array)[i];
    if (element) {
      stream << *element;
    } else {
      stream << "None";
    }
  }
  if constexpr (D > 1) stream << ']';
  return stream;
}

}  // namespace taeda
