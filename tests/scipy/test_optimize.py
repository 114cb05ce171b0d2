"""Solvers: values as SciPy's, derivatives as those of the solutions in closed form, in every mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

so = pytest.importorskip("scipy.optimize")

from _scipy.orders import assert_orders  # noqa: E402
from _scipy.problems import bowl, bowl_slope, misfit  # noqa: E402

import hoad  # noqa: E402
from hoad.errors import GuardError, NoRuleError  # noqa: E402
from hoad.scipy import integrate, optimize  # noqa: E402

X = np.linspace(0.0, 2.0, 9)
Y = 1.5 * np.exp(-0.75 * X) + 0.01 * np.sin(9.0 * X)


def lambert(p: Any) -> Any:
    return mp.lambertw(p).real


def kepler(x: Any, p: Any) -> Any:
    """0 at x = W(p)."""
    return x * np.exp(x) - p


def pair(z: Any, p: Any) -> Any:
    """0 at √p and p √p."""
    return [z[0] ** 2 - p, z[1] - p * z[0]]


def bisected(name: str) -> Callable[[Any], Any]:
    return lambda p: getattr(optimize, name)(lambda x: kepler(x, p), 0.0, 3.0, xtol=1e-15, maxiter=200)


def scalar(method: str, **options: Any) -> Callable[[Any], Any]:
    def f(p: Any) -> Any:
        return optimize.root_scalar(lambda x: kepler(x, p), method=method, xtol=1e-15, maxiter=200, **options).root

    return f


def slope(x: Any) -> Any:
    return (1.0 + x) * np.exp(x)


TIGHT = {"options": {"gtol": 1e-13}}
SQUARES = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}
# What is called, its function of p, the solution, and how accurate its derivatives are.
ROWS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], float]] = {
    **{name: (bisected(name), lambert, 1e-9) for name in ("brentq", "brenth", "bisect", "ridder", "toms748")},
    "brentq, args": (lambda p: optimize.brentq(kepler, 0.0, p, args=(p,), xtol=1e-15), lambert, 1e-9),
    "brentq, full_output": (
        lambda p: optimize.brentq(kepler, 0.0, 3.0, args=(p,), xtol=1e-15, full_output=True)[1].root,
        lambert,
        1e-9,
    ),
    "newton": (lambda p: optimize.newton(lambda x: kepler(x, p), 1.0, tol=1e-14), lambert, 1e-9),
    "newton, fprime": (lambda p: optimize.newton(lambda x: kepler(x, p), 1.0, slope, tol=1e-14), lambert, 1e-9),
    "newton of arrays": (
        lambda p: optimize.newton(lambda x: kepler(x, p * np.array([1.0, 2.0])), np.ones(2), tol=1e-14)[1],
        lambda p: lambert(2 * p),
        1e-9,
    ),
    "root_scalar, brentq": (scalar("brentq", bracket=[0.0, 3.0]), lambert, 1e-9),
    "root_scalar, newton": (scalar("newton", x0=1.0, fprime=slope), lambert, 1e-9),
    "root_scalar, secant": (scalar("secant", x0=1.0, x1=1.1), lambert, 1e-9),
    "root_scalar, fprime=True": (
        lambda p: optimize.root_scalar(lambda x: (kepler(x, p), slope(x)), x0=1.0, fprime=True, xtol=1e-15).root,
        lambert,
        1e-9,
    ),
    "root": (lambda p: optimize.root(lambda z: pair(z, p), np.ones(2), tol=1e-12).x[1], lambda p: p**1.5, 1e-9),
    "root, lm": (
        lambda p: optimize.root(lambda z: pair(z, p), np.ones(2), method="lm", tol=1e-12).x[1],
        lambda p: p**1.5,
        1e-9,
    ),
    "root, jac=True": (
        lambda p: optimize.root(
            lambda z: (pair(z, p), [[2.0 * z[0], 0.0], [-p, 1.0]]),
            np.ones(2),
            jac=True,
            tol=1e-12,
        ).x[1],
        lambda p: p**1.5,
        1e-9,
    ),
    "fsolve": (lambda p: optimize.fsolve(pair, [1.0, 1.0], args=(p,), xtol=1e-12)[1], lambda p: p**1.5, 1e-9),
    "fixed_point": (
        lambda p: optimize.fixed_point(lambda x: 0.5 * (x + p / x), 1.0, xtol=1e-15),
        mp.sqrt,
        1e-9,
    ),
    "minimize": (lambda p: optimize.minimize(lambda z: bowl(z, p), np.ones(2), **TIGHT).x[0], mp.sqrt, 1e-6),
    "minimize, fun": (lambda p: optimize.minimize(bowl, np.ones(2), args=(p,), **TIGHT).fun, lambda p: p, 1e-6),
    "minimize, jac": (
        lambda p: optimize.minimize(lambda z: bowl(z, p), np.ones(2), jac=lambda z: bowl_slope(z, p), **TIGHT).x[1],
        lambda p: 1 / p,
        1e-9,
    ),
    "minimize, jac=True": (
        lambda p: optimize.minimize(lambda z: (bowl(z, p), bowl_slope(z, p)), np.ones(2), jac=True, **TIGHT).x[1],
        lambda p: 1 / p,
        1e-9,
    ),
    "minimize, bounds": (
        lambda p: optimize.minimize(
            lambda z: bowl(z, p),
            np.ones(2),
            jac=lambda z: bowl_slope(z, p),
            bounds=[(0.0, 9.0), (None, 9.0)],
            options={"gtol": 1e-13, "ftol": 1e-16},
        ).x[0],
        mp.sqrt,
        1e-6,
    ),
    **{
        f"minimize, on a bound, {method}": (
            lambda p, method=method: optimize.minimize(
                lambda z: (z[0] - p - 1.0) ** 2 + (z[1] - p * p * z[0]) ** 2,
                [0.5, 0.5],
                method=method,
                jac=lambda z: np.array(
                    [2 * (z[0] - p - 1.0) - 2 * p * p * (z[1] - p * p * z[0]), 2 * (z[1] - p * p * z[0])]
                ),
                bounds=[(0.0, 1.0), (None, 9.0)],
                tol=1e-14,
            ).x[1],
            lambda p: p**2,
            1e-6,
        )
        for method in ("TNC", "SLSQP")
    },
    "minimize, a traced bound": (
        lambda p: optimize.minimize(
            lambda z: (z[0] - 99.0) ** 2 + (z[1] - z[0]) ** 2, [0.5, 0.5], bounds=[(0.0, p**2), (0.0, None)], tol=1e-14
        ).x[1],
        lambda p: p**2,
        1e-6,
    ),
    "minimize, between equal bounds": (
        lambda p: optimize.minimize(
            lambda z: (z[0] - 99.0) ** 2 + (z[1] - p * z[0]) ** 2,
            [2.0, 0.5],
            bounds=optimize.Bounds([2, 0], [2, 9]),
            method="SLSQP",
            tol=1e-14,
        ).x[1],
        lambda p: 2 * p,
        1e-6,
    ),
    "minimize, an equality": (
        lambda p: optimize.minimize(
            lambda z: z[0] ** 2 + z[1] ** 2,
            [2.0, 0.5],
            jac=lambda z: 2.0 * z,
            constraints={"type": "eq", "fun": lambda z: z[0] * z[1] - p, "jac": lambda z: z[::-1]},
            tol=1e-15,
        ).x[1],
        mp.sqrt,
        1e-4,
    ),
    "minimize, an equality, args": (
        lambda p: (
            optimize.minimize(
                lambda z, q: (z[0] ** 2 + z[1] ** 2) * q,
                [2.0, 0.5],
                args=(p,),
                jac=lambda z, q: 2.0 * z * q,
                constraints={
                    "type": "eq",
                    "fun": lambda z, q: z[0] * z[1] - q,
                    "jac": lambda z, q: z[::-1],
                    "args": (p,),
                },
                tol=1e-15,
            ).fun
        ),
        lambda p: 2 * p**2,
        1e-4,
    ),
    "minimize, inequalities": (
        lambda p: optimize.minimize(
            lambda z: (z[0] - 9.0) ** 2 + (z[1] - z[0]) ** 2,
            [0.5, 0.5],
            constraints=[
                {"type": "ineq", "fun": lambda z: p - z[0] ** 2, "jac": lambda z: np.array([-2.0 * z[0], 0.0])},
                {"type": "ineq", "fun": lambda z: 99.0 - z},
            ],
            tol=1e-12,
        ).x[1],
        mp.sqrt,
        1e-5,
    ),
    "minimize, a traced limit": (
        lambda p: optimize.minimize(
            lambda z: (z[0] - 9.0) ** 2 + (z[1] - z[0]) ** 2,
            [0.5, 0.5],
            method="SLSQP",
            bounds=[(0.0, None), (0.0, 9.0)],
            constraints=optimize.NonlinearConstraint(lambda z: z[0] ** 2, -np.inf, p),
            tol=1e-12,
        ).x[1],
        mp.sqrt,
        1e-5,
    ),
    "minimize, a linear constraint": (
        lambda p: optimize.minimize(
            lambda z: (z[0] - 9.0) ** 2 + (z[1] - p * p * z[0]) ** 2 + (z[2] - 1.0) ** 2,
            [0.5, 0.5, 0.5],
            method="SLSQP",
            bounds=[(None, None), (None, None), (0.5, 0.5)],
            constraints=optimize.LinearConstraint([[1.0, 0.0, 2.0]], -9.0, 3.0),
            tol=1e-12,
        ).x[1],
        lambda p: 2 * p**2,
        1e-5,
    ),
    "minimize_scalar": (lambda p: optimize.minimize_scalar(lambda z: (z - p * p) ** 2 + p).x, lambda p: p**2, 1e-6),
    "minimize_scalar, bounded": (
        lambda p: optimize.minimize_scalar(lambda z: (z - p * p) ** 2 + p, bounds=(0.0, 9.0)).fun,
        lambda p: p,
        1e-6,
    ),
    "minimize_scalar, on a bound": (
        lambda p: optimize.minimize_scalar(lambda z: (z - p - 9.0) ** 2 + p * z, bounds=(0.0, 1.0)).fun,
        lambda p: (p + 8) ** 2 + p,
        1e-4,
    ),
    "minimize_scalar, a traced bound": (
        lambda p: optimize.minimize_scalar(lambda z: (z + 9.0) ** 2, bounds=(p * p, 99.0)).x,
        lambda p: p**2,
        1e-4,
    ),
    "least_squares": (
        lambda p: optimize.least_squares(lambda z: misfit(z, p), np.ones(2), **SQUARES).x[0],
        lambda p: (p + 4 * p**2) / 5,
        1e-8,
    ),
    **{
        f"least_squares, on a bound, {method}": (
            lambda p, method=method: optimize.least_squares(
                lambda z: np.stack([z[0] - p - 1.0, z[1] - p * p * z[0]]),
                [0.5, 0.5],
                bounds=([0.0, 0.0], [1.0, 9.0]),
                method=method,
                **SQUARES,
            ).x[1],
            lambda p: p**2,
            1e-6,
        )
        for method in ("trf", "dogbox")
    },
    "least_squares, cost": (
        lambda p: optimize.least_squares(misfit, np.ones(2), args=(p,), **SQUARES).cost,
        lambda p: (p - p**2) ** 2 * 2 / 5,
        1e-8,
    ),
    "leastsq": (
        lambda p: optimize.leastsq(misfit, np.ones(2), args=(p,), full_output=True, ftol=1e-15, xtol=1e-15)[0][0],
        lambda p: (p + 4 * p**2) / 5,
        1e-8,
    ),
    "leastsq, Dfun": (
        lambda p: optimize.leastsq(
            lambda z: np.stack([z[0] ** 2 - p, z[1] - 1.0]),
            np.ones(2),
            Dfun=lambda z: np.array([[2.0 * z[0], 0.0], [0.0, 1.0]]),
            xtol=1e-15,
        )[0][0],
        mp.sqrt,
        1e-8,
    ),
    **{
        f"{name}, args": (
            lambda p, name=name, options=options: getattr(optimize, name)(
                bowl, np.ones(2), bowl_slope, args=(p,), full_output=True, disp=False, **options
            )[0][0],
            mp.sqrt,
            1e-6,
        )
        for name, options in {"fmin_bfgs": {"gtol": 1e-12}, "fmin_cg": {"gtol": 1e-12}, "fmin_ncg": {}}.items()
    },
    "fmin_l_bfgs_b, a traced bound": (
        lambda p: optimize.fmin_l_bfgs_b(
            lambda z: (z[0] - 99.0) ** 2 + (z[1] - z[0]) ** 2,
            [0.5, 0.5],
            lambda z: np.array([2 * (z[0] - 99.0) - 2 * (z[1] - z[0]), 2 * (z[1] - z[0])]),
            bounds=[(0.0, p**2), (0.0, None)],
            pgtol=1e-12,
        )[0][1],
        lambda p: p**2,
        1e-6,
    ),
    "fmin_l_bfgs_b, its value": (
        lambda p: optimize.fmin_l_bfgs_b(lambda z: (bowl(z, p), bowl_slope(z, p)), [1.0, 1.0], pgtol=1e-12, factr=0.1)[
            1
        ],
        lambda p: p,
        1e-6,
    ),
    "curve_fit, on a bound": (
        lambda p: optimize.curve_fit(lambda x, a, b: a * x + b, X, p * p * X + 1.0, bounds=([0.0, -9.0], [0.5, 9.0]))[
            0
        ][1],
        lambda p: p**2 + 0.5,
        1e-6,
    ),
    "curve_fit, covariance on a bound": (
        lambda p: optimize.curve_fit(lambda x, a, b: a * x + b, X, p * p * X + 1.0, bounds=([0.0, -9.0], [0.5, 9.0]))[
            1
        ][1, 1],
        lambda p: (p**2 - 0.5) ** 2 * 12.75 / 63,
        1e-6,
    ),
    "curve_fit, a traced bound": (
        lambda p: optimize.curve_fit(lambda x, a, b: a * x + b, X, 9.0 * X, bounds=([0.0, -9.0], [p * p, 99.0]))[0][1],
        lambda p: 9 - p**2,
        1e-6,
    ),
    "curve_fit": (
        lambda p: optimize.curve_fit(lambda x, a, b: a * np.exp(-b * x), p * X, Y, **SQUARES, method="trf")[0][1],
        lambda p: so.curve_fit(lambda x, a, b: a * np.exp(-b * x), X, Y, **SQUARES, method="trf")[0][1] / p,
        1e-7,
    ),
    "curve_fit of a line": (
        lambda p: optimize.curve_fit(lambda x, a: a * x, X, p**2 * Y, sigma=1.0 + X)[0][0],
        lambda p: p**2 * float(np.sum(X * Y / (1 + X) ** 2) / np.sum(X * X / (1 + X) ** 2)),
        1e-7,
    ),
    "curve_fit, pcov": (
        lambda p: optimize.curve_fit(lambda x, a: a * x, X, p**2 * Y)[1][0, 0],
        lambda p: p**4 * float(so.curve_fit(lambda x, a: a * x, X, Y)[1][0, 0]),
        1e-7,
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_derivatives(name: str) -> None:
    f, reference, rtol = ROWS[name]
    assert_orders(f, reference, 1.5, 1.75, rtol)


@pytest.mark.parametrize("name", ROWS)
def test_values_are_scipys(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f = ROWS[name][0]
    plain, traced = f(1.5), hoad.value_and_grad(f)(1.5)[0]
    monkeypatch.setitem(globals(), "optimize", so)
    own = f(1.5)
    assert plain == own
    assert traced == pytest.approx(own, rel=1e-7)


LOSSES = ["soft_l1", "huber", "cauchy", "arctan"]


@pytest.mark.parametrize("loss", LOSSES)
def test_losses(loss: str) -> None:
    """The solution makes the gradient of SciPy's cost 0 wherever p is."""

    def solution(p: Any) -> Any:
        return optimize.least_squares(lambda z: z[0] * X - p * Y, np.ones(1), loss=loss, f_scale=0.5, **SQUARES).x[0]

    h = 1e-4
    wanted = (solution(1.5 + h) - solution(1.5 - h)) / (2 * h)
    assert hoad.grad(solution)(1.5) == pytest.approx(wanted, rel=1e-6)


