"""The pages under docs/gallery: short, each with a picture and with answers that are checked."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from quality.house import ROOT

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


def test_every_page_is_in_the_table() -> None:
    rows = re.findall(r"^\| \[.+?\]\((.+?)\)", (FOLDER / "index.md").read_text(), flags=re.MULTILINE)
    assert sorted(rows) == [page.name for page in PAGES] and len(rows) >= 8
