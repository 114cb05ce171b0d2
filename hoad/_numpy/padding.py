"""np.pad: what stands around an array, of its own items or of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._numpy.creation import concatenate
from hoad._numpy.indexing import where
from hoad._numpy.rearranging import flip, gather, moved, plain, take
from hoad._numpy.registry import as_traced, implements
from hoad._numpy.shape import broadcast_to, copy, ravel
from hoad._ops import primitives as prim

OF_ITEMS = ("edge", "wrap", "reflect", "symmetric")  # each item of the result is one of x
STATISTICS: dict[str, Any] = {"maximum": np.max, "mean": np.mean, "median": np.median, "minimum": np.min}


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    x = as_traced(array)
    pad_width = plain("pad", pad_width)
    if mode == "constant":
        if (found := _between_constants(x, pad_width, **options)) is not None:
            return found
        constants = broadcast_to(as_traced(options.pop("constant_values", 0)), (x.ndim, 2)).astype(x.dtype)
        source = concatenate([ravel(x), ravel(constants)])
        marks = x.size + np.arange(2 * x.ndim).reshape(x.ndim, 2)
        return gather(source, np.pad(prim.flat_places(x.shape), pad_width, mode, constant_values=marks, **options))
    if mode in OF_ITEMS and options.get("reflect_type", "even") == "even":
        return moved(np.pad, x, pad_width, mode, **options)
    ends = as_traced(options.pop("end_values", 0)) if mode == "linear_ramp" else 0
    if not callable(mode):
        np.pad(np.zeros(x.shape), pad_width, mode, **options)  # raises for what NumPy does not take
    widths = _widths(pad_width, x.ndim)
    if mode == "empty":  # of what is never written, hoad says zero and NumPy nothing
        return pad(x, widths)
    if callable(mode):
        return _by_function(x, widths, mode, options)
    ends, lengths = (broadcast_to(as_traced(y), (x.ndim, 2)) for y in (ends, _lengths(options, x.ndim)))
    for axis, (before, after) in enumerate(widths):
        if mode == "linear_ramp":
            x = _with_ramps(x, axis, before, after, ends[axis])
        elif mode in STATISTICS:
            x = _with_statistics(x, axis, before, after, STATISTICS[mode], lengths[axis].tolist())
        else:
            x = _reflected(x, axis, before, after, int(mode == "symmetric"))
    return x


def _between_constants(x: Any, pad_width: Any, constant_values: Any = 0, **options: Any) -> Any:
    """The common case, of one number on all sides, by a join along each axis; None for any other."""
    pairs: Any = [pad_width] * 2 if type(pad_width) is int else pad_width
    if type(pairs) not in (tuple, list) or not x.ndim or x.dtype.kind not in "fc":
        return None
    if len(pairs) == 2 and all(type(n) is int for n in pairs):
        pairs = [pairs] * x.ndim
    if len(pairs) != x.ndim or options or type(constant_values) not in (int, float):
        return None
    if not all(type(p) in (tuple, list) and len(p) == 2 and all(type(n) is int and n >= 0 for n in p) for p in pairs):
        return None
    made = x
    for axis, widths in enumerate(pairs):
        sides = [
            [np.full((*made.shape[:axis], n, *made.shape[axis + 1 :]), constant_values, x.dtype)] if n else []
            for n in widths
        ]
        made = concatenate([*sides[0], made, *sides[1]], axis) if any(widths) else made
    return copy(x) if made is x else made


def _widths(pad_width: Any, ndim: int) -> list[list[int]]:
    """How many items stand before and after each axis."""
    found = np.zeros((ndim, 2), int)
    for axis, pair in pad_width.items() if isinstance(pad_width, dict) else [(slice(None), pad_width)]:
        found[axis] = pair
    return found.tolist()


def _lengths(options: dict[str, Any], ndim: int) -> Any:
    """How many items a statistic is of; the largest integer for all."""
    given = options.get("stat_length")
    return np.full((ndim, 2), np.iinfo(int).max) if given is None else given


def _repeated(x: Any, count: int, axis: int) -> Any:
    return broadcast_to(x, tuple(count if d == axis else n for d, n in enumerate(x.shape)))


def _with_ramps(x: Any, axis: int, before: int, after: int, ends: Any) -> Any:
    """Straight lines from the items at the ends of an axis to other values."""
    first, last = take(x, 0, axis), take(x, -1, axis)
    left = np.linspace(ends[0], first, before, endpoint=False, axis=axis)
    right = flip(np.linspace(ends[1], last, after, endpoint=False, axis=axis), axis)
    return concatenate([left.astype(x.dtype), x, right.astype(x.dtype)], axis)


def _with_statistics(x: Any, axis: int, before: int, after: int, statistic: Any, lengths: list[int]) -> Any:
    """A number that tells of the items next to an end of an axis, repeated there."""
    n = x.shape[axis]
    left, right = (take(x, part, axis) for part in (np.arange(n)[: lengths[0]], np.arange(n)[max(n - lengths[1], 0) :]))
    sides = [statistic(part, axis=axis, keepdims=True).astype(x.dtype) for part in (left, right)]
    return concatenate([_repeated(sides[0], before, axis), x, _repeated(sides[1], after, axis)], axis)


def _reflected(x: Any, axis: int, before: int, after: int, with_edge: int) -> Any:
    """x continued by 2 x(edge) - x(its mirror image), at both edges and again beyond; one item is repeated."""
    n = x.shape[axis]
    place = np.arange(-before, n + after)
    if n == 1:
        return _repeated(x, len(place), axis)
    along = tuple(-1 if d == axis else 1 for d in range(x.ndim))
    period = 2 * (n - 1 + with_edge)
    is_left = place < 0
    place = np.where(is_left, -place - with_edge, place)
    turns = np.maximum(place - 1 + with_edge, 0) // period
    place = place - turns * period
    is_right = place >= n
    first, last = take(x, [0], axis), take(x, [-1], axis)
    found = take(x, np.where(is_right, period - with_edge - place, place), axis)
    found = where(is_right.reshape(along), 2 * last - found, found)
    if turns.any():
        found = found + turns.reshape(along) * (2 * (last - first))
    return where(is_left.reshape(along), 2 * first - found, found)


def _by_function(x: Any, widths: list[list[int]], function: Any, options: dict[str, Any]) -> Any:
    """A function of the user's writes to each line along each axis."""
    found = copy(pad(x, widths))
    for axis, pair in enumerate(widths):
        lines = np.moveaxis(found, axis, -1)
        for at in np.ndindex(lines.shape[:-1]):
            function(lines[at], tuple(pair), axis, options)
    return found
