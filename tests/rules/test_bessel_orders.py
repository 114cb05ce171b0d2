"""Bessel functions by their order: far points, whole orders, where x equals the order, and where there is nothing.

An error is relative to a derivative, to what a relative change of x changes it by, and to that of one order less by v.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sc
from mpmath import mp

import hoad
from hoad.rules.special.bessel_orders import coefficients
from hoad.scipy import special

# of each function: in mpmath, and the weights of fᵥ₋₁ / 2 and fᵥ₊₁ / 2 in its slope
FUNCTIONS: dict[str, tuple[Callable[..., Any], int, int]] = {
    "jv": (mp.besselj, 1, -1),
    "yv": (mp.bessely, 1, -1),
    "iv": (mp.besseli, 1, 1),
    "kv": (mp.besselk, -1, -1),
}


def exact(name: str, j: int, k: int, v: float, x: float) -> Any:
    """The derivative of the orders j by v and k by x: by differences of sums of other orders."""
    f, before, after = FUNCTIONS[name]

    def by_x(v: Any) -> Any:
        terms = [mp.binomial(k, i) * before ** (k - i) * after**i * f(v + 2 * i - k, mp.mpf(x)) for i in range(k + 1)]
        return mp.fsum(terms) / 2**k

    with mp.workdps(50 + 16 * j):
        h = mp.mpf(10) ** -15
        weights = [(-1) ** (j - i) * mp.binomial(j, i) for i in range(j + 1)]
        return mp.fsum(w * by_x(v + (2 * i - j) * h) for i, w in enumerate(weights)) / (2 * h) ** j


def error(name: str, j: int, k: int, v: float, x: float) -> float:
    found = float(coefficients(name, v, x, (j, k))[j, k]) * math.factorial(j) * math.factorial(k)
    want = exact(name, j, k, v, x)
    scale = abs(want) + abs(x * exact(name, j, k + 1, v, x)) + abs(exact(name, j - 1, k, v, x))
    return float(abs(found - want) / scale)


POINTS = [
    *[(v, x) for v in (0.0, 7.0, 50.0) for x in (1e-4, 0.5, 7.0, 100.0)],
    *[(v, v * (1.0 + d)) for v in (3.0, 50.0) for d in (-0.1, -1e-3, 0.0, 0.1)],
    *[(v, x) for v in (1e-12, 0.5, 90.5) for x in (1.0, 300.0)],
    *[(-v, x) for v in (0.5, 2.0, 3.0 - 1e-9, 17.3) for x in (0.1, 60.0)],
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_points_near_and_far(name: str) -> None:
    for n, (v, x) in enumerate(POINTS[:: 3 if name == "kv" else 1]):  # of which mpmath takes its time
        with mp.workdps(30):
            if not 1e-280 < abs(FUNCTIONS[name][0](v, x)) < 1e280:
                continue
        for j, k in ((1, 0), (3, 1))[: 1 + (n % 3 > 0)]:
            assert error(name, j, k, v, x) <= 1e-14, (name, j, k, v, x)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_points_at_random(name: str) -> None:
    rng = np.random.default_rng(5)
    for n in range(60):
        v = rng.uniform(-50.0, 50.0) if n % 2 else float(rng.integers(0, 50))
        x = (rng.uniform(0.0, 100.0), 10.0 ** rng.uniform(-3.0, 0.0), abs(v) * rng.uniform(0.9, 1.1) + 0.01)[n % 3]
        j, k = int(rng.integers(1, 6)), int(rng.integers(0, 4))
        value = abs(FUNCTIONS[name][0](v, x))
        assert not 1e-250 < value < 1e250 or error(name, j, k, v, x) <= 1e-13, (name, j, k, v, x)


def test_what_is_known_in_closed_form() -> None:
    """DLMF 10.15.6 to 10.15.9, 10.38.6: at order 1/2 by sine and cosine integrals; 10.15.3, 10.38.2: at order 0."""
    x = np.array([0.3, 2.0, 11.0])
    si2, ci2 = sc.sici(2.0 * x)
    scale = np.sqrt(2.0 / (np.pi * x))
    by_v = lambda f, v: hoad.jvp(lambda u: f(u, x), (v,), (1.0,))[1]  # noqa: E731
    np.testing.assert_allclose(by_v(sc.jv, 0.5), scale * (ci2 * np.sin(x) - si2 * np.cos(x)), rtol=1e-12)
    np.testing.assert_allclose(by_v(sc.yv, 0.5), scale * (ci2 * np.cos(x) + (si2 - np.pi) * np.sin(x)), rtol=1e-12)
    np.testing.assert_allclose(by_v(sc.kv, 0.5), np.sqrt(np.pi / (2.0 * x)) * np.exp(x) * sc.exp1(2.0 * x), rtol=1e-12)
    np.testing.assert_allclose(by_v(sc.jv, 0.0), 0.5 * np.pi * sc.y0(x), rtol=1e-13)
    np.testing.assert_allclose(by_v(sc.yv, 0.0), -0.5 * np.pi * sc.j0(x), rtol=1e-13)
    np.testing.assert_array_equal(by_v(sc.kv, 0.0), 0.0)


@pytest.mark.parametrize(
    ("f", "v", "x", "want"),
    [
        (sc.jv, 1.5, 0.0, 0.0),
        (sc.iv, 1.5, 0.0, 0.0),
        (sc.jv, -0.5, 0.0, math.nan),
        (sc.kv, 1.5, 0.0, math.nan),
        (sc.yv, 1.5, 0.0, math.nan),
        (sc.jv, 2.0, -1.0, math.nan),
        (sc.kv, 2.0, math.inf, math.nan),
        (sc.jv, math.nan, 1.0, math.nan),
        (sc.yv, 2000.0, 1900.0, math.nan),
        (sc.jv, 2.0, math.nan, math.nan),
    ],
)
def test_special_points(f: Any, v: float, x: float, want: float) -> None:
    np.testing.assert_array_equal(hoad.grad(f)(v, x), want)
    np.testing.assert_array_equal(hoad.derivatives(lambda u: f(u, x), 2)(v)[1], want)


def test_series_along_curves() -> None:
    """In both operands at once, and by what stays in them."""
    for name, (f, _, _) in FUNCTIONS.items():
        function = getattr(sc, name)
        found = hoad.derivatives(lambda t, f=function: f(2.3 + t, 3.1 - 0.5 * t), 6)(0.0)
        with mp.workdps(50):
            want = mp.taylor(lambda t, f=f: f(mp.mpf(2.3) + t, mp.mpf(3.1) - t / 2), 0, 6)
        np.testing.assert_allclose(found, [float(c) * math.factorial(k) for k, c in enumerate(want)], rtol=1e-12)
    curvature = hoad.grad(lambda v: hoad.laplacian(lambda x: sc.jv(v, x))(3.1))
    assert curvature(2.3) == pytest.approx(float(exact("jv", 1, 2, 2.3, 3.1)), rel=1e-13)


def test_many_points_at_once() -> None:
    """Each by itself, in arrays of any shape, in lanes, in programs, in processes, and in single precision."""
    v, x = np.linspace(-3.3, 9.0, 20)[:, None], np.linspace(0.1, 40.0, 15)
    whole = hoad.jvp(lambda v: sc.jv(v, x), (v + 0.0 * x,), (np.ones((20, 15)),))[1]
    each = [[hoad.grad(sc.jv)(p, q) for q in x.tolist()] for p in v[:, 0].tolist()]
    np.testing.assert_allclose(whole, each, rtol=1e-13, atol=1e-15)
    lanes = hoad.vmap(lambda p: hoad.grad(sc.kv)(p, 2.5))(v[:, 0])
    np.testing.assert_allclose(lanes, [hoad.grad(sc.kv)(p, 2.5) for p in v[:, 0].tolist()], rtol=1e-14)
    program = hoad.gradient(hoad.record(lambda v: sc.yv(v, 2.5), 1.5))
    assert pickle.loads(pickle.dumps(program)).evaluate(2.25) == program.evaluate(2.25)
    single = hoad.grad(lambda v: sc.kv(v, np.float32(2.5)))(np.float32(1.5))
    assert single.dtype == np.float32
    assert single == np.float32(hoad.grad(sc.kv)(1.5, 2.5))


@pytest.mark.parametrize("name", ["jv", "iv", "kve", "jve", "hankel1"])
def test_orders_beside_a_complex_argument_are_refused(name: str) -> None:
    with pytest.raises(
        hoad.NoRuleError, match=r"^scipy\.special\.\w+.* has no derivative with respect to v .*\(test_bessel_orders"
    ):
        hoad.grad(lambda v: np.real(getattr(sc, name)(v, 0.25 + 0.5j)))(1.5)


def _spherical(name: str) -> Callable[..., Any]:
    f = {"jn": mp.besselj, "yn": mp.bessely, "in": mp.besseli, "kn": mp.besselk}[name[-2:]]
    return lambda n, z: mp.sqrt(mp.pi / (2 * z)) * f(n + mp.mpf(1) / 2, z)


@pytest.mark.parametrize("name", ["spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"])
def test_spherical_functions(name: str) -> None:
    function = getattr(special, name)
    for n in (0, 1, 4):
        for z in (0.3, 2.5, 17.0):
            with mp.workdps(40):
                want = [
                    float(c) * math.factorial(k)
                    for k, c in enumerate(mp.taylor(lambda z: _spherical(name)(n, z), z, 6))
                ]
            f = lambda z, n=n: function(n, z)  # noqa: E731
            scale = np.abs(want) + np.abs(np.append(want[1:], 0.0)) * z
            np.testing.assert_array_less(abs(np.array(hoad.derivatives(f, 5)(z)) - want[:6]), 4e-14 * scale[:6])
            assert hoad.grad(f)(z) == pytest.approx(want[1], rel=1e-13, abs=4e-14 * scale[1])
            assert hoad.grad(hoad.grad(f))(z) == pytest.approx(want[2], rel=1e-13, abs=4e-14 * scale[2])
            derivative = hoad.grad(lambda z, n=n: function(n, z, derivative=True))(z)
            assert derivative == pytest.approx(want[2], rel=1e-13, abs=4e-14 * scale[2])
    at_zero = {"spherical_jn": [1 / 3, 0.0, -1 / 5], "spherical_in": [1 / 3, 0.0, 1 / 5]}
    if name in at_zero:
        np.testing.assert_allclose(hoad.derivatives(lambda z: function(1, z), 3)(0.0)[1:], at_zero[name], atol=1e-16)
    orders, z = np.array([0, 1, 5]), np.array([0.5, 2.0, 3.0])
    whole = hoad.jvp(lambda z: function(orders, z), (z,), (np.ones(3),))[1]
    np.testing.assert_allclose(whole, [hoad.grad(function, argnums=1)(n, x) for n, x in zip(orders, z, strict=True)])
