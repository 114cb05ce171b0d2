"""How an implementation is registered, and what all of them need."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from hoad._core.aliases import as_number
from hoad._core.operands import as_numbers, holds_traced
from hoad._core.traced import FUNCTIONS, METHODS, is_traced
from hoad._core.where import here
from hoad.errors import NoRuleError

Axis = int | Sequence[int] | None

FLOAT64 = np.dtype(np.float64)


def implements(*functions: Callable[..., Any], method: str | None = None) -> Callable[..., Any]:
    """Register an implementation of NumPy functions, and of a method if named."""

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            FUNCTIONS[function] = implementation
        if method is not None:
            METHODS[method] = implementation
        return implementation

    return register


def as_traced(x: Any) -> Any:
    """Traced values and plain arrays as they are; sequences that hold traced values packed into one array.

    An array of no dimensions becomes the number in it, as in NumPy's functions.
    """
    if is_traced(x):
        return as_number(x)
    if holds_traced(x):
        return METHODS["__pack__"](x)
    return as_numbers(x)


def as_array(x: Any) -> Any:
    """`as_traced`, which leaves an array of no dimensions what it is."""
    return x if is_traced(x) else as_traced(x)


def normal_axis(axis: SupportsIndex, ndim: int) -> int:
    """The axis as a non-negative number."""
    found = operator.index(axis)
    if not -ndim <= found < ndim:
        raise np.exceptions.AxisError(found, ndim)
    return found % ndim


def normal_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """The axes as a sorted tuple of non-negative numbers."""
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int and 0 <= axis < ndim:
        return (axis,)
    axes = [normal_axis(a, ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if len(set(axes)) < len(axes):
        raise ValueError(f"duplicate axes in {axis}")
    return tuple(sorted(axes))


def only_defaults(name: str, **options: Any) -> None:
    """Raise for options that are not recorded."""
    for option, value in options.items():
        if value is not None and value is not np._NoValue and value is not True:
            raise NoRuleError(f"np.{name} with {option}= is not recorded ({here()}). Leave {option} out.")
