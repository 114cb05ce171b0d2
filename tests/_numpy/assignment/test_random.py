"""Random programs over assignment, views and arithmetic: values as NumPy's, derivatives as those of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _numpy.assignment.programs import OPERATIONS, Program, flattened, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hoad

X = np.array([0.3, -0.7, 1.1, 0.5])
programs = st.lists(st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 10**6)), min_size=1, max_size=14)


def every_item(program: Program) -> Any:
    """x -> all items of all arrays of the program, in one array."""
    return lambda x: np.concatenate([np.reshape(a, -1) for a in run(program, x)])


def by_numbers(program: Program) -> Any:
    """The same on object arrays of numbers: NumPy assigns, and hoad sees numbers alone."""

    def f(x: Any) -> Any:
        numbers = np.empty(4, dtype=object)
        for k in range(4):
            numbers[k] = x[k]
        return np.array([1.0 * item for item in flattened(run(program, numbers))], like=x)

    return f


def weighted(f: Any, power: int) -> Any:
    def g(x: Any) -> Any:
        y = f(x)
        return np.sum(np.cos(np.arange(y.size)) * np.sin(y) ** power)

    return g


def check_values(program: Program) -> None:
    with np.errstate(all="ignore"):
        wanted = np.concatenate([a.reshape(-1) for a in run(program, X.copy())])
        found = hoad.vjp(every_item(program), X)[0]
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def check_derivatives(program: Program) -> None:
    ours, theirs = (weighted(f, 2) for f in (every_item(program), by_numbers(program)))
    v = np.array([1.0, -0.5, 0.25, 2.0])
    close = {"rtol": 1e-11, "atol": 1e-11}
    gradient = hoad.grad(theirs)(X)
    np.testing.assert_allclose(hoad.grad(ours)(X), gradient, **close)
    np.testing.assert_allclose(hoad.jvp(ours, (X,), (v,))[1], gradient @ v, **close)
    hessian = hoad.hessian(theirs)(X)
    np.testing.assert_allclose(hoad.hessian(ours)(X), hessian, **close)
    np.testing.assert_allclose(hoad.hvp(ours)(X, v), hessian @ v, **close)
    recorded = hoad.gradient(hoad.record(ours, X))
    np.testing.assert_allclose(recorded.evaluate(2 * X), hoad.grad(theirs)(2 * X), **close)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs)
def test_values_are_those_of_numpy(program: Program) -> None:
    check_values(program)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs)
def test_derivatives_are_those_of_numbers(program: Program) -> None:
    check_derivatives(program)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_many_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(100):
        program = [
            (str(rng.choice(sorted(OPERATIONS))), int(rng.integers(10**6))) for _ in range(int(rng.integers(2, 25)))
        ]
        check_values(program)
        check_derivatives(program)
