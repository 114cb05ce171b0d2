"""Colorings of a pattern in several orders and ways, of which that with the fewest colors is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hoad._core.sparse.coloring import color_acyclic, color_distance_2, color_star, order_vertices
from hoad._core.sparse.recovery import colors_alone, needed_colors
from hoad._sparse.compressed_pattern import Pattern
from hoad._sparse.search import Colors, Search, count_of
from hoad._sparse.stencils import color_grid, color_symmetric_grid

_WORK_OF_ENTRY = 8  # colors beside a vertex, or so


class Reading(NamedTuple):
    """By which colors the entries of a matrix can be read: those of columns first, those of rows after them."""

    one: Colors  # of each entry, that of its column, or -1
    other: Colors  # that of its row, or -1
    used: NDArray[np.bool_]  # colors that suffice
    column_colors: Colors
    row_colors: Colors | None
    order: str

    @property
    def n_colors(self) -> int:
        return int(np.count_nonzero(self.used))


def color_columns(pattern: Pattern, order: str) -> tuple[Colors, str]:
    """Colors of the columns, so that two with an entry in one row differ, and the order that gave them."""
    near = pattern.transposed[:2]
    return _side(*near, pattern.indptr, pattern.indices, order)


def color_rows(pattern: Pattern, order: str) -> tuple[Colors, str]:
    """Colors of the rows, so that two with an entry in one column differ, and the order that gave them."""
    across = pattern.transposed[:2]
    return _side(pattern.indptr, pattern.indices, *across, order)


def _side(indptr: Colors, indices: Colors, indptr_t: Colors, indices_t: Colors, order: str) -> tuple[Colors, str]:
    n = indptr.size - 1
    longest = int(np.diff(indptr_t).max(initial=0))
    if longest == n:  # all meet in one of the other side
        return np.arange(n, dtype=np.int32), "natural"

    lengths = np.diff(indptr_t).astype(np.int64)
    search = Search(
        turn_of=lambda name: order_vertices(name, indptr, indices, indptr_t, indices_t),
        colored=lambda turn: color_distance_2(indptr, indices, indptr_t, indices_t, turn),
        least=longest,
        work=int(np.sum(lengths * lengths)),
        grids=lambda below: _grid(color_grid(indptr_t, indices_t, n, below)),
        enough=longest,
    )
    return search.fewest(order)


def _grid(found: Colors | None) -> Iterator[Colors]:
    if found is not None:
        yield found


def read_columns(pattern: Pattern, colors: Colors, order: str) -> Reading:
    """The reading of all entries from products with columns."""
    one = colors_alone(pattern.indptr, pattern.indices, colors, count_of(colors))
    return _reading(one, np.full_like(one, -1), colors, None, order)


def read_both(pattern: Pattern, column_colors: Colors, row_colors: Colors, order: str) -> Reading:
    """The reading from products with columns and with rows."""
    n = count_of(column_colors)
    one = colors_alone(pattern.indptr, pattern.indices, column_colors, n)
    across = pattern.transposed
    other = np.empty_like(one)
    other[across.positions] = colors_alone(across.indptr, across.indices, row_colors, count_of(row_colors))
    other[other >= 0] += n
    return _reading(one, other, column_colors, row_colors, order)


def read_symmetric(pattern: Pattern, colors: Colors, order: str) -> Reading:
    """The reading of a symmetric matrix, each entry from its column or that of its mirror image."""
    one = colors_alone(pattern.indptr, pattern.indices, colors, count_of(colors))
    return _reading(one, one[pattern.transposed.positions], colors, None, order)


def _reading(one: Colors, other: Colors, column_colors: Colors, row_colors: Colors | None, order: str) -> Reading:
    n_rows = 0 if row_colors is None else count_of(row_colors)
    used = np.zeros(count_of(column_colors) + n_rows, dtype=np.bool_)
    unread = needed_colors(one, other, used)
    if unread >= 0:
        raise AssertionError(f"entry {unread} of the pattern cannot be recovered with these colors")
    return Reading(one, other, used, column_colors, row_colors, order)


def color_symmetric(pattern: Pattern, kind: str, order: str) -> tuple[Colors, str]:
    """Colors of a star or an acyclic coloring, and the order that gave them."""
    color = color_star if kind == "star" else color_acyclic

    least = fewest_acyclic(pattern)
    search = Search(
        turn_of=lambda name: order_vertices(name, pattern.indptr, pattern.indices),
        colored=lambda turn: color(pattern.indptr, pattern.indices, turn),
        least=least,
        work=_WORK_OF_ENTRY * pattern.nnz,
        grids=lambda below: _symmetric_grids(pattern, kind, least, below),
        enough=int(np.diff(pattern.indptr).max(initial=0)) if kind == "star" else least,
    )
    best, by = search.fewest(order)
    hubs = _densest(np.diff(pattern.indptr)) if order == "auto" else np.empty(0, dtype=np.intp)
    if 0 < hubs.size < count_of(best) - 1:
        found = _with_own_colors(pattern, hubs, color)
        if count_of(found) < count_of(best):
            return found, "dense rows first"
    return best, by


def _symmetric_grids(pattern: Pattern, kind: str, least: int, below: int) -> Iterator[Colors]:
    """Colorings by linear functions; one of columns without a common row is a star coloring, too."""
    if kind == "star" and (found := color_grid(pattern.indptr, pattern.indices, pattern.shape[0], below)) is not None:
        yield found
        below = count_of(found)
    if (found := color_symmetric_grid(pattern, kind, least, below)) is not None:
        yield found


def fewest_acyclic(pattern: Pattern) -> int:
    """A bound: each pair of colors has fewer edges than vertices, so p colors have at most (p - 1) (n - p / 2)."""
    n = pattern.shape[0]
    edges = (pattern.nnz - int(np.count_nonzero(pattern.rows == pattern.indices))) // 2
    p = 1
    while (p - 1) * (n - p / 2) < edges:
        p += 1
    return p


def _densest(lengths: NDArray[np.int32]) -> NDArray[np.intp]:
    """The rows that get a color each: as many as make their number and the longest of the others least in sum."""
    order = np.argsort(-lengths, kind="stable")
    k = int(np.argmin(np.arange(lengths.size) + lengths[order])) if lengths.size else 0
    return order[:k]


def _with_own_colors(pattern: Pattern, hubs: NDArray[np.intp], color: Callable[..., Colors]) -> Colors:
    """Colors where each hub has one of its own, so that no path or cycle through it is in two colors."""
    is_hub = np.zeros(pattern.shape[0], dtype=np.bool_)
    is_hub[hubs] = True
    rest = pattern.only(~(is_hub[pattern.rows] | is_hub[pattern.indices]))
    found = color(rest.indptr, rest.indices, order_vertices("smallest_last", rest.indptr, rest.indices))
    found[hubs] = -1
    found[hubs] = count_of(found) + np.arange(hubs.size, dtype=np.int32)
    return found


def fewest_bidirectional(pattern: Pattern) -> int:
    """A bound on the number of directions: each gives as many numbers as the longer side has, at most."""
    return -(-pattern.nnz // max(*pattern.shape, 1))


def color_both(pattern: Pattern, order: str, one_sided: Iterable[Reading] = ()) -> Reading:
    """The reading from products with columns and rows that takes the fewest directions."""
    candidates = chain(one_sided, _bidirectional(pattern, order))
    best = next(candidates)
    while best.n_colors > fewest_bidirectional(pattern) and (found := next(candidates, None)) is not None:
        best = min(best, found, key=lambda reading: reading.n_colors)
    return best


def _bidirectional(pattern: Pattern, order: str) -> Iterator[Reading]:
    if order == "auto":
        yield from _dense_rows_apart(pattern)
        yield from _dense_columns_apart(pattern)
    m = pattern.shape[0]
    across = pattern.transposed
    indptr = np.concatenate([pattern.indptr, across.indptr[1:] + np.int32(pattern.nnz)])
    indices = np.concatenate([pattern.indices + np.int32(m), across.indices])

    def reading(both: Colors, name: str = "") -> Reading:
        return read_both(pattern, both[m:] // 2, both[:m] // 2, name)

    search = Search(
        turn_of=lambda name: order_vertices(name, indptr, indices),
        colored=lambda turn: color_star(indptr, indices, turn, m),
        least=fewest_bidirectional(pattern),
        work=_WORK_OF_ENTRY * indices.size,
        count=lambda both: reading(both).n_colors,
    )
    both, name = search.fewest(order)
    yield reading(both, name)


def _dense_rows_apart(pattern: Pattern) -> Iterator[Reading]:
    """The longest rows by products with rows, and what is left by products with columns."""
    dense = _densest(np.diff(pattern.indptr))
    if dense.size:
        is_dense = np.zeros(pattern.shape[0], dtype=np.bool_)
        is_dense[dense] = True
        of_dense = is_dense[pattern.rows]
        row_colors = color_rows(pattern.only(of_dense), "auto")[0]
        column_colors = color_columns(pattern.only(~of_dense), "auto")[0]
        yield read_both(pattern, column_colors, row_colors, "dense rows first")


def _dense_columns_apart(pattern: Pattern) -> Iterator[Reading]:
    """The longest columns by products with columns, and what is left by products with rows."""
    dense = _densest(np.diff(pattern.transposed.indptr))
    if dense.size:
        is_dense = np.zeros(pattern.shape[1], dtype=np.bool_)
        is_dense[dense] = True
        of_dense = is_dense[pattern.indices]
        column_colors = color_columns(pattern.only(of_dense), "auto")[0]
        row_colors = color_rows(pattern.only(~of_dense), "auto")[0]
        yield read_both(pattern, column_colors, row_colors, "dense columns first")
