"""How an implementation is registered, and what all of them need."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.graph.inspect import const_value
from hoad._core.graph.tape import Graph
from hoad._core.trace.axes import normal_axes as normal_axes
from hoad._core.trace.axes import normal_axis as normal_axis
from hoad._core.trace.traced import FUNCTIONS, METHODS, Array, guard_value, is_traced, traced_node
from hoad._core.trace.views import as_traced as as_traced  # for all that import this module
from hoad.errors import NoRuleError

Axis = int | Sequence[int] | None

FLOAT64 = np.dtype(np.float64)

# What to write instead of an option that is not recorded, where the result is another without it.
WITHOUT = {
    "dtype": "Write x.astype(dtype).",
    "sorter": "Use the sorted array, a[sorter].",
}


def implements(*functions: Callable[..., Any], method: str | None = None) -> Callable[..., Any]:
    """Register an implementation of NumPy functions, and of a method if named."""

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            FUNCTIONS[function] = implementation
        if method is not None:
            METHODS[method] = implementation
        if "<" in implementation.__qualname__:  # made by a function: errors of Python's name what was called
            implementation.__name__ = implementation.__qualname__ = method or functions[0].__name__
        return implementation

    return register


@functools.lru_cache(1024)
def _first_parameter(function: Callable[..., Any]) -> str | None:
    try:
        parameter = next(iter(inspect.signature(function).parameters.values()))
    except ValueError:  # of a function in C that does not say, before NumPy 2.4
        return None
    return parameter.name if parameter.kind is parameter.POSITIONAL_OR_KEYWORD else None


def first_by_position(function: Callable[..., Any], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call of NumPy's function by keywords only: the first, which has many names, by position."""
    first = _first_parameter(function)
    if first not in kwargs:
        return (), kwargs
    rest = dict(kwargs)
    return (rest.pop(first),), rest


METHODS["__first_by_position__"] = first_by_position


def operand_at(graph: Graph, k: int) -> Any:
    """What an operand of a recorded node is: a traced value, or a constant."""
    return traced_node(graph, k) if k >= 0 else const_value(graph, k)


def decided(x: Any) -> Any:
    """The plain value of integers or booleans; of traced ones guarded, so that another value is recorded again."""
    if isinstance(x, Array):
        return guard_value(x) if x.size else np.zeros(x.shape, x.dtype)
    return bool(x) if is_traced(x) else x


def read_only_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Zeros that take no memory and cannot be written to."""
    return np.ndarray(shape, dtype, bytes(dtype.itemsize), strides=(0,) * len(shape))


def stand_in(x: Any) -> Any:
    """A plain value of the same class, shape and dtype, in place of a traced one, for what asks for nothing else."""
    if not is_traced(x):
        return type(x)(map(stand_in, x)) if type(x) in (list, tuple) else x
    kind: Any = x.__class__
    if issubclass(kind, np.ndarray):
        return read_only_zeros(x.shape, x.dtype)
    return kind(0)


def as_array(x: Any) -> Any:
    """`as_traced`, which leaves an array of no dimensions what it is."""
    return x if is_traced(x) else as_traced(x)


def reduced_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """`normal_axes` of a reduction by a ufunc, which takes 0 and -1 of what has no axis, too."""
    if ndim == 0 and not isinstance(axis, (tuple, list)) and axis in (0, -1):
        return ()
    return normal_axes(axis, ndim)


def is_given(option: Any) -> bool:
    """Whether an option of a reduction says anything."""
    return option is not None and option is not True and option is not np._NoValue


def keeps_axes(keepdims: Any) -> bool:
    """Whether reduced axes are kept; NumPy has a value of its own for what was not said."""
    return keepdims is not np._NoValue and bool(keepdims)


def only_defaults(name: str, **options: Any) -> None:
    """Raise for options that are not recorded."""
    for option, value in options.items():
        if value is not None and value is not np._NoValue and value is not True:
            raise NoRuleError(
                f"np.{name} with {option}= is not recorded ({here()}). {WITHOUT.get(option, f'Leave {option} out.')}"
            )
