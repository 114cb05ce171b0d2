"""Perturbation confusion: a derivative inside another must not mistake the other's variable for its own.

Siskind and Pearlmutter (2008), Nesting forward-mode AD in a functional framework, Higher-Order and Symbolic
Computation 21; Manzyuk, Pearlmutter, Radul, Rush and Siskind (2019), Perturbation confusion in forward automatic
differentiation of higher-order functions, Journal of Functional Programming 29; the confusion tests of ForwardDiff.jl.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

Derivative = Callable[[Callable[[Any], Any]], Callable[[Any], Any]]


def by_jvp(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: hoad.jvp(f, (x,), (1.0,))[1]


def by_vjp(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: hoad.vjp(f, x)[1](1.0)[0]


def by_linearize(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: hoad.linearize(f, x)[1](1.0)


WAYS: dict[str, Derivative] = {
    "grad": hoad.grad,
    "derivative": hoad.derivative,
    "jacobian, forward": lambda f: hoad.jacobian(f, mode="forward"),
    "jacobian, reverse": lambda f: hoad.jacobian(f, mode="reverse"),
    "jvp": by_jvp,
    "vjp": by_vjp,
    "linearize": by_linearize,
    "value_and_grad": lambda f: lambda x: hoad.value_and_grad(f)(x)[1],
}

PAIRS = list(itertools.product(WAYS, repeat=2))
pairs = pytest.mark.parametrize(("outer", "inner"), PAIRS, ids=[f"{a} of {b}" for a, b in PAIRS])


@pairs
def test_inner_constant_function(outer: str, inner: str) -> None:
    """d/dx x · d/dy(x + y) at y = 1 is 1: confused, the two tangents add up to 2."""
    found = WAYS[outer](lambda x: x * WAYS[inner](lambda y: x + y)(1.0))(1.0)
    assert found == 1.0


@pairs
def test_product_of_both_variables(outer: str, inner: str) -> None:
    """d/dx x · d/dy(x y) = d/dx x² = 2x."""
    assert WAYS[outer](lambda x: x * WAYS[inner](lambda y: x * y)(2.0))(3.0) == 6.0


@pairs
def test_inner_point_depends_on_outer_variable(outer: str, inner: str) -> None:
    """d/dx [d/dy x y² at y = x³] = d/dx 2x⁴ = 8x³."""
    assert WAYS[outer](lambda x: WAYS[inner](lambda y: x * y**2)(x**3))(2.0) == pytest.approx(64.0, rel=1e-15)


@pairs
def test_inner_derivative_of_a_function_of_the_outer_variable_only(outer: str, inner: str) -> None:
    assert WAYS[outer](lambda x: x * WAYS[inner](lambda y: x * x + 0 * y)(1.0))(3.0) == 0.0


@pairs
def test_inner_derivative_at_the_outer_variable(outer: str, inner: str) -> None:
    """The same traced value is the point of the inner derivative and captured by its function: d/dx (x + 2x) = 3."""
    assert WAYS[outer](lambda x: WAYS[inner](lambda y: x * y + y * y)(x))(5.0) == 3.0


TRIPLES = list(itertools.product(("grad", "jvp", "linearize", "derivative"), repeat=3))


@pytest.mark.parametrize(("a", "b", "c"), TRIPLES, ids=["-".join(t) for t in TRIPLES])
def test_three_levels(a: str, b: str, c: str) -> None:
    """x z sin(y z) and its mixed third derivative."""

    def dz(x: Any, y: Any, z: Any) -> Any:
        return WAYS[c](lambda z: x * np.sin(y * z))(z)

    def dy(x: Any, y: Any) -> Any:
        return WAYS[b](lambda y: dz(x, y, 0.3) * x)(y)

    found = WAYS[a](lambda x: dy(x, 0.7))(1.3)
    wanted = 2 * 1.3 * (np.cos(0.21) - 0.21 * np.sin(0.21))
    assert found == pytest.approx(wanted, rel=1e-14)


# ---- the "amazing bug": derivatives of functions that return functions -----------------------------------------------


def shift(u: Any) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """s(u)(f) = x -> f(x + u)."""
    return lambda f: lambda x: f(x + u)


@pytest.mark.parametrize("way", WAYS)
def test_the_derivative_of_a_curried_function_applied_twice(way: str) -> None:
    """D s(0) is D, so (D s 0)((D s 0) exp) at 1 is e, and not 0 or 2e."""
    derive = WAYS[way]

    def d_shift(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: derive(lambda u: shift(u)(f)(x))(0.0)

    assert d_shift(d_shift(np.exp))(1.0) == pytest.approx(np.e, rel=1e-15)
    assert d_shift(d_shift(d_shift(np.sin)))(1.0) == pytest.approx(-np.cos(1.0), rel=1e-14)


def test_a_closure_that_outlives_its_derivative_raises() -> None:
    """A function made inside a derivative keeps that derivative's variable; afterwards it cannot be used in silence."""
    kept: list[Callable[[Any], Any]] = []

    def f(u: Any) -> Any:
        kept.append(shift(u)(np.exp))
        return u

    hoad.grad(f)(0.0)
    with pytest.raises(hoad.TracedValueError, match="after the function it belongs to had returned"):
        kept[0](1.0)
    with pytest.raises(hoad.TracedValueError, match="after the function it belongs to had returned"):
        hoad.grad(kept[0])(1.0)


