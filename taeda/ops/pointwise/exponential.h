// Pointwise operators: exponentials, logarithms and their kin. How these files are written: arithmetic.h.
// SPDX-License-Identifier: Apache-2.0

/// e^self.
struct Exp : UnaryFloat {
  static constexpr auto schema = "exp(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return exp(self); }
  template <class V> static V grad_self(V result) { return result; }
  static constexpr Onnx onnx{"Exp", 13};
};

/// 2^self.
struct Exp2 : UnaryFloat {
  static constexpr auto aliases = "special_exp2";
  static constexpr auto schema = "exp2(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return exp2(self); }
  template <class V> static V grad_self(V result) { return result * V(0.69314718055994531); }
};

/// e^self - 1, accurate near 0.
struct Expm1 : UnaryFloat {
  static constexpr auto aliases = "special_expm1";
  static constexpr auto schema = "expm1(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return expm1(self); }
  template <class V> static V grad_self(V result) { return result + V(1.0); }
};

/// The natural logarithm.
struct Log : UnaryFloat {
  static constexpr auto schema = "log(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return log(self); }
  template <class V> static V grad_self(V self) { return V(1.0) / self; }
  static constexpr Onnx onnx{"Log", 13};
};

/// The logarithm to base 2.
struct Log2 : UnaryFloat {
  static constexpr auto schema = "log2(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return log2(self); }
  template <class V> static V grad_self(V self) { return V(1.4426950408889634) / self; }
};

/// The logarithm to base 10.
struct Log10 : UnaryFloat {
  static constexpr auto schema = "log10(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return log10(self); }
  template <class V> static V grad_self(V self) { return V(0.43429448190325183) / self; }
};

/// log(1 + self), accurate near 0.
struct Log1p : UnaryFloat {
  static constexpr auto aliases = "special_log1p";
  static constexpr auto schema = "log1p(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return log1p(self); }
  template <class V> static V grad_self(V self) { return V(1.0) / (self + V(1.0)); }
};

/// The hyperbolic tangent.
struct Tanh : UnaryFloat {
  static constexpr auto schema = "tanh(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return tanh(self); }
  template <class V> static V grad_self(V result) { return V(1.0) - result * result; }
  static constexpr Onnx onnx{"Tanh", 13};
};

/// The logistic function 1 / (1 + e^-self).
struct Sigmoid : UnaryFloat {
  static constexpr auto aliases = "special_expit";
  static constexpr auto schema = "sigmoid(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return sigmoid(self); }
  template <class V> static V grad_self(V result) { return result * (V(1.0) - result); }
  static constexpr Onnx onnx{"Sigmoid", 13};
};

/// The error function.
struct Erf : UnaryFloat {
  static constexpr auto aliases = "special_erf";
  static constexpr auto schema = "erf(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return erf(self); }
  template <class V> static V grad_self(V self) { return V(1.1283791670955126) * exp(-self * self); }
  static constexpr Onnx onnx{"Erf", 13};
};

/// 1 - erf(self), accurate in the tail.
struct Erfc : UnaryFloat {
  static constexpr auto aliases = "special_erfc";
  static constexpr auto schema = "erfc(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return erfc(self); }
  template <class V> static V grad_self(V self) { return V(-1.1283791670955126) * exp(-self * self); }
};

/// The inverse of erf on [-1, 1].
struct Erfinv : UnaryFloat {
  static constexpr auto aliases = "special_erfinv";
  static constexpr auto schema = "erfinv(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return erfinv(self); }
  template <class V> static V grad_self(V result) { return V(0.88622692545275801) * exp(result * result); }
};
