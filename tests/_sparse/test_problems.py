"""Problems of practice: sparse derivatives are the dense ones without zeros, and lead solvers to known solutions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy.sparse")

import scipy.sparse as sp
from _sparse.power import ACTIVE_14, CASE_14, CASE_30, COSTS, Network
from _sparse.problems import (
    HESSIANS,
    JACOBIANS,
    Control,
    Elasticity,
    area,
    bands_with_dense_rows,
    bratu,
    bratu_jacobian,
    scherk,
    solution_of_bands,
)
from _sparse.test_derivatives import is_swept_in_blocks
from scipy.sparse.linalg import spsolve

import hoad
from hoad._sparse.sweeps import sweep_of_hessian, sweep_of_jacobian
from hoad.interop import ipopt

NETWORKS = {"case14": CASE_14, "case30": CASE_30}
RNG = np.random.default_rng(11)


def somewhere(size: int) -> np.ndarray:
    return RNG.uniform(-0.08, 0.08, size)


def require_same(found: Any, dense: np.ndarray) -> None:
    """The values, and no place that is zero in the dense matrix."""
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-13, atol=1e-13 * abs(dense).max())
    places = sp.csr_array(found)
    rows = np.repeat(np.arange(places.shape[0]), np.diff(places.indptr))
    np.testing.assert_array_equal(np.stack([rows, places.indices]), np.nonzero(dense))


@pytest.mark.parametrize("name", JACOBIANS)
def test_jacobians(name: str) -> None:
    f, size = JACOBIANS[name]
    plan = hoad.sparse_jacobian(f).plan(somewhere(size))
    for x in (somewhere(size), somewhere(size)):
        require_same(plan(x), hoad.jacobian(f)(x))
    assert is_swept_in_blocks(sweep_of_jacobian, f, x)


@pytest.mark.parametrize("name", HESSIANS)
def test_hessians(name: str) -> None:
    f, size = HESSIANS[name]
    plan = hoad.sparse_hessian(f).plan(somewhere(size))
    for x in (somewhere(size), somewhere(size)):
        require_same(plan(x), hoad.hessian(f)(x))
    assert is_swept_in_blocks(sweep_of_hessian, f, x)


def lagrangian(f: Callable[[Any], Any], g: Callable[[Any], Any], x: np.ndarray) -> None:
    """Jacobian and Hessian of a problem with constraints."""
    weights = RNG.normal(size=np.size(g(x)))
    require_same(hoad.sparse_jacobian(g)(x), hoad.jacobian(g)(x))
    whole = hoad.lagrangian_hessian(f, g, triangle=None)
    require_same(whole(x, weights, 0.7), hoad.hessian(lambda x: 0.7 * f(x) + np.sum(weights * g(x)))(x))
    assert is_swept_in_blocks(sweep_of_hessian, lambda x: 0.7 * f(x) + np.sum(weights * g(x)), x)


@pytest.mark.parametrize("name", NETWORKS)
def test_lagrangians_of_networks(name: str) -> None:
    network = NETWORKS[name]
    x = network.start()
    lagrangian(network.cost, network.balances, x + somewhere(x.size))


def test_lagrangian_of_control() -> None:
    control = Control(4)
    lagrangian(control.time, control.defects, control.start() + somewhere(control.size))


# ------------------------------------------------------------------------------------------------ solutions


def newton(f: Callable[[Any], Any], derivative: Any, x: np.ndarray, steps: int = 12) -> np.ndarray:
    """A root of f by its sparse derivative, until rounding."""
    plan = derivative.plan(x)
    for _ in range(steps):
        step = spsolve(plan(x), f(x))
        x = x - step
        if abs(step).max() < 1e-12:
            return x
    raise AssertionError(f"{steps} steps were not enough: the last one is {abs(step).max()}")


def test_bratu_by_newton() -> None:
    """The derivative is that by hand, and the solution has the symmetry of the square."""
    n = 15
    f = partial(bratu, n=n)
    sparse = hoad.sparse_jacobian(f, format="csc")
    x = newton(f, sparse, np.zeros(n * n))
    by_hand = bratu_jacobian(x, n).toarray()
    np.testing.assert_allclose(sparse(x).toarray(), by_hand, rtol=1e-14)
    u = x.reshape(n, n)
    np.testing.assert_allclose(u, u.T, rtol=1e-11)
    np.testing.assert_allclose(u, u[::-1], rtol=1e-11)
    assert abs(f(x)).max() < 1e-13


def test_minimal_surface_by_newton() -> None:
    """The error beside Scherk's surface falls as the square of the step."""
    errors = []
    for n in (7, 15, 31):
        f = partial(area, n=n)
        x = newton(hoad.jit(hoad.grad(f)), hoad.sparse_hessian(f, format="csc"), np.zeros(n * n))
        errors.append(abs(x.reshape(n, n) - scherk(n)[1:-1, 1:-1]).max())
    assert errors[-1] < 1e-3
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 4, rtol=0.1)


