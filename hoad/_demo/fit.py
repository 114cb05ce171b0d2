"""Nonlinear least squares: descend, refine, and say how well the result is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hoad._demo.descent import CONVERGED, Descent, descend
from hoad._demo.least_squares import LeastSquares
from hoad._demo.refinement import Factors, refine

__all__ = ["Fit", "fit"]

Array = NDArray[np.float64]

# The last of Newton's steps, in units of the residual standard deviation, in a fit that has settled.
SETTLED = 1e-6


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Attributes
    ----------
    parameters : ndarray
    standard_errors : ndarray
        From s² (JᵀJ)⁻¹, as NIST defines them.
    hessian_standard_errors : ndarray
        From s² H⁻¹, where H is the Hessian of half the residual sum of squares; nan if not at a minimum.
    residual_sum_of_squares, residual_standard_deviation : float
    degrees_of_freedom : int
    converged : bool
        Whether Newton's method settled at a strict minimum.
    message : str
        "converged", or why not.
    steps, newton_steps, refining_steps : int
        Those of the descent, those of them on the exact Hessian, and the Newton steps that finished the fit.
    evaluations : dict of int
        How often the function and each derivative was evaluated.
    history : list of float
        The residual sum of squares at the start, and after each step of the descent that was taken.
    condition : float
        The condition number of the Jacobian, its columns scaled to length 1.
    least_curvature : float
        The least eigenvalue of H relative to JᵀJ: positive at a strict minimum, 1 for a linear model.
    """

    parameters: Array
    standard_errors: Array
    hessian_standard_errors: Array
    residual_sum_of_squares: float
    residual_standard_deviation: float
    degrees_of_freedom: int
    converged: bool
    message: str
    steps: int
    newton_steps: int
    refining_steps: int
    evaluations: dict[str, int]
    history: list[float]
    condition: float
    least_curvature: float


def fit(problem: LeastSquares, start: Array, max_steps: int = 500, radius_factor: float = 1.0) -> Fit:
    """Fit a model by least squares.

    Parameters
    ----------
    problem : LeastSquares
    start : ndarray
        Where to start.
    max_steps : int
        When to give up.
    radius_factor : float
        The first trust region's radius, in lengths of `start`.

    Returns
    -------
    Fit

    Examples
    --------
    >>> from hoad._demo.fit import fit
    >>> from hoad._demo.least_squares import LeastSquares
    >>> x = np.array([0.0, 1.0, 2.0])
    >>> decay = LeastSquares(lambda b, x: b[0] * np.exp(-b[1] * x), x, np.array([4.0, 2.0, 1.1]))
    >>> result = fit(decay, np.ones(2))
    >>> result.parameters.round(4), result.message
    (array([3.9875, 0.666 ]), 'converged')
    """
    # A trial step may overflow, and is then refused: that is nothing to warn of.
    with np.errstate(all="ignore"):
        descent = descend(problem, np.array(start, dtype=float), max_steps, radius_factor)
        if descent.message != CONVERGED:
            return _failed(problem, descent, descent.point.b, descent.message)
        try:
            b, factors, steps, length = refine(problem, descent.point.b)
        except np.linalg.LinAlgError:
            return _failed(problem, descent, descent.point.b, "the Jacobian is singular at the solution")
        message = CONVERGED
        if not length <= SETTLED:
            message = "Newton's method does not settle"
        elif factors.least_curvature <= 0:
            message = "stationary, but not a strict minimum"
        return _finished(problem, descent, b, factors, steps, message)


def _finished(problem: LeastSquares, descent: Descent, b: Array, factors: Factors, steps: int, message: str) -> Fit:
    return Fit(
        parameters=b,
        standard_errors=factors.standard_errors(),
        hessian_standard_errors=factors.hessian_standard_errors(),
        residual_sum_of_squares=float(factors.residuals @ factors.residuals),
        residual_standard_deviation=factors.residual_standard_deviation,
        degrees_of_freedom=factors.degrees_of_freedom,
        converged=message == CONVERGED,
        message=message,
        steps=descent.steps,
        newton_steps=descent.newton_steps,
        refining_steps=steps,
        evaluations=dict(problem.evaluations),
        history=descent.history,
        condition=factors.condition,
        least_curvature=factors.least_curvature,
    )


def _failed(problem: LeastSquares, descent: Descent, b: Array, message: str) -> Fit:
    """Return what is known where the descent ended: no standard errors."""
    degrees = len(problem.y) - len(b)
    unknown = np.full(len(b), np.nan)
    return Fit(
        parameters=b,
        standard_errors=unknown,
        hessian_standard_errors=unknown,
        residual_sum_of_squares=descent.history[-1],
        residual_standard_deviation=float(np.sqrt(descent.history[-1] / degrees)),
        degrees_of_freedom=degrees,
        converged=False,
        message=message,
        steps=descent.steps,
        newton_steps=descent.newton_steps,
        refining_steps=0,
        evaluations=dict(problem.evaluations),
        history=descent.history,
        condition=float("nan"),
        least_curvature=float("nan"),
    )
