// Pointwise operators: activation functions. How these files are written: arithmetic.h.
// SPDX-License-Identifier: Apache-2.0

/// max(self, 0); nan stays.
struct Relu : UnarySame {
  static constexpr bool bools = false;
  static constexpr auto schema = "relu(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return maximum(self, V(0.0)); }
  template <class V> static V grad_self(V result) { return select(result > V(0.0), V(1.0), V(0.0)); }
  static constexpr Onnx onnx{"Relu", 14};
};

/// self where positive, negative_slope * self elsewhere.
struct LeakyRelu : UnarySame {
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor";
  template <class V> static V apply(V self, V negative_slope) { return select(self > V(0.0), self, self * negative_slope); }
  template <class V> static V grad_self(V self, V negative_slope) { return select(self > V(0.0), V(1.0), negative_slope); }
  static constexpr Onnx onnx{"LeakyRelu", 16};
};

/// scale * self where positive, scale * alpha * expm1(input_scale * self) elsewhere (Clevert, Unterthiner, Hochreiter 2016).
struct Elu : UnarySame {
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor";
  template <class V> static V apply(V self, V alpha, V scale, V input_scale) {
    return select(self > V(0.0), self * scale, expm1(self * input_scale) * alpha * scale);
  }
  template <class V> static V grad_self(V self, V alpha, V scale, V input_scale) {
    return select(self > V(0.0), scale, alpha * scale * input_scale * exp(self * input_scale));
  }
  static constexpr Onnx onnx{"Elu", 6};
};

/// self * Phi(self), Phi the distribution function of the standard normal (Hendrycks, Gimpel 2016).
struct GeluErf : UnarySame {
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "_gelu_erf(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return gelu(self); }
  template <class V> static V grad_self(V self) {
    return V(0.5) * erfc(self * V(-0.70710678118654752)) + self * V(0.39894228040143268) * exp(V(-0.5) * self * self);
  }
};

/// The tanh approximation of gelu: self / 2 * (1 + tanh(sqrt(2/pi) (self + 0.044715 self^3))).
struct GeluTanh : UnarySame {
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "_gelu_tanh(Tensor self) -> Tensor";
  template <class V> static V apply(V self) {
    return self * sigmoid(V(1.5957691216057308) * (self + V(0.044715) * self * self * self));
  }
  template <class V> static V grad_self(V self) {
    const V square = self * self;
    const V s = sigmoid(V(1.5957691216057308) * (self + V(0.044715) * square * self));
    return s + s * (V(1.0) - s) * V(1.5957691216057308) * self * (V(1.0) + V(0.134145) * square);
  }
};

/// self * sigmoid(self).
struct Silu : UnarySame {
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "silu(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return self * sigmoid(self); }
  template <class V> static V grad_self(V self) {
    const V s = sigmoid(self);
    return s * (V(1.0) + self * (V(1.0) - s));
  }
};

/// log(1 + e^(beta self)) / beta; self itself where beta * self > threshold.
struct Softplus : UnarySame {
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr bool inplace = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor";
  template <class V> static V apply(V self, V beta, V threshold) {
    const V scaled = self * beta;
    return select(scaled > threshold, self, log1p(exp(scaled)) / beta);
  }
  template <class V> static V grad_self(V self, V beta, V threshold) {
    const V scaled = self * beta;
    return select(scaled > threshold, V(1.0), sigmoid(scaled));
  }
  static constexpr Onnx onnx{"Softplus", 1};
};

/// self limited to [min_val, max_val]; the gradient at the bounds is 0.
struct Hardtanh : UnarySame {
  static constexpr bool bools = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor";
  template <class V> static V apply(V self, V min_val, V max_val) { return minimum(maximum(self, min_val), max_val); }
  template <class V> static V grad_self(V self, V min_val, V max_val) {
    return select((self > min_val) & (self < max_val), V(1.0), V(0.0));
  }
};
