"""The gamma function, its logarithmic derivatives, the incomplete gamma and beta functions, the Hurwitz zeta function.

References
----------
Abramowitz, M. and Stegun, I. A. (1964). Handbook of mathematical functions: 6.1.40, 6.3.18, 6.4.7, 6.4.11. Loader, C.
(2000). Fast and accurate computation of binomial probabilities.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from hoad._core.trace.traced import is_traced
from hoad._numpy.complex import is_complex, refuse_complex
from hoad.rules.registry import primitive
from hoad.rules.special.define import define, sc, scaled, solved

LOG_2PI = math.log(2.0 * math.pi)
HALF_LOG_2PI = 0.5 * LOG_2PI
LOG_PI = math.log(math.pi)

# The Stirling series is summed at x + SHIFT, to TERMS terms.
SHIFT = 16
TERMS = 14


@functools.cache
def bernoulli(n: int) -> Fraction:
    """The Bernoulli number Bₙ, with B₁ = -1/2."""
    if n == 0:
        return Fraction(1)
    return -sum((math.comb(n + 1, k) * bernoulli(k) for k in range(n)), start=Fraction(0)) / (n + 1)


def _even(n: int) -> float:
    return float(bernoulli(2 * n))


# ---- expansions ------------------------------------------------------------------------------------------------------


def polynomial(coefficients: list[float], x: Any) -> Any:
    """Σ coefficients[k] xᵏ by Horner's scheme."""
    total = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total


def binet(y: Any) -> Any:
    """log Γ(y) - (y - 1/2) log y + y - log √2π = Σ B₂ₖ / (2k (2k - 1) y²ᵏ⁻¹), for y ≥ 10."""
    inverse = 1.0 / y
    return inverse * polynomial([_even(k) / (2 * k * (2 * k - 1)) for k in range(1, TERMS + 1)], inverse * inverse)


def _reflected(x: Any) -> tuple[Any, Any, Any]:
    """Whether Re x < 0; x, or then 1 - x; and π times what x is beyond a whole number there."""
    along = np.real(x) if is_complex(x) else x
    left = np.less(along, 0.0)
    return left, np.where(left, 1.0 - x, x), np.where(left, np.pi * (x - np.rint(along)), 0.5 * np.pi)


def _cotangent(x: Any) -> Any:
    """cot x; of a complex x without sines that are huge."""
    return 1.0 / np.tan(x) if is_complex(x) else np.cos(x) / np.sin(x)


def gammaln_expansion(x: Any) -> Any:
    """log |Γ(x)| by Stirling's series at x + SHIFT and the logarithms of the factors between."""
    left, above, turn = _reflected(x)
    y = above + SHIFT
    total = (y - 0.5) * np.log(y) - y + HALF_LOG_2PI + binet(y)
    for k in range(SHIFT):
        total = total - np.log(above + k)
    return np.where(left, LOG_PI - np.log(np.absolute(np.sin(turn))) - total, total)


def rgamma_expansion(x: Any) -> Any:
    """1 / Γ(x) as x (x + 1) … (x + 2 SHIFT - 1) / Γ(x + 2 SHIFT); far left as sin(πx) Γ(1 - x) / π."""
    left = np.less(x, -SHIFT)
    above = np.where(left, 1.0 - x, x)
    turn = np.where(left, x - 2.0 * np.rint(0.5 * x), 0.5) * np.pi
    y = above + 2 * SHIFT
    factors = functools.reduce(lambda p, k: p * (above + k), range(1, 2 * SHIFT), above)
    total = (y - 0.5) * np.log(y) - y + HALF_LOG_2PI + binet(y)
    return np.where(left, np.sin(turn) / np.pi, factors) * np.exp(np.where(left, total, -total)) / np.where(
        left, factors, 1.0
    )


def psi_expansion(x: Any) -> Any:
    """The digamma function: the derivative of `gammaln_expansion`, term by term."""
    left, above, turn = _reflected(x)
    y = above + SHIFT
    inverse = 1.0 / y
    square = inverse * inverse
    series = square * polynomial([_even(k) / (2 * k) for k in range(1, TERMS + 1)], square)
    total = np.log(y) - 0.5 * inverse - series
    for k in range(SHIFT):
        total = total - 1.0 / (above + k)
    return np.where(left, total - np.pi * _cotangent(turn), total)


