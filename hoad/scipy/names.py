"""Names of SciPy's, as hoad has them: its own implementation, or else what SciPy has, adopted."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from hoad._adopt.adopt import adopt, adopting
from hoad._scipy import implemented


class Adopted:
    """A class of SciPy's, or an object of one, whose methods take traced values.

    Where SciPy asks, it is what it stands for: a class, or an object of one.
    """

    def __init__(self, original: Any) -> None:
        self._original = original

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._original)

    @property
    def __bases__(self) -> Any:
        return (self._original,)  # which `issubclass` goes through

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = adopt(self._original)(*args, **kwargs)
        is_result = isinstance(made, (tuple, np.ndarray)) or not type(made).__module__.startswith("scipy.")
        return made if is_result else Adopted(made)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_original":  # of an object that is being copied
            raise AttributeError(name)
        with adopting():
            found = getattr(self._original, name)
        return _of_function(found) if callable(found) and hasattr(found, "__func__") else found

    __array_priority__ = 11.0  # more than that of sparse arrays: NumPy leaves x @ self to it

    def __matmul__(self, other: Any) -> Any:
        return adopt(type(self._original).__matmul__)(self._original, other)

    def __rmatmul__(self, other: Any) -> Any:
        return adopt(type(self._original).__rmatmul__)(self._original, other)

    def __repr__(self) -> str:
        return repr(self._original)


def finder(part: str) -> Callable[[str], Any]:
    """The `__getattr__` of the module that stands for a part of SciPy."""

    def found(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module 'hoad.{part}' has no attribute {name!r}")
        original = getattr(importlib.import_module(part), name)
        if isinstance(original, ModuleType):
            known = importlib.util.find_spec(f"hoad.{original.__name__}")
            return original if known is None else importlib.import_module(known.name)
        try:
            return implemented(part)[original]
        except (KeyError, TypeError):  # or something that has no hash, as an array
            return _adopted(original)

    return found


def _adopted(original: Any) -> Any:
    is_error = isinstance(original, type) and issubclass(original, BaseException)
    if is_error or isinstance(original, np.ufunc):  # which traced values find themselves
        return original
    if isinstance(original, type) or (
        callable(original) and not hasattr(original, "__code__") and type(original).__module__.startswith("scipy.")
    ):
        return Adopted(original)
    return _of_function(original) if callable(original) else original


def _of_function(original: Callable[..., Any]) -> Callable[..., Any]:
    """A function of SciPy's, adopted; an object that it returns and that is called, as a spline, is adopted, too."""
    adopted = adopt(original)

    @functools.wraps(original, updated=())
    def function(*args: Any, **kwargs: Any) -> Any:
        made = adopted(*args, **kwargs)
        is_called = callable(made) and type(made).__module__.startswith("scipy.") and not isinstance(made, type)
        return Adopted(made) if is_called else made

    return function
