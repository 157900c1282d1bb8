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

  /// The value as T. Throws Error when an integer T cannot hold it (as `c10::checked_convert`).
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>) {
      return kind_ == Kind::kDouble ? d_ != 0.0 : i_ != 0;
    } else if constexpr (std::is_integral_v<T>) {
      if (kind_ == Kind::kDouble) {
        TAEDA_CHECK(d_ >= -9223372036854775808.0 && d_ < 9223372036854775808.0 && fits<T>(static_cast<int64_t>(d_)),
                    "[Scalar] the number must fit the requested type: got ", d_, "; use a wider type");
        return static_cast<T>(d_);
      }
      TAEDA_CHECK(fits<T>(i_), "[Scalar] the number must fit the requested type: got ", i_, "; use a wider type");
      return static_cast<T>(i_);
    } else {
      return static_cast<T>(to_double());
    }
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
  template <class T>
  static constexpr bool fits(int64_t v) {
    if constexpr (sizeof(T) == 8) return true;
    // As in C: a negative number may become unsigned only through its bit pattern, within the width.
    if constexpr (std::is_unsigned_v<T>) return v >= -static_cast<int64_t>(std::numeric_limits<T>::max()) - 1 &&
                                                v <= static_cast<int64_t>(std::numeric_limits<T>::max());
    return v >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
           v <= static_cast<int64_t>(std::numeric_limits<T>::max());
  }
  Kind kind_ = Kind::kInt;
  union {
    int64_t i_;
    double d_;
  };
};

TAEDA_API std::ostream& operator<<(std::ostream& stream, const Scalar& value);

}  // namespace taeda
