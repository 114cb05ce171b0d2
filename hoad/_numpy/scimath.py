"""`numpy.emath`: functions that are complex where no real number would do, which is decided by values and guarded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._numpy.complex import is_complex
from hoad._numpy.registry import as_traced, implements


def _outside(x: Any, is_outside: Callable[[Any], Any]) -> Any:
    """x, as complex numbers if one of its real numbers is outside of where the function is real."""
    x = as_traced(x)
    if is_complex(x):
        real = np.equal(np.imag(x), 0)
        outside = bool(np.any(np.logical_and(real, is_outside(np.real(x)))))
    else:
        outside = bool(np.any(is_outside(x)))
    if not outside:
        return x
    single = x.dtype.char in "fbBhHF"
    return x.astype(np.complex64 if single else np.complex128)


def _negative(x: Any) -> Any:
    return x < 0


def _large(x: Any) -> Any:
    return np.abs(x) > 1


def _of_one(function: np.ufunc, is_outside: Callable[[Any], Any]) -> None:
    def implementation(x: Any) -> Any:
        return function(_outside(x, is_outside))

    implements(getattr(np.emath, function.__name__))(implementation)


_function: np.ufunc
for _function in (np.sqrt, np.log, np.log2, np.log10):
    _of_one(_function, _negative)
for _function in (np.arccos, np.arcsin, np.arctanh):
    _of_one(_function, _large)


@implements(np.emath.logn)
def logn(n: Any, x: Any) -> Any:
    return np.log(_outside(x, _negative)) / np.log(_outside(n, _negative))


@implements(np.emath.power)
def power(x: Any, p: Any) -> Any:
    p = as_traced(p)
    if p.dtype.kind in "biu" and np.any(p < 0):
        p = p * 1.0
    return np.power(_outside(x, _negative), p)
