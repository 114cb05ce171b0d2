"""Expressions as text and as trees."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import hoad

x, y, z = hoad.symbols("x y z")
v = hoad.symbols("v", shape=3)

FORMULAS = [
    *("x - (y - z)", "x - y - z", "x / (y * z)", "x / y * z", "x * (y + z)", "x * y + z", "x + (y + z)"),
    *("-x ** 2", "(-x) ** 2", "x ** -y", "x ** y ** z", "(x ** y) ** z", "-(x * y)", "-(x + y)", "-(-x)", "-x - -y"),
    *("2 ** x", "x ** 0.5", "(x + 1) ** 2", "x // y % z", "x % (y % z)", "sin(x * y) + exp(x)", "x * -2", "(-2) ** x"),
    *("(x < y) == (y < z)", "where(x > 0, x, -x)", "abs(x - y)", "v[1] * v[0]", "(v * x)[1]", "v[::-1]", "(x + v)[1:]"),
    *("sum(v * v)", "v @ v", "maximum(x, y)"),
]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_read_back(text: str) -> None:
    names: dict[str, Any] = {name: getattr(np, name) for name in ("sin", "exp", "where", "sum", "maximum")}
    names |= {"abs": np.abs, "x": x, "y": y, "z": z, "v": v}
    made = eval(text, dict(names))
    shown = str(made)
    if "@" not in text:
        assert ast.dump(ast.parse(shown)) == ast.dump(ast.parse(text)), shown
    again = eval(shown, names | {"matmul": np.matmul})
    at = {x: 0.7, y: 1.3, z: 0.4, v: np.array([0.2, 0.3, 0.5])}
    np.testing.assert_array_equal(again.evaluate(at), made.evaluate(at))


def test_large_formulas_name_what_they_share() -> None:
    e = np.sin(y * x**2) + np.exp(x**2)
    found = e.derivative(x, 4)
    lines = str(found).split("\n")
    assert len(lines) > 5 and all(len(line) < 120 for line in lines)
    assert repr(found) == f"<Expression of y, x: {found.to_program()[0].size} nodes>"
    names: dict[str, Any] = {"sin": np.sin, "cos": np.cos, "exp": np.exp, "x": 0.7, "y": 1.3}
    for line in lines[:-1]:
        exec(line, names)
    assert eval(lines[-1], names) == pytest.approx(found.evaluate({x: 0.7, y: 1.3}), rel=1e-14)


def test_long_formulas_are_cut() -> None:
    e = x
    for k in range(3000):
        e = np.sin(e * y + k)
    assert "lines left out" in str(e) and len(str(e)) < 40_000


def test_names_do_not_collide() -> None:
    v1 = hoad.symbols("v1")
    e = v1
    for _ in range(8):
        e = np.sin(e * e + e)
    assert str(e).startswith("v_1 = sin(v1 * v1 + v1)\nv_2 = sin(v_1 * v_1 + v_1)\n")


def test_the_tree_counts_every_use() -> None:
    e = x
    for _ in range(200):
        e = e + e
    tree = e.to_expression_tree()
    assert tree.size == 2**201 - 1 and tree.depth == 201
    assert e.to_program()[0].size == 201
    assert "nodes left out" in str((e + 1).to_expression_tree())


def test_the_tree_is_walked() -> None:
    tree = (np.sin(x) * x + 2).to_expression_tree()
    assert [node.label for node in tree] == ["add", "multiply", "sin", "x", "x", "2"]
    assert [node.operation for node in tree] == ["add", "multiply", "sin", None, None, None]
    assert len(list(tree)) == tree.size
    assert repr(tree) == "<ExpressionTree: add, 6 nodes>"
    assert tree.operands[1].expression.evaluate() == 2.0