def zeta_expansion(s: Any, q: Any) -> Any:
    """The Hurwitz zeta function Σ (q + k)⁻ˢ of s > 1, by Euler and Maclaurin's sum from q + SHIFT on.

    Where the sum has no value it is nan, as SciPy's is: for s ≤ 1, and for q < 0 with an s that is not whole.
    """
    if is_traced(s):
        return zeta_by_order(s, q, 0)
    power = float(s)
    whole = power.is_integer()
    if not power > 1.0:
        return math.nan / (q - q)
    left, above, turn = _reflected(q)
    if not whole:
        above = np.where(left, math.nan, q)
    order = int(power) if whole else power
    y = above + SHIFT
    inverse = 1.0 / y
    square = inverse * inverse
    rising = [math.prod(order + j for j in range(2 * k - 1)) for k in range(1, TERMS + 1)]
    terms = [_even(k) * r / math.factorial(2 * k) for k, r in enumerate(rising, start=1)]
    tail = inverse ** (order - 1) * (1.0 / (order - 1) + inverse * (0.5 + inverse * polynomial(terms, square)))
    total = tail
    for k in range(SHIFT):
        total = total + (above + k) ** -order
    if not whole:
        return total
    mirrored = _lattice(int(order), turn) - (-1.0) ** order * total
    return np.where(left, mirrored, total)


def _lattice(s: int, turn: Any) -> Any:
    """Σ (x + k)⁻ˢ over all whole k, for turn = π x: a polynomial in the cotangent, by differentiating π cot πx."""
    powers = [0.0, 1.0]
    for _ in range(s - 1):
        slope = [k * c for k, c in enumerate(powers)][1:]
        powers = [-(a + b) for a, b in zip([*slope, 0.0, 0.0], [0.0, 0.0, *slope], strict=True)]
    scale = (-1.0) ** (s - 1) * math.pi**s / math.factorial(s - 1)
    return polynomial([scale * c for c in powers], _cotangent(turn))


def zeta_by_order(s: Any, q: Any, order: int) -> Any:
    """The derivative of order 0, 1 or 2 by s > 1, for q > 0."""
    return np.where(np.logical_and(np.greater(s, 1.0), np.greater(q, 0.0)), _zeta_sum(s, q, order), math.nan)


def _zeta_sum(s: Any, q: Any, order: int) -> Any:
    """Of each term of the same sum, which is the continuation of ζ to s < 1, too."""
    y = q + SHIFT
    log = np.log(y)
    rising, slope, curved = s, 1.0, 0.0  # (s)ₘ and its derivatives
    below = 1.0 / (s - 1.0)
    g = [0.5 + y * below, -(y * below * below), 2.0 * y * below**3]
    power = 1.0 / y
    for k in range(1, TERMS + 1):
        weight = _even(k) / math.factorial(2 * k) * power
        g = [g[0] + weight * rising, g[1] + weight * slope, g[2] + weight * curved]
        for j in (2 * k - 1, 2 * k):
            rising, slope, curved = rising * (s + j), slope * (s + j) + rising, curved * (s + j) + 2.0 * slope
        power = power / (y * y)
    tail = [g[0], g[1] - log * g[0], g[2] - 2.0 * log * g[1] + log * log * g[0]][order]
    total = tail * y**-s
    for k in range(SHIFT):
        total = total + (-np.log(q + k)) ** order * (q + k) ** -s
    return total


def psi_difference(x: Any, y: Any) -> Any:
    """ψ(x + y) - ψ(x) for x + y > 0 and |y| < x, without a difference: of every term of ψ the quotient by y."""
    total: Any = 0.0
    for k in range(SHIFT):
        total = total + 1.0 / ((x + k) * (x + y + k))
    a, b = 1.0 / (x + SHIFT), 1.0 / (x + y + SHIFT)
    # uᵏ - vᵏ = (u - v) hₖ for u = a², v = b², where u - v = y a b (a + b)
    h: Any = 1.0
    power: Any = 1.0
    series: Any = 0.0
    for k in range(1, TERMS + 1):
        series = series + _even(k) / (2 * k) * h
        power = power * (b * b)
        h = h * (a * a) + power
    return np.log1p(y * a) + y * (total + a * b * (0.5 + (a + b) * series))


# ---- rules -----------------------------------------------------------------------------------------------------------


def _rgamma(g, p, x):
    """-ψ(x) / Γ(x); for x < 1/2 by 1/Γ(x) = sin(πx) Γ(1 - x) / π, which has no poles there; near these if complex."""
    along = np.real(x) if is_complex(x) else x
    left = np.less(along, 0.5)
    if is_complex(x):
        left = np.logical_and(left, np.less(np.absolute(np.imag(x)), 1.0))
    above = np.where(left, 1.0 - x, x)
    turn = np.where(left, x - 2.0 * np.rint(0.5 * along), 0.0) * np.pi
    mirrored = sc.gamma(above) * (np.cos(turn) - np.sin(turn) / np.pi * sc.psi(above))
    return (g * np.where(left, mirrored, -(sc.rgamma(above) * sc.psi(above))),)


