"""Like steps side by side, done at once as lanes of a vector: the coefficients are those of one after another."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from quality.project import ROOT
from rules import oracle

import hoad
from hoad._core.kernels.vector import targets
from hoad._transform.expansion import series_of
from hoad.ode import taylor_integrate

X = 0.3
INSTALLED = Path(hoad.__file__).parents[1]

# Each of a number of like terms, by hoad and by mpmath; none of their factors is a short series.
TERMS: dict[str, Callable[[Any, Any, float], Any]] = {
    "square": lambda m, x, c: m.sin(c * x) ** 2,
    "multiply": lambda m, x, c: m.sin(c * x) * m.cos(x / c),
    "divide": lambda m, x, c: m.cos(x / c) / (1.5 + m.sin(c * x)),
    "power": lambda m, x, c: (1.5 + m.sin(c * x)) ** (-c - 0.5),
    "slopes": lambda m, x, c: m.exp(m.sin(c * x)),
    "minus_slopes": lambda m, x, c: m.cos(m.sin(c * x)),
    "chains": lambda m, x, c: -(m.exp(m.sin(c * x)) * m.sin(x / c)) / (2.0 + m.cos(c * x)) + m.sin(c * x) ** 2,
}


def slopes_of(count: int) -> list[float]:
    return [1.1 + 0.17 * k for k in range(count)]


def total(name: str, count: int) -> Callable[[Any], Any]:
    return lambda x: sum((TERMS[name](np, x, c) for c in slopes_of(count)), 0.0)


@functools.cache
def exact_term(name: str, slope: float) -> list[Any]:
    """The coefficients of one term to degree 49."""
    return oracle.coefficients(lambda t: TERMS[name](mp, t, mp.mpf(slope)), X, 49)


def exact(name: str, count: int, degree: int) -> list[float]:
    terms = [exact_term(name, slope) for slope in slopes_of(count)]
    with mp.workdps(60):
        return [float(mp.fsum(c)) for c in zip(*terms, strict=True)][: degree + 1]


def grouped(f: Callable[[Any], Any], degree: int) -> bool:
    """Whether the series of f has groups."""
    program = hoad.jit(f).program(X)
    series = series_of(program, (2,), degree, None, (False,), False)
    assert series is not None
    assert series.is_narrow
    return series.n_groups > 0


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("count", [1, 3, 4, 5, 8, 9, 13, 16])
def test_sums_of_like_terms(name: str, count: int) -> None:
    """All remainders of members by lanes."""
    want = exact(name, count, 14)
    found = np.asarray(hoad.taylor(total(name, count), X, 14))
    scale = np.abs(want).max() * 2.0 ** -np.arange(15) + np.abs(want)
    assert np.all(np.abs(found - want) <= 2e-14 * scale)


@pytest.mark.parametrize("name", TERMS)
def test_four_terms_are_a_group(name: str) -> None:
    assert grouped(total(name, 4), 14)
    assert not grouped(total(name, 1), 14)


@pytest.mark.parametrize("degree", [1, 2, 5, 6, 20, 48, 49])
def test_orders_up_to_which_there_are_groups(degree: int) -> None:
    """Long series are pushed one by one; both ways agree with mpmath."""
    f = total("chains", 4)
    assert grouped(f, degree) == (5 <= degree <= 48)
    want = np.array(exact("chains", 4, 49)[: degree + 1])
    found = np.asarray(hoad.taylor(f, X, degree))
    envelope = np.maximum.accumulate(np.abs(want)[::-1])[::-1] + np.abs(want)
    assert np.all(np.abs(found - want) <= 1e-12 * envelope)


def test_powers_with_exponents_of_their_own() -> None:
    def f(m: Any, x: Any) -> Any:
        s = m.sin(x)
        return (2 + s) ** 0.5 + (3 + s) ** -1.5 + (4 + s) ** 2.25 + (5 + s) ** -0.75

    with mp.workdps(50):
        want = [float(c) for c in mp.taylor(lambda t: f(mp, t), mp.mpf(X), 12)]
    assert grouped(lambda x: f(np, x), 12)
    np.testing.assert_allclose(np.asarray(hoad.taylor(lambda x: f(np, x), X, 12)), want, rtol=1e-12, atol=1e-15)


def test_groups_of_members_that_end_early() -> None:
    """What only a slope asks for is left out at the last order: it is in no group with what is asked for there."""

    def f(m: Any, x: Any) -> Any:
        s = [m.sin(c * x) for c in (1.1, 1.2, 1.3, 1.4)]
        return sum(m.tanh(v) for v in s) + sum(v * v for v in s)

    with mp.workdps(50):
        want = [float(c) for c in mp.taylor(lambda t: f(mp, t), mp.mpf(X), 13)]
    assert grouped(lambda x: f(np, x), 13)
    np.testing.assert_allclose(np.asarray(hoad.taylor(lambda x: f(np, x), X, 13)), want, rtol=1e-12, atol=1e-14)


def test_a_lane_that_is_not_finite_stays_alone() -> None:
    """Numbers of one member reach no other one."""

    def f(x: float) -> Any:
        s = np.sin(x)
        return np.array([(s + 2.0) ** 0.5, (s + 3.0) ** 0.5, (s + 1e308 * 10) ** 0.5, (s + 4.0) ** 0.5, s * s])

    with np.errstate(all="ignore"):
        found = np.asarray(hoad.taylor(f, X, 8))
    with mp.workdps(50):
        for item, c in ((0, 2), (1, 3), (3, 4)):
            want = [float(d) for d in mp.taylor(lambda t, c=c: mp.sqrt(mp.sin(t) + c), mp.mpf(X), 8)]
            np.testing.assert_allclose(found[:, item], want, rtol=1e-12, atol=1e-16)
    assert not np.isfinite(found[:, 2]).any()


def test_a_chain_of_pendulums_beside_its_energy() -> None:
    """Nine oscillators with like neighbours: groups of eight and one, fed back."""
    n = 9

    def rhs(t: float, y: Any) -> Any:
        q, p = y[:n], y[n:]
        force = [
            -np.sin(q[k]) + (np.sin(q[k + 1] - q[k]) if k + 1 < n else 0.0) - (np.sin(q[k] - q[k - 1]) if k else 0.0)
            for k in range(n)
        ]
        return np.array([*p, *force])

    def energy(y: np.ndarray) -> float:
        q, p = y[:n], y[n:]
        return float(np.sum(p * p) / 2 - np.sum(np.cos(q)) - np.sum(np.cos(np.diff(q))))

    start = np.concatenate([np.linspace(-1.0, 1.2, n), np.linspace(0.3, -0.4, n)])
    end = taylor_integrate(rhs, start, np.array([0.0, 40.0]), tol=1e-15)[-1]
    assert abs(energy(end) - energy(start)) <= 1e-13
    back = taylor_integrate(rhs, end, np.array([40.0, 0.0]), tol=1e-15)[-1]
    np.testing.assert_allclose(back, start, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("kernels", targets())
def test_this_file_by_every_target(kernels: str) -> None:
    run = "import sys; del sys.path[0]; import pytest; sys.exit(pytest.main(sys.argv[1:]))"  # not from the sources
    command = [sys.executable, "-c", run, "-q", "-p", "no:cacheprovider", __file__, "-k", "terms or powers or chain"]
    env = os.environ | {"HOAD_KERNELS": kernels, "PYTHONPATH": str(INSTALLED)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
