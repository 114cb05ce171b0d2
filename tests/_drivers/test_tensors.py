"""Derivative tensors, chosen partials, Laplacians: closed forms, polynomials, nested sweeps, mpmath."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import hoad
from hoad._transform.directions import combination, multi_indices, shared
from hoad._transform.expansion import expand
from hoad._transform.expansion_along_lines import Family
from hoad.errors import ArgumentError, DomainError, DTypeError, GuardError, HoadError, ShapeError

RNG = np.random.default_rng(11)
A = RNG.normal(size=(4, 4)) / 2
B = RNG.normal(size=(3, 4)) / 2
X = RNG.uniform(0.2, 0.9, 4)
M = RNG.normal(size=(2, 2, 2))


DRIVERS: dict[str, Callable[[Any], Any]] = {
    "derivative_tensor": lambda f: hoad.derivative_tensor(f, 2),
    "partials": lambda f: hoad.partials(f, [(1, 1)]),
    "laplacian": hoad.laplacian,
    "biharmonic": hoad.biharmonic,
    "hessian_diagonal": hoad.hessian_diagonal,
    "directional_derivative": lambda f: hoad.directional_derivative(f, np.ones(2), np.ones(2)),
}


def relu(x: Any) -> Any:
    return np.where(x > 0.5, x, 0.25 * x)


# Functions of four numbers, with what a family of lines has to know: broadcasting, products of every kind, shapes.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "logsumexp": lambda x: np.log(np.sum(np.exp(A @ x))) + np.sum(x**3),
    "items": lambda x: np.sin(x[0] * x[1]) / (x[2] + x[3] ** 2),
    "perceptron": lambda x: np.tanh(B @ np.tanh(A @ x + 0.1)),
    "outer": lambda x: np.sum(np.exp(x[:, None] * x[None, :2]), axis=1) / np.sqrt(x),
    "matrices": lambda x: np.reshape(x, (2, 2)) @ np.reshape(np.sin(x), (2, 2)),
    "vector matrix": lambda x: x[:2] @ np.reshape(np.exp(x), (2, 2)) @ x[2:],
    "stack of matrices": lambda x: np.sum((M @ np.reshape(x, (2, 2))) @ np.reshape(x * x, (2, 2)) @ M, axis=0),
    "matrix on the right": lambda x: np.reshape(np.cos(x), (2, 2)) @ A[:2, :2] @ x[:2],
    "assembled": lambda x: np.concatenate([np.stack([x[0] * x[1], x[3]]), x[::-2] ** 2, x[[0, 0, 3]]]),
    "cumulated": lambda x: np.cumsum(np.transpose(np.reshape(x**2, (2, 2))), axis=0) / x[0],
    "selected": lambda x: relu(np.sin(3 * x)) * np.maximum(x, 0.5) + np.max(x) ** 2,
    "largest of numbers": lambda x: np.logaddexp(np.maximum(x[0], x[2]), x[0]) * relu(x[1] + 1.0),
    "powers": lambda x: np.prod(x) + np.sum(x**-2) + np.sum(x**1.5) + x[0] ** x[1],
    "powers of sums": lambda x: np.sum((x + np.sin(x)) ** 0.4) * np.sum(x * x) ** -1.5 + (2 + x * x) ** A[0],
    "solve": lambda x: np.linalg.solve(np.reshape(x, (2, 2)) + 3 * np.eye(2), np.sin(x[:2])),
    "quadratic": lambda x: x @ A @ x,
    "linear": lambda x: B @ x,
    "constant": lambda x: np.ones(2) + 0 * np.floor(x[:2]),
    "array of one": lambda x: np.sum(np.arctan(x * x[0]), keepdims=True),
    "strong": lambda x: np.linalg.norm(x) * np.hypot(x[0], x[1]),
}


def nested(f: Callable[[Any], Any], k: int) -> Callable[[Any], Any]:
    for _ in range(k):
        f = hoad.jacobian(f)
    return f


def close(found: Any, want: Any, rtol: float = 1e-11) -> None:
    assert np.shape(found) == np.shape(want)
    assert_allclose(found, want, rtol=0, atol=rtol * max(1.0, float(np.max(np.abs(want), initial=0.0))))


# ---- combinations of coefficients


def determines(found: dict[tuple[int, ...], Fraction], index: tuple[int, ...]) -> bool:
    """Whether Σ w sᵃ/a! is 1 for the index itself and 0 for any other a of its order."""

    def total(a: tuple[int, ...]) -> Fraction:
        factor = math.prod(map(math.factorial, a))
        return (
            sum((w * math.prod(j**i for i, j in zip(a, s, strict=True)) for s, w in found.items()), Fraction(0))
            / factor
        )

    return all(total(a) == (a == index) for a in multi_indices(len(index), sum(index)))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4).filter(lambda a: 0 < sum(a) <= 6))
def test_combination_is_exact(a: list[int]) -> None:
    assert determines(combination(tuple(a)), tuple(a))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=8))
def test_shared_directions_determine_all(indices: list[tuple[int, ...]]) -> None:
    directions, rows = shared(indices)
    assert len(set(directions)) == len(directions)
    for index, row in zip(indices, rows, strict=True):
        if any(index):
            assert determines({directions[k]: w for k, w in row}, index)
        else:
            assert row == []


@pytest.mark.parametrize(
    ("indices", "lines"),
    [
        ([(1, 1)], 2),
        ([(1, 1, 1)], 4),
        ([(5, 0)], 1),
        ([(2, 0), (0, 2)], 2),
        ([(1, 1), (2, 0), (0, 2)], 3),
        ([(4, 0), (2, 0), (1, 0)], 1),
        ([(3, 0), (2, 1), (1, 2), (0, 3), (1, 1), (2, 0)], 4),
    ],
)
def test_directions_are_few(indices: list[tuple[int, ...]], lines: int) -> None:
    assert len(shared(indices)[0]) == lines


# ---- families of lines


@pytest.mark.parametrize("name", FUNCTIONS)
def test_family_is_expansion(name: str) -> None:
    """Beside the expansion of each line by one node."""
    directions = RNG.normal(size=(4, 5))
    weights = RNG.normal(size=5)

    def family(x: Any, collapsed: bool) -> Any:
        return Family(FUNCTIONS[name], [x]).expanded([directions], 4, weights, collapsed)[0]

    want = [expand(FUNCTIONS[name], [X], [line[None]], 4) for line in directions.T]
    found = hoad.record(lambda x: tuple(family(x, False)), X).evaluate(X)
    summed = hoad.record(lambda x: family(x, True)[-1], X).evaluate(X)
    close(found[0], want[0][0])
    for k in range(1, 5):
        close(found[k], np.stack([series[k] for series in want], axis=-1))
    close(summed, sum(w * series[4] for w, series in zip(weights, want, strict=True)))


# ---- tensors


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_tensor_is_nested_jacobian(name: str, k: int) -> None:
    f = FUNCTIONS[name]
    want = nested(f, k)(X)
    close(hoad.derivative_tensor(f, k)(X), want)
    close(hoad.jit(hoad.derivative_tensor(f, k))(X), want)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 4), st.integers(1, 3), st.sampled_from([(), (1,), (2,), (2, 1)]), st.integers(0, 2**32 - 1))
def test_tensor_is_symmetric(k: int, n: int, shape: tuple[int, ...], seed: int) -> None:
    """To the bit; and packed entries are those of sorted indices."""
    c = np.random.default_rng(seed).normal(size=(*shape, n))

    def f(x: Any) -> Any:
        return np.exp(np.sum(c * x, axis=-1) / 2) * np.cos(x[0])

    x = np.linspace(0.1, 0.4, n)
    found = hoad.derivative_tensor(f, k)(x)
    packed = hoad.derivative_tensor(f, k, packed=True)(x)
    assert np.shape(found) == (*shape, *[n] * k)
    assert np.shape(packed) == (*shape, math.comb(n + k - 1, k))
    for at, places in enumerate(itertools.combinations_with_replacement(range(n), k)):
        for order in itertools.permutations(places):
            assert_array_equal(found[(..., *order)], packed[..., at])
    assert_array_equal(hoad.unpack_tensor(packed, n, k), found)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6])
def test_tensor_of_exponential(k: int) -> None:
    """exp(a · x): the k-th power of a, times itself."""
    a = np.array([0.5, -1.0, 0.25])
    x = np.array([0.3, 0.2, -0.4])
    want = np.exp(a @ x)
    for _ in range(k):
        want = np.multiply.outer(want, a)
    close(hoad.derivative_tensor(lambda x: np.exp(a @ x), k)(x), want)
    close(hoad.derivative_tensor(lambda x: np.exp(a @ x) * np.ones(2), k)(x), np.stack([want, want]))


def test_tensor_of_polynomial() -> None:
    """Order 5 of a polynomial of degree 5 is constant; order 6 is zero."""
    f = lambda x: x[0] ** 3 * x[1] * x[2] + 2 * x[1] ** 5  # noqa: E731
    want = np.zeros((3,) * 5)
    for order in set(itertools.permutations((0, 0, 0, 1, 2))):
        want[order] = 6.0
    want[1, 1, 1, 1, 1] = 240.0
    for x in (np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 0.0])):
        assert_allclose(hoad.derivative_tensor(f, 5)(x), want, rtol=0, atol=2e-11)
        assert_allclose(hoad.derivative_tensor(f, 6)(x), 0.0, rtol=0, atol=2e-10)


def test_tensor_against_mpmath() -> None:
    def f(x: Any) -> Any:
        return np.tanh(x[0] * x[1]) / (2 + np.sin(x[0]))

    def exact(u: Any, v: Any) -> Any:
        return mpmath.tanh(u * v) / (2 + mpmath.sin(u))

    x = np.array([0.7, 0.4])
    found = hoad.derivative_tensor(f, 6)(x)
    with mpmath.workdps(60):
        for j in range(7):
            want = float(mpmath.diff(exact, tuple(map(mpmath.mpf, x)), (6 - j, j)))
            assert found[(0,) * (6 - j) + (1,) * j] == pytest.approx(want, rel=1e-11, abs=1e-11 * np.max(np.abs(found)))


def test_shapes() -> None:
    y = np.arange(1.0, 7.0).reshape(2, 3)
    assert_allclose(hoad.derivative_tensor(lambda x: np.sum(x**3), 2)(y), np.diag(6 * y.ravel()).reshape(2, 3, 2, 3))
    assert hoad.derivative_tensor(lambda x: np.exp(x[0]), 2)(y).shape == (3, 2, 3, 2, 3)
    assert hoad.derivative_tensor(np.exp, 3)(0.0) == 1.0
    assert hoad.derivative_tensor(lambda x: x * np.ones(2), 2)(1.0).shape == (2,)
    assert hoad.laplacian(np.exp)(0.0) == 1.0
    assert_allclose(hoad.hessian_diagonal(lambda x: np.sum(x**3, axis=1))(y)[1], [[0, 0, 0], [24, 30, 36]])
    assert_allclose(hoad.laplacian(lambda x: np.sum(x**3, axis=1))(y), 6 * y.sum(axis=1))
    assert_allclose(hoad.unpack_tensor(np.arange(3.0), (2, 1), 2).reshape(2, 2), [[0, 1], [1, 2]])


def test_containers_of_results() -> None:
    f = lambda x: {"a": x[0] * x[1], "b": (np.sin(x), "kept")}  # noqa: E731
    x = np.array([0.5, 2.0])
    found = hoad.derivative_tensor(f, 2)(x)
    assert_allclose(found["a"], [[0, 1], [1, 0]])
    close(found["b"][0], nested(np.sin, 2)(x))
    assert_allclose(hoad.laplacian(f)(x)["b"][0], -np.sin(x))
    assert_allclose(hoad.partials(f, [(0, 0), (1, 1)])(x)["a"], [1.0, 1.0])


def test_arguments_that_are_constant() -> None:
    f = lambda x, a, power: a * np.sum(x**power)  # noqa: E731
    assert_allclose(hoad.laplacian(f)(np.ones(2), 3.0, power=4), 72.0)
    assert_allclose(hoad.derivative_tensor(f, 3)(np.ones(1), 3.0, power=3), [[[18.0]]])


# ---- chosen partials


@pytest.mark.parametrize("name", ["logsumexp", "outer", "matrices", "selected"])
def test_partials_are_entries(name: str) -> None:
    f = FUNCTIONS[name]
    indices = [(1, 1, 1, 0), (0, 0, 0, 0), (2, 0, 0, 1), (1, 0, 0, 0), (0, 3, 0, 0), (1, 1, 1, 0), (0, 0, 2, 0)]
    tensors = [nested(f, k)(X) for k in range(4)]
    want = []
    for a in indices:
        places = tuple(j for j, n in enumerate(a) for _ in range(n))
        want.append(tensors[len(places)][(..., *places)])
    close(hoad.partials(f, indices)(X), np.stack(want))
    close(hoad.jit(hoad.partials(f, indices[:1]))(X), np.stack(want[:1]))


def test_partials_of_polynomial() -> None:
    f = lambda x: x[0] ** 4 * x[1] ** 3 * x[2]  # noqa: E731
    found = hoad.partials(f, [(4, 3, 1), (2, 0, 1), (0, 0, 0), (5, 0, 0)])(np.array([1.0, 2.0, 3.0]))
    assert_allclose(found, [144.0, 96.0, 24.0, 0.0], rtol=0, atol=1e-11)
    assert hoad.partials(f, [])(np.ones(3)).shape == (0,)
    assert_array_equal(hoad.partials(f, [(0, 0, 0)])(np.ones(3)), [1.0])
    assert_allclose(hoad.partials(np.sin, [(3,), (0,)])(0.0), [-1.0, 0.0])


# ---- sums and directions


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sums_are_those_of_tensors(name: str) -> None:
    f = FUNCTIONS[name]
    second = nested(f, 2)(X)
    close(hoad.laplacian(f)(X), np.trace(second, axis1=-2, axis2=-1))
    close(hoad.jit(hoad.laplacian(f))(X), np.trace(second, axis1=-2, axis2=-1))
    close(hoad.hessian_diagonal(f)(X), np.diagonal(second, axis1=-2, axis2=-1))
    u, v = A[0], A[1]
    close(hoad.directional_derivative(f, u)(X), nested(f, 1)(X) @ u)
    close(hoad.directional_derivative(f, u, v)(X), second @ u @ v)
    close(hoad.directional_derivative(f, u, v, u)(X), nested(f, 3)(X) @ u @ v @ u)


@pytest.mark.parametrize("name", ["logsumexp", "perceptron", "outer", "matrices", "selected", "solve"])
def test_biharmonic(name: str) -> None:
    f = FUNCTIONS[name]
    close(hoad.biharmonic(f)(X), np.einsum("...iijj->...", nested(f, 4)(X)), 1e-10)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_closed_forms(n: int) -> None:
    """Powers of the radius: Δ rᵖ = p (p + n - 2) rᵖ⁻²."""
    x = np.linspace(0.5, 1.5, n)
    r = np.sqrt(x @ x)
    assert hoad.laplacian(lambda x: np.linalg.norm(x) ** 3)(x) == pytest.approx(3 * (n + 1) * r, rel=1e-13)
    want = 5 * (n + 3) * 3 * (n + 1) * r
    assert hoad.biharmonic(lambda x: np.linalg.norm(x) ** 5)(x) == pytest.approx(want, rel=1e-12)
    close(hoad.hessian_diagonal(lambda x: np.prod(x) * np.exp(x[0]))(x)[1:], np.zeros(n - 1))


def test_harmonic_function() -> None:
    f = lambda x: np.exp(x[0]) * np.sin(x[1])  # noqa: E731
    assert hoad.laplacian(f)(np.array([0.3, 0.4])) == pytest.approx(0.0, abs=1e-15)


# ---- traced: in other derivatives, in jit and vmap


def sine(x: Any) -> Any:
    return np.sum(np.sin(x) * x[::-1])


def test_first_derivatives_of_what_has_no_series() -> None:
    @hoad.primitive
    def bent(x: Any) -> Any:
        return np.where(x > 0, x**3, x**2)

    @hoad.defvjp(bent, per_call=True)
    def bent_rule(g: Any, p: Any, x: Any) -> Any:
        return (g * (3 * x**2 if np.all(hoad.value(x) > 0) else 2 * x),)

    for x, slope in ((X, 3 * X**2), (-X, -2 * X)):
        assert_allclose(hoad.derivative_tensor(lambda x: np.sum(bent(x)), 1)(x), slope, rtol=1e-15)
        assert_allclose(hoad.derivative_tensor(bent, 1)(x), np.diag(slope), rtol=1e-15)
        packed = hoad.derivative_tensor(bent, 1, packed=True)(np.reshape(x, (2, 2)))
        assert_allclose(packed, np.reshape(np.diag(slope), (2, 2, 4)), rtol=1e-15)
    assert hoad.derivative_tensor(lambda x: bent(x)[:0], 1)(X).shape == (0, 4)


def test_gradients() -> None:
    third, fourth = nested(sine, 3)(X), nested(sine, 4)(X)
    close(hoad.grad(hoad.laplacian(sine))(X), np.einsum("iij->j", third))
    close(hoad.hessian(hoad.laplacian(sine))(X), np.einsum("iijk->jk", fourth))
    close(hoad.jacobian(hoad.derivative_tensor(sine, 2))(X), third)
    close(hoad.jacobian(hoad.hessian_diagonal(sine))(X), np.einsum("iij->ij", third))
    close(hoad.jacobian(hoad.partials(sine, [(1, 0, 0, 1), (0, 2, 0, 0)]))(X), third[[0, 1], [3, 1]])
    close(hoad.grad(hoad.directional_derivative(sine, A[0], A[1]))(X), third @ A[0] @ A[1])
    close(hoad.jit(hoad.grad(hoad.laplacian(sine)))(X), np.einsum("iij->j", third))


def test_gradient_by_what_is_captured() -> None:
    """By parameters and by directions, which are around the function that is expanded."""

    def energy(w: Any, x: Any) -> Any:
        return np.sum(np.tanh(w @ x))

    found = hoad.grad(lambda w: hoad.laplacian(lambda x: energy(w, x))(X))(B)
    step = 1e-6 * RNG.normal(size=B.shape)
    ahead, behind = (hoad.laplacian(lambda x, s=s: energy(B + s * step, x))(X) for s in (1, -1))
    assert np.sum(found * step) == pytest.approx((ahead - behind) / 2, rel=1e-7)
    by_v = hoad.grad(lambda v: hoad.directional_derivative(sine, v, A[0])(X))(A[1])
    close(by_v, nested(sine, 2)(X) @ A[0])


def test_jit_sees_arrays_that_change() -> None:
    w = np.array([1.0, 2.0])
    fast = hoad.jit(hoad.laplacian(lambda x: w @ x**2))
    assert fast(np.ones(2)) == 6.0
    w[0] = 5.0
    assert fast(np.ones(2)) == 14.0


def test_jit_sees_branches() -> None:
    fast = hoad.jit(hoad.laplacian(lambda x: np.sum(x**3) if x[0] > 0 else np.sum(x**2)))
    assert fast(np.array([1.0, 2.0])) == 18.0
    assert fast(np.array([-1.0, 2.0])) == 4.0
    assert fast(np.array([2.0, 2.0])) == 24.0


def test_vmap() -> None:
    points = RNG.uniform(0.2, 0.9, (5, 4))
    for operator in (hoad.laplacian(sine), hoad.derivative_tensor(sine, 3), hoad.hessian_diagonal(sine)):
        close(hoad.vmap(operator)(points), np.stack([operator(x) for x in points]))


def test_singular_points() -> None:
    """Kinks have derivative zero there, and what a branch leaves out does not count."""
    x = np.array([0.0, 2.0])
    assert_allclose(hoad.laplacian(lambda x: np.sum(np.where(x > 1, np.log(np.where(x > 1, x, 1.0)), 0.0)))(x), -0.25)
    assert_allclose(hoad.derivative_tensor(lambda x: np.sum(np.abs(x) * x[1]), 2)(x), [[0, 0], [0, 2]])
    assert_allclose(hoad.hessian_diagonal(lambda x: np.sum(x**3))(x), [0, 12])


SINGULAR: list[Callable[[Any], Any]] = [
    hoad.laplacian,
    hoad.biharmonic,
    hoad.hessian_diagonal,
    lambda f: hoad.directional_derivative(f, np.ones(2), np.ones(2)),
    *[lambda f, k=k: hoad.derivative_tensor(f, k) for k in (1, 3, 13)],
    *[lambda f, a=a: hoad.partials(f, [a]) for a in ((1, 0), (2, 2), (8, 0), (4, 4))],
]


@pytest.mark.parametrize("driver", SINGULAR)
def test_derivatives_that_do_not_exist(driver: Callable[[Any], Any]) -> None:
    x = np.array([0.0, 0.5])

    def f(x: Any) -> Any:
        return np.sum(np.sqrt(x))

    with pytest.raises(DomainError, match=r"the derivative of order 1 of f .* inf, .* at sqrt, .*test_tensors\.py"):
        driver(f)(x)
    with pytest.raises(DomainError):
        driver(lambda x: {"y": np.sqrt(x)})(x)
    assert np.isfinite(driver(f)(x + 0.5)).all()
    lanes = hoad.vmap(driver(f))(
        np.array([[0.0, 0.5], [0.5, 0.5]])
    )  # among others, and inside of others, it is nan or inf
    assert not np.isfinite(lanes[0]).all()
    assert np.isfinite(lanes[1]).all()
    assert not np.isfinite(hoad.jit(driver(f))(x)).all()
    driver(lambda x: np.log(x[0]))(x)  # as for f itself


@pytest.mark.parametrize("name", DRIVERS)
def test_what_is_advised_where_a_derivative_does_not_exist_is_there_to_do(name: str) -> None:
    highest = 4 if name == "biharmonic" else 2
    for power, order in ((0.5, 0), (1.5, 1)):  # the highest order that has a derivative at 0
        with pytest.raises(DomainError, match=f"The highest order that is finite is {order}") as caught:
            DRIVERS[name](lambda x: np.sum(x**power))(np.array([0.0, 0.5]))
        can_ask = name == "derivative_tensor" and order > 0
        assert (f"is {order}. Ask for that one, choose" in str(caught.value)) == can_ask
        assert (f"is {order}, and {name} takes order {highest} here. Choose what" in str(caught.value)) != can_ask

    def chosen(x: Any) -> Any:  # as advised
        return np.sum(np.where(x > 0, np.where(x > 0, x, 1.0) ** 1.5, 0.0))

    assert np.isfinite(DRIVERS[name](chosen)(np.array([0.0, 0.5]))).all()


def test_float32() -> None:
    x = X.astype(np.float32)
    found = hoad.laplacian(sine)(x)
    assert_allclose(found, hoad.laplacian(sine)(X), rtol=1e-5)


def test_function_without_series() -> None:
    """A determinant has none on many lines: one node that expands it line by line."""
    f = lambda x: np.linalg.det(np.reshape(x, (2, 2))) ** 2  # noqa: E731
    close(hoad.derivative_tensor(f, 3)(X), nested(f, 3)(X))
    close(hoad.laplacian(f)(X), np.trace(nested(f, 2)(X)))


@pytest.mark.parametrize("k", [3, 4])
def test_sums_of_what_has_no_coefficient_of_this_order(k: int) -> None:
    """Pieces of a parabola: an adjoint is summed over all items whose coefficients above order 1 are zeros."""
    x = np.array([0.3, -2.0, 0.99])
    for f in (
        lambda s: np.sum(np.maximum(x * (1 + s[0]), 0.0) * s[0]),
        lambda s: np.sum(np.clip(x + s[0], -1, 1) * s[0]),
    ):
        assert not hoad.derivative_tensor(f, k)(np.zeros(1)).any()
        assert hoad.directional_derivative(f, *np.ones((k, 1)))(np.zeros(1)) == 0.0


# ---- errors


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: hoad.derivative_tensor(3.0, 2), ArgumentError, "takes a function"),
        (lambda: hoad.derivative_tensor(np.sin, 0), ArgumentError, "order from 1 to 170, an int, not 0"),
        (lambda: hoad.derivative_tensor(np.sin, 2.0), ArgumentError, "not 2.0"),
        (lambda: hoad.derivative_tensor(np.sin, True), ArgumentError, "not True"),
        (lambda: hoad.derivative_tensor(np.sin, 2)(np.arange(3)), DTypeError, r"x.astype\(float\)"),
        (lambda: hoad.laplacian(np.sin)(1), DTypeError, "Write 1.0"),
        (lambda: hoad.laplacian(np.sin)(1j), DTypeError, "real and imaginary parts"),
        (lambda: hoad.laplacian(np.sin)(np.ones(2, complex)), DTypeError, "complex128"),
        (lambda: hoad.laplacian(lambda x: x["a"])({"a": 1.0}), DTypeError, "hoad.ravel"),
        (lambda: hoad.laplacian(lambda x: "no number")(np.ones(2)), ShapeError, "f returned str"),
        (lambda: hoad.partials(np.sin, [(1, 2)])(np.ones(3)), ShapeError, "2 entries, but x has 3"),
        (lambda: hoad.partials(np.sin, [(1, -2)]), ArgumentError, r"not \(1, -2\)"),
        (lambda: hoad.partials(np.sin, [3]), ArgumentError, "multi-indices"),
        (lambda: hoad.partials(np.sin, [(1.5,)]), ArgumentError, "non-negative integers"),
        (lambda: hoad.directional_derivative(np.sin), ArgumentError, "one direction or more"),
        (lambda: hoad.directional_derivative(np.sin, *[1.0] * 171), ArgumentError, "up to 170 directions"),
        (lambda: hoad.directional_derivative(np.sin, np.ones(2))(np.ones(3)), ShapeError, r"\(2,\), but x has shape"),
        (lambda: hoad.unpack_tensor(np.ones(4), 2, 2), ShapeError, "3 entries along the last axis"),
        (lambda: hoad.unpack_tensor(np.ones(3), 2, 0), ArgumentError, "order of 1 or more"),
        (lambda: hoad.biharmonic(None), ArgumentError, "biharmonic takes a function"),
        (lambda: hoad.hessian_diagonal(2), ArgumentError, "hessian_diagonal takes a function"),
    ],
)
def test_errors(call: Callable[[], Any], error: type[HoadError], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


# ---- high orders ----------------------------------------------------------------------------------------------------


def of_exp_of_product(a: int, b: int, x: float, y: float) -> float:
    """∂ᵃ∂ᵇ exp(x y), by Leibniz' rule."""
    with mpmath.workdps(40):
        terms = [mpmath.binomial(b, j) * mpmath.ff(a, j) * x ** mpmath.mpf(b - j) * y ** mpmath.mpf(a - j)
                 for j in range(min(a, b) + 1)]  # fmt: skip
        return float(mpmath.exp(mpmath.mpf(x) * mpmath.mpf(y)) * mpmath.fsum(terms))


