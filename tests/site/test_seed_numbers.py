"""The numbers in the texts that the pages under docs/worked-examples work through."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hoad

# ---- tape by hand: z = 4xy + 3x sin 4y -------------------------------------------------------------------------------


def z(x: Any, y: Any) -> Any:
    return 4 * x * y + np.sin(4 * y) * (3 * x)


POINTS = [(2.0, 0.5), (-1.0, 3.0), (0.25, -0.75), (0.0, 0.0)]


def test_tape_by_hand_primal_table() -> None:
    """Nine nodes, in the order of the note."""
    program = hoad.record(z, 2.0, 0.5)
    assert isinstance(program, list) and isinstance(program[0], hoad.Tape)
    assert [(n.number, n.operation, n.parents) for n in program[0].nodes] == [
        (1, "input", ()),
        (2, "input", ()),
        (3, "multiply", (1,)),
        (4, "multiply", (3, 2)),
        (5, "multiply", (2,)),
        (6, "sin", (5,)),
        (7, "multiply", (1,)),
        (8, "multiply", (6, 7)),
        (9, "add", (4, 8)),
    ]
    assert program[0].inputs == (1, 2) and program[0].outputs == (9,)


def test_tape_by_hand_adjoint_table() -> None:
    """Every row of the note, in its order: the node swept, whose adjoint it is, which contribution."""
    adjoint = hoad.gradient(hoad.record(z, 2.0, 0.5), simplify=False)[1]
    rows = {(n.swept, n.adjoint_of, n.part): n.result for n in adjoint.nodes if n.adjoint_of is not None}
    pairs = [(swept, of) for swept, of, part in rows if part or swept == of]
    document = [(9, 9), (9, 4), (9, 8), (8, 6), (8, 7), (7, 1), (6, 5), (5, 2), (4, 3), (4, 2), (3, 1)]
    assert pairs == document
    first, second = rows[7, 1, 1], rows[3, 1, 2]
    np.testing.assert_allclose([first, second], [3 * np.sin(2.0), 4 * 0.5], rtol=1e-15)
    first, second = rows[5, 2, 1], rows[4, 2, 2]
    np.testing.assert_allclose([first, second], [12 * 2 * np.cos(2.0), 4 * 2.0], rtol=1e-15)


@pytest.mark.parametrize("simplify", [False, True])
@pytest.mark.parametrize(("x", "y"), POINTS)
def test_tape_by_hand_partials(simplify: bool, x: float, y: float) -> None:
    first = hoad.gradient(hoad.record(z, 2.0, 0.5), simplify=simplify)
    expected = [4 * y + 3 * np.sin(4 * y), 4 * x + 12 * x * np.cos(4 * y)]
    np.testing.assert_allclose(first.evaluate(x, y), expected, rtol=1e-15, atol=1e-14)


@pytest.mark.parametrize("simplify", [False, True])
@pytest.mark.parametrize(("x", "y"), POINTS)
def test_tape_by_hand_second_and_third_order(simplify: bool, x: float, y: float) -> None:
    """gradient(program), again and again."""
    first = hoad.gradient(hoad.record(z, 2.0, 0.5), simplify=simplify)
    second = hoad.gradient(first, seed="symbolic", simplify=simplify)
    mixed, twice = 4 + 12 * np.cos(4 * y), -48 * x * np.sin(4 * y)
    rows = [second.evaluate(x, y, 1.0, 0.0), second.evaluate(x, y, 0.0, 1.0)]
    np.testing.assert_allclose(rows, [[0, mixed], [mixed, twice]], rtol=1e-14, atol=1e-13)
    third = hoad.gradient(second, seed=(0.0, 1.0), simplify=simplify)
    expected = [-48 * np.sin(4 * y), -192 * x * np.cos(4 * y)]
    np.testing.assert_allclose(third.evaluate(x, y, 0.0, 1.0), expected, rtol=1e-14, atol=1e-13)


# ---- adjoint tape: x² + xy + xz --------------------------------------------------------------------------------------


def func1(x: Any, y: Any, z: Any) -> Any:
    return x * x + x * y + x * z


def test_adjoint_tape_value_and_gradient() -> None:
    value, gradient = hoad.value_and_grad(func1, argnums=(0, 1, 2))(3.0, 4.0, 5.0)
    assert (value, gradient) == (36.0, (15.0, 3.0, 3.0))


@pytest.mark.parametrize("point", [(0.5, -1.25, 2.75), (1e-3, 0.1, 7.3), (-2.5, 0.0, 1e8)])
def test_adjoint_tape_points_that_are_no_integers(point: tuple[float, float, float]) -> None:
    x, y, z = point
    found = hoad.grad(func1, argnums=(0, 1, 2))(*point)
    np.testing.assert_allclose(found, [2 * x + y + z, x, x], rtol=1e-15)


def test_adjoint_tape_many_seeds_at_once() -> None:
    """Nothing is kept in the tape between evaluations, nor mixed by threads."""
    program = hoad.gradient(hoad.record(func1, 1.0, 1.0, 1.0), seed="symbolic")
    seeds = np.linspace(-2, 2, 401).tolist()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda seed: program.evaluate(3.0, 4.0, 5.0, seed), seeds))
    np.testing.assert_allclose(found, np.outer(seeds, [15.0, 3.0, 3.0]), rtol=1e-15)


# ---- evaluation trace: x₁x₂ + exp(x₁x₂) − sin x₂ ---------------------------------------------------------------------


def trace(x1: Any, x2: Any) -> Any:
    v3 = x1 * x2
    v4 = np.sin(x2)
    v5 = np.exp(v3)
    v6 = v3 - v4
    return x1, x2, v3, v4, v5, v6, v5 + v6


def test_evaluation_trace_trace() -> None:
    nodes = hoad.record(lambda x1, x2: trace(x1, x2)[-1], 0.5, 2.0)[0].nodes
    assert [(n.operation, n.parents) for n in nodes[2:]] == [
        ("multiply", (1, 2)),
        ("sin", (2,)),
        ("exp", (3,)),
        ("subtract", (3, 4)),
        ("add", (5, 6)),
    ]
    np.testing.assert_allclose([n.result for n in nodes], trace(0.5, 2.0), rtol=1e-15)


@pytest.mark.parametrize(("a", "b"), [(0.5, 2.0), (-1.5, 0.25), (0.0, 0.0)])
def test_evaluation_trace_tangents_by_x1(a: float, b: float) -> None:
    _, found = hoad.jvp(lambda x1, x2: np.stack(trace(x1, x2)), (a, b), (1.0, 0.0))
    grown = b * np.exp(a * b)
    np.testing.assert_allclose(found, [1, 0, b, 0, grown, b, grown + b], rtol=1e-15, atol=1e-15)


# ---- expression graphs: a report on reverse mode ---------------------------------------------------------------------


def example2(x: Any, y: Any, exponent: Any) -> Any:
    v2 = x**exponent
    return np.exp(v2) + np.sin(y * v2)


def test_expression_graphs_tables() -> None:
    """All values and adjoints of the report, to its four digits, but for the adjoint of the exponent."""
    program = hoad.gradient(hoad.record(example2, 2.0, 2.0, 2.0), simplify=False)
    values = sorted(n.result for n in program[0].nodes)
    np.testing.assert_allclose(values, sorted([2, 2, 2, 4, 8, 0.9894, 54.5982, 55.5875]), atol=5e-5)
    adjoints = {n.adjoint_of: n.result for n in program[1].nodes if n.adjoint_of}
    document = [217.2286, -0.5820, 54.3071, -0.1455, 1, 1, 1]
    np.testing.assert_allclose(sorted(adjoints.values()), sorted([*document, 150.5714]), atol=6e-5)
    assert abs(adjoints[3] - 63.1932) > 87
    assert abs(adjoints[3] - (8 * np.cos(8) * np.log(2) + 4 * np.exp(4) * np.log(2))) < 1e-12


def test_expression_graphs_jacobian_of_three_by_two() -> None:
    def f(v: Any) -> Any:
        square = v[0] ** 2
        return np.stack([np.sin(square * v[1]) + np.exp(square), np.exp(square) * np.log(v[2])])

    x, y, z = v = np.array([0.5, 2.0, 3.0])
    e, c = np.exp(x**2), np.cos(x**2 * y)
    exact = [[2 * x * y * c + 2 * x * e, x**2 * c, 0], [2 * x * e * np.log(z), 0, e / z]]
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(hoad.jacobian(f, mode=mode)(v), exact, rtol=1e-14)


def test_expression_graphs_cost_of_a_gradient_does_not_grow_with_n() -> None:
    def chain(*x: Any) -> Any:
        return sum(np.sin(a) * b**2 for a, b in itertools.pairwise(x))

    ratios = []
    for n in (10, 100, 1000):
        primal, adjoint = hoad.gradient(hoad.record(chain, *np.linspace(0.1, 1.0, n).tolist()))
        ratios.append(len(adjoint) / len(primal))
    assert max(ratios) < 2 and max(ratios) / min(ratios) < 1.1


def test_expression_graphs_shared_nodes_count_once() -> None:
    """The report's recursion gives 435.6212 here."""
    assert round(hoad.grad(example2)(2.0, 2.0, 2.0), 4) == 217.2286


