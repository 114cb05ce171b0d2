"""Small pictures made of characters: a curve through points in braille, and a course in blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["picture", "sparkline"]

Array = NDArray[np.float64]

# A braille character is 2 dots wide and 4 high; these are the bits of its dots, row by row.
DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
BLANK = 0x2800
BLOCKS = "▁▂▃▄▅▆▇█"


def picture(
    points: tuple[Array, Array], curve: tuple[Array, Array], width: int, height: int
) -> list[list[tuple[str, bool]]]:
    """Draw points and a curve.

    Parameters
    ----------
    points, curve : pair of ndarray
        Abscissas and ordinates; the curve's abscissas ascend.
    width, height : int
        In characters.

    Returns
    -------
    list of list of (str, bool)
        A list per line: runs of characters, and whether a point is in them.
    """
    low_x, high_x = points[0].min(), points[0].max()
    low_y = min(points[1].min(), curve[1].min())
    high_y = max(points[1].max(), curve[1].max())

    def place(x: Array, y: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        column = (x - low_x) / ((high_x - low_x) or 1.0) * (2 * width - 1)
        row = (high_y - y) / ((high_y - low_y) or 1.0) * (4 * height - 1)
        return np.rint(row).astype(np.intp), np.rint(column).astype(np.intp)

    dots = np.zeros((4 * height, 2 * width), dtype=bool)
    occupied = np.zeros_like(dots)
    rows, columns = place(*curve)
    for k in range(1, len(rows)):
        low, high = sorted((rows[k - 1], rows[k]))
        dots[low : high + 1, columns[k]] = True
    occupied[place(*points)] = True
    return [_line(dots[4 * k : 4 * k + 4], occupied[4 * k : 4 * k + 4]) for k in range(height)]


def _line(dots: NDArray[np.bool_], occupied: NDArray[np.bool_]) -> list[tuple[str, bool]]:
    runs: list[tuple[str, bool]] = []
    for k in range(dots.shape[1] // 2):
        cell = np.s_[:, 2 * k : 2 * k + 2]
        character = chr(BLANK + int(DOTS[dots[cell] | occupied[cell]].sum()))
        has_point = bool(occupied[cell].any())
        if runs and runs[-1][1] == has_point:
            runs[-1] = (runs[-1][0] + character, has_point)
        else:
            runs.append((character, has_point))
    return runs


def sparkline(values: Sequence[float], width: int) -> str:
    """Draw a course of positive numbers on a logarithmic scale, at most `width` characters long.

    Examples
    --------
    >>> from hoad._demo.plot import sparkline
    >>> sparkline([1e3, 1e2, 1e1, 1.0], 8)
    '█▆▃▁'
    """
    heights = np.log10(np.maximum(np.asarray(values, dtype=float), np.finfo(float).tiny))
    heights = heights[np.isfinite(heights)]
    if len(heights) > width:
        heights = heights[np.linspace(0, len(heights) - 1, width).round().astype(int)]
    span = float(np.ptp(heights)) if len(heights) else 0.0
    levels = np.rint((heights - heights.min(initial=np.inf)) / (span or 1.0) * (len(BLOCKS) - 1)).astype(int)
    return "".join(BLOCKS[level] for level in levels)
