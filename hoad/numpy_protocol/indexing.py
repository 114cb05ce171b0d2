"""Indexing and selection."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad import primitive as prim
from hoad._core import ufuncs
from hoad._core.calls import apply_primitive
from hoad._core.operands import holds_traced
from hoad._core.traced import Array, guard_value, is_traced
from hoad._core.where import here
from hoad.errors import NoRuleError
from hoad.numpy_protocol.door import FLOAT64, as_traced, implements
from hoad.numpy_protocol.shape import (
    ravel,
)


def _is_integer(k: Any) -> bool:
    return isinstance(k, (int, np.integer)) and not isinstance(k, (bool, np.bool_))


def _basic_view(x: Any, index: tuple[Any, ...]) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Shape, strides and offset (in items) of a basic index, asked of NumPy on a view without memory of its own."""
    dummy = np.lib.stride_tricks.as_strided(np.empty(1, np.int8), x.shape, prim.contiguous_strides(x.shape))
    view = dummy[index]
    offset = view.__array_interface__["data"][0] - dummy.__array_interface__["data"][0] if view.size else 0
    return view.shape, view.strides, offset


@implements(method="__getitem__")
def getitem(x: Any, index: Any) -> Any:
    """Basic indices copy through strides, others gather; indices that are traced stay live."""
    full = index if isinstance(index, tuple) else (index,)
    if all(k is None or k is Ellipsis or isinstance(k, slice) or _is_integer(k) for k in full):
        view, strides, offset = _basic_view(x, (*full, ...) if Ellipsis not in full else full)
        if view == () and x.dtype == FLOAT64 and offset < 2**31 and x.ndim > 1 and x.size:
            return ravel(x)[offset]
        if view == x.shape and offset == 0 and strides == tuple(prim.contiguous_strides(x.shape)):
            return x
        return apply_primitive(prim.GETITEM, (view, tuple(strides), offset), x)
    return _advanced(x, full)


def _advanced(x: Any, full: tuple[Any, ...]) -> Any:
    encoded: list[Any] = []
    indices: list[Any] = []
    for k in full:
        if isinstance(k, slice):
            encoded.append((k.start, k.stop, k.step))
        elif k is None:
            encoded.append("newaxis")
        elif k is Ellipsis or _is_integer(k):
            encoded.append(k)
        else:
            k = np.zeros(0, np.int64) if isinstance(k, list) and not k else k
            k = as_traced(k) if holds_traced(k) else np.asarray(k)
            if k.dtype == bool:  # the shape of the result hangs on the mask
                k = np.asarray(guard_value(k)) if isinstance(k, Array) else np.asarray(bool(k) if is_traced(k) else k)
            if k.dtype.kind not in "iub":
                raise IndexError(f"arrays used as indices must be of integer or boolean type, not {k.dtype}")
            encoded.append(None)
            indices.append(k)
    params = (x.shape, tuple(encoded))
    if any(is_traced(k) for k in indices):
        flat = apply_primitive(prim.FLAT_INDEX, params, *indices)
    else:
        flat = prim.FLAT_INDEX.function(params, *indices)
    return apply_primitive(prim.GATHER_ITEMS, None, x, flat)


@implements(np.where)
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        raise NoRuleError(
            f"np.where(condition) alone has no derivative rule ({here()}). Use np.where(condition, x, y)."
        )
    condition = as_traced(condition)
    if condition.dtype != bool:
        condition = np.not_equal(condition, 0)
    if not any(is_traced(v) for v in (condition, x, y)):
        return np.where(condition, as_traced(x), as_traced(y))
    return ufuncs.select(condition, as_traced(x) if not isinstance(x, float | int) else x, y)
