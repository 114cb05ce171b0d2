"""Operations on many operands: their series is one of rows as that of a few, and none is lost or written elsewhere."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._core.taylor.derivative_closure import Closure
from hoad._ops.primitives import JOIN
from hoad._transform.expansion import Expansion, series_of

COUNTS = (2, 8, 9, 10, 25, 64, 65, 90)


@functools.cache
def exponential(n: int) -> Callable[..., Any]:
    """exp(x₀ + x₁/2 + x₂/3 + ...) of n operands, element by element, as one operation."""

    def rule(g: Any, p: Any, *xs: Any) -> tuple[Any, ...]:
        return tuple(g * p / (k + 1) for k in range(n))

    @hoad.primitive(elementwise=True, vjp=rule)
    def of_many(*xs: Any) -> Any:
        return np.exp(sum(x / (k + 1) for k, x in enumerate(xs)))

    made: Callable[..., Any] = of_many
    return made


def along(n: int, t: Any, last: Any = None) -> Any:
    """Odd operands -t, even ones t²/2; the last, if given, is another."""
    xs = [-t if k % 2 else t * t / 2 for k in range(n)]
    return exponential(n)(*xs[: n if last is None else n - 1], *([] if last is None else [last]))


def closed_form(n: int, t: Any, order: int) -> Any:
    """The derivatives of exp(a t²/2 - b t), Hermite's polynomials of u = a t - b times it."""
    a, b = (sum(1 / (k + 1) for k in range(first, n, 2)) for first in (0, 1))
    u = a * t - b
    polynomials = (1.0, u, u**2 + a, u**3 + 3 * a * u, u**4 + 6 * a * u**2 + 3 * a * a)
    return polynomials[order] * np.exp(a * t * t / 2 - b * t)


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_an_elementwise_operation(n: int, order: int) -> None:
    f = functools.partial(along, n)
    assert hoad.derivative(f, order)(0.3) == pytest.approx(closed_form(n, 0.3, order), rel=1e-12)
    found = hoad.derivatives(f, order)(0.3)
    assert found == pytest.approx([closed_form(n, 0.3, k) for k in range(order + 1)], rel=1e-12)
    ts = np.linspace(-0.5, 0.5, 4)
    found = hoad.derivatives(f, order)(ts)
    assert np.allclose(found, [closed_form(n, ts, k) for k in range(order + 1)], rtol=1e-12, atol=0)


@pytest.mark.parametrize("n", COUNTS)
def test_operands_that_broadcast_and_that_stay(n: int) -> None:
    """An array among numbers, an operand that does not move, and the gradient through the whole."""
    rows = np.linspace(0.1, 0.3, 3)
    still = 0.7 * n
    found = hoad.derivatives(lambda t: along(n, t, rows), 3)(0.3)
    want = [closed_form(n - 1, 0.3, k) * np.exp(rows / n) for k in range(4)]
    assert np.allclose(found, want, rtol=1e-12, atol=0)
    gradient = hoad.grad(lambda c: hoad.derivatives(lambda t: along(n, t, c), 2)(0.3)[2])(still)
    assert gradient == pytest.approx(closed_form(n - 1, 0.3, 2) * np.exp(still / n) / n, rel=1e-12)


@pytest.mark.parametrize("n", COUNTS)
def test_its_series_is_one_of_rows(n: int) -> None:
    callee = Expansion(functools.partial(along, n), [0.3], [np.ones((1,))], 3).callee
    assert series_of(callee._program(), *callee._key) is not None


@pytest.mark.parametrize("n", [3, 8, 9, 10, 70])
def test_nodes_are_added_to_a_closure(n: int) -> None:
    """By their name or their primitive, on as many operands as there are."""
    xs = [np.arange(2.0) + k for k in range(n)]
    program = hoad.record(lambda *xs: sum(xs), *xs)
    tape = program[0]
    for by_name in (False, True):
        closure = Closure(tape._graph, list(tape._outputs), list(tape._inputs))
        if by_name:
            made = closure.emit("concatenate", *closure.inputs, params=(0,))
        else:
            made = closure.record(JOIN, (0,), *closure.inputs)
        assert closure.aval(made).shape == (2 * n,)
        dots = [None if k % 3 == 1 else closure.constant(np.full(2, float(k))) for k in range(n)]
        [tangent] = closure.tangents(made, dots) or [None]
        assert tangent is not None
        tangent_of_all = np.concatenate([np.full(2, 0.0 if k % 3 == 1 else float(k)) for k in range(n)])
        assert np.array_equal(values_of(closure, tangent), tangent_of_all)


def values_of(closure: Closure, operand: int) -> Any:
    """The value of what depends on no input."""
    from hoad._core.record.recording import lowered

    [found] = lowered(closure.graph, [operand], [], 0).run([])
    return found


@pytest.mark.parametrize("n", [9, 10, 70])
def test_joined_arrays(n: int) -> None:
    """A concatenation of n arrays along a curve, at orders 1 to 4, beside sin⁽ᵏ⁾(t + x)."""
    shifts = [np.linspace(0, 1, 2) + k for k in range(n)]
    found = hoad.derivatives(lambda t: np.sin(np.concatenate([t + x for x in shifts])), 4)(0.3)
    all_shifts = np.concatenate(shifts)
    want = [np.sin(0.3 + all_shifts + k * np.pi / 2) for k in range(5)]
    assert np.allclose(found, want, rtol=0, atol=1e-12)
