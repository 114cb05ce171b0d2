"""The page to explore a program in, as a file: it is whole, says what print says, and takes nothing for markup."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path

import numpy as np
import pytest
from _display.pages import Page, explored
from _display.programs import HOSTILE, PROGRAMS, by_hand, chain
from _display.reading import tables

import hoad
from hoad._display import columns
from hoad._program.program import Program


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_page_says_what_print_says(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]()
    nodes = explored(program, tmp_path).nodes()
    rows = [row for table in tables(program.table(rows=None)) for row in table]
    assert [node["number"] for node in nodes] == [row.number for row in rows]
    for node, row in zip(nodes, rows, strict=True):
        assert " ".join(node["t"].split()) == " ".join(row.operation.split())
        assert node["v"] == row.columns["value"]
        assert node["m"] == row.columns["mark"]
        assert node["e"] == row.columns.get("adjoint", row.columns.get("tangent", ""))
    place = {node.number: k for k, node in enumerate(node for tape in program for node in tape.nodes)}
    for tape in program:
        outputs = {k for k in tape.outputs if isinstance(k, int)}
        for node in tape.nodes:
            shown = nodes[place[node.number]]
            assert shown["p"] == [place[k] for k in node.parents if k in place]
            assert shown["of"] == place.get(node.adjoint_of or node.tangent_of) and shown["k"] == node.part
            assert shown["operation"] == node.operation
            assert shown["s"] == place.get(node.swept)
            assert shown["i"] == (node.number in tape.inputs) and shown["x"] == (node.number in outputs)


def test_nothing_is_fetched(tmp_path: Path) -> None:
    """No address, no link, no file beside it; and a policy that would forbid them."""
    page = explored(PROGRAMS["arrays"](), tmp_path)
    for tag, attributes in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed")
        assert not {"src", "href", "action"} & attributes.keys()
        assert not any(key.startswith("on") for key in attributes)
    text = (tmp_path / "tape.html").read_text(encoding="utf-8")
    text = text.replace(page.texts["script"][0], "")  # base64, in which anything may stand
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|fetch\(|XMLHttp|WebSocket|innerHTML|eval\(", text)
    assert "default-src 'none'" in text
    assert [path.name for path in tmp_path.iterdir()] == ["tape.html"]


def test_names_are_no_markup(tmp_path: Path) -> None:
    plain = explored(PROGRAMS["hand"](), tmp_path, title="plain")
    hostile = explored(PROGRAMS["hostile"](), tmp_path, title=f"{HOSTILE}<!--data--><!--x-->\u2028")
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in plain.elements]
    assert HOSTILE in hostile.nodes()[1]["t"]
    assert hostile.data["title"] == f"{HOSTILE}<!--data--><!--x-->\u2028"


def test_values_to_the_last_digit(tmp_path: Path) -> None:
    program = hoad.record(lambda x: x / 3, 1.0)
    assert explored(program, tmp_path).nodes()[1]["w"] == repr(1 / 3)
    program = hoad.record(lambda x: x / 3, np.linspace(0, 1, 50))
    shown = explored(program, tmp_path).nodes()[1]
    assert shown["v"].startswith("(50,): 0,") and shown["w"].count(",") == 49
    assert shown["d"] == "(50,) float64"


def test_arrays_in_full_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_ENTRIES", 250)
    shown = explored(hoad.record(lambda x: x * 2 + 1, np.linspace(0, 1, 100)), tmp_path).nodes()
    assert [node["w"].count(",") for node in shown] == [99, 99, 4], "of the last as much as a table shows"


def test_lines_and_branches(tmp_path: Path) -> None:
    node = explored(PROGRAMS["guards"](), tmp_path).nodes()[1]
    where, text = node["l"]
    assert re.fullmatch(r"(?:.*/)?programs\.py:\d+", where) and text == "if x > 1:"
    assert node["g"] == [f"True at {where}"] and node["m"] == "guard: was True"
    assert explored(PROGRAMS["guards"](), tmp_path, lines=False).nodes()[1]["l"] is None


def test_every_node_of_an_adjoint_tape_has_a_line(tmp_path: Path) -> None:
    adjoint = explored(PROGRAMS["hand, unsimplified"](), tmp_path).nodes()[9:]
    cosine = next(node for node in adjoint if node["t"].startswith("cos"))
    assert cosine["e"] == "" and cosine["l"][1] == "b = np.sin(4 * y)", "of no adjoint's own, but of a sweep"
    assert None not in [node["l"] for node in adjoint]


def test_title(tmp_path: Path) -> None:
    assert explored(hoad.record(by_hand, 1.0, 2.0), tmp_path).data["title"] == "by_hand"
    assert explored(hoad.record(lambda x: x, 1.0), tmp_path).data["title"] == "Program"
    assert explored(Program(), tmp_path).nodes() == []


def test_size_of_the_page(tmp_path: Path) -> None:
    program = hoad.gradient(hoad.record(chain, 0.5, length=700))
    explored(program, tmp_path)
    empty = tmp_path / "empty.html"
    Program().explore(empty)
    grown = (tmp_path / "tape.html").stat().st_size - empty.stat().st_size
    assert grown < 40 * sum(tape.size for tape in program)


def test_wrong_limit(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"limit=0.*positive"):
        PROGRAMS["hand"]().explore(tmp_path / "tape.html", limit=0)


def test_an_adjoint_that_is_no_node_of_its_own(tmp_path: Path) -> None:
    """Of inputs and of what a tangent tape goes on with, the page has what the tape gives."""
    given = explored(hoad.gradient(hoad.record(lambda x, y: x * y, 2.0, 3.0)), tmp_path).data["programs"][0]["tapes"]
    assert given[1]["given"] == [[0, 1, "@2"], [1, 0, "@1"]]
    linear = hoad.tangent(hoad.record(lambda x: 3 * x, 1.0), 2.0)
    assert explored(linear, tmp_path).data["programs"][0]["tapes"][1]["given"] == [[1, None, "6"]]


def test_a_notebook_shows_it_in_a_frame() -> None:
    program = PROGRAMS["hostile"]()
    page = program.explore(title=HOSTILE)
    assert page is not None
    frame = Page(page._repr_html_(), packed=False)
    ((tag, attributes),) = frame.elements
    assert tag == "iframe" and attributes["sandbox"] == "allow-scripts" and attributes["title"] == HOSTILE
    assert attributes["srcdoc"] == page.text and HOSTILE in Page(page.text).nodes()[1]["t"]
    assert HOSTILE in repr(page)


def test_opened_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    PROGRAMS["hand"]().explore(tmp_path / "tape.html")
    assert opened == []
    PROGRAMS["hand"]().explore(str(tmp_path / "a tape.html"), open=True)
    assert opened == [(tmp_path / "a tape.html").as_uri()]
    page = PROGRAMS["hand"]().explore(open=True)
    assert page is not None and Path(opened[1].removeprefix("file://")).read_text(encoding="utf-8") == page.text
