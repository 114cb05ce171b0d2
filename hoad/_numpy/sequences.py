"""Along an axis: running sums and products, differences, integrals, turns of phases, convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.traced import is_traced
from hoad._numpy.complex import conjugate, refuse_complex
from hoad._numpy.creation import concatenate
from hoad._numpy.indexing import where
from hoad._numpy.products import inexact
from hoad._numpy.rearranging import flip, gather, take
from hoad._numpy.reductions import sum
from hoad._numpy.registry import as_traced, implements, normal_axes, normal_axis, only_defaults
from hoad._numpy.shape import broadcast_to, ravel, reshape
from hoad._ops import primitives as prim


def _along(d: int, start: int | None, stop: int | None, step: int | None = None) -> tuple[slice, ...]:
    return (slice(None),) * d + (slice(start, stop, step),)


# ---- running --------------------------------------------------------------------------------------------------------


def _flat_or(x: Any, axis: int | None, dtype: Any, ufunc: np.ufunc) -> tuple[Any, int]:
    x = as_traced(x)
    if dtype is not None or x.dtype.kind in "biu":
        x = x.astype(dtype or ufunc.accumulate(np.zeros(1, x.dtype)).dtype)
    if axis is None or x.ndim == 0:
        return (x if x.ndim == 1 else ravel(x)), 0
    return x, normal_axis(axis, x.ndim)


@implements(np.cumsum, method="cumsum")
def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    if out is not None:
        only_defaults("cumsum", out=out)
    x, d = _flat_or(a, axis, dtype, np.add)
    return apply_primitive(prim.CUMSUM, (d,), x)


@implements(np.cumprod, method="cumprod")
def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Products over 2, 4, 8, ... neighbours (Hillis and Steele 1986): exact where factors are zero, at every order."""
    only_defaults("cumprod", out=out)
    x, d = _flat_or(a, axis, dtype, np.multiply)
    step = 1
    while step < x.shape[d]:
        x = concatenate([x[_along(d, None, step)], x[_along(d, step, None)] * x[_along(d, None, -step)]], axis=d)
        step *= 2
    return x


@implements(np.nancumsum)
def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    a = as_traced(a)
    return cumsum(where(np.isnan(a), 0.0, a) if a.dtype.kind in "fc" else a, axis, dtype, out)


@implements(np.nancumprod)
def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    a = as_traced(a)
    return cumprod(where(np.isnan(a), 1.0, a) if a.dtype.kind in "fc" else a, axis, dtype, out)


def _cumulative(name: str, running: Any, first: float) -> Any:
    def implementation(
        x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
    ) -> Any:
        only_defaults(name, out=out)
        x = as_traced(x)
        if axis is None:
            if x.ndim > 1:
                raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
            axis = 0
        found = running(x, axis, dtype)
        if not include_initial:
            return found
        axis = normal_axis(axis, found.ndim)
        shape = tuple(1 if d == axis else n for d, n in enumerate(found.shape))
        return concatenate([np.full(shape, first, found.dtype), found], axis=axis)

    return implementation


for _name, _running, _first in (("cumulative_sum", cumsum, 0.0), ("cumulative_prod", cumprod, 1.0)):
    if hasattr(np, _name):  # since NumPy 2.1
        implements(getattr(np, _name))(_cumulative(_name, _running, _first))


# ---- differences and integrals --------------------------------------------------------------------------------------


@implements(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = np._NoValue, append: Any = np._NoValue) -> Any:
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    a = as_traced(a)
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if n == 0:
        return a
    d = normal_axis(axis, a.ndim)
    ends = []
    for end in (prepend, append):
        if end is not np._NoValue:
            end = as_traced(end)
            if end.ndim == 0:
                end = broadcast_to(end, tuple(1 if e == d else m for e, m in enumerate(a.shape)))
            ends.append(end)
        else:
            ends.append(None)
    parts = [x for x in (ends[0], a, ends[1]) if x is not None]
    a = concatenate(parts, axis=d) if len(parts) > 1 else a
    difference = np.not_equal if a.dtype == bool else np.subtract
    for _ in range(n):
        a = difference(a[_along(d, 1, None)], a[_along(d, None, -1)])
    return a


