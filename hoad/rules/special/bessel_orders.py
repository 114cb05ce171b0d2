"""Derivatives of Bessel functions by their order: integrals in which the order and x stand in an exponent only.

Each of J, H, I and K is ∫ exp(x s(w) - v w) dw along a path, with s = sinh or cosh, so a derivative by v and x is the
same integral with a factor (-w)ʲ s(w)ᵏ. The paths pass through the saddle points, or beside them where these are close
to each other; along them the integrand does not cancel, and the trapezoidal rule converges geometrically.

References
----------
NIST Digital Library of Mathematical Functions, 10.4.6, 10.9.17, 10.9.18, 10.27.2, 10.32.9, 10.32.12. Trefethen, L. N.
and Weideman, J. A. C. (2014). The exponentially convergent trapezoidal rule. SIAM Review 56.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._numpy.complex import is_complex
from hoad.rules.from_series import KernelOfAll, monomials
from hoad.rules.registry import primitive
from hoad.rules.special.define import Kernel, define, unknown

Array = np.ndarray[Any, np.dtype[Any]]
Table = dict[tuple[int, int], Array]  # Taylor coefficients: of the powers of the order and of x

FALL = 45.0  # in the exponent, from the largest integrand to where the sum ends; and more for each derivative
FALL_OF_ORDER = 4.0
STEP = 0.4  # in units of the width of exp(-s²/2)
STEP_OF_TURN = 0.06
NODES = 64  # of the paths that end at ±iπ
MOST = 1000.0  # the largest order in size of J and Y, to which they were compared with other values
LEAST = 2.0  # the least order that the path is that of: for smaller ones it turns too sharply at its ends
BLOCK = 64


def table_of(w: Any, weight: Any, base: Any, orders: tuple[int, int]) -> Table:
    """Sums of (-w)ʲ/j! baseᵏ/k! weight over the last axis."""
    found = {}
    for j in range(orders[0] + 1):
        term = weight
        for k in range(orders[1] + 1):
            found[j, k] = np.sum(term, axis=-1)
            term = term * (base / (k + 1.0))
        weight = weight * (w / -(j + 1.0))
    return found


# ---- functions of the second kind ------------------------------------------------------------------------------------


def _k(v: Array, x: Array, orders: tuple[int, int], shift: float = 0.0) -> Table:
    """exp(shift x) Kᵥ(x): ∫ exp(-x cosh t) cosh vt dt over t > 0; odd derivatives by v have sinh vt."""
    size = np.hypot(v, x)
    step = np.minimum(0.2, STEP / np.sqrt(size))
    fall = FALL + FALL_OF_ORDER * sum(orders)
    end = np.arcsinh(v / x) + 2.0 * np.arcsinh(np.sqrt(0.5 * fall / size))
    t = step * np.arange(math.ceil(np.max(end / step)) + 1)
    base = -2.0 * np.sinh(0.5 * t) ** 2 if shift == 1.0 else shift - np.cosh(t)
    weight = 0.5 * step * np.exp(x * base + v * t)
    weight[:, 0] *= 0.5
    smaller = -2.0 * v * t
    even = table_of(-t, weight * (1.0 + np.exp(smaller)), base, orders)
    odd = table_of(-t, weight * -np.expm1(smaller), base, orders)
    return {(j, k): (odd if j % 2 else even)[j, k] for j, k in even}


def _transition(v: Array) -> Array:
    """The width of the region in w where saddle points that are close to each other act as one."""
    return np.minimum(1.0, (4.0 / v) ** (1.0 / 3.0))


def _h(v: Array, x: Array, orders: tuple[int, int]) -> Table:
    """J + iY: from -∞ to ∞ + iπ, along w = u + iv(u) with log tan(v/2) = k (u - u₀).

    For x > v it goes through the saddle point iβ, x cos β = v; else over -α, x cosh α = v, and turns beyond α.
    """
    least = _transition(np.maximum(v, x))
    beyond = x > v
    with np.errstate(all="ignore"):
        beta = np.maximum(np.where(beyond, np.arccos(np.minimum(v / x, 1.0)), 1.0), least)
        alpha = np.where(beyond, 0.0, np.arccosh(np.maximum(v / x, 1.0)))
    turn = np.where(beyond, np.sin(beta), np.minimum(1.0, np.maximum(alpha, least)))
    centre = np.where(beyond, -turn * np.log(np.tan(0.5 * beta)), alpha - turn * np.log(np.tan(0.5 * turn)))
    size = np.sqrt(abs(v - x) * (v + x)) + np.maximum(v, x) ** (2.0 / 3.0)
    step = np.minimum(STEP_OF_TURN * turn, STEP / np.sqrt(2.0 * size))
    fall = FALL + FALL_OF_ORDER * sum(orders)
    larger = np.maximum(v, x)
    reach = 1.3 * np.minimum((6.0 * fall / larger) ** (1.0 / 3.0), np.maximum(3.0, np.arcsinh(1.5 * fall / larger)))
    low, high = -alpha - reach, np.maximum(centre, 0.0) + reach
    u = low + step * np.arange(math.ceil(np.max((high - low) / step)) + 1)
    angle = 2.0 * np.arctan(np.exp((u - centre) / turn))
    sine, cosine = np.sin(angle), np.cos(angle)
    sinh, cosh = np.sinh(u), np.cosh(u)
    size_of = np.exp(x * (sinh * cosine) - v * u)
    phase = x * (cosh * sine) - v * angle
    weight = step / (1j * math.pi) * size_of * np.exp(1j * phase) * (1.0 + 1j * sine / turn)
    return table_of(u + 1j * angle, weight, sinh * cosine + 1j * (cosh * sine), orders)


# ---- functions of the first kind -------------------------------------------------------------------------------------

# Of the derivative of t / sin t, in t
_RISE = [1 / 3, 7 / 90, 31 / 2520, 127 / 75600, 73 / 342144, 1414477 / 54486432000]


def _rise(t: Any) -> Any:
    """The derivative of t / sin t."""
    near = np.minimum(t, 0.15)
    square, total = near * near, 0.0
    for c in reversed(_RISE):
        total = c + square * total
    far = np.maximum(t, 0.15)
    return np.where(t < 0.15, near * total, (np.sin(far) - far * np.cos(far)) / np.sin(far) ** 2)


def _angles(size: Array) -> tuple[Array, Array]:
    """Nodes from 0 to π, and the weights there."""
    step = np.minimum(math.pi / NODES, STEP / np.sqrt(size))
    angle = step * np.arange(NODES)
    weight = np.broadcast_to(step / math.pi, angle.shape).copy()
    weight[:, 0] *= 0.5
    return angle, weight


def _i(v: Array, x: Array, orders: tuple[int, int], shift: float = 0.0) -> Table:
    """exp(shift x) Iᵥ(x): from ∞ - iπ to ∞ + iπ, along w = u + it with sinh u = (m/x) t / sin t."""
    m = np.maximum(v, LEAST)
    t, weight = _angles(np.hypot(m, x))
    u = np.arcsinh(m / x / np.sinc(t / math.pi))
    slope = m / x * _rise(t) / np.cosh(u)
    real = 2.0 * (np.sinh(0.5 * u) ** 2 * np.cos(t) - np.sin(0.5 * t) ** 2)
    base = real + 1.0 + shift + 1j * np.sinh(u) * np.sin(t)
    along = np.exp(x * (real + 1.0 + shift) - v * u) * np.exp(1j * (m - v) * t) * (slope + 1j)
    return {at: c.imag for at, c in table_of(u + 1j * t, weight * along, base, orders).items()}


def _j(v: Array, x: Array, orders: tuple[int, int]) -> Table:
    """Jᵥ(x) for x up to about v: from ∞ - iπ to ∞ + iπ, along w = u + it with cosh u = (m/x) t / sin t."""
    m = np.maximum(np.maximum(v, LEAST), x * np.cosh(_transition(v)))
    t, weight = _angles(np.sqrt((m - x) * (m + x)))
    u = np.arccosh(m / x / np.sinc(t / math.pi))
    slope = m / x * _rise(t) / np.sinh(u)
    base = np.sinh(u) * np.cos(t) + 1j * np.cosh(u) * np.sin(t)
    along = np.exp(x * base.real - v * u) * np.exp(1j * (m - v) * t) * (slope + 1j)
    return {at: c.imag for at, c in table_of(u + 1j * t, weight * along, base, orders).items()}


# ---- all orders and arguments ----------------------------------------------------------------------------------------


def turned(v: Array, orders: tuple[int, int], function: Callable[[Any], Any]) -> list[Array]:
    """The Taylor coefficients by v of cos πv or sin πv, whole and half v without an error."""
    quarter = np.array([0.0, 1.0, 0.0, -1.0])
    near = np.rint(2.0 * v)
    rest, place = math.pi * (v - 0.5 * near), near.astype(np.int64) + (function is np.cos)
    sines = [quarter[(place + k) % 4] * np.cos(rest) + quarter[(place + 1 + k) % 4] * np.sin(rest) for k in range(4)]
    return [math.pi**j / math.factorial(j) * sines[j % 4] for j in range(orders[0] + 1)]


def times_by_order(coefficients: list[Array], table: Table) -> Table:
    """The product of a function of v with what the table is of."""
    return {
        (j, k): sum(coefficients[i] * table[j - i, k] for i in range(j + 1))  # type: ignore[misc]
        for j, k in table
    }


def sum_of_tables(first: Table, second: Table) -> Table:
    return {at: first[at] + second[at] for at in first}


def product_of_tables(first: Table, second: Table) -> Table:
    return {
        (j, k): sum(first[a, b] * second[j - a, k - b] for a in range(j + 1) for b in range(k + 1))  # type: ignore[misc]
        for j, k in first
    }


def _first_and_second(v: Array, x: Array, orders: tuple[int, int]) -> tuple[Table, Table]:
    """J and Y."""
    hankel = _h(v, x, orders)
    inner = x <= np.maximum(v, LEAST)
    own = _j(v, np.where(inner, x, 1.0), orders)
    first = {at: np.where(inner[:, 0], own[at], c.real) for at, c in hankel.items()}
    return first, {at: c.imag for at, c in hankel.items()}


def _jv(v: Array, x: Array, orders: tuple[int, int]) -> Table:
    first, second = _first_and_second(abs(v), x, orders)
    cosine, sine = (turned(abs(v[:, 0]), orders, f) for f in (np.cos, np.sin))
    reflected = sum_of_tables(times_by_order(cosine, first), times_by_order([-c for c in sine], second))
    return _of_sign(v, first, reflected)


def _yv(v: Array, x: Array, orders: tuple[int, int]) -> Table:
    first, second = _first_and_second(abs(v), x, orders)
    cosine, sine = (turned(abs(v[:, 0]), orders, f) for f in (np.cos, np.sin))
    return _of_sign(v, second, sum_of_tables(times_by_order(sine, first), times_by_order(cosine, second)))


def _iv(v: Array, x: Array, orders: tuple[int, int], shift: float = 0.0) -> Table:
    first = _i(abs(v), x, orders, shift)
    if not np.any(v < 0.0):
        return first
    sine = turned(abs(v[:, 0]), orders, np.sin)
    second = times_by_order([2.0 / math.pi * c for c in sine], _k(abs(v), x, orders, shift))
    return _of_sign(v, first, sum_of_tables(first, second))


def _kv(v: Array, x: Array, orders: tuple[int, int], shift: float = 0.0) -> Table:
    found = _k(abs(v), x, orders, shift)
    return _of_sign(v, found, found)


def _of_sign(v: Array, right: Table, left: Table) -> Table:
    """What is given of |v|: of a v to the left of 0 each derivative by it has another sign."""
    below = v[:, 0] < 0.0
    return {(j, k): np.where(below, (-1.0) ** j * left[j, k], c) for (j, k), c in right.items()}


TABLES: dict[str, Callable[[Array, Array, tuple[int, int]], Table]] = {
    "jv": _jv,
    "yv": _yv,
    "iv": _iv,
    "kv": _kv,
    "ive": functools.partial(_iv, shift=-1.0),
    "kve": functools.partial(_kv, shift=1.0),
}

# Of functions that have values at x = 0 and to the left of it
WITH_LEFT_SIDE: dict[str, Callable[[Array, Array, tuple[int, int]], Table]] = {}


def coefficients(name: str, v: Any, x: Any, orders: tuple[int, int]) -> Table:
    """The Taylor coefficients of a function in v and x, to these orders in each.

    They are nan for negative x, where v has to be whole, where there is no limit at x = 0, and for J and Y of orders
    beyond MOST.
    """
    v, x = np.broadcast_arrays(np.asarray(v, np.float64), np.asarray(x, np.float64))
    if name in WITH_LEFT_SIDE:
        return WITH_LEFT_SIDE[name](v, x, orders)
    inside = np.logical_and(np.greater(x, 0.0), np.isfinite(x + v))
    if name in ("jv", "yv"):
        inside = np.logical_and(inside, np.less_equal(abs(v), MOST))
    at_v, at_x = v[inside], x[inside]
    found = {(j, k): _at_the_edge(name, v, x, k) for j in range(orders[0] + 1) for k in range(orders[1] + 1)}
    with np.errstate(all="ignore"):
        for start in range(0, at_x.size, BLOCK):
            part = slice(start, start + BLOCK)
            for at, c in TABLES[name](at_v[part, None], at_x[part, None], orders).items():
                places = np.flatnonzero(inside)[part]
                found[at].reshape(-1)[places] = c
    return found


def _at_the_edge(name: str, v: Array, x: Array, k: int) -> Array:
    """What is left of derivatives of xᵛ, with any powers of log x beside it, at x = 0: 0 or nothing."""
    vanishes = np.logical_and(np.equal(x, 0.0), np.greater(v, k)) if name in ("jv", "iv", "ive") else False
    return np.where(vanishes, 0.0, np.full(x.shape, np.nan))


# ---- primitives ------------------------------------------------------------------------------------------------------


@primitive(elementwise=True)
def bessel_derivative(v, x, *, name, by):
    """The derivative of a Bessel function of real numbers, of the orders `by` by v and by x."""
    return math.factorial(by[0]) * math.factorial(by[1]) * coefficients(name, v, x, by)[by]


def derivative_series(v, x, degree, moving, *, name, by):
    """The Taylor coefficients of that in the operands that move."""
    found = coefficients(name, v, x, (by[0] + degree * (0 in moving), by[1] + degree * (1 in moving)))

    def coefficient(exponents):
        beyond = dict(zip(moving, exponents, strict=True))
        j, k = (n + beyond.get(place, 0) for place, n in enumerate(by))
        return math.perm(j, by[0]) * math.perm(k, by[1]) * found[j, k]

    return list(map(coefficient, monomials(len(moving), degree)))


def in_both(name: str, by_x: Kernel) -> KernelOfAll:
    """The kernel of a function whose coefficients by x alone are given."""

    def of_all(v, x, degree, moving):
        if moving == (1,):
            return by_x(v, x, degree)
        return [by_x(v, x, 0)[0], *derivative_series(v, x, degree, moving, name=name, by=(0, 0))[1:]]

    return KernelOfAll(of_all)


def by_order(g: Any, name: str, v: Any, x: Any) -> Any:
    """The adjoint of the order v."""
    if is_complex(x):
        return unknown(f"{name} of a complex argument", "v")
    return g * bessel_derivative(v, x, name=name, by=(1, 0))


define(
    bessel_derivative,
    lambda g, p, v, x, *, name, by: (
        g * bessel_derivative(v, x, name=name, by=(by[0] + 1, by[1])),
        g * bessel_derivative(v, x, name=name, by=(by[0], by[1] + 1)),
    ),
    kernel=KernelOfAll(derivative_series),
)