def branching(p: Any) -> Any:
    return optimize.brentq(lambda x: x**2 - p if x < 1.5 else 3.0 * x - p - 2.25, 0.0, 5.0, xtol=1e-15)


def test_branches_of_the_function() -> None:
    """Each is recorded where the solver comes to it; at the solution it is guarded."""
    assert hoad.grad(branching)(1.0) == pytest.approx(0.5)
    assert hoad.grad(branching)(9.0) == pytest.approx(1.0 / 3.0)
    jitted = hoad.jit(hoad.grad(branching))
    assert [jitted(p) for p in (1.0, 9.0, 1.21)] == pytest.approx([0.5, 1.0 / 3.0, 0.5 / 1.1])
    program = hoad.record(branching, 1.0)
    assert program.evaluate(1.21) == pytest.approx(1.1)
    with pytest.raises(GuardError):
        program.evaluate(9.0)


def test_two_parameters_and_nested_solvers() -> None:
    def f(p: Any, q: Any) -> Any:
        inner = optimize.brentq(lambda x: x**2 - p, 0.0, 9.0, xtol=1e-15)
        return optimize.brentq(lambda y: y * optimize.brentq(lambda x: x - q, 0.0, 9.0) - inner, 0.0, 9.0, xtol=1e-15)

    np.testing.assert_allclose(hoad.hessian(f, argnums=(0, 1))(4.0, 2.0)[0][1], -0.0625, rtol=1e-9)
    np.testing.assert_allclose(hoad.jacobian(f, argnums=(0, 1))(4.0, 2.0), [0.125, -0.5], rtol=1e-9)


