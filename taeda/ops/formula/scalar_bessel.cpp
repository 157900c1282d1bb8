// Bessel functions of the second kind, the Airy function, sinc, orthogonal polynomials (NIST handbook, DLMF 9, 10, 18).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "taeda/ops/formula/scalar.h"

namespace taeda::scalar {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.141592653589793;

// e^x K_nu(x) = integral over t > 0 of exp(-x (cosh t - 1)) cosh(nu t): the trapezoidal rule converges exponentially, since
// the integrand is analytic in a strip and falls doubly exponentially.
double scaled_bessel_k(double nu, double x) {
  if (std::isnan(x) || x < 0) return kNan;
  if (x == 0) return kInf;
  if (std::isinf(x)) return 0;
  const double h = std::min(0.2, 0.6 / std::sqrt(x));
  double sum = 0.5;
  for (int k = 1; k < 20000; ++k) {
    const double t = k * h, s = std::sinh(t / 2);
    const double term = std::exp(-2 * x * s * s) * std::cosh(nu * t);
    sum += term;
    if (term < 1e-18 * sum && 2 * x * s * s > 40) break;
  }
  return sum * h;
}

}  // namespace

double bessel_k0e(double x) { return scaled_bessel_k(0, x); }
double bessel_k1e(double x) { return scaled_bessel_k(1, x); }
double bessel_k0(double x) { return scaled_bessel_k(0, x) * std::exp(-x); }
double bessel_k1(double x) { return scaled_bessel_k(1, x) * std::exp(-x); }

double spherical_bessel_j0(double x) {
  if (std::isinf(x)) return 0;
  if (std::fabs(x) < 1e-4) return 1 - x * x / 6;
  return std::sin(x) / x;
}

double sinc(double x) {
  if (x == 0) return 1;
  return std::sin(kPi * std::remainder(x, 2.0)) / (kPi * x);
}

namespace {

// Maclaurin series in extended precision: Ai = c1 f - c2 g.
double airy_series(double x) {
  const long double z = static_cast<long double>(x) * x * x;
  long double f = 1, g = x, term_f = 1, term_g = x;
  for (int k = 1; k < 200; ++k) {
    term_f *= z / ((3.0L * k - 1) * (3.0L * k));
    term_g *= z / ((3.0L * k) * (3.0L * k + 1));
    f += term_f;
    g += term_g;
    if (std::fabs(term_f) < 1e-22L * std::fabs(f) && std::fabs(term_g) < 1e-22L * std::fabs(g)) break;
  }
  return static_cast<double>(0.355028053887817239260063186004183177L * f - 0.258819403792806798405183560189203963L * g);
}

// Asymptotic expansion for large negative arguments.
double airy_oscillating(double a) {
  const double zeta = 2.0 / 3.0 * a * std::sqrt(a);
  double even = 1, odd = 0, u = 1, power = 1;
  for (int k = 1; k <= 16; ++k) {
    u *= (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / (216.0 * k * (2 * k - 1));
    power /= zeta;
    const double term = u * power * ((k / 2) % 2 == 0 ? 1 : -1);
    if (k % 2 == 0) even += term;
    else odd += term;
  }
  const double phase = zeta - kPi / 4;
  return (std::cos(phase) * even + std::sin(phase) * odd) / std::sqrt(kPi * std::sqrt(a));
}

}  // namespace

double airy_ai(double x) {
  if (!std::isfinite(x)) return kNan;
  if (x > 1) {
    const double zeta = 2.0 / 3.0 * x * std::sqrt(x);
    return std::sqrt(x / 3) / kPi * scaled_bessel_k(1.0 / 3.0, zeta) * std::exp(-zeta);
  }
  return x > -9 ? airy_series(x) : airy_oscillating(-x);
}

namespace {

// p(k + 1) = step(k, p(k), p(k - 1)) from p(0) = 1, p(1) = first.
template <class Step>
double recurrence(double n, double first, Step step) {
  if (!(n > -1) || std::isinf(n)) return 0;
  const auto degree = static_cast<int64_t>(std::min(n, 1e6));
  if (degree == 0) return 1;
  double previous = 1, current = first;
  for (int64_t k = 1; k < degree; ++k) {
    const double next = step(static_cast<double>(k), current, previous);
    previous = current;
    current = next;
  }
  return current;
}

}  // namespace

double chebyshev_t(double x, double n) {
  return recurrence(n, x, [x](double, double p, double q) { return 2 * x * p - q; });
}
double chebyshev_u(double x, double n) {
  return recurrence(n, 2 * x, [x](double, double p, double q) { return 2 * x * p - q; });
}
double chebyshev_v(double x, double n) {
  return recurrence(n, 2 * x - 1, [x](double, double p, double q) { return 2 * x * p - q; });
}
double chebyshev_w(double x, double n) {
  return recurrence(n, 2 * x + 1, [x](double, double p, double q) { return 2 * x * p - q; });
}
double hermite_h(double x, double n) {
  return recurrence(n, 2 * x, [x](double k, double p, double q) { return 2 * x * p - 2 * k * q; });
}
double hermite_he(double x, double n) {
  return recurrence(n, x, [x](double k, double p, double q) { return x * p - k * q; });
}
double laguerre_l(double x, double n) {
  return recurrence(n, 1 - x, [x](double k, double p, double q) { return ((2 * k + 1 - x) * p - k * q) / (k + 1); });
}
double legendre_p(double x, double n) {
  return recurrence(n, x, [x](double k, double p, double q) { return ((2 * k + 1) * x * p - k * q) / (k + 1); });
}

}  // namespace taeda::scalar
