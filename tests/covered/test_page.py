"""The page of the documentation: every name that a table has, and what is said of it, in whole sentences."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest
from covered.names import COVERED, FIRST, ROWS
from covered.rows import Kind
from quality.project import ROOT


@pytest.fixture(scope="module")
def page() -> str:
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    import coverage_page

    return coverage_page.page()


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_every_table_has_as_many_cells_as_its_head(page: str) -> None:
    for table in re.findall(r"(?:^\|.*\n)+", page, flags=re.MULTILINE):
        assert len({len(cells(line)) for line in table.splitlines()}) == 1, table


def test_every_name_stands_on_it_once_for_each_of_its_kinds(page: str) -> None:
    lines = [cells(line) for line in page.splitlines() if line.startswith("| `")]
    found: dict[Any, list[str]] = {}
    for name, kind, arguments, _ in lines:
        names = re.findall(r"`([^`]+)`", name)
        if re.fullmatch(r"(`(at|outer|reduce|accumulate|reduceat)`(, )?)+", arguments):
            names = [f"{names[0]}.{method}" for method in re.findall(r"\w+", arguments)]
        for each in names:
            found.setdefault(each, []).append(kind)
    wanted = {
        name: [kind.value for kind in Kind if any(row.kind is kind for row in rows)]
        for name, rows in COVERED.items()
        if name in FIRST
    }
    assert found == wanted


def test_counts_add_up(page: str) -> None:
    lines = [cells(line) for line in page.split("\n\n")[0].splitlines()[2:]]
    numbers = [[int(cell) for cell in line[1:]] for line in lines]
    assert all(line[0] == sum(line[1:]) for line in numbers)
    assert [sum(column) for column in zip(*numbers[:-1], strict=True)] == numbers[-1]


@pytest.fixture(scope="module")
def parts() -> str:
    pytest.importorskip("scipy")
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    import coverage_page

    return coverage_page.page_of_parts()


def test_names_of_scipy_stand_on_its_page(parts: str) -> None:
    from covered.scipy_names import NAMES

    named = set(re.findall(r"`(scipy\.[^`]+)`", parts))
    assert not set().union(*NAMES.values()) - named
    lines = [cells(line) for line in parts.split("\n\n")[0].splitlines()[2:]]
    numbers = [[int(cell) for cell in line[1:-2]] for line in lines]
    assert all(line[0] == sum(line[1:]) for line in numbers)
    assert [sum(column) for column in zip(*numbers[:-1], strict=True)] == numbers[-1]
    for table in re.findall(r"(?:^\|.*\n)+", parts, flags=re.MULTILINE):
        assert len({len(cells(line)) for line in table.splitlines()}) == 1, table


def test_notes_of_scipy_are_sentences() -> None:
    pytest.importorskip("scipy")
    from covered.scipy_names import ROWS as OF_SCIPY

    assert not [row.label() for row in OF_SCIPY if row.note and not re.fullmatch(r"[A-Z][^|\n]*\.", row.note)]


def test_notes_are_sentences() -> None:
    assert not [row.label() for row in ROWS if row.note and not re.fullmatch(r"[A-Z][^|\n]*\.", row.note)]
