"""Items in other places: nothing is computed, so that each is a view through strides, a join, or a gather."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from hoad._core.base.where import here
from hoad._core.kernels import ufuncs
from hoad._core.ops.plan import broadcast_shapes
from hoad._core.trace.calls import apply_primitive, stacked
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.memory_order import with_order
from hoad._core.trace.traced import Array, is_traced
from hoad._core.trace.views import at_basic_index, is_small, items_at, places, taken_along
from hoad._numpy.creation import concatenate, stack
from hoad._numpy.indexing import along_axis, getitem, where, whole
from hoad._numpy.registry import Axis, as_traced, decided, implements, normal_axes, normal_axis, only_defaults
from hoad._numpy.shape import atleast_1d, atleast_2d, atleast_3d, broadcast_to, ravel, reshape
from hoad._numpy.shape import copy as copied
from hoad._ops import primitives as prim
from hoad.errors import NoRuleError


def gather(x: Any, places: np.ndarray) -> Any:
    """The items of x at flat places."""
    return apply_primitive(prim.GATHER_ITEMS, None, x, places)


def moved(move: Callable[..., Any], x: Any, *args: Any, **kwargs: Any) -> Any:
    """What NumPy's own function, which only moves items, does to x: found by moving their places."""
    if type(x) is Array and x.size and is_small(x):
        return items_at(x, np.asarray(move(places(x), *args, **kwargs)))
    x = as_traced(x)
    return gather(x, np.asarray(move(prim.flat_places(x.shape), *args, **kwargs), order="C"))


def plain(name: str, option: Any) -> Any:
    """A shape or places as they are; traced integers and booleans, which have no derivative, are guarded."""
    if not holds_traced(option):
        return option
    made = as_traced(option)
    if made.dtype.kind not in "biu":
        raise NoRuleError(
            f"np.{name} takes shapes and places that are not traced ({here()}). Use hoad.value(n) where a plain number "
            "is meant."
        )
    return np.asarray(decided(made))


def _flat_or(x: Any, axis: int | None) -> tuple[Any, int]:
    """x and an axis of it; x in one dimension where there is none."""
    x = as_traced(x)
    return (ravel(x), 0) if axis is None else (x, normal_axis(axis, x.ndim))


# ---- flipped and turned ---------------------------------------------------------------------------------------------


@implements(np.flip)
def flip(m: Any, axis: Axis = None) -> Any:
    m = as_traced(m)
    if axis is None:
        return m[(slice(None, None, -1),) * m.ndim]
    axes = normal_axes(axis, m.ndim)
    return m[tuple([slice(None, None, -1 if d in axes else None) for d in range(m.ndim)])]


@implements(np.fliplr)
def fliplr(m: Any) -> Any:
    if as_traced(m).ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


@implements(np.flipud)
def flipud(m: Any) -> Any:
    if as_traced(m).ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


@implements(np.rot90)
def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    m = as_traced(m)
    first, second = (normal_axis(d, m.ndim) for d in axes)
    if first == second:
        raise ValueError("Axes must be different.")
    if k % 2 == 0:
        return flip(m, (first, second) if k % 4 else ())
    turned = np.swapaxes(flip(m, second) if k % 4 == 1 else m, first, second)  # a view
    return turned if k % 4 == 1 else flip(turned, second)


@implements(np.roll)
def roll(a: Any, shift: Any, axis: Axis = None) -> Any:
    shift = plain("roll", shift)
    a = as_traced(a)
    if a.ndim == 1 and type(shift) is int and (axis is None or type(axis) is int):
        axis = normal_axis(axis or 0, 1)
    if axis is None:
        return reshape(roll(ravel(a), int(np.sum(shift)), 0), tuple(a.shape))
    each = [(shift, axis)] if type(shift) is type(axis) is int else np.broadcast(shift, axis)
    for step, d in each:
        d = normal_axis(d, a.ndim)
        cut = -int(step) % a.shape[d] if a.shape[d] else 0
        if cut:
            before = (slice(None),) * d
            a = concatenate([a[(*before, slice(cut, None))], a[(*before, slice(None, cut))]], axis=d)
    return copied(a)


# ---- repeated -------------------------------------------------------------------------------------------------------


