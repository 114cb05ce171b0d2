"""What hoad is compared with: the Hessian by central differences of function values."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["DOUBLE_DIGITS", "difference_hessian", "matrix_digits", "median_seconds", "standard_errors_from"]

Array = NDArray[np.float64]

DOUBLE_DIGITS = float(-np.log10(np.finfo(float).eps))


def difference_hessian(f: Callable[[Array], float], b: Array, factor: float = 1.0) -> Array:
    """Return the Hessian of f at b by central differences, from 2 n² + 1 values of f.

    Parameters
    ----------
    f : callable
    b : ndarray, shape (n,)
    factor : float
        Multiplies the textbook step eps^(1/4) |b|, which balances truncation against rounding.

    Returns
    -------
    ndarray, shape (n, n)

    Examples
    --------
    >>> from hoad._demo.differences import difference_hessian
    >>> difference_hessian(lambda b: float(b[0] ** 2 * b[1]), np.array([1.0, 2.0])).round(4)
    array([[4., 2.],
           [2., 0.]])
    """
    n = len(b)
    h = factor * np.finfo(float).eps ** 0.25 * np.where(b != 0, np.abs(b), 1.0)
    steps = (b + h) - b  # what is really added, after rounding
    moves = np.diag(steps)
    centre = f(b)
    result = np.empty((n, n))
    for i in range(n):
        result[i, i] = (f(b + moves[i]) - 2 * centre + f(b - moves[i])) / steps[i] ** 2
        for j in range(i):
            mixed = f(b + moves[i] + moves[j]) - f(b + moves[i] - moves[j])
            mixed += f(b - moves[i] - moves[j]) - f(b - moves[i] + moves[j])
            result[i, j] = result[j, i] = mixed / (4 * steps[i] * steps[j])
    return result


def matrix_digits(matrix: Array, exact: Array) -> float:
    """Return the digits of a Hessian's worst entry, in units that make the diagonal of the exact one 1."""
    unit = np.sqrt(np.abs(np.diag(exact)))
    error = float(np.max(np.abs(matrix - exact) / np.outer(unit, unit)))
    return float(-np.log10(min(max(error, np.finfo(float).eps), 1.0))) + 0.0 if np.isfinite(error) else 0.0


def standard_errors_from(hessian: Array, residual_standard_deviation: float) -> Array:
    """Return the square roots of the diagonal of s² H⁻¹; nan where H is not positive definite."""
    diagonal = np.diag(hessian)
    if not (diagonal > 0).all():
        return np.full(len(diagonal), np.nan)
    unit = np.sqrt(diagonal)
    scaled = hessian / np.outer(unit, unit)
    if np.linalg.eigvalsh(scaled)[0] <= 0:
        return np.full(len(diagonal), np.nan)
    return np.asarray(residual_standard_deviation * np.sqrt(np.diag(np.linalg.inv(scaled))) / unit)


def median_seconds(call: Callable[[], object], budget: float = 0.03, most: int = 101) -> float:
    """Return how long a call takes, after one to warm up: the median of those that fit into the budget."""
    call()
    taken: list[float] = []
    while sum(taken) < budget and len(taken) < most:
        begun = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begun)
    return float(np.median(taken))
