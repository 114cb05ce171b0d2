"""Reductions, and bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.graph.primitive import Primitive
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.traced import METHODS, REDUCTIONS, Scalar
from hoad._numpy.creation import concatenate
from hoad._numpy.registry import Axis, as_traced, implements, normal_axes, only_defaults, reduced_axes
from hoad._numpy.shape import astype, copy, reshape, transpose
from hoad._numpy.spectra import determinant, total
from hoad._ops import primitives as prim


def _reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    if keepdims:
        return tuple(1 if d in axes else n for d, n in enumerate(shape))
    return tuple(n for d, n in enumerate(shape) if d not in axes)


def _keeps(keepdims: Any) -> bool:
    return bool(keepdims) and keepdims is not np._NoValue


def _reduce(primitive: Primitive, x: Any, axis: Axis, keepdims: Any) -> Any:
    axes = reduced_axes(axis, x.ndim)
    shape = _reduced_shape(x.shape, axes, _keeps(keepdims))
    if isinstance(x, Scalar) or not axes:
        return copy(x)
    if primitive is not prim.SUM and math.prod(x.shape[a] for a in axes) == 0:
        raise ValueError(f"zero-size array to reduction operation {primitive.name} which has no identity")
    if primitive is prim.SUM and (found := total(x, axes)) is not None:
        return reshape(found, shape)
    return apply_primitive(primitive, (axes, shape), x)


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
    if out is not None or initial is not None or where is not None:
        only_defaults("sum", out=out, initial=initial, where=where)
    x = as_traced(x)
    if dtype is not None:
        x = astype(x, dtype)
    elif x.dtype.kind in "biu":
        x = astype(x, np.sum(np.zeros(0, x.dtype)).dtype)
    return _reduce(prim.SUM, x, axis, keepdims)


METHODS["sum"] = sum
REDUCTIONS[np.add] = lambda x, axis=0, *args, **options: sum(x, axis, *args, **options)


@implements(np.mean, method="mean")
def mean(
    x: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None
) -> Any:
    if out is not None or where is not None:
        only_defaults("mean", out=out, where=where)
    x = as_traced(x)
    if dtype is not None or x.dtype.kind in "biu":
        x = astype(x, dtype or np.float64)
    axes = normal_axes(axis, x.ndim)
    return _reduce(prim.SUM, x, axes, keepdims) / math.prod([x.shape[a] for a in axes])


def _extremum(name: str, primitive: Primitive) -> Callable[..., Any]:
    def implementation(
        x: Any, axis: Axis = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
    ) -> Any:
        only_defaults(name, out=out, initial=initial, where=where)
        return _reduce(primitive, as_traced(x), axis, keepdims)

    return implementation


max = implements(np.max, np.amax, method="max")(_extremum("max", prim.MAX))
min = implements(np.min, np.amin, method="min")(_extremum("min", prim.MIN))
REDUCTIONS[np.maximum] = lambda x, axis=0, dtype=None, *args, **options: max(x, axis, *args, **options)
REDUCTIONS[np.minimum] = lambda x, axis=0, dtype=None, *args, **options: min(x, axis, *args, **options)


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
    only_defaults("prod", out=out, initial=initial, where=where)
    x = as_traced(x)
    if dtype is not None or x.dtype.kind in "biu":
        x = astype(x, dtype or np.prod(np.zeros(0, x.dtype)).dtype)
    axes = reduced_axes(axis, x.ndim)
    if isinstance(x, Scalar):
        return x
    kept = [d for d in range(x.ndim) if d not in axes]
    shape = _reduced_shape(x.shape, axes, _keeps(keepdims))
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


@implements(np.round, np.around, method="round")
def round(x: Any, decimals: int = 0, out: Any = None) -> Any:
    only_defaults("round", out=out)
    scale = 10.0**decimals
    return np.rint(x * scale) / scale
