"""Patterns of Jacobians by intervals, and what is compressed by them: beside dense lanes, and a slow reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._drivers import dense

N = 24
X = np.linspace(-0.9, 1.4, N)
MATRIX = np.cos(np.arange(N * N).reshape(N, N))


def recurrence(x: Any) -> Any:
    """Numbers one by one: y_k = x_k y_{k-1} is a triangle, its differences a band."""
    y = [x[0]]
    for k in range(1, N):
        y.append(np.sin(x[k]) + x[k - 1] * 0.5)
    return np.array(y, like=x)


# A function of N numbers, and the directions that its Jacobian takes.
CASES: dict[str, tuple[Callable[[Any], Any], int]] = {
    "diagonal": (np.sin, 1),
    "diagonal of a square": (lambda x: np.exp(x.reshape(6, 4)), 1),
    "broadcast": (lambda x: np.sin(x[:, None]) * np.ones(3), 1),
    "two bands": (lambda x: x[1:] * x[:-1], 2),
    "three bands": (lambda x: x[2:] - 2 * x[1:-1] ** 2 + x[:-2], 3),
    "far bands": (lambda x: x[4:] * x[:-4], 5),
    "blocks": (lambda x: np.sum(np.cos(x).reshape(6, 4) ** 2, axis=1), 4),
    "blocks by products": (lambda x: (x.reshape(6, 4) @ MATRIX[:4, :4]).ravel() ** 2, 4),
    "columns": (lambda x: np.sum(x.reshape(6, 4), axis=0), N - 3),
    "gathered": (lambda x: x[np.array([3, 3, 7, 8])] * x[np.array([4, 2, 7, 9])], 2),
    "padded": (lambda x: np.concatenate([np.zeros(3), x[3:] ** 2, x[:2]]), 1),
    "masked": (lambda x: np.where(x[1:] > 0, np.sin(x[1:]), x[:-1] ** 2), 2),
    "running": (lambda x: np.cumsum(x**2), N),
    "turned": (lambda x: x * x[::-1], N),
    "all": (lambda x: MATRIX @ np.sin(x), N),
    "nothing": (lambda x: np.floor(x), 1),
    "one by one": (recurrence, 2),
    "checkpoint": (lambda x: hoad.checkpoint(lambda x: np.sin(x) * x[0])(x), N),
    "map": (lambda x: hoad.vmap(np.sin)(x) * x, 1),
}

CHOICE = dense._pattern


def compressed(monkeypatch: pytest.MonkeyPatch, always: bool) -> None:
    monkeypatch.setattr(dense, "LEAST_COLUMNS", 1)
    monkeypatch.setattr(dense, "_pattern", CHOICE if always else lambda found: None)


@pytest.mark.parametrize("name", CASES)
def test_directions_and_values(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f, directions = CASES[name]
    jacobian = hoad.jacobian(f, mode="forward")
    compressed(monkeypatch, False)
    expected = jacobian(X)
    compressed(monkeypatch, True)
    (plan,) = hoad.dense_plan(jacobian, X)
    assert plan.directions == (directions if 2 * directions <= N else N)
    np.testing.assert_array_equal(jacobian(X), expected)
    np.testing.assert_allclose(hoad.record(jacobian, X[::-1].copy()).evaluate(X), expected, rtol=1e-15)
    reverse = hoad.jacobian(f, mode="reverse")
    np.testing.assert_allclose(reverse(X), expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(hoad.record(reverse, X).evaluate(X), expected, rtol=1e-13, atol=1e-15)


def test_what_is_added_up_of_overlapping_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adjoint of a broadcast array is a sum of slices with the same items."""
    compressed(monkeypatch, True)

    def f(x: Any) -> Any:
        return np.sum(np.diagonal(np.broadcast_to(x.reshape(12, 2), (3, 12, 2)), -1, 0, -1) ** 3)

    np.testing.assert_allclose(hoad.hessian(f)(X), np.diag(6 * X), rtol=1e-14)
    np.testing.assert_allclose(hoad.jit(hoad.jacobian(hoad.grad(f)))(X), np.diag(6 * X), rtol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_the_pattern_covers_every_dependence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against `explain`, which follows sets of items through the function itself."""
    f, _ = CASES[name]
    patterns = []

    def spied(*args: Any) -> Any:
        patterns.append(pattern_of(*args))
        return patterns[-1]

    pattern_of = dense.pattern_of
    monkeypatch.setattr(dense, "pattern_of", spied)
    compressed(monkeypatch, True)
    jacobian = hoad.jacobian(f, mode="forward")(X)
    ((lows, highs),) = patterns[0].rows
    ((depends),) = hoad.explain(f, X).depends.values()
    columns = np.arange(N)
    inside = (lows[:, None] <= columns) & (columns <= highs[:, None])
    assert not np.any((jacobian.reshape(-1, N) != 0) & ~inside)
    if name not in ("nothing", "map"):  # whose derivative is zero, though it depends on x; whose rows explain mixes
        found = depends.reshape(-1, N)
        assert not np.any(found & ~inside)


def test_a_hessian_and_its_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.exp(x[1:] * x[:-1])) + np.sum(x**4)

    def total(x: Any) -> Any:
        return np.sum(hoad.hessian(f)(x) * MATRIX)

    def found() -> list[Any]:
        slope = hoad.grad(total)(X)
        return [hoad.hessian(f)(X), slope, hoad.hessian(total)(X), hoad.jvp(total, (X,), (X,))[1]]

    compressed(monkeypatch, False)
    expected = found()
    compressed(monkeypatch, True)
    assert hoad.dense_plan(hoad.hessian(f), X)[0].directions == 3
    assert hoad.dense_plan(lambda x: hoad.record(hoad.hessian(f), x), X)[0].method == "sweeps"
    for one, other in zip(found(), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_a_branch_has_its_own_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    compressed(monkeypatch, True)

    def f(x: Any) -> Any:
        return x**2 if x[0] < 0 else np.cumsum(x)

    jacobian = hoad.jacobian(f, mode="forward")
    np.testing.assert_array_equal(jacobian(X), np.diag(2 * X))
    np.testing.assert_array_equal(jacobian(-X), np.tri(N))
    program = hoad.record(jacobian, X)
    with pytest.raises(hoad.GuardError):
        program.evaluate(-X)


def test_singular_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not a dependence is 0, though the factor beside it is infinite; two poles share a direction."""
    x = np.where(np.arange(N) % 3 == 0, 0.0, X**2)
    slope = np.append(np.where(x[1:] > 0, 0.5 / np.sqrt(np.maximum(x[1:], 1e-300)), np.inf), 0.0)
    compressed(monkeypatch, True)
    with np.errstate(divide="ignore", invalid="ignore"):
        for mode in ("forward", "reverse"):
            jacobian = hoad.jacobian(lambda x: np.sqrt(x[1:]) + x[:-1], mode=mode)
            for found in (jacobian(x), hoad.record(jacobian, x).evaluate(x)):
                np.testing.assert_allclose(np.diag(found, 1), slope[:-1], rtol=1e-13)
                np.testing.assert_array_equal(np.diag(found), np.ones(N - 1))
                assert np.count_nonzero(found) == 2 * (N - 1)


def test_complex_numbers_and_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    compressed(monkeypatch, True)
    z = X * (1 + 0.5j)
    found = hoad.jacobian(lambda z: np.exp(z[1:]) * z[:-1], holomorphic=True)(z)
    expected = np.zeros((N - 1, N), complex)
    expected[np.arange(N - 1), np.arange(1, N)] = np.exp(z[1:]) * z[:-1]
    expected[np.arange(N - 1), np.arange(N - 1)] = np.exp(z[1:])
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    for mode in ("forward", "reverse"):
        squares = hoad.jacobian(lambda z: np.abs(z) ** 2, mode=mode)
        np.testing.assert_allclose(squares(z), np.diag(2 * z.conj()), rtol=1e-13)
        np.testing.assert_allclose(hoad.record(squares, z).evaluate(z), np.diag(2 * z.conj()), rtol=1e-13)
    single = hoad.jacobian(np.sin, mode="forward")
    x = X.astype(np.float32)
    assert single(x).dtype == hoad.record(single, x).evaluate(x).dtype == np.float32
    np.testing.assert_allclose(single(x), np.diag(np.cos(x)), rtol=1e-6)


@pytest.mark.parametrize("chunk", [1, 5, N, 10 * N])
def test_chunks(chunk: int) -> None:
    for mode in ("forward", "reverse"):
        jacobian = hoad.jacobian(lambda x: np.exp(MATRIX[:20] @ x), mode=mode, chunk=chunk)
        np.testing.assert_allclose(jacobian(X), np.exp(MATRIX[:20] @ X)[:, None] * MATRIX[:20], rtol=1e-12)
        (plan,) = hoad.dense_plan(jacobian, X)
        assert plan.mode == mode and plan.chunk == min(chunk, plan.entries) and plan.method == "lanes"
    np.testing.assert_allclose(hoad.hessian(lambda x: np.sum(x**3), chunk=chunk)(X), np.diag(6 * X), rtol=1e-13)


@pytest.mark.parametrize("chunk", [0, -1, 1.5, True, "2"])
def test_what_is_no_chunk(chunk: Any) -> None:
    for driver in (hoad.jacobian, hoad.hessian):
        with pytest.raises(hoad.ArgumentError, match=f"{driver.__name__} takes chunk as a number of lanes"):
            driver(np.sum, chunk=chunk)


def test_plans_are_told_to_who_asked_alone() -> None:
    inner: list[Any] = []

    def f(x: Any) -> Any:
        inner.append(hoad.dense_plan(hoad.jacobian(np.sin), X[:3]))
        return hoad.hessian(lambda x: np.sum(x**2))(x)

    (plan,) = hoad.dense_plan(f, X)
    assert (plan.entries, plan.directions, plan.method) == (N, N, "lanes")
    assert inner[0][0].entries == 3
    assert hoad.dense_plan(hoad.grad(np.sum), X) == ()
    with pytest.raises(hoad.ArgumentError, match="dense_plan takes a function"):
        hoad.dense_plan(3.0)  # type: ignore[arg-type]
