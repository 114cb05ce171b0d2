"""A file imports only from layers below its own, or from files of its own folder, and never in a circle."""

from __future__ import annotations

import ast
import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from quality.project import CORE, CORE_FOLDERS, PACKAGE, ROOT, extension_names, source_files

import hoad

# The layers, from the ground up: a place is a file, or a folder with all that is in it. What stands in one line imports
# nothing from its neighbours there.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("hoad/_docstrings.py", "hoad/errors.py"),
    *((f"hoad/_core/{folder}",) for folder in CORE_FOLDERS),
    ("hoad/_core",),
    ("hoad/_ops", "hoad/_pytree"),
    ("hoad/_comparison", "hoad/_numpy"),
    ("hoad/_program", "hoad/lowlevel.pxd"),
    ("hoad/_display", "hoad/_series", "hoad/rules"),
    ("hoad/_transform",),
    ("hoad/_drivers", "hoad/_jit"),
    ("hoad/_sparse",),
    ("hoad/implicit.py",),
    ("hoad/_inspect", "hoad/_symbolic", "hoad/check", "hoad/ode"),
    ("hoad/_scipy",),
    ("hoad/_adopt", "hoad/_solvers"),
    ("hoad/interop",),
    ("hoad/scipy",),
    ("hoad/_public.py",),
    ("hoad/__init__.py",),
    ("hoad/_demo",),
    ("hoad/_cli",),
    ("hoad/__main__.py",),
)
FOR_ALL = "hoad/errors.py"

REQUIRED = {"hoad", "numpy"}
# The rules of another package, imported when one of its functions meets a traced value; and functions of its names,
# imported where they are asked for.
ON_DEMAND = {
    "hoad/rules/special/define.py": {"scipy"},
    "hoad/scipy/linalg.py": {"scipy"},
    "hoad/_demo/example.py": {"scipy"},
    "hoad/_demo/fit.py": {"scipy"},
    "hoad/_demo/page.py": {"matplotlib"},
    "hoad/_demo/report.py": {"rich"},
    "hoad/_sparse/progress.py": {"tqdm"},
    "hoad/_sparse/sparse_structure.py": {"scipy"},
    "hoad/_solvers/constraints.py": {"scipy"},
    **{str(path): {"scipy"} for path in source_files(".py") if path.parts[1] == "_scipy"},
}
OF_CYTHON = {"cython", "libc", "libcpp", "cpython", "posix"}


class Import(NamedTuple):
    """`import module`, or `from module import names`, with its line and whether it runs with the module."""

    module: str
    names: tuple[str, ...]
    line: int
    at_once: bool


