"""Buffers of a program that are not in use at the same step share memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

X = np.linspace(0.5, 1.5, 20_000)
STEPS = 12


def chain(x: Any) -> Any:
    """Each step reads all of the one before, elsewhere."""
    y = x
    for k in range(STEPS):
        y = np.roll(y, k + 1) * x
    return y


def sums(x: Any) -> Any:
    """Each step needs the whole step before."""
    y = x
    for _ in range(STEPS):
        y = np.cumsum(y) / np.sum(y)
    return y


def of_many_lengths(x: Any) -> Any:
    y = x
    for _ in range(STEPS):
        y = np.cumsum(y[1:] * y[:-1]) / np.sum(y)
    return y


def with_items(x: Any) -> Any:
    """Numbers of arrays are read long after these are made."""
    first = np.cumsum(x)
    y = first
    for _ in range(STEPS):
        y = np.cumsum(y) / y[-1]
    return y * first[7] + y[3], np.cumsum(first) / first[5]


@pytest.mark.parametrize("f", [chain, sums, of_many_lengths])
def test_memory(f: Callable[[Any], Any]) -> None:
    assert hoad.jit(f).program(X)._lowered().bytes < 6 * X.nbytes


@pytest.mark.parametrize("f", [chain, sums, of_many_lengths, with_items])
@pytest.mark.parametrize("threads", [1, 2])
def test_values(f: Callable[[Any], Any], threads: int) -> None:
    replay = hoad.jit(f, threads=threads)
    for x in (X, X[::-1].copy(), X):
        for got, wanted in zip(np.atleast_2d(replay(x)), np.atleast_2d(f(x)), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_gradient() -> None:
    gradient = hoad.jit(hoad.grad(lambda x: np.sum(chain(x))))
    product = np.sum(gradient(X) * np.cos(X))
    wanted = hoad.jvp(lambda x: np.sum(chain(x)), (X,), (np.cos(X),))[1]
    np.testing.assert_allclose(product, wanted, rtol=1e-12)
    np.testing.assert_array_equal(gradient(X), gradient(X.copy()))
