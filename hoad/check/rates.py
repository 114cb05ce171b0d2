"""What the rate at which remainders fall says of a derivative."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hoad.check.points import Array
from hoad.check.remainders import ABOVE, TAIL, Picked
from hoad.check.report import RIGHT, UNDECIDED, WRONG
from hoad.check.taylor_report import BAD, EXACT, Finding

EXTRAPOLATED = 6  # powers of h that are taken out where an error in a coefficient is read off
SLACK = 0.3  # by which a rate may miss a whole number
CERTAIN = 6.0  # digits of a coefficient that settle it, whatever the rate
LEAST = 0.7  # digits of a coefficient, below which a rate proves little
REMARKED = 2.0  # digits below which the report says so
HIDDEN = 4.0  # digits of a coefficient that must be confirmed where no rate can be seen

RANK = {WRONG: 0, UNDECIDED: 1, RIGHT: 2, EXACT: 3}


@dataclass(frozen=True)
class _Judgement:
    verdict: str
    rate: float
    digits: float
    reason: str = ""
    excess: float = 0.0  # of f's coefficient over the one that was to be checked


def judged(
    h: Array,
    r: Array,
    noise: Array,
    coefficients: Array,
    picked: Picked,
    remainders: Callable[[float], tuple[Array, Array]],
) -> tuple[list[Finding], list[int]]:
    """A finding for each order, and the component that it is about: the one that looks worst."""
    findings: list[Finding] = []
    chosen: list[int] = []
    cause: Finding | None = None
    for n, row in enumerate(coefficients):
        sides = [_judge(n, h, r[:, n, m], noise[:, n, m], c, coefficients[0, m]) for m, c in enumerate(row)]
        m = min(range(len(sides)), key=lambda k: (RANK[sides[k].verdict], _least(sides[k].digits)))
        found = sides[m]
        if found.verdict in BAD and cause is not None:
            found = _Judgement(cause.verdict, found.rate, found.digits, f"follows from order {cause.order}")
        elif found.verdict == WRONG and found.excess:
            backwards = [remainders(-float(t)) for t in h]
            seen = [k for k, (other, spread) in enumerate(backwards) if abs(other[n, m]) > ABOVE * spread[n, m]]
            left = math.nan
            if len(seen) > 2:
                others = np.array([backwards[k][0][n, m] for k in seen])
                spreads = np.array([backwards[k][1][n, m] for k in seen])
                left = _excess(n, -h[seen], others, spreads)[0]
            found = _explained(n, found, float(row[m]), left)
        findings.append(Finding(n, found.verdict, found.rate, found.digits, picked.index(m), found.reason))
        chosen.append(m)
        if found.verdict in BAD and cause is None:
            cause = findings[-1]
    return findings, chosen


def floor_of(h: Array, size: Array, noise: Array) -> Array:
    """Below this, remainders are rounding: as estimated, or as the end of the sequence shows that it does not fall."""
    floor = ABOVE * noise
    end = np.flatnonzero(np.isfinite(size) & (size > 0))[-6:]
    if len(end) == 6 and len(h) >= 10 and end[-1] >= len(h) - 2:
        slope = np.polyfit(np.log(h[end]), np.log(size[end]), 1)[0]
        if slope < 0.5:
            floor = np.maximum(floor, 4 * size[end].max())
    return floor


def _judge(n: int, h: Array, r: Array, noise: Array, coefficient: float, value: float) -> _Judgement:
    """The remainders of one order in one component."""
    nan = math.nan
    if not math.isfinite(coefficient):
        return _Judgement(WRONG, nan, nan, f"the derivative of order {n} along v is {coefficient}")
    size = abs(r)
    floor = floor_of(h, size, noise)
    defined = np.isfinite(r)
    seen = defined & (size > floor)
    digits = _confirmed(n, h, size, noise, coefficient, defined)
    count = int(np.sum(seen))
    if not defined.any():
        return _Judgement(UNDECIDED, nan, digits, "f is not finite at any step along v; try -v")
    lowest = float(np.min(floor[defined]))
    scale = abs(value) or float(np.max(size[defined])) or 1.0
    if count < 3:
        if lowest > 1e-6 * scale and not digits >= HIDDEN:
            level = float(np.median(size[defined][-6:]))
            reason = f"remainders stop falling at {level:.1e}, far above rounding: f jumps at x, or is noisy"
            return _Judgement(UNDECIDED, nan, digits, reason)
        if count == 0:
            return _Judgement(EXACT, nan, digits, "its term is hardly above rounding" if digits < HIDDEN else "")
        if digits >= HIDDEN or math.isnan(digits):
            return _Judgement(RIGHT, nan, digits, "too few remainders are above rounding to see a rate")
        return _Judgement(UNDECIDED, nan, digits, "too few remainders are above rounding; try a larger v")
    tail = np.flatnonzero(seen)[-TAIL:]
    rate = float(np.median([math.log(size[a] / size[b]) / math.log(h[a] / h[b]) for a, b in itertools.pairwise(tail)]))
    if rate >= n + 1 - SLACK or (digits >= CERTAIN and n):
        if digits < REMARKED:
            reason = f"an error below {10.0**-digits:.0%} would not show: rounding hides it"
            return _Judgement(UNDECIDED if digits < LEAST else RIGHT, rate, digits, reason)
        return _Judgement(RIGHT, rate, digits, "")
    excess, doubt = _excess(n, h[seen], r[seen], noise[seen])
    if n == 0:
        return _Judgement(UNDECIDED, rate, digits, "f jumps at x, or is not smooth there")
    if rate > n + SLACK and not abs(excess) > 4 * doubt:
        if doubt <= 10.0**-REMARKED * abs(coefficient):
            return _Judgement(RIGHT, rate, digits)
        reason = "the rate is no whole number: f is not smooth here, or its derivative is wrong by little"
        return _Judgement(UNDECIDED, rate, digits, reason)
    return _Judgement(WRONG, rate, digits, "", excess)


def _excess(n: int, h: Array, r: Array, noise: Array) -> tuple[float, float]:
    """What is left over hⁿ, extrapolated to h = 0: the error in the coefficient, and how far to trust it."""
    left, spread = r / h**n, 3 * noise / abs(h**n)
    best = (float(left[-1]), math.inf)
    above: list[tuple[float, float]] = []
    for k in range(len(h)):
        row = [(float(left[k]), float(spread[k]))]
        for j, (before, before_noise) in enumerate(above, 1):
            ratio = float(h[k - j] / h[k])
            here, here_noise = row[-1]
            better = here + (here - before) / (ratio - 1)
            amplified = (ratio * here_noise + before_noise) / (ratio - 1)
            doubt = max(abs(better - here), abs(better - before)) + amplified
            best = min(best, (better, doubt), key=lambda pair: pair[1])
            row.append((better, amplified))
        above = row[:EXTRAPOLATED]
    return best


def _confirmed(n: int, h: Array, size: Array, noise: Array, coefficient: float, defined: NDArray[np.bool_]) -> float:
    """Digits of the coefficient of hⁿ that the remainders vouch for: the second best, lest one is small by accident."""
    if coefficient == 0 or not defined.any():
        return math.nan
    doubt = np.sort(((size + noise) / (abs(coefficient) * h**n))[defined])
    return float(np.clip(-np.log10(doubt[min(1, len(doubt) - 1)]), 0.0, 15.9))


def _least(digits: float) -> float:
    return math.inf if math.isnan(digits) else digits


def _explained(n: int, found: _Judgement, coefficient: float, left: float) -> _Judgement:
    """What is wrong: the coefficient, by what f shows on both sides alike; or f has a kink."""
    right = found.excess
    shown = math.factorial(n) * (coefficient + right)
    apart = abs(right - left)
    if math.isfinite(left) and apart > max(0.5 * max(abs(right), abs(left)), 1e-6 * abs(coefficient)):
        other = math.factorial(n) * (coefficient + left)
        sides = f"{other:.6g} along -v and {shown:.6g} along v"
        reason = f"f has a kink at x: its derivative of order {n} is {sides}"
        return _Judgement(UNDECIDED, found.rate, found.digits, reason)
    by = f" (it is off by {abs(right / (coefficient + right)):.1%})" if shown else ""
    claimed = math.factorial(n) * coefficient
    reason = f"the derivative of order {n} along v is {claimed:.9g}, but f shows {shown:.9g}{by}"
    return _Judgement(WRONG, found.rate, found.digits, reason)


__all__ = ["floor_of", "judged"]
