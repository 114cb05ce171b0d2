"""The paper on reverse mode over expression graphs: f(x, y) = sin(y x²) + exp(x²) at (2, 2), and F: R³ → R².

Its tables are held to, and where they err, what is right: v̄₁ is 150.5714, not 63.1932; v̄₃ is v̄₄ cos(v₃), not cos(v₂);
the difference quotient has F(x + ε) − F(x), not their sum; and a visitor that hands every contribution on at once
counts shared nodes more than once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import hoad

COS8, SIN8, E4 = math.cos(8), math.sin(8), math.exp(4)


def f(x: Any, y: Any, k: Any = 2) -> Any:
    return np.sin(y * x**k) + np.exp(x**k)


def test_the_front_end() -> None:
    x, y = hoad.symbols("x y")
    e = np.sin(y * x**2) + np.exp(x**2)
    at = {x: 2, y: 2}
    assert e.evaluate(at) == pytest.approx(SIN8 + E4, rel=1e-15)
    wanted = {x: 8 * COS8 + 4 * E4, y: 4 * COS8}
    for mode in ("reverse", "forward"):
        assert e.gradient(at, mode=mode) == pytest.approx(wanted, rel=1e-14)


def test_the_table_of_values() -> None:
    """x, y, the power, its product with y, the sine, the exponential, the sum, as the table rounds them."""
    x, y = hoad.symbols("x y")
    v2 = x**2
    v3 = y * v2
    v4, v5 = np.sin(v3), np.exp(v2)
    v6 = v5 + v4
    found = [v.evaluate({x: 2, y: 2}) for v in (v2, v3, v4, v5, v6)]
    assert [round(value, 4) for value in found] == [4.0, 8.0, 0.9894, 54.5982, 55.5875]


def test_the_table_of_adjoints() -> None:
    """All of them in one sweep; the exponent, a constant in the paper, is an input here so that it has one."""
    program = hoad.record(lambda x, y, k: (lambda v2: np.sin(y * v2) + np.exp(v2))(x**k), 2.0, 2.0, 2.0)
    operations = ["input", "input", "input", "power", "multiply", "sin", "exp", "add"]
    assert [node.operation for node in program[0]] == operations
    wanted = {
        1: 8 * COS8 + 4 * E4,
        2: 4 * COS8,
        3: (2 * COS8 + E4) * 4 * math.log(2),
        4: 2 * COS8 + E4,
        5: COS8,
        6: 1.0,
        7: 1.0,
        8: 1.0,
    }
    found = program.sensitivities()
    assert found == pytest.approx(wanted, rel=1e-14)
    rounded = {number: round(value, 4) for number, value in found.items()}
    assert rounded == {1: 217.2286, 2: -0.582, 3: 150.5714, 4: 54.3071, 5: -0.1455, 6: 1.0, 7: 1.0, 8: 1.0}


def test_the_adjoint_of_the_exponent() -> None:
    """By symbols, in either mode; the paper's formula is right and its number, 63.1932, is not."""
    x, y, k = hoad.symbols("x y k")
    at = {x: 2, y: 2, k: 2}
    formula = 8 * COS8 * math.log(2) + 4 * E4 * math.log(2)
    for mode in ("reverse", "forward"):
        found = f(x, y, k).gradient(at, mode=mode)[k]
        assert found == pytest.approx(formula, rel=1e-14)
        assert round(found, 4) == 150.5714
        assert abs(found - 63.1932) > 87


def test_the_adjoint_of_the_sines_argument() -> None:
    """v̄₃ = v̄₄ cos(v₃)."""
    x, y = hoad.symbols("x y")
    v2 = x**2
    v3 = y * v2
    e = np.sin(v3) + np.exp(v2)
    found = e.derivative(v3)
    assert str(found) == "cos(y * x ** 2)"
    assert found.evaluate({x: 2, y: 2}) == COS8 != pytest.approx(math.cos(4), abs=0.1)
    assert e.derivative(v2).evaluate({x: 2, y: 2}) == pytest.approx(2 * COS8 + E4, rel=1e-15)


def test_the_recursive_visitor_overcounts() -> None:
    """What it computes, written down, and what is right: x is shared by a product with itself below a square."""
    x = hoad.symbols("x")
    s = x * x
    e = s * s + s
    bars: dict[int, float] = {}

    def visit(node: Any, adjoint: float) -> None:
        """The paper's AdjointPrevisitor: an operand is visited with all that it has collected so far."""
        bars[id(node)] = adjoint
        a, b = node.operands if node.operands else (None, None)
        if a is None:
            return
        if node.row.primitive.name == "multiply":
            partials = [b.evaluate({x: 3.0}), a.evaluate({x: 3.0})]
        else:
            partials = [1.0, 1.0]
        for operand, partial in zip((a, b), partials, strict=True):
            bars[id(operand)] = bars.get(id(operand), 0.0) + partial * adjoint
            visit(operand, bars[id(operand)])

    visit(e, 1.0)
    right = 4 * 3.0**3 + 2 * 3.0
    assert bars[id(x)] > right
    assert e.gradient({x: 3.0})[x] == e.gradient({x: 3.0}, mode="forward")[x] == right


