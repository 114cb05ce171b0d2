"""Derivatives inside derivatives, every driver in every other: third derivatives of a polynomial, exactly known."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import hoad

Vector = Callable[[Any], Any]
X = np.array([0.75, -1.25, 0.5])

# Σ c x₀ᵃ x₁ᵇ x₂ᶜ, by (c, (a, b, c))
POLYNOMIAL = [(2.0, (3, 1, 1)), (-1.5, (0, 4, 1)), (0.5, (2, 2, 2)), (1.0, (1, 0, 3)), (3.0, (0, 1, 0))]


def potential(x: Any) -> Any:
    return sum(c * x[0] ** a * x[1] ** b * x[2] ** d for c, (a, b, d) in POLYNOMIAL)


def vectorised(x: Any) -> Any:
    """The same polynomial in array operations; of two numbers, as if the third were 1."""
    powers = np.array([e[: len(x)] for _, e in POLYNOMIAL])
    return np.sum(np.array([c for c, _ in POLYNOMIAL]) * np.prod(x**powers, axis=1))


def partial(orders: tuple[int, ...], x: np.ndarray) -> float:
    """∂ᵏ of the polynomial, by the exponents."""
    total = 0.0
    for coefficient, exponents in POLYNOMIAL:
        left = list(exponents)
        for i in orders:
            coefficient *= left[i]
            left[i] -= 1
        if coefficient:
            total += coefficient * np.prod([v**e for v, e in zip(x, left, strict=True)])
    return total


def tensor(order: int, x: np.ndarray = X) -> np.ndarray:
    entries = [partial(k, x) for k in itertools.product(range(3), repeat=order)]
    return np.array(entries).reshape((3,) * order)


def columns(parts: list[Any]) -> Any:
    return np.stack(parts, axis=-1)


def units(x: Any) -> np.ndarray:
    return np.eye(len(x))


def size(y: Any) -> int:
    return int(np.prod(np.shape(y), dtype=int))


def by_rows(f: Vector) -> Vector:
    def rows(x: Any) -> Any:
        y, pullback = hoad.vjp(f, x)
        seeds = np.eye(size(y)).reshape(-1, *np.shape(y))
        return np.reshape(np.stack([pullback(seed)[0] for seed in seeds]), (*np.shape(y), len(x)))

    return rows


def by_gradients(f: Vector) -> Vector:
    def rows(x: Any) -> Any:
        shape = np.shape(f(x))
        parts = [hoad.grad(lambda x, k=k: np.ravel(f(x))[k] if shape else f(x))(x) for k in range(int(np.prod(shape)))]
        return np.reshape(np.stack(parts), (*shape, len(x)))

    return rows


def by_linearization(f: Vector) -> Vector:
    def mapped(x: Any) -> Any:
        _, pushforward = hoad.linearize(f, x)
        return columns([pushforward(e) for e in units(x)])

    return mapped


def by_hvp(f: Vector) -> Vector:
    """J = ∂/∂w of ∇ₓ(w·f), at w = 0: the Hessian of w·f times a unit in w."""

    def rows(x: Any) -> Any:
        y = hoad.value(f(x))
        g = lambda x, w: np.sum(w * f(x))  # noqa: E731
        parts = []
        for k in range(size(y)):
            unit = np.zeros(size(y))
            unit[k] = 1.0
            direction = (np.zeros(len(x)), unit.reshape(np.shape(y)) if np.shape(y) else 1.0)
            parts.append(hoad.hvp(g, argnums=(0, 1))(x, np.zeros(np.shape(y)) if np.shape(y) else 0.0, direction)[0])
        return np.reshape(np.stack(parts), (*np.shape(y), len(x)))

    return rows


WAYS: dict[str, Callable[[Vector], Vector]] = {
    "forward": lambda f: hoad.jacobian(f, mode="forward"),
    "reverse": lambda f: hoad.jacobian(f, mode="reverse"),
    "jvp": lambda f: lambda x: columns([hoad.jvp(f, (x,), (e,))[1] for e in units(x)]),
    "vjp": by_rows,
    "linearize": by_linearization,
    "gradients": by_gradients,
    "hvp": by_hvp,
    "derivative": lambda f: lambda x: columns([hoad.derivative(lambda t, e=e: f(x + t * e))(0.0) for e in units(x)]),
    "aux": lambda f: lambda x: hoad.jacobian(lambda x: (f(x), x), has_aux=True)(x)[0],
    "argnums": lambda f: lambda x: hoad.jacobian(lambda s, x: f(x) * s, argnums=(1,))(1.0, x)[0],
}

PAIRS = list(itertools.product(WAYS, repeat=2))


@pytest.mark.parametrize("f", [potential, vectorised])
@pytest.mark.parametrize("way", WAYS)
def test_first_derivatives(way: str, f: Vector) -> None:
    np.testing.assert_allclose(WAYS[way](f)(X), tensor(1), rtol=1e-13)


@pytest.mark.parametrize("f", [potential, vectorised])
@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_second_derivatives(outer: str, inner: str, f: Vector) -> None:
    found = WAYS[outer](WAYS[inner](f))(X)
    np.testing.assert_allclose(found, tensor(2), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_third_derivatives(outer: str, inner: str) -> None:
    """By two of the variables, since some ways go entry by entry."""
    wanted = tensor(3, np.array([*X[:2], 1.0]))[:2, :2, :2]
    for last in WAYS:
        found = WAYS[outer](WAYS[inner](WAYS[last](vectorised)))(X[:2])
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11, err_msg=last)


@pytest.mark.parametrize("outer", WAYS)
def test_derivatives_of_hessians(outer: str) -> None:
    for f in (potential, vectorised):
        np.testing.assert_allclose(WAYS[outer](hoad.hessian(f))(X), tensor(3), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(
            hoad.hessian(lambda x, f=f: hoad.grad(f)(x)[1])(X), tensor(3)[1], rtol=1e-12, atol=1e-12
        )
    np.testing.assert_allclose(
        hoad.jacobian(WAYS[outer](hoad.hessian(vectorised)))(X), tensor(4), rtol=1e-11, atol=1e-11
    )


def test_hessians_of_hessians() -> None:
    trace = lambda x: np.sum(np.stack([hoad.hessian(potential)(x)[i, i] for i in range(3)]))  # noqa: E731
    np.testing.assert_allclose(hoad.hessian(trace)(X), np.einsum("iijk->jk", tensor(4)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("driver", [hoad.hvp, hoad.vhp], ids=["hvp", "vhp"])
def test_derivatives_of_hessian_products(driver: Callable[..., Any]) -> None:
    v = np.array([1.0, -2.0, 0.5])
    in_x = hoad.jacobian(lambda x: driver(vectorised)(x, v))(X)
    in_v = hoad.jacobian(lambda v: driver(vectorised)(X, v))(v)
    both = hoad.jacobian(lambda x: driver(vectorised)(x, x * v))(X)
    np.testing.assert_allclose(in_x, tensor(3) @ v, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(in_v, tensor(2), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(both, tensor(3) @ (X * v) + tensor(2) * v, rtol=1e-12, atol=1e-12)


def test_linear_maps_of_an_inner_derivative_are_functions_of_everything() -> None:
    """J(x) u of f = x³ by linear maps made and applied inside: derivatives in x, in u, and in both."""
    for apply in (
        lambda x, u: hoad.linearize(lambda y: y**3, x)[1](u),
        lambda x, u: hoad.vjp(lambda y: y**3, x)[1](u)[0],
        lambda x, u: hoad.jvp(lambda y: y**3, (x,), (u,))[1],
    ):
        u = np.array([2.0, 3.0, 5.0])
        np.testing.assert_allclose(hoad.jacobian(lambda x: apply(x, u))(X), np.diag(6 * X * u))
        np.testing.assert_allclose(hoad.jacobian(lambda u: apply(X, u))(u), np.diag(3 * X**2))
        np.testing.assert_allclose(hoad.jacobian(lambda x: apply(x, x * x))(X), np.diag(12 * X**3))
        np.testing.assert_allclose(hoad.jacobian(lambda x: apply(x, x) * apply(X, x))(X), np.diag(36 * X**5))


@pytest.mark.parametrize("reverse", [False, True], ids=["linearize", "vjp"])
def test_outer_linear_maps_in_derivatives_of_any_order(reverse: bool) -> None:
    """A pullback made before any derivative, with its sine, replayed on traced values."""
    f = lambda x: np.sin(x) * np.sum(x**2)  # noqa: E731
    jacobian = hoad.jacobian(f)(X)
    value, linear = hoad.vjp(f, X) if reverse else hoad.linearize(f, X)
    np.testing.assert_allclose(value, f(X))
    a = jacobian.T if reverse else jacobian

    def apply(u: Any) -> Any:
        return linear(u)[0] if reverse else linear(u)

    u = np.array([2.0, 3.0, 5.0])
    for _ in range(2):
        np.testing.assert_allclose(apply(u), a @ u, rtol=1e-13)
        np.testing.assert_allclose(hoad.jacobian(apply)(u), a, rtol=1e-13)
        np.testing.assert_allclose(hoad.jacobian(lambda u: apply(u**3), mode="reverse")(u), a * 3 * u**2, rtol=1e-13)
        wanted = np.einsum("ij,jk->ijk", a, np.diag(6 * u))
        np.testing.assert_allclose(
            hoad.jacobian(hoad.jacobian(lambda u: apply(u**3)))(u), wanted, rtol=1e-12, atol=1e-12
        )
        found = hoad.grad(lambda s: np.sum(apply(s * s * u) * apply(u)))(2.0)
        assert found == pytest.approx(4 * np.sum((a @ u) ** 2), rel=1e-13)
        objects = hoad.grad(lambda s: np.sum(apply(np.array([s, s * s, 1.0]))))(2.0)
        assert objects == pytest.approx(np.sum(a @ np.array([1.0, 4.0, 0.0])), rel=1e-13)


def test_a_linear_map_is_linear_and_can_be_called_at_any_time() -> None:
    _, pushforward = hoad.linearize(np.tanh, X)
    first = pushforward(np.ones(3))
    hoad.grad(lambda x: np.sum(x**2))(X)
    np.testing.assert_array_equal(pushforward(np.ones(3)), first)
    np.testing.assert_allclose(pushforward(2.5 * np.ones(3)), 2.5 * first, rtol=1e-15)
    np.testing.assert_array_equal(pushforward(np.zeros(3)), np.zeros(3))


def test_newton_inside_a_derivative() -> None:
    """The implicit function y(a) with y³ + a y = 1 by Newton's method with inner derivatives; y′ = -y/(3y² + a)."""

    def solve(a: Any) -> Any:
        y = 1.0 + 0 * a
        for _ in range(8):
            value, slope = hoad.value_and_grad(lambda y: y**3 + a * y - 1)(y)
            y = y - value / slope
        return y

    y = solve(0.5)
    slope = -y / (3 * y**2 + 0.5)
    assert y**3 + 0.5 * y == pytest.approx(1.0, rel=1e-15)
    assert hoad.grad(solve)(0.5) == pytest.approx(slope, rel=1e-13)
    second = -slope / (3 * y**2 + 0.5) + y * (6 * y * slope + 1) / (3 * y**2 + 0.5) ** 2
    assert hoad.derivative(solve, 2)(0.5) == pytest.approx(second, rel=1e-12)
    assert hoad.grad(hoad.grad(solve))(0.5) == pytest.approx(second, rel=1e-12)


