"""scipy.interpolate: interpolants by their points, their data and the places where they are evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.interpolate
from covered.scipy_calls import Call, of
from scipy.sparse.linalg import spsolve

X = np.array([0.0, 0.5, 1.25, 2.0, 3.0, 3.5, 4.25])
Y = np.sin(X) + 0.1 * X + 0.25
DY = np.cos(X) + 0.1
AT = np.array([0.3, 1.5, 2.75])
KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.5, 4.25, 4.25, 4.25, 4.25])
C = np.array([0.5, -0.25, 1.5, 0.75, -1.0, 0.25])
GX, GY = np.array([0.0, 1.0, 2.5, 3.0]), np.array([0.0, 0.5, 2.0, 2.5])
GRID = np.sin(GX)[:, None] * np.cos(GY) + 0.1 * GX[:, None] + 0.05 * GY**2 + 0.3 * GY
PLACES = np.array([[0.3, 0.7], [1.7, 1.2]])
CLOUD = np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.0], [1.1, 1.2], [0.6, 0.5], [2.0, 0.7]])
HEIGHTS = np.array([0.5, 1.0, -0.25, 0.75, 0.3, 1.25])
WITHIN = np.array([[0.4, 0.3], [0.8, 0.6]])
XY = {"x": X, "y": Y, "at": AT}
SMOOTHING = "It chooses knots until the spline is smooth enough. Give it s=0, or use make_smoothing_spline."
BY_FORTRAN = "D" if hasattr(scipy.interpolate, "_dfitpack") else "N"  # up to SciPy 1.17
OLD = "FITPACK is compiled. Use make_interp_spline or BSpline."


def evaluated(f: Any, x: Any, y: Any, at: Any) -> Any:
    return f(x, y)(at)


def _pieces() -> Iterator[Call]:
    for name in ("CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "make_interp_spline", "interp1d"):
        yield from of(f"interpolate.{name}", XY, call=evaluated, D="x y at")
    for kind in ("cubic", "quadratic"):
        yield from of(
            "interpolate.interp1d",
            XY,
            call=lambda f, x, y, at, k=kind: f(x, y, k)(at),
            D="x y at",
            tag=f"kind='{kind}'",
        )
    for name in ("BarycentricInterpolator", "KroghInterpolator"):
        yield from of(f"interpolate.{name}", {"x": X[:4], "y": Y[:4], "at": AT}, call=evaluated, D="x y at")
    for name in ("barycentric_interpolate", "krogh_interpolate", "pchip_interpolate"):
        yield from of(f"interpolate.{name}", {"xi": X[:4], "yi": Y[:4], "x": AT[:2]}, D="xi yi x")
    yield from of(
        "interpolate.CubicHermiteSpline",
        {"x": X, "y": Y, "dydx": DY, "at": AT},
        call=lambda f, x, y, d, at: f(x, y, d)(at),
        D="x y dydx at",
    )
    yield from of(
        "interpolate.BSpline",
        {"t": KNOTS[4:6], "c": C, "at": AT},
        call=lambda f, t, c, at: f(np.concatenate([KNOTS[:4], t, KNOTS[6:]]), c, 3)(at),
        D="t c at",
    )
    yield from of(
        "interpolate.PPoly",
        {"c": C.reshape(2, 3), "x": X[:4], "at": AT[:2] / 2},
        call=lambda f, c, x, at: f(c, x)(at),
        D="c x at",
    )
    yield from of(
        "interpolate.BPoly",
        {"c": C.reshape(2, 3), "x": X[:4], "at": AT[:2] / 2},
        call=lambda f, c, x, at: f(c, x)(at),
        N="c x at",
    )
    for name in ("FloaterHormannInterpolator", "AAA"):
        yield from of(f"interpolate.{name}", XY, call=evaluated, **{"D" if name[0] == "F" else "N": "x y at"})
    yield from of(
        "interpolate.make_lsq_spline",
        {**XY, "t": np.array([0.0, 0, 0, 0, 2.2, 4.25, 4.25, 4.25, 4.25])},
        call=lambda f, x, y, at, t: f(x, y, t)(at),
        D="at",
        N="y",
    )
    yield from of(
        "interpolate.make_smoothing_spline",
        {**XY, "lam": 0.5},
        call=lambda f, x, y, at, s: f(x, y, lam=s)(at),
        D="y at lam",
        N="x",
    )
    yield from of(
        "interpolate.make_splrep", {**XY, "s": 0.01}, call=lambda f, x, y, at, s: f(x, y, s=s)(at), D="at", N="x y s"
    )
    yield from of("interpolate.make_splprep", {"x": np.stack([X, Y])}, call=lambda f, x: f(x, s=0.01)[0](0.5), N="x")
    yield from of(
        "interpolate.generate_knots", {"x": X, "y": Y}, call=lambda f, x, y: list(f(x, y, s=0.01))[-1], N="x y"
    )
    yield from of("interpolate.lagrange", {"x": X[:3], "w": Y[:3]}, call=lambda f, x, w: f(x, w)(0.3), D="x w")
    yield from of(
        "interpolate.pade", {"an": np.array([1.0, 1.0, 0.5, 1 / 6])}, call=lambda f, a: f(a, 1)[0](0.3), D="an"
    )
    yield from of(
        "interpolate.approximate_taylor_polynomial",
        {"x": 0.3, "scale": 0.1},
        call=lambda f, x, s: f(np.sin, x, 3, s)(0.05),
        D="x scale",
    )


def _of_fitpack() -> Iterator[Call]:
    yield from of("interpolate.UnivariateSpline", XY, call=evaluated, N="x y", D="at", note=SMOOTHING)
    yield from of(
        "interpolate.UnivariateSpline", XY, call=lambda f, x, y, at: f(x, y, s=0, k=4)(at), D="x y at", tag="s=0"
    )
    yield from of("interpolate.InterpolatedUnivariateSpline", XY, call=evaluated, D="x y at")
    yield from of(
        "interpolate.LSQUnivariateSpline",
        {**XY, "t": np.array([2.2])},
        call=lambda f, x, y, at, t: f(x, y, t)(at),
        D="x y at t",
    )
    yield from of("interpolate.splrep", {"x": X, "y": Y}, call=lambda f, x, y: f(x, y)[1], D="x y")
    yield from of("interpolate.splrep", {"x": X, "y": Y}, call=lambda f, x, y: f(x, y, s=0.01)[1], N="x y", tag="s > 0")
    yield from of("interpolate.splprep", {"u": np.stack([X, Y])}, call=lambda f, x: f(x, s=0)[0][1][0], N="u", note=OLD)
    tck = {"t": KNOTS, "c": np.concatenate([C, np.zeros(4)])}
    yield from of("interpolate.splev", {"x": AT, **tck}, call=lambda f, x, t, c: f(x, (t, c, 3)), D="x c")
    yield from of(
        "interpolate.splev", {"x": AT, **tck}, call=lambda f, x, t, c: f(x, (t, c, 3), der=1), D="x", tag="der=1"
    )
    yield from of(
        "interpolate.splev",
        {"x": AT, "t": KNOTS[4:6]},
        call=lambda f, x, t: f(x, (np.concatenate([KNOTS[:4], t, KNOTS[6:]]), tck["c"], 3)),
        D="t",
    )
    yield from of(
        "interpolate.splint",
        {"a": 0.25, "b": 2.0, **tck},
        call=lambda f, a, b, t, c: f(a, b, (t, c, 3)),
        D="a b c",
    )
    yield from of(
        "interpolate.splint",
        {"t": KNOTS[4:6]},
        call=lambda f, t: f(0.25, 2.0, (np.concatenate([KNOTS[:4], t, KNOTS[6:]]), tck["c"], 3)),
        D="t",
    )
    yield from of("interpolate.spalde", {"x": 0.3, **tck}, call=lambda f, x, t, c: f(x, (t, c, 3)), N="x t c", note=OLD)
    yield from of("interpolate.sproot", tck, call=lambda f, t, c: f((t, c, 3)), N="c", note=OLD)
    yield from of(
        "interpolate.insert", {"x": 0.3, **tck}, call=lambda f, x, t, c: f(x, (t, c, 3))[1], N="x t c", note=OLD
    )
    yield from of("interpolate.splder", tck, call=lambda f, t, c: f((t, c, 3))[1], D="t c")
    yield from of("interpolate.splantider", tck, call=lambda f, t, c: f((t, c, 3))[1], D="t c")


def _of_several() -> Iterator[Call]:
    grid = {"points": GX, "values": GRID, "xi": PLACES}
    for method in ("linear", "pchip"):
        yield from of(
            "interpolate.RegularGridInterpolator",
            grid,
            call=lambda f, x, v, at, m=method: f((x, GY), v, m)(at),
            D="points values xi",
            tag=f"method='{method}'",
        )
    yield from of(
        "interpolate.RegularGridInterpolator",
        grid,
        call=lambda f, x, v, at: f((x, GY), v, "nearest")(at),
        D="values",
        C="xi",
        tag="method='nearest'",
    )
    for method in ("slinear", "cubic"):
        yield from of(
            "interpolate.RegularGridInterpolator",
            grid,
            call=lambda f, x, v, at, m=method: f((x, GY), v, m, solver=spsolve)(at),
            D="points values xi",
            tag=f"method='{method}'",
            note="The spline is found directly, by SciPy to a tolerance.",
        )
    yield from of("interpolate.interpn", grid, call=lambda f, x, v, at: f((x, GY), v, at), D="points values xi")
    yield from of(
        "interpolate.RectBivariateSpline",
        {"x": GX, "z": GRID, "at": 0.3},
        call=lambda f, x, z, at: f(x, GY, z)(at, 0.7),
        **{BY_FORTRAN: "x z at"},
    )
    cloud = {"x": CLOUD, "y": HEIGHTS, "at": WITHIN}
    yield from of("interpolate.CloughTocher2DInterpolator", cloud, call=evaluated, N="x y at")
    yield from of("interpolate.RBFInterpolator", cloud, call=evaluated, D="x y at")
    yield from of(
        "interpolate.RBFInterpolator",
        {**cloud, "epsilon": 0.7, "smoothing": 0.1},
        call=lambda f, x, y, at, e, s: f(x, y, kernel="gaussian", epsilon=e, smoothing=s)(at),
        D="x y at epsilon smoothing",
        tag="kernel='gaussian'",
    )
    triangles = "Its triangles are those of plain points."
    yield from of("interpolate.LinearNDInterpolator", cloud, call=evaluated, D="y at", N="x", note=triangles)
    yield from of("interpolate.NearestNDInterpolator", cloud, call=evaluated, D="y", C="at", N="x")
    scattered = {"points": CLOUD, "values": HEIGHTS, "xi": WITHIN}
    yield from of("interpolate.griddata", scattered, D="values xi", N="points", note=triangles)
    yield from of(
        "interpolate.griddata",
        scattered,
        call=lambda f, x, y, at: f(x, y, at, "nearest"),
        D="values",
        C="xi",
        tag="method='nearest'",
    )
    yield from of(
        "interpolate.Rbf",
        {"x": CLOUD[:, 0], "d": HEIGHTS, "at": 0.4},
        call=lambda f, x, d, at: f(x, CLOUD[:, 1], d)(at, 0.3),
        D="x d at",
    )
    yield from of(
        "interpolate.NdBSpline", {"c": C, "at": AT[:1]}, call=lambda f, c, at: f((KNOTS,), c, 3)(at), D="c at"
    )
    yield from of(
        "interpolate.bisplev",
        {"x": AT[:2], "c": np.arange(4.0)},
        call=lambda f, x, c: f(x, np.array([0.5]), (np.array([0.0, 0, 3, 3]), np.array([0.0, 0, 3, 3]), c, 1, 1)),
        **{BY_FORTRAN: "x c"},
        note=OLD,
    )
    yield from of(
        "interpolate.bisplrep",
        {"z": np.sin(np.arange(16.0))},
        call=lambda f, z: f(np.repeat(GX, 4), np.tile(GY, 4), z, kx=1, ky=1, s=9.0)[2],
        N="z",
        note=OLD,
    )


ROWS = [*_pieces(), *_of_fitpack(), *_of_several()]
LEFT = {
    "FITPACK's fits in two variables, which are compiled": (
        "BivariateSpline LSQBivariateSpline LSQSphereBivariateSpline RectSphereBivariateSpline SmoothBivariateSpline "
        "SmoothSphereBivariateSpline"
    ),
    "Not yet covered": "NdPPoly",
    "It raises for any arguments": "interp2d",
}
