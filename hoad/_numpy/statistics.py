"""Means and spreads."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.kernels.ufuncs import smooth
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.traced import REDUCTIONS, is_traced
from hoad._numpy.complex import conjugate, imag, is_complex, real, refuse_complex, squared_size
from hoad._numpy.creation import concatenate
from hoad._numpy.indexing import where as choose_where
from hoad._numpy.products import inexact, root
from hoad._numpy.reductions import in_dtype, lowest, mask_of, max, mean, min, prod, sum
from hoad._numpy.registry import (
    Axis,
    as_traced,
    implements,
    is_given,
    keeps_axes,
    normal_axes,
    only_defaults,
    reduced_axes,
)
from hoad._numpy.shape import broadcast_to, reshape
from hoad._ops import primitives as prim


@implements(np.var, method="var")
def var(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = np._NoValue,
) -> Any:
    """The mean square of what is left when the mean is taken off; `where` says which items count."""
    only_defaults("var", out=out)
    if correction is not np._NoValue and correction is not None:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    a = inexact(a) if dtype is None else as_traced(a).astype(dtype)
    axes = normal_axes(axis, a.ndim)
    count: Any = math.prod([a.shape[d] for d in axes])
    taken = None
    if is_given(where):
        taken = mask_of(a, where)
        count = sum(taken.astype(prim.real_dtype(a.dtype)), axes, keepdims=True)
    if mean is None or mean is np._NoValue:
        mean = sum(a if taken is None else choose_where(taken, a, 0.0), axes, keepdims=True) / count
    left = a - mean
    if taken is not None:
        left = choose_where(taken, left, 0.0)
        count = sum(taken.astype(prim.real_dtype(a.dtype)), axes, keepdims=keeps_axes(keepdims))
    return sum(squared_size(left), axes, keepdims=keepdims) / _at_least_zero(count, ddof)


def _at_least_zero(count: Any, ddof: float) -> Any:
    return np.maximum(count - ddof, 0.0) if np.ndim(count) or is_traced(count) else float(np.fmax(count - ddof, 0))


@implements(np.std, method="std")
def std(a: Any, *args: Any, **options: Any) -> Any:
    """The derivative where all items are equal is the subgradient 0, as that of a norm at 0."""
    return root(var(a, *args, **options))


def weights_of(a: Any, w: Any, axis: Axis) -> Any:
    """One for each item of a, of weights that may be given along some axes only."""
    if tuple(w.shape) != tuple(a.shape):
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        order = [d % a.ndim for d in (axis if isinstance(axis, (tuple, list)) else (axis,))]
        if tuple(w.shape) != tuple(a.shape[d] for d in order):
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        w = np.transpose(w, np.argsort(order)) if w.ndim > 1 else w
        w = reshape(w, tuple(n if d in order else 1 for d, n in enumerate(a.shape)))
    return broadcast_to(w, tuple(a.shape))


@implements(np.average)
def average(a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    a = inexact(a)
    axes = normal_axes(axis, a.ndim)
    if weights is None:
        scale: Any = np.asarray(math.prod([a.shape[d] for d in axes]), a.dtype)
        found = mean(a, axes, keepdims=keepdims)
    else:
        w = as_traced(weights)
        w = weights_of(a, w.astype(np.result_type(a.dtype, w.dtype)), axis)
        scale = sum(w, axes, keepdims=keepdims)
        if not is_traced(scale) and np.any(np.equal(scale, 0)):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        found = sum(a * w, axes, keepdims=keepdims) / scale
    return (found, broadcast_to(as_traced(scale), tuple(found.shape))) if returned else found


@implements(np.ptp)
def ptp(a: Any, axis: Axis = None, out: Any = None, keepdims: Any = False) -> Any:
    only_defaults("ptp", out=out)
    return max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims)


# Before NumPy 2.2 a single row of m is one variable too.
ROW_IS_ONE = np.ndim(np.cov(np.zeros((1, 2)), rowvar=False, ddof=0)) == 0


@implements(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    rows = [np.atleast_2d(inexact(x)) for x in ((m,) if y is None else (m, y))]
    if not rowvar:  # a single row of y is one variable, as NumPy has it, and one of m is several
        rows[0] = rows[0] if np.ndim(m) < 2 or (ROW_IS_ONE and len(rows[0]) == 1) else rows[0].T
        rows[1:] = [x if len(x) == 1 else x.T for x in rows[1:]]
    dtype = np.result_type(*[x.dtype for x in rows], np.float64) if dtype is None else np.dtype(dtype)
    x = concatenate([x.astype(dtype) for x in rows])
    ddof = ddof if ddof is not None else 0 if bias else 1
    w, scale = _weights(x.shape[1], fweights, aweights, ddof)
    left = x - (sum(x, 1, keepdims=True) / x.shape[1] if w is None else average(x, 1, w, keepdims=True))
    right = conjugate(left if w is None else left * w).T
    found = np.matmul(left, right) * np.true_divide(1, scale)
    return np.squeeze(found)


def _weights(count: int, fweights: Any, aweights: Any, ddof: int) -> tuple[Any, Any]:
    """What each observation counts, and by what sums of squares are divided."""
    if fweights is None and aweights is None:
        return None, count - ddof
    given = {}
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is not None:
            w = given[name] = as_traced(weights).astype(np.float64)
            if name == "fweights" and not np.all(w == np.around(w)):
                raise TypeError("fweights must be integer")
            if w.ndim > 1:
                raise RuntimeError(f"cannot handle multidimensional {name}")
            if w.shape[0] != count:
                raise RuntimeError(f"incompatible numbers of samples and {name}")
            if np.any(w < 0):
                raise ValueError(f"{name} cannot be negative")
    first, *others = given.values()
    w = first * others[0] if others else first
    total = sum(w)
    if ddof == 0:
        return w, total
    return w, total - ddof * (sum(w * given["aweights"]) / total if aweights is not None else 1)


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """Covariances in units of the spreads; rounding may not take them out of [-1, 1], and does not count."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    spread = np.sqrt(real(np.diag(c)))
    c = c / spread[:, None] / spread[None, :]
    if not is_complex(c):
        return _clipped(c)
    return apply_primitive(prim.COMPOSE, None, _clipped(real(c)), _clipped(imag(c)))