def test_gradient_descent_differentiated_in_its_step() -> None:
    """Hyper-gradient: the loss after three steps of descent on ½ x·A x, by the step length."""
    a = np.array([[2.0, 0.5], [0.5, 1.0]])
    x0 = np.array([1.0, -2.0])

    def loss(x: Any) -> Any:
        return 0.5 * x @ a @ x

    def after(step: Any) -> Any:
        x = x0
        for _ in range(3):
            x = x - step * hoad.grad(loss)(x)
        return loss(x)

    step = 0.3
    m = np.eye(2) - step * a
    y = np.linalg.matrix_power(m, 3) @ x0
    wanted = y @ a @ (-3 * a @ np.linalg.matrix_power(m, 2) @ x0)
    assert hoad.grad(after)(step) == pytest.approx(wanted, rel=1e-13)
    assert hoad.jvp(after, (step,), (1.0,))[1] == pytest.approx(wanted, rel=1e-13)


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], float]] = {
    "exp sin tanh": (
        lambda x: np.exp(np.sin(x)) * np.tanh(x) / (1 + x * x),
        lambda x: mpmath.exp(mpmath.sin(x)) * mpmath.tanh(x) / (1 + x * x),
        0.8,
    ),
    "power tower": (lambda x: x**x, lambda x: x**x, 1.3),
    "log sqrt": (lambda x: np.log(1 + np.sqrt(x)), lambda x: mpmath.log(1 + mpmath.sqrt(x)), 1.7),
    "arctan": (lambda x: np.arctan(x * x), lambda x: mpmath.atan(x * x), 0.6),
    "rational": (lambda x: (x**3 - 1) / (x**2 + x + 3), lambda x: (x**3 - 1) / (x**2 + x + 3), -0.4),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_high_orders_against_mpmath(name: str) -> None:
    f, exact, x = FUNCTIONS[name]
    with mpmath.workdps(60):
        coefficients = mpmath.taylor(exact, mpmath.mpf(x), 8)
        wanted = [float(c * mpmath.factorial(k)) for k, c in enumerate(coefficients)]
    for n in range(9):
        assert hoad.derivative(f, n)(x) == pytest.approx(wanted[n], rel=1e-11), n
        if n <= 5:
            nested = f
            for k in range(n):
                nested = (hoad.grad, lambda g: lambda x: hoad.jvp(g, (x,), (1.0,))[1])[k % 2](nested)
            assert nested(x) == pytest.approx(wanted[n], rel=1e-11), n


def test_derivative_inside_derivative_adds_up() -> None:
    f = lambda x: np.sin(x * x)  # noqa: E731
    for n, m in itertools.product(range(4), repeat=2):
        assert hoad.derivative(hoad.derivative(f, n), m)(0.7) == pytest.approx(
            hoad.derivative(f, n + m)(0.7), rel=1e-12
        )
    x = np.array([0.7, 0.2])
    np.testing.assert_allclose(hoad.derivative(hoad.derivative(f, 2), 2)(x), hoad.derivative(f, 4)(x), rtol=1e-12)


@hoad.primitive(vjp=lambda g, p, x: (g[::-1],))
def backwards(x: Any) -> Any:
    return x[::-1]


MIXING: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x * np.sum(x),
    "reversed": lambda x: x[::-1],
    "matrix": lambda x: x @ np.eye(3),
    "gathered": lambda x: x[[0, 0, 1]],
    "item": lambda x: x * x[0],
    "stacked items": lambda x: np.stack([x[1], x[0], x[2]]),
    "object array": lambda x: np.array([x[1], x[0], x[2]]),
    "chosen": lambda x: np.where(x > 1, x[::-1], x),
    "chosen by the others": lambda x: np.where(x[::-1] > 2, x, -x),
    "stopped": lambda x: x * hoad.stop_gradient(np.sum(x)),
    "floor of the sum": lambda x: x * np.floor(np.sum(x)),
    "primitive": backwards,
    "program": hoad.record(lambda x: x[::-1], X),
    "maximum": lambda x: np.maximum(x, x[0]),
    "joined": lambda x: np.concatenate([x[1:], x[:1]]),
    "inner gradient": lambda x: hoad.grad(lambda y: np.sum(y) ** 3)(x),
}


