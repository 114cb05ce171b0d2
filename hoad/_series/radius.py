"""Where a power series stops to converge, as far as its first coefficients tell.

Near the singularities that are nearest, f obeys q f′ = p f with polynomials q and p of low degree, as (1 - t/R)ᵃ does.
That is a recurrence for its coefficients, linear in those of q and p, which are fitted to the last coefficients known;
the roots of q are the singularities (differential approximants: Guttmann and Joyce 1972). With one root this is the
extrapolated ratio test of Domb and Sykes (1957); with two it finds pairs of complex singularities, as Mercer and
Roberts (1990) do. A fit counts if it is exact, or if windows that end at other coefficients give the same radius: those
of an entire function move away, for the ratios of its coefficients tend to 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FEWEST = 3  # coefficients that are not zero, of which anything can be said
QUIET, SILENT = 4, 10  # zeros after which a polynomial has ended, and a constant
EXACT = 1e-8  # the relative residual of a fit that holds but for rounding
FAIR = 5e-2  # that of a fit which other windows confirm
CLOSE, STEADY = 0.03, 0.5  # how far the logarithms of their radii and their exponents may differ
FAR = 100.0  # in units of the root test: an entire function


class Fit(NamedTuple):
    """The nearest singularity of a fit, (1 - t/radius)^exponent, and the relative residual."""

    radius: float
    exponent: float
    residual: float


UNKNOWN = Fit(np.nan, np.nan, np.inf)


def radius_of(c: np.ndarray) -> float:
    """The radius of convergence of Σ cₖ tᵏ; inf where it looks entire, nan where the coefficients do not tell."""
    if not np.all(np.isfinite(c)):
        return float("nan")
    if _has_ended(c):
        return float("inf")
    d, step, shift = _without_gaps(c)
    n = len(d) - 1
    if np.count_nonzero(d) < FEWEST:
        return float("nan")
    # a last coefficient that is small by chance would pull the line down: the best of three ends
    ends = np.flatnonzero(d)
    ends = ends[ends >= min(max(n - 2, 1), ends[-1])]
    last, top = max(
        ((int(m), _TopLine(d[: m + 1])) for m in ends), key=lambda line: line[1].slope(line[0] // 2, line[0])
    )
    slope = top.slope(last // 2, last)
    balanced = d * np.exp(-top(last) - slope * (np.arange(n + 1) - last))  # as if the root test gave 1
    found = _by_fits(balanced, shift)
    if np.isnan(found) and _bends(top, last):
        found = np.inf
    return float((found * np.exp(-slope)) ** (1 / step))


def _by_fits(d: np.ndarray, shift: float) -> float:
    """The radius that an exact fit gives, or on which windows agree; else nan."""
    n = len(d) - 1
    for degree in (1, 2):
        fit = _fitted(d, n, degree, shift)
        if fit.residual < EXACT and fit.radius > FAR:
            return np.inf
        if fit.residual < EXACT and _as_the_root_test(fit, n):
            return fit.radius
    best, least = np.nan, CLOSE
    for degree in (1, 2):
        fits = [_fitted(d, m, degree, shift) for m in (n, n - 1, n - 2, n - 3, 2 * n // 3)]
        if max(fit.residual for fit in fits) < FAIR and _as_the_root_test(fits[0], n):
            apart = max(abs(np.log(fit.radius / fits[0].radius)) for fit in fits)
            if apart < least and np.ptp([fit.exponent for fit in fits]) < STEADY:
                best, least = fits[0].radius, apart
    return best


def _as_the_root_test(fit: Fit, n: int) -> bool:
    """Whether coefficients like k^(-1 - exponent) / radiusᵏ have the slope 0 that the last half of them has."""
    slope = -np.log(fit.radius) - (fit.exponent + 1) * np.log(2) * 2 / n
    return bool(abs(slope) < max(0.3, 2 / n) and abs(fit.exponent + 1) < max(0.4 * n, 2.6))


def _bends(top: _TopLine, n: int) -> bool:
    """Whether log|cₖ| bends down throughout, as -k log k does, and more than a singularity's transients let it."""
    if n < 6:
        return False
    first, second, third = (top.slope(n * i // 4, n * (i + 1) // 4) for i in (1, 2, 3))
    least = max(0.05, 1 / n)
    steady = first - second > least and second - third > least
    return steady and first - third > max(0.15, 4 / n, 60 / n**2)


def _has_ended(c: np.ndarray) -> bool:
    """Whether the last coefficients are 0, and more of them than in any gap before."""
    known = 1 + np.flatnonzero(c[1:])
    if not len(known):
        return len(c) > SILENT
    return bool(len(c) - 1 - known[-1] >= max(QUIET, 1 + int(np.max(np.diff(known, prepend=0)))))


def _without_gaps(c: np.ndarray) -> tuple[np.ndarray, int, float]:
    """The coefficients d of g in f(t) = c₀ + tʲ g(tᵐ), m (2 for even and odd functions), and j/m."""
    known = 1 + np.flatnonzero(c[1:])
    if not len(known):
        return c, 1, 0.0
    step = int(np.gcd.reduce(np.diff(known))) if len(known) > 1 else 1
    first = int(known[0])
    if c[0] != 0 and first <= step:
        first %= step
    return c[first::step], step, first / step


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


def _fitted(d: np.ndarray, n: int, degree: int, shift: float) -> Fit:
    """Fit q f′ = p f, with q(0) = 1 and p of a lower degree, to the coefficients dₙ and before of f / t^shift."""
    count = max(3 * degree, n // 3)
    if count > n - degree + 1:
        return UNKNOWN
    k = np.arange(n - count, n)
    right = (k + 1 + shift) * d[k + 1]
    if np.count_nonzero(right) <= degree:  # zeros are fitted by anything
        return UNKNOWN
    left = np.stack([weight * d[k - j] for j in range(degree) for weight in (k - j + shift, 1)], axis=1)
    sizes = np.linalg.norm(left, axis=0)
    sizes[sizes == 0] = 1.0
    found = np.linalg.lstsq(left / sizes, right, rcond=1e-10)[0]
    residual = float(np.linalg.norm(left / sizes @ found - right) / np.linalg.norm(right))
    p, q = (found / sizes)[1::2][::-1], np.array([*(-found / sizes)[::2][::-1], 1.0])
    roots = np.roots(q)
    if not len(roots):
        return Fit(np.inf, 0.0, residual)
    nearest = roots[np.argmin(np.abs(roots))]
    rate = np.polyval(np.polyder(q), nearest)
    if rate == 0:
        return UNKNOWN
    return Fit(float(np.abs(nearest)), float(np.real(np.polyval(p, nearest) / rate)), residual)
