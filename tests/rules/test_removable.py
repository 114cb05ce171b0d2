"""np.sinc at, near and far from its removable singularity, against mpmath."""

from __future__ import annotations

import pickle
from typing import Any

import mpmath
import numpy as np
import pytest

import hoad

POINTS = [0.0, -0.0, 1e-160, 1e-9, -0.3, 1.0, 2.5, -10.1, 10.2, 33.7, -500.25]


def exact(order: int, x: Any) -> Any:
    """A derivative of sin(πx)/(πx): near 0 by the series of sin(z)/z, else by the product z · sin(z)/z."""
    with mpmath.workdps(100):
        z = mpmath.pi * mpmath.mpmathify(x)
        found = mpmath.sinc(z)
        if abs(x) < 1:
            found = mpmath.fsum(
                (-1) ** m * z ** (2 * m - order) / (mpmath.factorial(2 * m - order) * (2 * m + 1))
                for m in range((order + 1) // 2, 80)
            )
        elif order:
            found = (mpmath.sin(z + order * mpmath.pi / 2) - order * exact(order - 1, x) / mpmath.pi ** (order - 1)) / z
        return mpmath.pi**order * found


def close(found: Any, order: int, x: float) -> bool:
    """To rounding, of the integral near 0 and of the argument of the sine far off."""
    return bool(abs(found - exact(order, x)) <= 4e-15 * np.pi**order)


@pytest.mark.parametrize("x", POINTS)
def test_derivatives_of_every_order(x: float) -> None:
    found = hoad.derivatives(np.sinc, 20)(x)
    nested: Any = np.sinc
    for order in range(21):
        assert close(found[order], order, x)
        if order <= 4:
            assert close(nested(x), order, x)
            nested = hoad.grad(nested)


@pytest.mark.parametrize("order", range(1, 5))
def test_other_modes(order: int) -> None:
    def raised(f: Any) -> Any:
        return lambda x: hoad.jvp(f, (x,), (1.0,))[1]

    forward: Any = np.sinc
    for _ in range(order):
        forward = raised(forward)
    fast, lanes = hoad.jit(forward), hoad.vmap(forward)(np.array(POINTS))
    for k, x in enumerate(POINTS):
        assert close(fast(x), order, x) and close(lanes[k], order, x)


def test_arrays_and_pickles() -> None:
    x = np.array(POINTS)
    program = hoad.record(np.sinc, x)
    np.testing.assert_array_equal(program.evaluate(x), np.sinc(x))
    hessian = hoad.hessian(lambda x: np.sum(x * np.sinc(x)))(x)
    np.testing.assert_allclose(np.diag(hessian), [float(2 * exact(1, y) + y * exact(2, y)) for y in x], atol=2e-13)
    again = pickle.loads(pickle.dumps(hoad.gradient(hoad.record(np.sinc, 0.3))))
    assert close(again.evaluate(2.5), 1, 2.5)


def test_dtypes() -> None:
    found = hoad.grad(lambda x: np.sum(np.sinc(x)))(np.float32([0.0, 0.3]))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [0.0, float(exact(1, 0.3))], rtol=1e-6)
    z = 0.3 + 0.2j
    np.testing.assert_allclose(hoad.grad(np.sinc, holomorphic=True)(z), complex(exact(1, z)), rtol=1e-14)
