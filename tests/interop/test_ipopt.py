"""IPOPT: what a problem computes, whether cyipopt is there or not, and the minima that it finds."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest

so = pytest.importorskip("scipy.optimize")
sparse = pytest.importorskip("scipy.sparse")

import hoad  # noqa: E402
from hoad._solvers.kept_pattern import Entries  # noqa: E402
from hoad.errors import ArgumentError, DomainError, GuardError, NoRuleError, ShapeError  # noqa: E402
from hoad.interop import ipopt  # noqa: E402

X = np.array([1.0, 5.0, 4.0, 1.5])


def f(x: Any, scale: Any = 1.0) -> Any:
    """Of problem 71 of Hock and Schittkowski."""
    return scale * (x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2])


def g(x: Any, scale: Any = 1.0) -> Any:
    return [np.prod(x), np.sum(x**2)]


def chain(x: Any) -> Any:
    return np.sum(np.cosh(x[1:] - x[:-1]))


def dense(entries: Any, structure: tuple[Any, Any], shape: tuple[int, int]) -> Any:
    made = np.zeros(shape)
    np.add.at(made, structure, entries)
    return made


def test_derivatives() -> None:
    problem = ipopt.Problem(f, X, g, [25.0, 40.0], [np.inf, 40.0], args=(2.0,))
    assert problem.objective(X) == pytest.approx(f(X, 2.0), rel=1e-15)
    np.testing.assert_allclose(problem.gradient(X), hoad.grad(f)(X, 2.0), rtol=1e-14)
    np.testing.assert_allclose(problem.constraints(X), g(X), rtol=1e-14)
    slopes = [[np.prod(X) / x for x in X], list(2 * X)]
    np.testing.assert_allclose(dense(problem.jacobian(X), problem.jacobianstructure(), (2, 4)), slopes, rtol=1e-14)
    x, weights = X + 0.5, np.array([0.5, -2.0])
    exact = hoad.hessian(lambda x: 3 * f(x, 2.0) + weights[0] * np.prod(x) + weights[1] * np.sum(x**2))(x)
    found = dense(problem.hessian(x, weights, 3.0), problem.hessianstructure(), (4, 4))
    np.testing.assert_allclose(found, np.tril(exact), rtol=1e-13, atol=1e-12)


def test_without_constraints() -> None:
    problem = ipopt.Problem(chain, np.linspace(0.0, 1.0, 60))
    rows, columns = problem.hessianstructure()
    assert len(rows) == 119 and np.all((rows - columns >= 0) & (rows - columns <= 1))
    found = dense(problem.hessian(problem.x0, np.zeros(0), 2.0), (rows, columns), (60, 60))
    np.testing.assert_allclose(found, np.tril(2 * hoad.hessian(chain)(problem.x0)), rtol=1e-13, atol=1e-13)
    assert problem.jacobian(problem.x0).size == problem.constraints(problem.x0).size == problem.limits[0].size == 0


@pytest.mark.parametrize(
    "bounds",
    [[(1.0, None), (None, 2.0)], so.Bounds([1.0, -np.inf], [np.inf, 2.0]), np.array([[1.0, np.inf], [-np.inf, 2.0]])],
)
def test_bounds(bounds: Any) -> None:
    low, high = ipopt.Problem(lambda x: np.sum(x**2), np.ones(2), bounds=bounds).bounds
    assert low.tolist() == [1.0, -np.inf] and high.tolist() == [np.inf, 2.0]


class Branching:
    """A driver whose plan holds for x[0] > 0 alone, and elsewhere has these entries."""

    def __init__(self, elsewhere: tuple[list[int], list[int]]) -> None:
        self.elsewhere = elsewhere

    def plan(self, x: Any) -> Any:
        rows, columns = ([0, 0, 1], [0, 1, 1]) if x[0] > 0 else self.elsewhere
        return Plan(np.array(rows), np.array(columns), x[0] > 0)


class Plan:
    shape = (2, 2)

    def __init__(self, rows: Any, columns: Any, positive: bool) -> None:
        self.rows, self.columns, self.positive = rows, columns, positive

    def values(self, x: Any) -> Any:
        if (x[0] > 0) != self.positive:
            raise GuardError("another branch")
        return 10.0 * self.rows + self.columns + 1.0


def test_another_branch_within_the_pattern() -> None:
    entries = Entries(Branching(([0, 1], [1, 1])), (np.ones(1),))
    assert entries.values(np.ones(1)).tolist() == [1.0, 2.0, 12.0]
    assert entries.values(-np.ones(1)).tolist() == [0.0, 2.0, 12.0]
    assert Entries(Branching(([], [])), (np.ones(1),)).values(-np.ones(1)).tolist() == [0.0, 0.0, 0.0]


def test_another_branch_outside_the_pattern() -> None:
    entries = Entries(Branching(([1], [0])), (np.ones(1),))
    with pytest.raises(DomainError, match="A derivative has entries here that it had not where the solver started"):
        entries.values(-np.ones(1))
    assert Entries(Branching(([0, 1], [1, 1])), (np.ones(1),), lower=True).values(np.ones(1)).tolist() == [1.0, 12.0]


def test_functions_that_are_none() -> None:
    with pytest.raises(ArgumentError, match="Problem"):
        ipopt.Problem(1.0, X)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="solve"):
        ipopt.solve(None, X)  # type: ignore[arg-type]


def square(x: Any) -> Any:
    return np.sum(x**2)


START = np.zeros(3)
# What is wrong with a problem before IPOPT is called: (error, message, arguments beside the objective and the start)
WRONG_PROBLEMS: list[tuple[type[Exception], str, dict[str, Any]]] = [
    (ShapeError, r"lower of bounds has shape \(2,\), but there are 3 unknowns", {"bounds": [(0, 1)] * 2}),
    (ShapeError, r"lower of bounds has shape \(2,\), but there are 3 unknowns", {"bounds": so.Bounds([0, 0], 1)}),
    (ArgumentError, r"greater than upper at index 1: 2.0 > 1.0", {"bounds": [(0, 1), (2, 1), (0, 1)]}),
    (ArgumentError, r"a pair for each unknown.*not 0\.", {"bounds": [0, 1, 2]}),
    (ArgumentError, r"a pair for each unknown.*not \(0, 1, 2\)", {"bounds": [(0, 1, 2)] * 3}),
    (ArgumentError, r"a pair for each unknown.*but got \[\]", {"bounds": []}),
    (ArgumentError, r"a pair for each unknown.*but got 3", {"bounds": 3}),
    (ArgumentError, "upper of bounds has a nan.*np.inf for no limit", {"bounds": [(0, np.nan)] * 3}),
    (ArgumentError, "upper of bounds is of dtype complex128", {"bounds": [(0, 1j)] * 3}),
]
WRONG_LIMITS: list[tuple[type[Exception], str, Any, Any]] = [
    (ShapeError, r"lower of {} has shape \(3,\), but there are 2 values of", [0, 0, 0], 1),
    (ArgumentError, r"lower of {} is greater than upper at index 0: 2.0 > 1.0", 2, 1),
    (ArgumentError, "lower of {} is of dtype <U1", "a", 1),
    (ArgumentError, "upper of {} has a nan", 0, np.nan),
]
WRONG_CONSTRAINTS: list[tuple[type[Exception], str, Any]] = [
    (ArgumentError, "constraint 0 has no 'fun', only 'type'", {"type": "eq"}),
    (ArgumentError, "constraint 0 has no 'type', only 'fun'", {"fun": square}),
    (ArgumentError, "constraint 1 has no 'type', only nothing", [{"fun": square, "type": "eq"}, {}]),
    (ArgumentError, "constraint 0 has 3 as 'fun', not a function", {"fun": 3, "type": "eq"}),
    (ArgumentError, "constraint 0 has 3 as 'fun', not a function", so.NonlinearConstraint(3, 0, 1)),
    (ArgumentError, "constraint 0 is of type 'le'. Write 'eq'", {"fun": square, "type": "le"}),
    (ArgumentError, r"constraint 0 has 3 as 'args'. Write .*: \(3,\)", {"fun": square, "type": "eq", "args": 3}),
    (ArgumentError, "constraint 0 is of type int. Give a dict", [3]),
    (ArgumentError, "constraint 0 is of type function. Give a dict", square),
]


@pytest.mark.parametrize("row", range(len(WRONG_PROBLEMS)))
def test_bounds_that_are_wrong(row: int) -> None:
    error, match, given = WRONG_PROBLEMS[row]
    with pytest.raises(error, match=match):
        ipopt.Problem(square, START, **given)


@pytest.mark.parametrize("row", range(len(WRONG_LIMITS)))
def test_limits_that_are_wrong(row: int) -> None:
    error, match, lower, upper = WRONG_LIMITS[row]
    with pytest.raises(error, match=match.format("g")):
        ipopt.Problem(square, START, lambda x: x[:2], lower, upper)
    pytest.importorskip("cyipopt")
    with pytest.raises(error, match=match.format("constraint 0")):
        ipopt.solve(square, START, constraints=so.NonlinearConstraint(lambda x: x[:2], lower, upper))


@pytest.mark.parametrize("row", range(len(WRONG_CONSTRAINTS)))
def test_constraints_that_are_none(row: int) -> None:
    error, match, constraints = WRONG_CONSTRAINTS[row]
    for method in (None, "trust-constr"):
        with pytest.raises(error, match=match):
            hoad.minimize(square, START, constraints=constraints, method=method)
    pytest.importorskip("cyipopt")
    with pytest.raises(error, match=match):
        ipopt.solve(square, START, constraints=constraints)


def test_bounds_from_any_iterable() -> None:
    low, high = ipopt.Problem(square, START, bounds=zip([0.0] * 3, [1.0, None, 2.0], strict=True)).bounds
    assert low.tolist() == [0.0] * 3 and high.tolist() == [1.0, np.inf, 2.0]


def test_starts_and_functions_that_are_wrong() -> None:
    with pytest.raises(ShapeError, match=r"an unknown at least, but x0 has shape \(0,\)"):
        ipopt.Problem(square, np.zeros(0))
    with pytest.raises(ArgumentError, match="Problem takes a function, but was given an int"):
        ipopt.Problem(square, START, 3)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"the shape of the problem's, \(3,\), but got \(2,\)"):
        ipopt.Problem(square, START).solve(np.zeros(2))


def test_inside_a_derivative() -> None:
    message = "hoad.interop.ipopt gives no derivatives of a solution. Use hoad.minimize, or hoad.implicit.argmin"
    with pytest.raises(NoRuleError, match=re.escape(message)):
        hoad.grad(lambda p: ipopt.Problem(f, X, args=(p,)).objective(X))(1.0)


def test_without_cyipopt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cyipopt", None)
    message = r"hoad.interop.ipopt needs cyipopt, which is not installed: pip install 'hoad\[ipopt\]'"
    with pytest.raises(ImportError, match=message):
        ipopt.Problem(f, X).solve()
    with pytest.raises(ImportError, match=message):
        ipopt.solve(f, X)


# ---- with IPOPT ------------------------------------------------------------------------------------------------------


def test_solve() -> None:
    pytest.importorskip("cyipopt")
    made = [
        so.NonlinearConstraint(np.prod, 25.0, np.inf),
        {"type": "eq", "fun": lambda x, total: np.sum(x**2) - total, "args": (40.0,)},
        so.LinearConstraint(
            sparse.csr_array(np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, -1.0]])), 0.0, [100.0, 5.0]
        ),
        so.LinearConstraint(np.ones((1, 4)), 0.0, 100.0),
    ]
    found = ipopt.solve(f, X, (2.0,), bounds=[(1, 5)] * 4, constraints=made, tol=1e-10, options={"max_iter": 50})
    assert found.success and found.status == 0 and 0 < found.nit < 20 and "successfully" in found.message
    assert found.fun == pytest.approx(2 * 17.0140173, rel=1e-7)
    np.testing.assert_allclose(found.constr[:2], [25.0, 0.0], atol=1e-6)
    slope = 2 * hoad.grad(f)(found.x) + hoad.jacobian(lambda x: np.stack(g(x)))(found.x).T @ found.multipliers[:2]
    slope += found.upper_multipliers - found.lower_multipliers
    np.testing.assert_allclose(slope, 0.0, atol=1e-5)  # Karush, Kuhn and Tucker


def test_a_start_of_its_own_and_an_end_before_the_minimum() -> None:
    pytest.importorskip("cyipopt")
    problem = ipopt.Problem(lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2) + np.sum((1 - x) ** 2), np.zeros(50))
    np.testing.assert_allclose(problem.solve(np.full(50, 0.5)).x, 1.0, atol=1e-6)
    stopped = problem.solve(options={"max_iter": 1})
    assert not stopped.success and stopped.nit == 1


def test_options() -> None:
    pytest.importorskip("cyipopt")
    found = ipopt.solve(lambda x, a: np.sum((x - a) ** 2), START, 3.0, tol=np.float64(1e-9), options={"max_iter": 9})
    np.testing.assert_allclose(found.x, 3.0)
    for options in ({"max_itr": 3}, {"max_iter": "a"}, {"max_iter": 3.5}, {3: 3}):
        with pytest.raises(ArgumentError, match=re.escape(f"no option {next(iter(options))!r} with the value")):
            ipopt.solve(square, START, options=options)
    with pytest.raises(ArgumentError, match=r"no option 'tol' with the value -1\.0"):
        ipopt.solve(square, START, tol=-1.0)
    with pytest.raises(ArgumentError, match="options as a dict"):
        ipopt.solve(square, START, options=3)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"constraint 0 has A of shape \(2, 4\), but x has shape \(3,\)"):
        ipopt.solve(square, START, constraints=so.LinearConstraint(np.ones((2, 4)), 0.0, 1.0))


def test_an_error_of_the_function_comes_through() -> None:
    pytest.importorskip("cyipopt")
    problem = ipopt.Problem(lambda x: np.sum(x**2), np.ones(2))
    problem.gradient = lambda x: 1 / 0  # type: ignore[method-assign]
    with pytest.raises(ZeroDivisionError):
        problem.solve()


def test_an_error_of_the_hessian_comes_through() -> None:
    """Also where cyipopt is called by the user, which takes no notice of it; the next solution is not troubled."""
    cyipopt = pytest.importorskip("cyipopt")

    def branching(x: Any) -> Any:
        return np.sum((x + 5) ** 2) + (0.0 if x[0] > 0.5 else x[0] * x[1])

    problem = ipopt.Problem(branching, np.array([1.0, 2.0, 3.0]))
    with pytest.raises(DomainError, match="entries here that it had not"):
        problem.solve()
    direct = cyipopt.Problem(3, 0, problem, [-np.inf] * 3, [np.inf] * 3)
    direct.add_option("print_level", 0)
    with pytest.raises(DomainError, match="entries here that it had not"):
        direct.solve(problem.x0)
    assert problem.solve(options={"max_iter": 0}).nit == 0
    assert ipopt.Problem(branching, -problem.x0).solve().success


def test_constraints_that_do_not_depend_on_x() -> None:
    pytest.importorskip("cyipopt")
    with pytest.raises(ArgumentError, match=r"no constraint depends on x.*shape \(1, 3\), has no entries"):
        ipopt.solve(square, START, constraints={"type": "ineq", "fun": lambda x: 1.0})
    assert ipopt.solve(square, START, constraints=so.NonlinearConstraint(lambda x: x[:0], 0, 1), tol=1).success


def test_with_the_implicit_function_theorem() -> None:
    """IPOPT as a solver of `hoad.implicit.argmin`: the least of (x - p)⁴ + (x - p)² / 2 + x² / 2."""
    pytest.importorskip("cyipopt")

    def cost(x: Any, p: Any) -> Any:
        return np.sum((x - p) ** 4 + (x - p) ** 2 / 2 + x**2 / 2)

    at = hoad.implicit.argmin(cost, lambda p: ipopt.solve(cost, np.zeros(1), (p,), tol=1e-12).x)
    x = at(1.0)
    exact = (12 * (x - 1) ** 2 + 1) / (12 * (x - 1) ** 2 + 2)
    np.testing.assert_allclose(hoad.jacobian(at)(1.0), exact, rtol=1e-7)
