"""Evenly spaced numbers between ends that are traced, by the arithmetic of NumPy, so that the last bit is its too."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from hoad._core.trace.memory_order import order_for, with_order
from hoad._core.trace.traced import MAKERS, is_traced
from hoad._core.trace.views import as_written_to
from hoad._numpy.creation import concatenate, started
from hoad._numpy.indexing import where
from hoad._numpy.registry import as_traced, decided, implements, stand_in
from hoad._numpy.shape import broadcast_to, reshape


def _dtype_of(*ends: Any) -> Any:
    """The inexact dtype that NumPy computes in: numbers of Python take that of what they meet."""
    return np.result_type(*[stand_in(x if _is_number(x) else as_traced(x)) for x in ends], 1.0)


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, complex)) and not isinstance(x, np.generic)


def _lying_as(y: Any, parts: list[Any]) -> Any:
    """The parts one after another, in the order in memory of y, whose ends NumPy writes over."""
    return with_order(concatenate(parts), order_for(y, "K"))


@implements(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    count = operator.index(num)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    found_in = _dtype_of(start, stop)
    start, stop = as_traced(start).astype(found_in), as_traced(stop).astype(found_in)
    delta = np.subtract(stop, start)
    steps = count - 1 if endpoint else count
    step = delta / steps if steps > 0 else np.nan
    turns = np.arange(0, count, dtype=found_in).reshape((-1,) + (1,) * delta.ndim)
    y = turns * (step if steps > 0 else delta)
    if steps > 0:  # a step of zero may be one that is too small, where NumPy works in another order
        is_zero = np.equal(step, 0)
        y = where(np.any(is_zero) if np.ndim(step) else is_zero, turns / steps * delta, y)
    y = y + start
    if endpoint and count > 1:
        y = _lying_as(
            y, [y[:-1], broadcast_to(reshape(stop, (1,) * (y.ndim - stop.ndim) + stop.shape), (1, *y.shape[1:]))]
        )
    y = np.moveaxis(y, 0, axis) if axis != 0 else y  # a view, as NumPy's
    if dtype is not None and np.issubdtype(dtype, np.integer):
        y = np.floor(y)
    y = y if dtype is None else y.astype(dtype)
    return (y, step) if retstep else y


@implements(np.logspace)
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    if not isinstance(base, (int, float)) and np.ndim(base):
        parts = [as_traced(x) for x in (start, stop, base)]
        ndim = max(x.ndim for x in parts)
        start, stop, base = (reshape(x, (1,) * (ndim - x.ndim) + tuple(x.shape)) for x in parts)
        base = np.expand_dims(base, axis)
    y = np.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return y if dtype is None else y.astype(dtype)


@implements(np.geomspace)
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    count = operator.index(num)
    start, stop = as_traced(start), as_traced(stop)
    if np.any(np.equal(start, 0)) or np.any(np.equal(stop, 0)):
        raise ValueError("Geometric sequence cannot include zero")
    found_in = np.result_type(start.dtype, stop.dtype, float(count), np.zeros((), dtype))
    start, stop = start.astype(found_in), stop.astype(found_in)
    sign = np.sign(start)
    start, stop = start / sign, stop / sign
    y = logspace(np.log10(start), np.log10(stop), count, endpoint).astype(found_in)
    shape = (1, *y.shape[1:])
    ends = [broadcast_to(reshape(x, (1,) * (y.ndim - x.ndim) + tuple(x.shape)), shape) for x in (start, stop)]
    if count > 1:
        y = _lying_as(y, [ends[0], y[1:-1], ends[1]] if endpoint else [ends[0], y[1:]])
    elif count:
        y = ends[0]
    y = y * sign
    y = np.moveaxis(y, 0, axis) if axis != 0 else y  # a view, as NumPy's
    return y.astype(found_in if dtype is None else dtype)


def arange(like: Any, *ends: Any, step: Any = None, dtype: Any = None, device: Any = None, **named: Any) -> Any:
    """``np.arange(..., like=x)``; how many there are is guarded."""
    start, stop, step = _three(*ends, step=step, **named)
    if not any(is_traced(x) for x in (start, stop, step)):
        return started(like, np.arange(start, stop, step, dtype=dtype))
    made_of = np.dtype(dtype or np.result_type(int, *[as_traced(x).dtype for x in (start, stop, step)]))
    length = np.subtract(stop, start)
    turns = np.divide(length, step)
    if not np.isfinite(turns):
        raise ValueError("arange: cannot compute length")
    lost = np.logical_and(np.equal(turns, 0), np.not_equal(length, 0))  # in the quotient, which is too small
    count = where(np.logical_and(lost, np.logical_not(np.signbit(turns))), 1.0, np.ceil(turns))
    n = max(int(decided(as_traced(count).astype(np.int64))), 0)
    first, second = (as_traced(x).astype(made_of) for x in (start, np.add(start, step)))
    made = first + np.arange(n).astype(made_of) * (second - first)
    if n:  # the first is as it is given, also -0.0 and beside an infinite step
        made = np.concatenate([np.reshape(first, (1,)), made[1:]])
    return as_written_to(made.astype(made_of))


def _three(*ends: Any, start: Any = None, stop: Any = None, step: Any = None) -> tuple[Any, Any, Any]:
    """Start, stop and step, of which the first alone is where it stops."""
    given = [*ends, *[None] * (3 - len(ends))]
    start, stop, step = (x if x is not None else y for x, y in zip(given, (start, stop, step), strict=True))
    if stop is None:
        start, stop = 0, start
    return (0 if start is None else start), stop, (1 if step is None else step)


MAKERS[np.arange] = arange