def test_partials_of_high_order_keep_their_digits() -> None:
    def f(x: Any) -> Any:
        return np.exp(x[0] * x[1])

    x = np.array([0.3, 0.4])
    indices = list(itertools.product(range(13), repeat=2))
    exact = np.array([of_exp_of_product(*a, *x) for a in indices])
    assert_allclose(hoad.partials(f, indices)(x), exact, rtol=1e-12)  # along lines (1, 12) was wrong altogether
    some = [(0, 0), (15, 15), (1, 0), (15, 15), (2, 1), (14, 3), (0, 9)]
    exact = np.array([of_exp_of_product(*a, *x) for a in some])
    found = hoad.jit(hoad.partials(lambda x: {"a": f(x), "b": np.stack([f(x), 2 * f(x)])}, some))(x)
    assert_allclose(found["a"], exact, rtol=1e-13)
    assert_allclose(found["b"], exact[:, None] * [1, 2], rtol=1e-13)
    slopes = hoad.grad(lambda x: hoad.partials(f, [(8, 8)])(x)[0])(x)
    assert_allclose(slopes, [of_exp_of_product(9, 8, *x), of_exp_of_product(8, 9, *x)], rtol=1e-13)
    several = hoad.vmap(hoad.partials(lambda x: f(x[:, 0]), [(9, 9)]))(np.stack([x, x])[..., None])
    assert_allclose(several, np.full((2, 1), of_exp_of_product(9, 9, *x)), rtol=1e-13)


