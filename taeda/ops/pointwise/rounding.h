// Pointwise operators: rounding, signs, kinds of numbers, remainders. How these files are written: arithmetic.h.
// SPDX-License-Identifier: Apache-2.0

/// The least integer not below self.
struct Ceil : UnarySame {
  static constexpr bool bools = false;
  static constexpr auto schema = "ceil(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return ceil(self); }
  template <class V> static V grad_self() { return V(0.0); }
  static constexpr Onnx onnx{"Ceil", 13};
};
/// The greatest integer not above self.
struct Floor : UnarySame {
  static constexpr bool bools = false;
  static constexpr auto schema = "floor(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return floor(self); }
  template <class V> static V grad_self() { return V(0.0); }
  static constexpr Onnx onnx{"Floor", 13};
};
/// The nearest integer, ties to even.
struct Round : UnarySame {
  static constexpr bool bools = false;
  static constexpr auto aliases = "special_round";
  static constexpr auto schema = "round(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return round_even(self); }
  template <class V> static V grad_self() { return V(0.0); }
  static constexpr Onnx onnx{"Round", 11};
};
/// To `decimals` decimal places, or to tens, hundreds, ... where it is negative; ties to even.
struct RoundDecimals : UnarySame {
  static constexpr bool bools = false;
  static constexpr auto aliases = "special_round";
  static constexpr auto schema = "round.decimals(Tensor self, *, int decimals) -> Tensor";
  template <class V> static V apply(V self, V decimals) { return round_decimals(self, decimals); }
  template <class V> static V grad_self() { return V(0.0); }
};
/// Towards zero.
struct Trunc : UnarySame {
  static constexpr bool bools = false;
  static constexpr auto aliases = "fix";
  static constexpr auto schema = "trunc(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return trunc(self); }
  template <class V> static V grad_self() { return V(0.0); }
};
/// self - trunc(self); floating dtypes only.
struct Frac : UnarySame {
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr auto schema = "frac(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return self - trunc(self); }
  template <class V> static V grad_self() { return V(1.0); }
};
/// -1, 0 or 1; 0 for nan.
struct Sign : UnarySame {
  static constexpr auto schema = "sign(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return sign(self); }
  template <class V> static V grad_self() { return V(0.0); }
  static constexpr Onnx onnx{"Sign", 13};
};
/// The sign, of real numbers.
struct Sgn : UnarySame {
  static constexpr auto schema = "sgn(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return sign(self); }
  template <class V> static V grad_self() { return V(0.0); }
};
/// Whether the sign bit is set, that of -0 and nan included.
struct Signbit : UnaryBool {
  static constexpr auto schema = "signbit(Tensor self) -> Tensor";
  template <class V> static auto apply(V self) { return signbit(self); }
  static constexpr auto no_grad = "a truth value";
};
/// Whether self is nan.
struct Isnan : UnaryBool {
  static constexpr auto schema = "isnan(Tensor self) -> Tensor";
  template <class V> static auto apply(V self) { return isnan(self); }
  static constexpr auto no_grad = "a truth value";
  static constexpr Onnx onnx{"IsNaN", 13};
};
/// Whether self is an infinity.
struct Isinf : UnaryBool {
  static constexpr auto schema = "isinf(Tensor self) -> Tensor";
  template <class V> static auto apply(V self) { return isinf(self); }
  static constexpr auto no_grad = "a truth value";
  static constexpr Onnx onnx{"IsInf", 10};
};
/// Whether self is neither nan nor an infinity.
struct Isfinite : UnaryBool {
  static constexpr auto schema = "isfinite(Tensor self) -> Tensor";
  template <class V> static auto apply(V self) { return isfinite(self); }
  static constexpr auto no_grad = "a truth value";
};
/// Whether self is +infinity.
struct Isposinf : UnaryBool {
  static constexpr auto schema = "isposinf(Tensor self) -> Tensor";
  template <class V> static auto apply(V self) { return isinf(self) & (self > V(0)); }
  static constexpr auto no_grad = "a truth value";
};
/// Whether self is -infinity.
struct Isneginf : UnaryBool {
  static constexpr auto schema = "isneginf(Tensor self) -> Tensor";
  template <class V> static auto apply(V self) { return isinf(self) & (self < V(0)); }
  static constexpr auto no_grad = "a truth value";
};
/// self with nan and the infinities replaced by the given numbers.
struct NanToNum : UnarySame {
  static constexpr auto variants = "function";
  static constexpr auto schema = "_nan_to_num(Tensor self, float nan, float posinf, float neginf) -> Tensor";
  template <class V> static V apply(V self, V nan, V posinf, V neginf) {
    return select(isnan(self), nan, select(isinf(self), select(self > V(0), posinf, neginf), self));
  }
  template <class V> static V grad_self(V self) { return select(self - self == V(0.0), V(1.0), V(0.0)); }
};

