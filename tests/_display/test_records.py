"""Programs as dictionaries, and the user's lines of their nodes."""

from __future__ import annotations

import inspect
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _display.programs import PROGRAMS, branching, by_hand, chain, rosenbrock
from _display.reading import tables

import hoad
from hoad._program.tape import Constant


def line_of(f: Any, text: str) -> str:
    """'file:line' of the first line of a function that holds a text."""
    lines, first = inspect.getsourcelines(f)
    k = next(k for k, line in enumerate(lines) if text in line)
    return f"{inspect.getsourcefile(f)}:{first + k}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_records_are_the_nodes(name: str) -> None:
    program = PROGRAMS[name]()
    records = program.records()
    nodes = [node for tape in program for node in tape.nodes]
    assert [record["node"] for record in records] == [node.number for node in nodes]
    assert len({tuple(record) for record in records}) <= 1, "the same keys in all"
    for record, node in zip(records, nodes, strict=True):
        assert record["operation"] == node.operation
        assert record["parents"] == node.parents == tuple(k for k in record["operands"] if isinstance(k, int))
        assert record["shape"] == np.shape(record["value"]) or record["value"] is None
        if record["value"] is not None and node.shape:
            assert record["dtype"] == record["value"].dtype.name
        np.testing.assert_equal(record["value"], node.result)
        assert (record["swept"], record["adjoint_of"], record["part"]) == (node.swept, node.adjoint_of, node.part)
        assert bool(record["adjoint"]) == (node.adjoint_of is not None)
    for k, tape in enumerate(program, 1):
        own = [record for record in records if record["tape"] == k]
        assert {record["kind"] for record in own} <= {tape.kind}
        assert tuple(record["node"] for record in own if record["input"]) == tape.inputs
        given = {(k, record["node"]) for record in own for k in record["outputs"]}
        numbers = {record["node"] for record in own}
        assert given == {(k, n) for k, n in enumerate(tape.outputs, 1) if isinstance(n, int) and n in numbers}


@pytest.mark.parametrize("name", ["hand", "hand, unsimplified", "hand, twice", "several outputs", "guards"])
def test_records_say_what_is_printed(name: str) -> None:
    program = PROGRAMS[name]()
    rows = [row for table in tables(str(program)) for row in table]
    records = program.records()
    assert [row.operation for row in rows] == [record["expression"] for record in records]
    assert [row.name for row in rows] == [record["adjoint"] or "" for record in records]
    for row, record in zip(rows, records, strict=True):
        value = record["value"]
        assert row.columns["value"] == (
            "?" if value is None else f"{value:.6g}" if type(value) is float else str(value)
        )


