"""Fourier transforms of `scipy.fft`, which are NumPy's but for their compiled code."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.fft

from hoad._core.base.frame_globals import Apart
from hoad._core.trace.coerce import holds_traced
from hoad._scipy.registry import IMPLEMENTED, Function

OF_ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
OF_AXES = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")


def _recorded(name: str) -> Function:
    original, other = getattr(scipy.fft, name), getattr(np.fft, name)

    def of_numpy(x: Any, shape: Any = None, axes: Any = None, norm: Any = None, *_: Any, **named: Any) -> Any:
        if name in OF_ONE_AXIS:
            axis = -1 if axes is None else axes
            return other(x, named.get("n", shape), named.get("axis", axis), named.get("norm", norm))
        shape, axes = named.get("s", shape), named.get("axes", axes)
        if axes is None:
            axes = (-2, -1) if name.endswith("2") else tuple(range(-(x.ndim if shape is None else len(shape)), 0))
        return other(x, shape, axes, named.get("norm", norm))

    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        if not holds_traced(args[:1]):
            with Apart():
                return original(*args, **kwargs)
        return of_numpy(*args, **kwargs)

    return function


for _name in (*OF_ONE_AXIS, *OF_AXES):
    IMPLEMENTED[getattr(scipy.fft, _name)] = _recorded(_name)
