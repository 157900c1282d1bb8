// Elementary functions in double for results that will be rounded to float: relative error below 1e-10, the arguments are
// floats widened exactly or values made from such. Used through via_double; coefficients: tools/fit_polynomials.py.
// Included inside a namespace that has the vocabulary of taeda/cpu/simd.h; no include guard.
// SPDX-License-Identifier: Apache-2.0

namespace wide {

/// P(z) with the coefficients lowest power first (Horner, fused).
template <class V>
TAEDA_FORMULA V horner(V, double last) {
  return V(last);
}
template <class V, class... C>
TAEDA_FORMULA V horner(V z, double first, C... rest) {
  return fma(horner(z, rest...), z, V(first));
}

/// Splits r from x = n ln 2 + r and returns expm1(r); n is clamped to the range that 2^n can have.
template <class V>
TAEDA_FORMULA V expm1_reduced(V x, V& n) {
  const V limited = min(V(709.0), max(V(-708.0), x));
  n = round_even(limited * V(1.4426950408889634));
  const V r = fma(n, V(-0.6931471805599453), limited);
  const V tail = horner(r, 0.500000000010529618, 0.166666667539313329, 0.0416666659469867188, 0.00833328912284199551, 0.00138889863412554054,
                        0.000199048582420958615, 0.0000247958662764300619);
  return fma(tail, r * r, r);
}

/// e^x; 0 and infinity are reached only after rounding to float.
template <class V>
TAEDA_FORMULA V exp(V x) {
  V n;
  const V p = expm1_reduced(x, n);
  return exp2_of_int(n) * (p + V(1.0));
}

template <class V>
TAEDA_FORMULA V expm1(V x) {
  V n;
  const V p = expm1_reduced(x, n);
  const V scale = exp2_of_int(n);
  return select(x == V(0.0), x, fma(scale, p, scale - V(1.0)));  // keeps -0
}

/// x = 2^e m with m in [sqrt(1/2), sqrt(2)), for positive normal x.
template <class V>
TAEDA_FORMULA V split_exponent(V x, V& m) {
  using I = IntOf<V>;
  const I sqrt_half(int64_t{0x3fe6a09e667f3bcd});
  const I shifted = to_bits(x) + (I(int64_t{0x3ff0000000000000}) - sqrt_half);
  m = from_bits<V>((shifted & I(int64_t{0x000fffffffffffff})) + sqrt_half);
  // The biased exponent as a double: put its bits below those of 2^52.
  const V biased = from_bits<V>(shift_right_logical<52>(shifted) | I(int64_t{0x4330000000000000}));
  return biased - V(4503599627370496.0 + 1023.0);
}

/// log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)): 2 atanh(f / (2 + f)).
template <class V>
TAEDA_FORMULA V log1p_reduced(V f) {
  const V s = f / (f + V(2.0));
  const V z = s * s;
  const V tail = horner(z, 0.333333328238582784, 0.200001673469364721, 0.142686666572195024, 0.117909237175480141);
  const V twice = s + s;
  return fma(twice * z, tail, twice);
}

/// Sets the results at 0, below 0, at infinity and at nan, where x is the argument of the logarithm.
template <class V>
TAEDA_FORMULA V log_specials(V x, V finite) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  const V positive = select(x < V(kInf), finite, x);
  return select(x > V(0.0), positive, select(x == V(0.0), V(-kInf), V(kNan)));
}

template <class V>
TAEDA_FORMULA V log(V x) {
  V m;
  const V e = split_exponent(x, m);
  return log_specials(x, fma(e, V(0.6931471805599453), log1p_reduced(m - V(1.0))));
}

template <class V>
TAEDA_FORMULA V log1p(V x) {
  const V u = x + V(1.0);
  V m;
  const V e = split_exponent(u, m);
  const V f = select(e == V(0.0), x, m - V(1.0));  // x itself where u lost bits
  return select(x == V(0.0), x, log_specials(u, fma(e, V(0.6931471805599453), log1p_reduced(f))));  // keeps -0
}

/// sin and cos on [-pi/4, pi/4].
template <class V>
TAEDA_FORMULA V sin_reduced(V r) {
  const V z = r * r;
  return fma(horner(z, -0.166666666408868747, 0.00833332931759209709, -0.000198393165648985506, 2.71816229809419194e-6), z * r, r);
}
template <class V>
TAEDA_FORMULA V cos_reduced(V r) {
  const V z = r * r;
  const V tail = horner(z, 0.0416666666196701865, -0.00138888835169595252, 0.0000247994646841848889, -2.72061230433080978e-7);
  return fma(tail, z * z, fma(z, V(-0.5), V(1.0)));
}

/// x = k pi/2 + r; returns r and the low bits of k. Three-part Cody-Waite below 2^28 (every product is exact), the exact
/// remainder lane by lane above.
template <class V>
TAEDA_FORMULA V reduce_half_pi(V x, IntOf<V>& quadrant) {
  const V k = round_even(x * V(0.6366197723675814)) + V(0.0);
  const V near = ((x - k * V(1.5707963109016418)) - k * V(1.5893254712295857e-08)) - k * V(6.123233995736766e-17);
  const MaskOf<V> huge = abs(x) > V(268435456.0);
  const V turns = map_lanes_where<scalar::half_pi_quadrant>(huge, x, k);
  quadrant = to_bits(turns + V(6755399441055744.0));
  return map_lanes_where<scalar::half_pi_remainder>(huge, x, near);
}