/// |self| with the sign of other; integers give the default floating dtype.
struct Copysign : BinaryFloat {
  static constexpr auto scalar_overloads = "other";
  static constexpr auto schema = "copysign(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return copysign(self, other); }
  template <class V> static V grad_self(V self, V result) { return select(self == V(0.0), V(0.0), result / self); }
  template <class V> static V grad_other() { return V(0.0); }
};
/// 0 below 0, values at 0, 1 above; 0 for nan.
struct Heaviside : BinaryArith {
  static constexpr auto scalar_overloads = "";
  static constexpr auto schema = "heaviside(Tensor self, Tensor values) -> Tensor";
  template <class V> static V apply(V self, V values) { return select(self == V(0), values, select(self > V(0), V(1), V(0))); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};
/// The next representable number after self in the direction of other; float32 and float64 only.
struct Nextafter : BinaryArith {
  static constexpr bool halves = false;
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr bool iterative = true;
  static constexpr auto scalar_overloads = "";
  static constexpr auto schema = "nextafter(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return nextafter(self, other); }
  template <class V> static V grad_self(V self, V other) { return select(self == other, V(0.0), V(1.0)); }
  template <class V> static V grad_other() { return V(0.0); }
};

/// floor(self / other), the exact quotient's; integers stay integers.
struct FloorDivide : BinaryArith {
  static constexpr bool bools = false;
  static constexpr bool int_divisor = true;
  static constexpr auto schema = "floor_divide(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return floor_divide(self, other); }
  template <class V> static V grad_self() { return V(0.0); }
  template <class V> static V grad_other() { return V(0.0); }
};
/// trunc(self / other); integers stay integers.
struct TruncDivide : BinaryArith {
  static constexpr bool bools = false;
  static constexpr bool int_divisor = true;
  static constexpr auto schema = "_trunc_divide(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return trunc(self / other); }
  template <class V> static V grad_self() { return V(0.0); }
  template <class V> static V grad_other() { return V(0.0); }
};
/// self - other * floor(self / other): the remainder with the sign of other.
struct Remainder : BinaryArith {
  static constexpr bool bools = false;
  static constexpr bool int_divisor = true;
  static constexpr auto scalar_overloads = "self other";
  static constexpr auto schema = "remainder(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return remainder(self, other); }
  template <class V> static V grad_self() { return V(1.0); }
  template <class V> static V grad_other(V self, V other) { return -floor(self / other); }
};
/// self - other * trunc(self / other): the remainder with the sign of self.
struct Fmod : BinaryArith {
  static constexpr bool bools = false;
  static constexpr bool int_divisor = true;
  static constexpr auto schema = "fmod(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return fmod(self, other); }
  template <class V> static V grad_self() { return V(1.0); }
  template <class V> static V grad_other(V self, V other) { return -trunc(self / other); }
  static constexpr Onnx onnx{"Mod", 13};
};
