"""Half the residual sum of squares of a model, and its exact derivatives by hoad."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import hoad
from hoad._demo.models import Model

__all__ = ["LeastSquares"]

Array = NDArray[np.float64]


class LeastSquares:
    """The objective of a fit, its derivatives, and a count of how often each was evaluated.

    Parameters
    ----------
    model : callable
        A NumPy function of (b, x).
    x, y : ndarray
        Predictor and response.

    Examples
    --------
    >>> from hoad._demo.least_squares import LeastSquares
    >>> x, y = np.array([0.0, 1.0]), np.array([1.0, 2.0])
    >>> problem = LeastSquares(lambda b, x: b[0] * np.exp(b[1] * x), x, y)
    >>> problem.hessian(np.array([1.0, 0.0]))
    array([[2., 0.],
           [0., 0.]])
    """

    def __init__(self, model: Model, x: Array, y: Array) -> None:
        self.model = model
        self.x = x
        self.y = y
        self.evaluations = {"function": 0, "gradient": 0, "jacobian": 0, "hessian": 0}
        self._value_and_gradient = hoad.value_and_grad(self.objective)
        self._jacobian = hoad.jacobian(self.expected)
        self._hessian = hoad.hessian(self.objective)

    def expected(self, b: Array) -> Array:
        """Return the responses that the model expects."""
        response: Array = self.model(b, self.x)
        return response

    def objective(self, b: Array) -> float:
        """Return half the residual sum of squares; this is the function that hoad differentiates."""
        half: float = 0.5 * np.sum((self.y - self.model(b, self.x)) ** 2)
        return half

    def value(self, b: Array) -> float:
        """Return the objective as a number, infinite where it overflows or is undefined."""
        self.evaluations["function"] += 1
        value = float(self.objective(b))
        return value if np.isfinite(value) else np.inf

    def value_and_gradient(self, b: Array) -> tuple[float, Array]:
        """Return the objective and its gradient."""
        self.evaluations["gradient"] += 1
        value, gradient = self._value_and_gradient(b)
        return float(value), np.asarray(gradient)

    def jacobian(self, b: Array) -> Array:
        """Return the derivatives of the expected responses, a row per observation."""
        self.evaluations["jacobian"] += 1
        return np.asarray(self._jacobian(b))

    def hessian(self, b: Array) -> Array:
        """Return the Hessian of the objective."""
        self.evaluations["hessian"] += 1
        return np.asarray(self._hessian(b))

    def second_order_part(self, b: Array, residuals: Array) -> Array:
        """Return what the Hessian has beside JᵀJ, without the digits that a difference of the two would lose.

        It is the Hessian of the model's responses, each weighted with its residual, which is held still.
        """
        self.evaluations["hessian"] += 1
        return -np.asarray(hoad.hessian(lambda b: np.sum(residuals * self.model(b, self.x)))(b))
