"""Indexing and selection."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.errors import not_writable
from hoad._core.trace.memory_order import is_in_order, order_for, stand_in_memory, with_order, with_unknown_order
from hoad._core.trace.traced import METHODS, Array, Scalar, guard_value, is_traced
from hoad._core.trace.views import (
    as_written,
    at_basic_index,
    at_places,
    check_writable,
    is_settled,
    places,
    read,
    shadow,
    view_of,
    write,
    write_at_basic_index,
)
from hoad._numpy.registry import as_traced, decided, implements
from hoad._numpy.shape import broadcast_to
from hoad._ops import primitives as prim

BOOL = np.dtype(np.bool_)


def _is_integer(k: Any) -> bool:
    if is_traced(k):
        return False
    if isinstance(k, np.ndarray):
        return k.ndim == 0 and k.dtype.kind in "iu"
    return hasattr(type(k), "__index__") and not isinstance(k, (bool, np.bool_))


def _is_basic(full: tuple[Any, ...]) -> bool:
    return all(k is None or k is Ellipsis or isinstance(k, slice) or _is_integer(k) for k in full)


def _open(full: tuple[Any, ...]) -> tuple[Any, ...]:
    """A basic index that gives a view, of no dimensions too."""
    full = tuple(int(k) if _is_integer(k) else k for k in full)
    return full if any(k is Ellipsis for k in full) else (*full, ...)


def _is_of_places(index: Any) -> bool:
    """Whether an index is one plain array of integers or booleans."""
    return type(index) is np.ndarray and index.ndim > 0 and index.dtype.kind in "iub"


@implements(method="__getitem__")
def getitem(x: Any, index: Any) -> Any:
    """Basic indices give views, unless an array is among them; others gather, and those that are traced stay live."""
    if type(x) is Array:
        found = at_basic_index(x, index)
        if found is not None or (found := at_places(x, index)) is not None:
            return found
        if type(index) is Array and index.dtype.kind in "iu" and is_settled(x):
            flat = apply_primitive(prim.FLAT_INDEX, (x.shape, (None,)), index)
            return _laid_out(x, index, apply_primitive(prim.GATHER_ITEMS, None, x, flat))
    full = index if isinstance(index, tuple) else (index,)
    if isinstance(x, Scalar):
        return _new_axes(x, full)
    if not _is_basic(full):
        return _laid_out(x, index, _advanced(x, full))
    if not isinstance(x, Array):
        return x[full]
    view = shadow(x)[_open(full)]
    if any(isinstance(k, np.ndarray) for k in full):
        return _laid_out(x, index, read(x, view))
    return view_of(x, view) if view.ndim or any(k is Ellipsis for k in full) else read(x, view)


def _laid_out(x: Any, index: Any, found: Any) -> Any:
    """What was gathered, in NumPy's order in memory: one index for the first axis keeps that of C."""
    if found.ndim < 2 or not isinstance(x, Array) or (not isinstance(index, tuple) and is_in_order(x)):
        return found
    memory = stand_in_memory(x)
    if memory is None:
        return with_unknown_order(found)
    full = index if isinstance(index, tuple) else (index,)
    full = tuple(_like_index(k) for k in full)
    return with_order(found, order_for(memory[full], "K"))


def _like_index(k: Any) -> Any:
    """An index of the same shape, in place of a traced one; masks are guarded already."""
    k = as_traced(k) if isinstance(k, list) and holds_traced(k) else k
    if not is_traced(k):
        return k
    return decided(k) if k.dtype == bool else np.zeros(k.shape, np.intp)


def _new_axes(x: Any, full: tuple[Any, ...]) -> Any:
    """A number at an index, which can only add axes, of no items where it holds a False."""
    shape = np.empty(())[_open(tuple(bool(k) if is_traced(k) and k.dtype == bool else k for k in full))].shape
    return apply_primitive(prim.GETITEM, (shape, (0,) * len(shape), 0), x)


