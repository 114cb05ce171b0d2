"""Primitives whose derivatives follow from a kernel of their Taylor coefficients."""

from __future__ import annotations

import pickle
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import hoad


def airy_series(x: Any, degree: int) -> list[Any]:
    """Coefficients of Ai(x + t), by the recurrence of y'' = x y."""
    found = [np.vectorize(lambda v, k=k: float(mp.airyai(v, derivative=k)))(x) for k in (0, 1)]
    for k in range(degree - 1):
        found.append((x * found[k] + (found[k - 1] if k else 0.0)) / ((k + 2) * (k + 1)))
    return [c + np.zeros(np.shape(x)) for c in found[: degree + 1]]


@hoad.primitive(elementwise=True, series=airy_series)
def airy(x: Any) -> Any:
    """Ai, the solution of y'' = x y that dies out."""
    return np.vectorize(lambda v: float(mp.airyai(v)))(x)[()]


def stretched_series(x: Any, degree: int, rate: float = 1.0) -> list[Any]:
    c = [np.exp(rate * np.asarray(x))]
    for k in range(degree):
        c.append(c[k] * rate / (k + 1))
    return c


@hoad.primitive(elementwise=True, series=stretched_series)
def stretched(x: Any, rate: float = 1.0) -> Any:
    return np.exp(rate * x)


def of_order(n: int, x: float) -> float:
    with mp.workdps(50):
        return float(mp.airyai(mp.mpf(x), derivative=n))


@pytest.mark.parametrize("x", [-3.7, -0.4, 0.0, 1.3, 5.0])
@pytest.mark.parametrize("order", [1, 2, 3, 4, 7])
def test_every_order(order: int, x: float) -> None:
    assert hoad.derivative(airy, order)(x) == pytest.approx(of_order(order, x), rel=1e-10, abs=1e-13)


def test_every_mode() -> None:
    x, v = np.array([-2.0, 0.3, 1.1]), np.array([1.0, -0.5, 2.0])
    first, second = (np.array([of_order(k, a) for a in x]) for k in (1, 2))
    close = {"rtol": 1e-12, "atol": 1e-13}
    np.testing.assert_allclose(hoad.grad(lambda x: np.sum(airy(x)))(x), first, **close)
    np.testing.assert_allclose(hoad.jvp(airy, (x,), (v,))[1], first * v, **close)
    np.testing.assert_allclose(hoad.hessian(lambda x: np.sum(airy(x)))(x), np.diag(second), **close)
    np.testing.assert_allclose(hoad.hvp(lambda x: np.sum(airy(x)))(x, v), second * v, **close)
    np.testing.assert_allclose(hoad.vmap(hoad.grad(airy))(x), first, **close)
    np.testing.assert_allclose(hoad.grad(lambda a: airy(a * a))(0.7), 1.4 * of_order(1, 0.49), **close)


def test_the_equation_that_it_solves() -> None:
    x = np.linspace(-2.0, 2.0, 5)
    np.testing.assert_allclose(hoad.derivative(airy, 2)(x), x * airy(x), rtol=1e-12, atol=1e-14)


def test_parameters() -> None:
    assert hoad.derivative(lambda x: stretched(x, rate=3.0), 3)(0.2) == pytest.approx(27 * np.exp(0.6), rel=1e-14)


def test_the_check_of_rules_passes() -> None:
    hoad.check.rule(stretched).assert_passed()


def test_programs_travel() -> None:
    program = hoad.gradient(hoad.gradient(hoad.record(stretched, 0.4)))
    again = pickle.loads(pickle.dumps(program))
    assert again.evaluate(0.9) == pytest.approx(np.exp(0.9), rel=1e-14)


def test_a_wrong_kernel_is_found() -> None:
    @hoad.primitive(
        elementwise=True, series=lambda x, n: [1.01**k * c for k, c in enumerate(stretched_series(x, n, 1.0))]
    )
    def wrong(x: Any) -> Any:
        return np.exp(x)

    with pytest.raises(hoad.CheckError):
        hoad.check.rule(wrong).assert_passed()


@pytest.mark.parametrize(
    "options",
    [{}, {"elementwise": True, "nout": 2}, {"elementwise": True, "vjp": lambda g, p, x: (g,)}],
)
def test_series_goes_with_elementwise_functions(options: Any) -> None:
    with pytest.raises(hoad.ArgumentError, match=r"in place of a rule\. Give elementwise=True"):
        hoad.primitive(series=stretched_series, **options)(np.exp)


def test_too_few_coefficients() -> None:
    @hoad.primitive(elementwise=True, series=lambda x, n: [np.exp(x)])
    def short(x: Any) -> Any:
        return np.exp(x)

    with pytest.raises(hoad.RuleError, match=r"gave 1 coefficients .* degree 1. It gives 2 of them"):
        hoad.grad(short)(1.0)
