// SPDX-License-Identifier: Apache-2.0
// 16-bit floating point storage types. Arithmetic happens in float32; a result is rounded to nearest even.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace taeda {

namespace detail {
/// Round-to-nearest-even conversion of a float to IEEE 754 binary16 bits.
constexpr uint16_t float_to_half_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal or zero: align the significand at 2^-24
    if (magnitude < 0x33000000u) return static_cast<uint16_t>(sign);
    const uint32_t exponent = magnitude >> 23;
    const uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    const uint32_t shift = 126u - exponent;
    const uint32_t kept = significand >> shift;
    const uint32_t rest = significand & ((1u << shift) - 1u);
    const uint32_t tie = 1u << (shift - 1u);
    const uint32_t up = (rest > tie || (rest == tie && (kept & 1u))) ? 1u : 0u;
    return static_cast<uint16_t>(sign | (kept + up));
  }
  const uint32_t rebased = magnitude - 0x38000000u;
  const uint32_t rounded = rebased + 0xfffu + ((rebased >> 13) & 1u);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

constexpr float half_bits_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t significand = half & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (significand << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(significand) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (significand << 13));
}

constexpr uint16_t float_to_bfloat16_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
}  // namespace detail

/// IEEE 754 binary16.
struct Half {
  uint16_t x = 0;
  struct FromBits {};
  static constexpr FromBits from_bits() { return {}; }
  constexpr Half() = default;
  constexpr Half(uint16_t bits, FromBits) : x(bits) {}
  constexpr Half(float value) : x(detail::float_to_half_bits(value)) {}
  constexpr operator float() const { return detail::half_bits_to_float(x); }
};

/// The upper half of an IEEE 754 binary32.
struct BFloat16 {
  uint16_t x = 0;
  struct FromBits {};
  static constexpr FromBits from_bits() { return {}; }
  constexpr BFloat16() = default;
  constexpr BFloat16(uint16_t bits, FromBits) : x(bits) {}
  constexpr BFloat16(float value) : x(detail::float_to_bfloat16_bits(value)) {}
  constexpr operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(x) << 16); }
};

template <class T>
inline constexpr bool is_reduced_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool is_floating = std::is_floating_point_v<T> || is_reduced_float<T>;

}  // namespace taeda

template <>
class std::numeric_limits<taeda::Half> {
 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr int digits = 11;
  static constexpr taeda::Half min() { return {0x0400, taeda::Half::from_bits()}; }
  static constexpr taeda::Half lowest() { return {0xfbff, taeda::Half::from_bits()}; }
  static constexpr taeda::Half max() { return {0x7bff, taeda::Half::from_bits()}; }
  static constexpr taeda::Half epsilon() { return {0x1400, taeda::Half::from_bits()}; }
  static constexpr taeda::Half infinity() { return {0x7c00, taeda::Half::from_bits()}; }
  static constexpr taeda::Half quiet_NaN() { return {0x7e00, taeda::Half::from_bits()}; }
};

template <>
class std::numeric_limits<taeda::BFloat16> {
 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr int digits = 8;
  static constexpr taeda::BFloat16 min() { return {0x0080, taeda::BFloat16::from_bits()}; }
  static constexpr taeda::BFloat16 lowest() { return {0xff7f, taeda::BFloat16::from_bits()}; }
  static constexpr taeda::BFloat16 max() { return {0x7f7f, taeda::BFloat16::from_bits()}; }
  static constexpr taeda::BFloat16 epsilon() { return {0x3c00, taeda::BFloat16::from_bits()}; }
  static constexpr taeda::BFloat16 infinity() { return {0x7f80, taeda::BFloat16::from_bits()}; }
  static constexpr taeda::BFloat16 quiet_NaN() { return {0x7fc0, taeda::BFloat16::from_bits()}; }
};