def test_the_taylor_error_and_the_difference() -> None:
    """F(x + ε) − F(x) − F′(x) ε falls like ε²; the quotient of the difference like ε, that of the sum grows."""
    x, y = hoad.symbols("x y")
    e = f(x, y)
    at = {x: 0.7, y: 1.3}
    slope = e.gradient(at)[x]
    epsilons = 2.0 ** -np.arange(4, 12)
    moved = np.array([e.evaluate({x: 0.7 + h, y: 1.3}) for h in epsilons])
    taylor = np.abs(moved - e.evaluate(at) - slope * epsilons)
    quotient = np.abs((moved - e.evaluate(at)) / epsilons - slope)
    as_printed = np.abs((moved + e.evaluate(at)) / epsilons - slope)
    assert np.log2(taylor[:-1] / taylor[1:]) == pytest.approx(2.0, abs=0.15)
    assert np.log2(quotient[:-1] / quotient[1:]) == pytest.approx(1.0, abs=0.15)
    assert np.all(np.diff(as_printed) > 0)


def test_the_tree_and_the_graph() -> None:
    """The tree has x² once for each use, the graph once; a number is a node of the tree, and no row of a tape."""
    x, y = hoad.symbols("x y")
    e = np.sin(y * x**2) + np.exp(x**2)
    tree = e.to_expression_tree()
    assert [node.label for node in tree] == [
        *("add", "sin", "multiply", "y", "power", "x", "2", "exp", "power", "x", "2")
    ]
    assert tree.size == 11
    (tape,) = e.to_program(x, y)
    assert [node.operation for node in tape] == ["input", "input", "power", "multiply", "sin", "exp", "add"]
    assert tape.nodes[3].parents == (2, 3) and tape.nodes[5].parents == (3,)


def test_three_variables_to_two() -> None:
    x, y, z = hoad.symbols("x y z")
    components = [np.sin(x**2 * y) + np.exp(x**2), np.exp(x**2) * np.log(z)]
    together = np.stack(components)
    at = {x: 0.7, y: 1.3, z: 2.1}
    s, q = 0.7**2 * 1.3, math.exp(0.49)
    wanted = {
        x: [2 * 0.7 * 1.3 * math.cos(s) + 2 * 0.7 * q, 2 * 0.7 * q * math.log(2.1)],
        y: [0.49 * math.cos(s), 0.0],
        z: [0.0, q / 2.1],
    }
    np.testing.assert_allclose(together.evaluate(at), [math.sin(s) + q, q * math.log(2.1)], rtol=1e-15)
    for mode in ("forward", "reverse"):
        found = together.jacobian(at, mode=mode)
        for symbol, column in wanted.items():
            np.testing.assert_allclose(found[symbol], column, rtol=1e-14)
    for symbol, column in wanted.items():
        np.testing.assert_allclose(together.derivative(symbol).evaluate(at), column, rtol=1e-14)
    assert [e.to_expression_tree().size for e in components] == [11, 7]
    (tape,) = together.to_program()  # x² and exp(x²) stand once
    assert sum(node.operation == "exp" for node in tape) == sum(node.operation == "power" for node in tape) == 1


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("add", "1", "1"),
        ("subtract", "1", "-1"),
        ("multiply", "v", "u"),
        ("divide", "1 / v", "-(u / v) / v"),
        ("power", "v * u ** (v - 1)", "u ** v * log(u)"),
        ("sin", "cos(u)", ""),
        ("cos", "-sin(u)", ""),
        ("exp", "exp(u)", ""),
        ("log", "1 / u", ""),
    ],
)
def test_the_table_of_elemental_derivatives(name: str, first: str, second: str) -> None:
    u, v = hoad.symbols("u v")
    ufunc = getattr(np, name)
    e = ufunc(u, v) if second else ufunc(u)
    names: dict[str, Any] = {"u": 1.7, "v": 2.3, **{key: getattr(np, key) for key in ("sin", "cos", "exp", "log")}}
    for symbol, text in zip((u, v), (first, second), strict=True):
        if text:
            assert e.derivative(symbol).evaluate({u: 1.7, v: 2.3}) == pytest.approx(float(eval(text, names)), rel=1e-14)


def test_the_forward_pass_at_the_point_of_the_tables() -> None:
    """The paper wants to apply its forward algorithm there, and gives no numbers: all tangents, by x and by y."""
    x, y, two = hoad.symbols("x y two")
    v2 = x**two
    v3 = y * v2
    v4, v5 = np.sin(v3), np.exp(v2)
    nodes = [x, y, two, v2, v3, v4, v5, v5 + v4]
    at = {x: 2, y: 2, two: 2}
    wanted = {
        x: [1, 0, 0, 4, 8, 8 * COS8, 4 * E4, 4 * E4 + 8 * COS8],
        y: [0, 1, 0, 0, 4, 4 * COS8, 0, 4 * COS8],
    }
    for symbol, column in wanted.items():
        found = [node.gradient(at, mode="forward")[symbol] for node in nodes]
        np.testing.assert_allclose(found, column, rtol=1e-14)
        direction = tuple(float(symbol is s) for s in at)
        tangent = hoad.tangent((v5 + v4).to_program(x, y, two), direction)
        assert tangent.evaluate(2, 2, 2) == pytest.approx(column[-1], rel=1e-14)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (10, 1), (1, 10), (4, 4), (100, 1), (1, 100)])