@pytest.mark.parametrize("name", MIXING)
def test_derivative_of_an_array_that_mixes_elements_is_refused(name: str) -> None:
    with pytest.raises(hoad.ShapeError, match="acts element by element") as caught:
        hoad.derivative(MIXING[name])(X)
    assert "Use jacobian(f)" in str(caught.value)


def test_derivative_of_an_array_to_another_shape_is_refused() -> None:
    for f, shape in ((np.sum, r"\(\)"), (lambda x: x[:2], r"\(2,\)"), (lambda x: np.outer(x, x), r"\(3, 3\)")):
        with pytest.raises(hoad.ShapeError, match=rf"takes shape \(3,\) to {shape}"):
            hoad.derivative(f)(X)


def test_derivative_takes_what_acts_element_by_element() -> None:
    weights = np.array([1.0, 2.0, 3.0])
    taken: list[tuple[Callable[[Any], Any], np.ndarray]] = [
        (lambda x: weights * x**3, weights * 6 * X),
        (lambda x: np.where(x > 0, x**3, np.exp(x)), np.where(X > 0, 6 * X, np.exp(X))),
        (lambda x: np.sum(weights) * x**3, 36 * X),
        (lambda x: np.clip(x, -1.0, 0.6) ** 3, np.where((X > -1) & (X < 0.6), 6 * X, 0.0)),
        (lambda x: x[:] * x[...] * np.copy(x), 6 * X),
        (lambda x: hoad.grad(lambda y: np.sum(y**4))(x) / 4, 6 * X),
        (lambda x: weights[::-1], np.zeros(3)),
        (lambda x: 2.0, np.zeros(3)),
    ]
    for f, wanted in taken:
        np.testing.assert_allclose(hoad.derivative(f, 2)(X), wanted, rtol=1e-13, atol=1e-13)


