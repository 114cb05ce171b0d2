"""What a Taylor test found: a finding for each order, a table, two pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hoad.check.points import Array
from hoad.check.report import (
    RIGHT,
    UNDECIDED,
    WRONG,
    Report,
    aligned,
    index_text,
    number,
    sentence,
    short,
    value_text,
)

EXACT = "exact"
BAD = (WRONG, UNDECIDED)
ROWS = 12


@dataclass(frozen=True)
class Finding:
    """What the remainders of one order say, in the component of f that looks worst.

    Attributes
    ----------
    order : int
        The degree n of the Taylor polynomial.
    verdict : str
        "right", "exact" (nothing is left but rounding), "wrong", or "undecided".
    rate : float
        The observed power of h; n + 1 is expected. nan where it cannot be seen.
    digits : float
        To how many digits the coefficient of hⁿ is confirmed; nan where it is 0.
    component : tuple of int
        The component of f.
    reason : str
        What is the matter, where something is.
    """

    order: int
    verdict: str
    rate: float
    digits: float
    component: tuple[int, ...]
    reason: str


@dataclass(frozen=True, eq=False)
class TaylorReport(Report):
    """What `taylor_test` found.

    Attributes
    ----------
    name : str
        The function.
    x, v : float, ndarray, or tuple of them
        The point and the direction.
    order : int
        The highest degree.
    steps : ndarray (K)
        The steps h, falling.
    coefficients : ndarray (order + 1, \\*S)
        Of the Taylor polynomial in h: derivatives along v over n!.
    remainders : ndarray (order + 1, K)
        ``|f(x + hv) − Tₙ(h)|``, in the component that looks worst at this order.
    rates : ndarray (order + 1, K)
        The observed power of h between a step and the next; nan where rounding hides it.
    plateau : ndarray (order + 1, K)
        What the remainders cannot be told from: rounding, as it was found in f.
    findings : tuple of Finding
        One for each order from 0 on.
    notes : tuple of str
        What else is worth knowing.
    """

    name: str
    x: Any
    v: Any
    order: int
    steps: Array
    coefficients: Array
    remainders: Array
    rates: Array
    plateau: Array
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the remainders of every order fall as they must."""
        return all(finding.verdict in (RIGHT, EXACT) for finding in self.findings)

    def failure(self) -> str:
        """The lowest order that is wrong, in words; nothing where the test passed."""
        for finding in self.findings:
            if finding.verdict in BAD:
                where = f" in f(x){index_text(finding.component)}" if finding.component else ""
                seen = f": the remainders fall like h^{finding.rate:.2f}, not h^{finding.order + 1}"
                rate = "" if math.isnan(finding.rate) else seen
                head = f"Taylor test of {self.name}: order {finding.order} is {finding.verdict}{where}{rate}"
                return f"{head}. {sentence(finding.reason)}"
        return ""

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        lines = [f"Taylor test of {self.name} at {value_text(self.x)} along {value_text(self.v)}: {verdict}"]
        rows = [["order", "expected", "observed", "digits", "", ""]]
        for f in self.findings:
            digits = "" if math.isnan(f.digits) else f"{f.digits:.1f}"
            where = f"{index_text(f.component)}: " if f.component and f.reason else ""
            observed = "none left" if f.verdict == EXACT else number(round(f.rate, 2), 4) or "hidden"
            rows.append([str(f.order), f"h^{f.order + 1}", observed, digits, f.verdict, where + f.reason])
        kept = [k for k in range(6) if any(row[k] for row in rows[1:])]
        lines += aligned([[row[k] for k in kept] for row in rows], left=[k for k, c in enumerate(kept) if c > 3])
        lines += ["", *self._table()]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def _table(self) -> list[str]:
        """Remainders at some of the steps; those that are rounding stand in parentheses."""
        seen = np.flatnonzero(np.any(self.remainders[1:] > self.plateau[1:], axis=0))
        last = min(len(self.steps), (int(seen[-1]) if seen.size else 0) + 4)
        stride = max(1, math.ceil(last / ROWS))
        rows = [["h", *(f"remainder {n}" for n in range(self.order + 1))]]
        for k in range(0, last, stride):
            cells = [short(self.steps[k])]
            for n in range(self.order + 1):
                text = short(self.remainders[n, k])
                hidden = self.remainders[n, k] <= self.plateau[n, k]
                cells.append(f"({text})" if hidden else f"{text} ")
            rows.append(cells)
        return [*aligned(rows, left=()), "  (in parentheses: not to be told from rounding)"]

    def plot(self, ax: Any = None) -> Any:
        """Remainders, and errors of difference quotients, over the steps.

        Parameters
        ----------
        ax : matplotlib axes or a pair of them, optional
            Where to draw: the remainders, or both pictures; left out, both in a figure of their own.

        Returns
        -------
        matplotlib figure
            The figure drawn on.
        """
        from hoad.check.plot import plot_taylor

        return plot_taylor(self, ax)


__all__ = ["BAD", "EXACT", "Finding", "TaylorReport"]
