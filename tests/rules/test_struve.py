"""Struve functions: far points and large orders, high degrees, both sides of 0, and where there is nothing.

An error is relative to a derivative, to what a relative change of x changes it by, and to that of one order less by v.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
import scipy.special as sc
from mpmath import mp

import hoad
from hoad.rules.special.struve import struve_table

H, L = -1.0, 1.0


def _series(turn: float, v: Any, x: Any, degree: int) -> list[Any]:
    """The Taylor coefficients by x of the power series (DLMF 11.2.1, 11.2.2), term by term."""
    found, m, least = [mp.zero] * (degree + 1), 0, mp.eps
    while m <= degree + abs(x) / 2 + abs(v) or least > mp.eps:
        p = v + 1 + 2 * m
        term = mp.mpf(turn) ** m * mp.rgamma(m + mp.mpf(3) / 2) * mp.rgamma(m + v + mp.mpf(3) / 2) / mp.mpf(2) ** p
        term *= x**p
        for k in range(degree + 1):
            found[k] += term
            term *= (p - k) / (k + 1) / x
        m, least = m + 1, abs(term / (found[degree] or 1))
    return found


@functools.cache
def exact(turn: float, j: int, v: float, x: float, degree: int) -> list[Any]:
    """The Taylor coefficients of the j-th derivative by v: by differences."""
    with mp.workdps(60 + int(abs(x)) + 40 * j):
        h = mp.mpf(10) ** -20
        columns = [_series(turn, mp.mpf(v) + (2 * i - j) * h, mp.mpf(x), degree) for i in range(j + 1)]
        weights = [(-1) ** (j - i) * mp.binomial(j, i) / (2 * h) ** j for i in range(j + 1)]
        return [mp.fsum(w * column[k] for w, column in zip(weights, columns, strict=True)) for k in range(degree + 1)]


def error(turn: float, j: int, v: float, x: float, degree: int) -> float:
    """The largest of all coefficients."""
    want = exact(turn, j, v, x, degree + 1)
    less = exact(turn, j - 1, v, x, degree) if j else [0] * (degree + 1)
    table = struve_table(np.array([v]), np.array([x]), (j, degree), turn)
    errors = []
    for k in range(degree + 1):
        found = math.factorial(j) * float(table[j, k][0])
        scale = abs(want[k]) + abs((k + 1) * x * want[k + 1]) + abs(less[k])
        errors.append(float(abs(found - want[k]) / scale) if scale > 1e-290 else abs(found))
    return max(errors)


POINTS = [
    *[(v, x) for v in (-20.3, -3.0, -1.0, 0.0, 1.0, 2.5, 20.0) for x in (1e-8, 0.5, 2.99, 3.0, 9.0, 40.0)],
    *[(v, x) for v in (-0.5, -1.5, -2.5, 0.5, 0.3) for x in (0.1, 6.0, 100.0)],
    *[(50.0, x) for x in (1e-3, 12.0, 35.0, 49.0, 50.0, 51.0, 90.0)],
]


@pytest.mark.parametrize("turn", [H, L])
def test_points_near_and_far(turn: float) -> None:
    for v, x in POINTS:
        assert error(turn, 0, v, x, 4) <= 4e-14, (v, x)
    for v, x in POINTS[::5]:
        assert error(turn, 1, v, x, 3) <= 4e-14, (v, x)
    for v, x in POINTS[1::10]:
        assert error(turn, 3, v, x, 1) <= 1e-12, (v, x)


@pytest.mark.parametrize("turn", [H, L])
@pytest.mark.parametrize("v", [-1.0, 0.0, 1.0, 2.5])
def test_high_degrees(turn: float, v: float) -> None:
    """Also where Y and an integral would cancel each other in them."""
    for x in (1e-3, 2.9, 3.0, 8.0, 24.0, 26.0):
        assert error(turn, 0, v, x, 50) <= 1e-13, x


@pytest.mark.parametrize("turn", [H, L])
def test_large_orders(turn: float) -> None:
    for v in (130.5, 400.0):
        for share in (0.5, 0.95, 1.2):
            assert error(turn, 0, v, share * v, 4) <= 2e-12, (v, share)
    unknown = struve_table(np.array([401.0, -401.0]), np.array([2.0, 500.0]), (0, 1), turn)
    assert np.all(np.isnan(unknown[0, 1]))


@pytest.mark.slow
@pytest.mark.parametrize("turn", [H, L])
def test_points_at_random(turn: float) -> None:
    rng = np.random.default_rng(6)
    for n in range(150):
        v = rng.uniform(-30.0, 60.0) if n % 2 else float(rng.integers(-6, 60))
        x = (rng.uniform(0.0, 100.0), 10.0 ** rng.uniform(-4.0, 0.7), abs(v) * rng.uniform(0.8, 1.2) + 0.01)[n % 3]
        value = abs(exact(turn, 0, v, x, 5)[0])
        assert not 1e-250 < value < 1e250 or error(turn, 0, v, x, 4) <= 1e-13, (v, x)


def test_what_is_known_in_closed_form() -> None:
    """DLMF 11.4(i): of half orders; 11.4.23: of -1 by that of 1."""
    x = np.array([0.3, 2.0, 3.5, 11.0])
    scale = np.sqrt(2.0 / np.pi)
    for f, like in (
        (lambda x: sc.struve(0.5, x), lambda x: scale / x**0.5 * 2.0 * np.sin(0.5 * x) ** 2),
        (lambda x: sc.struve(-0.5, x), lambda x: scale / x**0.5 * np.sin(x)),
        (lambda x: sc.modstruve(-0.5, x), lambda x: scale / x**0.5 * np.sinh(x)),
        (lambda x: sc.modstruve(0.5, x), lambda x: scale / x**0.5 * 2.0 * np.sinh(0.5 * x) ** 2),
        (lambda x: sc.struve(-1.5, x), lambda x: -sc.jv(1.5, x)),
        (lambda x: sc.struve(-1, x) + sc.struve(1, x), lambda x: 2.0 / np.pi + 0.0 * x),
    ):
        for order in range(6):
            np.testing.assert_allclose(
                hoad.derivative(f, order)(x), hoad.derivative(like, order)(x), rtol=1e-11, atol=1e-15
            )


@pytest.mark.parametrize("name", ["struve", "modstruve"])
@pytest.mark.parametrize("v", [-2, -1, 0, 1, 4])
def test_the_left_side(name: str, v: int) -> None:
    """Of whole orders, odd or even; of others and by the order there is none."""
    f = functools.partial(getattr(sc, name), v)
    x = np.array([0.25, 3.0, 17.0])
    for order in range(5):
        for step in (hoad.grad, lambda g: lambda y: hoad.jvp(g, (y,), (1.0,))[1]):
            df: Any = f
            for _ in range(order):
                df = step(df)
            right, left = [df(y) for y in x.tolist()], [df(-y) for y in x.tolist()]
            np.testing.assert_array_equal(left, (-1.0) ** (v + 1 + order) * np.array(right))
    assert math.isnan(hoad.grad(getattr(sc, name))(float(v), -0.25))
    assert math.isnan(hoad.grad(lambda x: getattr(sc, name)(0.5, x))(-0.25))


def test_series_along_curves_and_arrays() -> None:
    """In both operands at once; values are SciPy's, bit by bit."""
    for name, f in (("struve", mp.struveh), ("modstruve", mp.struvel)):
        function = getattr(sc, name)
        found = hoad.derivatives(lambda t, f=function: f(2.3 + t, 3.1 - 0.5 * t), 6)(0.0)
        with mp.workdps(50):
            want = mp.taylor(lambda t, f=f: f(mp.mpf(2.3) + t, mp.mpf(3.1) - t / 2), 0, 6)
        np.testing.assert_allclose(found, [float(c) * math.factorial(k) for k, c in enumerate(want)], rtol=1e-11)
        v, x = np.linspace(-3.3, 9.0, 9)[:, None], np.linspace(0.1, 40.0, 7)
        value, whole = hoad.jvp(lambda x, v=v, f=function: f(v, x), (x,), (np.ones(7),))
        np.testing.assert_array_equal(value, function(v, x))
        each = [[hoad.grad(function, argnums=1)(p, q) for q in x.tolist()] for p in v[:, 0].tolist()]
        np.testing.assert_allclose(whole, each, rtol=1e-13, atol=1e-15)
        assert hoad.grad(lambda x, f=function: f(np.float32(0.0), x))(np.float32(2.5)).dtype == np.float32
        for at in (math.nan, math.inf):
            assert math.isnan(hoad.grad(lambda x, f=function: f(0.0, x))(at))