def test_least_squares_by_gauss_newton() -> None:
    n = 200
    f = partial(bands_with_dense_rows, n=n)
    plan = hoad.sparse_jacobian(f).plan(np.zeros(n))
    x = solution_of_bands(n) + 0.1 * RNG.normal(size=n)
    for _ in range(12):
        j, r = plan(x), f(x)
        one = sp.eye_array(len(r))
        x = x - spsolve(sp.block_array([[one, j], [j.T, None]], format="csc"), np.append(r, np.zeros(n)))[len(r) :]
    np.testing.assert_allclose(x, solution_of_bands(n), atol=1e-13)


def test_elasticity_is_linear_near_rest() -> None:
    square = Elasticity(3)
    x = np.zeros(32)
    stiffness = square.stiffness()
    for found in (hoad.sparse_hessian(square.energy)(x), hoad.sparse_jacobian(hoad.adopt(square.forces))(x)):
        np.testing.assert_allclose(found.toarray(), stiffness, atol=1e-13 * stiffness.max())


def test_elasticity_by_newton() -> None:
    """A square that is stretched and sheared alike at all of its boundary is so inside."""
    square = Elasticity(6)
    gradient = np.array([[0.3, 0.2], [-0.1, -0.15]])
    whole = (square.nodes @ gradient.T).ravel()
    inside = square.is_inside
    f = hoad.adopt(partial(square.inner_forces, boundary=whole))
    near = whole[inside] + RNG.uniform(-0.03, 0.03, np.count_nonzero(inside))
    x = newton(f, hoad.sparse_jacobian(f, format="csc"), near)
    np.testing.assert_allclose(x, whole[inside], atol=1e-13)
    np.testing.assert_allclose(hoad.grad(square.energy)(whole), square.forces(whole), atol=1e-13)


def test_power_flow_by_newton() -> None:
    """Voltages and angles as published, which have three digits and two."""
    f = partial(CASE_14.mismatch, active=ACTIVE_14)
    x = newton(f, hoad.sparse_jacobian(f, format="csc"), np.append(np.zeros(13), np.ones(9)))
    without = np.setdiff1d(np.arange(14), CASE_14.generators[:, 0].astype(int) - 1)
    np.testing.assert_allclose(np.degrees(x[:13]), CASE_14.buses[1:, 5], atol=0.02)
    np.testing.assert_allclose(x[13:], CASE_14.buses[without, 4], atol=2e-3)


def between(bounds: tuple[np.ndarray, np.ndarray]) -> Any:
    low, high = bounds
    return SimpleNamespace(lb=low, ub=high)


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("name", COSTS)
def test_optimal_power_flow_by_ipopt(name: str, copies: int) -> None:
    pytest.importorskip("cyipopt")
    network: Network = COSTS[name][0].repeated(copies)
    least, most = network.limits()
    balances = network.balances
    problem = ipopt.Problem(network.cost, network.start(), balances, least, most, bounds=between(network.bounds()))
    found = problem.solve()
    assert found.success
    assert found.nit < 40
    assert found.fun == pytest.approx(copies * COSTS[name][1], abs=0.01 * copies)


def test_control_by_ipopt() -> None:
    """The least time of the continuous problem, with an error that falls as the square of the step."""
    pytest.importorskip("cyipopt")
    errors = []
    for steps in (50, 100):
        control = Control(steps)
        start, bounds = control.start(), between(control.bounds())
        found = ipopt.Problem(control.time, start, control.defects, bounds=bounds).solve()
        assert found.success
        errors.append(found.fun - control.least_time())
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.02)
    assert errors[1] < 3e-5
