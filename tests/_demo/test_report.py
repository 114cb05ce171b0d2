"""What is shown fits the screen it is shown on, machines get everything, and failure is told."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hoad._cli import demo as command
from hoad._cli.target import UsageError
from hoad._demo import figures, fit, nist, report, study
from hoad._demo.study import Study

ESCAPE = re.compile(r"\x1b\[[\d;?]*[a-zA-Z]")
Streams = Callable[..., Any]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, stream: Streams, small_study: Study) -> Callable[..., tuple[int, Any, Any]]:
    """The command on one set that is studied already; returns its status and its two streams."""
    monkeypatch.setattr(command, "study", lambda name, starts: small_study)

    def run(out: Any = None, err: Any = None, lists: bool = False, json: bool = False, plot: str | None = None) -> Any:
        out, err = out or stream(), err or stream()
        return command.demonstrate(["MGH09"], (1, 2), lists, json, plot, out, err), out, err

    return run


@pytest.mark.parametrize("width", [100, 99, 90, 80, 72, 62])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_lines_fit(width: int, encoding: str, monkeypatch: pytest.MonkeyPatch, stream: Streams, run: Any) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    status, out, err = run(stream(encoding))
    assert status == 0 and err.written() == ""
    lines = out.written().splitlines()
    assert max(map(len, lines)) <= width
    framed = [line for line in lines if line[0:1] in ("╭", "│", "╰", "|")]
    assert framed and {len(line) for line in framed} == {width}
    assert any(re.search(r"b4 +1\.3606233068E-01 .* 9\.0025542308E-02 ", line) for line in framed)


@pytest.mark.parametrize(("columns", "width"), [("70", 70), ("300", 100), ("", 100), ("wide", 100), ("0", 100)])
def test_columns_of_the_environment_hold_in_a_pipe_too(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert {len(line) for line in run()[1].written().splitlines() if line[0:1] == "│"} == {width}


def test_full_width_shows_all_there_is(run: Any, small_study: Study) -> None:
    text = run()[1].written()
    last, reference = small_study.agreements[-1].fit, small_study.certified
    for numbers in (last.parameters, last.standard_errors, reference.parameters, reference.standard_errors):
        assert all(f"{number:.10E}" in text for number in numbers)
    assert all(f"{number:.3E}" in text for number in last.hessian_standard_errors)
    assert small_study.dataset.formula in text and f"{last.residual_sum_of_squares:.10E}" in text
    assert "2 of 2 fits reach NIST's minimum" in text and "Hessians by differences take" in text


def test_no_escape_codes_unless_on_a_terminal(monkeypatch: pytest.MonkeyPatch, stream: Streams, run: Any) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    plain = run()[1].written()
    coloured = run(stream(is_terminal=True))[1].written()
    assert "\x1b" not in plain and "\x1b[32m" in coloured
    left = [line.rstrip("\r").split("\r")[-1] for line in ESCAPE.sub("", coloured).split("\n")]
    left = [line for line in left if line.strip() and "fits ━" not in line]
    assert left == [line for line in plain.split("\n") if line.strip()]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[32m" not in run(stream(is_terminal=True))[1].written()


@pytest.mark.parametrize("as_json", [False, True])
def test_progress_is_for_terminals(as_json: bool, stream: Streams, run: Any) -> None:
    """On the terminal that the report goes to, else on that of the errors; never into a pipe."""
    _, out, err = run(json=as_json)
    assert err.written() == "" and "fits ━" not in out.written()
    _, out, err = run(err=stream(is_terminal=True), json=as_json)
    assert "fits" in err.written() and "fits ━" not in out.written()
    _, out, err = run(stream(is_terminal=True), stream(is_terminal=True), json=as_json)
    assert ("fits" in err.written()) is as_json and ("fits \x1b" in out.written()) is not as_json


@pytest.mark.parametrize("width", [100, 50])
def test_listing(width: int, monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = run(lists=True)[1].written().splitlines()
    assert [line.split()[0] for line in lines] == nist.names()
    for name, line in zip(nist.names(), lines, strict=True):
        data = nist.load(name)
        assert f" {len(data.y)} observations {len(data.starts[1])} parameters " in line and len(line) <= width
        assert line.endswith((data.title, "…"))


def test_json_is_complete(run: Any, small_study: Study) -> None:
    status, out, _ = run(json=True)
    shown = json.loads(out.written(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert status == 0 and shown["schema"] == report.SCHEMA
    assert set(shown["versions"]) == {"hoad", "numpy", "python"}
    (entry,) = shown["sets"]
    assert set(entry) == {field.name for field in dataclasses.fields(Study)}
    assert set(entry["dataset"]) == {field.name for field in dataclasses.fields(nist.Dataset)} - {"model"}
    assert entry["dataset"]["starts"]["1"] == small_study.dataset.starts[1].tolist()
    assert entry["certified"]["parameters"] == small_study.certified.parameters.tolist()
    assert entry["hessian"] == dataclasses.asdict(small_study.hessian)
    for result, agreement in zip(entry["agreements"], small_study.agreements, strict=True):
        assert set(result) == {field.name for field in dataclasses.fields(study.Agreement)}
        assert set(result["fit"]) == {field.name for field in dataclasses.fields(fit.Fit)}
        assert result["fit"]["parameters"] == agreement.fit.parameters.tolist()


def gives_up(problem: fit.LeastSquares, start: np.ndarray) -> fit.Fit:
    return fit.fit(problem, start, max_steps=1)


def ends_elsewhere(problem: fit.LeastSquares, start: np.ndarray) -> fit.Fit:
    result = fit.fit(problem, start)
    return dataclasses.replace(result, parameters=result.parameters * 1.1)


@pytest.mark.parametrize(
    ("fails", "says"), [(gives_up, "no minimum within 1 step"), (ends_elsewhere, "it is another minimum than NIST's")]
)
@pytest.mark.parametrize("as_json", [False, True])
def test_failure_is_told(
    fails: Callable[..., fit.Fit], says: str, as_json: bool, monkeypatch: pytest.MonkeyPatch, stream: Streams
) -> None:
    monkeypatch.setattr(study, "fit", fails)
    out = stream()
    assert command.demonstrate(["mgh09"], [1], False, as_json, None, out, stream()) == 1
    if as_json:
        (agreement,) = json.loads(out.written())["sets"][0]["agreements"]
        assert agreement["trouble"] == says
    else:
        assert out.written().count(says) == 2 and "MGH09 from start 1 does not: " in out.written()
        assert "0 of 1 fits reach NIST's minimum" in out.written()


@pytest.mark.parametrize("count", [1, 7])
def test_figure(count: int, tmp_path: Path, small_study: Study) -> None:
    file = tmp_path / "fits.svg"
    figures.save([small_study] * count, str(file))
    assert file.read_text().count("<!-- MGH09 -->") == count
    assert "<!-- fitted -->" in file.read_text()


def test_a_figure_that_cannot_be_saved(tmp_path: Path, run: Any) -> None:
    run(plot=str(tmp_path / "fits.png"))
    assert (tmp_path / "fits.png").read_bytes().startswith(b"\x89PNG")
    for file in (tmp_path / "none" / "fits.png", tmp_path / "fits.dat"):
        with pytest.raises(UsageError, match="no picture was drawn: "):
            run(plot=str(file))


@pytest.mark.parametrize("name", ["rich", "matplotlib", "scipy"])
def test_a_missing_package_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=re.escape(f"needs {name}: pip install 'hoad[demo]'")):
        run()
