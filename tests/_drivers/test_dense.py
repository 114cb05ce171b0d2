"""Dense Jacobians and Hessians inside another derivative: one node for all directions, closed under differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

N = 12
X = np.linspace(-0.8, 1.3, N)


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_hessian(x: Any) -> Any:
    """By hand."""
    n = len(x)
    found = np.zeros((n, n))
    for k in range(n - 1):
        found[k, k] += 1200 * x[k] ** 2 - 400 * x[k + 1] + 2
        found[k + 1, k + 1] += 200
        found[k, k + 1] = found[k + 1, k] = -400 * x[k]
    return found


def by_numbers(x: Any) -> Any:
    total = 0.0
    for k in range(len(x) - 1):
        total = total + 100 * (x[k + 1] - x[k] ** 2) ** 2 + (1 - x[k]) ** 2
    return total


def operations(program: Any) -> list[str]:
    return [node.operation for node in program[0].nodes]


def test_the_tape_does_not_grow_with_the_directions() -> None:
    for f, maps in ((rosenbrock, 0), (lambda x: np.sum(x**4) ** 2, 1)):  # a band, whose directions are few, and none
        small, large = (hoad.record(hoad.hessian(f), np.ones(n)) for n in (20, 300))
        assert small[0].size == large[0].size < 100
        assert operations(large).count("scan") == maps
    many = hoad.record(hoad.hessian(rosenbrock), np.ones(200))
    x = np.linspace(-1.0, 1.0, 200)
    np.testing.assert_allclose(many.evaluate(x), rosenbrock_hessian(x), rtol=1e-13, atol=1e-12)


def test_few_directions_and_operations_on_numbers_are_unrolled() -> None:
    assert "scan" not in operations(hoad.record(hoad.hessian(rosenbrock), X[:5]))
    program = hoad.record(hoad.hessian(by_numbers), X)
    assert "scan" not in operations(program)
    np.testing.assert_allclose(program.evaluate(X[::-1].copy()), rosenbrock_hessian(X[::-1]), rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize("f", [rosenbrock, by_numbers])
def test_derivatives_of_a_hessian(f: Callable[[Any], Any]) -> None:
    """∂/∂x_k of Σ_ij W_ij ∂²f/∂x_i∂x_j, W = i - 2j, by hand, and its derivatives, in every mode."""
    weights = np.subtract.outer(np.arange(N), 2.0 * np.arange(N))

    def total(x: Any) -> Any:
        return np.sum(weights * hoad.hessian(f)(x))

    slope = 2400 * X * np.diag(weights)
    slope[-1] = 0.0
    slope[1:] -= 400 * np.diag(weights)[:-1]
    slope[:-1] -= 400 * (np.diag(weights, 1) + np.diag(weights, -1))
    curvature = np.diag(np.append(2400 * np.diag(weights)[:-1], 0.0))
    v = np.cos(np.arange(N))
    np.testing.assert_allclose(hoad.grad(total)(X), slope, rtol=1e-12)
    np.testing.assert_allclose(hoad.jvp(total, (X,), (v,))[1], slope @ v, rtol=1e-12)
    np.testing.assert_allclose(hoad.hessian(total)(X), curvature, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(hoad.grad(lambda x: hoad.grad(total)(x) @ v)(X), curvature @ v, rtol=1e-12)
    np.testing.assert_allclose(hoad.grad(lambda x: hoad.jvp(total, (x,), (v,))[1])(X), curvature @ v, rtol=1e-12)
    program = hoad.gradient(hoad.record(total, X[::-1].copy()))
    np.testing.assert_allclose(program.evaluate(X), slope, rtol=1e-12)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_jacobian_inside_a_gradient(mode: str) -> None:
    """J = diag(cos(Mx)) M; the derivative of Σ J² by hand: -Mᵀ (2 sin cos(Mx) Σ_j M_ij²)."""
    matrix = np.cos(np.outer(np.arange(N + 3), np.arange(N)) + 0.3)

    def total(x: Any) -> Any:
        return np.sum(hoad.jacobian(lambda x: np.sin(matrix @ x), mode=mode)(x) ** 2)

    z = matrix @ X
    expected = -matrix.T @ (np.sin(2 * z) * np.sum(matrix**2, axis=1))
    np.testing.assert_allclose(hoad.grad(total)(X), expected, rtol=1e-12)
    np.testing.assert_allclose(hoad.jvp(total, (X,), (X,))[1], expected @ X, rtol=1e-12)


def test_arrays_numbers_and_containers() -> None:
    """Blocks between an argument of shape (3, 4), a number and a vector: f = Σ a³ b + b² Σ v²."""

    def f(p: Any) -> Any:
        return np.sum(p["a"] ** 3) * p["b"] + p["b"] ** 2 * np.sum(p["v"] ** 2)

    a, v = X.reshape(3, 4), X[:9]
    point = {"a": a, "b": 0.7, "v": v}
    found = hoad.record(hoad.hessian(f), point).evaluate(point)
    np.testing.assert_allclose(found["a"]["a"].reshape(N, N), np.diag(6 * 0.7 * X), rtol=1e-13)
    np.testing.assert_allclose(found["a"]["b"], 3 * a**2, rtol=1e-13)
    np.testing.assert_allclose(found["b"]["a"], 3 * a**2, rtol=1e-13)
    np.testing.assert_allclose(found["b"]["b"], 2 * np.sum(v**2), rtol=1e-13)
    np.testing.assert_allclose(found["v"]["b"], 4 * 0.7 * v, rtol=1e-13)
    np.testing.assert_allclose(found["v"]["v"], 2 * 0.7**2 * np.eye(9), rtol=1e-13)
    assert found["a"]["v"].shape == (3, 4, 9) and not found["a"]["v"].any()


def test_float32_and_complex_numbers() -> None:
    x = X.astype(np.float32)
    program = hoad.record(hoad.hessian(lambda x: np.sum(np.float32(2) * x**3)), x)
    assert program.evaluate(x).dtype == np.float32
    np.testing.assert_allclose(program.evaluate(x), np.diag(12 * x), rtol=1e-6)
    z = X * (1 - 0.5j)
    program = hoad.record(hoad.hessian(lambda z: np.sum(z**3 + z[::-1] * z), holomorphic=True), z)
    np.testing.assert_allclose(program.evaluate(z), np.diag(6 * z) + 2 * np.eye(N)[::-1], rtol=1e-13)

    def size(z: Any) -> Any:
        return np.abs(z) ** 2

    for mode in ("forward", "reverse"):
        program = hoad.record(lambda x: hoad.jacobian(size, mode=mode)(x * (1 + 2j)), X)
        np.testing.assert_allclose(program.evaluate(X), hoad.jacobian(size, mode=mode)(X * (1 + 2j)), rtol=1e-13)


def test_a_zero_of_a_unit_vector_stands_for_no_dependence() -> None:
    """At a pole of an elementwise function, the entries beside the diagonal are 0."""
    x = np.append(0.0, X[1:] ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        for jacobian in (hoad.jacobian(np.sqrt, mode=mode) for mode in ("forward", "reverse")):
            found = hoad.record(jacobian, x).evaluate(x)
            assert found[0, 0] == np.inf and np.count_nonzero(found) == N
        found = hoad.record(hoad.hessian(lambda x: np.sum(np.where(x > 0, np.sqrt(x), 3 * x**2))), x).evaluate(x)
    assert found[0, 0] == 6.0 and np.count_nonzero(found) == N


def test_many_values_around_a_map() -> None:
    """Sixty layers, whose values are held side by side: a node has at most 64 results."""

    def f(x: Any) -> Any:
        for k in range(60):
            x = x + np.sin(x * (0.1 + 0.01 * k)) * x[::-1] * 0.02
        return np.sum(x**2)

    def total(x: Any) -> Any:
        return np.sum(hoad.hessian(f)(x))

    program = hoad.record(hoad.hessian(f), X)
    assert operations(program).count("scan") == 1
    np.testing.assert_allclose(program.evaluate(-X), hoad.hessian(f)(-X), rtol=1e-12)
    v = np.ones(N)
    expected = hoad.grad(lambda x: hoad.jvp(lambda x: hoad.jvp(f, (x,), (v,))[1], (x,), (v,))[1])(X)
    np.testing.assert_allclose(hoad.grad(total)(X), expected, rtol=1e-11)
    np.testing.assert_allclose(hoad.hvp(total)(X, v), hoad.jvp(hoad.grad(total), (X,), (v,))[1], rtol=1e-11)


def test_many_values_of_single_precision_around_a_map() -> None:
    def f(x: Any) -> Any:
        for k in range(60):
            x = np.where(x > 0.1 * k - 3, np.sin(x) * np.roll(x, k) * 0.02 + x, np.cos(x))
        return x

    x, ones = X.astype(np.float32), np.ones(N, np.float32)
    found = hoad.jacobian(lambda x: hoad.jacobian(f)(x) @ ones)(x)
    assert found.dtype == np.float32
    expected = hoad.jacobian(lambda x: hoad.jvp(f, (x,), (np.ones(N),))[1])(x.astype(float))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


def test_what_owes_nothing_to_the_derivative_around_it_is_plain() -> None:
    def f(x: Any) -> Any:
        constant = hoad.hessian(rosenbrock)(X)
        assert type(constant) is np.ndarray
        return np.sum(constant * x)

    np.testing.assert_allclose(hoad.grad(f)(np.ones(N)), np.sum(rosenbrock_hessian(X), axis=0), rtol=1e-12, atol=1e-10)


def test_a_hessian_that_is_mapped_looped_and_checkpointed() -> None:
    def trace(x: Any) -> Any:
        return np.sum(hoad.hessian(rosenbrock)(x) ** 2)

    rows = np.stack([X, X[::-1], 2 * X])
    expected = [np.sum(rosenbrock_hessian(row) ** 2) for row in rows]
    np.testing.assert_allclose(hoad.vmap(trace)(rows), expected, rtol=1e-13)
    np.testing.assert_allclose(hoad.scan(lambda c, row: (c, trace(row)), 0.0, rows)[1], expected, rtol=1e-13)
    slopes = hoad.vmap(hoad.grad(trace))(rows)
    for row, slope in zip(rows, slopes, strict=True):
        np.testing.assert_allclose(hoad.grad(hoad.checkpoint(trace))(row), slope, rtol=1e-12)
        np.testing.assert_allclose(hoad.grad(trace)(row), slope, rtol=1e-12)


@pytest.mark.parametrize("on_left", [True, False])
@pytest.mark.parametrize("is_traced", [True, False])
def test_a_matrix_times_a_unit_vector_is_no_product(on_left: bool, is_traced: bool) -> None:
    """f = exp(Mx · s) by its Jacobian, by hand; M an array, or made of x itself, M(x) = x_0 M."""
    matrix = np.sin(np.outer(np.arange(1.0, N + 4), np.arange(1.0, N + 1)))

    def f(x: Any) -> Any:
        m = matrix * x[0] if is_traced else matrix
        return np.exp(m @ x if on_left else x @ m.T)

    scale, extra = (X[0], np.outer(matrix @ X, np.eye(N)[0])) if is_traced else (1.0, 0.0)
    value = np.exp(scale * (matrix @ X))
    expected = value[:, None] * (scale * matrix + extra)
    program = hoad.record(hoad.jacobian(f, mode="forward"), np.ones(N))
    np.testing.assert_allclose(program.evaluate(X), expected, rtol=1e-11)
    (loop,) = [node.parameters["loop"] for node in program[0].nodes if node.operation == "scan"]
    assert "matmul" not in operations(loop.program)
    slope = hoad.grad(lambda x: np.sum(hoad.jacobian(f, mode="forward")(x)))(X)
    v = np.ones(N)
    second = hoad.jvp(lambda x: hoad.jvp(lambda x: np.sum(f(x)), (x,), (v,))[1], (X,), (v,))[1]
    np.testing.assert_allclose(slope @ v, second, rtol=1e-11)


def test_the_columns_of_a_matrix_are_multiplied_once() -> None:
    """The Hessian of Σ log(1 + exp(-s Mx)) is MᵀDM: five operations on each column of M are one; 0 stays a strong 0."""
    matrix = np.sin(np.outer(np.arange(1.0, N + 4), np.arange(1.0, N + 1)))
    signs = np.where(np.arange(N + 3) % 2, 1.0, -1.0)

    def f(x: Any) -> Any:
        return np.sum(np.log1p(np.exp(-signs * (matrix @ x))))

    program = hoad.record(hoad.hessian(f), np.ones(N))
    p = 1 / (1 + np.exp(signs * (matrix @ X)))
    expected = (matrix.T * (p * (1 - p))) @ matrix
    np.testing.assert_allclose(program.evaluate(X), expected, rtol=1e-12, atol=1e-14)
    (loop,) = [node.parameters["loop"] for node in program[0].nodes if node.operation == "scan"]
    assert operations(loop.program).count("strong_multiply") == 1 and "strong_divide" not in operations(loop.program)
    third = hoad.jvp(hoad.hessian(f), (X,), (np.ones(N),))[1]
    slope = p * (1 - p) * (1 - 2 * p) * -signs * (matrix @ np.ones(N))
    np.testing.assert_allclose(third, (matrix.T * slope) @ matrix, rtol=1e-11, atol=1e-13)

    rows = np.where(np.tri(N + 3, N, dtype=bool), matrix, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        program = hoad.record(hoad.jacobian(lambda x: np.sqrt(np.sqrt(rows @ x) ** 3), mode="forward"), np.ones(N))
        found = program.evaluate(np.zeros(N))
    assert np.array_equal(found[rows == 0], np.zeros(np.sum(rows == 0)))
    assert not np.any(np.isfinite(found[rows != 0]) & (found[rows != 0] != 0))


@pytest.mark.parametrize("n", [12, 150])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_unit_vectors_that_are_kept_and_others(n: int, dtype: Any) -> None:
    """A sum that is dense and one that is diagonal, whose pole is at one entry alone."""
    x = np.linspace(0.0, 1.5, n, dtype=dtype)

    def f(x: Any) -> Any:
        return np.log(np.sum(np.exp(x))) + np.sum(np.sqrt(x) ** 3)

    with np.errstate(divide="ignore", invalid="ignore"):
        found = hoad.record(hoad.hessian(f), np.ones(n, dtype)).evaluate(x)
    p = np.exp(x) / np.sum(np.exp(x))
    expected = np.diag(p) - np.outer(p, p)
    expected[np.diag_indices(n)] += np.append(0.0, 0.75 / np.sqrt(x[1:]))
    is_finite = np.ones((n, n), dtype=bool)
    is_finite[0, 0] = False
    assert found.dtype == dtype and not np.isfinite(found[0, 0])
    np.testing.assert_allclose(found[is_finite], expected[is_finite], rtol=0, atol=50 * np.finfo(dtype).eps)
