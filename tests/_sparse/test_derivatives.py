"""Sparse derivatives are dense ones without their zeros."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy.sparse")

from _sparse.functions import FUNCTIONS, IN_BLOCKS, IN_LANES, POINTS, N, rosenbrock, scalar

import hoad
from hoad._core.record.recording import differentiating
from hoad._sparse.pattern_of_sweep import is_of_numbers
from hoad._sparse.sweeps import sweep_of_hessian, sweep_of_jacobian
from hoad._sparse.weighted_blocks import NotInBlocksError, WeightedBlocks


def dense_jacobian(f: Callable[[Any], Any], x: Any) -> Any:
    return np.asarray(hoad.jacobian(f)(x)).reshape(-1, N)


def tol(name: str) -> float:
    return 1e-6 if name == "float32" else 1e-12


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobians(name: str) -> None:
    f = FUNCTIONS[name]
    plan = hoad.sparse_jacobian(f).plan(POINTS[0])
    for x in POINTS if name != "masked" else POINTS[:1]:
        dense = dense_jacobian(f, x)
        for found in (hoad.sparse_jacobian(f)(x), plan(x)):
            assert found.shape == dense.shape
            np.testing.assert_allclose(found.toarray(), dense, rtol=1e-13, atol=1e-13 * abs(dense).max())
        by_columns = hoad.sparse_jacobian(f, format="csc")(x)
        np.testing.assert_allclose(by_columns.toarray(), found.toarray(), rtol=1e-14)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_hessians(name: str) -> None:
    f = scalar(FUNCTIONS[name])
    plan = hoad.sparse_hessian(f).plan(POINTS[0])
    for x in POINTS if name != "masked" else POINTS[:1]:
        dense = hoad.hessian(f)(x)
        for found in (hoad.sparse_hessian(f)(x), plan(x)):
            np.testing.assert_allclose(found.toarray(), dense, rtol=tol(name), atol=tol(name) * abs(dense).max())
        np.testing.assert_array_equal(found.toarray(), found.toarray().T)
        for triangle, cut in (("lower", np.tril), ("upper", np.triu)):
            part = hoad.sparse_hessian(f, triangle=triangle)(x).toarray()
            np.testing.assert_allclose(part, cut(dense), rtol=tol(name), atol=tol(name) * abs(dense).max())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_patterns(name: str) -> None:
    """Every entry is there, and locally, at a point where no entry is zero by chance, nothing else."""
    f = FUNCTIONS[name]
    for x in POINTS:
        dense = dense_jacobian(f, x) != 0
        local = hoad.jacobian_pattern(f, scope="local")(x).toarray()
        whole = hoad.jacobian_pattern(f)(x).toarray()
        assert not np.any(dense & ~local)
        assert not np.any(local & ~whole)
        if name not in ("solution", "spectrum", "scanned", "constant", "zeros of a matrix", "transposed"):
            np.testing.assert_array_equal(local, dense)
        g = scalar(f)
        dense = hoad.hessian(g)(x) != 0
        local = hoad.hessian_pattern(g, scope="local")(x).toarray()
        whole = hoad.hessian_pattern(g)(x).toarray()
        assert not np.any(dense & ~local)
        assert not np.any(local & ~whole)
        np.testing.assert_array_equal(whole, whole.T)


def test_memory_of_a_pattern() -> None:
    """Some nine arrays are there at a time: values are forgotten once recorded, and patterns that nothing asks for."""
    find = hoad.jacobian_pattern(lambda x: np.diff(np.sin(x), 2) ** 2)
    x = np.linspace(0, 1, 100_000)
    find(x)
    tracemalloc.start()
    found = find(x)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.nnz == 3 * (x.size - 2)
    assert kept < 21 * x.size
    assert peak < 90 * x.size


def is_swept_in_blocks(sweep_of: Any, f: Callable[[Any], Any], x: Any) -> bool:
    with differentiating() as recording:
        sweep = sweep_of(recording, f, (x,), {}, "test")
        if sweep.output is None:
            return True
        try:
            WeightedBlocks(recording, sweep.seed, sweep.output)
        except NotInBlocksError:
            return False
        return not is_of_numbers(recording, sweep.seed, sweep.output)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_how_they_are_computed(name: str) -> None:
    """By blocks wherever that can be, with no direction swept."""
    f = FUNCTIONS[name]
    assert is_swept_in_blocks(sweep_of_jacobian, f, POINTS[0]) == (name in IN_BLOCKS)
    assert is_swept_in_blocks(sweep_of_hessian, scalar(f), POINTS[0]) == (name in IN_BLOCKS)


@pytest.mark.parametrize("name", IN_LANES)
def test_lanes_inside_of_other_derivatives(name: str) -> None:
    f = scalar(FUNCTIONS[name])
    sparse = hoad.sparse_hessian(f, format="triplets")
    found = hoad.grad(lambda x: np.sum(sparse(x).values ** 2))(POINTS[0])
    dense = hoad.grad(lambda x: np.sum(hoad.hessian(f)(x) ** 2))(POINTS[0])
    np.testing.assert_allclose(found, dense, rtol=tol(name), atol=tol(name) * abs(dense).max())


def test_inside_of_other_derivatives() -> None:
    sparse = hoad.sparse_hessian(rosenbrock, format="triplets")
    x = POINTS[0]
    found = hoad.jacobian(lambda x: sparse(x).values)(x)
    third = hoad.derivative_tensor(rosenbrock, 3)(x)
    at = sparse(x)
    np.testing.assert_allclose(found, third[at.rows, at.columns], rtol=1e-13)
    np.testing.assert_allclose(hoad.jit(lambda x: sparse(x).values)(x), at.values, rtol=1e-15)
    with pytest.raises(hoad.TracedValueError, match="triplets"):
        hoad.grad(lambda x: np.sum(hoad.sparse_hessian(rosenbrock)(x).data))(x)


def test_patterns_of_bodies() -> None:
    """Bodies that are recorded by themselves have the pattern of what they do; loops of calls alone are full."""
    x = np.linspace(0.1, 1.0, 6)

    def step(k: Any, u: Any) -> Any:
        return u + 0.1 * np.roll(u, 1)

    program = hoad.record(lambda u: step(0, u), x)
    functions: list[tuple[Callable[[Any], Any], int, int]] = [
        (lambda x: hoad.fori_loop(0, 1, step, x), 12, 2),
        (lambda x: hoad.while_loop(lambda u: np.sum(u) < 4.5, lambda u: step(0, u), x), 30, 5),
        (lambda x: hoad.scan(lambda c, u: (c, u**2), 0.0, x)[1], 6, 1),
        (lambda x: hoad.checkpoint(lambda u: step(0, u))(x), 12, 2),
        (lambda x: hoad.checkpointed_loop(step, 1, x), 36, 6),
        (lambda x: program(x), 12, 2),
        (lambda x: step(0, x), 12, 2),
        (lambda x: hoad.jit(lambda u: step(0, u))(x), 12, 2),
        (lambda x: hoad.vmap(lambda u: hoad.fori_loop(0, 2, lambda k, v: np.sin(v), u))(x), 6, 1),
    ]
    for f, entries, colors in functions:
        found = hoad.sparse_jacobian(f).plan(x)
        assert hoad.jacobian_pattern(f)(x).nnz == found.nnz == entries
        assert found.n_colors in (0, colors, colors + 1)
        np.testing.assert_allclose(found(x).toarray(), hoad.jacobian(f)(x), rtol=1e-13)


# ---- arguments of Lagrangians ----------------------------------------------------------------------------------------

WEIGHTS = np.ones(2)
REFUSED: list[tuple[type[Exception], str, tuple[Any, ...]]] = [
    (hoad.ArgumentError, "got no multipliers. Call it as", ()),
    (hoad.ArgumentError, "got no multipliers. Call it as", (None,)),
    (hoad.ShapeError, r"a multiplier for each entry of g\(x\), which has 2, but got 3 .*shape \(3,\)", (np.ones(3),)),
    (hoad.DTypeError, r"as the multipliers λ, but got an array of shape \(2,\) and dtype complex", (WEIGHTS * 1j,)),
    (hoad.DTypeError, "as the multipliers λ, but got dict", ({"a": 1.0},)),
    (hoad.ShapeError, r"a number as σ, the third argument, but got one of shape \(2,\)", (WEIGHTS, WEIGHTS)),
    (hoad.DTypeError, "as σ, the third argument, but got a complex number", (WEIGHTS, 1j)),
    (hoad.DTypeError, "as σ, the third argument, but got NoneType", (WEIGHTS, None)),
]


@pytest.mark.parametrize("row", range(len(REFUSED)))
def test_arguments_of_lagrangians(row: int) -> None:
    error, match, given = REFUSED[row]
    driver = hoad.lagrangian_hessian(lambda x: np.sum(x**4), lambda x: x[1:] * x[:-1])
    for call in (driver, driver.plan, hoad.jit(driver)):
        with pytest.raises(error, match=match):
            call(np.ones(3), *given)


def test_functions_of_lagrangians() -> None:

    def square(x: Any) -> Any:
        return np.sum(x**2)

    x = np.array([1.0, 2.0])
    for g, given in ((lambda x: [x[0] * x[1], x[0] ** 2], [3, 4]), (lambda x: x[0] * x[1], 3.0)):
        found = hoad.lagrangian_hessian(square, g, triangle=None)(x, given, np.float32(0.5))
        np.testing.assert_allclose(found.toarray(), [[1.0 + 8 * (given != 3.0), 3.0], [3.0, 1.0]])
    with pytest.raises(hoad.DTypeError, match=r"as g\(x\), but got dict"):
        hoad.lagrangian_hessian(square, lambda x: {"a": x})(x, x)
    with pytest.raises(hoad.DTypeError, match=r"as g\(x\), but got an array of shape \(2,\) and dtype complex128"):
        hoad.lagrangian_hessian(square, lambda x: 1j * x)(x, x)
    with pytest.raises(hoad.ShapeError, match="f returned NoneType"):
        hoad.lagrangian_hessian(lambda x: None, lambda x: x)(x, x)
    with pytest.raises(hoad.ShapeError, match=r"scalar function, but f\(x\) has shape \(2,\)"):
        hoad.lagrangian_hessian(lambda x: x, lambda x: x)(x, x)
