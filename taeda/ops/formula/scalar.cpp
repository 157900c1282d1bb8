// Plain functions behind the lane-by-lane formulas: the C library's, argument reduction, integers.
// SPDX-License-Identifier: Apache-2.0
#include "taeda/ops/formula/scalar.h"

#include <math.h>  // j0, j1, y0, y1

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace taeda::scalar {

namespace {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
}

double exp(double x) { return std::exp(x); }
double exp2(double x) { return std::exp2(x); }
double expm1(double x) { return std::expm1(x); }
double log(double x) { return std::log(x); }
double log2(double x) { return std::log2(x); }
double log10(double x) { return std::log10(x); }
double log1p(double x) { return std::log1p(x); }
double sin(double x) { return std::sin(x); }
double cos(double x) { return std::cos(x); }
double tan(double x) { return std::tan(x); }
double asin(double x) { return std::asin(x); }
double acos(double x) { return std::acos(x); }
double atan(double x) { return std::atan(x); }
double atan2(double y, double x) { return std::atan2(y, x); }
double sinh(double x) { return std::sinh(x); }
double cosh(double x) { return std::cosh(x); }
double tanh(double x) { return std::tanh(x); }
double asinh(double x) { return std::asinh(x); }
double acosh(double x) { return std::acosh(x); }
double atanh(double x) { return std::atanh(x); }
double erf(double x) { return std::erf(x); }
double erfc(double x) { return std::erfc(x); }
double pow(double x, double y) { return std::pow(x, y); }
double hypot(double x, double y) { return std::hypot(x, y); }
double fmod(double x, double y) { return std::fmod(x, y); }
double exp10(double x) { return std::pow(10.0, x); }
double bessel_j0(double x) { return std::isinf(x) ? kNan : ::j0(x); }
double bessel_j1(double x) { return std::isinf(x) ? kNan : ::j1(x); }
double bessel_y0(double x) { return x < 0 || std::isinf(x) ? kNan : ::y0(x); }
double bessel_y1(double x) { return x < 0 || std::isinf(x) ? kNan : ::y1(x); }
double nextafter_float(double x, double y) { return std::nextafterf(static_cast<float>(x), static_cast<float>(y)); }
double nextafter_double(double x, double y) { return std::nextafter(x, y); }

namespace {

// 2/pi, the first 256 bits behind the binary point.
constexpr uint64_t kTwoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0};
using Wide = unsigned __int128;

// 64 bits of 2/pi from bit `first` (0 = the one worth 1/2).
uint64_t two_over_pi_bits(int first) {
  const int word = first / 64, shift = first % 64;
  if (shift == 0) return kTwoOverPi[word];
  return (kTwoOverPi[word] << shift) | (kTwoOverPi[word + 1] >> (64 - shift));
}

struct Turn {
  int quadrant;
  double remainder;
};

// |x| = m 2^e with 24-bit m and e > 1: only those 96 bits of 2/pi matter that are worth less than 4 and more than 2^-94 after
// scaling by 2^e; their product with m, modulo 4, is exact to 2^-70.
Turn exact_turn(double x) {
  int exponent = 0;
  const auto m = static_cast<uint64_t>(std::ldexp(std::frexp(std::fabs(x), &exponent), 24));
  const int first = exponent - 24 - 2;  // index of the bit worth 2 after scaling
  const Wide high = two_over_pi_bits(first), low = two_over_pi_bits(first + 64) >> 32;
  Wide turns = ((high << 32) | low) * m;  // in units of 2^-94, modulo 2^128
  turns &= (Wide{1} << 96) - 1;
  const auto quadrant = static_cast<int>((turns + (Wide{1} << 93)) >> 94);
  const auto rest = static_cast<__int128>(turns) - static_cast<__int128>(static_cast<Wide>(quadrant) << 94);
  const double r = std::ldexp(static_cast<double>(rest), -94) * 1.5707963267948966;
  if (x < 0) return {-quadrant & 3, -r};
  return {quadrant & 3, r};
}

}  // namespace

double half_pi_quadrant(double x) {
  return std::isfinite(x) && std::fabs(x) > 268435456.0 ? exact_turn(x).quadrant : 0.0;
}
double half_pi_remainder(double x) {
  if (!std::isfinite(x)) return kNan;
  return std::fabs(x) > 268435456.0 ? exact_turn(x).remainder : x;
}

int64_t ipow(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return (exponent & 1) ? -1 : 1;
    return 0;
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if (rest & 1) result *= square;
    square *= square;
  }
  return static_cast<int64_t>(result);
}
int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(a));
  const int64_t quotient = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? quotient - 1 : quotient;
}
int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest;
}
int64_t trunc_mod(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
int64_t round_decimals_int(int64_t a, int64_t decimals) {
  if (decimals >= 0) return a;
  const double scale = std::pow(10.0, static_cast<double>(-decimals));
  return static_cast<int64_t>(std::nearbyint(static_cast<double>(a) / scale) * scale);
}
int64_t gcd(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  uint64_t y = b < 0 ? uint64_t{0} - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  return static_cast<int64_t>(std::gcd(x, y));
}
int64_t lcm(int64_t a, int64_t b) {
  const int64_t divisor = gcd(a, b);
  if (divisor == 0) return 0;
  const auto product = static_cast<int64_t>(static_cast<uint64_t>(a / divisor) * static_cast<uint64_t>(b));
  return product < 0 ? static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(product)) : product;
}
int64_t shift_left(int64_t a, int64_t bits) {
  return bits < 0 || bits > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << bits);
}
int64_t shift_right(int64_t a, int64_t bits) { return a >> (bits < 0 || bits > 63 ? 63 : bits); }

}  // namespace taeda::scalar
