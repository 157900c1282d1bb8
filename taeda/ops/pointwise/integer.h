// Pointwise operators: bits, truth values, integers. How these files are written: arithmetic.h.
// SPDX-License-Identifier: Apache-2.0

/// Whether both are nonzero.
struct LogicalAnd : Compare {
  static constexpr auto scalar_overloads = "";
  static constexpr auto schema = "logical_and(Tensor self, Tensor other) -> Tensor";
  template <class V> static auto apply(V self, V other) { return (self != V(0)) & (other != V(0)); }
  static constexpr auto no_grad = "a truth value";
  static constexpr Onnx onnx{"And", 7};
};
/// Whether at least one is nonzero.
struct LogicalOr : Compare {
  static constexpr auto scalar_overloads = "";
  static constexpr auto schema = "logical_or(Tensor self, Tensor other) -> Tensor";
  template <class V> static auto apply(V self, V other) { return (self != V(0)) | (other != V(0)); }
  static constexpr auto no_grad = "a truth value";
  static constexpr Onnx onnx{"Or", 7};
};
/// Whether exactly one is nonzero.
struct LogicalXor : Compare {
  static constexpr auto scalar_overloads = "";
  static constexpr auto schema = "logical_xor(Tensor self, Tensor other) -> Tensor";
  template <class V> static auto apply(V self, V other) { return (self != V(0)) ^ (other != V(0)); }
  static constexpr auto no_grad = "a truth value";
  static constexpr Onnx onnx{"Xor", 7};
};
/// Whether self is zero.
struct LogicalNot : UnaryBool {
  static constexpr auto schema = "logical_not(Tensor self) -> Tensor";
  template <class V> static auto apply(V self) { return self == V(0); }
  static constexpr auto no_grad = "a truth value";
  static constexpr Onnx onnx{"Not", 1};
};

/// Bitwise and; of bool the logical one.
struct BitwiseAnd : Bitwise {
  static constexpr auto scalar_overloads = "self other";
  static constexpr auto schema = "bitwise_and(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return self & other; }
  static constexpr auto no_grad = "integers";
};
/// Bitwise or; of bool the logical one.
struct BitwiseOr : Bitwise {
  static constexpr auto scalar_overloads = "self other";
  static constexpr auto schema = "bitwise_or(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return self | other; }
  static constexpr auto no_grad = "integers";
};
/// Bitwise exclusive or; of bool the logical one.
struct BitwiseXor : Bitwise {
  static constexpr auto scalar_overloads = "self other";
  static constexpr auto schema = "bitwise_xor(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return self ^ other; }
  static constexpr auto no_grad = "integers";
};
/// Bitwise complement, of integers (that of bool is logical_not).
struct BitwiseNot : Bitwise {
  static constexpr bool bools = false;
  static constexpr auto scalar_overloads = "";
  static constexpr auto variants = "function";
  static constexpr auto schema = "_bitwise_not(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return ~self; }
  static constexpr auto no_grad = "integers";
};
/// self shifted left by other bits; 0 for counts outside 0..63.
struct BitwiseLeftShift : Bitwise {
  static constexpr bool bools = false;
  static constexpr auto scalar_overloads = "self other";
  static constexpr auto schema = "bitwise_left_shift(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return shift_left_by(self, other); }
  static constexpr auto no_grad = "integers";
};
/// self shifted right by other bits, keeping the sign; counts outside 0..63 act as 63.
struct BitwiseRightShift : Bitwise {
  static constexpr bool bools = false;
  static constexpr auto scalar_overloads = "self other";
  static constexpr auto schema = "bitwise_right_shift(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return shift_right_by(self, other); }
  static constexpr auto no_grad = "integers";
};
/// The greatest common divisor, of integers.
struct Gcd : Bitwise {
  static constexpr bool bools = false;
  static constexpr auto scalar_overloads = "";
  static constexpr auto schema = "gcd(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return gcd(self, other); }
  static constexpr auto no_grad = "integers";
};
/// The least common multiple, of integers.
struct Lcm : Bitwise {
  static constexpr bool bools = false;
  static constexpr auto scalar_overloads = "";
  static constexpr auto schema = "lcm(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return lcm(self, other); }
  static constexpr auto no_grad = "integers";
};
