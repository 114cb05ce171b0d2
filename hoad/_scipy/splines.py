"""Piecewise polynomials and splines: the compiled functions that evaluate them, by recorded operations."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from hoad._core.base.frame_globals import Adopting
from hoad._core.trace.traced import guard_value, is_traced
from hoad._numpy.registry import as_traced
from hoad._scipy.compiled import in_place_of, module
from hoad._scipy.registry import decided

_ppoly = module("scipy.interpolate._ppoly")
_dierckx = module("scipy.interpolate._dierckx")
_rgi = module("scipy.interpolate._rgi_cython")
_coordinates = module("scipy.interpolate._interpnd")


def interval(x: Any, at: Any, first: int, last: int) -> Any:
    """Which interval [xᵢ, xᵢ₊₁) of those from first to last a point is in; found again by each replay."""
    return np.clip(np.searchsorted(x, at, side="right") - 1, first, last)


# ---- piecewise polynomials ------------------------------------------------------------------------------------------


@in_place_of(_ppoly, "evaluate", out=5)
def evaluate(c: Any, x: Any, xp: Any, dx: int, extrapolate: bool) -> Any:
    """Derivatives of order dx at some points: of each, one row."""
    return _values(c, x, xp, dx, extrapolate)


def _values(c: Any, x: Any, xp: Any, dx: int, extrapolate: bool) -> Any:
    """The same, by Horner's rule."""
    if decided(x[0] <= x[-1]):
        k = interval(x, xp, 0, x.shape[0] - 2)
        outside = (xp < x[0]) | (xp > x[-1])
    else:
        k = interval(-x, -xp, 0, x.shape[0] - 2)
        outside = (xp > x[0]) | (xp < x[-1])
    degree = c.shape[0] - 1
    s = (xp - x[k])[:, None]
    total = np.zeros((xp.shape[0], c.shape[2])) + 0.0 * s
    for j in range(degree - dx + 1):
        total = total * s + float(math.perm(degree - j, dx)) * c[j][k]
    if not extrapolate:
        total = np.where(outside[:, None], np.nan, total)
    return np.where(np.isnan(xp)[:, None], np.nan, total)


@in_place_of(_ppoly, "integrate", out=5)
def integrate(c: Any, x: Any, a: Any, b: Any, extrapolate: bool) -> Any:
    """The integral from a to b, by the antiderivative, which is continuous."""
    order = c.shape[0]
    factors = np.arange(order, 0.0, -1.0)[:, None, None]
    width = x[1:] - x[:-1]
    powers = np.stack([width ** (order - j) for j in range(order)])
    steps = np.sum(c / factors * powers[:, :, None], 0)
    start = np.concatenate([np.zeros((1, c.shape[2])), np.cumsum(steps, 0)[:-1]])
    whole = np.concatenate([c / factors, start[None]])
    ends = np.stack([as_traced(b), as_traced(a)])
    found = _values(whole, x, ends, 0, extrapolate)
    return found[0] - found[1]


@in_place_of(_ppoly, "fix_continuity")
def fix_continuity(c: Any, x: Any, order: int) -> None:
    """Write the low coefficients that make derivatives to an order continuous, from left to right."""
    n = c.shape[0]
    for i in range(1, x.shape[0] - 1):
        s = x[i] - x[i - 1]
        for nu in range(order, -1, -1):
            value = 0.0
            for j in range(n - nu):
                value = value * s + math.comb(n - 1 - j, nu) * c[j, i - 1]
            c[n - 1 - nu, i] = value


# ---- splines --------------------------------------------------------------------------------------------------------


def _local(t: Any, k: int, at: Any) -> Any:
    """The interval of each point among the knots of a spline."""
    return interval(t, at, k, t.shape[0] - k - 2)


def spline_values(t: Any, c: Any, k: int, at: Any, nu: int) -> Any:
    """Derivatives of order nu of a spline at some points, by de Boor's recursion."""
    m = _local(t, k, at)
    d = [c[m - k + r] for r in range(k + 1)]
    degree = k
    for _ in range(min(nu, k + 1)):
        if not degree:
            return 0.0 * d[0]
        widths = [t[m + r + 1] - t[m - degree + r + 1] for r in range(degree)]
        d = [degree * (d[r + 1] - d[r]) / widths[r][:, None] for r in range(degree)]
        degree -= 1
    for j in range(1, degree + 1):
        for r in range(degree, j - 1, -1):
            low, high = t[m - degree + r], t[m + r + 1 - j]
            w = ((at - low) / (high - low))[:, None]
            d[r] = (1.0 - w) * d[r - 1] + w * d[r]
    return d[degree]


@in_place_of(_dierckx, "evaluate_spline")
def evaluate_spline(t: Any, c: Any, k: int, xp: Any, nu: int, extrapolate: bool) -> Any:
    """Derivatives of a spline of which the coefficients are rows."""
    found = spline_values(t, c, k, xp, nu)
    if not extrapolate:
        outside = (xp < t[k]) | (xp > t[t.shape[0] - k - 1])
        found = np.where(outside[:, None], np.nan, found)
    return np.where(np.isnan(xp)[:, None], np.nan, found)


