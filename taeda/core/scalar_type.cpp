// SPDX-License-Identifier: Apache-2.0
// Names, promotion table and the default dtype.
#include "taeda/core/scalar_type.h"

#include <atomic>
#include <ostream>

namespace taeda {

namespace {
constinit std::atomic<ScalarType> default_type{ScalarType::Float};
}

const char* to_string(ScalarType type) {
  switch (type) {
    case ScalarType::Byte: return "Byte";
    case ScalarType::Char: return "Char";
    case ScalarType::Short: return "Short";
    case ScalarType::Int: return "Int";
    case ScalarType::Long: return "Long";
    case ScalarType::Half: return "Half";
    case ScalarType::Float: return "Float";
    case ScalarType::Double: return "Double";
    case ScalarType::ComplexHalf: return "ComplexHalf";
    case ScalarType::ComplexFloat: return "ComplexFloat";
    case ScalarType::ComplexDouble: return "ComplexDouble";
    case ScalarType::Bool: return "Bool";
    case ScalarType::QInt8: return "QInt8";
    case ScalarType::QUInt8: return "QUInt8";
    case ScalarType::QInt32: return "QInt32";
    case ScalarType::BFloat16: return "BFloat16";
    case ScalarType::QUInt4x2: return "QUInt4x2";
    case ScalarType::QUInt2x4: return "QUInt2x4";
    case ScalarType::Bits1x8: return "Bits1x8";
    case ScalarType::Bits2x4: return "Bits2x4";
    case ScalarType::Bits4x2: return "Bits4x2";
    case ScalarType::Bits8: return "Bits8";
    case ScalarType::Bits16: return "Bits16";
    case ScalarType::Float8_e5m2: return "Float8_e5m2";
    case ScalarType::Float8_e4m3fn: return "Float8_e4m3fn";
    case ScalarType::Float8_e5m2fnuz: return "Float8_e5m2fnuz";
    case ScalarType::Float8_e4m3fnuz: return "Float8_e4m3fnuz";
    case ScalarType::UInt16: return "UInt16";
    case ScalarType::UInt32: return "UInt32";
    case ScalarType::UInt64: return "UInt64";
    case ScalarType::Undefined: return "Undefined";
  }
  return "UNKNOWN_SCALAR";
}

std::ostream& operator<<(std::ostream& stream, ScalarType type) { return stream << to_string(type); }

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  TAEDA_CHECK_TYPE(is_supported(a) && is_supported(b), "[promote_types] both dtypes must be supported: got ",
                   a, " and ", b, "; convert the operands first");
  if (is_floating_type(a) || is_floating_type(b)) {
    if (!is_floating_type(b)) return a;
    if (!is_floating_type(a)) return b;
    if (a == kDouble || b == kDouble) return kDouble;
    return kFloat;  // two different types among float32, float16, bfloat16
  }
  if (a == kBool) return b;
  if (b == kBool) return a;
  // Integers: the wider one; uint8 with a signed type needs at least int16.
  if (a == kByte || b == kByte) {
    const ScalarType other = a == kByte ? b : a;
    return other == kChar ? kShort : other;
  }
  return static_cast<int>(a) > static_cast<int>(b) ? a : b;
}

ScalarType default_scalar_type() { return default_type.load(std::memory_order_relaxed); }
void set_default_scalar_type(ScalarType type) {
  TAEDA_CHECK_TYPE(is_floating_type(type), "[set_default_dtype] the default dtype must be floating: got ", type,
                   "; choose float32, float64, float16 or bfloat16");
  default_type.store(type, std::memory_order_relaxed);
}
void set_default_dtype(ScalarType type) { set_default_scalar_type(type); }

namespace detail {
void throw_dtype(const char* op, ScalarType type, const char* supported) {
  throw_error(ErrorKind::kNotImplemented, TAEDA_HERE,
              str("[", op, "] supports ", supported, ": got ", type, "; convert with .to(dtype) first"));
}
}  // namespace detail
}  // namespace taeda
