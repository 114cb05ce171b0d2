"""What is shown fits the screen it is shown on, and machines get everything."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hoad._demo import command, datasets, study
from hoad._demo.fit import Fit, fit
from hoad._demo.least_squares import LeastSquares
from hoad._demo.machine import SCHEMA, as_json
from hoad._demo.panel import duration, panel
from hoad._demo.plot import picture, sparkline
from hoad._demo.report import closing, listing, opening
from hoad._demo.screen import Progress, Screen
from hoad._demo.study import Study

ESCAPE = re.compile(r"\x1b\[[\d;]*m")
Streams = Callable[..., Any]


def shown(screen: Screen, small_study: Study) -> str:
    screen.print(opening(screen))
    screen.print(panel(screen, small_study))
    screen.print(closing(screen, [small_study]))
    return screen.stream.written()


@pytest.mark.parametrize("width", [100, 99, 90, 80, 72, 60, 52, 44])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_lines_fit(width: int, encoding: str, stream: Streams, small_study: Study) -> None:
    text = shown(Screen(stream(encoding), width), small_study)
    assert max(map(len, text.splitlines())) <= width
    framed = [line for line in text.splitlines() if line[0:1] in ("╭", "│", "╰", "|")]
    assert framed and {len(line) for line in framed} == {width}
    assert "MGH09" in text and "10.4" in text


def test_full_width_shows_all_there_is(stream: Streams, small_study: Study) -> None:
    text = shown(Screen(stream(), 100), small_study)
    last, reference = small_study.agreements[-1].fit, small_study.certified
    for numbers in (last.parameters, last.standard_errors, reference.parameters, reference.standard_errors):
        assert all(f"{number:.10E}" in text for number in numbers)
    assert all(f"{number:.3E}" in text for number in last.hessian_standard_errors)


def test_no_escape_codes_unless_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, stream: Streams, small_study: Study
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain = shown(Screen(stream()), small_study)
    coloured = shown(Screen(stream(is_terminal=True), 100), small_study)
    assert "\x1b" not in plain and ESCAPE.search(coloured)
    assert ESCAPE.sub("", coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in shown(Screen(stream(is_terminal=True), 100), small_study)


def test_progress(monkeypatch: pytest.MonkeyPatch, stream: Streams) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    quiet, terminal = stream(), stream(is_terminal=True)
    for target in (quiet, terminal):
        progress = Progress(target, 2)
        progress.step("first")
        progress.step("second")
        progress.clear()
    assert quiet.written() == ""
    lines = terminal.written().split("\r")
    assert "0/2  first" in lines[1] and "1/2  second" in lines[2] and lines[2].count("█") == 12
    assert lines[3].strip() == "" and all(len(line) <= 59 for line in lines)


@pytest.mark.parametrize(
    ("columns", "width"), [("60", 60), ("10", 44), ("300", 100), ("", 100), ("wide", 100), ("0", 100)]
)
def test_columns_of_the_environment_hold_in_a_pipe_too(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch, stream: Streams
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert Screen(stream()).width == width


@pytest.mark.parametrize("width", [100, 76, 75, 60, 44])
def test_titles_of_the_listing_are_cut_at_words(width: int, stream: Streams) -> None:
    screen = Screen(stream(), width)
    screen.print(listing(screen))
    lines = screen.stream.written().splitlines()
    assert len(lines) == len(datasets.names()) and max(map(len, lines)) <= width
    titles = [datasets.load(name).title for name in datasets.names()]
    for line, title in zip(lines, titles, strict=True):
        assert line.endswith(title) or re.fullmatch(r".* (\S.*\S)…", line), line


def test_listing(stream: Streams) -> None:
    screen = Screen(stream())
    screen.print(listing(screen))
    assert [line.split()[0] for line in screen.stream.written().splitlines()] == datasets.names()


def test_json_is_complete(small_study: Study) -> None:
    report = json.loads(json.dumps(as_json([small_study]), allow_nan=False))
    assert report["schema"] == SCHEMA and report["succeeded"] is True
    assert set(report["versions"]) == {"hoad", "numpy", "python", "platform"}
    (entry,) = report["sets"]
    assert {"name", "title", "difficulty", "formula", "reference", "observations"} < set(entry)
    assert [result["start"] for result in entry["fits"]] == [1, 2]
    fields = {field.name for field in dataclasses.fields(Fit)}
    added = {"start", "start_values", "succeeded", "parameter_digits", "standard_error_digits"}
    for result, agreement in zip(entry["fits"], small_study.agreements, strict=True):
        assert set(result) == fields | added | {"residual_digits", "rounding_digits"}
        assert result["parameters"] == agreement.fit.parameters.tolist()
    assert set(entry["hessian"]) == {field.name for field in dataclasses.fields(study.HessianComparison)}
    assert entry["certified"]["parameters"] == small_study.certified.parameters.tolist()


def gives_up(data: datasets.Dataset, start: int) -> Fit:
    return fit(LeastSquares(data.model, data.x, data.y), data.starts[start], max_steps=1)


def ends_elsewhere(data: datasets.Dataset, start: int) -> Fit:
    result = fit(LeastSquares(data.model, data.x, data.y), data.starts[start])
    return dataclasses.replace(result, parameters=result.parameters * 1.1)


@pytest.mark.parametrize(
    ("fails", "says"), [(gives_up, "no minimum within 1 step"), (ends_elsewhere, "another minimum")]
)
@pytest.mark.parametrize("for_machines", [False, True])
def test_failure_is_told(
    fails: Callable[..., Fit], says: str, for_machines: bool, monkeypatch: pytest.MonkeyPatch, stream: Streams
) -> None:
    monkeypatch.setattr(study, "fit_from", fails)
    out = stream()
    assert command.run(["MGH09"], [1], for_machines, out, stream()) == 1
    if for_machines:
        report = json.loads(out.written())
        assert not report["succeeded"] and not report["sets"][0]["fits"][0]["succeeded"]
    else:
        assert says in out.written() and "MGH09 from start 1 does not" in out.written()


def test_few_digits_are_explained(stream: Streams, small_study: Study) -> None:
    agreement = dataclasses.replace(small_study.agreements[1], parameter_digits=np.array([11, 7.5, 11, 11]))
    result = dataclasses.replace(agreement.fit, parameters=agreement.fit.parameters * (1 + 1e-8))
    few = dataclasses.replace(small_study, agreements=[dataclasses.replace(agreement, fit=result)])
    screen = Screen(stream())
    screen.print(panel(screen, few))
    assert "Start 2, b2: fewer than 8 digits agree." in screen.stream.written()
    assert "condition number" in screen.stream.written()


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5, "2.50 s"), (0.0123, "12.3 ms"), (4.56e-4, "456 µs"), (3e-7, "0.30 µs")]
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_picture() -> None:
    x = np.linspace(0.0, 1.0, 50)
    lines = picture((np.array([0.0, 1.0]), np.array([0.0, 1.0])), (x, x), width=4, height=2)
    assert [sum(len(run) for run, _ in line) for line in lines] == [4, 4]
    assert lines[0][-1][1] and lines[1][0][1] and not lines[0][0][1]
    flat = picture((x, 0 * x), (x, 0 * x), width=3, height=1)
    assert flat == [[("⠉⠉⠉", True)]]


def test_sparkline() -> None:
    assert sparkline([], 8) == "" and sparkline([1.0], 8) == "▁"
    assert len(sparkline(list(10.0 ** np.arange(100)), 8)) == 8
    assert sparkline([1e8, 1.0, 0.0, np.inf], 8)[0] == "█"
