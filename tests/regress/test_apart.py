"""What is recorded apart: signs before rules that are not linear, guards within, what it returns, numbers asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad


def clipping() -> Any:
    made = hoad.custom_vjp(lambda x: x * 1.0)
    made.defvjp(lambda g, p, x: (np.clip(g, -1.0, 2.0),), linear=False)
    return made


CLIP = clipping()
BODIES: dict[str, Callable[[Any], Any]] = {
    "inline": lambda a: 5 * CLIP(a),
    "checkpoint": lambda a: hoad.checkpoint(lambda a: 5 * CLIP(a))(a),
    "checkpoint in a checkpoint": lambda a: hoad.checkpoint(lambda a: hoad.checkpoint(lambda b: 5 * CLIP(b))(a))(a),
    "fori_loop": lambda a: hoad.fori_loop(0, 1, lambda i, c: 5 * CLIP(c), a),
    "loop in a checkpoint": lambda a: hoad.checkpoint(lambda a: hoad.fori_loop(0, 1, lambda i, c: 5 * CLIP(c), a))(a),
    "checkpointed_loop": lambda a: hoad.checkpointed_loop(lambda k, c: 5 * CLIP(c), 1, a),
    "vmap": lambda a: np.sum(hoad.vmap(lambda s: 5 * CLIP(s * a))(np.array([1.0, 0.0]))),
    "program": lambda a: hoad.record(lambda a: 5 * CLIP(a), 1.0)(a),
}


@pytest.mark.parametrize("body", BODIES)
def test_the_sign_reaches_a_rule_that_is_not_linear(body: str) -> None:
    """The adjoint 5 is cut to 2, and -5 to -1."""
    f = BODIES[body]
    assert hoad.grad(lambda a: f(a) * 1.0)(1.0) == 2.0
    assert hoad.grad(lambda a: -f(a))(1.0) == -1.0
    assert hoad.grad(lambda a: 3 * a - f(a))(1.0) == 2.0
    assert hoad.gradient(hoad.record(lambda a: -f(a), 1.0)).evaluate(1.0) == -1.0


def branching(r: Any) -> Any:
    return r * r if r > 0 else -r


@pytest.mark.parametrize(
    "loop",
    [
        lambda: hoad.scan(lambda c, r: (c + hoad.checkpoint(branching)(r), None), 0.0, np.array([1.0, -2.0])),
        lambda: hoad.scan(
            lambda c, r: (c + np.sum(hoad.vmap(branching)(r)), None), 0.0, np.array([[1.0, 2.0], [-1.0, 3.0]])
        ),
        lambda: hoad.fori_loop(0, 3, lambda i, c: hoad.fori_loop(0, 2, lambda j, d: d * 2 if d < 3 else d, c), 1.0),
        lambda: hoad.vmap(lambda r: hoad.checkpoint(branching)(r))(np.array([1.0, -2.0])),
    ],
)
def test_a_guard_within_raises(loop: Callable[[], Any]) -> None:
    with pytest.raises(hoad.GuardError, match="branch"):
        loop()


X = np.array([0.3, 0.7, -0.4])
SAME = {
    "checkpoint": hoad.checkpoint,
    "custom_vjp": lambda f: _with_own_rule(f),
    "checkpointed_loop": lambda f: lambda y: hoad.checkpointed_loop(lambda k, c: f(c), 2, y),
}


def _with_own_rule(f: Any) -> Any:
    made = hoad.custom_vjp(f)
    made.defvjp(lambda g, p, u: (g,))
    return made


@pytest.mark.parametrize("kind", SAME)
@pytest.mark.parametrize("written_before", [False, True])
def test_what_it_returns_is_new(kind: str, written_before: bool) -> None:
    """As an array of its own, plain and traced: writing to it leaves the argument as it was."""

    def f(x: Any) -> Any:
        y = np.sin(x)
        if written_before:
            y[0] = x[1]
        q = SAME[kind](lambda u: u)(y)
        q[2] = 5 * x[0]
        return np.sum(y**2) + np.sum(q**3)

    value, gradient = hoad.value_and_grad(f)(X)
    y = np.sin(X)
    if written_before:
        y[0] = X[1]
    assert f(X) == pytest.approx(value, rel=1e-15)
    assert value == pytest.approx(np.sum(y**2) + np.sum(y[:2] ** 3) + (5 * X[0]) ** 3, rel=1e-14)
    h = 1e-6
    slopes = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    "f",
    [
        lambda: hoad.vmap(lambda s: s * hoad.value(s))(X),
        lambda: hoad.vmap(lambda s: s * 2 if hoad.value(s) > 0 else s)(X),
        lambda: hoad.scan(lambda c, s: (c + s * hoad.value(s), None), 0.0, X),
        lambda: hoad.fori_loop(0, 3, lambda i, c: c + hoad.value(c), 10.0),
        lambda: hoad.vmap(lambda s: hoad.grad(lambda t: t * hoad.value(s + t))(s))(X),
    ],
)
def test_a_number_of_one_step_is_not_that_of_all(f: Callable[[], Any]) -> None:
    with pytest.raises(hoad.TracedValueError, match=r"in the body of a loop or a map .*Use hoad.stop_gradient"):
        f()


def test_a_number_from_around_a_body_is_the_same_at_all_steps() -> None:
    assert hoad.grad(lambda a: hoad.fori_loop(0, 3, lambda i, c: c * hoad.value(a) + a, 1.0))(2.0) == 7.0


def test_array_parameters_are_taken_as_they_are() -> None:
    @hoad.custom_vjp
    def scaled(x: Any, *, w: Any) -> Any:
        return np.sin(x) * w

    scaled.defvjp(lambda g, p, x, *, w: (g * np.cos(x) * w,))

    def f(x: Any) -> Any:
        w = np.array([1.0, 2.0, 3.0])
        y = scaled(x, w=w)
        w[:] = 100.0
        return np.sum(y * y)

    np.testing.assert_allclose(hoad.grad(f)(X), 2 * np.sin(X) * np.cos(X) * np.array([1.0, 4.0, 9.0]), rtol=1e-14)
