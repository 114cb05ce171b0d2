"""Roots, sums of squares and fits by SciPy's functions, with exact Jacobians."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.trace.context import running
from hoad._drivers.jacobian import jacobian
from hoad._jit.jit import jit
from hoad._pytree.arguments import check_function
from hoad._solvers.extras import optional
from hoad._solvers.minimize import start

FACTORED = 1000  # unknowns up to which SciPy had better factor a dense Jacobian than iterate with a sparse one


def _original(name: str) -> Any:
    return getattr(optional("scipy.optimize", "scipy", name), name)


def _differentiable(name: str) -> Any:
    """The function of SciPy's while something is recorded, by the implicit function theorem."""
    from hoad._scipy import implemented

    return implemented("scipy.optimize")[_original(name)]


def root(fun: Callable[..., Any], x0: Any, args: Any = (), method: str = "hybr", **options: Any) -> Any:
    """A root by `scipy.optimize.root`, with the exact Jacobian.

    Parameters
    ----------
    fun : callable
        A function written with NumPy: ``fun(x, *args) -> (n,)``, or a list of n numbers.
    x0 : array, shape (n,)
        Where to start, floats.
    args : tuple, optional
        Further arguments of fun.
    method : str, optional
        A method of SciPy's. ``hybr`` and ``lm`` use the Jacobian; others take none.
    **options
        Further arguments of SciPy's function: ``tol``, ``callback``, ``options``.

    Returns
    -------
    scipy.optimize.OptimizeResult
        What SciPy returns. Its ``x`` and ``fun`` are traced in a function that is being differentiated.

    Raises
    ------
    DTypeError
        If x0 is complex or holds integers.
    ShapeError
        If x0 has more than one dimension.
    ArgumentError
        If fun cannot be called, or x0 is a container.
    ImportError
        If SciPy is not installed.

    Notes
    -----
    Cost: fun and its Jacobian are recorded once and replayed by compiled code.

    Examples
    --------
    >>> import numpy as np
    >>> from hoad.interop.scipy import root
    >>> found = root(lambda x: [x[0] * np.cos(x[1]) - 4, x[0] * x[1] - x[1] - 5], np.array([1.0, 1.0]))
    >>> found.x.round(8)
    array([6.50409711, 0.90841421])
    """
    check_function("root", fun)
    args = args if isinstance(args, tuple) else (args,)
    takes = method in ("hybr", "lm")
    if running() is not None:
        from hoad._solvers.matrices import as_vector

        more = {"jac": jacobian(as_vector(fun))} if takes else {}
        return _differentiable("root")(fun, x0, args=args, method=method, **more, **options)
    x = start("root", x0)
    original = _original("root")
    from hoad._solvers.matrices import Matrix, as_vector

    g = as_vector(fun)
    jac = Matrix(g, "jacobian", "dense") if takes else None
    return original(jit(g), x, args=args, method=method, jac=jac, **options)


def least_squares(fun: Callable[..., Any], x0: Any, *, args: Any = (), kwargs: Any = None, **options: Any) -> Any:
    """A least sum of squares by `scipy.optimize.least_squares`, with the exact Jacobian, sparse where that pays.

    Parameters
    ----------
    fun : callable
        The residuals, written with NumPy: ``fun(x, *args, **kwargs) -> (m,)``, or any shape, or a list.
    x0 : array, shape (n,)
        Where to start, floats.
    args : tuple, optional
        Further arguments of fun.
    kwargs : dict, optional
        Further arguments of fun by name. With these the Jacobian is dense.
    **options
        Further arguments of SciPy's function, as ``bounds``, ``method``, ``loss``, ``x_scale`` and tolerances.

    Returns
    -------
    scipy.optimize.OptimizeResult
        What SciPy returns; ``jac`` is a sparse array where the Jacobian is sparse. ``x``, ``fun`` and ``cost`` are
        traced in a function that is being differentiated.

    Raises
    ------
    DTypeError
        If x0 is complex or holds integers.
    ShapeError
        If x0 has more than one dimension.
    ArgumentError
        If fun cannot be called, or x0 is a container.
    ImportError
        If SciPy is not installed.

    Notes
    -----
    Cost: fun and its Jacobian are recorded once and replayed by compiled code. The Jacobian is sparse for more than
    1000 unknowns, or with ``tr_solver="lsmr"`` for more than 50, if at most a fifth of its entries may be nonzero.
    SciPy then solves by iteration, which takes many more steps where the problem is ill-conditioned;
    ``tr_solver="exact"`` keeps it dense.

    Examples
    --------
    >>> import numpy as np
    >>> from hoad.interop.scipy import least_squares
    >>> t = np.linspace(0.0, 4.0, 9)
    >>> y = 3.0 * np.exp(-0.5 * t) + 0.01 * np.cos(7 * t)
    >>> found = least_squares(lambda p: p[0] * np.exp(-p[1] * t) - y, np.array([1.0, 1.0]))
    >>> found.x.round(4), found.jac.shape
    (array([3.0049, 0.5013]), (9, 2))
    """
    check_function("least_squares", fun)
    if running() is not None:
        from hoad._solvers.matrices import as_vector

        more = {"jac": jacobian(as_vector(fun)), "kwargs": kwargs or {}}
        return _differentiable("least_squares")(fun, x0, args=args, **more, **options)
    x = start("least_squares", x0)
    original = _original("least_squares")
    from hoad._solvers.matrices import Matrix, as_vector

    g = as_vector(fun)
    iterates = options.get("tr_solver") == "lsmr" or (x.size > FACTORED and options.get("tr_solver") != "exact")
    jac = Matrix(g, "jacobian", "auto" if iterates and options.get("method") != "lm" else "dense")
    return original(jit(g), x, jac=jac, args=args, kwargs=kwargs or {}, **options)


