"""Which items of a result the items of an operand go to: what an operation does to the rows of a sparse matrix."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoad._core.graph.primitive import UFUNC, Primitive
from hoad._core.graph.tape import AbstractValue
from hoad._ops import primitives as prim
from hoad._ops.dependence import Entrywise, Labelled, Running, links

Indices = NDArray[np.int64]
# Which entries are left, or come several times; the row of each. None: all, in turn; one for each item, in turn.
MASKS = (prim.MASK, prim.SELECT)

Spread = tuple[Indices | None, Indices | None]


class Relation(ABC):
    """Between the items of an operand and those of a result, in C order."""

    @abstractmethod
    def spread(self, rows: Indices | None) -> Spread:
        """What becomes of entries in these rows, items of the operand: which, and in which items of the result."""


class Same(Relation):
    """Item by item."""

    def spread(self, rows: Indices | None) -> Spread:
        return None, rows


class Taken(Relation):
    """Each item of the result is that of the operand at a place, or has none where that is -1."""

    def __init__(self, places: Indices, size: int) -> None:
        self.places, self.size = places, size

    def spread(self, rows: Indices | None) -> Spread:
        entries = self.places
        if rows is not None:
            if not _are_distinct(rows, self.size):
                items, entries = pairs(self.places, rows, self.size)
                return entries, items
            entries = _inverse(rows, self.size)[self.places]
        if entries.min(initial=0) >= 0:
            return entries, None
        items = np.flatnonzero(entries >= 0)
        return entries[items], items


class Put(Relation):
    """Each item of the operand goes to a place of the result, or to none where that is -1."""

    def __init__(self, places: Indices) -> None:
        self.places = places

    def spread(self, rows: Indices | None) -> Spread:
        places = self.places if rows is None else self.places[rows]
        if places.min(initial=0) >= 0:
            return None, places
        entries = np.flatnonzero(places >= 0)
        return entries, places[entries]


class Joined(Relation):
    """Items with the same label, all with all; -1 with none."""

    def __init__(self, operand: Indices, result: Indices, label_count: int) -> None:
        self.operand, self.result, self.label_count = operand, result, label_count

    def spread(self, rows: Indices | None) -> Spread:
        return self.spread_labels(self.operand if rows is None else self.operand[rows])

    def spread_labels(self, labels: Indices) -> tuple[Indices, Indices]:
        """As `spread`, of entries with these labels."""
        return pairs(labels, self.result, self.label_count)


class Following(Relation):
    """Each item goes to all from its own on, along an axis."""

    def __init__(self, shape: tuple[int, ...], axis: int) -> None:
        self.size, self.length, self.step = math.prod(shape), shape[axis], math.prod(shape[axis + 1 :])

    def spread(self, rows: Indices | None) -> Spread:
        rows = np.arange(self.size) if rows is None else rows
        entries, within = _repeated(self.left(rows))
        return entries, rows[entries] + within * self.step

    def left(self, rows: Indices) -> Indices:
        """How many items each of these goes to."""
        return self.length - rows // self.step % self.length


class OfMatrix(Relation):
    """The entries of a constant matrix; `values` are those of what `spread` gave last."""

    def __init__(self, entries: Entrywise) -> None:
        self.entries = entries
        self.values: Any = None

    def spread(self, rows: Indices | None) -> Spread:
        found = self.entries
        if rows is None:
            self.values = found.values
            return found.operand, found.result
        entries, matched = pairs(rows, found.operand, found.shape[1])
        self.values = None if found.values is None else found.values[matched]
        return entries, found.result[matched]


def relation_of(
    primitive: Primitive,
    params: Any,
    operands: Sequence[AbstractValue],
    result: AbstractValue,
    k: int,
    values: Sequence[Any],
    which: int = 0,
) -> Relation:
    """The relation of operand k of an operation to its result, or one of several, as far as `values` are known."""
    is_pointwise = primitive.kind == UFUNC or primitive.elementwise
    if is_pointwise and operands[k].shape == result.shape and (primitive not in MASKS or values[0] is None):
        return Same()
    found = links(primitive, params, operands, result, k, values, which)
    if isinstance(found, Entrywise):
        return OfMatrix(found)
    if isinstance(found, Running):
        return Following(found.shape, found.axis)
    assert isinstance(found, Labelled)
    operand, items, label_count = found.operand, found.result, found.count
    if _is_each_in_turn(operand):
        if len(operand) == len(items) and _is_each_in_turn(items):
            return Same()
        return Taken(np.where(items < len(operand), items, -1), len(operand))
    if _is_each_in_turn(items):
        return Put(np.where(operand < len(items), operand, -1))
    if _are_distinct(operand, label_count):
        return Taken(_inverse(operand, label_count)[items], len(operand))
    if _are_distinct(items, label_count):
        return Put(_inverse(items, label_count)[operand])
    return Joined(operand, items, label_count)


def _is_each_in_turn(labels: Indices) -> bool:
    n = len(labels)
    return n > 0 and labels[0] == 0 and labels[-1] == n - 1 and bool(np.all(np.diff(labels) == 1))


def _are_distinct(labels: Indices, label_count: int) -> bool:
    """Whether nothing but -1 comes twice."""
    return bool(np.all(np.bincount(labels[labels >= 0], minlength=label_count) <= 1))


def _inverse(labels: Indices, label_count: int) -> Indices:
    """The item of each label, -1 for none; that of the label -1, which is the last, is -1 too."""
    places = np.full(label_count + 1, -1)
    places[labels] = np.arange(len(labels))
    places[-1] = -1
    return places


def pairs(left: Indices, right: Indices, label_count: int) -> tuple[Indices, Indices]:
    """All (i, j) with ``left[i] == right[j]``, in the order of i; -1 is equal to nothing.

    Cost: a sort of `right`, then linear in items and pairs.
    """
    order = np.argsort(right, kind="stable")[np.count_nonzero(right < 0) :]
    counts = np.bincount(right[right >= 0], minlength=label_count)
    own = np.where(left >= 0, counts[left], 0)
    i, within = _repeated(own)
    return i, order[(np.cumsum(counts) - counts)[left[i]] + within]


def _repeated(counts: Indices) -> tuple[Indices, Indices]:
    """Each index as often as its count says, and the numbers from 0 on beside it."""
    index = np.repeat(np.arange(len(counts)), counts)
    return index, np.arange(len(index)) - np.repeat(np.cumsum(counts) - counts, counts)
