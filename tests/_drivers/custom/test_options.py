"""What a primitive may declare: the shape of its result, a rule for many lanes at once, one for forward mode."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from rules.modes import along, words
from scipy import special

import hoad

A = np.array([[2.0, 1.0, 0.0], [0.5, -1.0, 3.0]])


# ---- shapes ---------------------------------------------------------------------------------------------------------


def test_a_declared_shape_saves_the_call_on_ones() -> None:
    """The implementation takes a point that is not an array of ones, and is called once only."""
    calls = []

    @hoad.primitive(shape=lambda x: x)
    def picky(x: Any) -> Any:
        calls.append(x)
        if np.all(x == 1):
            raise ValueError("ones")
        return np.log(x - 1)

    hoad.defvjp(picky, lambda g, p, x: (g / (x - 1),))
    assert hoad.grad(picky)(3.0) == 0.5
    assert calls == [3.0]
    assert hoad.grad(lambda x: np.sum(picky(x)))(np.array([2.0, 5.0])).tolist() == [1.0, 0.25]


def test_forms_of_a_declared_shape() -> None:
    @hoad.primitive(nout=3, shape=lambda m, *, k: ((m.shape[0], k), ((k,), np.float32), m))
    def several(m: Any, k: int) -> Any:
        return m[:, :k], m[0, :k].astype(np.float32), 2 * m

    def rule(g: Any, p: Any, m: Any, *, k: int) -> Any:
        first = np.concatenate([g[0], np.zeros((2, 3 - k))], axis=1)
        second = np.concatenate([g[1].astype(float), np.zeros(3 - k)])
        return (first + np.stack([second, np.zeros(3)]) + 2 * g[2],)

    hoad.defvjp(several, rule)

    def f(m: Any) -> Any:
        a, b, c = several(m, k=2)
        assert (a.shape, b.shape, c.shape) == ((2, 2), (2,), (2, 3))
        assert (a.dtype, b.dtype, c.dtype) == (np.float64, np.float32, np.float64)
        return np.sum(a) + 3 * np.sum(b) + 5 * np.sum(c)

    assert hoad.grad(f)(A).tolist() == [[14.0, 14.0, 10.0], [11.0, 11.0, 10.0]]


@pytest.mark.parametrize(
    ("shape", "words_"),
    [
        (lambda x: (2,), ["gave shape (3,)", "(2,)"]),
        (lambda x: 3, ["is not a shape", ".shape and .dtype"]),
        (lambda x: (-1,), ["is not a shape"]),
        (lambda x: ((3,), np.int64), ["gave float64", "int64"]),
    ],
)
def test_mistakes_in_a_declared_shape(shape: Any, words_: list[str]) -> None:
    twice = hoad.primitive(lambda x: 2 * x, shape=shape)
    with pytest.raises((hoad.RuleError, TypeError)) as raised:
        hoad.vjp(twice, np.ones(3))
    for word in words_:
        assert word in str(raised.value)
    pair = hoad.primitive(lambda x: (x, x), nout=2, shape=lambda x: x)
    with pytest.raises(hoad.RuleError, match="2 results"):
        hoad.vjp(lambda x: pair(x)[0], np.ones(3))


# ---- lanes ----------------------------------------------------------------------------------------------------------


def test_all_lanes_at_once() -> None:
    """Running sums, applied to the tangents of a Jacobian: one call for all of them, or one for each."""
    calls: list[tuple[str, tuple[int, ...]]] = []

    def of_one(x: Any, w: Any) -> Any:
        calls.append(("one", np.shape(x)))
        return np.cumsum(x) * w

    def of_many(x: Any, w: Any) -> Any:
        calls.append(("many", np.shape(x)))
        assert w.shape == (x.shape[0],)
        return np.cumsum(x, axis=1) * w[:, None]

    x = np.array([0.5, -1.0, 2.0])
    want = 3.0 * np.tril(np.ones((3, 3)))
    for batch in (None, of_many):
        running = hoad.primitive(of_one, linear=(0,), shape=lambda x, w: x, batch=batch)
        rule = lambda g, p, x, w: (running(g[::-1], w)[::-1], np.sum(g * p) / w)  # noqa: E731
        hoad.defvjp(running, rule)
        for mode in ("forward", "reverse"):
            calls.clear()
            np.testing.assert_allclose(hoad.jacobian(lambda x: running(x, 3.0), mode=mode)(x), want)
            assert [kind for kind, _ in calls[1:]] == (["one"] * 3 if batch is None else ["many"])
        np.testing.assert_allclose(
            hoad.hessian(lambda x: np.sum(running(x, 3.0) ** 2))(x), 2 * want.T @ want, rtol=1e-14
        )


def test_functions_that_work_element_by_element_take_all_inputs_of_a_map() -> None:
    shapes: list[tuple[int, ...]] = []

    @hoad.primitive(elementwise=True)
    def bell(x: Any, width: Any) -> Any:
        shapes.append(np.shape(x))
        return np.exp(-((x / width) ** 2))

    hoad.defvjp(bell, lambda g, p, x, w: (-2 * g * p * x / w**2, 2 * g * p * x**2 / w**3))
    x, w = np.sin(np.arange(300.0)).reshape(100, 3), 1.0 + np.arange(100.0)
    want = np.exp(-((x / w[:, None]) ** 2))
    mapped = hoad.vmap(bell)
    mapped(x, w)
    shapes.clear()
    np.testing.assert_array_equal(mapped(x, w), want)
    assert shapes == [(3,), (100, 3)]  # recorded with the first input
    np.testing.assert_array_equal(hoad.vmap(bell, in_axes=(0, None))(x, 2.0), np.exp(-((x / 2.0) ** 2)))
    np.testing.assert_array_equal(hoad.vmap(bell, in_axes=(None, 0))(x[1], w), np.exp(-((x[1] / w[:, None]) ** 2)))
    slopes = hoad.vmap(hoad.grad(lambda x, w: np.sum(bell(x, w)), argnums=1))(x, w)
    np.testing.assert_allclose(slopes, np.sum(2 * want * x**2, 1) / w**3, rtol=1e-14)


def test_mistakes_of_a_batch_rule() -> None:
    def declared(batch: Any) -> Any:
        made = hoad.primitive(lambda x: 2 * x, linear=(0,), shape=lambda x: x, batch=batch)
        hoad.defvjp(made, lambda g, p, x: (made(g),))
        return hoad.jacobian(made)

    with pytest.raises(hoad.RuleError, match=r"batch rule .* gave shape \(3,\) where \(3, 3\)"):
        declared(lambda x: x[0])(np.ones(3))
    with pytest.raises(ZeroDivisionError):
        declared(lambda x: 1 // 0)(np.ones(3))
    with pytest.raises(hoad.ArgumentError, match="batch as a function"):
        declared(3)


def test_a_batch_rule_with_several_results() -> None:
    parts = hoad.primitive(
        lambda x: (np.sum(x), x[0]),
        nout=2,
        linear=(0,),
        shape=lambda x: ((), ()),
        batch=lambda x: (np.sum(x, axis=1), x[:, 0]),
    )
    spread = hoad.primitive(
        lambda a, b, n: a + b * np.eye(n)[0],
        linear=(0, 1),
        shape=lambda a, b, *, n: (n,),
        batch=lambda a, b, n: a[:, None] + b[:, None] * np.eye(n)[0],
    )
    hoad.defvjp(spread, lambda g, p, a, b, *, n: parts(g))
    hoad.defvjp(parts, lambda g, p, x: (spread(g[0], 0.0, n=3) + spread(0.0, g[1], n=3),))

    def f(v: Any) -> Any:
        return spread(v[0], v[1], n=3)

    want = [[1.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    for mode in ("forward", "reverse"):
        assert hoad.jacobian(f, mode=mode)(np.array([2.0, 5.0])).tolist() == want


# ---- forward mode ---------------------------------------------------------------------------------------------------


def test_a_rule_for_forward_mode() -> None:
    used = []

    def tangent(dots: Any, p: Any, x: Any, y: Any, *, n: int) -> Any:
        used.append(tuple(dot is not None for dot in dots))
        a, b = dots
        return sum(t for t in (None if a is None else n * p / x * a, None if b is None else p / y * b) if t is not None)

    monomial = hoad.primitive(lambda x, y, n: x**n * y, jvp=tangent)
    hoad.defvjp(monomial, lambda g, p, x, y, *, n: (g * n * p / x, g * p / y))
    directions = [(0.3, -0.8), (1.1, 0.4), (-0.2, 0.9)]
    for order in (1, 2, 3):
        want = along(lambda x, y: x**3 * y, "r" * order, directions[:order])(1.2, 0.7)
        for word in words(order):
            used.clear()
            found = along(lambda x, y: monomial(x, y, n=3), word, directions[:order])(1.2, 0.7)
            assert found == pytest.approx(want, rel=1e-12)
    assert hoad.jvp(lambda x: monomial(x, 2.0, n=5), (1.0,), (1.0,))[1] == 10.0
    assert used[-1] == (True, False)
    x = np.array([1.0, 2.0])
    assert hoad.jacobian(lambda x: monomial(x, 2.0, n=2), mode="forward")(x).tolist() == [[4.0, 0.0], [0.0, 8.0]]


def test_forward_mode_alone() -> None:
    cube = hoad.primitive(lambda x: x**3, jvp=lambda dots, p, x: 3 * x**2 * dots[0])
    assert hoad.jvp(cube, (2.0,), (1.0,)) == (8.0, 12.0)
    assert hoad.derivative(cube, 3)(2.0) == 6.0
    with pytest.raises(hoad.NoRuleError, match="no derivative rule"):
        hoad.grad(cube)(2.0)


def test_the_check_finds_a_wrong_one() -> None:
    def declared(jvp: Any) -> Any:
        made = hoad.primitive(lambda x: x**3, jvp=jvp)
        hoad.defvjp(made, lambda g, p, x: (g * 3 * x**2,))
        return hoad.check.rule(made, 2.0)

    assert declared(lambda dots, p, x: 3 * x**2 * dots[0]).passed
    report = declared(lambda dots, p, x: 2 * x**2 * dots[0])
    assert not report.passed and "forward = reverse" in report.failure().lower()


@pytest.mark.parametrize(
    ("jvp", "words_"),
    [
        (lambda dots, p, x: dots[0] * dots[0], ["not linear in the tangents", "multiply"]),
        (lambda dots, p, x: x, ["not linear in the tangents", "does not contain"]),
        (lambda dots, p, x: 1.0, ["not linear in the tangents"]),
        (lambda dots, p, x: np.stack([dots[0], dots[0]]), ["shape (2,)", "result of shape ()"]),
        (lambda dots, p, x: (dots[0], dots[0]), ["not linear in the tangents"]),
        (lambda dots, p, x: dots[0] * math.sin(x), ["jvp of", "float()"]),
        (lambda dots, p, x: dots[1], ["IndexError", "dots"]),
        (lambda dots, p, x: special.mathieu_a(1.0, dots[0]), ["jvp of"]),
    ],
)
def test_mistakes_of_a_rule_for_forward_mode(jvp: Any, words_: list[str]) -> None:
    made = hoad.primitive(lambda x: x**3, jvp=jvp)
    with pytest.raises(hoad.HoadError) as raised:
        hoad.jvp(made, (2.0,), (1.0,))
    for word in words_:
        assert word in str(raised.value)
    with pytest.raises(hoad.RuleError, match="names no operand"):
        hoad.primitive(np.sin, jvp=lambda dots, p: dots[0])


# ---- what is not an operand
# ---------------------------------------------------------------------------------------------


def test_parameters_of_every_kind() -> None:
    """Strings, callables, tuples and integers behind a * in the rule; arrays of integers among the operands."""

    @hoad.primitive(shape=lambda x, i, **_: (i.shape[0],))
    def reduced(x: Any, i: Any, how: str, of: Any, window: tuple[int, int]) -> Any:
        assert how == "sum" and of is np.square and window == (0, 2)
        return np.array([np.sum(of(x[k : k + 2])) for k in i])

    @hoad.defvjp(reduced)
    def rule(g: Any, p: Any, x: Any, i: Any, *, how: str, of: Any, window: tuple[int, int]) -> Any:
        ones = np.zeros((i.shape[0], x.shape[0]))
        places = np.stack([i, i + 1], axis=1)
        hit = np.sum(np.where(np.arange(x.shape[0]) == places[:, :, None], 1.0, 0.0), axis=1) + ones
        return 2 * x * (g @ hit), None

    x, i = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0])
    found = hoad.jacobian(lambda x: reduced(x, i, "sum", np.square, (0, 2)))(x)
    assert found.tolist() == [[0.0, 0.0, 6.0, 8.0], [2.0, 4.0, 0.0, 0.0]]
    found = hoad.jacobian(lambda x: reduced(x, i, how="sum", window=(0, 2), of=np.square), mode="forward")(x)
    assert found.tolist() == [[0.0, 0.0, 6.0, 8.0], [2.0, 4.0, 0.0, 0.0]]