def test_derivative_of_a_curve() -> None:
    """A float to an array: the tangent of the curve, of any order."""
    curve = lambda t: np.stack([np.cos(2 * t), np.sin(2 * t), t**3])  # noqa: E731
    np.testing.assert_allclose(hoad.derivative(curve, 2)(0.3), [-4 * np.cos(0.6), -4 * np.sin(0.6), 1.8], rtol=1e-14)


def test_stop_gradient() -> None:
    f = lambda x: np.sum(x * hoad.stop_gradient(x**2))  # noqa: E731
    np.testing.assert_array_equal(hoad.grad(f)(X), X**2)
    np.testing.assert_array_equal(hoad.hessian(f)(X), np.zeros((3, 3)))
    np.testing.assert_array_equal(hoad.jacobian(lambda x: hoad.stop_gradient(x), mode="forward")(X), np.zeros((3, 3)))
    assert hoad.jvp(f, (X,), (X,)) == (np.sum(X**3), np.sum(X**3))
    assert hoad.stop_gradient(3.0) == 3.0
    assert hoad.stop_gradient(X) is X
    np.testing.assert_array_equal(
        hoad.grad(lambda x: np.sum(hoad.stop_gradient(np.array([x[0], x[1]])) * x[:2]))(X), [X[0], X[1], 0.0]
    )
    assert hoad.grad(lambda x: x * hoad.stop_gradient([x, x])[0])(3.0) == 3.0


