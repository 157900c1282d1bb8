// The elementary functions of the formulas: float32 within 2 ulp over all arguments on every instruction set, with nan,
// infinities, signed zeros and denormals as C99 has them; double through the C library lane by lane.
// The ones that networks live on (exp, log, tanh, sigmoid) stay in float; the others are evaluated in double and rounded.
// Included inside a namespace that has the vocabulary of taeda/cpu/simd.h; no include guard.
// SPDX-License-Identifier: Apache-2.0

/// e^r - 1 = r + r^2 P(r), x = n ln 2 + r; x within the range that two-step scaling covers.
template <class V>
TAEDA_FORMULA V exp_float(V x, double low) {
  x = min(V(89.0), max(V(low), x));
  const V n = round_even(x * V(1.44269504088896341));
  // ln 2 in two parts: n times the first (9 bits) is exact.
  const V r = fma(n, V(2.12194440054690583e-4), fma(n, V(-0.693359375), x));
  const V tail = wide::horner(r, 0.499999981614615679, 0.166665437158000742, 0.0416671912554880454, 0.0083665095797002355, 0.00138832005949441808);
  const V p = fma(tail, r * r, r) + V(1.0);
  const V half = round_even(n * V(0.5));  // two factors, so that denormals round once and 2^128 overflows last
  return p * exp2_of_int(half) * exp2_of_int(n - half);
}
template <class V>
TAEDA_FORMULA V exp(V x) {
  if constexpr (kIsFloat<V>) return exp_float(x, -104.0);
  else return map_lanes<scalar::exp>(x);
}

template <class V>
TAEDA_FORMULA V exp2(V x) {
  if constexpr (kIsFloat<V>) {
    x = min(V(129.0), max(V(-151.0), x));
    const V n = round_even(x);
    const V r = x - n;
    const V p = fma(wide::horner(r, 0.693147180581295591, 0.240226509201800745, 0.0555041072972126198, 0.00961805700217090535,
                                 0.00133336670594045688, 0.00015461345673181937, 0.0000152533873610508565), r, V(1.0));
    const V half = round_even(n * V(0.5));
    return p * exp2_of_int(half) * exp2_of_int(n - half);
  } else {
    return map_lanes<scalar::exp2>(x);
  }
}

template <class V>
TAEDA_FORMULA V log(V x) {
  if constexpr (kIsFloat<V>) {
    using I = IntOf<V>;
    const MaskOf<V> denormal = x < V(1.17549435e-38);
    const V scaled = select(denormal, x * V(8388608.0), x);
    const I sqrt_half(0x3f3504f3);
    const I shifted = to_bits(scaled) + (I(0x3f800000) - sqrt_half);
    const V m = from_bits<V>((shifted & I(0x007fffff)) + sqrt_half);
    const V e = int_value<V>(shift_right<23>(shifted)) - select(denormal, V(150.0), V(127.0));
    const V f = m - V(1.0), z = f * f;
    const V tail = wide::horner(f, 0.333333317490960778, -0.250008201396141254, 0.200012194377240011, -0.166233658823117732, 0.142019293414985969,
                                -0.131603901976538444, 0.127606210324796664, -0.0763265559961945799);
    // Small terms first: f^3 P(f) + e ln2_low - f^2 / 2 + f + e ln2_high
    const V low = fma(tail, f * z, fma(z, V(-0.5), e * V(-2.12194440054690583e-4)));
    return wide::log_specials(x, fma(e, V(0.693359375), f + low));
  } else {
    return map_lanes<scalar::log>(x);
  }
}

template <class V>
TAEDA_FORMULA V tanh(V x) {
  if constexpr (kIsFloat<V>) {
    const V a = abs(x), z = x * x;
    const V small = fma(wide::horner(z, -0.33333330759032846, 0.133332041361162944, -0.0539465141236237101, 0.0216992882190728574, -0.00817379127503346731,
                                     0.00213957011464435239), z * a, a);
    const V e = exp(a + a);
    return copysign(select(a < V(0.625), small, V(1.0) - V(2.0) / (e + V(1.0))), x);
  } else {
    return map_lanes<scalar::tanh>(x);
  }
}

