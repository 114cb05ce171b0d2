"""The report of a check of derivatives written by hand: every component, a table, a plot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hoad._docstrings import docfiller
from hoad.check.report import (
    RIGHT,
    UNDECIDED,
    VERDICTS,
    WRONG,
    Report,
    aligned_filled,
    axes_or_new,
    digits_text,
    index_text,
    number,
    or_inf,
    sentence,
    short,
    value_text,
)

ROWS = 12  # of a table; all are in `entries`


@dataclass(frozen=True)
class Entry:
    """One component of a derivative.

    Attributes
    ----------
    argument : int
        The argument of f that it belongs to.
    index : tuple of int or None
        Its index in the derivative; None for the derivative along a random direction.
    claimed : float
        The value to check.
    exact : float
        hoad's derivative; nan if there is none.
    difference, error : float
        Differences of f, and an estimate of their error.
    trusted : bool
        Whether the difference can judge.
    verdict : str
        "right", "wrong", or "undecided".
    reason : str
        An explanation of the verdict, if it needs one.
    digits : float
        Significant digits in which the claimed value agrees with the reference; nan if the reference is 0 within its
        error, or there is none.
    """

    argument: int
    index: tuple[int, ...] | None
    claimed: float
    exact: float
    difference: float
    error: float
    trusted: bool
    verdict: str
    reason: str
    digits: float

    @property
    def place(self) -> str:
        """Where it stands, in the manner of Python."""
        return "along v" if self.index is None else index_text(self.index)


@dataclass(frozen=True, eq=False)
class DerivativeReport(Report):
    """The result of `gradient`, `jacobian` or `hessian`.

    Attributes
    ----------
    kind : str
        "gradient", "jacobian" or "hessian".
    name : str
        The function whose derivative it is.
    at : tuple
        The arguments.
    entries : tuple of Entry
        Every component that was checked.
    size : int
        The number of components.
    shape_error : str
        What is wrong with the shape; there are then no entries.
    notes : tuple of str
        Further remarks.
    """

    kind: str
    name: str
    at: tuple[Any, ...]
    entries: tuple[Entry, ...]
    size: int
    shape_error: str
    notes: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether every component that was checked is right."""
        return not self.shape_error and all(entry.verdict == RIGHT for entry in self.entries)

    def _those(self, verdict: str) -> list[Entry]:
        """The entries of a verdict, the worst first."""
        return sorted((entry for entry in self.entries if entry.verdict == verdict), key=lambda e: or_inf(e.digits))

    def failure(self) -> str:
        """The worst component in words; empty if the check passed."""
        head = f"{self.kind} of {self.name}: "
        if self.shape_error:
            return head + self.shape_error
        wrong, undecided = self._those(WRONG), self._those(UNDECIDED)
        if not wrong and not undecided:
            return ""
        looked = len(self.entries)
        kind, found = ("wrong", wrong) if wrong else ("undecided", undecided)
        count = f"{len(found)} of {looked} components {'is' if len(found) == 1 else 'are'} {kind}. "
        return head + count + " ".join(self._sentence(entry) for entry in found[:3])

    def _sentence(self, entry: Entry) -> str:
        place = "the derivative along a random direction v" if entry.index is None else f"component {entry.place}"
        where = f"argument {entry.argument}, " if len({e.argument for e in self.entries}) > 1 else ""
        where += f"{place}: " if entry.place else ""
        parts = [f"{where}yours is {number(entry.claimed, 10)}"]
        if not np.isnan(entry.difference):
            trust = "" if entry.trusted else "not "
            parts.append(f"differences give {number(entry.difference, 10)} ± {short(entry.error)} ({trust}trustworthy)")
        if not np.isnan(entry.exact):
            parts.append(f"hoad gives {number(entry.exact, 10)}")
        digits = "" if np.isnan(entry.digits) else f"; {entry.digits:.1f} digits agree"
        return " ".join(filter(None, [sentence(", ".join(parts) + digits), sentence(entry.reason)]))

    def __str__(self) -> str:
        at = value_text(self.at if len(self.at) > 1 else self.at[0])
        lines = [f"{self.kind} of {self.name} at {at}: {self._verdict}"]
        if self.shape_error:
            return "\n".join([*lines, f"  {self.shape_error}"])
        lines += self._table() if self.entries else ["  it has no components"]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def _table(self) -> list[str]:
        """The worst components, in order."""
        ranks = {WRONG: 0, UNDECIDED: 1, RIGHT: 2}
        chosen = sorted(self.entries, key=lambda e: (ranks[e.verdict], or_inf(e.digits)))[:ROWS]
        shown = [entry for entry in self.entries if entry in chosen]
        several = len({entry.argument for entry in self.entries}) > 1
        rows = [["component", "yours", "hoad", "difference", "± error", "digits", "", ""]]
        for e in shown:
            place = f"{e.argument}: {e.place}" if several else e.place
            texts = [number(e.claimed, 9), number(e.exact, 9), number(e.difference, 9), short(e.error)]
            rows.append([place, *texts, digits_text(e.digits), e.verdict, e.reason])
        lines = aligned_filled(rows, left=(0, 6, 7))
        if len(shown) < len(self.entries):
            lines.append(f"  ... {len(self.entries) - len(shown)} components left out, all of them as good or better")
        return lines

    @docfiller
    def plot(self, ax: Any = None) -> Any:
        """Plot the error of every component and that of the differences.

        %(plot)s
        """
        ax = axes_or_new(ax)
        entries = self.entries
        places = np.arange(len(entries))
        # Rounding keeps zeros on a logarithmic axis.
        tiny = np.array([max(np.finfo(float).eps * max(abs(e.difference), abs(e.claimed)), 1e-300) for e in entries])
        best = np.array([e.exact if np.isfinite(e.exact) else e.difference for e in entries])
        error = abs(np.array([e.claimed for e in entries]) - best)
        doubt = np.array([e.error for e in entries])
        ax.semilogy(places, np.fmax(doubt, tiny), "_", ms=10, color="0.5", label="error of the difference")
        for verdict, colour in VERDICTS.items():
            those = np.array([e.verdict == verdict for e in entries], dtype=bool)
            if those.any():
                ax.semilogy(places[those], np.fmax(error, tiny)[those], "o", ms=5, color=colour, label=verdict)
        if len(entries) <= 24:
            ax.set_xticks(places, [e.place or "x" for e in entries], rotation=90 if len(entries) > 8 else 0)
        ax.set_xlabel("component")
        ax.set_ylabel("|error|")
        ax.set_title(f"{self.kind} of {self.name}: {self._verdict}")
        ax.legend(fontsize=8, frameon=False)
        return ax.figure
