"""Hypergeometric functions in their argument and their parameters, and Wright's generalized Bessel function.

Derivatives by parameters are those of `hoad._core.kernels.hypergeometric`: right to 10⁻¹¹ or nan.

References
----------
Abramowitz, M. and Stegun, I. A. (1964). Handbook of mathematical functions: 13.4.8,
13.4.21, 15.2.2. NIST Digital Library of Mathematical Functions, 10.46.1, 16.3.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hoad._core.kernels import hypergeometric
from hoad._numpy.complex import is_complex
from hoad.rules.from_series import KernelOfAll, monomials
from hoad.rules.registry import primitive
from hoad.rules.special.define import Coefficients, Kernel, define, sc, unknown


def hyp1f1_series(a: Any, b: Any, x: Any, degree: int) -> Coefficients:
    """Kummer's function: φ⁽ᵏ⁾ = (a)ₖ / (b)ₖ M(a + k, b + k, x)."""
    return [sc.poch(a, k) / sc.poch(b, k) / math.factorial(k) * sc.hyp1f1(a + k, b + k, x) for k in range(degree + 1)]


def hyp2f1_series(a: Any, b: Any, c: Any, x: Any, degree: int) -> Coefficients:
    """Gauss's function: φ⁽ᵏ⁾ = (a)ₖ (b)ₖ / (c)ₖ F(a + k, b + k, c + k, x)."""
    factors = [sc.poch(a, k) * (sc.poch(b, k) / math.factorial(k)) / sc.poch(c, k) for k in range(degree + 1)]
    with np.errstate(all="ignore"):  # of a polynomial nothing is left, but F may be infinite there
        slopes = [factor * sc.hyp2f1(a + k, b + k, c + k, x) for k, factor in enumerate(factors)]
    return [np.where(np.equal(factor, 0.0), 0.0, slope) for factor, slope in zip(factors, slopes, strict=True)]


def hyp0f1_series(v: Any, z: Any, degree: int) -> Coefficients:
    """φ⁽ᵏ⁾ = ₀F₁(v + k; z) / (v)ₖ."""
    return [sc.hyp0f1(v + k, z) / (sc.poch(v, k) * math.factorial(k)) for k in range(degree + 1)]


def wright_bessel_series(a: Any, b: Any, x: Any, degree: int) -> Coefficients:
    """Σ xᵏ / (k! Γ(ak + b)): φ⁽ᵏ⁾ is that of b + ka."""
    return [sc.wright_bessel(a, b + k * a, x) / math.factorial(k) for k in range(degree + 1)]


def log_wright_bessel_series(a: Any, b: Any, x: Any, degree: int) -> Coefficients:
    """The logarithm of a series with the coefficients rₖ beside r₀ = 1: k cₖ = k rₖ - Σ j cⱼ rₖ₋ⱼ."""
    found = [sc.log_wright_bessel(a, b, x)]
    r = [np.exp(sc.log_wright_bessel(a, b + k * a, x) - found[0]) / math.factorial(k) for k in range(degree + 1)]
    for k in range(1, degree + 1):
        found.append(r[k] - sum(j / k * found[j] * r[k - j] for j in range(1, k)))
    return found


def exprel_series(x: Any, degree: int) -> Coefficients:
    """(eˣ - 1) / x = M(1, 2, x)."""
    return hyp1f1_series(1.0, 2.0, x, degree)


# ---- derivatives by parameters ---------------------------------------------------------------------------------------

# The kernel's number of each function, and which of its parameters a, b, c are the function's own
CONFLUENT_LIMIT, KUMMER, GAUSS, TRICOMI = range(4)
PLACES = {CONFLUENT_LIMIT: (2,), KUMMER: (0, 2), GAUSS: (0, 1, 2), TRICOMI: (0, 2)}


def _columns(kind: int, operands: Any) -> tuple[list[Any], Any]:
    """The kernel's a, b, c and x, and an array of the shape of the results."""
    *parameters, x = np.broadcast_arrays(*(np.asarray(operand, np.float64) for operand in operands))
    columns = 3 * [np.zeros(x.size)]
    for place, parameter in zip(PLACES[kind], parameters, strict=True):
        columns[place] = np.ascontiguousarray(parameter).reshape(-1)
    return [*columns, np.ascontiguousarray(x).reshape(-1)], x


def _orders(kind: int, orders: Iterable[int]) -> tuple[int, int, int]:
    """By the kernel's a, b and c, of orders by the parameters that a function has."""
    found = dict(zip(PLACES[kind], orders, strict=True))
    return found.get(0, 0), found.get(1, 0), found.get(2, 0)


@primitive(elementwise=True)
def partial(*operands, kind, by):
    """The derivative of one of the functions of real numbers, of the orders `by` by each of its operands."""
    (a, b, c, x), like = _columns(kind, operands)
    return hypergeometric.partials(kind, a, b, c, x, _orders(kind, by[:-1]), by[-1])[-1].reshape(like.shape)


