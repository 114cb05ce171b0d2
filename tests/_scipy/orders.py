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
    """In Taylor, forward, reverse and mixed mode, and under jit at another point."""
    for point in (t, other):
        expected = wanted(reference, point)
        scales = [rtol * max(1.0, abs(x)) for x in expected]
        found = hoad.derivatives(f, ORDER)(point)
        for a, b, atol in zip(found, expected, scales, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=atol)
    for order in range(1, ORDER + 1):
        for word in words(order) if order < ORDER else ("rfrf",):
            found = along(f, word, [(1.0,)] * order)(other)
            np.testing.assert_allclose(found, expected[order], rtol=0, atol=scales[order], err_msg=word)
    jitted = hoad.jit(hoad.value_and_grad(f))
    for point in (t, other, t):
        np.testing.assert_allclose(jitted(point), wanted(reference, point)[:2], rtol=rtol, atol=rtol)
