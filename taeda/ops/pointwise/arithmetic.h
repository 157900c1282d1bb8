// Pointwise operators: arithmetic.
//
// Every file of this folder is included several times, inside namespaces that provide a value type V with the vocabulary
// of taeda/cpu/simd.h and the functions of taeda/ops/formula; so there is no include guard and no #include here.
// `apply` is the formula; its parameters are named after the schema's arguments: tensors, and scalars spread over V.
// `grad_x` is the local derivative d out / d x; the engine forms masked_product(grad, derivative). Its parameters name what
// it needs: schema arguments or `result`. Where the derivative is 1 it reads `return V(1.0);` with no parameters, and
// the cotangent passes through without a kernel. Gradients use functions that are operators themselves.
// SPDX-License-Identifier: Apache-2.0

/// self + alpha * other.
struct Add : BinaryArith {
  static constexpr bool adds_scaled = true;
  static constexpr bool narrow_numbers = true;
  static constexpr auto schema = "add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
  template <class V> static V apply(V self, V other, V alpha) { return self + alpha * other; }
  template <class V> static V grad_self() { return V(1.0); }
  template <class V> static V grad_other(V alpha) { return alpha; }
  static constexpr Onnx onnx{"Add", 14};
};

/// self - alpha * other. Not for bool.
struct Sub : BinaryArith {
  static constexpr bool adds_scaled = true;
  static constexpr bool narrow_numbers = true;
  static constexpr bool bools = false;
  static constexpr auto aliases = "subtract";
  static constexpr auto schema = "sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
  template <class V> static V apply(V self, V other, V alpha) { return self - alpha * other; }
  template <class V> static V grad_self() { return V(1.0); }
  template <class V> static V grad_other(V alpha) { return -alpha; }
  static constexpr Onnx onnx{"Sub", 14};
};

/// other - alpha * self. Not for bool.
struct Rsub : BinaryArith {
  static constexpr bool adds_scaled = true;
  static constexpr bool narrow_numbers = true;
  static constexpr bool bools = false;
  static constexpr bool inplace = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "rsub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
  template <class V> static V apply(V self, V other, V alpha) { return other - alpha * self; }
  template <class V> static V grad_self(V alpha) { return -alpha; }
  template <class V> static V grad_other() { return V(1.0); }
};

/// self * other.
struct Mul : BinaryArith {
  static constexpr auto aliases = "multiply";
  static constexpr auto schema = "mul(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return self * other; }
  template <class V> static V grad_self(V other) { return other; }
  template <class V> static V grad_other(V self) { return self; }
  static constexpr Onnx onnx{"Mul", 14};
};

/// self / other, true division: integers give the default floating dtype.
struct Div : BinaryFloat {
  static constexpr auto scalar_overloads = "other";
  static constexpr auto aliases = "divide true_divide";
  static constexpr auto schema = "div(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return self / other; }
  template <class V> static V grad_self(V other) { return V(1.0) / other; }
  template <class V> static V grad_other(V self, V other) { return -(self / other) / other; }
  static constexpr Onnx onnx{"Div", 14};
};

/// -self. Not for bool.
struct Neg : UnarySame {
  static constexpr bool adds_scaled = true;  // bool is refused as in differences
  static constexpr bool bools = false;
  static constexpr auto aliases = "negative";
  static constexpr auto schema = "neg(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return -self; }
  template <class V> static V grad_self() { return V(-1.0); }
  static constexpr Onnx onnx{"Neg", 13};
};

/// |self|. The gradient at 0 is 0.
struct Abs : UnarySame {
  static constexpr auto aliases = "absolute";
  static constexpr auto schema = "abs(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return abs(self); }
  template <class V> static V grad_self(V self) { return sign(self); }
  static constexpr Onnx onnx{"Abs", 13};
};

/// self^2. Not for bool.
struct Square : UnarySame {
  static constexpr bool bools = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "_square(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return self * self; }
  template <class V> static V grad_self(V self) { return self + self; }
};

/// 1 / self.
struct Reciprocal : UnaryFloat {
  static constexpr auto schema = "reciprocal(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return V(1.0) / self; }
  template <class V> static V grad_self(V result) { return -result * result; }
  static constexpr Onnx onnx{"Reciprocal", 13};
};

/// The square root.
struct Sqrt : UnaryFloat {
  static constexpr auto schema = "sqrt(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return sqrt(self); }
  template <class V> static V grad_self(V result) { return V(0.5) / result; }
  static constexpr Onnx onnx{"Sqrt", 13};
};

/// 1 / sqrt(self).
struct Rsqrt : UnaryFloat {
  static constexpr auto schema = "rsqrt(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return V(1.0) / sqrt(self); }
  template <class V> static V grad_self(V result) { return V(-0.5) * result * result * result; }
};

/// self^exponent. Of integers: wrapping, and 0 for negative exponents of bases other than 1 and -1.
struct Pow : BinaryArith {
  static constexpr NumberRule numbers = NumberRule::kExponent;
  static constexpr bool narrow_numbers = true;
  static constexpr auto scalar_overloads = "self exponent";
  static constexpr auto schema = "pow(Tensor self, Tensor exponent) -> Tensor";
  template <class V> static V apply(V self, V exponent) { return pow(self, exponent); }
  template <class V> static V grad_self(V self, V exponent) {
    return select(exponent == V(0.0), V(0.0), exponent * pow(self, exponent - V(1.0)));
  }
  /// log(0) is left out where the result is 0 on a whole neighbourhood in the exponent.
  template <class V> static V grad_exponent(V self, V exponent, V result) {
    return select((self == V(0.0)) & (exponent >= V(0.0)), V(0.0), result * log(self));
  }
  static constexpr Onnx onnx{"Pow", 15};
};

/// self + value * tensor1 * tensor2.
struct Addcmul : Ternary {
  static constexpr auto schema = "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor";
  template <class V> static V apply(V self, V tensor1, V tensor2, V value) { return self + value * tensor1 * tensor2; }
  template <class V> static V grad_self() { return V(1.0); }
  template <class V> static V grad_tensor1(V tensor2, V value) { return value * tensor2; }
  template <class V> static V grad_tensor2(V tensor1, V value) { return value * tensor1; }
};

/// self + value * tensor1 / tensor2; floating dtypes only.
struct Addcdiv : Ternary {
  static constexpr bool ints = false;
  static constexpr bool bools = false;
  static constexpr auto schema = "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor";
  template <class V> static V apply(V self, V tensor1, V tensor2, V value) { return self + value * (tensor1 / tensor2); }
  template <class V> static V grad_self() { return V(1.0); }
  template <class V> static V grad_tensor1(V tensor2, V value) { return value / tensor2; }
  template <class V> static V grad_tensor2(V tensor1, V tensor2, V value) { return -value * (tensor1 / tensor2) / tensor2; }
};

/// self + weight * (end - self), computed from the nearer end; floating dtypes only.
struct Lerp : Ternary {
  static constexpr bool ints = false;
  static constexpr bool bools = false;
  static constexpr auto scalar_overloads = "weight";
  static constexpr auto schema = "lerp(Tensor self, Tensor end, Tensor weight) -> Tensor";
  template <class V> static V apply(V self, V end, V weight) {
    const V span = end - self;
    return select(abs(weight) < V(0.5), self + weight * span, end - span * (V(1.0) - weight));
  }
  template <class V> static V grad_self(V weight) { return V(1.0) - weight; }
  template <class V> static V grad_end(V weight) { return weight; }
  template <class V> static V grad_weight(V self, V end) { return end - self; }
};
