// SPDX-License-Identifier: Apache-2.0
// Reference-counted objects with the count inside, and the handle to them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "taeda/core/export.h"

namespace taeda {

/// An atomic count with the two operations of shared ownership.
class RefCount {
 public:
  constexpr explicit RefCount(uint32_t n = 1) : n_(n) {}
  void retain() noexcept { n_.fetch_add(1, std::memory_order_relaxed); }
  /// True when the caller held the last reference and must destroy the object.
  bool release() noexcept {
    // A sole owner needs no read-modify-write: nobody else can copy the handle meanwhile.
    if (n_.load(std::memory_order_acquire) == 1) return true;
    return n_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// As `release`, for objects that `retain_if_alive` may find: the count reaches zero.
  bool release_counted() noexcept { return n_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  /// Takes a reference only if the object is still alive (for lookups under the owner's lock).
  bool retain_if_alive() noexcept {
    uint32_t n = n_.load(std::memory_order_relaxed);
    while (n != 0) {
      if (n_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }
  uint32_t value() const noexcept { return n_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint32_t> n_;
};

/// Handle to a T that offers `static void retain(T*)` and `static void release(T*)`.
template <class T>
class IntrusivePtr final {
 public:
  using element_type = T;
  constexpr IntrusivePtr() noexcept = default;
  constexpr IntrusivePtr(std::nullptr_t) noexcept {}
  IntrusivePtr(const IntrusivePtr& other) noexcept : p_(other.p_) {
    if (p_) T::retain(p_);
  }
  IntrusivePtr(IntrusivePtr&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  IntrusivePtr(const IntrusivePtr<U>& other) noexcept : p_(other.get()) {
    if (p_) T::retain(p_);
  }
  template <class U>
    requires std::is_convertible_v<U*, T*>
  IntrusivePtr(IntrusivePtr<U>&& other) noexcept : p_(other.detach()) {}
  ~IntrusivePtr() {
    if (p_) T::release(p_);
  }
  IntrusivePtr& operator=(const IntrusivePtr& other) noexcept {
    IntrusivePtr copy(other);
    swap(copy);
    return *this;
  }
  IntrusivePtr& operator=(IntrusivePtr&& other) noexcept {
    IntrusivePtr moved(std::move(other));
    swap(moved);
    return *this;
  }
  /// Takes over a reference the caller holds.
  static IntrusivePtr adopt(T* p) noexcept {
    IntrusivePtr handle;
    handle.p_ = p;
    return handle;
  }
  /// Adds a reference of its own.
  static IntrusivePtr share(T* p) noexcept {
    if (p) T::retain(p);
    return adopt(p);
  }
  /// Gives the reference to the caller.
  T* detach() noexcept { return std::exchange(p_, nullptr); }
  void reset() noexcept { IntrusivePtr().swap(*this); }
  void swap(IntrusivePtr& other) noexcept { std::swap(p_, other.p_); }
  T* get() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  T* operator->() const noexcept { return p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  bool defined() const noexcept { return p_ != nullptr; }
  size_t use_count() const noexcept { return p_ ? p_->use_count() : 0; }
  friend bool operator==(const IntrusivePtr& a, const IntrusivePtr& b) noexcept { return a.p_ == b.p_; }
  friend bool operator==(const IntrusivePtr& a, std::nullptr_t) noexcept { return a.p_ == nullptr; }

 private:
  T* p_ = nullptr;
};
template <class T>
using intrusive_ptr = IntrusivePtr<T>;

}  // namespace taeda
