"""Arrays repeated along others, as the biases of a layer: brought to a row once where all blocks have the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hoad

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("width", [1, 2, 48, 64, 512, 1024])
def test_the_bits_of_numpy(width: int) -> None:
    """Whole blocks, parts of them, and operations that begin within one."""

    def f(x: Any, b: Any, c: Any) -> Any:
        y = (x + b) * c - b / (2.0 + x * x)
        late = x[3:] * b - y[3:]
        return y * b, late / (b + c), (late[:-1] - c)[5:] * b

    for rows in (7, 40, 700):
        x, b, c = RNG.normal(size=(rows + 10, width)), RNG.normal(size=width), RNG.normal(size=(1, width))
        replay = hoad.jit(f)
        for _ in range(3):
            x = x + 0.25
            for found, wanted in zip(replay(x, b, c), f(x, b, c), strict=True):
                np.testing.assert_array_equal(found, wanted)


def test_threads_have_rows_of_their_own() -> None:
    def f(x: Any, b: Any, c: Any) -> Any:
        return (x + b) * c - b / (2.0 + x * x) + np.abs(x - c) * b

    x, b, c = RNG.normal(size=(20_000, 64)), RNG.normal(size=64), RNG.normal(size=64)
    for threads in (1, 2, 4):
        np.testing.assert_array_equal(hoad.jit(f, threads=threads)(x, b, c), f(x, b, c))


def test_more_than_there_are_rows_for() -> None:
    def f(x: Any, b: Any) -> Any:
        y = x
        for k in range(12):
            y = y * b[k] + x
        return y

    x, b = RNG.normal(size=(100, 32)), RNG.normal(size=(12, 32))
    np.testing.assert_array_equal(hoad.jit(f)(x, b), f(x, b))
