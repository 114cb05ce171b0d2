"""Problems of Hock and Schittkowski by SciPy's methods and by IPOPT: the optima are those that are published."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

scipy = pytest.importorskip("scipy")

from interop.hock_schittkowski import PROBLEMS  # noqa: E402
from interop.published import Problem  # noqa: E402

import hoad  # noqa: E402
from hoad.interop import ipopt  # noqa: E402

# Other local minima, where a method that starts as the book says may end.
OTHERS = {2: 4.941229318, 16: 23.14466104, 20: 40.19872981, 44: -13.0, 98: 4.071246446, 108: -0.6749814429}

# SLSQP begins 61 with a step along which its constraints have no common point, and ends 98 where one is missed by 3e-5.
NOT_BY_SLSQP = (61, 98)
# SciPy's trust-constr steps to where the functions of 62, 104 and 112 are not defined, and ends 15 on the way.
NOT_BY_TRUST_CONSTR = (15, 62, 104, 112)


OLD = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 16)


def objective(p: Problem) -> Any:
    return lambda x: p.f(*x)


def constraints(p: Problem) -> list[dict[str, Any]]:
    made = []
    for kind, g in (("eq", p.equal), ("ineq", p.positive)):
        if g is not None:
            made.append({"type": kind, "fun": lambda x, g=g: g(*x)})
    return made


def assert_solved(p: Problem, found: Any, rtol: float) -> None:
    optima = [p.optimum, OTHERS.get(p.number, p.optimum)]
    assert min(abs(found.fun - optimum) / max(1.0, abs(optimum)) for optimum in optima) < rtol
    assert found.fun == pytest.approx(p.f(*found.x), rel=1e-12)
    missed = [np.max(-np.ravel(p.positive(*found.x)))] if p.positive else []
    missed += [np.max(np.abs(p.equal(*found.x)))] if p.equal else []
    assert max(missed, default=0.0) < 1e-6
    low, high = np.transpose(p.bounds)
    assert np.all((low - 1e-9 <= found.x) & (found.x <= high + 1e-9))


def each(without: tuple[int, ...] = ()) -> Any:
    return pytest.mark.parametrize("p", [p for p in PROBLEMS if p.number not in without], ids=lambda p: str(p.number))


def test_there_are_many() -> None:
    assert len({p.number for p in PROBLEMS}) == len(PROBLEMS) > 80


@pytest.mark.parametrize(("number", "start"), [(2, (1.0, 2.0)), (20, (0.3, 1.0))])
def test_published_optima_that_no_method_ends_at_from_the_books_start(number: int, start: tuple[float, ...]) -> None:
    (p,) = (p._replace(start=start) for p in PROBLEMS if p.number == number)
    found = hoad.minimize(
        objective(p), np.array(start), bounds=p.bounds, constraints=constraints(p), options={"ftol": 1e-12}
    )
    assert found.fun == pytest.approx(p.optimum, rel=1e-8)


@pytest.mark.skipif(OLD, reason="before its translation to C, in SciPy 1.16, SLSQP ended some of them elsewhere")
@each(NOT_BY_SLSQP)
def test_slsqp(p: Problem) -> None:
    found = hoad.minimize(
        objective(p),
        np.array(p.start, float),
        method="SLSQP",
        bounds=p.bounds,
        constraints=constraints(p),
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert_solved(p, found, 1e-6)


@pytest.mark.filterwarnings("ignore:Singular Jacobian matrix", "ignore:delta_grad == 0.0")
@pytest.mark.parametrize(
    "p",
    [
        pytest.param(p, id=str(p.number), marks=() if k % 3 == 0 else pytest.mark.slow)
        for k, p in enumerate(p for p in PROBLEMS if p.number not in NOT_BY_TRUST_CONSTR)
    ],
)
def test_trust_constr(p: Problem) -> None:
    """It ends where the slope of the barrier function is `gtol`, which may be with the barrier still high."""
    found = hoad.minimize(
        objective(p),
        np.array(p.start, float),
        method="trust-constr",
        bounds=p.bounds,
        constraints=constraints(p),
        options={"gtol": 1e-14, "xtol": 1e-10, "barrier_tol": 1e-9},
    )
    assert_solved(p, found, 1e-5)


@each()
def test_ipopt(p: Problem) -> None:
    pytest.importorskip("cyipopt")
    found = ipopt.solve(
        objective(p),
        np.array(p.start, float),
        bounds=p.bounds,
        constraints=constraints(p),
        tol=1e-9,
        options={"bound_relax_factor": 0.0},
    )
    assert found.success
    assert_solved(p, found, 1e-6)