@implements(np.tile)
def tile(A: Any, reps: Any) -> Any:
    reps = plain("tile", reps)
    x = as_traced(A)
    times = tuple(int(n) for n in (reps if isinstance(reps, (tuple, list, np.ndarray)) else (reps,)))
    ndim = max(x.ndim, len(times))
    times = (1,) * (ndim - len(times)) + times
    shape = (1,) * (ndim - x.ndim) + tuple(x.shape)
    wide = broadcast_to(
        reshape(x, tuple(n for m in shape for n in (1, m))),
        tuple(n for pair in zip(times, shape, strict=True) for n in pair),
    )
    return reshape(wide, tuple(n * m for n, m in zip(times, shape, strict=True)))


@implements(np.repeat, method="repeat")
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    repeats = repeats if type(repeats) is int else plain("repeat", repeats)
    return moved(_repeated, a, repeats, axis)


def _repeated(x: Any, repeats: Any, axis: int | None) -> Any:
    return x.repeat(repeats, axis)  # the method, which NumPy does not dispatch


@implements(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    new_shape = plain("resize", new_shape)
    a = as_traced(a)
    if a.size == 0:
        return np.resize(np.zeros(0, a.dtype), new_shape)
    return moved(np.resize, a, new_shape)


# ---- joined and split -----------------------------------------------------------------------------------------------


def _each(arrays: Any) -> list[Any]:
    return list(arrays) if isinstance(arrays, (tuple, list)) else [arrays[k] for k in range(len(arrays))]


@implements(np.hstack)
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    parts = [x if type(x) is Array and x.ndim else atleast_1d(x) for x in _each(tup)]
    return concatenate(parts, axis=0 if parts and parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@implements(np.vstack)
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    parts = _each(tup)
    if dtype is None and parts and getattr(parts[0], "ndim", 0) == 1 and (found := stacked(parts, 0)) is not None:
        return found
    return concatenate([atleast_2d(x) for x in parts], dtype=dtype, casting=casting)


@implements(np.dstack)
def dstack(tup: Any) -> Any:
    return concatenate([atleast_3d(x) for x in _each(tup)], axis=2)


@implements(np.column_stack)
def column_stack(tup: Any) -> Any:
    parts = [as_traced(x) for x in _each(tup)]
    return concatenate([reshape(x, (-1 if x.size else 0, 1)) if x.ndim < 2 else x for x in parts], axis=1)


@implements(np.block)
def block(arrays: Any) -> Any:
    depth = _depth(arrays)

    def joined(item: Any, level: int) -> Any:
        if isinstance(item, list) != (level < depth) or (isinstance(item, list) and not item):
            raise ValueError("np.block: List depths are mismatched, or a list is empty")
        if level == depth:
            x = as_traced(item)
            return reshape(x, (1,) * (depth - x.ndim) + tuple(x.shape)) if x.ndim < depth else x
        return concatenate([joined(part, level + 1) for part in item], axis=level - depth)

    return joined(arrays, 0)


def _depth(arrays: Any) -> int:
    depth = 0
    while isinstance(arrays, list):
        arrays, depth = arrays[0] if arrays else None, depth + 1
    return depth


@implements(np.append)
def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    if axis is None:
        return concatenate([np.ravel(x) if type(x) is np.ndarray else ravel(x) for x in map(as_traced, (arr, values))])
    return concatenate([arr, values], axis=axis)


@implements(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Every item of the result is one of x, or one of the values."""
    obj = plain("insert", obj)
    x, values = as_traced(arr), as_traced(values)
    source = concatenate([ravel(x), ravel(values.astype(x.dtype))])
    return gather(source, np.insert(prim.flat_places(x.shape), obj, x.size + prim.flat_places(values.shape), axis))


@implements(np.delete)
def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    obj = plain("delete", obj)
    return moved(np.delete, arr, obj, axis)


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    indices_or_sections = plain("array_split", indices_or_sections)
    x = as_traced(ary)
    axis = normal_axis(axis, x.ndim)
    before = (slice(None),) * axis
    if isinstance(indices_or_sections, (int, np.integer)):
        count = int(indices_or_sections)
        if count <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, further = divmod(x.shape[axis], count)
        cuts = [k * each + min(k, further) for k in range(count + 1)]
        return [x[(*before, slice(*bound))] for bound in itertools.pairwise(cuts)]
    cuts = [0, *[int(k) for k in indices_or_sections], x.shape[axis]]
    return [x[(*before, slice(*bound))] for bound in itertools.pairwise(cuts)]


@implements(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    x = as_traced(ary)
    if isinstance(indices_or_sections, (int, np.integer)) and x.shape[axis] % int(indices_or_sections):
        raise ValueError("array split does not result in an equal division")
    return array_split(x, indices_or_sections, axis)


def _split_along(name: str, ndim: int, axis: Callable[[Any], int]) -> Callable[..., Any]:
    def implementation(ary: Any, indices_or_sections: Any) -> Any:
        x = as_traced(ary)
        if x.ndim < ndim:
            raise ValueError(f"{name} only works on arrays of {ndim} or more dimensions")
        return split(x, indices_or_sections, axis(x))

    return implementation


implements(np.hsplit)(_split_along("hsplit", 1, lambda x: 0 if x.ndim == 1 else 1))
implements(np.vsplit)(_split_along("vsplit", 2, lambda x: 0))
implements(np.dsplit)(_split_along("dsplit", 3, lambda x: 2))


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    x = as_traced(x)
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    axis = normal_axis(axis, x.ndim)
    before = (slice(None),) * axis
    return tuple([x[(*before, k)] for k in range(x.shape[axis])])


if hasattr(np, "unstack"):  # since NumPy 2.1
    implements(np.unstack)(unstack)


MOST_KEPT = 1024  # items of a triangle that is kept for the next one

# ---- triangles ------------------------------------------------------------------------------------------------------


def _triangle(name: str, kept: Callable[[int, int, int], Any]) -> Callable[..., Any]:
    """What lies outside is a strong zero."""

    known = functools.lru_cache(64)(kept)

    def implementation(m: Any, k: int = 0) -> Any:
        m = as_traced(m)
        if m.ndim == 1:
            m = broadcast_to(m, (m.shape[0], m.shape[0]))
        if m.ndim == 0:
            raise ValueError(f"np.{name} needs an array of at least one dimension")
        rows, columns = m.shape[-2:]
        inside = known(rows, columns, k) if rows * columns <= MOST_KEPT and type(k) is int else kept(rows, columns, k)
        return ufuncs.mask(inside, m) if m.dtype.kind == "f" else m * inside.astype(m.dtype)

    return implementation


tril = implements(np.tril)(_triangle("tril", lambda n, m, k: np.tri(n, m, k, dtype=bool)))
triu = implements(np.triu)(_triangle("triu", lambda n, m, k: ~np.tri(n, m, k - 1, dtype=bool)))


# ---- taken ----------------------------------------------------------------------------------------------------------


@implements(np.take, method="take")
def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    if out is not None:
        only_defaults("take", out=out)
    if type(a) is Array and mode == "raise":
        if type(indices) is int and a.ndim and (axis is not None or a.ndim == 1):
            found = at_basic_index(a, (slice(None),) * normal_axis(axis or 0, a.ndim) + (indices,))
            return found.copy() if type(found) is Array else found
        if (found := taken_along(a, indices, axis)) is not None:
            return found
    a, indices = as_traced(a), whole(indices, booleans=True)
    if axis is None:
        a, axis = ravel(a), 0
    if a.ndim == 0:
        a = reshape(a, (1,))  # which has axis 0 here, as in NumPy
    axis = normal_axis(axis, a.ndim)
    shape = a.shape[:axis] + indices.shape + a.shape[axis + 1 :]
    if 0 in shape and not a.size:  # where NumPy looks at the places only if it goes along the axis at all
        if mode == "raise" and 0 not in a.shape[:axis]:
            as_traced(np.zeros(a.shape[axis]))[indices]
        return reshape(a, shape)
    if mode == "wrap":
        indices = np.remainder(indices, a.shape[axis])
    elif mode == "clip":
        indices = np.minimum(np.maximum(indices, 0), a.shape[axis] - 1)
    return with_order(getitem(a, (slice(None),) * axis + (indices,)), None)  # as in C, which the index need not be


@implements(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    arr, axis = _flat_or(arr, axis)
    return getitem(arr, along_axis(arr, indices, axis))  # arr may be plain, and the places traced


@implements(np.choose, method="choose")
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """The item of choices[a[i]], by a gather from all of them: what is not chosen is not touched."""
    only_defaults("choose", out=out)
    a = whole(a, booleans=True)
    parts = [as_traced(x) for x in _each(choices)]
    shape = broadcast_shapes(a.shape, *[x.shape for x in parts])
    if mode == "wrap":
        a = np.remainder(a, len(parts))
    elif mode == "clip":
        a = np.minimum(np.maximum(a, 0), len(parts) - 1)
    elif 0 not in shape and not is_traced(a) and np.any((a < 0) | (a >= len(parts))):
        raise ValueError("invalid entry in choice array")
    every = stack([broadcast_to(x, shape) for x in parts])
    return take_along_axis(every, reshape(broadcast_to(a, shape), (1, *shape)), 0)[0]


@implements(np.select)
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    chosen = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        if as_traced(condition).dtype != bool:
            raise TypeError("invalid entry in condlist: should be boolean ndarray")
        chosen = where(condition, choice, chosen)
    return chosen


@implements(np.compress)
def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    only_defaults("compress", out=out)
    condition = plain("compress", condition)
    return moved(lambda places: np.compress(condition, places, axis), a)


@implements(method="compress")
def compress_method(x: Any, condition: Any, axis: int | None = None, out: Any = None) -> Any:
    return compress(condition, x, axis, out)


@implements(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    condition = ravel(as_traced(condition))
    return ravel(as_traced(arr))[condition if condition.dtype == bool else np.not_equal(condition, 0)]


# ---- sorted ---------------------------------------------------------------------------------------------------------


def _require_ascending(name: str, descending: Any) -> None:
    """Raise for an option that NumPy has had since 2.5."""
    if descending is not np._NoValue and descending:
        raise NoRuleError(f"np.{name} with descending= is not recorded ({here()}). Write np.flip(np.{name}(x)).")


@implements(np.argsort, method="argsort")
def argsort(
    a: Any,
    axis: int | None = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: Any = np._NoValue,
) -> Any:
    _require_ascending("argsort", descending)
    if order is not None:
        only_defaults("argsort", order=order)
    a = as_traced(a)
    a, axis = _flat_or(a, axis if a.ndim else None)  # a number counts as a vector of one
    return apply_primitive(prim.ARGSORT, (axis,), a)


@implements(np.sort)
def sort(
    a: Any,
    axis: int | None = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: Any = np._NoValue,
) -> Any:
    """Equal items keep their order, and so do their derivatives."""
    _require_ascending("sort", descending)
    if order is not None:
        only_defaults("sort", order=order)
    a, axis = _flat_or(a, axis)
    return _in_order(a, apply_primitive(prim.ARGSORT, (axis,), a), axis)


def _in_order(a: Any, places: Any, axis: int) -> Any:
    """The items of a along an axis in another order, which none of the places lies outside of."""
    if a.ndim > 1:
        starts = prim.flat_places(a.shape)[(slice(None),) * axis + (slice(1),)]
        places = places * math.prod(a.shape[axis + 1 :]) + starts
    return gather(a, places)


@implements(np.argpartition, method="argpartition")
def argpartition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    only_defaults("argpartition", order=order)
    kth = plain("argpartition", kth)
    a, axis = _flat_or(a, axis)
    return apply_primitive(prim.ARGPARTITION, (axis, tuple(np.ravel(kth).tolist())), a)


@implements(np.partition)
def partition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    """Equal items keep their order, as in `sort`."""
    only_defaults("partition", order=order)
    a, axis = _flat_or(a, axis)
    return _in_order(a, argpartition(a, kth, axis), axis)


@implements(sliding_window_view)
def windows(x: Any, window_shape: Any, axis: Axis = None, *, subok: bool = False, writeable: bool = False) -> Any:
    return moved(sliding_window_view, x, window_shape, axis)


@implements(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    ndim = len(xi)
    shapes = [(1,) * k + (-1,) + (1,) * (ndim - 1 - k) for k in range(ndim)]
    parts = [np.reshape(as_traced(x), shape) for x, shape in zip(xi, shapes, strict=True)]  # views
    if indexing == "xy" and ndim > 1:
        parts = [np.swapaxes(x, 0, 1) for x in parts]
    if not sparse:
        shape = broadcast_shapes(*[x.shape for x in parts])
        parts = [np.broadcast_to(x, shape) for x in parts]
    return tuple(map(copied, parts) if copy else parts)
