#!/usr/bin/env python3
"""Derives the polynomial coefficients of taeda/ops/formula/*.h.

Each entry of FITS is a function on an interval and the number of coefficients; the fit minimises the largest weighted error
(least squares at Chebyshev nodes, reweighted by Lawson's method) in 60-digit arithmetic. Needs mpmath.
Usage: fit_polynomials.py [name...]     prints the coefficients, lowest power first, and the largest error.
SPDX-License-Identifier: Apache-2.0
"""
import sys

from mpmath import mp, mpf

mp.dps = 60


def solve_weighted(xs, ys, ws, count):
    """Least squares: coefficients c minimising sum w (y - sum c_k x^k)^2."""
    gram, rhs = mp.matrix(count, count), mp.matrix(count, 1)
    for x, y, w in zip(xs, ys, ws):
        powers = [mpf(1)]
        for _ in range(2 * count - 2):
            powers.append(powers[-1] * x)
        for i in range(count):
            rhs[i] += w * y * powers[i]
            for j in range(count):
                gram[i, j] += w * powers[i + j]
    return mp.lu_solve(gram, rhs)


def fit(function, weight, low, high, count, rounds=12):
    """Coefficients of a near-minimax polynomial; error is weight(x) * (function(x) - p(x))."""
    nodes = 6 * count
    xs = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * nodes)) for k in range(nodes)]
    ys = [function(x) for x in xs]
    scale = [weight(x) ** 2 for x in xs]
    lawson = [mpf(1)] * nodes
    for _ in range(rounds):
        coefficients = solve_weighted(xs, ys, [s * l for s, l in zip(scale, lawson)], count)
        errors = [abs(weight(x) * (y - mp.polyval(list(coefficients)[::-1], x))) for x, y in zip(xs, ys)]
        total = sum(l * e for l, e in zip(lawson, errors))
        lawson = [l * e / total * nodes for l, e in zip(lawson, errors)]
    return list(coefficients), max(errors)


def even_tail(function, lead, power):
    """For odd or even expansions in z = x^2: (f(sqrt z) - lead(sqrt z)) / sqrt(z)^power."""
    return lambda z: (function(mp.sqrt(z)) - lead(mp.sqrt(z))) / mp.sqrt(z) ** power


def relative(function, power):
    """Weight that makes the error of an even tail relative to the function."""
    return lambda z: mp.sqrt(z) ** power / abs(function(mp.sqrt(z)))


HALF_LN2 = mp.log(2) / 2 * mpf("1.0001")
TINY = mpf("1e-12")


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def erfcx_of_t(t, centre):
    return erfcx(centre * (1 + t) / (1 - t))


def erfinv_over_x(w):
    """erfinv(x) / x as a function of w = -log(1 - x^2)."""
    x = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(x) / x


FITS = {
    # name: (function, weight, low, high, coefficients)
    "exp_tail": (lambda r: (mp.exp(r) - 1 - r) / r ** 2, lambda r: abs(r ** 2 / mp.expm1(r)), -HALF_LN2, HALF_LN2, 5),
    "exp_tail_wide": (lambda r: (mp.exp(r) - 1 - r) / r ** 2, lambda r: abs(r ** 2 / mp.expm1(r)), -HALF_LN2, HALF_LN2, 7),
    "exp2_tail": (lambda r: (mp.expm1(r * mp.log(2))) / r, lambda r: abs(r / mp.expm1(r * mp.log(2))), -mpf("0.5001"), mpf("0.5001"), 7),
    "log_tail": (lambda f: (mp.log1p(f) - f + f ** 2 / 2) / f ** 3, lambda f: abs(f ** 3 / mp.log1p(f)), mp.sqrt(mpf(1) / 2) - 1 - mpf("1e-4"), mp.sqrt(2) - 1 + mpf("1e-4"), 8),
    "atanh_tail_wide": (even_tail(mp.atanh, lambda s: s, 3), relative(mp.atanh, 3), TINY, mpf("0.1717") ** 2, 4),
    "tanh_tail": (even_tail(mp.tanh, lambda s: s, 3), relative(mp.tanh, 3), TINY, mpf("0.626") ** 2, 6),
    "sinh_tail_wide": (even_tail(mp.sinh, lambda s: s, 3), relative(mp.sinh, 3), TINY, mpf(1), 4),
    "sin_tail_wide": (even_tail(mp.sin, lambda s: s, 3), relative(mp.sin, 3), TINY, (mp.pi / 4 + mpf("1e-6")) ** 2, 4),
    "cos_tail_wide": (even_tail(mp.cos, lambda s: 1 - s * s / 2, 4), relative(mp.cos, 4), TINY, (mp.pi / 4 + mpf("1e-6")) ** 2, 4),
    "atan_tail_wide": (even_tail(mp.atan, lambda s: s, 3), relative(mp.atan, 3), TINY, mpf("0.4143") ** 2, 6),
    "asin_tail_wide": (even_tail(mp.asin, lambda s: s, 3), relative(mp.asin, 3), TINY, mpf("0.2501"), 7),
    "erf_wide": (even_tail(mp.erf, lambda s: 0, 1), relative(mp.erf, 1), TINY, mpf(1), 8),
    "erfcx_wide": (lambda t: erfcx_of_t(t, 2), lambda t: 1 / erfcx_of_t(t, 2), mpf("-0.61"), mpf("0.68"), 12),
    "erfinv_small": (erfinv_over_x, lambda w: 1 / erfinv_over_x(w), TINY, mpf(6), 12),
    "erfinv_large": (lambda v: erfinv_over_x(v * v), lambda v: 1 / erfinv_over_x(v * v), mp.sqrt(6), mpf("4.2"), 11),
}


def main():
    for name in sys.argv[1:] or FITS:
        coefficients, error = fit(*FITS[name])
        print(f"{name}: largest error {mp.nstr(error, 3)}")
        for k, c in enumerate(coefficients):
            print(f"  {k}: {mp.nstr(c, 18)}")


if __name__ == "__main__":
    main()
