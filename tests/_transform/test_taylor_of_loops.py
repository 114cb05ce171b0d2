"""Loops and calls of programs along curves: expanded as loops and calls, beside the same steps written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad
from hoad import derivatives
from hoad._core.graph.inspect import node_row
from hoad._transform import expansion as taylor
from hoad._transform.expansion import expand

ORDER = 12
MATRIX = np.array([[1.5, 0.3], [0.3, 2.0]])
ROWS = np.array([[0.2, 0.5], [-0.4, 0.1], [0.3, 0.7]])

Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def _without_tangents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here may fall back to tangents of tangents."""

    def refused(*args: Any) -> Any:
        raise AssertionError("by tangents")

    monkeypatch.setattr(taylor, "tangents_of", refused)


def unrolled(n: int, step: Function, x: Any) -> Any:
    for i in range(n):
        x = step(i, x)
    return x


def of_rows(x: Any) -> Any:
    def step(c: Any, row: Any) -> Any:
        total, last = c
        total = np.sin(total) + row @ last * x
        return (total, last + row), np.exp(0.1 * total) * last

    (total, last), rows = hoad.scan(step, (x, np.stack([x, 1.0 + x])), ROWS * x)
    return total + np.sum(rows * np.cos(rows)) + last[0]


def of_rows_unrolled(x: Any) -> Any:
    total, last, rows = x, np.stack([x, 1.0 + x]), []
    for row in ROWS:
        total = np.sin(total) + (row * x) @ last * x
        rows.append(np.exp(0.1 * total) * last)
        last = last + row * x
    rows = np.stack(rows)
    return total + np.sum(rows * np.cos(rows)) + last[0]


def counted(x: Any) -> Any:
    """With an integer that is carried, and one that is returned beside."""

    def step(c: Any, _: Any) -> Any:
        k, v = c
        return (k + 1, np.sin(v) * k + x), k

    (k, v), ks = hoad.scan(step, (np.int64(0), x), length=4)
    return v * (k - 1) + np.sum(ks) * x


def counted_unrolled(x: Any) -> Any:
    return unrolled(4, lambda k, v: np.sin(v) * k + x, x) * 3 + 6 * x


def in_rows(x: Any) -> Any:
    """What is the same at all steps, moves or stays."""
    return np.sum(hoad.scan(lambda c, row: (c, np.tanh(row * x) @ (MATRIX @ row)), 0.0, ROWS)[1])


def factors(x: Any) -> Any:
    return hoad.fori_loop(0, 3, lambda i, a: np.linalg.cholesky(a @ a.T + MATRIX), MATRIX * x)[1, 0]


def factors_unrolled(x: Any) -> Any:
    return unrolled(3, lambda i, a: np.linalg.cholesky(a @ a.T + MATRIX), MATRIX * x)[1, 0]


def nested_loops(x: Any) -> Any:
    inner = lambda v, i: hoad.fori_loop(0, 2, lambda j, w: np.sin(w) + i * v, v)  # noqa: E731
    return hoad.fori_loop(0, 3, lambda i, v: np.cos(inner(v, i)) + x, x) * np.exp(hoad.fori_loop(0, 2, _times(x), x))


def _times(x: Any) -> Function:
    return lambda i, v: v * x


def nested_unrolled(x: Any) -> Any:
    def outer(i: int, v: Any) -> Any:
        return np.cos(unrolled(2, lambda j, w: np.sin(w) + i * v, v)) + x

    return unrolled(3, outer, x) * np.exp(x * x * x)


def calls(x: Any) -> Any:
    inner = hoad.checkpoint(lambda x, y: (np.sin(x) * y, hoad.checkpoint(np.exp)(x)))
    a, b = inner(x, x * x)
    return a * b + hoad.checkpoint(np.tanh)(3.0) + hoad.fori_loop(0, 2, lambda i, v: v * v, 1.1)


def calls_written_out(x: Any) -> Any:
    return np.sin(x) * x * x * np.exp(x) + np.tanh(3.0) + 1.1**4


def growing(x: Any) -> Any:
    return hoad.while_loop(lambda v: v < 10.0, lambda v: v * (1.5 + np.sin(x)), x + 1)


PAIRS: dict[str, tuple[Function, Function]] = {
    "fori_loop": (
        lambda x: hoad.fori_loop(0, 5, lambda i, v: np.sin(v) + x * i, x),
        lambda x: unrolled(5, lambda i, v: np.sin(v) + x * i, x),
    ),
    "rows": (of_rows, of_rows_unrolled),
    "integers": (counted, counted_unrolled),
    "steps side by side": (in_rows, lambda x: sum(np.tanh(row * x) @ (MATRIX @ row) for row in ROWS)),
    "factors": (factors, factors_unrolled),
    "loops in loops": (nested_loops, nested_unrolled),
    "while_loop": (growing, lambda x: unrolled(4, lambda i, v: v * (1.5 + np.sin(x)), x + 1)),
    "no step": (lambda x: hoad.fori_loop(0, 0, lambda i, v: np.sin(v), x) * x, lambda x: x * x),
    "calls": (calls, calls_written_out),
    "program": (
        lambda x: hoad.record(lambda x: np.sin(x) * np.exp(x), 0.5)(x) ** 2,
        lambda x: (np.sin(x) * np.exp(x)) ** 2,
    ),
}
pairs = pytest.mark.parametrize(("f", "g"), [pytest.param(*pair, id=name) for name, pair in PAIRS.items()])


def agree(got: Any, want: Any, tolerance: float = 1e-11) -> None:
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    assert np.all(abs(got - want) <= tolerance * (1.0 + np.max(abs(want), initial=0.0))), f"{got}\nnot\n{want}"


