"""Coefficients of one shape and dtype, and points beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hoad._core.trace.traced import FUNCTIONS, graph_of, is_traced, node_of
from hoad._pytree.arguments import packed
from hoad.errors import DTypeError, ShapeError

PRECISIONS = (np.dtype(np.float64), np.dtype(np.float32))


def coefficients_of(x: Any) -> tuple[Any, ...]:
    """The coefficients c₀, ..., cₙ in an array (n+1, *S), or in a sequence of n+1 numbers or arrays (S)."""
    found = [c if is_traced(c) else np.array(c) for c in map(packed, _rows(x))]
    if not found:
        raise ShapeError(
            f"TaylorSeries takes coefficients of shape (n+1, *S), the order first, but was given {x!r}. A constant "
            "function of degree 0 is TaylorSeries([c])."
        )
    for c in found:
        if c.dtype.kind not in "biufc":
            raise DTypeError(f"TaylorSeries takes coefficients that are numbers, not {c.dtype}: {c!r}.")
        if c.dtype.kind in "fc" and c.real.dtype not in PRECISIONS:
            raise DTypeError(f"TaylorSeries computes in float64 and float32, but a coefficient is {c.dtype}.")
    found = list(unified(found))
    return tuple(found) if found[0].dtype.kind in "fc" else unified(c.astype(np.float64) for c in found)


def _rows(x: Any) -> list[Any]:
    """What a sequence holds, or an array along its first axis."""
    if isinstance(x, (list, tuple)):
        return list(x)
    x = packed(x)
    x = x if is_traced(x) else np.asarray(x)
    return list(x) if np.ndim(x) else []


def unified(coefficients: Iterable[Any]) -> tuple[Any, ...]:
    """The coefficients broadcast to one shape and dtype; arrays of them that cannot be written to."""
    found = list(map(packed, coefficients))
    if len(set(map(type, found))) == 1 and isinstance(found[0], np.generic) and not is_traced(found[0]):
        return tuple(found)  # most are numbers of one type
    shape = np.broadcast_shapes(*[np.shape(c) for c in found])
    dtype = np.result_type(*[c if type(c) in (int, float, complex) else c.dtype for c in found])
    return tuple(_as(c, shape, dtype) for c in found)


def _as(c: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    if is_traced(c):
        c = c if np.shape(c) == shape else np.broadcast_to(c, shape)
        return c if c.dtype == dtype else c.astype(dtype)
    c = np.asarray(c, dtype) if np.shape(c) == shape else np.array(np.broadcast_to(c, shape), dtype)
    if not shape:
        return c[()]
    c = c.view()
    c.flags.writeable = False
    return c


def stacked(coefficients: Sequence[Any]) -> Any:
    """The coefficients as one array, which is traced where one of them is."""
    return FUNCTIONS[np.stack](coefficients) if any(map(is_traced, coefficients)) else np.stack(coefficients)


def checked_point(point: Any, shape: tuple[int, ...]) -> Any:
    """The point of expansion, of which each entry belongs to a part of the coefficients (S)."""
    if not is_traced(point):
        found = np.asarray(point)
        if found.dtype.kind not in "iufc":
            raise DTypeError(f"TaylorSeries takes a point that is a number or an array of them, not {point!r}.")
        point = point if isinstance(point, (int, float, complex)) else np.array(found)[()]
    if np.shape(point) != shape[: np.ndim(point)]:
        raise ShapeError(
            f"TaylorSeries takes a point whose shape is that of the coefficients or of their first axes, {shape}, but "
            f"was given one of shape {np.shape(point)}."
        )
    return point


def lifted(point: Any, ndim: int) -> Any:
    """The point with as many axes as the coefficients (S) have; its own are their first ones."""
    own = np.shape(point)
    return np.reshape(point, (*own, *(1,) * (ndim - len(own)))) if 0 < len(own) < ndim else point


def displacement(x: Any, point: Any, ndim: int) -> Any:
    """t = x − point for coefficients of so many axes."""
    if not is_traced(x) and isinstance(x, (list, tuple)):
        x = np.asarray(x)
    return x - lifted(point, ndim)


def is_one_point(a: Any, b: Any, tolerance: float = 0.0) -> bool:
    """Whether two points are the same numbers; of traced ones, whether they are so wherever they move."""
    if a is b:
        return True
    if is_traced(a) or is_traced(b):
        return is_traced(a) and is_traced(b) and graph_of(a) is graph_of(b) and node_of(a) == node_of(b)
    if a is None or b is None:
        return False
    return bool(np.all(np.abs(np.subtract(a, b)) <= tolerance * np.abs(b)))
