"""The data of the page in which a program is explored: a column for each thing that is known of its nodes.

Nodes are counted from 0 through all tapes of a program, as far as the page carries them, and its folds after them. A
column is a list with an entry for every node, or, where most have none, a mapping from nodes to entries. References to
nodes and folds are differences, ``k - other`` in the row of k, as nodes are alike in these and the page is compressed.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoad._core.graph.inspect import operand_avals
from hoad._display.folds import Folding, Lines, carried, fold, fold_rows, notes_of
from hoad._display.marks import guards_of, marks_of, output_names
from hoad._display.records import is_ordered
from hoad._display.table import Note, adjoint_names, cells_of, heading_of, legend_of, name_of, tangent_names
from hoad._display.values import constant_text, shape_text, value_text
from hoad._program.program import Program
from hoad._program.tape import Constant, Tape, TapeNode
from hoad.errors import count

BLOCK = 4096  # nodes that are read at a time
ENTRIES = 200  # of an array, in the panel of the node that is chosen
MOST_ENTRIES = 500_000  # of all arrays of a page


class Shared:
    """What the programs of a page share: the user's lines, and how many entries of arrays may still be written."""

    def __init__(self) -> None:
        self.places: list[tuple[str, str]] = []  # the lines, each once: file and line, and what stands there
        self.entries_left = MOST_ENTRIES
        self._numbers: dict[str, int] = {}

    def number(self, where: str | None) -> int:
        """Which of them a 'file:line' is; -1 for none."""
        if where is None:
            return -1
        if where not in self._numbers:
            self._numbers[where] = len(self.places)
            file, _, line = where.rpartition(":")
            self.places.append((self.short(where), linecache.getline(file, int(line)).strip()))
        return self._numbers[where]

    @staticmethod
    def short(where: str) -> str:
        """Without the folders that only this machine has."""
        file, _, line = where.rpartition(":")
        here = os.getcwd() + os.sep
        return f"{file[len(here) :] if file.startswith(here) else os.path.basename(file)}:{line}"

    def full(self, value: Any) -> str:
        """A value as the panel shows it: numbers to the last digit, arrays up to some hundred entries."""
        if type(value) is float:
            return repr(value)
        if value is None:
            return "?"
        array = np.asarray(value)
        if not array.ndim:
            return str(array[()])
        if array.size > min(ENTRIES, self.entries_left):
            return value_text(value)
        self.entries_left -= array.size
        return np.array2string(array, threshold=ENTRIES, separator=", ", max_line_width=60)


