"""What reads one triangle of a matrix: where the other is another, and where it is equal at the recorded point."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import hoad
from hoad.scipy import linalg

EYE = np.eye(3)
LOWER = np.tri(3, k=-1)


def _written(x: Any) -> Any:
    a = np.zeros((2, 2), like=x)
    a[0, 0] = 2.0
    a[1, 0] = x
    a[1, 1] = 2.0
    return a


def _written_by_rows(x: Any) -> Any:
    a = np.zeros((2, 2), like=x)
    a[0, 0] = 2.0
    a[1] = np.stack([x, 2.0])
    return a


def _written_at_indices(x: Any) -> Any:
    a = np.zeros((3, 3), like=x)
    a[np.tril_indices(3)] = np.stack([2.0, x, 2.0, x, x, 2.0])
    return a


ONE: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: np.array([[2.0, 0.0], [x, 2.0]], like=x),
    "no zeros": lambda x: np.array([[2.0, 0.5], [x + 0.5, 2.0]], like=x),
    "the upper one": lambda x: np.array([[2.0, x], [0.0, 2.0]], like=x),
    "turned": lambda x: np.array([[2.0, x], [0.0, 2.0]], like=x).T,
    "reversed": lambda x: np.array([[2.0, x], [0.0, 2.0]], like=x)[::-1, ::-1],
    "rows": lambda x: np.stack([np.stack([2.0, 0.0 * x]), np.stack([x, 2.0])]),
    "joined": lambda x: np.concatenate([np.array([[2.0, 0.0]]), np.reshape(np.stack([x, 2.0]), (1, 2))]),
    "written": _written,
    "written by rows": _written_by_rows,
    "written at indices": _written_at_indices,
    "a mask as a factor": lambda x: 2.0 * EYE + x * LOWER,
    "tril": lambda x: 2.0 * EYE + np.tril(np.sin(x) * np.ones((3, 3)), -1),
    "where": lambda x: np.where(LOWER > 0, x, 2.0 * EYE),
    "blocks": lambda x: np.block([[2.0 * EYE, np.zeros((3, 3))], [x * np.ones((3, 3)), 2.0 * EYE]]),
    "gathered": lambda x: np.stack([x, 0.0, 2.0])[np.array([[2, 1], [0, 2]])],
    "a diagonal": lambda x: np.diag(x * np.ones(2), -1) + 2.0 * EYE,
    "a product": lambda x: np.diag([0.0, 1.0]) @ (x * np.array([[0.0, 0.0], [1.0, 0.0]])) + 2.0 * np.eye(2),
    "outer": lambda x: np.outer(np.array([0.0, 1.0]), np.stack([x, 0.0])) + 2.0 * np.eye(2),
    "a stack": lambda x: np.stack([np.array([[2.0, 0.0], [x, 2.0]], like=x), np.eye(2)]),
    "complex": lambda x: 2.0 * EYE + 1j * x * LOWER,
    "large": lambda x: 2.0 * np.eye(40) + x * np.tri(40, k=-1),
}
READING: dict[str, Callable[[Any], Any]] = {
    "cholesky": lambda a: np.sum(np.real(np.linalg.cholesky(a))),
    "upper": lambda a: np.sum(np.real(np.linalg.cholesky(a, upper=True))),
    "eigh": lambda a: np.sum(np.linalg.eigh(a)[0] ** 2),
    "eigvalsh": lambda a: np.sum(np.linalg.eigvalsh(a, "U") ** 2),
    "pinv": lambda a: np.sum(np.real(np.linalg.pinv(a, hermitian=True))),
}


def check(f: Callable[[Any], Any], x: float) -> None:
    """The slope of f at x beside a difference of fourth order."""

    def at(x: float) -> Any:
        return f(np.array(x))  # for like=

    h = 1e-4
    slope = (8.0 * (at(x + h) - at(x - h)) - (at(x + 2.0 * h) - at(x - 2.0 * h))) / (12.0 * h)
    np.testing.assert_allclose(hoad.grad(f)(x), slope, rtol=1e-9, atol=2e-9)


@pytest.mark.parametrize("x", [0.0, 0.1])
@pytest.mark.parametrize("read", READING.values(), ids=READING)
@pytest.mark.parametrize("make", ONE.values(), ids=ONE)
def test_one_triangle_has_the_derivative_of_numpy(
    make: Callable[[Any], Any], read: Callable[[Any], Any], x: float
) -> None:
    check(lambda x: read(make(x)), x)


SCIPY: dict[str, Callable[..., Any]] = {
    "cholesky": lambda a, lower: np.sum(np.real(linalg.cholesky(a, lower=lower))),
    "cho_solve": lambda a, lower: np.sum(np.abs(linalg.cho_solve(linalg.cho_factor(a, lower=lower), np.ones(3))) ** 2),
    "eigvalsh": lambda a, lower: np.sum(linalg.eigvalsh(a, lower=lower) ** 3),
    "generalised": lambda a, lower: np.sum(linalg.eigvalsh(a, a + np.eye(3), lower=lower) ** 3),
    "pinvh": lambda a, lower: np.sum(np.real(linalg.pinvh(a, lower=lower))),
    "solve": lambda a, lower: np.sum(np.abs(linalg.solve(a, np.ones(3), assume_a="pos", lower=lower)) ** 2),
    "symmetric": lambda a, lower: np.sum(np.abs(linalg.solve(a, np.ones(3), assume_a="sym", lower=lower)) ** 2),
}
if "assume_a" in inspect.signature(scipy.linalg.inv).parameters:
    SCIPY["inv"] = lambda a, lower: np.sum(np.abs(linalg.inv(a, assume_a="her", lower=lower)) ** 2)


@pytest.mark.parametrize("x", [0.0, 0.1])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("part", [1.0, 1j], ids=["real", "complex"])
@pytest.mark.parametrize("read", SCIPY.values(), ids=SCIPY)
def test_one_triangle_has_the_derivative_of_scipy(
    read: Callable[..., Any], part: complex, lower: bool, x: float
) -> None:
    """Of a matrix with an upper and a lower triangle that have nothing to do with each other."""

    def f(x: Any) -> Any:
        return read(2.0 * EYE + part * (np.sin(x) * LOWER + np.sinh(2.0 * x) * LOWER.T), lower)

    check(f, x)


MODES: dict[str, Callable[[Any, float], Any]] = {
    "jvp": lambda f, x: hoad.jvp(f, (x,), (1.0,))[1],
    "nested": lambda f, x: hoad.grad(lambda x: hoad.value_and_grad(f)(x)[0])(x),
    "series": lambda f, x: hoad.derivatives(f, 3)(x)[1],
    "jit": lambda f, x: hoad.grad(hoad.jit(f))(x),
    "vmap": lambda f, x: hoad.vmap(hoad.grad(f))(np.full(3, x))[1],
    "checkpoint": lambda f, x: hoad.grad(hoad.checkpoint(f))(x),
    "around": lambda f, x: hoad.grad(lambda x: hoad.grad(lambda y: f(x) * y)(1.0))(x),  # an input around
}


@pytest.mark.parametrize("x", [0.0, 0.5])
@pytest.mark.parametrize("drive", MODES.values(), ids=MODES)
def test_every_mode(drive: Callable[[Any, float], Any], x: float) -> None:
    """The sum of l = ((√2, 0), (x / √2, √(2 - x² / 2)))."""
    slope = 0.5**0.5 - x / 2.0 / (2.0 - x**2 / 2.0) ** 0.5
    found = drive(lambda x: np.sum(np.linalg.cholesky(_written(x))), x)
    np.testing.assert_allclose(found, slope, rtol=1e-14)


def test_higher_orders() -> None:
    """The largest eigenvalue of ((2, x), (x, 4)) is 3 + √(1 + x²)."""

    def f(x: Any) -> Any:
        return np.linalg.eigvalsh(np.array([[2.0, 7.0], [x, 4.0]], like=x))[1]

    for order, value in enumerate([4.0, 0.0, 1.0, 0.0, -3.0]):
        np.testing.assert_allclose(hoad.derivative(f, order)(0.0), value, atol=1e-13)
    np.testing.assert_allclose(hoad.derivatives(f, 4)(0.0), [4.0, 0.0, 1.0, 0.0, -3.0], atol=1e-13)


def test_a_gradient_by_a_matrix_is_in_the_triangle_that_is_read_where_it_is_not_symmetric() -> None:
    a = np.array([[2.0, 9.0], [1.0, 4.0]])
    slope = 0.5 / (2.0**0.5)
    lower = hoad.grad(lambda a: np.linalg.eigvalsh(a)[1])
    np.testing.assert_allclose(lower(a), [[0.5 - slope, 0.0], [2.0 * slope, 0.5 + slope]], rtol=1e-14)
    np.testing.assert_allclose(lower(np.tril(a) + np.tril(a, -1).T), [[0.5 - slope, slope], [slope, 0.5 + slope]])
    upper = hoad.grad(lambda a: np.linalg.eigvalsh(a, "U")[1])
    np.testing.assert_allclose(upper(a.T), [[0.5 - slope, 2.0 * slope], [0.0, 0.5 + slope]], rtol=1e-14)


def test_jit_does_not_depend_on_what_came_first() -> None:
    a = np.array([[2.0, 9.0], [1.0, 4.0]])
    both = np.array([[2.0, 1.0], [1.0, 4.0]])

    def gradient(a: Any) -> Any:
        return np.sum(np.linalg.cholesky(a))

    for first, second in ((a, both), (both, a)):
        jitted = hoad.jit(hoad.grad(gradient))
        np.testing.assert_array_equal(jitted(first), hoad.grad(gradient)(first))
        np.testing.assert_array_equal(jitted(second), hoad.grad(gradient)(second))
        np.testing.assert_array_equal(jitted(first), hoad.grad(gradient)(first))


def test_a_program_of_symmetric_matrices_refuses_another() -> None:
    program = hoad.record(np.linalg.cholesky, np.eye(2))
    with pytest.raises(hoad.GuardError, match="recorded with a matrix that is symmetric"):
        program.evaluate(np.array([[2.0, 9.0], [1.0, 4.0]]))


def _both_written(x: Any) -> Any:
    a = np.zeros((2, 2), like=x)
    for i in range(2):
        a[i, i] = 2.0
        a[i, 1 - i] = x
    return a


def _kernel(x: Any) -> Any:
    points = np.array([0.0, 0.3, 0.3, 1.0])  # two are the same, so that a factor is zero off the diagonal
    return np.exp(-((points[:, None] - points) ** 2) * (1.0 + x)) + np.eye(4)


def _nearly_zero(x: Any) -> Any:
    """A factor that is zero on one side, and a rounding error on the other."""
    return 2.0 * np.eye(2) + x * np.array([[1.0, 0.0], [1e-17, 1.0]])


def _updated(x: Any) -> Any:
    """(I - K H) P, which mixes rows, of a P that is diagonal: K ends with a zero that `solve` makes."""
    p, h = np.diag([2.0, 3.0]), np.array([[1.0, 0.0]])
    gain = np.linalg.solve(np.reshape(5.0 + x, (1, 1)), h @ p).T
    return (np.eye(2) - gain @ h) @ p


BOTH: dict[str, Callable[[Any], Any]] = {
    "written": _both_written,
    "a sum with its transpose": lambda x: (m := x * LOWER + EYE) + m.T,
    "a number times a symmetric one": lambda x: x * (LOWER + LOWER.T) + EYE,
    "a kernel": _kernel,
    "a large kernel": lambda x: np.kron(np.eye(10), np.ones((4, 4))) * np.exp(x) + 2.0 * np.eye(40),
    "blocks": lambda x: np.block([[(2.0 + x) * EYE, 0.0 * EYE], [0.0 * EYE, 3.0 * EYE + x]]),
    "a diagonal": lambda x: np.diag(np.stack([1.0 + x, 2.0, 3.0 - x])),
    "the identity and a constant": lambda x: EYE + x * np.ones((3, 3)),
    "a mask": lambda x: np.where(LOWER + LOWER.T > 0, 0.1 * np.sin(x), 2.0 * EYE + x * EYE),
    "tril": lambda x: np.tril(a := EYE + x * np.ones((3, 3))) + np.tril(a, -1).T,
    "a product": lambda x: (m := x * LOWER + EYE) @ m.T,
    "a product with a diagonal": lambda x: np.diag([1.0, 0.0, 2.0]) @ np.diag(np.stack([x, x, 1.0])) + 2.0 * EYE,
    "rows that are mixed": _updated,
    "rounding": _nearly_zero,
    "one constant entry": lambda x: np.stack([np.stack([2.0 + x, 0.5]), np.stack([0.5, 2.0 - x])]),
    "a stack": lambda x: np.stack([EYE + x * np.ones((3, 3)), np.diag(np.stack([1.0 + x, 2.0, 3.0]))]),
    "complex": lambda x: 2.0 * EYE + 0.1j * x * (LOWER - LOWER.T),
}


@pytest.mark.parametrize("read", READING.values(), ids=READING)
@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_both_triangles_have_the_derivative_of_numpy(make: Callable[[Any], Any], read: Callable[[Any], Any]) -> None:
    check(lambda x: read(make(x)), 0.0)


def test_closed_forms_with_both_triangles() -> None:
    """l = ((√2, 0), (x / √2, √(2 - x² / 2))), and eigenvalues of ((1, x), (x, 2)): 3/2 ± √(1/4 + x²)."""

    def of_factor(x: Any) -> Any:
        return np.sum(np.linalg.cholesky(np.array([[2.0, x], [x, 2.0]], like=x)))

    np.testing.assert_allclose(hoad.derivatives(of_factor, 2)(0.0)[1:], [0.5**0.5, -(0.125**0.5)], rtol=1e-14)
    lowest = hoad.derivatives(lambda x: np.linalg.eigvalsh(np.array([[1.0, x], [x, 2.0]], like=x))[0], 2)(0.0)
    np.testing.assert_allclose(lowest, [1.0, 0.0, -2.0], atol=1e-14)


def test_a_plain_input_and_a_long_way_to_it() -> None:
    gradient = hoad.grad(lambda a: np.sum(np.linalg.cholesky(a)))(4.0 * EYE)
    np.testing.assert_allclose(gradient, np.full((3, 3), 0.25))

    def far(x: Any) -> Any:
        for _ in range(3000):
            x = 1.0 * np.sin(x)
        return np.sum(np.linalg.cholesky(np.diag(np.stack([1.0 + x, 2.0]))))

    assert np.isfinite(hoad.grad(far)(0.5))
