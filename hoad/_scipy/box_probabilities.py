"""The probability of a box under a multivariate normal or t distribution: their `cdf` and `logcdf`.

The slope by a limit xᵢ is the density of xᵢ there times the probability of the other intervals, given xᵢ, which is that
of a box again. The density p has ∂p/∂Σᵢⱼ = ∂²p/∂xᵢ∂xⱼ for i ≠ j, and half of that for i = j.

A variable of the t distribution is a normal one over s, where ν s² has the χ² distribution of ν degrees of freedom: the
probability is the mean of that of the box times s.

References
----------
Plackett, R. L. (1954). A reduction formula for normal multivariate integrals. Biometrika 41, 351-360.
Genz, A., and Bretz, F. (2009). Computation of Multivariate Normal and t Probabilities, equation (1.3).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from hoad._core.trace.coerce import holds_traced
from hoad._numpy.registry import as_traced
from hoad._scipy.compiled import in_place_of, module
from hoad._scipy.registry import refused
from hoad.rules.registry import defvjp, primitive

_qmvnt = module("scipy.stats._qmvnt")
_qauto: Any = getattr(_qmvnt, "_qauto", None)


# The integral over log s is a sum over so many points, to 7 digits and more from so many degrees of freedom on.
POINTS = 240
FEWEST_DEGREES = 0.4
MOST_DEGREES = 1e7  # beyond, it differs from a normal distribution by less than 1e-7
ERROR = 1e-5  # of a probability, where SciPy draws points


@primitive(shape=lambda covar, low, high, **_: ())
def box_probability(covar: Any, low: Any, high: Any, *, error: float, limit: int) -> Any:
    """Of two or more variables; of three or more with SciPy's error, from the same random numbers each time."""
    of_normal = _qmvnt._qmvn  # type: ignore[union-attr]
    rng = np.random.default_rng(0)
    return float(_qauto(of_normal, covar, low, high, rng, error=error, limit=limit, n_batches=10)[0])


def _probability(covar: Any, low: Any, high: Any, **options: Any) -> Any:
    n = high.shape[0]
    if n > 1:
        return box_probability(covar, low, high, **options)
    if not n:
        return 1.0
    return _below(high[0], np.sqrt(covar[0, 0])) - _below(low[0], np.sqrt(covar[0, 0]))


def _below(x: Any, deviation: Any) -> Any:
    """The probability of less than x, which of an infinite x does not depend on the deviation."""
    finite = np.isfinite(x)
    return np.where(finite, sc.ndtr(np.where(finite, x, 0.0) / deviation), np.where(x > 0.0, 1.0, 0.0))


def _at(x: Any, variance: Any) -> tuple[Any, Any]:
    """A limit and the density of a variable there; 0 and 0 of an infinite one."""
    finite = np.isfinite(x)
    at = np.where(finite, x, 0.0)
    density = np.exp(-0.5 * at * at / variance) / np.sqrt(2.0 * np.pi * variance)
    return at, np.where(finite, density, 0.0)


def _given(covar: Any, low: Any, high: Any, i: int, at: Any) -> tuple[Any, Any, Any, Any]:
    """The shares of variable i in the others, and their box and covariance where it is known."""
    rest = np.delete(np.arange(high.shape[0]), i)
    shares = covar[rest, i] / covar[i, i]
    left = covar[rest][:, rest] - shares[:, None] * covar[i, rest]
    return shares, left, low[rest] - shares * at, high[rest] - shares * at


def _slopes(g: Any, p: Any, covar: Any, low: Any, high: Any, **options: Any) -> tuple[Any, Any, Any]:
    n = high.shape[0]
    by_limits: list[list[Any]] = [[], []]
    by_covar: list[list[Any]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for side, sign in ((0, -1.0), (1, 1.0)):
            at, density = _at((low, high)[side][i], covar[i, i])
            shares, left, below, above = _given(covar, low, high, i, at)
            slope = sign * density * _probability(left, below, above, **options)
            by_limits[side].append(slope)
            by_covar[i][i] = by_covar[i][i] - 0.5 * at / covar[i, i] * slope
            for k in range(n - 1):
                j = k + (k >= i)
                for limits, turn in ((below, -1.0), (above, 1.0)):
                    at_j, density_j = _at(limits[k], left[k, k])
                    _, last, *within = _given(left, below, above, k, at_j)
                    both = sign * density * turn * density_j * _probability(last, *within, **options)
                    by_covar[i][j] = by_covar[i][j] + 0.5 * both
                    by_covar[i][i] = by_covar[i][i] - 0.5 * shares[k] * both
    found = np.stack([np.stack([as_traced(x) for x in row]) for row in by_covar])
    return g * found, *[g * np.stack(slopes) for slopes in by_limits]


defvjp(box_probability, _slopes)


@in_place_of(_qmvnt, "_qauto")
def automatic(
    func: Any, covar: Any, low: Any, high: Any, rng: Any, error: float = 1e-3, limit: int = 10_000, **further: Any
) -> tuple[Any, float, int]:
    """The probability, and what SciPy's caller does not look at: its error and the number of points."""
    if func is not _qmvnt._qmvn or holds_traced([error, limit]):  # type: ignore[union-attr]
        raise refused("_qauto", "by compiled code", "Use logpdf.", "scipy.stats")
    covar, low, high = (1.0 * as_traced(x) for x in (covar, low, high))
    return _probability(covar, low, high, error=float(error), limit=int(limit)), 0.0, 0


@in_place_of(_qmvnt, "_qmvt")
def of_t(m: Any, nu: Any, covar: Any, low: Any, high: Any, rng: Any, **further: Any) -> tuple[Any, float, int]:
    """The same of the t distribution, by the trapezoidal rule, which converges geometrically."""
    covar, low, high = (1.0 * as_traced(x) for x in (covar, low, high))
    if nu < FEWEST_DEGREES:
        raise refused(
            "multivariate_t.cdf", f"of less than {FEWEST_DEGREES} degrees of freedom", "Use logpdf.", "scipy.stats"
        )
    if nu > MOST_DEGREES:
        return _probability(covar, low, high, error=ERROR, limit=int(m)), 0.0, 0
    root = np.sqrt(nu)
    first = -22.0 / nu - 4.7 / root  # beyond, the density of log s is some 1e-10 of the largest
    step = (np.log(1.0 + 7.0 / root) - first) / POINTS
    scale = np.log(2.0 * step) + nu / 2.0 * np.log(nu / 2.0) - sc.gammaln(nu / 2.0)
    total: Any = 0.0
    for k in range(POINTS + 1):
        log_s = first + k * step
        s = np.exp(log_s)
        density = np.exp(scale + nu * (log_s - s * s / 2.0))
        box = [np.where(np.isfinite(x), s * x, x) for x in (low, high)]
        total = total + density * _probability(covar, *box, error=ERROR, limit=int(m))
    return total, 0.0, 0
