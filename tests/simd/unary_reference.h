// References of the unary kernels: the C library's double functions of the widened argument, and the distance in ulps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace taeda::test {

struct UnaryReference {
  const char* kernel;        // name of the pointwise kernel
  double (*exact)(double);   // far more accurate than a float
  double bound;              // largest error allowed, in ulps of the float result
};

inline double erfinv_by_newton(double x) {
  if (!(std::fabs(x) <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (std::fabs(x) == 1) return std::copysign(std::numeric_limits<double>::infinity(), x);
  const double a = std::fabs(x);
  if (a < 1e-9) return x * 0.886226925452758014;
  double low = 0, high = 6;  // bisection to a safe start, then Newton on erfc
  for (int i = 0; i < 12; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle) > 1 - a ? low : high) = middle;
  }
  double y = low;
  for (int i = 0; i < 6; ++i) {
    const double error = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    y -= error * 0.886226925452758014 * std::exp(y * y);
  }
  return std::copysign(y, x);
}

inline constexpr UnaryReference kUnaryReferences[] = {
    {"Exp", [](double x) { return std::exp(x); }, 2},
    {"Exp2", [](double x) { return std::exp2(x); }, 2},
    {"Expm1", [](double x) { return std::expm1(x); }, 2},
    {"Log", [](double x) { return std::log(x); }, 2},
    {"Log2", [](double x) { return std::log2(x); }, 2},
    {"Log10", [](double x) { return std::log10(x); }, 2},
    {"Log1p", [](double x) { return std::log1p(x); }, 2},
    {"Sqrt", [](double x) { return std::sqrt(x); }, 0.5001},
    {"Rsqrt", [](double x) { return 1 / std::sqrt(x); }, 2},
    {"Reciprocal", [](double x) { return 1 / x; }, 0.5001},
    {"Tanh", [](double x) { return std::tanh(x); }, 2},
    {"Sigmoid", [](double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }, 2},
    {"Erf", [](double x) { return std::erf(x); }, 2},
    {"Erfc", [](double x) { return std::erfc(x); }, 2},
    {"Erfinv", erfinv_by_newton, 2},
    {"Sin", [](double x) { return std::sin(x); }, 2},
    {"Cos", [](double x) { return std::cos(x); }, 2},
    {"Tan", [](double x) { return std::tan(x); }, 2},
    {"Asin", [](double x) { return std::asin(x); }, 2},
    {"Acos", [](double x) { return std::acos(x); }, 2},
    {"Atan", [](double x) { return std::atan(x); }, 2},
    {"Sinh", [](double x) { return std::sinh(x); }, 2},
    {"Cosh", [](double x) { return std::cosh(x); }, 2},
    {"Asinh", [](double x) { return std::asinh(x); }, 2},
    {"Acosh", [](double x) { return std::acosh(x); }, 2},
    {"Atanh", [](double x) { return std::atanh(x); }, 2},
    {"GeluErf", [](double x) { return std::isinf(x) ? (x > 0 ? x : std::nan("")) : x * 0.5 * std::erfc(-x * 0.70710678118654752440); }, 2},
};

/// Distance of a float from the exact value in units of the last place of the exact value rounded to float; 0 where both are nan
/// or the same infinity or zeros of one sign, infinite for any other mismatch of kind.
inline double ulp_error(float got, double exact) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto rounded = static_cast<float>(exact);
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) == std::isnan(exact) ? 0 : kInf;
  if (got == rounded && (got == 0 || std::isinf(got))) return std::signbit(got) == std::signbit(rounded) ? 0 : kInf;
  if (std::isinf(exact)) return kInf;
  // Around the bound of overflow: measured as if the range went on.
  const double value = std::isinf(got) ? std::copysign(std::ldexp(1.0, 128), got) : got;
  const int exponent = exact == 0 ? -126 : std::clamp(std::ilogb(exact), -126, 127);
  return std::fabs(value - exact) / std::ldexp(1.0, exponent - 23);
}

}  // namespace taeda::test
