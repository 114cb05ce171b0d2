"""The page to explore a program in, as a file: it is whole, says what print says, and takes nothing for markup."""

from __future__ import annotations

import json
import re
import webbrowser
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from display.programs import HOSTILE, PROGRAMS, by_hand, chain
from display.reading import tables

import hoad
from hoad.display.page import STRETCHES
from hoad.program import Program


class Page(HTMLParser):
    """A page: its elements, its scripts, and the data in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        (self.data,) = (json.loads(text) for text in self.texts["script"] if text.startswith("{"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.elements[-1][0] if self.elements else "", []).append(data)


def explored(program: Program, folder: Path, **options: Any) -> Page:
    file = folder / "tape.html"
    program.explore(file, **options)
    text = file.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and text.rstrip().endswith("</html>")
    return Page(text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_page_says_what_print_says(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]()
    nodes = explored(program, tmp_path).data["nodes"]
    rows = [row for table in tables(program.table(rows=None)) for row in table]
    assert [node["n"] for node in nodes] == [f"@{row.number}" for row in rows]
    for node, row in zip(nodes, rows, strict=True):
        assert " ".join(node["t"].split()) == " ".join(row.operation.split())
        assert node["v"] == row.columns["value"]
        assert node.get("m", "") == row.columns["mark"]
        assert node.get("e", "") == row.columns.get("adjoint", "")
        assert node.get("a", "") == row.name
    place = {node.number: k for k, node in enumerate(node for tape in program for node in tape.nodes)}
    for tape in program:
        for node in tape.nodes:
            shown = nodes[place[node.number]]
            assert shown.get("p", []) == [place[k] for k in node.parents if k in place]
            assert shown.get("of", []) == ([place[node.adjoint_of]] if node.adjoint_of in place else [])
            assert shown.get("k") == node.part and shown.get("s") == place.get(node.swept)


def test_nothing_is_fetched(tmp_path: Path) -> None:
    """No address, no link, no file beside it; and a policy that would forbid them."""
    page = explored(PROGRAMS["arrays"](), tmp_path)
    for tag, attributes in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed")
        assert not {"src", "href", "action"} & attributes.keys()
        assert not any(key.startswith("on") for key in attributes)
    text = (tmp_path / "tape.html").read_text(encoding="utf-8")
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|fetch\(|XMLHttp|WebSocket|innerHTML|eval\(", text)
    assert "default-src 'none'" in text
    assert [path.name for path in tmp_path.iterdir()] == ["tape.html"]


def test_names_are_no_markup(tmp_path: Path) -> None:
    plain = explored(PROGRAMS["hand"](), tmp_path, title="plain")
    hostile = explored(PROGRAMS["hostile"](), tmp_path, title=f"{HOSTILE}<!--data--><!--x-->\u2028")
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in plain.elements]
    assert HOSTILE in hostile.data["nodes"][1]["t"]
    assert hostile.data["title"] == f"{HOSTILE}<!--data--><!--x-->\u2028"


def test_values_to_the_last_digit(tmp_path: Path) -> None:
    program = hoad.record(lambda x: x / 3, 1.0)
    assert explored(program, tmp_path).data["nodes"][1]["w"] == repr(1 / 3)
    program = hoad.record(lambda x: x / 3, np.linspace(0, 1, 50))
    shown = explored(program, tmp_path).data["nodes"][1]
    assert shown["v"].startswith("(50,): 0,") and shown["w"].count(",") == 49
    assert shown["d"] == "(50,) float64"


def test_lines_and_branches(tmp_path: Path) -> None:
    data = explored(PROGRAMS["guards"](), tmp_path).data
    where, text = data["places"][data["nodes"][1]["l"]]
    assert re.fullmatch(r"(?:.*/)?programs\.py:\d+", where) and text == "if x > 1:"
    assert data["nodes"][1]["g"] == [f"True at {where}"]
    data = explored(PROGRAMS["guards"](), tmp_path, lines=False).data
    assert "l" not in data["nodes"][1]


def test_title(tmp_path: Path) -> None:
    assert explored(hoad.record(by_hand, 1.0, 2.0), tmp_path).data["title"] == "by_hand"
    assert explored(hoad.record(lambda x: x, 1.0), tmp_path).data["title"] == "Program"
    assert explored(Program(), tmp_path).data["nodes"] == []


@pytest.mark.parametrize("lines", [True, False])
def test_a_large_tape_is_folded(lines: bool, tmp_path: Path) -> None:
    program = hoad.gradient(hoad.record(chain, 0.5, length=2000))
    size = sum(tape.size for tape in program)
    page = explored(program, tmp_path, limit=1000, lines=lines)
    data = page.data
    assert f"{size} nodes" in data["note"] and "limit=" in data["note"]
    assert ("lines of the function" if lines else "stretches") in data["note"]
    assert sum(tape["size"] for tape in data["tapes"]) == len(data["nodes"]) <= 2 * STRETCHES
    shown = [int(re.match(r"\d+", node["v"])[0]) for node in data["nodes"]]
    assert sum(shown) == size
    nodes = data["nodes"]
    first = data["tapes"][0]["size"]
    assert any(p < first for node in nodes[first:] for p in node.get("p", [])), "the adjoint uses the primal"
    assert any(node.get("of") for node in nodes[first:])
    if lines:
        texts = [data["places"][node["l"]][1] for node in nodes if "l" in node]
        assert {"s = np.sin(x)", "x = s * x"} == set(texts)
    else:
        assert all(p <= k for k, node in enumerate(nodes) for p in node.get("p", [])), "stretches follow each other"
    assert "note" in data and not explored(program, tmp_path, limit=size).data["note"]


def test_size_of_the_page(tmp_path: Path) -> None:
    program = hoad.gradient(hoad.record(chain, 0.5, length=700))
    explored(program, tmp_path)
    empty = tmp_path / "empty.html"
    Program().explore(empty)
    grown = (tmp_path / "tape.html").stat().st_size - empty.stat().st_size
    assert grown < 250 * sum(tape.size for tape in program)


def test_wrong_limit(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"limit=0.*positive"):
        PROGRAMS["hand"]().explore(tmp_path / "tape.html", limit=0)


def test_opened_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    PROGRAMS["hand"]().explore(tmp_path / "tape.html")
    assert opened == []
    PROGRAMS["hand"]().explore(str(tmp_path / "a tape.html"), open=True)
    assert opened == [(tmp_path / "a tape.html").as_uri()]
