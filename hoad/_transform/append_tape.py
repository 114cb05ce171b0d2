"""One more tape at the end of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hoad._core.graph.primitive import rules_epoch
from hoad._core.record.recording import Extension
from hoad._core.trace.context import WATCHERS
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad._pytree.containers import Forms
from hoad.errors import ArgumentError

# From a growing tape, and whether to note whose derivative each of its nodes is, to (its outputs, its inputs).
Sweep = Callable[[Extension, bool], tuple[list[int], list[int]]]


def check_program(transform: str, program: Any, driver: str) -> None:
    """Raise unless `program` is one."""
    if not isinstance(program, Program):
        raise ArgumentError(
            f"{transform} takes a Program, but was given {type(program).__name__}. Record the function first, "
            f"hoad.{transform}(hoad.record(f, x)), or use {driver}."
        )


def grown(
    program: Program,
    kind: str,
    single: bool,
    simplify: bool,
    sweep: Sweep,
    gives: Forms | None = None,
    apart: bool = False,
) -> Program:
    """The program with the tape that a sweep gives, on a copy of its graph if `apart`.

    The notes of the tape are made at once, or when they are asked for.
    """
    origin = Program(program)
    noted = not simplify or bool(WATCHERS.get())
    made, notes = _new_tape(origin, kind, single, simplify, sweep, noted, apart)
    made._gives = gives
    if not noted:
        epoch = rules_epoch()

        def find_notes() -> Any:
            if rules_epoch() != epoch:
                return None  # the rules that emitted the tape may be gone
            return _new_tape(origin, kind, single, simplify, sweep, noted=True, apart=True)[1]

        made._find_notes = find_notes
    else:
        made._notes = notes
    return Program([*program, made])


def _new_tape(
    program: Program, kind: str, single: bool, simplify: bool, sweep: Sweep, noted: bool, apart: bool
) -> tuple[Tape, Any]:
    """The tape that a sweep gives, and whose derivative each of its nodes is if that is to be noted."""
    tape = program._last
    program._check_chain()
    with Extension(tape._graph, tape._end, tape._guards, simplify, apart) as extension:
        outputs, inputs = sweep(extension, noted)
        outputs = extension.compact(outputs)
        notes = extension.notes() if noted else None
    window = (tape._end, extension.size, tape._guards, extension.guards)
    return Tape(extension.graph, window, inputs, outputs, kind, single, tape), notes
