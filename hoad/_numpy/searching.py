"""Where something stands: places are nodes without derivative, found again when a program is replayed.

Where there are as many places as the values say, the values that say so are guarded, and the places are plain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.traced import FUNCTIONS, is_traced
from hoad._numpy.indexing import nonzero, where
from hoad._numpy.registry import Axis, as_traced, decided, implements, only_defaults, reduced_axes
from hoad._numpy.shape import ravel, reshape
from hoad._ops import primitives as prim
from hoad.errors import ShapeError


def _place(name: str, primitive: Any) -> Callable[..., Any]:
    def implementation(a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Any:
        if out is not None:
            only_defaults(name, out=out)
        a = as_traced(a)
        if axis is not None:
            (axis,) = reduced_axes(axis, a.ndim) or (None,)
        if not (a.size if axis is None else a.shape[axis]):
            raise ShapeError(f"np.{name} of an empty array has no place to give ({here()}): its shape is {a.shape}.")
        return apply_primitive(primitive, (axis, keepdims is True), a)

    return implementation


implements(np.argmax, method="argmax")(_place("argmax", prim.ARGMAX))
implements(np.argmin, method="argmin")(_place("argmin", prim.ARGMIN))


def _place_without_nan(name: str, place: Callable[..., Any], least: float) -> Callable[..., Any]:
    def implementation(a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Any:
        only_defaults(name, out=out)
        a = as_traced(a)
        if a.dtype.kind in "fc":
            missing = np.isnan(a)
            if a.size and np.any(np.all(missing, axis=axis)):
                raise ValueError("All-NaN slice encountered")
            a = where(missing, least, a)
        return place(a, axis, keepdims=keepdims)

    return implementation


implements(np.nanargmax)(_place_without_nan("nanargmax", FUNCTIONS[np.argmax], -np.inf))
implements(np.nanargmin)(_place_without_nan("nanargmin", FUNCTIONS[np.argmin], np.inf))


@implements(np.searchsorted, method="searchsorted")
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    if sorter is not None:
        only_defaults("searchsorted", sorter=sorter)
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted takes side='left' or 'right', not {side!r}.")
    a = as_traced(a)
    if a.ndim != 1:
        raise ShapeError(f"np.searchsorted takes a sorted vector, but found shape {a.shape} ({here()}).")
    return apply_primitive(prim.SEARCHSORTED, (side,), a, as_traced(v))


@implements(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    x, bins = as_traced(x), as_traced(bins)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if bins.dtype.kind == "c":
        raise TypeError("bins may not be complex")
    if bins.ndim != 1:
        raise ValueError("object of too small depth for desired array" if not bins.ndim else "bins must be a vector")
    side = "left" if right else "right"
    if _rise(bins):
        return searchsorted(bins, x, side)
    return bins.shape[0] - searchsorted(bins[::-1], x, side)


def _rise(bins: Any) -> bool:
    """Whether bins rise, as NumPy has it where nan is among them; guarded. Raises where they neither rise nor fall."""
    if not is_traced(bins) and np.count_nonzero(bins[:-1] <= bins[1:]) == bins.size - 1:
        return True
    rising, falling = (decided(np.less(*ends)) for ends in ((bins[:-1], bins[1:]), (bins[1:], bins[:-1])))
    parted = np.flatnonzero(np.logical_not(decided(np.equal(bins[1:], bins[:-1]))))
    if not parted.size:
        return True
    first = int(parted[0])
    rises = bool(rising[first])
    if np.any((falling if rises else rising)[first + 1 :]):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return rises


@implements(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    parts = [as_traced(x) for x in (keys if isinstance(keys, (tuple, list)) else [keys[k] for k in range(len(keys))])]
    return apply_primitive(prim.LEXSORT, (axis,), *parts)


# ---- what is not zero -----------------------------------------------------------------------------------------------


@implements(np.count_nonzero)
def count_nonzero(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    a = as_traced(a)
    return np.sum((a if a.dtype == bool else np.not_equal(a, 0)).astype(np.intp), axis, keepdims=keepdims)


@implements(np.flatnonzero)
def flatnonzero(a: Any) -> Any:
    return nonzero(ravel(as_traced(a)))[0]


@implements(np.argwhere)
def argwhere(a: Any) -> Any:
    a = as_traced(a)
    return np.transpose(nonzero(a)) if a.ndim else np.transpose(nonzero(reshape(a, (1,))))[:, :0]


# ---- flat places and indices ----------------------------------------------------------------------------------------


@implements(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    dims = tuple(int(n) for n in dims) if isinstance(dims, (tuple, list, np.ndarray)) else (int(dims),)
    mode = tuple(mode) if isinstance(mode, (tuple, list)) else mode
    return apply_primitive(prim.RAVEL_MULTI_INDEX, (dims, mode, order), *[as_traced(k) for k in multi_index])


@implements(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    shape = tuple(int(n) for n in shape) if isinstance(shape, (tuple, list, np.ndarray)) else (int(shape),)
    if not shape:
        return np.unravel_index(decided(as_traced(indices)), ())
    found = apply_primitive(prim.UNRAVEL_INDEX, (shape, order), as_traced(indices))
    return tuple(found[k] for k in range(len(shape)))


@implements(np.ix_)
def ix_(*args: Any) -> tuple[Any, ...]:
    """Places stay traced; those of a mask are plain."""
    parts = []
    for k, x in enumerate(args):
        x = np.zeros(0, np.intp) if not np.size(x) and not hasattr(x, "dtype") else as_traced(x)
        if x.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if x.dtype == bool:
            (x,) = nonzero(x)
        parts.append(np.reshape(x, (1,) * k + (x.size,) + (1,) * (len(args) - k - 1)))
    return tuple(parts)


# ---- bits -----------------------------------------------------------------------------------------------------------


@implements(np.packbits)
def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Any:
    return apply_primitive(prim.PACKBITS, (axis, bitorder), as_traced(a))


@implements(np.unpackbits)
def unpackbits(a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Any:
    return apply_primitive(prim.UNPACKBITS, (axis, count, bitorder), as_traced(a))
