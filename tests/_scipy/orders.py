"""Derivatives of orders 1 to 4 of functions of a number, held against mpmath's of another formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from rules.modes import along, words

import hoad

ORDER = 4


def wanted(reference: Callable[[Any], Any], t: float) -> list[float]:
    """The value and the derivatives of a function that computes with mpmath's numbers."""
    with mpmath.workdps(50):
        found = mpmath.taylor(reference, mpmath.mpf(t), ORDER)
        return [float(c * mpmath.factorial(k)) for k, c in enumerate(found)]


def assert_orders(
    f: Callable[[Any], Any], reference: Callable[[Any], Any], t: float, other: float, rtol: float = 1e-9
) -> None:
    """In Taylor mode at t, in forward, reverse and mixed mode at another point, and under jit at both."""
    exact = {point: wanted(reference, point) for point in (t, other)}
    for a, b in zip(hoad.derivatives(f, ORDER)(t), exact[t], strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=rtol * max(1.0, abs(b)))
    expected = exact[other]
    for order in range(1, ORDER + 1):
        for word in words(order) if order < ORDER else ("frrr",):
            found = along(f, word, [(1.0,)] * order)(other)
            atol = rtol * max(1.0, abs(expected[order]))
            np.testing.assert_allclose(found, expected[order], rtol=0, atol=atol, err_msg=word)
    jitted = hoad.jit(hoad.value_and_grad(f))
    for point in (t, other, t):
        np.testing.assert_allclose(jitted(point), exact[point][:2], rtol=rtol, atol=rtol)


def by_fit(f: Callable[[float], Any], t: float, width: float = 0.1) -> list[Any]:
    """The value and the derivatives of an analytic function of plain numbers, by a fit at Chebyshev's points."""
    n = 14
    nodes = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    values = np.array([f(t + width * s) for s in nodes])
    fitted = np.polynomial.chebyshev.chebfit(nodes, values.reshape(n, -1), n - 1)
    shape = values.shape[1:]
    orders = [np.polynomial.chebyshev.chebder(fitted, k) if k else fitted for k in range(ORDER + 1)]
    return [np.polynomial.chebyshev.chebval(0.0, c).reshape(shape) / width**k for k, c in enumerate(orders)]


def assert_fits(f: Callable[[Any], Any], t: float, other: float, rtol: float = 1e-7, width: float = 0.1) -> None:
    """Derivatives of orders 1 to 4 against those of plain values, and in all modes and under jit at another point."""
    for k, (a, b) in enumerate(zip(hoad.derivatives(f, ORDER)(t), by_fit(f, t, width), strict=True)):
        scale = max(1.0, float(np.max(abs(b)))) * 10.0 ** max(0, k - 2)
        np.testing.assert_allclose(a, b, rtol=0, atol=rtol * scale, err_msg=f"order {k}")

    def total(t: Any) -> Any:
        return np.sum(np.sin(f(t)))

    series = hoad.derivatives(total, ORDER)(other)
    for order in range(1, ORDER + 1):
        for word in words(order) if order < ORDER else ("frrr",):
            found = along(total, word, [(1.0,)] * order)(other)
            scale = max(1.0, float(abs(series[order])))
            np.testing.assert_allclose(found, series[order], rtol=0, atol=1e-9 * scale, err_msg=word)
    jitted = hoad.jit(hoad.grad(total))
    for point in (t, other, t):
        np.testing.assert_allclose(jitted(point), hoad.grad(total)(point), rtol=1e-10, atol=1e-12)
