"""Strong zeros that arise behind a node: what a call, a loop or a map gives is what its body gives inline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

ONE = np.ones(1)

# A function of (x, y) that depends on y nowhere near x = 0: where y = √x, every product with its derivative is 0 · ∞.
BODIES: dict[str, Callable[[Any, Any], Any]] = {
    "where": lambda x, y: np.where(x > 0, y, 2 * x + x**3),
    "unused": lambda x, y: 2 * x + x**3,
    "max": lambda x, y: np.maximum(y - 1, 2 * x + x**3),
    "array": lambda x, y: np.sum(np.where(np.stack([x, x]) > 0, np.stack([y, x * y]), np.stack([2 * x, x**3]))),
}

FAMILIES: dict[str, Callable[[Any], Callable[[Any, Any], Any]]] = {
    "checkpoint": lambda f: hoad.checkpoint(f),
    "checkpoint in a checkpoint": lambda f: hoad.checkpoint(hoad.checkpoint(f)),
    "program": lambda f: lambda x, y: hoad.record(f, 0.0, 0.0)(x, y),
    "checkpointed loop": lambda f: lambda x, y: hoad.checkpointed_loop(lambda k, c, y: f(c, y), 1, x, y),
    "loop with a carry": lambda f: lambda x, y: hoad.scan(lambda c, _: ((f(x, c[1]), c[1]), None), (x, y), ONE)[0][0],
    "loop of a constant": lambda f: lambda x, y: hoad.scan(lambda c, _: (c + f(x, y), None), 0 * x, ONE)[0],
    "loop of rows": lambda f: (
        lambda x, y: np.sum(hoad.scan(lambda c, row: (c, f(row[0], row[1])), 0.0, (np.stack([x]), np.stack([y])))[1])
    ),
    "map": lambda f: lambda x, y: np.sum(hoad.vmap(f)(np.stack([x]), np.stack([y]))),
    "map of a constant": lambda f: lambda x, y: np.sum(hoad.vmap(lambda t: t * f(x, y))(ONE)),
}

# Of 2x + x³ at 0.
FIRST, SECOND, THIRD = 2.0, 0.0, 6.0


def forward(f: Any) -> Any:
    return lambda x: hoad.jvp(f, (x,), (1.0,))[1]


MODES: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "reverse": (FIRST, hoad.grad),
    "forward": (FIRST, forward),
    "reverse over reverse": (SECOND, lambda f: hoad.grad(hoad.grad(f))),
    "forward over reverse": (SECOND, lambda f: forward(hoad.grad(f))),
    "reverse over forward": (SECOND, lambda f: hoad.grad(forward(f))),
    "hessian": (SECOND, hoad.hessian),
    "two tapes": (SECOND, lambda f: lambda x: hoad.gradient(hoad.gradient(hoad.record(f, x))).evaluate(x)),
    "third, forward": (THIRD, lambda f: hoad.derivative(f, 3)),
    "third, reverse": (THIRD, lambda f: hoad.grad(hoad.grad(hoad.grad(f)))),
    "third, mixed": (THIRD, lambda f: hoad.grad(forward(hoad.grad(f)))),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("body", BODIES)
def test_strong_zeros_come_out_of_calls(body: str, family: str, mode: str) -> None:
    expected, derivative = MODES[mode]
    f = FAMILIES[family](BODIES[body])
    with np.errstate(divide="ignore", invalid="ignore"):
        assert derivative(lambda x: f(x, np.sqrt(x)))(0.0) == expected


# A function of (x, y) that is singular at x = 0, in both of its results; of the first nothing depends at the end.
SINGULAR: dict[str, Callable[[Any, Any], Any]] = {
    "root": lambda x, y: (x + y, np.sqrt(x) + y),
    "logarithm": lambda x, y: (np.sqrt(x), y * np.log(x)),
}

PAIRS: dict[str, Callable[[Any], Callable[[Any, Any], Any]]] = {
    "checkpoint": lambda f: hoad.checkpoint(f),
    "program": lambda f: lambda x, y: hoad.record(f, 0.0, 0.0)(x, y),
    "jit": lambda f: hoad.jit(f),
    "checkpointed loop": lambda f: lambda x, y: hoad.checkpointed_loop(lambda k, c: f(*c), 1, (x, y)),
    "scan": lambda f: lambda x, y: hoad.scan(lambda c, _: (f(*c), None), (x, y), ONE)[0],
    "fori_loop": lambda f: lambda x, y: hoad.fori_loop(0, 1, lambda k, c: f(*c), (x, y)),
    "while_loop": lambda f: (
        lambda x, y: hoad.while_loop(lambda c: c[2] < 0.5, lambda c: (*f(c[0], c[1]), c[2] + 1.0), (x, y, 0.0))[:2]
    ),
    "rows": lambda f: (
        lambda x, y: [row[0] for row in hoad.scan(lambda c, row: (c, f(*row)), 0.0, (np.stack([x]), np.stack([y])))[1]]
    ),
    "vmap": lambda f: lambda x, y: [row[0] for row in hoad.vmap(f)(np.stack([x]), np.stack([y]))],
    "vmap in a while_loop": lambda f: PAIRS["while_loop"](PAIRS["vmap"](f)),
    "scan in a vmap": lambda f: PAIRS["vmap"](PAIRS["scan"](f)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", PAIRS)
@pytest.mark.parametrize("body", SINGULAR)
def test_strong_zeros_go_into_calls(body: str, family: str, mode: str) -> None:
    """The mask lies outside: a seed is the symbolic zero, or a strong one, in derivatives of derivatives too."""
    expected, derivative = MODES[mode]
    f = PAIRS[family](SINGULAR[body])
    with np.errstate(divide="ignore", invalid="ignore"):
        assert derivative(lambda x: BODIES["where"](x, f(x, np.sqrt(x))[1]))(0.0) == expected


@pytest.mark.parametrize("n", [2, 3, 20])
@pytest.mark.parametrize("loop", [hoad.fori_loop, None])
def test_strong_zeros_come_out_of_every_step(n: int, loop: Any) -> None:
    """A state (x, √x) of which only x is used: the adjoint of √x is a strong zero at every step."""

    def step(k: int, c: Any) -> Any:
        return c[0], np.where(c[0] > 0, np.sqrt(c[1]), 3 * c[0])

    def f(x: Any) -> Any:
        start = (x, np.sqrt(x))
        state = loop(0, n, step, start) if loop else hoad.checkpointed_loop(step, n, start, slots=2)
        return state[0] ** 2 + state[1]

    with np.errstate(divide="ignore", invalid="ignore"):
        assert hoad.grad(f)(0.0) == 3.0
        assert hoad.grad(hoad.grad(f))(0.0) == 2.0
        assert hoad.hessian(f)(0.0) == 2.0


# States (u, v) of which a zero is strong at some steps only: in the first of a sweep, or from the second on.
STATES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any], float, float]] = {
    "unused at the end": (lambda u, v: (u + v, np.sqrt(u)), lambda c: c[0], 1, 1.0),
    "unused before": (lambda u, v: (u + 1.0, np.log(u)), lambda c: c[0] + c[1], 2, 2.0),
    "unused by turns": (lambda u, v: (np.where(u > 0, v, 2 * u), np.sqrt(u)), lambda c: c[0], 1, 2.0),
}

LOOPS: dict[str, Callable[..., Any]] = {
    "scan": lambda f, n, c: hoad.scan(lambda c, _: (f(*c), None), c, length=n)[0],
    "fori_loop": lambda f, n, c: hoad.fori_loop(0, n, lambda k, c: f(*c), c),
    "bounded": lambda f, n, c: hoad.while_loop(
        lambda c: c[2] < n, lambda c: (*f(c[0], c[1]), c[2] + 1.0), (*c, 0.0), max_steps=n + 2
    ),
    "checkpointed loop": lambda f, n, c: hoad.checkpointed_loop(lambda k, c: f(*c), n, c),
    "scan in a checkpoint": lambda f, n, c: hoad.checkpoint(LOOPS["scan"])(f, n, c),
    "scan in a scan": lambda f, n, c: LOOPS["scan"](lambda *c: LOOPS["scan"](f, n, c), 1, c),
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("state", STATES)
def test_zeros_that_are_strong_at_some_steps(state: str, loop: str) -> None:
    step, result, n, expected = STATES[state]

    def f(x: Any) -> Any:
        return result(LOOPS[loop](step, n, (x, 0.0 * x)))

    with np.errstate(divide="ignore", invalid="ignore"):
        assert hoad.grad(f)(0.0) == expected
        assert np.isfinite(hoad.grad(forward(f))(0.0))
        assert hoad.hessian(f)(0.0) == hoad.grad(hoad.grad(f))(0.0) == hoad.grad(forward(f))(0.0)


def exchanged(loop: str, n: int) -> Callable[[Any], Any]:
    """The function 2x + x³, by n exchanges of its place with that of √x."""
    return lambda x: LOOPS[loop](lambda u, v: (v, u), n, (2 * x + x**3, np.sqrt(x)))[n % 2]


@pytest.mark.parametrize("mode", [*MODES, "fourth"])
@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("loop", LOOPS)
def test_zeros_that_change_places(loop: str, n: int, mode: str) -> None:
    """Which adjoints are strong zeros depends on how many steps are left."""
    expected, derivative = MODES.get(mode, (0.0, lambda f: forward(hoad.grad(forward(hoad.grad(f))))))
    with np.errstate(divide="ignore", invalid="ignore"):
        assert derivative(exchanged(loop, n))(0.0) == expected


@pytest.mark.parametrize("n", [16, 17, 40])
@pytest.mark.parametrize("loop", LOOPS)
def test_zeros_that_change_places_for_long(loop: str, n: int) -> None:
    f = exchanged(loop, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        assert hoad.grad(f)(0.0) == forward(f)(0.0) == FIRST
        assert hoad.hessian(f)(0.0) == hoad.grad(forward(f))(0.0) == SECOND


def ruled(f: Callable[..., Any]) -> Callable[..., Any]:
    """The same by a rule that differentiates it."""
    made = hoad.custom_vjp(f)
    made.defvjp(lambda g, p, *x: hoad.vjp(f, *x)[1](g))
    return made


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_in_a_rule_in_a_rule_whose_result_is_not_used(loop: str) -> None:
    """All seeds of its adjoint are zero, of which one is so in the rule already, where it is an array of zeros."""
    inner = ruled(lambda u, v: (LOOPS[loop](lambda u, v: (u * v, v), 2, (u, v))[0], v**2))
    outer = ruled(lambda u, v: [inner(u, v)[1]] * 2)

    def f(x: Any) -> Any:
        first, second = outer(x, x**2)
        return first + 2 * second  # 3 x⁴

    assert hoad.grad(f)(1.0) == forward(f)(1.0) == 12.0
    assert hoad.hessian(f)(1.0) == hoad.grad(hoad.grad(f))(1.0) == hoad.grad(forward(f))(1.0) == 36.0
    assert hoad.grad(forward(hoad.grad(f)))(1.0) == hoad.derivative(f, 4)(1.0) == 72.0


def test_a_sum_that_begins_at_nothing() -> None:
    """The root of what was summed before the first step has no tangent."""

    def f(x: Any) -> Any:
        return np.sum(hoad.scan(lambda c, _: (c + x**2, np.sqrt(c)), 0.0, length=3)[1])

    with np.errstate(divide="ignore", invalid="ignore"):
        assert forward(f)(1.0) == pytest.approx(1 + np.sqrt(2), rel=1e-14)
        assert hoad.grad(f)(1.0) == pytest.approx(1 + np.sqrt(2), rel=1e-14)


def test_zeros_that_pass_along_a_long_state() -> None:
    """A value that moves along twenty places, one a step, is used in the last one, long after it was none."""

    def f(x: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            return (c[0], *c[:-1]), None

        return hoad.scan(step, (x, *[0.0 * x] * 20), length=20)[0][-1] ** 2

    assert hoad.grad(f)(3.0) == forward(f)(3.0) == 6.0
    assert hoad.hessian(f)(3.0) == 2.0


@pytest.mark.parametrize("wrap", [hoad.checkpoint, lambda f: f], ids=["checkpoint", "inline"])
def test_a_product_of_two_strong_zeros(wrap: Any) -> None:
    """An infinite derivative behind a mask, times the adjoint of a result that is not used."""

    def body(u: Any, v: Any) -> Any:
        u = np.maximum(u, 0.5 * u - 1)
        return u, np.where(v > 0.1, v, np.sqrt(u))

    def f(x: Any) -> Any:
        return wrap(body)(x, 1.0 + x)[0]

    with np.errstate(divide="ignore", invalid="ignore"):
        assert hoad.grad(forward(f))(0.0) == forward(hoad.grad(f))(0.0) == hoad.hessian(f)(0.0) == 0.0


def test_what_a_loop_without_steps_gives_is_as_it_was() -> None:
    """An honest zero that a loop of no step hands on is none of a masked one."""

    def f(x: Any, n: int) -> Any:
        return hoad.scan(lambda c, _: (np.where(c > 0, c, 0.0), None), np.sqrt(x), np.ones(n))[0] * 0.0

    with np.errstate(divide="ignore", invalid="ignore"):
        assert np.isnan(hoad.grad(f)(0.0, 0))
        assert hoad.grad(f)(0.0, 1) == 0.0


@pytest.mark.parametrize("adjoint", ["discrete", "continuous"])
def test_a_parameter_that_an_equation_does_not_use_here(adjoint: str) -> None:
    """The adjoint of θ = √x in y' = where(θ > 0, θ, 1) y is a strong zero at x = 0."""

    def f(x: Any) -> Any:
        def slope(y: Any, t: Any, p: Any) -> Any:
            return np.where(p > 0, p, 1.0) * y

        return hoad.ode.odeint(slope, 1.0 + x, np.array([0.0, 1.0]), (np.sqrt(x),), adjoint=adjoint)[-1]

    with np.errstate(divide="ignore", invalid="ignore"):
        assert hoad.grad(f)(0.0) == pytest.approx(np.e, rel=1e-6)


def test_an_unknown_that_does_not_depend_on_a_parameter_here() -> None:
    """u = 1 + x, by an equation with where(θ > 0, θ, 1) and θ = √x, at x = 0."""

    def f(x: Any) -> Any:
        def residual(u: Any, theta: Any, x: Any) -> Any:
            return np.where(theta > 0, theta, 1.0) * (u - 1.0 - x)

        return hoad.implicit.root(residual, lambda theta, x: 1.0 + x)(np.sqrt(x), x)

    with np.errstate(divide="ignore", invalid="ignore"):
        assert hoad.grad(f)(0.0) == pytest.approx(1.0, rel=1e-12)