def test_under_vmap() -> None:
    p = np.array([1.0, 1.5, 2.0])
    np.testing.assert_allclose(
        hoad.vmap(hoad.grad(ROWS["brentq"][0]))(p), [float(mp.diff(lambert, x)) for x in p], rtol=1e-9
    )


def test_what_depends_on_nothing_traced_is_scipys() -> None:
    found = hoad.grad(lambda p: p * optimize.brentq(lambda x: float(int(x > 1.0)) - 0.5, 0.0, 2.0))(1.0)
    assert found == so.brentq(lambda x: float(int(x > 1.0)) - 0.5, 0.0, 2.0)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda p: so.minimize(lambda z: (z[0] - p) ** 2, [0.5], bounds=[(0.0, 1.5)]).x[0], "does not hold it"),
        (lambda p: so.minimize_scalar(lambda z: (z - p) ** 2, bounds=(0.0, 1.5)).x, "does not hold it"),
        (
            lambda p: so.minimize_scalar(lambda z: np.cos(9 * z) + p * z, bounds=(0.0, 9.0), options={"xatol": 2.0}).x,
            "no bound holds x",
        ),
        (
            lambda p: so.least_squares(lambda z: z - p, [0.5], bounds=(0.0, 1.5), method="dogbox").x[0],
            "does not hold it",
        ),
        (
            lambda p: so.curve_fit(lambda x, a: a * x, X, p * X, bounds=(0.0, 1.5), method="dogbox")[0][0],
            "does not hold it",
        ),
        (
            lambda p: so.minimize(
                lambda z: (z[0] - p) ** 2, [0.5], constraints={"type": "ineq", "fun": lambda z: 1.5 - z[0]}, tol=1e-15
            ).x[0],
            "does not hold it",
        ),
        (
            lambda p: so.minimize(
                lambda z: z[0] * p, [0.5], constraints={"type": "ineq", "fun": lambda z: -1.0 - z[0] ** 2}
            ).x[0],
            "did not converge",
        ),
        (lambda p: so.minimize(lambda z: z[0] ** 2 + p, [9.0], options={"maxiter": 0}).x[0], "did not converge"),
        (
            lambda p: so.leastsq(lambda z: np.cos(z) + p * z**4, [9.0], full_output=True, maxfev=2)[0][0],
            "did not converge",
        ),
        (lambda p: so.fmin_bfgs(lambda z: (z[0] - p) ** 4, [9.0], maxiter=1, disp=False)[0], "where the slope is"),
        (lambda p: so.newton(lambda x: x**3 - p, 9.0, maxiter=2, disp=False, full_output=True)[0], "did not converge"),
        (
            lambda p: so.least_squares(lambda z: z - p, [0.5], loss=lambda z: np.stack([z, 1 + 0 * z, 0 * z])).x[0],
            "los",
        ),
    ],
)
def test_what_cannot_be_says_why(call: Callable[[Any], Any], why: str) -> None:
    with pytest.raises(NoRuleError, match=why):
        hoad.grad(hoad.adopt(call))(1.5)