def test_partials_of_high_order_in_many_variables() -> None:
    x = np.array([0.1, 0.2, 0.3, 0.4])

    def sine(x: Any) -> Any:
        return np.sin(np.sum(x))

    for a in [(1, 1, 1, 1), (2, 2, 2, 2), (3, 0, 3, 3), (7, 0, 0, 0)]:
        assert_allclose(hoad.partials(sine, [a])(x), [np.sin(1.0 + sum(a) * np.pi / 2)], rtol=1e-13)
    own = [tuple(8 * (i == j) for i in range(4)) for j in range(4)]  # each by itself, and not (8, 8, 8, 8) of them
    assert_allclose(hoad.partials(lambda x: np.exp(np.sum(x**2)), own)(np.zeros(4)), np.full(4, 1680.0), rtol=1e-14)
    assert_allclose(hoad.partials(lambda x: np.linalg.det(np.reshape(x, (2, 2))) ** 4, [(4, 0, 0, 4)])(x), [576.0])


@pytest.mark.parametrize("c", [1e-250, 1e-100, 1e100, 1e250])
def test_scales_do_not_leave_the_range(c: float) -> None:
    x = np.array([0.3, 0.4])
    sums = np.sum(x)
    for f, third in [
        (lambda x: np.log(c * x[0] + c * x[1]), 2.0 / sums**3),
        (lambda x: np.sqrt(c * x[0] + c * x[1]) / np.sqrt(c), 0.375 * sums**-2.5),
        (lambda x: c / (c * np.sum(x)), -6.0 / sums**4),
        (lambda x: np.sum(np.log(np.array([c, 1.0]) * np.sum(x))), 4.0 / sums**3),
    ]:
        for tensor in (hoad.derivative_tensor(f, 3), hoad.jit(hoad.derivative_tensor(f, 3))):
            assert_allclose(tensor(x), np.full((2, 2, 2), third), rtol=1e-13)
        assert_allclose(hoad.partials(f, [(2, 1), (0, 3)])(x), [third, third], rtol=1e-13)
    if 1e-150 < c < 1e150:  # elsewhere its squares have no value
        found = hoad.derivative_tensor(lambda x: np.sqrt(np.sum((c * x) ** 2)) / c, 2)(np.array([0.3, 0.4]))
        assert_allclose(found, np.array([[0.16, -0.12], [-0.12, 0.09]]) / 0.125, rtol=1e-13)
    assert_allclose(hoad.laplacian(lambda x: np.log(c * x[0] ** 2))(x), -2.0 / 0.09, rtol=1e-13)


