"""Object arrays of traced scalars, which `np.array([x[0], x[1]])` makes: NumPy calls the scalars' own arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import by_complex_steps

import hoad

X = np.array([0.5, 1.25, 0.75])

CASES: dict[str, Callable[[Any], Any]] = {
    "returned": lambda x: np.array([x[0], x[1]]),
    "returned, nested": lambda x: np.array([[x[0], 1.0], [x[1] * x[2], 2]]),
    "returned, one": lambda x: np.array([x[0]]),
    "returned, 0-d": lambda x: np.array(x[0] * x[1]),
    "returned, asarray": lambda x: np.asarray([x[2], x[0]]),
    "returned, with constants": lambda x: np.array([x[0], 1, 2.5, np.float64(3), np.int64(4)]),
    "+ number": lambda x: np.array([x[0], x[1]]) + 2,
    "number -": lambda x: 2.5 - np.array([x[0], x[1]]),
    "* itself": lambda x: np.array([x[0], x[1]]) * np.array([x[1], x[2]]),
    "/ plain array": lambda x: np.array([x[0], x[1]]) / np.array([2.0, 4.0]),
    "plain array /": lambda x: np.array([2.0, 4.0]) / np.array([x[0], x[1]]),
    "plain integers -": lambda x: np.array([2, 4]) - np.array([x[0], x[1]]),
    "* traced scalar": lambda x: np.array([x[0], x[1]]) * x[2],
    "traced scalar *": lambda x: x[2] * np.array([x[0], x[1]]),
    "traced scalar /": lambda x: x[2] / np.array([x[0], x[1]]),
    "- traced scalar": lambda x: np.array([x[0], x[1]]) - x[2],
    "** 3": lambda x: np.array([x[0], x[1]]) ** 3,
    "** traced": lambda x: np.array([x[0], x[1]]) ** x[2],
    "2 **": lambda x: 2.0 ** np.array([x[0], x[1]]),
    "negative": lambda x: -np.array([x[0], x[1]]),
    "+ traced array": lambda x: np.array([x[0], x[1], x[2]]) + x,
    "traced array *": lambda x: x * np.array([x[0], x[1], x[2]]),
    "traced array @": lambda x: x @ np.array([x[0], x[1], x[2]]),
    "@ traced array": lambda x: np.array([x[0], x[1], x[2]]) @ x,
    "@": lambda x: np.array([x[0], x[1]]) @ np.array([x[1], x[2]]),
    "matrix @": lambda x: np.array([[x[0], x[1]], [x[1], x[2]]]) @ np.array([x[1], x[2]]),
    "plain matrix @": lambda x: np.array([[1.0, 2.0], [3.0, 4.0]]) @ np.array([x[1], x[2]]),
    "@ plain": lambda x: np.array([x[1], x[2]]) @ np.array([2.0, 3.0]),
    "dot": lambda x: np.dot(np.array([x[1], x[2]]), np.array([2.0, 3.0])),
    "outer": lambda x: np.outer(np.array([x[1], x[2]]), np.array([2.0, 3.0])),
    "sum": lambda x: np.sum(np.array([x[0], x[1]])),
    "sum, axis": lambda x: np.sum(np.array([[x[0], x[1]], [x[2], 1.0]]), axis=0),
    "prod": lambda x: np.prod(np.array([x[0], x[1]])),
    "cumsum": lambda x: np.cumsum(np.array([x[0], x[1], x[2]])),
    "exp": lambda x: np.exp(np.array([x[0], x[1]])),
    "sin": lambda x: np.sin(np.array([x[0], x[1]])),
    "sqrt": lambda x: np.sqrt(np.array([x[0], x[1]])),
    "log": lambda x: np.log(np.array([x[0], x[1]])),
    "tanh": lambda x: np.tanh(np.array([x[0], x[1]])),
    "arctan": lambda x: np.arctan(np.array([[x[0], x[1]]])),
    "expm1": lambda x: np.expm1(np.array([x[0], x[1]])),
    "square": lambda x: np.square(np.array([x[0], x[1]])),
    "reciprocal": lambda x: np.reciprocal(np.array([x[0], x[1]])),
    "transposed": lambda x: np.array([[x[0], x[1]]]).T * 2,
    "indexed": lambda x: np.array([x[0], x[1], x[2]])[[2, 0]],
    "stacked with traced": lambda x: np.stack([np.array([x[0], x[1]]), x[1:]]),
    "concatenated with traced": lambda x: np.concatenate([np.array([x[0], x[1]]), x]),
    "concatenated with plain": lambda x: np.concatenate([np.array([x[0], x[1]]), np.ones(2)]),
    "filled": lambda x: np.full(3, x[0]) * 2.0,
    "assigned into an object array": lambda x: assigned(x) * 2.0,
    "an array of rows": lambda x: np.sum(np.stack([np.array([x[0], 1.0]), np.array([2.0, x[1]])]) ** 2),
    "plain objects": lambda x: np.array([1, 2.5, 3], dtype=object) * x,
    "plain objects, right": lambda x: x + np.array([1, 2.5, 3], dtype=object),
}


def assigned(x: Any) -> Any:
    a = np.empty(2, dtype=object)
    a[0] = x[0]
    a[1] = x[1] * x[2]
    return a


@pytest.mark.parametrize("name", CASES)
def test_object_arrays(name: str) -> None:
    f = CASES[name]

    def plain(x: Any) -> Any:  # complex numbers have no sqrt method either
        return np.asarray(f(x)).astype(complex)

    wanted = (
        by_complex_steps(plain, X)
        if name != "assigned into an object array"
        else np.array([[2.0, 0.0, 0.0], [0.0, 2 * X[2], 2 * X[1]]])
    )
    value, _ = hoad.jvp(f, (X,), (X,))
    np.testing.assert_allclose(value, f(X).astype(float), rtol=1e-15)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(hoad.jacobian(f, mode=mode)(X), wanted, rtol=1e-14, atol=1e-14)


REAL: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "max": (lambda x: np.max(np.array([x[0], x[1]])), [0.0, 1.0, 0.0]),
    "sorted": (lambda x: np.sort(np.array([x[1], x[0]]))[0], [1.0, 0.0, 0.0]),
    "absolute": (lambda x: np.sum(np.abs(np.array([-x[0], x[1]]))), [1.0, 1.0, 0.0]),
    "maximum": (lambda x: np.sum(np.maximum(np.array([x[0], x[1]]), 1.0)), [0.0, 1.0, 0.0]),
    "compared": (lambda x: np.sum((np.array([x[0], x[1]]) > 1.0) * x[:2]), [0.0, 1.0, 0.0]),
    "where": (lambda x: np.sum(np.where(np.array([x[0], x[1]]) > 1.0, x[:2], 0)), [0.0, 1.0, 0.0]),
    "norm": (lambda x: np.linalg.norm(np.array([4 * x[2], 3.2 * x[1]])), [0.0, 2.56, 2.4]),
    "hypot": (lambda x: np.sum(np.hypot(np.array([4 * x[2]]), 3.2 * x[1])), [0.0, 2.56, 2.4]),
    "floor": (lambda x: np.sum(np.floor(np.array([x[0], x[1]])) * x[:2]), [0.0, 1.0, 0.0]),
    "sign": (lambda x: np.sum(np.sign(np.array([x[0], -x[1]])) * x[:2]), [1.0, -1.0, 0.0]),
    "in-place": (lambda x: in_place(x), [3.0, 2.0, 0.0]),
}


def in_place(x: Any) -> Any:
    a = np.array([x[0], x[1]])
    a *= 2
    a += np.array([x[0], 0.0])
    return np.sum(a)


@pytest.mark.parametrize("name", REAL)
def test_object_arrays_with_choices(name: str) -> None:
    f, wanted = REAL[name]
    np.testing.assert_allclose(hoad.grad(f)(X), wanted, rtol=1e-14)


LOUD: dict[str, Callable[[Any], Any]] = {
    "a float has no sqrt method": lambda x: np.sqrt(np.array([x[0], 2.0])),
    "no loop": lambda x: np.logaddexp(np.array([x[0], x[1]]), 1.5),
    "float array of traced": lambda x: np.array([x[0], x[1]], dtype=float),
    "astype": lambda x: np.array([x[0], x[1]]).astype(float),
    "into a float array": lambda x: np.copyto(np.zeros(2), np.array([x[0], x[1]]), casting="unsafe"),
    "det": lambda x: np.linalg.det(np.array([[x[0], x[1]], [x[1], x[2]]])),
}


@pytest.mark.parametrize("name", LOUD)
def test_what_numpy_cannot_do_with_objects_raises(name: str) -> None:
    with pytest.raises(TypeError):
        hoad.jacobian(LOUD[name])(X)


def test_second_derivatives() -> None:
    f = lambda x: np.sum(np.exp(np.array([x[0] * x[1], x[2] ** 2])) ** 2)  # noqa: E731
    g = lambda x: np.exp(2 * x[0] * x[1]) + np.exp(2 * x[2] ** 2)  # noqa: E731
    np.testing.assert_allclose(hoad.hessian(f)(X), hoad.hessian(g)(X), rtol=1e-13)


def test_ragged_and_deep_results_are_refused_or_exact() -> None:
    with pytest.raises(ValueError, match="inhomogeneous"):
        hoad.jacobian(lambda x: np.array([x[0], [x[1]]]))(X)
    deep = hoad.jacobian(lambda x: np.array([[[x[0]], [x[1]]]]))(X)
    assert deep.shape == (1, 2, 1, 3)


@pytest.mark.parametrize("driver", [hoad.jacobian, hoad.jit, hoad.derivative])
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_matrix_of_traced_numbers_is_refused(driver: Any) -> None:
    """Its own `ravel` has two axes, as any matrix has."""
    with pytest.raises(hoad.errors.DTypeError, match=r"arrays of class matrix .*np\.asarray"):
        driver(lambda t: np.matrix([[t, 1.0]]))(0.7)
    assert hoad.grad(lambda t: t * hoad.value(np.matrix([[t, 2.0]])).sum())(1.5) == 3.5
