"""Operations on arrays in lanes: for all lanes at once they give what they give one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _core.runtime.loops import Step, steps, turn
from _core.runtime.test_bits import SPECIAL, require_bits
from hypothesis import given, settings
from hypothesis import strategies as st

import hoad

RNG = np.random.default_rng(77)
LANES = (1, 2, 9, 127, 128, 129, 300)
M = RNG.normal(size=(4, 4))


def one_by_one(f: Callable[..., Any], rows: Any) -> Any:
    program = hoad.record(f, rows[0])
    return np.stack([program.evaluate(row) for row in rows])


PRODUCTS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "a matrix and a column": (lambda x: M @ x, (4, 1)),
    "a matrix and a vector": (lambda x: M @ x, (4,)),
    "a wide matrix and a vector": (lambda x: M[:2] @ x, (4,)),
    "a row and a matrix": (lambda x: x @ M, (1, 4)),
    "a vector and a matrix": (lambda x: x @ M[:, :3], (4,)),
    "a vector and a vector": (lambda x: M[1] @ x, (4,)),
    "a vector of lanes first": (lambda x: x @ M[1], (4,)),
    "a transposed matrix": (lambda x: M.T @ x, (4, 1)),
    "a matrix and columns": (lambda x: M @ x, (4, 3)),
    "rows and a matrix": (lambda x: x @ M, (3, 4)),
    "matrices of lanes": (lambda x: x @ x, (3, 3)),
    "a column and a row": (lambda x: x @ M[:1], (4, 1)),
    "a row and a column": (lambda x: M[:1] @ x, (4, 1)),
    "a matrix and nothing": (lambda x: M[:, :0] @ x, (0, 2)),
    "stacked matrices": (lambda x: np.stack([M, 2 * M]) @ x, (4, 1)),
    "a product of what is computed": (lambda x: M @ np.sin(M @ np.reshape(x * 2.0, (4, 1))), (4,)),
}


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, lanes: int) -> None:
    f, shape = PRODUCTS[name]
    rows = RNG.normal(size=(lanes, *shape))
    found = hoad.vmap(f)(rows)
    np.testing.assert_allclose(found, np.stack([f(row) for row in rows]), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int64])
def test_products_of_other_numbers(dtype: Any) -> None:
    rows, matrix = (RNG.normal(size=(20, 4)) * 3).astype(dtype), (M * 3).astype(dtype)
    found = hoad.vmap(lambda x: matrix @ x)(rows)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, rows @ matrix.T, rtol=1e-5 if dtype == np.float32 else 1e-13)


V, COLUMN = RNG.normal(size=5), RNG.normal(size=(5, 1))
ELEMENTWISE: dict[str, Callable[[Any], Any]] = {
    "with itself": lambda x: x * x - np.abs(x),
    "a vector on the right": lambda x: (x - V) / (V + 3.0),
    "a vector on the left": lambda x: V * x + (V - x),
    "a number of the lane": lambda x: x * np.sum(x) + V * x[0] - x[1] * V,
    "a number on either side": lambda x: 2.0 / x - x * 3.0,
    "an outer product": lambda x: COLUMN * x + x,
    "one number of an array": lambda x: x[:1] * x[1:2] + V[:1],
    "one number, and all": lambda x: x[:1] * x + np.reshape(x[2:3], (1, 1)) * COLUMN,
    "comparisons": lambda x: np.where(x > V, x, -V) + np.where(x > 0.0, V, x),
    "extremes": lambda x: np.maximum(x, V) - np.minimum(V, x[0]),
    "nothing": lambda x: x[:0] * 2.0 + V[:0],
    "squares": lambda x: (x * x + V) ** 2,
}


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name: str, lanes: int) -> None:
    rows = RNG.normal(size=(lanes, 5))
    require_bits(hoad.vmap(ELEMENTWISE[name])(rows), one_by_one(ELEMENTWISE[name], rows))


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("f", [np.sin, np.exp, np.tanh, np.log, np.arctan], ids=lambda f: f.__name__)
def test_functions(f: Any, lanes: int) -> None:
    """By NumPy's loops or by kernels of ours, as the processor has it: they may differ in the last bits."""
    rows = RNG.uniform(0.5, 3.0, size=(lanes, 5))
    np.testing.assert_allclose(hoad.vmap(lambda x: f(x) * x)(rows), f(rows) * rows, rtol=1e-15)


@pytest.mark.parametrize("f", [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum])
def test_special_values(f: Any) -> None:
    rows = np.repeat(SPECIAL[:, None], len(SPECIAL), axis=1)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(hoad.vmap(lambda x: f(x, SPECIAL))(rows), f(rows, SPECIAL))
        np.testing.assert_array_equal(hoad.vmap(lambda x: f(SPECIAL, x))(rows), f(SPECIAL, rows))
        np.testing.assert_array_equal(hoad.vmap(lambda x: f(x[0], SPECIAL))(rows), f(rows, SPECIAL))


# ---- registers that are used again


