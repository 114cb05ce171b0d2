"""Differences know their error: against mpmath, over functions, points and scales."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp
from rules.oracle import partial

from hoad.check.differences import difference
from hoad.check.noise import noise_of
from hoad.check.points import Along

FUNCTIONS: dict[str, tuple[Any, Any, float]] = {
    "exp": (np.exp, mp.exp, 300.0),
    "sin": (np.sin, mp.sin, 1e6),
    "log": (np.log, mp.log, 1e6),
    "tanh": (np.tanh, mp.tanh, 10.0),
    "sqrt": (np.sqrt, mp.sqrt, 1e6),
    "cube": (lambda x: x**3, lambda x: x**3, 1e6),
    "reciprocal": (lambda x: 1 / x, lambda x: 1 / x, 1e6),
    "fast": (lambda x: np.sin(1e4 * x), lambda x: mp.sin(10000 * x), 2.0),
    "runge": (lambda x: 1 / (1 + 25 * x * x), lambda x: 1 / (1 + 25 * x * x), 1e3),
    "offset": (lambda x: 1e6 + np.sin(x), lambda x: 10**6 + mp.sin(x), 100.0),
    "cancelling": (lambda x: 1 - np.cos(x), lambda x: 1 - mp.cos(x), 100.0),
}


def differenced(f: Any, x: float) -> Any:
    phi = Along(f, (x,), {0: 1.0}, "the test")
    return difference(phi, noise_of(phi, (x,), {0: 1.0}), [abs(x or 1.0) / 8, 0.125, abs(x) * 2.0**-16 or 0.125])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_error_is_estimated(name: str, rng: np.random.Generator) -> None:
    f, oracle, largest = FUNCTIONS[name]
    for x in (10.0 ** rng.uniform(-4, np.log10(largest), 25)).tolist():
        exact = float(partial(oracle, [x], [1]))
        found = differenced(f, x)
        if found.trusted(np.asarray(exact)):
            assert abs(found.value - exact) <= 4 * found.error + 1e-8 * abs(exact), f"at {x}"


@pytest.mark.parametrize("name", ["log", "sqrt", "cube", "reciprocal", "sin"])
def test_ten_digits_are_usual(name: str) -> None:
    f, oracle, _ = FUNCTIONS[name]
    for x in (0.3, 1.7, 20.0):
        assert differenced(f, x).value == pytest.approx(float(partial(oracle, [x], [1])), rel=1e-10)
        assert differenced(f, x).error < 1e-9


@pytest.mark.parametrize(
    ("f", "kink"), [(abs, 2.0), (lambda x: np.maximum(x, 0.0), 1.0), (lambda x: -abs(x) + x**2, -2.0)]
)
def test_kinks(f: Any, kink: float) -> None:
    found = differenced(f, 0.0)
    assert found.kink == pytest.approx(kink) and not found.trusted(np.asarray(0.0))


@pytest.mark.parametrize(("f", "jump"), [(np.floor, 1.0), (lambda x: np.exp(x) - 3 * np.heaviside(x - 2, 0.5), -3.0)])
def test_jumps(f: Any, jump: float) -> None:
    found = differenced(f, 2.0)
    assert found.jump == pytest.approx(jump, abs=1e-3) and not found.trusted(np.asarray(0.0))


def test_cusps() -> None:
    assert differenced(lambda x: np.sqrt(abs(x)), 0.0).kink == np.inf
    assert differenced(lambda x: -(abs(x) ** 0.7), 0.0).kink == -np.inf


@pytest.mark.parametrize("apart", [1e-3, 1e-6, 1e-9, 1e-12])
def test_poles_are_not_trusted_beyond(apart: float) -> None:
    """Over steps that are longer than the way to the pole, differences agree on another value."""
    found = differenced(lambda x: 1 / (x - 1), 1 + apart)
    exact = -1 / ((1 + apart) - 1) ** 2
    assert not found.trusted(np.asarray(exact)) or found.value == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("x", [1e-9, 1e-3, 1.0])
def test_no_kink_where_there_is_none(x: float) -> None:
    assert differenced(abs, x).kink == 0 and differenced(abs, x).value == pytest.approx(1.0)
    assert differenced(lambda t: abs(t) ** 1.5, 0.0).kink == 0


def test_entry_by_entry() -> None:
    phi = Along(lambda x: np.stack([np.sin(x), abs(x - 1.0), np.log(x)]), (1.0,), {0: 1.0}, "the test")
    found = difference(phi, noise_of(phi, (1.0,), {0: 1.0}), [0.125])
    assert found.value == pytest.approx([np.cos(1.0), 0.0, 1.0], rel=1e-9, abs=1e-12)
    assert found.kink.tolist() == [0.0, 2.0, 0.0]
    assert found.trusted(found.value).tolist() == [True, False, True]


@pytest.mark.parametrize("amplitude", [1e-12, 1e-6, 1e-3])
def test_noise_is_estimated(amplitude: float) -> None:
    rng = np.random.default_rng(0)
    phi = Along(lambda x: np.sin(x) + amplitude * rng.standard_normal(), (1.0,), {0: 1.0}, "the test")
    assert amplitude / 4 < noise_of(phi, (1.0,), {0: 1.0}) < 4 * amplitude


@pytest.mark.parametrize("apart", [1e-9, 1e-10, 1e-11, 1e-12])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_what_varies_fast_is_no_noise(apart: float, side: float) -> None:
    """Beside a pole: rounding of x, times the slope."""
    x = 1 + side * apart
    phi = Along(lambda x: 1 / (x - 1), (x,), {0: 1.0}, "the test")
    usual = 2.0**-53 / (x - 1) ** 2
    assert usual / 8 < noise_of(phi, (x,), {0: 1.0}, (side,)) < 8 * usual


def test_a_kink_at_the_point_is_no_noise() -> None:
    for f in (abs, np.floor):
        phi = Along(f, (2.0,), {0: 1.0}, "the test")
        assert noise_of(phi, (2.0,), {0: 1.0}) < 1e-15


def test_rounding_of_a_cancelling_function_is_noise() -> None:
    """1 − cos x is 5e-9 here, but no more accurate than 1 is."""
    phi = Along(lambda x: 1 - np.cos(x), (1e-4,), {0: 1.0}, "the test")
    assert 1e-17 < noise_of(phi, (1e-4,), {0: 1e-4}) < 1e-15
