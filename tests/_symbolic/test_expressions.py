"""Expressions of symbols against closed forms, and against the drivers, at orders 1 to 4."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import hoad
from hoad._symbolic import Expression
from hoad.errors import ArgumentError, DTypeError, ShapeError

x, y, z = hoad.symbols("x y z")
v = hoad.symbols("v", shape=3)
A = hoad.symbols("A", shape=(3, 3))

V = np.array([0.7, 1.3, 0.4])
M = np.array([[2.0, 0.3, 0.1], [0.4, 1.5, 0.2], [0.1, 0.6, 1.8]])
AT = {x: 0.7, y: 1.3, z: 0.4, v: V, A: M}

# A function of two numbers in NumPy, and in mpmath.
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sine and exponential": (
        lambda x, y: np.sin(y * x**2) + np.exp(x**2),
        lambda x, y: mpmath.sin(y * x**2) + mpmath.exp(x**2),
    ),
    "quotient": (lambda x, y: (x + y) / (1 + x * y**2), lambda x, y: (x + y) / (1 + x * y**2)),
    "power": (lambda x, y: x**y - y**x, lambda x, y: x**y - y**x),
    "tanh of log": (lambda x, y: np.tanh(x * np.log(y)), lambda x, y: mpmath.tanh(x * mpmath.log(y))),
    "shared": (
        lambda x, y: (lambda s: s * s / (1 + s))(np.exp(x * y)),
        lambda x, y: mpmath.exp(x * y) ** 2 / (1 + mpmath.exp(x * y)),
    ),
}
ORDERS = [(i, j) for n in range(5) for i in range(n + 1) for j in [n - i]]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("i", "j"), ORDERS)
def test_mixed_derivatives(name: str, i: int, j: int) -> None:
    f, exact = FUNCTIONS[name]
    with mpmath.workdps(40):
        wanted = float(mpmath.diff(exact, (mpmath.mpf(AT[x]), mpmath.mpf(AT[y])), (i, j)))
    e = f(x, y)
    assert e.derivative(x, i).derivative(y, j).evaluate(AT) == pytest.approx(wanted, rel=1e-11, abs=1e-11)
    one_by_one = e
    for symbol in [y] * j + [x] * i:
        one_by_one = one_by_one.derivative(symbol)
    assert one_by_one.evaluate(AT) == pytest.approx(wanted, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_is_reverse_is_symbolic_is_the_driver(name: str) -> None:
    e = FUNCTIONS[name][0](x, y)
    for _ in range(3):
        reverse, forward = e.gradient(AT), e.gradient(AT, mode="forward")
        driver = hoad.grad(lambda a, b, e=e: e.evaluate({x: a, y: b}), argnums=(0, 1))(AT[x], AT[y])
        for symbol, by_driver in zip((x, y), driver, strict=True):
            wanted = e.derivative(symbol).evaluate(AT)
            for found in (reverse[symbol], forward[symbol], by_driver):
                assert found == pytest.approx(wanted, rel=1e-12)
        e = e.derivative(x)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_hessian(name: str) -> None:
    e = FUNCTIONS[name][0](x, y)
    found = e.hessian({x: 0.7, y: 1.3, z: 1.0})
    for a in (x, y, z):
        for b in (x, y, z):
            assert found[a, b] == pytest.approx(e.derivative(a).derivative(b).evaluate(AT), rel=1e-11)


ARRAYS: dict[str, tuple[Expression, Callable[[Any], Any], Expression]] = {
    "sum of squares": (np.sum(v**2), lambda v: np.sum(v**2), v),
    "an item": (v[1] * v[-1] ** 2, lambda v: v[1] * v[-1] ** 2, v),
    "an item of a matrix": (A[0, 1] * A[2, 2], lambda a: a[0, 1] * a[2, 2], A),
    "a product": (A @ V, lambda a: a @ V, A),
    "determinant": (np.linalg.det(A), np.linalg.det, A),
    "inverse": (np.linalg.inv(A), np.linalg.inv, A),
    "eigenvalues": (np.linalg.eigh(A @ A.T)[0], lambda a: np.linalg.eigh(a @ a.T)[0], A),
    "einsum": (np.einsum("ij,jk,k->i", A, A, V), lambda a: np.einsum("ij,jk,k->i", a, a, V), A),
    "slices": (v[1:] * np.exp(v[:-1]), lambda v: v[1:] * np.exp(v[:-1]), v),
    "where": (np.where(v > 0.5, v**3, -v), lambda v: np.where(v > 0.5, v**3, -v), v),
    "stack": (np.stack([v, v * v]), lambda v: np.stack([v, v * v]), v),
    "norm": (np.linalg.norm(v), np.linalg.norm, v),
    "sorted": (np.sort(v)[::-1] * V, lambda v: np.sort(v)[::-1] * V, v),
    "methods": (v.reshape(3, 1).sum(axis=1).max(), lambda v: v.reshape(3, 1).sum(axis=1).max(), v),
    "iterated": (sum(s * s for s in v), lambda v: sum(s * s for s in v), v),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name: str) -> None:
    e, f, symbol = ARRAYS[name]
    value = AT[symbol]
    np.testing.assert_allclose(e.evaluate(AT), f(value), rtol=1e-13)
    wanted = hoad.jacobian(f)(value)
    assert e.derivative(symbol).shape == e.shape + symbol.shape
    np.testing.assert_allclose(e.derivative(symbol).evaluate(AT), wanted, rtol=1e-11, atol=1e-12)
    for mode in ("forward", "reverse", "auto"):
        np.testing.assert_allclose(e.jacobian({symbol: value}, mode=mode)[symbol], wanted, rtol=1e-11, atol=1e-12)
    twice = hoad.jacobian(hoad.jacobian(f))(value)
    np.testing.assert_allclose(e.derivative(symbol, 2).evaluate(AT), twice, rtol=1e-10, atol=1e-11)


def test_object_arrays_of_symbols() -> None:
    u = np.array([x, y, x * y])
    assert u.dtype == object
    e = np.sum(np.sin(u) ** 2) * (u @ u)
    s = np.array([0.7, 1.3, 0.7 * 1.3])
    assert e.evaluate(AT) == pytest.approx(np.sum(np.sin(s) ** 2) * (s @ s))
    packed = np.stack(list(u)) * V
    np.testing.assert_allclose(packed.evaluate(AT), s * V)
    np.testing.assert_allclose(np.array([x, 2.0], like=x).evaluate(AT), [0.7, 2.0])
    np.testing.assert_allclose((A @ np.array([x, y, z])).evaluate(AT), M @ [0.7, 1.3, 0.4])


def test_numbers_and_arrays_on_either_side() -> None:
    assert (np.float64(2) * x).evaluate(AT) == (x * np.float64(2)).evaluate(AT) == 1.4
    np.testing.assert_allclose((V * x - x).evaluate(AT), V * 0.7 - 0.7)
    np.testing.assert_allclose(([1, 2] * x).evaluate(AT), [0.7, 1.4])
    assert (1 - x).evaluate(AT) == pytest.approx(0.3) and (2**x).evaluate(AT) == 2**0.7
    assert [k.evaluate(AT) for k in divmod(7.0, y)] == list(divmod(7.0, 1.3))
    assert ((x < y) & ~(y < z)).evaluate(AT) is True


def test_what_is_captured_is_kept_as_it_was() -> None:
    w = np.ones(3)
    e = np.sum(w * v)
    w[:] = 100
    assert e.evaluate({v: np.ones(3)}) == 3.0


def test_symbols_of_different_calls_meet() -> None:
    a, b = hoad.symbols("t"), hoad.symbols("t")
    e = a * b**2
    assert e.gradient({a: 2, b: 3}) == {a: 9.0, b: 12.0}
    assert str(e) == "t * t'2 ** 2" and e.symbols == (a, b)


def test_keys_of_dicts() -> None:
    many = hoad.symbols(" ".join(f"s{k}" for k in range(500)))
    table = {s: k for k, s in enumerate(many)}
    assert [table[s] for s in many] == list(range(500))
    assert (x == y).evaluate({x: 2, y: 2}) is True and (x != x).evaluate({x: math.nan}) is True
    assert copy.deepcopy({x: 1})[x] == 1


def test_derivatives_by_parts() -> None:
    s = x * y
    e = np.sin(s) + s**2 * x
    found = e.derivative(s)
    assert found.evaluate(AT) == pytest.approx(math.cos(0.91) + 2 * 0.91 * 0.7)
    assert e.derivative(x * y).evaluate(AT) == 0.0  # another part, which e does not hold


def test_constants_are_expressions_too() -> None:
    e = (3 * x).derivative(x)
    assert e.evaluate() == 3.0 and (e * y).evaluate(AT) == pytest.approx(3.9) and str(e) == "3"
    assert e.symbols == () and e.gradient({x: 1}) == {x: 0.0} and e.to_program().evaluate() == 3.0
    assert x.derivative(y).evaluate() == 0.0
    np.testing.assert_array_equal(x.derivative(v).evaluate(), np.zeros(3))
    np.testing.assert_array_equal(v.derivative(v).evaluate(AT), np.eye(3))
    assert (x > 0).derivative(x).evaluate(AT) == 0.0


def test_strong_zeros_stay_strong() -> None:
    e = np.where(x > 0, np.sqrt(x), 0.0)
    for n in range(1, 5):
        one_by_one = e
        for _ in range(n):
            one_by_one = one_by_one.derivative(x)
        assert e.derivative(x, n).evaluate({x: -1.0}) == one_by_one.evaluate({x: -1.0}) == 0.0
        assert one_by_one.evaluate({x: 0.0}) == 0.0


def test_substitution() -> None:
    e = x**2 * y
    assert str(e.substitute({x: y, y: x})) == "y ** 2 * x"
    assert str(e.substitute({x: np.sin(z), y: 3})) == "sin(z) ** 2 * 3"
    assert e.substitute({x: 2, y: 3}).evaluate() == 12.0
    assert e.substitute({z: 1}) is e
    assert np.sum(v * x).substitute({v: V, x: y}).evaluate({y: 2}) == pytest.approx(2 * V.sum())
    s = x * y
    assert str((s + np.sin(s)).substitute({s: z})) == "z + sin(z)"
    found = e.substitute({x: np.exp(z)}).derivative(z)
    assert found.evaluate({z: 0.4, y: 2}) == pytest.approx(4 * math.exp(0.8))
    with pytest.raises(ShapeError, match=r"shape \(3,\) in the place of shape \(\)"):
        e.substitute({x: V})
    with pytest.raises(DTypeError, match="bool"):
        e.substitute({x: y > 0})
    with pytest.raises(ArgumentError, match="symbols for keys"):
        e.substitute({"x": 1})  # type: ignore[dict-item]


def test_inside_derivatives() -> None:
    e = np.exp(x * y)
    assert hoad.derivative(lambda t: e.evaluate({x: t, y: t}), 2)(0.5) == pytest.approx((2 + 4 * 0.25) * math.exp(0.25))
    f = lambda t: e.gradient({x: t, y: 2.0})[x]  # noqa: E731
    assert hoad.grad(f)(0.5) == pytest.approx(4 * math.e)
    assert hoad.grad(lambda t: e.derivative(x).evaluate({x: t, y: 2.0}))(0.5) == pytest.approx(4 * math.e)
    assert hoad.grad(lambda t: np.sum(v * x).evaluate({v: [t, 1.0, t], x: 3.0}))(1.0) == 6.0


def test_programs() -> None:
    e = x * y**2
    program = e.to_program(z, y, x)
    assert program.evaluate(0.0, 3.0, 2.0) == 18.0
    assert hoad.gradient(program).evaluate(0.0, 3.0, 2.0) == (0.0, 12.0, 9.0)
    assert hoad.hessian(lambda t: program(0.0, t[0], t[1]))(np.array([3.0, 2.0])).tolist() == [[4.0, 6.0], [6.0, 0.0]]
    assert all(node.result is None for node in program[0])
    assert e.to_program() is e.to_program()
    recorded = hoad.record(lambda a, b: np.sin(a * b), 1.0, 2.0)
    found = recorded(x, y).derivative(x, 3).evaluate({x: 1, y: 2})
    assert found == pytest.approx(-8 * math.cos(2))
    with pytest.raises(ArgumentError, match="no input for y"):
        e.to_program(x)
    with pytest.raises(ArgumentError, match="twice"):
        e.to_program(x, x, y)
    with pytest.raises(ArgumentError, match="was given an expression"):
        e.to_program(x, y, e)


def test_primitives_of_the_users() -> None:
    @hoad.primitive
    def cube(t: Any) -> Any:
        return float(t) ** 3

    hoad.defvjp(cube, lambda g, p, t: (3 * g * t * t,))
    e = cube(x) * y
    assert str(e) == "cube(x) * y"
    assert e.derivative(x, 2).evaluate({x: 5, y: 2}) == 60.0
    assert e.gradient({x: 5, y: 2}, mode="forward") == {x: 150.0, y: 125.0}


def test_one_result_of_several_asked_for_twice() -> None:
    once, twice = np.linalg.eigh(A @ A.T), np.linalg.eigh(A @ A.T)
    e = once[1][0, 0] ** 2 * twice[1][0, 0] ** 2 + once[0][2]
    f = lambda a: (lambda w, u: u[0, 0] ** 4 + w[2])(*np.linalg.eigh(a @ a.T))  # noqa: E731
    for found in (e.gradient(AT)[A], e.gradient(AT, mode="forward")[A], e.derivative(A).evaluate(AT)):
        np.testing.assert_allclose(found, hoad.grad(f)(M), rtol=1e-10, atol=1e-12)


def test_a_new_rule_counts_at_once() -> None:
    @hoad.primitive
    def cube(t: Any) -> Any:
        return t**3

    hoad.defvjp(cube, lambda g, p, t: (g * t,))
    e = cube(x)
    assert e.gradient({x: 2})[x] == 2.0
    hoad.defvjp(cube, lambda g, p, t: (3 * g * t * t,))
    assert e.gradient({x: 2})[x] == e.derivative(x).evaluate({x: 2}) == 12.0


def test_stop_gradient() -> None:
    e = x * hoad.stop_gradient(x * y)
    assert e.gradient({x: 3, y: 2}) == {x: 6.0, y: 0.0}
    assert hoad.stop_gradient(np.array([x, y]))[0].gradient({x: 1, y: 2}) == {x: 0.0, y: 0.0}
