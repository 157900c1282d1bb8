// SPDX-License-Identifier: Apache-2.0
// A number with its kind: bool, integer or floating.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <type_traits>

#include "taeda/core/scalar_type.h"

namespace taeda {

/// A single number passed to an operator. Keeps its kind, which takes part in type promotion.
class Scalar final {
 public:
  constexpr Scalar() : Scalar(int64_t{0}) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::kBool;
      i_ = value;
    } else if constexpr (std::is_integral_v<T>) {
      kind_ = Kind::kInt;
      i_ = static_cast<int64_t>(value);
    } else {
      kind_ = Kind::kDouble;
      d_ = static_cast<double>(value);
    }
  }
  constexpr Scalar(Half value) : Scalar(static_cast<double>(static_cast<float>(value))) {}
  constexpr Scalar(BFloat16 value) : Scalar(static_cast<double>(static_cast<float>(value))) {}

  constexpr bool isFloatingPoint() const { return kind_ == Kind::kDouble; }
  constexpr bool isIntegral(bool include_bool) const {
    return kind_ == Kind::kInt || (include_bool && kind_ == Kind::kBool);
  }
  constexpr bool isBoolean() const { return kind_ == Kind::kBool; }
  constexpr bool isComplex() const { return false; }
  constexpr ScalarType type() const {
    return kind_ == Kind::kDouble ? kDouble : kind_ == Kind::kInt ? kLong : kBool;
  }

  /// Whether T can hold the value (as `c10::checked_convert` sees it): whole numbers lie in T's range, of unsigned T also the negatives
  /// of those; finite ones stay finite.
  template <class T>
  constexpr bool fits() const {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, double>) {
      return true;
    } else if constexpr (!std::is_integral_v<T>) {
      constexpr auto kMost = static_cast<double>(static_cast<float>(std::numeric_limits<T>::max()));
      const double v = to_double();
      return !(v > kMost || v < -kMost) || v - v != 0;  // infinities and nan are of every floating type
    } else if (kind_ == Kind::kDouble) {
      if constexpr (sizeof(T) == 8) return d_ >= -9223372036854775808.0 && d_ < 9223372036854775808.0;
      else return d_ >= static_cast<double>(std::numeric_limits<T>::min()) && d_ <= static_cast<double>(std::numeric_limits<T>::max());
    } else if constexpr (sizeof(T) == 8) {
      return true;
    } else {
      constexpr auto kMost = static_cast<int64_t>(std::numeric_limits<T>::max());
      return i_ <= kMost && i_ >= (std::is_unsigned_v<T> ? -kMost : static_cast<int64_t>(std::numeric_limits<T>::min()));
    }
  }
  /// The value as T. Throws Error when T cannot hold it.
  template <class T>
  T to() const {
    TAEDA_CHECK(fits<T>(), "[Scalar] the number must fit the requested type: got ", to_double(), "; use a wider type");
    return unchecked<T>();
  }
  /// As `to`, but integers wrap and floating values are truncated without a check.
  template <class T>
  constexpr T unchecked() const {
    if constexpr (std::is_same_v<T, bool>) {
      return kind_ == Kind::kDouble ? d_ != 0.0 : i_ != 0;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(kind_ == Kind::kDouble ? static_cast<int64_t>(d_) : i_);
    } else {
      return static_cast<T>(to_double());
    }
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to<bool>(); }
  bool equal(const Scalar& other) const {
    return isFloatingPoint() || other.isFloatingPoint() ? to_double() == other.to_double() : i_ == other.i_;
  }
  Scalar operator-() const {
    return kind_ == Kind::kDouble ? Scalar(-d_) : Scalar(static_cast<int64_t>(0 - static_cast<uint64_t>(i_)));
  }
  Scalar log() const;

 private:
  enum class Kind : uint8_t { kBool, kInt, kDouble };
  constexpr double to_double() const { return kind_ == Kind::kDouble ? d_ : static_cast<double>(i_); }
  Kind kind_ = Kind::kInt;
  union {
    int64_t i_;
    double d_;
  };
};

TAEDA_API std::ostream& operator<<(std::ostream& stream, const Scalar& value);
template <class T>
  requires is_reduced_float<T>
std::ostream& operator<<(std::ostream& stream, T value) {
  return stream << static_cast<float>(value);
}

}  // namespace taeda
