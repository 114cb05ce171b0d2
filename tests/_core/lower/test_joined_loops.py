"""A value and the rows that its derivative takes of each step come from one run of a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

STEPS = 40  # of few numbers: no stretches
RNG = np.random.default_rng(3)


def carried(p: Any) -> Any:
    (x, y), _ = hoad.scan(
        lambda c, _: ((c[0] + 0.1 * np.sin(c[1]), c[1] - 0.1 * c[0] * c[1]), None), (p, p * p), length=STEPS
    )
    return x * y


def carried_and_rows(p: Any) -> Any:
    x, rows = hoad.scan(lambda c, k: (c * k + 0.01 * np.exp(-c), c * c), p, np.linspace(0.9, 1.1, STEPS))
    return x + np.sum(rows * rows)


def captured(p: Any) -> Any:
    x, _ = hoad.scan(lambda c, _: (c + 0.1 * np.tanh(p * c), None), 1.0, length=STEPS)
    return x


def of_arrays(p: Any) -> Any:
    matrix = np.array([[0.5, -0.3], [0.2, 0.7]])
    x, rows = hoad.scan(lambda c, _: (np.tanh(matrix @ c + p), np.sum(c)), np.ones(2), length=STEPS)
    return np.sum(x) + rows[3] * rows[-1]


def nested(p: Any) -> Any:
    def step(c: Any, _: Any) -> Any:
        inner, _ = hoad.scan(lambda d, _: (d + 0.05 * np.sin(d * p), None), c, length=5)
        return inner, inner * p

    x, rows = hoad.scan(step, p, length=6)
    return x + np.sum(rows)


def branching(p: Any) -> Any:
    x, _ = hoad.scan(lambda c, _: (c + 0.1 * np.sin(c) if c > 0.0 else c, None), p, length=STEPS)
    return x


def until(p: Any) -> Any:
    x, _ = hoad.while_loop(lambda c: c[0] < 3.0, lambda c: (c[0] + 0.1 * c[1] * p, c[1] * 1.01), (p, 1.0))
    return x


def two_of_one(p: Any) -> Any:
    """Loops over the same that carry other things are not one."""
    x, _ = hoad.scan(lambda c, _: (c + 0.1 * np.sin(c), None), p, length=STEPS)
    y, _ = hoad.scan(lambda c, _: (c - 0.1 * np.sin(c), None), p, length=STEPS)
    z, _ = hoad.scan(lambda c, _: (c + 0.1 * np.sin(c), None), p, length=STEPS // 2)
    return x * y + z


FUNCTIONS = [carried, carried_and_rows, captured, of_arrays, nested, branching, until, two_of_one]


def second(f: Callable[..., Any]) -> Callable[..., Any]:
    return hoad.grad(hoad.grad(f))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("driver", [hoad.grad, hoad.value_and_grad, second, lambda f: second(hoad.grad(f))])
def test_compiled_derivatives_have_the_bits_of_others(f: Callable[..., Any], driver: Callable[..., Any]) -> None:
    compiled, plain = hoad.jit(driver(f)), driver(f)
    for p in RNG.uniform(0.4, 0.9, 4):
        np.testing.assert_array_equal(np.array(compiled(p)), np.array(plain(p)))


def sine(calls: list[float]) -> Any:
    """A sine that notes what it is called with."""

    def noting(x: Any) -> Any:
        calls.append(float(x))
        return np.sin(x)

    made = hoad.primitive(noting)
    hoad.defvjp(made, lambda g, p, x: (g * np.cos(x),))
    return made


@pytest.mark.parametrize("rows", [False, True])
def test_a_gradient_runs_its_loop_once(rows: bool) -> None:
    """Forward, that is: value, rows and what else it gives."""
    calls: list[float] = []
    step = sine(calls)

    def f(p: Any) -> Any:
        x, ys = hoad.scan(lambda c, _: (c + 0.1 * step(c), c * c if rows else None), p, length=STEPS)
        return x * x + (np.sum(ys) if rows else 0.0)

    compiled = hoad.jit(hoad.value_and_grad(f))
    compiled(0.3)
    calls.clear()
    compiled(0.4)
    assert len(calls) == STEPS