def test_the_hand_worked_example_by_its_parts() -> None:
    """What a node, a tape and a program have by the names that the example gives them."""
    program = hoad.gradient(hoad.record(by_hand, 2.0, 3.0), simplify=False)
    primal, adjoint = program
    assert [(node.number, node.operation, node.parents) for node in primal.nodes] == [
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
    assert primal.inputs == (1, 2) and primal.outputs == (9,)
    assert primal.nodes[2].operands == (Constant(4.0), 1)
    assert [node.result for node in primal.nodes[:5]] == [2.0, 3.0, 8.0, 24.0, 12.0]
    x, y = 2.0, 3.0
    values = {node.number: node.result for node in adjoint.nodes}
    expected = (4 * y + 3 * np.sin(4 * y), 4 * x + 12 * x * np.cos(4 * y))
    np.testing.assert_allclose([values[k] for k in adjoint.outputs], expected, rtol=1e-15)
    swept = [node.swept for node in adjoint.nodes if node.adjoint_of is not None and node.part]
    assert swept == sorted(swept, reverse=True), "the sweep goes back"


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_node_of_an_adjoint_tape_is_of_a_sweep(name: str) -> None:
    """Those too that are nobody's adjoint: they lie between what came before and what comes after in the sweep."""
    for tape in PROGRAMS[name]():
        if tape.kind == "adjoint":
            swept = [node.swept for node in tape.nodes if node.number not in tape.inputs]
            assert None not in swept and swept == sorted(swept, reverse=True)


# ---- lines ----------------------------------------------------------------------------------------------------------


def test_lines_of_scalars() -> None:
    program = hoad.gradient(hoad.record(by_hand, 2.0, 3.0), simplify=False)
    assert {record["where"] for record in program.records()} == {None}
    where = {record["node"]: record["where"] for record in program.records(lines=True)}
    a, b, z = (line_of(by_hand, text) for text in ("a = 4", "b = np.sin", "return a"))
    assert [where[k] for k in range(1, 10)] == [None, None, a, a, b, b, z, z, z]
    assert where[17] == b and where[18] == b, "an adjoint is of the line of the node swept"
    assert where[23] == a


def test_lines_of_arrays_are_kept() -> None:
    where = [record["where"] for record in hoad.record(rosenbrock, np.ones(3)).records()]
    assert where[0] is None and set(where[1:]) == {line_of(rosenbrock, "return")}


def test_lines_through_calls_and_after_them() -> None:
    def inner(x: Any) -> Any:
        return np.sin(x)  # inner

    def outer(x: Any) -> Any:
        y = inner(x) * 2  # outer
        return hoad.grad(inner)(y) + y  # nested

    def both(x: Any) -> Any:
        return outer(x)

    records = hoad.record(both, 0.5).records(lines=True)
    found = {record["where"] for record in records if record["operation"] == "sin"}
    assert found == {line_of(inner, "# inner")}
    first = next(record for record in records if record["operation"] == "multiply")
    assert first["where"] == line_of(outer, "# outer")
    assert records[-1]["where"] == line_of(outer, "# nested")


def test_a_function_that_records_otherwise_has_no_lines() -> None:
    """None rather than wrong ones."""
    calls: list[int] = []

    def moody(x: Any) -> Any:
        calls.append(1)
        return x * x if len(calls) == 1 else np.sin(x)

    def fails(x: Any) -> Any:
        calls.append(1)
        if len(calls) > 1:
            raise OSError("gone")
        return x * x

    for f in (moody, fails):
        calls.clear()
        program = hoad.record(f, 1.0)
        assert [record["where"] for record in program.records(lines=True)] == [None, None]
        assert len(calls) == 2


def test_a_pickled_program_knows_array_lines_alone() -> None:
    program = pickle.loads(pickle.dumps(hoad.record(by_hand, 2.0, 3.0)))
    assert {record["where"] for record in program.records(lines=True)} == {None}


def test_a_function_in_c_has_no_lines() -> None:
    assert [row["where"] for row in hoad.record(np.tanh, 0.3).records(lines=True)] == [None, None]


def test_the_steps_to_a_tangent_are_of_its_line() -> None:
    where = [row["where"] for row in PROGRAMS["tangent"]().records(lines=True)]
    assert set(where[11:]) == {line_of(by_hand, text) for text in ("a = 4", "b = np.sin", "return a")}


def test_a_debugger_is_left_in_place() -> None:
    program = hoad.record(by_hand, 2.0, 3.0)
    before = sys.gettrace()

    def tracer(*_: Any) -> None:
        return None

    try:
        sys.settrace(tracer)
        program.records(lines=True)
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)


def test_recording_again_leaves_no_derivative_open() -> None:
    program = hoad.record(chain, 0.5)
    program.records(lines=True)
    assert hoad.grad(np.sin)(0.0) == 1.0


def test_guards_stand_at_their_nodes() -> None:
    (guarded,) = (record for record in hoad.record(branching, 2.0).records() if record["guards"])
    assert guarded["expression"] == "@1 > 1"
    ((was, where),) = guarded["guards"]
    assert was is True and where == line_of(branching, "if x > 1")
    assert Path(where.rpartition(":")[0]).exists()
