"""IPOPT, an interior point method for large problems with constraints, given exact sparse derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.trace.coerce import holds_traced
from hoad._drivers.gradient import grad
from hoad._jit.jit import jit
from hoad._pytree.arguments import check_function
from hoad._solvers.extras import optional
from hoad._solvers.kept_pattern import Entries
from hoad._solvers.minimize import start
from hoad._sparse.drivers import lagrangian_hessian, sparse_hessian, sparse_jacobian
from hoad.errors import ArgumentError, NoRuleError, ShapeError

__all__ = ["Problem", "solve"]


class Problem:
    """A problem as cyipopt takes it, with exact derivatives: least f(x) where lower ≤ g(x) ≤ upper, within bounds.

    Parameters
    ----------
    f : callable
        A scalar function, written with NumPy: ``f(x, *args) -> ()``.
    x0 : array, shape (n,)
        Where to start, floats. The patterns of the derivatives are those of f and g as they are recorded there.
    g : callable, optional
        The functions of the constraints: ``g(x, *args) -> (m,)``, or a number, or a list.
    lower, upper : float or array, shape (m,)
        The least and the greatest values of g: ``-np.inf`` and ``np.inf`` for none, the same for an equality.
    bounds : sequence or Bounds, optional
        Bounds of x, as SciPy takes them.
    args : tuple, optional
        Further arguments of f and g.

    Attributes
    ----------
    x0 : array, shape (n,)
        Where to start.
    bounds, limits : tuple of arrays
        The least and the greatest values of x, and of g(x).
    iterations : int
        How many iterations IPOPT has made.

    Raises
    ------
    ArgumentError
        If f or g cannot be called, x0 is a container, or bounds or limits are no numbers or exclude each other.
    DTypeError
        If x0 is complex or holds integers.
    ShapeError
        If x0 has more than one dimension or no entry, f(x) is not a scalar, or bounds or limits have another length
        than x or g(x).
    NoRuleError
        If f or g uses values that are being differentiated.

    Notes
    -----
    Cost: f and g are recorded once and replayed by compiled code. The Jacobian of g and the Hessian of
    ``sigma * f + multipliers · g`` (its lower triangle) are computed at the entries that may be nonzero, and no others.
    Where f or g take another branch than at x0 they are recorded again, and entries outside the pattern raise.

    Examples
    --------
    >>> import numpy as np
    >>> from hoad.interop import ipopt
    >>> problem = ipopt.Problem(lambda x: x[0] * x[1], np.array([1.0, 2.0, 3.0]), lambda x: np.sum(x**2), -np.inf, 14.0)
    >>> problem.hessianstructure()
    (array([0, 1, 1, 2]), array([0, 0, 1, 2]))
    >>> problem.hessian(problem.x0, np.array([0.5]), 1.0)
    array([1., 1., 1., 1.])
    """

    def __init__(
        self,
        f: Callable[..., Any],
        x0: Any,
        g: Callable[..., Any] | None = None,
        lower: Any = 0.0,
        upper: Any = 0.0,
        *,
        bounds: Any = None,
        args: Any = (),
    ) -> None:
        from hoad._solvers.constraints import limits_of
        from hoad._solvers.matrices import as_vector

        check_function("Problem", f)
        if g is not None:
            check_function("Problem", g)
        args = args if isinstance(args, tuple) else (args,)
        self.x0 = start("Problem", x0)
        if not self.x0.size:
            raise ShapeError("Problem needs an unknown at least, but x0 has shape (0,).")
        self.bounds = bounds_of(bounds, self.x0.size)
        self.iterations = 0
        self._error: Exception | None = None
        _check_plain(f(self.x0, *args), None if g is None else g(self.x0, *args))
        self._f, self._gradient = jit(lambda x: f(x, *args)), jit(grad(lambda x: f(x, *args)))
        if g is None:
            self._g, m = None, 0
            self._hessian = Entries(sparse_hessian(lambda x: f(x, *args)), (self.x0,), lower=True)
        else:
            rows = as_vector(lambda x: g(x, *args))
            self._g = jit(rows)
            m = np.size(self._g(self.x0))
            self._jacobian = Entries(sparse_jacobian(rows), (self.x0,))
            both = lagrangian_hessian(lambda x: f(x, *args), rows)
            self._hessian = Entries(both, (self.x0, np.ones(m), 1.0))
        self.limits = limits_of("g", lower, upper, m, "values of g")

    def objective(self, x: Any) -> float:
        """The value of f."""
        return float(self._f(x))

    def gradient(self, x: Any) -> Any:
        """The gradient of f."""
        return self._gradient(x)

    def constraints(self, x: Any) -> Any:
        """The values of g."""
        return np.zeros(0) if self._g is None else self._g(x)

    def jacobian(self, x: Any) -> Any:
        """The entries of the Jacobian of g that may be nonzero."""
        return np.zeros(0) if self._g is None else self._jacobian.values(x)

    def jacobianstructure(self) -> tuple[Any, Any]:
        """Their rows and columns."""
        none = np.zeros(0, np.intp)
        return (none, none) if self._g is None else (self._jacobian.rows, self._jacobian.columns)

    def hessian(self, x: Any, multipliers: Any, sigma: float) -> Any:
        """The entries of the lower triangle of the Hessian of ``sigma * f + multipliers · g`` that may be nonzero."""
        try:
            if self._g is None:
                return sigma * self._hessian.values(x)
            return self._hessian.values(x, np.array(multipliers, float), float(sigma))
        except Exception as error:
            self._error = error  # cyipopt goes on with a Hessian of whatever lies in memory
            raise

    def hessianstructure(self) -> tuple[Any, Any]:
        """Their rows and columns."""
        return self._hessian.rows, self._hessian.columns

    def intermediate(self, mode: int, iteration: int, *_: Any) -> bool:
        """Called by IPOPT after each iteration, which it counts; raises what the Hessian has raised before."""
        self._raise()
        self.iterations = iteration
        return True

    def _raise(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def solve(self, x0: Any = None, *, tol: float | None = None, options: dict[str, Any] | None = None) -> Any:
        """The minimum that IPOPT finds.

        Parameters
        ----------
        x0 : array, shape (n,), optional
            Where to start; `x0` of the problem by default.
        tol : float, optional
            The tolerance of IPOPT, 1e-8 by default.
        options : dict, optional
            Options of IPOPT, such as ``{"max_iter": 500}``.

        Returns
        -------
        scipy.optimize.OptimizeResult
            ``x``, ``fun``, ``success``, ``status``, ``message``, ``nit``, the values ``constr`` of g, and Lagrange's
            multipliers: ``multipliers`` of g, ``lower_multipliers`` and ``upper_multipliers`` of the bounds.

        Raises
        ------
        ArgumentError
            If IPOPT does not take an option, and prints why; or if no constraint depends on x.
        ShapeError
            If x0 has another shape than that of the problem.
        ImportError
            If cyipopt or SciPy is not installed.
        """
        first = self.x0 if x0 is None else start("solve", x0)
        if first.shape != self.x0.shape:
            raise ShapeError(
                f"solve takes an x0 of the shape of the problem's, {self.x0.shape}, but got {first.shape}."
            )
        if self._g is not None and self.limits[0].size and not self._jacobian.rows.size:
            raise ArgumentError(
                f"IPOPT takes no problem in which no constraint depends on x, but the Jacobian of g, of shape "
                f"{(self.limits[0].size, self.x0.size)}, has no entries. Leave g out."
            )
        cyipopt = optional("cyipopt", "ipopt", "hoad.interop.ipopt")
        ends = zip(("lb", "ub", "cl", "cu"), (*self.bounds, *self.limits), strict=True)
        ipopt = cyipopt.Problem(self.x0.size, self.limits[0].size, self, **dict(ends))
        _set_options(
            ipopt,
            {"print_level": 0, "sb": "yes"}
            | ({} if tol is None else {"tol": float(tol) if isinstance(tol, int) else tol}),
            options,
        )
        self._error = None
        x, info = ipopt.solve(first)
        self._raise()
        return optional("scipy.optimize", "ipopt", "hoad.interop.ipopt").OptimizeResult(
            x=x,
            fun=info["obj_val"],
            success=info["status"] in (0, 1),  # solved, or solved to the acceptable tolerance
            status=info["status"],
            message=info["status_msg"].decode() if isinstance(info["status_msg"], bytes) else info["status_msg"],
            nit=self.iterations,
            constr=info["g"],
            multipliers=info["mult_g"],
            lower_multipliers=info["mult_x_L"],
            upper_multipliers=info["mult_x_U"],
        )


def _check_plain(*values: Any) -> None:
    """Raise where a function uses traced values, since IPOPT would cut them off."""
    if holds_traced(values):
        raise NoRuleError(
            "hoad.interop.ipopt gives no derivatives of a solution. Use hoad.minimize, or hoad.implicit.argmin with "
            "IPOPT as its solver."
        )


def _set_options(ipopt: Any, own: dict[str, Any], options: Any) -> None:
    """Give IPOPT its options, those of the user last."""
    if not isinstance(options or {}, dict):
        raise ArgumentError(f"solve takes options as a dict, such as {{'max_iter': 500}}, not {options!r}.")
    for name, value in (own | (options or {})).items():
        value = value.item() if isinstance(value, np.generic) else value
        try:
            ipopt.add_option(name, value)
        except TypeError:  # of cyipopt's, for whatever IPOPT refuses
            raise ArgumentError(
                f"IPOPT takes no option {name!r} with the value {value!r}, of type {type(value).__name__}; it has "
                "printed why. Its options and their types are listed at https://coin-or.github.io/Ipopt/OPTIONS.html."
            ) from None


def bounds_of(bounds: Any, n: int) -> tuple[Any, Any]:
    """The least and the greatest values of x, of bounds as SciPy takes them."""
    from hoad._solvers.constraints import limits_of

    if bounds is None:
        return np.full(n, -np.inf), np.full(n, np.inf)
    if hasattr(bounds, "lb"):
        return limits_of("bounds", bounds.lb, bounds.ub, n, "unknowns")
    pairs = list(bounds) if hasattr(bounds, "__iter__") else []
    wrong = [x for x in pairs if not hasattr(x, "__len__") or len(x) != 2]
    if not pairs or wrong:
        found = f", not {wrong[0]!r}" if wrong else f", but got {bounds!r}"
        raise ArgumentError(
            f"bounds are a pair for each unknown, as [(0, 1), (None, 2)], or scipy.optimize.Bounds{found}."
        )
    low = [-np.inf if x is None else x for x, _ in pairs]
    high = [np.inf if x is None else x for _, x in pairs]
    return limits_of("bounds", low, high, n, "unknowns")


def solve(
    f: Callable[..., Any],
    x0: Any,
    args: Any = (),
    *,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """A minimum by IPOPT, called as `hoad.minimize`.

    Parameters
    ----------
    f : callable
        A scalar function, written with NumPy: ``f(x, *args) -> ()``.
    x0 : array, shape (n,)
        Where to start, floats.
    args : tuple, optional
        Further arguments of f.
    bounds : sequence or Bounds, optional
        Bounds of x, as SciPy takes them.
    constraints : dict, NonlinearConstraint, LinearConstraint or list of these, optional
        As SciPy takes them; derivatives that are given are not used.
    tol : float, optional
        The tolerance of IPOPT, 1e-8 by default.
    options : dict, optional
        Options of IPOPT, such as ``{"max_iter": 500}``.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As `Problem.solve` returns it.

    Raises
    ------
    ArgumentError
        If f cannot be called, x0 is a container, a constraint has no function or type, bounds or limits are no numbers
        or exclude each other, or IPOPT does not take an option.
    DTypeError
        If x0 is complex or holds integers.
    ShapeError
        If x0 has more than one dimension or no entry, f(x) is not a scalar, or bounds or limits have another length
        than x or the values of the constraint.
    ImportError
        If cyipopt or SciPy is not installed.

    Notes
    -----
    Cost: as that of `Problem`.

    Examples
    --------
    >>> import numpy as np
    >>> from hoad.interop import ipopt
    >>> inside = {"type": "ineq", "fun": lambda x: 1 - np.sum(x**2)}
    >>> found = ipopt.solve(lambda x: x[0] + x[1], np.zeros(2), constraints=inside)  # doctest: +SKIP
    >>> found.x.round(4)  # doctest: +SKIP
    array([-0.7071, -0.7071])
    """
    check_function("solve", f)
    optional("cyipopt", "ipopt", "hoad.interop.ipopt")
    from hoad._solvers.constraints import listed, together

    args = args if isinstance(args, tuple) else (args,)
    g, lower, upper = together(listed(constraints), start("solve", x0))
    problem = Problem(lambda x: f(x, *args), x0, g, lower, upper, bounds=bounds)
    return problem.solve(tol=tol, options=options)
