"""In a recording within another, an input is a constant of the outer one, and was made plain for compiled code.

So the derivative of what compiled code computed was 0, and solvers went by the value of one point.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hoad


def compiled(x: Any) -> float:
    """As a function of C: it reads memory."""
    return float(np.sum(memoryview(np.asarray(x)).tolist()))


def test_a_derivative_within_another() -> None:
    def f(p: Any) -> Any:
        return p * hoad.grad(lambda x: compiled(x) + x[0] ** 2)(np.array([2.0]))[0]

    with pytest.raises(hoad.TracedValueError, match="cut it off"):
        hoad.grad(f)(1.5)


def test_a_solver() -> None:
    pytest.importorskip("scipy")
    from hoad.scipy import optimize

    def f(p: Any) -> Any:
        return optimize.brentq(lambda x: compiled(np.reshape(x, (1,))) - p, -1.0, 2.0)

    with pytest.raises(hoad.TracedValueError, match="cut it off"):
        hoad.grad(f)(0.25)


def test_a_constant_still_is_plain() -> None:
    assert hoad.grad(lambda p: p * compiled(hoad.adopt(lambda: np.zeros(2) + 1.0)()))(1.5) == 2.0
