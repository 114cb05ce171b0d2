"""Minima by SciPy's optimisers, with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.trace.context import running
from hoad._drivers.gradient import grad, paired
from hoad._drivers.hessian import hessian
from hoad._jit.jit import jit
from hoad._pytree.arguments import Choice, check_function
from hoad._pytree.containers import kind_of
from hoad._solvers.extras import optional
from hoad.errors import ArgumentError, DTypeError, ShapeError

FORMS = ("auto", "dense", "sparse", "product")


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    method: Any = None,
    *,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable[..., Any] | None = None,
    options: dict[str, Any] | None = None,
    hess: Any = "auto",
) -> Any:
    """A minimum by `scipy.optimize.minimize`, with exact gradients, Hessians and Jacobians of the constraints.

    Parameters
    ----------
    fun : callable
        A scalar function, written with NumPy: ``fun(x, *args) -> ()``.
    x0 : array, shape (n,)
        Where to start, floats. For a container of parameters see `hoad.ravel`.
    args : tuple, optional
        Further arguments of fun: numbers, arrays and containers.
    method : str or callable, optional
        A method of SciPy's. The default is SciPy's: BFGS, L-BFGS-B with bounds, SLSQP with constraints.
    bounds : sequence or Bounds, optional
        As SciPy takes them.
    constraints : dict, NonlinearConstraint, LinearConstraint or list of these, optional
        As SciPy takes them. Jacobians that are not given, and for ``trust-constr`` Hessians, are computed.
    tol : float, optional
        The tolerance, as SciPy takes it.
    callback : callable, optional
        Called after each iteration, as by SciPy.
    options : dict, optional
        Options of the method.
    hess : {"auto", "dense", "sparse", "product"}, None or other, optional
        What the methods that take a Hessian are given: a matrix, a sparse matrix, or products with vectors; by default
        what is fastest for the number of unknowns and the density of the Hessian. With None there are only gradients.
        A function or a strategy of SciPy's, as ``BFGS()``, is passed on.

    Returns
    -------
    scipy.optimize.OptimizeResult
        What SciPy returns. In a function that is being differentiated, its ``x`` and ``fun`` are traced: derivatives
        with respect to `args`, to what fun uses, and to traced bounds are those of `hoad.scipy.optimize.minimize`, by
        the implicit function theorem. They are as accurate as the solution is: set `tol` by that.

    Raises
    ------
    DTypeError
        If x0 is complex or holds integers.
    ShapeError
        If x0 has more than one dimension, or fun(x) is not a scalar.
    ArgumentError
        If fun cannot be called, x0 is a container, or the method takes no such `hess`.
    ImportError
        If SciPy is not installed.

    Notes
    -----
    Cost: fun and its derivatives are recorded once and replayed by compiled code, as `jit` does. A gradient is a small
    multiple of fun for any n. Methods without derivatives (Nelder-Mead, Powell, COBYLA, COBYQA) get compiled values.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def rosenbrock(x):
    ...     return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    >>> found = hoad.minimize(rosenbrock, np.zeros(5), method="trust-exact")
    >>> found.x.round(6), found.nit
    (array([1., 1., 1., 1., 1.]), 18)
    >>> circle = {"type": "ineq", "fun": lambda x: 1 - np.sum(x**2)}
    >>> hoad.minimize(rosenbrock, np.zeros(2), constraints=circle).x.round(4)
    array([0.7864, 0.6177])
    """
    check_function("minimize", fun)
    args = args if isinstance(args, tuple) else (args,)
    name = "" if method is None or callable(method) else str(method).lower()
    more = {"method": method, "bounds": bounds, "constraints": constraints, "tol": tol, "callback": callback}
    more["options"] = dict(options or {})
    if running() is not None:
        return _differentiable(fun, x0, args, name, more)
    x = start("minimize", x0)
    _give_derivatives(fun, x, args, name, more, hess)
    return optional("scipy.optimize", "scipy", "minimize").minimize(more.pop("fun"), x, args=args, **more)


def start(user: str, x0: Any) -> Any:
    """Where a solver starts, as a vector of floats; an error where it is no such thing."""
    if kind_of(type(x0)) is not None and not isinstance(x0, (list, tuple)):
        raise ArgumentError(
            f"{user} needs an array for x0, but was given a {type(x0).__name__}. Use x0, unravel = hoad.ravel(tree), "
            "and unravel(x) in the function."
        )
    try:
        x = np.atleast_1d(np.asarray(x0))
    except ValueError:
        raise ArgumentError(f"{user} needs an array for x0, but its items have different shapes.") from None
    if x.dtype.kind == "c":
        raise DTypeError(
            f"{user} needs real unknowns, but x0 is complex. Use real and imaginary parts as unknowns: x0.view(float)."
        )
    if x.dtype.kind != "f":
        raise DTypeError(f"{user} needs floats for x0, but was given {x.dtype}. Use np.asarray(x0, float).")
    if x.ndim != 1:
        raise ShapeError(
            f"{user} needs x0 of one dimension, but its shape is {x.shape}. Use x0.ravel() and np.reshape."
        )
    return np.array(x, np.float64)


def _give_derivatives(
    fun: Callable[..., Any], x: Any, args: tuple[Any, ...], name: str, more: dict[str, Any], hess: Any
) -> None:
    """Put the function and the derivatives that a method takes into the arguments of SciPy's function."""
    optional("scipy.optimize", "scipy", "minimize")
    from hoad._solvers import constraints as given
    from hoad._solvers import matrices

    constraints = given.listed(more["constraints"])
    if name in matrices.WITHOUT_GRADIENT:
        more.update(fun=jit(fun), constraints=given.with_jacobians(constraints))
        return
    more.update(fun=jit(paired(fun, Choice("minimize", fun, 0, None))), jac=True)
    form = hess if isinstance(hess, str) and hess in FORMS else None
    takes = name in matrices.WITH_MATRIX or name in matrices.WITH_PRODUCT
    _check_form(form, name, takes, name in matrices.WITH_MATRIX)
    if form is None and hess is not None:
        more["hess"] = hess
    elif form is not None and takes:
        more.update(matrices.hessian_for(fun, form, name, (x, *args)))
    if name == "trust-constr":
        made, sparse = given.for_trust_constr(constraints, x, hess is not None)
        if sparse:
            more["options"].setdefault("sparse_jacobian", True)
    else:
        made = given.with_jacobians(constraints)
    more["constraints"] = made


def _check_form(form: str | None, name: str, takes: bool, factors: bool) -> None:
    if form in (None, "auto", "dense" if takes else "auto") or (takes and not factors):
        return
    advice = "Use hess='dense'." if factors else "Use hess='auto', or a method such as 'trust-constr'."
    raise ArgumentError(f"minimize: the method {name or 'chosen by SciPy'} takes no hess={form!r}. {advice}")


def _differentiable(fun: Callable[..., Any], x0: Any, args: tuple[Any, ...], name: str, more: dict[str, Any]) -> Any:
    """The minimum while something is recorded, by the implicit function theorem."""
    scipy = optional("scipy.optimize", "scipy", "minimize")
    from hoad._scipy import implemented
    from hoad._solvers import matrices

    if name not in matrices.WITHOUT_GRADIENT:
        more["jac"] = grad(fun)
    if name in matrices.WITH_MATRIX or name in matrices.WITH_PRODUCT:
        more["hess"] = hessian(fun)
    return implemented("scipy.optimize")[scipy.minimize](fun, x0, args=args, **more)
