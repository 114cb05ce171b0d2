"""A function and its derivative, which one kernel gives for the same numbers: the bits of two kernels, and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import hoad
from hoad._core.kernels import vector

# As jvp gives them: the function, its kernel and its derivative's, how many units that may be off.
TOGETHER: dict[str, tuple[Callable[[Any], Any], str, str, Callable[[Any], Any], float]] = {
    "tanh": (np.tanh, "tanh", "sech_squared", lambda x: mp.sech(x) ** 2, 2.5),
    "sin": (np.sin, "sin", "cos", mp.cos, 1.0),
}
SPECIAL = [0.0, -0.0, 5e-324, -1e-308, 1e-9, -1e-9, 21.999, 22.001, -30.0, 340.0, -372.0, 1e5, 1e300, np.inf, -np.inf]


def points(n: int) -> np.ndarray:
    x = np.random.default_rng(n).uniform(-25, 25, n)
    x[: n // 2] /= 20
    x[-len(SPECIAL) - 1 :] = [*SPECIAL, np.nan]
    return x


@pytest.mark.parametrize("n", [16, 511, 700, 2049])
@pytest.mark.parametrize("name", TOGETHER)
def test_bits_are_those_of_two_kernels(name: str, n: int) -> None:
    f, value, slope, _, _ = TOGETHER[name]
    x = points(n)
    both = hoad.jit(lambda x: hoad.jvp(f, (x,), (np.ones(n),)))
    with np.errstate(invalid="ignore"):
        both(x + 1.0)
        p, derivative = both(x)
        np.testing.assert_array_equal(p, vector.evaluate(value, x))
        np.testing.assert_array_equal(derivative, vector.evaluate(slope, x))
        turned = hoad.jit(lambda x: (hoad.jvp(f, (x,), (np.ones(n),))[1] * 1.5, f(x) * 2.0))
        turned(x + 1.0)
        np.testing.assert_array_equal(turned(x)[0], derivative * 1.5)
        np.testing.assert_array_equal(turned(x)[1], p * 2.0)


@pytest.mark.parametrize("name", TOGETHER)
def test_derivatives_are_right_to_some_units(name: str) -> None:
    f, _, _, exact, units = TOGETHER[name]
    x = points(600)
    x = x[np.isfinite(x)]
    slopes = hoad.jit(hoad.grad(lambda x: np.sum(f(x))))
    slopes(x + 1.0)
    with mp.workdps(350):
        wanted = [exact(mp.mpf(a)) for a in x.tolist()]
        nearest = np.array([float(w) for w in wanted])
        rest = np.array([float(w - mp.mpf(near)) for w, near in zip(wanted, nearest.tolist(), strict=True)])
    error = np.abs((slopes(x) - nearest) - rest) / np.spacing(np.abs(nearest))
    assert error.max() <= units


def test_a_kept_pair_among_other_functions() -> None:
    """Results in memory and in rows, in either order, with three functions of one array."""
    x = points(900)[:-16]

    def f(x: Any) -> Any:
        s, c, t = np.sin(3 * x), np.cos(3 * x), np.tanh(3 * x)
        return c, np.sum(s * t), s[5:400] * c[5:400], np.sum(c[::2]), np.cos(x) - np.sin(x)

    replay = hoad.jit(f)
    replay(x * 0.5)
    for found, wanted in zip(replay(x), f(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)