def logsumexp_of_two(index: tuple[int, int], difference: float) -> float:
    """∂ᵃ log(eˣ + eʸ), which depends on x - y alone: ± the derivatives of the logistic function."""
    with mpmath.workdps(40):
        order = sum(index)
        logistic = mpmath.diff(lambda t: 1 / (1 + mpmath.exp(-t)), difference, order - 1)
        return float((-1) ** index[1] * logistic)


SHIFTS = [0.0, -300.0, -700.0, 300.0, 0.0, 700.0]


def test_replays_scale_by_their_own_sizes() -> None:
    def f(x: Any) -> Any:
        return np.log(np.sum(np.exp(x)))

    x = np.array([1.0, 2.0])
    tensor = hoad.derivative_tensor(f, 6, packed=True)
    want = np.array([logsumexp_of_two((6 - k, k), -1.0) for k in range(7)])
    compiled, mapped = hoad.jit(tensor), hoad.jit(hoad.vmap(tensor))
    chosen = hoad.jit(hoad.partials(f, [(2, 1), (0, 5)]))
    pair = [logsumexp_of_two((2, 1), -1.0), logsumexp_of_two((0, 5), -1.0)]
    for shift in SHIFTS:
        assert_allclose(compiled(x + shift), want, rtol=0, atol=1e-12)
        assert_allclose(chosen(x + shift), pair, rtol=1e-10)
    points = x + np.array(SHIFTS)[:, np.newaxis]
    for _ in range(2):
        assert_allclose(mapped(points), np.tile(want, (len(SHIFTS), 1)), rtol=0, atol=1e-12)
    slopes = hoad.jit(hoad.grad(lambda x: tensor(x)[2]))
    wider = [logsumexp_of_two((5, 2), -1.0), logsumexp_of_two((4, 3), -1.0)]
    for shift in SHIFTS:
        assert_allclose(slopes(x + shift), wider, rtol=0, atol=1e-12)


