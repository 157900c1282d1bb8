// SPDX-License-Identifier: Apache-2.0
// Element types: numbers (PyTorch's), sizes, names, type promotion, and dispatch from a runtime dtype to a C++ type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>

#include "taeda/core/error.h"
#include "taeda/core/half.h"

namespace taeda {

/// The element types, numbered as PyTorch numbers them. Numbers without support here are reserved.
enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  QInt8 = 12,
  QUInt8 = 13,
  QInt32 = 14,
  BFloat16 = 15,
  QUInt4x2 = 16,
  QUInt2x4 = 17,
  Bits1x8 = 18,
  Bits2x4 = 19,
  Bits4x2 = 20,
  Bits8 = 21,
  Bits16 = 22,
  Float8_e5m2 = 23,
  Float8_e4m3fn = 24,
  Float8_e5m2fnuz = 25,
  Float8_e4m3fnuz = 26,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
  Undefined = 46,
};
using Dtype = ScalarType;

inline constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte;
inline constexpr ScalarType kChar = ScalarType::Char, kInt8 = ScalarType::Char;
inline constexpr ScalarType kShort = ScalarType::Short, kInt16 = ScalarType::Short;
inline constexpr ScalarType kInt = ScalarType::Int, kInt32 = ScalarType::Int;
inline constexpr ScalarType kLong = ScalarType::Long, kInt64 = ScalarType::Long;
inline constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = ScalarType::Half, kF16 = ScalarType::Half;
inline constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = ScalarType::Float, kF32 = ScalarType::Float;
inline constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = ScalarType::Double, kF64 = ScalarType::Double;
inline constexpr ScalarType kBool = ScalarType::Bool;
inline constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
inline constexpr ScalarType kComplexHalf = ScalarType::ComplexHalf;
inline constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat;
inline constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble;
inline constexpr ScalarType kUInt16 = ScalarType::UInt16, kUInt32 = ScalarType::UInt32,
                            kUInt64 = ScalarType::UInt64;

namespace detail {
/// Element size in bytes by dtype number; 0 marks a dtype that tensors cannot have yet.
inline constexpr uint8_t kItemSize[64] = {1, 1, 2, 4, 8, 2, 4, 8, 0, 0, 0, 1, 0, 0, 0, 2};
}  // namespace detail

/// Size of an element in bytes; 0 for a dtype that is reserved but not supported.
constexpr size_t item_size(ScalarType type) { return detail::kItemSize[static_cast<int>(type) & 63]; }
inline constexpr size_t elementSize(ScalarType type) { return item_size(type); }

constexpr bool is_supported(ScalarType type) { return item_size(type) != 0; }
constexpr bool is_floating_type(ScalarType t) {
  return t == kFloat || t == kDouble || t == kHalf || t == kBFloat16;
}
constexpr bool is_complex_type(ScalarType t) {
  return t == ScalarType::ComplexHalf || t == ScalarType::ComplexFloat || t == ScalarType::ComplexDouble;
}
/// Integers; `include_bool` counts bool among them.
constexpr bool is_integral_type(ScalarType t, bool include_bool) {
  return (static_cast<int>(t) >= 0 && static_cast<int>(t) <= 4) || (include_bool && t == kBool);
}
constexpr bool isFloatingType(ScalarType t) { return is_floating_type(t); }
constexpr bool isIntegralType(ScalarType t, bool include_bool) { return is_integral_type(t, include_bool); }
constexpr bool isComplexType(ScalarType t) { return is_complex_type(t); }

/// The name as printed by the compatible interface, for example "Float".
TAEDA_API const char* to_string(ScalarType type);
inline const char* toString(ScalarType type) { return to_string(type); }
TAEDA_API std::ostream& operator<<(std::ostream& stream, ScalarType type);

/// Result dtype of two tensor operands of the same category rank (PyTorch's promotion lattice).
TAEDA_API ScalarType promote_types(ScalarType a, ScalarType b);
inline ScalarType promoteTypes(ScalarType a, ScalarType b) { return promote_types(a, b); }
/// Whether a value of `from` may be stored into `to` by an in-place or `out=` operator:
/// never a floating result into an integer tensor, nor a non-bool into bool.
constexpr bool can_cast(ScalarType from, ScalarType to) {
  if (is_floating_type(from) && !is_floating_type(to) && !is_complex_type(to)) return false;
  if (from != kBool && to == kBool) return false;
  return true;
}
inline bool canCast(ScalarType from, ScalarType to) { return can_cast(from, to); }

