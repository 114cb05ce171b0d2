"""What results of loops depend on, beside the same loops written out number by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

pytest.importorskip("scipy")

CARRIED, ROW, CONSTANT = 3, 2, 2
Body = Callable[[Any, Any, Any], tuple[Any, Any]]


def body_of(rng: np.random.Generator, density: float) -> Body:
    """A nonlinear body, of which each output depends on some items of what is carried, of a row, of constants."""
    takes = rng.random((CARRIED + 2, CARRIED + ROW + CONSTANT)) < density

    def body(c: Any, x: Any, k: Any) -> tuple[Any, Any]:
        items = [*[c[i] for i in range(CARRIED)], *[x[i] for i in range(ROW)], *[k[i] for i in range(CONSTANT)]]
        found = [
            sum((0.3 * np.sin(items[i]) for i in np.flatnonzero(row)), start=0.1) ** 2 if row.any() else 0.0 * items[0]
            for row in takes
        ]
        return np.stack(found[:CARRIED]), np.stack(found[CARRIED:])

    return body


def parts_of(v: Any, length: int) -> tuple[Any, Any, Any]:
    rows = v[CARRIED : CARRIED + length * ROW]
    return v[:CARRIED], np.reshape(rows, (length, ROW)), v[CARRIED + length * ROW :]


def looped(body: Body, length: int, backwards: bool) -> Callable[[Any], Any]:
    def f(v: Any) -> Any:
        c, xs, k = parts_of(v, length)
        last, ys = hoad.scan(lambda c, x: body(c, x, k), c, xs, reverse=backwards)
        return np.concatenate([last, np.ravel(ys)])

    return f


def unrolled(body: Body, length: int, backwards: bool) -> Callable[[Any], Any]:
    def f(v: Any) -> Any:
        c, xs, k = parts_of(v, length)
        ys = [None] * length
        for t in range(length)[:: -1 if backwards else 1]:
            c, ys[t] = body(c, xs[t], k)
        return np.concatenate([c, *ys])

    return f


def loops(seed: int, density: float, length: int, backwards: bool) -> tuple[Any, Any, Any]:
    """A loop of a random body, the same written out, and a point."""
    rng = np.random.default_rng(seed)
    body = body_of(rng, density)
    v = rng.uniform(0.2, 1.0, CARRIED + length * ROW + CONSTANT)
    return looped(body, length, backwards), unrolled(body, length, backwards), v


CASES = [(seed, density, length) for seed in range(4) for density in (0.15, 0.3) for length in (1, 2, 7)]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("seed", "density", "length"), CASES)
def test_jacobians(seed: int, density: float, length: int, backwards: bool) -> None:
    f, g, v = loops(seed, density, length, backwards)
    np.testing.assert_array_equal(hoad.jacobian_pattern(f)(v).toarray(), hoad.jacobian_pattern(g)(v).toarray())
    np.testing.assert_allclose(hoad.sparse_jacobian(f)(v).toarray(), hoad.jacobian(g)(v), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("seed", "density", "length"), CASES)
def test_hessians(seed: int, density: float, length: int, backwards: bool) -> None:
    f, g, v = loops(seed, density, length, backwards)
    dense = hoad.hessian(lambda v: np.sum(g(v)))(v)
    found = hoad.sparse_hessian(lambda v: np.sum(f(v)))(v)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-12, atol=1e-15)
    pattern = hoad.hessian_pattern(lambda v: np.sum(f(v)))(v).toarray()
    assert not np.any(hoad.hessian_pattern(lambda v: np.sum(g(v)))(v).toarray() & ~pattern)


N = 40


@pytest.mark.parametrize(
    ("f", "entries"),
    [
        (lambda x: hoad.scan(lambda c, u: (c + np.sin(u), None), 0.0, x)[0], N),  # a sum
        (lambda x: np.sum(hoad.scan(lambda c, u: (u, u * c), 0.0, x)[1]), 2 * (N - 1)),  # neighbours
        (lambda x: np.sum(hoad.scan(lambda c, u: ((u, c[0]), u * c[1]), (0.0, 0.0), x)[1]), 2 * (N - 2)),  # a delay
        (lambda x: hoad.scan(lambda c, u: (c * u, None), 1.0, x)[0], N * (N - 1)),
        (lambda x: np.sum(hoad.vmap(lambda u: u[0] ** 2 * u[1] + u[2])(np.reshape(x, (10, 4)))), 30),
        (lambda x: np.sum(hoad.checkpoint(lambda x: x[1:] * x[:-1])(x)), 2 * (N - 1)),
        (lambda x: hoad.fori_loop(0, 3, lambda i, s: s + np.sum(x**2), 0.0), N),
    ],
)
def test_entries_of_hessians(f: Callable[[Any], Any], entries: int) -> None:
    x = np.linspace(0.5, 1.5, N)
    found = hoad.sparse_hessian(f)(x)
    dense = hoad.hessian(f)(x)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-12, atol=1e-13)
    pattern = hoad.hessian_pattern(f)(x)
    assert not np.any((dense != 0.0) & ~pattern.toarray())
    assert pattern.nnz <= entries + (N if entries == N * (N - 1) else 0)


def test_long_loops_need_memory_for_their_entries_alone() -> None:
    x = np.linspace(0.5, 1.5, 20_000)
    found = hoad.sparse_hessian(lambda x: hoad.scan(lambda c, u: (c + np.sin(u), None), 0.0, x)[0])(x)
    np.testing.assert_allclose(found.diagonal(), -np.sin(x), rtol=1e-12)
    assert found.nnz == 20_000


def test_powers_that_do_not_settle() -> None:
    """Three numbers that are carried in a circle: every third row."""

    def f(x: Any) -> Any:
        return hoad.scan(lambda c, u: (np.stack([c[2], c[0] * np.sin(u), c[1]]), c[0]), np.ones(3), x)[1]

    x = np.linspace(0.5, 1.5, 200)
    found = hoad.jacobian_pattern(f)(x).toarray()
    assert not np.any((hoad.jacobian(f)(x) != 0.0) & ~found)
    near = found[:60, :60]
    np.testing.assert_array_equal(near, hoad.jacobian(f)(x)[:60, :60] != 0.0)


def test_what_carries_much_is_not_followed() -> None:
    """Powers of a large table would take longer than the derivative."""

    def f(x: Any) -> Any:
        def body(c: Any, u: Any) -> tuple[Any, Any]:
            return np.concatenate([c[1:] * u, np.reshape(u, (1,))]), c[0] * u

        return hoad.scan(body, np.ones(600), x)[1]

    x = np.linspace(0.9, 1.1, 30)
    assert not np.any((hoad.jacobian(f)(x) != 0.0) & ~hoad.jacobian_pattern(f)(x).toarray())