def partial_series(*arguments, kind, by):
    """The Taylor coefficients of that in the operands that move."""
    *operands, degree, moving = arguments
    (a, b, c, x), like = _columns(kind, operands)
    *orders, order = (k + degree * (place in moving) for place, k in enumerate(by))
    table = hypergeometric.partials(kind, a, b, c, x, _orders(kind, orders), order, degree + sum(by))

    def coefficient(exponents):
        beyond = dict(zip(moving, exponents, strict=True))
        *of_parameters, of_x = (n + beyond.get(place, 0) for place, n in enumerate(by))
        weight = math.prod(math.perm(n + beyond.get(place, 0), n) for place, n in enumerate(by[:-1]))
        i, j, k = _orders(kind, of_parameters)
        row = table[of_x, i, j, k].reshape(like.shape)
        return weight / math.factorial(of_x - by[-1]) * row

    return list(map(coefficient, monomials(len(moving), degree)))


def in_all(kind: int, by_x: Kernel) -> KernelOfAll:
    """The kernel of a function whose coefficients by x alone are given."""

    def of_all(*arguments):
        *operands, degree, moving = arguments
        if moving == (len(operands) - 1,):
            return by_x(*operands, degree)
        return [by_x(*operands, 0)[0], *partial_series(*arguments, kind=kind, by=(0,) * len(operands))[1:]]

    return KernelOfAll(of_all)


def _raised(by: tuple[int, ...], place: int) -> tuple[int, ...]:
    return tuple(order + (k == place) for k, order in enumerate(by))


define(
    partial,
    lambda g, p, *operands, kind, by: tuple(
        g * partial(*operands, kind=kind, by=_raised(by, place)) for place in range(len(operands))
    ),
    kernel=KernelOfAll(partial_series),
)


def by_all(name: str, kind: int, names: str, by_x: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    """The rule of a function of these parameters, and of x, by which `by_x` gives the adjoint."""

    def rule(g, p, *operands):
        count = len(operands) - 1
        if is_complex(operands[-1]):
            return *count * (unknown(f"{name} of a complex argument", names),), by_x(g, *operands)
        places = [_raised((0,) * (count + 1), place) for place in range(count)]
        return *[g * partial(*operands, kind=kind, by=by) for by in places], by_x(g, *operands)

    return rule


# ---- rules -----------------------------------------------------------------------------------------------------------

define(
    sc.hyp1f1,
    by_all("hyp1f1", KUMMER, "a, b", lambda g, a, b, x: g * (a / b * sc.hyp1f1(a + 1.0, b + 1.0, x))),
    kernel=in_all(KUMMER, hyp1f1_series),
)
define(
    sc.hyp2f1,
    by_all("hyp2f1", GAUSS, "a, b, c", lambda g, a, b, c, z: g * (a * b / c * sc.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z))),
    kernel=in_all(GAUSS, hyp2f1_series),
)
define(sc.exprel, lambda g, p, x: (g * (0.5 * sc.hyp1f1(2.0, 3.0, x)),), kernel=exprel_series)
define(
    sc.hyp0f1,
    by_all("hyp0f1", CONFLUENT_LIMIT, "v", lambda g, v, z: g * (sc.hyp0f1(v + 1.0, z) / v)),
    kernel=in_all(CONFLUENT_LIMIT, hyp0f1_series),
)


def _hyperu(g, a, b, x):
    """-a U(a + 1, b + 1, x): of the kernel, since SciPy's values have 6 digits in places, as for x of 5 to 10."""
    right = np.greater(x, 0.0)
    by_x = partial(a, b, np.where(right, x, 1.0), kind=TRICOMI, by=(0, 0, 1))
    return g * np.where(right, by_x, -(a * sc.hyperu(a + 1.0, b + 1.0, x)))


def hyperu_series(a: Any, b: Any, x: Any, degree: int) -> Coefficients:
    """Tricomi's function, from the first coefficient on by the kernel, but at x = 0."""
    found = partial_series(a, b, x, degree, (2,), kind=TRICOMI, by=(0, 0, 0))
    edge = [(-1.0) ** k * sc.poch(a, k) / math.factorial(k) * sc.hyperu(a + k, b + k, x) for k in range(degree + 1)]
    return [edge[0], *(np.where(np.greater(x, 0.0), c, e) for c, e in zip(found[1:], edge[1:], strict=True))]


define(sc.hyperu, by_all("hyperu", TRICOMI, "a, b", _hyperu), kernel=in_all(TRICOMI, hyperu_series))
define(
    sc.wright_bessel,
    lambda g, p, a, b, x: (*2 * (unknown("wright_bessel", "a, b"),), g * sc.wright_bessel(a, a + b, x)),
    kernel=wright_bessel_series,
)
if hasattr(sc, "log_wright_bessel"):  # from SciPy 1.14 on
    define(
        sc.log_wright_bessel,
        lambda g, p, a, b, x: (
            *2 * (unknown("log_wright_bessel", "a, b"),),
            g * np.exp(sc.log_wright_bessel(a, a + b, x) - p),
        ),
        kernel=log_wright_bessel_series,
    )
