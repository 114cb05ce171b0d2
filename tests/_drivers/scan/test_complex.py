"""Loops that carry complex numbers: against their unrolled versions and closed forms, in every mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _drivers.scan.unrolled import unrolled

import hoad
from hoad._transform import loops as room

F = Callable[[Any], Any]

X = np.array([0.8, 0.3, 0.5])
V = np.array([0.7, -1.1, 0.4])
ROWS = np.arange(21).reshape(7, 3) * (0.05 + 0.02j)
C = 0.3 + 0.2j


def close(found: Any, expected: Any, tolerance: float = 1e-13) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.max(np.abs(expected)))


@pytest.fixture(params=["whole", "stretches"], autouse=True)
def kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Keep what is carried at every step, or run stretches again."""
    if request.param == "stretches":
        monkeypatch.setattr(room, "KEPT_BYTES", 0)
        monkeypatch.setattr(room, "FEW_STEPS", 3)
    return str(request.param)


def rotated(scan: Any) -> F:
    """A complex number that is carried, and the parts of what it was."""

    def f(x: Any) -> Any:
        a = x[0] + 1j * x[1]
        z, zs = scan(lambda z, _: (a * z + x[2], z), 1.0 + 0j, np.zeros(7))
        return np.abs(z) ** 2 + np.sum(np.real(zs) * np.imag(zs))

    return f


def mixed(scan: Any) -> F:
    """A carry that begins real, rows that are complex, conjugates and sizes."""

    def step(z: Any, row: Any, x: Any) -> Any:
        return z * row * x[0] * 1j + np.conj(z) * row[::-1] * x[1], np.sum(np.abs(z))

    def f(x: Any) -> Any:
        z, sizes = scan(lambda z, row: step(z, row, x), np.ones(3) + 0 * x, ROWS * x[2])
        return np.sum(np.abs(z) ** 2) + np.sum(sizes)

    return f


def spectrum(scan: Any) -> F:
    """A transform at every step."""

    def f(x: Any) -> Any:
        z, _ = scan(lambda z, row: (np.fft.fft(z * x) + row, None), x * 1j, ROWS)
        return np.sum(np.abs(z) ** 2)

    return f


@pytest.mark.parametrize("make", [rotated, mixed, spectrum])
def test_every_mode_is_that_of_the_unrolled_loop(make: Callable[[Any], F]) -> None:
    f, unrolled_loop = make(hoad.scan), make(unrolled)
    gradient, hessian = hoad.grad(unrolled_loop)(X), hoad.hessian(unrolled_loop)(X)
    close(f(X), unrolled_loop(X))
    close(hoad.grad(f)(X), gradient)
    close(hoad.jvp(f, (X,), (V,))[1], gradient @ V)
    close(hoad.linearize(f, X)[1](V), gradient @ V)
    close(hoad.hessian(f)(X), hessian)
    close(hoad.hvp(f)(X, V), hessian @ V)
    close(hoad.vhp(f)(X, V), hessian @ V)
    for inner in ("forward", "reverse"):
        for outer in ("forward", "reverse"):
            close(hoad.jacobian(hoad.jacobian(f, mode=inner), mode=outer)(X), hessian)
    close(hoad.gradient(hoad.record(f, X)).evaluate(1.5 * X), hoad.grad(unrolled_loop)(1.5 * X))
    for order in (3, 4):
        along = [hoad.derivative(lambda t, g=g: g(X + t * V), order)(0.0) for g in (f, unrolled_loop)]
        close(along[0], along[1], 1e-12)


def test_a_power_in_closed_form() -> None:
    """z ↦ a z, n times: aⁿ, so that |aⁿ|² = |a|²ⁿ has the gradient 2n |a|²ⁿ⁻² ā."""
    n, a = 9, 0.9 + 0.4j
    power = lambda a: hoad.scan(lambda z, _: (a * z, None), 1.0 + 0j, length=n)[0]  # noqa: E731
    close(hoad.grad(power, holomorphic=True)(a), n * a ** (n - 1))
    close(hoad.derivative(power, 2, holomorphic=True)(a), n * (n - 1) * a ** (n - 2))
    close(hoad.grad(lambda a: np.abs(power(a)) ** 2)(a), 2 * n * abs(a) ** (2 * n - 2) * a.conjugate())
    v = 0.3 - 1.2j
    change = (n - 1) * abs(a) ** (2 * n - 4) * 2 * (a.conjugate() * v).real * a.conjugate()
    close(hoad.hvp(lambda a: np.abs(power(a)) ** 2)(a, v), 2 * n * (change + abs(a) ** (2 * n - 2) * v.conjugate()))


def test_counted_and_conditional_loops() -> None:
    def escaped(c: Any) -> Any:
        z = 0 * c
        while abs(z) < 3.0:
            z = z * z + c + 1
        return np.abs(z) ** 2

    def counted(c: Any) -> Any:
        z = c
        for i in range(4):
            z = z * z + c * i
        return np.abs(z) ** 2

    outside = lambda z: abs(z) < 3.0  # noqa: E731
    loops: list[tuple[F, F]] = [
        (lambda c: np.abs(hoad.while_loop(outside, lambda z: z * z + c + 1, 0 * c)) ** 2, escaped),
        (lambda c: np.abs(hoad.while_loop(outside, lambda z: z * z + c + 1, 0 * c, max_steps=10)) ** 2, escaped),
        (lambda c: np.abs(hoad.fori_loop(0, 4, lambda i, z: z * z + c * i, c)) ** 2, counted),
    ]
    for f, unrolled_loop in loops:
        close(hoad.grad(f)(C), hoad.grad(unrolled_loop)(C))
        close(hoad.hvp(f)(C, 1j), hoad.hvp(unrolled_loop)(C, 1j))


def test_single_precision_stays_single() -> None:
    """Σ |(i x)ⁿ| over three items is 3xⁿ."""
    f = lambda x: np.sum(  # noqa: E731
        np.abs(hoad.scan(lambda z, _: (z * np.complex64(1j) * x, z), np.ones(3, np.complex64), length=4)[0])
    )
    gradient = hoad.grad(f)(np.float32(0.5))
    assert isinstance(gradient, np.float32)
    assert gradient == 12 * 0.5**3


def test_a_body_that_is_not_holomorphic_is_found_out() -> None:
    bent = lambda c: hoad.scan(lambda z, _: (z * np.conj(z) + c, None), 0.1j, length=4)[0]  # noqa: E731
    with pytest.raises(hoad.DTypeError, match="equations of Cauchy and Riemann"):
        hoad.grad(bent, holomorphic=True)(C)
