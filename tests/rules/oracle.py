"""Derivatives to 25 digits and more, by differences in mpmath: slow, obvious, and no part of hoad.

A forward difference with steps of 10⁻³² errs by 10⁻³² of the distance of what is singular, where the function is
evaluated to enough digits (32 are lost with each order). Steps are in proportion to their coordinate, direction or
curve, which may have any size. All differences start from one point: higher orders share the values of lower ones.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpmath import mp

STEP_DIGITS = 32
STEP_DIGITS_ALONG = 25  # of steps along directions and curves, which are short beside the distance of what is singular
SPARE_DIGITS = 300
SPARE_DIGITS_OF_ARRAYS = 100  # whose items are of moderate size
SPARE_DIGITS_OF_FEW = 60
PLACES = 600  # binary ones


def exact(x: Any) -> Any:
    """A float as the mpf it is, an array as an object array of them."""
    if isinstance(x, np.ndarray):
        made = np.empty(x.shape, dtype=object)
        made.flat = [exact(item) for item in x.ravel().tolist()]
        return made
    return x if isinstance(x, int) else mp.mpf(float(x))


def stencil(order: int) -> list[tuple[int, int]]:
    """(place in steps, weight) of the forward difference of this order."""
    return [(k, (-1) ** (order - k) * math.comb(order, k)) for k in range(order + 1)]


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


@functools.lru_cache(maxsize=64)
def _values_of_arrays(f: Callable[..., Any], point: bytes, digits: int) -> dict[tuple[bytes, ...], Any]:
    """Values of f about a point, by the directions in which a step was taken."""
    return {}


def directional(f: Callable[..., Any], point: Sequence[Any], directions: Sequence[Sequence[Any]]) -> Any:
    """The derivative of f along each of the directions in turn, for a function of arrays (of mpf, as objects)."""
    total = len(directions)
    digits = STEP_DIGITS_ALONG * max(2, total) + SPARE_DIGITS_OF_ARRAYS
    values = _values_of_arrays(f, _bytes(point), digits)
    with mp.workdps(digits):
        h = mp.mpf(10) ** -STEP_DIGITS_ALONG
        value: Any = 0
        for taken in itertools.product((0, 1), repeat=total):
            along = [direction for direction, is_taken in zip(directions, taken, strict=True) if is_taken]
            key = tuple(sorted(map(_bytes, along)))
            if key not in values:
                at = [exact(np.asarray(item)) for item in point]
                for direction in along:
                    at = [item + exact(np.asarray(d)) * h for item, d in zip(at, direction, strict=True)]
                values[key] = np.asarray(f(*at), dtype=object)
            value = value + (-1) ** (total - sum(taken)) * values[key]
        return value / h**total


def _bytes(arrays: Sequence[Any]) -> bytes:
    """What tells arrays of the same shapes apart."""
    return b"".join(np.asarray(item).tobytes() for item in arrays)


def as_floats(x: Any) -> np.ndarray:
    """An object array of mpf, rounded once."""
    x = np.asarray(x, dtype=object)
    return np.array([float(item) for item in x.ravel()]).reshape(x.shape)


def taylor(f: Callable[[Any], Any], order: int, spare: int = SPARE_DIGITS) -> list[Any]:
    """Coefficients of f(t) about 0 (numbers, or object arrays), all from the same points."""
    with mp.workdps(STEP_DIGITS_ALONG * order + spare):
        h = mp.mpf(10) ** -STEP_DIGITS_ALONG
        values = [f(k * h) for k in range(order + 1)]
        found = []
        for n in range(order + 1):
            terms = [weight * values[k] for k, weight in stencil(n)]
            total = sum(terms)
            total = total if isinstance(total, np.ndarray) else sure(total, sum(map(abs, terms)))
            found.append(total / h**n / math.factorial(n))
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