def _clipped(x: Any) -> Any:
    """x between -1 and 1, with the derivative of x: the bounds are met where rounding alone goes beyond them."""
    return smooth(np.clip(x, -1.0, 1.0), x)


# ---- without nan ----------------------------------------------------------------------------------------------------


def _filled(a: Any, value: float) -> Any:
    """a with a number for nan, of which integers have none."""
    return choose_where(np.isnan(a), value, a) if a.dtype.kind in "fc" else a


def _total(name: str, total: Callable[..., Any], neutral: float) -> Callable[..., Any]:
    """``nansum`` or ``nanprod``: a neutral number takes the place of nan."""

    def implementation(
        a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any
    ) -> Any:
        only_defaults(name, out=out)
        return total(_filled(as_traced(a), neutral), axis, dtype=dtype, keepdims=keepdims, **options)

    return implementation


nansum = implements(np.nansum)(_total("nansum", sum, 0.0))
implements(np.nanprod)(_total("nanprod", prod, 1.0))


@implements(np.nanmean)
def nanmean(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None
) -> Any:
    only_defaults("nanmean", out=out)
    a = inexact(a) if dtype is None else as_traced(a).astype(dtype)
    count = sum(_counts(a, where).astype(prim.real_dtype(a.dtype)), axis, keepdims=keepdims)
    return nansum(a, axis, keepdims=keepdims, where=where) / count


def _counts(a: Any, where: Any) -> Any:
    """Which items are numbers and, if `where` says so, count."""
    known = np.logical_not(np.isnan(a))
    return np.logical_and(known, mask_of(a, where)) if is_given(where) else known


@implements(np.nanvar)
def nanvar(a: Any, axis: Axis = None, *args: Any, where: Any = None, **options: Any) -> Any:
    a = inexact(a)
    return var(a, reduced_axes(axis, a.ndim), *args, where=_counts(a, where), **options)


@implements(np.nanstd)
def nanstd(a: Any, *args: Any, **options: Any) -> Any:
    return root(nanvar(a, *args, **options))


def _extreme(name: str, extreme: Callable[..., Any], sign: int, ufunc: np.ufunc) -> None:
    """``nanmax`` or ``nanmin``: where all are nan, so is the result."""

    def implementation(
        a: Any, axis: Axis = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
    ) -> Any:
        only_defaults(name, out=out)
        a = as_traced(a)
        refuse_complex(name, a)
        options = {"keepdims": keepdims, "initial": initial, "where": where}
        found = extreme(_filled(a, lowest(a.dtype, sign)), axis, **options)
        if a.dtype.kind != "f" or is_given(initial):
            return found
        count = sum(np.logical_not(np.isnan(a)).astype(a.dtype), axis, keepdims=keepdims)
        return choose_where(np.equal(count, 0), np.nan, found)

    implements(getattr(np, name))(implementation)
    REDUCTIONS[ufunc] = lambda a, axis=0, dtype=None, *args, **options: implementation(
        in_dtype(a, dtype), axis, *args, **options
    )


_extreme("nanmax", max, 1, np.fmax)
_extreme("nanmin", min, -1, np.fmin)


@implements(np.nan_to_num)
def nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    x = as_traced(x)
    if is_complex(x):
        options = {"nan": nan, "posinf": posinf, "neginf": neginf}
        return apply_primitive(prim.COMPOSE, None, nan_to_num(real(x), **options), nan_to_num(imag(x), **options))
    if x.dtype.kind != "f":
        return x
    limits = np.finfo(x.dtype)
    x = choose_where(np.isnan(x), nan, x)
    x = choose_where(np.equal(x, np.inf), float(limits.max) if posinf is None else posinf, x)
    return choose_where(np.equal(x, -np.inf), float(limits.min) if neginf is None else neginf, x)
