"""The ways to show a program, each in a module of its own, imported when it is first asked for."""

from __future__ import annotations

from typing import Any

from hoad._display.table import EMPTY, format_program
from hoad._program.program import Page, Program
from hoad.errors import ArgumentError


def table(program: Program, format: str, rows: int | None, ascii: bool) -> str:
    """What `Program.table` gives."""
    if format == "plain":
        return format_program(program, rows, ascii)
    if format not in ("markdown", "html"):
        raise ArgumentError(
            f"a program has tables in 'plain', 'markdown' and 'html', not {format!r}. Its nodes as dictionaries are "
            "program.records()."
        )
    from hoad._display.markup import html_table, markdown_table

    return (markdown_table if format == "markdown" else html_table)(program, rows, ascii)


def records(program: Program, lines: bool) -> list[dict[str, Any]]:
    """What `Program.records` gives."""
    from hoad._display.records import make_records

    return make_records(program, lines)


def to_dot(program: Program, values: bool, pairs: bool, direction: str) -> str:
    """What `Program.to_dot` gives."""
    from hoad._display.dot import dot_text

    return dot_text(program, values, pairs, direction)


def explore(program: Program, file: Any, open: bool, limit: int, lines: bool, title: str | None) -> Page | None:
    """What `Program.explore` does."""
    from hoad._display.page import write_page

    return write_page(program, file, open, limit, lines, title)


def svg(program: Program) -> str | None:
    """The graph as Graphviz draws it, if it can."""
    from hoad._display.dot import draw

    return draw(program)


def html(program: Program) -> str:
    """The tables, and the graph below them where it can be drawn."""
    from hoad._display.markup import html_table
    from hoad._display.table import ROWS

    if not program:
        return f"<p>{EMPTY}</p>"
    drawn = svg(program)
    graph = f'\n<div style="overflow-x:auto;background:white;width:max-content;max-width:100%">{drawn}</div>'
    return html_table(program, ROWS) + (graph if drawn else "")
