"""Orthogonal polynomials and associated Legendre functions by their argument, of whole orders and of real ones.

A derivative is a polynomial of a related family, of an order one lower, so that nothing cancels. Of order 0 the factor
is a strong zero. SciPy takes orders given as floats from hypergeometric functions, which lose digits from orders of
about 20 on; those given as ints it does not.

References
----------
NIST Digital Library of Mathematical Functions, 14.3.1, 14.6.1, 14.9.3, 14.9.5, 18.7.1 to 18.7.10, 18.9.15, 18.9.19,
18.9.21, 18.9.23, 18.9.25, 18.9.27.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from hoad._core.kernels.ufuncs import strong_multiply
from hoad.rules.from_series import KernelOfAll, monomials
from hoad.rules.registry import primitive
from hoad.rules.special.define import Coefficients, Kernel, define, sc, scaled, unknown
from hoad.rules.special.gamma import log_slope
from hoad.rules.special.hypergeometric import GAUSS, KUMMER, partial, partial_series


def _order(name):
    return unknown(name, "n")


# ---- derivatives of every order --------------------------------------------------------------------------------------


def _jacobi(j: int, n: Any, a: Any, b: Any, x: Any) -> Any:
    """The j-th derivative of Pₙ⁽ᵃ ᵇ⁾: (n + a + b + 1)ⱼ / 2ʲ Pₙ₋ⱼ⁽ᵃ⁺ʲ ᵇ⁺ʲ⁾."""
    return strong_multiply(_left(n, j) * sc.poch(n + a + b + 1.0, j) * 0.5**j, sc.eval_jacobi(n - j, a + j, b + j, x))


def _sh_jacobi(j: int, n: Any, p: Any, q: Any, x: Any) -> Any:
    """Of the monic Gₙ⁽ᵖ ᵠ⁾: n! / (n - j)! Gₙ₋ⱼ⁽ᵖ⁺²ʲ ᵠ⁺ʲ⁾."""
    return strong_multiply(_left(n, j) * _falling(n, j), sc.eval_sh_jacobi(n - j, p + 2 * j, q + j, x))


def _gegenbauer(j: int, n: Any, a: Any, x: Any) -> Any:
    """Of Cₙ⁽ᵃ⁾: 2ʲ (a)ⱼ Cₙ₋ⱼ⁽ᵃ⁺ʲ⁾."""
    return strong_multiply(_left(n, j) * 2.0**j * sc.poch(a, j), sc.eval_gegenbauer(n - j, a + j, x))


def _laguerre(j: int, n: Any, a: Any, x: Any) -> Any:
    """Of Lₙ⁽ᵃ⁾: (-1)ʲ Lₙ₋ⱼ⁽ᵃ⁺ʲ⁾."""
    return strong_multiply(_left(n, j) * (-1.0) ** j, sc.eval_genlaguerre(n - j, a + j, x))


def _hermite(j: int, n: Any, x: Any) -> Any:
    """Of Hₙ: 2ʲ n! / (n - j)! Hₙ₋ⱼ."""
    return strong_multiply(_left(n, j) * 2.0**j * _falling(n, j), sc.eval_hermite(n - j, x))


def _hermitenorm(j: int, n: Any, x: Any) -> Any:
    """Of Heₙ: n! / (n - j)! Heₙ₋ⱼ."""
    return strong_multiply(_left(n, j) * _falling(n, j), sc.eval_hermitenorm(n - j, x))


def _falling(n: Any, j: int) -> Any:
    """n (n - 1) … (n - j + 1)."""
    product = 1.0
    for i in range(j):
        product = product * (n - i)
    return product


def _left(n: Any, j: int) -> Any:
    """0 where a polynomial of order n has no j-th derivative left, or else 1."""
    return np.where(np.logical_and(np.equal(n, np.rint(n)), np.less(n, j)), 0.0, 1.0)


def by(derivative: Any) -> Kernel:
    """The coefficients φ⁽ᵏ⁾ / k!."""
    return lambda *operands: [derivative(k, *operands[:-1]) / math.factorial(k) for k in range(operands[-1] + 1)]


def chebyshev_like(function: Any, a: float, factor: Any, scale: float = 1.0, shift: float = 0.0) -> None:
    """The rule φ′ₙ(x) = factor(n) Cₙ₋₁⁽ᵃ⁾(scale x + shift), and the series that comes of it."""

    def rule(g, p, n, x):
        slope = strong_multiply(_left(n, 1) * factor(n), sc.eval_gegenbauer(n - 1, a, scale * x + shift))
        return _order(function.__name__), g * slope

    def kernel(n: Any, x: Any, degree: int) -> Coefficients:
        y = scale * x + shift
        first = _left(n, 1) * factor(n)
        slopes = [strong_multiply(first * scale**k, _gegenbauer(k, n - 1, a, y)) for k in range(degree)]
        return [function(n, x), *[c / math.factorial(k) for k, c in enumerate(slopes, start=1)]]

    define(function, rule, kernel=kernel)


# ---- derivatives by parameters: of hypergeometric functions and the factor before them -------------------------------


def _gauss(a, b, c, x, *by):
    """The sum of derivatives of F(a, b; c; (1 - x) / 2), each of the first order by the places of its parameters."""
    z = 0.5 * (1.0 - x)
    return sum(partial(a, b, c, z, kind=GAUSS, by=tuple(int(k == place) for k in range(4))) for place in by)


def _jacobi_slopes(p, n, a, b, x):
    """By a and b, of (n + a over n) F(-n, n + a + b + 1; a + 1; (1 - x) / 2)."""
    factor, at = sc.binom(n + a, n), (-1.0 * n, n + a + b + 1.0, a + 1.0, x)
    by_b = factor * _gauss(*at, 1)
    return p * log_slope(a + 1.0, n) + by_b + factor * _gauss(*at, 2), by_b


def _sh_jacobi_slopes(g, n, p, q, x):
    """Of that for p - q and q - 1 at 2x - 1 over (2n + p - 1 over n), by p and q."""
    factor = sc.binom(2.0 * n + p - 1.0, n)
    by_a, by_b = _jacobi_slopes(g * factor, n, p - q, q - 1.0, 2.0 * x - 1.0)
    return by_a / factor - g * log_slope(n + p, n), (by_b - by_a) / factor


def _gegenbauer_slope(p, n, a, x):
    """By a, of (2a)ₙ / n! F(-n, n + 2a; a + ½; (1 - x) / 2)."""
    at = (-1.0 * n, n + 2.0 * a, a + 0.5, x)
    return p * (2.0 * log_slope(2.0 * a, n)) + sc.poch(2.0 * a, n) * sc.rgamma(n + 1.0) * _gauss(*at, 1, 1, 2)


def _laguerre_slope(p, n, a, x):
    """By a, of (n + a over n) M(-n, a + 1, x)."""
    by_b = partial(-1.0 * n, a + 1.0, x, kind=KUMMER, by=(0, 1, 0))
    return p * log_slope(a + 1.0, n) + sc.binom(n + a, n) * by_b


Row = tuple[float, ...]  # of a sum: the factor of each operand, and what is added
Polynomial = dict[tuple[int, ...], Any]


def _product(p: Polynomial, q: Polynomial, degree: int) -> Polynomial:
    found: Polynomial = {}
    for e, a in p.items():
        for f, b in q.items():
            if sum(e) + sum(f) <= degree:
                both = tuple(map(operator.add, e, f))
                found[both] = found.get(both, 0.0) + a * b
    return found


def _ratio(z: Any, n: Any, degree: int, sign: float) -> list[Any]:
    """The Taylor coefficients by z of Γ(z + n) / Γ(z), or of its reciprocal with -1."""
    slopes = [sign * log_slope(z, n)]
    slopes += [sign * (-1.0) ** k * (sc.zeta(k + 1.0, z) - sc.zeta(k + 1.0, z + n)) for k in range(1, degree)]
    found = [sc.poch(z, n) ** sign]
    for k in range(1, degree + 1):
        found.append(sum(slopes[i] * found[k - 1 - i] for i in range(k)) / k)
    return found


def _powers(row: Row, moving: tuple[int, ...], degree: int) -> list[Polynomial]:
    """Of what a sum changes by."""
    form = {tuple(int(j == k) for j in moving): row[k] for k in moving if row[k]}
    found: list[Polynomial] = [{(0,) * len(moving): 1.0}]
    for _ in range(degree):
        found.append(_product(found[-1], form, degree))
    return found


def in_parameters(
    name: str, by_x: Kernel, kind: int, rows: list[Row], ratios: list[tuple[Row, Row, float]], constant: Any
) -> KernelOfAll:
    """The kernel of ratios Γ(z + n) / Γ(z) times a hypergeometric function, all of sums of the operands.

    `constant` gives a factor that depends on the order alone. Where x alone moves, `by_x` gives the coefficients.
    """

    def of_all(*arguments):
        *operands, degree, moving = arguments
        if moving == (len(operands) - 1,):
            return by_x(*operands, degree)
        if moving[0] == 0:
            raise _order(name)

        def value(row: Row) -> Any:
            return sum(c * x for c, x in zip(row, operands, strict=False) if c) + row[-1]

        depends = tuple(k for k, row in enumerate(rows) if any(row[j] for j in moving))
        tables = {k: _powers(rows[k], moving, degree) for k in depends}
        series = partial_series(*map(value, rows), degree, depends, kind=kind, by=(0,) * len(rows))
        total: Polynomial = {}
        for exponents, c in zip(monomials(len(depends), degree), series, strict=True):
            term: Polynomial = {(0,) * len(moving): constant(operands[0])}
            for place, power in zip(depends, exponents, strict=True):
                term = _product(term, tables[place][power], degree)
            for at, weight in term.items():
                total[at] = total.get(at, 0.0) + weight * c
        for z, n, sign in ratios:
            ratio: Polynomial = {}
            coefficients = _ratio(value(z), value(n), degree, sign)
            for c, terms in zip(coefficients, _powers(z, moving, degree), strict=True):
                ratio.update({at: ratio.get(at, 0.0) + weight * c for at, weight in terms.items()})
            total = _product(total, ratio, degree)
        first = by_x(*operands, 0)
        return [*first, *(total.get(at, 0.0 * first[0]) for at in list(monomials(len(moving), degree))[1:])]

    return KernelOfAll(of_all)


# ---- rules -----------------------------------------------------------------------------------------------------------

chebyshev_like(sc.eval_chebyt, 1.0, lambda n: 1.0 * n)
chebyshev_like(sc.eval_chebyu, 2.0, lambda n: 2.0)
chebyshev_like(sc.eval_chebyc, 1.0, lambda n: 1.0 * n, 0.5)
chebyshev_like(sc.eval_chebys, 2.0, lambda n: 1.0, 0.5)
chebyshev_like(sc.eval_sh_chebyt, 1.0, lambda n: 2.0 * n, 2.0, -1.0)
chebyshev_like(sc.eval_sh_chebyu, 2.0, lambda n: 4.0, 2.0, -1.0)
chebyshev_like(sc.eval_legendre, 1.5, lambda n: 1.0)
chebyshev_like(sc.eval_sh_legendre, 1.5, lambda n: 2.0, 2.0, -1.0)
define(
    sc.eval_jacobi,
    lambda g, p, n, a, b, x: (
        _order("eval_jacobi"),
        *scaled(g, _jacobi_slopes(p, n, a, b, x)),
        g * _jacobi(1, n, a, b, x),
    ),
    kernel=in_parameters(
        "eval_jacobi",
        by(_jacobi),
        GAUSS,
        [(-1.0, 0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 0.0, 1.0), (0.0, 1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, -0.5, 0.5)],
        [((0.0, 1.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0, 0.0), 1.0)],
        lambda n: sc.rgamma(n + 1.0),
    ),
)
define(
    sc.eval_sh_jacobi,
    lambda g, p, n, a, b, x: (
        _order("eval_sh_jacobi"),
        *scaled(g, _sh_jacobi_slopes(p, n, a, b, x)),
        g * _sh_jacobi(1, n, a, b, x),
    ),
    kernel=in_parameters(
        "eval_sh_jacobi",
        by(_sh_jacobi),
        GAUSS,
        [(-1.0, 0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 0.0, 0.0, 0.0), (0.0, 1.0, -1.0, 0.0, 1.0), (0.0, 0.0, 0.0, -1.0, 1.0)],
        [
            ((0.0, 1.0, -1.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0, 0.0), 1.0),
            ((1.0, 1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0, 0.0), -1.0),
        ],
        np.ones_like,
    ),
)
define(
    sc.eval_gegenbauer,
    lambda g, p, n, a, x: (
        _order("eval_gegenbauer"),
        g * _gegenbauer_slope(p, n, a, x),
        g * _gegenbauer(1, n, a, x),
    ),
    kernel=in_parameters(
        "eval_gegenbauer",
        by(_gegenbauer),
        GAUSS,
        [(-1.0, 0.0, 0.0, 0.0), (1.0, 2.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.5), (0.0, 0.0, -0.5, 0.5)],
        [((0.0, 2.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), 1.0)],
        lambda n: sc.rgamma(n + 1.0),
    ),
)
define(
    sc.eval_genlaguerre,
    lambda g, p, n, a, x: (
        _order("eval_genlaguerre"),
        g * _laguerre_slope(p, n, a, x),
        g * _laguerre(1, n, a, x),
    ),
    kernel=in_parameters(
        "eval_genlaguerre",
        by(_laguerre),
        KUMMER,
        [(-1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.0)],
        [((0.0, 1.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0), 1.0)],
        lambda n: sc.rgamma(n + 1.0),
    ),
)
define(
    sc.eval_laguerre,
    lambda g, p, n, x: (_order("eval_laguerre"), g * _laguerre(1, n, 0.0, x)),
    kernel=by(lambda j, n, x: _laguerre(j, n, 0.0, x)),
)
define(sc.eval_hermite, lambda g, p, n, x: (_order("eval_hermite"), g * _hermite(1, n, x)), kernel=by(_hermite))
define(
    sc.eval_hermitenorm,
    lambda g, p, n, x: (_order("eval_hermitenorm"), g * _hermitenorm(1, n, x)),
    kernel=by(_hermitenorm),
)


# ---- associated Legendre functions: (-1)ᵐ (1 - x²)^m/2 times the m-th derivative of Pᵥ -------------------------------


@primitive(elementwise=True)
def legendre_derivative(n, v, x):
    """The n-th derivative of Pᵥ(x) for |x| ≤ 1: (2n - 1)!! Cᵥ₋ₙ⁽ⁿ⁺½⁾(x), where v is not whole by Gauss's function."""
    n, v, x = np.broadcast_arrays(n, np.where(np.less(v, -0.5), -1.0 - np.asarray(v, float), v), x)
    whole, inside = np.equal(v, np.rint(v)), np.less_equal(abs(x), 1.0)
    found = np.full(x.shape, np.nan)
    with np.errstate(all="ignore"):
        at = np.logical_and(inside, whole)
        polynomial = sc.eval_gegenbauer((v[at] - n[at]).astype(np.int64), n[at] + 0.5, x[at])
        found[at] = strong_multiply(_left(v[at], n[at]), 2.0 ** n[at] * sc.poch(0.5, n[at]) * polynomial)
        at = np.logical_and(inside, ~whole)
        m, u = n[at], v[at]
        series = partial(m - u, u + m + 1.0, m + 1.0, 0.5 * (1.0 - x[at]), kind=GAUSS, by=(0, 0, 0, 0))
        found[at] = sc.poch(u - m + 1.0, 2.0 * m) / (2.0**m * sc.gamma(m + 1.0)) * series
    return found