def test_a_constraint_met_in_a_replay() -> None:
    def f(p: Any) -> Any:
        limit = {"type": "ineq", "fun": lambda z: 1.0 - z[0]}
        return optimize.minimize(lambda z: (z[0] - p) ** 2, [0.5], constraints=limit, tol=1e-15).x[0]

    jitted = hoad.jit(hoad.grad(f))
    for p, wanted in ((0.75, 1.0), (2.0, 0.0), (0.5, 1.0), (3.0, 0.0)):
        assert jitted(p) == pytest.approx(wanted)
    with pytest.raises(NoRuleError, match="does not hold it"):
        jitted(1.0)


def test_a_solver_that_stops_early_is_not_believed() -> None:
    """L-BFGS-B with slopes by differences gives up far from the minimum here, and calls it a success."""

    def f(p: Any) -> Any:
        return optimize.minimize(
            lambda z: (z[0] - p - 1.0) ** 2 + (z[1] - p * p * z[0]) ** 2,
            [0.5, 0.5],
            bounds=[(0.0, 1.0), (None, 9.0)],
            tol=1e-14,
        ).x[1]

    with pytest.raises(NoRuleError, match="an unknown that no bound holds"):
        hoad.grad(f)(1.75)


def test_objects_of_scipys_classes_are_taken_for_what_they_are() -> None:
    bounds = optimize.Bounds([0.0], [1.0])
    assert isinstance(bounds, so.Bounds)
    assert optimize.minimize(lambda z: (z[0] - 3.0) ** 2, [0.5], bounds=bounds).x == [1.0]
    for method in (integrate.RK45, integrate.DOP853):
        assert issubclass(method, pytest.importorskip("scipy.integrate").OdeSolver)
        found = integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], method=method, rtol=1e-9, atol=1e-12)
        assert found.y[0, -1] == pytest.approx(np.exp(-1.0), rel=1e-8)


