"""Which items of its operands an item of an operation's result depends on, by the structure of the operation alone.

Items are counted in C order. What moves items about (slices, gathers, transposes, joins) is followed item by item, what
works along some axes of an array (those of matrices, or the parameter `axis`) for the rest of its axes apart. Anything
else, such as a user's primitive, mixes all items: a dependence may then be named that is none, but none is left out.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from hoad._core.graph.primitive import CONCATENATE, REDUCE, STRIDED, UFUNC, Primitive
from hoad._core.graph.tape import AbstractValue
from hoad._ops.primitives import (
    ASSEMBLE,
    ASTYPE,
    CHOLESKY,
    COFACTORS,
    CUMSUM,
    DET,
    DET_SVD,
    EIGH,
    GATHER_ITEMS,
    IDENTITY,
    INV,
    ITEM,
    LINEAR_SUM_OF,
    MASK,
    MATMUL,
    PINV,
    PRODUCT_OF,
    PUT_ITEMS,
    QR,
    SEARCHSORTED,
    SELECT,
    SINGULAR,
    SINGULAR_WEIGHTS,
    SLOGDET,
    SOLVE,
    SPECTRAL,
    SPECTRAL_WEIGHTS,
    SUM_OF,
    SUM_WEIGHTS_OF,
    SVD,
)

Sets = NDArray[np.uint8]  # (items, bytes): of each item a set, a bit for each member
Mask = NDArray[np.bool_]
Labels = NDArray[np.int64]
Bounds = NDArray[np.int32]
Intervals = tuple[Bounds, Bounds]  # of each item the first and the last member; an empty one ends before it begins
Shape = tuple[int, ...]


class Links(ABC):
    """Between the items of an operand and those of a result."""

    @abstractmethod
    def forward(self, sets: Sets) -> Sets:
        """Of each item of the result, the union of the sets of the items that it depends on."""

    @abstractmethod
    def cover(self, lows: Bounds, highs: Bounds, empty: int) -> Intervals:
        """Of each item of the result, an interval over those of the items that it depends on; (empty, -1) for none."""

    @abstractmethod
    def back(self, items: Mask) -> Mask:
        """The items of the operand that these items of the result depend on."""


class Labelled(Links):
    """Items with the same label are connected; -1 depends on nothing."""

    def __init__(self, operand: Any, result: Any) -> None:
        self.operand: Labels = np.asarray(operand, np.int64).ravel()
        self.result: Labels = np.asarray(result, np.int64).ravel()
        self.count = int(max(self.operand.max(initial=-1), self.result.max(initial=-1))) + 1

    def forward(self, sets: Sets) -> Sets:
        unions = np.zeros((self.count + 1, sets.shape[1]), np.uint8)  # the last one, that of -1, stays empty
        np.bitwise_or.at(unions, self.operand, sets)
        unions[-1] = 0
        return unions[self.result]

    def cover(self, lows: Bounds, highs: Bounds, empty: int) -> Intervals:
        low, high = np.full(self.count + 1, empty, np.int32), np.full(self.count + 1, -1, np.int32)
        np.minimum.at(low, self.operand, lows)
        np.maximum.at(high, self.operand, highs)
        low[-1], high[-1] = empty, -1
        return low[self.result], high[self.result]

    def back(self, items: Mask) -> Mask:
        taken = np.zeros(self.count + 1, bool)
        taken[self.result[items]] = True
        taken[-1] = False
        return taken[self.operand]


class Running(Links):
    """Each item depends on those up to it along an axis."""

    def __init__(self, shape: Shape, axis: int) -> None:
        self.shape, self.axis = shape, axis

    def forward(self, sets: Sets) -> Sets:
        by_axes = sets.reshape((*self.shape, -1))
        return np.asarray(np.bitwise_or.accumulate(by_axes, axis=self.axis)).reshape(sets.shape)

    def cover(self, lows: Bounds, highs: Bounds, empty: int) -> Intervals:
        low = np.minimum.accumulate(lows.reshape(self.shape), axis=self.axis)
        return low.ravel(), np.maximum.accumulate(highs.reshape(self.shape), axis=self.axis).ravel()

    def back(self, items: Mask) -> Mask:
        flipped = np.flip(items.reshape(self.shape), self.axis)
        return np.flip(np.logical_or.accumulate(flipped, axis=self.axis), self.axis).ravel()


def _numbered(shape: Shape) -> Labels:
    return np.arange(math.prod(shape)).reshape(shape)


def along(operand: Shape, result: Shape, axes: Sequence[tuple[int, int]]) -> Labelled:
    """Links along pairs of axes (of the operand, of the result), all items together along the others.

    An axis of length 1 of the operand goes with any of the result, as in broadcasting.
    """
    labels = _numbered(tuple(operand[i] for i, _ in axes))

    def spread(places: list[int], shape: Shape) -> Labels:
        order = np.argsort(places)
        whole = [1] * len(shape)
        for place, n in zip(places, labels.shape, strict=True):
            whole[place] = n
        return np.broadcast_to(labels.transpose(order).reshape(whole), shape)

    return Labelled(spread([i for i, _ in axes], operand), spread([j for _, j in axes], result))


def mixing(operand: Shape, result: Shape) -> Links:
    """Every item of the result depends on every item of the operand."""
    return along(operand, result, ())


def pointwise(operand: Shape, result: Shape) -> Labelled:
    """Item by item, broadcast."""
    lead = len(result) - len(operand)
    return along(operand, result, [(i, lead + i) for i in range(len(operand))])


def taken(operand: Shape, places: Any) -> Labelled:
    """Each item of the result is the item of the operand at a flat place, or none where that is -1."""
    return Labelled(_numbered(operand), places)


def links(
    primitive: Primitive,
    params: Any,
    operands: Sequence[AbstractValue],
    result: AbstractValue,
    k: int,
    values: Sequence[Any],
) -> Links:
    """The links from operand k of an operation to its result, or one of its results.

    `values` are those of the operands as far as they are known, else None: of an index, to follow it; of a condition,
    to follow only what it takes.
    """
    found = OF_PRIMITIVE.get(primitive)
    if found is not None:
        return found(params, operands, result, k, values)
    if primitive.kind == UFUNC or primitive.elementwise:
        return pointwise(operands[k].shape, result.shape)
    of_kind = OF_KIND.get(primitive.kind)
    if of_kind is None and "axis" in (primitive.param_names or ()) and len(operands) == 1:
        return _lines(primitive.keywords(params)["axis"], operands[0].shape, result.shape)
    if of_kind is None:
        return mixing(operands[k].shape, result.shape)
    return of_kind(primitive, params, operands, result, k)


# ---- by kinds -------------------------------------------------------------------------------------------------------


def _of_reduction(
    primitive: Primitive, params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int
) -> Links:
    shape, axes = operands[0].shape, params[0]
    kept = tuple(1 if d in axes else n for d, n in enumerate(shape))
    return Labelled(np.broadcast_to(_numbered(kept), shape), _numbered(result.shape))


def _of_view(
    primitive: Primitive, params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int
) -> Links:
    shape, strides, offset = primitive.function(params, operands[0])
    places = _view(_numbered(operands[0].shape), operands[0].itemsize, offset, shape, strides)
    return taken(operands[0].shape, places)


def _view(labels: Labels, itemsize: int, offset: int, shape: Sequence[int], strides: Sequence[int]) -> Labels:
    """Labels seen through offset and strides in bytes of items of another size."""
    steps = [s // itemsize * labels.itemsize for s in strides]
    return as_strided(labels.ravel()[offset // itemsize :], tuple(shape), steps)


def _of_join(
    primitive: Primitive, params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int
) -> Links:
    axis = params[0]
    start = sum(x.shape[axis] for x in operands[:k])
    places = np.full(result.shape, -1)
    where = (slice(None),) * axis + (slice(start, start + operands[k].shape[axis]),)
    places[where] = _numbered(operands[k].shape)
    return taken(operands[k].shape, places)


OF_KIND: dict[int, Callable[..., Links]] = {REDUCE: _of_reduction, STRIDED: _of_view, CONCATENATE: _of_join}


# ---- by primitives --------------------------------------------------------------------------------------------------


def _pointwise(
    params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int, values: Sequence[Any]
) -> Links:
    return pointwise(operands[k].shape, result.shape)


def _item(
    params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int, values: Sequence[Any]
) -> Links:
    return taken(operands[0].shape, params[0])


def _mask(
    params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int, values: Sequence[Any]
) -> Links:
    """``where(c, x, 0)``, ``where(c, x, y)``: what is not taken leaves nothing."""
    found = pointwise(operands[k].shape, result.shape)
    if values[0] is not None and k:
        chosen = np.broadcast_to(np.asarray(values[0], bool), result.shape).ravel()
        found.result = np.where(chosen == (k == 1), found.result, -1)
    return found


def _gather(
    params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int, values: Sequence[Any]
) -> Links:
    if k == 1:
        return pointwise(operands[1].shape, result.shape)
    if values[1] is None:
        return mixing(operands[0].shape, result.shape)
    return taken(operands[0].shape, np.asarray(values[1]))


def _put(params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int, values: Sequence[Any]) -> Links:
    flat = values[2]
    if k == 2 or flat is None:
        return pointwise(operands[0].shape, result.shape) if k == 0 else mixing(operands[k].shape, result.shape)
    places = _numbered(result.shape).ravel() if k == 0 else np.full(result.size, -1)
    places[np.ravel(flat)] = -1 if k == 0 else np.arange(operands[1].size)
    return taken(operands[k].shape, places)


def _assemble(
    params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int, values: Sequence[Any]
) -> Links:
    """Zeros of a shape, to which items, slices and gathers are added."""
    offsets, parts = params
    places = np.full(result.size, -1)
    if k < len(offsets):
        places[offsets[k]] = 0
        return taken((), places)
    at = len(offsets)
    for part in parts:
        if part is not None and k == at:
            start, shape, strides = part
            _view(places, result.itemsize, start, shape, strides)[...] = _numbered(operands[k].shape)
            return taken(operands[k].shape, places)
        if part is None and at <= k <= at + 1:
            if k > at or values[k + 1] is None:
                break
            return Labelled(np.asarray(values[k + 1]), _numbered(result.shape))
        at += 2 if part is None else 1
    return mixing(operands[k].shape, result.shape)


def _batch(operand: Shape, result: Shape, core: int, core_result: int) -> list[tuple[int, int]]:
    """Pairs of the axes before the last ones, aligned from the right."""
    n, m = len(operand) - core, len(result) - core_result
    return [(n - d, m - d) for d in range(n, 0, -1)]


def _matmul(
    params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int, values: Sequence[Any]
) -> Links:
    """Rows with rows of the left, columns with columns of the right."""
    own, other = operands[k].shape, operands[1 - k].shape
    cores = (len(own) > 1, len(other) > 1)
    axes = _batch(own, result.shape, 1 + cores[0], sum(cores))
    if cores[0]:
        last = len(result.shape) - 1
        axes.append((len(own) - 2, last - cores[1]) if k == 0 else (len(own) - 1, last))
    return along(own, result.shape, axes)


def _solve(
    params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int, values: Sequence[Any]
) -> Links:
    own, whole = operands[k].shape, result.shape
    axes = _batch(own, whole, 2, 2)
    return along(own, whole, [*axes, (len(own) - 1, len(whole) - 1)] if k else axes)


def _matrices(
    params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int, values: Sequence[Any]
) -> Links:
    """Each matrix of a stack apart."""
    own = operands[k].shape
    return along(own, result.shape, [(d, d) for d in range(len(own) - 2)])


def _running(
    params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int, values: Sequence[Any]
) -> Links:
    shape = operands[0].shape
    return Running(shape, params[0] % len(shape)) if shape else pointwise(shape, shape)


def _lines(axis: int | None, own: Shape, whole: Shape) -> Links:
    """Along an axis, or all together."""
    if axis is None or not own:
        return mixing(own, whole)
    axis, dropped = axis % len(own), len(own) - len(whole)
    return along(own, whole, [(d, d - (d > axis) * dropped) for d in range(len(own)) if d != axis])


def _searched(
    params: Any, operands: Sequence[AbstractValue], result: AbstractValue, k: int, values: Sequence[Any]
) -> Links:
    return (pointwise if k else mixing)(operands[k].shape, result.shape)


OF_PRIMITIVE: dict[Primitive, Callable[..., Links]] = {
    IDENTITY: _pointwise,
    ASTYPE: _pointwise,
    ITEM: _item,
    MASK: _mask,
    SELECT: _mask,
    GATHER_ITEMS: _gather,
    PUT_ITEMS: _put,
    ASSEMBLE: _assemble,
    MATMUL: _matmul,
    SOLVE: _solve,
    CUMSUM: _running,
    SEARCHSORTED: _searched,
    **dict.fromkeys(
        (made for kinds in (PRODUCT_OF, SUM_OF, LINEAR_SUM_OF, SUM_WEIGHTS_OF) for made in kinds.values()),
        _matrices,
    ),
    **dict.fromkeys(
        (
            INV,
            DET,
            SLOGDET,
            COFACTORS,
            DET_SVD,
            CHOLESKY,
            EIGH,
            SPECTRAL,
            SPECTRAL_WEIGHTS,
            SVD,
            SINGULAR,
            SINGULAR_WEIGHTS,
            QR,
            PINV,
        ),
        _matrices,
    ),
}