def test_expression_graphs_convergence() -> None:
    def f(x: Any) -> Any:
        return np.sin(x**3) + np.exp(x)

    x, eps = 0.7, 10.0 ** -np.arange(1, 5)
    slope = hoad.grad(f)(x)
    taylor = np.abs(f(x + eps) - f(x) - slope * eps)
    difference = np.abs((f(x + eps) - f(x)) / eps - slope)
    assert abs(np.log10(taylor[-2] / taylor[-1]) - 2) < 0.05
    assert abs(np.log10(difference[-2] / difference[-1]) - 1) < 0.05
    as_printed = np.abs((f(x + eps) + f(x)) / eps - slope)
    assert np.all(np.diff(as_printed) > 0)


# ---- registration: registering a primitive ---------------------------------------------------------------------------


def vjp_pow(g: Any, p: Any, x: Any, y: Any) -> Any:
    return g * y * x ** (y - 1), g * p * np.log(x)


def decorated(primitive: Any) -> None:
    @hoad.defvjp(primitive)
    def rule(g: Any, p: Any, x: Any, y: Any) -> Any:
        return g * y * x ** (y - 1), g * p * np.log(x)


FORMS: dict[str, Callable[[Any], Any]] = {
    "definition": decorated,
    "lambda": lambda f: hoad.defvjp(f, lambda g, p, x, y: (g * y * x ** (y - 1), g * p * np.log(x))),
    "function": lambda f: hoad.defvjp(f, vjp_pow),
}