def log_slope(x, y):
    """ψ(x + y) - ψ(x), the slope of log Γ(x + y) - log Γ(x), which would cancel where y is less than x."""
    near = np.logical_and(np.less(np.absolute(y), x), np.greater(x + y, 0.0))
    close = psi_difference(np.where(near, x, 1.0), np.where(near, y, 0.5))
    return np.where(near, close, sc.psi(x + y) - sc.psi(x))


define(sc.gamma, lambda g, p, x: (g * (p * sc.psi(x)),))
define(sc.gammaln, lambda g, p, x: (g * sc.psi(x),), expansion=gammaln_expansion)
define(sc.loggamma, lambda g, p, x: (g * sc.psi(x),), expansion=gammaln_expansion)
define(sc.rgamma, _rgamma, expansion=rgamma_expansion)
define(
    sc.psi,
    lambda g, p, x: (g * (zeta_expansion(2.0, x) if is_complex(x) else sc.zeta(2.0, x)),),
    expansion=psi_expansion,
)
define(sc.beta, lambda g, p, x, y: (-(g * (p * log_slope(x, y))), -(g * (p * log_slope(y, x)))))
define(sc.betaln, lambda g, p, x, y: (-(g * log_slope(x, y)), -(g * log_slope(y, x))))


def _poch(g, p, a, m):
    """Γ(a + m) / Γ(a)."""
    return g * (p * log_slope(a, m)), g * (p * sc.psi(a + m))


def _binom(g, p, n, k):
    """Γ(n + 1) / (Γ(k + 1) Γ(n - k + 1))."""
    others = n - k + 1.0
    return g * (p * log_slope(others, k)), g * (p * log_slope(k + 1.0, n - 2.0 * k))


# Of integers the derivative is that of the function of real numbers; where Γ is infinite it is nan
define(sc.poch, _poch)
define(sc.binom, _binom)

# The Hurwitz zeta function: ψ⁽ⁿ⁾(x) = (-1)ⁿ⁺¹ n! ζ(n + 1, x)
@primitive(elementwise=True)
def slope_of_zeta(s, q):
    """∂ζ/∂s."""
    with np.errstate(all="ignore"):
        return zeta_by_order(np.asarray(s, float), np.asarray(q, float), 1)


define(
    slope_of_zeta,
    lambda g, p, s, q: (g * zeta_by_order(s, q, 2), -(g * (sc.zeta(s + 1.0, q) + s * slope_of_zeta(s + 1.0, q)))),
    expansion=lambda s, q: zeta_by_order(s, q, 1),
)
define(
    sc._ufuncs._zeta,
    lambda g, p, s, q: (g * slope_of_zeta(s, q), -(g * (s * sc.zeta(s + 1.0, q)))),
    name="scipy.special.zeta",
    expansion=zeta_expansion,
)


# ζ(x) - 1 is the sum from 2 on; on the left, where terms are large, ζ(x) = 2 (2π)ˣ⁻¹ sin(πx/2) Γ(1 - x) ζ(1 - x)
def _of_zetac(x):
    """Whether x is there; then 1 - x, πx/2 less whole turns and the sum for it; and x for the sum as it stands."""
    left = np.less(x, -0.25)
    y = np.where(left, 1.0 - x, 2.0)
    turn = 0.5 * np.pi * np.where(left, x - 4.0 * np.rint(0.25 * x), 0.0)
    return left, y, turn, 1.0 + _zeta_sum(y, 2.0, 0), np.where(left, 2.0, x)


def _zetac(g, p, x):
    left, y, turn, zeta, right = _of_zetac(x)
    slope = np.sin(turn) * ((LOG_2PI - sc.psi(y)) * zeta - _zeta_sum(y, 2.0, 1)) + 0.5 * np.pi * np.cos(turn) * zeta
    mirrored = 2.0 * np.exp(sc.gammaln(y) - LOG_2PI * y) * slope
    return (g * np.where(left, mirrored, _zeta_sum(right, 2.0, 1)),)


def zetac_expansion(x: Any) -> Any:
    """The same sum, and the same reflection."""
    left, y, turn, zeta, right = _of_zetac(x)
    mirrored = 2.0 * np.exp(sc.gammaln(y) - LOG_2PI * y) * np.sin(turn) * zeta
    return np.where(left, mirrored - 1.0, _zeta_sum(right, 2.0, 0))


define(sc.zetac, _zetac, expansion=zetac_expansion)


