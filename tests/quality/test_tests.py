"""The tests mirror the package: each layer has a folder, and `tests/README.md` says what each folder holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from quality.project import PACKAGE, ROOT, TESTS
from quality.test_layering import LAYERS

README = (TESTS / "README.md").read_text()
MIRRORS, OTHERS = README.split("These mirror no folder of the package:")
ELSEWHERE = MIRRORS.split("Tested elsewhere:")[1]
LONGEST = 60  # lines of the README


def described(text: str) -> set[str]:
    """The folders in the first column of a table."""
    return {name for cell in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for name in re.findall(r"`(.*?)`", cell)}


def test_each_folder_is_described() -> None:
    folders = {path.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/*.py")}
    assert described(MIRRORS) | described(OTHERS) == folders
    assert not described(MIRRORS) & described(OTHERS)
    assert README.count("\n") <= LONGEST


@pytest.mark.parametrize("place", [place for row in LAYERS for place in row])
def test_each_layer_has_tests(place: str) -> None:
    folder = TESTS / Path(place).relative_to(PACKAGE.name).with_suffix("")
    assert bool(list(folder.glob("**/test_*.py"))) != (f"`{place}`" in ELSEWHERE), f"{folder} or a line of the README"


def test_what_mirrors_the_package_does() -> None:
    modules = {path.stem for path in PACKAGE.iterdir()}
    assert described(MIRRORS) <= modules and not described(OTHERS) & modules
    core = {path.name for path in (TESTS / "_core").iterdir() if list(path.glob("test_*.py"))}
    assert core <= {path.name for path in (PACKAGE / "_core").iterdir()}


def test_what_the_readme_names_exists() -> None:
    for name in re.findall(r"`(\w+/test_\w+\.py)`", README) + re.findall(r"tests/\w+", README):
        assert (ROOT / name if name.startswith("tests/") else TESTS / name).exists() or name == "tests/X", name
