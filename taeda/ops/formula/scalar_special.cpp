// Special functions of one or two doubles: normal distribution, gamma family, Hurwitz zeta, modified Bessel functions.
// Methods: series, continued fractions, asymptotic expansions and recurrences of the NIST handbook (DLMF 5, 7, 8, 10, 25),
// summed until they stop changing.
// SPDX-License-Identifier: Apache-2.0
#include <math.h>  // lgamma_r

#include <algorithm>
#include <cmath>
#include <limits>

#include "taeda/ops/formula/scalar.h"

namespace taeda::scalar {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kPi = 3.141592653589793;
constexpr double kSqrt2 = 1.4142135623730951, kSqrtHalf = 0.7071067811865476, kSqrtPi = 1.772453850905516;

// Bernoulli numbers B_2, B_4, ... B_24.
constexpr double kBernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6, -3617.0 / 510, 43867.0 / 798,
                                 -174611.0 / 330, 854513.0 / 138, -236364091.0 / 2730};

}  // namespace

double lgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);  // std::lgamma writes a global
}

double erfinv(double x) {
  if (!(std::fabs(x) <= 1)) return kNan;
  if (std::fabs(x) == 1) return std::copysign(kInf, x);
  if (x == 0) return x;
  const double a = std::fabs(x);
  const double w = -std::log((1 - a) * (1 + a));
  // Start: 2/(pi 0.147) form for small w, the tail expansion otherwise; then Halley steps on erf or erfc.
  const double t = 2 / (kPi * 0.147) - w / 2;
  double y = std::sqrt(std::max(0.0, std::sqrt(t * t + w / 0.147) - t));
  for (int i = 0; i < 3; ++i) {
    const double error = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double step = error * kSqrtPi / 2 * std::exp(y * y);
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

double ndtr(double x) { return 0.5 * std::erfc(-x * kSqrtHalf); }

double gelu(double x) { return x * ndtr(x); }

double log_ndtr(double x) {
  const double t = x * kSqrtHalf;
  if (x < -1) return std::log(erfcx(-t) / 2) - t * t;
  return std::log1p(-std::erfc(t) / 2);
}

double ndtri(double p) {
  if (p == 0) return -kInf;
  if (p == 1) return kInf;
  if (!(p > 0 && p < 1)) return kNan;
  if (p > 0.5) return p < 0.9 ? -ndtri(1 - p) : kSqrt2 * erfinv(2 * p - 1);
  // Start from the tail expansion, then Halley steps on the logarithm's scale of the distribution.
  const double t = std::sqrt(-2 * std::log(p));
  double x = p > 0.1 ? (p - 0.5) * 2.5 : -(t - (std::log(t) + 0.92) / t);
  for (int i = 0; i < 6; ++i) {
    const double step = (ndtr(x) - p) * kSqrt2 * kSqrtPi * std::exp(std::min(x * x / 2, 700.0));
    x -= step / (1 + x * step / 2);
  }
  return x;
}

double erfcx(double x) {
  if (x < 0) return x < -26.7 ? kInf : 2 * std::exp(x * x) - erfcx(-x);
  if (x < 2) return std::exp(x * x) * std::erfc(x);
  if (x > 1e8) return 1 / (x * kSqrtPi);
  double fraction = x;  // x + (1/2)/(x + 1/(x + (3/2)/(x + ...)))
  for (int k = 120; k >= 1; --k) fraction = x + 0.5 * k / fraction;
  return 1 / (fraction * kSqrtPi);
}

double digamma(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  if (x == -kInf || std::isnan(x)) return kNan;
  if (x < 0) {
    const double rest = x - std::floor(x);
    if (rest == 0) return kNan;
    return digamma(1 - x) - kPi / std::tan(kPi * rest);
  }
  double shift = 0;
  for (; x < 12; x += 1) shift -= 1 / x;
  const double z = 1 / (x * x);
  double series = 0, power = z;
  for (int k = 0; k < 8; ++k, power *= z) series += kBernoulli[k] / (2 * (k + 1)) * power;
  return shift + std::log(x) - 0.5 / x - series;
}

double trigamma(double x) {
  if (x == 0) return kInf;
  if (x < 0) {
    const double rest = x - std::floor(x);
    if (rest == 0) return kInf;
    const double s = std::sin(kPi * rest);
    return kPi * kPi / (s * s) - trigamma(1 - x);
  }
  double shift = 0;
  for (; x < 12; x += 1) shift += 1 / (x * x);
  const double z = 1 / (x * x);
  double series = 0, power = z / x;
  for (int k = 0; k < 8; ++k, power *= z) series += kBernoulli[k] * power;
  return shift + 1 / x + z / 2 + series;
}

double polygamma(double n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1) return trigamma(x);
  const double sign = std::fmod(n, 2) == 0 ? -1 : 1;
  return sign * std::exp(lgamma(n + 1)) * zeta(n + 1, x);
}

double zeta(double s, double q) {
  if (s == 1) return kInf;
  if (s < 1 || std::isnan(q)) return kNan;
  if (q <= 0) {
    if (q == std::floor(q)) return kInf;
    if (s != std::floor(s) || q < -1e6) return kNan;
  }
  if (std::isnan(s)) return kNan;
  // Euler-Maclaurin: the terms below 12, then integral, half term and Bernoulli corrections.
  double sum = 0;
  for (; q < 12; q += 1) sum += std::pow(q, -s);
  const double term = std::pow(q, -s);
  sum += term * q / (s - 1) + term / 2;
  double factor = term * s / q / 2;
  for (int k = 0; k < 12; ++k) {
    const double correction = kBernoulli[k] * factor;
    sum += correction;
    if (std::fabs(correction) < kEpsilon * std::fabs(sum)) break;
    const double a = s + 2 * k + 1;
    factor *= a * (a + 1) / (q * q) / ((2.0 * k + 3) * (2.0 * k + 4));
  }
  return sum;
}

namespace {

// x^a e^-x / Gamma(a + 1)
double gamma_prefactor(double a, double x) { return std::exp(a * std::log(x) - x - lgamma(a + 1)); }

double lower_series(double a, double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 20000 && std::fabs(term) > kEpsilon * std::fabs(sum); ++k) {
    term *= x / (a + k);
    sum += term;
  }
  return sum * gamma_prefactor(a, x);
}

// Modified Lentz evaluation of the continued fraction of the upper function.
double upper_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / (b == 0 ? kTiny : b), h = d;
  for (int k = 1; k < 20000; ++k) {
    const double numerator = -k * (k - a);
    b += 2;
    d = numerator * d + b;
    if (std::fabs(d) < kTiny) d = kTiny;
    c = b + numerator / c;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    const double delta = d * c;
    h *= delta;
    if (std::fabs(delta - 1) < kEpsilon) break;
  }
  return h * a * gamma_prefactor(a, x);
}

}  // namespace

