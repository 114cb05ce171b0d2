"""Interpolation: values as SciPy's, derivatives by points, data and places as those of SciPy's plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

ip = pytest.importorskip("scipy.interpolate")
pytest.importorskip("scipy.interpolate._dierckx", reason="older releases end in other compiled functions")

from _scipy.orders import assert_fits  # noqa: E402

import hoad  # noqa: E402
from hoad.scipy import interpolate  # noqa: E402

X = np.array([0.0, 0.5, 1.25, 2.0, 2.5, 3.5, 4.0])
Y = np.array([1.0, 1.5, 0.5, 0.75, 2.0, 1.75, 0.25])
Q = np.array([0.2, 0.8, 1.6, 2.2, 2.9, 3.75])
DX = np.array([0.0, 0.2, -0.1, 0.3, 0.1, -0.2, 0.1])
DY = np.array([0.5, -0.25, 1.0, 0.5, -0.5, 0.25, 1.0])
KNOTS = np.concatenate([[0.0] * 3, [0.0, 1.0, 2.5, 4.0], [4.0] * 3])
Made = Callable[[Any, Any], Any]
# An interpolant of points and data.
MADE: dict[str, Made] = {
    "interp1d": lambda x, y: ip.interp1d(x, y),
    "interp1d, cubic": lambda x, y: ip.interp1d(x, y, kind="cubic"),
    "CubicSpline": lambda x, y: ip.CubicSpline(x, y),
    "CubicSpline, natural": lambda x, y: ip.CubicSpline(x, y, bc_type="natural"),
    "CubicSpline, clamped": lambda x, y: ip.CubicSpline(x, y, bc_type=((1, 0.5), (2, 0.25))),
    "PchipInterpolator": lambda x, y: ip.PchipInterpolator(x, y),
    "Akima1DInterpolator": lambda x, y: ip.Akima1DInterpolator(x, y),
    "make_interp_spline": lambda x, y: ip.make_interp_spline(x, y),
    "make_interp_spline, k=2": lambda x, y: ip.make_interp_spline(x, y, k=2),
    "make_interp_spline, natural": lambda x, y: ip.make_interp_spline(x, y, bc_type="natural"),
    "make_interp_spline, k=5": lambda x, y: ip.make_interp_spline(x, y, k=5),
    "RegularGridInterpolator": lambda x, y: lambda q: ip.RegularGridInterpolator((x,), y)(np.reshape(q, (-1, 1))),
}
# Derivatives and integrals of an interpolant.
PARTS: dict[str, Callable[[Any], Any]] = {
    "derivatives": lambda y: ip.CubicSpline(X, y)(Q, 2),
    "derivative": lambda y: ip.CubicSpline(X, y).derivative()(Q),
    "antiderivative": lambda y: ip.CubicSpline(X, y).antiderivative()(Q),
    "integral": lambda y: ip.CubicSpline(X, y).integrate(0.25, 3.75),
    "periodic": lambda y: ip.CubicSpline(X, np.concatenate([y[:-1], y[:1]]), bc_type="periodic")(Q + 4.0),
    "columns": lambda y: ip.CubicSpline(X, np.stack([y, y * y], 1))(Q),
    "along another axis": lambda y: ip.CubicSpline(X, np.stack([y, y * y]), axis=1)(Q),
    "extrapolated": lambda y: ip.CubicSpline(X, y)(Q + 3.0),
    "PPoly": lambda y: ip.PPoly(np.stack([y[:-1], y[1:]]), X)(Q),
    "BSpline": lambda y: ip.BSpline(KNOTS, y[:6], 3)(Q),
    "BSpline, derivatives": lambda y: ip.BSpline(KNOTS, y[:6], 3)(Q, 1),
    "two dimensions": lambda y: ip.RegularGridInterpolator((X, X), y[:, None] * y)(np.stack([Q, Q[::-1]], 1)),
    "two dimensions by pchip": lambda y: ip.RegularGridInterpolator((X, X), y[:, None] * y, method="pchip")(
        np.stack([Q, Q[::-1]], 1)
    ),
    "three dimensions": lambda y: ip.RegularGridInterpolator((X, X, X), y[:, None, None] * y[:, None] * y)(
        np.stack([Q, Q[::-1], Q], 1)
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_by_the_data(name: str) -> None:
    make = MADE[name]
    assert_fits(hoad.adopt(lambda t: make(X, Y + t * DY)(Q)), 0.0, 0.0625, 1e-7, 0.2)


@pytest.mark.parametrize("name", MADE)
def test_by_the_points(name: str) -> None:
    make = MADE[name]
    assert_fits(hoad.adopt(lambda t: make(X + t * DX, Y)(Q)), 0.0, 0.0625, 1e-6, 0.05)


@pytest.mark.parametrize("name", [name for name in MADE if "k=2" not in name])  # whose knots are elsewhere
def test_by_the_places(name: str) -> None:
    make = MADE[name]
    assert_fits(hoad.adopt(lambda t: make(X, Y)(Q + t)), 0.0, 0.0625, 1e-7, 0.15)


@pytest.mark.parametrize("name", PARTS)
def test_what_else_is_evaluated(name: str) -> None:
    f = PARTS[name]
    assert_fits(hoad.adopt(lambda t: f(Y + t * DY)), 0.0, 0.0625, 1e-7, 0.2)


@pytest.mark.parametrize("name", ["CubicSpline", "make_interp_spline", "interp1d, cubic", "RegularGridInterpolator"])
def test_they_are_linear_in_the_data(name: str) -> None:
    """So the derivative is the interpolant of the direction."""
    make = MADE[name]
    value, slope = hoad.jvp(hoad.adopt(lambda y: make(X, y)(Q)), (Y,), (DY,))
    np.testing.assert_allclose(value, make(X, Y)(Q), rtol=1e-13)
    np.testing.assert_allclose(slope, make(X, DY)(Q), rtol=1e-12, atol=1e-14)


def test_an_interval_is_found_again() -> None:
    """A replay has the interval where the place is; at a knot it is that on the right, and at the end the last."""
    jitted = hoad.jit(hoad.grad(hoad.adopt(lambda q: ip.CubicSpline(X, Y)(q))))
    slope = ip.CubicSpline(X, Y).derivative()
    for q in (0.2, 3.0, 0.5, 4.0, 4.5, -1.0):
        np.testing.assert_allclose(jitted(q), slope(q), rtol=1e-12, atol=1e-14)
    jitted = hoad.jit(hoad.grad(hoad.adopt(lambda q: ip.PchipInterpolator(X, Y, extrapolate=False)(q))))
    assert np.isfinite(jitted(0.2))


def test_slopes_of_pchip_are_a_decision() -> None:
    """At an extremum of the data the slope is 0, elsewhere a mean; a replay follows."""
    f = hoad.adopt(lambda y: ip.PchipInterpolator(X, np.array([1.0, 1.5, 0.0, 0.75, 2.0, 1.75, 0.25]) + y * DY)(1.6))
    jitted = hoad.jit(hoad.grad(f))
    for y in (0.25, 2.0, 0.25):
        plain = [
            ip.PchipInterpolator(X, np.array([1.0, 1.5, 0.0, 0.75, 2.0, 1.75, 0.25]) + (y + h) * DY)(1.6)
            for h in (-1e-6, 1e-6)
        ]
        assert jitted(y) == pytest.approx((plain[1] - plain[0]) / 2e-6, rel=1e-6, abs=1e-8)


def test_outside_is_nan_where_scipys_is() -> None:
    value, slope = hoad.jvp(
        hoad.adopt(lambda y: ip.CubicSpline(X, y, extrapolate=False)(np.array([-1.0, 1.0, np.nan]))), (Y,), (DY,)
    )
    np.testing.assert_array_equal(np.isnan(value), [True, False, True])
    assert np.isfinite(slope[1])


def test_the_names_of_the_package() -> None:
    """Classes make objects whose methods are adopted."""

    def f(y: Any) -> Any:
        spline = interpolate.CubicSpline(X, y)
        return np.sum(spline(Q)) + spline.integrate(0.0, 1.0)

    direct = ip.CubicSpline(X, DY)
    np.testing.assert_allclose(hoad.grad(f)(Y) @ DY, np.sum(direct(Q)) + direct.integrate(0.0, 1.0), rtol=1e-12)
    np.testing.assert_array_equal(interpolate.CubicSpline(X, Y)(Q), ip.CubicSpline(X, Y)(Q))


def test_a_spline_of_two_variables_is_a_polynomial_of_low_degree() -> None:
    """x³y² + y³ is its own cubic spline: hoad's derivatives are those of the polynomial, SciPy's values nearly so."""
    grid = (X, Q)
    data = X[:, None] ** 3 * Q**2 + Q**3

    def f(at: Any, values: Any = data, nu: Any = None) -> Any:
        return interpolate.RegularGridInterpolator(grid, values, "cubic")(np.reshape(at, (1, 2)), nu=nu)[0]

    x, y = at = np.array([1.7, 1.1])
    assert hoad.jvp(lambda v: f(at, v), (data,), (2.0 * data,))[1] == pytest.approx(2.0 * (x**3 * y**2 + y**3))
    wanted = [[6 * x * y**2, 6 * x**2 * y], [6 * x**2 * y, 2 * x**3 + 6 * y]]
    np.testing.assert_allclose(hoad.hessian(lambda at: f(at, 1.0 * data))(at), wanted, rtol=1e-3)
    slopes = hoad.jit(hoad.hessian(lambda z: f(z[:2], z[2] * data)))(np.array([x, y, 1.0]))
    np.testing.assert_allclose(slopes[:2, :2], wanted, rtol=1e-12)
    assert hoad.grad(lambda s: f(at, s * data, nu=(1, 1)))(1.0) == pytest.approx(6 * x**2 * y)
