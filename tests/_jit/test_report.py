"""What a jitted function says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hoad


class Fit:
    def __init__(self) -> None:
        self.t = np.linspace(0.0, 2.0, 5)
        self.calls = 0
        self.rate = 2.0

    def loss(self, p: Any) -> Any:
        self.calls += 1
        self.model = p[0] * np.exp(-p[1] * self.t) * self.rate
        if p[0] > 0:
            return np.sum((self.t - 1) ** 2 * p[0])
        return np.sum(self.t) * p[1]


def test_what_a_recording_rests_on() -> None:
    fit = Fit()
    g = hoad.jit(hoad.grad(fit.loss))
    report = g.report(np.array([1.0, 2.0]))
    assert fit.calls == 1
    assert (report.name, report.refusal, report.again) == ("Fit.loss", None, {})
    (recording,) = report.recordings
    assert any(line.startswith("self.rate (test_report.py:") for line in recording.reads)
    assert any(line.startswith("self.t (test_report.py:") for line in recording.reads)
    assert not any("__len__" in line for line in recording.reads)
    assert [line.partition(" (")[0] for line in recording.writes] == ["self.calls: add", "self.model: store"]
    assert len(recording.branches) == 1
    g(np.array([-1.0, 2.0]))
    assert len(g.report(np.array([1.0, 2.0])).recordings) == 2
    assert fit.calls == 2
    text = str(report)
    assert repr(report) == text
    for part in ("Fit.loss: 1 recorded", "branches taken:", "rests on:", "writes at each replay:", "test_report.py"):
        assert part in text


def test_what_is_refused() -> None:
    rng = np.random.default_rng(0)
    g = hoad.jit(lambda x: x * rng.bytes(1)[0])
    with pytest.warns(hoad.JitWarning, match=r"Draw the random numbers outside.*test_report.py:\d+"):
        report = g.report(1.0)
    assert report.recordings == []
    assert "called as it is: it draws from rng, a Generator" in str(report)


def test_how_often_it_was_recorded_again() -> None:
    memo: dict[str, float] = {}

    def f(x: Any) -> Any:
        if "rate" not in memo:
            memo["rate"] = 2.0
        return memo["rate"] * x

    g = hoad.jit(f)
    assert [g(1.0), g(2.0), g(3.0)] == [2.0, 4.0, 6.0]
    report = g.report(1.0)
    assert report.again == {"it changes memo, which it reads": 1}
    assert "recorded again (1 time): it changes memo" in str(report)


def test_a_report_of_a_traced_call() -> None:
    g = hoad.jit(np.sin)
    with pytest.raises(hoad.TracedValueError, match="plain arguments"):
        hoad.grad(lambda x: g.report(x) or x)(1.0)
