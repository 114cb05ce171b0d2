"""Reductions, and bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.graph.primitive import Primitive
from hoad._core.trace.calls import apply_primitive, reduced
from hoad._core.trace.traced import METHODS, REDUCTIONS, Scalar
from hoad._numpy.creation import concatenate
from hoad._numpy.indexing import where as choose_where
from hoad._numpy.registry import (
    Axis,
    as_traced,
    implements,
    is_given,
    keeps_axes,
    normal_axes,
    only_defaults,
    reduced_axes,
)
from hoad._numpy.shape import astype, broadcast_to, copy, reshape, transpose
from hoad._numpy.spectra import determinant, total
from hoad._ops import primitives as prim


def _reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    if keepdims:
        return tuple(1 if d in axes else n for d, n in enumerate(shape))
    if len(axes) == 1:
        return shape[: axes[0]] + shape[axes[0] + 1 :]
    return tuple(n for d, n in enumerate(shape) if d not in axes)


def _reduce(primitive: Primitive, x: Any, axis: Axis, keepdims: Any) -> Any:
    axes = reduced_axes(axis, x.ndim)
    shape = () if axis is None and not keeps_axes(keepdims) else _reduced_shape(x.shape, axes, keeps_axes(keepdims))
    if not axes:
        return copy(x)
    if primitive is not prim.SUM and x.size == 0 and math.prod(x.shape[a] for a in axes) == 0:
        raise ValueError(f"zero-size array to reduction operation {primitive.name} which has no identity")
    if primitive is prim.SUM and (found := total(x, axes)) is not None:
        return reshape(found, shape)
    return apply_primitive(primitive, (axes, shape), x)


def masked(x: Any, where: Any, filling: Any) -> Any:
    """x, with a number in place of the items that do not count."""
    return choose_where(mask_of(x, where), x, np.asarray(filling, x.dtype))


def mask_of(x: Any, where: Any) -> Any:
    """Which items of x count."""
    return broadcast_to(as_traced(where).astype(bool), tuple(x.shape))


def _from(combine: np.ufunc, initial: Any, found: Any) -> Any:
    """What a reduction gives that begins with `initial`."""
    return found if not is_given(initial) else combine(as_traced(initial).astype(found.dtype), found)


@implements(np.sum)
def sum(
    x: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    is_plain = dtype is None and out is None and initial is None and where is None
    if is_plain and (found := reduced(prim.SUM, x, axis, keepdims)) is not None:
        return found
    x = as_traced(x)
    if dtype is not None:
        x = astype(x, dtype)
    elif x.dtype.kind in "biu" and x.dtype.itemsize < np.dtype(np.intp).itemsize:
        x = astype(x, np.uintp if x.dtype.kind == "u" else np.intp)
    if out is None and initial is None and where is None:
        return _reduce(prim.SUM, x, axis, keepdims)
    only_defaults("sum", out=out)
    return _from(np.add, initial, _reduce(prim.SUM, masked(x, where, 0) if is_given(where) else x, axis, keepdims))


METHODS["sum"] = sum
REDUCTIONS[np.add] = lambda x, axis=0, *args, **options: sum(x, axis, *args, **options)


@implements(np.mean, method="mean")
def mean(
    x: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None
) -> Any:
    if out is not None:
        only_defaults("mean", out=out)
    is_plain = dtype is None and (where is None or where is np._NoValue)
    if is_plain and (found := reduced(prim.SUM, x, axis, keepdims)) is not None:
        return found / math.prod([x.shape[d] for d in normal_axes(axis, x.ndim)])
    x = as_traced(x)
    if dtype is not None or x.dtype.kind in "biu":
        x = astype(x, dtype or np.float64)
    axes = normal_axes(axis, x.ndim)
    if is_given(where):
        count = sum(mask_of(x, where).astype(prim.real_dtype(x.dtype)), axes, keepdims=keepdims)
        return _reduce(prim.SUM, masked(x, where, 0), axes, keepdims) / count
    return _reduce(prim.SUM, x, axis, keepdims) / math.prod([x.shape[a] for a in axes])


def lowest(dtype: np.dtype[Any], sign: int = 1) -> Any:
    """What every number of a dtype is at least (or at most, where the sign is -1)."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if sign > 0 else np.iinfo(dtype).max
    return sign < 0 if dtype.kind == "b" else -sign * np.inf


