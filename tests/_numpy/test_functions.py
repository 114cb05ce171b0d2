"""NumPy's functions and methods on traced values: values as NumPy's, derivatives as an oracle's."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import assert_same, check

import hoad

S = 0.7
V = np.array([0.5, -1.25, 2.0])
W = np.array([1.5, 0.25, -0.75])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
N = np.array([[2.0, 0.5], [-1.0, 1.5], [0.25, 3.0]])
A = np.array([[3.0, 0.5, -1.0], [0.25, 2.0, 0.75], [1.0, -0.5, 4.0]])
T = np.arange(24.0).reshape(2, 3, 4) / 7 - 1.5
EMPTY = np.zeros((0, 3))
POSITIVE = np.array([[0.5, 1.25, 2.0], [0.1, 3.0, 0.7]])

CLIPS_BY_KEYWORDS = "min" in inspect.signature(np.clip).parameters  # since NumPy 2.1

Case = tuple[str, Callable[[Any], Any], Any]

SHAPING: list[Case] = [
    ("reshape", lambda x: np.reshape(x, (3, 2)), M),
    ("reshape, int", lambda x: np.reshape(x, 6), M),
    ("reshape, unknown", lambda x: np.reshape(x, (-1, 2)), M),
    ("reshape, list", lambda x: np.reshape(x, [2, 3]), np.ones(6)),
    ("reshape, F", lambda x: np.reshape(x, (3, 2), order="F"), M),
    ("reshape, F, 3-d", lambda x: np.reshape(x, (4, 6), order="F"), T),
    ("reshape to ()", lambda x: np.reshape(x, ()), np.ones((1, 1))),
    ("reshape of ()", lambda x: np.reshape(x, (1, 1)), np.array(S)),
    ("reshape, numpy integers", lambda x: np.reshape(x, (np.int64(3), np.int8(2))), M),
    ("reshape, empty", lambda x: np.reshape(x, (3, 0)), EMPTY),
    ("x.reshape(3, 2)", lambda x: x.reshape(3, 2), M),
    ("x.reshape((3, 2))", lambda x: x.reshape((3, 2)), M),
    ("x.reshape(-1)", lambda x: x.reshape(-1), M),
    ("x.reshape, F", lambda x: x.reshape(3, 2, order="F"), M),
    ("ravel", np.ravel, M),
    ("ravel, F", lambda x: np.ravel(x, order="F"), M),
    ("x.ravel()", lambda x: x.ravel(), T),
    ("x.ravel(F)", lambda x: x.ravel("F"), T),
    ("x.flatten()", lambda x: x.flatten(), M),
    ("x.flatten(F)", lambda x: x.flatten(order="F"), M),
    ("ravel of ()", np.ravel, np.array(S)),
    ("transpose", np.transpose, M),
    ("transpose, axes", lambda x: np.transpose(x, (2, 0, 1)), T),
    ("transpose, negative axes", lambda x: np.transpose(x, (-1, 0, -2)), T),
    ("x.T", lambda x: x.T, M),
    ("x.T of a vector", lambda x: x.T, V),
    ("x.T.T", lambda x: x.T.T, T),
    ("x.mT", lambda x: x.mT, T),
    ("x.transpose()", lambda x: x.transpose(), T),
    ("x.transpose(1, 0, 2)", lambda x: x.transpose(1, 0, 2), T),
    ("x.transpose((1, 0, 2))", lambda x: x.transpose((1, 0, 2)), T),
    ("swapaxes", lambda x: np.swapaxes(x, 0, -1), T),
    ("x.swapaxes", lambda x: x.swapaxes(1, 2), T),
    ("broadcast_to", lambda x: np.broadcast_to(x, (4, 2, 3)), M),
    ("broadcast_to, stretched", lambda x: np.broadcast_to(x, (2, 4, 3)), np.ones((2, 1, 3))),
    ("broadcast_to, number", lambda x: np.broadcast_to(x, (2, 2)), np.array(S)),
    ("broadcast_to, int", lambda x: np.broadcast_to(x, 3), np.array(S)),
    ("broadcast_to, empty", lambda x: np.broadcast_to(x, (0, 3)), V),
    ("expand_dims", lambda x: np.expand_dims(x, 1), M),
    ("expand_dims, last", lambda x: np.expand_dims(x, -1), M),
    ("expand_dims, several", lambda x: np.expand_dims(x, (0, 2)), M),
    ("squeeze", np.squeeze, np.ones((1, 3, 1))),
    ("squeeze, axis", lambda x: np.squeeze(x, axis=0), np.ones((1, 3, 1))),
    ("squeeze, axes", lambda x: np.squeeze(x, axis=(0, -1)), np.ones((1, 3, 1))),
    ("squeeze to ()", np.squeeze, np.ones((1, 1))),
    ("x.squeeze()", lambda x: x.squeeze(), np.ones((1, 3, 1))),
    ("copy", np.copy, M),
    ("x.copy()", lambda x: x.copy(), M),
]

JOINING: list[Case] = [
    ("concatenate", lambda x: np.concatenate([x, 2 * x]), V),
    ("concatenate, tuple", lambda x: np.concatenate((x, x, x)), V),
    ("concatenate, axis 1", lambda x: np.concatenate([x, x * x], axis=1), M),
    ("concatenate, axis -1", lambda x: np.concatenate([x, x * x], -1), T),
    ("concatenate, flat", lambda x: np.concatenate([x, x[0]], axis=None), M),
    ("concatenate, with plain", lambda x: np.concatenate([np.ones(2), x, np.zeros(1)]), V),
    ("concatenate, with integers", lambda x: np.concatenate([[1, 2], x]), V),
    ("concatenate, with empty", lambda x: np.concatenate([x[:0], x]), V),
    ("concatenate of one", lambda x: np.concatenate([x]), V),
    ("concatenate of many", lambda x: np.concatenate([x[i : i + 1] for i in range(3)] * 20), V),
    ("stack", lambda x: np.stack([x, x**2]), V),
    ("stack, axis 1", lambda x: np.stack([x, x**2], axis=1), M),
    ("stack, axis -1", lambda x: np.stack([x, x**2], axis=-1), M),
    ("stack of numbers", lambda x: np.stack([x[0], x[2], x[0] * x[1]]), V),
    ("stack, number and constant", lambda x: np.stack([x[0], 2.0, x[1]]), V),
    ("stack, with plain", lambda x: np.stack([x, np.ones(3)]), V),
    ("stack, generator in a list", lambda x: np.stack([y * y for y in x]), M),
    ("array(like=)", lambda x: np.array([x[0], x[1], 2.0], like=x), V),
    ("array(like=), nested", lambda x: np.array([[x[0], 1.0], [x[1] * x[2], 0.0]], like=x), V),
    ("array(like=), rows", lambda x: np.array([x[0], x[1] * 2], like=x), M),
    ("asarray(like=)", lambda x: np.asarray([x[1], x[0]], like=x), V),
    ("zeros_like", lambda x: np.zeros_like(x) + x, M),
    ("ones_like", lambda x: np.ones_like(x) * x, M),
    ("full_like", lambda x: np.full_like(x, 3.0) * x, M),
    ("empty_like", lambda x: np.isnan(np.empty_like(x)) * 0.0 + x, V),
    ("full_like, traced fill", lambda x: np.full_like(x, x[0] * 2), V),
    ("zeros(like=)", lambda x: np.zeros(3, like=x) + x, V),
    ("ones(like=)", lambda x: np.ones((2, 3), like=x) * x, V),
    ("full(like=)", lambda x: np.full((2, 2), x[0], like=x), V),
    ("zeros_like, shape", lambda x: np.zeros_like(x, shape=(2, 3)) + x, V),
]

REDUCTIONS: list[Case] = [
    (f"{name}, axis={axis}, keepdims={keepdims}", lambda x, f=f, a=axis, k=keepdims: f(x, axis=a, keepdims=k), T)
    for name, f in (("sum", np.sum), ("mean", np.mean))
    for axis in (None, 0, 1, -1, (0, 2), (1, 0), (), (0, 1, 2))
    for keepdims in (False, True)
]
REDUCTIONS += [
    ("sum, positional axis", lambda x: np.sum(x, 1), M),
    ("x.sum()", lambda x: x.sum(), M),
    ("x.sum(0)", lambda x: x.sum(0), M),
    ("x.sum(axis, keepdims)", lambda x: x.sum(axis=1, keepdims=True), M),
    ("x.mean(1)", lambda x: x.mean(1), M),
    ("x.mean()", lambda x: x.mean(), T),
    ("sum of a number", np.sum, np.array(S)),
    ("sum of nothing", np.sum, EMPTY),
    ("sum of nothing, axis 0", lambda x: np.sum(x, axis=0), EMPTY),
    ("sum of nothing, axis 1", lambda x: np.sum(x, axis=1), EMPTY),
    ("sum of a list", lambda x: np.sum([x[0], x[1]]), V),
    ("prod", np.prod, V),
    ("prod, axis 0", lambda x: np.prod(x, axis=0), M),
    ("prod of nothing", np.prod, EMPTY),
    ("x.prod()", lambda x: x.prod(), M),
    ("prod with a zero", np.prod, np.array([0.0, 2.0, 3.0])),
    ("prod with two zeros", np.prod, np.array([0.0, 2.0, 0.0])),
    ("add.reduce", np.add.reduce, M),
    ("add.reduce, all", lambda x: np.add.reduce(x, axis=None), M),
    ("multiply.reduce", np.multiply.reduce, M),
    ("sum of integers that came of x", lambda x: np.sum(np.array([1, 2])) * x, V),
]

CHOICES: list[Case] = [
    ("max", np.max, M),
    ("max, axis", lambda x: np.max(x, axis=0), M),
    ("max, axis, keepdims", lambda x: np.max(x, axis=-1, keepdims=True), T),
    ("max, axes", lambda x: np.max(x, axis=(0, 2)), T),
    ("amax", np.amax, M),
    ("min", np.min, M),
    ("min, axis", lambda x: np.min(x, axis=1), M),
    ("amin, axes", lambda x: np.amin(x, axis=(1, 2)), T),
    ("x.max(0)", lambda x: x.max(0), M),
    ("x.min()", lambda x: x.min(), M),
    ("maximum.reduce", np.maximum.reduce, M),
    ("minimum.reduce, axis", lambda x: np.minimum.reduce(x, axis=1), M),
    ("maximum", lambda x: np.maximum(x, 0.3), M),
    ("minimum of arrays", lambda x: np.minimum(x, x[::-1] * 2), M),
    ("where", lambda x: np.where(x > 0.3, x**2, -x), M),
    ("where, plain condition", lambda x: np.where(np.array([True, False, True]), x, x * x), M),
    ("where, broadcast", lambda x: np.where(x[:, :1] > 0, x, 1.0), M),
    ("where, numbers", lambda x: np.where(x > 0, 1.0, 0.0) * x, M),
    ("where, floats as condition", lambda x: np.where(np.array([0.0, 2.0, -1.0]), x, 0), V),
    ("where of a number", lambda x: np.where(x > 0, x * x, x), np.array(S)),
    ("clip", lambda x: np.clip(x, -0.5, 1.0), M),
    ("clip, one side", lambda x: np.clip(x, None, 1.0), M),
    *([("clip, keywords", lambda x: np.clip(x, min=-0.5, max=1.0), M)] if CLIPS_BY_KEYWORDS else []),
    ("clip, traced bound", lambda x: np.clip(x, x[0, 1], x[1, 0]), M),
    ("x.clip", lambda x: x.clip(-0.5, 1.0), M),
    ("x.clip(max=)", lambda x: x.clip(max=1.0), M),
    ("abs", np.abs, M),
    ("round", lambda x: np.round(x, 1) + x, M / 0.83),
    ("x.round()", lambda x: x.round() + x, M / 0.83),
    ("float to int and back", lambda x: x.astype(int).astype(float) + x, M / 0.83),
    ("x.real", lambda x: 2 * x.real, M),
    ("x.imag", lambda x: x + x.imag, M),
    ("x.conj()", lambda x: x.conj(), V),
]

PRODUCTS: list[Case] = [
    ("dot of vectors", lambda x: np.dot(x, W), V),
    ("dot with itself", lambda x: np.dot(x, x), V),
    ("dot, matrix and vector", lambda x: np.dot(M, x), V),
    ("dot of matrices", lambda x: np.dot(x, N), M),
    ("dot with a number", lambda x: np.dot(x, 2.0), M),
    ("x.dot(y)", lambda x: x.dot(N), M),
    ("matmul of vectors", lambda x: x @ W, V),
    ("matmul, reflected", lambda x: M @ x, V),
    ("matmul, vector and matrix", lambda x: x @ N, V),
    ("matmul of matrices", lambda x: x @ N, M),
    ("matmul, x.T @ x", lambda x: x.T @ x, M),
    ("matmul, stacks", lambda x: x @ np.ones((2, 4, 3)), T),
    ("matmul, stack and matrix", lambda x: x @ np.ones((4, 2)), T),
    ("matmul, stack and vector", lambda x: x @ np.arange(4.0), T),
    ("matmul, vector and stack", lambda x: x @ T, V),
    ("matmul, broadcast stacks", lambda x: np.matmul(x, np.ones((5, 1, 4, 2))), T),
    ("matmul with a list", lambda x: x @ [1.0, 2.0, 3.0], M),
    ("matmul, list on the left", lambda x: [1.0, 2.0] @ x, M),
    ("matmul with integers", lambda x: x @ np.array([[1, 2], [3, 4], [5, 6]]), M),
    ("matmul, nothing inside", lambda x: x @ np.zeros((0, 2)), np.zeros((3, 0))),
    ("matmul, nothing outside", lambda x: x @ np.ones((3, 2)), EMPTY),
    ("outer", lambda x: np.outer(x, W), V),
    ("outer with itself", lambda x: np.outer(x, x), V),
    ("outer of matrices", lambda x: np.outer(x, N), M),
    ("outer of numbers", lambda x: np.outer(x, 2.0), np.array(S)),
    ("multiply.outer", lambda x: np.multiply.outer(x, N), V),
    ("multiply.outer, number", lambda x: np.multiply.outer(3.0, x), V),
    ("add.outer, reflected", lambda x: np.add.outer([1, 2], x), V),
]

# Small matrices are not LAPACK's: what they give is rounded otherwise.
ALGEBRA: list[Case] = [
    ("solve for a vector", lambda x: np.linalg.solve(x, V), A),
    ("solve for a matrix", lambda x: np.linalg.solve(x, N), A),
    ("solve, right side", lambda x: np.linalg.solve(A, x), V),
    ("solve, right side, matrix", lambda x: np.linalg.solve(A, x), N),
    ("solve, stack", lambda x: np.linalg.solve(x, np.ones((2, 3, 1))), np.stack([A, A.T])),
    ("solve, both", lambda x: np.linalg.solve(x, x @ N), A),
    ("inv", np.linalg.inv, A),
    ("inv, stack", np.linalg.inv, np.stack([A, A.T])),
    ("det", np.linalg.det, A),
    ("det, stack", np.linalg.det, np.stack([A, A.T])),
    ("det of nothing", np.linalg.det, np.zeros((0, 0))),
]

NORMS: list[Case] = [
    ("norm of a vector", np.linalg.norm, V),
    ("norm of a matrix", np.linalg.norm, M),
    ("norm of a 3-d array", np.linalg.norm, T),
    ("norm, fro", lambda x: np.linalg.norm(x, "fro"), M),
    ("norm 1", lambda x: np.linalg.norm(x, 1), V),
    ("norm 2", lambda x: np.linalg.norm(x, 2), V),
    ("norm 3", lambda x: np.linalg.norm(x, 3), V),
    ("norm inf", lambda x: np.linalg.norm(x, np.inf), V),
    ("norm -inf", lambda x: np.linalg.norm(x, -np.inf), V),
    ("norm, axis", lambda x: np.linalg.norm(x, axis=1), M),
    ("norm, axis, keepdims", lambda x: np.linalg.norm(x, axis=0, keepdims=True), M),
    ("norm, keepdims", lambda x: np.linalg.norm(x, keepdims=True), M),
    ("norm, axes", lambda x: np.linalg.norm(x, axis=(0, 2)), T),
    ("matrix norm 1", lambda x: np.linalg.norm(x, 1), M),
    ("matrix norm -inf", lambda x: np.linalg.norm(x, -np.inf), M),
    ("matrix norm inf, axes", lambda x: np.linalg.norm(x, np.inf, axis=(1, 2)), T),
    ("vector_norm", np.linalg.vector_norm, M),
    ("vector_norm, keepdims", lambda x: np.linalg.vector_norm(x, ord=3, keepdims=True), M),
    ("vector_norm, axis", lambda x: np.linalg.vector_norm(x, axis=1, ord=1), M),
    ("matrix_norm", np.linalg.matrix_norm, T),
]

SIGNED: list[Case] = [
    ("slogdet", lambda x: np.linalg.slogdet(x)[1], A),
    ("slogdet, field", lambda x: np.linalg.slogdet(x).logabsdet, -A),
    ("slogdet, sign", lambda x: np.linalg.slogdet(x)[0] * x, A),
]

# What NumPy computes in another order: its own loops for dot of many dimensions, a product from left to right.
ROUNDED = [
    ("dot, 3-d and 2-d", lambda x: np.dot(x, np.ones((4, 2))), T),
    ("dot, 3-d and 1-d", lambda x: np.dot(x, np.arange(4.0)), T),
    ("dot, 3-d and 3-d", lambda x: np.dot(T, x), np.ones((2, 4, 2))),
    ("dot, 2-d and 3-d", lambda x: np.dot(x, np.ones((2, 3, 2))), M),
    ("prod, axis -1", lambda x: np.prod(x, axis=-1, keepdims=True), T),
    ("prod, axes", lambda x: np.prod(x, axis=(0, 2)), T),
]

# By another routine of LAPACK than NumPy's.
ROUNDED_REAL: list[Case] = [
    ("matrix norm 2", lambda x: np.linalg.norm(x, 2), M),
    ("matrix norm -2, axes, keepdims", lambda x: np.linalg.norm(x, -2, axis=(2, 0), keepdims=True), T**2),
    ("nuclear norm", lambda x: np.linalg.norm(x, "nuc"), M),
    ("matrix_norm, nuc", lambda x: np.linalg.matrix_norm(x, ord="nuc"), M),
    ("cond", np.linalg.cond, A),
    ("cond, -2", lambda x: np.linalg.cond(x, -2), A),
    ("cond, 1", lambda x: np.linalg.cond(x, 1), A),
]

ANALYTIC = SHAPING + JOINING + REDUCTIONS + PRODUCTS
REAL = CHOICES + NORMS


def named(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("f", "x"), [case[1:] for case in cases], ids=[case[0] for case in cases])


@named(ANALYTIC)
def test_analytic_functions(f: Callable[[Any], Any], x: Any) -> None:
    check(f, x)


@named(ROUNDED + ALGEBRA)
def test_analytic_functions_in_another_order(f: Callable[[Any], Any], x: Any) -> None:
    check(f, x, exact=False)


@named(REAL)
def test_real_functions(f: Callable[[Any], Any], x: Any) -> None:
    check(f, x, analytic=False)


@named(ROUNDED_REAL + SIGNED)
def test_real_functions_by_another_routine(f: Callable[[Any], Any], x: Any) -> None:
    check(f, x, analytic=False, exact=False)


@named(
    [
        case
        for case in ANALYTIC + ROUNDED + REAL
        if not case[0].startswith("float to") and np.ndim(case[2]) > 1 and np.size(case[2])
    ]
)
def test_memory_order_does_not_matter(f: Callable[[Any], Any], x: Any) -> None:
    """A Fortran-ordered, a strided and a reversed argument give what a contiguous one gives."""
    wide = np.full(tuple(2 * n for n in x.shape), np.nan)
    every_other = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    every_other[...] = x
    backwards = x[::-1].copy()[::-1]
    wanted = hoad.jacobian(f)(x)
    for y in (np.asfortranarray(x), every_other, backwards):
        np.testing.assert_allclose(hoad.jacobian(f)(y), wanted, rtol=1e-13, atol=1e-13)


def test_methods_and_properties_of_shape() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.append((x.shape, x.ndim, x.size, len(x), x.dtype, x.itemsize, x.nbytes))
        seen.append((np.shape(x), np.ndim(x), np.size(x), np.size(x, 1)))
        return np.sum(x)

    hoad.grad(f)(M)
    assert seen == [((2, 3), 2, 6, 2, np.dtype(float), 8, 48), ((2, 3), 2, 6, 3)]


def test_iteration_is_over_the_first_axis() -> None:
    rows: list[Any] = []

    def f(x: Any) -> Any:
        rows.extend(row.shape for row in x)
        return sum(np.sum(row) * k for k, row in enumerate(x))

    np.testing.assert_array_equal(hoad.grad(f)(M), [[0, 0, 0], [1, 1, 1]])
    assert rows == [(3,), (3,)]


SHAPES_THAT_DO_NOT_FIT: list[tuple[str, Callable[[Any], Any], str]] = [
    ("add", lambda x: x + np.ones(5), r"np\.add cannot broadcast the shapes \(2, 3\) and \(5,\)"),
    ("reflected", lambda x: np.ones(5) * x, r"np\.multiply cannot broadcast the shapes \(5,\) and \(2, 3\)"),
    ("reshape", lambda x: np.reshape(x, (4, 2)), r"cannot reshape an array of shape \(2, 3\) into \(4, 2\)"),
    ("reshape, two unknown", lambda x: x.reshape(-1, -1), "cannot reshape"),
    ("reshape, unknown that does not divide", lambda x: x.reshape(-1, 4), "cannot reshape"),
    ("matmul", lambda x: x @ np.ones(2), r"matmul of shapes \(2, 3\) and \(2,\)"),
    ("matmul with a number", lambda x: np.matmul(x, np.float64(2.0)), "matmul needs at least one dimension"),
    (
        "broadcast_to",
        lambda x: np.broadcast_to(x, (2, 4)),
        r"cannot broadcast shape \(2, 3\) to \(2, 4\)|shape mismatch",
    ),
    ("concatenate", lambda x: np.concatenate([x, np.ones((2, 2))]), "cannot concatenate shapes"),
    ("stack", lambda x: np.stack([x, x[0]]), "cannot stack shapes"),
    ("solve", lambda x: np.linalg.solve(x, V), "square"),
    ("inv", np.linalg.inv, "square"),
    ("det", np.linalg.det, "square"),
    ("squeeze", lambda x: np.squeeze(x, axis=0), "cannot squeeze|cannot select an axis to squeeze"),
    ("transpose, out of range", lambda x: np.transpose(x, (0, 5)), "axis 5 is out of bounds|do not fit"),
    ("swapaxes, out of range", lambda x: np.swapaxes(x, 0, 5), "axis 5 is out of bounds|do not fit"),
    ("norm, out of range", lambda x: np.linalg.norm(x, axis=5), "axis 5 is out of bounds"),
    ("norm, axes out of range", lambda x: np.linalg.norm(x, axis=(0, 2)), "axis 2 is out of bounds|out of bounds"),
    ("concatenate, out of range", lambda x: np.concatenate([x, x], axis=2), "axis 2 is out of bounds"),
    ("stack, out of range", lambda x: np.stack([x, x], axis=4), "axis 4 is out of bounds"),
    ("max, out of range", lambda x: np.max(x, axis=-3), "axis -3 is out of bounds"),
    ("transpose", lambda x: np.transpose(x, (0, 0)), "do not fit|repeated axis"),
    ("sum", lambda x: np.sum(x, axis=2), "axis 2 is out of bounds"),
    ("sum, twice", lambda x: np.sum(x, axis=(0, 0)), "duplicate"),
    ("expand_dims", lambda x: np.expand_dims(x, 4), "axis 4 is out of bounds"),
    ("max of nothing", lambda x: np.max(x[:0]), "zero-size array"),
    ("where", lambda x: np.where(x > 0, x, np.ones(4)), "broadcast"),
]


@pytest.mark.parametrize(
    ("f", "message"), [c[1:] for c in SHAPES_THAT_DO_NOT_FIT], ids=[c[0] for c in SHAPES_THAT_DO_NOT_FIT]
)
def test_shapes_that_do_not_fit(f: Callable[[Any], Any], message: str) -> None:
    """NumPy raises ValueError (or a subclass); so does hoad, and says which shapes met."""
    with pytest.raises((ValueError, np.linalg.LinAlgError)):
        f(M)
    with pytest.raises((ValueError, np.linalg.LinAlgError), match=message):
        hoad.jacobian(f)(M)


def test_singular_matrices_raise_as_numpy_does() -> None:
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    for f in (np.linalg.inv, lambda x: np.linalg.solve(x, np.ones(2))):
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            hoad.jacobian(f)(singular)
    assert hoad.grad(np.linalg.det)(singular) == pytest.approx(np.array([[4.0, -2.0], [-2.0, 1.0]]))


UNRULED: list[tuple[str, Callable[[Any], Any]]] = [
    ("np.less.reduce", np.less.reduce),
]


@pytest.mark.parametrize(("name", "f"), UNRULED, ids=[c[0] for c in UNRULED])
def test_functions_without_a_rule_say_so(name: str, f: Callable[[Any], Any]) -> None:
    with pytest.raises(hoad.NoRuleError, match=name.replace(".", r"\.") + r" has no derivative rule") as caught:
        hoad.jacobian(f)(A)
    assert re.search(r"eclare one with @hoad\.defvjp|ive it ", str(caught.value))
    assert "hoad.value(x)" in str(caught.value)
    assert isinstance(caught.value, NotImplementedError)
    assert isinstance(caught.value, hoad.HoadError)


def test_keepdims_of_a_plain_argument_is_untouched() -> None:
    """Nothing of NumPy is replaced: plain arrays take NumPy's own road."""
    assert_same(np.sum(M, axis=0, keepdims=True), np.array([[2.0, -0.75, 1.25]]))
    assert type(np.sum(M)) is np.float64


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: x.max(foo=1), "max"),
        (lambda x: x.argmin(foo=1), "argmin"),
        (lambda x: x.sum(foo=1), "sum"),
        (lambda x: x.cumsum(foo=1), "cumsum"),
    ],
)
def test_an_argument_that_there_is_not_names_the_method(f: Any, name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'foo'"):
        hoad.grad(f)(np.ones(3))
