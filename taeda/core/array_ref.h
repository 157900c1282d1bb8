// SPDX-License-Identifier: Apache-2.0
// Non-owning view of consecutive elements, and a vector with inline room for small shapes.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <vector>

#include "taeda/core/error.h"

namespace taeda {

/// A pointer and a length. Does not own: valid as long as what it was made from.
template <class T>
class ArrayRef final {
 public:
  using value_type = T;
  using size_type = size_t;
  using iterator = const T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  template <class A>
  ArrayRef(const std::vector<T, A>& vec) : data_(vec.data()), size_(vec.size()) {
    static_assert(!std::is_same_v<T, bool>, "ArrayRef<bool> cannot view a std::vector<bool>");
  }
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& array) : data_(array.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&array)[N]) : data_(array), size_(N) {}
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  constexpr ArrayRef(const std::initializer_list<T>& list)
      : data_(list.begin() == list.end() ? nullptr : list.begin()), size_(list.size()) {}
#pragma GCC diagnostic pop
  template <class Container>
    requires(!std::is_same_v<std::remove_cvref_t<Container>, ArrayRef> && requires(const Container& c) {
      { c.data() } -> std::convertible_to<const T*>;
      { c.size() } -> std::convertible_to<size_t>;
    })
  constexpr ArrayRef(const Container& container) : data_(container.data()), size_(container.size()) {}

  constexpr iterator begin() const { return data_; }
  constexpr iterator end() const { return data_ + size_; }
  constexpr iterator cbegin() const { return data_; }
  constexpr iterator cend() const { return data_ + size_; }
  constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
  constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  const T& at(size_t i) const {
    TAEDA_CHECK_INDEX(i < size_, "[ArrayRef] index must be below the size: got ", i, " of ", size_, "; check the index");
    return data_[i];
  }
  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  bool equals(ArrayRef other) const { return std::equal(begin(), end(), other.begin(), other.end()); }
  /// `n` elements from `start`.
  ArrayRef slice(size_t start, size_t n) const {
    TAEDA_CHECK_INDEX(start <= size_ && n <= size_ - start, "[ArrayRef] slice must lie inside: got start ", start,
                      ", length ", n, " of ", size_, "; check the bounds");
    return {data_ + start, n};
  }
  ArrayRef slice(size_t start) const { return slice(start, size_ - std::min(start, size_)); }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

using IntArrayRef = ArrayRef<int64_t>;

template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(ArrayRef<T>(b));
}
template <class T>
std::ostream& operator<<(std::ostream& stream, ArrayRef<T> list) {
  stream << '[';
  for (size_t i = 0; i < list.size(); ++i) stream << (i ? ", " : "") << list[i];
  return stream << ']';
}
template <class T>
std::ostream& operator<<(std::ostream& stream, const std::vector<T>& list) {
  return stream << ArrayRef<T>(list);
}

/// A vector of trivially copyable elements whose first N live inside the object.
template <class T, unsigned N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  SmallVector() = default;
  explicit SmallVector(size_t n, T value = T{}) { resize(n, value); }
  SmallVector(ArrayRef<T> list) { append(list.begin(), list.end()); }
  SmallVector(std::initializer_list<T> list) { append(list.begin(), list.end()); }
  template <class It>
  SmallVector(It first, It last) {
    append(first, last);
  }
  SmallVector(const SmallVector& other) { append(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) noexcept { steal(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      clear();
      append(other.begin(), other.end());
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      steal(other);
    }
    return *this;
  }
  ~SmallVector() { release(); }

  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  void clear() { size_ = 0; }
  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
  }
  template <class... Args>
  void emplace_back(Args&&... args) {
    push_back(T{std::forward<Args>(args)...});
  }
  void pop_back() { --size_; }
  void resize(size_t n, T value = T{}) {
    if (n > capacity_) grow(n);
    for (size_t i = size_; i < n; ++i) data_[i] = value;
    size_ = static_cast<uint32_t>(n);
  }
  void reserve(size_t n) {
    if (n > capacity_) grow(n);
  }
  template <class It>
  void append(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  void insert(size_t position, T value) {
    push_back(value);
    std::copy_backward(begin() + position, end() - 1, end());
    data_[position] = value;
  }
  void erase(size_t position) {
    std::copy(begin() + position + 1, end(), begin() + position);
    --size_;
  }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void grow(size_t wanted) {
    const size_t capacity = std::max<size_t>(wanted, 2 * static_cast<size_t>(capacity_));
    T* fresh = static_cast<T*>(::operator new(capacity * sizeof(T)));
    std::copy(begin(), end(), fresh);
    if (data_ != inline_) ::operator delete(data_);
    data_ = fresh;
    capacity_ = static_cast<uint32_t>(capacity);
  }
  void release() {
    if (data_ != inline_) ::operator delete(data_);
    data_ = inline_;
    size_ = 0;
    capacity_ = N;
  }
  void steal(SmallVector& other) {
    if (other.data_ == other.inline_) {
      std::copy(other.begin(), other.end(), inline_);
      size_ = other.size_;
    } else {
      data_ = other.data_;
      size_ = other.size_;
      capacity_ = other.capacity_;
      other.data_ = other.inline_;
      other.capacity_ = N;
    }
    other.size_ = 0;
  }
  T* data_ = inline_;
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  T inline_[N];
};

/// Sizes, strides or dimension lists: no heap up to six dimensions.
using DimVector = SmallVector<int64_t, 6>;

/// An optional list that does not own its elements.
template <class T>
class OptionalArrayRef final {
 public:
  constexpr OptionalArrayRef() = default;
  constexpr OptionalArrayRef(std::nullopt_t) {}
  constexpr OptionalArrayRef(ArrayRef<T> list) : list_(list) {}
  constexpr OptionalArrayRef(const std::optional<ArrayRef<T>>& list) : list_(list) {}
  constexpr OptionalArrayRef(const T& one) : list_(ArrayRef<T>(one)) {}
  OptionalArrayRef(const std::vector<T>& list) : list_(ArrayRef<T>(list)) {}
  template <size_t N>
  OptionalArrayRef(const std::array<T, N>& list) : list_(ArrayRef<T>(list)) {}
  OptionalArrayRef(const DimVector& list)
    requires std::is_same_v<T, int64_t>
      : list_(ArrayRef<T>(list)) {}
  constexpr OptionalArrayRef(const std::initializer_list<T>& list) : list_(ArrayRef<T>(list)) {}
  constexpr bool has_value() const { return list_.has_value(); }
  constexpr explicit operator bool() const { return list_.has_value(); }
  constexpr const ArrayRef<T>& value() const { return list_.value(); }
  constexpr const ArrayRef<T>& operator*() const { return *list_; }
  constexpr const ArrayRef<T>* operator->() const { return &*list_; }
  constexpr ArrayRef<T> value_or(ArrayRef<T> other) const { return list_.value_or(other); }

 private:
  std::optional<ArrayRef<T>> list_;
};
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

using std::nullopt;
using std::optional;

}  // namespace taeda
