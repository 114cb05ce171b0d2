"""Containers of every kind as arguments of every driver, with derivatives in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _pytree.kinds import CASES, GRADIENT, HESSIAN, Case, X, Y, constants_of, loss

import hoad
from hoad._pytree.containers import flatten

kinds = pytest.mark.parametrize("kind", CASES)
equal = np.testing.assert_array_equal
V, W = np.array([0.5, 1.0, -1.0]), 0.25  # a direction
HVP = (2 * Y * V + 2 * X * W, 2 * X @ V + 6 * Y * W)


def problem(kind: str) -> tuple[Case, Any, Any]:
    """(the kind, a container, a function of it)."""
    case = CASES[kind]
    return case, case.make(X, Y), lambda p: loss(*case.parts(p))


def direction(case: Case, point: Any, v: Any, w: Any) -> Any:
    """A container of the structure of the point that holds (v, w)."""
    leaves, structure = flatten(point)
    return structure.unflatten([v if leaf is X else w if leaf is Y else leaf for leaf in leaves])


def check(case: Case, point: Any, found: Any, wanted: tuple[Any, Any]) -> None:
    """`found` has the structure of the point, the parts `wanted`, and None in the place of constants."""
    assert type(found) is type(point)
    assert flatten(found)[1] == flatten(point)[1]
    for part, exact in zip(case.parts(found), wanted, strict=True):
        np.testing.assert_allclose(part, exact, rtol=1e-14)
    assert all(value is None for value in constants_of(case, found).values())
    assert constants_of(case, point) == case.constants  # the point itself is as it was
    assert case.parts(point)[0] is X and case.parts(point)[1] is Y


@kinds
def test_gradients(kind: str) -> None:
    case, point, f = problem(kind)
    check(case, point, hoad.grad(f)(point), GRADIENT)
    value, gradient = hoad.value_and_grad(f)(point)
    check(case, point, gradient, GRADIENT)
    assert value == loss(X, Y) and type(value) is float
    check(case, point, hoad.vjp(f, point)[1](1.0)[0], GRADIENT)
    for mode in ("auto", "forward", "reverse"):
        check(case, point, hoad.jacobian(f, mode=mode)(point), GRADIENT)


@kinds
def test_directions(kind: str) -> None:
    case, point, f = problem(kind)
    along = GRADIENT[0] @ V + GRADIENT[1] * W
    v = direction(case, point, V, W)
    assert hoad.jvp(f, (point,), (v,)) == (loss(X, Y), pytest.approx(along, rel=1e-14))
    value, pushforward = hoad.linearize(f, point)
    assert value == loss(X, Y) and pushforward(v) == pytest.approx(along, rel=1e-14)
    check(case, point, hoad.hvp(f)(point, v), HVP)
    check(case, point, hoad.vhp(f)(point, v), HVP)
    gradient = hoad.grad(f)(point)  # a direction with None in the place of constants
    check(
        case,
        point,
        hoad.hvp(f)(point, gradient),
        (2 * Y * GRADIENT[0] + 2 * X * GRADIENT[1], 2 * X @ GRADIENT[0] + 6 * Y * GRADIENT[1]),
    )


@kinds
def test_hessians(kind: str) -> None:
    """The structure of the argument twice: rows outside, columns inside."""
    case, point, f = problem(kind)
    for found in (hoad.hessian(f)(point), hoad.jacobian(hoad.grad(f))(point)):
        leaves, structure = flatten(point)
        rows = structure.match(found, "the Hessian")
        for leaf, row in zip(leaves, rows, strict=True):
            if leaf is X or leaf is Y:
                check(case, point, row, HESSIAN[0 if leaf is X else 1])
            else:
                assert row is None


@kinds
def test_constants_keep_their_values(kind: str) -> None:
    case, point, f = problem(kind)
    seen = []

    def watching(p: Any) -> Any:
        seen.append((type(p), constants_of(case, p)))
        return f(p)

    hoad.grad(watching)(point)
    assert seen[:1] == [(type(point), case.constants)]


@kinds
def test_several_arguments(kind: str) -> None:
    case, point, f = problem(kind)
    g = lambda s, p, t: s * f(p) * t[0]  # noqa: E731
    by_s, by_p, by_t = hoad.grad(g, argnums=(0, 1, 2))(2.0, point, [1.0])
    check(case, point, by_p, tuple(2.0 * part for part in GRADIENT))
    assert by_s == loss(X, Y) and by_t == [2.0 * loss(X, Y)]
    check(case, point, hoad.grad(g, 1)(2.0, point, [1.0]), tuple(2.0 * part for part in GRADIENT))
    blocks = hoad.hessian(g, argnums=(0, 1))(2.0, point, [1.0])
    check(case, point, blocks[0][1], GRADIENT)
    for (by_s, _), exact in zip(case.parts(blocks[1]), GRADIENT, strict=True):
        np.testing.assert_allclose(by_s, exact, rtol=1e-14)
    named = hoad.grad(lambda s, *, p: s * f(p), argnames=("p", "s"))(1.0, p=point)
    check(case, point, named["p"], GRADIENT)
    assert list(named) == ["p", "s"] and named["s"] == loss(X, Y)


@kinds
def test_nested_derivatives(kind: str) -> None:
    """Containers of traced values of an outer derivative, in all places."""
    case, point, f = problem(kind)
    x, y = CASES[kind].parts(point)
    # d/ds of f(s x, s y) = s³ (y Σ x² + y³), by way of derivatives inside
    if kind in ("dataclass that checks", "frozen attrs class"):
        made = lambda s: direction(case, point, s * x, s * y)  # noqa: E731
    else:
        made = lambda s: case.make(s * x, s * y)  # noqa: E731
    inner = lambda s: hoad.jvp(f, (made(s),), (direction(case, point, x, y),))[1]  # noqa: E731
    assert inner(1.0) == pytest.approx(3 * loss(X, Y), rel=1e-14)
    assert hoad.grad(inner)(1.0) == pytest.approx(6 * loss(X, Y), rel=1e-14)
    by_gradient = lambda s: np.sum(case.parts(hoad.grad(f)(made(s)))[0] * x)  # noqa: E731
    assert hoad.derivative(by_gradient)(1.0) == pytest.approx(2 * np.sum(GRADIENT[0] * x), rel=1e-14)
    by_pullback = lambda s: case.parts(hoad.vjp(f, made(s))[1](s)[0])[1]  # noqa: E731
    assert hoad.grad(by_pullback)(1.0) == pytest.approx(3 * GRADIENT[1], rel=1e-14)
    by_map = lambda s: hoad.linearize(f, made(s))[1](made(s))  # noqa: E731
    assert hoad.grad(by_map)(1.0) == pytest.approx(9 * loss(X, Y), rel=1e-14)


@kinds
def test_pullbacks_of_traced_seeds(kind: str) -> None:
    case, point, f = problem(kind)
    _, pullback = hoad.vjp(f, point)
    assert hoad.grad(lambda c: case.parts(pullback(c)[0])[1] * c)(2.0) == pytest.approx(4 * GRADIENT[1], rel=1e-14)
    _, pushforward = hoad.linearize(f, point)
    found = hoad.grad(lambda t: pushforward(direction(case, point, t * V, t * W)))(2.0)
    assert found == pytest.approx(GRADIENT[0] @ V + GRADIENT[1] * W, rel=1e-14)


def test_float32_stays() -> None:
    point = {"x": X.astype("f4"), "y": Y, "z": np.float32(2.0)}
    gradient = hoad.grad(lambda p: np.sum(p["x"] ** 2) * p["y"] * p["z"])(point)
    assert gradient["x"].dtype == np.float32 and type(gradient["y"]) is float and gradient["z"].dtype == np.float32
    blocks = hoad.hessian(lambda p: np.sum(p["x"] ** 2) * p["y"])(point)
    assert blocks["x"]["x"].shape == (3, 3) and blocks["x"]["y"].shape == (3,) and blocks["x"]["x"].dtype == np.float32


def test_what_is_constant() -> None:
    """Numbers that are not floats, texts, and objects of any other kind: None stands in their place."""
    other = object()
    point = [1.0, 3, True, None, "a", b"b", 2 + 0 * 1, np.arange(2), np.array([True]), np.int64(4), other, len, {2.0}]

    def f(p: Any) -> Any:
        assert p[1:5] == [3, True, None, "a"] and p[10] is other and p[7].tolist() == [0, 1]
        return p[0] ** p[1] * p[9]

    assert hoad.grad(f)(point) == [12.0] + [None] * 12
    texts = np.array(["a", "b"], dtype=object)
    assert hoad.grad(lambda p: p[0] ** 2)([1.0, texts]) == [2.0, None]


def test_traced_constants_of_an_outer_derivative() -> None:
    """A traced boolean is a constant in the inner derivative; the outer one goes on."""
    f = lambda x: hoad.grad(lambda p: np.where(p["up"], p["y"] ** 2, p["y"]))({"up": x > 1.0, "y": x})["y"]  # noqa: E731
    assert hoad.grad(f)(3.0) == 2.0 and hoad.grad(f)(0.5) == 0.0


def test_object_arrays_of_traced_numbers_among_leaves() -> None:
    f = lambda x: np.sum(hoad.grad(lambda p: np.sum(p["v"] ** 3))({"v": np.array([x, 2 * x])})["v"])  # noqa: E731
    assert hoad.grad(f)(2.0) == 6 * 2.0 + 24 * 2.0  # 3x² + 12x²


def test_one_value_in_two_places_is_two_leaves() -> None:
    point = {"a": X, "b": [X]}
    gradient = hoad.grad(lambda p: np.sum(p["a"] * p["b"][0] ** 2))(point)
    equal(gradient["a"], X**2)
    equal(gradient["b"][0], 2 * X * X)
    inner = [2.0]
    assert hoad.grad(lambda p: p[0][0] * p[1][0] ** 2)((inner, inner)) == ([4.0], [8.0])


def test_empty_containers_and_empty_arrays_stay() -> None:
    point = {"a": [], "b": (), "c": {}, "d": np.ones((0, 2)), "e": 1.0}
    gradient = hoad.grad(lambda p: p["e"] ** 2 + np.sum(p["d"]))(point)
    assert gradient["d"].shape == (0, 2)
    assert {k: v for k, v in gradient.items() if k != "d"} == {"a": [], "b": (), "c": {}, "e": 2.0}
    assert hoad.hessian(lambda p: p["e"] ** 2 + np.sum(p["d"]))(point)["e"]["d"].shape == (0, 2)


def test_any_depth() -> None:
    chain: Any = ()
    for _ in range(20_000):
        chain = (0.5, chain)

    def f(p: Any) -> Any:
        total = 0.0
        while p:
            total, p = total + p[0] ** 2, p[1]
        return total

    gradient = hoad.grad(f)(chain)
    assert gradient[0] == gradient[1][0] == gradient[1][1][1][0] == 1.0


def test_order_of_dicts_is_kept_and_does_not_matter() -> None:
    f = lambda p: p["b"] ** 2 * p["a"]  # noqa: E731
    point = {"b": 3.0, "a": 2.0}
    assert list(hoad.grad(f)(point)) == ["b", "a"]
    turned = {"a": 1.0, "b": 0.0}
    assert hoad.jvp(f, (point,), (turned,))[1] == 9.0
    assert hoad.hvp(f)(point, turned) == {"b": 6.0, "a": 0.0}
    assert hoad.linearize(f, point)[1](turned) == 9.0
    assert hoad.vjp(lambda p: {"u": p["a"], "v": p["b"]}, point)[1]({"v": 5.0, "u": 1.0})[0] == {"b": 5.0, "a": 1.0}
    assert hoad.record(f, point).evaluate({"a": 1.0, "b": 2.0}) == 4.0


def test_defaults_and_other_state_of_subclasses_stay() -> None:
    case = CASES["defaultdict"]
    found = hoad.grad(lambda p: loss(*case.parts(p)))(case.make(X, Y))
    assert found["new"] == []
    assert hoad.grad(lambda p: p[0] * 2)(CASES["deque"].make(1.0, 2.0)).maxlen == 2
