"""The report of a check of a rule: a row for every point, a column for every check."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hoad._docstrings import docfiller
from hoad.check.report import RIGHT, VERDICTS, Report, aligned, axes_or_new, digits_text, number, sentence

SPECIAL = "special point"


@dataclass(frozen=True)
class RuleFinding:
    """One check of a rule at one point.

    Attributes
    ----------
    check : str
        What was checked: "adjoint 0" for that of operand 0, "linear in g", "forward = reverse", "order 3",
        "special point", or "shape".
    at : str
        The operands.
    verdict : str
        "right", "wrong", or "undecided".
    digits : float
        Digits that agree; nan if nothing was compared.
    reason : str
        An explanation of the verdict, if it needs one.
    """

    check: str
    at: str
    verdict: str
    digits: float
    reason: str

    @property
    def passed(self) -> bool:
        """Whether it is right."""
        return self.verdict == RIGHT


@dataclass(frozen=True, eq=False)
class RuleReport(Report):
    """The result of `rule`.

    Attributes
    ----------
    name : str
        The primitive.
    orders : int
        The highest order that was checked.
    findings : tuple of RuleFinding
        Every check at every point.
    notes : tuple of str
        What was left out, and why.
    """

    name: str
    orders: int
    findings: tuple[RuleFinding, ...]
    notes: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether every check is right."""
        return bool(self.findings) and all(finding.passed for finding in self.findings)

    def failure(self) -> str:
        """The first checks that failed, in words; empty if all passed."""
        bad = [finding for finding in self.findings if not finding.passed]
        if not bad:
            return ""
        texts = [sentence(text.rstrip(".")) for text in _grouped(bad)[:3]]
        count = f"{len(bad)} of {len(self.findings)} checks failed"
        return f"rule of {self.name}: {count}. {' '.join(texts)}"

    def __str__(self) -> str:
        lines = [f"rule of {self.name}, orders 1 to {self.orders}: {self._verdict}"]
        singular = [finding for finding in self.findings if finding.check.startswith(SPECIAL)]
        regular = [finding for finding in self.findings if not finding.check.startswith(SPECIAL)]
        lines += self._grid(regular) if regular else []
        if singular:
            rows = [[f.at, number(f.digits, 3), f.verdict, f.reason] for f in singular]
            lines += aligned([[SPECIAL, "digits", "", ""], *rows], left=(0, 2, 3))
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def _grid(self, findings: list[RuleFinding]) -> list[str]:
        """A row per place, a column per check, the digits that agree in them; and what is wrong, below."""
        checks = list(dict.fromkeys(finding.check for finding in findings))
        rows = [["digits at", *checks]]
        for at, group in itertools.groupby(findings, key=lambda finding: finding.at):
            cells = {finding.check: _cell(finding) for finding in group}
            rows.append([at, *(cells.get(check, "") for check in checks)])
        return [*aligned(rows), *(f"  {text}" for text in _grouped(f for f in findings if not f.passed))]

    @docfiller
    def plot(self, ax: Any = None) -> Any:
        """Plot the digits to which every check agrees.

        %(plot)s
        """
        ax = axes_or_new(ax)
        shown = [finding for finding in self.findings if np.isfinite(finding.digits)]
        places = np.arange(len(shown))
        ax.barh(places, [finding.digits for finding in shown], color=[VERDICTS[finding.verdict] for finding in shown])
        ax.set_yticks(places, [f"{finding.check} at {finding.at}" for finding in shown], fontsize=7)
        ax.invert_yaxis()
        ax.set_xlabel("digits that agree")
        ax.set_title(f"rule of {self.name}: {self._verdict}")
        return ax.figure


def _cell(finding: RuleFinding) -> str:
    digits = digits_text(finding.digits)
    return digits if finding.passed else f"{digits} {finding.verdict}".strip()


def _grouped(findings: Iterable[RuleFinding]) -> list[str]:
    """What is the matter, each said once, with the places where it is."""
    places: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        places.setdefault((finding.check, finding.reason), []).append(finding.at)
    return [f"{check} at {', '.join(at)}: {reason}" for (check, reason), at in places.items()]
