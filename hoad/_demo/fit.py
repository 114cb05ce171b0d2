"""Nonlinear least squares with exact derivatives: SciPy's trust region, then Newton's method for the last digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hoad
from hoad._demo.models import Array, Model
from hoad.errors import count

# Where the trust region ends. At SciPy's own 1e-8 it ends on a plateau from some starting values.
TOLERANCE = 1e-10
# The last of Newton's steps, in units of the residual standard deviation, in a fit that has settled.
SETTLED = 1e-6


class LeastSquares:
    """The residuals of a model, half their sum of squares, and the exact derivatives of both."""

    def __init__(self, model: Model, x: Array, y: Array) -> None:
        self.model, self.x, self.y = model, x, y
        self.jacobian = hoad.jacobian(self.residuals)
        self.gradient = hoad.grad(self.objective)
        self.hessian = hoad.hessian(self.objective)

    def residuals(self, b: Array) -> Any:
        """Return what the model expects less what was observed."""
        return self.model(b, self.x) - self.y

    def objective(self, b: Array) -> Any:
        """Return half the residual sum of squares."""
        return 0.5 * np.sum(self.residuals(b) ** 2)

    def spread(self, b: Array) -> float:
        """Return the residual standard deviation."""
        return float(np.sqrt(2 * self.objective(b) / (len(self.y) - len(b))))


@dataclass(frozen=True)
class Fit:
    """A fitted model. Standard errors are nan where it has not converged.

    They are from s² (JᵀJ)⁻¹, as NIST defines them, and from s² H⁻¹, where H is the Hessian of half the residual sum
    of squares. The steps of the trust region are counted with those that were refused.
    """

    parameters: Array
    standard_errors: Array
    hessian_standard_errors: Array
    residual_sum_of_squares: float
    residual_standard_deviation: float
    converged: bool
    message: str
    steps: int
    newton_steps: int


def fit(problem: LeastSquares, start: Array, max_steps: int = 500) -> Fit:
    """Fit a model by least squares."""
    from scipy.optimize import least_squares

    b, steps, newton_steps = start, 0, 0
    errors = hessian_errors = np.full(len(b), np.nan)
    with np.errstate(all="ignore"):  # a trial step may overflow, and is then refused: that is nothing to warn of
        try:
            found = least_squares(
                problem.residuals, start, problem.jacobian,
                x_scale="jac", ftol=TOLERANCE, xtol=TOLERANCE, gtol=TOLERANCE, max_nfev=max_steps + 1,
            )  # fmt: skip
            b, steps = found.x, found.nfev - 1
            message = "converged" if found.status > 0 else f"no minimum within {count(max_steps, 'step')}"
            if found.status > 0:
                b, newton_steps = _refine(problem, b)
                roots = np.linalg.qr(problem.jacobian(b)).R, np.linalg.cholesky(problem.hessian(b)).T
                errors, hessian_errors = (standard_errors(root, problem.spread(b)) for root in roots)
        except ValueError as error:  # something overflows, or the Hessian is not positive definite
            message = f"the fit cannot go on: {error}"
        squares, spread = 2 * float(problem.objective(b)), problem.spread(b)
    return Fit(b, errors, hessian_errors, squares, spread, message == "converged", message, steps, newton_steps)


def _refine(problem: LeastSquares, b: Array) -> tuple[Array, int]:
    """Return the minimum near b, as far as rounding lets it be known, and how many of Newton's steps led there."""
    from scipy.linalg import cho_factor, cho_solve

    steps, length = 0, np.inf
    while True:
        gradient = problem.gradient(b)
        step = -cho_solve(cho_factor(problem.hessian(b)), gradient)
        next_length = np.sqrt(-gradient @ step) / max(problem.spread(b), np.finfo(float).tiny)
        # Convergence is quadratic: a step not even half as long as the last is made of rounding errors.
        if next_length >= length / 2:
            break
        b, length, steps = b + step, next_length, steps + 1
    if length > SETTLED:
        raise np.linalg.LinAlgError("Newton's method does not settle")
    return b, steps


def standard_errors(root: NDArray[Any], spread: float) -> Array:
    """Return the square roots of the diagonal of s² (RᵀR)⁻¹ for a triangle R."""
    return np.asarray(spread * np.linalg.norm(np.linalg.inv(root), axis=1))
