"""Where a power series stops to converge, as far as its first coefficients tell.

Near the singularities that are nearest, f obeys q f′ = p f with polynomials q and p of low degree, as (1 - t/R)ᵃ does.
That is a recurrence for its coefficients, linear in those of q and p, which are fitted to the last coefficients known;
the roots of q are the singularities (differential approximants: Guttmann and Joyce 1972). With one root this is the
extrapolated ratio test of Domb and Sykes (1957); with two it finds pairs of complex singularities, as Mercer and
Roberts (1990) do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

FEWEST = 3  # coefficients that are not zero, of which anything can be said
FEW, SHORT = 6, 10  # degrees without gaps, and with them: below both only an exact fit says something
GOOD, FAIR, POOR = 1e-2, 5e-2, 0.2  # relative residuals of fits
EXACT = 1e-4  # a fit that the coefficients of an entire function do not give
NEAR, FAR = 0.3, 100.0  # in units of the root test: nearer is an accident of the fit, farther an entire function


class Fit(NamedTuple):
    """The nearest singularity of a fit, and the relative residual."""

    radius: float
    residual: float


def radius_of(c: np.ndarray) -> float:
    """The radius of convergence of Σ cₖ tᵏ; inf where it looks entire, nan where too few coefficients are known."""
    if not np.all(np.isfinite(c)):
        return float("nan")
    d, step = _without_gaps(c)
    n = len(d) - 1
    known = np.flatnonzero(d)
    if n >= FEWEST and n - known[-1] >= FEWEST:
        return float("inf")  # a polynomial
    if len(known) < FEWEST:
        return float("nan")
    top = _TopLine(d)
    level, slope = top(n), top.slope(n // 2, n)
    bend = top.slope(n // 4, n // 2) - slope
    balanced = d * np.exp(-level - slope * (np.arange(n + 1) - n))  # as if the root test gave 1
    fit, half = _nearest(balanced, n), _nearest(balanced, n // 2)
    if n < FEW and len(c) <= SHORT:
        # the ratios of so few coefficients bend as those of entire functions do, and any of them fit somehow
        if fit.residual > EXACT or n > known[-1]:
            return float("nan")
        half = fit
    return float((_judged(fit, half, bend, n) * np.exp(-slope)) ** (1 / step))


def _judged(fit: Fit, half: Fit, bend: float, n: int) -> float:
    """The radius where the root test gave 1: from the fit, if it is one and does not move away as n grows."""
    moved = fit.radius / half.radius if max(fit.residual, half.residual) < FAIR else 1.0
    if (fit.residual < FAIR and fit.radius > FAR) or (bend > 0.1 and moved > (1.05 if fit.residual > EXACT else 1.3)):
        return np.inf
    plausible = fit.radius > NEAR or fit.residual < EXACT
    if plausible and (fit.residual < GOOD or max(fit.residual, half.residual) < FAIR):
        return fit.radius
    if bend > max(0.15, 2 / n):
        return np.inf
    return fit.radius if fit.residual < POOR and 0.5 < fit.radius < 1.1 else 1.0


def _without_gaps(c: np.ndarray) -> tuple[np.ndarray, int]:
    """The coefficients d of g in f(t) = c₀ + tʲ g(tᵐ), and m: 2 for even and odd functions."""
    known = 1 + np.flatnonzero(c[1:])
    if not len(known):
        return c, 1
    step = int(np.gcd.reduce(np.diff(known))) if len(known) > 1 else 1
    return c[known[0] % step :: step], step


class _TopLine:
    """The least concave line over the points (k, log|dₖ|): coefficients that are small by chance lie below."""

    def __init__(self, d: np.ndarray) -> None:
        corners: list[tuple[int, float]] = []
        for k in np.flatnonzero(d):
            point = int(k), float(np.log(np.abs(d[k])))
            while len(corners) > 1 and _rise(corners[-2], corners[-1]) <= _rise(corners[-2], point):
                corners.pop()
            corners.append(point)
        self._k, self._height = np.array(corners).T

    def __call__(self, k: int) -> float:
        return float(np.interp(k, self._k, self._height))

    def slope(self, first: int, last: int) -> float:
        return (self(last) - self(first)) / (last - first) if last > first else 0.0


def _rise(a: tuple[int, float], b: tuple[int, float]) -> float:
    return (b[1] - a[1]) / (b[0] - a[0])


def _nearest(d: np.ndarray, n: int) -> Fit:
    """By one singularity if that fits, made more exact by a second; else by two."""
    (one, r1), (two, r2) = _fitted(d, n, 1), _fitted(d, n, 2)
    if r1 >= 2 * GOOD:
        return Fit(float(np.min(np.abs(two), initial=np.inf)), r2)
    if len(one) and len(two) and r2 < r1 / 10:
        closest = two[np.argmin(np.abs(two - one[0]))]
        if np.abs(closest - one[0]) < 0.1 * np.abs(one[0]):
            return Fit(float(np.abs(closest)), r2)
    return Fit(float(np.min(np.abs(one), initial=np.inf)), r1)


def _fitted(d: np.ndarray, n: int, degree: int) -> tuple[Any, float]:
    """Roots of q in q f′ = p f, with q(0) = 1 and p of a lower degree, and the residual of the last equations."""
    count = min(max(2 * degree + 1, n // 3), n - degree + 1)
    if count <= 2 * degree:
        return np.array([]), np.inf
    k = np.arange(n - count, n)
    right = (k + 1) * d[k + 1]
    columns = [weight * d[k - j] for j in range(degree) for weight in (k - j, 1)]
    left = np.stack(columns, axis=1)
    sizes = np.linalg.norm(left, axis=0)
    sizes[sizes == 0] = 1.0
    found = np.linalg.lstsq(left / sizes, right, rcond=1e-10)[0]
    size = np.linalg.norm(right)
    residual = np.linalg.norm(left / sizes @ found - right) / size if size else np.inf
    return np.roots([*(-found / sizes)[::2][::-1], 1.0]), float(residual)
