"""What stands in several files of the project says the same in each: versions, names, tools, addresses."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from quality.project import ROOT

import hoad

PROJECT = (ROOT / "pyproject.toml").read_text()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PYTHONS = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', PROJECT)


@pytest.fixture
def tool() -> ModuleType:
    """tools/wheels.py"""
    found = importlib.util.spec_from_file_location("wheels_tool", ROOT / "tools" / "wheels.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_same_pythons_everywhere(tool: ModuleType) -> None:
    numbers = [int(python.split(".")[1]) for python in PYTHONS]
    assert numbers == list(range(numbers[0], numbers[-1] + 1)) and f'requires-python = ">={PYTHONS[0]}"' in PROJECT
    assert f'build = "cp3{{{",".join(map(str, numbers))}}}-*"' in PROJECT
    assert [f"python{python}" for python in PYTHONS] == list(tool.PYTHONS)
    assert str(PYTHONS).replace("'", '"') in (ROOT / "noxfile.py").read_text()
    tests = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    assert set(re.findall(r'"(3\.\d+)"', tests)) == set(PYTHONS)


def test_quick_tests_exist_and_need_less_than_all(tool: ModuleType) -> None:
    assert all((ROOT / path).exists() for path in tool.QUICK)
    needs = re.findall(r'"(.*?)"', re.findall(r"^quick-test = \[(.*)\]", PROJECT, re.MULTILINE)[0])
    test_extra = PROJECT.split("\ntest = [", 1)[1].split("\n]\n", 1)[0]
    assert len(needs) > 3 and all(f'"{need}"' in test_extra for need in needs)


def test_linters_of_nox_are_those_of_the_extra() -> None:
    wanted = re.findall(r'"((?:cython-lint|ruff)>=.*?)"', PROJECT)
    assert len(wanted) == 2 and all(f'"{tool}"' in (ROOT / "noxfile.py").read_text() for tool in wanted)


def test_a_tag_names_the_version(tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "hoad").mkdir()
    (tmp_path / "hoad" / "__init__.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CITATION.cff").write_text("title: x\nversion: 1.2.3\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match=r"the tag is v1\.2\.4, but hoad/__init__\.py says 1\.2\.3"):
        tool.check_version("v1.2.4")
    with pytest.raises(SystemExit, match="has no section"):
        tool.check_version("v1.2.3")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [1.2.3] - 2030-01-01\n")
    tool.check_version("v1.2.3")
    (tmp_path / "CITATION.cff").write_text("title: x\nversion: 1.2.2\n")
    with pytest.raises(SystemExit, match=r"CITATION\.cff is of another version than 1\.2\.3"):
        tool.check_version("v1.2.3")


def test_citation_is_of_this_version() -> None:
    assert f"\nversion: {hoad.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_one_owner() -> None:
    """The repository's address is that of pyproject.toml wherever it stands."""
    home = re.findall(r'^Homepage = "(https://github\.com/(.+)/hoad)"$', PROJECT, re.MULTILINE)
    assert len(home) == 1
    address, owner = home[0]
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = done.stdout.split() or ["pyproject.toml", "CITATION.cff", "SECURITY.md"]
    for name in names:
        if Path(name).suffix in (".md", ".yml", ".toml", ".cff", ".py") and (ROOT / name).is_file():
            text = (ROOT / name).read_text()
            assert set(re.findall(r"https://github\.com/[\w-]+/hoad\b", text)) <= {address}, name
            assert set(re.findall(r"https://([\w-]+)\.github\.io/hoad\b", text)) <= {owner}, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=[path.name for path in WORKFLOWS])
def test_workflow(path: Path) -> None:
    """GitHub reads it: jobs with a machine, a limit of time and steps, at most read rights, and scripts that exist."""
    yaml = pytest.importorskip("yaml")
    workflow: dict[Any, Any] = yaml.safe_load(path.read_text())
    assert True in workflow  # the key `on`, as YAML 1.1 has it
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert {"runs-on", "timeout-minutes", "steps"} <= job.keys(), name
        assert set(job.get("permissions", {})) <= {"id-token", "pages"}
        needed = job.get("needs", [])
        assert {needed} if isinstance(needed, str) else set(needed) <= workflow["jobs"].keys()
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@(v\d[\w.]*|release/v1)", step.get("uses", "a/b@v1"))
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
            for script in re.findall(r"(?:tools|\.ci)/[\w.]+", step.get("run", "")):
                assert (ROOT / script).is_file()


def test_only_a_tag_publishes() -> None:
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text())
    publishing = [
        job for job in workflow["jobs"].values() if any("pypi-publish" in step.get("uses", "") for step in job["steps"])
    ]
    assert len(publishing) == 1 and publishing[0]["if"] == "github.ref_type == 'tag'"
    assert set(publishing[0]["needs"]) == {"sdist", "wheels"}
    assert set(workflow[True]) == {"push", "workflow_dispatch"} and workflow[True]["push"] == {"tags": ["v*"]}


def test_tasks_run_on_this_clone() -> None:
    """The sessions of noxfile.py name commands and files that are there (nox itself is no part of the tests)."""
    source = (ROOT / "noxfile.py").read_text()
    compile(source, "noxfile.py", "exec")
    assert all((ROOT / name).exists() for name in re.findall(r'"((?:tools|tests|docs)(?:/[\w./]+)?)"', source))
    done = subprocess.run([sys.executable, ROOT / "tools" / "wheels.py", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--all" in done.stdout
