"""The page on registering primitives: pow, its rule, where it is looked up, and what the sweep does with it."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hoad


def vjp_pow(g: Any, p: Any, x: Any, y: Any) -> Any:
    return g * y * x ** (y - 1), g * p * np.log(x)


@pytest.fixture
def power() -> Any:
    """pow, as the page registers it."""

    @hoad.primitive
    def pow(x: Any, y: Any) -> Any:
        return x**y

    hoad.rules.vjp(pow, vjp_pow)
    return pow


def test_the_note_on_pow(power: Any) -> None:
    """∂xʸ/∂x = y xʸ⁻¹, ∂xʸ/∂y = xʸ ln x; each contribution is the adjoint times that."""
    x, y, g = 1.7, 2.3, -0.6
    wanted = [g * y * x ** (y - 1), g * x**y * math.log(x)]
    np.testing.assert_allclose(hoad.rules.rule_of(power)(g, x**y, x, y), wanted, rtol=1e-15)
    np.testing.assert_allclose(hoad.gradient(hoad.record(power, x, y), seed=g).evaluate(x, y), wanted, rtol=1e-15)
    np.testing.assert_allclose(hoad.rules.rule_of(np.power)(g, x**y, x, y), wanted, rtol=1e-15)


def test_the_result_of_the_forward_pass_is_used(power: Any) -> None:
    """xʸ is not computed again, nor is the exponential: the rule has it as p."""
    program = hoad.gradient(hoad.record(power, 2.0, 3.0))
    assert [node.operation for node in program[1]].count("power") == 1  # x ** (y - 1)
    assert "pow" not in [node.operation for node in program[1]] and 3 in program[1].parents
    exponential = hoad.gradient(hoad.record(np.exp, 0.5))
    assert exponential[1].size == 0 and exponential[1].outputs == (2,)


def test_the_entries_of_the_tuple_share() -> None:
    @hoad.primitive
    def quotient(x: Any, y: Any) -> Any:
        return x / y

    @hoad.rules.vjp(quotient)
    def rule(g: Any, p: Any, x: Any, y: Any) -> Any:
        share = g / y
        return share, -share * p

    program = hoad.gradient(hoad.record(quotient, 3.0, 4.0), seed="symbolic")
    assert [node.operation for node in program[1]].count("divide") == 1
    assert program.evaluate(3.0, 4.0, 2.0) == (0.5, -3 / 8)


def test_contributions_are_summed_before_a_node_contributes() -> None:
    """Formula (1), on a node with two uses: exp(w) w for w = sin x."""
    program = hoad.gradient(hoad.record(lambda x: (lambda w: np.exp(w) * w)(np.sin(x)), 0.5), simplify=False)
    adjoint = program[1]
    seed = adjoint.nodes[0]
    assert (seed.adjoint_of, seed.result) == (4, 1.0)  # the final result
    of_sine = {node.part: node for node in adjoint.nodes if node.adjoint_of == 2}
    assert set(of_sine) == {0, 1, 2}
    w = math.sin(0.5)
    assert {of_sine[1].result, of_sine[2].result} == {math.exp(w), w * math.exp(w)}
    (last,) = [node for node in adjoint.nodes if node.adjoint_of == 1]
    assert of_sine[0].number in last.parents and not {of_sine[1].number, of_sine[2].number} & {*last.parents}
    assert last.result == pytest.approx(math.cos(0.5) * math.exp(w) * (1 + w), rel=1e-15)


def test_nodes_form_a_graph_without_cycles() -> None:
    program = hoad.gradient(hoad.record(lambda x, y: np.sin(x * y) ** y / x, 2.0, 0.5))
    assert all(k < node.number for tape in program for node in tape.nodes for k in node.parents)


def test_primitives_of_any_number_of_operands() -> None:
    """The page has unary and binary ones."""

    @hoad.primitive
    def fused(x: Any, y: Any, z: Any) -> Any:
        return x * y + z

    hoad.rules.vjp(fused, lambda g, p, x, y, z: (g * y, g * x, g))
    assert hoad.grad(fused, argnums=(0, 1, 2))(2.0, 3.0, 4.0) == (3.0, 2.0, 1.0)


def test_the_definition_named_pow() -> None:
    """`@vjp pow(g, p, x, y) = ...` as it stands: NumPy's pow is its power. In a process of its own."""
    code = """
import numpy as np, hoad
@hoad.rules.vjp(replace=True)
def pow(g, p, x, y):
    return 7 * g * y * x ** (y - 1), g * p * np.log(x)
print(hoad.rules.rule_of(np.power) is pow, hoad.rules.rule_of("pow") is pow)
print(hoad.grad(lambda x: x**3.5)(1.0))
"""
    where = Path(hoad.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=where, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "24.5"]
