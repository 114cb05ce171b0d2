"""Which items of its operands an item of an operation's result depends on, by the structure of the operation alone.

Items are counted in C order. What moves items about (slices, gathers, transposes, joins) is followed item by item, what
works along some axes of an array (those of matrices, or the parameter `axis`) for the rest of its axes apart. Anything
else, such as a user's primitive, mixes all items: a dependence may then be named that is none, but none is left out.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from hoad._core.graph.primitive import CONCATENATE, REDUCE, STRIDED, UFUNC, Primitive
from hoad._core.graph.tape import AbstractValue
from hoad._ops import primitives as prim

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


class Entrywise(Links):
    """The entries of a matrix, from the items of the operand to those of the result, with their values where known."""

    def __init__(self, shape: tuple[int, int], result: Any, operand: Any, values: Any = None) -> None:
        self.shape = shape
        self.result: Labels = np.asarray(result, np.int64)
        self.operand: Labels = np.asarray(operand, np.int64)
        self.values = None if values is None else np.asarray(values)

    def forward(self, sets: Sets) -> Sets:
        unions = np.zeros((self.shape[0], sets.shape[1]), np.uint8)
        np.bitwise_or.at(unions, self.result, sets[self.operand])
        return unions

    def cover(self, lows: Bounds, highs: Bounds, empty: int) -> Intervals:
        low, high = np.full(self.shape[0], empty, np.int32), np.full(self.shape[0], -1, np.int32)
        np.minimum.at(low, self.result, lows[self.operand])
        np.maximum.at(high, self.result, highs[self.operand])
        return low, high

    def back(self, items: Mask) -> Mask:
        taken = np.zeros(self.shape[1], bool)
        taken[self.operand[items[self.result]]] = True
        return taken


def along(operand: Shape, result: Shape, axes: Sequence[tuple[int, int]]) -> Labelled:
    """Links along pairs of axes (of the operand, of the result), all items together along the others.

    An axis of length 1 of the operand goes with any of the result, as in broadcasting.
    """
    labels = prim.flat_places(tuple(operand[i] for i, _ in axes))

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
    return Labelled(prim.flat_places(operand), places)


def links(
    primitive: Primitive,
    params: Any,
    operands: Sequence[AbstractValue],
    result: AbstractValue,
    k: int,
    values: Sequence[Any],
    which: int | None = None,
) -> Links:
    """The links from operand k of an operation to its result; of several to all, or the one whose number is `which`.

    `values` are those of the operands as far as they are known, else None: of an index, to follow it; of a condition,
    to follow only what it takes.
    """
    asked = _Asked(params, operands, operands[k].shape, result.shape, result.itemsize, k, values, which)
    found = OF_PRIMITIVE.get(primitive)
    if found is not None:
        return found(asked)
    if primitive.kind == UFUNC or primitive.elementwise:
        return _pointwise(asked)
    if primitive.of_programs:
        return _of_program(asked)
    if primitive.kind == STRIDED:
        return _of_view(asked, primitive.function)
    of_kind = OF_KIND.get(primitive.kind)
    if of_kind is not None:
        return of_kind(asked)
    if "axis" in (primitive.param_names or ()) and len(operands) == 1:
        return _lines(primitive.keywords(params)["axis"], asked.own, asked.whole)
    return mixing(asked.own, asked.whole)


class _Asked(NamedTuple):
    """An operation, and the operand whose links are asked for: its number k and its shape, `own`."""

    params: Any
    operands: Sequence[AbstractValue]
    own: Shape
    whole: Shape  # of the result
    itemsize: int  # of the result
    k: int
    values: Sequence[Any]
    which: int | None  # of several results


# ---- by kinds -------------------------------------------------------------------------------------------------------


def _of_reduction(x: _Asked) -> Links:
    kept = tuple(1 if d in x.params[0] else n for d, n in enumerate(x.own))
    return Labelled(np.broadcast_to(prim.flat_places(kept), x.own), prim.flat_places(x.whole))


def _of_view(x: _Asked, view: Callable[..., Any]) -> Links:
    shape, strides, offset = view(x.params, x.operands[0])
    return taken(x.own, _view(prim.flat_places(x.own), x.operands[0].itemsize, offset, shape, strides))


def _view(labels: Labels, itemsize: int, offset: int, shape: Sequence[int], strides: Sequence[int]) -> Labels:
    """Labels seen through offset and strides in bytes of items of another size."""
    steps = [s // itemsize * labels.itemsize for s in strides]
    return as_strided(labels.ravel()[offset // itemsize :], tuple(shape), steps)


def _of_join(x: _Asked) -> Links:
    axis = x.params[0]
    start = sum(before.shape[axis] for before in x.operands[: x.k])
    places = np.full(x.whole, -1)
    places[(slice(None),) * axis + (slice(start, start + x.own[axis]),)] = prim.flat_places(x.own)
    return taken(x.own, places)


def _of_program(x: _Asked) -> Links:
    """By what the program itself says."""
    found: Links | None = None if x.which is None else x.params[0]._links(x.k, x.which, len(x.operands))
    return mixing(x.own, x.whole) if found is None else found


OF_KIND: dict[int, Callable[[_Asked], Links]] = {REDUCE: _of_reduction, CONCATENATE: _of_join}


# ---- by primitives --------------------------------------------------------------------------------------------------


def _pointwise(x: _Asked) -> Links:
    return pointwise(x.own, x.whole)


def _mask(x: _Asked) -> Links:
    """``where(c, x, 0)``, ``where(c, x, y)``: what is not taken leaves nothing."""
    found = pointwise(x.own, x.whole)
    if x.values[0] is not None and x.k:
        chosen = np.broadcast_to(np.asarray(x.values[0], bool), x.whole).ravel()
        found.result = np.where(chosen == (x.k == 1), found.result, -1)
    return found


def _gather(x: _Asked) -> Links:
    if x.k == 1:
        return _pointwise(x)
    return mixing(x.own, x.whole) if x.values[1] is None else taken(x.own, np.asarray(x.values[1]))


def _put(x: _Asked) -> Links:
    flat = x.values[2]
    if x.k == 2 or flat is None:
        return _pointwise(x) if x.k == 0 else mixing(x.own, x.whole)
    size = math.prod(x.whole)
    places = np.arange(size) if x.k == 0 else np.full(size, -1)
    places[np.ravel(flat)] = -1 if x.k == 0 else np.arange(x.operands[1].size)
    return taken(x.own, places)


def _assemble(x: _Asked) -> Links:
    """Zeros of a shape, to which items, slices and gathers are added."""
    offsets, parts = x.params
    result = prim.flat_places(x.whole)
    if x.k < len(offsets):
        return taken((), np.where(result == offsets[x.k], 0, -1))
    at = len(offsets)
    for part in parts:
        if part is not None and x.k == at:
            start, shape, strides = part  # items of a slice may be the same ones, as those of a broadcast array
            return Labelled(_view(result, x.itemsize, start, shape, strides), result)
        if part is None and at <= x.k <= at + 1:
            if x.k > at or x.values[x.k + 1] is None:
                break
            return Labelled(np.asarray(x.values[x.k + 1]), result)
        at += 2 if part is None else 1
    return mixing(x.own, x.whole)


def _batch(operand: Shape, result: Shape, core: int, core_result: int) -> list[tuple[int, int]]:
    """Pairs of the axes before the last ones, aligned from the right."""
    n, m = len(operand) - core, len(result) - core_result
    return [(n - d, m - d) for d in range(n, 0, -1)]


def _matmul(x: _Asked) -> Links:
    """Rows with rows of the left, columns with columns of the right."""
    cores = (len(x.own) > 1, len(x.operands[1 - x.k].shape) > 1)
    axes = _batch(x.own, x.whole, 1 + cores[0], sum(cores))
    if cores[0]:
        last = len(x.whole) - 1
        axes.append((len(x.own) - 2, last - cores[1]) if x.k == 0 else (len(x.own) - 1, last))
    return along(x.own, x.whole, axes)


def _solve(x: _Asked) -> Links:
    axes = _batch(x.own, x.whole, 2, 2)
    return along(x.own, x.whole, [*axes, (len(x.own) - 1, len(x.whole) - 1)] if x.k else axes)


def _matrices(x: _Asked) -> Links:
    """Each matrix of a stack apart."""
    return along(x.own, x.whole, [(d, d) for d in range(len(x.own) - 2)])


def _running(x: _Asked) -> Links:
    return Running(x.own, x.params[0] % len(x.own)) if x.own else _pointwise(x)


def _lines(axis: int | None, own: Shape, whole: Shape) -> Links:
    """Along an axis, or all together."""
    if axis is None or not own:
        return mixing(own, whole)
    axis, dropped = axis % len(own), len(own) - len(whole)
    return along(own, whole, [(d, d - (d > axis) * dropped) for d in range(len(own)) if d != axis])


def _correlated(x: _Asked) -> Links:
    """pₖ = Σⱼ xₖ₊ⱼ yⱼ."""
    k, j = np.divmod(np.arange(x.whole[0] * x.operands[1].size), x.operands[1].size)
    items = j if x.k else k + j
    other = x.values[1 - x.k]
    values = None if other is None else np.asarray(other)[k + j if x.k else j]
    return Entrywise((x.whole[0], x.own[0]), k, items, values)


OF_PRIMITIVE: dict[Primitive, Callable[[_Asked], Links]] = {
    prim.IDENTITY: _pointwise,
    prim.ASTYPE: _pointwise,
    prim.ITEM: lambda x: taken(x.own, x.params[0]),
    prim.MASK: _mask,
    prim.SELECT: _mask,
    prim.GATHER_ITEMS: _gather,
    prim.PUT_ITEMS: _put,
    prim.ASSEMBLE: _assemble,
    prim.MATMUL: _matmul,
    prim.SOLVE: _solve,
    prim.CUMSUM: _running,
    prim.CORRELATE: _correlated,
    prim.SEARCHSORTED: lambda x: (pointwise if x.k else mixing)(x.own, x.whole),
}
for _kinds in (prim.PRODUCT_OF, prim.SUM_OF, prim.LINEAR_SUM_OF, prim.SUM_WEIGHTS_OF):
    OF_PRIMITIVE.update(dict.fromkeys(_kinds.values(), _matrices))
for _factors in (
    *(prim.INV, prim.DET, prim.SLOGDET, prim.COFACTORS, prim.DET_SVD, prim.CHOLESKY, prim.EIGH, prim.QR, prim.PINV),
    *(prim.SPECTRAL, prim.SPECTRAL_WEIGHTS, prim.SVD, prim.FULL_SVD, prim.SINGULAR, prim.SINGULAR_WEIGHTS),
    *(prim.DET_GRADIENT, prim.DETERMINED),
):
    OF_PRIMITIVE[_factors] = _matrices
