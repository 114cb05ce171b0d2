"""The report of a Taylor test: a finding for each order, a table, two plots."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hoad.check.points import Array
from hoad.check.report import (
    COLOURS,
    MARKERS,
    RIGHT,
    UNDECIDED,
    WRONG,
    Report,
    aligned,
    aligned_filled,
    digits_text,
    figure_with,
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
    """The remainders of one order, in the worst component of f.

    Attributes
    ----------
    order : int
        The degree n of the Taylor polynomial.
    verdict : str
        "right", "exact" (only rounding is left), "wrong", or "undecided".
    rate : float
        The observed power of h; n + 1 is expected. nan if it cannot be observed.
    digits : float
        To how many digits the coefficient of hⁿ is confirmed; nan if it is 0.
    component : tuple of int
        The component of f.
    reason : str
        An explanation of the verdict, if it needs one.
    """

    order: int
    verdict: str
    rate: float
    digits: float
    component: tuple[int, ...]
    reason: str


@dataclass(frozen=True, eq=False)
class TaylorReport(Report):
    """The result of `taylor_test`.

    Attributes
    ----------
    name : str
        The function.
    x, v : float, ndarray, or tuple of them
        The point and the direction.
    order : int
        The highest degree.
    steps : ndarray (K)
        The steps h, decreasing.
    coefficients : ndarray (order + 1, \\*S)
        The coefficients of the Taylor polynomial in h: derivatives along v over n!.
    remainders : ndarray (order + 1, K)
        ``|f(x + hv) − Tₙ(h)|``, in the worst component of this order.
    rates : ndarray (order + 1, K)
        The observed power of h between a step and the next; nan where rounding hides it.
    plateau : ndarray (order + 1, K)
        The size of rounding in the remainders, estimated from f.
    findings : tuple of Finding
        One for each order from 0 on.
    notes : tuple of str
        Further remarks.
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
        """The lowest order that is wrong, in words; empty if the test passed."""
        for finding in self.findings:
            if finding.verdict in BAD:
                where = f" in f(x){index_text(finding.component)}" if finding.component else ""
                seen = f": the remainders fall like h^{finding.rate:.2f}, not h^{finding.order + 1}"
                rate = "" if math.isnan(finding.rate) else seen
                head = f"Taylor test of {self.name}: order {finding.order} is {finding.verdict}{where}{rate}"
                return f"{head}. {sentence(finding.reason)}"
        return ""

    def __str__(self) -> str:
        lines = [f"Taylor test of {self.name} at {value_text(self.x)} along {value_text(self.v)}: {self._verdict}"]
        rows = [["order", "expected", "observed", "digits", "", ""]]
        for f in self.findings:
            where = f"{index_text(f.component)}: " if f.component and f.reason else ""
            observed = "none left" if f.verdict == EXACT else number(round(f.rate, 2), 4) or "hidden"
            rows.append(
                [str(f.order), f"h^{f.order + 1}", observed, digits_text(f.digits), f.verdict, where + f.reason]
            )
        lines += [*aligned_filled(rows, left=(4, 5)), "", *self._table()]
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
        return [*aligned(rows, left=()), "  (in parentheses: not distinguishable from rounding)"]

    def plot(self, ax: Any = None) -> Any:
        """Plot remainders, and errors of difference quotients, over the steps.

        Parameters
        ----------
        ax : matplotlib axes or a pair of them, optional
            Where to draw: axes for the remainders, or a pair for both plots; a new figure with both by default.

        Returns
        -------
        matplotlib figure
            The figure.
        """
        axes = figure_with(2)[1] if ax is None else list(ax) if isinstance(ax, (tuple, list, np.ndarray)) else [ax]
        for panel, quotients in zip(axes, (False, True), strict=False):
            _draw(panel, self, quotients)
        return axes[0].figure


def _draw(ax: Any, report: TaylorReport, quotients: bool) -> None:
    """Draw remainders over the steps, or (`quotients`) the errors of difference quotients.

    Dashed lines show the rates that are expected, and rounding is what is filled.
    """
    h = report.steps
    orders = range(1, report.order + 1) if report.order else range(1)
    shown: list[float] = []
    for n in orders:
        scale = h**n if quotients else 1.0
        size, floor = report.remainders[n] / scale, report.plateau[n] / scale
        seen = np.isfinite(size) & (size > floor)
        hidden = np.isfinite(size) & ~seen & (size > 0)
        power = 1 if quotients else n + 1
        colour, marker = COLOURS[n % len(COLOURS)], MARKERS[n % len(MARKERS)]
        name = "(f(x + hv) − f(x)) / h" if quotients and n == 1 else f"order {n}"
        label = f"{name}; dashed: $h^{{{power}}}$"
        if n == orders[0]:
            ax.fill_between(h, np.full_like(h, 1e-300), floor, color="0.9", lw=0, label="rounding")
            shown += [float(np.min(floor)) / 10, float(np.min(floor)) * 10]
        ax.loglog(h[seen], size[seen], marker=marker, ms=4, lw=1, color=colour, label=label)
        ax.loglog(h[hidden], size[hidden], marker=marker, ms=3, lw=0, color=colour, alpha=0.25)
        if seen.any():
            anchor = np.flatnonzero(seen)[-1 if report.findings[n].verdict in ("right", "exact") else 0]
            ax.loglog(h, size[anchor] * (h / h[anchor]) ** power, ls="--", lw=0.8, color=colour, alpha=0.6)
            shown += [float(np.min(size[seen])) / 10, float(np.max(size[seen])) * 10]
    if any(limit > 0 for limit in shown):
        ax.set_ylim(min(limit for limit in shown if limit > 0), max(*shown, 0.0) or 1.0)
    ax.set_xlabel("step h")
    if quotients:
        ax.set_ylabel("error of the difference quotient")
        ax.set_title("Differences")
    else:
        ax.set_ylabel("|f(x + hv) − Tₙ(h)|")
        ax.set_title(f"Taylor remainders of {report.name}: {report._verdict}")
    ax.legend(fontsize=8, frameon=False)