double gammainc(double a, double x) {
  if (a < 0 || x < 0) return kNan;
  if (a == 0) return x > 0 ? 1 : kNan;
  if (x == 0) return 0;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 0;
  if (std::isinf(x)) return 1;
  if (std::isnan(a) || std::isnan(x)) return kNan;
  return x < a + 1 ? lower_series(a, x) : 1 - upper_fraction(a, x);
}

double gammaincc(double a, double x) {
  if (a < 0 || x < 0) return kNan;
  if (a == 0) return x > 0 ? 0 : kNan;
  if (x == 0) return 1;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 1;
  if (std::isinf(x)) return 0;
  if (std::isnan(a) || std::isnan(x)) return kNan;
  return x < a + 1 ? 1 - lower_series(a, x) : upper_fraction(a, x);
}

namespace {

// e^-x I_nu(x) for nu = 0, 1 and x >= 0.
double scaled_bessel_i(int order, double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return 0;
  if (x < 30) {
    const double z = x * x / 4;
    double term = order == 0 ? 1 : x / 2, sum = term;
    for (int k = 1; k < 200 && term > kEpsilon / 4 * sum; ++k) {
      term *= z / (static_cast<double>(k) * (k + order));
      sum += term;
    }
    return sum * std::exp(-x);
  }
  double term = 1, sum = 1;
  const double mu = 4.0 * order * order;
  for (int k = 1; k < 40 && std::fabs(term) > kEpsilon / 4; ++k) {
    term *= -(mu - (2.0 * k - 1) * (2.0 * k - 1)) / (8 * x * k);
    sum += term;
  }
  return sum / std::sqrt(2 * kPi * x);
}

}  // namespace

double i0e(double x) { return scaled_bessel_i(0, std::fabs(x)); }
double i1e(double x) { return std::copysign(scaled_bessel_i(1, std::fabs(x)), x); }
double i0(double x) {
  const double a = std::fabs(x);
  if (std::isinf(a)) return kNan;  // as PyTorch has it
  return i0e(a) * std::exp(a / 2) * std::exp(a / 2);
}
double i1(double x) {
  const double a = std::fabs(x);
  if (std::isinf(a)) return kNan;
  return std::copysign(scaled_bessel_i(1, a) * std::exp(a / 2) * std::exp(a / 2), x);
}

}  // namespace taeda::scalar
