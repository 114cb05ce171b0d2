"""Assignment in every mode and at every order; nested, recorded, replayed; in rules, threads, and beside captures."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import hoad

X = np.array([0.8, 1.1, 1.3, 0.7])


def products(x: Any) -> Any:
    """x[0], x[0] x[1], x[0] x[1] x[2], ...: filled one by one, each from the one before."""
    y = np.empty_like(x)
    y[0] = x[0]
    for k in range(1, x.size):
        y[k] = y[k - 1] * x[k]
    return y


def product(x: Any) -> Any:
    return products(x)[-1]


def without(*places: int) -> float:
    """The derivative of the product by these items."""
    rest = [v for k, v in enumerate(X) if k not in places]
    return float(np.prod(rest)) if len(set(places)) == len(places) else 0.0


def test_orders_one_to_four_of_a_product() -> None:
    f: Any = product
    for order in range(1, 5):
        f = hoad.jacobian(f)
        wanted = np.empty((4,) * order)
        for places in np.ndindex(wanted.shape):
            wanted[places] = without(*places)
        np.testing.assert_allclose(f(X), wanted, rtol=1e-13, atol=1e-15)


def power(t: Any) -> Any:
    """exp(t)², by an array written in place, views, and a scatter."""
    y = np.zeros(4, like=t)
    y[:2] = t
    half = y.reshape(2, 2)[0]
    half += y[1]
    np.exp(half / 2, out=half)
    np.multiply.at(y, [0, 0, 1], y[1])
    return y[0] / y[1] * half[1]


@pytest.mark.parametrize("order", range(1, 5))
def test_derivatives_of_a_number(order: int) -> None:
    """y[0] = e^3t, y[1] = e^2t at the end, so that y[0]/y[1] y[1] = e^3t."""
    np.testing.assert_allclose(hoad.derivative(power, order)(0.3), 3**order * np.exp(0.9), rtol=1e-12)
    f: Any = power
    for _ in range(order):
        f = (lambda g: lambda t: hoad.jvp(g, (t,), (1.0,))[1])(f)
    np.testing.assert_allclose(f(0.3), 3**order * np.exp(0.9), rtol=1e-12)


def test_forward_over_reverse_and_reverse_over_forward() -> None:
    v = np.array([1.0, -2.0, 0.5, 0.25])
    hessian = np.array([[without(i, j) for j in range(4)] for i in range(4)])
    np.testing.assert_allclose(hoad.jvp(hoad.grad(product), (X,), (v,))[1], hessian @ v, rtol=1e-13)
    np.testing.assert_allclose(
        hoad.grad(lambda x: hoad.jvp(product, (x,), (v,))[1])(X), hessian @ v, rtol=1e-13, atol=1e-15
    )
    np.testing.assert_allclose(hoad.hvp(product)(X, v), hessian @ v, rtol=1e-13)
    np.testing.assert_allclose(hoad.hessian(product)(X), hessian, rtol=1e-13, atol=1e-15)


def test_recorded_programs_and_their_gradients() -> None:
    program = hoad.record(product, X)
    for _ in range(3):
        program = hoad.gradient(program, seed="symbolic") if len(program) > 1 else hoad.gradient(program)
    np.testing.assert_allclose(hoad.record(product, X).evaluate(2 * X), 16 * np.prod(X), rtol=1e-14)
    gradient = hoad.gradient(hoad.record(product, X))
    np.testing.assert_allclose(gradient.evaluate(2 * X), 8 * np.array([without(k) for k in range(4)]), rtol=1e-13)


def test_traced_places_are_live_in_a_replay() -> None:
    """Where y is written follows the numbers of a replay; a traced mask is guarded."""

    def f(x: Any) -> Any:
        y = np.zeros_like(x)
        y[np.argsort(x)] = x**2 * np.arange(1.0, 5.0)
        y[np.argmax(x)] += 1.0
        return y

    def g(x: Any) -> Any:
        y = x.copy()
        y[x > 1] = 0.0
        return y

    program = hoad.record(f, X)
    for x in (X, X[::-1], -X):
        np.testing.assert_array_equal(program.evaluate(x), f(x))
    masked = hoad.record(g, X)
    np.testing.assert_array_equal(masked.evaluate(X + 0.01), g(X + 0.01))
    with pytest.raises(hoad.HoadError, match="branch"):
        masked.evaluate(-X)


def test_an_inner_derivative_that_writes_to_an_outer_array() -> None:
    def f(x: Any) -> Any:
        slopes = np.zeros_like(x)

        def inner(t: Any) -> Any:
            slopes[0] = t * x[1]  # kept beyond the inner derivative
            return t**3 * x[0]

        for k in range(1, 4):
            slopes[k] = hoad.grad(inner)(x[k])
        return np.sum(slopes)

    a, b, c, d = X
    np.testing.assert_allclose(hoad.value_and_grad(f)(X)[0], d * b + 3 * a * (b**2 + c**2 + d**2))
    np.testing.assert_allclose(
        hoad.grad(f)(X), [3 * (b**2 + c**2 + d**2), d + 6 * a * b, 6 * a * c, b + 6 * a * d], rtol=1e-13
    )


def test_the_confusion_of_perturbations() -> None:
    """d/dx (x d/dy (x + y)) = 1, where the inner sum is made in an array of the outer derivative."""

    def f(x: Any) -> Any:
        shared = np.zeros(2, like=x)

        def inner(y: Any) -> Any:
            shared[0] = x
            shared[1] = y
            return np.sum(shared)

        return x * hoad.derivative(inner)(1.0)

    assert hoad.derivative(f)(2.0) == 1.0
    assert hoad.jvp(f, (2.0,), (1.0,))[1] == 1.0


def test_many_inner_derivatives_leave_nothing() -> None:
    """Arrays made and written to inside nested derivatives of numbers are forgotten with them."""

    def inner(t: Any) -> Any:
        y = np.zeros(3, like=t)
        y[1] = t * t
        return np.sum(y + np.ones(3, like=t))

    def f(x: Any) -> Any:
        sizes = []
        for _ in range(20):
            assert hoad.grad(inner)(3.0) == 6.0
            sizes.append(repr(x * 1.0 + 0.0) and len(hoad.record(lambda z: z, 1.0)))
        return np.sum(x)

    np.testing.assert_array_equal(hoad.grad(f)(X), np.ones(4))
    deep = hoad.grad(lambda x: sum(hoad.grad(inner)(x[k]) for k in range(4)))(X)
    np.testing.assert_allclose(deep, 2.0)


def test_a_zero_made_inside_and_kept_outside() -> None:
    """A constant of an inner derivative outlives it where an array still holds it."""

    def f(x: Any) -> Any:
        kept: list[Any] = []

        def inner(t: Any) -> Any:
            y = np.full(3, 7.0, like=t)
            kept.append(y)
            return t * 1.0

        hoad.grad(inner)(2.0)
        others = [np.arange(5.0) * x[0] for _ in range(3)]
        return np.sum(kept[0] * x[1]) + 0.0 * np.sum(others[0])

    value, gradient = hoad.value_and_grad(f)(X)
    assert value == pytest.approx(21.0 * X[1])
    np.testing.assert_allclose(gradient, [0.0, 21.0, 0.0, 0.0])


def test_a_captured_array_that_is_written_from_and_changed() -> None:
    """A plain array put into a traced one is seen as it was when it was put there."""
    buffer = np.ones(4)

    def f(x: Any) -> Any:
        buffer[:] = 1.0
        y = np.zeros(8, like=x)
        y[:4] = buffer
        buffer[:] = 5.0
        y[4:] = buffer
        buffer[:] = 9.0
        y[2:6] *= x
        return np.sum(y)

    value, gradient = hoad.value_and_grad(f)(X)
    assert value == pytest.approx(1 + 1 + X[0] + X[1] + 5 * X[2] + 5 * X[3] + 5 + 5)
    np.testing.assert_array_equal(gradient, [1.0, 1.0, 5.0, 5.0])


def test_what_was_written_is_seen_as_it_was() -> None:
    """An array that is put into another and changed afterwards; a sum that was taken before a write."""

    def f(x: Any) -> Any:
        y, z = x * 1.0, np.zeros(8, like=x)
        z[:4] = y
        before = np.sum(z)
        row = z[:2]
        y[0] = 100.0
        z[1] = x[0] ** 2
        item, copy = z[1], z.copy()
        z[1] = 0.0
        row[0] = 3.0
        return before + 10 * item + np.sum(copy) + 1000 * np.sum(z) + np.sum(row)

    a, b, c, d = X
    wanted = (a + b + c + d) + 10 * a**2 + (a + a**2 + c + d) + 1000 * (3 + c + d) + 3
    value, gradient = hoad.value_and_grad(f)(X)
    assert value == pytest.approx(wanted, rel=1e-14)
    np.testing.assert_allclose(gradient, [1 + 20 * a + 1 + 2 * a, 1.0, 1 + 1 + 1000, 1 + 1 + 1000], rtol=1e-13)


def test_in_place_operations_inside_a_rule() -> None:
    @hoad.primitive
    def cube(x: Any) -> Any:
        return x**3

    @hoad.defvjp(cube)
    def cube_vjp(g: Any, p: Any, x: Any) -> Any:
        y = np.zeros_like(x)
        y += 3 * g
        y[...] = y * x
        np.multiply(y, x, out=y)
        return (y,)

    np.testing.assert_allclose(hoad.grad(lambda x: np.sum(cube(x)))(X), 3 * X**2)
    np.testing.assert_allclose(hoad.jvp(cube, (X,), (np.ones(4),))[1], 3 * X**2)
    np.testing.assert_allclose(hoad.hessian(lambda x: np.sum(cube(x)))(X), np.diag(6 * X))


def test_masked_places_are_strong_zeros() -> None:
    """What is written over does not turn an infinite slope into nan."""

    def f(x: Any) -> Any:
        y = np.sqrt(x)
        y[0] = 1.0
        return np.sum(y)

    np.testing.assert_array_equal(hoad.grad(f)(np.array([0.0, 4.0])), [0.0, 0.25])
    np.testing.assert_array_equal(hoad.jvp(f, (np.array([0.0, 4.0]),), (np.array([1.0, 1.0]),))[1], 0.25)

    def g(x: Any) -> Any:
        y = np.sqrt(x)
        y[np.argmin(x)] = 1.0
        return np.sum(y)

    np.testing.assert_array_equal(hoad.grad(g)(np.array([0.0, 4.0])), [0.0, 0.25])


def test_one_solver_in_many_threads() -> None:
    found: dict[int, Any] = {}

    def work(k: int) -> None:
        found[k] = hoad.grad(product)(X + k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(8):
        np.testing.assert_allclose(found[k], np.prod(X + k) / (X + k), rtol=1e-13)


def test_nodes_for_each_write_are_few() -> None:
    """A write costs by what it writes, not by the array: blocks of a large matrix, and rows of it."""
    n = 400

    def f(x: Any) -> Any:
        k = np.zeros((n, n), like=x)
        for e in range(n - 1):
            k[np.ix_([e, e + 1], [e, e + 1])] += x[0] * np.array([[1.0, -1.0], [-1.0, 1.0]])
        return np.sum(k * k)

    program = hoad.record(f, X)
    assert program[0].size < 12 * n
    np.testing.assert_allclose(hoad.grad(f)(X)[0], 2 * X[0] * (4 * (n - 2) + 2 + 2 * (n - 1)), rtol=1e-12)


def test_a_long_fill_is_one_node_when_it_is_used() -> None:
    def f(x: Any) -> Any:
        y = np.empty(1000, like=x)
        for k in range(1000):
            y[k] = x[k % 4]
        return np.sum(y)

    program = hoad.record(f, X)
    operations = [node.operation for node in program[0]]
    assert operations.count("assemble") == 1
    assert program[0].size == 1 + 1000 + 1 + 1