def curve_fit(
    f: Callable[..., Any],
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    **options: Any,
) -> Any:
    """Parameters that fit data, and their covariance, by `scipy.optimize.curve_fit` with the exact Jacobian.

    Parameters
    ----------
    f : callable
        The model, written with NumPy: ``f(x, *parameters) -> (m,)``, parameters as single numbers.
    xdata : array or other
        Where the data were taken; passed to f.
    ydata : array, shape (m,)
        The data.
    p0 : array, shape (n,), optional
        Where to start; all ones by default.
    sigma : array, shape (m,) or (m, m), optional
        Standard deviations of the data, or their covariance.
    absolute_sigma : bool, optional
        True if `sigma` is absolute; otherwise the covariance is scaled to the residuals.
    **options
        Further arguments of SciPy's function, as ``bounds``, ``method``, ``full_output``.

    Returns
    -------
    tuple
        ``(popt, pcov)``, or what else SciPy returns. pcov is (Jᵀ Σ⁻¹ J)⁻¹ with the exact Jacobian J at popt, so that
        standard errors, ``np.sqrt(np.diag(pcov))``, are exact for the linearised model. Both are traced in a function
        that is being differentiated.

    Raises
    ------
    ArgumentError
        If f cannot be called.
    ImportError
        If SciPy is not installed.

    Notes
    -----
    Cost: f and its Jacobian are recorded once and replayed by compiled code.

    Examples
    --------
    >>> import numpy as np
    >>> from hoad.interop.scipy import curve_fit
    >>> t = np.linspace(0.0, 4.0, 9)
    >>> y = 3.0 * np.exp(-0.5 * t) + 0.01 * np.cos(7 * t)
    >>> popt, pcov = curve_fit(lambda t, a, k: a * np.exp(-k * t), t, y)
    >>> popt.round(4), np.sqrt(np.diag(pcov)).round(4)
    (array([3.0049, 0.5013]), array([0.0064, 0.0019]))
    """
    check_function("curve_fit", f)
    given = {"p0": p0, "sigma": sigma, "absolute_sigma": absolute_sigma} | options
    if running() is not None:
        given["jac"] = lambda x, *p: jacobian(_by_vector(f))(np.stack(p), x)
        return _differentiable("curve_fit")(f, xdata, ydata, **given)
    original = _original("curve_fit")
    if sigma is not None and np.size(sigma) == 1:  # of which SciPy makes no use together with a Jacobian
        given["sigma"] = sigma = np.full(np.shape(ydata), np.reshape(sigma, ()))
    g = _by_vector(f)
    values, slopes = jit(g), jit(jacobian(g))

    @functools.wraps(f, updated=())
    def model(x: Any, *p: Any) -> Any:
        return values(np.array(p, float), x)

    vars(model)["__signature__"] = inspect.signature(f)  # by which SciPy counts the parameters
    popt, pcov, *others = original(model, xdata, ydata, jac=lambda x, *p: slopes(np.array(p, float), x), **given)
    if np.all(np.isfinite(pcov)) and given.get("nan_policy") != "omit":
        x = np.asarray(xdata, float) if isinstance(xdata, (list, tuple, np.ndarray)) else xdata
        misfit = values(popt, x) - np.asarray(ydata, float).ravel()
        pcov = _covariance(slopes(popt, x), misfit, sigma, absolute_sigma)
    return (popt, pcov, *others)


def _by_vector(f: Callable[..., Any]) -> Callable[..., Any]:
    """The model as a function of all parameters in one vector, and of the places of the data."""
    from hoad._solvers.matrices import vector

    return lambda p, x: vector(f(x, *[p[k] for k in range(p.shape[0])]))


def _covariance(slopes: Any, misfit: Any, sigma: Any, absolute_sigma: bool) -> Any:
    """(Jᵀ Σ⁻¹ J)⁻¹, scaled to the residuals where sigma is relative; by QR, which does not square J."""
    if sigma is not None:
        sigma = np.asarray(sigma, float)
        if sigma.ndim == 2:
            factor = np.linalg.cholesky(sigma)
            slopes, misfit = np.linalg.solve(factor, slopes), np.linalg.solve(factor, misfit)
        else:
            slopes, misfit = slopes / sigma.reshape(-1, 1), misfit / sigma.ravel()
    inverse = np.linalg.inv(np.linalg.qr(slopes)[1])
    found = inverse @ inverse.T
    return found if absolute_sigma else found * np.sum(misfit**2) / (misfit.size - slopes.shape[1])