def test_replays_at_other_sizes_share_recordings() -> None:
    compiled = hoad.jit(hoad.derivative_tensor(lambda x: np.log(np.sum(np.exp(x))), 6))
    for shift in SHIFTS * 3:
        compiled(np.array([1.0, 2.0]) + shift)
    assert [len(signature.recorded) for signature in compiled.signatures] == [2]


def test_programs_tell_of_sizes_that_they_do_not_serve() -> None:
    tensor = hoad.derivative_tensor(lambda x: np.log(np.sum(np.exp(x))), 6, packed=True)
    x = np.array([1.0, 2.0])
    program = hoad.record(tensor, x)
    assert_allclose(program.evaluate(x - 20), program.evaluate(x), rtol=0, atol=1e-12)
    with pytest.raises(GuardError):
        program.evaluate(x - 700)
    at_far = hoad.record(tensor, x - 700)  # one that scales serves all
    assert_allclose(at_far.evaluate(x + 300), program.evaluate(x), rtol=0, atol=1e-12)


@pytest.mark.parametrize("c", [1e-200, 1e-100, 1e100, 1e200])
def test_directions_of_any_size(c: float) -> None:
    v = np.array([c, -2 * c])
    x = np.array([0.5, 0.25]) * c

    def along(v: Any) -> Any:
        return hoad.directional_derivative(lambda x: np.log(x[0]) * x[1], v, v, v)(
            x
        )  # (log x)''' v³ y + 3 (log x)'' v² w

    want = (2 / 0.5**3 * 0.25 + 3 * -1 / 0.5**2 * -2) * c
    compiled = hoad.jit(along)
    assert_allclose([along(v), compiled(v), compiled(v)], want, rtol=1e-13)


