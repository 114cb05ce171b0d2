"""Sparsity patterns in compressed rows, as they are given and as the compiled core takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hoad._core.sparse.recovery import pattern_fault, transposed
from hoad.errors import ArgumentError, ShapeError

_MOST = 2**29  # entries, rows, columns: sums of all three are still counted in 32 bits
_WHAT = "a scipy.sparse array, or (indptr, indices, shape) of compressed rows"


class Transposed(NamedTuple):
    """The pattern of the transposed matrix, and where its entries stand in the pattern itself."""

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    positions: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Pattern:
    """Which entries of a matrix may be other than zero, in compressed rows, each in order.

    Attributes
    ----------
    indptr, indices : ndarray of int32
        Row i has its entries in the columns ``indices[indptr[i]:indptr[i + 1]]``.
    shape : tuple of int
        That of the matrix.
    given : ndarray of int32 or None
        Where the entries stand in the pattern that was given, if its rows were not in order.
    """

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    shape: tuple[int, int]
    given: NDArray[np.int32] | None = None

    @cached_property
    def transposed(self) -> Transposed:
        return Transposed(*transposed(self.indptr, self.indices, self.shape[1]))

    @property
    def nnz(self) -> int:
        return self.indices.size

    @property
    def rows(self) -> NDArray[np.int32]:
        """The row of each entry."""
        return np.repeat(np.arange(self.shape[0], dtype=np.int32), np.diff(self.indptr))

    @property
    def is_symmetric(self) -> bool:
        if self.shape[0] != self.shape[1]:
            return False
        other = self.transposed
        return np.array_equal(self.indptr, other.indptr) and np.array_equal(self.indices, other.indices)

    def only(self, keep: NDArray[np.bool_]) -> Pattern:
        """The pattern of some of its entries."""
        before = np.concatenate([[0], np.cumsum(keep)])
        return Pattern(before[self.indptr].astype(np.int32), self.indices[keep], self.shape)

    def in_given_order(self, of_entries: NDArray[Any]) -> NDArray[Any]:
        """What is said of each entry, in the order of the pattern that was given."""
        if self.given is None:
            return of_entries
        found = np.empty_like(of_entries)
        found[self.given] = of_entries
        return found


def as_pattern(pattern: Any) -> Pattern:
    """The pattern of a scipy.sparse array, or of (indptr, indices, shape)."""
    indptr, indices, shape = _parts(pattern)
    if indptr.size != shape[0] + 1:
        raise ShapeError(f"indptr of a pattern of shape {shape} has {shape[0] + 1} numbers, but found {indptr.size}.")
    if max(indices.size, *shape) > _MOST:
        raise ArgumentError(
            f"a pattern has at most {_MOST} entries, rows and columns; this has {indices.size} in {shape}."
        )
    with_int32 = _as_int32(indptr, "indptr"), _as_int32(indices, "indices")
    code, row = pattern_fault(*with_int32, shape[1])
    if code == 2:
        raise ArgumentError(f"row {row} of the pattern has an entry twice. Call sum_duplicates() of the matrix.")
    if code == 3:
        raise ArgumentError(f"row {row} of the pattern has an entry outside of its {shape[1]} columns.")
    if code == 4:
        raise ArgumentError(
            f"indptr of a pattern begins with 0, never falls, and ends with the number of entries, {indices.size}; "
            f"this one does not, at row {row}."
        )
    found = Pattern(*with_int32, shape)
    return _in_order(found) if code == 1 else found


def _parts(pattern: Any) -> tuple[NDArray[Any], NDArray[Any], tuple[int, int]]:
    if hasattr(pattern, "tocsr"):
        rows = pattern.tocsr()
        pattern = (rows.indptr, rows.indices, rows.shape)
    if not (isinstance(pattern, Sequence) and len(pattern) == 3):
        raise ArgumentError(f"a pattern is {_WHAT}, not {type(pattern).__name__}.")
    indptr, indices = np.asarray(pattern[0]), np.asarray(pattern[1])
    shape = tuple(map(int, pattern[2]))
    if len(shape) != 2 or min(shape) < 0:
        raise ShapeError(f"a pattern is that of a matrix, with two axes, but its shape is {shape}.")
    for name, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
            raise ArgumentError(f"{name} of a pattern is a vector of integers, not {array.dtype}, {array.shape}.")
    return indptr, indices, (shape[0], shape[1])


def _as_int32(array: NDArray[Any], name: str) -> NDArray[np.int32]:
    if array.dtype.itemsize > 4 and array.size and not (-(2**31) <= array.min() and array.max() < 2**31):
        raise ArgumentError(f"{name} of a pattern has numbers from 0 to {_MOST}, but found {array.max()}.")
    return np.ascontiguousarray(array, dtype=np.int32)


def _in_order(pattern: Pattern) -> Pattern:
    """The pattern with its rows in order: it is transposed twice."""
    once = pattern.transposed
    indptr, indices, positions = transposed(once.indptr, once.indices, pattern.shape[0])
    return Pattern(indptr, indices, pattern.shape, once.positions[positions])
