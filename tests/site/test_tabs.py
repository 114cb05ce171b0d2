"""The code beside each other on the pages for newcomers: every block runs, and all of them give hoad's numbers."""

from __future__ import annotations

import importlib.util
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from quality.project import ROOT

PAGES = {"howto/coming-from": ["hoad", "autograd", "jax", "torch", "casadi"] * 4, "index": ["hoad", "jax", "autograd"]}
TAB = re.compile(r"^:sync: (\w+)\n\n```python\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def blocks(page: str) -> Iterator[tuple[str, str, str]]:
    """(heading, library, code) of every tab of a page."""
    for part in re.split(r"^## ", (ROOT / "docs" / f"{page}.md").read_text(), flags=re.MULTILINE)[1:]:
        heading = part.partition("\n")[0]
        for library, code in TAB.findall(part):
            yield heading, library, code


BLOCKS = [block for page in PAGES for block in blocks(page)]


def result_of(code: str) -> list[Any]:
    names: dict[str, Any] = {"__name__": "page"}
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # what other libraries warn of is theirs
        exec(code, names)
    result = names["result"]
    return [np.asarray(part) for part in (result if isinstance(result, (tuple, list)) else (result,))]


@pytest.mark.parametrize("page", PAGES)
def test_every_library_is_on_every_part(page: str) -> None:
    assert [library for _, library, _ in blocks(page)] == PAGES[page]


@pytest.mark.parametrize(("heading", "library", "code"), BLOCKS, ids=[f"{b}-{a}" for a, b, _ in BLOCKS])
def test_result(heading: str, library: str, code: str) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    ours = next(code for part, name, code in BLOCKS if (part, name) == (heading, "hoad"))
    for found, expected in zip(result_of(code), result_of(ours), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)