@pytest.mark.parametrize(("n", "k"), [(2, 13), (2, 40), pytest.param(3, 13, marks=pytest.mark.slow)])
def test_tensors_of_high_order_keep_their_digits(n: int, k: int) -> None:
    x = np.array([0.3, -0.4, 0.5])[:n]
    indices = multi_indices(n, k)
    with mpmath.workdps(40):
        point = [mpmath.mpf(float(t)) for t in x]
        inverse = float((-1) ** k * mpmath.factorial(k) / (2 + mpmath.fsum(point)) ** (k + 1))
        product = [
            float(
                mpmath.fprod((j + 1) ** a * mpmath.sin((j + 1) * t + a * mpmath.pi / 2) for j, (a, t) in enumerate(at))
            )
            for at in (list(zip(index, point, strict=True)) for index in indices)
        ]

    def waves(x: Any) -> Any:
        return np.prod(np.sin(x * np.arange(1, n + 1)))

    found = hoad.derivative_tensor(lambda x: 1 / (2 + np.sum(x)), k, packed=True)(x)
    assert_allclose(found, np.full(len(indices), inverse), rtol=1e-13)
    for f, of in [(waves, lambda y: y), (lambda x: {"y": np.stack([waves(x), x[0]])}, lambda y: y["y"][0])]:
        tensor = hoad.derivative_tensor(f, k, packed=True)
        for form in (tensor, hoad.jit(tensor)) if n == 2 else (tensor,):
            assert_allclose(of(form(x)), product, rtol=0, atol=1e-13 * np.max(np.abs(product)))


