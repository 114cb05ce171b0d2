"""Differential equations in complex numbers, against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hoad

TIMES = np.linspace(0.0, 2.0, 5)
X = np.array([0.3, 1.2])


def turning(**options: Any) -> Any:
    """Re y(2) for y' = (i b - a) y, y(0) = 1: exp(-2a) cos 2b."""
    return lambda x: np.real(
        hoad.ode.odeint(lambda y, t: (-x[0] + 1j * x[1]) * y, 1.0 + 0j, TIMES, rtol=1e-11, atol=1e-11, **options)[-1]
    )


@pytest.mark.parametrize("options", [{}, {"method": "rk4", "steps": 400}])
def test_first_and_second_derivatives(options: dict[str, Any]) -> None:
    f = turning(**options)
    size, (wave, slope) = np.exp(-2 * X[0]), (np.cos(2 * X[1]), np.sin(2 * X[1]))
    hessian = size * np.array([[4 * wave, 4 * slope], [4 * slope, -4 * wave]])
    np.testing.assert_allclose(f(X), size * wave, atol=1e-9)
    np.testing.assert_allclose(hoad.grad(f)(X), size * np.array([-2 * wave, -2 * slope]), atol=1e-9)
    np.testing.assert_allclose(hoad.hessian(f)(X), hessian, atol=1e-8)
    np.testing.assert_allclose(hoad.jacobian(hoad.jacobian(f, mode="forward"), mode="forward")(X), hessian, atol=1e-8)


def test_a_complex_start() -> None:
    """|y(2)|² = exp(-2) |y₀|² for y' = (i - 1/2) y."""
    size = lambda z: abs(hoad.ode.odeint(lambda y, t: (1j - 0.5) * y, z, TIMES, rtol=1e-11)[-1]) ** 2  # noqa: E731
    np.testing.assert_allclose(hoad.grad(size)(1.0 + 2j), 2 * (1.0 - 2j) * np.exp(-2.0), rtol=1e-7)


def test_inputs_of_a_vmap_take_steps_that_serve_them() -> None:
    """y(1) = exp((i - 1) w) for y' = (i - 1) w y."""
    f = lambda w: hoad.ode.odeint(lambda y, t: (1j - 1) * w * y, 1.0 + 0j, [0.0, 1.0])[-1]  # noqa: E731
    w = np.array([0.5, 5.0, 50.0])
    exact = np.exp((1j - 1) * w)
    np.testing.assert_allclose(hoad.vmap(f)(w), exact, atol=1e-7)
    np.testing.assert_allclose(hoad.vmap(hoad.jacobian(f))(w), (1j - 1) * exact, atol=1e-6)
    with pytest.raises(hoad.GuardError):
        hoad.record(f, 0.5).evaluate(50.0)


def test_what_is_refused() -> None:
    for options in ({}, {"method": "rk4", "steps": 2}):
        with pytest.raises(hoad.DTypeError, match=r"a complex y0\['y'\] where rhs\(y, t\) is complex.*Write y0 \+ 0j"):
            hoad.ode.odeint(lambda s, t: {"y": 1j * s["y"]}, {"y": 1.0}, TIMES, **options)
    with pytest.raises(hoad.DTypeError, match="takes real times, but t is complex"):
        hoad.ode.odeint(lambda y, t: y, 1.0, TIMES * 1j)
