"""Methods of ufuncs: reduce, accumulate, reduceat and outer, and calls that choose a loop by its dtypes.

Sums, products, extremes and what holds have reductions of their own (`REDUCTIONS`). Any other ufunc of two operands is
applied item by item, in NumPy's order; in halves, where the order does not matter and there are many items.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.base.where import here, name_of
from hoad._core.graph.primitive import ufunc_primitive
from hoad._core.trace.traced import FUNCTIONS, METHODS, REDUCTIONS, Array, guard_value
from hoad._numpy.creation import concatenate, stack
from hoad._numpy.indexing import where as choose_where
from hoad._numpy.reductions import mask_of
from hoad._numpy.registry import Axis, as_traced, is_given, normal_axis, reduced_axes
from hoad._numpy.sequences import cumprod, cumsum
from hoad._numpy.shape import broadcast_to, moveaxis, reshape, transpose
from hoad.errors import NoRuleError

LOGICAL = (np.logical_and, np.logical_or, np.logical_xor)
# Give the same in any order, to the bit but for the last three.
ANY_ORDER = (*LOGICAL, np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp, np.logaddexp2, np.hypot)
FEW = 32  # items that are taken one by one in any case


# ---- loops ----------------------------------------------------------------------------------------------------------


def _is_weak(x: Any) -> bool:
    return type(x) in (int, float, complex)


def in_chosen_loop(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call with ``dtype=`` or ``signature=``: operands are cast to the loop that NumPy would take."""
    rest = {name: x for name, x in kwargs.items() if name not in ("dtype", "signature", "casting")}
    signature, dtype = kwargs.get("signature"), kwargs.get("dtype")
    if dtype is not None:
        signature = (*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout)
    elif isinstance(signature, str):
        taken, _, given = signature.partition("->")
        signature = tuple(map(np.dtype, taken + given))
    operands = [x if _is_weak(x) else as_traced(x) for x in inputs]
    known = (*[type(x) if _is_weak(x) else x.dtype for x in operands], *[None] * ufunc.nout)
    assert signature is not None
    dtypes = ufunc.resolve_dtypes(known, signature=signature, casting=kwargs.get("casting", "same_kind"))
    return ufunc(*[as_traced(x).astype(d) for x, d in zip(operands, dtypes, strict=False)], **rest)


def _in_loop(ufunc: np.ufunc, x: Any, dtype: Any) -> Any:
    """x in the dtype in which it is reduced."""
    asked: Any = {} if dtype is None else {"signature": (np.dtype(dtype), None, None), "casting": "unsafe"}
    _, found, _ = ufunc.resolve_dtypes((None, x.dtype, None), reduction=True, **asked)
    return x if found == x.dtype or ufunc in LOGICAL else x.astype(found)


# ---- reduce ---------------------------------------------------------------------------------------------------------


def _no_identity(ufunc: np.ufunc, what: str) -> ValueError:
    return ValueError(f"{what} {ufunc.__name__} which has no identity ({here()}). Give initial=.")