def test_tensors_of_lower_order_lose_few_digits() -> None:
    x = np.array([0.3, 0.4, 0.5])
    for k, lost in [(6, 2e-14), (8, 1e-13), (10, 2e-12), (12, 2e-11)]:
        want = (-1) ** k * math.factorial(k) / (2 + math.fsum(x)) ** (k + 1)
        for f in (lambda x: 1 / (2 + np.sum(x)), lambda x: np.array([1.0]) / (2 + np.sum(x))):
            found = hoad.derivative_tensor(f, k, packed=True)(x)
            assert_allclose(found, np.full_like(found, want), rtol=lost)


def test_whole_tensors_of_high_order() -> None:
    x = np.array([0.25, 0.5])
    whole = hoad.derivative_tensor(lambda x: np.exp(x[0] - x[1]), 14)(x)
    signs = (-1.0) ** np.indices((2,) * 14).sum(axis=0)
    assert_allclose(whole, np.exp(-0.25) * signs, rtol=1e-13)
    assert_array_equal(hoad.derivative_tensor(np.sin, 40)(0.0), np.zeros(()))
    assert hoad.derivative_tensor(lambda x: np.sum(np.exp(x)), 64)(np.zeros(1)).shape == (1,) * 64
    with pytest.raises(ShapeError, match=r"order 65 has 65 axes, .* 64 at most\. .*packed=True"):
        hoad.derivative_tensor(lambda x: np.sum(np.exp(x)), 65)(np.zeros(1))
    with pytest.raises(ArgumentError, match=r"orders to 20 in 4 variables, not 21: .* partials"):
        hoad.derivative_tensor(np.sum, 21)(np.zeros(4))
    with pytest.raises(ArgumentError, match="orders to 12 in 40 variables, not 13"):
        hoad.derivative_tensor(np.sum, 13)(np.zeros(40))


def of_float32(x: Any) -> Any:
    return np.exp(x[0] * x[1])


def of_complex_parts(x: Any) -> Any:
    return np.abs(np.exp((1 + 1j) * x[0] * x[1]))


def of_solve(x: Any) -> Any:
    return np.linalg.solve(np.diag(np.exp(-x * x[::-1])), np.ones(2))[1]


def of_loop(x: Any) -> Any:
    return hoad.scan(lambda s, r: (s * np.exp(r * x[0] * x[1]), s), 1.0, np.array([0.25, 0.75]))[0]


@pytest.mark.parametrize("f", [of_float32, of_complex_parts, of_solve, of_loop])
def test_orders_from_7_on_without_rows_of_series(f: Callable[[Any], Any]) -> None:
    """exp(x y): Σⱼ j! C(a, j) C(b, j) xᵇ⁻ʲ yᵃ⁻ʲ exp(x y)."""

    def exact(a: int, b: int) -> float:
        terms = [
            math.factorial(j) * math.comb(a, j) * math.comb(b, j) * x[0] ** (b - j) * x[1] ** (a - j)
            for j in range(min(a, b) + 1)
        ]
        return math.fsum(terms) * math.exp(x[0] * x[1])

    dtype = np.float32 if f is of_float32 else np.float64
    x = np.array([0.25, 0.5], dtype)
    rtol = 1e-4 if f is of_float32 else 1e-10
    indices = [(4, 4), (7, 0), (3, 5), (9, 9)]
    tensor = hoad.derivative_tensor(f, 13, packed=True)(x)
    close(tensor, [exact(13 - k, k) for k in range(14)], rtol)
    found = hoad.partials(f, indices)(x)
    assert found.dtype == dtype
    assert_allclose(found, [exact(a, b) for a, b in indices], rtol=rtol)


def all_drivers(f: Callable[[Any], Any]) -> list[Callable[[Any], Any]]:
    return [
        hoad.laplacian(f),
        hoad.biharmonic(f),
        hoad.hessian_diagonal(f),
        hoad.directional_derivative(f, np.ones(2), np.ones(2)),
        *[hoad.derivative_tensor(f, k, packed=True) for k in (1, 2, 13)],
        *[hoad.partials(f, [a]) for a in ((1, 0), (2, 2), (4, 4))],
    ]


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("returned", [None, "text", {1.0}, b"", print])
def test_what_f_returned_is_named_where_it_is_no_number(driver: str, returned: Any) -> None:
    with pytest.raises(ShapeError, match=rf"^{driver} needs .*, but f returned {type(returned).__name__}\. Return"):
        DRIVERS[driver](lambda x: returned)(np.ones(2))


@pytest.mark.parametrize("constant", [3, True, np.int64(3), np.array(3), 3.0, np.array([1, 2])])
def test_constants_have_zero_derivatives(constant: Any) -> None:
    x = np.array([1.0, 2.0])
    for driver in all_drivers(lambda x: constant):
        for form in (driver, hoad.jit(driver)):
            assert_array_equal(form(x), np.zeros_like(form(x), dtype=float))
    for k in (1, 5):
        assert hoad.derivative(lambda x: constant, k)(x).tolist() == [0.0, 0.0]
    values = np.broadcast_to(constant, 2).tolist()
    assert hoad.derivatives(lambda x: constant, 2)(x).tolist() == [values, [0.0, 0.0], [0.0, 0.0]]
    coefficients = hoad.taylor(lambda x: constant, x, 1).coefficients
    assert_array_equal(coefficients, [np.asarray(constant, float), np.zeros(np.shape(constant))])


