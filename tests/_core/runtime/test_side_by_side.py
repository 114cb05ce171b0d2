"""Columns that a fused loop reads and writes beside each other, and results so large that they go past the cache."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hoad

RNG = np.random.default_rng(8)


def chain(x: Any, read: int, written: int) -> Any:
    """So many columns of so many: exact in any order, but for which numbers they are of."""
    columns = [(x[:, k % read] * 0.5 - float(k)) * 2.0 + x[:, (3 * k + 1) % read] for k in range(written)]
    return np.stack(columns, axis=1)


def whole_numbers(n: int, columns: int) -> np.ndarray:
    return RNG.integers(-(2**40), 2**40, (n, columns)).astype(float)


@pytest.mark.parametrize("read", [1, 2, 3, 4, 5, 6, 8, 9, 19])
@pytest.mark.parametrize("n", [1, 3, 31, 514, 1100])
def test_columns(n: int, read: int) -> None:
    x = whole_numbers(n, read)
    for written in (1, 2, 3, 4, 5, 7, 8, 12, 21):
        made = hoad.jit(lambda x, written=written: chain(x, read, written))
        assert np.array_equal(made(x), chain(x, read, written))
        assert np.array_equal(made(x + 1.0), chain(x + 1.0, read, written))


def test_some_columns_of_many() -> None:
    def f(x: Any) -> Any:
        return np.stack([x[:, 5] * 2.0 - x[:, 7] + x[:, 6], x[:, 80] + x[:, 89], -x[:, 0], x[:, 12] * 2.0], axis=1)

    x = whole_numbers(700, 90)
    assert np.array_equal(hoad.jit(f)(x), f(x))
    assert np.array_equal(hoad.jit(lambda x: f(x[::-1]))(x), f(x[::-1]))
    assert np.array_equal(hoad.jit(lambda x: f(x[:, ::-1]))(x), f(x[:, ::-1]))


def test_columns_of_booleans() -> None:
    def f(x: Any, m: Any) -> Any:
        chosen = np.where(m[:, 1], x[:, 0], x[:, 1]) * 2.0 + np.where(m[:, 3], x[:, 2], 1.0)
        return chosen + np.where(m[:, 2], x[:, 3], 0.5)

    x, m = whole_numbers(1300, 4), RNG.random((1300, 5)) > 0.5
    made = hoad.jit(f)
    for given, chosen in ((x, m), (x + 1.0, ~m), (x, np.asfortranarray(m))):
        assert np.array_equal(made(given, chosen), f(given, chosen))


@pytest.mark.parametrize("written", [3, 4, 7, 64, 65])
@pytest.mark.parametrize("offset", [0, 1, 5])
def test_large_results(written: int, offset: int) -> None:
    """As much as goes past the cache, to memory that begins anywhere in a line of it, and nothing beside."""
    n = (1 << 20) // written + 3
    x = whole_numbers(n, 4)
    memory = np.full(n * written + offset + 8, np.pi)
    out = memory[offset : offset + n * written].reshape(n, written)
    made = hoad.jit(lambda x: chain(x, 4, written))
    made(x)
    assert np.array_equal(made(x, out=out), chain(x, 4, written))
    assert np.all(memory[:offset] == np.pi)
    assert np.all(memory[offset + n * written :] == np.pi)
