"""Object arrays of traced numbers, where NumPy's own Python code works on items of any kind.

`numpy.polynomial` and `numpy.vectorize` make arrays of what they are given, and NumPy does not let them be overridden.
Both are made for objects too: they get arrays of traced numbers, and return such arrays. Adopted code runs them with
traced arrays instead (`hoad._core.base.frame_globals`).
"""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.memory_order import stand_in_memory
from hoad._core.trace.traced import METHODS, Array, leaves_product
from hoad._numpy.registry import as_traced
from hoad.errors import NoRuleError

POLYNOMIALS = os.path.join(os.path.dirname(np.__file__), "polynomial") + os.sep
OF_VECTORIZE = np.vectorize.__init__.__code__.co_filename
IN_VECTORIZE = {"_get_ufunc_and_otypes", "_vectorize_call", "_vectorize_call_with_signature", "<listcomp>", "<genexpr>"}

# What ends in LAPACK, which takes no objects: ends of names of functions.
OF_LAPACK = ("fit", "roots")


def as_objects(x: Array, dtype: Any) -> np.ndarray | None:
    """An array of the items of x, if objects are asked for, or by code that works on them; else None."""
    frame = sys._getframe(1)
    if dtype is None:
        code = frame.f_code
        if leaves_product(frame, x.ndim):
            return np.empty((), object)
        if code.co_filename.startswith(POLYNOMIALS):
            _refuse_lapack(frame)
        elif code.co_filename != OF_VECTORIZE or code.co_name not in IN_VECTORIZE:
            return None
    elif np.dtype(dtype) != object:
        return None
    memory = stand_in_memory(x)
    made = np.empty(x.shape, object) if memory is None else np.empty_like(memory, object)
    for k in np.ndindex(x.shape):
        made[k] = x[k]
    return made


def _refuse_lapack(frame: FrameType | None) -> None:
    called = ""
    while frame is not None and frame.f_code.co_filename.startswith(POLYNOMIALS):
        name = frame.f_code.co_name
        called = name if name.endswith(OF_LAPACK) and not name.endswith("fromroots") else called
        frame = frame.f_back
    if called:
        raise NoRuleError(
            f"{called} of numpy.polynomial takes traced values in adopted code only ({here()}): "
            "hoad.grad(hoad.adopt(f)) for a function f that calls it. Or take hoad.value(x) if plain numbers are "
            "meant."
        )


METHODS["__as_objects__"] = as_objects


def of_polynomials(function: Any, *args: Any, **options: Any) -> Any:
    """NumPy's own code, on traced values."""
    return as_traced(function._implementation(*args, **options))


METHODS["__of_polynomials__"] = of_polynomials
