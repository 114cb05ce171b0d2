"""How much of a function's value is rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoad.check.points import Array, epsilon

PLACES = 7  # values on a side of x; x itself may be where f jumps
FACTORS = (1.0, (1 + 5**0.5) / 2)  # two spacings, since one may fit the grid of floats by accident
NARROWER, WIDER = (1e-2, 1e-4), (1e2, 1e4)  # other steps to try
LONE = 1e3  # times every other, the change from one value to the next that is a jump
GRAIN = 0.29  # the standard deviation of a rounding, in last digits
USUAL = 1e-6  # of the values: noise above it is looked at more closely
BOTH = (1.0, -1.0)

Flags = NDArray[np.bool_]

SHORTEST = 1e-290  # of the steps: at a subnormal point another would be 0


@np.errstate(all="ignore")
def noise_of(
    phi: Callable[[float], Array], args: Sequence[Any], directions: dict[int, Any], sides: Sequence[float] = BOTH
) -> Array:
    """The standard deviation of the rounding in φ on these sides of t = 0, entry by entry.

    It is no less than the rounding of φ(0) itself.

    Differences of high order of values at neighbouring points leave nothing of a smooth function, and all of its noise.

    References
    ----------
    Moré and Wild (2011), Estimating computational noise, SIAM Journal on Scientific Computing 33.
    """
    eps = epsilon(*(args[k] for k in directions))
    lengths = _lengths(args, directions)
    step, grain = max(eps ** (2 / 3) * lengths[0], SHORTEST), GRAIN * eps * lengths[1]
    found = [0.5 * eps * abs(phi(0.0)), *(_beside(phi, side * step, grain) for side in sides)]
    return np.asarray(np.max(found, axis=0))


def _beside(phi: Callable[[float], Array], step: float, grain: float) -> Array:
    """The noise on one side, by steps over which φ neither varies by more than its noise nor stands still."""
    noise, doubtful, still = _estimated(phi, step, grain)
    for factor in NARROWER:
        if not doubtful.any():
            break
        other, again, stands = _estimated(phi, factor * step, grain)
        noise = np.where(doubtful & ~stands, np.minimum(noise, other), noise)
        doubtful = doubtful & again & ~stands
    for factor in WIDER:
        if not still.any():
            break
        other, _, stands = _estimated(phi, factor * step, grain)
        noise, still = np.where(still & ~stands, other, noise), still & stands
    return noise


def _estimated(phi: Callable[[float], Array], step: float, grain: float) -> tuple[Array, Flags, Flags]:
    """The noise by steps of this size; where φ may vary over them so much as to hide it; and where it stands still.

    The last digit of t, the grain, rounds φ by no less than its slope times that.
    """
    tables = [_table(phi, factor * step) for factor in FACTORS]
    noise = np.max([_deviation(table) for table in tables], axis=0)
    thirds = [np.sign(np.diff(table, 3, axis=0)) for table in tables]
    varies = np.any([abs(np.sum(signs, axis=0)) == len(signs) for signs in thirds], axis=0)
    varies |= noise > USUAL * np.max(np.abs(tables), axis=(0, 1))
    stands = np.any([np.mean(np.diff(table, axis=0) == 0, axis=0) >= 0.5 for table in tables], axis=0)
    rounded = np.ptp(tables[0], axis=0) * (grain / abs((PLACES - 1) * step))
    return np.maximum(noise, rounded), varies, stands


def _table(phi: Callable[[float], Array], step: float) -> Array:
    """Values at evenly spaced points, without a jump between two; zeros where they are not all finite."""
    table = np.array([phi(k * step) for k in range(1, PLACES + 1)])
    table = np.where(np.all(np.isfinite(table), axis=0), table, 0.0)
    steps = np.diff(table, axis=0)
    lone = abs(steps) > LONE * np.sort(abs(steps), axis=0)[-2]
    table[1:] -= np.cumsum(np.where(lone, steps, 0.0), axis=0)
    return table


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


def _lengths(args: Sequence[Any], directions: dict[int, Any]) -> tuple[float, float]:
    """The t over which x changes as a whole, and that over which it does so first; this is 0 where x is."""
    ratios: list[float] = []
    sizes: list[tuple[float, float]] = []
    for k, v in directions.items():
        x, v = abs(np.asarray(args[k], np.float64)).ravel(), abs(np.asarray(v, np.float64)).ravel()
        ratios.extend((x[(x > 0) & (v > 0)] / v[(x > 0) & (v > 0)]).tolist())
        sizes.append((float(x.max(initial=0.0)), float(v.max(initial=0.0))))
    largest = max(x for x, _ in sizes) / (max(v for _, v in sizes) or 1.0)
    return (max(min(ratios), 1e-4 * largest), min(ratios)) if ratios else (1.0, 0.0)
