"""A file imports only from floors below it, or from siblings on its own floor and in its own folder."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from quality.house import CORE, PACKAGE, ROOT, extension_names, source_files

import hoad

# The house of docs/design, from the ground up: a place is a file, or a folder with all that is in it.
FLOORS: dict[int, tuple[str, ...]] = {
    0: ("hoad/_core", "hoad/errors.py"),
    1: ("hoad/_ops/adjugates.py", "hoad/_ops/primitives.py", "hoad/_transform/checkpoint_schedule.py"),
    2: (
        "hoad/_pytree/arguments.py",
        "hoad/_comparison/plain_calls.py",
        "hoad/_pytree/containers.py",
        "hoad/_ops/dependence.py",
        "hoad/lowlevel.pxd",
        "hoad/_program/address.py",
        "hoad/_numpy",
        "hoad/_comparison/divergence.py",
        "hoad/_program/pickling.py",
        "hoad/_program/program.py",
        "hoad/_comparison/reachable_code.py",
        "hoad/_pytree/ravel.py",
        "hoad/_jit/environment_reader.py",
        "hoad/_jit/escapes.py",
        "hoad/_pytree/target.py",
        "hoad/_program/trace.py",
        "hoad/_jit/rebinding.py",
        "hoad/_comparison/type_tests.py",
    ),
    3: ("hoad/_series", "hoad/rules"),
    4: ("hoad/_transform",),
    5: ("hoad/_drivers",),
    6: ("hoad/check", "hoad/_display", "hoad/implicit.py", "hoad/interop", "hoad/ode"),
    7: (
        "hoad/__init__.py",
        "hoad/__main__.py",
        "hoad/_cli/bench.py",
        "hoad/_cli/main.py",
        "hoad/_inspect/explain.py",
        "hoad/_cli/info.py",
        "hoad/demo",
        "hoad/_inspect",
        "hoad/_symbolic",
    ),
}
TOP = max(FLOORS)
FOR_ALL = "hoad/errors.py"

REQUIRED = {"hoad", "numpy"}
# The rules of another package, imported when one of its functions meets a traced value.
ON_DEMAND = {"hoad/rules/expansions.py": {"scipy"}, "hoad/rules/special.py": {"scipy"}}
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
        if in_function or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
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


def floor_of(path: str | Path) -> int:
    for floor, places in FLOORS.items():
        if any(str(path) == place or str(path).startswith(place + "/") for place in places):
            return floor
    raise AssertionError(f"{path} stands on no floor: give it one in FLOORS")


def is_allowed(path: Path, target: str) -> bool:
    here, there = floor_of(path), floor_of(target)
    beside = here == there and (path.parent == Path(target).parent or here == TOP)
    return there < here or beside or target == FOR_ALL


FILES = source_files(".py", ".pyx", ".pxd")


@pytest.mark.parametrize("path", FILES, ids=str)
def test_imports_go_down(path: Path) -> None:
    wrong = [
        f"{path}:{found.line} (floor {floor_of(path)}) imports {target} (floor {floor_of(target)})"
        for found in imports_of(path)
        for target in targets_of(path, found)
        if not is_allowed(path, target)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", FILES, ids=str)
def test_numpy_is_all_that_importing_needs(path: Path) -> None:
    """Optional packages are imported in the functions that use them."""
    allowed = (
        REQUIRED
        | ON_DEMAND.get(str(path), set())
        | set(sys.stdlib_module_names)
        | (OF_CYTHON if path.suffix != ".py" else set())
    )
    wrong = [
        f"{path}:{found.line} imports {found.module}"
        for found in imports_of(path)
        if found.at_once and not found.module.startswith(".") and found.module.split(".")[0] not in allowed
    ]
    assert not wrong, "\n".join(wrong)


def test_importing_hoad_imports_nothing_optional() -> None:
    optional = ["dask", "graphviz", "matplotlib", "scipy", "tqdm"]
    code = f"import sys, hoad; print(*(name for name in {optional} if name in sys.modules))"
    where = Path(hoad.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=where, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_sources_that_were_not_built_say_so(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "hoad", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    done = subprocess.run([sys.executable, "-c", "import hoad"], cwd=tmp_path, capture_output=True, text=True)
    assert f"ImportError: Python found hoad in its source folder, {tmp_path}, whose" in done.stderr


@pytest.mark.parametrize("path", source_files(".pyx", ".pxd"), ids=str)
def test_no_cython_file_is_pulled_into_another(path: Path) -> None:
    assert not re.search(r"^\s*include\s+[\"']", (ROOT / path).read_text(), flags=re.MULTILINE)


def test_setup_lists_every_compiled_module() -> None:
    assert sorted(extension_names()) == sorted(path.stem for path in CORE.glob("*.pyx"))


def test_what_setup_compiles_otherwise_is_there_and_in_one_list() -> None:
    chosen = extension_names("REPLAY") + extension_names("ONCE")
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) < set(extension_names())


def test_every_compiled_module_has_its_stub() -> None:
    missing = [name for name in extension_names() if not (CORE / f"{name}.pyi").exists()]
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
        ("hoad/_drivers/gradient.py", "hoad/_core/graph/tape.pyx", True),
        ("hoad/_drivers/gradient.py", "hoad/_drivers/hessian.py", True),
        ("hoad/_drivers/gradient.py", "hoad/check/taylor_remainder.py", False),
        ("hoad/_drivers/gradient.py", "hoad/__init__.py", False),
        ("hoad/_core/graph/tape.pyx", "hoad/errors.py", True),
        ("hoad/errors.py", "hoad/_core/graph/tape.pyx", False),
        ("hoad/_program/trace.py", "hoad/_numpy/registry.py", False),
        ("hoad/check/report.py", "hoad/_display/table.py", False),
        ("hoad/demo/fit.py", "hoad/__init__.py", True),
        ("hoad/_cli/main.py", "hoad/demo/__init__.py", True),
    ],
)
def test_order_of_floors(path: str, target: str, allowed: bool) -> None:
    assert is_allowed(Path(path), target) is allowed


def test_relative_and_indirect_imports_are_resolved() -> None:
    here = Path("hoad", "_core", "tape.pyx")
    assert targets_of(here, Import("..", ("errors",), 1, True)) == {"hoad/errors.py"}
    both = {"hoad/errors.py", "hoad/__init__.py"}
    assert targets_of(here, Import("hoad", ("errors", "grad"), 1, True)) == both
    assert targets_of(here, Import("numpy", ("ndarray",), 1, True)) == set()
