"""Primitives with many results, and with results that have no slope."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

X = np.array([0.3, 0.7, 1.1])


def harmonics(n: int) -> Callable[[Any], Any]:
    """A primitive of n results, sin(x), 2 sin(x), ..., n sin(x)."""

    @hoad.primitive(nout=n, vjp=lambda g, p, x: (sum((k + 1) * g_k for k, g_k in enumerate(g)) * np.cos(x),))
    def harmonics(x: Any) -> Any:
        return tuple((k + 1) * np.sin(x) for k in range(n))

    return harmonics


@pytest.mark.parametrize("n", [2, 8, 9, 10, 31, 33, 63, 64])
@pytest.mark.parametrize("x", [0.7, X], ids=["number", "array"])
def test_all_results_are_swept(n: int, x: Any) -> None:
    """The adjoints of all results of a node are collected in a table of fixed length: the last as the first."""
    made = harmonics(n)
    ones = np.ones(np.shape(x))
    sine, cosine = np.sin(x), np.cos(x)
    squares = sum((k + 1) ** 2 for k in range(n))

    def f(x: Any) -> Any:
        return np.sum(sum(p * p for p in made(x)))

    def last(x: Any) -> Any:
        return np.sum(made(x)[-1])

    np.testing.assert_allclose(hoad.grad(f)(x), 2 * squares * sine * cosine, rtol=1e-13)
    np.testing.assert_allclose(hoad.hvp(f)(x, ones), 2 * squares * (cosine**2 - sine**2), rtol=1e-12)
    np.testing.assert_allclose(hoad.grad(last)(x), n * cosine, rtol=1e-14)
    np.testing.assert_allclose(hoad.jvp(last, (x,), (ones,))[1], np.sum(n * cosine), rtol=1e-14)
    np.testing.assert_allclose(hoad.vhp(last)(x, ones), -n * sine, rtol=1e-14)
    for simplify in (True, False):
        program = hoad.gradient(hoad.gradient(hoad.record(f, x), simplify=simplify), seed="symbolic", simplify=simplify)
        np.testing.assert_allclose(program.evaluate(x, ones), 2 * squares * (cosine**2 - sine**2), rtol=1e-12)
        assert made.__name__ in str(program)


@pytest.mark.parametrize("n", [0, 65])
def test_more_results_than_there_is_room_for(n: int) -> None:
    with pytest.raises(ValueError, match="1 to 64 results"):
        harmonics(n)


@pytest.mark.parametrize("unused", range(3))
def test_a_result_that_nothing_uses(unused: int) -> None:
    """Its adjoint is the symbolic zero, wherever it stands."""
    made = harmonics(3)
    factors = [k + 1.0 for k in range(3) if k != unused]

    def f(x: Any) -> Any:
        return sum(p**2 for k, p in enumerate(made(x)) if k != unused)

    slope = sum(c * c for c in factors) * math.sin(1.4)
    assert hoad.grad(f)(0.7) == pytest.approx(slope, rel=1e-14)
    assert hoad.jvp(f, (0.7,), (1.0,))[1] == pytest.approx(slope, rel=1e-14)
    assert hoad.derivative(f, 3)(0.7) == pytest.approx(-4 * slope, rel=1e-13)


@hoad.primitive(nout=3, vjp=lambda g, p, x: (2.0 * x * g[2],))
def flagged(x: Any) -> Any:
    """A boolean and an integer, then a square."""
    return np.asarray(x) > 0, np.floor(x).astype(np.int64), np.asarray(x) ** 2


def flagged_product(x: Any) -> Any:
    positive, whole, square = flagged(x)
    return np.sum(positive * whole * square)


FLAGGED = {"number": 3.5, "array": np.array([3.5, -1.5, 2.25])}


@pytest.mark.parametrize("name", FLAGGED)
def test_results_without_slope_in_front(name: str) -> None:
    """The first result decides nothing about the others, though it is the node that they depend on."""
    x = FLAGGED[name]
    positive, whole, _ = flagged(x)
    factor = positive * whole
    ones = np.ones(np.shape(x))
    np.testing.assert_allclose(hoad.grad(flagged_product)(x), factor * 2 * np.asarray(x), rtol=1e-15)
    np.testing.assert_allclose(hoad.jvp(flagged_product, (x,), (ones,))[1], np.sum(factor * 2 * x), rtol=1e-15)
    np.testing.assert_allclose(hoad.hvp(flagged_product)(x, ones), 2.0 * factor, rtol=1e-15)
    np.testing.assert_allclose(hoad.vhp(flagged_product)(x, ones), 2.0 * factor, rtol=1e-15)
    for simplify in (True, False):
        program = hoad.gradient(hoad.record(flagged_product, x), simplify=simplify)
        np.testing.assert_allclose(program.evaluate(x), factor * 2 * np.asarray(x), rtol=1e-15)
        other = np.abs(np.asarray(x)) + 1.0  # the boolean and the integer are computed anew
        np.testing.assert_allclose(program.evaluate(other), 2 * np.floor(other) * other, rtol=1e-15)


def test_a_branch_on_a_first_result() -> None:
    program = hoad.gradient(hoad.record(lambda x: flagged(x)[2] if flagged(x)[0] else x, 2.0))
    assert program.evaluate(3.0) == 6.0
    with pytest.raises(hoad.GuardError):
        program.evaluate(-3.0)


def test_a_mask_that_is_a_first_result() -> None:
    x = np.array([1.5, -2.0, 3.0])
    f = lambda x: np.sum(flagged(x)[2][flagged(x)[0]])  # noqa: E731
    np.testing.assert_array_equal(hoad.grad(f)(x), [3.0, 0.0, 6.0])


@hoad.primitive(nout=9, vjp=lambda g, p, x: (sum((k + 1.0) * g_k for k, g_k in enumerate(g)),))
def multiples(x: Any) -> Any:
    return tuple((k + 1.0) * x for k in range(9))


def test_many_results_in_a_pickle() -> None:
    program = hoad.gradient(hoad.record(lambda x: multiples(x)[8] * multiples(x)[0], 2.0))
    other = pickle.loads(pickle.dumps(program))
    assert other.evaluate(3.0) == program.evaluate(3.0) == 54.0
    assert hoad.gradient(other).evaluate(3.0) == 18.0


@hoad.primitive(nout=2, vjp=lambda g, p, x: (g[0] * p[1] / p[0] + 2 * g[1] * p[1],))
def exponentials(x: Any) -> Any:
    return np.exp(x), np.exp(2 * x)


@hoad.primitive(vjp=lambda g, p, x: (g * exponentials(x)[0],))
def exponential(x: Any) -> Any:
    return np.exp(x)


@pytest.mark.parametrize("x", [0.7, X], ids=["number", "array"])
def test_a_result_that_only_the_rule_needs(x: Any) -> None:
    """An inner derivative computes one result of a node that it emits; the rule of the node, further out, the other."""
    derivative: Callable[[Any], Any] = lambda x: np.sum(exponential(x))  # noqa: E731
    for _ in range(3):
        derivative = (lambda f: lambda x: np.sum(hoad.grad(f)(x)))(derivative)
        np.testing.assert_allclose(derivative(x), np.sum(np.exp(x)), rtol=1e-14)