def test_a_pass_for_each_input_or_output(n: int, m: int) -> None:
    """The tape of one pass is about as long as that of the function, whatever n and m are."""

    def several(*x: Any) -> tuple[Any, ...]:
        y: list[Any] = [0.0] * m
        for k in range(480):
            y[k % m] = y[k % m] + np.sin(x[k % n]) * x[(k + 1) % n]
        return tuple(y)

    at = np.linspace(0.1, 1.0, n).tolist()
    program = hoad.record(several, *at)
    forward, reverse = hoad.tangent(program, "symbolic"), hoad.gradient(program, "symbolic")
    assert 0.8 < len(forward[1]) / len(program[0]) < 1.4 and 0.8 < len(reverse[1]) / len(program[0]) < 1.4
    columns = [forward.evaluate(*at, *e) for e in np.eye(n).tolist()]
    rows = [reverse.evaluate(*at, *e) for e in np.eye(m).tolist()]
    jacobian = np.zeros((m, n))
    for k in range(480):
        jacobian[k % m, k % n] += np.cos(at[k % n]) * at[(k + 1) % n]
        jacobian[k % m, (k + 1) % n] += np.sin(at[k % n])
    np.testing.assert_allclose(np.reshape(columns, (n, m)).T, jacobian, rtol=1e-12)
    np.testing.assert_allclose(np.reshape(rows, (m, n)), jacobian, rtol=1e-12)


def test_what_reverse_mode_has_to_keep() -> None:
    """Values that the adjoint tape comes back to, in proportion to the length; forward, a few are alive at a time."""

    def recursion(length: int) -> hoad.Program:
        def f(x: Any) -> Any:
            for _ in range(length):
                x = np.sin(x) * x + 0.5
            return x

        return hoad.gradient(hoad.record(f, 0.7))

    assert [len(recursion(length)[1].parents) for length in (10, 100, 1000)] == [20, 200, 2000]


def test_a_linear_model_of_arrays() -> None:
    """The chapter on arrays that is only a heading: symbols of any shape, by hand."""
    big_x, w, t = (hoad.symbols(name, shape=shape) for name, shape in (("X", (4, 3)), ("w", 3), ("t", 4)))
    b = hoad.symbols("b")
    error = np.mean((big_x @ w + b - t) ** 2)
    random = np.random.default_rng(0)
    at = {big_x: random.normal(size=(4, 3)), w: random.normal(size=3), b: 0.25, t: random.normal(size=4)}
    r = at[big_x] @ at[w] + at[b] - at[t]
    wanted = {big_x: np.outer(r, at[w]) / 2, w: at[big_x].T @ r / 2, b: r.sum() / 2, t: -r / 2}
    for mode in ("reverse", "forward"):
        found = error.gradient(at, mode=mode)
        for symbol, slope in wanted.items():
            np.testing.assert_allclose(found[symbol], slope, rtol=1e-13)
    assert error.to_program()[0].size == 10  # four inputs and six operations, whatever the shapes


@pytest.mark.parametrize("shape", [(2, 3), (20, 30)])
def test_operations_on_shapes_have_their_transposes(shape: tuple[int, int]) -> None:
    """Sums repeat, broadcasting sums, a reshape goes back, slices are put among zeros, products are transposed."""
    n, m = shape
    random = np.random.default_rng(1)
    a, g, c = random.normal(size=shape), random.normal(size=shape), random.normal(size=m)
    x, row, other = hoad.symbols("A", shape=shape), hoad.symbols("c", shape=m), hoad.symbols("B", shape=(m, n))
    b = random.normal(size=(m, n))
    sliced = np.zeros(shape)
    sliced[1:, 0] = 2 * a[1:, 0]
    at = {x: a, row: c, other: b}
    cases: list[tuple[Any, Any, Any]] = [
        (np.sum(np.sum(x, axis=0) ** 2), x, np.tile(2 * a.sum(axis=0), (n, 1))),
        (np.sum(row * g), row, g.sum(axis=0)),
        (np.sum(np.reshape(x, (m, n)) * b), x, b.reshape(shape)),
        (np.sum(x.T * b), x, b.T),
        (np.sum(x[1:, 0] ** 2), x, sliced),
        (np.sum(np.stack([row, row**2])[:, 0]), row, np.eye(m)[0] * (1 + 2 * c[0])),
        (np.sum((x @ other) ** 2), x, 2 * (a @ b) @ b.T),
        (np.sum((x @ other) ** 2), other, a.T @ (2 * a @ b)),
    ]
    for formula, symbol, slope in cases:
        np.testing.assert_allclose(formula.gradient(at)[symbol], slope, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(formula.derivative(symbol).evaluate(at), slope, rtol=1e-12, atol=1e-13)