def test_value() -> None:
    assert hoad.grad(lambda x: x * hoad.value(x))(3.0) == 3.0
    assert hoad.grad(lambda x: hoad.grad(lambda y: y * hoad.value(x) * x)(x))(3.0) == 3.0
    assert hoad.grad(lambda x: x * np.sum(hoad.value(np.array([x, x]))))(3.0) == 6.0


def test_inner_derivatives_at_object_arrays_of_traced_numbers() -> None:
    """`np.array([x, x * x])` is an argument, a direction and a seed like any other."""
    cube = lambda y: np.sum(y**3)  # noqa: E731
    wanted = 6 * 2.0 + 3 * 4 * 2.0**3  # d/dx (3x² + 3x⁴)
    assert hoad.grad(lambda x: np.sum(hoad.grad(cube)(np.array([x, x * x]))))(2.0) == pytest.approx(wanted, rel=1e-14)
    assert hoad.grad(lambda x: np.sum(hoad.jacobian(np.square)(np.array([x, 1.0]))))(2.0) == 2.0
    assert hoad.grad(lambda x: np.sum(hoad.hvp(cube)(X, np.array([x, x, 1.0]))))(2.0) == pytest.approx(
        6 * (X[0] + X[1])
    )
    assert hoad.grad(lambda x: np.sum(hoad.vjp(np.square, X)[1](np.array([x, x * x, 1.0]))[0]))(2.0) == pytest.approx(
        2 * X[0] + 8 * X[1], rel=1e-14
    )
