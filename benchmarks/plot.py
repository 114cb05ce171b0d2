"""Times over sizes, a panel a table: every side a line, hoad's bars as marks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from harness import Row

COLUMNS = 3
COLORS = ("#1b6ca8", "#e08e0b", "#4d8b31", "#7b4ea3", "#8c564b", "#c2538d", "#5b6770", "#1aa6a6", "#a8a13a")

Curves = dict[str, dict[int, float]]


def curves(rows: Sequence[Row]) -> Curves:
    """Medians in seconds by side and size."""
    found: Curves = {}
    for row in rows:
        n = row.data["n"]
        found.setdefault("hoad", {})[n] = median(row.data["hoad_s"])
        if "peer_s" in row.data:
            found.setdefault(row.data["peer"], {})[n] = median(row.data["peer_s"])
    return found


def panel(axes: Any, question: str, rows: Sequence[Row], colors: dict[str, str]) -> None:
    for side, times in curves(rows).items():
        style = {"linewidth": 2.5, "color": "black", "zorder": 3} if side == "hoad" else {"color": colors[side]}
        axes.plot(list(times), list(times.values()), marker="o", markersize=4, label=side, **style)
    bars = {row.data["n"]: row.data["bar_s"] for row in rows if row.data["bar_s"] is not None}
    if bars:
        axes.plot(
            list(bars), list(bars.values()), "_", color="#d62728", markersize=18, markeredgewidth=2.5, label="bar"
        )
    axes.set(title=question, xscale="log", yscale="log", xlabel="n", ylabel="seconds a call")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)


def draw(rows: Sequence[Row], path: Path) -> None:
    """Write the figure of all rows that belong to a table of sizes."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    drawn = sorted((row for row in rows if "table" in row.data), key=_table)
    tables = [(question, list(group)) for question, group in groupby(drawn, key=_table)]
    if not tables:
        raise SystemExit("nothing to draw: no row has a size")
    others = sorted({row.data["peer"] for row in drawn if "peer" in row.data})
    colors = {side: COLORS[i % len(COLORS)] for i, side in enumerate(others)}
    height = -(-len(tables) // COLUMNS)
    figure, grid = pyplot.subplots(height, COLUMNS, figsize=(5.2 * COLUMNS, 4 * height), squeeze=False)
    for axes, (question, group) in zip(grid.flat, tables, strict=False):
        panel(axes, question, group, colors)
    for axes in grid.flat[len(tables) :]:
        axes.set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def _table(row: Row) -> str:
    table: str = row.data["table"]
    return table
