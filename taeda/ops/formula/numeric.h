// Formulas of the less common pointwise operators: remainders, decimals, logit, special functions lane by lane.
// Included inside a namespace that has the vocabulary of taeda/cpu/simd.h and elementary.h; no include guard.
// SPDX-License-Identifier: Apache-2.0

namespace wide {

/// sin(pi x) / (pi x); the argument is reduced modulo 2 before the multiplication.
template <class V>
TAEDA_FORMULA V sinc(V x) {
  const V turns = x - V(2.0) * round_even(x * V(0.5));
  const V quotient = wide::sin(turns * V(3.141592653589793)) / (x * V(3.141592653589793));
  return select(x == V(0.0), V(1.0), quotient);
}
/// log(p / (1 - p)).
template <class V>
TAEDA_FORMULA V logit(V p) {
  return wide::log(p / (V(1.0) - p));
}
template <class V>
TAEDA_FORMULA V round_decimals(V x, V decimals) {
  const V scale = map_lanes<scalar::exp10>(abs(decimals));
  const V tens = round_even(x / scale) * scale, tenths = round_even(x * scale) / scale;
  return select(decimals < V(0.0), tens, tenths);
}

struct sinc_call {
  template <class V>
  static TAEDA_FORMULA_MEMBER V call(V x) { return wide::sinc(x); }
};
struct logit_call {
  template <class V>
  static TAEDA_FORMULA_MEMBER V call(V x) { return wide::logit(x); }
};
struct round_decimals_call {
  template <class V>
  static TAEDA_FORMULA_MEMBER V call(V x, V decimals) { return wide::round_decimals(x, decimals); }
};

}  // namespace wide

template <class V>
TAEDA_FORMULA V sinc(V x) {
  if constexpr (kIsFloat<V>) return via_double<wide::sinc_call>(x);
  else return map_lanes<scalar::sinc>(x);
}
template <class V>
TAEDA_FORMULA V logit(V x) {
  if constexpr (kIsFloat<V>) return via_double<wide::logit_call>(x);
  else return log(x / (V(1.0) - x));
}
template <class V>
TAEDA_FORMULA V round_decimals(V x, V decimals) {
  if constexpr (kIsFloat<V>) return via_double<wide::round_decimals_call>(x, decimals);
  else if constexpr (kIsFloating<V>) return wide::round_decimals(x, decimals);
  else return map_lanes<scalar::round_decimals_int>(x, decimals);
}

/// The exact remainder with the sign of x.
template <class V>
TAEDA_FORMULA V fmod(V x, V y) {
  if constexpr (kIsFloating<V>) return map_lanes<scalar::fmod>(x, y);
  else return map_lanes<scalar::trunc_mod>(x, y);
}
/// The exact remainder moved to the sign of y.
template <class V>
TAEDA_FORMULA V remainder(V x, V y) {
  if constexpr (kIsFloating<V>) {
    const V rest = fmod(x, y);
    return select((rest != V(0)) & ((y < V(0)) ^ (rest < V(0))), rest + y, rest);
  } else {
    return map_lanes<scalar::floor_mod>(x, y);
  }
}
/// The floor of the exact quotient: from the remainder, so that rounding of x / y cannot cross an integer.
template <class V>
TAEDA_FORMULA V floor_divide(V x, V y) {
  if constexpr (kIsFloating<V>) {
    const V rest = fmod(x, y);
    V quotient = (x - rest) / y;
    quotient = select((rest != V(0.0)) & ((y < V(0.0)) ^ (rest < V(0.0))), quotient - V(1.0), quotient);
    const V down = floor(quotient);
    const V whole = select(quotient - down > V(0.5), down + V(1.0), down);
    const V result = select(quotient == V(0.0), copysign(V(0.0), x / y), whole);
    return select(y == V(0.0), x / y, result);
  } else {
    return map_lanes<scalar::floor_div>(x, y);
  }
}

template <class V>
TAEDA_FORMULA V nextafter(V x, V y) {
  if constexpr (kIsFloat<V>) return map_lanes<scalar::nextafter_float>(x, y);
  else return map_lanes<scalar::nextafter_double>(x, y);
}

template <class V>
TAEDA_FORMULA V shift_left_by(V x, V bits) { return map_lanes<scalar::shift_left>(x, bits); }
template <class V>
TAEDA_FORMULA V shift_right_by(V x, V bits) { return map_lanes<scalar::shift_right>(x, bits); }
template <class V>
TAEDA_FORMULA V gcd(V x, V y) { return map_lanes<scalar::gcd>(x, y); }
template <class V>
TAEDA_FORMULA V lcm(V x, V y) { return map_lanes<scalar::lcm>(x, y); }

#define TAEDA_LANES_1(name)       \
  template <class V>              \
  TAEDA_FORMULA V name(V x) {     \
    return map_lanes<scalar::name>(x); \
  }
#define TAEDA_LANES_2(name)          \
  template <class V>                 \
  TAEDA_FORMULA V name(V x, V y) {   \
    return map_lanes<scalar::name>(x, y); \
  }
TAEDA_LANES_1(lgamma)
TAEDA_LANES_1(digamma)
TAEDA_LANES_1(log_ndtr)
TAEDA_LANES_1(ndtri)
TAEDA_LANES_1(erfcx)
TAEDA_LANES_1(i0)
TAEDA_LANES_1(i0e)
TAEDA_LANES_1(i1)
TAEDA_LANES_1(i1e)
TAEDA_LANES_1(bessel_j0)
TAEDA_LANES_1(bessel_j1)
TAEDA_LANES_1(bessel_y0)
TAEDA_LANES_1(bessel_y1)
TAEDA_LANES_1(bessel_k0)
TAEDA_LANES_1(bessel_k1)
TAEDA_LANES_1(bessel_k0e)
TAEDA_LANES_1(bessel_k1e)
TAEDA_LANES_1(spherical_bessel_j0)
TAEDA_LANES_1(airy_ai)
TAEDA_LANES_2(polygamma)
TAEDA_LANES_2(zeta)
TAEDA_LANES_2(gammainc)
TAEDA_LANES_2(gammaincc)
TAEDA_LANES_2(chebyshev_t)
TAEDA_LANES_2(chebyshev_u)
TAEDA_LANES_2(chebyshev_v)
TAEDA_LANES_2(chebyshev_w)
TAEDA_LANES_2(hermite_h)
TAEDA_LANES_2(hermite_he)
TAEDA_LANES_2(laguerre_l)
TAEDA_LANES_2(legendre_p)
#undef TAEDA_LANES_1
#undef TAEDA_LANES_2