def test_a_function_returned_by_an_inner_derivative_as_aux() -> None:
    """The inner variable is captured by a closure that the outer function uses: a constant there, or it raises."""

    def f(x: Any) -> Any:
        _, closure = hoad.grad(lambda y: (y * y, lambda z: y * z), has_aux=True)(x)
        return closure(x)

    try:
        found = hoad.grad(f)(3.0)
    except hoad.TracedValueError:
        return
    assert found in (3.0, 6.0)  # d/dx (x x) with the inner variable standing for x: 6; as a constant: 3


def test_curried_second_derivative() -> None:
    """d/du d/dv of f(x + u + v) through closures of closures."""
    g = hoad.grad(lambda u: hoad.grad(lambda v: shift(v)(shift(u)(lambda x: x**4))(2.0))(0.0))(0.0)
    assert g == 48.0


# ---- arrays ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("inner_mode", ["forward", "reverse"])
def test_jacobian_of_a_scaled_jacobian(mode: str, inner_mode: str) -> None:
    """f(x) = Σ x times the Jacobian of y -> x ⊙ y² at y = x."""
    x = np.array([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        return np.sum(x) * hoad.jacobian(lambda y: x * y * y, mode=inner_mode)(x)

    wanted = np.zeros((3, 3, 3))
    for i, k in itertools.product(range(3), repeat=2):
        wanted[i, i, k] = 2 * x[i] ** 2 + (4 * x[i] * x.sum() if i == k else 0.0)
    np.testing.assert_allclose(hoad.jacobian(f, mode=mode)(x), wanted, rtol=1e-14)


def test_gradient_of_a_sum_of_a_captured_vector() -> None:
    """∇_y Σ(x + y) is ones, whatever x is; times Σx its gradient is ones."""
    x = np.array([1.0, 2.0])
    found = hoad.grad(lambda x: np.sum(x) * hoad.grad(lambda y: np.sum(x + y))(np.ones(2))[0])(x)
    np.testing.assert_array_equal(found, [1.0, 1.0])


def test_hessian_of_a_function_that_contains_a_hessian() -> None:
    """h(x) = tr ∇²_y Σ(x y³) at y = x is 6 Σx², whose Hessian is 12 I."""
    x = np.array([0.5, -1.0, 2.0])

    def h(x: Any) -> Any:
        inner = hoad.hessian(lambda y: np.sum(x * y**3))(x)
        return sum(inner[i, i] for i in range(3))

    np.testing.assert_allclose(hoad.hessian(h)(x), 12 * np.eye(3), rtol=1e-14, atol=1e-14)


def test_tangent_that_is_the_outer_variable() -> None:
    """The direction of the inner derivative is the outer variable: d/dx (d/dy y³ at 2, along x) = 12."""
    assert hoad.grad(lambda x: hoad.jvp(lambda y: y**3, (2.0,), (x,))[1])(5.0) == 12.0
    assert hoad.grad(lambda x: hoad.jvp(lambda y: x * y**3, (2.0,), (x,))[1])(5.0) == 120.0


def test_linear_map_of_the_outer_derivative_in_the_inner() -> None:
    """A pullback made in the outer function, applied to the inner variable, captured in between."""

    def f(x: Any) -> Any:
        _, pullback = hoad.vjp(lambda y: x * y**2, x)  # pullback(c) = 2x² c
        return hoad.grad(lambda z: pullback(z * x)[0] * z)(x)  # d/dz 2x³ z² = 4x³ z, at z = x: 4x⁴

    assert hoad.grad(f)(2.0) == pytest.approx(16 * 8.0, rel=1e-15)


def test_minimax_by_nested_newton_steps() -> None:
    """A derivative of a value that an inner loop of derivatives computed: x* (a) of min_x x² - a x is a/2."""

    def best(a: Any) -> Any:
        x = a * 0 + 1.0
        for _ in range(3):
            slope, curvature = hoad.grad(lambda t: t**2 - a * t)(x), hoad.derivative(lambda t: t**2 - a * t, 2)(x)
            x = x - slope / curvature
        return x

    assert hoad.grad(best)(3.0) == pytest.approx(0.5, rel=1e-15)
    assert hoad.grad(lambda a: best(a) ** 2 * a)(3.0) == pytest.approx(3 * 9 / 4, rel=1e-15)


def test_stop_gradient_stops_the_level_it_is_in_and_those_around() -> None:
    f = lambda x: hoad.grad(lambda y: x * y * hoad.stop_gradient(y))(x)  # noqa: E731
    assert f(3.0) == 9.0
    assert hoad.grad(f)(3.0) == 3.0  # x·stop(y): the first factor only


def test_derivatives_of_all_orders_agree_however_they_nest() -> None:
    f = lambda x: np.exp(np.sin(x)) * np.tanh(x) / (1 + x * x)  # noqa: E731
    wanted = hoad.derivative(f, 4)(0.8)
    for ways in itertools.product(("grad", "jvp", "vjp", "linearize"), repeat=4):
        g = f
        for way in ways:
            g = WAYS[way](g)
        assert g(0.8) == pytest.approx(wanted, rel=1e-11), ways
