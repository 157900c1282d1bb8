// Plain functions that formulas call lane by lane: double accuracy, compiled once for all instruction sets.
// float lanes are widened, so a float result is the rounded double result.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace taeda::scalar {

// The C library's functions (double overloads, so that they can be named as template arguments).
double exp(double x);
double exp2(double x);
double expm1(double x);
double log(double x);
double log2(double x);
double log10(double x);
double log1p(double x);
double sin(double x);
double cos(double x);
double tan(double x);
double asin(double x);
double acos(double x);
double atan(double x);
double atan2(double y, double x);
double sinh(double x);
double cosh(double x);
double tanh(double x);
double asinh(double x);
double acosh(double x);
double atanh(double x);
double erf(double x);
double erfc(double x);
double pow(double x, double y);
double hypot(double x, double y);
double fmod(double x, double y);
double lgamma(double x);

/// Inverse error function (a start from the tail expansion, then Newton steps on erfc).
double erfinv(double x);
/// Distribution function of the standard normal, its logarithm, its inverse.
double ndtr(double x);
double gelu(double x);  // x ndtr(x)
double log_ndtr(double x);
double ndtri(double p);
/// e^(x^2) erfc(x).
double erfcx(double x);
double digamma(double x);
double trigamma(double x);
/// The n-th derivative of digamma.
double polygamma(double n, double x);
/// Hurwitz zeta function.
double zeta(double s, double q);
/// Regularised lower and upper incomplete gamma functions.
double gammainc(double a, double x);
double gammaincc(double a, double x);
/// Modified Bessel functions of the first kind, plain and times e^-|x|.
double i0(double x);
double i0e(double x);
double i1(double x);
double i1e(double x);
/// Modified Bessel functions of the second kind, plain and times e^x; nan below 0.
double bessel_k0(double x);
double bessel_k1(double x);
double bessel_k0e(double x);
double bessel_k1e(double x);
/// Bessel functions of the first and second kind (the C library's).
double bessel_j0(double x);
double bessel_j1(double x);
double bessel_y0(double x);
double bessel_y1(double x);
/// sin(x) / x.
double spherical_bessel_j0(double x);
/// The Airy function Ai.
double airy_ai(double x);
/// sin(pi x) / (pi x).
double sinc(double x);
double exp10(double x);
/// Orthogonal polynomials of degree n (truncated to an integer; 0 where it is negative or no number).
double chebyshev_t(double x, double n);
double chebyshev_u(double x, double n);
double chebyshev_v(double x, double n);
double chebyshev_w(double x, double n);
double hermite_h(double x, double n);
double hermite_he(double x, double n);
double laguerre_l(double x, double n);
double legendre_p(double x, double n);
/// The next float (or double) after x in the direction of y.
double nextafter_float(double x, double y);
double nextafter_double(double x, double y);

/// x (a float widened) = k pi/2 + r with |r| <= pi/4, exactly reduced: k mod 4, and r.
double half_pi_quadrant(double x);
double half_pi_remainder(double x);

// Integers: total functions, wrapping where the result does not fit.
int64_t ipow(int64_t base, int64_t exponent);  // 0 to a negative power is 0
int64_t floor_div(int64_t a, int64_t b);       // by 0: 0
int64_t floor_mod(int64_t a, int64_t b);       // sign of b; by 0: 0
int64_t trunc_mod(int64_t a, int64_t b);       // sign of a; by 0: 0
int64_t round_decimals_int(int64_t a, int64_t decimals);  // to tens, hundreds, ... where decimals is negative
int64_t gcd(int64_t a, int64_t b);
int64_t lcm(int64_t a, int64_t b);
int64_t shift_left(int64_t a, int64_t bits);   // 0 for bits outside 0..63
int64_t shift_right(int64_t a, int64_t bits);  // arithmetic; as for 63 outside 0..63

}  // namespace taeda::scalar
