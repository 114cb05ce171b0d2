"""The panel of one data set: model, fits, picture, and the table beside NIST's certified values."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hoad._demo.certified import CERTIFIED_DIGITS, agree_entirely, written
from hoad._demo.differences import DOUBLE_DIGITS
from hoad._demo.plot import picture, sparkline
from hoad._demo.screen import Screen, Text
from hoad._demo.study import Agreement, Study
from hoad.errors import count

__all__ = ["AIM", "digits_text", "duration", "panel"]

Array = NDArray[np.float64]

AIM = 8.0  # agreeing digits, on every parameter and standard error
LABEL = 9


def duration(seconds: float) -> str:
    """Return a duration to three digits, in the unit that suits it.

    Examples
    --------
    >>> from hoad._demo.panel import duration
    >>> duration(0.00123)
    '1.23 ms'
    """
    factor, unit = (1.0, "s") if seconds >= 1 else (1e3, "ms") if seconds >= 1e-3 else (1e6, "µs")
    count = seconds * factor
    return f"{count:.{2 if count < 10 else 1 if count < 100 else 0}f} {unit}"


def digits_text(screen: Screen, digits: float, entire: bool = False) -> Text:
    """Return agreeing digits, rounded down, with a mark where every certified digit is there."""
    style = "good" if digits >= AIM else "warn" if digits >= AIM / 2 else "bad"
    return screen.text(f"{np.floor(10 * digits) / 10:.1f}{'✓' if entire else ' '}", style)


def panel(screen: Screen, study: Study) -> list[Text]:
    """Return the lines of a panel."""
    inner = screen.width - 4
    bar = screen.text("│", "dim")
    body = [*_facts_and_picture(screen, study, inner), Text(), *_table(screen, study, inner)]
    body += _notes(screen, study, inner)
    framed = [bar + screen.text(" ") + line.left(inner) + screen.text(" ") + bar for line in body]
    bottom = screen.text("╰" + "─" * (screen.width - 2) + "╯", "dim")
    return [_heading(screen, study), *framed, bottom]


def _heading(screen: Screen, study: Study) -> Text:
    data = study.dataset
    left = screen.text("╭─ ", "dim") + screen.text(data.name, "title")
    about = f" {len(data.x)} observations, {data.difficulty} difficulty " if screen.width >= 60 else ""
    right = screen.text(f"{about}─╮", "dim")
    room = screen.width - len(left) - len(right) - 4
    short = textwrap.shorten(data.title, max(room, 1), placeholder="…")
    title = screen.text(" · ", "dim") + screen.text(short) if short != "…" else Text()
    rule = screen.text(" " + "─" * (screen.width - len(left) - len(title) - len(right) - 1), "dim")
    return left + title + rule + right


def _facts_and_picture(screen: Screen, study: Study, inner: int) -> list[Text]:
    drawn = 34 if inner >= 88 else 20 if inner >= 76 else 0
    if not screen.has_unicode:
        drawn = 0
    facts = _facts(screen, study, inner - (drawn + 2 if drawn else 0))
    if not drawn:
        return facts
    data, b = study.dataset, study.agreements[-1].fit.parameters
    at = np.linspace(data.x.min(), data.x.max(), 4 * drawn)
    with np.errstate(all="ignore"):
        curve = np.nan_to_num(data.model(b, at))
    height = max(len(facts), 6)
    lines = picture((data.x, data.y), (at, curve), drawn, height)
    facts += [Text()] * (height - len(facts))
    drawing = [Text(tuple((run, "strong" if marked else "accent") for run, marked in line)) for line in lines]
    return [fact.left(inner - drawn) + line for fact, line in zip(facts, drawing, strict=True)]


def _facts(screen: Screen, study: Study, width: int) -> list[Text]:
    def entry(label: str, value: Text) -> Text:
        return screen.text(label, "dim").left(LABEL) + value

    model = textwrap.wrap(f"y = {study.dataset.formula}", width - LABEL, subsequent_indent="    ")
    lines = [entry("model" if k == 0 else "", screen.text(line)) for k, line in enumerate(model)]
    lines += [entry(f"start {a.start}", _course(screen, a, width >= 54)) for a in study.agreements]
    last = study.agreements[-1]
    rss = last.fit.residual_sum_of_squares
    entire = bool(agree_entirely(rss, study.certified.residual_sum_of_squares)[0])
    digits = digits_text(screen, last.residual_digits, entire)
    lines.append(entry("RSS", screen.text(written(rss) + "  ") + digits + screen.text(" digits")))
    cost = study.hessian
    ratio = cost.difference_seconds / cost.seconds
    lines.append(entry("Hessian", screen.text(f"{duration(cost.seconds)} by hoad", "strong")))
    lines.append(entry("", screen.text(f"{duration(cost.difference_seconds)} by differences ({ratio:.1f}×),")))
    lost = DOUBLE_DIGITS - cost.difference_digits
    lines.append(entry("", screen.text(f"which lose {lost:.1f} of {DOUBLE_DIGITS:.1f} digits")))
    return [line.left(width) for line in lines]


def _course(screen: Screen, agreement: Agreement, drawn: bool) -> Text:
    """Return how a fit went: the descent of the residuals, and its steps."""
    fit = agreement.fit
    line = screen.text(sparkline(fit.history, 8) + " ", "accent") if drawn and screen.has_unicode else Text()
    if not fit.converged:
        return line + screen.text(fit.message, "bad")
    if not agreement.succeeded:
        return line + screen.text("another minimum than NIST's", "bad")
    newton = fit.newton_steps + fit.refining_steps
    return line + screen.text(f"{fit.steps - fit.newton_steps} Gauss-Newton, {count(newton, 'Newton step')}")


@dataclass(frozen=True)
class _Column:
    """A column of the table: the higher its rank, the sooner it goes on a narrow screen."""

    head: str
    width: int
    rank: int
    cells: list[Text]


def _table(screen: Screen, study: Study, inner: int) -> list[Text]:
    """Return parameters and standard errors beside the certified ones, as far as there is room."""
    columns = _columns(screen, study, precision=CERTIFIED_DIGITS - 1)
    while sum(column.width for column in columns) > inner and max(column.rank for column in columns):
        worst = max(column.rank for column in columns)
        columns = [column for column in columns if column.rank < worst]
    if sum(column.width for column in columns) > inner:
        columns = [column for column in _columns(screen, study, precision=4) if not column.rank]
    heads = [screen.text(column.head, "dim").right(column.width) for column in columns]
    rows = [[column.cells[k].right(column.width) for column in columns] for k in range(len(columns[0].cells))]
    return [sum(row, Text()) for row in [heads, *rows]]


def _columns(screen: Screen, study: Study, precision: int) -> list[_Column]:
    last, reference = study.agreements[-1], study.certified
    fit, width = last.fit, precision + 8  # of a number and a blank; one less where there is no sign

    def beside(values: Array, reference: Array) -> list[Text]:
        pairs = zip(values, reference, strict=True)
        return [_beside(screen, written(v, precision), written(r, precision)) for v, r in pairs]

    def plain(values: Array, style: str, digits: int) -> list[Text]:
        return [screen.text(written(value, digits), style) for value in values]

    def digits(counts: Array, values: Array, reference: Array) -> list[Text]:
        entire = agree_entirely(values, reference)
        return [digits_text(screen, agreeing, mark) for agreeing, mark in zip(counts, entire, strict=True)]

    b, errors = (fit.parameters, reference.parameters), (fit.standard_errors, reference.standard_errors)
    return [
        _Column("", 2, 0, [screen.text(f"b{k + 1}", "strong").left(2) for k in range(len(fit.parameters))]),
        _Column("parameter", width, 0, beside(*b)),
        _Column("certified", width, 1, plain(b[1], "dim", precision)),
        _Column("digits", 7, 0, digits(last.parameter_digits, *b)),
        _Column("std error", width - 1, 0, beside(*errors)),
        _Column("certified", width - 1, 2, plain(errors[1], "dim", precision)),
        _Column("digits", 7, 0, digits(last.standard_error_digits, *errors)),
        _Column("Hessian", 10, 3, plain(fit.hessian_standard_errors, "", 3)),
    ]


def _beside(screen: Screen, value: str, reference: str) -> Text:
    """Return a number, with the digits marked from the first on that is not the certified one."""
    same = 0
    while same < len(value) and value[same] == reference[same : same + 1]:
        same += 1
    if value[-4:] != reference[-4:]:  # another exponent, or nan: no digit counts
        same = 0
    return screen.text(value[:same]) + screen.text(value[same:], "warn")


def _notes(screen: Screen, study: Study, inner: int) -> list[Text]:
    """Say where fewer digits agree than could, and where double precision ends."""
    lines: list[Text] = []
    for agreement in study.agreements:
        fit, certified = agreement.fit, study.certified
        few = np.minimum(agreement.parameter_digits, agreement.standard_error_digits) < AIM
        entire = agree_entirely(fit.parameters, certified.parameters)
        entire &= agree_entirely(fit.standard_errors, certified.standard_errors)
        if not agreement.succeeded or entire.all():
            continue
        named = ", ".join(f"b{k + 1}" for k in np.flatnonzero(few if few.any() else ~entire))
        lack = f"fewer than {AIM:.0f} digits agree" if few.any() else "not every certified digit agrees"
        note = (
            f"Start {agreement.start}, {named}: {lack}. With residuals of "
            f"{fit.residual_standard_deviation:.0e}, rounding the responses to double precision alone leaves "
            f"about {agreement.rounding_digits.min():.0f} digits; the Jacobian's condition number is "
            f"{fit.condition:.0e}."
        )
        lines += screen.wrapped(note, "warn" if few.any() else "dim", inner)
    return [Text(), *lines] if lines else []
