"""FITPACK's splines, behind `splrep`, `splev`, `UnivariateSpline` and others: what its compiled functions return.

Up to SciPy 1.17 these are in `_dfitpack`, in Fortran; from 1.18 on in `_fitpack`, in C, with other signatures.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._core.trace.coerce import holds_traced
from hoad._numpy.registry import as_traced
from hoad._scipy.compiled import in_place_of, module
from hoad._scipy.registry import decided, plain_result, refused
from hoad._scipy.splines import basis_functions, guarded_places, spline_values
from hoad._scipy.systems import solve_banded

_dfitpack = module("scipy.interpolate._dfitpack")
_fitpack = module("scipy.interpolate._fitpack")
INTERPOLATES = -1  # what FITPACK says of a spline that goes through all points
OUTSIDE, OF_DEGREE = 1, 10  # numbers of errors
ZEROS, RAISES, BOUNDARY = 1, 2, 3  # ways to extrapolate, beside 0, by the polynomials at the ends


# ---- values ----------------------------------------------------------------------------------------------------------


def _evaluated(t: Any, c: Any, k: int, x: Any, nu: int, ext: int) -> tuple[Any, int]:
    low, high = t[k], t[t.shape[0] - k - 1]
    outside = (x < low) | (x > high)
    if ext == RAISES and decided(np.any(outside)):
        return 0.0 * x, OUTSIDE
    at = np.clip(x, low, high) if ext == BOUNDARY else x
    found = spline_values(t, c[: t.shape[0] - k - 1][:, None], k, at, nu)[:, 0]
    return np.where(outside, 0.0, found) if ext == ZEROS else found, 0


@in_place_of(_fitpack, "splev")
@in_place_of(_dfitpack, "splev")
def splev(t: Any, c: Any, k: int, x: Any, e: int = 0) -> tuple[Any, int]:
    """A spline at some points, and 0 or the number of an error."""
    return _evaluated(as_traced(t), as_traced(c), k, as_traced(x), 0, e)


@in_place_of(_dfitpack, "splder")
def splder(t: Any, c: Any, k: int, x: Any, nu: int = 1, e: int = 0) -> tuple[Any, int]:
    """The same, of a derivative of a spline, for which FITPACK extrapolates where it is to keep to the boundary."""
    return _evaluated(as_traced(t), as_traced(c), k, as_traced(x), nu, 0 if e == BOUNDARY else e)


@in_place_of(_fitpack, "splder")
def _splder(t: Any, c: Any, k: int, nu: int, x: Any, e: int = 0) -> Any:
    return splder(t, c, k, x, nu, e)


@in_place_of(_fitpack, "splint")
def _splint(t: Any, c: Any, k: int, a: Any, b: Any) -> Any:
    return splint(t, c, k, a, b)[0]


@in_place_of(_dfitpack, "splint")
def splint(t: Any, c: Any, k: int, a: Any, b: Any) -> tuple[Any, Any]:
    """The integral of a spline from a to b, 0 beyond its ends, and the room that FITPACK works in."""
    t, c = map(as_traced, (t, c))
    count = t.shape[0] - k - 1
    steps = np.cumsum(c[:count] * (t[k + 1 :] - t[:count]) / (k + 1))
    wider = np.concatenate([t[:1], t, t[-1:]])
    ends = np.clip(np.stack([as_traced(a), as_traced(b)]), t[k], t[count])
    found = spline_values(wider, np.concatenate([np.zeros(1), steps])[:, None], k + 1, ends, 0)[:, 0]
    return found[1] - found[0], np.zeros(t.shape[0])


# ---- fits ------------------------------------------------------------------------------------------------------------


def _knots(x: Any, k: int, low: Any, high: Any) -> Any:
    """FITPACK's knots of a spline that goes through all points: points, or the middles between them if k is even."""
    half = (k + 1) // 2
    inner = x[half : x.shape[0] - half] if k % 2 else 0.5 * (x[half : -half - 1] + x[half + 1 : -half])
    return np.concatenate([np.stack([as_traced(low)] * (k + 1)), inner, np.stack([as_traced(high)] * (k + 1))])


def _interpolated(x: Any, y: Any, t: Any, k: int) -> Any:
    """The coefficients of the spline with these knots that goes through all points."""
    n = x.shape[0]
    basis, first = basis_functions(t, k, x)
    columns = np.asarray(guarded_places(first))[None] + np.arange(k + 1)[:, None]
    rows = k + np.arange(n)[None] - columns
    order = np.full((2 * k + 1, n), (k + 1) * n)
    order[rows, columns] = np.arange((k + 1) * n).reshape(k + 1, n)
    entries = np.concatenate([*[as_traced(b) for b in basis], np.zeros(1)])
    return solve_banded((k, k), entries[order], y)


