"""Programs as graphs: what the DOT says, and that it is DOT."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _display.programs import HOSTILE, PROGRAMS

import hoad
from hoad import ArgumentError
from hoad._display import dot
from hoad._program.program import Program

STRING = r'"(?:[^"\\]|\\.)*"'
VALUE = rf"(?:{STRING}|[#\w.]+)"
ATTRIBUTES = rf"\[\w+={VALUE}(?:, \w+={VALUE})*\]"
STATEMENTS = {
    "node": re.compile(rf"n(\d+) ({ATTRIBUTES});"),
    "edge": re.compile(rf"n(\d+) -> n(\d+)(?: ({ATTRIBUTES}))?;"),
    "default": re.compile(rf"(?:node|edge) {ATTRIBUTES};"),
    "setting": re.compile(rf"(?:\w+={VALUE};? ?)+"),
    "open": re.compile(r"digraph program \{|subgraph cluster_\d+ \{"),
    "close": re.compile(r"\}"),
}


def parsed(text: str) -> tuple[dict[int, str], Counter[tuple[int, int]], set[tuple[int, int]], dict[int, int]]:
    """(label of each node, how many edges between two, dotted ones, cluster of each node) of a DOT text."""
    labels: dict[int, str] = {}
    edges: Counter[tuple[int, int]] = Counter()
    dotted: set[tuple[int, int]] = set()
    clusters: dict[int, int] = {}
    depth = cluster = 0
    for line in text.split("\n"):
        kind, found = next(
            (kind, found) for kind, pattern in STATEMENTS.items() if (found := pattern.fullmatch(line.strip()))
        )
        depth += (kind == "open") - (kind == "close")
        if line.strip().startswith("subgraph"):
            cluster += 1
        if kind == "node":
            label = re.search(rf"label=({STRING})", found[2])
            assert label is not None
            labels[int(found[1])] = label[1][1:-1]
            if depth == 2:
                clusters[int(found[1])] = cluster
        if kind == "edge":
            pair = int(found[1]), int(found[2])
            if "dotted" in (found[3] or ""):
                dotted.add(pair)
            else:
                edges[pair] += 1
    assert depth == 0
    return labels, edges, dotted, clusters


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_graph_is_that_of_the_program(name: str, values: bool) -> None:
    program = PROGRAMS[name]()
    labels, edges, dotted, clusters = parsed(program.to_dot(values=values))
    nodes = {node.number: (k, node) for k, tape in enumerate(program, 1) for node in tape.nodes}
    assert clusters == {number: k for number, (k, _) in nodes.items()}
    assert labels.keys() == edges_ends(edges) | nodes.keys()
    assert edges == Counter((p, n) for n, (_, node) in nodes.items() for p in node.parents)
    of = {n: node.adjoint_of or node.tangent_of for n, (_, node) in nodes.items()}
    paired = {(n, target) for n, target in of.items() if target in nodes}
    assert dotted == paired
    for record in program.records():
        label = labels[record["node"]]
        assert re.search(rf"(?:^|\\n)@{record['node']}(?: =|\\n|$)", label)
        assert (record["input"] is not None) == bool(re.search(r"\\ninput", label))


def edges_ends(edges: Counter[tuple[int, int]]) -> set[int]:
    return {end for pair in edges for end in pair}


def test_order_of_operands_where_it_matters() -> None:
    program = hoad.record(lambda x, y: (x - y) * (y + x) / np.where(x > y, x, y), 2.0, 3.0)
    text = program.to_dot()
    for node in program[0].nodes:
        for place, operand in enumerate(node.operands, 1):
            marked = f"n{operand} -> n{node.number} [headlabel={chr(34)}{place}{chr(34)}];" in text
            assert marked == (node.operation not in ("add", "multiply"))


def test_an_operand_taken_twice_has_two_edges() -> None:
    edges = parsed(hoad.record(lambda x: x * x, 2.0).to_dot())[1]
    assert edges == {(1, 2): 2}


def test_values_and_pairs_are_chosen() -> None:
    program = PROGRAMS["hand, unsimplified"]()
    assert "20.7806" not in program.to_dot() and "20.7806" in program.to_dot(values=True)
    assert "dotted" in program.to_dot() and "dotted" not in program.to_dot(pairs=False)
    assert "rankdir=LR;" in program.to_dot(direction="LR")
    with pytest.raises(ArgumentError, match=r"'TB', 'LR', 'BT' or 'RL', not 'up'"):
        program.to_dot(direction="up")


def test_branches_and_calls_have_shapes_of_their_own() -> None:
    assert hoad.record(lambda x: x if x > 0 else -x, 1.0).to_dot().count("shape=diamond") == 1
    assert "guard: was True" in hoad.record(lambda x: x if x > 0 else -x, 1.0).to_dot()
    assert PROGRAMS["calls"]().to_dot().count("peripheries=2") >= 2


def test_names_are_quoted() -> None:
    labels = parsed(PROGRAMS["hostile"]().to_dot())[0]
    shown = labels[2].replace('\\"', '"').replace("\\\\", "\\").replace("&amp;", "&")
    assert HOSTILE.split()[0] in shown and "\\\\N" in labels[2] and "&amp;amp;" in labels[2]


def test_without_tapes() -> None:
    assert parsed(Program().to_dot())[0] == {}
    assert Program()._repr_svg_() is None


# ---- Graphviz -------------------------------------------------------------------------------------------------------


@pytest.fixture
def graphviz() -> None:
    """The tests that ask for it need Graphviz, and CI has it."""
    if shutil.which("dot") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("Graphviz is not installed")


@pytest.mark.usefixtures("graphviz")
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ("long", "large arrays")])
def test_graphviz_reads_it(name: str) -> None:
    text = PROGRAMS[name]().to_dot(values=True)
    done = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True)
    assert done.stderr == b""
    assert done.stdout.count(b'class="node"') == len(parsed(text)[0])


@pytest.mark.usefixtures("graphviz")
def test_a_notebook_draws_it() -> None:
    program = PROGRAMS["hostile"]()
    svg = program._repr_svg_()
    assert svg is not None and svg.startswith("<svg") and svg.endswith("</svg>")
    assert "<script" not in svg and "<b " not in svg
    assert svg in program._repr_html_()


@pytest.mark.parametrize("way", ["absent", "fails", "hangs", "large"])
def test_no_graph_is_no_error(way: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = PROGRAMS["hand"]()
    if way == "absent":
        monkeypatch.setattr(shutil, "which", lambda name: None)
    elif way == "large":
        program = PROGRAMS["long"]()
    else:

        def run(*args: Any, **kwargs: Any) -> Any:
            raise (subprocess.CalledProcessError if way == "fails" else subprocess.TimeoutExpired)(1, "dot")

        monkeypatch.setattr(shutil, "which", lambda name: "dot")
        monkeypatch.setattr(dot.subprocess, "run", run)
    assert program._repr_svg_() is None
    assert "<svg" not in program._repr_html_() and "<table>" in program._repr_html_()
