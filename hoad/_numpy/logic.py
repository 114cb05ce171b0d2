"""Booleans: bitwise operators, and whether all or any hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.traced import FUNCTIONS, REDUCTIONS
from hoad._numpy.indexing import where
from hoad._numpy.reductions import masked, max, min
from hoad._numpy.registry import Axis, as_traced, implements, is_given, only_defaults
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
    only_defaults("all", out=out)
    return _asked(np.all, min, _counted(x, where, True), axis, keepdims)


@implements(np.any, method="any")
def any_holds(x: Any, axis: Axis = None, out: Any = None, keepdims: Any = False, *, where: Any = None) -> Any:
    only_defaults("any", out=out)
    return _asked(np.any, max, _counted(x, where, False), axis, keepdims)


def _counted(x: Any, where: Any, neutral: bool) -> Any:
    x = as_traced(x)
    return masked(np.not_equal(x, 0), where, neutral) if is_given(where) else x


def _asked(function: Any, extremum: Any, x: Any, axis: Axis, keepdims: Any) -> Any:
    """The least or the greatest of 1 where x holds and 0 elsewhere; an empty x has neither."""
    keepdims = keepdims is not np._NoValue and bool(keepdims)
    if not x.size:
        return function(np.ones(x.shape), axis, keepdims=keepdims)
    return extremum(where(x, 1.0, 0.0), axis, keepdims=keepdims) > 0


def _reduction(ufunc: np.ufunc, asked: Callable[..., Any]) -> None:
    def reduce(
        x: Any,
        axis: Axis = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        found = asked(x, axis, out, keepdims, where=where)
        return found if initial is None or initial is np._NoValue else ufunc(initial, found)

    REDUCTIONS[ufunc] = reduce


_reduction(np.logical_and, all_hold)
_reduction(np.logical_or, any_holds)
