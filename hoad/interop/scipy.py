"""SciPy's optimisers and root finders with exact derivatives, beside `hoad.minimize`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hoad._pytree.arguments import check_function
from hoad._solvers.extras import optional
from hoad._solvers.fits import curve_fit, least_squares, root

__all__ = ["curve_fit", "least_squares", "nonlinear_constraint", "root"]


def nonlinear_constraint(fun: Callable[..., Any], lower: Any, upper: Any, *, keep_feasible: bool | Any = False) -> Any:
    """A `scipy.optimize.NonlinearConstraint` with the exact Jacobian and Hessians, for those who call SciPy themselves.

    Parameters
    ----------
    fun : callable
        The function of the constraint, written with NumPy: ``fun(x) -> (m,)``, or a number, or a list.
    lower, upper : float or array, shape (m,)
        The least and the greatest values; ``-np.inf`` and ``np.inf`` for none, the same for an equality.
    keep_feasible : bool or array, optional
        As SciPy takes it.

    Returns
    -------
    scipy.optimize.NonlinearConstraint
        For ``method="trust-constr"``. Its Jacobian and Hessians are sparse where that pays: which, is decided at the
        first point.

    Raises
    ------
    ArgumentError
        If fun cannot be called.
    ImportError
        If SciPy is not installed.

    Notes
    -----
    Cost: fun and its derivatives are recorded once and replayed by compiled code.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.optimize
    >>> from hoad.interop.scipy import nonlinear_constraint
    >>> disc = nonlinear_constraint(lambda x: np.sum(x**2), -np.inf, 2.0)
    >>> disc.jac(np.array([1.0, 2.0])), disc.hess(np.array([1.0, 2.0]), np.array([3.0]))
    (array([[2., 4.]]), array([[6., 0.],
           [0., 6.]]))
    """
    check_function("nonlinear_constraint", fun)
    optional("scipy.optimize", "scipy", "nonlinear_constraint")
    from hoad._solvers.constraints import nonlinear

    return nonlinear(fun, lower, upper, keep_feasible)
