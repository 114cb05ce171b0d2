"""The page that the demo writes: the fits, what differences lose, and the tapes of the example."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

import hoad
from hoad._demo import example, report
from hoad._demo.study import DOUBLE_DIGITS, Study, differences, digits_kept

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>hoad demo</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}}
svg{{max-width:100%;height:auto}}pre{{background:#f4f4f4;padding:1em;overflow-x:auto}}</style>
<h1>hoad {version}: exact derivatives of NumPy programs</h1>
<pre>{code}</pre>
<h2>Fits of the data sets that NIST certifies</h2>{fits}
<h2>Digits of differences over their step</h2>
<p>Of derivatives of cost at NIST's second start. Long steps truncate, short ones round; hoad has no step.</p>{steps}
<h2>Tapes of cost and its gradient</h2>{tapes}
"""


def save(studies: Sequence[Study], file: str) -> None:
    """Write the page: no script, no network."""
    program = hoad.gradient(hoad.record(example.cost, example.start))
    parts = {"fits": _fits(studies), "steps": _steps(), "tapes": program.table("html")}
    text = PAGE.format(version=hoad.__version__, code=html.escape(report.code()), **parts)
    Path(file).write_text(text, encoding="utf-8")


def _fits(studies: Sequence[Study]) -> str:
    """Draw every set with the curve that is fitted from the last of its starting values."""
    columns = min(len(studies), 4)
    rows = -(-len(studies) // columns)
    figure = Figure((3.5 * columns, 2.6 * rows), layout="constrained")
    for k, study in enumerate(studies):
        data, b = study.dataset, study.agreements[-1].fit.parameters
        at = np.linspace(data.x.min(), data.x.max(), 200)
        axes = figure.add_subplot(rows, columns, k + 1, title=data.name)
        axes.plot(data.x, data.y, "o", markersize=3, label="observed")
        axes.plot(at, data.model(b, at), label="fitted")
    figure.axes[0].legend()
    return _svg(figure)


def _steps() -> str:
    """Draw the digits that differences keep, over their step in units of the textbook's."""
    figure = Figure((8, 3.5), layout="constrained")
    b, factors = example.data.starts[2], 10.0 ** np.linspace(-4, 3, 22)
    axes = figure.add_subplot(xscale="log", xlabel="step, in units of the textbook's", ylabel="digits", ylim=(0, 17))
    for order, name in report.KINDS.items():
        exact = hoad.derivative_tensor(example.cost, order)(b)
        with np.errstate(all="ignore"):
            digits = [digits_kept(differences(example.cost, b, order, factor), exact, b) for factor in factors]
        axes.plot(factors, digits, "o-", markersize=3, label=f"{name} by differences")
    axes.axhline(DOUBLE_DIGITS, color="black", label="double precision")
    axes.legend()
    return _svg(figure)


def _svg(figure: Figure) -> str:
    """Return the figure as an element of a page."""
    stream = io.StringIO()
    with rc_context({"svg.fonttype": "none"}):
        figure.savefig(stream, format="svg")
    return stream.getvalue()[stream.getvalue().index("<svg") :]
