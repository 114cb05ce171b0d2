"""Series through complex and single numbers: closed forms, mpmath, and what is done with series elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp

import hoad

ORDER = 12
RATES = np.array([0.3, -1.2, 0.7, 2.1])


def power_of_waves(t: Any) -> Any:
    """|Σ exp(i a t)|² = Σ cos((a - b) t), by a transform and back."""
    waves = np.fft.ifft(np.fft.fft(np.exp(1j * (RATES * t))))
    return np.abs(np.sum(waves)) ** 2


def derivatives_of_power(t: float, order: int) -> np.ndarray:
    gaps = np.subtract.outer(RATES, RATES)
    return np.array([np.sum(gaps**k * np.cos(gaps * t + k * np.pi / 2)) for k in range(order + 1)])


def exact(f: Any, t: float, order: int = ORDER) -> np.ndarray:
    with mp.workdps(60):
        found = [c * mp.factorial(k) for k, c in enumerate(mp.taylor(f, mp.mpf(t), order))]
        return np.array([complex(c) for c in found])


def close(found: Any, want: np.ndarray, tolerance: float = 1e-12) -> None:
    assert np.shape(found) == np.shape(want)
    factorials = np.array([float(mp.factorial(k)) for k in range(len(want))]).reshape(-1, *[1] * (np.ndim(want) - 1))
    scale = np.maximum.accumulate(abs(want / factorials), axis=0) * factorials
    error = abs(found - want) / scale
    assert np.all(error <= tolerance), error


def test_a_spectrum() -> None:
    close(hoad.derivatives(power_of_waves, ORDER)(0.4), derivatives_of_power(0.4, ORDER))


def test_orders_that_nesting_does_not_reach() -> None:
    close(hoad.derivatives(power_of_waves, 40)(0.4), derivatives_of_power(0.4, 40))


HOLOMORPHIC: dict[str, tuple[Any, Any]] = {
    "exp log": (lambda z: np.exp(np.log(z) * (0.5 + 1j)), lambda z: mp.exp(mp.log(z) * mp.mpc(0.5, 1))),
    "power": (lambda z: z**2.5, lambda z: z ** mp.mpf(2.5)),
    "complex power": (lambda z: z ** (0.3 - 2j), lambda z: z ** mp.mpc(0.3, -2)),
    "whole power": (lambda z: z**5, lambda z: z**5),
    "inverse power": (lambda z: z**-3.0, lambda z: z**-3),
    "power of numbers": (lambda z: (1 + 2j) ** z, lambda z: mp.mpc(1, 2) ** z),
    "tan of root": (lambda z: np.tan(np.sqrt(z)), lambda z: mp.tan(mp.sqrt(z))),
    "quotient": (lambda z: (z * z - 1j) / (z + np.cos(z)), lambda z: (z * z - 1j) / (z + mp.cos(z))),
    "sinh of reciprocal": (lambda z: np.sinh(np.reciprocal(z)), lambda z: mp.sinh(1 / z)),
}


@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_holomorphic_functions_on_a_line(name: str) -> None:
    f, oracle = HOLOMORPHIC[name]
    c, v = 1.3 + 0.4j, 0.6 - 0.5j
    with mp.workdps(60):
        want = exact(lambda t: oracle(mp.mpc(c) + mp.mpc(v) * t), 0.2)
    close(hoad.derivatives(lambda t: f(c + v * t), ORDER)(0.2), want)
    on_array = hoad.derivatives(lambda t: np.sum(f(np.array([c, np.conj(c)]) + np.array([v, np.conj(v)]) * t)), ORDER)
    if all(k not in name for k in ("exp log", "complex", "numbers", "quotient")):  # f(conj z) is conj f(z)
        close(on_array(0.2), 2 * want.real + 0j)


PARTS: dict[str, tuple[Any, Any]] = {
    "size": (np.abs, abs),
    "angle": (np.angle, mp.arg),
    "real": (np.real, mp.re),
    "imag": (np.imag, mp.im),
    "conjugate": (lambda z: np.conj(z) * z * z, lambda z: mp.conj(z) * z * z),
    "sign": (np.sign, lambda z: z / abs(z)),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts(name: str) -> None:
    f, oracle = PARTS[name]
    along = hoad.derivatives(lambda t: f((1.3 + 0.4j) * np.exp((0.2 + 1j) * t)), ORDER)(0.3)
    with mp.workdps(60):
        close(along, exact(lambda t: oracle(mp.mpc(1.3, 0.4) * mp.exp(mp.mpc(0.2, 1) * t)), 0.3))


def test_the_gradient_of_a_coefficient() -> None:
    """∂/∂a of Σ cos((a - b) t) differentiated n times, from its closed form."""
    n, t = 3, 0.4

    def coefficient(rates: Any) -> Any:
        return hoad.derivatives(lambda t: np.abs(np.sum(np.fft.fft(np.exp(1j * (rates * t)))[0])) ** 2, n)(t)[n]

    gaps = np.subtract.outer(RATES, RATES)
    angle = gaps * t + n * np.pi / 2
    want = 2 * np.sum(n * gaps ** (n - 1) * np.cos(angle) - t * gaps**n * np.sin(angle), axis=1)
    np.testing.assert_allclose(hoad.grad(coefficient)(RATES), want, rtol=1e-12)


def test_many_points_and_replays() -> None:
    ts = np.array([0.1, 0.4, 1.3])
    want = np.stack([derivatives_of_power(t, 6) for t in ts])
    one = hoad.derivatives(power_of_waves, 6)
    for f in (hoad.vmap(one), hoad.jit(hoad.vmap(one))):
        for _ in range(2):
            np.testing.assert_allclose(f(ts), want, rtol=1e-11, atol=1e-11)


def test_a_loop_that_carries_a_complex_number() -> None:
    def f(t: Any) -> Any:
        z, _ = hoad.scan(lambda z, _: (z * z + (0.1 + 0.2j), None), t + 0.3j, None, length=4)
        return z

    with mp.workdps(60):

        def oracle(t: Any) -> Any:
            z = t + mp.mpc(0, 0.3)
            for _ in range(4):
                z = z * z + mp.mpc(0.1, 0.2)
            return z

        close(hoad.derivatives(f, ORDER)(0.2), exact(oracle, 0.2))


@pytest.mark.parametrize("at", [np.float32(0.3), np.array([0.3, 0.8], np.float32)])
def test_single_precision_stays(at: Any) -> None:
    f = hoad.derivatives(lambda x: np.exp(np.sin(x)) * np.sqrt(x + 2) ** 3 + x**1.5, 8)
    found = f(at)
    assert found.dtype == np.float32
    close(found.astype(float), f(np.asarray(at, float)), 3e-5)


def test_through_single_precision() -> None:
    """What is rounded on the way has the dtype of the function, and the digits of the rounding."""
    found = hoad.derivatives(lambda t: np.sin((np.ones(2) * t).astype(np.float32))[0] * 1.0, 6)(0.3)
    close(np.asarray(found, float), np.array([np.sin(0.3 + k * np.pi / 2) for k in range(7)]), 1e-6)
