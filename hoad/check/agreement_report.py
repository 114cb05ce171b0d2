"""The report of a comparison of modes: for each order how far apart they are, and which of them are wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hoad._docstrings import docfiller
from hoad.check.points import Array
from hoad.check.report import RIGHT, VERDICTS, WRONG, Report, aligned, axes_or_new, sentence, short, value_text


@dataclass(frozen=True, eq=False)
class Agreement:
    """The derivatives of one order in all modes.

    Attributes
    ----------
    order : int
        The order.
    verdict : str
        "right", "wrong", or "undecided" if they differ and differences cannot decide, or no mode finds a derivative.
    ways : tuple of str
        The modes that were compared: "forward", "forward, jitted", "forward, by vmap", ...
    values : ndarray (D, W)
        The results of each mode: the derivative along v, then that along v and w in turn.
    disagreements : ndarray (W, W)
        How far apart each two of them are, over the largest of all; inf where one has none and the other has.
    roundings : ndarray (W, W)
        How much of that may be rounding, estimated from both.
    wrong : tuple of str
        The modes that disagree with differences.
    reason : str
        An explanation of the verdict, if it needs one.
    """

    order: int
    verdict: str
    ways: tuple[str, ...]
    values: Array
    disagreements: Array
    roundings: Array
    wrong: tuple[str, ...]
    reason: str

    @property
    def worst(self) -> tuple[int, int]:
        """The places of the two ways that are farthest apart."""
        return divmod(int(np.argmax(self.disagreements)), len(self.ways))


@dataclass(frozen=True, eq=False)
class AgreementReport(Report):
    """The result of `modes`.

    Attributes
    ----------
    name : str
        The function.
    x : float, ndarray, or tuple of them
        The point.
    order : int
        The highest order.
    directions : tuple
        The directions v and w, in the form of x; only v = 1 for a function of one number.
    findings : tuple of Agreement
        One for each order from 0 on.
    notes : tuple of str
        Omissions and further remarks.
    """

    name: str
    x: Any
    order: int
    directions: tuple[Any, ...]
    findings: tuple[Agreement, ...]
    notes: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether all modes agree at every order."""
        return all(finding.verdict == RIGHT for finding in self.findings)

    def failure(self) -> str:
        """The lowest order at which modes disagree, in words; empty if all agree."""
        for finding in self.findings:
            if finding.verdict != RIGHT:
                head = f"derivatives of {self.name}: order {finding.order} is {finding.verdict}"
                return f"{head}{_by(finding)}. {sentence(finding.reason)}"
        return ""

    def __str__(self) -> str:
        lines = [f"derivatives of {self.name} at {value_text(self.x)}, orders 0 to {self.order}: {self._verdict}"]
        rows = [["order", "modes", "disagreement", "rounding", "farthest apart", ""]]
        for f in self.findings:
            i, j = f.worst
            modes = len({way.partition(",")[0] for way in f.ways})
            apart = f"{f.ways[i]} / {f.ways[j]}" if i != j else "none"
            found = [short(f.disagreements[i, j]), short(f.roundings[i, j] if i != j else np.max(f.roundings))]
            rows.append([str(f.order), str(modes), *found, apart, f.verdict + _by(f)])
        lines += aligned(rows, left=(4, 5))
        lines += [f"  order {f.order}: {f.reason}" for f in self.findings if f.verdict != RIGHT][:1]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    @docfiller
    def plot(self, ax: Any = None) -> Any:
        """Plot how far apart each two modes are at every order, and the rounding.

        %(plot)s
        """
        ax = axes_or_new(ax)
        tiny = np.finfo(np.float64).eps / 4  # where two agree to the last bit
        for finding in self.findings:
            pairs = np.triu_indices(len(finding.ways), 1)
            apart, rounding = finding.disagreements[pairs], finding.roundings[pairs]
            seen = np.isfinite(apart)
            places = np.full(seen.sum(), finding.order)
            ax.semilogy(places, np.fmax(apart[seen], tiny), "o", ms=4, color=VERDICTS[finding.verdict], alpha=0.4)
            ax.semilogy([finding.order], [max(np.max(rounding), tiny)], "_", ms=14, color="0.4")
        ax.set_xticks(range(self.order + 1))
        ax.set_xlabel("order (bars: rounding)")
        ax.set_ylabel("disagreement")
        ax.set_title(f"Modes of {self.name}: {self._verdict}")
        return ax.figure


def _by(finding: Agreement) -> str:
    return f" by {listed(finding.wrong)}" if finding.verdict == WRONG else ""


def listed(names: tuple[str, ...]) -> str:
    """Names in a sentence; those with a comma of their own are set apart by semicolons."""
    between = "; " if any("," in name for name in names) else ", "
    return between.join(names) if len(names) < 2 else f"{between.join(names[:-1])} and {names[-1]}"
