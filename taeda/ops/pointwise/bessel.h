// Pointwise operators: Bessel and Airy functions, orthogonal polynomials, all evaluated lane by lane in double. How these files are written: arithmetic.h.
// SPDX-License-Identifier: Apache-2.0

/// The Bessel function of the first kind, order 0.
struct BesselJ0 : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_bessel_j0(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return bessel_j0(self); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Bessel function of the first kind, order 1.
struct BesselJ1 : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_bessel_j1(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return bessel_j1(self); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Bessel function of the second kind, order 0.
struct BesselY0 : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_bessel_y0(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return bessel_y0(self); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Bessel function of the second kind, order 1.
struct BesselY1 : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_bessel_y1(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return bessel_y1(self); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The modified Bessel function of the first kind, order 0.
struct ModifiedBesselI0 : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_modified_bessel_i0(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return i0(self); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The modified Bessel function of the first kind, order 1.
struct ModifiedBesselI1 : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_modified_bessel_i1(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return i1(self); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The modified Bessel function of the second kind, order 0.
struct ModifiedBesselK0 : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_modified_bessel_k0(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return bessel_k0(self); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The modified Bessel function of the second kind, order 1.
struct ModifiedBesselK1 : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_modified_bessel_k1(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return bessel_k1(self); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// e^self times the modified Bessel function of the second kind, order 0.
struct ScaledModifiedBesselK0 : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_scaled_modified_bessel_k0(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return bessel_k0e(self); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// e^self times the modified Bessel function of the second kind, order 1.
struct ScaledModifiedBesselK1 : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_scaled_modified_bessel_k1(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return bessel_k1e(self); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// sin(self) / self.
struct SphericalBesselJ0 : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_spherical_bessel_j0(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return spherical_bessel_j0(self); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Airy function Ai.
struct AiryAi : UnaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto schema = "special_airy_ai(Tensor self) -> Tensor";
  template <class V> static V apply(V self) { return airy_ai(self); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Chebyshev polynomial of the first kind of degree n at x.
struct ChebyshevT : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "x n";
  static constexpr auto schema = "special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor";
  template <class V> static V apply(V x, V n) { return chebyshev_t(x, n); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Chebyshev polynomial of the second kind of degree n at x.
struct ChebyshevU : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "x n";
  static constexpr auto schema = "special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor";
  template <class V> static V apply(V x, V n) { return chebyshev_u(x, n); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Chebyshev polynomial of the third kind of degree n at x.
struct ChebyshevV : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "x n";
  static constexpr auto schema = "special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor";
  template <class V> static V apply(V x, V n) { return chebyshev_v(x, n); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Chebyshev polynomial of the fourth kind of degree n at x.
struct ChebyshevW : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "x n";
  static constexpr auto schema = "special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor";
  template <class V> static V apply(V x, V n) { return chebyshev_w(x, n); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The physicist's Hermite polynomial of degree n at x.
struct HermiteH : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "x n";
  static constexpr auto schema = "special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor";
  template <class V> static V apply(V x, V n) { return hermite_h(x, n); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The probabilist's Hermite polynomial of degree n at x.
struct HermiteHe : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "x n";
  static constexpr auto schema = "special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor";
  template <class V> static V apply(V x, V n) { return hermite_he(x, n); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Laguerre polynomial of degree n at x.
struct LaguerreL : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "x n";
  static constexpr auto schema = "special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor";
  template <class V> static V apply(V x, V n) { return laguerre_l(x, n); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Legendre polynomial of degree n at x.
struct LegendreP : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "x n";
  static constexpr auto schema = "special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor";
  template <class V> static V apply(V x, V n) { return legendre_p(x, n); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Chebyshev polynomial of the first kind, of 2 x - 1, of degree n at x.
struct ShiftedChebyshevT : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "x n";
  static constexpr auto schema = "special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor";
  template <class V> static V apply(V x, V n) { return chebyshev_t(V(2.0) * x - V(1.0), n); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Chebyshev polynomial of the second kind, of 2 x - 1, of degree n at x.
struct ShiftedChebyshevU : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "x n";
  static constexpr auto schema = "special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor";
  template <class V> static V apply(V x, V n) { return chebyshev_u(V(2.0) * x - V(1.0), n); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Chebyshev polynomial of the third kind, of 2 x - 1, of degree n at x.
struct ShiftedChebyshevV : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "x n";
  static constexpr auto schema = "special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor";
  template <class V> static V apply(V x, V n) { return chebyshev_v(V(2.0) * x - V(1.0), n); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};

/// The Chebyshev polynomial of the fourth kind, of 2 x - 1, of degree n at x.
struct ShiftedChebyshevW : BinaryFloat {
  static constexpr bool inplace = false;
  static constexpr bool iterative = true;
  static constexpr auto variants = "function";
  static constexpr auto scalar_overloads = "x n";
  static constexpr auto schema = "special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor";
  template <class V> static V apply(V x, V n) { return chebyshev_w(V(2.0) * x - V(1.0), n); }
  static constexpr auto no_grad = "not defined, as in PyTorch";
};