def test_a_bound_of_a_line_met_in_a_replay() -> None:
    jitted = hoad.jit(hoad.grad(lambda p: optimize.minimize_scalar(lambda z: (z - p) ** 2, bounds=(0.0, 1.0)).x))
    for p, wanted in ((0.75, 1.0), (2.0, 0.0), (0.5, 1.0), (-1.0, 0.0), (1.0 - 1e-4, 1.0), (1.0 + 1e-4, 0.0)):
        assert jitted(p) == pytest.approx(wanted)
    with pytest.raises(NoRuleError, match="does not hold it"):
        jitted(1.0)
    narrow = hoad.grad(lambda p: optimize.minimize_scalar(lambda z: (z - p) ** 2, bounds=(0.0, 0.01)).x)
    assert narrow(1.5) == 0.0
    assert narrow(0.005) == pytest.approx(1.0)


def test_a_bound_met_in_a_replay() -> None:
    def f(p: Any) -> Any:
        return optimize.minimize(lambda z: (z[0] - p) ** 2, [0.5], bounds=[(0.0, 1.0)]).x[0]

    jitted = hoad.jit(hoad.grad(f))
    for p, wanted in ((0.75, 1.0), (2.0, 0.0), (0.5, 1.0), (-1.0, 0.0)):
        assert jitted(p) == pytest.approx(wanted)
    with pytest.raises(NoRuleError, match="does not hold it"):
        jitted(1.0)


