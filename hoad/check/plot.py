"""What the pictures of all reports share: a figure of matplotlib, colours and markers."""

from __future__ import annotations

from typing import Any

COLOURS = ("#7a7a7a", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
VERDICTS = {"right": "#009e73", "undecided": "#e69f00", "wrong": "#d55e00"}
MARKERS = "os^Dvp*"


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