def _extremum(name: str, primitive: Primitive, combine: np.ufunc, sign: int) -> Callable[..., Any]:
    """``max`` or ``min``: where `initial` is as far as an item, each counts by half, as of two."""

    def implementation(
        x: Any, axis: Axis = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
    ) -> Any:
        if out is not None:
            only_defaults(name, out=out)
        if not is_given(where) and not is_given(initial):
            found = reduced(primitive, x, axis, keepdims)
            return _reduce(primitive, as_traced(x), axis, keepdims) if found is None else found
        x = as_traced(x)
        if is_given(where):
            if not is_given(initial):
                raise ValueError(
                    f"reduction operation '{combine.__name__}' does not have an identity, so to use a where mask one "
                    "has to specify 'initial'"
                )
            x = masked(x, where, lowest(x.dtype, sign))
        axes = reduced_axes(axis, x.ndim)
        if is_given(initial) and math.prod(x.shape[d] for d in axes) == 0:
            return broadcast_to(as_traced(initial).astype(x.dtype), _reduced_shape(x.shape, axes, keeps_axes(keepdims)))
        return _from(combine, initial, _reduce(primitive, x, axis, keepdims))

    return implementation


max = implements(np.max, np.amax, method="max")(_extremum("max", prim.MAX, np.maximum, 1))
min = implements(np.min, np.amin, method="min")(_extremum("min", prim.MIN, np.minimum, -1))


def in_dtype(x: Any, dtype: Any) -> Any:
    """x, in a dtype if there is one."""
    return x if dtype is None else as_traced(x).astype(dtype)


REDUCTIONS[np.maximum] = lambda x, axis=0, dtype=None, *args, **options: max(in_dtype(x, dtype), axis, *args, **options)
REDUCTIONS[np.minimum] = lambda x, axis=0, dtype=None, *args, **options: min(in_dtype(x, dtype), axis, *args, **options)


@implements(np.prod, method="prod")
def prod(
    x: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """A balanced tree of products: exact where factors are zero, at every order."""
    only_defaults("prod", out=out)
    x = as_traced(x)
    if dtype is not None or x.dtype.kind in "biu":
        x = astype(x, dtype or np.prod(np.zeros(0, x.dtype)).dtype)
    if is_given(where) or is_given(initial):
        return _from(np.multiply, initial, prod(masked(x, where, 1) if is_given(where) else x, axis, keepdims=keepdims))
    axes = reduced_axes(axis, x.ndim)
    if isinstance(x, Scalar):
        return x
    kept = [d for d in range(x.ndim) if d not in axes]
    shape = _reduced_shape(x.shape, axes, keeps_axes(keepdims))
    if axes == (x.ndim - 1,) and (found := determinant(x)) is not None:
        return reshape(found, shape)
    count = math.prod(x.shape[d] for d in axes)
    factors = reshape(transpose(x, (*axes, *kept)), (count, *[x.shape[d] for d in kept]))
    if count == 0:
        return np.ones(shape, x.dtype)
    while count > 1:
        half = count // 2
        product = factors[:half] * factors[half : 2 * half]
        factors = product if count % 2 == 0 else concatenate([product, factors[2 * half :]])
        count -= half
    return reshape(factors, shape)


REDUCTIONS[np.multiply] = lambda x, axis=0, *args, **options: prod(x, axis, *args, **options)


@implements(np.clip, method="clip")
def clip(
    x: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None, **options: Any
) -> Any:
    only_defaults("clip", out=out, **options)
    if (a_min is not None or a_max is not None) and (min is not None or max is not None):
        raise ValueError("np.clip takes either a_min and a_max or min and max, not both")
    low = min if a_min is None or a_min is np._NoValue else a_min
    high = max if a_max is None or a_max is np._NoValue else a_max
    x = as_traced(x)
    if low is not None:
        x = np.maximum(x, low)
    return copy(x) if high is None else np.minimum(x, high)


@implements(np.fix)
def fix(x: Any, out: Any = None) -> Any:
    only_defaults("fix", out=out)
    return np.trunc(as_traced(x))


@implements(np.round, np.around, method="round")
def round(x: Any, decimals: int = 0, out: Any = None) -> Any:
    only_defaults("round", out=out)
    scale = 10.0**decimals
    return np.rint(x * scale) / scale
