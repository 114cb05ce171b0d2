"""The command line, as a process of its own."""

from __future__ import annotations

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
    assert "--all" in run("demo", "--help").stdout


# `hoad demo` of one set: `test_every_fit` fits all of them.
ONE_SET = "import sys; from hoad._cli.main import main; from hoad._demo import nist\n"
ONE_SET += "nist.names = lambda: ['Thurber']; sys.exit(main(['demo', *sys.argv[1:]]))"


def test_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = subprocess.run([sys.executable, "-c", ONE_SET], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "" and done.stdout.isascii()
    assert "\x1b" not in done.stdout
    assert "2 of 2 fits reach NIST's minimum" in done.stdout
    assert "demo --all\n" in done.stdout and "Tape 2" in Path("hoad-demo.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_fit() -> None:
    done = run("demo", "--all", "--html", "page.html")
    assert done.returncode == 0 and done.stderr == ""
    assert "26 of 26 fits reach NIST's minimum" in done.stdout and Path("page.html").exists()
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("╭")] == nist.names()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("demo", "--html", "none/page.html"), "hoad demo: no page was written: "),
        (("demo", "--sets"), "hoad demo: there is no --sets"),
        (("dmeo",), "there is no command 'dmeo'. Did you mean 'demo'?"),
    ],
)
def test_what_cannot_be_understood(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(list(arguments))
    said = capsys.readouterr().err
    assert end.value.code == 2 and message in said and "Traceback" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are closed differently there")
def test_a_reader_that_has_seen_enough() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ONE_SET, "--all", "--html", "page.html"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
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
    """The command says what to install."""
    code = "import sys; sys.modules.update(dict.fromkeys(('matplotlib', 'rich', 'scipy')))\n"
    code += "from hoad._cli.main import main; main(['demo'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "hoad demo: needs rich and matplotlib and scipy: pip install 'hoad[demo]'.\n"
