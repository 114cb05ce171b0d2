"""Large tapes folded: a row for each of the user's lines, or for each stretch of a tape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoad._core.graph.inspect import node_row
from hoad._display.marks import guards_of
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad.errors import count

STRETCHES = 200  # of a tape, where the user's lines are not known
MOST_OPERATIONS = 4  # named of a fold

Lines = list[list[str | None]]  # 'file:line' of every node of every tape


@dataclass(frozen=True)
class Folding:
    """How the tapes of a program are folded."""

    of: NDArray[np.int32]  # the fold of each node of the graph; -1 where its tape is not among those of the program
    ends: list[int]  # the folds of tape t are those from ends[t] up to ends[t + 1]
    where: list[str | None]  # the line of each fold
    by_lines: bool  # False where a tape is folded by stretches


def fold(program: Program, lines: Lines, most: int) -> Folding:
    """A fold for each line where there are several, and not more than `most` of all tapes; else for each stretch."""
    of = np.full(max(tape._end for tape in program), -1, np.int32)
    ends: list[int] = [0]
    where: list[str | None] = []
    by_lines = True
    for tape, own in zip(program, lines, strict=True):
        keys: list[Any] = list(own)
        named = len(set(own) - {None})
        if named < 2 or (named + 1) * len(program) > most:
            keys = [k * STRETCHES // max(tape.size, STRETCHES) for k in range(tape.size)]
            by_lines = False
        numbers: dict[Any, int] = {}
        of[tape._start : tape._end] = [numbers.setdefault(key, ends[-1] + len(numbers)) for key in keys]
        where += [key if isinstance(key, str) else None for key in numbers]
        ends.append(len(where))
    return Folding(of, ends, where, by_lines)


def fold_rows(program: Program, folding: Folding) -> list[dict[str, Any]]:
    """What each fold does, which others it uses, and whose adjoints are in it.

    The keys are ``n`` (its nodes), ``t`` (their operations), ``v`` (how many), ``m`` (inputs, outputs and guards among
    them), ``i`` and ``x`` (whether it has inputs and outputs), ``p`` and ``of`` (folds), and ``size``.
    """
    return [row for k, tape in enumerate(program) for row in _rows_of(tape, folding, *folding.ends[k : k + 2])]


def _rows_of(tape: Tape, folding: Folding, low: int, high: int) -> Iterator[dict[str, Any]]:
    of = folding.of
    own = of[tape._start : tape._end].tolist()
    operations: dict[int, Counter[str]] = {f: Counter() for f in range(low, high)}
    parents: dict[int, set[int]] = {f: set() for f in range(low, high)}
    targets: dict[int, set[int]] = {f: set() for f in range(low, high)}
    notes = notes_of(tape)
    for i, f in enumerate(own, tape._start):
        primitive, operands, *_ = node_row(tape._graph, i)
        operations[f][primitive.name] += 1
        parents[f].update(int(of[k]) for k in operands if k >= 0)
        if notes is not None and notes[i - tape._start, 1] >= 0:
            targets[f].add(int(of[notes[i - tape._start, 1]]))
    inputs, outputs = (_in_folds(tape, (k for k in ks if isinstance(k, int)), of) for ks in (tape.inputs, tape.outputs))
    guards = _in_folds(tape, guards_of(tape), of)
    last = {f: i for i, f in enumerate(own, tape._start + 1)}
    first = {f: i for i, f in reversed([*enumerate(own, tape._start + 1)])}
    for f in range(low, high):
        size = operations[f].total()
        marks = [count(found[f], word) for found, word in ((inputs, "input"), (outputs, "output"), (guards, "guard"))]
        yield {
            "n": f"@{first[f]}" + (f" … @{last[f]}" if size > 1 else ""),
            "t": _told(operations[f]),
            "v": count(size, "node"),
            "m": ", ".join(mark for mark in marks if not mark.startswith("0 ")),
            "i": bool(inputs[f]),
            "x": bool(outputs[f]),
            "p": sorted(parents[f] - {f, -1}),
            "of": sorted(targets[f] - {-1}),
            "size": size,
        }


def _in_folds(tape: Tape, numbers: Iterable[int], of: NDArray[np.int32]) -> Counter[int]:
    """How many of the nodes of these numbers are of each fold of a tape."""
    return Counter(int(of[k - 1]) for k in numbers if tape._start < k <= tape._end)


def notes_of(tape: Tape) -> NDArray[np.int32] | None:
    """(swept, whose adjoint, which part) of every node of a tape, by places in the graph; None if not known."""
    if tape.size:
        tape._note(tape._start)  # which finds them
    notes: NDArray[np.int32] | None = tape._notes
    return notes


def _told(operations: Counter[str]) -> str:
    """``66 sin, 66 multiply and 2 operations more``."""
    shown = ", ".join(f"{n} {name}" for name, n in operations.most_common(MOST_OPERATIONS))
    rest = len(operations) - MOST_OPERATIONS
    return shown + (f" and {count(rest, 'operation')} more" if rest > 0 else "")


def carried(program: Program, folding: Folding, room: int) -> list[NDArray[np.intp]]:
    """The nodes of each tape that a page carries: about `room` in all, where all are too many.

    Of a recorded tape the first nodes of every fold, as many of each as there is room for; of a tape that came of
    others, what the sweep over carried nodes emitted, so that they keep their adjoints.
    """
    total = sum(tape.size for tape in program)
    kept = np.zeros(len(folding.of), np.bool_)
    found = []
    for tape in program:
        own = room * tape.size // total if total > room else tape.size
        notes = notes_of(tape) if total > room and any(tape._parent is other for other in program) else None
        if notes is None:
            chosen = first_of_each(folding.of[tape._start : tape._end], own)
        else:
            chosen = np.flatnonzero((notes[:, 0] >= 0) & kept[notes[:, 0]])[:own]
        kept[tape._start + chosen] = True
        found.append(tape._start + chosen)
    return found


def first_of_each(groups: NDArray[np.int32], room: int) -> NDArray[np.intp]:
    """The places of the first members of every group, of each the same number as far as it has them, `room` at most."""
    order = np.argsort(groups, kind="stable")
    sizes = np.unique(groups, return_counts=True)[1]
    rank = np.empty(len(groups), np.intp)
    rank[order] = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    low, high = 0, int(sizes.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(sizes, middle).sum() <= room else (low, middle - 1)
    return np.flatnonzero(rank < low)
