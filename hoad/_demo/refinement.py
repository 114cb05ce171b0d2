"""The last digits: Newton's method until rounding stops it, and standard errors to match.

With the columns of the Jacobian scaled to length 1, J = Q R D, the Hessian of the objective is

    H = D Rᵀ (1 + K) R D,

where K, the second-order part in the basis Q, is the curvature of the model relative to the residuals.
Systems are solved factor by factor: forming JᵀJ would square the condition number and lose the digits twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hoad._demo.descent import column_lengths
from hoad._demo.least_squares import LeastSquares

__all__ = ["Factors", "refine"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Factors:
    """The Hessian in factors at a point.

    Attributes
    ----------
    residuals : ndarray, shape (m,)
    scale : ndarray, shape (n,)
        The diagonal of D.
    triangle, curvature : ndarray, shape (n, n)
        R and K.
    projected : ndarray, shape (n,)
        Qᵀ residuals: zero at a minimum.
    """

    residuals: Array
    scale: Array
    triangle: Array
    curvature: Array
    projected: Array

    @classmethod
    def at(cls, problem: LeastSquares, b: Array) -> Factors:
        """Factor the Hessian at b."""
        residuals = problem.y - problem.expected(b)
        jacobian = problem.jacobian(b)
        scale = column_lengths(jacobian)
        basis, triangle = np.linalg.qr(jacobian / scale)
        second = problem.second_order_part(b, residuals) / np.outer(scale, scale)
        half = np.linalg.solve(triangle.T, second)
        curvature = np.linalg.solve(triangle.T, half.T)
        return cls(residuals, scale, triangle, (curvature + curvature.T) / 2, basis.T @ residuals)

    @property
    def degrees_of_freedom(self) -> int:
        """Observations less parameters."""
        return len(self.residuals) - len(self.scale)

    @property
    def residual_standard_deviation(self) -> float:
        """The s of the statistical formulas."""
        return float(np.linalg.norm(self.residuals)) / float(np.sqrt(self.degrees_of_freedom))

    @property
    def condition(self) -> float:
        """The condition number of the Jacobian, its columns scaled to length 1."""
        return float(np.linalg.cond(self.triangle))

    @property
    def least_curvature(self) -> float:
        """The least eigenvalue of 1 + K: positive at a strict minimum, 1 for a linear model."""
        return float(1 + np.linalg.eigvalsh(self.curvature)[0])

    def newton_step(self) -> tuple[Array, float]:
        """Return Newton's step, and how far it goes: the change in the responses, in units of s."""
        in_basis = np.linalg.solve(np.eye(len(self.scale)) + self.curvature, self.projected)
        step = np.linalg.solve(self.triangle, in_basis) / self.scale
        spread = max(self.residual_standard_deviation, np.finfo(float).tiny)
        return step, float(np.linalg.norm(in_basis)) / spread

    def standard_errors(self) -> Array:
        """Return the square roots of the diagonal of s² (JᵀJ)⁻¹."""
        root = np.linalg.inv(self.triangle)
        return np.asarray(self.residual_standard_deviation * np.linalg.norm(root, axis=1) / self.scale)

    def hessian_standard_errors(self) -> Array:
        """Return the square roots of the diagonal of s² H⁻¹; nan where the point is not a strict minimum."""
        if self.least_curvature <= 0:
            return np.full(len(self.scale), np.nan)
        lower = np.linalg.cholesky(np.eye(len(self.scale)) + self.curvature)
        root = np.linalg.inv(lower.T @ self.triangle)
        return np.asarray(self.residual_standard_deviation * np.linalg.norm(root, axis=1) / self.scale)


def refine(problem: LeastSquares, b: Array) -> tuple[Array, Factors, int, float]:
    """Take Newton steps until they stop getting shorter.

    Parameters
    ----------
    problem : LeastSquares
    b : ndarray
        Near a minimum.

    Returns
    -------
    b : ndarray
        The minimum, as far as rounding lets it be known.
    factors : Factors
        Of the Hessian there.
    steps : int
        How many steps it took.
    length : float
        How long the last was, in units of s: about 1e-14 where the method has settled.
    """
    steps, length = 0, np.inf
    while True:
        factors = Factors.at(problem, b)
        step, next_length = factors.newton_step()
        # Convergence is quadratic: a step not even half as long as the last is made of rounding errors.
        if not next_length < length / 2:
            return b, factors, steps, length
        b, length, steps = b + step, next_length, steps + 1
