// SPDX-License-Identifier: Apache-2.0
// The value type that builds expressions: a pointwise formula instantiated over it describes itself. It has the vocabulary
// of taeda/cpu/simd.h. For the generated tables of formulas.
#pragma once

#include <bit>
#include <limits>
#include <type_traits>

#include "taeda/compile/kernel/expression.h"
#include "taeda/ops/formula/scalar.h"
#include "taeda/ops/pointwise_families.h"

namespace taeda::kernel::trace {

struct Truth {
  int32_t id = -1;
};
template <class T>
constexpr ExprType kTypeOf = std::is_same_v<T, float>     ? ExprType::kF32
                             : std::is_same_v<T, double>  ? ExprType::kF64
                             : std::is_same_v<T, int32_t> ? ExprType::kI32
                                                          : ExprType::kI64;

inline int32_t add(ExprOp op, ExprType type, int32_t a, int32_t b = -1, int32_t c = -1, int64_t bits = 0) {
  return ExprBuilder::current()->add({.op = op, .type = type, .a = a, .b = b, .c = c, .bits = bits});
}

template <class T>
struct Value {
  using Scalar = T;
  using Mask = Truth;
  int32_t id = -1;
  Value() = default;
  template <class C>
    requires std::is_arithmetic_v<C>
  Value(C constant) : id(ExprBuilder::current()->constant(kTypeOf<T>, bits_of(static_cast<T>(constant)))) {}
  static Value of(int32_t id) {
    Value v;
    v.id = id;
    return v;
  }
  static int64_t bits_of(T c) {
    if constexpr (sizeof(T) == 4) return std::bit_cast<int32_t>(c);
    else return std::bit_cast<int64_t>(c);
  }

#define TAEDA_BINARY(symbol, op) \
  friend Value operator symbol(Value a, Value b) { return of(add(ExprOp::op, kTypeOf<T>, a.id, b.id)); }
  TAEDA_BINARY(+, kAdd)
  TAEDA_BINARY(-, kSub)
  TAEDA_BINARY(*, kMul)
  TAEDA_BINARY(/, kDiv)
  TAEDA_BINARY(&, kAnd)
  TAEDA_BINARY(|, kOr)
  TAEDA_BINARY(^, kXor)
#undef TAEDA_BINARY
#define TAEDA_COMPARE(symbol, op) \
  friend Truth operator symbol(Value a, Value b) { return {add(ExprOp::op, ExprType::kMask, a.id, b.id)}; }
  TAEDA_COMPARE(<, kLt)
  TAEDA_COMPARE(<=, kLe)
  TAEDA_COMPARE(>, kGt)
  TAEDA_COMPARE(>=, kGe)
  TAEDA_COMPARE(==, kEq)
  TAEDA_COMPARE(!=, kNe)
#undef TAEDA_COMPARE
  friend Value operator-(Value a) { return of(add(ExprOp::kNeg, kTypeOf<T>, a.id)); }
  friend Value operator~(Value a) { return of(add(ExprOp::kNot, kTypeOf<T>, a.id)); }
};
template <class V>
using MaskOf = typename V::Mask;
template <class V>
using IntOf = Value<std::conditional_t<sizeof(typename V::Scalar) == 4, int32_t, int64_t>>;
template <class V>
constexpr bool kIsFloating = std::is_floating_point_v<typename V::Scalar>;
template <class V>
constexpr bool kIsFloat = std::is_same_v<typename V::Scalar, float>;

inline Truth operator&(Truth a, Truth b) { return {add(ExprOp::kAnd, ExprType::kMask, a.id, b.id)}; }
inline Truth operator|(Truth a, Truth b) { return {add(ExprOp::kOr, ExprType::kMask, a.id, b.id)}; }
inline Truth operator^(Truth a, Truth b) { return {add(ExprOp::kXor, ExprType::kMask, a.id, b.id)}; }
inline Truth operator!(Truth a) { return {add(ExprOp::kNot, ExprType::kMask, a.id)}; }

template <class T>
Value<T> select(Truth m, Value<T> a, std::type_identity_t<Value<T>> b) {
  const bool branch = ExprBuilder::current()->branches_on(m.id);
  return Value<T>::of(add(branch ? ExprOp::kBranch : ExprOp::kSelect, kTypeOf<T>, m.id, a.id, b.id));
}
template <class T>
Value<T> fma(Value<T> a, std::type_identity_t<Value<T>> b, std::type_identity_t<Value<T>> c) {
  return Value<T>::of(add(ExprOp::kFma, kTypeOf<T>, a.id, b.id, c.id));
}
template <class T>
Value<T> min(Value<T> a, std::type_identity_t<Value<T>> b) {
  return Value<T>::of(add(ExprOp::kMin, kTypeOf<T>, a.id, b.id));
}
template <class T>
Value<T> max(Value<T> a, std::type_identity_t<Value<T>> b) {
  return Value<T>::of(add(ExprOp::kMax, kTypeOf<T>, a.id, b.id));
}
template <class T>
Truth isnan(Value<T> a) {
  if constexpr (std::is_floating_point_v<T>) return a != a;
  else return a < a;
}
template <class T>
Value<T> minimum(Value<T> a, std::type_identity_t<Value<T>> b) {
  if constexpr (std::is_floating_point_v<T>) return select(isnan(a), a, min(a, b));
  else return min(a, b);
}
template <class T>
Value<T> maximum(Value<T> a, std::type_identity_t<Value<T>> b) {
  if constexpr (std::is_floating_point_v<T>) return select(isnan(a), a, max(a, b));
  else return max(a, b);
}
template <class T>
Value<T> fmin(Value<T> a, std::type_identity_t<Value<T>> b) {
  if constexpr (std::is_floating_point_v<T>) return select(isnan(b), a, min(a, b));
  else return min(a, b);
}
template <class T>
Value<T> fmax(Value<T> a, std::type_identity_t<Value<T>> b) {
  if constexpr (std::is_floating_point_v<T>) return select(isnan(b), a, max(a, b));
  else return max(a, b);
}
template <class T>
Value<T> floating(ExprOp op, Value<T> a) {
  if constexpr (std::is_floating_point_v<T>) return Value<T>::of(add(op, kTypeOf<T>, a.id));
  else return a;
}
template <class T>
Value<T> abs(Value<T> a) {
  if constexpr (std::is_floating_point_v<T>) return floating(ExprOp::kAbs, a);
  else return select(a < Value<T>(0), -a, a);
}
template <class T>
Value<T> sqrt(Value<T> a) { return floating(ExprOp::kSqrt, a); }
template <class T>
Value<T> floor(Value<T> a) { return floating(ExprOp::kFloor, a); }
template <class T>
Value<T> ceil(Value<T> a) { return floating(ExprOp::kCeil, a); }
template <class T>
Value<T> trunc(Value<T> a) { return floating(ExprOp::kTrunc, a); }
template <class T>
Value<T> round_even(Value<T> a) { return floating(ExprOp::kRound, a); }
template <class T>
Value<T> copysign(Value<T> magnitude, std::type_identity_t<Value<T>> sign) {
  return Value<T>::of(add(ExprOp::kCopysign, kTypeOf<T>, magnitude.id, sign.id));
}
template <class T>
Truth isinf(Value<T> a) {
  if constexpr (std::is_floating_point_v<T>) return abs(a) == Value<T>(std::numeric_limits<T>::infinity());
  else return a < a;
}
template <class T>
Truth isfinite(Value<T> a) {
  if constexpr (std::is_floating_point_v<T>) return abs(a) < Value<T>(std::numeric_limits<T>::infinity());
  else return a == a;
}

template <class T>
IntOf<Value<T>> to_bits(Value<T> a) {
  return IntOf<Value<T>>::of(add(ExprOp::kToBits, kTypeOf<typename IntOf<Value<T>>::Scalar>, a.id));
}
template <class V>
V from_bits(IntOf<V> a) {
  return V::of(add(ExprOp::kFromBits, kTypeOf<typename V::Scalar>, a.id));
}
template <class T>
Truth signbit(Value<T> a) {
  if constexpr (std::is_floating_point_v<T>) return to_bits(a) < IntOf<Value<T>>(0);
  else return a < Value<T>(0);
}
template <int kBits, class T>
Value<T> shift_left(Value<T> a) { return Value<T>::of(add(ExprOp::kShiftLeft, kTypeOf<T>, a.id, -1, -1, kBits)); }
template <int kBits, class T>
Value<T> shift_right(Value<T> a) { return Value<T>::of(add(ExprOp::kShiftRight, kTypeOf<T>, a.id, -1, -1, kBits)); }
template <int kBits, class T>
Value<T> shift_right_logical(Value<T> a) { return Value<T>::of(add(ExprOp::kShiftRightLogical, kTypeOf<T>, a.id, -1, -1, kBits)); }
template <class V>
MaskOf<V> float_mask(Truth m) { return m; }
/// A formula that asks computes something only where a lane needs it: the select by this mask that follows becomes a branch.
inline bool any(Truth m) {
  ExprBuilder::current()->branch_on(m.id);
  return true;
}

template <class T>
struct FloatFormat;
template <>
struct FloatFormat<float> {
  static constexpr int kMantissa = 23, kBias = 127;
  static constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23
};
template <>
struct FloatFormat<double> {
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52
};
template <class T>
Value<T> exp2_of_int(Value<T> n) {
  using Format = FloatFormat<T>;
  return from_bits<Value<T>>(shift_left<Format::kMantissa>(to_bits(n + Value<T>(Format::kMagic + Format::kBias))));
}
template <class V>
V int_value(IntOf<V> i) {
  const V magic(FloatFormat<typename V::Scalar>::kMagic);
  return from_bits<V>(i + to_bits(magic)) - magic;
}
template <class V>
V masked_product(V gradient, V derivative) {
  return select(gradient == V(0), V(0), gradient * derivative);
}

inline Value<double> widen(Value<float> x) { return Value<double>::of(add(ExprOp::kWiden, ExprType::kF64, x.id)); }
inline Value<float> narrow(Value<double> x) { return Value<float>::of(add(ExprOp::kNarrow, ExprType::kF32, x.id)); }
template <class F, class... Rest>
Value<float> via_double(Value<float> first, Rest... rest) {
  return narrow(F::call(widen(first), widen(rest)...));
}

template <auto kFunction>
int64_t lane_function() {
  return ExprBuilder::current()->function(reinterpret_cast<LaneFunction>(kFunction));
}
template <auto kFunction, class T>
Value<T> map_lanes(Value<T> x) {
  if constexpr (std::is_same_v<T, float>) return narrow(map_lanes<kFunction>(widen(x)));
  else return Value<T>::of(add(ExprOp::kLanes1, kTypeOf<T>, x.id, -1, -1, lane_function<kFunction>()));
}
template <auto kFunction, class T>
Value<T> map_lanes(Value<T> x, std::type_identity_t<Value<T>> y) {
  if constexpr (std::is_same_v<T, float>) return narrow(map_lanes<kFunction>(widen(x), widen(y)));
  else return Value<T>::of(add(ExprOp::kLanes2, kTypeOf<T>, x.id, y.id, -1, lane_function<kFunction>()));
}
template <auto kFunction>
Value<double> map_lanes_where(Truth m, Value<double> x, Value<double> otherwise) {
  return Value<double>::of(add(ExprOp::kLanesWhere, ExprType::kF64, m.id, x.id, otherwise.id, lane_function<kFunction>()));
}

template <class V>
Truth as_mask(V x) { return {x.id}; }

#define TAEDA_FORMULA inline
#define TAEDA_FORMULA_MEMBER inline
#include "taeda/ops/formula/wide.h"
#include "taeda/ops/formula/elementary.h"
#include "taeda/ops/formula/numeric.h"
#undef TAEDA_FORMULA
#undef TAEDA_FORMULA_MEMBER

template <class T, class F>
int32_t trace(const int32_t* inputs, const int32_t* attributes) {
  Value<T> x[F::inputs + 1], a[F::attrs + 1];
  for (int k = 0; k < F::inputs; ++k) x[k].id = inputs[k];
  for (int k = 0; k < F::attrs; ++k) a[k].id = attributes[k];
  return F::template call<Value<T>>(x, a).id;
}
template <class Op, class F>
constexpr FormulaRow make_formula() {
  FormulaRow row{};
  if constexpr (Op::floats) {
    row.f32 = &trace<float, F>;
    row.f64 = &trace<double, F>;
  }
  if constexpr ((Op::ints || Op::bools) && Op::rule != ResultRule::kFloat) row.i64 = &trace<int64_t, F>;
  return row;
}
template <class F>
constexpr FormulaRow make_gradient_formula() {
  return {&trace<float, F>, &trace<double, F>, nullptr};
}

}  // namespace taeda::kernel::trace
