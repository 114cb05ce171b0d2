"""The nodes of programs as dictionaries."""

from __future__ import annotations

from typing import Any

from hoad._core.graph.inspect import node_row, operand_avals
from hoad._display.lines import find_lines
from hoad._display.marks import guards_of, output_names
from hoad._display.notation import operation_text
from hoad._display.table import adjoint_names, tangent_names
from hoad._program.program import Program
from hoad._program.tape import Tape, TapeNode


def make_records(program: Program, lines: bool) -> list[dict[str, Any]]:
    """What `Program.records` gives."""
    places = find_lines(program, lines)
    found: list[dict[str, Any]] = []
    for index, (tape, where) in enumerate(zip(program, places, strict=True), 1):
        found += _of_tape(index, tape, where)
    return found


def _of_tape(index: int, tape: Tape, where: list[str | None]) -> list[dict[str, Any]]:
    nodes = tape.nodes
    adjoints, tangents = adjoint_names(nodes, [], 0), tangent_names(nodes)
    inputs = {number: k for k, number in enumerate(tape.inputs, 1)}
    guards, named = guards_of(tape), output_names(tape)
    outputs: dict[Any, tuple[int, ...]] = {}
    for k, number in enumerate(tape.outputs, 1):
        if isinstance(number, int):
            outputs[number] = (*outputs.get(number, ()), k)
    avals = operand_avals(tape._graph, [node.number - 1 for node in nodes])
    return [
        {
            "tape": index,
            "kind": tape.kind,
            "node": node.number,
            "operation": node.operation,
            "expression": operation_text(node, tape, {}),
            "operands": node.operands,
            "parents": node.parents,
            "parameters": node.parameters,
            "value": node.result,
            "shape": node.shape,
            "dtype": aval.dtype.name,
            "input": inputs.get(node.number),
            "name": node.name,
            "outputs": outputs.get(node.number, ()),
            "output_names": named.get(node.number, ()),
            "adjoint": adjoints.get(node.number),
            "tangent": tangents.get(node.number),
            "swept": node.swept,
            "adjoint_of": node.adjoint_of,
            "part": node.part,
            "tangent_of": node.tangent_of,
            "where": line,
            "guards": guards.get(node.number, ()),
        }
        for node, aval, line in zip(nodes, avals, where, strict=True)
    ]


def is_ordered(node: TapeNode, tape: Tape) -> bool:
    """Whether the order of the operands of a node matters."""
    return len(node.operands) > 1 and not node_row(tape._graph, node.number - 1)[0].symmetric
