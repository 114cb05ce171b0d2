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


def of_plain_values(place: ModuleType | None) -> None:
    """Let the other compiled functions of a module take arrays that may hold traced values, but hold none."""
    for original in vars(place or object).values():
        if callable(original) and not isinstance(original, type) and original not in IMPLEMENTED:
            IMPLEMENTED[original] = _of_plain_values(original)


def _of_plain_values(original: Function) -> Function:
    def function(*args: Any, **named: Any) -> Any:
        with Apart():
            values = [
                np.asarray(x).copy() if is_traced(x) else x for x in args
            ]  # raises for one that depends on something
            found = original(*values, **named)
            for x, value in zip(args, values, strict=True):
                if x is not value:
                    x[...] = value
            return found

    return function