def basis_functions(t: Any, k: int, at: Any, nu: int = 0) -> tuple[Any, Any]:
    """The k + 1 basis functions that are not 0 at some points, and the first coefficient that they belong to."""
    m = _local(t, k, at)
    degree = k - nu
    b: list[Any] = [1.0 + 0.0 * at]
    for j in range(1, degree + 1):
        following: list[Any] = [0.0] * (j + 1)
        for r in range(j):
            low, high = t[m - j + 1 + r], t[m + 1 + r]
            share = b[r] / (high - low)
            following[r] = following[r] + (high - at) * share
            following[r + 1] = following[r + 1] + (at - low) * share
        b = following
    for j in range(degree + 1, k + 1):  # derivatives, of which each raises the degree
        following = [0.0] * (j + 1)
        for r in range(j):
            share = j * b[r] / (t[m + 1 + r] - t[m - j + 1 + r])
            following[r] = following[r] - share
            following[r + 1] = following[r + 1] + share
        b = following
    return b, m - k


@in_place_of(_dierckx, "_coloc")
def collocation(x: Any, t: Any, k: int, ab: Any, offset: int = 0) -> None:
    """Write the matrix of the basis functions at some points, as columns of its diagonals, into an array."""
    b, first = basis_functions(t, k, x)
    rows = np.arange(x.shape[0]) + offset
    for r in range(k + 1):
        columns = np.asarray(guarded_places(first)) + r
        ab[columns, 2 * k + rows - columns] = b[r]


def guarded_places(k: Any) -> Any:
    """Places that a layout in memory depends on: guarded."""
    return guard_value(as_traced(k)) if is_traced(k) else k


@in_place_of(_dierckx, "find_interval")
def find_interval(t: Any, k: int, xval: Any, previous: int, extrapolate: bool) -> int:
    """The interval of a point, guarded."""
    return int(guarded_places(_local(t, k, np.reshape(as_traced(xval), (1,))))[0])


@in_place_of(_dierckx, "evaluate_all_bspl")
def evaluate_all_bspl(t: Any, k: int, xval: Any, m: int, nu: int = 0) -> Any:
    """The basis functions at a point, which are not 0."""
    b, _ = basis_functions(t, k, np.reshape(as_traced(xval), (1,)), nu)
    return np.concatenate([np.reshape(as_traced(x), (1,)) for x in b])


# ---- grids ----------------------------------------------------------------------------------------------------------


@in_place_of(_dierckx, "evaluate_ndbspline")
def evaluate_ndbspline(
    xi: Any, t: Any, len_t: Any, k: Any, nu: Any, extrapolate: bool, c: Any, count: int, strides: Any, places: Any
) -> Any:
    """Derivatives of a tensor product of splines at some points: sums over the basis functions that are not 0 there."""
    weights, rows = np.ones((xi.shape[0], 1)), np.zeros((xi.shape[0], 1), int)
    outside: Any = np.any(np.isnan(xi), 1)
    for d in range(xi.shape[1]):
        knots, degree, at = t[d, : len_t[d]], int(k[d]), xi[:, d]
        if nu[d] > degree:
            return np.zeros((xi.shape[0], count))
        basis, first = basis_functions(knots, degree, at, int(nu[d]))
        weights = weights[:, :, None] * np.stack([as_traced(b) for b in basis], 1)[:, None, :]
        rows = rows[:, :, None] + int(strides[d]) // count * (first[:, None, None] + np.arange(degree + 1))
        weights, rows = (x.reshape(x.shape[0], -1) for x in (weights, rows))
        if not extrapolate:
            outside = outside | (at < knots[degree]) | (at > knots[-degree - 1])
    found = np.sum(weights[:, :, None] * c.reshape(-1, count)[rows], 1)
    return np.where(outside[:, None], np.nan, found)


@in_place_of(module("scipy.interpolate._ndbspline"), "make_ndbspl")
def make_ndbspl(points: Any, values: Any, k: Any = 3, **options: Any) -> Any:
    """The interpolant on a grid, one axis after another, where SciPy solves for all at once and to a tolerance."""
    interpolate = importlib.import_module("scipy.interpolate")
    degrees = tuple(k) if np.ndim(k) else (k,) * len(points)
    knots: list[Any] = []
    c = as_traced(values)
    with Adopting():
        for d, (x, degree) in enumerate(zip(points, degrees, strict=True)):
            spline = interpolate.make_interp_spline(x, np.moveaxis(c, d, 0), degree)
            knots.append(spline.t)
            c = np.moveaxis(spline.c, 0, d)
        return interpolate.NdBSpline(tuple(knots), c, degrees)


@in_place_of(_rgi, "find_indices")
def find_indices(grid: Any, xi: Any) -> tuple[Any, Any]:
    """For each point, the cell of the grid that it is in, and where in it."""
    places, distances = [], []
    for x, at in zip(grid, xi, strict=True):
        k = interval(x, at, 0, x.shape[0] - 2)
        places.append(guarded_places(k))
        distances.append((at - x[k]) / (x[k + 1] - x[k]))
    return np.stack(places), np.stack([as_traced(d) for d in distances])


@in_place_of(_rgi, "evaluate_linear_2d", out=4)
def evaluate_linear_2d(values: Any, places: Any, distances: Any, grid: Any) -> Any:
    """The bilinear interpolant."""
    i, j = places
    s, t = distances
    near = values[i, j] * (1.0 - t) + values[i, j + 1] * t
    return near * (1.0 - s) + (values[i + 1, j] * (1.0 - t) + values[i + 1, j + 1] * t) * s


@in_place_of(_coordinates, "_ndim_coords_from_arrays")
def coordinates(points: Any, ndim: Any = None) -> Any:
    """Points as an array of which the last axis is that of the dimensions."""
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*[as_traced(x) for x in points]), -1)
    points = as_traced(points)
    if points.ndim == 1:
        return np.reshape(points, (-1, 1) if ndim is None else (-1, ndim))
    return points
