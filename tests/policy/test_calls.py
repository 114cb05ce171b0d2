"""Calls that do not fit: the error says how the function is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

X = np.array([1.0, 2.0])
TIMES = np.array([0.0, 1.0])


def f(x: Any) -> Any:
    return np.sum(x**3)


def decay(t: Any, y: Any) -> Any:
    return -y


@pytest.mark.parametrize(
    ("call", "fact", "advice"),
    [
        (lambda: hoad.ode.taylor_integrate(decay, 1.0, TIMES, rtol=1e-9), "'rtol'", r"Its tolerance is tol"),
        (lambda: hoad.ode.taylor_solution(decay, 1.0, TIMES, rtol=1e-9), "'rtol'", r"Its tolerance is tol"),
        (lambda: hoad.ode.odeint(lambda y, t: -y, 1.0, TIMES, tol=1e-9), "'tol'", "tolerances are rtol and atol"),
        (lambda: hoad.laplacian(f, X), "1 positional argument but 2", r"hoad\.laplacian\(f\)\(x\)"),
        (lambda: hoad.biharmonic(f, X), "1 positional argument but 2", r"hoad\.biharmonic\(f\)\(x\)"),
        (lambda: hoad.check.modes(f, X), "missing 1 .*'order'", r"hoad\.check\.modes\(f, x, n\)"),
    ],
)
def test_calls_that_do_not_fit(call: Callable[[], Any], fact: str, advice: str) -> None:
    with pytest.raises(hoad.errors.ArgumentError, match=f"{fact}.*{advice}") as caught:
        call()
    assert isinstance(caught.value, TypeError)


def test_what_is_advised_for_calls() -> None:
    assert hoad.laplacian(f)(X) == pytest.approx(18.0, rel=1e-14)
    assert hoad.biharmonic(f)(X) == 0.0
    assert hoad.ode.taylor_integrate(decay, 1.0, TIMES, tol=1e-9)[-1] == pytest.approx(np.exp(-1.0), rel=1e-8)
    assert hoad.ode.odeint(lambda y, t: -y, 1.0, TIMES, rtol=1e-9)[-1] == pytest.approx(np.exp(-1.0), rel=1e-6)


def test_type_errors_from_inside_are_left_alone() -> None:
    def wrong(t: Any, y: Any) -> Any:
        raise TypeError("mine")

    with pytest.raises(TypeError, match=r"^mine$"):
        hoad.ode.taylor_integrate(wrong, 1.0, TIMES)
