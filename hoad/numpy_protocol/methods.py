"""Ufuncs as methods, which NumPy calls on the elements of object arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.primitive import primitives
from hoad._core.traced import METHODS


def _ufunc_method(ufunc: np.ufunc) -> Callable[..., Any]:
    """The method that NumPy calls on the elements of object arrays."""
    return lambda x, *rest: ufunc(x, *rest)


def _declare_methods() -> None:
    for primitive in primitives():
        if primitive.elementwise and isinstance(getattr(np, primitive.name, None), np.ufunc):
            METHODS.setdefault(primitive.name, _ufunc_method(primitive.function))
    METHODS["conj"] = METHODS["conjugate"] = lambda x: np.conjugate(x) if x.dtype.kind == "c" else x


_declare_methods()