class Columns:
    """The nodes of a program in columns; folded where they are more than `limit`, cut where they are more than `room`.

    Attributes
    ----------
    data : dict
        What the page is given. Of every node: ``n`` (its number, counted from that of the node before), ``t``
        (operation), ``q`` (its name, by place in ``operations``), ``e`` (adjoint or tangent, and what it equals),
        ``v`` (value), ``w`` (value in full, where that says more), ``c`` (how many operands), ``p`` (operands, one
        after another), ``of`` (whose adjoint or tangent it is, 0 for none), ``k`` (which part of that, -1 for none),
        ``s`` (whose sweep emitted it, 0 for none), ``l`` (its line, -1 for none), ``f`` (its fold, where there are
        any). Of some nodes: ``d`` (shape and dtype), ``m`` (mark), ``g`` (guards), ``names`` (as input and outputs).
        Lists of nodes: ``i`` (inputs), ``x`` (outputs), ``o`` (those whose operands are ordered). Of the program:
        ``operations``, ``tapes``, ``folds``, ``note``, ``legend``.
    calls : list of (int, TapeNode, Tape)
        The nodes that run programs of their own.
    """

    def __init__(self, program: Program, lines: Lines, shared: Shared, limit: int, room: int) -> None:
        self.program, self.shared = program, shared
        self.calls: list[tuple[int, TapeNode, Tape]] = []
        self.size = sum(tape.size for tape in program)
        self.data: dict[str, Any] = {key: [] for key in ("tapes", "folds", *"ntqevwcpofklsixo", "of")}
        self.data |= {"d": {}, "m": {}, "g": {}, "names": {}, "note": ""}
        self._operations: dict[str, int] = {}
        folding = fold(program, lines, limit) if self.size > limit else None
        if folding is None:
            shown = [np.arange(tape._start, tape._end) for tape in program]
        else:
            shown = carried(program, folding, room)
        self.place = self._places_of(shown, folding)
        for index, (tape, own, where) in enumerate(zip(program, shown, lines, strict=True)):
            self._add_tape(index, tape, own, where, folding)
        if folding is not None:
            self._add_folds(folding, limit)
        self.data["operations"] = list(self._operations)
        self.data["legend"] = legend_of([*self.data["t"], *self.data["e"], *self.data["m"].values()])

    def _places_of(self, shown: list[NDArray[np.intp]], folding: Folding | None) -> list[int]:
        """Where each node of the graph stands in the page: itself, else its fold; -1 where it does not."""
        end = max((tape._end for tape in self.program), default=0)
        place = np.full(end, -1, np.int64)
        carried = np.concatenate([np.zeros(0, np.intp), *shown])
        if folding is not None:
            place = np.where(folding.of >= 0, folding.of + len(carried), -1)
        place[carried] = np.arange(len(carried))
        return place.tolist()

    def _add_tape(
        self, index: int, tape: Tape, shown: NDArray[np.intp], where: list[str | None], folding: Folding | None
    ) -> None:
        data = self.data
        first = len(data["n"])
        is_tangent = tape.kind == "tangent"
        names = {} if is_tangent else adjoint_names(_notes(tape), [], 0)
        marks = marks_of(tape, set((shown + 1).tolist()))
        guards, outputs = guards_of(tape), output_names(tape)
        before = 0
        for k, node in enumerate(_rows(tape, shown), first):
            if is_tangent:
                names |= tangent_names([node])
            _, text, _, equation, value, mark = cells_of(node, tape, names, marks)
            full = self.shared.full(node.result)
            parents = [k - place for j in node.parents if (place := self._place(j)) >= 0]
            of = node.tangent_of if is_tangent else node.adjoint_of
            target, swept = (-1 if j is None else self._place(j) for j in (of, node.swept))
            data["n"].append(node.number - before)
            data["t"].append(text)
            data["q"].append(self._operations.setdefault(node.operation, len(self._operations)))
            data["e"].append(equation)
            data["v"].append(value)
            data["w"].append(full if full != value else "")
            data["c"].append(len(parents))
            data["p"] += parents
            data["of"].append(k - target if target >= 0 else 0)
            data["k"].append(-1 if node.part is None else node.part)
            data["s"].append(k - swept if swept >= 0 else 0)
            data["l"].append(self.shared.number(where[node.number - 1 - tape._start]))
            if kind := _kind(node, tape):
                data["d"][k] = kind
            if mark:
                data["m"][k] = mark
            if own := [*filter(None, [node.name]), *outputs.get(node.number, ())]:
                data["names"][k] = own
            if node.number in guards:
                places = [(was, f" at {self.shared.short(at)}" if at else "") for was, at in guards[node.number]]
                data["g"][k] = [value_text(was) + place for was, place in places]
            if is_ordered(node, tape):
                data["o"].append(k)
            if isinstance(node.parameters.get("program"), Program):
                self.calls.append((k, node, tape))
            before = node.number
        data["f"] += [] if folding is None else folding.of[shown].tolist()
        data["i"] += self._among(tape.inputs, first)
        data["x"] += self._among(tape.outputs, first)
        folds = 0 if folding is None else folding.ends[index + 1] - folding.ends[index]
        data["tapes"].append(
            {
                "name": name_of(index + 1, tape),
                "heading": f"{count(tape.size, 'node')} in {count(folds, 'row')}" if folds else heading_of(tape),
                "size": len(shown),
                "folds": folds,
                "kind": tape.kind,
                "given": self._given(tape),
            }
        )

    def _place(self, number: int) -> int:
        """Where the node of a number stands in the page."""
        return self.place[number - 1]

    def _among(self, numbers: tuple[int | Constant, ...], first: int) -> list[int]:
        """The places of the nodes of these numbers, as far as they are of the tape that begins at `first`."""
        size = len(self.data["n"])
        return sorted({k for j in numbers if isinstance(j, int) and first <= (k := self._place(j)) < size})

    def _given(self, tape: Tape) -> list[Any]:
        """(node, the output that is its adjoint or tangent, that as text), for all outputs of a tape.

        An output may be a constant, or an earlier node.
        """
        nodes = tape._wrt
        if tape.kind == "tangent" and tape._parent is not None:
            nodes = tape._parent._outputs
        found = []
        for node, output in zip(nodes or (), tape.outputs, strict=nodes is not None):
            place = self.place[node] if node >= 0 else -1
            if place < 0:
                continue
            if isinstance(output, Constant):
                found.append([place, None, constant_text(output.value)])
            else:
                given = self._place(output)
                found.append([place, given if given >= 0 else None, f"@{output}"])
        return found

    def _add_folds(self, folding: Folding, limit: int) -> None:
        self.data["folds"] = fold_rows(self.program, folding)
        for row, where in zip(self.data["folds"], folding.where, strict=True):
            row["l"] = self.shared.number(where)
        by = "the lines of the function" if folding.by_lines else "stretches of nodes"
        here = len(self.data["n"])
        cut = f" {here} of them are in this page; explore(..., limit={self.size}) takes all."
        self.data["note"] = (
            f"{self.size} nodes, more than the {limit} that are shown one by one: folded by {by}. Open a row to see "
            f"its nodes.{cut if here < self.size else ''}"
        )


def _rows(tape: Tape, shown: NDArray[np.intp]) -> Iterator[TapeNode]:
    """The nodes of a tape at places of the graph, some at a time: all at once would take much memory."""
    for block in np.split(shown, np.flatnonzero(np.diff(shown) > 1) + 1):
        for low in range(0, len(block), BLOCK):
            part = block[low : low + BLOCK] - tape._start
            yield from tape.rows(int(part[0]), int(part[-1]) + 1)


def _notes(tape: Tape) -> list[Note]:
    """Those of the nodes of an adjoint tape that are adjoints or parts of them."""
    notes = notes_of(tape)
    if notes is None:
        return []
    found = np.flatnonzero(notes[:, 1] >= 0)
    return [
        Note(number, swept + 1 if swept >= 0 else None, target + 1, part if part >= 0 else None)
        for number, (swept, target, part) in zip((tape._start + 1 + found).tolist(), notes[found].tolist(), strict=True)
    ]


def _kind(node: TapeNode, tape: Tape) -> str:
    """``(3,) float64``, ``bool``; nothing for a float."""
    (aval,) = operand_avals(tape._graph, [node.number - 1])
    if node.shape:
        return f"({shape_text(node.shape)}) {aval.dtype.name}"
    return "" if aval.is_float64 else str(aval.dtype.name)