@implements(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    flat = ravel(as_traced(ary))
    if flat.dtype == bool:
        raise TypeError("np.ediff1d of booleans: they cannot be subtracted. Use np.diff.")
    middle = diff(flat)
    parts = [x if x is middle else ravel(as_traced(x)) for x in (to_begin, middle, to_end) if x is not None]
    return concatenate(parts, dtype=middle.dtype, casting="same_kind") if len(parts) > 1 else middle


@implements(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = as_traced(y)
    d = normal_axis(axis, y.ndim)
    width: Any = dx
    if x is not None:
        x = as_traced(x)
        width = diff(x) if x.ndim == 1 else diff(x, axis=axis)
        if x.ndim == 1:
            width = reshape(width, tuple(-1 if e == d else 1 for e in range(y.ndim)))
    return sum(width * (y[_along(d, 1, None)] + y[_along(d, None, -1)]) / 2.0, axis)  # width may have more axes than y


@implements(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Second-order differences inside, one-sided ones of `edge_order` at the ends (Fornberg, Math. Comp. 51, 1988)."""
    f = inexact(f)
    axes = (
        normal_axes(axis, f.ndim)
        if axis is None
        else tuple(normal_axis(a, f.ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    )
    spacings = list(varargs) or [1.0]
    if len(spacings) == 1 and np.ndim(spacings[0]) == 0:
        spacings = spacings * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    found = [_slopes(f, d, h, edge_order) for d, h in zip(axes, spacings, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _slopes(f: Any, d: int, h: Any, edge_order: int) -> Any:
    n = f.shape[d]
    if n < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
            "required."
        )
    if np.ndim(h) == 0:
        slopes = diff(f, axis=d) / h
        inside = (f[_along(d, 2, None)] - f[_along(d, None, -2)]) / (2.0 * h)
    else:
        h = as_traced(h)
        if h.ndim > 1:
            raise ValueError("distances must be either scalars or 1d")
        if h.shape[0] != n:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        steps = reshape(diff(h), tuple(-1 if e == d else 1 for e in range(f.ndim)))
        slopes = diff(f, axis=d) / steps
        before, behind = steps[_along(d, None, -1)], steps[_along(d, 1, None)]
        weighed = slopes[_along(d, None, -1)] * behind + slopes[_along(d, 1, None)] * before
        inside = weighed / (before + behind)
    first, last = slopes[_along(d, 0, 1)], slopes[_along(d, n - 2, n - 1)]
    if edge_order == 2:
        first = 2.0 * first - inside[_along(d, 0, 1)]
        last = 2.0 * last - inside[_along(d, n - 3, n - 2)]
    return concatenate([first, inside, last], axis=d).astype(f.dtype)


@implements(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    """p with whole periods added, so that steps are at most half of one."""
    p = as_traced(p)
    d = normal_axis(axis, p.ndim)
    steps = diff(p, axis=d)
    dtype = np.result_type(steps.dtype, period if type(period) in (int, float) else as_traced(period).dtype)
    whole = dtype.kind in "iu"
    half = period // 2 if whole else period / 2
    turned = np.mod(steps + half, period) - half
    if not whole or period % 2 == 0:  # half a period up stays half a period up
        turned = where(np.logical_and(np.equal(turned, -half), steps > 0), half, turned)
    added = where(np.abs(steps) < (period / 2 if discont is None else discont), 0, turned - steps)
    start, rest = p[_along(d, None, 1)], p[_along(d, 1, None)]
    return concatenate([start.astype(dtype), (rest + cumsum(added, d)).astype(dtype)], axis=d)


@implements(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None) -> Any:
    """Piecewise linear; at a knot the derivative is that of the piece on its right."""
    x, xp, fp = inexact(x), inexact(xp), inexact(fp)
    refuse_complex("interp with places", x)
    refuse_complex("interp with places", xp)
    x, xp, fp = x.astype(np.float64), xp.astype(np.float64), fp.astype(np.result_type(fp.dtype, np.float64))
    if xp.ndim != 1 or xp.shape != fp.shape or not xp.shape[0]:
        raise ValueError("fp and xp must be one-dimensional and of the same length")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period = abs(period)
        left = right = None
        x, xp = np.remainder(x, period), np.remainder(xp, period)
        order = np.argsort(xp)
        xp, fp = take(xp, order), take(fp, order)
        xp = concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = concatenate([fp[-1:], fp, fp[:1]])
    n = xp.shape[0]
    reached = np.searchsorted(xp, x, "right")
    outside_left, outside_right = np.equal(reached, 0), np.greater(x, xp[-1])
    low, high = fp[0] if left is None else left, fp[-1] if right is None else right
    if n == 1:
        return where(np.less(x, xp[0]), low, where(outside_right, high, fp[0]))
    below = np.minimum(np.maximum(reached - 1, 0), n - 2)
    x0, x1, y0, y1 = _at(xp, below), _at(xp, below + 1), _at(fp, below), _at(fp, below + 1)
    inside = np.logical_not(np.logical_or(outside_left, outside_right))
    width = where(inside, x1 - x0, 1.0)
    found = where(np.equal(x, x1), y1, y0 + (y1 - y0) / width * (x - x0))
    return where(np.isnan(x), x, where(outside_left, low, where(outside_right, high, found)))


def _at(x: Any, places: Any) -> Any:
    """The items of a vector at places that all lie within it."""
    return gather(x, places) if is_traced(x) or is_traced(places) else x[places]


# ---- convolutions ---------------------------------------------------------------------------------------------------


@implements(np.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    return _slid("correlate", a, conjugate(as_traced(v)), mode, flipped=False)


@implements(np.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    return _slid("convolve", a, v, mode, flipped=True)


MODES = {0: "valid", 1: "same", 2: "full"}


def _slid(name: str, a: Any, v: Any, mode: Any, flipped: bool) -> Any:
    """Correlations of the longer, between zeros, with the shorter."""
    a, v = as_traced(a), as_traced(v)
    shapes = a.shape, v.shape
    if len(shapes[0]) > 1 or len(shapes[1]) > 1:
        raise ValueError(f"np.{name} takes arrays of one dimension")
    if () in shapes:
        a, v = (x if x.ndim else reshape(x, (-1,)) for x in (a, v))
        shapes = a.shape, v.shape
    (n,), (m,) = shapes
    if not n or not m:
        raise ValueError(f"np.{name}: an operand is empty")
    mode = MODES.get(mode, mode)
    dtype = a.dtype
    if v.dtype is not dtype:
        dtype = np.result_type(dtype, v.dtype)
        a, v = a.astype(dtype), v.astype(dtype)
    if flipped and m > n:
        a, v, n, m = v, a, m, n
    if flipped:
        v = v[::-1]
    turned = m > n
    if turned:
        a, v, n, m = v, a, m, n
    if mode == "valid":
        before = behind = 0
    elif mode == "same":
        before = m // 2
        behind = m - 1 - before
    elif mode == "full":
        before = behind = m - 1
    else:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full', not {mode!r}")
    wide = concatenate([np.zeros(before, dtype), a, np.zeros(behind, dtype)]) if before + behind else a
    found = apply_primitive(prim.CORRELATE, None, wide, v)
    return flip(found) if turned else found