def _split_index(x: Any, full: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """An index with None for its arrays, as a parameter, and the arrays; masks are guarded."""
    encoded: list[Any] = []
    indices: list[Any] = []
    for k in full:
        if isinstance(k, slice):
            encoded.append((k.start, k.stop, k.step))
        elif k is None:
            encoded.append("newaxis")
        elif k is Ellipsis or _is_integer(k):
            encoded.append(k if k is Ellipsis else int(k))
        else:
            k = np.zeros(0, np.int64) if isinstance(k, list) and not k else k
            k = as_traced(k) if holds_traced(k) else np.asarray(k)
            if k.dtype == bool:  # the shape of the result depends on the mask
                k = np.asarray(guard_value(k)) if isinstance(k, Array) else np.asarray(bool(k) if is_traced(k) else k)
            if k.dtype.kind not in "iub":
                raise IndexError(f"arrays used as indices must be of integer or boolean type, not {k.dtype}")
            encoded.append(None)
            indices.append(k)
    return (x.shape, tuple(encoded)), indices


def _advanced(x: Any, full: tuple[Any, ...]) -> Any:
    params, indices = _split_index(x, full)
    if any(is_traced(k) for k in indices):
        flat = apply_primitive(prim.FLAT_INDEX, params, *indices)
    elif not isinstance(x, Array) or is_settled(x):
        flat = prim.FLAT_INDEX.function(params, *indices)
    else:
        return read(x, places(x)[prim.index_of(params, *indices)])
    return apply_primitive(prim.GATHER_ITEMS, None, x, flat)


@implements(method="__setitem__")
def setitem(x: Any, index: Any, value: Any) -> None:
    """Written where NumPy would write it: O(1) nodes, whatever the index."""
    if not isinstance(x, Array):
        raise not_writable()
    if x.copies and np.ndim(value):
        value = METHODS["__flat_items__"](x, index, value)
    if write_at_basic_index(x, index, value):
        return
    if _is_of_places(index):
        write(x, places(x)[index], value)
        return
    full = index if isinstance(index, tuple) else (index,)
    if _is_basic(full):
        write(x, shadow(x)[_open(full)], value)
        return
    params, indices = _split_index(x, full)
    if any(is_traced(k) for k in indices):
        check_writable(x)
        flat = apply_primitive(prim.FLAT_INDEX, params, *indices)
        value = broadcast_to(as_traced(as_written(x, value)), flat.shape)
        write(x, shadow(x), apply_primitive(prim.PUT_ITEMS, None, x, value, flat))
    else:
        write(x, places(x)[prim.index_of(params, *indices)], value)


def whole(index: Any, booleans: bool = False) -> Any:
    """Places along an axis, which are integers."""
    index = np.zeros(0, np.intp) if type(index) is list and not index else as_traced(index)
    if booleans and index.dtype == bool:
        return index.astype(np.intp)
    if index.dtype.kind not in "iu":
        raise IndexError(f"places must be integers, not {index.dtype}")
    return index


def along_axis(x: Any, indices: Any, axis: int) -> tuple[Any, ...]:
    """The index of x that runs through `indices` along an axis, and stands still along the others."""
    indices = whole(indices)
    if indices.ndim != x.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    others = [np.arange(n).reshape(tuple(-1 if d == e else 1 for e in range(x.ndim))) for d, n in enumerate(x.shape)]
    return tuple(indices if d == axis else others[d] for d in range(x.ndim))


@implements(np.nonzero, method="nonzero")
def nonzero(a: Any) -> tuple[np.ndarray, ...]:
    """The places, as plain arrays: their number depends on the values, which are guarded in so far."""
    a = as_traced(a)
    return np.nonzero(decided(a if a.dtype == bool else np.not_equal(a, 0)))


@implements(np.where)
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    if type(condition) is not np.ndarray or condition.dtype is not BOOL:
        condition = as_traced(condition)
        if condition.dtype.kind != "b":
            condition = np.not_equal(condition, 0)
    if type(x) is not Array and type(y) is not Array and not (is_traced(x) or is_traced(y) or is_traced(condition)):
        return np.where(condition, *[v if _is_weak(v) else as_traced(v) for v in (x, y)])
    first = x if type(x) is Array or _is_weak(x) else as_traced(x)
    return apply_primitive(prim.SELECT, None, condition, first, y)


def _is_weak(x: Any) -> bool:
    """Whether x is a number of Python's, which takes the dtype of what it meets."""
    return type(x) in (float, int, complex, bool)