template <class V>
TAEDA_FORMULA MaskOf<V> has_bit(IntOf<V> i, int bit) {
  return float_mask<V>((i & IntOf<V>(bit)) != IntOf<V>(0));
}

template <class V>
TAEDA_FORMULA V sin(V x) {
  IntOf<V> quadrant;
  const V r = reduce_half_pi(x, quadrant);
  const V value = select(has_bit<V>(quadrant, 1), cos_reduced(r), sin_reduced(r));
  return select(x == V(0.0), x, select(has_bit<V>(quadrant, 2), -value, value));
}
template <class V>
TAEDA_FORMULA V cos(V x) {
  IntOf<V> quadrant;
  const V r = reduce_half_pi(x, quadrant);
  const V value = select(has_bit<V>(quadrant, 1), sin_reduced(r), cos_reduced(r));
  return select(has_bit<V>(quadrant + IntOf<V>(1), 2), -value, value);
}
template <class V>
TAEDA_FORMULA V tan(V x) {
  IntOf<V> quadrant;
  const V r = reduce_half_pi(x, quadrant);
  const V s = sin_reduced(r), c = cos_reduced(r);
  const MaskOf<V> odd = has_bit<V>(quadrant, 1);
  return select(x == V(0.0), x, select(odd, -c, s) / select(odd, s, c));
}

/// atan of a >= 0 given as the quotient y / x of two numbers >= 0, not both 0 or infinite.
template <class V>
TAEDA_FORMULA V atan_quotient(V y, V x) {
  const MaskOf<V> steep = y > x;
  const V low = min(y, x), high = max(y, x);
  // atan(t) = pi/4 + atan((t - 1) / (t + 1)) where t > tan(pi/8)
  const MaskOf<V> upper = low > V(0.41421356237309503) * high;
  const V t = select(upper, low - high, low) / select(upper, low + high, high);
  const V z = t * t;
  const V tail = horner(z, -0.33333332497611904, 0.199999037092972199, -0.142820013032939068, 0.110446070953278706, -0.0847578278923300722,
                        0.0474302290875352706);
  const V flat = fma(tail, z * t, t) + select(upper, V(0.7853981633974483), V(0.0));
  return select(steep, V(1.5707963267948966) - flat, flat);
}

template <class V>
TAEDA_FORMULA V atan(V x) {
  const V a = min(V(1e300), abs(x));  // keeps infinity out of the quotient
  return select(isnan(x), x, copysign(atan_quotient(a, V(1.0)), x));
}

template <class V>
TAEDA_FORMULA V atan2(V y, V x) {
  V ay = abs(y), ax = abs(x);
  const MaskOf<V> both_infinite = isinf(y) & isinf(x);
  ay = select(both_infinite, V(1.0), min(V(1e300), ay));
  ax = select(both_infinite, V(1.0), select(ax == V(0.0), V(1e-300), min(V(1e300), ax)));
  const V angle = atan_quotient(ay, ax);
  const V result = copysign(select(signbit(x), V(3.141592653589793) - angle, angle), y);
  return select(isnan(x) | isnan(y), x + y, result);
}

/// asin on [0, 1/2].
template <class V>
TAEDA_FORMULA V asin_reduced(V a) {
  const V z = a * a;
  const V tail = horner(z, 0.166666671815057263, 0.0749994878796971019, 0.0446600044638769387, 0.0301120907963607905, 0.0246076263124586416,
                        0.00749999118174429015, 0.0346582567232145038);
  return fma(tail, z * a, a);
}
/// asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)) beyond 1/2.
template <class V>
TAEDA_FORMULA V asin(V x) {
  const V a = abs(x);
  const MaskOf<V> large = a > V(0.5);
  const V p = asin_reduced(select(large, sqrt((V(1.0) - a) * V(0.5)), a));
  return copysign(select(large, V(1.5707963267948966) - (p + p), p), x);
}
template <class V>
TAEDA_FORMULA V acos(V x) {
  const V a = abs(x);
  const MaskOf<V> large = a > V(0.5);
  const V p = asin_reduced(select(large, sqrt((V(1.0) - a) * V(0.5)), a));
  const V of_large = select(signbit(x), V(3.141592653589793) - (p + p), p + p);
  return select(large, of_large, V(1.5707963267948966) - copysign(p, x));
}

