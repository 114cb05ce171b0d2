"""Large tapes folded: every node is in one row; what a page carries of them is bounded, and belongs together."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _display.pages import explored
from _display.programs import chain
from hypothesis import given
from hypothesis import strategies as st

import hoad
from hoad._display import page as making
from hoad._display.folds import MOST_OPERATIONS, STRETCHES, first_of_each
from hoad._program.program import Program


def long(length: int = 500, simplify: bool = True) -> Program:
    return hoad.gradient(hoad.record(chain, 0.5, length=length), simplify=simplify)


def looping(x: Any, length: int = 40) -> Any:
    """Branches on the way, many operations on one line, and an array before."""
    w = np.sum(x * x)
    for k in range(length):
        if w > k - 1:
            w = np.sin(w) + np.cos(w) * np.exp(-w) + np.tanh(w) / (1 + w * w)
    return w * x


PROGRAMS = {
    "chain": long,
    "unsimplified": lambda: long(200, simplify=False),
    "looping": lambda: hoad.gradient(hoad.record(looping, np.ones(3)), seed="symbolic"),
    "twice": lambda: hoad.gradient(hoad.gradient(hoad.record(chain, 0.5, length=40)), seed="symbolic"),
    "adjoint alone": lambda: long()[1:],
}


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_node_is_in_one_fold(name: str, lines: bool, tmp_path: Path) -> None:
    program = PROGRAMS[name]()
    page = explored(program, tmp_path, limit=100, lines=lines)
    (data,) = page.data["programs"]
    records = program.records(lines=lines)
    nodes = page.nodes()
    folds = data["folds"]
    assert [node["number"] for node in nodes] == [record["node"] for record in records], "all are carried"
    assert Counter(node["f"] for node in nodes) == {f: fold["size"] for f, fold in enumerate(folds)}
    ends = np.cumsum([0, *(tape["folds"] for tape in data["tapes"])])
    for record, node in zip(records, nodes, strict=True):
        assert ends[record["tape"] - 1] <= node["f"] < ends[record["tape"]], "of its own tape"
    assert "folded by" in data["note"] and f"{len(nodes)} nodes" in data["note"] and "limit=" not in data["note"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_folds_say_what_their_nodes_say(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]()
    page = explored(program, tmp_path, limit=100)
    nodes, records = page.nodes(), program.records(lines=True)
    by_lines = "lines of the function" in page.data["programs"][0]["note"]
    for f, fold in enumerate(page.data["programs"][0]["folds"]):
        own = [(node, record) for node, record in zip(nodes, records, strict=True) if node["f"] == f]
        numbers = [node["number"] for node, _ in own]
        assert fold["n"] == f"@{numbers[0]}" + (f" … @{numbers[-1]}" if len(own) > 1 else "")
        counts = Counter(record["operation"] for _, record in own)
        shown = fold["t"].replace(" and ", ", ").split(", ")
        assert {f"{n} {name}" for name, n in counts.most_common(MOST_OPERATIONS)} >= set(shown[:MOST_OPERATIONS])
        used = {nodes[p]["f"] for node, _ in own for p in node["p"]} - {f}
        assert set(fold["p"]) == used
        assert set(fold["of"]) == {nodes[node["of"]]["f"] for node, _ in own if node["of"] is not None}
        guards = sum(bool(record["guards"]) for _, record in own)
        assert ("guard" in fold["m"]) == bool(guards) and (not guards or f"{guards} guard" in fold["m"])
        assert fold["i"] == any(node["i"] for node, _ in own) and fold["x"] == any(node["x"] for node, _ in own)
        if by_lines:
            assert len({record["where"] for _, record in own}) == 1


def test_folded_by_lines_or_by_stretches(tmp_path: Path) -> None:
    program = long(2000)
    page = explored(program, tmp_path, limit=1000)
    texts = {node["l"][1] for node in page.nodes() if node["l"]}
    assert texts == {"s = np.sin(x)", "x = s * x"}
    assert "the lines of the function" in page.data["programs"][0]["note"]
    (data,) = explored(program, tmp_path, limit=1000, lines=False).data["programs"]
    assert "stretches of nodes" in data["note"]
    assert [tape["folds"] for tape in data["tapes"]] == [STRETCHES, STRETCHES]
    assert all(p < f for f, fold in enumerate(data["folds"]) for p in fold["p"]), "stretches follow each other"


def test_a_program_within_the_limit_is_not_folded(tmp_path: Path) -> None:
    program = long()
    (data,) = explored(program, tmp_path, limit=sum(tape.size for tape in program)).data["programs"]
    assert data["note"] == "" and data["folds"] == [] and data["f"] == []


# ---- what is carried ------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 6), max_size=60), st.integers(0, 70))
def test_first_of_each(groups: list[int], room: int) -> None:
    found = first_of_each(np.array(groups, np.int32), room).tolist()
    quota = 0
    sizes = Counter(groups)
    while quota < len(groups) and sum(min(n, quota + 1) for n in sizes.values()) <= room:
        quota += 1
    assert found == [k for k, group in enumerate(groups) if groups[:k].count(group) < quota]


@pytest.mark.parametrize("room", [250, 400, 1000])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_page_carries_of_a_larger_program(
    name: str, room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "CARRIED", room)
    program = PROGRAMS[name]()
    page = explored(program, tmp_path, limit=100)
    (data,) = page.data["programs"]
    nodes = page.nodes()
    size = sum(tape.size for tape in program)
    rows = {record["node"]: record for record in program.records()}
    assert len(nodes) <= max(room, 100)
    if size <= room:
        assert len(nodes) == size
        return
    assert len(nodes) > room / 3
    assert f"{len(nodes)} of them are in this page; explore(..., limit={size})" in data["note"]
    place = {node["number"]: k for k, node in enumerate(nodes)}
    swept = [rows[node["number"]]["swept"] for node in nodes]
    if name != "adjoint alone":
        assert all(k in place for k in swept if k), "adjoint nodes are those of carried nodes"
        assert any(swept)
    for node in nodes:
        row = rows[node["number"]]
        assert node["t"] == row["expression"] and node["e"].split(" = ")[0] == (row["adjoint"] or "")
        parents = [k for k in row["parents"] if k in rows]
        assert len(node["p"]) == len(parents)
        for p, number in zip(node["p"], parents, strict=True):
            assert p == place[number] if number in place else p < 0, "itself, else its fold"


def test_a_page_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "CARRIED", 2000)
    sizes = []
    for length in (1000, 4000):
        explored(long(length), tmp_path, limit=500)
        sizes.append((tmp_path / "tape.html").stat().st_size)
    assert sizes[1] < 1.1 * sizes[0]
