"""The base of all reports: a verdict, a table, a picture, an error to raise."""

from __future__ import annotations

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from hoad.errors import CheckError

RIGHT, WRONG, UNDECIDED = "right", "wrong", "undecided"

COLOURS = ("#7a7a7a", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
VERDICTS = {RIGHT: "#009e73", UNDECIDED: "#e69f00", WRONG: "#d55e00"}
MARKERS = "os^Dvp*"

DOUBLE_DIGITS = -math.log10(np.finfo(np.float64).eps)


class Report(ABC):
    """The result of a check. It prints as a table; `assert_passed` raises if the check failed."""

    @property
    @abstractmethod
    def passed(self) -> bool:
        """Whether everything was decided, and is right."""

    @property
    def _verdict(self) -> str:
        return "passed" if self.passed else "FAILED"

    @abstractmethod
    def failure(self) -> str:
        """What is wrong, in words; empty if the check passed."""

    def assert_passed(self) -> None:
        """Raise a `CheckError` that says what is wrong, unless the check passed."""
        if not self.passed:
            raise CheckError(self.failure())

    @abstractmethod
    def plot(self, ax: Any = None) -> Any:
        """Plot what the report shows as a table."""

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def aligned(rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> list[str]:
    """Rows of equal columns, the first row their titles; numbers to the right, the columns `left` to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        pairs = enumerate(zip(row, widths, strict=True))
        cells = [cell.ljust(width) if k in left else cell.rjust(width) for k, (cell, width) in pairs]
        lines.append("".join(f"  {cell}" for cell in cells).rstrip())
    return lines


def aligned_filled(rows: Sequence[Sequence[str]], left: Sequence[int]) -> list[str]:
    """As `aligned`, without the columns in which there is nothing below the title."""
    kept = [k for k in range(len(rows[0])) if any(row[k] for row in rows[1:])]
    return aligned([[row[k] for k in kept] for row in rows], [n for n, k in enumerate(kept) if k in left])


def number(x: Any, digits: int = 6) -> str:
    """A number to a few significant digits; nothing for nan."""
    return "" if math.isnan(x) else f"{float(x):.{digits}g}"


def short(x: float) -> str:
    """The size of a number: ``3.2e-09``; nothing for nan."""
    return "" if math.isnan(x) else "0" if x == 0 else f"{float(x):.1e}"


def digits_text(digits: float) -> str:
    """How many digits agree; nothing for nan."""
    return "" if math.isnan(digits) else f"{digits:.1f}"


def or_inf(digits: float) -> float:
    """To sort by digits: where there are none, nothing is wrong."""
    return math.inf if math.isnan(digits) else digits


def digits_between(a: Any, b: Any) -> Any:
    """How many significant digits two numbers share, at most those of a double."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    with np.errstate(all="ignore"):
        error = abs(a - b) / np.maximum(abs(a), abs(b))
        error = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, error)
        digits = -np.log10(np.clip(error, 10.0**-DOUBLE_DIGITS, 1.0)) + 0.0
    return np.where(np.isnan(digits), 0.0, digits)


def sentence(reason: str) -> str:
    """A reason as a sentence; the names of functions keep their small letters."""
    if not reason:
        return ""
    named = reason.split(" ")[0] in ("f", "g", "hoad", "hoad's")
    return f"{reason if named else reason[:1].upper() + reason[1:]}."


def name_of(f: Any) -> str:
    """What a function is called in a report."""
    name = getattr(f, "__name__", None) or type(f).__name__
    return "f" if name == "<lambda>" else str(name)


def index_text(index: tuple[int, ...]) -> str:
    """``[2, 0]``; nothing for a scalar."""
    return f"[{', '.join(map(str, index))}]" if index else ""


def value_text(x: Any) -> str:
    """A point in a heading: small arrays in full, large ones as their shape."""
    if isinstance(x, tuple):
        return f"({', '.join(map(value_text, x))})"
    array = np.asarray(x)
    if array.dtype.kind not in "fiub":
        return repr(x)
    if array.ndim == 0:
        return f"{float(array):.6g}"
    if array.size > 6:
        return f"an array of shape {array.shape}"
    return np.array2string(array, separator=", ", formatter={"float_kind": lambda v: f"{v:.6g}"}).replace("\n", "")


# ---- pictures -------------------------------------------------------------------------------------------------------


def figure_with(panels: int) -> tuple[Any, list[Any]]:
    """A figure of panels side by side, and their axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "plot() draws with matplotlib, which is not installed. Install hoad's extra for pictures: "
            'pip install "hoad[plot]".'
        ) from error
    # Made through pyplot only where a user has it open, so that figures show there and need no closing elsewhere.
    import sys

    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        figure, axes = pyplot.subplots(1, panels, figsize=(5 * panels + 0.5, 4), layout="constrained", squeeze=False)
        return figure, list(axes[0])
    figure = Figure(figsize=(5 * panels + 0.5, 4), layout="constrained")
    return figure, list(figure.subplots(1, panels, squeeze=False)[0])


def axes_or_new(ax: Any) -> Any:
    """The axes that were given, or those of a new figure."""
    return figure_with(1)[1][0] if ax is None else ax
