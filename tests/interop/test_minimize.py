"""`hoad.minimize`: SciPy's methods end where closed forms say, with the derivatives that each can use."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest

so = pytest.importorskip("scipy.optimize")
sparse = pytest.importorskip("scipy.sparse")

import hoad  # noqa: E402
from hoad._solvers import matrices  # noqa: E402
from hoad.errors import ArgumentError, DTypeError, ShapeError  # noqa: E402

METHODS = [
    "CG",
    "BFGS",
    "L-BFGS-B",
    "TNC",
    "Newton-CG",
    "trust-ncg",
    "trust-krylov",
    "trust-exact",
    "trust-constr",
    "SLSQP",
]
WITH_HESSIAN = ("Newton-CG", "trust-ncg", "trust-krylov", "trust-exact", "trust-constr")


def rosenbrock(x: Any, steep: Any = 100.0) -> Any:
    return np.sum(steep * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def coupled(x: Any) -> Any:
    """A function whose Hessian is full."""
    return np.sum(x**2) ** 2 + np.sum(np.cosh(x - 1))


@pytest.mark.parametrize("n", [3, 60, 220])
@pytest.mark.parametrize("method", METHODS)
def test_same_steps_as_with_derivatives_written_by_hand(method: str, n: int) -> None:
    """SciPy's Rosenbrock function has them; only the order of operations differs."""
    if n == 220 and method in ("trust-exact", "BFGS", "SLSQP"):
        pytest.skip("cubic in n")
    x0 = np.linspace(0.8, 1.1, n)
    hess = {"hess": so.rosen_hess} if method in WITH_HESSIAN else {}
    expected = so.minimize(so.rosen, x0, method=method, jac=so.rosen_der, **hess)
    found = hoad.minimize(rosenbrock, x0, method=method)
    assert found.success == expected.success and found.nit <= 1.5 * expected.nit + 2
    np.testing.assert_allclose(found.x, 1.0, atol=max(1e-3, 2 * np.max(np.abs(expected.x - 1))))


@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell", "COBYLA", "COBYQA"])
@pytest.mark.filterwarnings("error")
def test_methods_without_derivatives(method: str) -> None:
    if method == "COBYQA" and not hasattr(so._minimize, "_minimize_cobyqa"):
        pytest.skip("SciPy has it from 1.14 on")
    found = hoad.minimize(lambda x: np.sum((x - 0.5) ** 2), np.zeros(2), method=method)
    np.testing.assert_allclose(found.x, 0.5, atol=1e-3)


