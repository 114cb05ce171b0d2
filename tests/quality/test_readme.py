"""The README's two commands are what CI runs, and its examples are true."""

from __future__ import annotations

import contextlib
import doctest
import io
import itertools
import re
import shutil
import subprocess

import numpy as np
import pytest
from quality.project import ROOT, fenced, section

import hoad

README = (ROOT / "README.md").read_text()
COMMANDS = fenced(section(README, "Quick start"), "sh")


def test_quick_start_has_the_two_commands() -> None:
    """The first sets up and runs the main job; the second sets up and passes the tests. Each is one line."""
    demo, tests = COMMANDS[:2]
    assert demo.count("\n") == tests.count("\n") == 1
    assert re.search(r"&& \S*\bhoad demo\n$", demo)
    assert re.search(r"&& \S*\bpytest -n auto\n$", tests)


@pytest.mark.skipif(shutil.which("bash") is None, reason="CI is a bash script")
def test_ci_runs_the_two_commands() -> None:
    script = ROOT / ".ci" / "run"
    done = subprocess.run(["bash", script, "--show-commands"], capture_output=True, text=True, check=True)
    assert done.stdout == "".join(COMMANDS[:2])


def test_examples_run() -> None:
    """The Python blocks, one after the other; results that are shown must be those that come.

    What a block without prompts prints stands in a block of text behind it.
    """
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    names = {"np": np, "hoad": hoad}
    attempted = 0
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
    for (language, block), (next_language, shown) in itertools.pairwise([*blocks, ("", "")]):
        if language == "python" and ">>> " not in block:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(block, names)
            assert printed.getvalue() == (shown if next_language == "text" else "")
        elif language == "python":
            report: list[str] = []
            example = doctest.DocTestParser().get_doctest(block, names, "README", None, 0)
            result = doctest.DocTestRunner(optionflags=flags).run(example, out=report.append, clear_globs=False)
            assert result.failed == 0, "".join(report)
            names.update(example.globs)
            attempted += result.attempted
    assert attempted > 0


def test_links() -> None:
    """Relative ones lead to files; absolute ones, which the package index needs for pictures, to the project."""
    (home,) = re.findall(r'^Homepage = "(.+)"$', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE)
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", README) + re.findall(r'src="([^"]+)"', README)
    assert f"{home}/raw/main/docs/_static/explorer.png" in links
    for link in links:
        file = link.removeprefix(f"{home}/raw/main/")
        assert "://" not in file and (ROOT / file).is_file(), link
