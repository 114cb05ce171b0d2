"""Padé approximants: the rational functions that agree with a power series as far as they can."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._series.shapes import displacement
from hoad._series.text import about, polynomial


class PadeApproximant:
    """A rational function r(t) = (a₀ + ... + aₘ tᵐ) / (1 + b₁ t + ... + bₙ tⁿ) of the displacement t = x − point.

    `TaylorSeries.pade` returns it, with a separate function for each entry of a series of arrays (S).

    Attributes
    ----------
    numerator : ndarray (m+1, S)
        The coefficients a; zeros if the degree was reduced.
    denominator : ndarray (n+1, S)
        The coefficients b, with b₀ = 1.
    point : float or array
        Where t is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from hoad._series import TaylorSeries
    >>> r = np.exp(TaylorSeries.variable(4)).pade(2, 2)
    >>> r
    (1 + t/2 + t²/12)/(1 - t/2 + t²/12)
    >>> print(f"{r(1.0):.5f} {np.e:.5f}")
    2.71429 2.71828
    """

    __slots__ = ("denominator", "numerator", "point")

    def __init__(self, numerator: np.ndarray, denominator: np.ndarray, point: Any = 0) -> None:
        self.numerator, self.denominator, self.point = numerator, denominator, point

    def __call__(self, t: Any) -> Any:
        """The value at the displacement t, which broadcasts against S; inf or nan at a pole."""
        return _horner(self.numerator, t) / _horner(self.denominator, t)

    def at(self, x: Any) -> Any:
        """The value at x = `point` + t."""
        return self(displacement(x, self.point, self.numerator.ndim - 1))

    def poles(self) -> np.ndarray:
        """The displacements (n, S) where the denominator is 0, the nearest first; inf where its degree is lower."""
        shape = self.denominator.shape[1:]
        found = np.full((len(self.denominator) - 1, *shape), np.inf, complex)
        for index in np.ndindex(shape):
            roots = np.roots(self.denominator[(slice(None, None, -1), *index)])
            found[(slice(len(roots)), *index)] = roots[np.argsort(np.abs(roots))]
        return found

    def __repr__(self) -> str:
        if self.numerator.ndim > 1:
            m, n, shape = len(self.numerator) - 1, len(self.denominator) - 1, self.numerator.shape[1:]
            return f"<PadeApproximant [{m}/{n}] of shape {shape}>"
        above, below = polynomial(self.numerator), polynomial(self.denominator)
        quotient = above if below == "1" else f"({above})/({below})"
        return quotient + about(self.point)


def approximant(c: np.ndarray, m: int, n: int, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients (m+1,) and (n+1,) of the [m/n] approximant of c₀, ..., cₘ₊ₙ.

    Algorithm 2 of Gonnet, Güttel and Trefethen (2013), on coefficients scaled to be of one size: where singular values
    of the linear system for b are small, the degrees are lowered, and poles that belong to nothing do not arise.
    """
    scale = _scale(c)
    powers = scale ** np.arange(m + n + 1)
    a, b = _robust(c[: m + n + 1] * powers, m, n, tolerance)
    above, below = np.zeros(m + 1, c.dtype), np.zeros(n + 1, c.dtype)
    above[: len(a)], below[: len(b)] = a / powers[: len(a)], b / powers[: len(b)]
    return above, below


def _robust(c: np.ndarray, m: int, n: int, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    small = tolerance * np.linalg.norm(c)
    if np.all(np.abs(c[: m + 1]) <= small):
        return np.zeros(1, c.dtype), np.ones(1, c.dtype)
    while True:
        table = _toeplitz(c, m + n + 1, n + 1)
        if n == 0:
            b = np.ones(1, c.dtype)
            break
        _, sizes, rows = np.linalg.svd(table[m + 1 :])
        rank = int(np.sum(sizes > small))
        if rank == n:
            b = _null_vector(table[m + 1 :], rows[-1].conj())
            break
        m, n = max(m - (n - rank), 0), rank
    a = table[: m + 1] @ b
    zeros = int(np.argmax(np.abs(b) > tolerance))  # a common factor of t
    a, b = a[zeros:], b[zeros:]
    a, b = _trimmed(a, small), _trimmed(b, tolerance)
    return a / b[0], b / b[0]


def _null_vector(table: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The null vector of the (n, n+1) equations for b, from its rough values: its small entries to their own digits."""
    weights = np.abs(b) + np.sqrt(np.finfo(table.dtype).eps)
    q, _ = np.linalg.qr((table * weights).conj().T, mode="complete")
    refined = weights * q[:, -1]
    found: np.ndarray = refined / np.linalg.norm(refined)
    return found


def _toeplitz(c: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Coefficient i of the product with b is Σ c[i - j] b[j]."""
    differences = np.subtract.outer(np.arange(rows), np.arange(columns))
    return np.where(differences >= 0, c[np.maximum(differences, 0)], 0)


def _trimmed(a: np.ndarray, small: Any) -> np.ndarray:
    """Without the last entries that are small."""
    large = np.flatnonzero(np.abs(a) > small)
    return a[: large[-1] + 1] if len(large) else a[:1]


def _scale(c: np.ndarray) -> float:
    """The power of two σ for which the cₖ σᵏ are of one size, so that what is small is so beside its neighbours."""
    known = np.flatnonzero(c)
    if len(known) < 2:
        return 1.0
    slope = np.polyfit(known, np.log2(np.abs(c[known])), 1)[0]
    return float(2.0 ** np.round(np.clip(-slope, -1000 / len(c), 1000 / len(c))))


def _horner(c: np.ndarray, t: Any) -> Any:
    value = c[-1]
    for x in c[-2::-1]:
        value = value * t + x
    return value
