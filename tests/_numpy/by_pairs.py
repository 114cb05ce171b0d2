"""Methods of ufuncs where NumPy's own are wrong.

With AVX-512, NumPy's `power.reduce` and `arctan2.reduce` read what they have not written yet, and `reduceat` along
contiguous items too (seen in NumPy 2.4).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._core.trace.traced import is_traced

X = np.array([0.3, 1.2, 2.0])


def right(name: str) -> Any:
    """The ufunc of this name, or the same with methods that are right."""
    ufunc = getattr(np, name)
    return ufunc if ufunc.nin != 2 or _is_right(ufunc) else ByPairs(ufunc)


def _is_right(ufunc: np.ufunc) -> bool:
    return "dd->d" not in ufunc.types or bool(ufunc.reduce(X) == ufunc.accumulate(X)[-1])


class ByPairs:
    """A ufunc of two operands whose methods call it for pairs of numbers, where they are not traced."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self.ufunc, self.of_objects = ufunc, np.frompyfunc(ufunc, 2, 1)
        self.outer, self.at = ufunc.outer, ufunc.at

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.ufunc(*args, **options)

    def _method(self, name: str, x: Any, *args: Any, **options: Any) -> Any:
        if is_traced(x) or not isinstance(x, np.ndarray):
            return getattr(self.ufunc, name)(x, *args, **options)
        found = getattr(self.of_objects, name)(x.astype(object), *args, **options)
        return np.asarray(found, x.dtype)[()]

    def reduce(self, x: Any, *args: Any, **options: Any) -> Any:
        return self._method("reduce", x, *args, **options)

    def reduceat(self, x: Any, *args: Any, **options: Any) -> Any:
        return self._method("reduceat", x, *args, **options)

    def accumulate(self, x: Any, *args: Any, **options: Any) -> Any:
        return self._method("accumulate", x, *args, **options)
