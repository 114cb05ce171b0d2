"""Random mixtures of what is tested alone elsewhere: inner derivatives of every kind, calls of programs, linear maps,
primitives with many operands and results, choices, indices, reductions, linear algebra.

Every way to a derivative gives the same one, simplified or not, here or replayed elsewhere, and differences agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hoad

EYE = np.eye(3)


@hoad.primitive(nout=3, vjp=lambda g, p, x: (g[1] * np.cos(x) - g[2] * np.sin(x),))
def trio(x: Any) -> Any:
    """A boolean, then sine and cosine."""
    return np.sum(x) > 0, np.sin(x), np.cos(x)


@hoad.primitive
def many(*xs: Any) -> Any:
    return sum((k + 1) * np.sin(x) for k, x in enumerate(xs))


hoad.defvjp(many, lambda g, p, *xs: tuple((k + 1) * np.cos(x) * g for k, x in enumerate(xs)))

VALUE = hoad.record(lambda x: np.sin(x) * np.sum(x), np.ones(3))
SLOPE = hoad.gradient(hoad.record(lambda x: np.sum(np.sin(x) * x[::-1]), np.ones(3)))
CURVE = hoad.gradient(hoad.gradient(hoad.record(lambda x: np.sum(np.tanh(x) * x), np.ones(3))), seed="symbolic")

UNARY: dict[str, Callable[[Any], Any]] = {
    "sin": np.sin,
    "tanh²": lambda x: np.tanh(x) ** 2,
    "quotient": lambda x: x / (1.2 + np.cos(x)),
    "power": lambda x: (2.0 + np.sin(x)) ** 1.5,
    "abs": np.abs,
    "clip": lambda x: np.clip(x, -0.7, 0.8),
    "where": lambda x: np.where(x > 0.2, np.sqrt(np.abs(x)), x),
    "branch": lambda x: np.sin(x) if np.sum(x) > 0 else np.cos(x),
    "mask": lambda x: np.sum(x[x > 0]) * x,
    "reversed": lambda x: x[::-1] * 0.5,
    "fancy": lambda x: x[[0, 2, 0]],
    "items": lambda x: np.stack([x[0] * x[1], x[-1], x[0]]),
    "object array": lambda x: np.array([x[0] * x[1], x[2], 0.5]) * x,
    "object array, a ufunc without a loop of objects": lambda x: np.logaddexp(np.array([x[0], 0.5, x[1]]), x[2]),
    "object array, a ufunc that calls methods": lambda x: np.arctan2(np.array([x[0], 0.5, x[1]]), 4.0 + np.sin(x[2])),
    "max": lambda x: x * np.max(x),
    "norm": lambda x: x / np.linalg.norm(x + 2.0),
    "solve": lambda x: np.linalg.solve(3 * EYE + np.outer(x, x), x),
    "slogdet": lambda x: x * np.linalg.slogdet(3 * EYE + np.outer(x, x))[1],
    "several results": lambda x: trio(x)[0] * trio(x)[1] + 0.5 * trio(x)[2],
    "many operands": lambda x: 0.01 * many(*[(k + 1) * x for k in range(18)]),
    "grad": lambda x: hoad.grad(lambda y: np.sum(np.sin(y) * x * y))(0.7 * x),
    "grad of a scalar": lambda x: hoad.grad(lambda y: np.sum(np.sin(y * x)))(x[0]) * x,
    "jvp": lambda x: hoad.jvp(lambda y: np.tanh(y) * x, (x,), (np.sin(x),))[1],
    "vjp": lambda x: 0.3 * hoad.vjp(lambda y: y * np.sin(x) * np.sum(y), x)[1](np.cos(x))[0],
    "linearize": lambda x: hoad.linearize(lambda y: np.sin(y) * x, x)[1](x * x),
    "jacobian": lambda x: hoad.jacobian(lambda y: np.sin(y) * np.sum(y * x), mode="reverse")(x) @ x * 0.3,
    "hessian": lambda x: np.tanh(hoad.hessian(lambda y: np.sum(np.sin(y) * x * y[::-1]))(x)) @ x,
    "hvp": lambda x: 0.3 * hoad.hvp(lambda y: np.sum(np.sin(y) * y * x))(x, x),
    "derivative": lambda x: hoad.derivative(lambda y: np.sin(0.5 * y) * np.tanh(y) * x, 2)(x),
    "call": lambda x: 0.3 * VALUE(x),
    "call of a gradient": lambda x: 0.5 * SLOPE(x),
    "call with a seed": lambda x: 0.5 * CURVE(x, np.sin(x)),
}

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, y: x + y,
    "difference": lambda x, y: x - np.tanh(y),
    "product": lambda x, y: x * y,
    "maximum": np.maximum,
    "choice": lambda x, y: np.where(x > y, x * y, x - y),
    "hypot": lambda x, y: np.hypot(x, 1.0 + y * y),
    "concatenate": lambda x, y: np.concatenate([x[1:], y[:1]]),
    "grad that captures": lambda x, y: hoad.grad(lambda z: np.sum(np.sin(z) * x))(y),
    "jvp that captures": lambda x, y: hoad.jvp(lambda z: np.sin(z) * x, (y,), (x * y,))[1],
}

OPERATIONS = [*UNARY, *BINARY]
Step = tuple[str, int, int]
steps = st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6)
points = st.lists(st.floats(-1.5, 1.5).map(lambda x: round(x, 2) + 0.003), min_size=3, max_size=3).map(np.array)

V = np.array([0.3, -1.0, 0.6])


def run(program: list[Step], x: Any) -> Any:
    """Each step works on one or two of the values so far, the latest being number 0."""
    values = [x]
    for name, i, j in program:
        a, b = values[-1 - i % len(values)], values[-1 - j % len(values)]
        values.append(UNARY[name](a) if name in UNARY else BINARY[name](a, b))
    return np.sum(np.sin(values[-1]) + 0.5 * np.sin(values[len(values) // 2]))


def by_differences(f: Callable[[Any], Any], x: Any) -> tuple[Any, float]:
    """The derivative along V by central differences, extrapolated, and what it may be wrong by."""
    a, b, c = ((f(x + h * V) - f(x - h * V)) / (2 * h) for h in (2e-3, 1e-3, 5e-4))
    found = (4 * c - b) / 3
    return found, 20 * float(np.max(np.abs((4 * b - a) / 3 - found))) + 1e-6


def agree(found: Any, wanted: Any, tolerance: float) -> None:
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * (1.0 + np.max(np.abs(wanted))))


def check(program: list[Step], x: Any, kinks: bool = False) -> None:
    f = lambda x: run(program, x)  # noqa: E731
    value, gradient = hoad.value_and_grad(f)(x)
    agree(value, f(x), 1e-13)
    agree(hoad.jvp(f, (x,), (V,))[1], gradient @ V, 1e-11)
    agree(hoad.jacobian(f, mode="forward")(x), gradient, 1e-11)
    hessian = hoad.hvp(f)(x, V)
    agree(hoad.vhp(f)(x, V), hessian, 1e-10)
    agree(hoad.hessian(f)(x) @ V, hessian, 1e-10)
    agree(hoad.grad(lambda z: hoad.grad(f)(z) @ V)(x), hessian, 1e-10)
    agree(hoad.jacobian(hoad.jacobian(f, mode="forward"), mode="forward")(x) @ V, hessian, 1e-10)
    recorded = hoad.record(f, x)
    agree(hoad.hvp(recorded)(x, V), hessian, 1e-10)
    other = 1.001 * x + 0.0007
    for first in (True, False):
        once = hoad.gradient(recorded, simplify=first)
        twice = hoad.gradient(once, seed="symbolic", simplify=not first)
        agree(once.evaluate(x), gradient, 1e-11)
        agree(twice.evaluate(x, V), hessian, 1e-10)
        try:
            replayed = once.evaluate(other), twice.evaluate(other, V)
        except hoad.GuardError:
            continue
        agree(replayed[0], hoad.grad(f)(other), 1e-11)
        agree(replayed[1], hoad.hvp(f)(other, V), 1e-10)
    if kinks:
        return
    slope, error = by_differences(f, x)
    if error < 1e-3:
        assert abs(gradient @ V - slope) <= error * (1.0 + abs(slope))


@given(steps, points)
@settings(max_examples=120)
def test_mixtures(program: list[Step], x: Any) -> None:
    check(program, x, kinks=True)


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_alone_and_into_the_next(name: str) -> None:
    """Away from kinks, so that differences have their say."""
    x = np.array([0.37, -0.52, 1.13])
    follower = OPERATIONS[(7 * OPERATIONS.index(name) + 11) % len(OPERATIONS)]
    check([(name, 0, 0)], x)
    check([("sin", 0, 0), (name, 0, 1), (follower, 0, 2)], x)
