"""The way down: a trust-region Newton method on exact derivatives, from a start to near a minimum."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hoad._demo.least_squares import LeastSquares
from hoad._demo.trust_region import minimise_quadratic
from hoad.errors import count

__all__ = ["CONVERGED", "Descent", "column_lengths", "descend"]

Array = NDArray[np.float64]

CONVERGED = "converged"

# A full step that promises less than this fraction of the objective ends the descent: what the model could
# still explain of the residuals is 1e-5 of them in length, and Newton's method is left to finish.
PROMISES_LITTLE = 1e-10


@dataclass(frozen=True)
class Point:
    """A point with the objective's derivatives there."""

    b: Array
    value: float
    gradient: Array
    hessian: Array
    jacobian: Array

    @classmethod
    def at(cls, problem: LeastSquares, b: Array) -> Point:
        """Evaluate all derivatives at b."""
        value, gradient = problem.value_and_gradient(b)
        return cls(b, value, gradient, problem.hessian(b), problem.jacobian(b))

    def is_finite(self) -> bool:
        """Return whether the value and every derivative is a finite number."""
        parts = (self.value, self.gradient, self.hessian, self.jacobian)
        return all(bool(np.isfinite(part).all()) for part in parts)


@dataclass
class Descent:
    """Where a descent is, and how it got there.

    Attributes
    ----------
    point : Point
    scale : ndarray
        What a unit of each parameter counts in the trust region.
    radius : float
        Of the trust region.
    on_hessian : bool
        Whether the next step is on the exact Hessian or on JᵀJ.
    steps, newton_steps : int
        All that were tried, and those of them on the exact Hessian.
    history : list of float
        The residual sum of squares at the start, and after each step that was taken.
    message : str
        Why it ended; empty while it goes on.
    """

    point: Point
    scale: Array
    radius: float
    on_hessian: bool = False
    steps: int = 0
    newton_steps: int = 0
    history: list[float] = field(default_factory=list)
    message: str = ""


def column_lengths(jacobian: Array, least: Array | float = 0.0) -> Array:
    """Return the lengths of the columns, at least `least`, and 1 for a column that is zero."""
    lengths = np.maximum(np.linalg.norm(jacobian, axis=0), least)
    return np.where(lengths > 0, lengths, 1.0)


def descend(problem: LeastSquares, start: Array, max_steps: int, radius_factor: float = 1.0) -> Descent:
    """Descend until a full step promises next to nothing.

    Two quadratic models compete: the one with the exact Hessian, and its Gauss-Newton part JᵀJ, which often
    serves better far from a solution, where the Hessian is indefinite. As in NL2SOL, the next step is taken
    on the model that was closer to what the last step brought.

    The trust region is scaled as Moré does it, which makes the method independent of the parameters' units: a
    parameter counts by the greatest change it has been seen to make in the responses.

    Parameters
    ----------
    problem : LeastSquares
    start : ndarray
    max_steps : int
        When to give up.
    radius_factor : float
        The first radius, in lengths of `start`.

    Returns
    -------
    Descent

    References
    ----------
    Moré, *The Levenberg-Marquardt algorithm: implementation and theory*, LNM 630 (1978).
    Dennis, Gay and Welsch, *An adaptive nonlinear least-squares algorithm*, ACM Trans. Math. Softw. 7 (1981).
    """
    point = Point.at(problem, start)
    scale = column_lengths(point.jacobian)
    radius = radius_factor * (float(np.linalg.norm(scale * start)) or 1.0)
    descent = Descent(point, scale, radius, history=[2 * point.value])
    if not point.is_finite():
        descent.message = "the model or a derivative of it overflows at the starting values"
    while not descent.message:
        if descent.steps == max_steps:
            descent.message = f"no minimum within {count(max_steps, 'step')}"
        else:
            _try_step(problem, descent)
    return descent


def _try_step(problem: LeastSquares, descent: Descent) -> None:
    """Try one step; move there if it is good, and adapt the region and the model to how good it was."""
    point, scale = descent.point, descent.scale
    gauss_newton = point.jacobian.T @ point.jacobian
    matrix = point.hessian if descent.on_hessian else gauss_newton
    scaled, interior = minimise_quadratic(matrix / np.outer(scale, scale), point.gradient / scale, descent.radius)
    step, length = scaled / scale, float(np.linalg.norm(scaled))
    slope = point.gradient @ step
    promised = -(slope + step @ matrix @ step / 2)
    if interior and promised <= PROMISES_LITTLE * point.value:
        descent.message = CONVERGED
        return

    descent.steps += 1
    descent.newton_steps += descent.on_hessian
    brought = point.value - problem.value(point.b + step)
    miss_of_hessian = abs(brought + slope + step @ point.hessian @ step / 2)
    miss_of_gauss_newton = abs(brought + slope + step @ gauss_newton @ step / 2)
    descent.on_hessian = bool(miss_of_hessian < miss_of_gauss_newton)

    if brought < promised / 4:
        descent.radius = length / 4
    elif brought > promised * 3 / 4:
        descent.radius = max(descent.radius, 2 * length)
    if brought > 1e-4 * promised:
        _move(problem, descent, point.b + step)
    elif length <= np.finfo(float).eps * float(np.linalg.norm(scale * point.b)):
        descent.message = "the trust region shrank to nothing"


def _move(problem: LeastSquares, descent: Descent, b: Array) -> None:
    """Go to b, unless a derivative overflows there, though the objective does not."""
    point = Point.at(problem, b)
    if not point.is_finite():
        descent.radius /= 16
        return
    descent.point = point
    descent.scale = column_lengths(point.jacobian, descent.scale)
    descent.history.append(2 * point.value)
