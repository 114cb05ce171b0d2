"""Derivatives to 40 digits and more, by differences in mpmath: slow, obvious, and no part of hoad.

A central difference of order n with steps of 10⁻⁴⁰ errs by 10⁻⁸⁰ where the function is evaluated to enough digits
(40 are lost with each order). Steps are in proportion to their coordinate or direction, which may have any size.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpmath import mp

STEP_DIGITS = 40
SPARE_DIGITS = 500


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


def partial(f: Callable[..., Any], point: Sequence[float], orders: Sequence[int]) -> Any:
    """∂^orders f at a point, for a function of as many numbers."""
    total = sum(orders)
    with mp.workdps(STEP_DIGITS * total + SPARE_DIGITS):
        x = [exact(item) for item in point]
        steps = [(abs(item) or mp.one) * mp.mpf(10) ** -STEP_DIGITS for item in x]
        value = mp.zero
        for places in itertools.product(*[stencil(n) for n in orders]):
            at = [item + k * h for item, (k, _), h in zip(x, places, steps, strict=True)]
            value += math.prod(w for _, w in places) * f(*at)
        return value / math.prod((h**n for h, n in zip(steps, orders, strict=True)), start=mp.one)


def directional(f: Callable[..., Any], point: Sequence[Any], directions: Sequence[Sequence[Any]]) -> Any:
    """The derivative of f along each of the directions in turn, for a function of arrays (of mpf, as objects)."""
    total = len(directions)
    with mp.workdps(STEP_DIGITS * total + SPARE_DIGITS):
        x = [exact(np.asarray(item)) for item in point]
        along = [[exact(np.asarray(item)) for item in direction] for direction in directions]
        h = mp.mpf(10) ** -STEP_DIGITS
        value: Any = 0
        for signs in itertools.product((1, -1), repeat=total):
            at = [
                item + sum((s * h * d[k] for s, d in zip(signs, along, strict=True)), start=0 * item)
                for k, item in enumerate(x)
            ]
            value = value + math.prod(signs) * np.asarray(f(*at), dtype=object)
        return value / (2 * h) ** total


def as_floats(x: Any) -> np.ndarray:
    """An object array of mpf, rounded once."""
    x = np.asarray(x, dtype=object)
    return np.array([float(item) for item in x.ravel()]).reshape(x.shape)


def taylor(f: Callable[[Any], Any], order: int) -> list[Any]:
    """Coefficients of f(t) about 0 (numbers, or object arrays), all from the same points."""
    with mp.workdps(STEP_DIGITS * order + SPARE_DIGITS):
        half = mp.mpf(10) ** -STEP_DIGITS / 2
        values = {k: f(k * half) for k in range(-order, order + 1)}
        return [
            sum((-1) ** k * math.comb(n, k) * values[n - 2 * k] for k in range(n + 1))
            / (2 * half) ** n
            / math.factorial(n)
            for n in range(order + 1)
        ]
