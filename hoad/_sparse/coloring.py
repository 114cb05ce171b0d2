"""Colorings of sparse matrices: a Jacobian or a Hessian from few directions, and its entries from the products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoad._core.sparse.recovery import direct_slots, needed_colors, substitute, substitution
from hoad._sparse.candidates import (
    Reading,
    color_both,
    color_columns,
    color_rows,
    color_symmetric,
    fewest_bidirectional,
    read_both,
    read_columns,
    read_symmetric,
)
from hoad._sparse.compressed_pattern import Pattern, as_pattern
from hoad._sparse.search import ORDERS, Colors, count_of
from hoad.errors import ArgumentError, ShapeError

KINDS = ("auto", "columns", "rows", "star", "acyclic", "bidirectional")

Slots = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Substitution:
    """The order in which an acyclic coloring gives the entries of a symmetric matrix.

    Attributes
    ----------
    entries, mirrored : ndarray of int32
        Where the entries off the diagonal stand in compressed rows, in order, each with its mirror image.
    slots : ndarray of int64
        Where each is read in the compressed matrix, flat, when its turn comes.
    sums : ndarray of int64
        From where it is then taken off; its own slot where nothing later reads that.
    diagonal, diagonal_slots : ndarray of int64
        Where the entries on the diagonal stand, and where they are read.
    """

    entries: NDArray[np.int32]
    mirrored: NDArray[np.int32]
    slots: Slots
    sums: Slots
    diagonal: Slots
    diagonal_slots: Slots


@dataclass(frozen=True, eq=False)
class Coloring:
    """Which columns and rows of a sparse matrix are multiplied together, and where its entries are read.

    The compressed matrix of the columns has a row for each of their colors, the sum of the columns of that color; that
    of the rows has a row for each of theirs. It takes 8 bytes an entry, 12 to 16 with a
    substitution, and 4 a column or row.

    Attributes
    ----------
    kind : str
        "columns", "rows", "star", "acyclic" or "bidirectional".
    shape : tuple of int
        That of the matrix.
    nnz : int
        How many entries the pattern has.
    order : str
        The order in which the vertices were colored, or which of them came first.
    column_colors, row_colors : ndarray of int32 or None
        The color of each column and row, from 0 on; -1 where none is needed. None on a side that is not used.
    n_column_colors, n_row_colors : int
        How many there are on each side.
    slots : ndarray of int64 or None
        For each entry, in compressed rows, where it is read in the compressed matrices, which are laid end to end as
        vectors, that of the columns first.
    plan : Substitution or None
        How the entries follow from each other, if they are not read directly.
    """

    kind: str
    shape: tuple[int, int]
    nnz: int
    order: str
    column_colors: Colors | None
    row_colors: Colors | None
    n_column_colors: int
    n_row_colors: int
    slots: Slots | None
    plan: Substitution | None = None

    @property
    def n_colors(self) -> int:
        """How many products it takes."""
        return self.n_column_colors + self.n_row_colors

    @property
    def colors(self) -> Colors | tuple[Colors, Colors]:
        """The colors of the columns, or of the rows if only these have colors; of both if both have."""
        if self.column_colors is None:
            assert self.row_colors is not None
            return self.row_colors
        return self.column_colors if self.row_colors is None else (self.column_colors, self.row_colors)

    def column_seeds(self, dtype: Any = np.float64) -> NDArray[Any]:
        """The directions in the columns: a row for each color, with a one in each of its columns."""
        return _seeds(self.column_colors, self.n_column_colors, self.shape[1], dtype)

    def row_seeds(self, dtype: Any = np.float64) -> NDArray[Any]:
        """The directions in the rows: a row for each color, with a one in each of its rows."""
        return _seeds(self.row_colors, self.n_row_colors, self.shape[0], dtype)

    def recover(self, compressed: Any, rows: Any = None) -> NDArray[Any]:
        """The entries of a matrix, in compressed rows, from its products with the seeds.

        Parameters
        ----------
        compressed : array
            The products with `column_seeds`, a row for each color, of shape (n_column_colors, m) for a matrix of shape
            (m, n). If only the rows have colors, those with `row_seeds`, of shape (n_row_colors, n).
        rows : array, optional
            Those with `row_seeds`, for a bidirectional coloring.

        Returns
        -------
        ndarray
            The values, as ``scipy.sparse.csr_array((values, indices, indptr))`` takes them.

        Raises
        ------
        ShapeError
            If the products have another shape.
        ArgumentError
            If `rows` are missing, or given for a coloring of one side.

        Notes
        -----
        Cost: one read for each entry; a subtraction and two writes with a substitution. Traced products are recovered
        too, but not by substitution.

        Examples
        --------
        >>> import numpy as np
        >>> import scipy.sparse
        >>> from hoad._sparse.coloring import color
        >>> a = scipy.sparse.diags_array([[1.0] * 5, [2.0] * 6, [1.0] * 5], offsets=[-1, 0, 1]).tocsr()
        >>> found = color(a, "star")
        >>> found.n_colors, np.array_equal(found.recover(found.column_seeds() @ a), a.data)
        (3, True)
        """
        m, n = self.shape
        both = self.kind == "bidirectional"
        if (rows is not None) != both:
            raise ArgumentError(
                f"a coloring of kind {self.kind!r} takes "
                f"{'two compressed matrices: recover(columns, rows)' if both else 'one: recover(compressed)'}."
            )
        of_columns = (self.n_column_colors, m)
        of_rows = (self.n_row_colors, n)
        flat = _flat(compressed, of_rows if self.kind == "rows" else of_columns)
        if both:
            flat = np.concatenate([flat, _flat(rows, of_rows)])
        if self.plan is not None:
            return _substituted(flat, self.plan, self.nnz)
        found: NDArray[Any] = flat[self.slots]
        return found


def _flat(compressed: Any, shape: tuple[int, int]) -> Any:
    if np.shape(compressed) != shape:
        raise ShapeError(
            f"the compressed matrix has a row for each color, shape {shape}, but found {np.shape(compressed)}."
        )
    return np.reshape(compressed, -1)


def _seeds(colors: Colors | None, n_colors: int, n: int, dtype: Any) -> NDArray[Any]:
    seeds = np.zeros((n_colors, n), dtype=dtype)
    if colors is not None:
        where = np.flatnonzero(colors >= 0)
        seeds[colors[where], where] = 1
    return seeds


def _substituted(flat: Any, plan: Substitution, nnz: int) -> NDArray[Any]:
    work = np.array(flat)
    if work.dtype.char not in "fdFD":
        work = work.astype(np.result_type(work, np.float64))
    data = np.empty(nnz, dtype=work.dtype)
    data[plan.diagonal] = work[plan.diagonal_slots]
    substitute(work, data, plan.entries, plan.mirrored, plan.slots, plan.sums)
    return data


def color(pattern: Any, kind: str = "auto", order: str = "auto") -> Coloring:
    """A coloring of a sparse matrix, with few colors.

    Parameters
    ----------
    pattern : scipy.sparse array or tuple
        Which entries may be other than zero: a sparse array, where stored zeros count, or ``(indptr, indices, shape)``
        of compressed rows.
    kind : str, optional
        What is multiplied together, and how the entries are recovered.

        - "columns": columns without a common row; "rows": rows without a common column.
        - "star": columns of a symmetric matrix, each entry read in its column or in that of its mirror image.
        - "acyclic": columns of a symmetric matrix, entries by substitution. It takes the fewest colors; an entry is the
          difference of several products, with the rounding errors of all of them.
        - "bidirectional": columns and rows, each entry read in one of the two.
        - "auto": columns, rows or both, whichever takes the fewest products, and of equal ones the first of these. It
          assumes no symmetry: a symmetric pattern may be that of a matrix that is not.
    order : str, optional
        In which order vertices take the least color that they may have: "natural", "largest_first", "smallest_last",
        "incidence_degree" or "dynamic_largest_first". "auto" takes the best of several, recolors by classes of colors,
        and tries whether dense rows and columns are better treated apart.

    Returns
    -------
    Coloring
        The colors, and where the entries are read.

    Raises
    ------
    ArgumentError
        If a symmetric kind is asked for and the pattern is not; if the pattern has an entry twice; if `kind` or `order`
        is none of these.

    Notes
    -----
    Cost: for each order, the sum over the rows of their squared numbers of entries for columns, and likewise for rows;
    for symmetric and bidirectional colorings at most the number of entries times that of the colors beside a vertex.
    Memory is linear in the number of entries.

    Examples
    --------
    >>> import numpy as np
    >>> from hoad._sparse.coloring import color
    >>> indptr, indices = np.array([0, 4, 6, 8, 10]), np.array([0, 1, 2, 3, 0, 1, 0, 2, 0, 3])
    >>> [color((indptr, indices, (4, 4)), kind).n_colors for kind in ("columns", "bidirectional", "star")]
    [4, 3, 2]
    """
    if kind not in KINDS:
        raise ArgumentError(f"color takes a kind of {', '.join(map(repr, KINDS))}, not {kind!r}.")
    if order != "auto" and order not in ORDERS:
        raise ArgumentError(f"color takes an order of {', '.join(map(repr, ('auto', *ORDERS)))}, not {order!r}.")
    given = as_pattern(pattern)
    if kind in ("star", "acyclic"):
        return _symmetric(given, kind, order)
    if kind == "auto":
        return _auto(given, order)
    if kind == "bidirectional":
        found = color_both(given, order, _one_sided(given) if order == "auto" else ())
    else:
        found = _columns(given, order) if kind == "columns" else _rows(given, order)
    return _direct(given, kind, found)


def _columns(pattern: Pattern, order: str) -> Reading:
    return read_columns(pattern, *color_columns(pattern, order))


def _rows(pattern: Pattern, order: str) -> Reading:
    colors, by = color_rows(pattern, order)
    return read_both(pattern, np.full(pattern.shape[1], -1, dtype=np.int32), colors, by)


def _one_sided(pattern: Pattern) -> Iterator[Reading]:
    yield _columns(pattern, "auto")
    if not pattern.is_symmetric:  # or rows are as columns are
        yield _rows(pattern, "auto")


def _auto(pattern: Pattern, order: str) -> Coloring:
    """The kind of the fewest directions. What cannot take fewer than are found is not tried."""
    least = {
        "columns": int(np.diff(pattern.indptr).max(initial=0)),
        "rows": int(np.diff(pattern.transposed.indptr).max(initial=0)),
    }
    best: tuple[int, int, str, Reading] | None = None
    for kind in ["columns"] if pattern.is_symmetric else sorted(least, key=lambda name: least[name]):
        if best is None or least[kind] < best[0] or (least[kind] == best[0] and kind == "columns"):
            found = _columns(pattern, order) if kind == "columns" else _rows(pattern, order)
            if best is None or (found.n_colors, kind == "rows") < best[:2]:
                best = found.n_colors, kind == "rows", kind, found
    assert best is not None
    if best[0] > max(fewest_bidirectional(pattern), 2):
        both = color_both(pattern, order)
        if both.n_colors < best[0]:
            return _direct(pattern, "bidirectional", both)
    return _direct(pattern, best[2], best[3])


def _renumbered(used: NDArray[np.bool_]) -> Colors:
    numbers = np.cumsum(used, dtype=np.int32) - np.int32(1)
    numbers[~used] = -1
    return numbers


def _recolored(colors: Colors, numbers: Colors) -> Colors:
    """The colors by their new numbers; -1, which is none, stays."""
    return np.append(numbers, np.int32(-1))[colors]


def _direct(pattern: Pattern, kind: str, found: Reading) -> Coloring:
    n_before = count_of(found.column_colors)
    n_columns = int(np.count_nonzero(found.used[:n_before]))
    numbers = _renumbered(found.used)
    slots = direct_slots(pattern.indptr, pattern.indices, found.one, found.other, numbers, pattern.shape[1], n_columns)
    if kind == "star":  # an entry and its mirror image are read in one place, and are equal to the bit
        lower = np.flatnonzero(pattern.rows > pattern.indices)
        slots[lower] = slots[pattern.transposed.positions[lower]]
    column_colors, row_colors = _recolored(found.column_colors, numbers[:n_before]), None
    if found.row_colors is not None:
        of_rows = numbers[n_before:]
        of_rows[of_rows >= 0] -= n_columns
        row_colors = _recolored(found.row_colors, of_rows)
    elif kind == "bidirectional":
        row_colors = np.full(pattern.shape[0], -1, dtype=np.int32)
    return Coloring(
        kind=kind,
        shape=pattern.shape,
        nnz=pattern.nnz,
        order=found.order,
        column_colors=None if kind == "rows" else column_colors,
        row_colors=row_colors,
        n_column_colors=n_columns,
        n_row_colors=found.n_colors - n_columns,
        slots=pattern.in_given_order(slots),
    )


def _symmetric(pattern: Pattern, kind: str, order: str) -> Coloring:
    if not pattern.is_symmetric:
        raise ArgumentError(
            f"kind {kind!r} takes the pattern of a symmetric matrix, but this one of shape {pattern.shape} is not. "
            "Give both an entry and its mirror image, or color columns, rows or both."
        )
    colors, by = color_symmetric(pattern, kind, order)
    if kind == "acyclic":
        return _by_substitution(pattern, colors, by)
    return _direct(pattern, kind, read_symmetric(pattern, colors, by))


def _by_substitution(pattern: Pattern, colors: Colors, order: str) -> Coloring:
    n, n_before = pattern.shape[0], count_of(colors)
    indices, rows, mirror = pattern.indices, pattern.rows, pattern.transposed.positions
    used = np.zeros(n_before, dtype=np.bool_)
    found = substitution(pattern.indptr, indices, mirror, colors, n_before, used)
    if found is None:
        raise AssertionError("the colors are not those of an acyclic coloring")
    entries, goes_on, n_substituted = found
    lone = entries[n_substituted:]
    from_column, from_row = colors[indices[lone]], colors[rows[lone]]
    needed_colors(from_column, from_row, used)
    lone[...] = np.where(used[from_column], lone, mirror[lone])
    numbers = _renumbered(used)
    number_of = numbers[colors].astype(np.int64)
    of_child, of_parent = rows[entries], indices[entries]
    slots = number_of[of_parent] * n + of_child
    is_needed = (goes_on != 0) & (number_of[of_child] >= 0)
    diagonal = np.flatnonzero(rows == indices)
    given = np.arange(pattern.nnz, dtype=np.int32) if pattern.given is None else pattern.given
    plan = Substitution(
        entries=given[entries],
        mirrored=given[mirror[entries]],
        slots=slots,
        sums=np.where(is_needed, number_of[of_child] * n + of_parent, slots),
        diagonal=given[diagonal].astype(np.int64),
        diagonal_slots=number_of[indices[diagonal]] * n + indices[diagonal],
    )
    n_colors = int(np.count_nonzero(used))
    recolored = number_of.astype(np.int32)
    return Coloring("acyclic", pattern.shape, pattern.nnz, order, recolored, None, n_colors, 0, None, plan)
