"""What reports have in common: frozen, printed, drawn; and when `hoad.check` is imported."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from check.functions import POINT, smooth, smooth_gradient, spoiled

import hoad
from hoad.check import gradient, hessian, modes, rule, taylor_test
from hoad.check.report import aligned, digits_between, value_text

two_rules = hoad.primitive(np.sin, vjp=lambda g, p, x: (g * np.cos(x),), jvp=lambda dots, p, x: dots[0] * np.exp(x))

REPORTS = {
    "taylor": lambda: taylor_test(np.exp, 0.5, 1.0, order=3),
    "taylor, wrong": lambda: taylor_test(np.exp, 0.5, 1.0, gradient=lambda x: 1.01 * np.exp(x)),
    "taylor, order 0": lambda: taylor_test(np.exp, 0.5, 1.0, order=0),
    "taylor, exact": lambda: taylor_test(lambda x: 3.0, 0.5, 1.0),
    "gradient": lambda: gradient(smooth, smooth_gradient, POINT),
    "gradient, wrong": lambda: gradient(smooth, spoiled(smooth_gradient, 1, -1.0), POINT),
    "gradient, shape": lambda: gradient(smooth, lambda x: 1.0, POINT),
    "hessian": lambda: hessian(np.exp, np.exp, 0.3),
    "modes": lambda: modes(np.exp, 0.5, 3),
    "modes, wrong": lambda: modes(two_rules, 0.5, 2),
    "modes, undecided": lambda: modes(np.sqrt, 0.0, 1),
    "rule": lambda: rule(np.tanh, special=[0.0]),
    "rule, wrong": lambda: rule(np.log, 1.0, special=[0.0]),
}

each = pytest.mark.parametrize("name", REPORTS)


@each
def test_frozen_and_printed(name: str) -> None:
    report: Any = REPORTS[name]()
    assert dataclasses.is_dataclass(report)
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.name = "other"
    first = str(report).splitlines()[0]
    assert first.endswith("passed" if report.passed else "FAILED")
    assert (report.failure() == "") == report.passed
    assert all(line == line.rstrip() for line in str(report).splitlines())
    assert report._repr_html_().startswith("<pre>") and first.split()[0] in report._repr_html_()


def test_html_is_escaped() -> None:
    report = gradient(lambda x: x, lambda x: "1" and 2.0, 1.0)
    assert "<lambda>" not in report._repr_html_()


@each
def test_pictures(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figure = REPORTS[name]().plot()
    figure.savefig(tmp_path / "picture.png", dpi=30)
    assert (tmp_path / "picture.png").stat().st_size > 1000
    assert len(figure.axes) == (2 if name.startswith("taylor") else 1)


def test_the_two_figures_of_a_taylor_test() -> None:
    """Remainders with slope n + 1; errors of the difference quotients with slope 1."""
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    report = taylor_test(np.exp, 0.5, 1.0, order=2)
    axes = Figure().subplots(1, 2)
    assert report.plot(axes) is axes[0].figure
    for ax, powers in zip(axes, ([2, 3], [1, 1]), strict=True):
        dashed = [line for line in ax.get_lines() if line.get_linestyle() == "--"]
        slopes = [np.polyfit(np.log(line.get_xdata()), np.log(line.get_ydata()), 1)[0] for line in dashed]
        assert slopes == pytest.approx(powers)
        assert ax.get_xscale() == ax.get_yscale() == "log"
    alone = Figure().subplots()
    report.plot(alone)
    assert alone.get_lines() and alone.get_title() == "Taylor remainders of exp: passed"


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'pip install "hoad\[plot\]"'):
        REPORTS["taylor"]().plot()


def test_hoad_check_is_imported_when_asked_for() -> None:
    code = "import sys, hoad; a = 'hoad.check' in sys.modules; hoad.check; print(a, 'hoad.check' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(hoad.__file__).parents[1]
    )
    assert done.stdout == "False True\n"
    assert "check" in dir(hoad)
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        hoad.chekc  # noqa: B018


def test_columns() -> None:
    assert aligned([["name", "value"], ["a", "1.5"], ["bcd", "22"]]) == [
        "  name  value",
        "  a       1.5",
        "  bcd      22",
    ]


def test_digits() -> None:
    assert digits_between(1.01, 1.0) == pytest.approx(2.0, abs=0.01)
    assert digits_between(0.0, 0.0) == digits_between(3.0, 3.0) == pytest.approx(15.65, abs=0.01)
    assert digits_between(-1.0, 1.0) == digits_between(np.nan, 1.0) == digits_between(0.0, 1.0) == 0.0


def test_points_in_headings() -> None:
    assert value_text(0.5) == "0.5"
    assert value_text((1.0, np.array([1.0, 2.5]))) == "(1, [1, 2.5])"
    assert value_text(np.zeros((3, 4))) == "an array of shape (3, 4)"