def _fitted(x: Any, y: Any, w: Any, t: Any, k: int) -> Any:
    """Those of the spline with these knots that fits the points best in the sense of weighted least squares."""
    basis, first = basis_functions(t, k, x)
    count = t.shape[0] - k - 1
    columns = np.asarray(guarded_places(first))[None] + np.arange(k + 1)[:, None]
    places = columns[:, :, None] == np.arange(count)
    matrix = sum(
        w[:, None] * np.where(place, as_traced(b)[:, None], 0.0) for b, place in zip(basis, places, strict=True)
    )
    q, r = np.linalg.qr(matrix)
    return np.linalg.solve(r, q.T @ (w * y))


def _smooths(s: Any) -> bool:
    return holds_traced([s]) or float(s) > 0.0


def _refusal(name: str) -> Exception:
    return refused(
        name, "which chooses knots until the spline is smooth enough", "Give it s=0, or use make_smoothing_spline.",
        "scipy.interpolate",
    )  # fmt: skip


@in_place_of(_dfitpack, "fpcurf0")
def fpcurf0(x: Any, y: Any, k: int, w: Any = None, xb: Any = None, xe: Any = None, s: Any = None) -> Any:
    """What `UnivariateSpline` keeps of a spline through all points."""
    if s is None or _smooths(s):
        raise _refusal("UnivariateSpline")
    x, y = map(as_traced, (x, y))
    low, high = x[0] if xb is None else xb, x[-1] if xe is None else xe
    t = _knots(x, k, low, high)
    return _kept(x, y, w, (low, high), k, 0.0, t, _interpolated(x, y, t, k))


def _kept(x: Any, y: Any, w: Any, ends: Any, k: int, s: Any, t: Any, c: Any) -> Any:
    n = t.shape[0]
    w = np.ones(x.shape[0]) if w is None else w
    residual = np.sum((w * (y - spline_values(t, c[:, None], k, x, 0)[:, 0])) ** 2) if s is None else 0.0
    c = np.concatenate([c, np.zeros(k + 1)])
    return x, y, w, *ends, k, s, n, t, c, residual, np.zeros(n), np.zeros(n, np.int32), INTERPOLATES


@in_place_of(_dfitpack, "fpcurfm1")
def fpcurfm1(x: Any, y: Any, k: int, t: Any, w: Any = None, xb: Any = None, xe: Any = None) -> Any:
    """The same, of a spline with given knots."""
    x, y, t = map(as_traced, (x, y, t))
    weights = np.ones(x.shape[0]) if w is None else w
    low, high = x[0] if xb is None else xb, x[-1] if xe is None else xe
    return _kept(x, y, w, (low, high), k, None, t, _fitted(x, y, weights, t, k))


@in_place_of(module("scipy.interpolate._fitpack2"), "_curfit")
def _univariate(x: Any, y: Any, k: int, *, iopt: int, t: Any = None, s: Any = None, **options: Any) -> Any:
    """What `UnivariateSpline` keeps, from SciPy 1.18 on: there, it asks for floats before it calls FITPACK."""
    options = {name: options.get(name) for name in ("w", "xb", "xe")}
    if iopt == 0:
        return fpcurf0(x, y, k, s=s, **options)
    if iopt == -1:
        return fpcurfm1(x, y, k, t, **options)
    raise _refusal("UnivariateSpline")


@in_place_of(_fitpack, "curfit")
def _curfit(task: int, x: Any, y: Any, w: Any, xb: Any, xe: Any, k: int, s: Any, t: Any, wrk: Any, iwrk: Any) -> Any:
    """The same as of `curfit`, with the knots."""
    n, *found = curfit(task, x, y, w, t, wrk, iwrk, xb, xe, k, s)
    return n, t, *found


