"""Sparse tensors of derivatives are dense ones without their zeros; functions of ReverseAD's tests, in closed form."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

pytest.importorskip("scipy.sparse")

from _sparse.functions import FUNCTIONS, POINTS, N, rosenbrock, scalar
from rules.modes import along

import hoad

SLOW = ("running product", "product", "norm", "logsumexp")  # dense, by many blocks
NAMES = [name for name in FUNCTIONS if name not in ("masked", "float32")]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_every_family(name: str, k: int) -> None:
    if k == 4 and name in SLOW:
        pytest.skip("dense, and slow")
    f, x = scalar(FUNCTIONS[name]), POINTS[0]
    found = hoad.sparse_derivative_tensor(f, k)(x)
    dense = hoad.derivative_tensor(f, k)(x)
    assert found.shape == dense.shape == (N,) * k
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-11, atol=1e-11 * (1 + abs(dense).max()))
    assert np.all(np.diff(found.indices, axis=0) <= 0)
    assert np.all(np.diff(found.indices.T @ N ** np.arange(k)[::-1]) > 0)


@pytest.mark.parametrize("name", NAMES)
def test_the_derivative_of_a_hessian_along_a_direction(name: str) -> None:
    f, (x, v) = scalar(FUNCTIONS[name]), POINTS
    dense = hoad.derivative_tensor(f, 3)(x) @ v
    derivative = hoad.sparse_hessian_derivative(f)
    pattern = hoad.hessian_pattern(lambda x: hoad.grad(f)(x) @ v)(x)
    plan = derivative.plan(v, x)
    for found in (derivative(x, v), plan(x, v)):
        np.testing.assert_allclose(found.toarray(), dense, rtol=1e-11, atol=1e-11 * (1 + abs(dense).max()))
        assert np.all(pattern.toarray() | (found.toarray() == 0))
    np.testing.assert_array_equal(found.toarray(), found.toarray().T)
    lower = hoad.sparse_hessian_derivative(f, triangle="lower", format="csc")(x, v).toarray()
    np.testing.assert_allclose(lower, np.tril(dense), rtol=1e-11, atol=1e-11 * (1 + abs(dense).max()))


def test_every_mode() -> None:
    """Entries beside nested sweeps in each order of forward and reverse."""
    f, x = FUNCTIONS["minimal surface"], POINTS[1]
    for k in (2, 3, 4):
        found = hoad.sparse_derivative_tensor(f, k)(x)
        for e in range(0, found.nnz, max(found.nnz // 3, 1)):
            units = [(np.eye(N)[i],) for i in found.indices[:, e]]
            for word in itertools.islice(map("".join, itertools.product("fr", repeat=k)), 0, None, 3):
                wanted = along(f, word, units)(x)
                np.testing.assert_allclose(found.values[e], wanted, rtol=1e-10, atol=1e-12)


def test_plans() -> None:
    f = FUNCTIONS["rolled"]
    plan = hoad.sparse_derivative_tensor(f, 3).plan(POINTS[0])
    wanted = hoad.sparse_derivative_tensor(f, 3)(POINTS[1])
    assert plan.shape == (N, N, N)
    assert plan.nnz == wanted.nnz
    np.testing.assert_array_equal(plan.indices, wanted.indices)
    out = np.empty(plan.nnz)
    assert plan.values(POINTS[1], out=out) is out
    np.testing.assert_allclose(out, wanted.values, rtol=1e-14)
    np.testing.assert_allclose(plan(POINTS[1]).toarray(), wanted.toarray(), rtol=1e-14)
    jitted = hoad.jit(hoad.sparse_derivative_tensor(rosenbrock, 3))
    np.testing.assert_allclose(jitted(POINTS[0]).toarray(), hoad.derivative_tensor(rosenbrock, 3)(POINTS[0]))
    again = pickle.loads(pickle.dumps(hoad.sparse_derivative_tensor(rosenbrock, 3).plan(POINTS[0])))
    np.testing.assert_allclose(again.values(POINTS[1]), hoad.sparse_derivative_tensor(rosenbrock, 3)(POINTS[1]).values)


def branched(x: Any) -> Any:
    return np.sum(x[1:] ** 3 * x[:-1]) if x[0] > 0 else np.sum(x[2:] ** 2 * x[:-2] ** 2)


def test_another_branch() -> None:
    x = np.ones(6)
    plan = hoad.sparse_derivative_tensor(branched, 3).plan(x)
    with pytest.raises(hoad.GuardError, match="another branch"):
        plan.values(-x)
    with pytest.warns(hoad.JitWarning, match="another branch"):
        found = plan(-x)
    np.testing.assert_allclose(found.toarray(), hoad.derivative_tensor(branched, 3)(-x))
    np.testing.assert_allclose(plan(x).toarray(), hoad.derivative_tensor(branched, 3)(x))


def test_inside_of_other_derivatives() -> None:
    f, (x, v) = FUNCTIONS["minimal surface"], POINTS
    third = hoad.sparse_derivative_tensor(f, 3)
    found = hoad.jvp(lambda x: third(x).values, (x,), (v,))[1]
    np.testing.assert_allclose(found, (hoad.derivative_tensor(f, 4)(x) @ v)[tuple(third(x).indices)], atol=1e-11)


def test_arguments() -> None:
    with pytest.raises(hoad.ArgumentError, match="order of 1 or more"):
        hoad.sparse_derivative_tensor(rosenbrock, 0)
    with pytest.raises(hoad.ShapeError, match="scalar function"):
        hoad.sparse_derivative_tensor(np.sin, 3)(POINTS[0])
    with pytest.raises(hoad.ShapeError, match="direction v of the shape of x"):
        hoad.sparse_hessian_derivative(rosenbrock)(POINTS[0], np.ones(3))
    with pytest.raises(hoad.ArgumentError, match="but got no v"):
        hoad.sparse_hessian_derivative(rosenbrock)(POINTS[0])
    with pytest.raises(hoad.DTypeError, match=r"the direction v, but got an array of shape .* and dtype complex128"):
        hoad.sparse_hessian_derivative(rosenbrock)(POINTS[0], POINTS[0] * 1j)
    square = hoad.sparse_derivative_tensor(lambda x: np.sum(x**2), 3)(np.ones((2, 3)))
    assert (square.shape, square.nnz) == ((6, 6, 6), 0)
    assert hoad.sparse_derivative_tensor(lambda x: x**5, 4)(2.0).toarray() == pytest.approx(240.0)


def assembled(x: Any) -> Any:
    y = (x + 2) ** 2 - 4 * x - 4
    return y * y / x**-3.0


def of_quotients(x: Any) -> Any:
    square = x / (1.0 / x)
    return square**6 / x**2 / (x * square)


# What ReverseAD's tests/regression differentiates at 1, 2 and 3, by other names for the same power of x.
POWERS: list[tuple[int, Callable[[Any], Any]]] = [
    (1, lambda x: x + x - x),
    (1, lambda x: (x * x) / x),
    (1, lambda x: np.sqrt(x * x)),
    (1, lambda x: (np.sin(x) * np.sin(x) + np.cos(x) * np.cos(x)) * x),
    (1, lambda x: np.arcsin(np.sin(x / 10)) * 10),
    (1, lambda x: np.arccos(np.cos(x / 20)) * 20),
    (1, lambda x: np.arctan(np.sin(x / 10) / np.cos(x / 10)) * 10),
    (1, lambda x: np.exp(2 * np.log(np.sqrt(x)))),
    (1, lambda x: np.power(1.0, x) * x),
    (1, lambda x: np.arcsinh(np.sinh(x))),
    (1, lambda x: np.arccosh(np.cosh(x))),
    (1, lambda x: 20 * np.arctanh(np.tanh(x / 20))),
    (1, lambda x: np.abs(-x)),
    (2, lambda x: (x + 2) * (x - 2) + 4),
    (2, lambda x: (2 * x) / (2 / x)),
    (2, lambda x: np.tan(np.arctan(x * x / 20)) * 20),
    (2, lambda x: np.sqrt(np.log(np.exp(x * x * x * x)))),
    (2, lambda x: np.sqrt(x) ** 4),
    (7, lambda x: x * (x + x - x) * (2 * x) / 2 * np.sqrt(x * x) * np.exp(3.0 * np.log(x))),
    (7, lambda x: np.sqrt(x**7.0 * x**7.0)),
    (7, assembled),
    (7, of_quotients),
]


@pytest.mark.parametrize("row", range(len(POWERS)))
def test_functions_of_one_variable(row: int) -> None:
    """To order 7; the derivatives of the parts that cancel are up to 1e10."""
    power, f = POWERS[row]
    for x in (2.0,) if power < 7 else (3.0,):
        for k in range(1, 8):
            found = hoad.sparse_derivative_tensor(lambda x: np.sum(f(x)), k)(np.array([x])).toarray().item()
            wanted = math.perm(power, k) * x ** (power - k) if k <= power else 0.0
            assert found == pytest.approx(wanted, rel=1e-9, abs=1e-3)


def test_the_error_function() -> None:
    special = pytest.importorskip("scipy.special")
    for k in range(1, 8):
        found = hoad.sparse_derivative_tensor(lambda x: np.sum(special.erf(x)), k)(np.ones(1)).values[0]
        with mpmath.workdps(40):
            wanted = float(mpmath.diff(mpmath.erf, 1, k))
        assert found == pytest.approx(wanted, rel=1e-12)


def test_an_exponential_of_squares() -> None:
    """The example of order 5 there, beside Taylor coefficients with 40 digits."""

    def f(x: Any) -> Any:
        return np.exp(0.25 * ((x[0] + 1) ** 2 + (x[0] * x[0] - x[1]) ** 2))

    x = np.array([0.5, 0.75])
    with mpmath.workdps(40):
        exact = lambda a, b: mpmath.exp(((a + 1) ** 2 + (a * a - b) ** 2) / 4)  # noqa: E731
        for k in range(1, 7):
            found = hoad.sparse_derivative_tensor(f, k)(x)
            for indices, value in zip(found.indices.T, found.values, strict=True):
                orders = (int(np.sum(indices == 0)), int(np.sum(indices == 1)))
                assert value == pytest.approx(float(mpmath.diff(exact, tuple(x.tolist()), orders)), rel=1e-11)


def test_many_variables() -> None:
    """A chain of 1000, whose entries are those of its links, added up."""
    x = np.linspace(0.1, 1, 1000)

    def link(x: Any) -> Any:
        return np.exp(0.1 * (x[0] + 1) ** 2 + 0.1 * (x[0] ** 2 - x[1]) ** 2)

    def chain(x: Any) -> Any:
        return np.sum(np.exp(0.1 * (x[:-1] + 1) ** 2 + 0.1 * (x[:-1] ** 2 - x[1:]) ** 2))

    for k in range(2, 7):
        found = hoad.sparse_derivative_tensor(chain, k)(x)
        assert found.nnz == 1000 * k - (k - 1)
        links = hoad.vmap(hoad.derivative_tensor(link, k))(np.stack([x[:-1], x[1:]], axis=1))
        for e in range(0, found.nnz, 97):
            indices = found.indices[:, e]
            wanted = 0.0
            for first in {indices[-1], indices[0] - 1} if indices[0] > indices[-1] else {indices[0] - 1, indices[0]}:
                places = indices - first
                if 0 <= first < 999 and places.min() >= 0 and places.max() <= 1:
                    wanted += links[first][tuple(places)]
            assert found.values[e] == pytest.approx(wanted, rel=1e-11)
