"""Few small nodes are computed one by one, others by a program that is made of them: both give the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

ITEM_BY_ITEM: dict[str, Callable[[Any], Any]] = {
    "products": lambda x: x**3 / (2.0 + x * x) - 0.5 * x,
    "functions": lambda x: np.tanh(np.exp(-x) * np.sin(x)),
    "choices": lambda x: np.where((x > 0.3) & (x < 1.5), np.sqrt(1.0 + x), np.maximum(x, 0.1)),
    "float32": lambda x: x.astype(np.float32) * np.cos(x),
    "complex": lambda x: np.abs(np.exp(1j * x) + x) ** 2,
    "rows": lambda x: np.concatenate([x[None], np.flip(x)[None] ** 2])[0] * x.reshape(1, -1)[0],
}


@pytest.mark.parametrize("name", ITEM_BY_ITEM)
def test_few_items_have_the_derivatives_that_they_have_among_many(name: str) -> None:
    f = ITEM_BY_ITEM[name]
    x = np.random.default_rng(3).normal(size=20_000)  # 160 kB, for which a program is made
    many = hoad.grad(lambda x: np.sum(f(x)))(x)
    few = hoad.grad(lambda x: np.sum(f(x)))(x[:16].copy())
    np.testing.assert_array_equal(few, many[:16])


def test_numbers_that_come_of_arrays_and_go_into_arrays() -> None:
    x = np.array([1.5, -2.0, 0.25])
    s, e = np.sum(x * x), np.array([1.0, 0.0, 0.0])

    def f(x: Any) -> Any:  # s² x₀ + s (x₁ > 0), and something constant
        s = np.sum(x * x)
        return s**2 * x[0] + np.where(x[1] > 0, s, 0.0) + hoad.stop_gradient(s)

    value, found = hoad.value_and_grad(f)(x)
    assert value == s**2 * x[0] + s
    np.testing.assert_allclose(found, 4 * s * x * x[0] + s**2 * e, rtol=1e-15)
    found = hoad.grad(f)(-x)  # where the branch is the other one
    np.testing.assert_allclose(found, -4 * s * x * -x[0] + s**2 * e + -2 * x, rtol=1e-15)


def test_operations_of_several_results() -> None:
    a = np.array([[3.0, 1.0], [0.5, 2.0]])
    found = hoad.grad(lambda a: np.prod(np.linalg.slogdet(a)))(a)
    np.testing.assert_allclose(found, np.array([[2.0, -0.5], [-1.0, 3.0]]) / 5.5, rtol=1e-14)


def test_what_is_returned_is_the_callers() -> None:
    x = np.array([1.0, 2.0])
    first, second = hoad.grad(lambda x, y: np.sum(x + y), argnums=(0, 1))(x, x)
    first[:] = 7.0
    assert second.tolist() == [1.0, 1.0]
    assert hoad.grad(lambda x: np.sum(x * x) + 0.0 * np.sum(x))(x).tolist() == [2.0, 4.0]