def python_imports(source: str) -> Iterator[Import]:
    """The imports of a Python file, wherever they stand in it."""
    tree = ast.parse(source)
    later = set()
    for node in ast.walk(tree):
        in_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if in_function or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            later.update(ast.walk(node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, (), node.lineno, node not in later)
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            yield Import("." * node.level + (node.module or ""), names, node.lineno, node not in later)


def cython_imports(source: str) -> Iterator[Import]:
    """The imports and cimports of a Cython file, which no parser of Python's reads."""
    blank = r"(?P<string>\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|#[^\n]*"
    code = re.sub(blank, lambda found: "\n" * found[0].count("\n"), source, flags=re.DOTALL)
    code = re.sub(r"\([^()]*\)", lambda found: found[0].replace("\n", " \r"), code)
    code = code.replace("\\\n", " \r")
    line = 1
    for text in code.split("\n"):
        statement = text.replace("\r", "").strip()
        at_once = not text.startswith((" ", "\t"))
        if found := re.fullmatch(r"from\s+([\w.]+)\s+c?import\s*(.+?);?", statement):
            names = (name.split()[0] for name in found[2].strip("() ").split(",") if name.strip())
            yield Import(found[1], tuple(names), line, at_once)
        elif found := re.fullmatch(r"c?import\s+([\w., ]+?);?", statement):
            for name in found[1].split(","):
                yield Import(name.split()[0], (), line, at_once)
        line += 1 + text.count("\r")


@functools.cache
def imports_of(path: Path) -> list[Import]:
    read = python_imports if path.suffix == ".py" else cython_imports
    return list(read((ROOT / path).read_text()))


def place_of(module: str) -> str | None:
    """The file or folder of the package that a module is, if there is one."""
    path = Path(*module.split("."))
    if (ROOT / path).is_dir():
        return str(path / "__init__.py")
    files = [path.with_suffix(suffix) for suffix in (".py", ".pyx", ".pxd")]
    return next((str(file) for file in files if (ROOT / file).exists()), None)


def targets_of(path: Path, found: Import) -> set[str]:
    """The files of the package that an import reaches: a name in `from` may be a module of its own."""
    module = found.module
    if module.startswith("."):
        up = len(module) - len(module.lstrip("."))
        module = ".".join([*path.parts[:-up], *filter(None, [module[up:]])])
    if module.split(".")[0] != "hoad":
        return set()
    reached = {place_of(f"{module}.{name}") or place_of(module) for name in found.names or ("",)}
    assert None not in reached, f"{path}:{found.line}: no file of the package is {module}"
    return reached


def place_in_layers(path: str | Path) -> tuple[int, str]:
    """(layer, place in it) of a file; of several places that hold it, the innermost."""
    places = [
        (len(place), layer, place)
        for layer, row in enumerate(LAYERS)
        for place in row
        if str(path) == place or str(path).startswith(place + "/")
    ]
    assert places, f"{path} is in no layer: give it one in LAYERS"
    _, layer, place = max(places)
    return layer, place


def is_allowed(path: Path, target: str) -> bool:
    here, there = place_in_layers(path), place_in_layers(target)
    return there[0] < here[0] or there == here or target == FOR_ALL


FILES = source_files(".py", ".pyx", ".pxd")


def test_imports_go_down() -> None:
    wrong = [
        f"{path}:{found.line} ({place_in_layers(path)[1]}) imports {target} ({place_in_layers(target)[1]})"
        for path in FILES
        for found in imports_of(path)
        for target in targets_of(path, found)
        if not is_allowed(path, target)
    ]
    assert not wrong, "\n".join(wrong)


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The groups of more than one file that import each other, by Tarjan's algorithm (SIAM J. Comput. 1, 1972)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_files: list[str] = []
    found: list[list[str]] = []

    def visit(file: str) -> None:
        number[file] = lowest[file] = len(number)
        open_files.append(file)
        for other in sorted(arrows.get(file, ())):
            if other not in number:
                visit(other)
                lowest[file] = min(lowest[file], lowest[other])
            elif other in open_files:
                lowest[file] = min(lowest[file], number[other])
        if lowest[file] == number[file]:
            group = open_files[open_files.index(file) :]
            del open_files[-len(group) :]
            if len(group) > 1:
                found.append(sorted(group))

    for file in sorted(arrows):
        if file not in number:
            visit(file)
    return found


def test_no_files_import_each_other_in_a_circle() -> None:
    """Imports in functions and those for types count too: who reads one file of a circle has to read all."""
    arrows: dict[str, set[str]] = {}
    for path in FILES:
        module = str(path.with_suffix(""))
        for found in imports_of(path):
            others = {str(Path(target).with_suffix("")) for target in targets_of(path, found)}
            arrows.setdefault(module, set()).update(others - {module})
    assert not circles(arrows)


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "e": {"f"}, "f": {"g"}, "g": {"e"}}) == [
        ["b", "c"],
        ["e", "f", "g"],
    ]
    assert circles({"a": {"b", "c"}, "b": {"c"}}) == []


def test_numpy_is_all_that_importing_needs() -> None:
    """Optional packages are imported in the functions that use them."""
    everywhere = REQUIRED | set(sys.stdlib_module_names)

    def may_import(path: Path, package: str) -> bool:
        own = ON_DEMAND.get(str(path), set())
        return package in everywhere or package in own or (path.suffix != ".py" and package in OF_CYTHON)

    wrong = [
        f"{path}:{found.line} imports {found.module}"
        for path in FILES
        for found in imports_of(path)
        if found.at_once and not found.module.startswith(".") and not may_import(path, found.module.split(".")[0])
    ]
    assert not wrong, "\n".join(wrong)


