"""Right sides that give something else at every call, or change what they are given: refused."""

from __future__ import annotations

import itertools
import random
import time
from typing import Any

import numpy as np
import pytest

import hoad
from hoad.errors import ArgumentError, TracedValueError
from hoad.ode import odeint, taylor_integrate, taylor_solution

GENERATOR = np.random.default_rng(1)
COUNTER = itertools.count()

UNSTEADY: dict[str, Any] = {
    "generator": lambda t, y: -y + GENERATOR.normal(size=np.shape(y)),
    "clock": lambda t, y: -y * time.perf_counter(),
    "random": lambda t, y: -y * random.random(),
    "counter": lambda t, y: -y + 0.0 * t + next(COUNTER),
}
TIMES = np.array([0.0, 1.0])
SOLVERS: dict[str, Any] = {
    "taylor_integrate": lambda rhs, y: taylor_integrate(rhs, y, TIMES)[-1],
    "taylor_solution": lambda rhs, y: taylor_solution(rhs, hoad.value(y), TIMES).y[-1],
    "odeint": lambda rhs, y: odeint(lambda y, t: rhs(t, y), y, TIMES)[-1],
    "equal steps": lambda rhs, y: odeint(lambda y, t: rhs(t, y), y, TIMES, method="rk4", steps=2)[-1],
    "continuous": lambda rhs, y: odeint(lambda y, t: rhs(t, y), y, TIMES, adjoint="continuous")[-1],
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("rhs", UNSTEADY)
def test_a_right_side_that_changes_from_call_to_call_is_refused(rhs: str, solver: str) -> None:
    message = r"records rhs once, but called twice at the start it gave -?\d.*, then .*random numbers.*Draw them before"
    for y in (1.0, np.array([1.0, 2.0])):
        with pytest.raises(ArgumentError, match=message):
            SOLVERS[solver](UNSTEADY[rhs], y)
    with pytest.raises(ArgumentError, match=message):
        hoad.grad(lambda y: SOLVERS[solver](UNSTEADY[rhs], y))(1.0)


def test_an_event_that_changes_from_call_to_call_is_refused() -> None:
    with pytest.raises(ArgumentError, match="records an event function once, but"):
        taylor_solution(lambda t, y: -y, 1.0, TIMES, events=lambda t, y: y - GENERATOR.random())


def test_what_is_nan_is_the_same() -> None:
    with pytest.raises(ArgumentError, match="nan or infinite"):
        odeint(lambda y, t: y * np.nan, 1.0, TIMES)


@pytest.mark.parametrize("solver", SOLVERS)
def test_random_numbers_that_were_drawn_before_are_as_any_others(solver: str) -> None:
    noise = np.random.default_rng(2).normal(size=2)  # y' = -y + a + b t has the solution a - b + b t + c exp(-t)
    found = SOLVERS[solver](lambda t, y: -y + noise[0] + noise[1] * t, 1.0)
    exact = noise[0] + (1.0 - noise[0] + noise[1]) * np.exp(-1.0)
    assert found == pytest.approx(exact, rel=1e-2 if solver == "equal steps" else 1e-7)


# ---- what they do not change


def _changing_an_item(t: Any, y: Any) -> Any:
    y[0] = 0.0
    return y


def _changing_a_view(t: Any, y: Any) -> Any:
    first = y[:1]
    first *= 2.0
    return y


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("rhs", [_changing_an_item, _changing_a_view])
def test_a_right_side_that_changes_its_argument_is_refused(rhs: Any, solver: str) -> None:
    y = np.array([1.0, 2.0])
    for solve in (SOLVERS[solver], lambda rhs, y: hoad.jacobian(lambda y: SOLVERS[solver](rhs, y))(y)):
        message = (
            r"^an argument of rhs is never changed \(test_determinism\.py:\d+\)\. Copy it before.*change the copy\.$"
        )
        with pytest.raises(TracedValueError, match=message):
            solve(rhs, y)
    assert y.tolist() == [1.0, 2.0]


def test_an_event_function_that_changes_its_argument_is_refused() -> None:
    with pytest.raises(TracedValueError, match=r"^an argument of an event function is never changed"):
        taylor_solution(lambda t, y: -y, np.array([1.0, 2.0]), TIMES, events=_changing_an_item)


def test_what_a_right_side_is_cut_off_from() -> None:
    """No derivative is taken where none was asked for."""

    def rhs(y: Any, t: Any) -> Any:
        return -y * float(y)

    with pytest.raises(
        TracedValueError, match=r"\(test_determinism\.py:\d+\): float\(\) .* would cut it off from what is recorded"
    ):
        odeint(rhs, 1.0, TIMES)
    with pytest.raises(
        TracedValueError, match=r"\(test_determinism\.py:\d+\): float\(\) .* would cut it off from the derivative"
    ):
        hoad.grad(lambda y: odeint(rhs, y, TIMES)[-1])(1.0)
