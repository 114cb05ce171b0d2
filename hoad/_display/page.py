"""The page in which a program is explored: its data, put into the template beside this file."""

from __future__ import annotations

import base64
import html
import json
import re
import tempfile
import zlib
from collections import deque
from importlib.resources import files
from pathlib import Path
from typing import Any

from hoad._display.columns import Columns, Shared
from hoad._display.folds import Lines
from hoad._display.lines import find_lines
from hoad._program.program import Program, called_program
from hoad.errors import ArgumentError

CARRIED = 250_000  # nodes in a page, those of inner programs included; some 30 bytes each
HEIGHT = 640  # of the frame in a notebook

# One after the other, these are the script of the page.
SCRIPTS = ("model", "table", "panel", "layout", "graph", "search", "main")


class Page:
    """A page to explore a program in, which notebooks show in a frame."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name

    def _repr_html_(self) -> str:
        # A frame of its own origin: neither the styles nor the keys of the notebook meet those of the page.
        return (
            f'<iframe srcdoc="{html.escape(self.text)}" title="{html.escape(self.name)}" sandbox="allow-scripts" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid #8886;border-radius:6px"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Page of {self.name}: notebooks show it; explore(file) writes it, explore(open=True) opens it>"


def write_page(program: Program, file: Any, open: bool, limit: int, lines: bool, title: str | None) -> Page | None:
    """What `Program.explore` does."""
    if limit < 1:
        raise ArgumentError(f"explore shows up to limit nodes one by one, but limit={limit}. Give a positive number.")
    name = _title(program) if title is None else title
    page = Page(make_page(program, limit, lines, name), name)
    if file is None and not open:
        return page
    path = Path(tempfile.mkdtemp(prefix="hoad-"), "tape.html") if file is None else Path(file)
    path.write_text(page.text, encoding="utf-8")
    if open:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
    return page if file is None else None


def make_page(program: Program, limit: int, lines: bool, name: str) -> str:
    """The page as text. What comes from the user stands in it compressed and in base64, or escaped in its title."""
    data = {"title": name, **make_data(program, limit, lines, name)}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    folder = files("hoad._display").joinpath("explore")
    parts = {
        "title": html.escape(name),
        "style": folder.joinpath("page.css").read_text(encoding="utf-8"),
        "script": "\n".join(folder.joinpath(f"{part}.js").read_text(encoding="utf-8") for part in SCRIPTS),
        "data": base64.b64encode(zlib.compress(text.encode())).decode(),
    }
    template = folder.joinpath("page.html").read_text(encoding="utf-8")
    return re.sub(r"<!--(\w+)-->", lambda found: parts[found[1]], template)


def make_data(program: Program, limit: int, lines: bool, name: str) -> dict[str, Any]:
    """The program, those that its nodes call, those that these call, and so on, as far as there is room; all lines.

    ``calls`` of a program are pairs: a node, and which of the programs it runs.
    """
    shared = Shared()
    known: dict[Program, Lines] = {}  # a program that is called many times has the same lines each time
    room = max(CARRIED, limit)
    waiting = deque([(name, program, program, min(_size(program), room))])
    room -= waiting[0][-1]
    programs: list[dict[str, Any]] = []
    while waiting:
        name, source, moved, share = waiting.popleft()
        if source not in known:
            known[source] = find_lines(source, lines)
        columns = Columns(moved, known[source], shared, limit, share)
        calls = []
        for k, node, tape in columns.calls:
            called = called_program(tape, node.number - 1)
            if called is None:
                continue
            inner, with_values = called
            share = min(_size(inner), room)
            if share >= min(_size(inner), limit):
                room -= share
                calls.append((k, len(programs) + len(waiting) + 1))
                waiting.append((_title(inner), inner, with_values, share))
        programs.append({"name": name, "calls": calls, **columns.data})
    return {"programs": programs, "places": shared.places}


def _size(program: Program) -> int:
    return sum(tape.size for tape in program)


def _title(program: Program) -> str:
    source = program[0]._source if program else None
    name = getattr(source[0], "__name__", "") if source else ""
    return name if name and name != "<lambda>" else "Program"
