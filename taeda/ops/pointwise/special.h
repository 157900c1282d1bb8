// Pointwise operators: special functions, most of them evaluated lane by lane in double. How these files are written: arithmetic.h.
// SPDX-License-Identifier: Apache-2.0

/// The logarithm of |Gamma(self)|.
struct Lgamma : UnaryFloat {
  static constexpr bool iterative = true;
  static constexpr auto aliases = "special_gammaln";
  static constexpr auto schema = "lgamma(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return lgamma(self); }
  template <class V> static V grad_self(V self) { return digamma(self); }
};

/// The logarithmic derivative of the gamma function.
struct Digamma : UnaryFloat {
  static constexpr bool iterative = true;
  static constexpr auto aliases = "special_digamma special_psi";
  static constexpr auto schema = "digamma(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return digamma(self); }
  template <class V> static V grad_self(V self) { return zeta(V(2.0), self); }
};

/// The n-th derivative of digamma.
struct Polygamma : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto aliases = "special_polygamma";
  static constexpr auto schema = "polygamma(int n, Tensor self) -> Tensor";
  template <class V> static V apply(V n, V self) { return polygamma(n, self); }
  /// polygamma(n + 1, x) = (-1)^n (n + 1)! zeta(n + 2, x)
  template <class V> static V grad_self(V n, V self) {
    const V sign = V(1.0) - V(2.0) * (n - V(2.0) * floor(n * V(0.5)));
    return sign * exp(lgamma(n + V(2.0))) * zeta(n + V(2.0), self);
  }
};

/// The Hurwitz zeta function: the sum over k >= 0 of (other + k)^-self.
struct Zeta : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "self other";
  static constexpr auto schema = "special_zeta(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return zeta(self, other); }
  template <class V> static V grad_other(V self, V other) { return -self * zeta(self + V(1.0), other); }
};

/// The regularised lower incomplete gamma function P(self, other). No gradient in self.
struct Igamma : BinaryFloat {
  static constexpr bool ints = false;
  static constexpr bool bools = false;
  static constexpr bool iterative = true;
  static constexpr auto aliases = "special_gammainc";
  static constexpr auto schema = "igamma(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return gammainc(self, other); }
  template <class V> static V grad_other(V self, V other) { return exp((self - V(1.0)) * log(other) - other - lgamma(self)); }
};
/// The regularised upper incomplete gamma function Q(self, other) = 1 - P(self, other). No gradient in self.
struct Igammac : BinaryFloat {
  static constexpr bool ints = false;
  static constexpr bool bools = false;
  static constexpr bool iterative = true;
  static constexpr auto aliases = "special_gammaincc";
  static constexpr auto schema = "igammac(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return gammaincc(self, other); }
  template <class V> static V grad_other(V self, V other) { return -exp((self - V(1.0)) * log(other) - other - lgamma(self)); }
};

/// The modified Bessel function of the first kind, order 0.
struct I0 : UnaryFloat {
  static constexpr bool iterative = true;
  static constexpr auto aliases = "special_i0";
  static constexpr auto schema = "i0(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return i0(self); }
  template <class V> static V grad_self(V self) { return i1(self); }
};

/// e^-|self| i0(self).
struct I0e : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_i0e(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return i0e(self); }
  template <class V> static V grad_self(V self, V result) { return i1e(self) - sign(self) * result; }
};

/// The modified Bessel function of the first kind, order 1.
struct I1 : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_i1(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return i1(self); }
  template <class V> static V grad_self(V self, V result) { return select(self * self > V(0.0), i0(self) - result / self, V(0.5)); }
};

/// e^-|self| i1(self).
struct I1e : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_i1e(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return i1e(self); }
  template <class V> static V grad_self(V self, V result) {
    return select(self * self > V(0.0), i0e(self) - result * (sign(self) + V(1.0) / self), V(0.5));
  }
};

/// e^(self^2) erfc(self).
struct Erfcx : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_erfcx(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return erfcx(self); }
  template <class V> static V grad_self(V self, V result) { return V(2.0) * self * result - V(1.1283791670955126); }
};

