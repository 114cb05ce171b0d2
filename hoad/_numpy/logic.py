"""Booleans and bits: bitwise operators, whether all or any hold, whether two are alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.base.where import here, name_of
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.traced import ANSWERING, FUNCTIONS, REDUCTIONS, is_traced
from hoad._numpy.indexing import where
from hoad._numpy.reductions import masked, max, min
from hoad._numpy.registry import Axis, as_traced, implements, is_given, keeps_axes, only_defaults
from hoad._ops import primitives as prim
from hoad.errors import DTypeError

LOGICAL: dict[np.ufunc, np.ufunc] = {
    np.bitwise_and: np.logical_and,
    np.bitwise_or: np.logical_or,
    np.bitwise_xor: np.logical_xor,
    np.invert: np.logical_not,
}
INSTEAD: dict[np.ufunc, str] = {
    np.left_shift: "Write x * 2.0**k, or np.ldexp(x, k) of integers k",
    np.right_shift: "Write x * 2.0**-k, or np.ldexp(x, -k) of integers k",
}


def _bitwise(function: np.ufunc) -> None:
    """Of booleans the logical operation, of integers the bits; other numbers are refused, as by NumPy."""

    def implementation(*operands: Any) -> Any:
        given: list[Any] = [x if type(x) is int else as_traced(x) for x in operands]
        logical = LOGICAL.get(function)
        if logical is not None and all(type(x) is not int and x.dtype == bool for x in given):
            return logical(*operands)
        other = next((x.dtype for x in given if type(x) is not int and x.dtype.kind not in "biu"), None)
        if other is not None:
            instead = INSTEAD.get(function, "Convert with x.astype(int), which has no derivative")
            raise DTypeError(f"{name_of(function)} takes integers, but was given {other} ({here()}). {instead}.")
        kinds = function.resolve_dtypes((*[int if type(x) is int else x.dtype for x in given], None))
        return apply_primitive(
            prim.OF_INTEGERS[function],
            None,
            *[as_traced(x).astype(dtype) for x, dtype in zip(given, kinds[:-1], strict=True)],
        )

    FUNCTIONS[function] = implementation


for _ufunc in prim.OF_INTEGERS:
    _bitwise(_ufunc)


@implements(np.all, method="all")
def all_hold(x: Any, axis: Axis = None, out: Any = None, keepdims: Any = False, *, where: Any = None) -> Any:
    if out is not None:
        only_defaults("all", out=out)
    return _asked(np.all, min, _counted(x, where, True), axis, keepdims)


@implements(np.any, method="any")
def any_holds(x: Any, axis: Axis = None, out: Any = None, keepdims: Any = False, *, where: Any = None) -> Any:
    if out is not None:
        only_defaults("any", out=out)
    return _asked(np.any, max, _counted(x, where, False), axis, keepdims)


def _counted(x: Any, where: Any, neutral: bool) -> Any:
    x = as_traced(x)
    return masked(np.not_equal(x, 0), where, neutral) if is_given(where) else x


def _asked(function: Any, extremum: Any, x: Any, axis: Axis, keepdims: Any) -> Any:
    """The least or the greatest of 1 where x holds and 0 elsewhere; an empty x has neither."""
    if not x.size:
        return function(np.ones(x.shape), axis, keepdims=keeps_axes(keepdims))
    return extremum(where(x, 1.0, 0.0), axis, keepdims=keepdims) > 0


def _infinite(name: str, sign: Callable[[Any], Any]) -> Callable[..., Any]:
    def implementation(x: Any, out: Any = None) -> Any:
        only_defaults(name, out=out)
        x = as_traced(x)
        if x.dtype.kind == "c":
            raise TypeError(f"This operation is not supported for {x.dtype} values because it would be ambiguous.")
        return np.logical_and(np.isinf(x), sign(x))

    return implementation


implements(np.isposinf)(_infinite("isposinf", lambda x: np.logical_not(np.signbit(x))))
implements(np.isneginf)(_infinite("isneginf", np.signbit))


# ---- whether two are alike ------------------------------------------------------------------------------------------


@implements(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: bool = False) -> Any:
    x, y, rtol, atol = (v if isinstance(v, (int, float, complex)) else as_traced(v) for v in (a, b, rtol, atol))
    if not (is_traced(rtol) or is_traced(atol)):
        np.isclose(0.0, 0.0, rtol, atol)  # which warns of tolerances that are not finite
    if not isinstance(y, (int, float, complex)):
        y = y.astype(np.result_type(y.dtype, 1.0))
    near = np.less_equal(np.abs(np.subtract(x, y)), atol + rtol * np.abs(y))
    near = np.logical_or(np.logical_and(near, np.isfinite(y)), np.equal(x, y))
    return np.logical_or(near, np.logical_and(np.isnan(x), np.isnan(y))) if equal_nan else near


@implements(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: bool = False) -> Any:
    return _answer(isclose(a, b, rtol, atol, equal_nan))


@implements(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    x, y = as_traced(a1), as_traced(a2)
    if x.shape != y.shape:
        return False
    same = np.equal(x, y)
    if equal_nan and x.dtype.kind in "fc" and y.dtype.kind in "fc":
        same = np.logical_or(same, np.logical_and(np.isnan(x), np.isnan(y)))
    return _answer(same)


@implements(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> Any:
    x, y = as_traced(a1), as_traced(a2)
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return _answer(np.equal(x, y))


def _answer(each: Any) -> Any:
    """Whether all hold, as a boolean of Python."""
    found: Any = np.all(each)
    return found if is_traced(found) else bool(found)


ANSWERING.update((np.allclose, np.array_equal, np.array_equiv))


@implements(np.isin)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None
) -> Any:
    params = (bool(assume_unique), bool(invert), kind)
    return apply_primitive(prim.ISIN, params, as_traced(element), as_traced(test_elements))


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