@pytest.mark.parametrize(
    ("f", "method", "n", "kind"),
    [
        (rosenbrock, "trust-constr", 40, np.ndarray),
        (rosenbrock, "trust-constr", 80, sparse.sparray),
        (rosenbrock, "trust-ncg", 80, matrices.SparseProduct),
        (rosenbrock, "trust-exact", 80, np.ndarray),
        (coupled, "Newton-CG", 80, np.ndarray),
        (coupled, "trust-constr", 250, matrices.Product),
    ],
)
def test_form_of_the_hessian(f: Any, method: str, n: int, kind: type) -> None:
    x, p = np.linspace(0.5, 1.0, n), np.linspace(-1.0, 1.0, n)
    given = matrices.hessian_for(f, "auto", method.lower(), (x,))
    exact = hoad.hessian(f)(x)
    if "hessp" in given:
        assert isinstance(given["hessp"], kind)
        np.testing.assert_allclose(given["hessp"](x, p), exact @ p, rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(given["hessp"](x + 1, p), hoad.hessian(f)(x + 1) @ p, rtol=1e-12, atol=1e-9)
    else:
        found = given["hess"](x)
        assert isinstance(found, kind)
        np.testing.assert_allclose(found.toarray() if sparse.issparse(found) else found, exact, rtol=1e-12, atol=1e-12)


def test_a_sparse_matrix_in_another_branch() -> None:
    """What a plan refuses is computed by a call of the driver."""
    matrix = matrices.Matrix(rosenbrock, "hessian")
    x = np.linspace(0.5, 1.0, 80)
    found = matrix(x).toarray()

    def values(*_: Any) -> Any:
        raise hoad.GuardError("another branch")

    matrix.plan.values = values
    np.testing.assert_allclose(matrix(x).toarray(), found, rtol=1e-14)


@pytest.mark.parametrize("hess", ["auto", "dense", "sparse", "product", None, so.BFGS(), so.rosen_hess])
def test_hess(hess: Any) -> None:
    found = hoad.minimize(rosenbrock, np.zeros(4), method="trust-constr", hess=hess, options={"xtol": 1e-10})
    np.testing.assert_allclose(found.x, 1.0, atol=1e-5)


@pytest.mark.parametrize(
    ("method", "hess", "message"),
    [
        (None, "sparse", "the method chosen by SciPy takes no hess='sparse'. Use hess='auto', or a method such as"),
        (
            "BFGS",
            "dense",
            "the method bfgs takes no hess='dense'. Use hess='auto', or a method such as 'trust-constr'.",
        ),
        ("dogleg", "product", "the method dogleg takes no hess='product'. Use hess='dense'."),
    ],
)
def test_a_form_that_a_method_does_not_take(method: Any, hess: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(message)):
        hoad.minimize(rosenbrock, np.zeros(3), method=method, hess=hess)


def test_args_in_containers() -> None:
    def misfit(x: Any, data: dict[str, Any], power: int) -> Any:
        return np.sum((x[0] + x[1] * data["t"] - data["y"]) ** power)

    data = {"t": np.array([0.0, 1.0, 2.0]), "y": np.array([1.0, 3.0, 5.0]), "from": "a table"}
    found = hoad.minimize(misfit, np.zeros(2), (data, 2), method="trust-exact")
    np.testing.assert_allclose(found.x, [1.0, 2.0], atol=1e-7)
    assert hoad.minimize(lambda x, a: np.sum((x - a) ** 2), [0.5], 3.0).x == pytest.approx(3.0)


def test_callback_and_a_method_of_ones_own() -> None:
    seen: list[Any] = []
    hoad.minimize(rosenbrock, np.zeros(3), callback=lambda x: seen.append(x.copy()))
    assert len(seen) > 5

    def newton(fun: Any, x0: Any, args: Any, jac: Any, **_: Any) -> Any:
        return so.OptimizeResult(x=x0 - jac(x0, *args) / 2, success=True)

    assert hoad.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(2), method=newton).x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("x0", "error", "message"),
    [
        ([1, 2], DTypeError, "minimize needs floats for x0, but was given int64. Use np.asarray(x0, float)."),
        (np.array([1j]), DTypeError, "minimize needs real unknowns, but x0 is complex. Use real and imaginary parts"),
        (
            np.ones((2, 2)),
            ShapeError,
            "minimize needs x0 of one dimension, but its shape is (2, 2). Use x0.ravel() and",
        ),
        (
            {"a": 1.0},
            ArgumentError,
            "minimize needs an array for x0, but was given a dict. Use x0, unravel = hoad.ravel",
        ),
        ([[1.0], [2.0, 3.0]], ArgumentError, "minimize needs an array for x0, but its items have different shapes"),
    ],
)
def test_x0(x0: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        hoad.minimize(rosenbrock, x0)


def test_x0_is_left_as_it_is() -> None:
    x0 = np.full(3, 0.5, np.float32)
    found = hoad.minimize(rosenbrock, x0, method="trust-exact")
    assert found.x.dtype == np.float64 and x0.tolist() == [0.5] * 3
    assert hoad.minimize(lambda x: (x[0] - 2) ** 2, 0.0).x == pytest.approx([2.0])


def test_functions_that_are_not_scalar() -> None:
    with pytest.raises(ShapeError, match=r"^minimize needs a scalar function, but f\(x\) has shape \(3,\)\. Return a"):
        hoad.minimize(lambda x: x**2, np.ones(3))
    with pytest.raises(ShapeError, match=r"^minimize needs a function that returns a number"):
        hoad.minimize(lambda x: None, np.ones(3))
    with pytest.raises(DTypeError, match=r"^minimize needs a real function.*\(np\.real, np\.imag, np\.abs\)\.$"):
        hoad.minimize(lambda x: np.sum(x) * 1j, np.ones(3))


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "scipy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(ImportError, match=r"minimize needs scipy, which is not installed: pip install 'hoad\[scipy\]'"):
        hoad.minimize(rosenbrock, np.zeros(2))


# ---- inside derivatives ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [None, "trust-exact", "trust-constr", "Newton-CG"])
def test_derivatives_of_the_minimum(method: Any) -> None:
    """x = p, y = p²."""

    def f(x: Any, p: Any) -> Any:
        return (x[0] - p) ** 2 + (x[1] - p * x[0]) ** 2

    def at(p: Any) -> Any:
        return hoad.minimize(f, np.zeros(2), (p,), method, tol=1e-12).x

    np.testing.assert_allclose(hoad.jacobian(at)(1.5), [1.0, 3.0], rtol=1e-7)
    np.testing.assert_allclose(hoad.jacobian(hoad.jacobian(at))(1.5), [0.0, 2.0], atol=1e-6)


@pytest.mark.parametrize("constraint", ["dict", "nonlinear", "linear"])
def test_derivatives_within_constraints(constraint: str) -> None:
    """The point of the line x + 2 y = 1 that is nearest to (p, p)."""

    def line(x: Any) -> Any:
        return x[0] + 2 * x[1] - 1.0

    made = {
        "dict": {"type": "eq", "fun": line},
        "nonlinear": so.NonlinearConstraint(line, 0.0, 0.0),
        "linear": so.LinearConstraint(np.array([[1.0, 2.0]]), 1.0, 1.0),
    }[constraint]

    def at(p: Any) -> Any:
        return hoad.minimize(lambda x: np.sum((x - p) ** 2), np.zeros(2), constraints=made, tol=1e-12).x

    np.testing.assert_allclose(at(2.0), [1.0, 0.0], atol=1e-7)
    np.testing.assert_allclose(hoad.jacobian(at)(2.0), [0.4, -0.2], rtol=1e-6)


# ---- constraints -----------------------------------------------------------------------------------------------------


def disc(x: Any, radius: Any = 1.0) -> Any:
    return [radius**2 - np.sum(x**2)]


ON_DISC = np.array([0.6, 0.8])  # of the unit disc, nearest to (3, 4)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr", "COBYLA"])
@pytest.mark.parametrize(
    "constraint",
    [
        {"type": "ineq", "fun": disc},
        {"type": "ineq", "fun": disc, "args": (1.0,)},
        {"type": "ineq", "fun": disc, "jac": lambda x: -2 * x[None]},
        so.NonlinearConstraint(disc, 0.0, np.inf),
        so.NonlinearConstraint(disc, 0.0, np.inf, jac=lambda x: -2 * x[None]),
        hoad.interop.scipy.nonlinear_constraint(disc, 0.0, np.inf),
        [{"type": "ineq", "fun": disc}, so.LinearConstraint(np.eye(2), -1.0, 1.0)],
    ],
    ids=["dict", "args", "jac", "nonlinear", "nonlinear-jac", "made", "two"],
)
def test_constraints(method: str, constraint: Any) -> None:
    found = hoad.minimize(
        lambda x: np.sum((x - np.array([3.0, 4.0])) ** 2),
        np.full(2, 0.1),
        method=method,
        constraints=constraint,
        tol=1e-9,
    )
    # trust-constr ends where the slope of the barrier function is 0, which may be with the barrier still high
    np.testing.assert_allclose(found.x, ON_DISC, atol=2e-4 if method == "trust-constr" else 1e-5)


def test_what_the_user_gave_is_left_as_it_is() -> None:
    given = {"type": "ineq", "fun": disc}, so.NonlinearConstraint(disc, 0.0, np.inf)
    hoad.minimize(rosenbrock, np.zeros(2), constraints=list(given), method="trust-constr", options={"maxiter": 3})
    assert given[0] == {"type": "ineq", "fun": disc}
    assert given[1].fun is disc and given[1].jac == "2-point" and isinstance(given[1].hess, so.BFGS)


def test_sparse_constraints() -> None:
    """The obstacle problem of a string under its weight: parabolas between the points where it touches."""
    n = 100

    def bent(u: Any) -> Any:
        u = np.concatenate([[0.0], u, [0.0]])
        return (u[2:] - 2 * u[1:-1] + u[:-2]) * (n + 1) ** 2

    made = so.NonlinearConstraint(lambda u: bent(u) - u**3, 1.0, 1.0)
    found = hoad.minimize(
        lambda u: np.sum((u - 0.1) ** 2),
        np.zeros(n),
        method="trust-constr",
        constraints=[made, so.LinearConstraint(np.ones((1, n)), -np.inf, 100.0)],
        bounds=[(-1.0, 1.0)] * n,
    )
    assert found.constr_violation < 1e-8 and all(sparse.issparse(jac) for jac in found.jac)
    expected = so.root(
        lambda u: bent(u) - u**3 - 1.0, np.zeros(n), jac=lambda u: hoad.jacobian(bent)(u) - np.diag(3 * u**2)
    )
    np.testing.assert_allclose(found.x, expected.x, atol=1e-7)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_a_constraint_of_an_unknown_type(method: str) -> None:
    with pytest.raises(ValueError, match=r"(?i)type '>='|unknown constraint type"):
        hoad.minimize(
            lambda x: np.sum(x**2), np.ones(2), constraints={"type": ">=", "fun": lambda x: x[0]}, method=method
        )