@pytest.mark.parametrize("form", FORMS)
def test_registration_forms_of_registration(form: str) -> None:
    @hoad.primitive
    def pow(x: Any, y: Any) -> Any:
        return x**y

    FORMS[form](pow)
    expected = [12.0, 8 * np.log(2)]
    np.testing.assert_allclose(hoad.grad(pow, argnums=(0, 1))(2.0, 3.0), expected, rtol=1e-15)
    np.testing.assert_allclose(hoad.jvp(pow, (2.0, 3.0), (0.0, 1.0)), [8.0, expected[1]], rtol=1e-15)
    hessian = hoad.hessian(lambda v: pow(v[0], v[1]))(np.array([2.0, 3.0]))
    mixed = 4 + 12 * np.log(2)
    np.testing.assert_allclose(hessian, [[12, mixed], [mixed, 8 * np.log(2) ** 2]], rtol=1e-14)


def test_registration_forms_by_name() -> None:
    """A rule named after NumPy's function replaces hoad's: so in a process of its own."""
    code = """
import numpy as np, hoad
@hoad.defvjp(replace=True)
def power(g, p, x, y):
    return g * y * x ** (y - 1), g * p * np.log(x)
print(hoad.grad(np.power, argnums=(0, 1))(2.0, 3.0) == (12.0, 8 * np.log(2.0)))
hoad.defvjp(np.exp, lambda g, p, x: (2 * g * p,), replace=True)
print(hoad.grad(np.exp)(0.0))
def vjp_sin(g, p, x):
    return (3 * g * np.cos(x),)
hoad.defvjp(np.sin, vjp_sin, replace=True)
print(hoad.grad(np.sin)(0.0))
"""
    where = Path(hoad.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=where, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "2.0", "3.0"]


WRONG_RULES: dict[str, tuple[Any, str, str]] = {
    "no operand": (lambda g, p: (g, g), "names no operand", "Name at least one"),
    "too many arguments": (lambda g, p, x, y, z: (g, g), "missing 1 required", r"takes \(g, p, \*operands\)"),
    "a list": (lambda g, p, x, y: [g * y, g * x], "returned list, not a tuple", "one adjoint per operand"),
    "one adjoint": (lambda g, p, x, y: (g * y,), "returned 1 adjoint for 2 operands", "None for zero"),
    "not homogeneous": (lambda g, p, x, y: (g * y + 1, g * x), "is not linear in g", "product of g"),
    "without g": (lambda g, p, x, y: (y, x), "does not contain g", "None for zero"),
    "squared": (lambda g, p, x, y: (g * g * y, g * x), "is not linear in g", "product of g"),
    "a shape": (
        lambda g, p, x, y: (np.stack([g, g]), g),
        r"shape \(2,\) for operand 0 of shape \(\)",
        "the operand's shape",
    ),
}


@pytest.mark.parametrize("case", WRONG_RULES)
def test_registration_requirements_are_checked(case: str) -> None:
    """The message says what is wrong, and what to do."""
    rule, fact, advice = WRONG_RULES[case]

    @hoad.primitive
    def product(x: Any, y: Any) -> Any:
        return x * y

    def used() -> None:
        hoad.defvjp(product, rule)
        hoad.grad(product)(2.0, 3.0)

    with pytest.raises(hoad.RuleError, match=f"(?s){fact}.*{advice}"):
        used()


def test_registration_what_is_not_registered_is_refused() -> None:
    @hoad.primitive
    def product(x: Any, y: Any) -> Any:
        return x * y

    with pytest.raises(hoad.NoRuleError, match=r"product has no derivative rule.*Declare one"):
        hoad.grad(product)(2.0, 3.0)
    with pytest.raises(hoad.RuleError, match=r"is not a primitive\. Declare the function with @hoad\.primitive"):
        hoad.defvjp(lambda x: 2 * x, vjp_pow)
