"""The incomplete beta function by its shapes, and what is made of it.

References
----------
NIST Digital Library of Mathematical Functions, 8.17.1, 8.17.4. The factors under the integrals have one
sign over (0, x) or over (x, 1), where they are summed. Double exponential quadrature: Takahasi and Mori
(1974), Publ. RIMS 9.
"""

from __future__ import annotations

import math

import numpy as np

from hoad.rules.registry import primitive
from hoad.rules.special.define import define, sc, scaled, solved

STEP = 0.04
_ALONG = np.arange(-4.0, 1.72, STEP)
OFFSETS = np.exp(0.5 * math.pi * np.sinh(_ALONG))  # u in t = x e⁻ᵘ, in units of the width
WEIGHTS = STEP * 0.5 * math.pi * np.cosh(_ALONG) * OFFSETS


def beta_density(a, b, x):
    """xᵃ⁻¹ (1 - x)ᵇ⁻¹ / B(a, b)."""
    return x ** (a - 1.0) * (1.0 - x) ** (b - 1.0) / sc.beta(a, b)


def _log_first(a, b, x):
    """The factor that ∂/∂a brings to the density: log x - ψ(a) + ψ(a + b)."""
    return np.log(x) - sc.psi(a) + sc.psi(a + b)


def _log_second(a, b, x):
    """The same of ∂/∂b."""
    return np.log1p(-x) - sc.psi(b) + sc.psi(a + b)


def beta_by_shapes(a, b, x, order):
    """The derivative of Iₓ(a, b) by a and b, of order 1 or 2 in all, in operations that close."""
    inside = np.logical_and(np.greater(x, 0.0), np.less(x, 1.0))
    return np.where(inside, _integral(a, b, np.where(inside, x, 0.5), order), 0.0)


def _integral(a, b, x, order):
    if order[0]:
        below = np.less(_log_first(a, b, x), 0.0)
    else:
        below = np.greater(_log_second(a, b, x), 0.0)
    y, p, q = np.where(below, x, 1.0 - x), np.where(below, a, b), np.where(below, b, a)
    log, log_rest = np.where(below, np.log(x), np.log1p(-x)), np.where(below, np.log1p(-x), np.log(x))
    width = np.exp(-np.rint(np.log(p)))
    y_, p_, q_, log_, rest_, width_, below_ = map(_with_axis, (y, p, q, log, log_rest, width, below))
    u = width_ * OFFSETS
    log_inner = np.log1p(-(y_ * np.exp(-u)))
    density = np.exp((q_ - 1.0) * (log_inner - rest_) - p_ * u)
    first = np.where(below_, log_ - u, log_inner) - _with_axis(sc.psi(a) - sc.psi(a + b))
    second = np.where(below_, log_inner, log_ - u) - _with_axis(sc.psi(b) - sc.psi(a + b))
    sums = np.sum(WEIGHTS * _factor(a, b, first, second, order) * density, axis=-1)
    return np.where(below, 1.0, -1.0) * width * np.exp(p * log + (q - 1.0) * log_rest - sc.betaln(a, b)) * sums


def _factor(a, b, first, second, order):
    if order == (1, 0):
        return first
    if order == (0, 1):
        return second
    both = _with_axis(sc.zeta(2.0, a + b))
    if order == (1, 1):
        return first * second + both
    factor, shape = (first, a) if order == (2, 0) else (second, b)
    return factor * factor - _with_axis(sc.zeta(2.0, shape)) + both


def _with_axis(x):
    return np.reshape(x, (*np.shape(x), 1))


@primitive(elementwise=True)
def slope_by_first(a, b, x):
    """∂Iₓ(a, b)/∂a."""
    with np.errstate(all="ignore"):
        return beta_by_shapes(np.asarray(a, float), np.asarray(b, float), np.asarray(x, float), (1, 0))


@primitive(elementwise=True)
def slope_by_second(a, b, x):
    """∂Iₓ(a, b)/∂b."""
    with np.errstate(all="ignore"):
        return beta_by_shapes(np.asarray(a, float), np.asarray(b, float), np.asarray(x, float), (0, 1))


define(
    slope_by_first,
    lambda g, p, a, b, x: (
        g * beta_by_shapes(a, b, x, (2, 0)),
        g * beta_by_shapes(a, b, x, (1, 1)),
        g * (_log_first(a, b, x) * beta_density(a, b, x)),
    ),
    expansion=lambda a, b, x: beta_by_shapes(a, b, x, (1, 0)),
)
define(
    slope_by_second,
    lambda g, p, a, b, x: (
        g * beta_by_shapes(a, b, x, (1, 1)),
        g * beta_by_shapes(a, b, x, (0, 2)),
        g * (_log_second(a, b, x) * beta_density(a, b, x)),
    ),
    expansion=lambda a, b, x: beta_by_shapes(a, b, x, (0, 1)),
)


def beta_slopes(a, b, x):
    """Those of Iₓ(a, b) by a, b and x."""
    return slope_by_first(a, b, x), slope_by_second(a, b, x), beta_density(a, b, x)


def beta_slopes_of(a, b, x, rest):
    """Those by a and b, where `rest` is 1 - x to all its digits."""
    swap = np.greater(x, 0.5)
    one, other, least = np.where(swap, b, a), np.where(swap, a, b), np.where(swap, rest, x)
    first, second = slope_by_first(one, other, least), slope_by_second(one, other, least)
    return np.where(swap, -second, first), np.where(swap, -first, second)


define(sc.betainc, lambda g, p, a, b, x: scaled(g, beta_slopes(a, b, x)))
define(sc.betaincc, lambda g, p, a, b, x: scaled(-g, beta_slopes(a, b, x)))
define(sc.betaincinv, lambda g, p, a, b, y: solved(g, beta_slopes(a, b, p)))
define(sc.betainccinv, lambda g, p, a, b, y: solved(g, beta_slopes(a, b, p), -1.0))
