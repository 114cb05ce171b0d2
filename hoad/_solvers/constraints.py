"""Constraints as SciPy takes them, with the derivatives that were not given."""

from __future__ import annotations

import copy
import functools
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse

from hoad._drivers.jacobian import jacobian
from hoad._jit.jit import jit
from hoad._solvers.matrices import Function, Matrix, as_vector
from hoad.errors import ArgumentError


def with_more(f: Function, args: tuple[Any, ...]) -> Function:
    """f, with further arguments behind its own."""
    return functools.wraps(f, updated=())(lambda x: f(x, *args)) if args else f


def listed(constraints: Any) -> list[Any]:
    """One constraint, or several, as a list."""
    return list(constraints) if isinstance(constraints, (list, tuple)) else [] if constraints is None else [constraints]


def weighted(g: Function) -> Function:
    """The sum of the values of g with weights v, whose Hessian is that of the constraint: ``(x, v) -> v · g(x)``."""
    return lambda x, v: np.sum(v * g(x))


def nonlinear(fun: Function, lower: Any, upper: Any, keep_feasible: Any = False) -> Any:
    """SciPy's NonlinearConstraint of fun, with its Jacobian and its Hessians."""
    g = as_vector(fun)
    hess = Matrix(weighted(g), "hessian")
    return scipy.optimize.NonlinearConstraint(jit(g), lower, upper, Matrix(g, "jacobian"), hess, keep_feasible)


def from_dict(constraint: dict[str, Any]) -> tuple[Function, float, float]:
    """The function of x, the least and the greatest value of one of SciPy's dicts."""
    args = constraint.get("args", ())
    kind = str(constraint["type"]).lower()
    if kind not in ("eq", "ineq"):
        raise ArgumentError(
            f"a constraint is of type {constraint['type']!r}. Write 'eq' for g(x) = 0, 'ineq' for g(x) >= 0."
        )
    return with_more(constraint["fun"], args), 0.0, np.inf if kind == "ineq" else 0.0


def for_trust_constr(constraints: list[Any], x: Any, with_hessian: bool) -> tuple[list[Any], bool]:
    """The constraints with exact derivatives, and whether one of their Jacobians is sparse."""
    made = []
    sparse = False
    for c in constraints:
        if isinstance(c, dict) and not c.get("jac"):
            c = scipy.optimize.NonlinearConstraint(*from_dict(c))
        if isinstance(c, scipy.optimize.NonlinearConstraint):
            c = copy.copy(c)
            g = as_vector(c.fun)
            if isinstance(c.jac, str) and c.jac == "2-point":  # SciPy's default
                c.fun, c.jac = jit(g), Matrix(g, "jacobian")
            if with_hessian and isinstance(c.hess, scipy.optimize.BFGS):  # its default
                c.hess = Matrix(weighted(g), "hessian")
            sparse = sparse or (isinstance(c.jac, Matrix) and c.jac.is_sparse_at(x))
        elif isinstance(c, scipy.optimize.LinearConstraint):
            sparse = sparse or scipy.sparse.issparse(c.A)
        made.append(c)
    return made, sparse


def with_jacobians(constraints: list[Any]) -> list[Any]:
    """The constraints with exact dense Jacobians, for methods that take no more."""
    made = []
    for c in constraints:
        if isinstance(c, dict) and not c.get("jac"):
            g = as_vector(c["fun"])
            c = c | {"fun": jit(g), "jac": jit(jacobian(g))}
        elif isinstance(c, scipy.optimize.NonlinearConstraint):
            c = copy.copy(c)
            if isinstance(c.hess, Matrix):  # as nonlinear_constraint gives, and of which such methods make no use
                c.hess = scipy.optimize.BFGS()
            if isinstance(c.jac, Matrix) or (isinstance(c.jac, str) and c.jac == "2-point"):
                g = as_vector(c.fun)
                c.fun, c.jac = jit(g), jit(jacobian(g))
        made.append(c)
    return made


def _linear(a: Any) -> Function:
    """x -> A x, of an array or of a sparse array."""
    if not scipy.sparse.issparse(a):
        return functools.partial(np.matmul, np.atleast_2d(np.asarray(a, float)))
    a = a.tocoo()

    def product(x: Any) -> Any:
        y = np.zeros(a.shape[0], like=x)
        np.add.at(y, a.row, a.data * x[a.col])
        return y

    return product


def together(constraints: list[Any], x: Any) -> tuple[Function | None, Any, Any]:
    """All constraints as one: its function, the least and the greatest values."""
    if not constraints:
        return None, 0.0, 0.0
    functions, lower, upper = [], [], []
    for c in constraints:
        if isinstance(c, dict):
            fun, low, high = from_dict(c)
        else:
            is_linear = isinstance(c, scipy.optimize.LinearConstraint)
            fun, low, high = _linear(c.A) if is_linear else c.fun, c.lb, c.ub
        g = as_vector(fun)
        m = np.size(g(x))
        functions.append(g)
        lower.append(np.broadcast_to(np.asarray(low, float), (m,)))
        upper.append(np.broadcast_to(np.asarray(high, float), (m,)))
    return lambda x: np.concatenate([g(x) for g in functions]), np.concatenate(lower), np.concatenate(upper)
