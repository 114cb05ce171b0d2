"""Ufuncs as methods, which NumPy calls on the elements of object arrays."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.graph.primitive import primitives
from hoad._core.trace.traced import METHODS


def _ufunc_method(ufunc: np.ufunc) -> Callable[..., Any]:
    """The method that NumPy calls on the elements of object arrays."""
    return lambda x, *rest: ufunc(x, *rest)


def _declare_methods() -> None:
    for primitive in primitives():
        if primitive.elementwise and isinstance(getattr(np, primitive.name, None), np.ufunc):
            METHODS.setdefault(primitive.name, _ufunc_method(primitive.function))
    METHODS["conj"] = METHODS["conjugate"] = lambda x: np.conjugate(x) if x.dtype.kind == "c" else x


def _namespace(x: Any, api_version: str | None = None) -> Any:
    """NumPy's functions as SciPy has them: what it has put around its ufuncs then calls these."""
    return next(m for name, m in sys.modules.items() if name.startswith("scipy.") and name.endswith(NAMESPACE))


def _namespace_of_numpy(x: Any, *, api_version: Any = None) -> Any:
    return np.zeros(0).__array_namespace__(api_version=api_version)  # which refuses versions that it does not have


NAMESPACE = ".array_api_compat.numpy"

_declare_methods()
METHODS["__array_namespace__"] = _namespace if os.environ.get("SCIPY_ARRAY_API") else _namespace_of_numpy
