"""What is shown fits the screen it is shown on, and failure is told."""

from __future__ import annotations

import argparse
import dataclasses
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hoad._cli import demo as command
from hoad._cli import main as cli
from hoad._cli.target import UsageError
from hoad._demo import example, fit, nist, page, report, study
from hoad._demo.study import Study

ESCAPE = re.compile(r"\x1b\[[\d;?]*[a-zA-Z]")
Streams = Callable[..., Any]
Run = Callable[..., tuple[int, Any, Any]]


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, stream: Streams, small_study: Study) -> Run:
    """The command on one set that is studied already; returns its status and its two streams."""
    monkeypatch.setattr(study, "study", lambda name, orders: small_study)
    monkeypatch.setattr(nist, "names", lambda: ["Thurber"])
    monkeypatch.setattr(page, "_steps", lambda: "")

    def run(out: Any = None, err: Any = None, html: str = "page.html", **given: Any) -> Any:
        out, err = out or stream(), err or stream()
        options = argparse.Namespace(all=given.get("details", False), html=html)
        return command.run(options, out, err), out, err

    return run


@pytest.mark.parametrize(("width", "encoding"), [(100, "utf-8"), (80, "utf-8"), (72, "ascii")])
@pytest.mark.parametrize("details", [False, True])
def test_lines_fit(
    width: int, encoding: str, details: bool, monkeypatch: pytest.MonkeyPatch, stream: Streams, run: Run
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    status, out, err = run(stream(encoding), details=details)
    assert status == 0 and err.written() == ""
    lines = [line for line in out.written().splitlines() if "hoad._demo" not in line]  # commands are not broken
    assert max(map(len, lines)) <= width
    if details:
        framed = [line for line in lines if line[0:1] in ("╭", "│", "╰", "|")]
        assert framed and {len(line) for line in framed} == {width}
        assert any(re.search(r"b4 +7\.5416644291E\+01 .* 5\.5675370270E\+00 ", line) for line in framed)
    else:
        assert len(lines) < 48, "a screen"


@pytest.mark.parametrize(("columns", "width"), [("70", 70), ("300", 100), ("", 100), ("wide", 100), ("0", 100)])
def test_columns_of_the_environment_hold_in_a_pipe_too(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert {len(line) for line in run(details=True)[1].written().splitlines() if line[0:1] == "│"} == {width}


def test_details_show_all_there_is(run: Run, small_study: Study) -> None:
    text = run(details=True)[1].written()
    last = small_study.agreements[-1].fit
    for numbers in (last.parameters, last.standard_errors, small_study.certified.parameters):
        assert all(f"{number:.10E}" in text for number in numbers)
    assert small_study.dataset.formula in text and f"{last.residual_sum_of_squares:.10E}" in text
    assert "2 of 2 fits reach NIST's minimum" in text
    assert all(re.search(rf"{kind} .* µs; differences take ", text) for kind in report.KINDS.values())


def test_the_screen_shows_code_that_runs(run: Run) -> None:
    """The lines between the heading and the result, in a program of their own."""
    text = run()[1].written()
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    assert report.code() in lines and "2 of 2 fits reach NIST's minimum" in text
    names: dict[str, Any] = {name: getattr(example, name) for name in ("np", "hoad", "least_squares", "x", "y")}
    exec(report.code(), names)
    np.testing.assert_allclose(names["fit"](example.start), example.fit(example.start), rtol=1e-12)


def test_commands_to_try_next_run(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    text = run()[1].written()
    for line in report.commands()[1:]:
        assert f"hoad {line}\n" in text
        shown = ["--no-open", "--html", "tape.html"] if line.startswith("explore ") else []
        assert cli.main([*shlex.split(line), *shown]) == 0
    assert "FAILED" not in capsys.readouterr().out and Path("tape.html").stat().st_size > 1000


def test_no_escape_codes_unless_on_a_terminal(monkeypatch: pytest.MonkeyPatch, stream: Streams, run: Run) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    plain = run(details=True)[1].written()
    coloured = run(stream(is_terminal=True), details=True)[1].written()
    assert "\x1b" not in plain and "\x1b[32m" in coloured
    left = [line.rstrip("\r").split("\r")[-1] for line in ESCAPE.sub("", coloured).split("\n")]
    left = [line for line in left if line.strip() and "fits ━" not in line]
    assert left == [line for line in plain.split("\n") if line.strip()]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[32m" not in run(stream(is_terminal=True))[1].written()


def test_progress_is_for_terminals(stream: Streams, run: Run) -> None:
    """On the terminal that the report goes to, else on that of the errors; never into a pipe."""
    _, out, err = run()
    assert err.written() == "" and "fits ━" not in out.written()
    _, out, err = run(err=stream(is_terminal=True))
    assert "fits" in err.written() and "fits ━" not in out.written()
    _, out, err = run(stream(is_terminal=True), stream(is_terminal=True))
    assert "fits" not in err.written() and "fits \x1b" in out.written()


def gives_up(problem: fit.LeastSquares, start: np.ndarray) -> fit.Fit:
    return fit.fit(problem, start, max_steps=1)


def ends_elsewhere(problem: fit.LeastSquares, start: np.ndarray) -> fit.Fit:
    result = fit.fit(problem, start)
    return dataclasses.replace(result, parameters=result.parameters * 1.1)


@pytest.mark.parametrize(
    ("fails", "says"), [(gives_up, "no minimum within 1 step"), (ends_elsewhere, "it is another minimum than NIST's")]
)
def test_failure_is_told(
    fails: Callable[..., fit.Fit], says: str, monkeypatch: pytest.MonkeyPatch, stream: Streams
) -> None:
    monkeypatch.setattr(study, "fit", fails)
    monkeypatch.setattr(nist, "names", lambda: ["Thurber"])
    monkeypatch.setattr(page, "_steps", lambda: "")
    out = stream()
    assert command.run(argparse.Namespace(all=True, html="page.html"), out, stream()) == 1
    assert out.written().count(says) == 4 and "Thurber from start 1 does not: " in out.written()
    assert "0 of 2 fits reach NIST's minimum" in out.written()


def test_page(tmp_path: Path, small_study: Study) -> None:
    file = tmp_path / "demo.html"
    page.save([small_study] * 7, str(file))
    text = file.read_text(encoding="utf-8")
    assert text.count(">Thurber<") == 7 and ">third derivatives by differences<" in text
    assert "Tape 2 (adjoint)" in text and "least_squares(residuals, b, jacobian" in text
    assert "<script" not in text and not re.search(r"(src|href)=.https?:", text)


def test_a_page_that_cannot_be_written(tmp_path: Path, run: Run) -> None:
    with pytest.raises(UsageError, match="no page was written: "):
        run(html=str(tmp_path / "none" / "demo.html"))


@pytest.mark.parametrize("name", ["rich", "matplotlib", "scipy"])
def test_a_missing_package_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=re.escape(f"needs {name}: pip install 'hoad[demo]'")):
        run()
