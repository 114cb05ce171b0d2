"""Views: what NumPy gives one of, and so does hoad, wherever NumPy does.

Where the view lies is asked of NumPy itself, on the shadow of the array (`hoad._core.trace.writes`); what it
holds comes from the implementation in the other modules, as long as nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from hoad._core.ops.plan import broadcast_shapes
from hoad._core.trace.axes import axes_in_order, axes_moved, axes_rolled, axes_swapped
from hoad._core.trace.memory_order import is_in_doubt, with_unknown_order
from hoad._core.trace.traced import FUNCTIONS, METHODS, Array
from hoad._core.trace.views import (
    as_written_to,
    broadcast_view,
    copy_of,
    is_part,
    is_settled,
    permuted,
    permuting,
    places,
    reshape_method,
    reshaped_in_turn,
    seen,
    shadow,
    transpose_method,
    view_of,
)
from hoad._numpy.contractions import matrix_product, normal_subscripts, sum_of_one
from hoad._numpy.registry import as_array, implements

Implementation = Callable[..., Any]

BROADCAST = "several items of a broadcast array are one item, so that nothing is written to it"
WINDOWS = "one item stands in several windows, so that nothing is written to them"
DIAGONAL = "a diagonal of an array is not written to, as in NumPy; use np.fill_diagonal"

# What their views hold is told by the views: the items in turn, or a diagonal.
BY_VIEW = {np.reshape, np.ravel, np.expand_dims, np.squeeze, np.diagonal, np.linalg.diagonal, np.diag}

# The number of axes from which on the order of the items in memory decides between view and copy: the items in turn of
# one axis are a view only where they lie in turn.
ORDERED_FROM = {np.reshape: 2, np.ravel: 1}

# Whether reshape can be asked not to copy, as from NumPy 2.1 on.
_ASKS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def _reshaped(x: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    if copy or order not in ("C", "F"):
        return None
    try:
        if _ASKS:
            return x.reshape(shape, order=order, copy=False)
        view = x.view() if order == "C" else x.T
        view.shape = tuple(np.atleast_1d(shape))[:: 1 if order == "C" else -1]
        return view if order == "C" else view.T
    except (ValueError, AttributeError):
        return None


def _raveled(x: Any, order: str = "C") -> Any:
    return x.ravel(order) if (x.flags.f_contiguous if order == "F" else x.flags.c_contiguous) else None


def _windows(x: Any, *args: Any, writeable: bool = False, **kwargs: Any) -> Any:
    """NumPy writes to windows one after another, and reads what it has written; hoad does not write to them."""
    return sliding_window_view(x, *args, **kwargs)


def _apart(ravel: Implementation, value: Implementation) -> Implementation:
    """Raveling copies the items of a part of a complex array, which have gaps between them."""

    def implementation(x: Any, *args: Any, **kwargs: Any) -> Any:
        if type(x) is Array and not args and not kwargs and (found := reshaped_in_turn(x, (-1,))) is not None:
            return found
        if isinstance(x, Array) and is_part(x) and x.size > 1:
            return copy_of(value(x, *args, **kwargs))
        return ravel(x, *args, **kwargs)

    return implementation


def _permuting(order: Callable[..., tuple[int, ...]]) -> Callable[[Implementation, Implementation], Implementation]:
    """The common case of another order of the axes is found sooner."""
    return lambda general, value: permuting(general, order)


def _broadcast(general: Implementation, value: Implementation) -> Implementation:
    """The common case, of a shape as a tuple, is found sooner."""

    def implementation(x: Any, shape: Any, subok: bool = False) -> Any:
        x = as_written_to(x)  # what is made of a number is a view too
        found = broadcast_view(x, shape, BROADCAST) if type(x) is Array else None
        return general(x, shape) if found is None else found

    return implementation


def _diag(general: Implementation, value: Implementation) -> Implementation:
    """A matrix with a diagonal is no view."""
    return lambda v, k=0: value(v, k) if type(v) is Array and v.ndim == 1 else general(v, k)


def _of_each(value: Implementation, look: Implementation) -> Implementation:
    """`seen`, for a function of several arrays that gives each as it is, or a view of it with more axes."""
    general = seen(value, look, None, True)
    least = look(0.0).ndim

    def of_one(x: Any) -> Any:
        if type(x) is not Array:
            return general(as_array(x))
        if x.ndim >= least:
            return x
        shape = (1, *x.shape) if x.ndim == 1 and least == 2 else None
        found = reshaped_in_turn(x, shape)
        return general(x) if found is None else found

    def implementation(*arrays: Any) -> Any:
        found = tuple([of_one(x) for x in arrays])
        return found[0] if len(found) == 1 else found

    return implementation


@implements(np.broadcast_arrays)
def broadcast_arrays(*arrays: Any, subok: bool = False) -> tuple[Any, ...]:
    parts = [as_array(x) for x in arrays]
    shape = broadcast_shapes(*[x.shape for x in parts])
    return tuple(x if x.shape == shape else FUNCTIONS[np.broadcast_to](x, shape) for x in parts)


def _reshape(general: Implementation, value: Implementation) -> Implementation:
    """The common case of a view is found sooner."""

    def implementation(x: Any, /, shape: Any = None, order: str = "C", **options: Any) -> Any:
        if type(x) is Array and order == "C" and options.get("copy") is None:
            found = reshaped_in_turn(x, (shape,) if type(shape) is int else shape)
            if found is not None:
                return found
        return general(x, shape, order, **options)

    return implementation


def _einsum(value: Implementation) -> Implementation:
    """A transposed array, or one of its diagonals, is a view in einsum too."""

    def implementation(*operands: Any, **options: Any) -> Any:
        if len(operands) > 3 or (len(operands) == 3 and isinstance(operands[0], str)):  # of several arrays
            if not options and (product := matrix_product(operands)) is not None:
                return product
            found = value(*operands, **options)
            return with_unknown_order(found) if options.get("optimize") else found  # as np.tensordot and views give it
        if not options and (total := sum_of_one(operands)) is not None:
            return total
        inputs, output, parts = normal_subscripts(operands)
        if len(parts) > 1 or not set(inputs[0]) <= set(output) or not isinstance(parts[0], Array):
            return value(*operands, **options)
        order = [inputs[0].index(s) for s in output] if len(inputs[0]) == len(output) else []
        if order and not options and (found := permuted(parts[0], tuple(order))) is not None:
            return found
        found = value(*operands, **options) if is_settled(parts[0]) else None
        view = np.einsum(*[shadow(y) if isinstance(y, Array) else y for y in operands])
        if not isinstance(view, np.ndarray):  # a number, of an array of no dimensions
            return value(*operands, **options)
        return view_of(parts[0], view, found)

    return implementation


METHODS["reshape"] = reshape_method
METHODS["transpose"] = transpose_method


def in_turn(x: Any) -> Any:
    """The items in turn, as a view in one dimension: of places that no strides give, if need be."""
    if is_part(x) or is_in_doubt(x) or _raveled(shadow(x)) is None:
        return view_of(x, places(x).reshape(-1))
    return FUNCTIONS[np.ravel](x)


@implements(method="__flat__")
def flat(x: Any) -> Any:
    """The same, but what is taken from it is a copy."""
    found = in_turn(x[...])
    found.copies = True
    return found


def _table() -> list[tuple[Any, Implementation, str | None, str | None]]:
    """(function of NumPy, what makes the view of a shadow, method of arrays, why it is not written to)."""
    return [
        (np.moveaxis, np.moveaxis, None, None),
        (np.rollaxis, np.rollaxis, None, None),
        (np.expand_dims, np.expand_dims, None, None),
        (np.squeeze, lambda x, axis=None: x.squeeze(axis), "squeeze", None),
        (np.reshape, _reshaped, None, None),
        (np.transpose, lambda x, axes=None: x.transpose(axes), None, None),
        (np.swapaxes, lambda x, axis1, axis2: x.swapaxes(axis1, axis2), "swapaxes", None),
        (np.ravel, _raveled, "ravel", None),
        (np.broadcast_to, np.broadcast_to, None, BROADCAST),
        (np.diagonal, lambda x, *args, **axes: x.diagonal(*args, **axes), "diagonal", DIAGONAL),
        (sliding_window_view, _windows, None, WINDOWS),
        (np.linalg.diagonal, np.linalg.diagonal, None, DIAGONAL),
        (np.diag, lambda x, k=0: x.diagonal(k) if x.ndim == 2 else None, None, DIAGONAL),
    ]


# What is decided before an array is looked at.
OTHERWISE: dict[Any, Callable[[Implementation, Implementation], Implementation]] = {
    np.ravel: _apart,
    np.reshape: _reshape,
    np.transpose: _permuting(axes_in_order),
    np.swapaxes: _permuting(axes_swapped),
    np.moveaxis: _permuting(axes_moved),
    np.rollaxis: _permuting(axes_rolled),
    np.broadcast_to: _broadcast,
    np.diag: _diag,
}


def _declare_views() -> None:
    for function, look, method, sealed in _table():
        ordered = {"ordered_from": ORDERED_FROM[function]} if function in ORDERED_FROM else {}
        view = seen(value := FUNCTIONS[function], look, sealed, by_view=function in BY_VIEW, **ordered)
        implements(function, method=method)(OTHERWISE[function](view, value) if function in OTHERWISE else view)
    for function in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
        implements(function)(_of_each(FUNCTIONS[function], function))
    implements(np.einsum)(_einsum(FUNCTIONS[np.einsum]))


_declare_views()
