"""The user's lines of the nodes of a tape.

Array nodes keep theirs. Scalar nodes do not, for it would cost more than the recording: the function is recorded once
more, followed line by line, and what it records while it stands on a line is of that line.
"""

from __future__ import annotations

import os
import sys
import types
from typing import Any

import numpy as np

from hoad._core.graph.inspect import node_row
from hoad._core.record.recording import Recording, differentiating
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad._program.trace import call_traced

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_DEMO = _PACKAGE + "_demo" + os.sep  # its models stand for the user's code
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


def find_lines(program: Program, again: bool) -> list[list[str | None]]:
    """'file:line' of every node of every tape, None where it is not known.

    To find the lines of scalar nodes too, the function is recorded `again`.
    """
    known: dict[int, str | None] = {}  # by number of the node
    found = []
    for tape in program:
        repeated = _lines_again(tape) if again else None
        lines: list[str | None] = []
        swept = _swept(tape)
        for k in range(tape.size):
            i = tape._start + k
            where: str | None = tape._graph.where(i)
            if where is None and repeated is not None:
                where = repeated[k]
            if where is None:
                where = known.get(swept[k])
            known[i + 1] = where
            lines.append(where)
        found.append(lines)
    return found


def _swept(tape: Tape) -> list[int]:
    """The number of the node whose sweep emitted each node; 0 where it is not known."""
    if tape._parent is None:
        return [0] * tape.size
    found = [tape._note(i)[0] + 1 for i in range(tape._start, tape._end)]
    if tape.kind == "tangent":  # of the steps to a tangent nothing is noted, but they come before it
        for k in range(len(found) - 2, -1, -1):
            found[k] = found[k] or found[k + 1]
    return found


def _lines_again(tape: Tape) -> list[str | None] | None:
    """The lines of a primal tape, from a second recording; None where that is not possible, or is another tape."""
    if tape._source is None:
        return None
    f, kwargs = tape._source
    graph = tape._graph
    args = tuple(node_row(graph, i)[4] for i in tape._inputs)
    if any(value is None for value in args):
        return None
    with differentiating(nested=False) as recording:
        follower = Follower(recording)
        try:
            with follower:
                call_traced(recording, f, args, tuple(range(len(args))), "record", kwargs)
        except Exception:
            return None  # the function has changed since: no lines are better than wrong ones
        recording.keep()
        same = recording.size == tape.size and all(
            node_row(recording.graph, i)[:2] == node_row(graph, i)[:2] for i in range(tape.size)
        )
        return follower.lines(tape.size) if same else None


class Follower:
    """Follows the lines that run, and notes from which node on they record."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._starts: list[tuple[int, str | None]] = []
        self._names: dict[tuple[Any, int], str] = {}
        self._before: Any = None

    def __enter__(self) -> Follower:
        self._before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *failure: object) -> None:
        sys.settrace(self._before)

    def _call(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        own = name.startswith((_PACKAGE, _NUMPY)) and not name.startswith(_DEMO)
        library = name.startswith(_LIBRARY) and "-packages" + os.sep not in name
        return None if own or library else self._line

    def _line(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._note(frame)
        elif event == "return":
            outer = frame.f_back
            while outer is not None and outer.f_trace is None:
                outer = outer.f_back
            self._note(outer)
        return self._line

    def _note(self, frame: types.FrameType | None) -> None:
        size = self._recording.size
        while self._starts and self._starts[-1][0] >= size:
            self._starts.pop()
        where = None
        if frame is not None:
            key = (frame.f_code, frame.f_lineno)
            where = self._names.get(key)
            if where is None:
                where = self._names[key] = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        self._starts.append((size, where))

    def lines(self, size: int) -> list[str | None]:
        """The line of each of the first nodes."""
        found: list[str | None] = [None] * size
        ends = [start for start, _ in self._starts[1:]] + [size]
        for (start, where), end in zip(self._starts, ends, strict=False):  # no line runs of a function in C
            found[start:end] = [where] * (min(end, size) - start)
        return found
