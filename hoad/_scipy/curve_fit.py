"""`scipy.optimize.curve_fit` with traced data, or a model that uses traced values."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import scipy.optimize

from hoad._core.trace.context import running
from hoad._drivers.jacobian import jacobian
from hoad._numpy.products import inexact
from hoad._scipy.bounds import Ends, check_bounds, free_or_held, two_ends_of
from hoad._scipy.registry import IMPLEMENTED, sections
from hoad._scipy.roots_and_minima import NOTES
from hoad._scipy.solutions import RAISES, Function, Given, Solver, at_rest, refusal, solution, vector

original = scipy.optimize.curve_fit


def fit(model: Function, signature: Any, ydata: Any, sigma: Any, jac: Any, options: Given) -> Any:
    """SciPy's fit of a function of the parameters alone, which knows the places of the data."""

    def call(_: Any, *p: Any) -> Any:
        return model(np.array(p))

    vars(call)["__signature__"] = signature
    slope = (lambda _, *p: jac(np.array(p))) if callable(jac) else jac
    return original(call, [0.0], ydata, sigma=sigma, jac=slope, **options)


def _misfit(f: Function, given: Given) -> Function:
    """What is squared, by the parameters."""
    y, sigma = inexact(given["ydata"]), given["sigma"]
    if sigma is None:
        return lambda p: vector(f(p)) - np.reshape(y, -1)
    sigma = inexact(sigma)
    if sigma.ndim == 2 and sigma.size > 1:
        factor = np.linalg.cholesky(sigma)
        return lambda p: np.linalg.solve(factor, vector(f(p)) - y)
    return lambda p: (vector(f(p)) - y) / sigma


def _slope(f: Function, given: Given) -> Function:
    misfit = _misfit(f, given)
    return at_rest(lambda p: 0.5 * np.sum(misfit(p) ** 2))


def _ends(given: Given) -> Ends | None:
    return two_ends_of(given["options"].get("bounds"))


def _equation(f: Function, given: Given) -> Function:
    return free_or_held(_slope(f, given), _ends(given))


def _result(found: Any, given: Given, x: Any, f: Function) -> Any:
    """The parameters, and their covariance by the exact Jacobian."""
    popt, pcov, *others = found
    if np.all(np.isfinite(pcov)):
        misfit = _misfit(f, given)
        slope = jacobian(misfit)(x)
        pcov = np.linalg.inv(slope.T @ slope)
        if not given["options"].get("absolute_sigma"):
            r = misfit(x)
            pcov = pcov * (np.sum(r * r) / (r.size - len(popt)))
    return (x, pcov, *others)


def _check(solver: Solver, found: Any, given: Given, f: Function) -> None:
    options = given["options"]
    if options.get("loss", "linear") != "linear" or options.get("nan_policy") == "omit":
        raise refusal(solver, "a loss, or nan_policy='omit', is not known to its equation. Use least_squares.")
    cost = 0.5 * np.sum(_misfit(f, given)(found[0]) ** 2)
    check_bounds(solver, found[0], _slope(f, given), float(cost), _ends(given))


@functools.wraps(original)
def curve_fit(*args: Any, **kwargs: Any) -> Any:
    if running() is None:
        return original(*args, **kwargs)
    given = dict(inspect.signature(original).bind(*args, **kwargs).arguments)
    f, x = given.pop("f"), given.pop("xdata")
    x = inexact(x) if isinstance(x, (list, tuple, np.ndarray)) or hasattr(x, "dtype") else x
    y, sigma, jac = given.pop("ydata"), given.pop("sigma", None), given.pop("jac", None)
    options = given | given.pop("kwargs", {})
    model = functools.partial(_unpacked, f, x)
    slope = functools.partial(_unpacked, jac, x) if callable(jac) else jac
    return solution(SOLVER, (model, inspect.signature(f), y, sigma, slope, options), {})


def _unpacked(f: Function, x: Any, p: Any) -> Any:
    return f(x, *[p[k] for k in range(p.shape[0])])


fit.__name__, fit.__module__ = "curve_fit", original.__module__  # for messages
SOLVER = Solver(fit, "model", ("jac",), _equation, lambda found, given: found[0], _result, _check)
curve_fit.__doc__ = sections(
    "The parameters of a model that fit data best in the sense of least squares, and their covariance.",
    original,
    RAISES,
    NOTES,
)
IMPLEMENTED[original] = curve_fit