/// The dtype of floating results made from nothing or from integers. Process-wide; float32 at start.
TAEDA_API ScalarType default_scalar_type();
/// Throws TypeError unless `type` is floating.
TAEDA_API void set_default_scalar_type(ScalarType type);
TAEDA_API void set_default_dtype(ScalarType type);

template <class T>
struct ScalarTypeOf;
#define TAEDA_FOR_EACH_DTYPE(_)                                                          \
  _(uint8_t, Byte) _(int8_t, Char) _(int16_t, Short) _(int32_t, Int) _(int64_t, Long)    \
  _(::taeda::Half, Half) _(float, Float) _(double, Double) _(bool, Bool) _(::taeda::BFloat16, BFloat16)
#define TAEDA_SCALAR_TYPE_OF(T, Name) \
  template <>                         \
  struct ScalarTypeOf<T> {            \
    static constexpr ScalarType value = ScalarType::Name; \
  };
TAEDA_FOR_EACH_DTYPE(TAEDA_SCALAR_TYPE_OF)
#undef TAEDA_SCALAR_TYPE_OF
template <>
struct ScalarTypeOf<long long> {
  static constexpr ScalarType value = ScalarType::Long;
};
template <class T>
inline constexpr ScalarType scalar_type_of = ScalarTypeOf<T>::value;

namespace detail {
[[noreturn]] TAEDA_API void throw_dtype(const char* op, ScalarType type, const char* supported);
}

#define TAEDA_DTYPE_CASE(T, Name) \
  case ScalarType::Name: return f.template operator()<T>();

/// Calls `f.operator()<T>()` with the C++ type of `type`. Every supported dtype.
template <class F>
decltype(auto) dispatch_all(ScalarType type, const char* op, F&& f) {
  switch (type) {
    TAEDA_FOR_EACH_DTYPE(TAEDA_DTYPE_CASE)
    default: detail::throw_dtype(op, type, "any real dtype");
  }
}
/// As `dispatch_all`, for float32, float64, float16 and bfloat16.
template <class F>
decltype(auto) dispatch_floating(ScalarType type, const char* op, F&& f) {
  switch (type) {
    TAEDA_DTYPE_CASE(float, Float)
    TAEDA_DTYPE_CASE(double, Double)
    TAEDA_DTYPE_CASE(::taeda::Half, Half)
    TAEDA_DTYPE_CASE(::taeda::BFloat16, BFloat16)
    default: detail::throw_dtype(op, type, "floating dtypes");
  }
}
/// As `dispatch_all`, for float32 and float64 only.
template <class F>
decltype(auto) dispatch_float_double(ScalarType type, const char* op, F&& f) {
  switch (type) {
    TAEDA_DTYPE_CASE(float, Float)
    TAEDA_DTYPE_CASE(double, Double)
    default: detail::throw_dtype(op, type, "float32 and float64");
  }
}
/// As `dispatch_all`, for integers without bool.
template <class F>
decltype(auto) dispatch_integral(ScalarType type, const char* op, F&& f) {
  switch (type) {
    TAEDA_DTYPE_CASE(uint8_t, Byte)
    TAEDA_DTYPE_CASE(int8_t, Char)
    TAEDA_DTYPE_CASE(int16_t, Short)
    TAEDA_DTYPE_CASE(int32_t, Int)
    TAEDA_DTYPE_CASE(int64_t, Long)
    default: detail::throw_dtype(op, type, "integer dtypes");
  }
}
/// By element size only (1, 2, 4, 8 bytes as unsigned integers): for operators that move elements unchanged.
template <class F>
decltype(auto) dispatch_bytes(ScalarType type, const char* op, F&& f) {
  switch (item_size(type)) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    case 8: return f.template operator()<uint64_t>();
    default: detail::throw_dtype(op, type, "any real dtype");
  }
}

/// The type in which sums and formulas over T are evaluated: float for 16-bit floats, else T.
template <class T>
using OpMath = std::conditional_t<is_reduced_float<T>, float, T>;

}  // namespace taeda
