"""The examples of pages whose packages are not there for each build of the documentation, as they stand there."""

from __future__ import annotations

from typing import Any

import pytest
from quality.project import ROOT, fenced

HOWTO = ROOT / "docs" / "howto"


def run(page: str, *parts: str) -> dict[str, Any]:
    """The names that the examples of a page define, or those of its parts with these headings."""
    text = (HOWTO / f"{page}.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": page}
    for part in text.split("\n## "):
        if not parts or part.startswith(parts):
            for code in fenced(part, "python"):
                exec(compile(code, f"{page}.md", "exec"), names)
    return names


def test_ipopt(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cyipopt")
    run("ipopt")
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == "True [1.     4.743  3.8211 1.3794] 17.014"
    assert second == "1604 entries of the 404 x 603 Jacobian may be nonzero"
    assert third == "12.0012 True"
