"""What is tested is what was installed, and it has everything that a user needs and nothing else."""

from __future__ import annotations

import importlib
import json
import os
import pickle
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from quality.project import CORE, PACKAGE, ROOT, carried_files, extension_names

import hoad


def is_editable() -> bool:
    try:
        origin = distribution("hoad").read_text("direct_url.json")
    except PackageNotFoundError:
        return False
    return bool(json.loads(origin or "{}").get("dir_info", {}).get("editable"))


def test_the_installed_package_is_tested() -> None:
    """The source folder lies in the way of a careless test run; it is meant only in a developer's build."""
    if Path(hoad.__file__).is_relative_to(PACKAGE):
        assert not os.environ.get("CI")
        assert is_editable() or any(path.suffix in (".so", ".pyd") for path in CORE.rglob("*"))


@pytest.mark.parametrize("name", extension_names())
def test_compiled_modules_are_compiled(name: str) -> None:
    module = importlib.import_module(f"hoad._core.{name}")
    assert module.__file__.endswith(tuple(EXTENSION_SUFFIXES))


def test_compiled_classes_have_no_pickles_by_cython() -> None:
    """What travels is pickled by a `__reduce__` of its own; anything else raises, and costs no code."""
    classes = [
        value
        for name in extension_names()
        for value in vars(importlib.import_module(f"hoad._core.{name}")).values()
        if isinstance(value, type) and value.__module__.startswith("hoad._core.")
    ]
    assert len(classes) > 80
    assert not [cls for cls in classes if hasattr(cls, "__reduce_cython__")]
    made = hoad._core.graph.subgraph.Subgraph.__new__(hoad._core.graph.subgraph.Subgraph)
    with pytest.raises(TypeError, match="cannot pickle 'hoad"):
        pickle.dumps(made)


def test_installed_files() -> None:
    """An installed wheel has the Python files of the source: no fewer, and none that the source has lost."""
    package = Path(hoad.__file__).parent
    if package == PACKAGE:
        pytest.skip("a developer's build has the source itself")
    carried = {path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    compiled = {path for path in carried if path.name.endswith(tuple(EXTENSION_SUFFIXES))}
    assert {path.relative_to(package).as_posix().split(".")[0] for path in compiled} == {
        f"_core/{name.replace('.', '/')}" for name in ("base.cython_shared", *extension_names())
    }
    assert {path.relative_to(package.parent) for path in carried - compiled} == {*carried_files()}


def test_version() -> None:
    try:
        assert distribution("hoad").version == hoad.__version__
    except PackageNotFoundError:
        pytest.skip("built in place, not installed")


def test_numpy_is_the_only_requirement() -> None:
    try:
        requires = distribution("hoad").requires or []
    except PackageNotFoundError:
        pytest.skip("built in place, not installed")
    assert [line for line in requires if "extra ==" not in line] == ["numpy>=2.0"]


def test_changelog_keeps_its_headings() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    versions = [line.removeprefix("## [").split("]")[0] for line in lines if line.startswith("## ")]
    assert versions[0] == "Unreleased" or versions[0] == hoad.__version__
    known = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Numerics"}
    assert {line.removeprefix("### ") for line in lines if line.startswith("### ")} <= known


def test_design_notes_are_indexed() -> None:
    notes = ROOT / "docs" / "design"
    index = (notes / "README.md").read_text()
    assert not [path.name for path in notes.glob("0*.md") if f"({path.name})" not in index]
