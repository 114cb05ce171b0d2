"""Who is right: a number that was claimed to be a derivative, a difference with its error, or hoad."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hoad.check.differences import Difference
from hoad.check.report import RIGHT, UNDECIDED, WRONG, digits_between

OTHER_RULE = "hoad's own derivative is another"


class Judgement(NamedTuple):
    """What is found of one number; as the last attributes of `Entry`."""

    difference: float
    error: float
    trusted: bool
    verdict: str
    reason: str
    digits: float


@dataclass(frozen=True)
class Claim:
    """A number that was claimed to be a derivative, and what speaks for or against it."""

    claimed: float  # the number to be judged
    exact: float  # hoad's; nan where hoad has none
    d: Difference  # of one number
    value: float  # of the function itself
    rtol: float  # relative error that counts as right
    rounding: float  # what rounding can leave of a number that should be 0
    loose: Callable[[], float]  # by how much both numbers move with the last digits of x; asked for where it matters
    whose: str  # what the difference is taken of
    strayed: str  # what that did out of its domain

    def judged(self) -> Judgement:
        """The verdict, with its reason."""
        reference, slack = self.reference, 0.0
        reason = self._why_undecided()
        if reason:
            verdict = UNDECIDED
        elif not math.isfinite(self.claimed):
            verdict, reason = WRONG, "it is not finite"
        elif reference == self.exact:
            verdict, reason, slack = self._beside_hoad()
        else:
            verdict, reason, slack = self._beside_difference()
        if verdict == WRONG:
            reason = "; ".join(filter(None, [_hint(self.claimed, reference), reason]))
        vanishes = verdict == RIGHT and abs(reference) <= slack
        digits = math.nan if vanishes or verdict == UNDECIDED else float(digits_between(self.claimed, reference))
        return Judgement(float(self.d.value), float(self.d.error), self.trusted, verdict, reason, digits)

    @cached_property
    def trusted(self) -> bool:
        """Whether the difference can judge."""
        return bool(self.d.trusted(np.asarray(self.claimed)))

    @cached_property
    def reference(self) -> float:
        """hoad's, unless a difference that can be trusted denies it; nan where nothing can judge."""
        if math.isfinite(self.exact) and not self._denies(self.exact):
            return self.exact
        return float(self.d.value) if self.trusted else math.nan

    def _near(self, a: float, b: float, slack: float) -> bool:
        return abs(a - b) <= slack + self.rtol * max(abs(a), abs(b))

    def _denies(self, value: float) -> bool:
        """Whether the difference can judge, and says that it is not this."""
        open = self._near(value, float(self.d.value), 4 * float(self.d.error))
        return self.trusted and not open and not self.d.allows(np.asarray(value))

    def _why_undecided(self) -> str:
        """Why there is no derivative, or nothing to judge it by; nothing where there is."""
        if not math.isfinite(self.value):
            return f"{self.whose} is {self.value} at x"
        if not self.d.smooth:
            return self._break_text()
        return self._fault_text() if math.isnan(self.reference) else ""

    def _beside_hoad(self) -> tuple[str, str, float]:
        """Verdict, reason, and what rounding leaves open, where hoad judges."""
        reason = "" if self.trusted else f"{self._fault_text()}; judged by hoad"
        if self._near(self.claimed, self.exact, 0.0):
            return RIGHT, reason, 0.0
        if self._denies(self.claimed) or not self._near(self.claimed, self.exact, self.rounding):
            return WRONG, reason, 0.0
        own = min(self.rounding, self.loose())
        if self._near(self.claimed, self.exact, own):
            return RIGHT, reason, own
        return UNDECIDED, "it is so small relative to the others that differences cannot confirm it", own

    def _beside_difference(self) -> tuple[str, str, float]:
        """The same where the difference judges."""
        claimed, slack = np.asarray(self.claimed), 4 * float(self.d.error)
        if not self._near(self.claimed, self.reference, slack):
            if self.d.allows(claimed):
                return UNDECIDED, "the difference is at fault: rounding hides it over steps of the size of x", slack
            return WRONG, OTHER_RULE if math.isfinite(self.exact) else "", slack
        if not self.d.resolved(claimed) and abs(self.claimed) > self.loose():
            return UNDECIDED, "it is so small relative to f that differences cannot tell it from 0", slack
        return RIGHT, OTHER_RULE if math.isfinite(self.exact) else "", slack

    def _break_text(self) -> str:
        """What is the matter where there is no derivative."""
        slope, kink, jump = float(self.d.value), float(self.d.kink), float(self.d.jump)
        if jump:
            more = f"{abs(jump):.6g} {'more' if jump > 0 else 'less'}"
            return f"{self.whose} jumps here: on the right it is {more} than on the left"
        if math.isinf(kink):
            return f"{self.whose} has a cusp here: its slopes on both sides are not finite"
        sides = f"the slope is {slope - kink / 2:.6g} on the left and {slope + kink / 2:.6g} on the right"
        return f"{self.whose} has a kink here: {sides}"

    def _fault_text(self) -> str:
        """What is the matter where the difference cannot judge."""
        if not math.isnan(float(self.d.value)):
            return "the difference is at fault: its error is too large"
        how = self.strayed or "is not finite"
        return f"differences cannot judge: beside x, {self.whose} {how}"


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
