"""The examples of the how-tos give the same with every driver in `hoad.jit`, at the recording and at a replay."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _jit.run_howtos import CELL, EXCEPTIONS
from quality.project import ROOT

FOLDER = ROOT / "docs" / "howto"
PAGES = sorted(path for path in FOLDER.glob("*.md") if CELL.search(path.read_text()))
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\bnan\b|[-+]?\binf\b")


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """What is shown on each page: plain, jitted, and how many calls were replays."""
    pytest.importorskip("matplotlib")
    command = [sys.executable, str(Path(__file__).with_name("run_howtos.py")), *map(str, PAGES)]
    place = tempfile.gettempdir()  # not where the sources are, which have no compiled modules
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def words(text: str) -> tuple[list[str], list[float]]:
    """What a text says besides numbers, and these."""
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    text = re.sub(r"np\.float64\((.*?)\)", r"\1", text)
    return NUMBER.sub("#", text).split(), list(map(float, NUMBER.findall(text)))


@pytest.mark.slow  # the first of them, which runs all pages
@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_page_with_jitted_drivers(page: Path, results: dict[str, Any]) -> None:
    found = results[page.stem]
    assert not isinstance(found, str), found
    plain, jitted, replays = found
    for x, y in zip(plain, jitted, strict=True):
        (wanted, expected), (said, numbers) = words(x), words(y)
        assert said == wanted
        np.testing.assert_allclose(numbers, expected, rtol=1e-6, atol=1e-12)
    assert replays or page.stem in ("check", "dense", "low-level", "see-the-tape", "sparse")


def test_every_exception_is_on_a_page() -> None:
    pages = "".join(page.read_text() for page in PAGES)
    assert all(text in pages for text in EXCEPTIONS)
