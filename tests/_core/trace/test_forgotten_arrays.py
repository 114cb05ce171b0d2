"""Large arrays that no rule reads are forgotten while a gradient records, and come back where something reads them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

N = 96
X = np.linspace(0.5, 1.5, N * N).reshape(N, N)
W = np.cos(X)


def laplacian(u: Any) -> Any:
    return np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4.0 * u


def diffusion(x: Any) -> Any:
    u = x
    for _ in range(4):
        u = u + 0.1 * laplacian(u)
    return np.sum(u * u * W)


def interior(x: Any) -> Any:
    u = x
    for _ in range(3):
        u = 0.25 * (u[1:-1, 2:] + u[1:-1, :-2] + u[2:, 1:-1] + u[:-2, 1:-1])
    return np.sum(u**3)


def products(x: Any) -> Any:
    """A product reads what was made of sums alone."""
    u = x
    for k in range(3):
        u = np.roll(u, k + 1) * x / 2.0
    return np.sum(u)


def turned(x: Any) -> Any:
    a = x.T
    return np.sum(np.concatenate([a[1:, ::-1], a[:1, ::-1]]) * x) + np.sum(np.flip(a)[3:] @ x)


def written(x: Any) -> Any:
    u = 2.0 * x + W
    v = u[1:]
    del u
    v[2:5] = 3.0 * x[2:5]
    return np.sum(v * v)


def gathered(x: Any) -> Any:
    rows = np.arange(N)[::-1]
    u = x + W
    return np.sum((u - x.T)[rows] ** 2) + np.sum(u[rows, 0] * 3.0)


def joined(x: Any) -> Any:
    repeated = np.broadcast_to(x[0, 0] * x[1, 1], (N, N))
    return np.sum(np.concatenate([repeated, x[:, 1:], np.reshape(x.T, (N, N)), np.broadcast_to(x[3], (N, N))], 1) ** 2)


PROGRAMS = [joined, diffusion, interior, products, turned, written, gathered]


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradient(f: Callable[[Any], Any]) -> None:
    value, gradient = hoad.value_and_grad(f)(X)
    assert value == f(X)
    _, push = hoad.jvp(f, (X,), (W,))
    np.testing.assert_allclose(np.sum(gradient * W), push, rtol=1e-12)
    np.testing.assert_allclose(gradient, hoad.jit(hoad.grad(f))(X), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f: Callable[[Any], Any]) -> None:
    """A derivative within another reads what the outer one recorded."""
    product = hoad.grad(lambda x: np.sum(hoad.grad(f)(x) * W))(X)
    np.testing.assert_allclose(product, hoad.hvp(f)(X, W), rtol=1e-11, atol=1e-12)


def test_values_that_are_asked_for_later() -> None:
    found = []

    def f(x: Any) -> Any:
        u = 2.0 * x
        v = np.roll(u, 1, 1)
        same = v[...]
        del u, v
        found.append(hoad.value(same))
        inner = hoad.grad(lambda y: np.sum(y * same * same))(x[0, 0] * W)
        return np.sum(same) + np.sum(inner)

    gradient = hoad.grad(f)(X)
    assert np.array_equal(found[0], np.roll(2.0 * X, 1, 1))
    np.testing.assert_allclose(gradient, 2.0 + 8.0 * np.roll(np.roll(X, 1, 1), -1, 1), rtol=1e-14)


def test_aux_is_a_value() -> None:
    def f(x: Any) -> Any:
        u = np.roll(x, 1, 1)
        return np.sum(u), (u[:, 1:], u.T)

    _, (part, turned_round) = hoad.grad(f, has_aux=True)(X)
    rolled = np.roll(X, 1, 1)
    assert np.array_equal(part, rolled[:, 1:])
    assert np.array_equal(turned_round, rolled.T)


def test_memory_of_what_is_linear() -> None:
    """Forty sweeps of a stencil hold a few arrays, not all that were computed."""
    x = np.ones((300, 300))

    def f(x: Any) -> Any:
        for _ in range(40):
            x = 0.25 * laplacian(x)
        return np.sum(x)

    hoad.grad(f)(x)
    tracemalloc.start()
    hoad.grad(f)(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * x.nbytes
