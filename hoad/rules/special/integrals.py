"""Integrals of elementary functions, and of Bessel functions: the integrand is the derivative.

References
----------
NIST Digital Library of Mathematical Functions, 6.2.1 to 6.2.16, 7.2.6 to 7.2.8, 8.19.1, 8.19.13, 10.2.2,
25.12.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.kernels.ufuncs import compose
from hoad.rules.registry import primitive
from hoad.rules.special.define import Coefficients, define, sc, unknown
from hoad.rules.special.error_functions import wofz_derivative
from hoad.rules.special.gamma import polynomial

NEAR = 1.0  # from here on quotients by x are taken as they stand


def by_series(quotient: Callable[[Any], Any], coefficients: list[float], near: float = NEAR) -> Callable[[Any], Any]:
    """A quotient by x, which near x = 0 is a polynomial in x² (times x if it is odd)."""

    def function(x: Any) -> Any:
        is_near = np.less(np.absolute(x), near)
        inner, outer = np.where(is_near, x, 0.0), np.where(is_near, near, x)
        return np.where(is_near, polynomial(coefficients, inner * inner), quotient(outer))

    return function


# ---- exponential, sine and hyperbolic integrals ----------------------------------------------------------------------

_sin_over = by_series(lambda x: np.sin(x) / x, [(-1.0) ** k / math.factorial(2 * k + 1) for k in range(20)], 4.0)
_sinh_over = by_series(lambda x: np.sinh(x) / x, [1.0 / math.factorial(2 * k + 1) for k in range(36)], 10.0)


def _expn_slope(n, x):
    """-Eₙ₋₁(x); SciPy has no E₋₁ = e⁻ˣ (1 + 1/x) / x."""
    return -np.where(np.less_equal(n, 0), np.exp(-x) / x * (1.0 + 1.0 / x), sc.expn(n - 1, x))


def expn_series(n: Any, x: Any, degree: int) -> Coefficients:
    """φ⁽ᵏ⁾ = (-1)ᵏ Eₙ₋ₖ, with E₋ⱼ = j!/xʲ⁺¹ e⁻ˣ Σ xⁱ/i!, i to j."""
    found = []
    for k in range(degree + 1):
        j = np.maximum(k - n, 0)
        below = sc.gamma(j + 1.0) / x ** (j + 1.0) * sc.gammaincc(j + 1.0, x)
        order = np.maximum(n - k, 1)
        value = np.where(np.less(n, k + 1), below, sc.expn(order.astype(np.int64), x))
        found.append((-1.0) ** k / math.factorial(k) * value)
    return found


define(sc.exp1, lambda g, p, x: (-(g * (np.exp(-x) / x)),))
define(sc.expi, lambda g, p, x: (g * (np.exp(x) / x),))
define(sc.expn, lambda g, p, n, x: (unknown("expn", "n"), g * _expn_slope(n, x)), kernel=expn_series)
define(sc.sici, lambda g, p, x: (g[0] * _sin_over(x) + g[1] * (np.cos(x) / x),))
define(sc.shichi, lambda g, p, x: (g[0] * _sinh_over(x) + g[1] * (np.cosh(x) / x),))

# ---- Fresnel integrals and the dilogarithm ---------------------------------------------------------------------------

HALF_PI = 0.5 * math.pi
TURN = complex(math.sqrt(0.5), math.sqrt(0.5))  # exp(iπ/4)


def _modified_series(x: Any, degree: int, *, part: Any) -> Coefficients:
    slopes = [0.5 * TURN**k * wofz_derivative(TURN * x, k) for k in range(1, degree + 2)]
    return [part(slope) / math.factorial(k) for k, slope in enumerate(slopes)]


@primitive(elementwise=True, series=_modified_series)
def slope_of_modified_fresnel(x, *, part):
    """The slope of ½ w(exp(iπ/4) x), its real or imaginary part."""
    return _modified_series(x, 0, part=part)[0]


def _modified_fresnel(sign):
    """F = ∫ₓ^∞ exp(±it²) dt; K is exp(∓i(x² + π/4)) F / √π = ½ w(exp(±iπ/4) x), whose derivative does not cancel."""

    def rule(g, p, x):
        square = x * x
        by_k = [slope_of_modified_fresnel(x, part=part) for part in (np.real, np.imag)]
        by_f = compose(np.cos(square), sign * np.sin(square))
        return (np.real(g[1] * compose(by_k[0], sign * by_k[1]) - g[0] * by_f),)

    return rule


def _log_over(z):
    """log z / (1 - z), near z = 1 as -F(1, 1; 2; 1 - z)."""
    near = np.less(np.absolute(1.0 - z), 0.5)
    inner, outer = np.where(near, 1.0 - z, 0.0), np.where(near, 2.0, z)
    return np.where(near, -sc.hyp2f1(1.0, 1.0, 2.0, inner), np.log(outer) / (1.0 - outer))


define(sc.fresnel, lambda g, p, x: (g[0] * np.sin(HALF_PI * (x * x)) + g[1] * np.cos(HALF_PI * (x * x)),))
define(sc.modfresnelp, _modified_fresnel(1.0))
define(sc.modfresnelm, _modified_fresnel(-1.0))
define(sc.spence, lambda g, p, z: (g * _log_over(z),))

# ---- integrals of Bessel functions ------------------------------------------------------------------------


def _bessel_terms(sign: float) -> list[float]:
    """Of (1 - J₀(x)) / x² and (I₀(x) - 1) / x², in x²."""
    return [0.25 * (0.25 * sign) ** k / math.factorial(k + 1) ** 2 for k in range(12)]


_one_less_j0 = by_series(lambda x: (1.0 - sc.j0(x)) / x / x, _bessel_terms(-1.0))
_i0_less_one = by_series(lambda x: (sc.i0(x) - 1.0) / x / x, _bessel_terms(1.0))


define(sc.itj0y0, lambda g, p, x: (g[0] * sc.j0(x) + g[1] * sc.y0(x),))
define(sc.iti0k0, lambda g, p, x: (g[0] * sc.i0(x) + g[1] * sc.k0(x),))
define(sc.it2j0y0, lambda g, p, x: (g[0] * (x * _one_less_j0(x)) - g[1] * (sc.y0(x) / x),))
define(sc.it2i0k0, lambda g, p, x: (g[0] * (x * _i0_less_one(x)) - g[1] * (sc.k0(x) / x),))


@primitive(elementwise=True)
def bessel_moment(power, v, a):
    """∫ tᵖ Jᵥ(2at) dt from 0 to 1."""
    return sc.besselpoly(a, power, v)


def _moment_slope(power, v, a):
    return bessel_moment(power + 1.0, v - 1.0, a) - bessel_moment(power + 1.0, v + 1.0, a)


def bessel_moment_series(power: Any, v: Any, a: Any, degree: int) -> Coefficients:
    """φ⁽ᵏ⁾ = Σ (-1)ʲ (k over j) ∫ tᵖ⁺ᵏ Jᵥ₋ₖ₊₂ⱼ(2at) dt, as large as a derivative of J."""
    return [
        sum((-1.0) ** j * math.comb(k, j) * sc.besselpoly(a, power + k, v - k + 2.0 * j) for j in range(k + 1))
        / math.factorial(k)
        for k in range(degree + 1)
    ]


def _unknown_moment():
    return unknown("besselpoly", "lmb, nu", "a")


define(
    bessel_moment,
    lambda g, p, power, v, a: (*2 * (_unknown_moment(),), g * _moment_slope(power, v, a)),
    kernel=bessel_moment_series,
)
define(
    sc.besselpoly,
    lambda g, p, a, power, v: (g * _moment_slope(power, v, a), *2 * (_unknown_moment(),)),
    expansion=lambda a, power, v: bessel_moment(power, v, a),
)
