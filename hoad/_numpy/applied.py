"""Functions that call another function on parts of an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._numpy.creation import stack
from hoad._numpy.registry import as_array, as_traced, implements, normal_axis
from hoad._numpy.shape import broadcast_to, expand_dims, moveaxis, reshape


@implements(np.apply_along_axis)
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """The function is called on each line, whose results take its place."""
    arr = as_array(arr)
    axis = normal_axis(axis, arr.ndim)
    lines = moveaxis(arr, axis, -1)
    outer = lines.shape[:-1]
    if 0 in outer:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    found = [as_traced(func1d(lines[(*k, ...)], *args, **kwargs)) for k in np.ndindex(outer)]
    dtype = found[0].dtype  # of the array that NumPy puts them in
    inner = tuple(found[0].shape)
    whole = stack([broadcast_to(x, inner).astype(dtype) for x in found])
    whole = reshape(whole, (*outer, *inner))
    count = len(outer)
    return np.moveaxis(whole, range(count, count + len(inner)), range(axis, axis + len(inner)))  # a view, as NumPy's


@implements(np.apply_over_axes)
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    found = as_array(a)
    ndim = found.ndim
    for axis in (axes,) if np.ndim(axes) == 0 else axes:
        axis = ndim + axis if axis < 0 else axis
        made = func(found, axis)
        if made.ndim != found.ndim:
            made = expand_dims(made, axis)
            if made.ndim != found.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        found = made
    return found


def _conditions(x: Any, condlist: Any) -> list[Any]:
    """The conditions, of which a single one need not be in a list."""
    if not isinstance(condlist, (list, tuple)) and as_traced(condlist).ndim == 0:
        return [condlist]
    first = condlist[0]
    several = isinstance(first, (list, np.ndarray)) or as_traced(first).ndim > 0 or x.ndim == 0
    return list(condlist) if several else [condlist]


@implements(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Each function is called on the items that its condition selects, which are guarded where they are traced."""
    x = as_array(x)
    masks = [broadcast_to(as_traced(c).astype(bool), tuple(x.shape)) for c in _conditions(x, condlist)]
    if len(masks) == len(funclist) - 1:
        masks.append(np.logical_not(np.any(stack(masks), axis=0)))
    if len(masks) != len(funclist):
        n = len(masks)
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    items = np.atleast_1d(x)
    made = np.zeros_like(items)
    for mask, function in zip(masks, funclist, strict=True):
        mask = np.atleast_1d(mask)
        if not callable(function):
            made[mask] = function
        elif (chosen := items[mask]).size:
            made[mask] = function(chosen, *args, **kw)
    return reshape(made, tuple(x.shape))