/// 1 / (1 + e^-x), without overflow and accurate down to denormal results.
template <class V>
TAEDA_FORMULA V sigmoid(V x) {
  const V e = exp(-abs(x));
  const MaskOf<V> negative = x < V(0.0);
  const V sum = e + V(1.0), lost = e - (sum - V(1.0));  // sum + lost is exact
  const V q = select(negative, e, V(1.0)) / sum;
  return q - q * select(negative, V(1.0) - q, q) * lost;
}

#define TAEDA_VIA_DOUBLE_1(name)                                    \
  namespace wide {                                                  \
  struct name##_call {                                              \
    template <class V>                                              \
    static TAEDA_FORMULA_MEMBER V call(V x) { return wide::name(x); }     \
  };                                                                \
  }                                                                 \
  template <class V>                                                \
  TAEDA_FORMULA V name(V x) {                                       \
    if constexpr (kIsFloat<V>) return via_double<wide::name##_call>(x); \
    else return map_lanes<scalar::name>(x);                         \
  }
#define TAEDA_VIA_DOUBLE_2(name)                                         \
  namespace wide {                                                       \
  struct name##_call {                                                   \
    template <class V>                                                   \
    static TAEDA_FORMULA_MEMBER V call(V x, V y) { return wide::name(x, y); }  \
  };                                                                     \
  }                                                                      \
  template <class V>                                                     \
  TAEDA_FORMULA V name(V x, V y) {                                       \
    if constexpr (kIsFloat<V>) return via_double<wide::name##_call>(x, y); \
    else return map_lanes<scalar::name>(x, y);                           \
  }

TAEDA_VIA_DOUBLE_1(expm1)
TAEDA_VIA_DOUBLE_1(log1p)
TAEDA_VIA_DOUBLE_1(sin)
TAEDA_VIA_DOUBLE_1(cos)
TAEDA_VIA_DOUBLE_1(tan)
TAEDA_VIA_DOUBLE_1(asin)
TAEDA_VIA_DOUBLE_1(acos)
TAEDA_VIA_DOUBLE_1(atan)
TAEDA_VIA_DOUBLE_1(sinh)
TAEDA_VIA_DOUBLE_1(cosh)
TAEDA_VIA_DOUBLE_1(asinh)
TAEDA_VIA_DOUBLE_1(acosh)
TAEDA_VIA_DOUBLE_1(atanh)
TAEDA_VIA_DOUBLE_1(erf)
TAEDA_VIA_DOUBLE_1(erfc)
TAEDA_VIA_DOUBLE_1(erfinv)
TAEDA_VIA_DOUBLE_1(ndtr)
TAEDA_VIA_DOUBLE_1(gelu)
TAEDA_VIA_DOUBLE_2(atan2)
TAEDA_VIA_DOUBLE_2(hypot)

namespace wide {
template <class V>
TAEDA_FORMULA V log2(V x) { return wide::log(x) * V(1.4426950408889634); }
template <class V>
TAEDA_FORMULA V log10(V x) { return wide::log(x) * V(0.4342944819032518); }
}  // namespace wide
TAEDA_VIA_DOUBLE_1(log2)
TAEDA_VIA_DOUBLE_1(log10)

namespace wide {
struct pow_call {
  template <class V>
  static TAEDA_FORMULA_MEMBER V call(V x, V y) { return wide::pow(x, y); }
};
}  // namespace wide
/// x^y as C99 defines it; the common powers 1, 2 and 3 are products.
template <class V>
TAEDA_FORMULA V pow(V x, V y) {
  if constexpr (!kIsFloating<V>) {
    return map_lanes<scalar::ipow>(x, y);
  } else {
    const MaskOf<V> one = y == V(1.0), two = y == V(2.0), other = !(one | two | (y == V(3.0)));
    V result = select(one, x, select(two, x * x, x * x * x));
    if (any(other)) {
      if constexpr (kIsFloat<V>) result = select(other, via_double<wide::pow_call>(x, y), result);
      else result = select(other, map_lanes<scalar::pow>(x, y), result);
    }
    return result;
  }
}

#undef TAEDA_VIA_DOUBLE_1
#undef TAEDA_VIA_DOUBLE_2

/// -1, 0 or 1; 0 for nan.
template <class V>
TAEDA_FORMULA V sign(V x) {
  return select(x > V(0), V(1), select(x < V(0), V(-1), V(0)));
}
