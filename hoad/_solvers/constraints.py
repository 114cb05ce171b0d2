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
from hoad.errors import ArgumentError, ShapeError


def with_more(f: Function, args: tuple[Any, ...]) -> Function:
    """f, with further arguments behind its own."""
    return functools.wraps(f, updated=())(lambda x: f(x, *args)) if args else f


def listed(constraints: Any) -> list[Any]:
    """One constraint, or several, as a list; raises for what is none."""
    one = [] if constraints is None else [constraints]
    found = list(constraints) if isinstance(constraints, (list, tuple)) else one
    for k, c in enumerate(found):
        if isinstance(c, dict):
            _check(k, c)
        elif isinstance(c, scipy.optimize.NonlinearConstraint):
            _check(k, {"type": "ineq", "fun": c.fun})
        elif not isinstance(c, scipy.optimize.LinearConstraint):
            raise ArgumentError(
                f"constraint {k} is of type {type(c).__name__}. Give a dict, as {DICT} for g(x) >= 0, or a "
                "NonlinearConstraint or LinearConstraint of scipy.optimize."
            )
    return found


DICT = "{'type': 'ineq', 'fun': g}"


def _check(k: int, constraint: dict[str, Any]) -> None:
    """Raise if the dict with this number is no constraint."""
    for name in ("type", "fun"):
        if name not in constraint:
            raise ArgumentError(
                f"constraint {k} has no {name!r}, only {', '.join(map(repr, constraint)) or 'nothing'}. Write {DICT} "
                "for g(x) >= 0, and type 'eq' for g(x) = 0."
            )
    kind, fun, args = constraint["type"], constraint["fun"], constraint.get("args", ())
    if str(kind).lower() not in ("eq", "ineq"):
        raise ArgumentError(f"constraint {k} is of type {kind!r}. Write 'eq' for g(x) = 0, 'ineq' for g(x) >= 0.")
    if not callable(fun):
        raise ArgumentError(
            f"constraint {k} has {fun!r} as 'fun', not a function of x. Write {DICT}, with g a function."
        )
    if not isinstance(args, (list, tuple)):
        raise ArgumentError(f"constraint {k} has {args!r} as 'args'. Write a tuple of further arguments: ({args!r},).")


def limits_of(what: str, lower: Any, upper: Any, n: int, of: str) -> tuple[Any, Any]:
    """The least and the greatest values of n numbers as arrays; raises if they are none, or exclude each other."""
    low, high = (_limit(f"{end} of {what}", value, n, of) for end, value in (("lower", lower), ("upper", upper)))
    wrong = np.flatnonzero(low > high)
    if wrong.size:
        k = wrong[0]
        raise ArgumentError(
            f"lower of {what} is greater than upper at index {k}: {low[k]} > {high[k]}. Exchange them, or give the "
            "same for an equality."
        )
    return low, high


def _limit(what: str, given: Any, n: int, of: str) -> Any:
    found = np.asarray(given)
    is_real = found.dtype.kind in "biuf"
    if not is_real or np.isnan(found).any():
        raise ArgumentError(
            f"{what} {'has a nan' if is_real else f'is of dtype {found.dtype}'}. Give real numbers, -np.inf or np.inf "
            "for no limit."
        )
    if found.shape not in ((), (1,), (n,)):
        raise ShapeError(
            f"{what} has shape {found.shape}, but there are {n} {of}. Give one for all, or one for each: shape {(n,)}."
        )
    return np.broadcast_to(found.astype(float), (n,))


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
    kind = constraint["type"].lower()
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
    for k, c in enumerate(constraints):
        if isinstance(c, dict):
            fun, low, high = from_dict(c)
        elif isinstance(c, scipy.optimize.LinearConstraint):
            if np.shape(c.A)[-1:] != x.shape:
                raise ShapeError(
                    f"constraint {k} has A of shape {np.shape(c.A)}, but x has shape {x.shape}. Give A a column for "
                    "each unknown."
                )
            fun, low, high = _linear(c.A), c.lb, c.ub
        else:
            fun, low, high = c.fun, c.lb, c.ub
        g = as_vector(fun)
        limits = limits_of(f"constraint {k}", low, high, np.size(g(x)), "values of it")
        functions.append(g)
        lower.append(limits[0])
        upper.append(limits[1])
    return lambda x: np.concatenate([g(x) for g in functions]), np.concatenate(lower), np.concatenate(upper)
