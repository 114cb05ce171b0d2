"""Programs as graphs in DOT, and drawn by Graphviz where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterator

from hoad._display.marks import guards_of, marks_of
from hoad._display.notation import operation_text
from hoad._display.records import is_ordered
from hoad._display.table import adjoint_names, name_of, tangent_names
from hoad._display.values import value_text
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad.errors import ArgumentError

DIRECTIONS = ("TB", "LR", "BT", "RL")
LINE = 32  # of a label
DRAWN = 120  # nodes that a notebook draws; Graphviz is slow beyond, and the picture tells little
SECONDS = 20  # that Graphviz may take

INPUT, OUTPUT, ADJOINT = "#dcebfa", "#fbe6cf", "#efe7f7"


def dot_text(program: Program, values: bool, pairs: bool, direction: str) -> str:
    """What `Program.to_dot` gives."""
    if direction not in DIRECTIONS:
        raise ArgumentError(f"to_dot leads edges in direction 'TB', 'LR', 'BT' or 'RL', not {direction!r}.")
    lines = [
        "digraph program {",
        f"  rankdir={direction};",
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif", fontsize=11];',
        '  edge [color="#66788a", arrowsize=0.7, fontname="sans-serif", fontsize=9];',
    ]
    present: set[int] = set()
    for index, tape in enumerate(program, 1):
        present.update(range(tape._start + 1, tape._end + 1))
        lines += _cluster(index, tape, values)
    # Of a slice of a program, operands in tapes that are not in it.
    outside = sorted({k for tape in program for node in tape.nodes for k in node.parents} - present)
    lines += [f'  n{k} [label="@{k}", style="rounded,dashed"];' for k in outside]
    for tape in program:
        lines += _edges(tape, pairs, present)
    return "\n".join([*lines, "}"])


def _cluster(index: int, tape: Tape, values: bool) -> Iterator[str]:
    yield f"  subgraph cluster_{index} {{"
    yield (
        f'    label="{_quoted(name_of(index, tape))}"; labeljust=l; fontname="sans-serif"; style=rounded; '
        'color="#8aa0b4";'
    )
    nodes = tape.nodes
    names = adjoint_names(nodes, [], 0) | tangent_names(nodes)
    marks = marks_of(tape, {node.number for node in nodes})
    guards = guards_of(tape)
    for node in nodes:
        name = names.get(node.number, "")
        is_nameless = node.operation == "input" and node.name is None
        text = f"@{node.number}" if is_nameless else f"@{node.number} = {operation_text(node, tape, {})}"
        parts = [name, *textwrap.wrap(text, LINE, subsequent_indent="  ", break_long_words=False)]
        if values:
            parts.append(value_text(node.result))
        parts.append(marks.get(node.number, ""))
        mark = marks.get(node.number, "")
        colour = INPUT if mark.startswith("input") else OUTPUT if mark else ADJOINT if name else ""
        attributes = [f'label="{_quoted(chr(10).join(filter(None, parts)))}"']
        if colour:
            attributes.append(f'fillcolor="{colour}"')
        if node.number in guards:  # a branch was taken on it
            attributes.append("shape=diamond, style=filled")
        if node.operation == "call":
            attributes.append("peripheries=2")
        yield f"    n{node.number} [{', '.join(attributes)}];"
    yield "  }"


def _edges(tape: Tape, pairs: bool, present: set[int]) -> Iterator[str]:
    for node in tape.nodes:
        ordered = is_ordered(node, tape)
        for place, operand in enumerate(node.operands, 1):
            if isinstance(operand, int):
                order = f' [headlabel="{place}"]' if ordered else ""
                yield f"  n{operand} -> n{node.number}{order};"
        of = node.adjoint_of or node.tangent_of
        if pairs and of in present:
            yield f'  n{node.number} -> n{of} [style=dotted, color="#8e5bb5", constraint=false];'


def _quoted(text: str) -> str:
    r"""Text for a string of DOT: only ``\n`` is left of its escapes, and no entity of HTML is one."""
    text = re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", " ", text)
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def draw(program: Program) -> str | None:
    """The graph as SVG, without a prolog; None where Graphviz is not installed, fails, or the program is large."""
    if not program or not sum(tape.size for tape in program) <= DRAWN:
        return None
    command = shutil.which("dot")
    if command is None:
        return None
    try:
        done = subprocess.run(
            [command, "-Tsvg"],
            input=dot_text(program, False, True, "TB").encode(),
            capture_output=True,
            timeout=SECONDS,
            check=True,
        )
        svg = done.stdout.decode()
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    start = svg.find("<svg")
    return svg[start:].strip() if start >= 0 else None
