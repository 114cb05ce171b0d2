"""The evaluation trace of f(x₁, x₂) = x₁x₂ + exp(x₁x₂) − sin x₂: values, and tangents v̇ᵢ = ∂vᵢ/∂x₁ beside them."""

from __future__ import annotations

import math

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
