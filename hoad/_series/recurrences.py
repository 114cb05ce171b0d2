"""Power series as lists of coefficients, order by order (Griewank and Walther 2008, section 13.2 and table 13.2).

u, v and w are lists u₀, ..., uₙ of numbers and arrays, plain or traced, which broadcast against each other. Where a
recurrence would cancel in its constant term, that one is computed by itself.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from hoad._core.kernels.ufuncs import sech_squared, sqrt_one_minus_square
from hoad._core.trace.traced import is_traced

WHOLE_POWERS = 1 << 62  # beyond, a float is not a number of factors

Series = Sequence[Any]
Slope = Callable[[Series, int], Any]

LN2, LN10 = math.log(2.0), math.log(10.0)  # Python's floats: NumPy's would make float32 wider


def total(terms: Iterable[Any]) -> Any:
    """The sum of one or more terms."""
    return reduce(operator.add, terms)


def convolution(u: Series, v: Series, k: int, times: Callable[[Any, Any], Any] = operator.mul) -> Any:
    """Coefficient k of a product."""
    return total(times(u[j], v[k - j]) for j in range(k + 1))


# ---- arithmetic


def added(u: Series, v: Series) -> list[Any]:
    return [x + y for x, y in zip(u, v, strict=False)]


def subtracted(u: Series, v: Series) -> list[Any]:
    return [x - y for x, y in zip(u, v, strict=False)]


def product(u: Series, v: Series, times: Callable[[Any, Any], Any] = operator.mul) -> list[Any]:
    """u v, or what else is bilinear."""
    return [convolution(u, v, k, times) for k in range(min(len(u), len(v)))]


def quotient(u: Series, v: Series) -> list[Any]:
    """q = u / v from v q = u."""
    q: list[Any] = []
    for k in range(min(len(u), len(v))):
        known = (v[j] * q[k - j] for j in range(1, k + 1))
        q.append(reduce(operator.sub, known, u[k]) / v[0])
    return q


def whole_power(u: Series, exponent: int) -> list[Any]:
    """uᵐ for m > 0 by squaring, whatever u₀ is."""
    power = list(u)
    for bit in bin(exponent)[3:]:
        power = product(power, power)
        if bit == "1":
            power = product(power, u)
    return power


def power(u: Series, exponent: Any, v0: Any) -> list[Any]:
    """v = uʳ from u v′ = r u′ v; its constant term is given, as it is for roots of negative numbers."""
    v = [v0]
    for k in range(1, len(u)):
        v.append(total((exponent * j - (k - j)) * (u[j] * v[k - j]) for j in range(1, k + 1)) / (k * u[0]))
    if not any(map(is_traced, (*u, exponent))) and np.any(np.equal(u[0], 0)):
        return _vanishing(u, exponent, v)
    return v


def _vanishing(u: Series, exponent: Any, v: list[Any]) -> list[Any]:
    """v = uʳ where u starts with tᵐ: orders below m r are 0, which the recurrence finds as 0/0; so are whole powers."""
    starts = np.equal(u[0], 0)
    for r in np.unique(exponent):
        if 0 <= np.real(r) < WHOLE_POWERS and r == np.rint(np.real(r)):
            whole = whole_power(u, int(np.real(r))) if r else [1.0, *[0.0] * (len(u) - 1)]
            v = [np.where(starts & np.equal(exponent, r), x, y)[()] for x, y in zip(whole, v, strict=True)]
    for m in range(1, len(u) + 1):
        v = [np.where(starts & (k < m * np.real(exponent)), 0.0, x)[()] if k else x for k, x in enumerate(v)]
        starts = starts & np.equal(u[m], 0) if m < len(u) else starts
    return v


def power_of_series(u: Series, exponent: Series) -> list[Any]:
    """uʷ for another series w; its constant term by itself."""
    return [u[0] ** exponent[0], *exp(product(exponent, log(u)))[1:]]


def power_of_number(base: Any, exponent: Series) -> list[Any]:
    """bᵘ for a number b; its constant term by itself."""
    found = [base ** exponent[0], *exp(scaled(exponent, np.log(base)))[1:]]
    if any(map(is_traced, (base, *exponent))) or not np.any(np.equal(base, 0)):
        return found
    stays = np.equal(base, 0) & (np.real(exponent[0]) > 0)
    return [np.where(stays, 0.0, x)[()] for x in found]


def composed(v: Series, u: Series) -> list[Any]:
    """v(u) for u₀ = 0, by Horner's rule: the partial sum over the terms from k on is needed to degree n − k."""
    n = min(len(u), len(v)) - 1
    inner = u[1 : n + 1]  # u/t
    found = [v[n]]
    for k in reversed(range(n)):
        found = [v[k], *product(inner, found)]
    return found


def reverted(u: Series) -> list[Any]:
    """v with u(v(t)) = t for u₀ = 0, by Lagrange's formula vₖ = [tᵏ⁻¹] (t/u)ᵏ / k."""
    n = len(u) - 1
    h = quotient([u[1] / u[1], *(0 * u[1] for _ in range(n - 1))], u[1:])
    v = [0 * u[1]]
    raised = h
    for k in range(1, n + 1):
        v.append(raised[k - 1] / k)
        raised = product(raised, h)
    return v


# ---- calculus


def derivative(u: Series) -> list[Any]:
    return [k * u[k] for k in range(1, len(u))]


def integral(u: Series, constant: Any) -> list[Any]:
    return [constant, *(x / k for k, x in enumerate(u, 1))]


