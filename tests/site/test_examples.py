"""Pages whose code is not run when the site is made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from quality.project import ROOT

import hoad

DOCS = ROOT / "docs"


def test_cheat_sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line runs, one block after the other, and none is too wide for a column."""
    pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"^```python\n(.*?)^```$", (DOCS / "cheat-sheet.md").read_text(), flags=re.MULTILINE | re.DOTALL
    )
    assert len(blocks) >= 10 and max(len(line) for block in blocks for line in block.splitlines()) <= 48
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(block, names)
    assert (tmp_path / "tape.html").exists()


def test_citation() -> None:
    """The version and the title are those of the package."""
    text = (DOCS / "cite.md").read_text()
    described = re.search(r'^description = "(.+)"$', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE)
    assert described and f"version = {{{hoad.__version__}}}" in text
    assert f"hoad: {described[1].lower().replace('numpy', 'NumPy')}}}" in text
