"""Bessel and Hankel functions by their argument: from one order to the next, by recurrence.

References
----------
Abramowitz, M. and Stegun, I. A. (1964). Handbook of mathematical functions: 9.1.27, 9.1.31, 9.6.29. Trefethen, L. N.
and Weideman, J. A. C. (2014). The exponentially convergent trapezoidal rule. SIAM Review 56.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.kernels.ufuncs import compose, slope
from hoad._numpy.complex import is_complex
from hoad.rules.from_series import KernelOfAll
from hoad.rules.registry import primitive, vjp
from hoad.rules.special.bessel_orders import (
    bessel_derivative,
    by_order,
    coefficients,
    derivative_series,
    in_both,
)
from hoad.rules.special.define import Coefficients, Kernel, define, integral, sc, unknown
from hoad.rules.special.hypergeometric import hyp1f1_series

ROOT_2 = math.sqrt(2.0)
OF_INTEGRAL = 10  # the highest coefficient that is taken from an integral: later ones fall below its rounding errors


# ---- series ----------------------------------------------------------------------------------------------------------


def _cylinder(function: Callable[..., Any], before: float, after: float) -> Kernel:
    """The kernel of a function with fᵥ′ = (before fᵥ₋₁ + after fᵥ₊₁) / 2, as all Bessel functions have.

    The k-th derivative is a sum of f at the orders v - k, v - k + 2, …, v + k, with binomial weights.
    """

    def kernel(v: Any, x: Any, degree: int) -> Coefficients:
        with np.errstate(all="ignore"):
            at = {j: function(v + j, x) for j in range(-degree, degree + 1)}
            return [
                sum(math.comb(k, j) * before ** (k - j) * after**j * at[2 * j - k] for j in range(k + 1))
                / (2.0**k * math.factorial(k))
                for k in range(degree + 1)
            ]

    return kernel


jv_series = _cylinder(sc.jv, 1.0, -1.0)
yv_series = _cylinder(sc.yv, 1.0, -1.0)
iv_series = _cylinder(sc.iv, 1.0, 1.0)
kv_series = _cylinder(sc.kv, -1.0, -1.0)


def of_order(kernel: Kernel, v: float) -> Kernel:
    """The kernel of a function of x alone."""
    return functools.partial(kernel, v)


def of_whole_order(kernel: Kernel) -> Kernel:
    """The kernel of a function of whole orders, for which SciPy cuts others off."""
    return lambda n, x, degree: kernel(np.trunc(n), x, degree)


def mean_of_powers(x: Any, k: int) -> Any:
    """sᵏ of the sign s of x, at 0 the mean of both sides."""
    return np.sign(x) if k % 2 else 1.0


def powers_on_right(x: Any, k: int) -> Any:
    """sᵏ of the sign s of x, at 0 that of its right side."""
    return np.where(np.less(x, 0.0), -1.0, 1.0) if k % 2 else 1.0


def i0e_series(x: Any, degree: int, power: Callable[..., Any] = mean_of_powers) -> Coefficients:
    """e^-|x| I₀(x) = M(1/2, 1, -2|x|), and even."""
    return [c * (-2.0) ** k * power(x, k) for k, c in enumerate(hyp1f1_series(0.5, 1.0, -2.0 * abs(x), degree))]


def i1e_series(x: Any, degree: int, power: Callable[..., Any] = mean_of_powers) -> Coefficients:
    """e^-|x| I₁(x) = x/2 M(3/2, 3, -2|x|), and odd."""
    kummer = hyp1f1_series(1.5, 3.0, -2.0 * abs(x), degree)
    found = [c * (-2.0) ** k * power(x, k) for k, c in enumerate(kummer)]
    return [0.5 * (x * c + before) for c, before in zip(found, [0.0, *found], strict=False)]


def ive_series(v: Any, x: Any, degree: int) -> Coefficients:
    """From x = 1 on the first are those of the integral, by which none of their digits cancel.

    The others, and all below that, are of e⁻ˣ Iᵥ(x) = (x/2)ᵛ / Γ(v + 1) M(v + 1/2, 2v + 1, -2x) for x > 0.
    """
    near = _ive_near(v, x, degree)
    far = np.greater_equal(x, 1.0)
    first = min(degree, OF_INTEGRAL)
    found = coefficients("ive", v, np.where(far, x, 1.0), (0, first))
    return [np.where(far, found[0, k], near[k]) for k in range(first + 1)] + near[first + 1 :]


def _ive_near(v: Any, x: Any, degree: int) -> Coefficients:
    """Of a whole v even or odd, and that of -v."""
    whole, left = np.equal(v, np.rint(v)), np.less(x, 0.0)
    v = np.where(whole, abs(v), v)
    sign = np.where(left, -1.0, 1.0)
    parity = np.where(left, np.where(whole, 1.0 - 2.0 * (v % 2.0), np.nan), 1.0)
    kummer = [c * (-2.0) ** k for k, c in enumerate(hyp1f1_series(v + 0.5, 2.0 * v + 1.0, -2.0 * abs(x), degree))]
    return [parity * sign**k * c for k, c in enumerate(_convolved(_power(0.5 * abs(x), v, degree), kummer))]


def _power(x: Any, v: Any, degree: int) -> Coefficients:
    """(x + t/2)ᵛ / Γ(v + 1), where what has no coefficient is 0 at x = 0 too."""
    with np.errstate(all="ignore"):
        binomials = [sc.binom(v, k) * 0.5**k for k in range(degree + 1)]
        return [np.where(c == 0.0, 0.0, c * x ** (v - k) * sc.rgamma(v + 1.0)) for k, c in enumerate(binomials)]


def _convolved(a: Coefficients, b: Coefficients) -> Coefficients:
    """The coefficients of a product."""
    return [sum(a[j] * b[k - j] for j in range(k + 1)) for k in range(len(a))]


def kve_series(v: Any, x: Any, degree: int) -> Coefficients:
    """eˣ Kᵥ(x) = ∫₀^∞ exp(-x (cosh t - 1)) cosh vt dt: under the integral the k-th derivative has one sign.

    From x = 1 on the integral is taken over s in x (cosh t - 1) = s²; below it nothing cancels in the binomial sum of
    the orders v - k, …, v + k.
    """
    near = np.less(x, 1.0)
    inner, outer = np.where(near, x, 1.0), np.where(near, 1.0, x)
    at = {j: sc.kve(v + j, inner) for j in range(-degree, degree + 1)}

    def derivative(k: int) -> Any:
        def integrand(s: Any, v: Any, x: Any) -> Any:
            ratio = s / np.sqrt(x)
            even = np.cosh(2.0 * v * np.arcsinh(ratio / ROOT_2)) / np.sqrt(s * s + 2.0 * x)
            return np.exp(-s * s) * even * (-ratio * ratio) ** k

        binomial = (-0.5) ** k * sum((-1.0) ** j * math.comb(2 * k, j) * at[k - j] for j in range(2 * k + 1))
        return np.where(near, binomial, integral(integrand, v, outer))

    return [derivative(k) / math.factorial(k) for k in range(degree + 1)]


# ---- rules -----------------------------------------------------------------------------------------------------------


def _order(name):
    return unknown(name, "v")


def _whole(n):
    """The order that SciPy takes for n where the function is one of whole orders."""
    return np.trunc(n) if n.dtype.kind == "f" else n


define(sc.j0, lambda g, p, x: (-(g * sc.j1(x)),), kernel=of_order(jv_series, 0))
define(sc.j1, lambda g, p, x: (g * (0.5 * (sc.j0(x) - sc.jv(2.0, x))),), kernel=of_order(jv_series, 1))
define(
    sc.jv,
    lambda g, p, v, x: (by_order(g, "jv", v, x), g * (0.5 * (sc.jv(v - 1.0, x) - sc.jv(v + 1.0, x)))),
    kernel=in_both("jv", jv_series),
)
define(sc.y0, lambda g, p, x: (-(g * sc.y1(x)),), kernel=of_order(yv_series, 0))
define(sc.y1, lambda g, p, x: (g * (0.5 * (sc.y0(x) - sc.yv(2.0, x))),), kernel=of_order(yv_series, 1))
define(
    sc.yv,
    lambda g, p, v, x: (by_order(g, "yv", v, x), g * (0.5 * (sc.yv(v - 1.0, x) - sc.yv(v + 1.0, x)))),
    kernel=in_both("yv", yv_series),
)
define(
    sc.yn,
    lambda g, p, n, x: (_order("yn"), g * (0.5 * (sc.yn(_whole(n) - 1, x) - sc.yn(_whole(n) + 1, x)))),
    kernel=of_whole_order(yv_series),
)
define(sc.i0, lambda g, p, x: (g * sc.i1(x),), kernel=of_order(iv_series, 0))
define(sc.i1, lambda g, p, x: (g * (0.5 * (sc.i0(x) + sc.iv(2.0, x))),), kernel=of_order(iv_series, 1))
define(
    sc.iv,
    lambda g, p, v, x: (by_order(g, "iv", v, x), g * (0.5 * (sc.iv(v - 1.0, x) + sc.iv(v + 1.0, x)))),
    kernel=in_both("iv", iv_series),
)
define(sc.k0, lambda g, p, x: (-(g * sc.k1(x)),), kernel=of_order(kv_series, 0))
define(sc.k1, lambda g, p, x: (-(g * (0.5 * (sc.k0(x) + sc.kv(2.0, x)))),), kernel=of_order(kv_series, 1))
define(
    sc.kv,
    lambda g, p, v, x: (by_order(g, "kv", v, x), -(g * (0.5 * (sc.kv(v - 1.0, x) + sc.kv(v + 1.0, x))))),
    kernel=in_both("kv", kv_series),
)
define(
    sc.kn,
    lambda g, p, n, x: (_order("kn"), -(g * (0.5 * (sc.kn(_whole(n) - 1, x) + sc.kn(_whole(n) + 1, x))))),
    kernel=of_whole_order(kv_series),
)


@primitive(elementwise=True)
def slope_of_kve(v, x, *, n):
    """The n-th derivative of eˣ Kᵥ(x) by x."""
    return math.factorial(n) * kve_series(v, x, n)[n]


def slope_of_kve_series(v, x, degree, *, n):
    """The coefficients of the n-th derivative, (k + n)!/k! of those of eˣ Kᵥ(x)."""
    found = kve_series(v, x, degree + n)
    return [math.perm(k + n, n) * found[k + n] for k in range(degree + 1)]


def slope_of_kve_in_both(v, x, degree, moving, *, n):
    """Those in the operands that move."""
    if moving == (1,):
        return slope_of_kve_series(v, x, degree, n=n)
    return derivative_series(v, x, degree, moving, name="kve", by=(0, n))


def _i0e(g, sign, r):
    """e⁻ʳ I₀(r) = M(1/2, 1, -2r) for r = |x|."""
    return (-(g * (sign * sc.hyp1f1(1.5, 2.0, -2.0 * r))),)


def _i1e(g, r):
    """e⁻ʳ I₁(r) = r/2 M(3/2, 3, -2r) for r = |x|, times the sign of x."""
    y = -2.0 * r
    return (g * (0.5 * sc.hyp1f1(1.5, 3.0, y) + 0.25 * y * sc.hyp1f1(2.5, 4.0, y)),)


@primitive(elementwise=True)
def i0e_of_right_side(x):
    """e^-|x| I₀(x) with the derivatives of the right side at 0, where that of both has a kink."""
    return sc.i0e(x)


@primitive(elementwise=True)
def i1e_of_right_side(x):
    """e^-|x| I₁(x) with the derivatives of the right side at 0."""
    return sc.i1e(x)


def _ive(g, p, v, x):
    """From x = 1 on by the integral, since the recurrence cancels there."""
    far = np.greater_equal(x, 1.0)
    near = 0.5 * (sc.ive(v - 1.0, x) + sc.ive(v + 1.0, x)) - np.sign(x) * p
    by_x = np.where(far, bessel_derivative(v, np.where(far, x, 1.0), name="ive", by=(0, 1)), near)
    return by_order(g, "ive", v, x), g * by_x


define(sc.i0e, lambda g, p, x: _i0e(g, slope(x), np.absolute(x)), kernel=i0e_series)
define(sc.i1e, lambda g, p, x: _i1e(g, np.absolute(x)), kernel=i1e_series)
define(
    i0e_of_right_side,
    lambda g, p, x: _i0e(g, powers_on_right(x, 1), powers_on_right(x, 1) * x),
    kernel=functools.partial(i0e_series, power=powers_on_right),
)
define(
    i1e_of_right_side,
    lambda g, p, x: _i1e(g, powers_on_right(x, 1) * x),
    kernel=functools.partial(i1e_series, power=powers_on_right),
)
define(sc.ive, _ive, kernel=in_both("ive", ive_series))
define(sc.k0e, lambda g, p, x: (g * slope_of_kve(0.0, x, n=1),), kernel=of_order(kve_series, 0))
define(sc.k1e, lambda g, p, x: (g * slope_of_kve(1.0, x, n=1),), kernel=of_order(kve_series, 1))
define(
    sc.kve,
    lambda g, p, v, x: (by_order(g, "kve", v, x), g * slope_of_kve(v, x, n=1)),
    kernel=in_both("kve", kve_series),
)
define(
    slope_of_kve,
    lambda g, p, v, x, *, n: (
        g * bessel_derivative(v, x, name="kve", by=(1, n)),
        g * slope_of_kve(v, x, n=n + 1),
    ),
    kernel=KernelOfAll(slope_of_kve_in_both),
)


# ---- Hankel functions, and those that are scaled for complex arguments -----------------------------------------------


def _mean(function, v, x):
    return 0.5 * (function(v - 1.0, x) - function(v + 1.0, x))


def hankel(name, turn):
    """The rule of H, times exp(turn z), and the pair that it takes.

    H′ᵥ = v/z Hᵥ - Hᵥ₊₁ and H′ᵥ₊₁ = Hᵥ - (v + 1)/z Hᵥ₊₁ close. H is as large as the other solution of the recurrence, so
    that this is stable; the scaled ones lose a factor |z| an order.
    """
    function = getattr(sc, name)

    def pair(v, z):
        return function(v, z), function(v + 1.0, z)

    pair.__name__ = pair.__qualname__ = f"pair_of_{name}"
    both = primitive(elementwise=True, nout=2)(pair)

    def by_z(v, z, now, after):
        return v / z * now - after + turn * now

    def rule_of_both(g, p, v, z):
        now, after = p
        return _order(name), g[0] * by_z(v, z, now, after) + g[1] * (now - (v + 1.0) / z * after + turn * after)

    vjp(both, rule_of_both)
    define(function, lambda g, p, v, z: (_order(name), g * by_z(v, z, *both(v, z))))
    return both


pair_of_hankel1, pair_of_hankel2 = hankel("hankel1", 0.0), hankel("hankel2", 0.0)
pair_of_hankel1e, pair_of_hankel2e = hankel("hankel1e", -1j), hankel("hankel2e", 1j)


def _scaled_bessel(name):
    """exp(-|Im z|) times J or Y, which is analytic on the real line only."""
    function = getattr(sc, name)

    def rule(g, p, v, x):
        by_x = g * _mean(function, v, x)
        if is_complex(x):
            by_x = by_x + compose(0.0, np.sign(np.imag(x)) * np.real(g * p))
            return _order(name), by_x
        return by_order(g, name.replace("e", ""), v, x), by_x

    return rule


define(sc.jve, _scaled_bessel("jve"), kernel=in_both("jv", jv_series))
define(sc.yve, _scaled_bessel("yve"), kernel=in_both("yv", yv_series))