def solution(v0: Any, u: Series, slope: Slope) -> list[Any]:
    """v of v′ = w u′, where ``slope(v, k)`` gives wₖ from v₀, ..., vₖ."""
    du = derivative(u)
    v, w = [v0], []
    for k in range(len(du)):
        w.append(slope(v, k))
        v.append(convolution(w, du, k) / (k + 1))
    return v


def solutions(v0: Any, w0: Any, u: Series, sign: int) -> tuple[list[Any], list[Any]]:
    """v and w of v′ = w u′, w′ = ±v u′."""
    du = derivative(u)
    v, w = [v0], [w0]
    for k in range(len(du)):
        v_next, w_next = convolution(w, du, k) / (k + 1), sign * convolution(v, du, k) / (k + 1)
        v.append(v_next)
        w.append(w_next)
    return v, w


def primitive(v0: Any, u: Series, w: Series) -> list[Any]:
    """v of w v′ = u′."""
    return integral(quotient(derivative(u), w), v0)


# ---- elementary functions


def scaled(u: Series, factor: Any) -> list[Any]:
    return [factor * x for x in u]


def shifted(u: Series, constant: Any, sign: int = 1) -> list[Any]:
    """constant ± u."""
    rest = u[1:] if sign == 1 else scaled(u[1:], -1)
    return [constant + u[0] if sign == 1 else constant - u[0], *rest]


def exp(u: Series) -> list[Any]:
    return solution(np.exp(u[0]), u, lambda v, k: v[k])


def log(u: Series) -> list[Any]:
    return primitive(np.log(u[0]), u, u)


def _one_less_square(u: Series) -> list[Any]:
    """1 − u², as (1 − u)(1 + u), which does not cancel."""
    return product(shifted(u, 1, -1), shifted(u, 1))


def _sqrt_one_minus_square(u: Series) -> list[Any]:
    return power(_one_less_square(u), 0.5, sqrt_one_minus_square(u[0]))


def _sqrt_square_minus_one(u: Series) -> list[Any]:
    return power(product(shifted(u, -1), shifted(u, 1)), 0.5, np.sqrt(u[0] - 1) * np.sqrt(u[0] + 1))


def _sqrt_one_plus_square(u: Series) -> list[Any]:
    radicand = shifted(product(u, u), 1)
    return power(radicand, 0.5, np.sqrt(radicand[0]))


def _sin_cos(u: Series) -> tuple[list[Any], list[Any]]:
    return solutions(np.sin(u[0]), np.cos(u[0]), u, -1)


def _sinh_cosh(u: Series) -> tuple[list[Any], list[Any]]:
    return solutions(np.sinh(u[0]), np.cosh(u[0]), u, 1)


ELEMENTARY: dict[np.ufunc, Callable[[Series], list[Any]]] = {
    np.exp: exp,
    np.exp2: lambda u: solution(np.exp2(u[0]), scaled(u, LN2), lambda v, k: v[k]),
    np.expm1: lambda u: [np.expm1(u[0]), *exp(u)[1:]],
    np.log: log,
    np.log2: lambda u: primitive(np.log2(u[0]), u, scaled(u, LN2)),
    np.log10: lambda u: primitive(np.log10(u[0]), u, scaled(u, LN10)),
    np.log1p: lambda u: primitive(np.log1p(u[0]), u, shifted(u, 1)),
    np.sqrt: lambda u: power(u, 0.5, np.sqrt(u[0])),
    np.cbrt: lambda u: power(u, 1 / 3, np.cbrt(u[0])),
    np.square: lambda u: product(u, u),
    np.sin: lambda u: _sin_cos(u)[0],
    np.cos: lambda u: _sin_cos(u)[1],
    np.tan: lambda u: solution(np.tan(u[0]), u, lambda v, k: convolution(v, v, k) if k else 1 / np.cos(u[0]) ** 2),
    np.arcsin: lambda u: primitive(np.arcsin(u[0]), u, _sqrt_one_minus_square(u)),
    np.arccos: lambda u: primitive(np.arccos(u[0]), scaled(u, -1), _sqrt_one_minus_square(u)),
    np.arctan: lambda u: primitive(np.arctan(u[0]), u, shifted(product(u, u), 1)),
    np.sinh: lambda u: _sinh_cosh(u)[0],
    np.cosh: lambda u: _sinh_cosh(u)[1],
    np.tanh: lambda u: solution(np.tanh(u[0]), u, lambda v, k: -convolution(v, v, k) if k else sech_squared(u[0])),
    np.arcsinh: lambda u: primitive(np.arcsinh(u[0]), u, _sqrt_one_plus_square(u)),
    np.arccosh: lambda u: primitive(np.arccosh(u[0]), u, _sqrt_square_minus_one(u)),
    np.arctanh: lambda u: primitive(np.arctanh(u[0]), u, _one_less_square(u)),
    np.conjugate: lambda u: [np.conjugate(x) for x in u],
    **dict.fromkeys((np.radians, np.deg2rad), lambda u: scaled(u, math.pi / 180)),
    **dict.fromkeys((np.degrees, np.rad2deg), lambda u: scaled(u, 180 / math.pi)),
}


def _arctan2(v: Series, u: Series) -> list[Any]:
    """The angle of the curve (u, v), which turns by (u v′ − v u′) / (u² + v²)."""
    turned = subtracted(product(u, derivative(v)), product(v, derivative(u)))
    return integral(quotient(turned, added(product(u, u), product(v, v))), np.arctan2(v[0], u[0]))


ELEMENTARY_OF_TWO: dict[np.ufunc, Callable[[Series, Series], list[Any]]] = {
    np.hypot: lambda u, v: power(added(product(u, u), product(v, v)), 0.5, np.hypot(u[0], v[0])),
    np.arctan2: _arctan2,
}