CURVE = np.array([1.0, -0.4, 0.3])


@pairs
def test_coefficients(f: Function, g: Function) -> None:
    want = expand(g, [0.3], [CURVE], ORDER)
    got = expand(f, [0.3], [CURVE], ORDER)
    size = np.maximum.accumulate(abs(want))
    assert np.all(abs(got - want) <= 1e-13 * size)
    agree(derivatives(f, 3)(0.3), derivatives(g, 3)(0.3))
    agree(expand(f, [0.3], [CURVE], 1), want[:2])


@pairs
@pytest.mark.parametrize("driver", [hoad.grad, hoad.hessian, lambda h: hoad.jit(hoad.grad(h))])
def test_gradients(f: Function, g: Function, driver: Function) -> None:
    weights = np.arange(1.0, 6.0)

    def total(h: Function) -> Function:
        return lambda x: np.sum(weights * expand(h, [x[0]], [x[1:]], 4))

    x = np.array([0.3, *CURVE])
    agree(driver(total(f))(x), driver(total(g))(x), 1e-10)


@pairs
def test_replays(f: Function, g: Function) -> None:
    points = np.array([0.3, 0.31, 0.29])
    want = np.stack([derivatives(g, 4)(x) for x in points])
    fast = hoad.jit(lambda x: derivatives(f, 4)(x))
    agree(np.stack([fast(x) for x in points]), want)
    agree(hoad.vmap(derivatives(f, 4))(points), want)
    agree(
        hoad.fori_loop(0, 2, lambda i, x: x + 1e-5 * derivatives(f, 2)(x)[2], 0.3),
        unrolled(2, lambda i, x: x + 1e-5 * derivatives(g, 2)(x)[2], 0.3),
    )
    lanes = expand(f, [0.3], [np.stack([CURVE, -CURVE], axis=1)], 4, 2)
    agree(lanes[:, 1], expand(g, [0.3], [-CURVE], 4))


def test_long_loops() -> None:
    """x' = x (1 - x) by Euler's rule: 2000 steps, whose adjoint keeps stretches."""

    def logistic(x: Any) -> Any:
        return hoad.fori_loop(0, 2000, lambda i, v: v + 1e-3 * v * (1.0 - v), x)

    def state(x: Any) -> Any:
        return hoad.fori_loop(0, 2000, lambda i, v: v + 1e-3 * v * (1.0 - v), x * np.ones(300))[7]

    def straight(x: Any) -> Any:
        return unrolled(2000, lambda i, v: v + 1e-3 * v * (1.0 - v), x)

    want = expand(straight, [0.2], [CURVE], 6)
    agree(expand(logistic, [0.2], [CURVE], 6), want, 1e-13)
    agree(expand(state, [0.2], [CURVE], 6), want, 1e-13)
    slope = hoad.grad(lambda x: expand(straight, [x], [CURVE], 3)[3])(0.2)
    agree(hoad.grad(lambda x: expand(logistic, [x], [CURVE], 3)[3])(0.2), slope)
    agree(hoad.grad(lambda x: expand(state, [x], [CURVE], 3)[3])(0.2), slope)


def test_branches_around_loops() -> None:
    def f(x: Any) -> Any:
        y = hoad.fori_loop(0, 3, lambda i, v: np.sin(v) + x, x)
        return y * y if y > 0 else np.exp(y)

    fast = hoad.jit(lambda x: derivatives(f, 5)(x))
    for x in (0.3, -0.3):
        branch = (lambda y: y * y) if x > 0 else np.exp
        agree(fast(x), derivatives(lambda x, b=branch: b(unrolled(3, lambda i, v: np.sin(v) + x, x)), 5)(x))


def test_strong_zeros_in_loops() -> None:
    """A root whose derivative is masked in every step."""

    def f(x: Any) -> Any:
        return hoad.fori_loop(0, 2, lambda i, v: v + np.where(x > 1.0, np.sqrt(x), 2.0 * x), x)

    agree(derivatives(f, 3)(0.0), [0.0, 5.0, 0.0, 0.0])
    agree(hoad.grad(lambda x: derivatives(f, 2)(x)[1])(0.0), 0.0)


def test_calls_of_one_program_share_its_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any number of them."""
    made: list[str] = []
    arithmetic_of = taylor.arithmetic_of

    def noted(program: hoad.Program, *further: Any) -> Any:
        made.extend(node_row(program[-1]._graph, k)[0].name for k in range(program[-1]._end))
        return arithmetic_of(program, *further)

    monkeypatch.setattr(taylor, "arithmetic_of", noted)

    def g(x: Any) -> Any:
        return np.sin(x) * np.exp(x)

    def f(x: Any, inner: Function) -> Any:
        return sum(inner(x) * k for k in range(100)) + inner(inner(x))

    inner = hoad.checkpoint(g)
    found = hoad.derivatives(lambda x: f(x, inner), 5)(0.1)
    assert made.count("exp") < 20, "of 102 calls"
    np.testing.assert_allclose(found, hoad.derivatives(lambda x: f(x, g), 5)(0.1), rtol=1e-12)


def test_many_calls_side_by_side() -> None:
    """More than one node has results."""
    inner = hoad.checkpoint(lambda x: np.sin(x) * np.exp(x))
    found = hoad.derivatives(lambda x: sum(inner(x * (1.0 + 0.01 * k)) for k in range(100)), 3)(0.1)
    wanted = hoad.derivatives(
        lambda x: sum(np.sin(y) * np.exp(y) for y in (x * (1.0 + 0.01 * k) for k in range(100))), 3
    )
    np.testing.assert_allclose(found, wanted(0.1), rtol=1e-12)