template <class V>
TAEDA_FORMULA V sinh(V x) {
  const V a = abs(x), z = x * x, e = wide::exp(a);
  const V small = fma(horner(z, 0.166666664986061187, 0.00833334998902060327, 0.000198361722140168963, 2.81688490816593966e-6), z * a, a);
  return copysign(select(a < V(1.0), small, (e - V(1.0) / e) * V(0.5)), x);
}
template <class V>
TAEDA_FORMULA V cosh(V x) {
  const V e = wide::exp(abs(x));
  return (e + V(1.0) / e) * V(0.5);
}
template <class V>
TAEDA_FORMULA V asinh(V x) {
  const V a = abs(x), z = a * a;
  const V finite = copysign(wide::log1p(a + z / (V(1.0) + sqrt(z + V(1.0)))), x);
  return select(isfinite(x), finite, x);
}
template <class V>
TAEDA_FORMULA V acosh(V x) {
  const V t = x - V(1.0);
  return select(t < V(0.0), V(std::numeric_limits<double>::quiet_NaN()), wide::log1p(t + sqrt(t * (t + V(2.0)))));
}
template <class V>
TAEDA_FORMULA V atanh(V x) {
  const V a = abs(x);
  return copysign(wide::log1p((a + a) / (V(1.0) - a)) * V(0.5), x);
}

/// e^(x^2) erfc(x) for x in [0.49, 10.2], a polynomial in t = (x - 2) / (x + 2).
template <class V>
TAEDA_FORMULA V erfcx_reduced(V x) {
  const V t = (x - V(2.0)) / (x + V(2.0));
  return horner(t, 0.255395676314964739, -0.427185847076288796, 0.241658192892688389, -0.0789785993413947458, 0.00373294664808013045,
                0.00699773416963264301, -0.00084788136872433836, -0.000983582131770802965, 0.000047958837072974687, 0.000178242796413128278,
                0.0000153436380903333403, -0.0000301440194509368628);
}
/// erf on [-1, 1].
template <class V>
TAEDA_FORMULA V erf_reduced(V x) {
  return x * horner(x * x, 1.12837916705806253, -0.376126384350836362, 0.112837819814725599, -0.0268654005048438139, 0.00522094680207727913,
                    -0.00084828494959613785, 0.000112571015479508865, -9.64196342099375576e-6);
}
template <class V>
TAEDA_FORMULA V erfc_tail(V a) {
  return wide::exp(-a * a) * erfcx_reduced(min(V(10.2), a));
}
template <class V>
TAEDA_FORMULA V erf(V x) {
  const V a = abs(x);
  return select(a < V(1.0), erf_reduced(x), copysign(V(1.0) - erfc_tail(a), x));
}
template <class V>
TAEDA_FORMULA V erfc(V x) {
  const V a = abs(x), tail = erfc_tail(a);
  return select(a < V(0.5), V(1.0) - erf_reduced(x), select(x < V(0.0), V(2.0) - tail, tail));
}
/// Inverse of erf: x times a polynomial in w = -log(1 - x^2), in sqrt(w) beyond 6.
template <class V>
TAEDA_FORMULA V erfinv(V x) {
  const V w = -wide::log((V(1.0) - x) * (V(1.0) + x));
  const V small = horner(w, 0.886226927809972018, 0.232013541364380042, 0.0115504257642428478, -0.00233871799191350075, -0.00012191293613769512,
                         0.0000406042236170298641, 5.64186131323847543e-6, -2.37653053004995546e-6, 2.68639197929477896e-7, -9.219163024907369e-9,
                         -4.85083964531362137e-10, 3.52894119136511549e-11);
  const V v = sqrt(w);
  const V large = horner(v, -4.21412145706572893, 16.9892680582342997, -24.6626610384972353, 21.0570259645406598, -11.3498640437987751,
                         4.09340500588417966, -1.00823688022410775, 0.168256841244702548, -0.0182623479713656844, 0.001166508520383204,
                         -0.0000333457769182508553);
  const V inside = x * select(w < V(6.0), small, large);
  return select(abs(x) == V(1.0), x * V(std::numeric_limits<double>::infinity()), inside);
}
/// The distribution function of the standard normal.
template <class V>
TAEDA_FORMULA V ndtr(V x) {
  return V(0.5) * wide::erfc(x * V(-0.7071067811865476));
}

/// x ndtr(x); nan at -infinity.
template <class V>
TAEDA_FORMULA V gelu(V x) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  return select(x == V(-kInf), V(kNan), x * wide::ndtr(x));
}

/// x^y as C99 defines it.
template <class V>
TAEDA_FORMULA V pow(V x, V y) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  const V a = abs(x);
  V m;
  const V e = split_exponent(a, m);
  const V log_a = log_specials(a, fma(e, V(0.6931471805599453), log1p_reduced(m - V(1.0))));
  V result = wide::exp(y * log_a);
  const V half = y * V(0.5);
  const MaskOf<V> integral = round_even(y) == y, even = round_even(half) == half;
  const MaskOf<V> negative = signbit(x);
  result = select(negative & integral & !even, -result, result);
  result = select((x < V(0.0)) & !integral & (a < V(kInf)), V(kNan), result);
  return select((y == V(0.0)) | (x == V(1.0)) | ((x == V(-1.0)) & isinf(y)), V(1.0), result);
}

template <class V>
TAEDA_FORMULA V hypot(V x, V y) {
  const V r = sqrt(x * x + y * y);
  return select(isinf(x) | isinf(y), V(std::numeric_limits<double>::infinity()), r);
}

}  // namespace wide
