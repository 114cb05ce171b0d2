"""Where something stands: places are found again on replay, and carry no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

A = np.array([[1.0, 5.0, 2.0], [7.0, -1.0, 0.5]])
CASES: dict[str, Callable[[Any], Any]] = {
    "argmax": lambda a: a.ravel()[np.argmax(a)] ** 2,
    "argmin": lambda a: a.ravel()[np.argmin(a)] ** 2,
    "argmax of rows": lambda a: np.sum(a[np.arange(2), np.argmax(a, axis=1)] ** 2),
    "argmin of columns": lambda a: np.sum(np.take_along_axis(a, np.argmin(a, 0, keepdims=True), 0) ** 2),
    "method": lambda a: a[0, a[0].argmax()] * 3,
    "searchsorted": lambda a: np.sum(a[1] * np.searchsorted(np.sort(a[0]), a[1])),
    "searchsorted on the right": lambda a: np.sum(a[1] * np.searchsorted([0.0, 0.25, 2.0], a[1], side="right")),
}


@pytest.mark.parametrize("name", CASES)
def test_values_derivatives_and_replay(name: str) -> None:
    f = CASES[name]
    value, gradient = hoad.value_and_grad(f)(A)
    assert value == f(A)
    step = 1e-6
    wanted = [(f(A + step * unit) - f(A - step * unit)) / (2 * step) for unit in np.eye(6).reshape(6, 2, 3)]
    np.testing.assert_allclose(gradient, np.reshape(wanted, (2, 3)), atol=1e-7)
    elsewhere = A[::-1, ::-1] + 0.125
    assert hoad.record(f, A).evaluate(elsewhere) == f(elsewhere)
    np.testing.assert_array_equal(hoad.jacobian(f, mode="forward")(A), gradient)


def test_places_in_nothing() -> None:
    with pytest.raises(hoad.ShapeError, match=r"np\.argmax of an empty array .*shape is \(0,\)"):
        hoad.grad(lambda a: a[np.argmax(a)])(np.ones(0))


@pytest.mark.parametrize("order", ["A", "K"])
def test_the_order_in_memory_is_not_kept(order: Any) -> None:
    for f in (lambda a: a.T.ravel(order), lambda a: np.reshape(a, 6, order=order), lambda a: a.flatten(order)):
        with pytest.raises(hoad.NoRuleError, match=r"how an array lies in memory .*Write 'C' or 'F'"):
            hoad.jacobian(f)(A)
    assert hoad.jacobian(lambda x: x.ravel(order))(np.ones(2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
