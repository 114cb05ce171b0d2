"""Colors of the points of a grid: a linear function of the coordinates, modulo the number of colors.

Where each point depends on its neighbors along three axes, greedy algorithms take 11 or 12 colors for the columns. The
function x + 2 y + 3 z modulo 7 takes the fewest, one for each neighbor and one for the point itself; by substitution
x + 2 y + 3 z modulo 4 is enough. Points are numbered along one axis after the other, so a linear function is
v + a (v // s) + b (v // t), with the steps s and t from a point to the next along the other axes. These are among the
differences of columns that may not have one color, of which a grid has few.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hoad._core.sparse.recovery import colors_alone, substitution
from hoad._sparse.compressed_pattern import Pattern

_PAIRS = 20_000  # of columns that are looked at first
_LONGEST = 32  # entries of a row
_DIFFERENCES = 64
_STEPS = 24
_TRIALS = 8  # functions that are tried on the whole pattern
_NEAR = 500  # points of the part on which functions are tried before
_NEAR_TRIALS = 500

Numbers = NDArray[np.int32]
Pairs = NDArray[np.int64]


class Linear(NamedTuple):
    """The function (v + a (v // s) + b (v // t)) modulo p."""

    p: int
    s: int
    t: int
    a: int
    b: int

    def __call__(self, v: Pairs) -> Numbers:
        return ((v + self.a * (v // self.s) + self.b * (v // self.t)) % self.p).astype(np.int32)


def color_grid(indptr: Numbers, indices: Numbers, n: int, below: int) -> Numbers | None:
    """Colors of the columns by a linear function, if there is one with fewer than `below`.

    No two columns of a row have one color. ``indptr, indices`` are those of the rows. Some of these are looked at
    first; those for which a function is wrong, as at the edges of the grid, are looked at next.
    """
    lengths = np.diff(indptr)
    longest = int(lengths.max(initial=0))
    if not 1 < longest <= min(_LONGEST, below - 1):
        return None
    rows = np.linspace(0, lengths.size - 1, 1 + 2 * _PAIRS // longest**2).astype(np.int64)
    for _ in range(_TRIALS):
        found = next(_functions(_pairs(indptr, indices, np.unique(rows)), range(longest, below)), None)
        if found is None:
            return None
        colors = found(np.arange(n, dtype=np.int64))
        wrong = np.flatnonzero(colors_alone(indptr, indices, colors, found.p) < 0)
        if not wrong.size:
            return colors
        rows = np.append(rows, np.searchsorted(indptr, wrong[:: 1 + wrong.size // rows.size], side="right") - 1)
    return None


def color_symmetric_grid(pattern: Pattern, kind: str, least: int, below: int) -> Numbers | None:
    """Colors of a star or an acyclic coloring by a linear function, if there is one with fewer than `below`.

    A function is tried on the points near the middle of the grid before it is on all of them.
    """
    n = pattern.shape[0]
    if not least < below or np.diff(pattern.indptr).max(initial=0) > _LONGEST:
        return None
    rows = np.unique(np.linspace(0, n - 1, 1 + _PAIRS // _LONGEST).astype(np.int64))
    row, columns = _entries(pattern.indptr, pattern.indices, rows)
    pairs = np.stack([rows[row], columns])[:, rows[row] < columns]
    points, near = _near_the_middle(pattern)
    trials = 0
    for found in islice(_functions(pairs, range(least, below)), _NEAR_TRIALS):
        if is_right(near, found(points), found.p, kind):
            colors = found(np.arange(n, dtype=np.int64))
            if is_right(pattern, colors, found.p, kind):
                return colors
            trials += 1
            if trials == _TRIALS:
                break
    return None


def is_right(pattern: Pattern, colors: Numbers, n_colors: int, kind: str) -> bool:
    """Whether neighbors differ, and all entries can be recovered."""
    rows, mirror = pattern.rows, pattern.transposed.positions
    if ((colors[rows] == colors[pattern.indices]) & (rows != pattern.indices)).any():
        return False
    if kind == "acyclic":
        used = np.zeros(n_colors, dtype=np.bool_)
        return substitution(pattern.indptr, pattern.indices, mirror, colors, n_colors, used) is not None
    alone = colors_alone(pattern.indptr, pattern.indices, colors, n_colors) >= 0
    return bool((alone | alone[mirror]).all())


def _near_the_middle(pattern: Pattern) -> tuple[Pairs, Pattern]:
    """The vertices that are the fewest edges away from that in the middle, and the pattern of these alone."""
    is_near = np.zeros(pattern.shape[0], dtype=np.bool_)
    points = np.array([pattern.shape[0] // 2])
    count = 0
    while count < points.size and points.size < _NEAR:
        count = points.size
        is_near[points] = True
        is_near[_entries(pattern.indptr, pattern.indices, points)[1]] = True
        points = np.flatnonzero(is_near)
    row, columns = _entries(pattern.indptr, pattern.indices, points)
    inside = is_near[columns]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row[inside], minlength=points.size))]).astype(np.int32)
    indices = np.searchsorted(points, columns[inside]).astype(np.int32)
    return points, Pattern(indptr, indices, (points.size, points.size))


def _entries(indptr: Numbers, indices: Numbers, rows: Pairs) -> tuple[Pairs, Pairs]:
    """Of the entries of some rows, which of these rows they are in, and their columns."""
    lengths = np.diff(indptr)[rows]
    row = np.repeat(np.arange(rows.size), lengths)
    starts = np.cumsum(lengths) - lengths
    return row, indices[np.repeat(indptr[rows] - starts, lengths) + np.arange(row.size)].astype(np.int64)


def _pairs(indptr: Numbers, indices: Numbers, rows: Pairs) -> Pairs:
    """The pairs of columns, the lower first, that have one of the rows in common."""
    row, columns = _entries(indptr, indices, rows)
    found = [np.empty((2, 0), dtype=np.int64)]
    for apart in range(1, int(np.diff(indptr)[rows].max(initial=0))):
        together = row[apart:] == row[:-apart]
        found.append(np.stack([columns[:-apart][together], columns[apart:][together]]))
    return np.concatenate(found, axis=1)


def _functions(pairs: Pairs, counts: range) -> Iterator[Linear]:
    """The functions by which no pair has one color, those with few colors first."""
    differences, which = np.unique(pairs[1] - pairs[0], return_inverse=True)
    if differences.size > _DIFFERENCES:
        return
    steps = [d for d in differences.tolist() if d > 1][:_STEPS]
    tried = [(1, 1), *((s, t) for t in steps for s in steps if s <= t and t % s == 0)]
    along = [_along(pairs, differences, which, s, t) for s, t in tried]
    for p in counts:
        for (s, t), d in zip(tried, along, strict=True):
            a, b = np.arange(p)[:, None, None], np.arange(p if s < t else 1)[:, None]
            differ = ((d[0] + a * d[1] + b * d[2]) % p != 0).all(axis=2)
            for one, other in np.argwhere(differ).tolist():
                yield Linear(p, s, t, one, other)


def _along(pairs: Pairs, differences: Pairs, which: Pairs, s: int, t: int) -> Pairs:
    """The different steps of v, v // s and v // t between the columns of a pair; that of a quotient has two values."""
    low, high = pairs
    more = high // s - low // s - (differences // s)[which], high // t - low // t - (differences // t)[which]
    there = np.flatnonzero(np.bincount(4 * which + 2 * more[0] + more[1], minlength=1))
    d = differences[there // 4]
    return np.stack([d, d // s + there // 2 % 2, d // t + there % 2])
