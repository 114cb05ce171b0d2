"""How much of a function's value is rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad.check.points import Array, epsilon

PLACES = 6  # values beyond f(x) itself
FACTORS = (1.0, (1 + 5**0.5) / 2)  # two spacings, since one may fit the grid of floats by accident
WIDENINGS = 3


def noise_of(phi: Callable[[float], Array], args: Sequence[Any], directions: dict[int, Any]) -> Array:
    """The standard deviation of the rounding in φ near t = 0, entry by entry, and no less than that of its result.

    Differences of high order of values at neighbouring points leave nothing of a smooth function, and all of its noise.

    References
    ----------
    Moré and Wild (2011), Estimating computational noise, SIAM Journal on Scientific Computing 33.
    """
    value = phi(0.0)
    eps = epsilon(*(args[k] for k in directions))
    floor = 0.5 * eps * abs(value)
    step = _step(args, directions, eps)
    found = [floor]
    for _ in range(WIDENINGS):
        tables = [_table(phi, value, factor * step) for factor in FACTORS]
        # Stairs: steps so small that many of them change nothing say nothing of the noise.
        if all(np.all(np.mean(np.diff(table, axis=0) == 0, axis=0) < 0.5) for table in tables):
            break
        step *= 100
    for table in tables:
        if np.all(np.isfinite(table)):
            found.append(_deviation(table))
    return np.asarray(np.max(found, axis=0))


def _table(phi: Callable[[float], Array], value: Array, step: float) -> Array:
    """Values at evenly spaced points, on the other side where they are not finite on this one."""
    table = np.array([value, *(phi(k * step) for k in range(1, PLACES + 1))])
    if np.all(np.isfinite(table)):
        return table
    return np.array([value, *(phi(-k * step) for k in range(1, PLACES + 1))])


def _deviation(table: Array) -> Array:
    """The standard deviation of the noise in evenly spaced values, by their differences of order 3 and more."""
    found = []
    size = np.maximum(np.max(abs(table), axis=0), np.finfo(np.float64).tiny)
    table = table / size
    for k in range(1, PLACES):
        table = np.diff(table, axis=0)
        if k >= 3:
            gamma = math.factorial(k) ** 2 / math.factorial(2 * k)
            found.append(np.sqrt(gamma * np.mean(table**2, axis=0)))
    return np.asarray(size * np.median(found, axis=0))


def _step(args: Sequence[Any], directions: dict[int, Any], eps: float) -> float:
    """A step that changes x in its last third of digits."""
    ratios: list[float] = []
    sizes: list[tuple[float, float]] = []
    for k, v in directions.items():
        x, v = abs(np.asarray(args[k], np.float64)).ravel(), abs(np.asarray(v, np.float64)).ravel()
        ratios.extend((x[(x > 0) & (v > 0)] / v[(x > 0) & (v > 0)]).tolist())
        sizes.append((float(x.max(initial=0.0)), float(v.max(initial=0.0))))
    largest = max(x for x, _ in sizes) / (max(v for _, v in sizes) or 1.0)
    return float(eps ** (2 / 3)) * (max(min(ratios), 1e-4 * largest) if ratios else 1.0)
