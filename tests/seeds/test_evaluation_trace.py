"""The evaluation trace of f(x₁, x₂) = x₁x₂ + exp(x₁x₂) − sin x₂: values, and tangents v̇ᵢ = ∂vᵢ/∂x₁ beside them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import hoad

A, B = 0.7, 1.3


def test_values_and_tangents() -> None:
    v1, v2 = hoad.symbols("x1 x2")
    v3 = v1 * v2
    v4 = np.sin(v2)
    v5 = np.exp(v3)
    v6 = v3 - v4
    v7 = v5 + v6
    at = {v1: A, v2: B}
    values = [A, B, A * B, math.sin(B), math.exp(A * B), A * B - math.sin(B), math.exp(A * B) + A * B - math.sin(B)]
    by_x1 = [1.0, 0.0, B, 0.0, B * math.exp(A * B), B, B * math.exp(A * B) + B]
    by_x2 = [0.0, 1.0, A, math.cos(B), A * math.exp(A * B), A - math.cos(B), A * math.exp(A * B) + A - math.cos(B)]
    for v, value, first, second in zip((v1, v2, v3, v4, v5, v6, v7), values, by_x1, by_x2, strict=True):
        assert v.evaluate(at) == pytest.approx(value, rel=1e-15)
        for mode in ("forward", "reverse"):
            assert v.gradient(at, mode=mode) == pytest.approx({v1: first, v2: second}, rel=1e-14)
        assert v.derivative(v1).evaluate(at) == pytest.approx(first, rel=1e-14)


def test_the_chain_rule_over_parents() -> None:
    """v̇ᵢ is the sum over parents j of v̇ⱼ ∂vᵢ/∂vⱼ, where a parent that occurs elsewhere is held there."""
    v1, v2 = hoad.symbols("x1 x2")
    v3, v4 = v1 * v2, np.sin(v2)
    v5, v6 = np.exp(v3), v3 - v4
    v7 = v5 + v6
    at = {v1: A, v2: B}
    parents = {v3: (v1, v2), v4: (v2,), v5: (v3,), v6: (v3, v4), v7: (v5, v6)}
    for node, above in parents.items():
        stands_for = {parent: hoad.symbols(f"p{k}") for k, parent in enumerate(above)}
        alone = node.substitute(stands_for)
        values = {symbol: parent.evaluate(at) for parent, symbol in stands_for.items()}
        by_parents = alone.gradient(values)
        found = sum(parent.gradient(at)[v1] * by_parents[symbol] for parent, symbol in stands_for.items())
        assert node.gradient(at)[v1] == pytest.approx(found, rel=1e-14)


def test_the_jvp_driver_gives_the_same() -> None:
    f = lambda x1, x2: x1 * x2 + np.exp(x1 * x2) - np.sin(x2)  # noqa: E731
    value, tangent = hoad.jvp(f, (A, B), (1.0, 0.0))
    assert value == pytest.approx(A * B + math.exp(A * B) - math.sin(B), rel=1e-15)
    assert tangent == pytest.approx(B + B * math.exp(A * B), rel=1e-15)


def recorded() -> hoad.Program:
    """The seven variables as nodes 1 to 7."""

    def f(x1: Any, x2: Any) -> Any:
        v3 = x1 * x2
        v4 = np.sin(x2)
        v5 = np.exp(v3)
        v6 = v3 - v4
        return v5 + v6

    return hoad.record(f, A, B)


def test_the_trace_as_it_is_printed() -> None:
    rows = [(n.number, n.operation, n.parents) for n in recorded()[0].nodes]
    assert rows == [
        *((1, "input", ()), (2, "input", ()), (3, "multiply", (1, 2)), (4, "sin", (2,)), (5, "exp", (3,))),
        *((6, "subtract", (3, 4)), (7, "add", (5, 6))),
    ]


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0), (0.3, -2.0)])
def test_the_tape_of_tangents(direction: tuple[float, float]) -> None:
    """Each line of the tangents, which the page only begins to apply: v̇₁ … v̇₇ in order, by their formulas."""
    a, b = direction
    d3 = a * B + A * b
    d4 = b * math.cos(B)
    d5 = d3 * math.exp(A * B)
    wanted = [a, b, d3, d4, d5, d3 - d4, d5 + d3 - d4]
    tape = hoad.tangent(recorded(), direction, simplify=False)[1]
    noted = [node for node in tape.nodes if node.tangent_of]
    assert [node.tangent_of for node in noted] == [1, 2, 3, 4, 5, 6, 7]
    np.testing.assert_allclose([node.result for node in noted], wanted, rtol=1e-15)
    number = {node.tangent_of: node.number for node in noted}
    assert noted[4].operation == "multiply" and set(noted[4].parents) == {5, number[3]}  # v̇₃ exp v₃, which is v₅
    assert (noted[5].operation, noted[5].parents) == ("subtract", (number[3], number[4]))
    assert (noted[6].operation, noted[6].parents) == ("add", (number[5], number[6]))


def test_tangents_by_all_directions_are_the_gradient() -> None:
    program = recorded()
    tangent = hoad.tangent(program, "symbolic")
    columns = [tangent.evaluate(A, B, *direction) for direction in ((1.0, 0.0), (0.0, 1.0))]
    wanted = [B + B * math.exp(A * B), A * math.exp(A * B) + A - math.cos(B)]
    np.testing.assert_allclose(columns, wanted, rtol=1e-14)
    np.testing.assert_allclose(hoad.gradient(program).evaluate(A, B), wanted, rtol=1e-14)


ELEMENTARY: dict[str, tuple[Any, tuple[float, ...]]] = {
    "u + v": (lambda u, v: u + v, (1, 1)),
    "u - v": (lambda u, v: u - v, (1, -1)),
    "u * v": (lambda u, v: u * v, (B, A)),
    "u / v": (lambda u, v: u / v, (1 / B, -A / B**2)),
    "u ** v": (lambda u, v: u**v, (B * A ** (B - 1), A**B * math.log(A))),
    "-u": (lambda u, v: -u, (-1,)),
    "exp(u)": (lambda u, v: np.exp(u), (math.exp(A),)),
    "log(u)": (lambda u, v: np.log(u), (1 / A,)),
    "sin(u)": (lambda u, v: np.sin(u), (math.cos(A),)),
    "cos(u)": (lambda u, v: np.cos(u), (-math.sin(A),)),
    "tan(u)": (lambda u, v: np.tan(u), (1 / math.cos(A) ** 2,)),
}


@pytest.mark.parametrize("name", ELEMENTARY)
def test_elementary_operators(name: str) -> None:
    """Arithmetic, negation, exponential, logarithm, trigonometric functions."""
    function, wanted = ELEMENTARY[name]
    u, v = hoad.symbols("u v")
    e = function(u, v)
    assert str(e) == name
    found = [e.derivative(x).evaluate({u: A, v: B}) for x in e.symbols]
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
