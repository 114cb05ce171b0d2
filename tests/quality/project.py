"""Where things stand in the project, for the tests of its order."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
PACKAGE = ROOT / "hoad"
CORE = PACKAGE / "_core"
# The folders of the compiled core, from the ground up.
CORE_FOLDERS = (
    *("base", "kernels", "graph", "sparse", "ops", "trace", "runtime", "lower", "sweep", "record", "taylor", "jit"),
)


def extension_names(listed: str = "EXTENSIONS") -> list[str]:
    """The names of the compiled modules, as setup.py lists them; or some of them, in another list."""
    for statement in ast.parse((ROOT / "setup.py").read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == listed:
            return ast.literal_eval(statement.value)
    raise AssertionError(f"setup.py has no literal list {listed}")


# What the wheel carries of the package: these, py.typed, the headers of HEADERS, what Cython users cimport, and the
# compiled modules.
HEADERS = Path("hoad", "include")
CARRIED = (".py", ".pyi", ".csv", ".md", ".html", ".css", ".js")
FOR_CYTHON = (Path("hoad", "lowlevel.pxd"), Path("hoad", "_core", "runtime", "lowlevel.pxd"))


def source_files(*suffixes: str) -> list[Path]:
    """The files of the package with these suffixes, relative to the root, in order."""
    return sorted(path.relative_to(ROOT) for path in PACKAGE.rglob("*") if path.suffix in suffixes)


def carried_files() -> list[Path]:
    """The files that the wheel carries of the package, beside the compiled modules, relative to the root."""
    headers = [path.relative_to(ROOT) for path in sorted((ROOT / HEADERS).glob("*.h"))]
    return [*source_files(*CARRIED), *FOR_CYTHON, Path("hoad", "py.typed"), *headers]


def section(markdown: str, heading: str) -> str:
    """The text under a heading of the second rank, up to the next of its rank."""
    return re.split(r"^## ", markdown.split(f"\n## {heading}\n")[1], flags=re.MULTILINE)[0]


def fenced(markdown: str, language: str) -> list[str]:
    """The contents of the fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", markdown, flags=re.MULTILINE | re.DOTALL)
