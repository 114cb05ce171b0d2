"""What a jitted function recorded for a call, and what that rests on."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from hoad._core.graph.inspect import guard_rows
from hoad._core.jit.environment import ABSENT
from hoad._core.jit.jit_cache import CallSignature, CompiledTrace
from hoad._jit.refusals import located, place
from hoad.errors import count

MOST_SHOWN = 40


class RecordingReport(NamedTuple):
    """One recording: how many operations it has, the branches that it took, what it read, writes, and draws anew."""

    operations: int
    branches: list[str]
    reads: list[str]
    writes: list[str]
    draws: list[str]


class JitReport(NamedTuple):
    """What was recorded for one kind of arguments; why nothing is, if so; and why it was recorded again, how often."""

    name: str
    recordings: list[RecordingReport]
    refusal: str | None
    again: dict[str, int]

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.recordings)} recorded for these arguments"]
        for k, recording in enumerate(self.recordings):
            lines.append(f"recording {k}: {recording.operations} operations")
            for title, found in (
                ("branches taken", recording.branches),
                ("rests on", recording.reads),
                ("writes at each replay", recording.writes),
                ("draws at each replay", recording.draws),
            ):
                lines += [f"  {title}:", *(f"    {x}" for x in found[:MOST_SHOWN])] if found else []
                lines += [f"    and {len(found) - MOST_SHOWN} more"] if len(found) > MOST_SHOWN else []
        if self.refusal is not None:
            lines.append(f"called as it is: {self.refusal}")
        lines += [f"recorded again ({count(times, 'time')}): {why}" for why, times in self.again.items()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def report_of(name: str, signature: CallSignature) -> JitReport:
    """The report of what was recorded for one signature."""
    recordings = [_report(recorded) for recorded in signature.recorded]
    return JitReport(name, recordings, signature.refusal, dict(Counter(signature.reasons)))


def _report(recorded: CompiledTrace) -> RecordingReport:
    tape = recorded.program[-1]
    guards = recorded.environment.guards()
    codes = [expected[0] for kind, _, _, expected, _ in guards if kind == "function"]
    lines = _lines(codes)
    shown = [(key, name) for kind, _, key, expected, name in guards if kind != "said" or not _is_objects(key, expected)]
    reads = [f"{name}{lines.get(_key(key, name), '')}" for key, name in shown]
    effects = [] if recorded.effects is None else [x for x in recorded.effects.effects if x.action != "expect"]
    writes = [f"{effect.name}: {effect.action}{lines.get(_key(effect.key, effect.name), '')}" for effect in effects]
    branches = [str(where) for _, _, where in guard_rows(tape._graph)]
    draws = [] if recorded.draws is None else [f"{draw.name} at {draw.where}" for draw in recorded.draws.made]
    return RecordingReport(len(tape.nodes), branches, reads, writes, draws)


def _is_objects(key: str, expected: Any) -> bool:
    """Whether a class has no such method of its own: what is guarded is that it stays so."""
    return expected is ABSENT or expected is vars(object).get(key)


def _key(key: object, name: str) -> str:
    """The name by which code knows what a guard is of."""
    return key if isinstance(key, str) else name.partition(" in ")[0]


def _lines(codes: Iterable[types.CodeType]) -> dict[str, str]:
    """' (file:line)' of the first instruction of each name."""
    found: dict[str, str] = {}
    for code in codes:
        for step, line in located(code):
            if isinstance(step.argval, str) and step.opname.startswith(("LOAD", "STORE", "IMPORT")):
                found.setdefault(step.argval, place(code, line))
    return found
