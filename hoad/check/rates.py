"""What the rate at which remainders fall says of a derivative: on each side of x, and on both together."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hoad.check.points import Array
from hoad.check.remainders import ABOVE, TAIL, Picked, Remainders
from hoad.check.report import RIGHT, UNDECIDED, WRONG
from hoad.check.taylor_report import BAD, EXACT, Finding

EXTRAPOLATED = 6  # powers of h that are taken out where an error in a coefficient is read off
SLACK = 0.3  # by which a rate may miss a whole number
SUDDEN = 4.0  # by which a rate exceeds what is expected where a step crosses to another formula of f
LEVEL = 6  # remainders that stay as they are beside a jump
CERTAIN = 6.0  # digits of a coefficient that settle it, whatever the rate
LEAST = 0.7  # digits of a coefficient, below which a rate proves little
REMARKED = 2.0  # digits below which the report says so
HIDDEN = 4.0  # digits of a coefficient that must be confirmed where no rate can be seen
FEWEST = 3  # remainders above rounding that show a rate
VANISHING = 64 * 2.0**-52  # of the largest coefficient: one that is as good as zero
DENIED = 8.0  # times the doubt of both, coefficients of two sides are not the same

UNSEEN, UNDEFINED = "unseen", "undefined"  # on one side alone
RANK = {WRONG: 0, UNDECIDED: 1, RIGHT: 2, EXACT: 3}


@dataclass(frozen=True)
class _Judgement:
    """What the remainders of one order say in one component, on one side of x or on both."""

    verdict: str
    rate: float = math.nan
    digits: float = math.nan
    reason: str = ""
    excess: float = 0.0  # of f's coefficient over the one that was to be checked
    doubt: float = math.inf  # how far that may be off


def judged(remainders: Remainders, coefficients: Array, picked: Picked) -> tuple[list[Finding], list[int]]:
    """A finding for each order, and the component that it is about: the one that looks worst."""
    findings: list[Finding] = []
    chosen: list[int] = []
    cause: Finding | None = None
    for n, row in enumerate(coefficients):
        found = [_component(n, m, remainders, coefficients[:, m]) for m in range(len(row))]
        m = min(range(len(found)), key=lambda k: (RANK[found[k].verdict], _least(found[k].digits)))
        worst = found[m]
        if worst.verdict in BAD and cause is not None:
            worst = _Judgement(cause.verdict, worst.rate, worst.digits, f"follows from order {cause.order}")
        findings.append(Finding(n, worst.verdict, worst.rate, worst.digits, picked.index(m), worst.reason))
        chosen.append(m)
        if worst.verdict in BAD and cause is None:
            cause = findings[-1]
    return _with_degree(findings, remainders), chosen


def _with_degree(findings: list[Finding], remainders: Remainders) -> list[Finding]:
    """Where nothing is left from some order on, f is a polynomial: said at the first of these orders."""
    lowest = len(findings)
    while lowest and findings[lowest - 1].verdict == EXACT and not findings[lowest - 1].reason:
        lowest -= 1
    if lowest == len(findings) or (lowest and findings[lowest - 1].verdict == EXACT):
        return findings
    seen = np.flatnonzero((abs(remainders.signed) > ABOVE * remainders.noise)[:, :, lowest].any(axis=(0, 2)))
    start = int(seen[-1]) + 1 if seen.size else 0
    if start < len(remainders.h):
        since = f"h = {remainders.h[start]:.3g}" if start else "the first step"
        what = f"a polynomial of degree {lowest}" if lowest else "constant"
        reason = f"nothing is left but rounding, from {since} on: there f is {what} along v"
        findings[lowest] = replace(findings[lowest], reason=reason)
    return findings


def _component(n: int, m: int, remainders: Remainders, coefficients: Array) -> _Judgement:
    """One order in one component, on both sides of x."""
    if not math.isfinite(coefficients[n]):
        return _Judgement(WRONG, reason=f"the derivative of order {n} along v is {coefficients[n]}")
    r, noise = remainders.signed[:, :, :, m], remainders.noise[:, :, n, m]
    ahead, behind = (
        _side(n, sign * remainders.h, r[k, :, n], noise[k], coefficients, r[k, :, 0]) for k, sign in enumerate((1, -1))
    )
    return _both_sides(n, float(coefficients[n]), ahead, behind)


# ---- one side -------------------------------------------------------------------------------------------------------


def floor_of(h: Array, size: Array, noise: Array) -> Array:
    """Below this, remainders are rounding: as estimated, or as the end of the sequence shows that it does not fall."""
    floor = ABOVE * noise
    end = np.flatnonzero(np.isfinite(size) & (size > 0))[-6:]
    if len(end) == 6 and len(h) >= 10 and end[-1] >= len(h) - 2:
        slope = np.polyfit(np.log(h[end]), np.log(size[end]), 1)[0]
        if slope < 0.5:
            floor = np.maximum(floor, 4 * size[end].max())
    return floor


def _side(n: int, t: Array, r: Array, noise: Array, coefficients: Array, change: Array) -> _Judgement:
    """The remainders of one order at t, all of one sign; `change` is f(x + tv) − f(x)."""
    defined = np.isfinite(r)
    if not defined.any():
        return _Judgement(UNDEFINED, reason="f is not finite at any step along v; try -v")
    if n == 0 and (jump := _jump(r[defined], noise[defined])):
        return _Judgement(WRONG, 0.0, excess=jump, doubt=0.1 * abs(jump))
    h, size = abs(t), abs(r)
    floor = floor_of(h, size, noise)
    beyond = _first_of_formula(n, h, size, floor)
    seen = defined & (size > floor) & (np.arange(len(h)) >= beyond)
    doubt = _bound(n, h, size + noise, defined)
    digits = _digits(n, coefficients, doubt, change[defined])
    if np.sum(seen) < FEWEST:
        return _hardly_seen(n, seen, size[defined], floor[defined], digits, doubt, float(coefficients[0]))
    tail = np.flatnonzero(seen)[-TAIL:]
    rate = float(np.median([math.log(size[a] / size[b]) / math.log(h[a] / h[b]) for a, b in itertools.pairwise(tail)]))
    if rate >= n + 1 - SLACK or digits >= CERTAIN:
        return _falling(rate, digits, doubt, hidden=bool(size[-1] <= floor[-1]))
    if n == 0:
        reason = "the remainders fall more slowly than h: f is not smooth at x"
        return _Judgement(UNDECIDED, rate, digits, reason, doubt=doubt)
    excess, uncertain = _excess(n, t[seen], r[seen], noise[seen])
    last = tail[-1]
    shown = excess * t[last] ** n  # what an error in the coefficient would leave at the last step
    if abs(excess) > 4 * uncertain and abs(r[last] - shown) <= 0.5 * abs(shown) + 4 * noise[last]:
        return _Judgement(WRONG, rate, digits, excess=excess, doubt=uncertain)
    if abs(excess) + uncertain <= 10.0**-REMARKED * abs(coefficients[n]):
        return _Judgement(RIGHT, rate, digits, doubt=doubt)
    reason = "the rate is no whole number: f is not smooth here, or its derivative is wrong by little"
    return _Judgement(UNDECIDED, rate, digits, reason, doubt=doubt)


def _jump(r: Array, noise: Array) -> float:
    """By how much f(x + tv) differs from f(x) however small t is; 0 where it tends to it."""
    last, spread = r[-LEVEL:], noise[-LEVEL:]
    if len(last) < FEWEST or not np.all(abs(last) > ABOVE * spread):
        return 0.0
    level = float(last[-1])
    return level if np.all(abs(last - level) <= 0.1 * abs(level)) else 0.0


def _first_of_formula(n: int, h: Array, size: Array, floor: Array) -> int:
    """The first step within which f is one formula: where the remainders fall suddenly, and stay below."""
    level = np.fmax(size, floor)
    rates = np.log(level[:-1] / level[1:]) / np.log(h[:-1] / h[1:])
    usual = np.fmax(np.concatenate([[0.0], rates[:-1]]), n + 1)
    highest_after = np.fmax.accumulate(size[::-1])[::-1]
    stays = np.append(highest_after[2:], 0.0) <= level[1:]
    sudden = (size > floor)[:-1] & (rates > usual + SUDDEN) & stays
    return int(np.flatnonzero(sudden)[-1]) + 1 if sudden.any() else 0


def _bound(n: int, h: Array, size: Array, defined: NDArray[np.bool_]) -> float:
    """How wrong the coefficient of hⁿ can be: by the second best remainder, lest one is small by accident."""
    bounds = np.sort((size / h**n)[defined])
    return float(bounds[min(1, len(bounds) - 1)])


def _digits(n: int, coefficients: Array, doubt: float, change: Array) -> float:
    """Digits of the coefficient of hⁿ that are confirmed; nan where it is f(x) itself, or as good as zero."""
    own = float(abs(coefficients[n]))
    others = np.max(abs(coefficients[1:][np.isfinite(coefficients[1:])]), initial=np.max(abs(change), initial=0.0))
    if n == 0 or own <= VANISHING * others:
        return math.nan
    return float(np.clip(-np.log10(doubt / own), 0.0, 15.9) + 0.0) if doubt else 15.9


def _hardly_seen(
    n: int, seen: NDArray[np.bool_], size: Array, floor: Array, digits: float, doubt: float, value: float
) -> _Judgement:
    """Too few remainders for a rate."""
    scale = abs(value) or float(np.max(size)) or 1.0
    if float(np.min(floor)) > 1e-6 * scale and not digits >= HIDDEN:
        level = float(np.median(size[-6:]))
        reason = f"remainders stop falling at {level:.1e}, far above rounding: f is noisy, or jumps at x"
        return _Judgement(UNDECIDED, digits=digits, reason=reason)
    if digits < LEAST:
        return _Judgement(UNSEEN, digits=digits, reason="its term is below rounding at all steps; try a larger v")
    if not seen.any():
        reason = "its term is hardly above rounding" if digits < HIDDEN else ""
        return _Judgement(EXACT, digits=digits, reason=reason, doubt=doubt)
    if digits >= HIDDEN or math.isnan(digits):
        reason = "too few remainders are above rounding to see a rate"
        return _Judgement(RIGHT, digits=digits, reason=reason, doubt=doubt)
    return _Judgement(UNSEEN, digits=digits, reason="too few remainders are above rounding; try a larger v")


def _falling(rate: float, digits: float, doubt: float, hidden: bool) -> _Judgement:
    """Remainders that fall as they must."""
    if not digits < REMARKED:
        return _Judgement(RIGHT, rate, digits, doubt=doubt)
    why = "rounding hides it" if hidden else "the steps are too large; add smaller ones"
    reason = f"an error below {10.0**-digits:.0%} would not show: {why}"
    return _Judgement(UNSEEN if digits < LEAST else RIGHT, rate, digits, reason, doubt=doubt)


def _excess(n: int, t: Array, r: Array, noise: Array) -> tuple[float, float]:
    """What is left over tⁿ, extrapolated to t = 0: the error in the coefficient, and how far to trust it."""
    left, spread = r / t**n, 3 * noise / abs(t**n)
    best = (float(left[-1]), math.inf)
    above: list[tuple[float, float]] = []
    for k in range(len(t)):
        row = [(float(left[k]), float(spread[k]))]
        for j, (before, before_noise) in enumerate(above, 1):
            ratio = float(t[k - j] / t[k])
            here, here_noise = row[-1]
            better = here + (here - before) / (ratio - 1)
            amplified = (ratio * here_noise + before_noise) / (ratio - 1)
            doubt = max(abs(better - here), abs(better - before)) + amplified
            best = min(best, (better, doubt), key=lambda pair: pair[1])
            row.append((better, amplified))
        above = row[:EXTRAPOLATED]
    return best


def _least(digits: float) -> float:
    return math.inf if math.isnan(digits) else digits


# ---- both sides -----------------------------------------------------------------------------------------------------


def _both_sides(n: int, coefficient: float, ahead: _Judgement, behind: _Judgement) -> _Judgement:
    """What holds at x: derivatives that differ between the sides are a kink, and no error."""
    if ahead.verdict == UNDEFINED:
        return replace(ahead, verdict=UNDECIDED)
    wrong = [side for side in (ahead, behind) if side.verdict == WRONG]
    if wrong:
        worst = min(wrong, key=lambda side: side.doubt)
        if n == 0:
            return replace(worst, verdict=UNDECIDED, reason=_jump_text(ahead, behind))
        if _differ(coefficient, ahead, behind):
            return replace(worst, verdict=UNDECIDED, reason=_kink_text(n, coefficient, ahead, behind))
        return replace(worst, reason=_error_text(n, coefficient + worst.excess, coefficient))
    for side in (ahead, behind):
        if side.verdict == UNDECIDED:
            return side
    for side in (ahead, behind):
        if side.verdict in (RIGHT, EXACT):
            return side
    return replace(ahead, verdict=UNDECIDED)


def _differ(coefficient: float, ahead: _Judgement, behind: _Judgement) -> bool:
    """Whether f shows another coefficient on one side than on the other."""
    apart = abs(ahead.excess - behind.excess)
    least = max(0.5 * max(abs(ahead.excess), abs(behind.excess)), 1e-6 * abs(coefficient))
    return apart > max(least, DENIED * (ahead.doubt + behind.doubt))


def _jump_text(ahead: _Judgement, behind: _Judgement) -> str:
    sides = [(ahead, "v"), (behind, "-v")]
    jumps = " and ".join(f"by {side.excess:.6g} on the side of {v}" for side, v in sides if side.verdict == WRONG)
    return f"f jumps at x, {jumps}"


def _kink_text(n: int, coefficient: float, ahead: _Judgement, behind: _Judgement) -> str:
    left, right = (math.factorial(n) * (coefficient + side.excess) for side in (behind, ahead))
    what = "has a kink at x" if n == 1 else f"is not differentiable {n} times at x"
    return f"f {what}: its derivative of order {n} along v is {left:.6g} on the side of -v and {right:.6g} on that of v"


def _error_text(n: int, shown: float, claimed: float) -> str:
    by = f" (it is off by {abs((shown - claimed) / shown):.1%})" if shown else ""
    values = [math.factorial(n) * coefficient for coefficient in (claimed, shown)]
    return f"the derivative of order {n} along v is {values[0]:.9g}, but f shows {values[1]:.9g}{by}"


__all__ = ["floor_of", "judged"]
