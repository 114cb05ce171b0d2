"""What stands around the panels: opening, closing table, list of sets."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import hoad
from hoad._demo import datasets
from hoad._demo.differences import DOUBLE_DIGITS
from hoad._demo.panel import AIM, digits_text, duration
from hoad._demo.screen import Screen, Text
from hoad._demo.study import Study

__all__ = ["closing", "listing", "opening"]

OPENING = """\
Nonlinear regression on the data sets that NIST certifies. Each model is a plain NumPy function; a \
trust-region Newton method fits it with the exact gradient, Jacobian and Hessian that hoad makes of it. The \
certified values are read after the fit.

Digits: the log relative error, about how many significant digits agree; NIST certifies 11. ✓: all 11 do. \
Standard errors are NIST's, from s²(JᵀJ)⁻¹; those under Hessian are from s²H⁻¹, with the exact Hessian H of \
half the residual sum of squares (RSS).\
"""


def opening(screen: Screen) -> list[Text]:
    """Return the lines above the panels: what this is, and how to read it."""
    name = screen.text(f"hoad {hoad.__version__}", "title")
    lines = [(name + screen.text("  exact derivatives of NumPy programs")).left(screen.width)]
    for paragraph in OPENING.split("\n\n"):
        lines += [Text(), *screen.wrapped(paragraph, "dim")]
    return lines


def listing(screen: Screen) -> list[Text]:
    """Return a line for each set there is."""
    lines = []
    for name in datasets.names():
        data = datasets.load(name)
        m, n = len(data.y), len(data.starts[1])
        size = f"{m:>4} observations {n:>2} parameters" if screen.width >= 76 else f"{f'{m}×{n}':>6}"
        text = screen.text(f"{name:<10}", "strong") + screen.text(f"{size}  {data.difficulty:<8}", "dim")
        title = textwrap.shorten(data.title, screen.width - len(text), placeholder="…")
        lines.append(text + screen.text(title))
    return lines


def closing(screen: Screen, studies: Sequence[Study]) -> list[Text]:
    """Return the table of all sets, a line each, and what it comes to."""
    lines = [Text(), *_table(screen, studies), Text()]
    for style, sentence in _sentences(studies):
        lines += screen.wrapped(sentence, style)
    return lines


@dataclass(frozen=True)
class _Column:
    """A column of the closing table: the higher its rank, the sooner it goes on a narrow screen."""

    group: str
    head: str
    width: int
    rank: int


def _table(screen: Screen, studies: Sequence[Study]) -> list[Text]:
    columns = [_Column("", "", 9, 0), _Column("", "size", 6, 4)]
    columns += [_Column("steps", f"start {a.start}", 8, 2) for a in studies[0].agreements]
    columns += [_Column("agreeing digits", head, 11, 0) for head in ("parameters", "std errors")]
    columns += [_Column("time per Hessian", "hoad", 9, 1), _Column("time per Hessian", "differences", 12, 1)]
    columns += [_Column("time per Hessian", "ratio", 7, 5), _Column("differences lose", "Hessian", 8, 6)]
    columns += [_Column("differences lose", "std errors", 11, 6)]
    shown = list(range(len(columns)))
    while sum(columns[k].width for k in shown) > screen.width and max(columns[k].rank for k in shown):
        worst = max(columns[k].rank for k in shown)
        shown = [k for k in shown if columns[k].rank < worst]

    def line(cells: Sequence[Text]) -> Text:
        pairs = [(cells[k], columns[k].width) for k in shown]
        return sum((cell.right(width) for cell, width in pairs[1:]), pairs[0][0].left(pairs[0][1]))

    heads = line([screen.text(column.head, "dim") for column in columns])
    rule = screen.text("━" * min(screen.width, sum(columns[k].width for k in shown)), "dim")
    groups = _group_line(screen, [columns[k] for k in shown])
    return [groups, heads, rule, *(line(_row(screen, study)) for study in studies)]


def _group_line(screen: Screen, columns: Sequence[_Column]) -> Text:
    """Return the titles of groups of columns, each ruled over its columns."""
    line = Text()
    for group, members in itertools.groupby(columns, key=lambda column: column.group):
        width = sum(column.width for column in members)
        ruled = f" {group} ".center(width - 2, "─") if len(group) + 4 <= width else group
        line += screen.text(f"  {ruled}".rjust(width) if group else " " * width, "dim").left(width)
    return line


def _row(screen: Screen, study: Study) -> list[Text]:
    cost, agreements = study.hessian, study.agreements
    m, n = len(study.dataset.y), len(agreements[0].fit.parameters)
    steps = [
        screen.text(str(a.fit.steps + a.fit.refining_steps)) if a.succeeded else screen.text("failed", "bad")
        for a in agreements
    ]
    ratio = cost.difference_seconds / cost.seconds
    kept = cost.difference_standard_error_digits
    return [
        screen.text(study.dataset.name, "strong"),
        screen.text(f"{m}×{n}", "dim"),
        *steps,
        digits_text(screen, min(float(a.parameter_digits.min()) for a in agreements)),
        digits_text(screen, min(float(a.standard_error_digits.min()) for a in agreements)),
        screen.text(duration(cost.seconds)),
        screen.text(duration(cost.difference_seconds)),
        screen.text(f"{ratio:.1f}×", "good" if ratio >= 1 else "warn"),
        screen.text(f"{DOUBLE_DIGITS - cost.difference_digits:.1f}"),
        screen.text(f"{DOUBLE_DIGITS - kept:.1f}") if kept > 0 else screen.text("all", "warn"),
    ]


def _sentences(studies: Sequence[Study]) -> list[tuple[str, str]]:
    """Return the findings, each with a style."""
    fits = [(study, agreement) for study in studies for agreement in study.agreements]
    good = [(study, agreement) for study, agreement in fits if agreement.succeeded]
    found: list[tuple[str, str]] = []
    if good:
        parameters = min(float(a.parameter_digits.min()) for _, a in good)
        errors = min(float(a.standard_error_digits.min()) for _, a in good)
        text = f"{len(good)} of {len(fits)} fits reach NIST's minimum. There, every parameter agrees to at "
        text += f"least {_down(parameters)} digits and every standard error to {_down(errors)}."
        all_good = len(good) == len(fits) and min(parameters, errors) >= AIM
        found.append(("good" if all_good else "warn", text))
    for study, agreement in fits:
        if not agreement.succeeded:
            why = "it is another minimum" if agreement.fit.converged else agreement.fit.message
            found.append(("bad", f"{study.dataset.name} from start {agreement.start} does not: {why}."))
    ratios = [study.hessian.difference_seconds / study.hessian.seconds for study in studies]
    lost = [DOUBLE_DIGITS - study.hessian.difference_digits for study in studies]
    least = [DOUBLE_DIGITS - study.hessian.best_difference_digits for study in studies]
    speed = float(np.exp(np.mean(np.log(ratios))))
    text = f"Hessians by differences take {speed:.1f} times as long as by hoad (geometric mean) and lose "
    text += f"{_range(lost)} of {DOUBLE_DIGITS:.1f} digits; with the best step, chosen in hindsight, "
    text += f"{_range(least)}."
    found.append(("", text))
    return found


def _down(digits: float) -> str:
    return f"{np.floor(10 * digits) / 10:.1f}"


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return low if low == high else f"{low} to {high}"