def test_errors_are_scipys() -> None:
    with pytest.raises(ValueError, match="different signs"):
        hoad.grad(lambda p: optimize.brentq(lambda x: x - p, 5.0, 9.0))(1.0)
    with pytest.raises(np.linalg.LinAlgError):
        hoad.grad(lambda p: optimize.brentq(lambda x: (x - p) ** 3, 0.0, 2.0))(1.0)


def test_complex_unknowns() -> None:
    """A root that depends on no traced value is found as ever; of another one the imaginary part was dropped."""
    assert hoad.grad(lambda p: p * abs(optimize.newton(lambda z: z * z + 4.0, 0.5 + 0.5j)))(1.5) == pytest.approx(2.0)
    with pytest.raises(NoRuleError, match="two unknowns"):
        hoad.grad(lambda p: abs(optimize.newton(lambda z: z * z + p, 0.5 + 0.5j)))(4.0)


def test_least_squares_without_negative_unknowns_are_found_again() -> None:
    """Which unknowns are 0 changes between calls; derivatives are those of least squares in the others."""
    a = np.array([[1.0, 0.4, -0.3], [0.2, 1.1, 0.5], [-0.6, 0.3, 0.9], [0.1, -0.7, 1.2]])
    jitted = hoad.jit(hoad.jacobian(lambda b: optimize.nnls(a, b)[0]))
    for b in ([1.0, 2.0, 0.5, 0.3], [1.0, -2.0, 0.5, 0.3], [-1.0, 0.3, -0.8, -0.2], [1.0, 2.0, 0.5, 0.3]):
        free = so.nnls(a, np.array(b))[0] > 0.0
        wanted = np.zeros((3, 4))
        wanted[free] = np.linalg.pinv(a[:, free])
        np.testing.assert_allclose(jitted(np.array(b)), wanted, rtol=1e-12, atol=1e-14)
    with pytest.raises(hoad.NoRuleError, match="0 without its bound"):
        hoad.grad(lambda b: np.sum(optimize.nnls(a, b)[0]))(np.zeros(4))