def _reduce(
    ufunc: np.ufunc,
    x: Any,
    axis: Axis = 0,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    if ufunc in REDUCTIONS:
        return REDUCTIONS[ufunc](x, axis, dtype, out, keepdims, initial, where)
    x = _in_loop(ufunc, as_traced(x), dtype)
    axes = reduced_axes(axis, x.ndim)
    if len(axes) > 1 and ufunc not in ANY_ORDER:
        raise ValueError(
            f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may be specified"
        )
    start = ufunc.identity if initial is np._NoValue else initial
    taken = _items(mask_of(x, where), axes) if is_given(where) else None
    items = _items(x, axes)
    if ufunc is np.ldexp and items:  # a float and integers
        items[0] = items[0].astype(ufunc.resolve_dtypes((None, x.dtype, None), reduction=True)[0])
    if start is None and (taken is not None or not items):
        raise _no_identity(
            ufunc, "zero-size array to reduction operation" if taken is None else "a masked reduction by"
        )
    if start is not None and (is_given(initial) or taken is not None or len(items) < 2):
        like = np.zeros([n for d, n in enumerate(x.shape) if d not in axes], bool if ufunc in LOGICAL else x.dtype)
        items = [broadcast_to(as_traced(start).astype(like.dtype), like.shape), *items]
    found = _folded(ufunc, items) if taken is None else _folded_where(ufunc, items, taken)
    return reshape(found, tuple(1 if d in axes else n for d, n in enumerate(x.shape))) if keepdims else found


def _items(x: Any, axes: tuple[int, ...]) -> list[Any]:
    """The items along some axes, as arrays along the others."""
    kept = [d for d in range(x.ndim) if d not in axes]
    count = math.prod(x.shape[d] for d in axes)
    lines = reshape(transpose(x, (*axes, *kept)), (count, *[x.shape[d] for d in kept]))
    return [lines[k] for k in range(count)]


def _folded(ufunc: np.ufunc, items: list[Any]) -> Any:
    """u(u(u(x₀, x₁), x₂), ...)."""
    while ufunc in ANY_ORDER and len(items) > FEW:
        rest = items[-1:] if len(items) % 2 else []
        items = [*map(ufunc, items[:-1:2], items[1::2]), *rest]
    found = items[0]
    for item in items[1:]:
        found = ufunc(found, item)
    return found


def _folded_where(ufunc: np.ufunc, items: list[Any], taken: list[Any]) -> Any:
    found = items[0]
    for item, counts in zip(items[1:], taken, strict=True):
        found = choose_where(counts, ufunc(found, item), found)
    return found


# ---- accumulate, reduceat, outer ------------------------------------------------------------------------------------


def _accumulate(ufunc: np.ufunc, x: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
    x = as_traced(x)
    if x.ndim == 0:
        raise TypeError("cannot accumulate on a scalar")
    if ufunc is np.add or ufunc is np.multiply:
        return (cumsum if ufunc is np.add else cumprod)(x, axis, dtype)
    axis = normal_axis(axis, x.ndim)
    x = _in_loop(ufunc, x, dtype)
    if x.shape[axis] == 0:
        return x.astype(bool) if ufunc in LOGICAL else x
    x = moveaxis(x.astype(bool) if ufunc in LOGICAL else x, axis, 0)
    if ufunc in ANY_ORDER and x.shape[0] > FEW:
        return moveaxis(_doubled(ufunc, x), 0, axis)
    found = [x[0]]
    for k in range(1, x.shape[0]):
        found.append(ufunc(found[-1], x[k]))
    return stack(found, axis)


def _doubled(ufunc: np.ufunc, x: Any) -> Any:
    """Over 2, 4, 8, ... neighbours, as in `cumprod`."""
    step = 1
    while step < x.shape[0]:
        x = concatenate([x[:step], ufunc(x[:-step], x[step:])])
        step *= 2
    return x


def _reduceat(ufunc: np.ufunc, x: Any, indices: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
    """The reductions between places; of the first item alone where the next place is not behind it."""
    x = as_traced(x)
    axis = normal_axis(axis, x.ndim)
    x = moveaxis(_in_loop(ufunc, x, dtype), axis, 0)
    n = x.shape[0]
    starts = np.asarray(guard_value(indices) if isinstance(indices, Array) else indices)
    if starts.dtype.kind not in "iu":
        raise TypeError(f"np.{ufunc.__name__}.reduceat takes places that are integers, not {starts.dtype} ({here()})")
    places = [operator.index(k) for k in starts.tolist()]
    for k in places:
        if not 0 <= k < n:
            raise IndexError(f"index {k} out-of-bounds in {ufunc.__name__}.reduceat [0, {n})")
    found = [_stretch(ufunc, x, first, last) for first, last in zip(places, [*places[1:], n], strict=True)]
    return moveaxis(stack(found) if found else x[:0], 0, axis)


def _stretch(ufunc: np.ufunc, x: Any, first: int, last: int) -> Any:
    if last <= first + 1:
        return x[first].astype(bool) if ufunc in LOGICAL else x[first]
    if ufunc is np.add:  # as NumPy groups the terms
        return x[first] + _reduce(ufunc, x[first + 1 : last])
    return _reduce(ufunc, x[first:last])


def _outer(ufunc: np.ufunc, x: Any, y: Any, **options: Any) -> Any:
    x, y = as_traced(x), as_traced(y)
    return ufunc(reshape(x, tuple(x.shape) + (1,) * y.ndim), y, **options)


OF_METHODS: dict[str, Callable[..., Any]] = {
    "reduce": _reduce,
    "accumulate": _accumulate,
    "reduceat": _reduceat,
    "outer": _outer,
}


def method(ufunc: np.ufunc, name: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A method of a ufunc on traced values, or NotImplemented."""
    if name == "outer" and ufunc.nin == 2 and ufunc in FUNCTIONS:  # of integers, or with two results
        return _outer(ufunc, *inputs, **kwargs)
    of_integers = ufunc in FUNCTIONS and as_traced(inputs[0]).dtype.kind in "biu"  # as np.gcd
    is_known = ufunc_primitive(ufunc) is not None or of_integers
    if name not in OF_METHODS or ufunc.nin != 2 or ufunc.nout != 1 or not is_known:
        return NotImplemented
    if name != "outer" and ufunc not in LOGICAL and "dd->?" in ufunc.types:
        return NotImplemented  # a comparison with the result of another
    if name == "outer":
        if is_given(kwargs.get("where")):
            raise NoRuleError(f"{name_of(ufunc)}.outer with where= is not recorded ({here()}). Use np.where.")
        return _outer(ufunc, *inputs, **kwargs)
    if kwargs.get("out") is not None:  # a tuple of None, for one that is written to never comes here
        kwargs = {option: value for option, value in kwargs.items() if option != "out"}
    return OF_METHODS[name](ufunc, *inputs, **kwargs)


METHODS["__ufunc_loop__"] = in_chosen_loop
METHODS["__ufunc_method__"] = method
