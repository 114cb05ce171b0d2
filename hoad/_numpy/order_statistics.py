"""Medians and quantiles: items at places of the sorted array, found again when a program is replayed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.traced import is_traced
from hoad._numpy.complex import refuse_complex
from hoad._numpy.indexing import getitem
from hoad._numpy.indexing import where as choose_where
from hoad._numpy.products import inexact
from hoad._numpy.rearranging import argsort, sort, take_along_axis
from hoad._numpy.reductions import sum
from hoad._numpy.registry import Axis, as_traced, implements, keeps_axes, normal_axes, only_defaults
from hoad._numpy.sequences import cumsum
from hoad._numpy.shape import broadcast_to, moveaxis, reshape
from hoad._numpy.statistics import nanmean, weights_of

# (alpha, beta) of Hyndman and Fan (1996), The American Statistician 50: place n q + (alpha + q (1 - alpha - beta)) - 1.
CONTINUOUS = {
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "interpolated_inverted_cdf": (0, 1),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}


def _stepped(place: Any, stays: Any) -> Any:
    """The next place, unless it is to stay at this one."""
    return np.floor(place) + np.logical_not(stays)


# Methods that take an item, or the mean of two: the place, of which the fraction is 0 or 1/2.
STEPPED: dict[str, Callable[[Any, Any], Any]] = {
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.rint((n - 1) * q),
    "midpoint": lambda n, q: 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q)),
    "inverted_cdf": lambda n, q: _stepped(n * q - 1, (n * q - 1) % 1 == 0),
    "averaged_inverted_cdf": lambda n, q: np.floor(n * q - 1) + choose_where((n * q - 1) % 1 == 0, 0.5, 1.0),
    "closest_observation": lambda n, q: _stepped(
        n * q - 1 - 0.5, np.logical_and((n * q - 1 - 0.5) % 1 == 0, np.floor(n * q - 1 - 0.5) % 2 == 1)
    ),
}
WHOLE = {"lower", "higher", "nearest", "inverted_cdf", "closest_observation"}  # whose result is an item


def _place(name: str, method: str, n: Any, q: Any) -> Any:
    """Where in n sorted items the quantile lies, counted from 0."""
    if method == "linear":
        return (n - 1) * q
    if method in CONTINUOUS:
        alpha, beta = CONTINUOUS[method]
        return n * q + (alpha + q * (1 - alpha - beta)) - 1
    if method in STEPPED:
        return STEPPED[method](n, q)
    known = ", ".join(["linear", *CONTINUOUS, *STEPPED])
    raise ValueError(f"np.{name} has no method {method!r} ({here()}). Use one of {known}.")


def _between(low: Any, high: Any, share: Any) -> Any:
    """low + share (high - low), from the end that is nearer."""
    step = high - low
    return choose_where(share >= 0.5, high - step * (1 - share), low + step * share)


def _lines(a: Any, axes: tuple[int, ...]) -> Any:
    """The items along some axes, on the last one."""
    kept = [n for d, n in enumerate(a.shape) if d not in axes]
    count = math.prod(a.shape[d] for d in axes)
    return reshape(moveaxis(a, axes, range(a.ndim - len(axes), a.ndim)), (*kept, count))


def _of_lines(found: Any, a: Any, axes: tuple[int, ...], places: tuple[int, ...], keepdims: Any) -> Any:
    """What was found at `places` of each line, which become the first axes."""
    kept = tuple(n for d, n in enumerate(a.shape) if d not in axes)
    found = reshape(found, (*kept, *places))
    found = moveaxis(found, range(len(kept), len(kept) + len(places)), range(len(places)))
    if keeps_axes(keepdims):
        found = reshape(found, (*places, *[1 if d in axes else m for d, m in enumerate(a.shape)]))
    return found


def _taken(lines: Any, places: Any) -> Any:
    """Items of each line, at the same places or at its own."""
    last = lines.shape[-1] - 1
    places = np.minimum(np.maximum(places, 0), last).astype(np.intp)
    if type(places) is np.ndarray and places.ndim == 1:
        return getitem(lines, (..., places))
    return take_along_axis(lines, broadcast_to(as_traced(places), (*lines.shape[:-1], np.shape(places)[-1])), -1)


def _known(lines: Any) -> Any:
    """How many items of each line are numbers."""
    return sum(np.logical_not(np.isnan(lines)).astype(np.float64), -1, keepdims=True)


def _quantile(
    name: str, a: Any, q: Any, axis: Axis, method: str, keepdims: Any, weights: Any, most: int, skips_nan: bool
) -> Any:
    """The items about the place of q in sorted order, weighed; nan where there is one, unless these are skipped.

    Where q comes upon an item, its derivative is the slope on the right; of the last item, that on the left.
    """
    a = inexact(a)
    refuse_complex(name, a)
    weak = q.__class__ in (int, float)
    if most != 1:
        q = q / most if is_traced(q) or weak else np.true_divide(q, a.dtype.type(most))
    q = as_traced(q)
    dtype = a.dtype if weak or method in WHOLE else np.result_type(a.dtype, q.dtype)
    a, q = a.astype(dtype), q.astype(np.float64)
    if not np.all(np.logical_and(q >= 0, q <= 1)):
        raise ValueError(f"np.{name} takes places from 0 to {most}")
    axes = normal_axes(axis, a.ndim)
    lines = _lines(a, axes)
    if lines.shape[-1] == 0:
        if skips_nan:
            return nanmean(a, axes, keepdims=keepdims)
        raise IndexError(f"np.{name} of an empty array ({here()}): there is no item to take.")
    at = reshape(q, (-1,))
    if weights is not None:
        if method != "inverted_cdf":
            raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
        found, last = _weighted(name, lines, _lines(_counted(a, weights, axis), axes), at, skips_nan)
    else:
        lines = sort(lines)
        last = None if skips_nan else lines[..., -1:]
        place = _place(name, method, _known(lines) if skips_nan else lines.shape[-1], at)
        n = _known(lines) if skips_nan else lines.shape[-1]
        place = np.maximum(place, 0) if method in STEPPED or is_traced(n) else np.clip(place, 0, n - 1)
        below = np.minimum(np.floor(place), np.maximum(n - 2, 0))
        if method in WHOLE:
            found = _taken(lines, np.minimum(place, n - 1))
        else:
            share = (np.minimum(place, n - 1) - below).astype(dtype)
            found = _between(_taken(lines, below), _taken(lines, np.minimum(below + 1, n - 1)), share)
    if last is not None:
        found = choose_where(np.isnan(last), last, found)
    return _of_lines(found, a, axes, tuple(q.shape), keepdims)


def _counted(a: Any, weights: Any, axis: Axis) -> Any:
    w = weights_of(a, as_traced(weights).astype(np.float64), axis)
    if np.any(w < 0):
        raise ValueError("Weights must be non-negative.")
    return w


def _weighted(name: str, lines: Any, weights: Any, q: Any, skips_nan: bool) -> tuple[Any, Any]:
    """The first item in order up to which the weights are a share q of all, and the last item, if nan matters."""
    if skips_nan:
        weights = choose_where(np.isnan(lines), 0.0, weights)
    order = argsort(lines, -1)
    lines, weights = take_along_axis(lines, order, -1), take_along_axis(weights, order, -1)
    reached = cumsum(weights, -1)
    reached = reached / reached[..., -1:]
    if not skips_nan and np.any(np.isnan(reached[..., -1])):
        raise ValueError("Weights included NaN, inf or were all zero.")
    below = np.logical_or(reached[..., None, :] < q[:, None], reached[..., None, :] == 0)
    place = sum(below.astype(np.float64), -1)
    n = _known(lines) if skips_nan else lines.shape[-1]
    return _taken(lines, np.minimum(place, np.maximum(n - 1, 0))), None if skips_nan else lines[..., -1:]


def _quantiles(name: str, most: int, skips_nan: bool) -> None:
    """``quantile``, or ``percentile``, whose places are of `most`."""

    def implementation(
        a: Any,
        q: Any,
        axis: Axis = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        *,
        weights: Any = None,
    ) -> Any:
        only_defaults(name, out=out)
        return _quantile(name, a, q, axis, method, keepdims, weights, most, skips_nan)

    implements(getattr(np, name))(implementation)


_quantiles("quantile", 1, False)
_quantiles("percentile", 100, False)
_quantiles("nanquantile", 1, True)
_quantiles("nanpercentile", 100, True)


def _medians(name: str, skips_nan: bool) -> None:
    """The item in the middle, or the mean of two."""

    def implementation(
        a: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
    ) -> Any:
        only_defaults(name, out=out)
        a = inexact(a)
        refuse_complex(name, a)
        axes = normal_axes(axis, a.ndim)
        if math.prod(a.shape[d] for d in axes) == 0:  # nan and warnings by NumPy, of as much of nothing
            return getattr(np, name)(np.zeros(a.shape, a.dtype), axes, keepdims=keeps_axes(keepdims))
        lines = sort(_lines(a, axes))
        if skips_nan:
            n = _known(lines)
            low, high = _taken(lines, np.floor((n - 1) / 2)), _taken(lines, np.floor(n / 2))
            found = choose_where(n % 2 == 1, low, (low + high) / 2)
        else:
            half, odd = divmod(lines.shape[-1], 2)
            found, last = lines[..., half : half + 1], lines[..., -1:]
            found = found if odd else (lines[..., half - 1 : half] + found) / 2
            found = choose_where(np.isnan(last), last, found)
        return _of_lines(found, a, axes, (), keepdims)

    implements(getattr(np, name))(implementation)


_medians("median", False)
_medians("nanmedian", True)
