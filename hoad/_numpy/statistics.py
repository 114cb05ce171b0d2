"""Means, spreads and order statistics."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import is_traced
from hoad._numpy.complex import conjugate, imag, is_complex, real, refuse_complex, squared_size
from hoad._numpy.creation import concatenate
from hoad._numpy.indexing import where as choose_where
from hoad._numpy.products import inexact, root
from hoad._numpy.rearranging import sort, take
from hoad._numpy.reductions import max, mean, min, prod, sum
from hoad._numpy.registry import Axis, as_traced, implements, normal_axes, only_defaults, reduced_axes
from hoad._numpy.shape import broadcast_to, moveaxis, reshape
from hoad._ops import primitives as prim
from hoad.errors import NoRuleError


def _given(where: Any) -> bool:
    return where is not None and where is not True and where is not np._NoValue


def _is_true(keepdims: Any) -> bool:
    return keepdims is not np._NoValue and bool(keepdims)


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
    if _given(where):
        taken = broadcast_to(as_traced(where).astype(bool), tuple(a.shape))
        count = sum(taken.astype(prim.real_dtype(a.dtype)), axes, keepdims=True)
    if mean is None or mean is np._NoValue:
        mean = sum(a if taken is None else choose_where(taken, a, 0.0), axes, keepdims=True) / count
    left = a - mean
    if taken is not None:
        left = choose_where(taken, left, 0.0)
        count = sum(taken.astype(prim.real_dtype(a.dtype)), axes, keepdims=_is_true(keepdims))
    return sum(squared_size(left), axes, keepdims=keepdims) / _at_least_zero(count, ddof)


def _at_least_zero(count: Any, ddof: float) -> Any:
    return np.maximum(count - ddof, 0.0) if np.ndim(count) or is_traced(count) else float(np.fmax(count - ddof, 0))


@implements(np.std, method="std")
def std(a: Any, *args: Any, **options: Any) -> Any:
    """The derivative where all items are equal is the subgradient 0, as that of a norm at 0."""
    return root(var(a, *args, **options))


@implements(np.average)
def average(a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    a = inexact(a)
    axes = normal_axes(axis, a.ndim)
    if weights is None:
        scale: Any = np.asarray(math.prod([a.shape[d] for d in axes]), a.dtype)
        found = mean(a, axes, keepdims=keepdims)
    else:
        w = as_traced(weights)
        w = w.astype(np.result_type(a.dtype, w.dtype))
        if tuple(w.shape) != tuple(a.shape):
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            order = [d % a.ndim for d in (axis if isinstance(axis, (tuple, list)) else (axis,))]
            if tuple(w.shape) != tuple(a.shape[d] for d in order):
                raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
            w = np.transpose(w, np.argsort(order)) if w.ndim > 1 else w
            w = reshape(w, tuple(n if d in axes else 1 for d, n in enumerate(a.shape)))
        w = broadcast_to(w, tuple(a.shape))
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
    only_defaults("cov", fweights=fweights, aweights=aweights, dtype=dtype)
    rows = [np.atleast_2d(inexact(x)) for x in ((m,) if y is None else (m, y))]
    if not rowvar:  # a single row of y is one variable, as NumPy has it, and one of m is several
        rows[0] = rows[0] if np.ndim(m) < 2 or (ROW_IS_ONE and len(rows[0]) == 1) else rows[0].T
        rows[1:] = [x if len(x) == 1 else x.T for x in rows[1:]]
    dtype = np.result_type(*[x.dtype for x in rows], np.float64)
    x = concatenate([x.astype(dtype) for x in rows])
    left = x - sum(x, 1, keepdims=True) / x.shape[1]
    scale = x.shape[1] - (ddof if ddof is not None else 0 if bias else 1)
    found = np.matmul(left, conjugate(left).T) / scale
    return np.squeeze(found)


# ---- order statistics -----------------------------------------------------------------------------------------------

# (alpha, beta) of Hyndman and Fan (1996), The American Statistician 50: place n q + (alpha + q (1 - alpha - beta)) - 1.
CONTINUOUS = {
    "linear": (1.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "median_unbiased": (1.0 / 3.0, 1.0 / 3.0),
    "normal_unbiased": (3.0 / 8.0, 3.0 / 8.0),
}
STEPPED = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}


def _quantile(name: str, a: Any, q: Any, axis: Axis, method: str, keepdims: Any) -> Any:
    """The items about the place of q in sorted order, weighed; nan where there is one."""
    if holds_traced([q]):
        raise NoRuleError(
            f"np.{name} has no derivative rule by q, which is traced ({here()}). Use hoad.value(q) if a plain "
            "number is meant."
        )
    a = inexact(a)
    refuse_complex(name, a)
    q = np.asarray(q, dtype=a.dtype if type(q) in (int, float) else None)
    a, q = a.astype(a.dtype if method in STEPPED else np.result_type(a.dtype, q.dtype)), q.astype(np.float64)
    if not np.all((q >= 0) & (q <= 1)):
        least, most = (0, 1) if name == "quantile" else (0, 100)
        raise ValueError(f"np.{name} takes places from {least} to {most}")
    axes = normal_axes(axis, a.ndim)
    kept = [d for d in range(a.ndim) if d not in axes]
    n = math.prod(a.shape[d] for d in axes)
    if n == 0:
        raise IndexError(f"np.{name} of an empty array ({here()}): there is no item to take.")
    lines = reshape(moveaxis(a, axes, range(a.ndim - len(axes), a.ndim)), (*[a.shape[d] for d in kept], n))
    lines = sort(lines)
    if method in CONTINUOUS:
        alpha, beta = CONTINUOUS[method]
        place = n * q + (alpha + q * (1 - alpha - beta)) - 1 if method != "linear" else (n - 1) * q
    elif method in STEPPED:
        place = STEPPED[method]((n - 1) * q)
    elif method == "midpoint":
        place = 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
    else:
        known = ", ".join([*CONTINUOUS, *STEPPED, "midpoint"])
        raise NoRuleError(f"np.{name} with method={method!r} is not recorded ({here()}). Use one of {known}.")
    place = np.clip(place, 0, n - 1)
    below = np.floor(place).astype(np.intp)
    above = np.minimum(below + 1, n - 1)
    share = (place - below).astype(a.dtype)
    low, high = take(lines, below, -1), take(lines, above, -1)
    found = choose_where(share == 0, low, low + (high - low) * share)
    last = reshape(lines[..., -1], (*lines.shape[:-1], *[1] * q.ndim))
    found = choose_where(np.isnan(last), last, found)
    found = moveaxis(found, range(len(kept), len(kept) + q.ndim), range(q.ndim))
    if _is_true(keepdims):
        found = reshape(found, (*q.shape, *[1 if d in axes else m for d, m in enumerate(a.shape)]))
    return found


def _quantiles(name: str, most: int) -> Callable[..., Any]:
    """``quantile``, or ``percentile``, whose places are of `most`."""

    def implementation(
        a: Any,
        q: Any,
        axis: Axis = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        *,
        weights: Any = None,
    ) -> Any:
        only_defaults(name, out=out, weights=weights)
        if most != 1 and not holds_traced([q]):
            q = q / most if isinstance(q, (int, float)) else np.true_divide(q, as_traced(a).dtype.type(most))
        return _quantile(name, a, q, axis, method, keepdims)

    return implementation


implements(np.quantile)(_quantiles("quantile", 1))
implements(np.percentile)(_quantiles("percentile", 100))


@implements(np.median)
def median(a: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    only_defaults("median", out=out)
    x = inexact(a)
    axes = normal_axes(axis, x.ndim)
    if math.prod(x.shape[d] for d in axes) == 0:  # nan and warnings by NumPy, of as much of nothing
        return np.median(np.zeros(x.shape, x.dtype), axes, keepdims=_is_true(keepdims))
    return _quantile("median", a, 0.5, axis, "linear", keepdims)


# ---- without nan ----------------------------------------------------------------------------------------------------


def _filled(a: Any, value: float) -> Any:
    """a with a number for nan, of which integers have none."""
    return choose_where(np.isnan(a), value, a) if a.dtype.kind in "fc" else a


def _total(name: str, total: Callable[..., Any], neutral: float) -> Callable[..., Any]:
    """``nansum`` or ``nanprod``: a neutral number takes the place of nan."""

    def implementation(
        a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any
    ) -> Any:
        only_defaults(name, out=out, **options)
        return total(_filled(as_traced(a), neutral), axis, dtype=dtype, keepdims=keepdims)

    return implementation


nansum = implements(np.nansum)(_total("nansum", sum, 0.0))
implements(np.nanprod)(_total("nanprod", prod, 1.0))


@implements(np.nanmean)
def nanmean(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any
) -> Any:
    only_defaults("nanmean", out=out, **options)
    a = inexact(a) if dtype is None else as_traced(a).astype(dtype)
    count = sum(np.logical_not(np.isnan(a)).astype(a.dtype), axis, keepdims=keepdims)
    return nansum(a, axis, keepdims=keepdims) / count


@implements(np.nanvar)
def nanvar(a: Any, axis: Axis = None, *args: Any, **options: Any) -> Any:
    a = inexact(a)
    return var(a, reduced_axes(axis, a.ndim), *args, where=np.logical_not(np.isnan(a)), **options)


@implements(np.nanstd)
def nanstd(a: Any, *args: Any, **options: Any) -> Any:
    return root(nanvar(a, *args, **options))


def _extreme(name: str, extreme: Callable[..., Any], least: float) -> Callable[..., Any]:
    """Where all are nan, so is the result."""

    def implementation(a: Any, axis: Axis = None, out: Any = None, keepdims: Any = False, **options: Any) -> Any:
        only_defaults(name, out=out, **options)
        a = as_traced(a)
        refuse_complex(name, a)
        found = extreme(_filled(a, least), axis, keepdims=keepdims)
        if a.dtype.kind != "f":
            return found
        count = sum(np.logical_not(np.isnan(a)).astype(a.dtype), axis, keepdims=keepdims)
        return choose_where(np.equal(count, 0), np.nan, found)

    return implementation


implements(np.nanmax)(_extreme("nanmax", max, -np.inf))
implements(np.nanmin)(_extreme("nanmin", min, np.inf))


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
