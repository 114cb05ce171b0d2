"""Derivatives to 25 digits and more, by differences in mpmath: slow, obvious, and no part of hoad.

A central difference of order n with steps of 10⁻²⁵ errs by 10⁻⁵⁰ where the function is evaluated to enough digits
(25 are lost with each order). Steps are in proportion to their coordinate or direction, which may have any size.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpmath import mp

STEP_DIGITS = 25
SPARE_DIGITS = 300
SPARE_DIGITS_OF_ARRAYS = 100  # whose items are of moderate size
SPARE_DIGITS_OF_FEW = 40
PLACES = 600  # binary ones


def exact(x: Any) -> Any:
    """A float as the mpf it is, an array as an object array of them."""
    if isinstance(x, np.ndarray):
        made = np.empty(x.shape, dtype=object)
        made.flat = [exact(item) for item in x.ravel().tolist()]
        return made
    return x if isinstance(x, int) else mp.mpf(float(x))


def stencil(order: int) -> list[tuple[Any, int]]:
    """(place in steps, weight) of the central difference of this order."""
    return [(mp.mpf(order - 2 * k) / 2, (-1) ** k * math.comb(order, k)) for k in range(order + 1)]


def sure(value: Any, size: Any) -> Any:
    """A sum of numbers; 0 where it is no larger than the errors of rounding of terms of this size."""
    return value if abs(value) > size * mp.eps * 2**20 else mp.zero


@functools.lru_cache(maxsize=64)
def _values(f: Callable[..., Any], point: str, digits: int) -> dict[tuple[Any, ...], Any]:
    """Values of f about a point, by their places in steps: differences of several orders share them."""
    return {}


def partial(f: Callable[..., Any], point: Sequence[float], orders: Sequence[int], spare: int = SPARE_DIGITS) -> Any:
    """∂^orders f at a point, for a function of as many numbers."""
    digits = STEP_DIGITS * max(5, sum(orders)) + spare
    values = _values(f, repr(point), digits)
    with mp.workdps(digits):
        x = [exact(item) for item in point]
        steps = [(abs(item) or mp.one) * mp.mpf(10) ** -STEP_DIGITS for item in x]
        value = size = mp.zero
        for places in itertools.product(*[stencil(n) for n in orders]):
            at = tuple(k for k, _ in places)
            if at not in values:
                values[at] = f(*[item + k * h for item, k, h in zip(x, at, steps, strict=True)])
            term = math.prod(w for _, w in places) * values[at]
            value, size = value + term, size + abs(term)
        return sure(value, size) / math.prod((h**n for h, n in zip(steps, orders, strict=True)), start=mp.one)


def directional(f: Callable[..., Any], point: Sequence[Any], directions: Sequence[Sequence[Any]]) -> Any:
    """The derivative of f along each of the directions in turn, for a function of arrays (of mpf, as objects)."""
    total = len(directions)
    with mp.workdps(STEP_DIGITS * total + SPARE_DIGITS_OF_ARRAYS):
        x = [exact(np.asarray(item)) for item in point]
        along = [[exact(np.asarray(item)) for item in direction] for direction in directions]
        h = mp.mpf(10) ** -STEP_DIGITS
        value: Any = 0
        for signs in itertools.product((1, -1), repeat=total):
            at = [
                item + sum((d[k] * (s * h) for s, d in zip(signs, along, strict=True)), start=0 * item)
                for k, item in enumerate(x)
            ]
            value = value + math.prod(signs) * np.asarray(f(*at), dtype=object)
        return value / (2 * h) ** total


def as_floats(x: Any) -> np.ndarray:
    """An object array of mpf, rounded once."""
    x = np.asarray(x, dtype=object)
    return np.array([float(item) for item in x.ravel()]).reshape(x.shape)


def taylor(f: Callable[[Any], Any], order: int, spare: int = SPARE_DIGITS) -> list[Any]:
    """Coefficients of f(t) about 0 (numbers, or object arrays), all from the same points."""
    with mp.workdps(STEP_DIGITS * order + spare):
        half = mp.mpf(10) ** -STEP_DIGITS / 2
        values = {k: f(k * half) for k in range(-order, order + 1)}
        found = []
        for n in range(order + 1):
            terms = [(-1) ** k * math.comb(n, k) * values[n - 2 * k] for k in range(n + 1)]
            total = sum(terms)
            total = total if isinstance(total, np.ndarray) else sure(total, sum(map(abs, terms)))
            found.append(total / (2 * half) ** n / math.factorial(n))
        return found


def coefficients(f: Callable[[Any], Any], x: float, degree: int) -> list[Any]:
    """Coefficients of f about x by Cauchy's integral over a small circle, the trapezoidal rule at 150 digits.

    f is real on the real axis, so that the lower half of the circle is the mirror of the upper one.
    """
    half, radius = 64, mp.mpf("0.05")
    with mp.workdps(150):
        roots = [mp.expjpi(mp.mpf(j) / half) for j in range(half + 1)]
        values = [f(mp.mpf(x) + radius * root) * (1 if 0 < j < half else 0.5) for j, root in enumerate(roots)]
        back = [*map(mp.conj, roots), *roots[half - 1 : 0 : -1]]  # all powers of the first, turned the other way
        whole_values, whole_back = [*map(_whole, values)], [*map(_whole, back)]
        found = []
        for k in range(degree + 1):
            turned = (whole_back[j * k % (2 * half)] for j in range(half + 1))
            total = sum(a * c - b * d for (a, b), (c, d) in zip(whole_values, turned, strict=True))
            found.append(mp.ldexp(total, -2 * PLACES) / (half * radius**k))
        return found


def _whole(z: Any) -> tuple[int, int]:
    """A complex number of moderate size to 180 decimals, as integers, whose products take a tenth of the time."""
    return int(mp.nint(mp.ldexp(mp.re(z), PLACES))), int(mp.nint(mp.ldexp(mp.im(z), PLACES)))