def _legendre_by_degree(p, n, v, x):
    """By v, of (v - n + 1)₂ₙ / (2ⁿ n!) F(n - v, n + v + 1; n + 1; (1 - x) / 2), which has a centre at v = -1/2."""
    left = np.less(v, -0.5)
    u = np.where(left, -1.0 - v, v)
    at = (n - u, n + u + 1.0, n + 1.0, x)
    factor = sc.poch(u - n + 1.0, 2.0 * n) / 2.0**n * sc.rgamma(n + 1.0)
    slope = p * log_slope(u - n + 1.0, 2.0 * n) + factor * (_gauss(*at, 1) - _gauss(*at, 0))
    return np.where(left, -slope, slope)


define(
    legendre_derivative,
    lambda g, p, n, v, x: (
        unknown("lpmv", "m", "v and x"),
        g * _legendre_by_degree(p, n, v, x),
        g * legendre_derivative(n + 1.0, v, x),
    ),
    kernel=in_parameters(
        "lpmv",
        by(lambda k, n, v, x: legendre_derivative(n + float(k), v, x)),
        GAUSS,
        [(1.0, -1.0, 0.0, 0.0), (1.0, 1.0, 0.0, 1.0), (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, -0.5, 0.5)],
        [((-1.0, 1.0, 0.0, 1.0), (2.0, 0.0, 0.0, 0.0), 1.0)],
        lambda n: sc.rgamma(n + 1.0) / 2.0**n,
    ),
)


