"""Linear operations on arrays whose last axis is that of lines, each line by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._core.graph.primitive import Primitive
from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.taylor.series import NotClosedError
from hoad._core.trace.calls import apply_assembly, apply_primitive
from hoad._core.trace.traced import is_traced
from hoad._ops.primitives import GETITEM

Shape = tuple[int, ...]


def on_lines(name: str, primitive: Primitive, params: Any, aval: AbstractValue, values: list[Any], count: int) -> Any:
    """What a linear operation makes of arrays with so many lines: by name, since each has its parameters changed."""
    whole = (*aval.shape, count)
    if name == "sum":
        return apply_primitive(primitive, (params[0], (*params[1], count)), *values)
    if name == "item":
        return apply_primitive(GETITEM, ((count,), (1,), params[0] * count), *values)
    if name == "reshape":
        return np.reshape(values[0], whole)
    if name == "transpose":
        return np.transpose(values[0], (*params[0], len(params[0])))
    if name == "broadcast_to":
        return np.broadcast_to(values[0], whole)
    if name == "getitem":
        shape, strides, offset = params
        return apply_primitive(
            primitive, ((*shape, count), (*[s * count for s in strides], 1), offset * count), *values
        )
    if name in ("concatenate", "cumsum"):
        return apply_primitive(primitive, params, *values)
    if name == "gather":
        return apply_primitive(primitive, None, values[0], places(values[1], count))
    if name == "assemble":
        return assembled(params, aval, values, count)
    raise NotClosedError(f"{primitive.name} on many lines")


def assembly(aval: AbstractValue, params: Any, values: list[Any]) -> Any:
    """Zeros to which items, slices and gathers are added, of traced values or of plain ones alone."""
    if any(map(is_traced, values)):
        return apply_assembly(aval, *params, *values)
    offsets, parts = params
    found = np.zeros(aval.shape)
    flat = found.reshape(-1)
    rest = iter(values[len(offsets) :])
    for offset, x in zip(offsets.tolist(), values, strict=False):
        flat[offset] += x
    for part in parts:
        x = next(rest)
        if part is None:
            np.add.at(flat, next(rest), x)
        else:
            start, shape, strides = part
            np.ndarray(shape, found.dtype, found, start, strides)[...] += x
    return found


def places(flat: Any, count: int) -> Any:
    """Flat places with all lines, from those without."""
    return np.add(np.multiply(np.reshape(flat, (*np.shape(flat), 1)), count), np.arange(count))


def assembled(params: Any, aval: AbstractValue, values: list[Any], count: int) -> Any:
    """Zeros with lines, to which items, slices and gathers are added."""
    offsets, parts = params
    size = aval.itemsize
    wide: list[Any] = [(offset * size * count, (count,), (size,)) for offset in offsets.tolist()]
    at = len(wide)
    for part in parts:
        if part is None:
            values[at + 1] = places(values[at + 1], count)
            wide.append(None)
            at += 1
        else:
            start, shape, strides = part
            wide.append((start * count, (*shape, count), (*[s * count for s in strides], size)))
        at += 1
    whole = intern_aval(aval.dtype, (*aval.shape, count))
    return assembly(whole, (np.zeros(0, np.int64), tuple(wide)), values)


# ---- matrix products -------------------------------------------------------------------------------------------------


def times_lines(matrix: Any, y: Any, left: Shape, right: Shape) -> Any:
    """A matrix times what is on each line: one product of matrices, unless there is a stack of them."""
    if len(left) > 2 or len(right) > 2:
        return product_of_lines(np.reshape(matrix, (*left, 1)), y, left, right)
    found = np.matmul(matrix, np.reshape(y, (right[0], -1)))
    return np.reshape(found, (*left[:-1], *right[1:], np.shape(y)[-1]))


def lines_times(x: Any, matrix: Any, left: Shape, right: Shape) -> Any:
    """What is on each line times a matrix."""
    if len(left) == 1 and len(right) <= 2:
        return np.matmul(np.transpose(matrix), x)
    return product_of_lines(x, np.reshape(matrix, (*right, 1)), left, right)


def product_of_lines(x: Any, y: Any, left: Shape, right: Shape) -> Any:
    """What is on each line of the one times what is on that of the other."""
    if len(left) == 1 and len(right) == 1:
        return np.sum(np.multiply(x, y), axis=0)
    outer = max(len(left), len(right), 2) - 2
    row, column = len(left) == 1, len(right) == 1
    x, y = np.moveaxis(x, -1, 0), np.moveaxis(y, -1, 0)
    tall, wide = ((1, *left) if row else left), ((*right, 1) if column else right)
    x = np.reshape(x, (np.shape(x)[0], *[1] * (outer + 2 - len(tall)), *tall))
    y = np.reshape(y, (np.shape(y)[0], *[1] * (outer + 2 - len(wide)), *wide))
    found = np.moveaxis(np.matmul(x, y), 0, -1)
    found = found[..., 0, :] if column else found
    return found[..., 0, :, :] if row else found
