"""Programs made of functions, and of other programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hoad._core.graph.tape import AbstractValue
from hoad._core.record.recording import differentiating
from hoad._program.program import Program
from hoad._program.tape import Tape


def recorded(f: Callable[..., Sequence[Any]], avals: list[AbstractValue]) -> Program:
    """The program of a function of traced values alone, recorded without values."""
    with differentiating(nested=False, valued=False) as recording:
        made = f(*[recording.input(aval) for aval in avals])
        outputs = [recording.operand(x) for x in made]
        del made
        recording.keep()
    window = (0, recording.size, 0, recording.guards)
    return Program([Tape(recording.graph, window, recording.inputs, outputs, "primal", False)])


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
