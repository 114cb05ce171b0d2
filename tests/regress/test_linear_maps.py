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


def test_a_pullback_of_scalars_inside_a_derivative() -> None:
    _, pullback = hoad.vjp(lambda x: np.exp(2 * x), 0.3)
    assert hoad.derivative(lambda t: pullback(t**2)[0], 2)(5.0) == pytest.approx(4 * np.exp(0.6))
