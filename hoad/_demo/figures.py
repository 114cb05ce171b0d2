"""The figure: every data set with the fitted curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hoad._demo.study import Study


def save(studies: Sequence[Study], file: str) -> None:
    """Draw the fits of these sets from the last of their starting values, and save the figure."""
    from matplotlib.figure import Figure

    columns = min(len(studies), 5)
    rows = -(-len(studies) // columns)
    figure = Figure(figsize=(4 * columns, 3 * rows), layout="constrained")
    for k, study in enumerate(studies):
        data, b = study.dataset, study.agreements[-1].fit.parameters
        at = np.linspace(data.x.min(), data.x.max(), 500)
        axes = figure.add_subplot(rows, columns, k + 1, title=data.name)
        axes.plot(data.x, data.y, "o", markersize=3, label="observed")
        axes.plot(at, data.model(b, at), label="fitted")
    figure.axes[0].legend()
    figure.savefig(file)
