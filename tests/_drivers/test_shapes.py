"""Arguments and results of every shape: what each driver returns has the shape it says, and the right entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

SHAPES: list[tuple[int, ...]] = [(), (1,), (3,), (1, 1), (2, 3), (2, 1, 3), (0,), (0, 3), (2, 0), (1, 2, 1, 2)]


def numbers(shape: tuple[int, ...], start: float = 0.5) -> Any:
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape) / 4 + start
    return float(x) if shape == () else x


def linear_map(x_shape: tuple[int, ...], y_shape: tuple[int, ...]) -> np.ndarray:
    """A tensor A of shape (*y, *x)."""
    n = int(np.prod(y_shape + x_shape, dtype=int))
    return np.sin(1.0 + np.arange(n)).reshape(y_shape + x_shape)


def apply(a: np.ndarray, x: Any, x_ndim: int) -> Any:
    """Σ A x² over the axes of x, in a way that NumPy and hoad both know."""
    return np.sum(a * x * x, axis=tuple(range(a.ndim - x_ndim, a.ndim)))


@pytest.mark.parametrize("y_shape", SHAPES, ids=str)
@pytest.mark.parametrize("x_shape", SHAPES, ids=str)
def test_jacobians(x_shape: tuple[int, ...], y_shape: tuple[int, ...]) -> None:
    a, x = linear_map(x_shape, y_shape), numbers(x_shape)
    f = lambda x: apply(a, x, len(x_shape))  # noqa: E731
    wanted = a * 2 * x
    for mode in ("forward", "reverse", "auto"):
        found = hoad.jacobian(f, mode=mode)(x)
        assert np.shape(found) == y_shape + x_shape
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
    value, tangent = hoad.jvp(f, (x,), (np.ones(x_shape),))
    np.testing.assert_allclose(value, f(x), rtol=1e-14)
    np.testing.assert_allclose(
        tangent, np.sum(wanted, axis=tuple(range(len(y_shape), wanted.ndim))), rtol=1e-12, atol=1e-13
    )
    value, pullback = hoad.vjp(f, x)
    (adjoint,) = pullback(np.ones(y_shape))
    assert np.shape(adjoint) == x_shape
    np.testing.assert_allclose(adjoint, np.sum(wanted, axis=tuple(range(len(y_shape)))), rtol=1e-12, atol=1e-13)
    _, pushforward = hoad.linearize(f, x)
    np.testing.assert_allclose(pushforward(np.ones(x_shape)), tangent, rtol=1e-14)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_and_hessians(shape: tuple[int, ...]) -> None:
    x = numbers(shape)
    f = lambda x: np.sum(x**3) * np.sum(x)  # noqa: E731
    s, c = np.sum(x), np.sum(np.asarray(x) ** 3)
    flat = np.ravel(x)
    gradient = 3 * flat**2 * s + c
    hessian = np.diag(6 * flat * s) + 3 * np.add.outer(flat**2, flat**2)
    value, found = hoad.value_and_grad(f)(x)
    assert np.shape(found) == np.shape(hoad.grad(f)(x)) == shape
    assert value == pytest.approx(s * c, rel=1e-14)
    np.testing.assert_allclose(np.ravel(found), gradient, rtol=1e-13)
    found = hoad.hessian(f)(x)
    assert np.shape(found) == shape + shape
    np.testing.assert_allclose(np.reshape(found, hessian.shape), hessian, rtol=1e-13)
    v = np.cos(np.arange(flat.size)).reshape(shape)
    for driver in (hoad.hvp, hoad.vhp):
        found = driver(f)(x, v)
        assert np.shape(found) == shape
        np.testing.assert_allclose(np.ravel(found), hessian @ np.ravel(v), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n", range(5))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_derivatives_of_any_order_act_element_by_element(shape: tuple[int, ...], n: int) -> None:
    x = numbers(shape)
    found = hoad.derivative(lambda x: np.sin(2 * x), n)(x)
    assert np.shape(found) == shape
    np.testing.assert_allclose(found, 2.0**n * np.sin(2 * np.asarray(x) + n * np.pi / 2), rtol=1e-13, atol=1e-13)


RETURNED: dict[str, Callable[[Any], Any]] = {
    "its argument": lambda x: x,
    "its argument, reshaped to the same": lambda x: np.reshape(x, np.shape(x)),
    "its argument, twice negated": lambda x: -(-x),
    "a copy": lambda x: np.copy(x),
    "plus zero": lambda x: x + 0.0,
}


@pytest.mark.parametrize("name", RETURNED)
@pytest.mark.parametrize("shape", [(), (3,), (2, 2)], ids=str)
def test_the_identity(shape: tuple[int, ...], name: str) -> None:
    f, x = RETURNED[name], numbers(shape)
    unit = np.eye(max(1, int(np.prod(shape)))).reshape(shape + shape)
    for mode in ("forward", "reverse"):
        np.testing.assert_array_equal(hoad.jacobian(f, mode=mode)(x), unit)
        np.testing.assert_array_equal(hoad.jacobian(hoad.jacobian(f, mode=mode))(x), np.zeros(shape * 3))
    np.testing.assert_array_equal(hoad.jvp(f, (x,), (x,))[1], x)
    np.testing.assert_array_equal(hoad.vjp(f, x)[1](x)[0], x)
    np.testing.assert_array_equal(hoad.linearize(f, x)[1](x), x)
    np.testing.assert_array_equal(hoad.derivative(f, 1)(x), np.ones(shape))
    np.testing.assert_array_equal(hoad.derivative(f, 3)(x), np.zeros(shape))
    assert hoad.jvp(f, (x,), (x,))[0] is not x or shape == ()


@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 2)], ids=str)
@pytest.mark.parametrize("constant", [2.0, np.ones(()), np.ones(4), np.zeros((0, 2))], ids=lambda c: str(np.shape(c)))
def test_constant_functions(shape: tuple[int, ...], constant: Any) -> None:
    x = numbers(shape)
    f = lambda x: constant  # noqa: E731
    y_shape = np.shape(constant)
    for mode in ("forward", "reverse", "auto"):
        np.testing.assert_array_equal(hoad.jacobian(f, mode=mode)(x), np.zeros(y_shape + shape))
    value, tangent = hoad.jvp(f, (x,), (x,))
    np.testing.assert_array_equal(value, constant)
    np.testing.assert_array_equal(tangent, np.zeros(y_shape))
    np.testing.assert_array_equal(hoad.vjp(f, x)[1](np.ones(y_shape))[0], np.zeros(shape))
    np.testing.assert_array_equal(hoad.linearize(f, x)[1](x), np.zeros(y_shape))
    if y_shape == ():
        np.testing.assert_array_equal(hoad.grad(f)(x), np.zeros(shape))
        np.testing.assert_array_equal(hoad.hessian(f)(x), np.zeros(shape + shape))
        np.testing.assert_array_equal(hoad.hvp(f)(x, x), np.zeros(shape))
        np.testing.assert_array_equal(hoad.vhp(f)(x, x), np.zeros(shape))


def test_arguments_that_f_ignores() -> None:
    f = lambda x, y, z: np.sum(y**2)  # noqa: E731
    x, y, z = numbers((2, 2)), numbers((3,)), numbers(())
    gradients = hoad.grad(f, argnums=(0, 1, 2))(x, y, z)
    np.testing.assert_array_equal(gradients[0], np.zeros((2, 2)))
    np.testing.assert_array_equal(gradients[1], 2 * y)
    assert gradients[2] == 0.0
    blocks = hoad.hessian(f, argnums=(0, 1, 2))(x, y, z)
    for i, row in enumerate(blocks):
        for j, block in enumerate(row):
            wanted = 2 * np.eye(3) if i == j == 1 else np.zeros(np.shape((x, y, z)[i]) + np.shape((x, y, z)[j]))
            np.testing.assert_array_equal(block, wanted)
    for mode in ("forward", "reverse"):
        blocks = hoad.jacobian(lambda x, y: np.outer(y, y), argnums=(0, 1), mode=mode)(x, y)
        assert blocks[0].shape == (3, 3, 2, 2) and not blocks[0].any()
        assert blocks[1].shape == (3, 3, 3) and blocks[1].any()
    _, pullback = hoad.vjp(f, x, y, z)
    assert [np.shape(a) for a in pullback(1.0)] == [(2, 2), (3,), ()]


def test_results_are_floats_or_arrays_of_their_own() -> None:
    assert type(hoad.grad(np.sin)(0.5)) is float
    assert type(hoad.jacobian(np.sin)(0.5)) is float
    assert type(hoad.hessian(np.sin)(0.5)) is float
    assert type(hoad.derivative(np.sin, 2)(0.5)) is float
    assert type(hoad.jvp(np.sin, (0.5,), (1.0,))[1]) is float
    gradient = hoad.grad(lambda x: np.sum(x**2))(np.ones((2, 3))[:, ::2])
    assert type(gradient) is np.ndarray and gradient.flags.writeable and gradient.flags.c_contiguous
    jacobian = hoad.jacobian(lambda x: x**2, mode="forward")(np.ones((2, 3)))
    assert type(jacobian) is np.ndarray and jacobian.flags.writeable


def test_auto_takes_the_cheaper_side() -> None:
    """What auto gives is bit for bit what the side with fewer entries gives."""
    wide, tall = linear_map((40,), (2,)), linear_map((2,), (40,))
    f = lambda a: lambda x: np.tanh(a @ x)  # noqa: E731
    for a, mode in ((wide, "reverse"), (tall, "forward")):
        x = numbers(a.shape[1:])
        np.testing.assert_array_equal(hoad.jacobian(f(a))(x), hoad.jacobian(f(a), mode=mode)(x))


def test_jacobians_of_many_lanes() -> None:
    """More directions than run together, and not a multiple of them."""
    for n in (1, 63, 64, 65, 129, 200):
        x = np.linspace(0.1, 1.0, n)
        for mode in ("forward", "reverse"):
            found = hoad.jacobian(lambda x: np.sin(x) * np.sum(x), mode=mode)(x)
            wanted = np.diag(np.cos(x) * x.sum()) + np.sin(x)[:, None]
            np.testing.assert_allclose(found, wanted, rtol=1e-13)
        np.testing.assert_allclose(
            hoad.hessian(lambda x: np.sum(x**2) ** 2)(x), 4 * np.sum(x**2) * np.eye(n) + 8 * np.outer(x, x), rtol=1e-13
        )


def test_scalar_loops_over_many_lanes() -> None:
    """Python loops over items: scalar steps with lanes."""
    x = np.linspace(0.5, 1.5, 100)

    def f(x: Any) -> Any:
        total = 0.0
        for i in range(len(x) - 1):
            total = total + np.sin(x[i] * x[i + 1]) + x[i] ** 3 / x[i + 1]
        return total

    def array_f(x: Any) -> Any:
        return np.sum(np.sin(x[:-1] * x[1:]) + x[:-1] ** 3 / x[1:])

    np.testing.assert_allclose(hoad.hessian(f)(x), hoad.hessian(array_f)(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(hoad.grad(f)(x), hoad.grad(array_f)(x), rtol=1e-13)
