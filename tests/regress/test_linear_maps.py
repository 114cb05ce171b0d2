"""Linear maps of scalars, applied to values that another derivative traces."""

from __future__ import annotations

import numpy as np
import pytest

import hoad


def test_a_pushforward_of_scalars_inside_a_derivative() -> None:
    _, pushforward = hoad.linearize(np.sin, 0.3)
    assert hoad.grad(lambda t: pushforward(t) * t)(2.0) == pytest.approx(4 * np.cos(0.3))
    _, pushforward = hoad.linearize(lambda x, y: np.sin(x * y), 0.3, 0.4)
    assert hoad.derivative(lambda t: pushforward(t, t**2))(1.0) == pytest.approx(1.0 * np.cos(0.12))


def test_a_map_that_uses_one_result_of_several() -> None:
    """The derivative of the eigenvalues alone needs the eigenvectors, which are results of the same node."""
    a = np.array([[2.0, 0.5], [0.5, 1.0]])
    _, pushforward = hoad.linearize(lambda b: np.sum(b), a)
    spectrum = hoad.record(lambda b: np.linalg.eigh(b)[0], a)
    for mode in ("forward", "reverse"):
        found = hoad.jacobian(lambda b: spectrum(b) * pushforward(b), mode=mode)(a)
        wanted = hoad.jacobian(lambda b: np.linalg.eigh(b)[0] * np.sum(b), mode=mode)(a)
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
    e = hoad.symbols("A", shape=(2, 2))
    w = np.linalg.eigh(e)[0]
    np.testing.assert_allclose(w.jacobian({e: a}, mode="forward")[e], w.jacobian({e: a}, mode="reverse")[e], rtol=1e-13)


def test_a_pullback_of_scalars_inside_a_derivative() -> None:
    _, pullback = hoad.vjp(lambda x: np.exp(2 * x), 0.3)
    assert hoad.derivative(lambda t: pullback(t**2)[0], 2)(5.0) == pytest.approx(4 * np.exp(0.6))
