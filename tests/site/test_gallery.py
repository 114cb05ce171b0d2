"""The pages under docs/gallery: short, each with a picture, and with answers that are checked by what can fail."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from quality.project import ROOT

FOLDER = ROOT / "docs" / "gallery"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "index.md")
CELL = re.compile(r"^```\{code-cell\}\n(---\n.*?---\n|:tags: [^\n]*\n)?(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def cells(page: Path) -> list[tuple[str, str]]:
    """(what stands above the code, the code) of every cell."""
    return CELL.findall(page.read_text())


def assertions(code: str) -> int:
    return sum(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(code)))


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_page(page: Path) -> None:
    seen = [line for head, code in cells(page) if "remove" not in head for line in code.splitlines() if line.strip()]
    assert 20 < len(seen) < 60
    assert max(map(len, seen)) <= 88, "a line is wider than the page"
    assert sum("alt:" in head for head, _ in cells(page)) >= 1, "no picture"
    assert sum(assertions(code) for _, code in cells(page)) >= 2, "no answer is checked"


def test_every_page_has_a_card_with_its_figure() -> None:
    text = (FOLDER / "index.md").read_text()
    cards = re.findall(r"^:::\{grid-item-card\} \[.+?\]\((.+?)\)\n```\{thumbnail\} (.+?)$", text, flags=re.MULTILINE)
    assert sorted(cards) == [(page.name, page.stem) for page in PAGES] and len(cards) >= 8


# A rule that each page lives by, and the operand whose derivative is made wrong.
RULES = {
    "bratu": ("tanh", 0),
    "critical-point": ("power", 0),
    "curves": ("divide", 1),
    "gaussian-process": ("cholesky", 0),
    "heat": ("solve", 0),
    "kalman": ("divide", 1),
    "logistic": ("inv", 0),
    "options": ("log", 0),
    "orbit": ("power", 0),
    "uncertainty": ("multiply", 1),
}

WITH_A_WRONG_RULE = """
import functools, sys
from hoad._core.graph.primitive import primitives
from hoad.rules.registry import set_rule

name, operand, factor = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
made = next(made for made in primitives() if made is not None and made.name == name)
right = made.rule

@functools.wraps(right)
def rule(*args, **kwargs):
    adjoints = list(right(*args, **kwargs))
    adjoints[operand] = adjoints[operand] * factor
    return tuple(adjoints)

set_rule(made, rule, replace=True)
exec(sys.stdin.read(), {"__name__": "page"})
"""


def run(page: Path, factor: float) -> subprocess.CompletedProcess[str]:
    """Run what is computed on a page, not what is drawn, with one derivative times `factor`."""
    computed = [code for head, code in cells(page) if "remove-input" not in head and "page.begin" not in code]
    name, operand = RULES[page.stem]
    command = [sys.executable, "-c", WITH_A_WRONG_RULE, name, str(operand), str(factor)]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    place = tempfile.gettempdir()  # not where the sources are, which have no compiled modules
    return subprocess.run(
        command, input="\n".join(computed), cwd=place, capture_output=True, text=True, env=environment, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_derivative_that_is_off_by_a_thousandth_stops_the_page(page: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    right, wrong = run(page, 1.0), run(page, 1.001)
    assert right.returncode == 0, right.stderr
    assert wrong.returncode != 0 and "AssertionError" in wrong.stderr, wrong.stderr
