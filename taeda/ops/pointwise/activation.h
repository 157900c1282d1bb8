// Pointwise operators: activation functions. How these files are written: arithmetic.h.
// SPDX-License-Identifier: Apache-2.0

/// max(self, 0); nan stays.
struct Relu : UnarySame {
  static constexpr bool selects = true;
  static constexpr bool bools = false;
  static constexpr auto schema = "relu(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return maximum(self, V(0.0)); }
  template <class V> static V grad_self(V result) { return select(result <= V(0.0), V(0.0), V(1.0)); }
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
    return select(self <= V(0.0), alpha * scale * input_scale * exp(self * input_scale), scale);
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
  static constexpr bool narrow_numbers = true;
  static constexpr bool selects = true;
  static constexpr bool bools = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "_hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor";
  template <class V> static V apply(V self, V min_val, V max_val) { return minimum(maximum(self, min_val), max_val); }
  template <class V> static V grad_self(V self, V min_val, V max_val) {
    return select((self > min_val) & (self < max_val), V(1.0), V(0.0));
  }
};

/// self limited to [0, 6]; the gradient at the bounds is 0.
struct Relu6 : UnarySame {
  static constexpr bool selects = true;
  static constexpr bool bools = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "relu6(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return minimum(maximum(self, V(0)), V(6)); }
  template <class V> static V grad_self(V result) { return select((result > V(0.0)) & (result < V(6.0)), V(1.0), V(0.0)); }
};

/// self * clamp(self + 3, 0, 6) / 6.
struct Hardswish : UnarySame {
  static constexpr bool selects = true;
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "hardswish(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return self * minimum(maximum(self + V(3.0), V(0.0)), V(6.0)) / V(6.0); }
  template <class V> static V grad_self(V self) {
    return select(self <= V(-3.0), V(0.0), select(self < V(3.0), self / V(3.0) + V(0.5), V(1.0)));
  }
  static constexpr Onnx onnx{"HardSwish", 14};
};

/// clamp(self + 3, 0, 6) / 6.
struct Hardsigmoid : UnarySame {
  static constexpr bool selects = true;
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "hardsigmoid(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return minimum(maximum(self + V(3.0), V(0.0)), V(6.0)) / V(6.0); }
  template <class V> static V grad_self(V self) { return select((self > V(-3.0)) & (self < V(3.0)), V(0.16666666666666667), V(0.0)); }
  static constexpr Onnx onnx{"HardSigmoid", 6};
};

/// self where positive, alpha * expm1(self / alpha) elsewhere (Barron 2017).
struct Celu : UnarySame {
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "celu(Tensor self, Scalar alpha=1.0) -> Tensor";
  template <class V> static V apply(V self, V alpha) { return select(self > V(0.0), self, alpha * expm1(self / alpha)); }
  template <class V> static V grad_self(V self, V alpha) { return select(self <= V(0.0), exp(self / alpha), V(1.0)); }
  static constexpr Onnx onnx{"Celu", 12};
};

/// The self-normalising elu (Klambauer, Unterthiner, Mayr, Hochreiter 2017).
struct Selu : UnarySame {
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "selu(Tensor self) -> Tensor";
  template <class V> static V apply(V self) {
    return select(self > V(0.0), self * V(1.0507009873554805), expm1(self) * V(1.7580993408473768));
  }
  template <class V> static V grad_self(V self) {
    return select(self <= V(0.0), exp(self) * V(1.7580993408473768), V(1.0507009873554805));
  }
  static constexpr Onnx onnx{"Selu", 6};
};

/// self * tanh(log(1 + e^self)) (Misra 2019). With e = e^self the tanh is e (e + 2) / (e (e + 2) + 2).
struct Mish : UnarySame {
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "mish(Tensor self) -> Tensor";
  template <class V> static V apply(V self) {
    const V e = exp(self), n = e * (e + V(2.0));
    return select(self > V(20.0), self, self * (n / (n + V(2.0))));
  }
  template <class V> static V grad_self(V self) {
    const V e = exp(self), n = e * (e + V(2.0)), t = n / (n + V(2.0));
    return select(self > V(20.0), V(1.0), t + self * (V(1.0) - t * t) * sigmoid(self));
  }
  static constexpr Onnx onnx{"Mish", 18};
};