/// The distribution function of the standard normal.
struct Ndtr : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_ndtr(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return ndtr(self); }
  template <class V> static V grad_self(V self) { return V(0.39894228040143268) * exp(V(-0.5) * self * self); }
};

/// The logarithm of the distribution function of the standard normal.
struct LogNdtr : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_log_ndtr(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return log_ndtr(self); }
  template <class V> static V grad_self(V self) { return V(0.79788456080286536) / erfcx(self * V(-0.70710678118654752)); }
};

/// The inverse of ndtr on [0, 1].
struct Ndtri : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_ndtri(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return ndtri(self); }
  template <class V> static V grad_self(V result) { return V(2.5066282746310005) * exp(V(0.5) * result * result); }
};

/// -self log(self); 0 at 0, -infinity below.
struct Entr : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_entr(Tensor self) -> Tensor";
  template <class V> static V apply(V self) {
    const V below = select(self < V(0.0), V(-std::numeric_limits<double>::infinity()), self);
    return select(self > V(0.0), -self * log(self), select(self == V(0.0), V(0.0), below));
  }
  template <class V> static V grad_self(V self) { return V(-1.0) - log(self); }
};

/// self log(other); 0 where self is 0 and other is not nan.
struct Xlogy : BinaryFloat {
  static constexpr auto scalar_overloads = "self other";
  static constexpr auto aliases = "special_xlogy";
  static constexpr auto schema = "xlogy(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) {
    return select((self == V(0.0)) & (other == other), V(0.0), self * log(other));
  }
  template <class V> static V grad_self(V self, V other) {
    return select((self == V(0.0)) & (other <= V(0.0)), V(0.0), log(other));
  }
  template <class V> static V grad_other(V self, V other) { return self / other; }
};
/// self log(1 + other); 0 where self is 0 and other is not nan.
struct Xlog1py : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "self other";
  static constexpr auto schema = "special_xlog1py(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) {
    return select((self == V(0.0)) & (other == other), V(0.0), self * log1p(other));
  }
  template <class V> static V grad_self(V self, V other) {
    return select((self == V(0.0)) & (other <= V(-1.0)), V(0.0), log1p(other));
  }
  template <class V> static V grad_other(V self, V other) { return self / (other + V(1.0)); }
};

/// log(e^self + e^other), without overflow; floating dtypes only.
struct Logaddexp : BinaryFloat {
  static constexpr bool ints = false;
  static constexpr bool bools = false;
  static constexpr bool inplace = false;
  static constexpr auto schema = "logaddexp(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) {
    const V distance = abs(self - other);
    return select(isinf(self) & (self == other), self, maximum(self, other) + log1p(exp(-distance)));
  }
  template <class V> static V grad_self(V self, V other) { return sigmoid(self - other); }
  template <class V> static V grad_other(V self, V other) { return sigmoid(other - self); }
};
/// log2(2^self + 2^other), without overflow; floating dtypes only.
struct Logaddexp2 : BinaryFloat {
  static constexpr bool ints = false;
  static constexpr bool bools = false;
  static constexpr bool inplace = false;
  static constexpr auto schema = "logaddexp2(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) {
    const V distance = abs(self - other);
    const V tail = log1p(exp2(-distance)) * V(1.4426950408889634);
    return select(isinf(self) & (self == other), self, maximum(self, other) + tail);
  }
  template <class V> static V grad_self(V self, V other) { return sigmoid((self - other) * V(0.69314718055994531)); }
  template <class V> static V grad_other(V self, V other) { return sigmoid((other - self) * V(0.69314718055994531)); }
};

/// self * 2^other.
struct Ldexp : BinaryFloat {
  static constexpr auto schema = "ldexp(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return self * exp2(other); }
  template <class V> static V grad_self(V other) { return exp2(other); }
  template <class V> static V grad_other(V result) { return result * V(0.69314718055994531); }
};
