"""`hoad tape` and `hoad bench`: what they print and write, and the status that scripts go by."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from _display.reading import tables
from _display.test_dot import parsed

from hoad._cli import bench
from hoad._cli import main as cli
from hoad._cli import tape as command
from hoad._cli.target import find_function

MODEL = """\
import numpy as np

def loss(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

def product(x, y):
    return 4 * x * y + np.sin(4 * y) * (3 * x)

def responses(x):
    return np.stack([x[0] * x[1], np.sin(x[0])])

def broken(x):
    raise KeyError("temperature")
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a module in it, which is current."""
    (tmp_path / "tape_model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "tape_model", raising=False)
    return tmp_path


def status(*arguments: str) -> int:
    """What `hoad` with these arguments ends with."""
    try:
        return cli.main(list(arguments))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "arguments",
    [
        ["numpy:tanh", "--at", "0.3"],
        ["tape_model:loss", "--at", "-1.0,2.0"],
        ["tape_model:product", "--at", "2", "--at", "3"],
        ["tape_model:responses", "--at=1,2"],
    ],
)
def test_a_tape_more_for_each_order(arguments: list[str], order: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("tape", *arguments, "--order", str(order)) == 0
    printed = capsys.readouterr()
    assert len(tables(printed.out)) == order + 1 and printed.err == ""


def test_first_order_is_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("tape", "tape_model:product", "--at", "2", "--at", "3", "--no-simplify") == 0
    primal, adjoint = tables(capsys.readouterr().out)
    assert len(primal) == 9 and len(adjoint) == 14
    assert [row.columns["value"] for row in adjoint if row.columns["mark"]] == ["28.2525", "10.3903"]


def test_formats_and_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("tape", "numpy:tanh", "--at", "0.3", "--format", "markdown") == 0
    assert capsys.readouterr().out.startswith("**Tape 1 (primal)")
    assert status("tape", "numpy:tanh", "--at", "0.3", "--format", "html") == 0
    assert capsys.readouterr().out.startswith('<div class="hoad-program">')
    for rows, said in (("2", True), ("0", False)):
        assert status("tape", "tape_model:loss", "--at", "1.0,2.0", "--rows", rows) == 0
        assert ("left out" in capsys.readouterr().out) is said


def test_files(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("tape", "tape_model:loss", "--at", "1,2", "--html", "tape.html", "--dot", "tape.dot") == 0
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err == "wrote tape.html\nwrote tape.dot\n"
    assert "<title>loss</title>" in (place / "tape.html").read_text(encoding="utf-8")
    assert parsed((place / "tape.dot").read_text(encoding="utf-8").rstrip())[0]
    assert status("tape", "tape_model:loss", "--at", "1,2", "--dot", "-") == 0
    assert capsys.readouterr().out.startswith("digraph program {")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tape_model:lost", "--at", "1"], "has no function 'lost'. Did you mean 'loss'?"),
        (["tape_model:loss", "--at", "one"], "'one' is not a point. Write a finite number"),
        (["tape_model:loss", "--at", "1,2", "--order", "-1"], "--order -1 is not a number of derivatives"),
        (["tape_model:loss", "--at", "1,2", "--rows", "-1"], "Write 0 for all"),
        (["tape_model:loss", "--at", "1,2", "--open"], "Give both"),
        (["tape_model:broken", "--at", "1"], r"cannot be recorded there: KeyError: 'temperature' \(tape_model.py:13\)"),
        (["tape_model:loss", "--at", "1,2", "--html", "no/such/folder.html"], "was not written: No such file"),
        (["tape_model:loss"], "--at"),
        (["math:sin", "--at", "1"], "Use np.sin"),
    ],
)
def test_what_cannot_be_done(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("tape", *arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and re.search(said, printed.err)
    assert "Traceback" not in printed.err


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("tape", "--help") == 0
    text = capsys.readouterr().out
    assert "examples:" in text and "exit status:" in text and "--no-simplify" in text
    assert status("--help") == 0
    assert re.search(r"^    tape .*^    bench ", capsys.readouterr().out, flags=re.MULTILINE | re.DOTALL)


WAYS: list[list[str]] = [[], ["--format=markdown"], ["--format=html"], ["--dot=-"], ["--no-simplify"]]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_any_encoding(encoding: str, place: Path) -> None:
    """Where there are no signs for it, they are others, and nothing else is lost."""
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    code = "import sys; from hoad._cli.main import main\n"
    code += f"for arguments in {WAYS}:\n"
    code += "    sys.stdout.write('-' * main(['tape', 'tape_model:product', '--at=2', '--at=3', *arguments]) + '\\0')"
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, env=environment, cwd=place, capture_output=True, check=False)
    assert done.returncode == 0 and done.stderr == b""
    texts = done.stdout.decode(encoding).replace(os.linesep, "\n").split("\0")
    plain = encoding != "utf-8"
    for arguments, text in zip(WAYS, texts[:-1], strict=True):
        program = command.derived(find_function("tape_model:product"), (2.0, 3.0), 1, "--no-simplify" not in arguments)
        if "--dot=-" in arguments:
            assert html.unescape(text) == html.unescape(program.to_dot()) + "\n"
            assert ("&#8711;" in text) is plain
        else:
            format = arguments[0].removeprefix("--format=") if "--format" in str(arguments) else "plain"
            assert text == program.table(format, ascii=plain) + "\n", arguments


def test_print_says_what_it_lacks(place: Path) -> None:
    """A string cannot know where it is printed: there, `ascii=True` is the remedy."""
    code = "import hoad; p = hoad.gradient(hoad.record(lambda x: x * x, 1.0)); print(p.table(ascii=True)); print(p)"
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
    assert b"^@1" in done.stdout and b"UnicodeEncodeError" in done.stderr


# ---- hoad bench -----------------------------------------------------------------------------------------------------


def test_bench_without_a_clone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bench, "__file__", "/site-packages/hoad/_cli/bench.py")
    assert status("bench", "--tiny") == 2
    assert "they come with its source alone" in capsys.readouterr().err


def test_bench_runs_those_of_the_clone(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """From any folder of it; arguments are handed on, and the status comes back."""
    (place / "hoad").mkdir()
    (place / "hoad" / "__init__.py").touch()
    (place / "benchmarks").mkdir()
    (place / "benchmarks" / "run.py").touch()
    (place / "benchmarks" / "__main__.py").write_text("import sys; print(sys.argv[1:]); sys.exit(3)")
    (place / "deep").mkdir()
    monkeypatch.chdir(place / "deep")
    assert status("bench", "--only", "sweep", "--tiny") == 3
    assert capfd.readouterr().out == "['--only', 'sweep', '--tiny']\n"