@in_place_of(_dfitpack, "curfit")
def curfit(task: int, x: Any, y: Any, w: Any, t: Any, wrk: Any, iwrk: Any, xb: Any, xe: Any, k: int, s: Any) -> Any:
    """The number of knots that `splrep` writes to t, the coefficients, the residual, and what kind of spline it is."""
    x, y, w = map(as_traced, (x, y, w))
    if task == 0:
        if _smooths(s):
            raise _refusal("splrep")
        knots = _knots(x, k, xb, xe)
        c, residual = _interpolated(x, y, knots, k), 0.0
    elif task == -1:
        ends = [np.stack([as_traced(end)] * (k + 1)) for end in (xb, xe)]
        knots = np.concatenate([ends[0], t[k + 1 : -k - 1], ends[1]])
        c = _fitted(x, y, w, knots, k)
        residual = np.sum((w * (y - spline_values(knots, c[:, None], k, x, 0)[:, 0])) ** 2)
    else:
        raise _refusal("splrep")
    n = knots.shape[0]
    t[:n] = knots
    return n, np.concatenate([c, np.zeros(t.shape[0] - c.shape[0])]), residual, INTERPOLATES if task == 0 else 0


# ---- two variables ---------------------------------------------------------------------------------------------------


@in_place_of(_dfitpack, "regrid_smth")
def regrid_smth(
    x: Any, y: Any, z: Any, xb: Any, xe: Any, yb: Any, ye: Any, kx: int = 3, ky: int = 3, s: Any = 0.0, *_: Any
) -> Any:
    """What `RectBivariateSpline` keeps of a spline through all points."""
    if _smooths(s):
        raise _refusal("RectBivariateSpline")
    x, y, z = map(as_traced, (x, y, z))
    tx, ty = (_knots(at, k, at[0] if b is None else b, at[-1] if e is None else e)
              for at, k, b, e in ((x, kx, xb, xe), (y, ky, yb, ye)))  # fmt: skip
    rows = _interpolated(x, z.reshape(x.shape[0], y.shape[0]), tx, kx)
    c = _interpolated(y, rows.T, ty, ky).T
    return tx.shape[0], tx, ty.shape[0], ty, c.ravel(), 0.0, INTERPOLATES


def _of_two(tx: Any, ty: Any, c: Any, kx: int, ky: int, nux: int, nuy: int, x: Any, y: Any) -> tuple[Any, Any]:
    """The sums over the basis functions of x, and the basis functions of y; beyond the ends, as at the ends."""
    counts = tx.shape[0] - kx - 1, ty.shape[0] - ky - 1
    of_x, of_y = (
        spline_values(as_traced(t), np.eye(n), k, np.clip(at, t[k], t[n]), nu)
        for t, n, k, at, nu in (
            (tx, counts[0], kx, np.atleast_1d(as_traced(x)), nux),
            (ty, counts[1], ky, np.atleast_1d(as_traced(y)), nuy),
        )
    )
    return of_x @ as_traced(c).reshape(counts), of_y


@in_place_of(_dfitpack, "parder")
def parder(tx: Any, ty: Any, c: Any, kx: int, ky: int, nux: int, nuy: int, x: Any, y: Any) -> tuple[Any, int]:
    """Partial derivatives on a grid, and 0 or the number of an error."""
    if nux >= max(kx, 1) or nuy >= max(ky, 1):
        return np.zeros(0), OF_DEGREE
    sums, of_y = _of_two(tx, ty, c, kx, ky, nux, nuy, x, y)
    return sums @ of_y.T, 0


@in_place_of(_dfitpack, "pardeu")
def pardeu(tx: Any, ty: Any, c: Any, kx: int, ky: int, nux: int, nuy: int, x: Any, y: Any) -> tuple[Any, int]:
    """The same at some points."""
    if nux >= max(kx, 1) or nuy >= max(ky, 1):
        return np.zeros(0), OF_DEGREE
    sums, of_y = _of_two(tx, ty, c, kx, ky, nux, nuy, x, y)
    return np.sum(sums * of_y, 1), 0


@in_place_of(_dfitpack, "bispev")
def bispev(tx: Any, ty: Any, c: Any, kx: int, ky: int, x: Any, y: Any) -> Any:
    """Values on a grid, and 0 for no error."""
    return parder(tx, ty, c, kx, ky, 0, 0, x, y)


@in_place_of(_dfitpack, "bispeu")
def bispeu(tx: Any, ty: Any, c: Any, kx: int, ky: int, x: Any, y: Any) -> Any:
    """The same at some points."""
    return pardeu(tx, ty, c, kx, ky, 0, 0, x, y)


_CHECK: Any = getattr(_dfitpack or _fitpack, "fpchec", None)


@in_place_of(_fitpack, "fpchec")
@in_place_of(_dfitpack, "fpchec")
def fpchec(x: Any, t: Any, k: int) -> Any:
    """0 where knots suit points."""
    return plain_result(_CHECK, (x, t, k), {})
