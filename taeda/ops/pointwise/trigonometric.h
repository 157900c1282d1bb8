// Pointwise operators: trigonometric and hyperbolic functions. How these files are written: arithmetic.h.
// SPDX-License-Identifier: Apache-2.0

/// The sine, of radians.
struct Sin : UnaryFloat {
  static constexpr auto schema = "sin(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return sin(self); }
  template <class V> static V grad_self(V self) { return cos(self); }
  static constexpr Onnx onnx{"Sin", 7};
};
/// The cosine, of radians.
struct Cos : UnaryFloat {
  static constexpr auto schema = "cos(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return cos(self); }
  template <class V> static V grad_self(V self) { return -sin(self); }
  static constexpr Onnx onnx{"Cos", 7};
};
/// The tangent, of radians.
struct Tan : UnaryFloat {
  static constexpr auto schema = "tan(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return tan(self); }
  template <class V> static V grad_self(V result) { return V(1.0) + result * result; }
  static constexpr Onnx onnx{"Tan", 7};
};
/// The inverse sine, in [-pi/2, pi/2].
struct Asin : UnaryFloat {
  static constexpr auto aliases = "arcsin";
  static constexpr auto schema = "asin(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return asin(self); }
  template <class V> static V grad_self(V self) { return V(1.0) / sqrt(V(1.0) - self * self); }
  static constexpr Onnx onnx{"Asin", 7};
};
/// The inverse cosine, in [0, pi].
struct Acos : UnaryFloat {
  static constexpr auto aliases = "arccos";
  static constexpr auto schema = "acos(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return acos(self); }
  template <class V> static V grad_self(V self) { return V(-1.0) / sqrt(V(1.0) - self * self); }
  static constexpr Onnx onnx{"Acos", 7};
};
/// The inverse tangent, in [-pi/2, pi/2].
struct Atan : UnaryFloat {
  static constexpr auto aliases = "arctan";
  static constexpr auto schema = "atan(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return atan(self); }
  template <class V> static V grad_self(V self) { return V(1.0) / (self * self + V(1.0)); }
  static constexpr Onnx onnx{"Atan", 7};
};
/// The angle of the point (other, self), in [-pi, pi].
struct Atan2 : BinaryFloat {
  static constexpr auto aliases = "arctan2";
  static constexpr auto schema = "atan2(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return atan2(self, other); }
  template <class V> static V grad_self(V self, V other) {
    const V square = self * self + other * other;
    return select(square == V(0.0), V(0.0), other / square);
  }
  template <class V> static V grad_other(V self, V other) {
    const V square = self * self + other * other;
    return select(square == V(0.0), V(0.0), -self / square);
  }
};
/// The hyperbolic sine.
struct Sinh : UnaryFloat {
  static constexpr auto schema = "sinh(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return sinh(self); }
  template <class V> static V grad_self(V self) { return cosh(self); }
  static constexpr Onnx onnx{"Sinh", 9};
};
/// The hyperbolic cosine.
struct Cosh : UnaryFloat {
  static constexpr auto schema = "cosh(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return cosh(self); }
  template <class V> static V grad_self(V self) { return sinh(self); }
  static constexpr Onnx onnx{"Cosh", 9};
};
/// The inverse hyperbolic sine.
struct Asinh : UnaryFloat {
  static constexpr auto aliases = "arcsinh";
  static constexpr auto schema = "asinh(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return asinh(self); }
  template <class V> static V grad_self(V self) { return V(1.0) / sqrt(self * self + V(1.0)); }
  static constexpr Onnx onnx{"Asinh", 9};
};
/// The inverse hyperbolic cosine, of values from 1.
struct Acosh : UnaryFloat {
  static constexpr auto aliases = "arccosh";
  static constexpr auto schema = "acosh(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return acosh(self); }
  template <class V> static V grad_self(V self) { return V(1.0) / sqrt(self * self - V(1.0)); }
  static constexpr Onnx onnx{"Acosh", 9};
};
/// The inverse hyperbolic tangent, of values in [-1, 1].
struct Atanh : UnaryFloat {
  static constexpr auto aliases = "arctanh";
  static constexpr auto schema = "atanh(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return atanh(self); }
  template <class V> static V grad_self(V self) { return V(1.0) / (V(1.0) - self * self); }
  static constexpr Onnx onnx{"Atanh", 9};
};
/// sin(pi self) / (pi self), 1 at 0.
struct Sinc : UnaryFloat {
  static constexpr auto aliases = "special_sinc";
  static constexpr auto schema = "sinc(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return sinc(self); }
  /// Near 0 the first terms of the series, where the quotient cancels.
  template <class V> static V grad_self(V self) {
    const V angle = self * V(3.14159265358979324), z = angle * angle;
    const V near = angle * V(-1.04719755119659775) * (V(1.0) - z * V(0.1));
    return select(z < V(0.01), near, (cos(angle) * angle - sin(angle)) / (angle * self));
  }
};
/// Degrees to radians.
struct Deg2rad : UnaryFloat {
  static constexpr auto schema = "deg2rad(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return self * V(0.0174532925199432958); }
  template <class V> static V grad_self() { return V(0.0174532925199432958); }
};
/// Radians to degrees.
struct Rad2deg : UnaryFloat {
  static constexpr auto schema = "rad2deg(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return self * V(57.2957795130823209); }
  template <class V> static V grad_self() { return V(57.2957795130823209); }
};
/// The argument of real numbers as complex ones: pi below 0, 0 from there on; nan stays.
struct Angle : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr auto schema = "angle(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return select(self < V(0.0), V(3.14159265358979324), select(self != self, self, V(0.0))); }
  template <class V> static V grad_self() { return V(0.0); }
};
/// sqrt(self^2 + other^2) without overflow.
struct Hypot : BinaryFloat {
  static constexpr bool ints = false;
  static constexpr bool bools = false;
  static constexpr auto schema = "hypot(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return hypot(self, other); }
  template <class V> static V grad_self(V self, V result) { return self / result; }
  template <class V> static V grad_other(V other, V result) { return other / result; }
};
