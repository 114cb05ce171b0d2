"""Programs made of functions, and of other programs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from hoad._core.graph.inspect import node_row
from hoad._core.graph.tape import Graph
from hoad._core.record.recording import differentiating
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