def _riemann_zeta(g, p, x):
    refuse_complex("scipy.special.zeta", x)
    (slope,) = _zetac(1.0, p, x.astype(np.float64))  # powers of large x are beyond float32
    return (g * slope.astype(x.dtype),)


define(  # what SciPy's zeta(x) of one argument calls
    sc._ufuncs._riemann_zeta,
    _riemann_zeta,
    name="scipy.special.zeta(x)",
    expansion=lambda x: (1.0 + zetac_expansion(x.astype(np.float64))).astype(x.dtype),
)


# Incomplete gamma functions
def gamma_density(a, x):
    """xᵃ⁻¹ e⁻ˣ / Γ(a); from a = 10 on about its maximum, where powers and exponentials would be huge."""
    large = np.greater_equal(a, 10.0)
    few, many = np.where(large, 1.0, a), np.where(large, a, 10.0)
    d = np.where(large, x - many, 0.0)
    about = np.exp((many - 1.0) * np.log1p(d / many) - d - binet(many)) / np.sqrt(2.0 * np.pi * many)
    inner = np.where(large, 1.0, x)
    return np.where(large, about, inner ** (few - 1.0) * np.exp(-inner) * sc.rgamma(few))


# By the shape a: ∫ (log t - ψ(a)) tᵃ⁻¹ e⁻ᵗ dt / Γ(a) over (0, x), or minus that over (x, ∞), of one sign there
ALONG = np.arange(-4.0, 1.68, 0.04)
OFFSETS = np.exp(0.5 * math.pi * np.sinh(ALONG))  # u in t = x exp(±u), in units of the width
OFFSET_WEIGHTS = 0.04 * 0.5 * math.pi * np.cosh(ALONG) * OFFSETS
SMALL_TERMS = 22  # of the series for x < 1


def by_shape(a, x, order):
    """The first or second derivative of P(a, x) by a, in operations that close."""
    small = np.less(x, 1.0)
    near, far = np.where(small, x, 0.5), np.where(small, 2.0, x)
    return np.where(small, _series_by_shape(a, near, order), _integral_by_shape(a, far, order))


def _series_by_shape(a, x, order):
    """P = Σ xᵃ⁺ⁿ e⁻ˣ / Γ(a + n + 1)."""
    term = x**a * np.exp(-x) * sc.rgamma(a + 1.0)
    first, second = np.log(x) - sc.psi(a + 1.0), sc.zeta(2.0, a + 1.0)
    total = 0.0
    for n in range(1, SMALL_TERMS + 1):
        total = total + term * (first if order == 1 else first * first - second)
        term, first = term * (x / (a + n)), first - 1.0 / (a + n)
        second = second - 1.0 / (a + n) ** 2
    return total


def _integral_by_shape(a, x, order):
    first = np.log(x) - sc.psi(a)
    side = np.where(np.less(first, 0.0), -1.0, 1.0)
    width = np.exp(np.rint(-0.5 * np.log(np.maximum(a, x))))
    a_, x_, first_, side_, width_ = (np.reshape(y, (*np.shape(y), 1)) for y in (a, x, first, side, width))
    u = side_ * np.where(np.less(side_, 0.0), width_ * OFFSETS, np.minimum(width_ * OFFSETS, 12.0))
    factor = first_ + u
    if order == 2:
        factor = factor * factor - np.reshape(sc.zeta(2.0, a), (*np.shape(a), 1))
    sums = np.sum(OFFSET_WEIGHTS * factor * np.exp(a_ * u - x_ * np.expm1(u)), axis=-1)
    return -side * width * x * gamma_density(a, x) * sums


@primitive(elementwise=True)
def slope_by_shape(a, x):
    """∂P/∂a."""
    with np.errstate(all="ignore"):
        return by_shape(np.asarray(a, float), np.asarray(x, float), 1)


define(
    slope_by_shape,
    lambda g, p, a, x: (g * by_shape(a, x, 2), g * ((np.log(x) - sc.psi(a)) * gamma_density(a, x))),
    expansion=lambda a, x: by_shape(a, x, 1),
)


def gamma_slopes(a, x):
    """Those of P(a, x) by a and x."""
    return slope_by_shape(a, x), gamma_density(a, x)


define(sc.gammainc, lambda g, p, a, x: scaled(g, gamma_slopes(a, x)))
define(sc.gammaincc, lambda g, p, a, x: scaled(-g, gamma_slopes(a, x)))
define(sc.gammaincinv, lambda g, p, a, y: solved(g, gamma_slopes(a, p)))
define(sc.gammainccinv, lambda g, p, a, y: solved(g, gamma_slopes(a, p), -1.0))