@pytest.mark.parametrize("point", [{"a": np.ones(2)}, [1.0, 2.0], (1.0, 2.0), [np.ones(2)] * 2, None, "x"])
def test_points_that_are_no_arrays(point: Any) -> None:
    for driver in all_drivers(np.sum):
        with pytest.raises(DTypeError, match=rf" takes floats and arrays, but argument 0 is {type(point).__name__}\."):
            driver(point)


def test_empty_points() -> None:
    for driver in all_drivers(np.sum):
        with pytest.raises(ShapeError, match=r" takes an x of one number or more, but it is empty, of shape \(0,\)"):
            driver(np.zeros(0))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_directions_that_are_not_finite(bad: float) -> None:
    v, x = np.array([1.0, bad]), np.ones(2)
    words = rf"takes a direction of finite numbers, but was given one with {bad}, at 1\."
    with pytest.raises(ArgumentError, match=f"directional_derivative {words}"):
        hoad.directional_derivative(np.sum, v)
    with pytest.raises(ArgumentError, match=f"taylor {words}"):
        hoad.taylor(np.sum, x, 2, v)
    with pytest.raises(ArgumentError, match=f"taylor {words}"):
        hoad.taylor(lambda p: np.sum(p["x"]), {"x": x}, 2, {"x": v})


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: hoad.directional_derivative(np.sum, "v"), DTypeError, "a direction must be a float or an array"),
        (lambda: hoad.directional_derivative(np.sum, 1j), DTypeError, "takes real directions"),
        (lambda: hoad.partials(np.sum, 3), ArgumentError, r"a list of multi-indices, \[\(1, 0\), \(2, 1\)\], not 3"),
        (lambda: hoad.partials(np.sum, [(171, 0)]), ArgumentError, r"170 of one variable, but found \(171, 0\)"),
        (lambda: hoad.partials(np.sum, [(150, 150)]), ArgumentError, "a! = a₁! a₂! ... a float"),
        (lambda: hoad.derivative_tensor(np.sum, 171), ArgumentError, "order from 1 to 170"),
        (lambda: hoad.unpack_tensor(np.ones(4), -2, 2), ArgumentError, "no negative numbers"),
        (lambda: hoad.unpack_tensor(np.ones(4), 2.5, 2), ArgumentError, "an int or a tuple of ints, not 2.5"),
        (
            lambda: hoad.taylor(lambda p: np.sqrt(p["x"]), {"x": 0.0}, 2),
            DomainError,
            "the derivative of order 1 of f comes out as inf, where f has a value: at sqrt",
        ),
    ],
)
def test_what_is_refused(call: Callable[[], Any], error: type[HoadError], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_whole_tensors_that_no_memory_holds() -> None:
    with pytest.raises(ShapeError, match="order 10 in 10 variables has 10000000000 entries"):
        hoad.derivative_tensor(lambda x: np.sum(np.exp(x)), 10)(np.zeros(10))
    packed = hoad.derivative_tensor(lambda x: np.sum(x**4), 4, packed=True)(np.ones(10))
    assert packed.size == 715 and sorted(packed)[-10:] == [24.0] * 10


def by_hand(a: int, b: int, p: float, q: float) -> float:
    """∂ᵃ by p and ∂ᵇ by q of q exp(-p q), by Leibniz's rule."""
    with mpmath.workdps(60):
        p, q = mpmath.mpf(p), mpmath.mpf(q)
        terms = (mpmath.binomial(b, i) * mpmath.ff(a + 1, i) * q ** (a + 1 - i) * (-p) ** (b - i) for i in range(b + 1))
        return float((-1) ** a * sum(terms) * mpmath.exp(-p * q))


SIZES = [(101325.0, 1.3e-5), (1e3, 1.7e-3), (3e5, 3e-6), (1e-40, 2.5e40), (1.0, 1.7), (2e40, 1e-41), (0.5, 3.0)]


def test_variables_of_other_sizes() -> None:
    """Pascal and metre: what is combined of lines is scaled by the point, also by that of a replay and of each lane."""

    def f(x: Any) -> Any:
        return x[1] * np.exp(-x[0] * x[1])

    indices = [(3, 3), (1, 1), (2, 1), (1, 0), (0, 2)]
    exact = np.array([[by_hand(*a, *x) for a in indices] for x in SIZES])
    points = np.array(SIZES)
    partials = hoad.partials(f, indices)
    replayed = hoad.jit(partials)
    np.testing.assert_allclose([partials(x) for x in points], exact, rtol=1e-13)
    np.testing.assert_allclose([replayed(x) for x in points], exact, rtol=1e-13)
    np.testing.assert_allclose(hoad.vmap(partials)(points), exact, rtol=1e-13)
    p, q = np.eye(2)
    along = hoad.directional_derivative(f, p, 3.0 * q, p)
    replayed = hoad.jit(along)
    np.testing.assert_allclose([along(x) for x in points], 3.0 * exact[:, 2], rtol=1e-13)
    np.testing.assert_allclose([replayed(x) for x in points], 3.0 * exact[:, 2], rtol=1e-13)
    slopes = hoad.grad(lambda x: hoad.partials(f, [(2, 1)])(x)[0])
    for x in SIZES:
        np.testing.assert_allclose(slopes(np.array(x)), [by_hand(3, 1, *x), by_hand(2, 2, *x)], rtol=1e-12)


def test_multi_indices_from_a_generator_or_an_array() -> None:
    def f(x: Any) -> Any:
        return x[0] ** 3 * x[1]

    given: list[Any] = [((3 - k, k) for k in range(2)), np.array([[3, 0], [2, 1]])]
    for indices in given:
        assert_allclose(hoad.partials(f, indices)(np.array([2.0, 5.0])), [30.0, 12.0], rtol=1e-13)