/// self / (1 + |self|).
struct Softsign : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "softsign(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return self / (V(1.0) + abs(self)); }
  template <class V> static V grad_self(V self) {
    const V d = V(1.0) + abs(self);
    return V(1.0) / (d * d);
  }
  static constexpr Onnx onnx{"Softsign", 1};
};

/// self - tanh(self).
struct Tanhshrink : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "tanhshrink(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return self - tanh(self); }
  template <class V> static V grad_self(V self) {
    const V t = tanh(self);
    return t * t;
  }
};

/// self moved towards 0 by lambd, 0 within lambd of it.
struct Softshrink : UnarySame {
  static constexpr bool narrow_numbers = true;
  static constexpr bool selects = true;
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr bool inplace = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "_softshrink(Tensor self, Scalar lambd=0.5) -> Tensor";
  template <class V> static V apply(V self, V lambd) {
    return select(self > lambd, self - lambd, select(self < -lambd, self + lambd, self * V(0.0)));
  }
  template <class V> static V grad_self(V self, V lambd) {
    return select((self >= -lambd) & (self <= lambd), V(0.0), V(1.0));
  }
};

/// self, but 0 within lambd of 0.
struct Hardshrink : UnarySame {
  static constexpr bool narrow_numbers = true;
  static constexpr bool selects = true;
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr bool inplace = false;
  static constexpr auto schema = "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor";
  template <class V> static V apply(V self, V lambd) {
    return select((self >= -lambd) & (self <= lambd), V(0.0), self);
  }
  template <class V> static V grad_self(V self, V lambd) {
    return select((self >= -lambd) & (self <= lambd), V(0.0), V(1.0));
  }
};

/// self where above threshold, value elsewhere.
struct Threshold : UnarySame {
  static constexpr bool narrow_numbers = true;
  static constexpr bool selects = true;
  static constexpr bool bools = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor";
  template <class V> static V apply(V self, V threshold, V value) { return select(self <= threshold, value, self); }
  template <class V> static V grad_self(V self, V threshold) { return select(self <= threshold, V(0.0), V(1.0)); }
};

/// log(sigmoid(self)), without overflow.
struct LogSigmoid : UnarySame {
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr bool inplace = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "log_sigmoid(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return min(V(0.0), self) - log1p(exp(-abs(self))); }
  template <class V> static V grad_self(V self) { return sigmoid(-self); }
};

/// log(x / (1 - x)) of x = self limited to [eps, 1 - eps]; a negative eps stands for no limits.
struct Logit : UnaryFloat {
  static constexpr auto variants = "function";
  static constexpr auto schema = "_logit(Tensor self, float eps) -> Tensor";
  template <class V> static V apply(V self, V eps) {
    return logit(select(eps < V(0.0), self, minimum(maximum(self, eps), V(1.0) - eps)));
  }
  template <class V> static V grad_self(V self, V eps) {
    const V inside = V(1.0) / (self * (V(1.0) - self));
    const V low = select(eps < V(0.0), V(0.0), eps);
    const V outside = select(eps < V(0.0), V(std::numeric_limits<double>::quiet_NaN()), V(0.0));
    return select((self < low) | (self > V(1.0) - low), outside, inside);
  }
};

/// self where positive, weight * self elsewhere; floating dtypes only.
struct PreluKernel : BinaryArith {
  static constexpr bool bools = false;
  static constexpr bool ints = false;
  static constexpr bool inplace = false;
  static constexpr auto scalar_overloads = "";
  static constexpr auto variants = "function";
  static constexpr auto schema = "_prelu_kernel(Tensor self, Tensor weight) -> Tensor";
  template <class V> static V apply(V self, V weight) { return select(self > V(0.0), self, weight * self); }
  template <class V> static V grad_self(V self, V weight) { return select(self > V(0.0), V(1.0), weight); }
  template <class V> static V grad_weight(V self) { return select(self > V(0.0), V(0.0), self); }
  static constexpr Onnx onnx{"PRelu", 16};
};
