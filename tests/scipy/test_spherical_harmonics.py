"""Spherical harmonics by their angles, beside mpmath and closed forms, at the poles too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp

sc = pytest.importorskip("scipy.special")
if not hasattr(sc, "sph_harm_y"):
    pytest.skip("older releases have other functions", allow_module_level=True)

import hoad  # noqa: E402
from hoad.scipy import special  # noqa: E402

PAIRS = [(0, 0), (1, 0), (1, 1), (1, -1), (2, 1), (4, -3), (6, 2), (9, 9), (12, -5)]


def _theta(n: Any, m: Any, theta: Any) -> Any:
    return np.real(special.sph_harm_y(n, m, theta, 0.0))


def _exact(n: int, m: int, theta: Any) -> Any:
    return mp.re(mp.spherharm(n, m, theta, 0))


@pytest.mark.parametrize(("n", "m"), PAIRS)
def test_by_the_polar_angle(n: int, m: int) -> None:
    for theta in (0.2, 1.1, 2.9):
        with mp.workdps(40):
            want = [float(c) * math.factorial(k) for k, c in enumerate(mp.taylor(lambda t: _exact(n, m, t), theta, 5))]
        size = max(map(abs, want[:2]))
        found = hoad.derivatives(lambda t: _theta(n, m, t), 5)(theta)
        np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-13 * size * (n + 1) ** 4)
        for order in (1, 2, 3):
            by_reverse = hoad.derivative(lambda t: _theta(n, m, t), order)(theta)
            np.testing.assert_allclose(by_reverse, want[order], rtol=1e-12, atol=1e-13 * size * (n + 1) ** order)


@pytest.mark.parametrize(("n", "m"), PAIRS)
def test_laplaces_equation(n: int, m: int) -> None:
    """On the sphere: Y'' + cot θ Y' + (n (n + 1) - m²/sin² θ) Y = 0, of real and imaginary part."""
    theta, phi = 0.8, 0.3
    value = special.sph_harm_y(n, m, theta, phi)
    assert abs(value - sc.sph_harm_y(n, m, theta, phi)) < 1e-15
    for part in (np.real, np.imag):
        y = lambda t, p, part=part: part(special.sph_harm_y(n, m, t, p))  # noqa: E731
        by_theta = [hoad.derivative(lambda t, y=y: y(t, phi), k)(theta) for k in range(3)]
        by_phi = hoad.grad(hoad.grad(y, argnums=1), argnums=1)(theta, phi)
        total = by_theta[2] + by_theta[1] / math.tan(theta) + n * (n + 1) * by_theta[0] + by_phi / math.sin(theta) ** 2
        assert abs(total) <= 1e-12 * (n + 1) ** 2
        assert by_phi == pytest.approx(-(m**2) * by_theta[0], abs=1e-13)


def test_at_the_poles_and_of_arrays() -> None:
    """Y₁₁ is -√(3 / 8π) sin θ, and Y₂₀ is √(5 / 16π) (3 cos² θ - 1)."""
    for theta in (0.0, math.pi):
        slope = hoad.grad(lambda t: _theta(1, 1, t))(theta)
        assert slope == pytest.approx(-math.sqrt(3 / (8 * math.pi)) * math.cos(theta), rel=1e-14)
        curve = hoad.derivative(lambda t: _theta(2, 0, t), 2)(theta)
        assert curve == pytest.approx(-6 * math.sqrt(5 / (16 * math.pi)), rel=1e-14)
    n, m, theta = np.array([1, 2, 3]), np.array([1, 0, -2]), np.array([0.3, 0.9, 2.0])
    whole = hoad.jvp(lambda t: _theta(n, m, t), (theta,), (np.ones(3),))[1]
    each = [hoad.grad(lambda t, a=a, b=b: _theta(a, b, t))(t) for a, b, t in zip(n, m, theta, strict=True)]
    np.testing.assert_allclose(whole, each, rtol=1e-15)
    for f, slope in (
        (lambda z, m: m.legendre_p(3, z), 0.5 * (15 * 0.16 - 3)),
        (lambda z, m: m.sph_legendre_p(1, 0, z), -math.sqrt(3 / (4 * math.pi)) * math.sin(0.4)),
    ):
        value, found = hoad.jvp(lambda z, f=f: f(z, special), (0.4,), (1.0,))
        assert np.shape(value) == np.shape(f(0.4, sc))
        np.testing.assert_allclose(value, f(0.4, sc), rtol=1e-14)
        np.testing.assert_allclose(found, slope, rtol=1e-14)
    with pytest.raises(hoad.NoRuleError, match="diff_n"):
        hoad.grad(lambda t: special.sph_legendre_p(2, 1, t, diff_n=1)[0])(0.3)
