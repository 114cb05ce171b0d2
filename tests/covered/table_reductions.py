"""Functions of many numbers: reductions, statistics, sorting and searching, sequences, and the methods of ufuncs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from covered.points import NAN, POSITIVE, SORTED, M, S, T, V, W
from covered.rows import Kind, Row
from covered.table_elementwise import ANALYTIC, BINARY, COMPARISONS, REAL, ROUNDED_ONCE, SECOND, STEPS

D, C = Kind.DIFFERENTIABLE, Kind.CONSTANT

MEANS = np.array([[0.3], [0.2]])
HOLE = np.array([[1.0, np.nan, 1.0], [1.0, 1.0, 1.0]])
REDUCED = [
    Row("numpy.sum", D, np.sum, M),
    Row("numpy.sum", D, lambda x: np.sum(x, axis=(0, 2), keepdims=True), T, "axis, keepdims"),
    Row("numpy.prod", D, lambda x: np.prod(x, axis=0), M),
    Row("numpy.mean", D, lambda x: np.mean(x, axis=1), M),
    Row("numpy.max", D, lambda x: np.max(x, axis=0), M, analytic=False),
    Row("numpy.min", D, lambda x: np.min(x, axis=0), M, analytic=False),
    Row("numpy.amax", D, np.amax, M, analytic=False),
    Row("numpy.amin", D, np.amin, M, analytic=False),
    Row("numpy.ptp", D, lambda x: np.ptp(x, axis=1), M, analytic=False),
    Row("numpy.var", D, lambda x: np.var(x, axis=1, ddof=1), M, analytic=False),
    Row("numpy.var", D, lambda x: np.var(M, axis=1, mean=x), MEANS, "mean", analytic=False),
    Row("numpy.std", D, lambda x: np.std(M, axis=1, mean=x), MEANS, "mean", analytic=False),
    Row("numpy.std", D, lambda x: np.std(x, axis=1), M, analytic=False),
    Row("numpy.average", D, lambda x: np.average(x, axis=1, weights=[1.0, 2.0, 3.0]), M),
    Row("numpy.average", D, lambda x: np.average(x, weights=[1.0, 2.0, 3.0], returned=True), V, "returned=True"),
    Row("numpy.average", D, lambda x: np.average(W, weights=x), POSITIVE, "weights"),
    Row("numpy.cov", D, np.cov, M, analytic=False),
    Row("numpy.cov", D, lambda x: np.cov(x, W, bias=True), V, "m, bias", analytic=False, exact=False),
    Row("numpy.cov", D, lambda x: np.cov(V, x), W, "y", analytic=False),
    Row("numpy.median", D, lambda x: np.median(x, axis=1), M, analytic=False),
    Row("numpy.percentile", D, lambda x: np.percentile(x, [25.0, 60.0], axis=1), M, analytic=False),
    Row("numpy.quantile", D, lambda x: np.quantile(x, 0.3), M, analytic=False),
    Row("numpy.quantile", D, lambda x: np.quantile(x, 0.3, method="hazen"), V, "method", analytic=False),
    Row("numpy.nansum", D, np.nansum, M),
    Row("numpy.nanprod", D, lambda x: np.nanprod(x, axis=0), M, analytic=False),
    Row("numpy.nanmax", D, np.nanmax, M, analytic=False),
    Row("numpy.nanmin", D, np.nanmin, M, analytic=False),
    Row("numpy.nanmean", D, lambda x: np.nanmean(x + 0 * NAN, axis=1), M, analytic=False),
    Row("numpy.nanvar", D, lambda x: np.nanvar(x, axis=1), M, analytic=False),
    Row("numpy.nanstd", D, np.nanstd, M, analytic=False),
    Row("numpy.nancumsum", D, np.nancumsum, V, analytic=False),
    Row("numpy.nancumprod", D, np.nancumprod, V, analytic=False),
    *(
        Row(f"numpy.{f.__name__}", D, lambda x, f=f: f(x * HOLE, axis=1), M, "with nan", analytic=False)
        for f in (np.nansum, np.nanprod, np.nanmax, np.nanmin, np.nanvar, np.nanstd, np.nancumsum, np.nancumprod)
    ),
    Row("numpy.cumsum", D, lambda x: np.cumsum(x, axis=1), M),
    Row("numpy.cumprod", D, lambda x: np.cumprod(x, axis=1), M),
    Row("numpy.cumulative_sum", D, lambda x: np.cumulative_sum(x, include_initial=True), V),
    Row("numpy.cumulative_prod", D, lambda x: np.cumulative_prod(x), V),
    Row("numpy.trapezoid", D, lambda x: np.trapezoid(x, [0.0, 1.0, 3.0]), V),
    Row("numpy.trapezoid", D, lambda x: np.trapezoid(W, x), V, "x"),
    Row("numpy.trapezoid", D, lambda x: np.trapezoid(W, dx=x), S, "dx"),
    Row("numpy.all", C, np.all, V),
    Row("numpy.any", C, lambda x: np.any(x > 1, axis=0), M),
]

SEARCHED = [
    Row("numpy.argmax", C, lambda x: np.argmax(x, axis=1), M),
    Row("numpy.argmin", C, np.argmin, V),
    Row("numpy.argsort", C, np.argsort, V),
    Row("numpy.argpartition", C, lambda x: np.argpartition(x, 1), V),
    Row("numpy.sort", D, lambda x: np.sort(x, axis=1), M, analytic=False),
    Row("numpy.sort", D, lambda x: np.sort(x, axis=None), M, "axis=None", analytic=False),
    Row("numpy.partition", D, lambda x: np.partition(x, 1), V, analytic=False),
    Row("numpy.searchsorted", C, lambda x: np.searchsorted(SORTED, x), V, "v"),
    Row("numpy.searchsorted", C, lambda x: np.searchsorted(x, [0.0, 1.0]), SORTED),
]

SEQUENCES = [
    Row("numpy.diff", D, lambda x: np.diff(x, axis=1), M),
    Row("numpy.diff", D, lambda x: np.diff(V, prepend=x), S, "prepend"),
    Row("numpy.diff", D, lambda x: np.diff(V, append=x), S, "append"),
    Row("numpy.ediff1d", D, np.ediff1d, V),
    Row("numpy.ediff1d", D, lambda x: np.ediff1d(V, to_end=x), W, "to_end", analytic=False),
    Row("numpy.ediff1d", D, lambda x: np.ediff1d(V, to_begin=x), W, "to_begin", analytic=False),
    Row("numpy.gradient", D, lambda x: np.gradient(V, x), SORTED, "varargs, places", analytic=False, exact=False),
    Row("numpy.gradient", D, lambda x: np.gradient(x, axis=1, edge_order=2), M, "edge_order=2", exact=False),
    Row("numpy.gradient", D, lambda x: np.gradient(x, [0.0, 1.0, 3.0]), V, exact=False),
    Row("numpy.gradient", D, lambda x: np.gradient(V, x), S, "varargs", analytic=False),
    Row("numpy.interp", D, lambda x: np.interp(x, SORTED, W), np.array([0.5, 2.0, 5.0]), analytic=False),
    Row(
        "numpy.interp",
        D,
        lambda x: np.interp(x, SORTED, W, left=x[0], right=x[1]),
        np.array([-1.0, 0.5, 5.0]),
        "x, left, right",
        analytic=False,
    ),
    Row("numpy.interp", D, lambda x: np.interp([0.5, 2.0], x, W), SORTED, "xp", analytic=False, second=SORTED - 0.4),
    Row("numpy.interp", D, lambda x: np.interp([0.5, 2.0], SORTED, x), W, "fp"),
    Row("numpy.convolve", D, lambda x: np.convolve(x, [1.0, 2.0]), V),
    Row("numpy.convolve", D, lambda x: np.convolve([1.0, 2.0], x, "same"), V, "v"),
    Row("numpy.correlate", D, lambda x: np.correlate(x, W, "full"), V),
    Row("numpy.correlate", D, lambda x: np.correlate(W, x, "full"), V, "v", analytic=False),
    Row("numpy.polyval", D, lambda x: np.polyval(x, 1.5), V),
    Row("numpy.polyval", D, lambda x: np.polyval([1.0, -2.0, 0.5], x), V, "x"),
    Row("numpy.vander", D, np.vander, V),
]


def _at(f: Any, *values: Any) -> Callable[[Any], Any]:
    def g(x: Any) -> Any:
        y = np.zeros_like(x) + x
        f.at(y, [0, 1, 2], *values)
        return y

    return g


def _at_value(f: Any, a: Any) -> Callable[[Any], Any]:
    def g(x: Any) -> Any:
        y = np.array(a, like=x)
        f.at(y, [0, 1, 2], x)
        return y

    return g


def _of_truths(f: Any) -> Callable[[Any], Any]:
    def g(x: Any) -> Any:
        y = x > 0
        f.at(y, [0, 1], *[[True, False]][: f.nin - 1])
        return y

    return g


def _methods() -> Iterator[Row]:
    for name, (a, b, analytic) in BINARY.items():
        f = getattr(np, name)
        yield Row(f"numpy.{name}.outer", D, lambda x, f=f, b=b: f.outer(x, b), a, analytic=analytic)
        yield Row(f"numpy.{name}.outer", D, lambda x, f=f, a=a: f.outer(a, x), b, "B", analytic=analytic)
        yield Row(f"numpy.{name}.at", D, _at_value(f, a), b, "b", analytic=False, exact=False)
    for name in COMPARISONS:
        f = getattr(np, name)
        yield Row(f"numpy.{name}.outer", C, lambda x, f=f: f.outer(x, SECOND), V)
        yield Row(f"numpy.{name}.at", C, _at(f, SECOND), V)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "invert"):
        f = getattr(np, name)
        yield Row(f"numpy.{name}.at", C, _of_truths(f), V, note="Of booleans.")
        if f.nin == 2:
            yield Row(f"numpy.{name}.outer", C, lambda x, f=f: f.outer(x > 0, x < 1), V, note="Of booleans.")
    for name in STEPS:
        yield Row(f"numpy.{name}.at", C, _at(getattr(np, name)), V)
    for name, x in {**ANALYTIC, **dict.fromkeys(REAL, V)}.items():
        f = getattr(np, name)
        yield Row(f"numpy.{name}.at", D, _at(f), x, analytic=name in ANALYTIC, exact=name in ROUNDED_ONCE)


ROWS = [
    *REDUCED,
    *SEARCHED,
    *SEQUENCES,
    *_methods(),
    Row("numpy.add.reduce", D, np.add.reduce, M),
    Row("numpy.multiply.reduce", D, np.multiply.reduce, M),
    Row("numpy.maximum.reduce", D, np.maximum.reduce, M, analytic=False),
    Row("numpy.minimum.reduce", D, np.minimum.reduce, M, analytic=False),
    Row("numpy.logical_and.reduce", C, np.logical_and.reduce, M),
    Row("numpy.logical_or.reduce", C, np.logical_or.reduce, M),
    Row("numpy.divmod.outer", D, lambda x: np.divmod.outer(x, SECOND), V, analytic=False),
    Row("numpy.ldexp.outer", D, lambda x: np.ldexp.outer(x, [1, -2]), V, analytic=False),
    Row("numpy.heaviside.at", C, _at(np.heaviside, 0.5), V),
    Row("numpy.nextafter.at", D, _at(np.nextafter, W), V, analytic=False),
    Row("numpy.heaviside.outer", C, lambda x: np.heaviside.outer(x, [0.5, 1.0]), V),
    Row("numpy.nextafter.outer", D, lambda x: np.nextafter.outer(x, [0.5, 1.0]), W, analytic=False),
]
