"""What adopted code finds in the place of Python's conversions: `float(x)`, `int(x)`, `complex(x)`, `type(x)`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from hoad._core.base.frame_globals import (
    AdoptedModule,
    Apart,
    adopts,
    call_instead,
    found_for,
    import_with,
    original_of,
    stand_in,
)
from hoad._core.base.where import here
from hoad._core.trace.traced import is_traced, plain_value, representing_as

NARROW = 1e-9  # a tolerance that nothing but the same number passes


def _converting(cls: type, convert: Callable[..., Any]) -> Callable[..., Any]:
    """What code calls that calls a class, to make a number of something."""

    def either(*args: Any, **kwargs: Any) -> Any:
        return (convert if any(map(is_traced, args)) else cls)(*args, **kwargs)

    return either


def number_of(x: Any, like: Any) -> Any:
    """The traced number in a traced value of one item, which represents a number of the class of `like`."""
    if x.ndim:
        float(np.zeros(x.shape))  # raises unless NumPy takes such an array for a number
        x = np.reshape(x, ())
    return representing_as(x[()], like)


def as_float(x: Any) -> Any:
    if x.dtype.kind == "c":
        raise TypeError(f"float() takes no complex number ({here()}): take x.real.")
    return number_of(x if x.dtype == np.float64 else x.astype(np.float64), 0.0)


def as_complex(x: Any = 0.0, y: Any = 0.0) -> Any:
    return number_of(x + 1j * y, 0j)


def as_int(x: Any, convert: Callable[..., Any] = int, recorded: Callable[..., Any] = np.trunc) -> int:
    """An integer made of a traced value, guarded: it has no derivative, and Python decides by it."""
    x = number_of(x, 0.0)
    if x.dtype.kind in "iu":
        return int(x.__index__())
    whole: int = convert(float(plain_value(x)))
    if not recorded(x) == whole:
        raise ValueError(f"{convert.__name__}() of {plain_value(x)} ({here()}).")
    return whole


@functools.wraps(round)
def rounded(number: Any, ndigits: int | None = None) -> Any:
    if not is_traced(number) or ndigits is not None:
        return round(number, ndigits)
    return as_int(number, round, np.rint)


def class_of(*args: Any, **kwargs: Any) -> Any:
    """The class of the value that a traced one stands for, or a class that is made."""
    if len(args) == 1 and is_traced(args[0]):
        return args[0].__class__
    if len(args) == 3:  # it is of the module whose code runs
        args = (*args[:2], {"__module__": sys._getframe(1).f_globals.get("__name__"), **args[2]})
    return type(*args, **kwargs)


def globals_of_module() -> dict[str, Any]:
    return original_of(sys._getframe(1).f_globals)


def imported(
    name: str, space: Any = None, scope: Any = None, names: Sequence[str] | None = (), level: int = 0
) -> ModuleType:
    """``__import__``, for code that imports while it runs: what a module does then is not adopted."""
    if not adopts():
        return __import__(name, space, scope, names or (), level)
    with Apart():
        module: ModuleType = found_for(__import__(name, space, scope, names or (), level))
    held = [getattr(module, x) for x in names or () if hasattr(module, x)]
    return module if all(found_for(x) is x for x in held) else AdoptedModule(module)


def declare() -> None:
    for cls, convert in ((float, as_float), (int, as_int), (complex, as_complex)):
        call_instead(cls, _converting(cls, convert))
    call_instead(type, class_of)
    stand_in(round, rounded)
    stand_in(globals, globals_of_module)
    import_with(imported)