def _lpmv_factors(m, v, x):
    """|m|, the constant factor of m, which may be negative, and 1 - x²."""
    size = np.absolute(m)
    sign = np.where(np.equal(m, np.rint(m)), 1.0 - 2.0 * (size % 2.0), np.nan)
    reflected = np.where(np.less(m, 0.0), sc.poch(v + size + 1.0, -2.0 * size), sign)
    return size, reflected, (1.0 - x) * (1.0 + x)


def _lpmv(g, p, m, v, x):
    size, factor, rest = _lpmv_factors(m, v, x)
    here, after = legendre_derivative(size, v, x), legendre_derivative(size + 1.0, v, x)
    slope = rest ** (0.5 * size) * after - strong_multiply(size, x * rest ** (0.5 * size - 1.0) * here)
    by_degree = _legendre_by_degree(np.where(np.less(m, 0.0), 0.0, here), size, v, x)  # its factor stands in the other
    by_v = factor * rest ** (0.5 * size) * by_degree
    return unknown("lpmv", "m", "v and x"), g * by_v, g * (factor * slope)


def lpmv_expansion(m: Any, v: Any, x: Any) -> Any:
    """The definition, by the derivatives of Pᵥ."""
    size, factor, rest = _lpmv_factors(m, v, x)
    return factor * rest ** (0.5 * size) * legendre_derivative(size, v, x)


define(sc.lpmv, _lpmv, expansion=lpmv_expansion)
