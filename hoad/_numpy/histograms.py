"""Counts of items in bins.

The counts are constant, found again at each replay; their weights are differentiated, and so are edges that lie where
the least and the greatest item say.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from hoad._core.graph.tape import intern_aval
from hoad._core.trace.calls import apply_assembly, apply_primitive
from hoad._core.trace.traced import is_traced
from hoad._numpy.complex import imag, is_complex, real
from hoad._numpy.creation import concatenate
from hoad._numpy.indexing import where
from hoad._numpy.ranges import linspace
from hoad._numpy.rearranging import argsort, take
from hoad._numpy.reductions import max as greatest
from hoad._numpy.reductions import min as least
from hoad._numpy.registry import FLOAT64, as_array, as_traced, decided, implements, stand_in
from hoad._numpy.searching import ravel_multi_index, searchsorted
from hoad._numpy.sequences import cumsum, diff
from hoad._numpy.shape import atleast_2d, ravel, reshape
from hoad._ops import primitives as prim

PLACES = np.zeros(0, np.int64)


@implements(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """The length of the result is guarded."""
    x = as_traced(x)
    weights = None if weights is None else as_traced(weights)
    if not is_traced(x) and weights is not None and weights.dtype.kind in "biuf" and weights.shape == x.shape:
        return _binned(x, weights, np.bincount(x, None, minlength).size)
    empty = None if weights is None else np.zeros(0, weights.dtype)
    np.bincount(np.zeros((0,) * x.ndim, x.dtype), empty, minlength)  # which raises for what NumPy does not take
    if weights is not None and weights.shape != x.shape:
        raise ValueError("The weights and list don't have the same length.")
    if x.size and np.any(np.less(x, 0)):
        raise ValueError("'list' argument must have no negative elements")
    length = max(int(decided(greatest(x))) + 1 if x.size else 0, operator.index(minlength))
    # wrapped, because a replay comes here before a guard finds that the length is another
    return _binned(np.remainder(x.astype(np.int64), length) if length else x, weights, length)


def _binned(places: Any, weights: Any, length: int) -> Any:
    """Weights added up by their places, which are less than `length`, in turn; without weights, how many there are."""
    if weights is None:
        return _binned(places, np.ones(places.shape), length).astype(np.intp)
    if weights.dtype is not FLOAT64:
        weights = weights.astype(np.float64)
    if not (is_traced(places) or is_traced(weights)):
        return np.bincount(places, weights, length)
    made = intern_aval(FLOAT64, (length,))
    places = places if places.dtype is PLACES.dtype else places.astype(np.int64)
    return apply_assembly(made, PLACES, (None,), weights, places)


# ---- edges ----------------------------------------------------------------------------------------------------------


def _ends(a: Any, ends: Any) -> tuple[Any, Any]:
    """Where the first bin begins and the last one ends."""
    if ends is not None:
        first, last = ends
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        found = "supplied"
    else:
        first, last = (least(a), greatest(a)) if a.size else (0, 1)
        found = "autodetected"
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError(f"{found} range of [{first}, {last}] is not finite")
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def _edges(a: Any, bins: Any, ends: Any, weights: Any) -> tuple[Any, bool]:
    """The edges, and whether they are even; how many there are is guarded."""
    bins = bins if isinstance(bins, str) else as_array(bins)
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        given = [] if ends is None else [np.stack([as_traced(x).astype(np.float64) for x in ends])]
        count = int(decided(apply_primitive(prim.BIN_COUNT, (bins,), a, *given)))
    elif bins.ndim == 1:
        if np.any(np.greater(bins[:-1], bins[1:])):
            raise ValueError("`bins` must increase monotonically, when an array")
        return bins, False
    elif bins.ndim:
        raise ValueError("`bins` must be 1d, when an array")
    else:
        try:
            count = operator.index(bins)
        except TypeError as error:
            if is_traced(bins):
                raise
            raise TypeError("`bins` must be an integer, a string, or an array") from error
        if count < 1:
            raise ValueError("`bins` must be positive, when an integer")
    first, last = _ends(a, ends)
    dtype = a.dtype
    if ends is not None or dtype is not FLOAT64:
        dtype = np.result_type(*[stand_in(x) for x in (first, last, a)])
        dtype = np.result_type(dtype, float) if np.issubdtype(dtype, np.integer) else dtype
    edges = linspace(first, last, count + 1, dtype=dtype)
    if decided(np.greater_equal(edges[:-1], edges[1:])).any():
        raise ValueError(f"Too many bins for data range. Cannot create {count} finite-sized bins.")
    return edges, True


def _flat(a: Any, weights: Any) -> tuple[Any, Any]:
    a = as_traced(a)
    a = a.astype(np.uint8) if a.dtype == bool else a
    if weights is not None:
        weights = as_traced(weights)
        if tuple(weights.shape) != tuple(a.shape):
            raise ValueError("weights should have the same shape as a.")
        weights = ravel(weights)
    return (a if a.ndim == 1 else ravel(a)), weights


@implements(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    a, weights = _flat(a, weights)
    return _edges(a, bins, range, weights)[0]


# ---- histograms -----------------------------------------------------------------------------------------------------


@implements(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    a, weights = _flat(a, weights)
    edges, even = _edges(a, bins, range, weights)
    count = edges.shape[0] - 1
    if even and weights is None:
        n = apply_primitive(prim.BIN_COUNTS, None, a, edges)
    elif even:
        place = searchsorted(edges, a, "right") - 1
        place = where(np.equal(a, edges[-1]), count - 1, place)
        outside = np.logical_or(np.less(place, 0), np.greater_equal(place, count))
        place = where(outside, count, place)
        n = _weighed(place, weights, count + 1)[:-1]
    else:  # by running sums, as in NumPy, whose rounding is another
        order = argsort(a)
        a = take(a, order)
        below = concatenate([searchsorted(a, edges[:-1], "left"), searchsorted(a, edges[-1:], "right")])
        if weights is not None:
            below = take(concatenate([np.zeros(1, weights.dtype), cumsum(take(weights, order))]), below)
        n = diff(below)
    if not density:
        return n, edges
    return n / diff(edges).astype(float) / np.sum(n), edges


def _weighed(place: Any, weights: Any, length: int) -> Any:
    """`_binned` with weights of any dtype, in which the sums are."""
    if is_complex(weights):
        parts = [_binned(place, part(weights), length) for part in (real, imag)]
        return apply_primitive(prim.COMPOSE, None, *parts).astype(weights.dtype)
    return _binned(place, weights, length).astype(weights.dtype)


@implements(np.histogramdd)
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, list[Any]]:
    if not hasattr(sample, "shape") or len(sample.shape) != 2:
        sample = np.transpose(atleast_2d(as_traced(sample)))
    dims = sample.shape[1]
    if not _length(bins):
        bins = dims * [bins]
    elif len(bins) != dims:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if range is not None and len(range) != dims:
        raise ValueError("range argument must have one entry per dimension")
    edges, places = [], []
    for d, (number, ends) in enumerate(zip(bins, range or dims * [None], strict=True)):
        x = sample[:, d]
        edge = _edges_of(d, x, number, ends)
        place = searchsorted(edge, x, "right")
        edges.append(edge)
        places.append(place - np.equal(x, edge[-1]).astype(np.intp))
    shape = tuple(edge.shape[0] + 1 for edge in edges)
    found = _binned(ravel_multi_index(places, shape), None if weights is None else as_traced(weights), np.prod(shape))
    found = reshape(found, shape).astype(float)[dims * (slice(1, -1),)]
    if density:
        total = np.sum(found)
        for d, edge in enumerate(edges):
            found = found / reshape(diff(edge), tuple(-1 if e == d else 1 for e in np.arange(dims)))
        found = found / total
    return found, edges


def _length(bins: Any) -> int:
    """0 of a number."""
    return len(bins) if isinstance(bins, (list, tuple)) or np.ndim(bins) else 0


def _edges_of(d: int, x: Any, bins: Any, ends: Any) -> Any:
    bins = as_array(bins)
    if bins.ndim == 1:
        if np.any(np.greater(bins[:-1], bins[1:])):
            raise ValueError(f"`bins[{d}]` must be monotonically increasing, when an array")
        return bins
    if bins.ndim:
        raise ValueError(f"`bins[{d}]` must be a scalar or 1d array")
    if bins < 1:
        raise ValueError(f"`bins[{d}]` must be positive, when an integer")
    return linspace(*_ends(x, ends), operator.index(bins) + 1)


@implements(np.histogram2d)
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any, Any]:
    if np.shape(x)[0] != np.shape(y)[0]:
        raise ValueError("x and y must have the same length.")
    if _length(bins) not in (0, 1, 2):
        bins = [bins, bins]
    found, edges = histogramdd([x, y], bins, range, density, weights)
    return (found, *edges)
