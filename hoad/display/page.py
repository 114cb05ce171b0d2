"""The page in which a program is explored: its data, put into the template beside this file."""

from __future__ import annotations

import html
import json
import linecache
import os
import re
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from hoad._core.recording import node_row
from hoad.display.lines import find_lines
from hoad.display.records import is_ordered, make_records
from hoad.display.table import legend_of, make_sections
from hoad.display.values import constant_text, shape_text, value_text
from hoad.errors import count
from hoad.program import Constant, Program, Tape

STRETCHES = 200  # of a tape that is folded, where the user's lines are not known
MOST_OPERATIONS = 4  # named of a stretch
ENTRIES = 200  # of an array, in the panel of the node that is chosen


def write_page(program: Program, file: Any, open: bool, limit: int, lines: bool, title: str | None) -> None:
    """What `Program.explore` does."""
    if limit < 1:
        raise ValueError(f"explore shows up to limit nodes one by one, but limit={limit}. Give a positive number.")
    path = Path(file)
    path.write_text(make_page(program, limit, lines, title), encoding="utf-8")
    if open:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())


def make_page(program: Program, limit: int, lines: bool, title: str | None) -> str:
    """The page as text. What comes from the user stands in it as JSON, or escaped in its title."""
    name = _title(program) if title is None else title
    size = sum(tape.size for tape in program)
    data = _single(program, lines) if size <= limit else _folded(program, lines, size, limit)
    text = json.dumps({"title": name, **data}, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # In a script element only `<` can end it; the two separators are newlines to some readers.
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    folder = files("hoad.display")
    parts = {
        "title": html.escape(name),
        "style": folder.joinpath("page.css").read_text(encoding="utf-8"),
        "script": folder.joinpath("page.js").read_text(encoding="utf-8"),
        "data": text,
    }
    template = folder.joinpath("page.html").read_text(encoding="utf-8")
    return re.sub(r"<!--(\w+)-->", lambda found: parts[found[1]], template)


def _title(program: Program) -> str:
    source = program[0]._source if program else None
    name = getattr(source[0], "__name__", "") if source else ""
    return name if name and name != "<lambda>" else "Program"


# ---- node by node ---------------------------------------------------------------------------------------------------


def _single(program: Program, lines: bool) -> dict[str, Any]:
    """A row for every node. Keys that are empty are left out."""
    records = make_records(program, lines)
    sections = make_sections(program, None)
    place = {record["node"]: k for k, record in enumerate(records)}
    places = Places()
    nodes = []
    cells = (row for section in sections for row in section.table)
    drawn = (node for tape in program for node in tape.nodes)
    for record, node, (number, text, _, equation, value, mark) in zip(records, drawn, cells, strict=True):
        full = _full(record["value"])
        of = record["adjoint_of"]
        nodes.append(
            _filled(
                n=number,
                t=text,
                e=equation,
                a=record["adjoint"],
                v=value,
                w=full if full != value else "",
                d=_kind(record["shape"], record["dtype"]),
                m=mark,
                i=record["input"] is not None,
                x=bool(record["outputs"]),
                p=[place[k] for k in record["parents"] if k in place],
                o=is_ordered(node),
                of=[place[of]] if of in place else [],
                k=record["part"],
                s=place.get(record["swept"]),
                l=places.number(record["where"]),
                g=[
                    f"{value_text(was)}{f' at {places.short(where)}' if where else ''}"
                    for was, where in record["guards"]
                ],
            )
        )
    tapes = [
        {
            "name": f"Tape {index} ({tape.kind})",
            "heading": section.heading.partition(": ")[2],
            "size": tape.size,
            "adjoint": tape.kind == "adjoint",
            "adjoints": _adjoints(program, tape, place),
        }
        for index, (tape, section) in enumerate(zip(program, sections, strict=True), 1)
    ]
    text = " ".join(f"{row[1]} {row[3]}" for section in sections for row in section.table)
    return {"tapes": tapes, "nodes": nodes, "places": places.found, "note": "", "legend": legend_of(text)}


def _filled(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value or (value == 0 and value is not False)}


def _adjoints(program: Program, tape: Tape, place: dict[int, int]) -> list[Any]:
    """(input, the output that is its adjoint, that as text): an output may be a constant, or an earlier node."""
    inputs = program[0].inputs
    if tape.kind != "adjoint" or len(inputs) != len(tape.outputs):
        return []
    found = []
    for number, output in zip(inputs, tape.outputs, strict=True):
        if number not in place:
            continue
        if isinstance(output, Constant):
            found.append([place[number], None, constant_text(output.value)])
        else:
            found.append([place[number], place.get(output), f"@{output}"])
    return found


def _full(value: Any) -> str:
    """A value as the panel shows it: numbers to the last digit, arrays up to some hundred entries."""
    if value is None:
        return "?"
    array = np.asarray(value)
    if not array.ndim:
        return str(array[()])
    if array.size > ENTRIES:
        return value_text(value)
    return np.array2string(array, threshold=ENTRIES, separator=", ", max_line_width=60)


def _kind(shape: tuple[int, ...], dtype: str) -> str:
    return f"({shape_text(shape)}) {dtype}" if shape else "" if dtype == "float64" else dtype


class Places:
    """The user's lines, each once: (file and line, what stands there)."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []
        self._numbers: dict[str, int] = {}

    def number(self, where: str | None) -> int | None:
        """Which of them a 'file:line' is."""
        if where is None:
            return None
        if where not in self._numbers:
            self._numbers[where] = len(self.found)
            file, _, line = where.rpartition(":")
            self.found.append((self.short(where), linecache.getline(file, int(line)).strip()))
        return self._numbers[where]

    @staticmethod
    def short(where: str) -> str:
        """Without the folders that only this machine has."""
        file, _, line = where.rpartition(":")
        here = os.getcwd() + os.sep
        return f"{file[len(here) :] if file.startswith(here) else os.path.basename(file)}:{line}"


# ---- folded ---------------------------------------------------------------------------------------------------------


def _folded(program: Program, lines: bool, size: int, limit: int) -> dict[str, Any]:
    """A row for each of the user's lines, or for each stretch of a tape where those are not known, or too many."""
    places = Places()
    where = find_lines(program, lines)
    nodes: list[dict[str, Any]] = []
    tapes: list[dict[str, Any]] = []
    group: dict[int, int] = {}  # of each node, by its number
    stretched = False
    for index, (tape, own) in enumerate(zip(program, where, strict=True), 1):
        first = len(nodes)
        keys: list[Any] = [*own]
        named = len(set(keys))
        if named < 3 or named * len(program) > limit:
            keys = [k * STRETCHES // max(tape.size, STRETCHES) for k in range(tape.size)]
            stretched = True
        members: dict[Any, list[int]] = {}
        for k, key in enumerate(keys):
            members.setdefault(key, []).append(tape._start + k)
        for number, numbers in enumerate(members.values(), first):
            group.update((i + 1, number) for i in numbers)
        for key, numbers in members.items():
            nodes.append(_stretch(tape, numbers, group, places, key if isinstance(key, str) else None))
        tapes.append(
            {
                "name": f"Tape {index} ({tape.kind})",
                "heading": f"{count(tape.size, 'node')}, folded to {count(len(members), 'row')}",
                "size": len(members),
                "adjoints": [],
            }
        )
    by = "stretches of nodes" if stretched else "the lines of the function"
    note = (
        f"This program has {size} nodes, more than the {limit} that are shown one by one, so its tapes are folded by "
        f"{by}. explore(..., limit={size}) shows every node."
    )
    return {"tapes": tapes, "nodes": nodes, "places": places.found, "note": note, "legend": []}


def _stretch(
    tape: Tape, numbers: list[int], group: dict[int, int], places: Places, where: str | None
) -> dict[str, Any]:
    """Several nodes as one row: what they do, which rows they use, whose adjoints they are."""
    own = group[numbers[0] + 1]
    operations: Counter[str] = Counter()
    parents: set[int] = set()
    of: set[int] = set()
    for i in numbers:
        primitive, operands, *_ = node_row(tape._graph, i)
        operations[primitive.name] += 1
        parents.update(group[k + 1] for k in operands if k >= 0 and k + 1 in group)
        target = tape._note(i)[1] + 1
        if target in group:
            of.add(group[target])
    shown = ", ".join(f"{n} {name}" for name, n in operations.most_common(MOST_OPERATIONS))
    rest = len(operations) - MOST_OPERATIONS
    inside = set(numbers)
    inputs, outputs = (sum(k - 1 in inside for k in ks if isinstance(k, int)) for ks in (tape.inputs, tape.outputs))
    marks = [count(n, word) for n, word in ((inputs, "input"), (outputs, "output")) if n]
    return _filled(
        n=f"@{numbers[0] + 1}" + (f" … @{numbers[-1] + 1}" if len(numbers) > 1 else ""),
        t=shown + (f" and {count(rest, 'operation')} more" if rest > 0 else ""),
        v=count(len(numbers), "node"),
        m=", ".join(marks),
        i=bool(inputs),
        x=bool(outputs),
        p=sorted(parents - {own}),
        of=sorted(of),
        l=places.number(where),
    )
