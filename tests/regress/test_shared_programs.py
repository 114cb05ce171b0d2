"""Calls that differ in what is constant among their inputs are different programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hoad

RNG = np.random.default_rng(4)
CONSTANT, A, X = RNG.normal(size=(3, 3))


def product(a: Any, x: Any) -> Any:
    return np.sum((a - x) * a)


def ruled() -> Any:
    made = hoad.custom_vjp(product)
    made.defvjp(lambda g, p, a, x: (g * (2 * a - x), -g * a))
    return made


@pytest.mark.parametrize("wrap", [lambda f: hoad.checkpoint(f), lambda f: ruled()], ids=["checkpoint", "custom_vjp"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_constant_first_and_a_traced_value_next(wrap: Any, swapped: bool) -> None:
    f = wrap(product)

    def twice(g: Any) -> Any:
        def both(a: Any, x: Any) -> Any:
            calls = [g(CONSTANT, x), g(a, x)]
            return calls[swapped] * calls[not swapped] + calls[0]

        return both

    ours, plain = twice(f), twice(product)
    for k in (0, 1):
        np.testing.assert_allclose(hoad.grad(ours, k)(A, X), hoad.grad(plain, k)(A, X), rtol=1e-13)
    np.testing.assert_allclose(hoad.hessian(ours)(A, X), hoad.hessian(plain)(A, X), rtol=1e-12, atol=1e-13)
    program = hoad.record(ours, A, X)
    assert program.evaluate(A + 1, X) == pytest.approx(plain(A + 1, X), rel=1e-14)
    gradient = hoad.gradient(program)
    np.testing.assert_allclose(gradient.evaluate(A + 1, X)[0], hoad.grad(plain)(A + 1, X), rtol=1e-13)
    rows = RNG.normal(size=(4, 3))
    np.testing.assert_allclose(hoad.vmap(ours)(rows, rows + 1), [plain(r, r + 1) for r in rows], rtol=1e-13)


def test_layers_of_a_network() -> None:
    inputs, weights = RNG.normal(size=(4, 3)), RNG.normal(size=(2, 3, 3))
    layer = hoad.checkpoint(lambda h, w: np.tanh(h @ w))
    found = hoad.grad(lambda w: np.sum(layer(layer(inputs, w[0]), w[1]) ** 2))(weights)
    wanted = hoad.grad(lambda w: np.sum(np.tanh(np.tanh(inputs @ w[0]) @ w[1]) ** 2))(weights)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


@pytest.mark.parametrize("n", [100, 400])
def test_steps_that_round_otherwise_are_the_same_steps(n: int) -> None:
    """NumPy advances the state, and kernels of hoad's record it: they may differ in the last bit."""
    x = np.linspace(0.0, 1.0, 100)

    def step(k: int, x: Any, a: Any) -> Any:
        return x + 0.01 * np.sin(a * x)

    def looped(x: Any, a: Any) -> Any:
        for _ in range(n):
            x = step(0, x, a)
        return np.sum(x)

    found = hoad.grad(lambda a: np.sum(hoad.checkpointed_loop(step, n, x, a, slots=8)))(0.3)
    assert found == pytest.approx(hoad.grad(lambda a: looped(x, a))(0.3), rel=1e-11)
