"""Random formulas: expressions agree with the drivers, and one sweep for all nodes with a sweep for each."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad


def random_function(seed: int) -> Callable[..., Any]:
    """A function of two numbers and a matrix, the same at every call."""

    def f(a: Any, b: Any, m: Any) -> Any:
        chosen = random.Random(seed)
        numbers, arrays = [a, b, a * b, m[0, 1], np.sum(m)], [m, m @ m]
        for _ in range(chosen.randint(4, 12)):
            kind, p, q = chosen.randrange(9), chosen.choice(numbers), chosen.choice(numbers)
            s, t = chosen.choice(arrays), chosen.choice(arrays)
            if kind == 0:
                numbers.append(p * q)
            elif kind == 1:
                numbers.append(np.sin(p))
            elif kind == 2:
                numbers.append(np.where(p > q, p, q * 0.5))
            elif kind == 3:
                arrays.append(s * p)
            elif kind == 4:
                numbers.append(s[1, 0])
            elif kind == 5:
                arrays.append(np.tanh(s @ t))
            elif kind == 6:
                numbers.append(np.sum(s * t))
            elif kind == 7:
                arrays.append(np.stack([p, q, p - q, s[0, 0]]).reshape(2, 2))
            else:
                w, u = np.linalg.eigh(np.tanh(s + s.T) + np.diag([1.0, 8.0]))
                numbers.append(w[0] * u[0, 0] ** 2)
        return np.sum(np.stack(numbers[2:])) + np.sum(arrays[-1])

    return f


CLOSE: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-9}


@pytest.mark.parametrize("seed", range(40))
def test_expressions_agree_with_drivers(seed: int) -> None:
    f = random_function(seed)
    values = (0.3, 0.7, np.random.default_rng(seed).normal(size=(2, 2)))
    symbols = (*hoad.symbols("a b"), hoad.symbols("m", shape=(2, 2)))
    e, at = f(*symbols), dict(zip(symbols, values, strict=True))
    np.testing.assert_allclose(e.evaluate(at), f(*values), rtol=1e-12)
    wanted = hoad.grad(f, (0, 1, 2))(*values)
    for symbol, gradient in zip(symbols, wanted, strict=True):
        for mode in ("forward", "reverse"):
            np.testing.assert_allclose(e.gradient(at, mode=mode)[symbol], gradient, **CLOSE)
        np.testing.assert_allclose(e.derivative(symbol).evaluate(at), gradient, **CLOSE)
    a, b, m = symbols
    mixed = hoad.grad(lambda a, b, m: hoad.grad(f, 1)(a, b, m), (0, 2))(*values)
    np.testing.assert_allclose(e.derivative(a).derivative(b).evaluate(at), mixed[0], **CLOSE)
    np.testing.assert_allclose(e.derivative(b).derivative(m).evaluate(at), mixed[1], **CLOSE)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("tapes", [1, 2])
def test_one_sweep_for_all_nodes(seed: int, tapes: int) -> None:
    values = (0.3, 0.7, np.random.default_rng(seed).normal(size=(2, 2)))
    program = hoad.record(random_function(seed), *values)
    if tapes == 2:
        program = hoad.gradient(program)
    weights = None if tapes == 1 else (1.0, -0.5, np.ones((2, 2)))
    for number, adjoint in program.sensitivities(seed=weights).items():
        np.testing.assert_allclose(program.sensitivity(number, seed=weights), adjoint, **CLOSE)
