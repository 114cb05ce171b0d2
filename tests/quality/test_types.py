"""The types that users see: those of the stub are those of the source, and hold for code of a user."""

from __future__ import annotations

import ast
import inspect
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from quality.project import PACKAGE, TESTS

import hoad

USER_CODE = TESTS / "quality" / "user_code.py"
STUB = ast.parse((PACKAGE / "__init__.pyi").read_text())
FUNCTIONS = [node for node in STUB.body if isinstance(node, ast.FunctionDef)]
IMPORTED = {
    alias.name
    for node in STUB.body
    if isinstance(node, ast.ImportFrom) and node.module in ("hoad", "hoad._public")
    for alias in node.names
}


def test_stub_has_every_public_name() -> None:
    written = {node.name for node in FUNCTIONS}
    assert written | IMPORTED == {*hoad.__all__, *hoad._MODULES, "__all__"}
    assert not written & IMPORTED


@pytest.mark.parametrize("node", FUNCTIONS, ids=[f"{node.name}:{node.lineno}" for node in FUNCTIONS])
def test_parameters_are_those_of_the_source(node: ast.FunctionDef) -> None:
    """Their names, kinds and defaults; of types, an overload may have others."""
    chosen = "Literal[True]" in ast.unparse(node)  # by an argument that has no default here
    space: dict[str, object] = {}
    source = ast.unparse(ast.FunctionDef(node.name, bare(node.args), [ast.Pass()], [], None, lineno=0))
    exec(source, space)
    stub = inspect.signature(space[node.name])
    runtime = inspect.signature(getattr(hoad, node.name))
    assert stub.parameters.keys() == runtime.parameters.keys()
    for name, parameter in runtime.parameters.items():
        assert stub.parameters[name].kind is parameter.kind
        given = stub.parameters[name].default
        assert given == parameter.default or (chosen and given is inspect.Parameter.empty)


def bare(arguments: ast.arguments) -> ast.arguments:
    """Arguments without their types."""
    for node in ast.walk(arguments):
        if isinstance(node, ast.arg):
            node.annotation = None
    return arguments


def test_user_code_runs() -> None:
    """So that what is checked for types is right besides; `.ci/run` has mypy check it."""
    runpy.run_path(str(USER_CODE))


def test_user_code_is_among_what_mypy_checks() -> None:
    assert '"tests/quality/user_code.py"' in (PACKAGE.parent / "pyproject.toml").read_text()


@pytest.mark.slow
def test_user_code_with_the_installed_package(tmp_path: Path) -> None:
    """mypy takes the types from py.typed and the stubs; nothing of the source is near."""
    pytest.importorskip("mypy")
    shutil.copy(USER_CODE, tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "user_code.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_user_code_with_pyright(tmp_path: Path) -> None:
    """Outside the function `wrong` it finds nothing, and there an error in each call."""
    shutil.copy(USER_CODE, tmp_path)
    (tmp_path / "pyrightconfig.json").write_text('{"enableTypeIgnoreComments": false, "typeCheckingMode": "standard"}')
    command = ["pyright", "--pythonpath", sys.executable, "--outputjson", "user_code.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    found = {
        error["range"]["start"]["line"] + 1: error["message"]
        for error in json.loads(done.stdout)["generalDiagnostics"]
        if error["severity"] == "error"
    }
    lines = USER_CODE.read_text().splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.startswith("    ") and "type: ignore" in line}
    assert found.keys() <= wrong and len(found) >= 5, found
