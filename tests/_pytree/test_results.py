"""Containers of every kind as results: their Jacobians, tangents, adjoints and derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _pytree.kinds import CASES, Plain, X, constants_of

import hoad
from hoad._core.record.recording import differentiating
from hoad._pytree.containers import flatten

# Classes that refuse traced values in their constructors cannot be made inside f; drivers themselves never call those.
kinds = pytest.mark.parametrize("kind", [k for k in CASES if k not in ("dataclass that checks", "frozen attrs class")])
close = np.testing.assert_allclose


def values(s: Any) -> tuple[Any, Any]:
    """An array and a number that depend on a number s: s² X and sin s."""
    return s**2 * X, np.sin(s)


SLOPES = (2 * 0.7 * X, np.cos(0.7))
CURVATURES = (2 * X, -np.sin(0.7))


def f(kind: str) -> Any:
    return lambda s: CASES[kind].make(*values(s))


def check(kind: str, found: Any, wanted: Any) -> None:
    case = CASES[kind]
    point = case.make(*values(0.7))
    assert type(found) is type(point) and flatten(found)[1] == flatten(point)[1]
    for part, exact in zip(case.parts(found), wanted, strict=True):
        close(part, exact, rtol=1e-14)
    assert all(value is None for value in constants_of(case, found).values())


@kinds
def test_derivatives_by_a_number(kind: str) -> None:
    check(kind, hoad.derivative(f(kind))(0.7), SLOPES)
    check(kind, hoad.derivative(f(kind), 2)(0.7), CURVATURES)
    for mode in ("auto", "forward", "reverse"):
        check(kind, hoad.jacobian(f(kind), mode=mode)(0.7), SLOPES)
    value, tangent = hoad.jvp(f(kind), (0.7,), (2.0,))
    check(kind, tangent, [2.0 * slope for slope in SLOPES])
    point = CASES[kind].make(*values(0.7))
    for part, exact in zip(CASES[kind].parts(value), values(0.7), strict=True):
        np.testing.assert_array_equal(part, exact)
    assert constants_of(CASES[kind], value) == constants_of(CASES[kind], point)
    value, pushforward = hoad.linearize(f(kind), 0.7)
    check(kind, pushforward(2.0), [2.0 * slope for slope in SLOPES])
    assert constants_of(CASES[kind], value) == constants_of(CASES[kind], point)


@kinds
def test_adjoints(kind: str) -> None:
    value, pullback = hoad.vjp(f(kind), 0.7)
    wanted = SLOPES[0] @ values(0.7)[0] + SLOPES[1] * values(0.7)[1]
    assert pullback(value)[0] == pytest.approx(wanted, rel=1e-14)  # a cotangent with the constants themselves
    jacobian = hoad.jacobian(f(kind))(0.7)
    wanted = SLOPES[0] @ SLOPES[0] + SLOPES[1] ** 2
    assert pullback(jacobian)[0] == pytest.approx(wanted, rel=1e-14)  # and one with None


@kinds
def test_jacobians_inside_another_derivative(kind: str) -> None:
    case = CASES[kind]
    for mode in ("forward", "reverse"):
        slope = lambda s: case.parts(hoad.jacobian(f(kind), mode=mode)(s))  # noqa: E731
        close(hoad.jacobian(lambda s: slope(s)[0])(0.7), CURVATURES[0], rtol=1e-14)
        assert hoad.grad(lambda s: slope(s)[1])(0.7) == pytest.approx(CURVATURES[1], rel=1e-14)
    check(kind, hoad.jacobian(hoad.jacobian(f(kind)))(0.7), CURVATURES)


@kinds
def test_auxiliary_output(kind: str) -> None:
    """Plain when outermost, in any container."""
    case = CASES[kind]
    for found in (
        hoad.grad(lambda s: (s * s, f(kind)(s)), has_aux=True)(0.7)[1],
        hoad.jvp(lambda s: ({"a": s}, f(kind)(s)), (0.7,), (1.0,), has_aux=True)[2],
        hoad.value_and_grad(lambda s: (s * s, f(kind)(s)), has_aux=True)(0.7)[0][1],
    ):
        x, y = case.parts(found)
        assert type(x) is np.ndarray and type(y) is float
        close(x, values(0.7)[0], rtol=1e-15)
        assert constants_of(case, found) == case.constants


@kinds
def test_value_and_stop_gradient(kind: str) -> None:
    case = CASES[kind]
    g = lambda s: np.sum(case.parts(hoad.stop_gradient(f(kind)(s)))[0]) * s  # noqa: E731
    assert hoad.grad(g)(0.7) == pytest.approx(np.sum(values(0.7)[0]), rel=1e-14)
    seen = []
    hoad.grad(lambda s: seen.append(hoad.value(f(kind)(s))) or s)(0.7)
    assert type(case.parts(seen[0])[1]) is float
    point = f(kind)(0.7)
    assert hoad.value(point) is point and hoad.stop_gradient(point) is point


def test_jacobians_nest_the_argument_in_the_result() -> None:
    """result[o][i] of shape (shape of o, shape of i)."""
    a, b = np.array([[1.0, 2.0]]), 3.0
    found = hoad.jacobian(lambda p: {"u": (p["a"] * p["b"],), "v": Plain(p["b"] ** 2, 1.0)})({"a": a, "b": b, "n": 1})
    close(found["u"][0]["a"], 3.0 * np.eye(2).reshape(1, 2, 1, 2), rtol=0)
    close(found["u"][0]["b"], a, rtol=0)
    assert found["u"][0]["n"] is None
    close(found["v"].x["a"], np.zeros((1, 2)), rtol=0)
    assert found["v"].x["b"] == 6.0 and found["v"].y["b"] == 0.0 and found["v"].label is None
    rows = hoad.jacobian(lambda p, q: [p["b"] * q, q**2], argnums=(0, 1))({"b": 2.0}, 5.0)
    assert rows == [({"b": 5.0}, 2.0), ({"b": 0.0}, 10.0)]
    rows = hoad.jacobian(lambda p, q: [p["b"] * q], argnums=0, argnames=("q",))({"b": 2.0}, q=5.0)
    assert rows == [({"b": 5.0}, {"q": 2.0})]


def test_the_same_result_in_two_places() -> None:
    found = hoad.jacobian(lambda p: (p[0], p[0], p, 2.0))([3.0])
    assert found == ([1.0], [1.0], [[1.0]], [0.0])
    assert hoad.jvp(lambda x: (x, x), (3.0,), (2.0,)) == ((3.0, 3.0), (2.0, 2.0))
    assert hoad.vjp(lambda x: (x, x), 3.0)[1]((1.0, 10.0)) == (11.0,)


def test_what_is_constant_in_results() -> None:
    """No float and not traced: kept in the value, None in derivatives. A traced boolean has derivative zero."""
    g = lambda x: {"x": x, "n": 3, "none": None, "text": "a", "up": x > 1.0, "whole": np.arange(2), "c": 2.5}  # noqa: E731
    value, tangent = hoad.jvp(g, (2.0,), (1.0,))
    assert (
        type(value["n"]) is int and value["none"] is None and value["up"] is True and value["whole"].tolist() == [0, 1]
    )
    assert tangent == {"x": 1.0, "n": None, "none": None, "text": None, "up": 0.0, "whole": None, "c": 0.0}
    assert hoad.jacobian(g)(2.0) == tangent == hoad.derivative(g)(2.0)


def test_a_class_is_a_function_too() -> None:
    assert hoad.jacobian(Plain)(1.0, 2.0) == Plain(1.0, 0.0, None)
    assert hoad.jvp(Plain, (1.0, 2.0), (3.0, 4.0)) == (Plain(1.0, 2.0), Plain(3.0, 4.0, None))


def test_pointwise_derivatives_of_containers() -> None:
    found = hoad.derivative(lambda x: {"a": np.sin(x), "b": [x**3, 2.0]}, 2)(X)
    close(found["a"], -np.sin(X), rtol=1e-15)
    close(found["b"][0], 6 * X, rtol=1e-15)
    close(found["b"][1], np.zeros(3), rtol=0)
    with pytest.raises(hoad.ShapeError, match="seems to mix elements"):
        hoad.derivative(lambda x: [x, np.sum(x)])(X)


def test_nothing_is_left_behind() -> None:
    """Containers of results keep no traced value: a loop of nested derivatives runs in constant memory."""
    sizes = set()

    def outer(x: Any) -> Any:
        for _ in range(4):
            hoad.jacobian(lambda p: {"a": p["a"] * 2.0, "n": 1})({"a": 1.0})
            hoad.grad(lambda p: p["a"] ** 2)({"a": 1.0})
            hoad.hessian(lambda p: p["a"] ** 2)({"a": 1.0})
            hoad.jvp(lambda p: [p["a"] ** 2], ({"a": 1.0},), ({"a": 1.0},))
            with differentiating() as d:
                sizes.add(d.size)
        return x

    hoad.grad(outer)(1.0)
    assert len(sizes) == 1
