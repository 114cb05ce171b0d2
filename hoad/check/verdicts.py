"""Who is right: a number that was claimed to be a derivative, a difference with its error, or hoad."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hoad.check.differences import Difference
from hoad.check.report import RIGHT, UNDECIDED, WRONG, digits_between

OTHER_RULE = "hoad's own derivative is another"


class Judged(NamedTuple):
    """What is found of one number; as the last attributes of `Entry`."""

    difference: float
    error: float
    trusted: bool
    verdict: str
    reason: str
    digits: float


def judged(
    claimed: float,
    exact: float,
    d: Difference,
    rtol: float,
    rounding: float,
    loose: Callable[[], float],
    whose: str,
    strayed: str,
) -> Judged:
    """Judge what was claimed.

    Parameters
    ----------
    claimed, exact : float
        The number to be judged, and hoad's; nan where hoad has none.
    d : Difference
        Of one number.
    rtol : float
        Relative error that counts as right.
    rounding : float
        What rounding can leave of a number that should be 0.
    loose : callable
        ``() -> float``: by how much both numbers move with the last digits of x; asked for where it matters.
    whose : str
        What the difference is taken of.
    strayed : str
        What that did out of its domain.
    """
    approximate, error = float(d.value), float(d.error)
    trusted = bool(d.trusted(np.asarray(claimed)))

    def near(a: float, b: float, slack: float) -> bool:
        return abs(a - b) <= slack + rtol * max(abs(a), abs(b))

    def excluded(value: float) -> bool:
        """Whether the difference can judge, and says that it is not this."""
        return trusted and not near(value, approximate, slack) and not d.allows(np.asarray(value))

    slack, own = 4 * error, 0.0  # what the difference leaves open, and rounding of the number itself
    known = math.isfinite(exact)
    at_odds = known and excluded(exact)
    reference = exact if known and not at_odds else approximate if trusted else math.nan
    reason = ""
    if not d.smooth:
        verdict, reason = UNDECIDED, _break_text(whose, approximate, float(d.kink), float(d.jump))
    elif math.isnan(reference):
        verdict, reason = UNDECIDED, _fault_text(whose, approximate, strayed)
    elif not math.isfinite(claimed):
        verdict, reason = WRONG, "it is not finite"
    elif known and not at_odds:
        reason = "" if trusted else "the difference is at fault: its error is too large; judged by hoad"
        if near(claimed, exact, 0.0):
            verdict = RIGHT
        elif excluded(claimed) or not near(claimed, exact, rounding):
            verdict = WRONG
        elif near(claimed, exact, own := min(rounding, loose())):
            verdict = RIGHT
        else:
            verdict, reason = UNDECIDED, "beside the others it is so small that differences cannot tell it from hoad's"
    elif not near(claimed, approximate, slack) and d.allows(np.asarray(claimed)):
        verdict, reason = UNDECIDED, "the difference is at fault: rounding hides it over steps of the size of x"
    else:
        verdict = RIGHT if near(claimed, approximate, slack) else WRONG
        reason = OTHER_RULE if at_odds else ""
        if verdict == RIGHT and not d.resolved(np.asarray(claimed)) and abs(claimed) > loose():
            verdict, reason = UNDECIDED, "beside the rest of f it is so small that differences cannot tell it from 0"
    if verdict == WRONG:
        reason = "; ".join(filter(None, [_hint(claimed, reference), reason]))
    agreed = approximate if math.isnan(reference) else reference
    vanishes = verdict == RIGHT and abs(agreed) <= (slack if agreed == approximate else own)
    digits = math.nan if vanishes else float(digits_between(claimed, agreed))
    return Judged(approximate, error, trusted, verdict, reason, digits)


def _break_text(whose: str, slope: float, kink: float, jump: float) -> str:
    """What is the matter where there is no derivative."""
    if jump:
        return (
            f"{whose} jumps here: on the left it is {abs(jump):.6g} {'less' if jump > 0 else 'more'} than on the right"
        )
    if math.isinf(kink):
        return f"{whose} has a cusp here: its slopes on both sides are not finite"
    sides = f"the slope is {slope - kink / 2:.6g} on the left and {slope + kink / 2:.6g} on the right"
    return f"{whose} has a kink here: {sides}"


def _fault_text(whose: str, approximate: float, strayed: str) -> str:
    """What is the matter where the difference cannot judge."""
    if not math.isnan(approximate):
        return "the difference is at fault: its error is too large to judge"
    if strayed:
        return f"beside x, {whose} {strayed}, so differences cannot judge"
    return f"{whose} is not finite on both sides of x, so differences cannot judge"


def _hint(claimed: float, reference: float) -> str:
    """What a slip of the pen makes of a derivative."""
    if not math.isfinite(claimed) or reference == 0 or claimed == 0:
        return ""
    ratio = claimed / reference
    if abs(ratio + 1) < 1e-6:
        return "the sign is wrong"
    for factor in (2, 3, 4):
        if abs(abs(ratio) - factor) < 1e-6 * factor:
            return f"it is {'minus ' if ratio < 0 else ''}{factor} times too large"
        if abs(abs(ratio) * factor - 1) < 1e-6:
            return f"it is {'minus ' if ratio < 0 else ''}one part in {factor} of what it should be"
    return f"it is off by {abs(ratio - 1):.1%}" if 1e-4 < abs(ratio - 1) < 1 else ""


__all__ = ["OTHER_RULE", "judged"]
