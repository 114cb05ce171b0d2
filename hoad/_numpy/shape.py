"""Shapes, axes, dtypes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from hoad._core.base.where import here
from hoad._core.ops.plan import broadcast_shapes
from hoad._core.trace.axes import axes_in_order, axes_moved, axes_rolled, axes_swapped
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.memory_order import copied_in_order, has_order, order_for, with_order
from hoad._core.trace.traced import FUNCTIONS, METHODS, PYTHON_NUMBER, Array, Scalar, representing
from hoad._core.trace.views import as_written_to, copy_of, flattened
from hoad._numpy.registry import FLOAT64, Axis, as_traced, implements, normal_axes
from hoad._ops import primitives as prim
from hoad.errors import NoRuleError, ShapeError


@implements(np.reshape)
def reshape(x: Any, /, shape: Any = None, order: str = "C", *, copy: bool | None = None) -> Any:
    x = as_traced(x)
    size = math.prod(x.shape)
    shape = tuple(operator.index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,)))
    if -1 in shape:
        known = math.prod(n for n in shape if n != -1)
        if shape.count(-1) > 1 or known == 0 or size % known:
            raise ShapeError(f"cannot reshape an array of shape {x.shape} into {shape} ({here()}).")
        shape = tuple(size // known if n == -1 else n for n in shape)
    if math.prod(shape) != size:
        raise ShapeError(f"cannot reshape an array of shape {x.shape} into {shape} ({here()}).")
    if order == "F":
        return with_order(transpose(reshape(transpose(x), shape[::-1])), tuple(range(len(shape)))[::-1])
    if order not in ("C", "A", "K"):
        raise ValueError(f"order must be C, F, A or K, not {order!r}")
    if order != "C" and x.ndim > 1:
        raise NoRuleError(
            f"order={order!r} asks how an array lies in memory ({here()}), which traced arrays do not say. "
            "Write 'C' or 'F'."
        )
    if shape == x.shape:
        return x
    if type(x) is np.ndarray:
        return x.reshape(shape)
    if shape == () and x.dtype == FLOAT64:
        return x[(0,) * x.ndim]
    return apply_primitive(prim.RESHAPE, (shape,), x)


@implements(np.ravel)
def ravel(x: Any, order: str = "C") -> Any:
    x = as_traced(x)
    return x if x.ndim == 1 and order in ("C", "F", "A", "K") else reshape(x, (x.size,), order)


# ---- axes in another order ------------------------------------------------------------------------------------------


def _permuted(x: Any, order: tuple[int, ...]) -> Any:
    if type(x) is np.ndarray:
        return x.transpose(order)
    return x if order == tuple(range(x.ndim)) else apply_primitive(prim.TRANSPOSE, (order,), x)


@implements(np.transpose)
def transpose(x: Any, axes: Sequence[int] | None = None) -> Any:
    x = as_traced(x)
    return _permuted(x, axes_in_order(x, axes))


@implements(np.swapaxes)
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    return _permuted(x, axes_swapped(x, axis1, axis2))


@implements(np.moveaxis)
def moveaxis(a: Any, source: Axis, destination: Axis) -> Any:
    a = as_traced(a)
    return _permuted(a, axes_moved(a, source, destination))


@implements(np.rollaxis)
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    return _permuted(a, axes_rolled(a, axis, start))


@implements(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return FUNCTIONS[np.swapaxes](x, -1, -2)


def _at_least(ndim: int, widen: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Callable[..., Any]:
    """``atleast_1d`` and related functions: one array, or a tuple of them."""

    def implementation(*arrays: Any) -> Any:
        found = [as_traced(x) for x in arrays]
        found = [x if x.ndim >= ndim else reshape(x, widen(tuple(x.shape))) for x in found]
        return found[0] if len(found) == 1 else tuple(found)

    return implementation


atleast_1d = implements(np.atleast_1d)(_at_least(1, lambda shape: (1,)))
atleast_2d = implements(np.atleast_2d)(_at_least(2, lambda shape: (1, *(shape or (1,)))))
atleast_3d = implements(np.atleast_3d)(
    _at_least(3, lambda shape: (*shape, 1) if len(shape) == 2 else (1, *(shape or (1,)), 1))
)


@implements(np.broadcast_to)
def broadcast_to(x: Any, shape: SupportsIndex | tuple[int, ...] | list[int], subok: bool = False) -> Any:
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
    if x.shape == shape:
        return x
    if type(x) is np.ndarray:
        return np.broadcast_to(x, shape)
    if broadcast_shapes(x.shape, shape) != shape:
        raise ShapeError(f"cannot broadcast shape {x.shape} to {shape} ({here()}).")
    return apply_primitive(prim.BROADCAST_TO, (shape,), x)


@implements(np.expand_dims)
def expand_dims(x: Any, axis: int | Sequence[int]) -> Any:
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    axes = normal_axes(axis, x.ndim + count)
    rest = iter(x.shape)
    return reshape(x, tuple(1 if d in axes else next(rest) for d in range(x.ndim + count)))


@implements(np.squeeze)
def squeeze(x: Any, axis: Axis = None) -> Any:
    axes = normal_axes(axis, x.ndim) if axis is not None else tuple(d for d, n in enumerate(x.shape) if n == 1)
    if any(x.shape[d] != 1 for d in axes):
        raise ValueError(f"cannot squeeze axis {axis} of shape {x.shape}: its length is not 1")
    return reshape(x, tuple(n for d, n in enumerate(x.shape) if d not in axes))


@implements(np.shape)
def shape(x: Any) -> tuple[int, ...]:
    return tuple((x if type(x) is Array else as_traced(x)).shape)


@implements(np.ndim)
def ndim(x: Any) -> int:
    return int(as_traced(x).ndim)


@implements(np.size)
def size(x: Any, axis: int | None = None) -> int:
    return int(as_traced(x).size if axis is None else as_traced(x).shape[axis])


@implements(np.copy)
def copy_array(x: Any, order: str = "K", subok: bool = False) -> Any:
    """A copy that can be written to; of a number too, of which NumPy makes an array of no dimensions."""
    return as_written_to(copy(x, order))


@implements(method="copy")
def copy(x: Any, order: str = "C", subok: bool = False) -> Any:
    if not isinstance(x, Array):
        return x
    return copied_in_order(x, order) if x.ndim > 1 else copy_of(x)


@implements(method="flatten")
def flatten(x: Any, order: str = "C") -> Any:
    return flattened(x) if type(x) is Array and order == "C" else copy(ravel(x, order))


@implements(method="astype")
def astype(x: Any, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True) -> Any:
    dtype = np.dtype(dtype)
    if dtype == x.dtype:
        return METHODS["copy"](x, order) if copy or not has_order(x, order) else x
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        raise NoRuleError(
            f"casting a complex traced array to a real one drops its imaginary part ({here()}). Say so with np.real, "
            "or take np.abs."
        )
    if dtype.kind == "c" and x.dtype.kind != "c":
        return apply_primitive(prim.COMPOSE, None, astype(x, prim.real_dtype(dtype)), 0.0)
    return with_order(apply_primitive(prim.ASTYPE, (dtype.str,), x), order_for(x, order))


@implements(np.astype)
def cast_to(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return astype(x, dtype, copy=copy)


@implements(method="to_device")
def to_device(x: Any, device: Any, /, *, stream: Any = None) -> Any:
    np.zeros(0).to_device(device, stream=stream)  # which says so where there is no such device
    return x


@implements(method="tolist")
def tolist(x: Any) -> Any:
    """Lists of traced numbers, which represent those of Python."""
    return item(x) if not x.ndim else [tolist(part) for part in x]


@implements(method="item")
def item(x: Any, *index: Any) -> Any:
    found = _item(x, index)
    return representing(astype(found, OF_PYTHON.get(found.dtype.kind, found.dtype), copy=False), PYTHON_NUMBER)


OF_PYTHON = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128), "i": np.dtype(np.int64)}  # dtypes of its numbers


def _item(x: Any, index: tuple[Any, ...]) -> Any:
    if not index:
        if x.size != 1:
            raise ValueError("can only convert an array of size 1 to a scalar")
        return x if isinstance(x, Scalar) else x[(0,) * x.ndim]
    if isinstance(index[0], tuple):
        return x[index[0]]
    return x[index] if len(index) > 1 else ravel(x)[index[0]]
