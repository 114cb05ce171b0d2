"""Programs that are called by others: as `Program.inner` gives them, and as they stand in a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _display.pages import explored
from _display.programs import PROGRAMS, branching, by_hand, chain, factors
from _display.reading import tables

import hoad
from hoad import ArgumentError
from hoad._display import page as making
from hoad._program.program import Program


def calls_of(program: Program) -> list[int]:
    return [node.number for tape in program for node in tape.nodes if node.operation == "call"]


def test_values_are_those_at_the_call() -> None:
    inner = hoad.record(by_hand, 1.0, 2.0)
    program = hoad.record(lambda x, y: inner(x, y) + inner(y, 2 * x), 0.5, -1.5)
    for number, point in zip(calls_of(program), [(0.5, -1.5), (-1.5, 1.0)], strict=True):
        found = program.inner(number)
        expected = hoad.record(by_hand, *point)
        assert str(found) == str(expected)
        assert found.evaluate(1.0, 2.0) == by_hand(1.0, 2.0)
        assert found.sensitivity(1) == pytest.approx(hoad.grad(by_hand)(*point), rel=1e-14)
        assert program[0].nodes[number - 1].result == found[0].nodes[-1].result
    assert inner[0].nodes[0].result == 1.0, "the program itself is left as it was"


def test_arrays_guards_and_several_results() -> None:
    inner = hoad.record(factors, np.eye(3) + 0.1)
    point = np.arange(9.0).reshape(3, 3) / 7 + 2 * np.eye(3)
    program = hoad.record(lambda a: inner(a)[0], point)
    (number,) = calls_of(program)
    assert str(program.inner(number)) == str(hoad.record(factors, point))
    branched = hoad.record(branching, 2.0)
    program = hoad.record(lambda x: branched(x) * x, 3.0)
    found = program.inner(2)
    assert "guard: was True" in str(found) and found[0].nodes[0].result == 3.0
    with pytest.raises(hoad.GuardError):
        found.evaluate(0.0)


def test_the_adjoint_of_a_call() -> None:
    program = hoad.gradient(hoad.record(lambda x: hoad.record(by_hand, 1.0, 2.0)(x, 3 * x) * x, 0.5))
    number = calls_of(program)[-1]
    found = program.inner(number)
    seed = program[0].nodes[0].result  # what the call's result is multiplied by
    expected = [seed * g for g in hoad.grad(by_hand, argnums=(0, 1))(0.5, 1.5)]
    shown = [next(n.result for n in found[1].nodes if n.number == k) for k in found[1].outputs]
    np.testing.assert_allclose(shown, expected, rtol=1e-14)
    assert all(node.swept is not None for node in found[1].nodes), "its sweep is known, the first time too"


def test_inputs_without_a_value_have_none() -> None:
    inner = hoad.record(by_hand, 1.0, 2.0)
    program = hoad.gradient(hoad.record(lambda x: inner(x, x), 0.5), seed="symbolic")
    found = program.inner(calls_of(program)[-1])
    values = {node.number: node.result for node in found[-1].nodes}
    assert values[found[-1].inputs[0]] is None and values[found[-1].outputs[0]] is None
    assert found[0].nodes[0].result == 0.5


@pytest.mark.parametrize("node", [0, 4, -1, True, 2.0, "2", None])
def test_numbers_of_no_node(node: Any) -> None:
    program = hoad.record(lambda x: hoad.record(abs, 1.0)(x) + x, 0.5)
    with pytest.raises(ArgumentError, match=r"the number of a call node, 1 to 3, not "):
        program.inner(node)


def test_a_node_that_calls_nothing() -> None:
    with pytest.raises(ArgumentError, match=r"a call node, but @3 is multiply"):
        hoad.record(by_hand, 1.0, 2.0).inner(3)


def test_a_table_says_how_to_see_it() -> None:
    program = PROGRAMS["calls"]()
    for format in ("plain", "markdown", "html"):
        assert "program.inner(k) is that of @k" in program.table(format)
        assert "program.inner" not in PROGRAMS["hand"]().table(format)


# ---- in a page ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["calls", "calls of calls"])
def test_the_page_holds_what_is_called(name: str, tmp_path: Path) -> None:
    """Each call with its own values, and what that calls, and so on."""
    page = explored(PROGRAMS[name](), tmp_path)
    waiting = [(PROGRAMS[name](), 0)]
    seen = []
    while waiting:
        program, index = waiting.pop()
        seen.append(index)
        nodes = page.nodes(index)
        rows = [row for table in tables(program.table(rows=None)) for row in table]
        assert [(node["number"], node["t"], node["v"]) for node in nodes] == [
            (row.number, row.operation, row.columns["value"]) for row in rows
        ]
        inner = dict(page.data["programs"][index]["calls"])
        assert [nodes[k]["number"] for k in inner] == calls_of(program)
        waiting += [(program.inner(nodes[k]["number"]), to) for k, to in inner.items()]
    assert sorted(seen) == list(range(len(page.data["programs"])))
    assert page.data["programs"][-1]["name"] == "by_hand"


def test_what_is_called_is_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "CARRIED", 100)
    inner = hoad.record(by_hand, 1.0, 2.0)

    def f(x: Any) -> Any:
        for _ in range(30):
            x = inner(x, x) / 40
        return x

    program = hoad.record(f, 0.5)
    page = explored(program, tmp_path, limit=100)
    carried = [len(page.nodes(k)) for k in range(len(page.data["programs"]))]
    assert carried == [61] + [9] * 4
    assert [k for k, _ in page.data["programs"][0]["calls"]] == [1, 3, 5, 7], "the first calls"


def test_a_large_program_that_is_called_is_folded(tmp_path: Path) -> None:
    inner = hoad.record(chain, 0.5)
    page = explored(hoad.record(lambda x: inner(x), 0.25), tmp_path, limit=100)
    outer, called = page.data["programs"]
    assert outer["folds"] == [] and len(called["folds"]) == 3 and "601 nodes" in called["note"]
    assert page.nodes(1)[0]["v"] == "0.25"
