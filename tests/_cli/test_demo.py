"""The command line, as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import hoad
from hoad._cli import demo as command
from hoad._cli import main as cli
from hoad._demo import nist


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "hoad", *arguments]
    return subprocess.run(line, capture_output=True, text=True, encoding="utf-8", check=False, **options)


@pytest.fixture(autouse=True)
def utf8(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run outside the checkout, in UTF-8, so that what is installed answers."""
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    monkeypatch.chdir(tmp_path)


def test_version_and_help() -> None:
    assert run("--version").stdout == f"hoad {hoad.__version__}\n"
    assert "demo" in run("--help").stdout
    bare = run()
    assert bare.returncode == 2 and "usage: hoad" in bare.stdout
    assert "--start" in run("demo", "--help").stdout


def test_demo() -> None:
    done = run("demo", "--set", "misra1a,Rat42", "--start", "2")
    assert done.returncode == 0 and done.stderr == ""
    assert "\x1b" not in done.stdout
    assert "2 of 2 fits reach NIST's minimum" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_demo_in_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = run("demo", "--set", "Misra1a")
    assert done.returncode == 0 and done.stdout.isascii()


def test_json() -> None:
    done = run("demo", "--set", "DanWood", "--set", "misra1a", "--json")
    assert done.returncode == 0 and done.stderr == ""
    report = json.loads(done.stdout)
    assert [entry["dataset"]["name"] for entry in report["sets"]] == ["DanWood", "Misra1a"]


def test_sets_are_fitted_once_and_in_the_order_given() -> None:
    done = run("demo", "--set", "enso,ENSO,rat42", "--start", "2", "--json", "--plot", "fits.svg")
    assert [entry["dataset"]["name"] for entry in json.loads(done.stdout)["sets"]] == ["ENSO", "Rat42"]
    assert Path("fits.svg").read_text().count("<!-- Rat42 -->") == 1


def test_list() -> None:
    assert [line.split()[0] for line in run("demo", "--list").stdout.splitlines()] == nist.names()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("demo", "--set", "thurbr"), "hoad demo: no data set is called 'thurbr'. There are Misra1a, "),
        (("demo", "--set", "Misra1a,xyz"), "no data set is called 'xyz'"),
        (("demo", "--set", "Rat42", "--plot", "fits.dat"), "hoad demo: no picture was drawn: "),
        (("demo", "--start", "3"), "invalid choice: '3'"),
        (("dmeo",), "there is no command 'dmeo'. Did you mean 'demo'?"),
    ],
)
def test_what_cannot_be_understood(arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are closed differently there")
def test_a_reader_that_has_seen_enough() -> None:
    line = [sys.executable, "-m", "hoad", "demo", "--start", "2"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


def test_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run", interrupted)
    assert cli.main(["demo"]) == 130


def test_importing_hoad_does_not_import_the_demo() -> None:
    code = "import sys, hoad, hoad._cli.main; print([name for name in sys.modules if name.startswith('hoad._demo')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_the_extra() -> None:
    """Every module of the demo can be imported, and the command says what to install."""
    modules = ["figures", "fit", "models", "nist", "report", "study"]
    code = "import sys; sys.modules.update(dict.fromkeys(('matplotlib', 'rich', 'scipy')))\n"
    code += f"from hoad._demo import {', '.join(modules)}\nfrom hoad._cli.main import main; main(['demo'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "hoad demo: needs rich and matplotlib and scipy: pip install 'hoad[demo]'.\n"
