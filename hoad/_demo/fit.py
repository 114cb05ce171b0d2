"""Nonlinear least squares with exact derivatives: SciPy's trust region, then Newton's method for the last digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import least_squares

import hoad
from hoad._demo.models import Array, Model
from hoad.errors import count

TOLERANCE = 1e-10  # of the trust region: at SciPy's own 1e-8 it ends on a plateau from some starting values
SETTLED = 1e-6  # the last of Newton's steps, in units of the residual standard deviation


class LeastSquares:
    """The residuals of a model, half their sum of squares, and the exact derivatives of both."""

    def __init__(self, model: Model, x: Array, y: Array) -> None:
        self.model, self.x, self.y = model, x, y
        self.jacobian = hoad.jacobian(self.residuals)
        self.gradient = hoad.grad(self.objective)
        self.hessian = hoad.hessian(self.objective)

    def residuals(self, b: Array) -> Any:
        return self.model(b, self.x) - self.y

    def objective(self, b: Array) -> Any:
        return 0.5 * np.sum(self.residuals(b) ** 2)

    def spread(self, b: Array) -> float:
        """Return the residual standard deviation."""
        return float(np.sqrt(2 * self.objective(b) / (len(self.y) - len(b))))


@dataclass(frozen=True)
class Fit:
    """A fitted model. Standard errors, from s² (JᵀJ)⁻¹ as NIST defines them, are nan where it has not converged.

    The steps of the trust region are counted with those that were refused.
    """

    parameters: Array
    standard_errors: Array
    residual_sum_of_squares: float
    message: str  # empty where it has converged
    steps: int
    newton_steps: int


def fit(problem: LeastSquares, start: Array, max_steps: int = 500) -> Fit:
    """Fit a model by least squares."""
    b, steps, newton_steps, errors = start, 0, 0, np.full(len(start), np.nan)
    with np.errstate(all="ignore"):  # a trial step may overflow, and is then refused: that is nothing to warn of
        try:
            found = least_squares(
                problem.residuals, start, problem.jacobian,
                x_scale="jac", ftol=TOLERANCE, xtol=TOLERANCE, gtol=TOLERANCE, max_nfev=max_steps + 1,
            )  # fmt: skip
            b, steps = found.x, found.nfev - 1
            message = "" if found.status > 0 else f"no minimum within {count(max_steps, 'step')}"
            if found.status > 0:
                b, newton_steps = _refine(problem, b)
                inverse = np.linalg.inv(np.linalg.qr(problem.jacobian(b)).R)
                errors = problem.spread(b) * np.linalg.norm(inverse, axis=1)
        except ValueError as error:  # something overflows, or the Hessian is not positive definite
            message = f"the fit cannot go on: {error}"
        return Fit(b, errors, 2 * float(problem.objective(b)), message, steps, newton_steps)


def _refine(problem: LeastSquares, b: Array) -> tuple[Array, int]:
    """Return the minimum near b, as far as rounding lets it be known, and how many of Newton's steps led there."""
    steps, length = 0, np.inf
    while True:
        gradient = problem.gradient(b)
        try:
            factor = cho_factor(problem.hessian(b))
        except np.linalg.LinAlgError as error:  # which SciPy words otherwise in each release
            raise np.linalg.LinAlgError("the Hessian is not positive definite") from error
        step = -cho_solve(factor, gradient)
        next_length = np.sqrt(-gradient @ step) / max(problem.spread(b), np.finfo(float).tiny)
        # Convergence is quadratic: a step not even half as long as the last is made of rounding errors.
        if next_length >= length / 2:
            break
        b, length, steps = b + step, next_length, steps + 1
    if length > SETTLED:
        raise np.linalg.LinAlgError("Newton's method does not settle")
    return b, steps