def test_public_names_import_nothing_optional() -> None:
    optional = ["cyipopt", "dask", "graphviz", "matplotlib", "rich", "scipy", "tqdm"]
    code = f"import sys, hoad; hoad.grad; print(*(name for name in {optional} if name in sys.modules))"
    where = Path(hoad.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=where, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_sources_that_were_not_built_say_so(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "hoad", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    done = subprocess.run([sys.executable, "-c", "import hoad"], cwd=tmp_path, capture_output=True, text=True)
    assert f"ImportError: Python found hoad in its source folder, {tmp_path}, whose" in done.stderr


def test_no_cython_file_is_pulled_into_another() -> None:
    include = re.compile(r"^\s*include\s+[\"']", flags=re.MULTILINE)
    wrong = [str(path) for path in source_files(".pyx", ".pxd") if include.search((ROOT / path).read_text())]
    assert not wrong, "\n".join(wrong)


def test_setup_lists_every_compiled_module() -> None:
    assert sorted(extension_names()) == sorted(
        ".".join(path.relative_to(CORE).with_suffix("").parts) for path in CORE.rglob("*.pyx")
    )


def test_what_setup_compiles_otherwise_is_there_and_in_one_list() -> None:
    chosen = extension_names("REPLAY") + extension_names("ONCE")
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) < set(extension_names())


def test_every_compiled_module_has_its_stub() -> None:
    missing = [name for name in extension_names() if not CORE.joinpath(*name.split(".")).with_suffix(".pyi").exists()]
    assert not missing, f"without the promise to Python, a .pyi: {missing}"


def test_every_folder_of_python_files_is_a_package() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py*") if path.suffix in (".py", ".pyi", ".pyx")}
    assert not [str(folder) for folder in folders if not (folder / "__init__.py").exists()]


# The scan is itself held to cases, since one that finds nothing would pass.


def test_scan_of_python() -> None:
    source = (
        "import os, hoad.trace as t\n"
        "if TYPE_CHECKING:\n"
        "    from ..trace import A\n"
        "def f():\n"
        "    from hoad._core import (\n        tape,\n        sweep as s,\n    )\n"
    )
    assert set(python_imports(source)) == {
        Import("os", (), 1, True),
        Import("hoad.trace", (), 1, True),
        Import("..trace", ("A",), 3, False),
        Import("hoad._core", ("tape", "sweep"), 5, False),
    }


def test_scan_of_cython() -> None:
    source = (
        '"""from hoad._drivers import no"""\n'
        "from hoad._core.graph.tape cimport (\n    Tape,  # from x import y\n    Node as N,\n)\n"
        "cimport numpy as cnp, cython\n"
        'cdef extern from "math.h": pass\n'
        "from .sweep cimport a, \\\n    b\n"
        "cdef f():\n    import hoad.rules\n"
        "    text = 'it''s # not a comment'; from_x = 1\n"
    )
    assert list(cython_imports(source)) == [
        Import("hoad._core.graph.tape", ("Tape", "Node"), 2, True),
        Import("numpy", (), 6, True),
        Import("cython", (), 6, True),
        Import(".sweep", ("a", "b"), 8, True),
        Import("hoad.rules", (), 11, False),
    ]


@pytest.mark.parametrize(
    ("path", "target", "allowed"),
    [
        ("hoad/_drivers/hessian.py", "hoad/_core/graph/tape.pyx", True),
        ("hoad/_drivers/hessian.py", "hoad/_drivers/gradient.py", True),
        ("hoad/_drivers/hessian.py", "hoad/check/taylor_remainder.py", False),
        ("hoad/_drivers/hessian.py", "hoad/_jit/jit.py", False),
        ("hoad/_drivers/hessian.py", "hoad/__init__.py", False),
        ("hoad/_core/sweep/adjoint.pyx", "hoad/_core/graph/tape.pyx", True),
        ("hoad/_core/graph/tape.pyx", "hoad/_core/sweep/adjoint.pyx", False),
        ("hoad/_core/graph/tape.pyx", "hoad/errors.py", True),
        ("hoad/_ops/primitives.py", "hoad/_numpy/registry.py", False),
        ("hoad/check/report.py", "hoad/ode/schemes.py", False),
        ("hoad/_demo/fit.py", "hoad/__init__.py", True),
        ("hoad/_cli/main.py", "hoad/_demo/__init__.py", True),
    ],
)
def test_order_of_layers(path: str, target: str, allowed: bool) -> None:
    assert is_allowed(Path(path), target) is allowed


def test_relative_and_indirect_imports_are_resolved() -> None:
    here = Path("hoad", "_core", "graph", "tape.pyx")
    assert targets_of(here, Import("...", ("errors",), 1, True)) == {"hoad/errors.py"}
    both = {"hoad/errors.py", "hoad/__init__.py"}
    assert targets_of(here, Import("hoad", ("errors", "grad"), 1, True)) == both
    assert targets_of(here, Import("numpy", ("ndarray",), 1, True)) == set()
