"""Programs as tables: a row per node, as one writes them by hand."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from hoad._display.marks import marks_of
from hoad._display.notation import operation_text
from hoad._display.values import constant_text, value_text
from hoad._program.program import Program
from hoad._program.tape import Constant, Tape, TapeNode
from hoad.errors import ArgumentError, count

ROWS = 200  # of a tape, where nothing else is asked for
MOST_LISTED = 6  # inputs or outputs named in a heading
WIDEST = 48  # beyond, an operation goes on in the next line
LONGEST_EQUATION = 32  # of an adjoint; beyond, its name alone is shown

TITLES = ("node", "", "from", "adjoint", "value", "")
EMPTY = "Program without tapes"

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

# What stays in one line: an index, a tuple, a place and what is put there.
INSEPARABLE = re.compile(r"\[[^][]*\]| \+= |\([-\d, ]*\)")

# A pattern, and what to say under the tables where it occurs.
LEGEND = [
    ("∇", "∇@k: the adjoint of @k"),
    ("∇[⁰¹²³⁴⁵⁶⁷⁸⁹]", "∇¹@k, ∇²@k, ...: the contributions to it, in the order of the sweep"),
    ("∇⁺", "∇⁺@k: the sum of contributions to it so far"),
    (r"\bd@", "d@k: the tangent of @k"),
    (" · ", "a · b: a product that is 0 where a is 0, whatever b is"),
    (" × ", "a × b: a product that is 0 where a or b is 0, whatever the other is"),
    (" ÷ ", "a ÷ b: a quotient that is 0 where a is 0, whatever b is"),
    ("guard: was ", "guard: the function branched on this value; where a replay finds another, it raises GuardError"),
    (
        r"call\(.*program=<\d+ tape",
        "call(..., program=<n tapes>): runs a program of its own; program.inner(k) is that of @k",
    ),
]

# The same signs where only ASCII can be written.
ASCII = str.maketrans("∇·×÷⁺⁰¹²³⁴⁵⁶⁷⁸⁹", "^.x:+0123456789")


def format_program(program: Program, rows: int | None = None, ascii: bool = False) -> str:
    """The tapes of a program as tables, a row per node.

    A row shows the number of the node, its operation on numbered operands or the name of an input, its value at the
    point of recording (``?`` where there is none), and whether it is an input or an output. In an adjoint tape it also
    shows the node whose sweep emitted it, and the adjoint that it is, written in the adjoints of that tape; in a
    tangent tape, the tangent.

    Parameters
    ----------
    program : Program
        What `hoad.record` or `hoad.gradient` gave.
    rows : int, optional
        The most rows to show of a tape, the first and the last of them; all of them if left out. ``print(program)``
        shows 200.
    ascii : bool, optional
        Write the signs of adjoints in ASCII, and what else is outside of it as escapes.

    Returns
    -------
    str
        The tables, without a newline at the end.

    Raises
    ------
    ValueError
        If `rows` is negative.

    Notes
    -----
    Cost: some tens of microseconds a row shown; the values of a tape are computed when it is first read.

    Examples
    --------
    >>> import hoad
    >>> from hoad._display import format_program
    >>> program = hoad.record(lambda x, y: 4 * x * y, 2.0, 3.0)
    >>> print(format_program(program))
    Tape 1 (primal): 4 nodes, inputs @1, @2, output @4
      node          value
      @1 = x        2      input
      @2 = y        3      input
      @3 = 4 * @1   8
      @4 = @3 * @2  24     output
    """
    sections, legend = make_sections(program, rows, ascii)
    if not sections:
        return EMPTY
    text = "\n\n".join(map(_tape_text, sections))
    return "\n".join([text, "", *legend]) if legend else text


@dataclass(frozen=True)
class Section:
    """The table of one tape, before it is laid out."""

    heading: str  # what it is, and its inputs and outputs
    table: list[tuple[str, ...]]  # its rows: number, operation, swept node, adjoint, value, mark
    cut: int  # before which row others are left out
    note: str  # how many they are; empty where none is
    tangent: bool  # whether tangents stand where others have adjoints

    @property
    def columns(self) -> list[int]:
        """Those of `from`, `adjoint`, `value` and the mark that are not empty."""
        return [k for k in range(2, 6) if any(cells[k] for cells in self.table)]

    @property
    def titles(self) -> list[str]:
        """What stands above the node and above these columns."""
        return ["tangent" if self.tangent and k == 3 else TITLES[k] for k in (0, *self.columns)]


def make_sections(program: Program, rows: int | None, ascii: bool = False) -> tuple[list[Section], list[str]]:
    """The tables of all tapes, of each the first and the last rows where it has more than `rows`; and a legend."""
    if rows is not None and rows < 0:
        raise ArgumentError(
            f"a table shows a number of rows of each tape, but rows={rows}. Leave it out, or give None for all."
        )
    sections = [_section(k, tape, rows) for k, tape in enumerate(program, 1)]
    legend = legend_of(cell for section in sections for row in section.table for cell in row)
    if not ascii:
        return sections, legend
    tables = [[tuple(map(in_ascii, row)) for row in section.table] for section in sections]
    plain = [replace(x, heading=in_ascii(x.heading), table=table) for x, table in zip(sections, tables, strict=True)]
    return plain, list(map(in_ascii, legend))


def legend_of(texts: Iterable[str]) -> list[str]:
    """What the signs that occur in texts mean."""
    text = "\n".join(texts)
    return [meaning for pattern, meaning in LEGEND if re.search(pattern, text)]


def in_ascii(text: str) -> str:
    """A text in ASCII: the signs of adjoints and products as near as they come, the rest as escapes."""
    return text.translate(ASCII).encode("ascii", "backslashreplace").decode("ascii")


def _section(index: int, tape: Tape, rows: int | None) -> Section:
    size = tape.size
    left_out = 0 if rows is None else max(0, size - rows)
    tail_size = 0 if rows is None or not left_out else rows // 2
    head = tape.rows(0, size - left_out - tail_size)
    tail = tape.rows(size - tail_size, size) if tail_size else []
    names = adjoint_names(head, tail, left_out) | tangent_names((*head, *tail))
    marks = marks_of(tape, {node.number for node in (*head, *tail)})
    table = [cells_of(node, tape, names, marks) for node in (*head, *tail)]
    note = f"... {count(left_out, 'row')} left out; program.table(rows=None) shows all" if left_out else ""
    return Section(f"{name_of(index, tape)}: {heading_of(tape)}", table, len(head), note, tape.kind == "tangent")


def _tape_text(section: Section) -> str:
    """One tape as plain text."""
    lines = _aligned(section)
    if section.note:
        lines.insert(section.cut + 1, f"  {section.note}")
    return "\n".join([section.heading, *lines])


def name_of(index: int, tape: Tape) -> str:
    """``Tape 2 (adjoint)``."""
    return f"Tape {index} ({tape.kind})"


def heading_of(tape: Tape) -> str:
    """``9 nodes, inputs @1, @2, output @9``."""
    parts = [count(tape.size, "node")]
    for word, numbers in (("input", tape.inputs), ("output", tape.outputs)):
        if numbers:
            parts.append(f"{word}{'' if len(numbers) == 1 else 's'} {_listed(numbers)}")
    return ", ".join(parts)


def _listed(numbers: Sequence[int | Constant]) -> str:
    few = numbers if len(numbers) <= MOST_LISTED else (*numbers[:3], None, numbers[-1])
    texts = ["..." if n is None else constant_text(n.value) if isinstance(n, Constant) else f"@{n}" for n in few]
    return ", ".join(texts) + (f" ({len(numbers)} in all)" if len(few) < len(numbers) else "")


# ---- adjoints -------------------------------------------------------------------------------------------------------


class Note(NamedTuple):
    """What is known of a node of an adjoint tape, as in `TapeNode`, without the node."""

    number: int
    swept: int | None
    adjoint_of: int | None
    part: int | None


Noted = Sequence[TapeNode] | Sequence[Note]


def adjoint_names(head: Noted, tail: Noted, left_out: int) -> dict[int, str]:
    """What the adjoints, contributions and sums of a tape are called, by number of the node.

    A contribution is numbered if it is one of several. Those to a node come before the node itself is swept, so that
    what is left out can add to the adjoint only of nodes that the head has not swept yet.
    """
    noted = [node for node in (*head, *tail) if node.adjoint_of is not None]
    several = {node.adjoint_of for node in noted if node.part != 1}
    last_sum = {node.adjoint_of: node.number for node in noted if node.part == 0}
    swept = min((n.swept for n in head if n.swept is not None and n.swept != n.adjoint_of), default=None)
    end_of_head = head[-1].number if head and left_out else 0
    names = {}
    for node in noted:
        target, part = node.adjoint_of, node.part or 0
        assert target is not None
        open_still = node.number <= end_of_head and (swept is None or swept >= target)
        if part == 0:
            sign = "⁺" if open_still or last_sum[target] != node.number else ""
        else:
            sign = str(part).translate(SUPERSCRIPTS) if open_still or target in several else ""
        names[node.number] = f"∇{sign}@{target}"
    return names


def tangent_names(nodes: Iterable[TapeNode]) -> dict[int, str]:
    """What the tangents of a tape are called, by number of the node."""
    return {node.number: f"d@{node.tangent_of}" for node in nodes if node.tangent_of is not None}


def _equation(node: TapeNode, tape: Tape, names: Mapping[int, str]) -> str:
    """``∇@6 = ∇@8 * @7``, or the name alone where that is long."""
    name = names.get(node.number, "")
    text = f"{name} = {operation_text(node, tape, names)}" if name else ""
    return text if len(text) <= LONGEST_EQUATION else name


# ---- layout ---------------------------------------------------------------------------------------------------------


def cells_of(node: TapeNode, tape: Tape, names: Mapping[int, str], marks: Mapping[int, str]) -> tuple[str, ...]:
    """The row of a node: number, operation, swept node, adjoint, value, mark."""
    return (
        f"@{node.number}",
        operation_text(node, tape, {}),
        "" if node.swept in (None, node.tangent_of) else f"@{node.swept}",
        _equation(node, tape, names),
        value_text(node.result),
        marks.get(node.number, ""),
    )


def _aligned(section: Section) -> list[str]:
    """Rows of equal columns under their titles; a column without entries is left away, a long operation wrapped."""
    table = section.table
    if not table:
        return []
    digits = max(len(cells[0]) for cells in table)
    wrapped = [_wrapped(f"{number:>{digits}} = {operation}", digits + 3) for number, operation, *_ in table]
    kept = section.columns
    rows = [[first, *(cells[k] for k in kept)] for (first, *_), cells in zip(wrapped, table, strict=True)]
    lines = [section.titles, *rows]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    padded = [[x + " " * (width - _width(x)) for x, width in zip(line, widths, strict=True)] for line in lines]
    texts = ["  ".join(["", *line]).rstrip() for line in padded]
    rests = [[], *(rest for _, *rest in wrapped)]
    return ["\n  ".join([text, *rest]) for text, rest in zip(texts, rests, strict=True)]


def _wrapped(text: str, indent: int) -> list[str]:
    """An operation in lines that are not too wide, each after the first set in."""
    if len(text) <= WIDEST:
        return [text]
    held = INSEPARABLE.sub(lambda found: found[0].replace(" ", "\xa0"), text)
    lines = textwrap.wrap(held, WIDEST, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]


def _width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
