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
from hoad._sparse.stencils import color_grid, color_symmetric_grid

Colors = NDArray[np.int32]

ORDERS = ("natural", "largest_first", "smallest_last", "incidence_degree", "dynamic_largest_first")
# What is tried where the order is left open. The dynamic one with the largest first has not won yet.
_TRIED = ORDERS[:4]
_ROUNDS = 3  # without a gain, after which the classes of colors are left as they are


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


def count_of(colors: Colors) -> int:
    return int(colors.max(initial=-1)) + 1


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

    def turn_of(name: str) -> Colors:
        return order_vertices(name, indptr, indices, indptr_t, indices_t)

    def colored(turn: Colors) -> Colors:
        return color_distance_2(indptr, indices, indptr_t, indices_t, turn)

    best, by = _fewest(turn_of, colored, order, longest)
    grid = color_grid(indptr_t, indices_t, n, count_of(best)) if order == "auto" else None
    return (best, by) if grid is None else (grid, "grid")


def _fewest(
    turn_of: Callable[[str], Colors],
    colored: Callable[[Colors], Colors],
    order: str,
    least: int,
    count: Callable[[Colors], int] = count_of,
) -> tuple[Colors, str]:
    """The colors with the fewest of the orders that are tried, until they are as few as they can be.

    Then the classes of these colors are colored one after the other, in another order. For columns or rows this never
    takes more colors, as each class fits in one (J. C. Culberson, F. Luo, "Exploring the k-colorable landscape with
    iterated greedy", DIMACS Series 26, 1996).
    """
    best, by, fewest = np.empty(0, dtype=np.int32), "", -1
    for name in _TRIED if order == "auto" else (order,):
        found = colored(turn_of(name))
        if fewest < 0 or count(found) < fewest:
            best, by, fewest = found, name, count(found)
        if order == "auto" and fewest > least:
            found = colored(_by_classes(found, 0))
            if count(found) < fewest:
                best, by, fewest = found, f"{name}, then by colors", count(found)
        if fewest <= least:
            return best, by
    last, rounds, gained = best, 0, 0
    while order == "auto" and fewest > least and rounds < gained + _ROUNDS:
        last = colored(_by_classes(last, rounds))
        rounds += 1
        if count(last) < fewest:
            best, fewest, gained = last, count(last), rounds
        elif count(last) > fewest:
            last = best
    return best, by if not gained or by.endswith("colors") else f"{by}, then by colors"


def _by_classes(colors: Colors, rounds: int) -> Colors:
    """The vertices color by color: the last color first, then the most frequent one, then in an order at random."""
    n = count_of(colors)
    if rounds % 3 == 0:
        rank = -np.arange(n)
    elif rounds % 3 == 1:
        rank = np.argsort(np.argsort(-np.bincount(colors[colors >= 0], minlength=n), kind="stable"))
    else:
        rank = np.random.default_rng(rounds).permutation(n)
    return np.argsort(np.append(rank, n)[colors], kind="stable").astype(np.int32)


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

    def turn_of(name: str) -> Colors:
        return order_vertices(name, pattern.indptr, pattern.indices)

    def colored(turn: Colors) -> Colors:
        return color(pattern.indptr, pattern.indices, turn)

    least = _fewest_acyclic(pattern)
    best, by = _fewest(turn_of, colored, order, least)
    for grid in _symmetric_grids(pattern, kind, least, count_of(best)) if order == "auto" else ():
        if count_of(grid) < count_of(best):
            best, by = grid, "grid"
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


def _fewest_acyclic(pattern: Pattern) -> int:
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

    both, name = _fewest(
        lambda name: order_vertices(name, indptr, indices),
        lambda turn: color_star(indptr, indices, turn, m),
        order,
        fewest_bidirectional(pattern),
        lambda both: reading(both).n_colors,
    )
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
