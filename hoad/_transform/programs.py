"""Programs made of functions, and of other programs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from hoad._core.graph.inspect import const_value, node_row
from hoad._core.graph.tape import Graph
from hoad._core.record.recording import differentiating, inline
from hoad._program.program import Program
from hoad._program.tape import Tape


def recorded(f: Callable[..., Sequence[Any]], inputs: Sequence[Any], valued: bool = False) -> Program:
    """The program of a function of traced values alone, recorded without values, of the abstract values of its inputs.

    Or with values (`valued`), of those of its inputs.
    """
    with differentiating(nested=False, valued=valued) as recording:
        made = f(*[recording.input(x) for x in inputs])
        outputs = [recording.operand(x) for x in made]
        del made
        recording.keep()
    window = (0, recording.size, 0, recording.guards)
    return Program([Tape(recording.graph, window, recording.inputs, outputs, "primal", False)])


def nodes_behind(graph: Graph, operands: Iterable[int], ends: Collection[int]) -> tuple[list[int], list[int]]:
    """The nodes that some operands depend on as far as other nodes, the ends, and those of the latter that are met."""
    found: set[int] = set()
    met: set[int] = set()
    wanted = [k for k in operands if k >= 0]
    while wanted:
        node = wanted.pop()
        if node in ends:
            met.add(node)
        elif node not in found:
            found.add(node)
            wanted.extend(k for k in node_row(graph, node)[1] if k >= 0)
    return sorted(found), sorted(met)


def selected(program: Program, outputs: list[int]) -> Program:
    """The program with other nodes for outputs."""
    tape = program._last
    window = (tape._start, tape._end, tape._first_guard, tape._guards)
    made = Program(
        [*program[:-1], Tape(tape._graph, window, list(tape._inputs), outputs, tape.kind, False, tape._parent)]
    )
    made._linear, made._omitted = program._linear, program._omitted
    return made


def without_guards(program: Program, outputs: list[int]) -> Program:
    """The program with other nodes for outputs, which compares nothing with what it was when it was recorded."""
    tape = program._last
    window = (tape._start, tape._end, 0, 0)
    return Program([Tape(tape._graph, window, list(tape._inputs), outputs, tape.kind, False)])


def without_calls(program: Program) -> Program:
    """The program with the operations of those that it calls in place of the calls, as far as these compare nothing."""
    tape = program._last
    graph, outputs, inputs = tape._graph, list(tape._outputs), program._input_nodes()
    rows = [(i, node_row(graph, i)) for i in nodes_behind(graph, outputs, set(inputs))[0]]
    calls = [i for i, row in rows if row[0].of_programs and row[2][0]._entered(tuple(row[1])) is not None]
    if not calls or tape._guards != tape._first_guard:
        return program
    known: dict[int, Any] = {}

    def values_of(nodes: list[int]) -> list[Any]:
        left = [k for k in nodes if k >= 0 and k not in known]
        known.update(zip(left, inline(graph, left, list(known), list(known.values())), strict=True))
        return [known[k] if k >= 0 else const_value(graph, k) for k in nodes]

    def flat(*values: Any) -> list[Any]:
        known.update(zip(inputs, values, strict=True))
        for i in calls:
            _, operands, (callee,), *_ = node_row(graph, i)
            entered = callee._entered(tuple(values_of(operands)))
            inner = None if entered is None else without_calls(entered[0])
            if inner is None or inner._last._guards:
                continue
            found = inline(inner._last._graph, list(inner._last._outputs), inner._input_nodes(), list(entered[1]))
            known.update(zip(itertools.count(i), found, strict=False))
        return values_of(outputs)

    return recorded(flat, program.input_types)