@settings(max_examples=40)
@given(steps, st.sampled_from([1, 3, 130]))
def test_registers_are_taken_again_when_they_are_free(program: list[Step], lanes: int) -> None:
    rows = RNG.normal(size=(lanes, 6))

    def f(x: Any) -> Any:
        pairs = np.reshape(x, (2, 3))
        made = turn(program, [x, np.reshape(pairs * 2.0, (6,)), np.reshape(pairs.T, (6,))])
        return made + turn(program, [np.reshape(made, (3, 2)) * 0.5, np.reshape(x, (3, 2))]).reshape(6)

    np.testing.assert_allclose(hoad.vmap(f)(rows), one_by_one(f, rows), rtol=1e-12, atol=1e-12)


def test_a_value_lives_as_long_as_its_other_shapes() -> None:
    def f(x: Any) -> Any:
        y = x * 2.0
        column = np.reshape(y, (4, 1))  # the same memory
        a = x + 1.0
        b = a * a - x
        return b + np.reshape(column, (4,)), y + a

    rows = RNG.normal(size=(50, 4))
    found = hoad.vmap(f)(rows)
    a = rows + 1.0
    require_bits(found[0], (a * a - rows) + rows * 2.0)
    require_bits(found[1], rows * 2.0 + a)


def test_wide_lanes_take_little_memory() -> None:
    """Twenty steps one after the other need a few registers, not twenty."""

    def f(x: Any) -> Any:
        for k in range(20):
            x = np.sin(x) * (0.5 + k)
        return x

    program = hoad.record(f, np.ones(100))
    assert program._lowered([True]).bytes_per_lane <= 4 * 800


# ---- dense derivatives inside a recording


def hessians(f: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    """As a map, replayed elsewhere and back, and in lanes."""
    program = hoad.record(hoad.hessian(f), np.linspace(0.3, 0.7, len(x)))
    assert any(node.operation == "scan" for node in program[-1].nodes)
    return program.evaluate(x), hoad.hessian(f)(x)


A = RNG.normal(size=(12, 12)) / 4
DENSE: dict[str, Callable[[Any], Any]] = {
    "numbers apart, and a product": lambda x: np.log(np.sum(np.exp(A @ x))) + np.sum(x**2 * np.sin(x)),
    "a product of what is apart": lambda x: np.sum(np.exp(A @ (x * x))) + np.sum(np.cos(x) / x),
    "apart twice": lambda x: np.sum(np.tanh(A @ np.sin(x)) * x) + np.sum(np.sqrt(x) * np.exp(-x)),
    "sums of what is apart": lambda x: np.sum(x**3) * np.sum(np.sin(x) * x),
    "in another shape": lambda x: np.sum(np.reshape(x * x, (3, 4)) @ np.exp(np.reshape(x, (4, 3)))),
    "against the order": lambda x: np.sum(x[::-1] ** 2 * np.sin(x)) * np.sum(x),
}


@pytest.mark.parametrize("name", DENSE)
def test_hessians_as_a_map(name: str) -> None:
    found, wanted = hessians(DENSE[name], RNG.uniform(0.2, 1.0, size=12))
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", DENSE)
def test_third_derivatives_as_a_map(name: str) -> None:
    f, x, v = DENSE[name], RNG.uniform(0.2, 1.0, size=12), RNG.normal(size=12)
    weights = RNG.normal(size=(12, 12))
    found = hoad.grad(lambda x: np.sum(hoad.hessian(f)(x) * weights))(x)
    along = np.array(
        [np.sum(weights * (hoad.hessian(f)(x + h) - hoad.hessian(f)(x - h))) / 2e-5 for h in 1e-5 * np.eye(12)]
    )
    np.testing.assert_allclose(found, along, rtol=1e-6, atol=1e-6)
    pushed = hoad.jvp(lambda x: np.sum(hoad.hessian(f)(x) * weights), (x,), (v,))[1]
    np.testing.assert_allclose(pushed, found @ v, rtol=1e-11)


def test_zeros_beside_the_diagonal_are_zeros() -> None:
    """Whatever stands there: the entries that a unit vector lacks are not entries."""

    def f(x: Any) -> Any:
        return np.sum(x**1.5) + np.sum(A @ x) ** 2

    x = np.ones(12)
    x[3] = 0.0
    with np.errstate(all="ignore"):
        found, wanted = hessians(f, x)
    assert np.isinf(wanted[3, 3]) and np.isfinite(np.delete(wanted.ravel(), 3 * 12 + 3)).all()
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_jacobians_of_complex_functions_as_a_map() -> None:
    z = RNG.normal(size=12) + 1j * RNG.normal(size=12)

    def f(z: Any) -> Any:
        return np.real(np.exp(z) * np.conj(z)) + np.abs(A @ z)

    program = hoad.record(lambda z: hoad.jacobian(f)(z), z)
    np.testing.assert_allclose(program.evaluate(z), hoad.jacobian(f)(z), rtol=1e-12, atol=1e-12)
