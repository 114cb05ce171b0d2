"""Compiled functions that SciPy's Python code ends in: what adopted code finds in their place."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from hoad._core.base.frame_globals import Apart
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import is_traced
from hoad._numpy.registry import as_traced
from hoad._scipy.registry import IMPLEMENTED, Function


def module(name: str) -> ModuleType | None:
    """A module that only some releases of SciPy have."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def in_place_of(place: ModuleType | None, name: str, out: int | None = None) -> Callable[[Function], Function]:
    """Register what runs where an argument is traced; `out` is the place of the array that the result is written to."""
    original = getattr(place, name, None)

    def register(implementation: Function) -> Function:
        if original is None:
            return implementation

        @functools.wraps(implementation)
        def function(*args: Any, **named: Any) -> Any:
            if out is not None and "out" in named:
                args = (*args, named.pop("out"))
            given = args if out is None else (*args[:out], *args[out + 1 :])
            if holds_traced(given) or holds_traced(list(named.values())):
                with Apart():
                    made = implementation(*given, **named)
            elif out is None or not holds_traced(args):
                with Apart():
                    return original(*args, **named)
            else:  # a plain result in an array that may hold traced values
                with Apart():
                    made = np.array(implementation(*given, **named))
            if out is None:
                return made
            args[out][...] = made
            return args[out]

        IMPLEMENTED[original] = function
        return function

    return register


def of_plain_values(place: ModuleType | None) -> list[tuple[Function, Function]]:
    """Let the other compiled functions of a module take arrays that may hold traced values, but hold none."""
    found: list[tuple[Function, Function]] = []
    if place is None:
        return found
    for original in vars(place).values():
        if _is_of(place, original) and original not in IMPLEMENTED:
            has_types = hasattr(type(original), "__getitem__")
            IMPLEMENTED[original] = OfTypes(original) if has_types else _of_plain_values(original)
            found.append((original, IMPLEMENTED[original]))
    return found


def _is_of(place: ModuleType, x: Any) -> bool:
    """Whether a module has a function as its own."""
    if not callable(x) or isinstance(x, (type, np.ufunc)):
        return False
    own = (place.__name__, place.__name__.rpartition(".")[2])  # some of Cython's know only the last part of the name
    return not hasattr(x, "__code__") or getattr(x, "__module__", None) in own


class OfTypes:
    """A function of Cython's that is chosen by types, in square brackets."""

    def __init__(self, original: Any) -> None:
        self._original, self._function = original, _of_plain_values(original)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._function(*args, **named)

    def __getitem__(self, types: Any) -> Function:
        return _of_plain_values(self._original[types])


def _of_plain_values(original: Function) -> Function:
    def function(*args: Any, **named: Any) -> Any:
        with Apart():
            values = [as_constant(x) for x in args]
            found = original(*values, **named)
            for x, value in zip(args, values, strict=True):
                if x is not value:
                    x[...] = value
            return found

    return function


def as_constant(x: Any) -> Any:
    """A plain array for a traced one that depends on nothing, or for one of lists of such; raises for any other."""
    if is_traced(x):
        found = np.asarray(x)
        return found.copy() if found.dtype != object else float(x)
    if not isinstance(x, np.ndarray) or x.dtype != object or not holds_traced(x):
        return x
    lists = np.empty(x.shape, object)
    for at, items in np.ndenumerate(x):
        lists[at] = np.asarray(as_traced(items)).tolist() if holds_traced(items) else items
    return lists
