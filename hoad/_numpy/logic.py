"""Booleans: bitwise operators, and whether all or any hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.traced import FUNCTIONS, REDUCTIONS
from hoad._numpy.indexing import where
from hoad._numpy.reductions import max, min
from hoad._numpy.registry import Axis, as_traced, implements, only_defaults
from hoad.errors import NoRuleError


def _bitwise(function: np.ufunc, logical: np.ufunc) -> None:
    def implementation(*operands: Any) -> Any:
        if any(as_traced(x).dtype != bool for x in operands):
            raise NoRuleError(f"np.{function.__name__} of numbers is not recorded ({here()}).")
        return logical(*operands)

    FUNCTIONS[function] = implementation


_bitwise(np.bitwise_and, np.logical_and)
_bitwise(np.bitwise_or, np.logical_or)
_bitwise(np.bitwise_xor, np.logical_xor)
_bitwise(np.invert, np.logical_not)


@implements(np.all, method="all")
def all_hold(x: Any, axis: Axis = None, out: Any = None, keepdims: Any = False, *, where: Any = None) -> Any:
    only_defaults("all", out=out, where=where)
    return _asked(np.all, min, as_traced(x), axis, keepdims)


@implements(np.any, method="any")
def any_holds(x: Any, axis: Axis = None, out: Any = None, keepdims: Any = False, *, where: Any = None) -> Any:
    only_defaults("any", out=out, where=where)
    return _asked(np.any, max, as_traced(x), axis, keepdims)


def _asked(function: Any, extremum: Any, x: Any, axis: Axis, keepdims: Any) -> Any:
    """The least or the greatest of 1 where x holds and 0 elsewhere; an empty x has neither."""
    if not x.size:
        return function(np.ones(x.shape), axis, keepdims=keepdims)
    return extremum(where(x, 1.0, 0.0), axis, keepdims=keepdims) > 0


REDUCTIONS[np.logical_and] = lambda x, axis=0, dtype=None, *args, **options: all_hold(x, axis, *args, **options)
REDUCTIONS[np.logical_or] = lambda x, axis=0, dtype=None, *args, **options: any_holds(x, axis, *args, **options)
