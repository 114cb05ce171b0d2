"""Operations as printed, read back and evaluated with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _display.reading import evaluated, tables

import hoad
from hoad._display import format_program

MATRIX = np.arange(1.0, 13.0).reshape(3, 4) / 8
SMALL = np.array([0.25, 0.5, 1.5, 2.0])

# What a program records, and where.
FUNCTIONS: dict[str, tuple[Callable[..., Any], Any]] = {
    "arithmetic": (lambda x: (2 * x - 1) / (x + 3) ** 2 - -x, 0.5),
    "powers": (lambda x: 2.5**x + x**-2 + (3 * x) ** x, 0.5),
    "elementary": (lambda x: np.exp(x) + np.log(x) * np.tanh(x) - np.arctan2(x, 2) + abs(x), 0.5),
    "rounding": (lambda x: x // 0.2 + x % 0.2 + np.floor(3 * x), 0.5),
    "comparisons": (lambda x: np.where(x > 1, x, x**2) + np.where(x == 0.5, 0, x), SMALL),
    "extrema": (lambda x: np.maximum(x, 1) + np.max(x) - np.min(x), SMALL),
    "slices": (lambda x: x[1:] * x[:-1] + x[::-1][:3], SMALL),
    "items": (lambda x: x[3] * x[0] - x[-2], SMALL),
    "items of a matrix": (lambda x: x[1, 2] * x[0, 3], MATRIX),
    "rows and columns": (lambda x: x[1, ::2] * x[:2, 3] + x[::-1, 1:3][0], MATRIX),
    "new axes": (lambda x: x[:, None] * x[None, :], SMALL),
    "gathers": (lambda x: x[[0, 2]] * x[[3, 1]], SMALL),
    "gathers of a matrix": (lambda x: x[[0, 2], [1, 1]], MATRIX),
    "sums": (lambda x: np.sum(x, axis=0) * np.sum(x) + np.sum(np.sum(x, axis=1, keepdims=True)), MATRIX),
    "shapes": (lambda x: x.reshape(4, 3) + x.T + np.transpose(x, (1, 0)), MATRIX),
    "joins": (lambda x: np.concatenate([x, 2 * x], axis=1), MATRIX),
    "broadcasts": (lambda x: np.broadcast_to(x, (2, 4)) * 2, SMALL),
    "stacks": (lambda x: np.stack([x[0], x[2] * 2]) ** 2, SMALL),
    "products of matrices": (lambda x: x @ x.T, MATRIX),
    "systems": (lambda x: np.linalg.solve(x.reshape(2, 2), np.ones(2)), SMALL),
    "small constants": (lambda x: x * np.array([1.0, -2.0, 0.5, 4.0]), SMALL),
    "single precision": (lambda x: x.astype(np.float32) * 2, SMALL),
}


def program_of(name: str, simplify: bool) -> Any:
    f, x = FUNCTIONS[name]
    program = hoad.record(f, x)
    seed = np.ones(program.output_types[0].shape, program.output_types[0].dtype)
    return hoad.gradient(program, seed if seed.shape else 1.0, simplify=simplify)


@pytest.mark.parametrize("simplify", [True, False])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_operations_evaluate_to_their_values(name: str, simplify: bool) -> None:
    program = program_of(name, simplify)
    nodes = [node for tape in program for node in tape.nodes]
    values = {node.number: node.result for node in nodes}
    rows = [row for rows in tables(format_program(program)) for row in rows]
    assert [row.number for row in rows] == list(values)
    for row in rows:
        if row.columns["mark"] != "input" and "array(" not in row.operation:
            found = evaluated(row.operation, values)
            np.testing.assert_allclose(found, values[row.number], rtol=1e-6, err_msg=row.operation)


@pytest.mark.parametrize("simplify", [True, False])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_equations_of_adjoints_hold(name: str, simplify: bool) -> None:
    """Read from above, every equation gives the value of its node, in terms of those before it."""
    program = program_of(name, simplify)
    values: dict[Any, Any] = {node.number: node.result for tape in program for node in tape.nodes}
    for rows in tables(format_program(program)):
        for row in rows:
            adjoint, _, equation = row.columns.get("adjoint", "").partition(" = ")
            if equation and "array(" not in equation:
                found = evaluated(equation, values)
                np.testing.assert_allclose(found, values[row.number], rtol=1e-6, err_msg=row.columns["adjoint"])
            if adjoint:
                values[adjoint] = values[row.number]


def shown(f: Callable[..., Any], *args: Any) -> list[str]:
    return [row.operation for row in tables(str(hoad.record(f, *args)))[0]]


@pytest.mark.parametrize(
    ("f", "x", "operation"),
    [
        (lambda x: 4 * x, 1.0, "4 * @1"),
        (lambda x: x**2, 1.0, "@1 ** 2"),
        (lambda x: (-2.0) ** x, 2.0, "(-2) ** @1"),
        (lambda x: -x, 1.0, "-@1"),
        (np.sin, 1.0, "sin(@1)"),
        (lambda x: abs(x), 1.0, "abs(@1)"),
        (lambda x: np.sum(x), MATRIX, "sum(@1)"),
        (lambda x: np.sum(x, axis=0), MATRIX, "sum(@1, axis=0)"),
        (lambda x: np.max(x, axis=1, keepdims=True), MATRIX, "max(@1, axis=1, keepdims=True)"),
        (lambda x: np.reshape(x, (4, 3)), MATRIX, "reshape(@1, shape=(4, 3))"),
        (lambda x: x.T, MATRIX, "transpose(@1)"),
        (lambda x: np.broadcast_to(x, (2, 4)), SMALL, "broadcast_to(@1, shape=(2, 4))"),
        (lambda x: x[1:], SMALL, "@1[1:]"),
        (lambda x: x[3], SMALL, "@1[3]"),
        (lambda x: x[::-1, 1:3], MATRIX, "@1[::-1, 1:3]"),
        (lambda x: x[[0, 2]], SMALL, "@1[[0, 2]]"),
        (lambda x: x[[0, 2], [1, 1]], MATRIX, "@1.flat[[1, 9]]"),
        (lambda x: x * np.ones(4), SMALL, "@1 * [1, 1, 1, 1]"),
        (lambda x: x * MATRIX, MATRIX, "@1 * array(3, 4)"),
        (lambda x: np.where(x > 1, x, 0.0), SMALL, "where(@2, @1, 0)"),
        (lambda x: x.astype(np.float32), SMALL, "astype(@1, dtype=float32)"),
        (lambda x: np.concatenate([x, x]), SMALL, "concatenate(@1, @1, axis=0)"),
        (lambda x: np.concatenate([x] * 9), SMALL, "concatenate(@1, @1, @1, @1, ..., @1, axis=0)"),
        (lambda x: x @ x.T, MATRIX, "matmul(@1, @2)"),
    ],
)
def test_notation(f: Callable[..., Any], x: Any, operation: str) -> None:
    assert shown(f, x)[-1] == operation


def test_parts_of_an_array() -> None:
    """An assemble node says what is added where; of many parts, the first and how many there are."""
    program = hoad.gradient(hoad.record(lambda x: x[0] * np.sum(x[1:] ** 2), SMALL))
    assert tables(str(program))[1][-1].operation.startswith("zeros(4) with [0] += @")
    assert " [1:] += @" in tables(str(program))[1][-1].operation
    many = shown(lambda x: np.stack([x[k] * 2 for k in range(4)] * 5), SMALL)[-1]
    assert many.startswith("zeros(20) with [0] += @") and many.endswith(", ... (20 in all)")


def test_masked_parts_of_a_matrix() -> None:
    program = hoad.gradient(hoad.record(lambda x: np.sum(x[[0, 2], [1, 1]] ** 2), MATRIX))
    assert tables(str(program))[1][-1].operation.startswith("zeros((3, 4)) with .flat[[1, 9]] += @")


def test_call_of_a_program() -> None:
    inner = hoad.record(lambda x, y: x * np.sin(y), 1.0, 2.0)
    assert shown(lambda x: inner(x, 2 * x), 1.0)[-1] == "call(@1, @2, program=<1 tape>)"


def test_several_results() -> None:
    operations = shown(lambda x: np.linalg.slogdet(x)[1], np.eye(2))
    assert operations == ["x", "slogdet(@1)", "result(@2, index=1)"]


def test_primitives_of_the_user() -> None:
    """They are written as functions with their parameters, whatever their name."""

    def add(x: Any, *, label: str, scale: float) -> Any:
        return scale * x

    own = hoad.primitive(vjp=lambda g, p, x, label, scale: (scale * g,))(add)
    operation = shown(lambda x: own(x, label="a" * 60, scale=2.0), 1.0)[-1]
    assert operation == f"add(@1, label='{'a' * 36}..., scale=2.0)"
