"""Every mode of hoad against every other: they agree where they are right, and the odd one out is named."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from check.table import TABLE

import hoad
from hoad.check import mode_table, modes, ways
from hoad.errors import CheckError

ALL = ("forward", "reverse", "forward over reverse", "reverse over forward", "series", "tensor")
A = np.array([[2.0, -1.0, 0.5], [0.3, 1.5, -0.7], [-0.4, 0.6, 3.0]])


def main_function(x: Any) -> Any:
    return np.exp(np.sin(x)) * np.tanh(x) / (1 + x * x)


def compared(finding: Any) -> set[str]:
    return {way.partition(",")[0] for way in finding.ways}


# ---- modes that are right -------------------------------------------------------------------------------------------


def test_values_are_those_of_mpmath() -> None:
    report = modes(main_function, 0.3, 12)
    assert report.passed, report.failure()
    report.assert_passed()
    with mpmath.workdps(50):
        x = mpmath.mpf(0.3)
        line = lambda t: mpmath.exp(mpmath.sin(x + t)) * mpmath.tanh(x + t) / (1 + (x + t) ** 2)  # noqa: E731
        exact = [float(c * math.factorial(k)) for k, c in enumerate(mpmath.taylor(line, 0, 12))]
    for finding, value in zip(report.findings, exact, strict=True):
        np.testing.assert_allclose(finding.values, value, rtol=1e-12)


def test_which_modes_are_compared() -> None:
    findings = modes(main_function, 0.3, 12).findings
    assert compared(findings[0]) == {"forward", "series"}
    assert compared(findings[1]) == {"forward", "reverse", "series", "tensor"}
    assert all(compared(finding) == set(ALL) for finding in findings[2:7])
    assert all(compared(finding) == set(ALL) - {"reverse"} for finding in findings[7:11])
    assert compared(findings[11]) == compared(findings[12]) == {"series", "tensor"}
    for finding in findings:
        names = {f"{mode}{how}" for mode in compared(finding) for how in ("", ", jitted", ", by vmap")}
        assert set(finding.ways) == names
        assert finding.disagreements.shape == finding.roundings.shape == (len(names), len(names))
        np.testing.assert_array_equal(finding.disagreements, finding.disagreements.T)


def test_arrays_are_contracted_along_two_directions() -> None:
    """D³f[v, v, v] and D³f[v, w, v] of the cube of a linear function."""
    a = np.array([1.0, -2.0, 0.5])
    x = np.array([0.7, 0.2, -0.4])
    report = modes(lambda x: (x @ a) ** 3, x, 4)
    v, w = report.directions
    for finding in report.findings:
        assert finding.values.shape == (1 if finding.order < 2 else 2, len(finding.ways))
    np.testing.assert_allclose(report.findings[1].values, 3 * (x @ a) ** 2 * (v @ a), rtol=1e-13)
    mixed = [6 * (v @ a) ** 3, 6 * (v @ a) ** 2 * (w @ a)]
    np.testing.assert_allclose(report.findings[3].values.T, np.broadcast_to(mixed, (18, 2)), rtol=1e-13)
    assert not report.findings[4].values.any()
    again, other = modes(np.prod, x, 1), modes(np.prod, x, 1, seed=1)
    np.testing.assert_array_equal(again.directions, report.directions)
    assert not np.array_equal(other.directions[0], v)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: np.exp(A @ x) / np.sum(np.exp(A @ x)), np.array([0.1, 0.2, -0.3])),
        (lambda x: np.linalg.solve(A + np.outer(x, x), x), np.array([0.1, 0.2, -0.3])),
        (lambda x: np.sum(np.sin(x) * x[::-1]), np.linspace(1.0, 2.0, 500)),
        (lambda x, y: x * np.sum(np.exp(y) * np.sin(x * y)), (2.0, np.array([0.1, 0.2]))),
        (lambda x, y: {"product": x * y, "parts": [np.sin(x), y]}, (2.0, np.array([0.1, 0.2]))),
        (lambda x: np.sum(np.sin(x) * x), np.array([0.5, 1.5], np.float32)),
        (lambda x: 3 * x, 2.0),
        (lambda x: 3.0, 2.0),
        (np.sin, 0.0),
        (np.sin, np.pi),
        (lambda x: (1e6 + np.sin(x)) - 1e6, 0.3),
        (lambda x: np.stack([1e-9 * np.exp(x), 1e9 * np.sin(x)]), 0.4),
        (hoad.grad(main_function), 0.3),
        (abs, 0.0),
    ],
)
def test_right_modes_pass(f: Callable[..., Any], x: Any) -> None:
    report = modes(f, x, 4)
    assert report.passed, str(report)


# Without a derivative; and p (1 - p) with 1 - p = 1e-13, of which some modes lose all but three digits.
UNDECIDED = {"cusp", "edge", "softplus"}


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_no_mode_is_called_wrong_at_awkward_points(case: Any) -> None:
    verdicts = {finding.verdict for finding in modes(case.f, case.x, 3).findings}
    assert verdicts == {"right", *(["undecided"] if case.name in UNDECIDED else [])}


# ---- modes that are wrong -------------------------------------------------------------------------------------------


def sine(vjp: float, jvp: float) -> Any:
    """A primitive whose two rules are multiplied by these, a right one by 1."""

    def own(x: Any) -> Any:
        return np.sin(x)

    return hoad.primitive(
        own, vjp=lambda g, p, x: (vjp * g * np.cos(x),), jvp=lambda dots, p, x: jvp * dots[0] * np.cos(x)
    )


@pytest.mark.parametrize("factor", [-1.0, 1.01, 1 + 1e-7])
def test_a_wrong_adjoint_rule(factor: float) -> None:
    """All but reverse sweeps take the tangent rule; differences of values tell that this one is right."""
    report = modes(sine(factor, 1.0), 0.7, 2)
    assert report.findings[1].wrong == ("reverse",)
    assert "reverse" in report.findings[2].wrong and "forward" not in report.findings[2].wrong
    with pytest.raises(
        CheckError, match=r"^derivatives of own: order 1 is wrong by reverse\. Reverse gave .*; forward"
    ):
        report.assert_passed()
    assert report.findings[0].verdict == "right"


@pytest.mark.parametrize("factor", [-1.0, 1.01, 1 + 1e-7])
def test_a_wrong_tangent_rule(factor: float) -> None:
    """It is most modes that are wrong: the majority does not decide where differences can."""
    report = modes(sine(1.0, factor), 0.7, 1)
    assert report.findings[1].wrong == ("forward", "series", "tensor")
    assert report.failure().startswith("derivatives of own: order 1 is wrong by forward, series and tensor. Forward, ")
    assert "; reverse gave 0.764842187" in report.failure() and "; differences gave 0.764842187" in report.failure()


def test_a_wrong_rule_in_an_array() -> None:
    wrong = sine(1.01, 1.0)
    report = modes(lambda x: np.stack([np.sum(wrong(x)), x[0]]), np.array([0.3, 1.2, -0.4]), 3)
    assert report.findings[1].wrong == ("reverse",)
    assert not report.passed and report.findings[2].verdict == report.findings[3].verdict == "wrong"


def test_wrong_coefficients_of_a_series() -> None:
    """All but the last, so that derivatives order by order are right."""

    def coefficients(x: Any, n: int) -> list[Any]:
        return [np.exp(x) / math.factorial(k) * (1.01 if 0 < k < n else 1.0) for k in range(n + 1)]

    grown = hoad.primitive(np.exp, series=coefficients, elementwise=True)
    report = modes(lambda x: grown(np.sin(x)), 0.7, 3)
    assert [finding.verdict for finding in report.findings] == ["right", "right", "wrong", "wrong"]
    assert report.findings[2].wrong[0] == "series" and "forward" not in report.findings[2].wrong
    assert "order 2 is wrong by series" in report.failure()


def test_a_wrong_batch() -> None:
    def tripled(x: Any) -> Any:
        return 3 * x

    wrong = hoad.primitive(
        tripled, vjp=lambda g, p, x: (3 * g,), batch=lambda x: 3.001 * np.asarray(x), shape=lambda x: x
    )
    report = modes(lambda x: np.sin(wrong(x)), 0.7, 1)
    assert report.findings[0].wrong == ("forward, by vmap", "series, by vmap")
    assert "order 0 is wrong by forward, by vmap and series, by vmap. Forward, by vmap and" in report.failure()


@pytest.mark.parametrize(
    ("room", "name", "wrong"),
    [
        (mode_table, "taylor", "series"),
        (mode_table, "derivative_tensor", "tensor"),
        (mode_table, "grad", "reverse"),
        (ways, "jit", ", jitted"),
        (ways, "vmap", ", by vmap"),
    ],
)
def test_each_mode_is_named(room: Any, name: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = getattr(room, name)
    if room is ways:
        monkeypatch.setattr(ways, name, lambda f: driver(lambda *xs: 1.001 * f(*xs)))
    elif name == "grad":
        monkeypatch.setattr(
            mode_table, name, lambda f, argnums: lambda *xs: [1.001 * g for g in driver(f, argnums)(*xs)]
        )
    elif name == "taylor":
        monkeypatch.setattr(mode_table, name, lambda f, x, n: driver(f, x, n) * (1.001 if n else 1.0))
    else:
        monkeypatch.setattr(mode_table, name, lambda f, n: lambda x: driver(f, n)(x) * (1.001 if n else 1.0))
    report = modes(main_function, 0.3, 2)
    found = report.findings[1].wrong
    assert found and all(wrong in way for way in found), str(report)


def test_what_a_mode_raises_is_told() -> None:
    def tangent(dots: Any, p: Any, x: Any) -> Any:
        raise KeyError("no tangent")

    broken = hoad.primitive(np.sin, vjp=lambda g, p, x: (g * np.cos(x),), jvp=tangent)
    report = modes(lambda x: broken(x), 0.7, 1)
    assert "forward" in report.findings[1].wrong and "reverse" not in report.findings[1].wrong
    assert "raised KeyError: 'no tangent'" in report.failure()


def test_what_differences_cannot_tell_is_undecided() -> None:
    """A reverse rule that is wrong by less than they see, and one of a noisy function: who is with most is said."""
    softplus = modes(lambda x: np.log1p(np.exp(x)), 30.0, 2).findings[2]
    assert softplus.verdict == "undecided" and softplus.wrong == ()
    assert ", as most do; differences gave 9." in softplus.reason and softplus.reason.endswith("which denies none")
    assert softplus.reason.startswith(
        "forward gave 9.357622969e-14; reverse and reverse over forward gave 9.36082969e-14"
    )
    assert 1e-4 < softplus.disagreements.max() < 1e-3
    wrong = sine(1.01, 1.0)
    jump = modes(lambda x: wrong(x) * np.where(x > 0.7, 2.0, 1.0), 0.7, 1)
    assert [finding.verdict for finding in jump.findings] == ["right", "undecided"]
    assert jump.findings[1].reason.startswith("reverse gave 0.77249") and "as most do" in jump.findings[1].reason


# ---- what cannot be compared ----------------------------------------------------------------------------------------


def test_where_there_is_no_derivative() -> None:
    report = modes(np.sqrt, 0.0, 2)
    assert [finding.verdict for finding in report.findings] == ["right", "undecided", "undecided"]
    assert "No mode finds a finite derivative: series raised DomainError" in report.failure()
    assert "choose what holds there with np.where" in report.failure() and ".." not in report.failure()[-5:]
    with pytest.raises(CheckError, match="order 1 is undecided"):
        report.assert_passed()


def test_a_function_that_raises_beside_x() -> None:
    def near(x: Any) -> Any:
        if abs(x - 1) > 1e-6:
            raise KeyError("no data")
        return x * x

    assert modes(near, 1.0, 2).passed


def test_a_random_function() -> None:
    source = random.Random(0)
    report = modes(lambda x: np.sin(x) * (1 + 1e-3 * source.gauss(0.0, 1.0)), 0.7, 1)
    assert "called again at x, f gives another value" in str(report)
    assert "runs without compilation" in str(report)
    assert not any(way.endswith("jitted") for finding in report.findings for way in finding.ways)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((1.0, np.sin, 2), hoad.ArgumentError, "check.modes takes a function, but was given a float"),
        ((np.sin, 1, 2), hoad.DTypeError, "Write 1.0"),
        ((np.sin, 1j, 2), hoad.DTypeError, "varies real arguments"),
        ((np.sin, math.inf, 2), hoad.ShapeError, "needs a finite point"),
        ((np.log, -1.0, 2), hoad.ShapeError, "point where f is finite"),
        ((np.sum, np.zeros(0), 2), hoad.ShapeError, "to have entries"),
        ((lambda x: x[:0], np.ones(3), 2), hoad.ShapeError, "to have entries"),
        ((lambda x: None, 1.0, 2), hoad.ShapeError, "f(x) is None. Return the result"),
        ((lambda x: 1 / x, 0.0, 2), CheckError, "at 0 it raises ZeroDivisionError"),
        ((np.sin, 1.0, 21), hoad.ArgumentError, "check.modes takes an order from 0 to 20, an int, not 21 (int)"),
        ((np.sin, 1.0, True), hoad.ArgumentError, "not True (bool)"),
        ((hoad.primitive(lambda x: np.sin(x)), 1.0, 2), hoad.NoRuleError, "has no derivative rule"),
        ((lambda x: float(x), 1.0, 2), hoad.TracedValueError, "float() of a traced"),
    ],
)
def test_what_cannot_be_checked(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        modes(*arguments)
    assert message in str(caught.value)


def test_a_function_that_hoad_cannot_trace() -> None:
    def strict(x: Any) -> Any:
        if type(x) is not float:  # pytest's `assert` leads to all of pytest, in which jit looks for what was kept
            raise AssertionError
        return x * x

    with pytest.raises(CheckError, match=r"(?s)a function that hoad can trace, but traced it raises AssertionError"):
        modes(strict, 1.0, 1)


# ---- the report -----------------------------------------------------------------------------------------------------


def test_the_table() -> None:
    lines = str(modes(main_function, 0.3, 7)).splitlines()
    assert lines[0] == "derivatives of main_function at 0.3, orders 0 to 7: passed"
    assert lines[1].split() == ["order", "modes", "disagreement", "rounding", "farthest", "apart"]
    assert [line.split()[:2] for line in lines[2:10]] == [[str(k), str(n)] for k, n in enumerate([2, 4, *[6] * 5, 5])]
    assert all(line.endswith("right") for line in lines[2:10])
    assert lines[10] == f"  compared: {', '.join(ALL[:-1])} and tensor, each as it is, jitted and by vmap"
    assert lines[11:] == ["  left out above order 6, where their tapes are long: reverse"]


def test_the_farthest_apart_are_named() -> None:
    report = modes(sine(2.0, 1.0), 0.7, 1)
    finding = report.findings[1]
    i, j = finding.worst
    assert {finding.ways[i].partition(",")[0], finding.ways[j].partition(",")[0]} >= {"reverse"}
    assert finding.disagreements[i, j] == pytest.approx(0.5, rel=1e-12) and finding.roundings[i, j] < 1e-15
    assert "wrong by reverse" in str(report) and "order 1: reverse gave 1.529684375; " in str(report)


def test_an_error_speaks_of_the_point_of_the_user() -> None:
    report = hoad.check.modes(lambda x: np.sum(np.sqrt(x - 1.0)), np.array([1.0, 3.0]), 2)
    text = str(report)
    assert "of f(x + t v) at t = 0 comes out as" in text and "x = 0.0" not in text
