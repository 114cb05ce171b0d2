"""What remainders on both sides of x say of each derivative: right, wrong, or that f has none there."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from hoad.check.points import Array
from hoad.check.rates import REMARKED, UNDEFINED, UNSEEN, Judgement, extrapolated, one_side
from hoad.check.remainders import ABOVE, Picked, Remainders
from hoad.check.report import RIGHT, UNDECIDED, WRONG, or_inf
from hoad.check.taylor_report import BAD, EXACT, Finding

DENIED = 8.0  # times the doubt of both, coefficients of two sides are not the same
LEAST = 2.3  # digits of a coefficient that a derivative must have to be called right
NEGLIGIBLE = 1e-10  # of the change of f over v: an error in a term that is as good as none

RANK = {WRONG: 0, UNDECIDED: 1, RIGHT: 2, EXACT: 3}


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
