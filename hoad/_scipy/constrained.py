"""Minima within constraints, differentiated with Lagrange's multipliers taken out of their equation.

At a minimum the slope is a combination of the slopes A of the constraints that hold it, ∇f = Aᵀλ, and these are met,
r = 0. With λ = (A Aᵀ)⁻¹ A ∇f both are one equation of the unknowns alone, ∇f - Aᵀλ + Aᵀr = 0: its first part lies along
the constraints, its second across them.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import scipy.optimize

from hoad._core.trace.context import running
from hoad._drivers.jacobian import jacobian
from hoad._numpy.registry import as_traced
from hoad._scipy.bounds import CLOSE, MOVING, REST, ends_of
from hoad._scipy.registry import IMPLEMENTED
from hoad._scipy.roots_and_minima import MINIMIZE, found_x, put_minimum, slope_of
from hoad._scipy.solutions import Function, Given, Solver, refusal, solution, vector, with_arguments, with_more

original = scipy.optimize.minimize
unconstrained = IMPLEMENTED[original]
MET = 1e-4  # how far a constraint that holds may be from being met, by its size


def _listed(constraints: Any) -> list[Any]:
    return list(constraints) if isinstance(constraints, (list, tuple)) else [] if constraints is None else [constraints]


# ---- what SciPy is called with --------------------------------------------------------------------------------------


def _function(constraint: Any) -> Function:
    """The function of one constraint, of the unknowns alone."""
    if isinstance(constraint, dict):
        return functools.partial(with_more, constraint["fun"], constraint.get("args", ()), {})
    if isinstance(constraint, scipy.optimize.LinearConstraint):
        return functools.partial(np.matmul, constraint.A)
    fun: Function = constraint.fun
    return fun


def _limits(constraint: Any) -> Any:
    """What holds the values: "eq", "ineq", or the least and the greatest."""
    if isinstance(constraint, dict):
        return constraint["type"].lower()
    return (as_traced(constraint.lb), as_traced(constraint.ub))


def _without_function(constraint: Any) -> Any:
    """What else SciPy is told of a constraint; its function may hold traced values, which a replay must not keep."""
    if isinstance(constraint, dict):
        return {name: x for name, x in constraint.items() if name not in ("type", "fun")}
    if isinstance(constraint, scipy.optimize.LinearConstraint):
        return constraint
    names = ("jac", "hess", "keep_feasible", "finite_diff_rel_step", "finite_diff_jac_sparsity")
    return {name: getattr(constraint, name) for name in names}


def _with_plain(constraint: Any, fun: Function, limits: Any) -> Any:
    """The constraint as SciPy takes it, with a function and limits of plain numbers."""
    if isinstance(limits, str):
        return constraint | {"type": limits, "fun": lambda z, *args: fun(z)}
    if isinstance(constraint, scipy.optimize.LinearConstraint):
        return scipy.optimize.LinearConstraint(constraint.A, *limits, constraint.keep_feasible)
    return scipy.optimize.NonlinearConstraint(fun, *limits, **constraint)


def constrained(
    both: Function, x0: Any, jac: Any, hess: Any, hessp: Any, limits: Any, bounds: Any, others: Any
) -> scipy.optimize.OptimizeResult:
    """The minimum of both(z)[0], where both(z)[1] lists the values of the constraints."""
    constraints, options = others
    made = [
        _with_plain(c, lambda z, k=k: both(z)[1][k], limit)
        for k, (c, limit) in enumerate(zip(constraints, limits, strict=True))
    ]
    return original(_cost(both), x0, jac=jac, hess=hess, hessp=hessp, bounds=bounds, constraints=made, **options)


# ---- the equation of the minimum ------------------------------------------------------------------------------------


def _rows(values: Any, limits: Any) -> list[tuple[Any, Any, Any]]:
    """(what is 0 where it holds and not negative elsewhere, its size, whether it holds anyway) of one constraint."""
    values = vector(values)
    if isinstance(limits, str):
        return [(values, np.ones(values.shape), np.full(values.shape, limits == "eq"))]
    low, high = (np.broadcast_to(end, values.shape) for end in limits)
    equal = np.asarray(low == high)

    def row(end: Any, sign: float, counts: Any, holds: Any) -> tuple[Any, Any, Any]:
        there = np.isfinite(end) & counts
        end = np.where(there, end, 0.0)
        return np.where(there, sign * (values - end), np.inf), np.maximum(1.0, np.abs(end)), holds

    return [row(low, 1.0, True, equal), row(high, -1.0, ~equal, np.zeros_like(equal))]


class Optimality:
    """The slope of the cost and the constraints that hold, at some unknowns."""

    def __init__(self, both: Function, given: Given, z: Any) -> None:
        ends = ends_of(given["bounds"])

        def gaps(z: Any) -> tuple[Any, Any, Any]:
            rows = [row for c, limit in zip(both(z)[1], given["limits"], strict=True) for row in _rows(c, limit)]
            rows += [] if ends is None else _rows(z, ends)
            gap, size, equal = (np.concatenate(column) for column in zip(*rows, strict=True))
            return gap, size, equal

        gap, size, equal = gaps(z)
        holding = np.flatnonzero(equal | (np.abs(gap) <= CLOSE * size))  # guarded: another set is recorded again
        self.equal, self.size = equal[holding], size[holding]
        self.gap = gap[holding]
        self.slope = slope_of(_cost(both), given)(z)
        self.slopes = jacobian(lambda z: gaps(z)[0][holding])(z) if holding.size else np.zeros((0, z.size))
        self.multipliers = (
            np.linalg.solve(self.slopes @ self.slopes.T, self.slopes @ self.slope) if holding.size else np.zeros(0)
        )

    def zero(self) -> Any:
        return self.slope + (self.gap - self.multipliers) @ self.slopes


def _cost(both: Function) -> Function:
    return lambda z: both(z)[0]


def _equation(both: Function, given: Given) -> Function:
    return lambda z: Optimality(both, given, z).zero()


def _result(found: Any, given: Given, x: Any, both: Function) -> Any:
    return put_minimum(found, given, x, _cost(both))


def _check(solver: Solver, found: Any, given: Given, both: Function) -> None:
    """Raise where the minimum is none, or where it is not certain which constraints hold it."""
    at = Optimality(both, given, np.asarray(found.x, float))
    size = max(1.0, abs(float(found.fun)))
    rest = np.max(np.abs(at.slope - at.multipliers @ at.slopes), initial=0.0)
    if not found.success and rest > REST * size:
        raise refusal(solver, f"the solver did not converge: {found.message}")
    if rest > MOVING * size:
        raise refusal(
            solver,
            f"the solver stopped where the slope along the constraints is {rest:.2g}. Give it jac, or another method.",
        )
    if np.any(np.abs(at.gap) > MET * at.size):
        raise refusal(solver, f"a constraint is missed by {np.max(np.abs(at.gap)):.2g}.")
    pull = at.multipliers * np.linalg.norm(at.slopes, axis=1)
    if np.any(~at.equal & (pull <= REST * size)):
        raise refusal(
            solver,
            "the solution lies on a constraint or a bound that does not hold it: its multiplier is 0, and derivatives "
            "to the two sides differ. Leave it out.",
        )


# ---- the solver -----------------------------------------------------------------------------------------------------


@functools.wraps(unconstrained)
def minimize(*args: Any, **kwargs: Any) -> Any:
    given = dict(inspect.signature(original).bind(*args, **kwargs).arguments)
    constraints = _listed(given.pop("constraints", None))
    if running() is None or not constraints:
        return unconstrained(*args, **kwargs)
    given = with_arguments(given, MINIMIZE)
    fun, x0, *derivatives = (given.pop(name, None) for name in ("fun", "x0", *MINIMIZE.others))
    functions = [_function(c) for c in constraints]
    limits, bounds = [_limits(c) for c in constraints], given.pop("bounds", None)

    def both(z: Any) -> Any:
        return fun(z), [c(z) for c in functions]

    return solution(
        SOLVER, (both, x0, *derivatives, limits, bounds, (list(map(_without_function, constraints)), given)), {}
    )


constrained.__name__, constrained.__module__ = "minimize", original.__module__  # for messages
SOLVER = Solver(constrained, "both", MINIMIZE.others, _equation, found_x, _result, _check)
IMPLEMENTED[original] = minimize
