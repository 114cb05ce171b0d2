"""What remainders on both sides of x, and the rates at which they fall, say of each derivative.

It is right or wrong, or f has none there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hoad.check.points import Array
from hoad.check.remainders import ABOVE, TAIL, VANISHING, Picked, Remainders
from hoad.check.report import RIGHT, UNDECIDED, WRONG, or_inf
from hoad.check.taylor_report import BAD, EXACT, Finding

EXTRAPOLATED = 6  # powers of h that are taken out where an error in a coefficient is read off
SLACK = 0.3  # by which a rate may miss a whole number
STEADY = 0.2  # between rates of one power of h
SUDDEN = 4.0  # by which a rate exceeds what is expected where a step crosses to another formula of f
LEVEL = 6  # remainders that stay as they are beside a jump
CERTAIN = 6.0  # digits of a coefficient that settle it, whatever the rate
REMARKED = 3.0  # digits of a coefficient that a rate alone must come with
HIDDEN = 4.0  # digits of a coefficient that must be confirmed where no rate can be seen
FEWEST = 3  # remainders above rounding that show a rate

UNSEEN, UNDEFINED = "unseen", "undefined"  # on one side alone: too little is above rounding; f is not finite there

TOO_SMALL = "rounding hides it; try a larger v"
TOO_LARGE = "the steps are too large; add smaller ones"

DENIED = 8.0  # times the doubt of both, coefficients of two sides are not the same
LEAST = 2.3  # digits of a coefficient that a derivative must have to be called right
NEGLIGIBLE = 1e-10  # of the change of f over v: an error in a term that is as good as none

RANK = {WRONG: 0, UNDECIDED: 1, RIGHT: 2, EXACT: 3}


@dataclass(frozen=True)
class Judgement:
    """What the remainders of one order say in one component, on one side of x or on both."""

    verdict: str
    rate: float = math.nan
    digits: float = math.nan
    reason: str = ""
    excess: float = 0.0  # of f's coefficient over the one that was to be checked
    doubt: float = math.inf  # how far that may be off
    start: int = 0  # the first step within which f is one formula


# ---- on both sides --------------------------------------------------------------------------------------------------


def judged(remainders: Remainders, coefficients: Array, picked: Picked) -> tuple[list[Finding], list[int]]:
    """A finding for each order, and the component that it is about: the one that looks worst."""
    findings: list[Finding] = []
    chosen: list[int] = []
    cause: Finding | None = None
    for n, row in enumerate(coefficients):
        found = [_component(n, m, remainders, coefficients[:, m]) for m in range(len(row))]
        m = min(range(len(found)), key=lambda k: (RANK[found[k].verdict], or_inf(found[k].digits)))
        worst = found[m]
        if worst.verdict in BAD and cause is not None:
            worst = Judgement(cause.verdict, worst.rate, worst.digits, f"follows from order {cause.order}")
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


def _component(n: int, m: int, remainders: Remainders, coefficients: Array) -> Judgement:
    """One order in one component, on both sides of x."""
    own = float(coefficients[n])
    if not math.isfinite(own):
        return Judgement(WRONG, reason=f"the derivative of order {n} along v is {own}")
    r, noise = remainders.signed[:, :, :, m], remainders.noise[:, :, n, m]
    change = _change(remainders.h, r[:, :, 0], coefficients)
    ahead, behind = (
        one_side(n, sign * remainders.h, r[k, :, n], noise[k], coefficients, change) for k, sign in enumerate((1, -1))
    )
    found = _both_sides(n, own, ahead, behind)
    if found.verdict == UNSEEN:
        within = slice(max(ahead.start, behind.start), None)
        excess, doubt = _excess(n, remainders.h[within], r[:, within, n], noise[:, within])
        return _confirmed(n, own, found, excess, doubt, change)
    return found


def _change(h: Array, r: Array, coefficients: Array) -> float:
    """By how much f changes over v, as its values show, or its Taylor coefficients."""
    found = abs(np.concatenate([r[:, h <= max(1.0, h[-1])].ravel(), coefficients[1:]]))
    return float(np.max(found[np.isfinite(found)], initial=0.0))


def _both_sides(n: int, coefficient: float, ahead: Judgement, behind: Judgement) -> Judgement:
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
    return behind if ahead.verdict == UNSEEN and behind.verdict in (RIGHT, EXACT) else ahead


def _excess(n: int, h: Array, r: Array, noise: Array) -> tuple[float, float]:
    """The error in the coefficient of hⁿ by both sides at once, which leave powers of h²; and how far to trust it."""
    both = np.isfinite(r).all(axis=0)
    if not both.any():
        both = np.isfinite(r[0])
        return extrapolated(h[both], r[0, both] / h[both] ** n, noise[0, both] / h[both] ** n)
    mean = (r[0] + (-1) ** n * r[1])[both] / 2
    return extrapolated(h[both] ** 2, mean / h[both] ** n, np.mean(noise, axis=0)[both] / h[both] ** n)


def _confirmed(n: int, coefficient: float, found: Judgement, excess: float, doubt: float, change: float) -> Judgement:
    """What one side alone does not settle."""
    error = abs(excess) + doubt
    digits = max(found.digits, min(-math.log10(error / abs(coefficient)), 15.9) if error else 15.9)
    if digits >= REMARKED:
        return replace(found, verdict=RIGHT, digits=digits, reason="")
    significant = abs(excess) > max(DENIED * doubt, 10.0 ** -(REMARKED + 1) * abs(coefficient))
    if significant and error > NEGLIGIBLE * change:
        return replace(found, verdict=WRONG, reason=_error_text(n, coefficient + excess, coefficient))
    reason = f"an error below {10.0**-digits:.0%} would not show: {found.reason}"
    settled = digits >= LEAST or error <= NEGLIGIBLE * change
    return replace(found, verdict=RIGHT if settled else UNDECIDED, digits=digits, reason=reason)


def _differ(coefficient: float, ahead: Judgement, behind: Judgement) -> bool:
    """Whether f shows another coefficient on one side than on the other."""
    apart = abs(ahead.excess - behind.excess)
    least = max(0.5 * max(abs(ahead.excess), abs(behind.excess)), 1e-6 * abs(coefficient))
    return apart > max(least, DENIED * (ahead.doubt + behind.doubt))


def _jump_text(ahead: Judgement, behind: Judgement) -> str:
    sides = [(ahead, "v"), (behind, "-v")]
    jumps = " and ".join(f"by {side.excess:.6g} on the side of {v}" for side, v in sides if side.verdict == WRONG)
    return f"f jumps at x, {jumps}"


def _kink_text(n: int, coefficient: float, ahead: Judgement, behind: Judgement) -> str:
    left, right = (math.factorial(n) * (coefficient + side.excess) for side in (behind, ahead))
    what = "has a kink at x" if n == 1 else f"is not differentiable {n} times at x"
    return f"f {what}: its derivative of order {n} along v is {left:.6g} on the side of -v and {right:.6g} on that of v"


def _error_text(n: int, shown: float, claimed: float) -> str:
    by = f" (it is off by {abs((shown - claimed) / shown):.1%})" if shown else ""
    values = [math.factorial(n) * coefficient for coefficient in (claimed, shown)]
    return f"the derivative of order {n} along v is {values[0]:.9g}, but f shows {values[1]:.9g}{by}"


# ---- on one side of x -----------------------------------------------------------------------------------------------


def floor_of(h: Array, size: Array, noise: Array) -> Array:
    """Below this, remainders are rounding: as estimated, or as the end of the sequence shows that it does not fall."""
    floor = ABOVE * noise
    end = np.flatnonzero(np.isfinite(size) & (size > 0))[-6:]
    if len(end) == 6 and len(h) >= 10 and end[-1] >= len(h) - 2:
        slope = np.polyfit(np.log(h[end]), np.log(size[end]), 1)[0]
        if slope < 0.5:
            floor = np.maximum(floor, 4 * size[end].max())
    return floor


def one_side(n: int, t: Array, r: Array, noise: Array, coefficients: Array, change: float) -> Judgement:
    """The remainders of one order at t, all of one sign; `change` is by how much f changes over v."""
    defined = np.isfinite(r)
    if not defined.any():
        return Judgement(UNDEFINED, reason="f is not finite at any step along v; try -v")
    if n == 0 and (jump := _jump(r[defined], noise[defined])):
        return Judgement(WRONG, 0.0, excess=jump, doubt=0.1 * abs(jump))
    h, size = abs(t), abs(r)
    floor = floor_of(h, size, noise)
    start = _first_of_formula(n, h, size, floor)
    seen = np.flatnonzero(defined & (size > floor) & (np.arange(len(h)) >= start))
    doubt = _bound(n, h, size + noise, defined)
    digits = _digits(n, coefficients, doubt, change)
    found = Judgement(RIGHT, digits=digits, doubt=doubt, start=start)
    if len(seen) < FEWEST:
        scale = abs(float(coefficients[0])) or float(np.max(size[defined])) or 1.0
        return _hardly_seen(len(seen), size[defined], floor[defined], scale, found)
    rates = [math.log(size[a] / size[b]) / math.log(h[a] / h[b]) for a, b in itertools.pairwise(seen[-TAIL:])]
    found = replace(found, rate=float(np.median(rates)))
    if found.rate >= n + 1 - SLACK or digits >= CERTAIN:
        if digits < REMARKED:
            return replace(found, verdict=UNSEEN, reason=TOO_SMALL if size[-1] <= floor[-1] else TOO_LARGE)
        return found
    steady = max(rates) - min(rates) < STEADY
    if n == 0:
        reason = "the remainders fall more slowly than h: f is not smooth at x"
        return replace(found, verdict=UNDECIDED, reason=reason) if steady else found
    excess, uncertain = extrapolated(t[seen], r[seen] / t[seen] ** n, noise[seen] / h[seen] ** n)
    if abs(excess) > 4 * uncertain and _is_left(excess, r / t**n, noise / h**n, seen):
        return replace(found, verdict=WRONG, excess=excess, doubt=uncertain)
    if abs(excess) + uncertain <= 10.0**-REMARKED * abs(coefficients[n]):
        return found
    if not steady:
        return replace(found, verdict=UNSEEN, reason=TOO_SMALL)
    reason = "the rate is not a whole number: f is not smooth here, or its derivative is wrong by little"
    return replace(found, verdict=UNDECIDED, reason=reason)


def _is_left(excess: float, left: Array, noise: Array, seen: NDArray[np.int_]) -> bool:
    """Whether what is left over tⁿ tends to this error in the coefficient, and what is below rounding allows it."""
    off, tail = abs(left - excess), seen[-TAIL:]
    nears = off[tail[-1]] <= off[tail[0]] + 4 * noise[tail[-1]]
    roughly, closely = (part * abs(excess) + 4 * noise for part in (0.5, 0.25))
    below = slice(tail[-1] + 1, None)
    return bool(nears and off[tail[-1]] <= roughly[tail[-1]]) and not np.any(off[below] > closely[below])


def _hardly_seen(count: int, size: Array, floor: Array, scale: float, found: Judgement) -> Judgement:
    """Too few remainders for a rate."""
    if float(np.min(floor)) > 1e-6 * scale and not found.digits >= HIDDEN:
        level = float(np.median(size[-6:]))
        reason = f"remainders stop falling at {level:.1e}, far above rounding: f is noisy, or jumps at x"
        return replace(found, verdict=UNDECIDED, reason=reason)
    if found.digits < HIDDEN:
        return replace(found, verdict=UNSEEN, reason=TOO_SMALL)
    if not count:
        return replace(found, verdict=EXACT)
    return replace(found, reason="too few remainders are above rounding to see a rate")


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


def _digits(n: int, coefficients: Array, doubt: float, change: float) -> float:
    """Digits of the coefficient of hⁿ that are confirmed; nan where it is f(x) itself, or as good as zero."""
    own = float(abs(coefficients[n]))
    if n == 0 or own <= VANISHING * change:
        return math.nan
    return float(np.clip(-np.log10(doubt / own), 0.0, 15.9) + 0.0) if doubt else 15.9


def extrapolated(s: Array, values: Array, noise: Array) -> tuple[float, float]:
    """Values at falling s, extrapolated to s = 0, and how far to trust that.

    Of all extrapolations the one of least doubt is taken that no value at smaller s denies: over large steps other
    terms can look like a limit.
    """
    found = sorted(_extrapolations(s, values, noise), key=lambda each: each[1])
    for limit, doubt, k in found:
        off = abs(values[k:] - limit)
        if np.all(off <= off[0] + 4 * (doubt + 3 * noise[k:])):
            return limit, doubt
    return (float(values[-1]) if len(s) else 0.0), math.inf


def _extrapolations(s: Array, values: Array, noise: Array) -> Iterator[tuple[float, float, int]]:
    """Limits by Neville's scheme, each with its doubt and the last value that it comes from."""
    above: list[tuple[float, float]] = []
    for k in range(len(s)):
        row = [(float(values[k]), 3 * float(noise[k]))]
        for j, (before, before_noise) in enumerate(above, 1):
            ratio = float(s[k - j] / s[k])
            here, here_noise = row[-1]
            better = here + (here - before) / (ratio - 1)
            amplified = (ratio * here_noise + before_noise) / (ratio - 1)
            yield better, max(abs(better - here), abs(better - before)) + amplified, k
            row.append((better, amplified))
        above = row[:EXTRAPOLATED]
