"""Adjoints of nodes within a program."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._core.graph.inspect import node_row, operand_avals
from hoad._core.record.recording import Extension, lowered
from hoad._core.trace.context import WATCHERS
from hoad._ops.primitives import STOP_GRADIENT
from hoad._program.program import Program
from hoad._transform.seeds import seed_operands
from hoad.errors import ArgumentError, ShapeError, count


def find_sensitivities(program: Program, asked: list[int] | None, seed: Any, at: Any) -> list[Any]:
    """The adjoints of the nodes `asked` for, or of all, as numbers and arrays."""
    tape = program._last
    program._check_chain()
    if isinstance(seed, str):
        raise ArgumentError(f"a sensitivity is a number, so its seed is one too, not {seed!r}.")
    shapes = [aval.shape for aval in program.output_types]
    if seed is None and (len(shapes) > 1 or shapes[0]):
        raise ShapeError(
            f"a sensitivity needs a seed where the last tape gives more than one number: its outputs have shape "
            f"{', '.join(map(str, shapes))}. Give an array of that shape, a tuple of them for several outputs."
        )
    args = _inputs(program, at)
    graph, end = tape._graph, tape._end
    wanted = list(range(end)) if asked is None else asked
    avals = operand_avals(graph, wanted)
    found = {
        k: aval.dtype.type(0) if not aval.shape else np.zeros(aval.shape) for k, aval in zip(wanted, avals, strict=True)
    }
    nodes = [k for k, aval in zip(wanted, avals, strict=True) if aval.inexact]
    with Extension(graph, end, tape._guards, apart=True) as extension:
        seeds, _ = seed_operands(extension, program.output_types, tape._gives, seed, "a sensitivity", "output")
        ends = _ends(program, end) if asked is None else nodes
        watchers = WATCHERS.get()
        noted = bool(watchers)
        outputs = extension.compact(extension.adjoints(list(tape._outputs), seeds, ends, noted, nodes))
        notes = extension.notes() if noted else None
    values = lowered(extension.graph, outputs, program._input_nodes(), tape._guards).run(args)
    if watchers:
        watchers[-1].swept(program, extension.graph, (outputs, notes), args, values)
    found.update(zip(nodes, values, strict=True))
    return [found[k] for k in wanted]


def _inputs(program: Program, at: Any) -> tuple[Any, ...]:
    """The inputs to replay at: those given, or those recorded."""
    nodes = program._input_nodes()
    if at is not None:
        return program._leaves(tuple(at) if isinstance(at, (tuple, list)) else (at,))
    values = [node_row(program._last._graph, k)[4] for k in nodes]
    if any(value is None for value in values):
        missing = sum(value is None for value in values)
        raise ArgumentError(
            f"{count(missing, 'input')} of this program {'was' if missing == 1 else 'were'} recorded without a value "
            "(symbols, symbolic seeds). Say where to take the sensitivity: at=(...), as evaluate takes inputs."
        )
    return tuple(values)


def _ends(program: Program, end: int) -> list[int]:
    """The nodes that a sweep for all adjoints does not go beyond: those that depend on no float."""
    graph = program._last._graph
    inexact = [aval.inexact for aval in operand_avals(graph, list(range(end)))]
    ends = []
    for k in range(end):
        primitive, operands, *_ = node_row(graph, k)
        if inexact[k] and (primitive is STOP_GRADIENT or not any(i >= 0 and inexact[i] for i in operands)):
            ends.append(k)
    return ends


Program._find_sensitivities = staticmethod(find_sensitivities)
