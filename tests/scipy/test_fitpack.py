"""FITPACK's splines: values as SciPy's, derivatives as those of plain values, by degrees and ways to extrapolate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

ip = pytest.importorskip("scipy.interpolate")
fitpack = pytest.importorskip("hoad._scipy.fitpack")
if not hasattr(fitpack._dfitpack or fitpack._fitpack, "splev"):
    pytest.skip("older releases end in other compiled functions", allow_module_level=True)

from _scipy.orders import assert_fits  # noqa: E402

import hoad  # noqa: E402

X = np.array([0.0, 0.5, 1.25, 2.0, 2.5, 3.5, 4.0, 4.75])
Y = np.array([1.0, 1.5, 0.5, 0.75, 2.0, 1.75, 0.25, 0.5])
Q = np.array([0.2, 0.65, 1.05, 1.8, 2.75, 3.25, 4.4])
DX = np.array([0.0, 0.2, -0.1, 0.3, 0.1, -0.2, 0.1, 0.0])
DY = np.array([0.5, -0.25, 1.0, 0.5, -0.5, 0.25, 1.0, 0.3])
BEYOND = np.array([-0.7, 0.3, 4.0, 5.3])
# Of points, data and places.
MADE: dict[str, Callable[[Any, Any, Any], Any]] = {
    **{f"splrep, k={k}": lambda x, y, q, k=k: ip.splev(q, ip.splrep(x, y, k=k)) for k in (1, 2, 4, 5)},
    **{f"UnivariateSpline, k={k}": lambda x, y, q, k=k: ip.UnivariateSpline(x, y, k=k, s=0)(q) for k in (2, 3)},
    "InterpolatedUnivariateSpline, a box": lambda x, y, q: ip.InterpolatedUnivariateSpline(x, y, bbox=[-0.5, 5.5])(q),
    "LSQUnivariateSpline": lambda x, y, q: ip.LSQUnivariateSpline(x, y, [1.5, 3.0], k=2)(q),
    "LSQUnivariateSpline, weights": lambda x, y, q: ip.LSQUnivariateSpline(x, y, [2.2], w=1.0 + X)(q),
    "splrep, knots": lambda x, y, q: ip.splev(q, ip.splrep(x, y, t=[1.5, 3.0])),
}
PARTS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        f"splev, der={der}, ext={ext}": lambda y, q, der=der, ext=ext: ip.splev(q, ip.splrep(X, y), der, ext)
        for der, ext in ((0, 0), (0, 1), (0, 3), (1, 0), (2, 3))
    },
    "derivative": lambda y, q: ip.InterpolatedUnivariateSpline(X, y).derivative()(q),
    "derivatives": lambda y, q: ip.InterpolatedUnivariateSpline(X, y)(q, 2),
    "antiderivative": lambda y, q: ip.InterpolatedUnivariateSpline(X, y).antiderivative()(q),
    "splint": lambda y, q: ip.splint(q[1], q[2], ip.splrep(X, y)),
    "splint, beyond": lambda y, q: ip.splint(q[0], q[3], ip.splrep(X, y, k=2)),
    "integral": lambda y, q: ip.InterpolatedUnivariateSpline(X, y).integral(q[1], q[2]),
    "splantider": lambda y, q: ip.splev(q, ip.splantider(ip.splrep(X, y))),
}


@pytest.mark.parametrize("name", MADE)
def test_by_the_data(name: str) -> None:
    assert_fits(hoad.adopt(lambda t: MADE[name](X, Y + t * DY, Q)), 0.0, 0.0625, 1e-7, 0.2)


@pytest.mark.parametrize("name", MADE)
def test_by_the_points(name: str) -> None:
    assert_fits(hoad.adopt(lambda t: MADE[name](X + t * DX, Y, Q)), 0.0, 0.03125, 1e-5, 0.05)


@pytest.mark.parametrize("name", MADE)
def test_by_the_places(name: str) -> None:
    assert_fits(hoad.adopt(lambda t: MADE[name](X, Y, Q + t)), 0.0, 0.03125, 1e-7, 0.15)


@pytest.mark.parametrize("name", PARTS)
def test_what_is_evaluated(name: str) -> None:
    assert_fits(hoad.adopt(lambda t: PARTS[name](Y + t * DY, BEYOND + t)), 0.0, 0.03125, 1e-7, 0.2)


def test_what_smooths_says_so() -> None:
    for f in (lambda y: ip.UnivariateSpline(X, y)(1.0), lambda y: ip.splev(1.0, ip.splrep(X, y, s=0.1))):
        with pytest.raises(hoad.NoRuleError, match="s=0"):
            hoad.grad(hoad.adopt(f))(Y)
    with pytest.raises(ValueError, match="not in the domain"):
        hoad.grad(hoad.adopt(lambda q: ip.splev(q, ip.splrep(X, Y), ext=2)))(9.0)


def test_a_replay_finds_its_interval() -> None:
    slope = ip.InterpolatedUnivariateSpline(X, Y).derivative()
    jitted = hoad.jit(hoad.grad(hoad.adopt(lambda q: ip.InterpolatedUnivariateSpline(X, Y)(q))))
    for q in (0.2, 3.0, 0.5, 4.75, 5.0, -1.0):
        np.testing.assert_allclose(jitted(q), slope(q), rtol=1e-12, atol=1e-14)
