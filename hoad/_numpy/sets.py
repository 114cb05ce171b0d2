"""Vectors as sets: which items there are is decided and guarded; the items themselves are selected, and live on.

Of items that are equal the first is selected, and takes all of the derivative.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.errors import keeps_zero
from hoad._core.trace.traced import Array, graph_of
from hoad._numpy.creation import concatenate
from hoad._numpy.indexing import nonzero
from hoad._numpy.logic import isin
from hoad._numpy.rearranging import argsort, gather, sort, take
from hoad._numpy.registry import as_array, as_traced, decided, implements, normal_axes, normal_axis
from hoad._numpy.shape import moveaxis, ravel, reshape
from hoad._ops import primitives as prim

# From NumPy 2.3 on, items that are not asked to be sorted come in an order of their own.
UNSORTED = "sorted" in inspect.signature(np.unique).parameters


# Of two along an axis; older versions compare bytes there.
NAN_ALONG_AXES = np.unique([np.nan, np.nan], axis=0).size


@implements(np.unique)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    x = as_traced(ar)
    equal_nan = equal_nan and (axis is None or NAN_ALONG_AXES == 1)
    wanted = (return_index, return_inverse, return_counts)
    d = None if axis is None else normal_axis(axis, x.ndim)
    if x.size == 0:
        plain: Any = np.unique  # of which NumPy's own types know the results one by one
        return plain(np.zeros(x.shape, x.dtype), *wanted, axis, equal_nan=equal_nan)
    if d is None or x.ndim == 1:
        flat = x if x.ndim == 1 else ravel(x)
        order = argsort(flat) if return_index or return_inverse else None
        first = decided(apply_primitive(prim.NEW_ITEMS, (bool(equal_nan),), flat))
    else:
        flat = moveaxis(x, d, 0)
        rows = reshape(flat, (flat.shape[0], -1))
        order = apply_primitive(prim.ROW_ORDER, None, rows)
        first = _first_rows(take(rows, order, 0))
    (kept,) = first.nonzero()
    is_flat = d is None or x.ndim == 1
    if return_index or not is_flat:
        places = take(order, kept)
    else:
        options = (("equal_nan", bool(equal_nan)), *([("sorted", bool(sorted))] if UNSORTED else []))
        places = apply_primitive(prim.UNIQUE_PLACES, (kept.size, (return_inverse, return_counts), options), flat)
    found = [gather(flat, places) if is_flat else moveaxis(take(flat, places, 0), 0, d)]
    if return_index:
        found.append(places)
    if return_inverse:
        inverse = take(np.cumsum(first) - 1, argsort(order))
        found.append(reshape(inverse, tuple(x.shape)) if axis is None else inverse)
    if return_counts:
        found.append(np.diff(kept, append=first.size))
    return tuple(found) if len(found) > 1 else found[0]


def _first_rows(rows: Any) -> np.ndarray:
    """Which of sorted rows are another than the one before them."""
    return np.concatenate([[True], decided(np.any(np.not_equal(rows[1:], rows[:-1]), axis=1))])


def _named(function: Callable[..., Any], **wanted: bool) -> None:
    """``unique_all`` and related functions, which give a tuple with names."""

    @implements(function)
    def implementation(x: Any) -> Any:
        found = unique(x, **wanted, equal_nan=False, sorted=bool(wanted))
        return type(function(np.zeros(1)))(*found) if wanted else found


_named(np.unique_all, return_index=True, return_inverse=True, return_counts=True)
_named(np.unique_counts, return_counts=True)
_named(np.unique_inverse, return_inverse=True)
_named(np.unique_values)


@implements(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    return unique(concatenate([as_traced(ar1), as_traced(ar2)], axis=None))


@implements(np.intersect1d)
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The items of the first."""
    parts = [ravel(as_traced(x)) for x in (ar1, ar2)]
    if not assume_unique:
        parts, places = map(list, zip(*[unique(x, return_index=True) for x in parts], strict=True))
    both = concatenate(parts)
    order = argsort(both)
    items = take(both, order)
    met = np.flatnonzero(decided(np.equal(items[1:], items[:-1])))
    found = take(items, met)
    if not return_indices:
        return found
    where = [take(order, met), take(order, met + 1) - parts[0].size]
    if not assume_unique:  # wrapped, because a replay comes here before a guard finds that other items are met
        where = [take(p, k, mode="wrap") for p, k in zip(places, where, strict=True)]
    return (found, *where)


@implements(np.setxor1d)
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    parts = [as_traced(x) if assume_unique else unique(x) for x in (ar1, ar2)]
    both = concatenate(parts, axis=None)
    if both.size == 0:
        return both
    items = sort(both)
    new = np.concatenate([[True], decided(np.not_equal(items[1:], items[:-1])), [True]])
    return take(items, np.flatnonzero(new[1:] & new[:-1]))


@implements(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    first = ravel(as_traced(ar1)) if assume_unique else unique(ar1)
    second = as_traced(ar2) if assume_unique else unique(ar2)
    return take(first, np.flatnonzero(decided(isin(first, second, assume_unique=True, invert=True))))


@implements(np.sort_complex)
def sort_complex(a: Any) -> Any:
    found = sort(as_traced(a))
    return found if found.dtype.kind == "c" else found.astype(np.sort_complex(np.zeros(1, found.dtype)).dtype)


@implements(np.trim_zeros)
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """A view of what lies between the outermost items that are not zero."""
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    x = as_array(filt)
    axes = normal_axes(axis, x.ndim)
    if not axes:
        return filt
    index = [slice(None)] * x.ndim
    if isinstance(x, Array) and keeps_zero(graph_of(x)):
        return x
    for d, places in enumerate(nonzero(x)):
        if d in axes and not places.size:
            index[d] = slice(0, 0)
        elif d in axes:
            start = int(places.min()) if "f" in trim else None
            index[d] = slice(start, int(places.max()) + 1 if "b" in trim else None)
    return x[tuple(index)]
