"""Arrays made of traced values, and joined."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.graph.tape import intern_aval
from hoad._core.trace.calls import apply_assembly, apply_primitive, joined, stacked
from hoad._core.trace.coerce import check_class, holds_traced
from hoad._core.trace.memory_order import order_for, with_order
from hoad._core.trace.traced import BOXING, MAKERS, METHODS, Array, Scalar, is_traced
from hoad._core.trace.views import as_written_to, constant_like, copy_of
from hoad._numpy.registry import FLOAT64, as_array, as_traced, implements, normal_axes, only_defaults
from hoad._numpy.shape import astype, broadcast_to, ravel, reshape
from hoad._ops import primitives as prim
from hoad.errors import ShapeError


def pack(x: Any) -> Any:
    """One traced array of nested sequences (or an object array) of numbers and traced values."""
    if not holds_traced(x):
        return np.asarray(x, dtype=np.float64)
    if isinstance(x, np.ndarray):
        check_class(x)
        flat = x.ravel().tolist()
        return reshape(_pack_flat(flat), x.shape)
    if all(isinstance(item, (Scalar, float, int, np.generic)) and not isinstance(item, Array) for item in x):
        return _pack_flat(list(x))
    return stack([as_traced(item) for item in x])


def _pack_flat(items: list[Any]) -> Any:
    if not all(type(item) is float or (isinstance(item, Scalar) and item.dtype == FLOAT64) for item in items):
        items = [as_traced(item) for item in items]
        if any(x.ndim for x in items) or np.result_type(*{x.dtype for x in items}) != FLOAT64:
            return stack(items)
        items = [x.astype(FLOAT64) if is_traced(x) else float(x) for x in items]
    offsets = np.arange(len(items), dtype=np.int64)
    return apply_assembly(intern_aval(FLOAT64, (len(items),)), offsets, (), *items)


METHODS["__pack__"] = pack


def started(like: Any, made: np.ndarray, order: Any = None) -> Any:
    """A plain array as a traced one that traced values can be written to, and that lies in memory as it does.

    Integers and booleans stay plain: what is put there has no derivative, and is guarded.
    """
    if made.dtype.kind not in "fc":
        return made
    order = order_for(made, "K") if order is None else order
    found = constant_like(like, np.asarray(made, order="C"))
    return found if order is None else with_order(copy_of(found), order)


def _converted(copies: bool) -> Callable[..., Any]:
    """``array`` and related functions, of numbers and traced values in any mixture."""

    def convert(
        like: Any, x: Any, dtype: Any = None, order: str = "K", *, copy: bool | None = copies, ndmin: int = 0, **_: Any
    ) -> Any:
        made = as_array(x)
        copied = copy in (True, np._CopyMode.ALWAYS)
        if not is_traced(made):
            return started(like, np.array(x, dtype=dtype, order=order, ndmin=ndmin))  # type: ignore[call-overload]
        made = astype(made, made.dtype if dtype is None else dtype, order or "K", copy=copied)
        made = as_written_to(made) if copied else made
        return reshape(made, (1,) * (ndmin - made.ndim) + tuple(made.shape)) if ndmin > made.ndim else made

    return convert


@implements(np.concatenate)
def concatenate(
    arrays: Sequence[Any], /, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    if dtype is None and type(axis) is int and (found := joined(arrays, axis)) is not None:
        return found
    if out is not None:
        only_defaults("concatenate", out=out)
    parts = [as_traced(x) for x in (arrays if isinstance(arrays, (tuple, list)) else list(arrays))]
    if axis is None:
        parts, axis = [x if x.ndim == 1 else ravel(x) for x in parts], 0
    if dtype is None and type(axis) is int and (found := joined(parts, axis)) is not None:
        return found
    ndim = parts[0].ndim
    (axis,) = normal_axes(axis, ndim)
    before, after = parts[0].shape[:axis], parts[0].shape[axis + 1 :]
    for x in parts:
        shape = x.shape
        if len(shape) != ndim or shape[:axis] != before or shape[axis + 1 :] != after:
            raise ShapeError(f"cannot concatenate shapes {[p.shape for p in parts]} along axis {axis} ({here()}).")
    dtypes = {x.dtype for x in parts}
    found = np.result_type(*dtypes) if dtype is None else np.dtype(dtype)
    if dtypes != {found}:
        if not all(np.can_cast(kind, found, casting) for kind in dtypes):  # type: ignore[arg-type]
            raise TypeError(f"np.concatenate cannot cast its arrays to {found} by the rule {casting!r} ({here()}).")
        parts = [x.astype(found) for x in parts]
    return apply_primitive(prim.JOIN, (axis,), *parts)


@implements(np.stack)
def stack(
    arrays: Sequence[Any], axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    if dtype is None and type(axis) is int and (found := stacked(arrays, axis)) is not None:
        return found
    if out is not None:
        only_defaults("stack", out=out)
    parts = [as_traced(x) for x in arrays]
    if any(x.shape != parts[0].shape for x in parts):
        raise ShapeError(f"cannot stack shapes {[x.shape for x in parts]}: all must be equal ({here()}).")
    (axis,) = normal_axes(axis, parts[0].ndim + 1)
    if parts[0].ndim == 0 and dtype is None and all(x.dtype == FLOAT64 for x in parts):
        return _pack_flat(parts)
    shape = (*parts[0].shape[:axis], 1, *parts[0].shape[axis:])
    return concatenate(
        [reshape(x, shape) if is_traced(x) else x.reshape(shape) for x in parts],
        axis,
        None,
        dtype=dtype,
        casting=casting,
    )


def _filled(fill: Callable[..., Any]) -> Callable[..., Any]:
    """``zeros_like`` and related functions."""

    def make(
        x: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
    ) -> Any:
        x = as_traced(x)
        made = fill(x.shape if shape is None else shape, dtype=x.dtype if dtype is None else dtype)
        return started(x, made, _order_like(x, order, made))

    return make


def _order_like(x: Any, order: str, made: Any) -> Any:
    """The order of the axes in memory of an array that is made like x."""
    return order_for(x, order) if made.shape == x.shape else order_for(made, order if order == "F" else "C")


implements(np.zeros_like, np.empty_like)(_filled(np.zeros))
implements(np.ones_like)(_filled(np.ones))


@implements(np.full_like)
def full_like(
    x: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    x = as_traced(x)
    made = full(x, x.shape if shape is None else shape, fill_value, x.dtype if dtype is None else dtype)
    found = _order_like(x, order, made)
    return made if found is None or not isinstance(made, Array) else with_order(copy_of(made), found)


def full(like: Any, shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    if not is_traced(fill_value):
        fill: Any = np.full
        return started(like, fill(shape, fill_value, dtype, order))
    made = broadcast_to(astype(fill_value, fill_value.dtype if dtype is None else dtype), shape)
    return as_written_to(astype(made, made.dtype, order))


def _made(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda like, *args, device=None, **kwargs: started(like, function(*args, **kwargs))


def _required(like: Any, x: Any, dtype: Any = None, requirements: Any = None) -> Any:
    asked = {str(what).upper()[0] for what in requirements or ()}
    return MAKERS[np.asarray](like, x, dtype, "F" if "F" in asked else "C" if "C" in asked else "K")


def _from_items(like: Any, iterable: Any, dtype: Any, count: int = -1) -> Any:
    items = list(itertools.islice(iterable, count if count >= 0 else None))
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return MAKERS[np.array](like, items, dtype)


def _from_function(like: Any, function: Any, shape: Any, *, dtype: Any = float, **options: Any) -> Any:
    made = np.fromfunction(function, shape, dtype=dtype, **options)
    return made if is_traced(made) else started(like, np.asarray(made))


def _declare_makers() -> None:
    functions: tuple[Any, ...] = (np.zeros, np.ones, np.eye, np.identity, np.tri)
    for function in functions:
        MAKERS[function] = _made(function)
    MAKERS[np.empty] = MAKERS[np.zeros]  # of what is never written, hoad says zero and NumPy nothing
    MAKERS[np.full] = full
    MAKERS[np.array] = _converted(True)
    for function in (np.asarray, np.asanyarray):
        MAKERS[function] = _converted(False)
    for function, order in ((np.ascontiguousarray, "C"), (np.asfortranarray, "F")):  # of one axis at least
        MAKERS[function] = lambda like, x, dtype=None, order=order: np.atleast_1d(
            MAKERS[np.asarray](like, x, dtype, order)
        )
    MAKERS[np.require] = _required
    MAKERS[np.fromiter] = _from_items
    MAKERS[np.fromfunction] = _from_function
    readers: tuple[Any, ...] = (np.frombuffer, np.fromstring, np.fromfile, np.loadtxt, np.genfromtxt)
    for function in readers:
        MAKERS[function] = _made(function)


_declare_makers()
BOXING.update((np.where, np.select, np.piecewise, np.copy, np.reshape, np.broadcast_to, np.squeeze))
BOXING.add(np.real_if_close)
BOXING.update((np.zeros_like, np.ones_like, np.empty_like, np.full_like))
