"""Arrays put together from single numbers, in orders that repeat and in others, are those that NumPy puts together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hoad

N = 40
RNG = np.random.default_rng(5)
TURN = np.arange(300)


def in_turns(*steps: int) -> np.ndarray:
    """Stretches that take turns, each from a place of its own on, by steps of its own."""
    starts = RNG.integers(0, N, len(steps))
    return np.stack([(start + step * TURN) % N for start, step in zip(starts, steps, strict=True)], axis=1).ravel()


# Places in an array of N numbers; -1 for zeros.
ORDERS = {
    "all": np.arange(N),
    "backwards": np.arange(N)[::-1],
    "the same": np.full(N, 3),
    "two": np.array([7, 3]),
    "three in turn": in_turns(1, 1, 1),
    "up, down and the same": in_turns(1, -1, 0),
    "twelve in turn": in_turns(-1, 1, 1, -1, 2, 2, -1, 1, 1, -1, 2, 0),
    "forty in turn": in_turns(*RNG.integers(-2, 3, 40)),
    "some at the end": np.append(in_turns(1, -1, 2)[:100], [5, 5, 1]),
    "zeros between": np.where(np.arange(90) % 3 == 1, -1, in_turns(1, 2, 1)[:90]),
    "zeros in rows": np.where(np.arange(90) // 10 % 2 == 1, -1, in_turns(1, -1, 2)[:90]),
    "zeros alone, then others": np.append(np.full(20, -1), in_turns(2, 1)[:31]),
    "any": RNG.integers(0, N, 200),
    "any, with zeros": RNG.integers(-1, N, 200),
    "one turn after another": np.concatenate([in_turns(1, -1), in_turns(0, 2, 1), RNG.integers(0, N, 7), in_turns(1)]),
}


@pytest.mark.parametrize("name", ORDERS)
def test_orders(name: str) -> None:
    order = ORDERS[name]

    def f(x: Any) -> Any:
        numbers = [np.sin(x[i]) * (i + 1) for i in range(N)]
        y = np.zeros(len(order), like=x)
        for at, place in enumerate(order):
            if place >= 0:
                y[at] = numbers[place]
        return y

    replay, weights = hoad.jit(f), RNG.normal(size=len(order))
    gradient = hoad.jit(hoad.grad(lambda x: np.sum(weights * f(x))))
    for _ in range(3):
        x = RNG.normal(size=N)
        numbers = np.append(np.sin(x) * np.arange(1, N + 1), 0)
        np.testing.assert_allclose(replay(x), numbers[order], rtol=1e-15)
        sums = np.bincount(order[order >= 0], weights[order >= 0], minlength=N)
        np.testing.assert_allclose(gradient(x), sums * np.cos(x) * np.arange(1, N + 1), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("n", [3, 7, 30, 200])
def test_sparse_hessian_of_a_loop(n: int) -> None:
    """Entries of few statements in three directions, each from a place of its own."""

    def f(x: Any) -> Any:
        return sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + np.sin(x[i]) for i in range(n - 1))

    pytest.importorskip("scipy.sparse")
    plan = hoad.sparse_hessian(f).plan(np.zeros(n))
    x = RNG.normal(size=n)
    a, b = x[:-1], x[1:]
    expected = np.diag(np.append(1200 * a**2 - 400 * b - np.sin(a), 0) + np.append(0, np.full(n - 1, 200)))
    expected += np.diag(-400 * a, 1) + np.diag(-400 * a, -1)
    np.testing.assert_allclose(plan(x).toarray(), expected, rtol=1e-13, atol=1e-10)


@pytest.mark.parametrize("others", ["none", "joined", "chosen", "twice", "single"])
def test_numbers_that_are_gathered_and_put(others: str) -> None:
    """One step takes them from the arrays that were joined, unless these, or what was gathered, are read otherwise."""
    rng = np.random.default_rng(3)
    chosen = rng.integers(0, 30 if others != "single" else 10, 28)
    places = rng.permutation(100)[:28]
    if others == "twice":  # the last number stays
        places[5] = places[20]

    def f(m: Any, x: Any) -> Any:
        joined = x * x - 1 if others == "single" else m.concatenate([x * 2, 1 / x, x * x - 1])
        numbers = joined[chosen]
        y = m.zeros((10, 10), like=x)
        y.flat[places] = numbers
        return {"joined": (y, joined), "chosen": (y, numbers)}.get(others, y)

    replay = hoad.jit(lambda x: f(np, x))
    kept = hoad.jit(lambda x: f(np, x), keep_zeros=True)
    x = rng.normal(size=10)
    for _ in range(3):
        x = x + 1.0
        for found, wanted in zip(replay(x), f(np, x), strict=True):
            np.testing.assert_array_equal(found, wanted)
    if others in ("none", "single"):
        assert replay.program(x)._lowered().size == 2
        out = kept(x)
        assert kept(x + 1, out=out) is out
        np.testing.assert_array_equal(out, f(np, x + 1))
        np.testing.assert_array_equal(replay(x, out=out), f(np, x))
