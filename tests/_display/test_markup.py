"""Tables in Markdown and in HTML: the same cells as in print, nothing of them taken for markup."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from _display.programs import HOSTILE, PROGRAMS
from _display.reading import tables

import hoad
from hoad import ArgumentError
from hoad._program.program import Program


class Reader(HTMLParser):
    """The rows of the tables of a fragment; raises where tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.tables: list[list[list[str]]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not any(key.startswith("on") for key, _ in attrs)
        self.open.append(tag)
        self.seen.add(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data


def markdown_tables(text: str) -> list[list[list[str]]]:
    """The rows of Markdown tables, without their code fences."""
    found: list[list[list[str]]] = []
    for line in text.split("\n"):
        if line.startswith("**Tape"):
            found.append([])
        elif line.startswith("|") and not line.startswith("|:"):
            found[-1].append([_cell(cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return found


def _cell(text: str) -> str:
    if text.startswith("<code>"):
        return html.unescape(text.removeprefix("<code>").removesuffix("</code>"))
    if not text.startswith("`"):
        return re.sub(r"\\([\\`*_<>\[\]|&])", r"\1", text)
    return re.sub(r"^(`+) ?(.*?) ?\1$", r"\2", text).replace("\\|", "|")


TABLES = {
    "markdown": lambda program: markdown_tables(program.table("markdown", rows=None)),
    "html": lambda program: Reader(program.table("html", rows=None)).tables,
}


@pytest.mark.parametrize("format", TABLES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_cells_are_those_of_print(name: str, format: str) -> None:
    program = PROGRAMS[name]()
    printed = tables(program.table(rows=None))
    found = TABLES[format](program)
    assert len(found) == len(printed) == len(program)
    for rows, shown in zip(found, printed, strict=True):
        titles = rows[0] if rows else []
        assert len(rows[1:]) == len(shown)
        for cells, row in zip(rows[1:], shown, strict=True):
            by_title = dict(zip(titles, cells, strict=True))
            assert " ".join(by_title.pop("node").split()) == f"@{row.number} = {' '.join(row.operation.split())}"
            assert by_title.pop("", "") == row.columns["mark"]
            assert by_title == {key: text for key, text in row.columns.items() if key not in ("node", "mark")}


@pytest.mark.parametrize("format", ["plain", "markdown", "html"])
def test_a_long_tape_is_cut(format: str) -> None:
    program = PROGRAMS["long"]()
    left_out = program[0].size - 10
    text = program.table(format, rows=10)
    assert text.count("left out") == 2 and f"... {left_out} rows left out" in text
    assert "program.table(rows=None)" in text
    assert "left out" not in program.table(format, rows=None)
    if format in TABLES:
        rows = (markdown_tables(text) if format == "markdown" else Reader(text).tables)[0]
        assert len(rows) == 1 + 10 + 1 and "left out" in rows[6][0]


def test_plain_is_what_is_printed() -> None:
    program = PROGRAMS["long"]()
    assert program.table() == program.table("plain", rows=200) == str(program)


def test_names_are_no_markup() -> None:
    program = PROGRAMS["hostile"]()
    assert HOSTILE in str(program)
    text = program.table("html")
    assert "<script" not in text and "</script" not in text and "<b " not in text
    assert Reader(text).seen <= {
        *("div", "style", "table", "caption", "thead", "tbody", "tr", "th", "td"),
        "code",
        "ul",
        "li",
    }
    assert HOSTILE in Reader(text).tables[0][2][0]
    text = program.table("markdown")
    row = next(line for line in text.split("\n") if "onclick" in line)
    assert row.startswith("| <code>@2 = ") and f"@2 = {HOSTILE}" in html.unescape(row)
    assert row.count("<") == 2 and row.count("|") == 4 and row.count("`") == 2
    assert "<script" not in text and "</script" not in text and "<b " not in text


def test_markdown_has_code_where_no_tag_begins() -> None:
    program = hoad.record(lambda x: np.where(x < 2.0, x, 0.5), 1.0)
    assert "| `@2 = @1 < 2` |" in program.table("markdown") and "<code>" not in program.table("markdown")


@pytest.mark.parametrize("format", ["plain", "markdown", "html"])
def test_without_tapes(format: str) -> None:
    assert "Program without tapes" in Program().table(format)
    assert Program().records() == []


def test_unknown_format() -> None:
    with pytest.raises(ArgumentError, match=r"'plain', 'markdown' and 'html', not 'latex'.*records\(\)"):
        hoad.record(abs, 1.0).table("latex")


@pytest.mark.parametrize("format", ["plain", "markdown", "html"])
def test_negative_number_of_rows(format: str) -> None:
    with pytest.raises(ValueError, match=r"rows=-1.*None for all"):
        hoad.record(abs, 1.0).table(format, rows=-1)


def test_what_a_notebook_shows() -> None:
    text = PROGRAMS["hand"]()._repr_html_()
    assert text.startswith('<div class="hoad-program">')
    assert Reader(text.split("\n<div style")[0]).tables
