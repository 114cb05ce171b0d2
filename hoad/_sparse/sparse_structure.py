"""The structure of a sparse matrix, and where the entries of blocks go in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from hoad._core.record.recording import Recording
from hoad._sparse.boxes import box_of
from hoad._sparse.placed_operands import shaped
from hoad._sparse.relations import Indices

Places = TypeVar("Places", bound=np.ndarray[Any, Any])


class FlatBlock(NamedTuple):
    """Entries of a matrix of which all is said: a row, a column and a place in a flat weight for each."""

    rows: Indices
    columns: Indices
    weight: Any  # operand: a number, or a flat array; before there is one, an array of what it is made of


@dataclass(frozen=True, eq=False)
class Structure:
    """The entries of a sparse matrix that may be other than zero, each once, row by row or column by column."""

    shape: tuple[int, int]
    by_columns: bool
    keys: Indices  # increasing: row * columns + column, or the other way round

    @classmethod
    def of(cls, shape: tuple[int, int], by_columns: bool, blocks: Sequence[FlatBlock]) -> Structure:
        """The structure that has the entries of all blocks."""
        empty = cls(shape, by_columns, np.zeros(0, np.int64))
        keys = np.empty(sum(len(block.rows) for block in blocks), np.int64)
        end = 0
        for block in blocks:
            start, end = end, end + len(block.rows)
            keys[start:end] = empty.keys_of(block.rows, block.columns)
        return cls(shape, by_columns, _distinct(keys))

    def keys_of(self, rows: Indices, columns: Indices) -> Indices:
        return columns * self.shape[0] + rows if self.by_columns else rows * self.shape[1] + columns

    @property
    def nnz(self) -> int:
        return len(self.keys)

    @property
    def indices(self) -> Indices:
        """The row and the column of each entry."""
        return np.stack([self.rows, self.columns])

    @cached_property
    def rows(self) -> Indices:
        return _frozen(self.keys % max(self.shape[0], 1) if self.by_columns else self.keys // max(self.shape[1], 1))

    @cached_property
    def columns(self) -> Indices:
        return _frozen(self.keys // max(self.shape[0], 1) if self.by_columns else self.keys % max(self.shape[1], 1))

    @cached_property
    def compressed(self) -> tuple[Any, Any]:
        """(indices, indptr) of a csr matrix, or of a csc matrix by columns, in the smallest dtype that SciPy takes."""
        outer, inner = self.shape[::-1] if self.by_columns else self.shape
        small = max(len(self.keys), *self.shape) <= np.iinfo(np.int32).max
        indices = np.empty(len(self.keys), np.int32 if small else np.int64)
        np.remainder(self.keys, max(inner, 1), out=indices, casting="same_kind")
        return _frozen(indices), _frozen(np.searchsorted(self.keys, np.arange(outer + 1) * inner).astype(indices.dtype))

    def matrix(self, values: Any, form: str) -> Any:
        """A SciPy array with these values."""
        import scipy.sparse

        if form == "coo":
            return scipy.sparse.coo_array((values, (self.rows, self.columns)), self.shape)
        kind = scipy.sparse.csc_array if self.by_columns else scipy.sparse.csr_array
        return kind((values, *self.compressed), self.shape)

    def slots(self, block: FlatBlock) -> Indices:
        """Where the entries of a block are among those of the structure, each of which it has."""
        return np.searchsorted(self.keys, self.keys_of(block.rows, block.columns))

    def values_of(self, recording: Recording, blocks: Sequence[FlatBlock]) -> int:
        """The values of the matrix that is the sum of some blocks, an operand."""
        if len(blocks) == 1 and len(blocks[0].rows) == len(self.keys) and recording.aval(blocks[0].weight).shape:
            if np.array_equal(self.slots(blocks[0]), np.arange(len(self.keys))):
                whole: int = blocks[0].weight
                return whole
        operands: list[int] = []
        parts: list[Any] = []
        for block in blocks:
            slots = self.slots(block)
            box = box_of(slots)
            if box is None:
                operands += [shaped(recording, block.weight, slots.shape), recording.operand(slots)]
                parts.append(None)
            else:
                operands.append(shaped(recording, block.weight, box.shape))
                parts.append((box.offset * 8, box.shape, tuple(8 * step for step in box.strides)))
        return recording.assembly(np.dtype(np.float64), (len(self.keys),), operands, tuple(parts))

    def has(self, other: Structure) -> bool:
        """Whether every entry of another structure in the same order is one of these."""
        at = np.searchsorted(self.keys, other.keys)
        return bool(np.all(at < len(self.keys))) and bool(np.all(self.keys[at] == other.keys))

    def joined(self, other: Structure) -> Structure:
        """The entries of both."""
        return Structure(self.shape, self.by_columns, _distinct(np.concatenate([self.keys, other.keys])))


def _frozen(places: Places) -> Places:
    """Places that all matrices of a plan share, so that nobody may write to them."""
    places.flags.writeable = False
    return places


def _distinct(keys: Indices) -> Indices:
    """In order, each once; the array that is given is sorted."""
    keys.sort(kind="stable")  # of few runs that are in order already
    is_first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return keys if is_first.all() else keys[is_first]
