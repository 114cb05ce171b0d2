"""Taylor series of special functions whose rules do not close, or lose digits on the way.

`EXPANSIONS` gives for a primitive the same function written in traced operations that close: its series by the series
of these operations keeps its digits inside of other functions too. `KERNELS` gives Taylor coefficients themselves:
``kernel(*parameters, x, degree)`` is the list of c₀ … c_degree in ``φ(x + t) = Σ cₖ tᵏ``, arrays like x.

Derivatives are ``k! cₖ``. Neither makes use of differences; sums of both signs are those of the definition.

References
----------
Abramowitz, M. and Stegun, I. A. (1964). Handbook of mathematical functions: 6.1.40, 6.3.18, 6.4.7, 6.4.11, 9.1.31,
9.6.29, 13.4.8. Gautschi, W. (1970). Efficient computation of the complex error function. SIAM J. Numer. Anal. 7.
Trefethen, L. N. and Weideman, J. A. C. (2014). The exponentially convergent trapezoidal rule. SIAM Review 56.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.special

from hoad._numpy.complex import is_complex
from hoad._ops.primitives import within

# SciPy's functions: the ufuncs themselves, where it has put others around them (SCIPY_ARRAY_API).
sc: Any = SimpleNamespace(**{name: within(function) for name, function in vars(scipy.special).items()})

Coefficients = list[Any]

ROOT_2 = math.sqrt(2.0)
HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
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


# ---- the gamma function and its logarithmic derivatives -------------------------------------------------------------


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


def gammaln(x: Any) -> Any:
    """log |Γ(x)| by Stirling's series at x + SHIFT and the logarithms of the factors between."""
    left, above, turn = _reflected(x)
    y = above + SHIFT
    total = (y - 0.5) * np.log(y) - y + HALF_LOG_2PI + binet(y)
    for k in range(SHIFT):
        total = total - np.log(above + k)
    return np.where(left, LOG_PI - np.log(np.absolute(np.sin(turn))) - total, total)


def rgamma(x: Any) -> Any:
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


def psi(x: Any) -> Any:
    """The digamma function: the derivative of `gammaln`, term by term."""
    left, above, turn = _reflected(x)
    y = above + SHIFT
    inverse = 1.0 / y
    square = inverse * inverse
    series = square * polynomial([_even(k) / (2 * k) for k in range(1, TERMS + 1)], square)
    total = np.log(y) - 0.5 * inverse - series
    for k in range(SHIFT):
        total = total - 1.0 / (above + k)
    return np.where(left, total - np.pi * _cotangent(turn), total)


def zeta(s: Any, q: Any) -> Any:
    """The Hurwitz zeta function Σ (q + k)⁻ˢ of s > 1, by Euler and Maclaurin's sum from q + SHIFT on.

    Where the sum has no value it is nan, as SciPy's is: for s ≤ 1, and for q < 0 with an s that is not whole.
    """
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


# ---- cylinder functions ---------------------------------------------------------------------------------------------


def _cylinder(function: Callable[..., Any], before: float, after: float) -> Callable[..., Coefficients]:
    """The kernel of a function with fᵥ′ = (before fᵥ₋₁ + after fᵥ₊₁) / 2, as all Bessel functions have.

    The k-th derivative is a sum of f at the orders v - k, v - k + 2, …, v + k, with binomial weights.
    """

    def kernel(v: Any, x: Any, degree: int) -> Coefficients:
        with np.errstate(all="ignore"):
            at = {j: function(v + j, x) for j in range(-degree, degree + 1)}
            return [
                sum(math.comb(k, j) * before ** (k - j) * after**j * at[2 * j - k] for j in range(k + 1))
                / (2.0**k * math.factorial(k))
                for k in range(degree + 1)
            ]

    return kernel


jv = _cylinder(sc.jv, 1.0, -1.0)
yv = _cylinder(sc.yv, 1.0, -1.0)
iv = _cylinder(sc.iv, 1.0, 1.0)
kv = _cylinder(sc.kv, -1.0, -1.0)


def of_order(kernel: Callable[..., Coefficients], v: float) -> Callable[..., Coefficients]:
    """The kernel of a function of x alone."""
    return functools.partial(kernel, v)


def of_whole_order(kernel: Callable[..., Coefficients]) -> Callable[..., Coefficients]:
    """The kernel of a function of whole orders, for which SciPy cuts others off."""
    return lambda n, x, degree: kernel(np.trunc(n), x, degree)


def hyp1f1(a: Any, b: Any, x: Any, degree: int) -> Coefficients:
    """Kummer's function: φ⁽ᵏ⁾ = (a)ₖ / (b)ₖ M(a + k, b + k, x)."""
    return [sc.poch(a, k) / sc.poch(b, k) / math.factorial(k) * sc.hyp1f1(a + k, b + k, x) for k in range(degree + 1)]


def hyp2f1(a: Any, b: Any, c: Any, x: Any, degree: int) -> Coefficients:
    """Gauss's function: φ⁽ᵏ⁾ = (a)ₖ (b)ₖ / (c)ₖ F(a + k, b + k, c + k, x)."""
    factors = [sc.poch(a, k) * (sc.poch(b, k) / math.factorial(k)) / sc.poch(c, k) for k in range(degree + 1)]
    with np.errstate(all="ignore"):  # of a polynomial nothing is left, but F may be infinite there
        slopes = [factor * sc.hyp2f1(a + k, b + k, c + k, x) for k, factor in enumerate(factors)]
    return [np.where(np.equal(factor, 0.0), 0.0, slope) for factor, slope in zip(factors, slopes, strict=True)]


def exprel(x: Any, degree: int) -> Coefficients:
    """(eˣ - 1) / x = M(1, 2, x)."""
    return hyp1f1(1.0, 2.0, x, degree)


def i0e(x: Any, degree: int) -> Coefficients:
    """e⁻ˣ I₀(x) = M(1/2, 1, -2x) for x > 0, and even."""
    sign = np.sign(x)
    return [c * (-2.0 * sign) ** k for k, c in enumerate(hyp1f1(0.5, 1.0, -2.0 * abs(x), degree))]


def i1e(x: Any, degree: int) -> Coefficients:
    """e⁻ˣ I₁(x) = x/2 M(3/2, 3, -2x) for x > 0, and odd."""
    sign = np.sign(x)
    found = [c * (-2.0 * sign) ** k for k, c in enumerate(hyp1f1(1.5, 3.0, -2.0 * abs(x), degree))]
    return [0.5 * (x * c + before) for c, before in zip(found, [0.0, *found], strict=False)]


def ive(v: Any, x: Any, degree: int) -> Coefficients:
    """e⁻ˣ Iᵥ(x) = (x/2)ᵛ / Γ(v + 1) M(v + 1/2, 2v + 1, -2x) for x > 0; of a whole v even or odd, and that of -v."""
    whole, left = np.equal(v, np.rint(v)), np.less(x, 0.0)
    v = np.where(whole, abs(v), v)
    sign = np.where(left, -1.0, 1.0)
    parity = np.where(left, np.where(whole, 1.0 - 2.0 * (v % 2.0), np.nan), 1.0)
    kummer = [c * (-2.0) ** k for k, c in enumerate(hyp1f1(v + 0.5, 2.0 * v + 1.0, -2.0 * abs(x), degree))]
    return [parity * sign**k * c for k, c in enumerate(_convolved(_power(0.5 * abs(x), v, degree), kummer))]


def _power(x: Any, v: Any, degree: int) -> Coefficients:
    """(x + t/2)ᵛ / Γ(v + 1), where what has no coefficient is 0 at x = 0 too."""
    with np.errstate(all="ignore"):
        binomials = [sc.binom(v, k) * 0.5**k for k in range(degree + 1)]
        return [np.where(c == 0.0, 0.0, c * x ** (v - k) * sc.rgamma(v + 1.0)) for k, c in enumerate(binomials)]


def _convolved(a: Coefficients, b: Coefficients) -> Coefficients:
    """The coefficients of a product."""
    return [sum(a[j] * b[k - j] for j in range(k + 1)) for k in range(len(a))]


STEP = 0.1
NODES = STEP * np.arange(-120, 121)  # of the trapezoidal rule, for what falls off as exp(-s²)
BLOCK = 256


def _integral(integrand: Callable[..., Any], *xs: Any) -> Any:
    """∫ integrand(s, *xs) ds over all s by the trapezoidal rule, for each item of the xs."""
    arrays = np.broadcast_arrays(*xs)
    flat = [x.reshape(-1, 1) for x in arrays]
    with np.errstate(all="ignore"):
        sums = [
            np.sum(integrand(NODES, *[x[k : k + BLOCK] for x in flat]), axis=-1)
            for k in range(0, max(1, flat[0].size), BLOCK)
        ]
    return STEP * np.concatenate(sums).reshape(arrays[0].shape)


def kve(v: Any, x: Any, degree: int) -> Coefficients:
    """eˣ Kᵥ(x) = ∫₀^∞ exp(-x (cosh t - 1)) cosh vt dt: under the integral the k-th derivative has one sign.

    From x = 1 on the integral is taken over s in x (cosh t - 1) = s²; below it nothing cancels in the binomial sum of
    the orders v - k, …, v + k.
    """
    near = np.less(x, 1.0)
    inner, outer = np.where(near, x, 1.0), np.where(near, 1.0, x)
    at = {j: sc.kve(v + j, inner) for j in range(-degree, degree + 1)}

    def derivative(k: int) -> Any:
        def integrand(s: Any, v: Any, x: Any) -> Any:
            ratio = s / np.sqrt(x)
            even = np.cosh(2.0 * v * np.arcsinh(ratio / ROOT_2)) / np.sqrt(s * s + 2.0 * x)
            return np.exp(-s * s) * even * (-ratio * ratio) ** k

        binomial = (-0.5) ** k * sum((-1.0) ** j * math.comb(2 * k, j) * at[k - j] for j in range(2 * k + 1))
        return np.where(near, binomial, _integral(integrand, v, outer))

    return [derivative(k) / math.factorial(k) for k in range(degree + 1)]


# ---- error functions ------------------------------------------------------------------------------------------------


def faddeeva(z: Any, k: int) -> Any:
    """Coefficient k of w(z + t), for Im z ≥ 0 ≤ Re z: (i/π) ∫ e^(-t²) (-1)ᵏ / (z - t)ᵏ⁺¹ dt.

    The integral is taken on a line Im t = -a below the pole and near the saddle point, where little cancels.
    """

    def integrand(s: Any, z: Any) -> Any:
        saddle = (k + 1) / (z + np.sqrt(z * z - 2.0 * (k + 1)))
        below = np.where(np.imag(z) < 1.0, 0.5 + 0.2 * math.sqrt(k + 1), 0.0)
        t = s - 1j * np.maximum(abs(np.imag(saddle)), below)
        return np.exp(-t * t) * (1.0 / (z - t)) ** (k + 1)

    return (-1) ** k * 1j / np.pi * _integral(integrand, np.asarray(z, dtype=np.complex128))


def erfcx(x: Any, degree: int) -> Coefficients:
    """exp(x²) erfc(x) = w(ix); for x < 0 by c₁ = 2 (x c₀ - 1/√π), k cₖ = 2 (x cₖ₋₁ + cₖ₋₂), of terms of one sign."""
    left = np.less(x, 0.0)
    down, up = np.where(left, x, 0.0), np.where(left, 0.0, x)
    below = [sc.erfcx(down)]
    found = [sc.erfcx(x)]
    for k in range(1, degree + 1):
        below.append(2.0 / k * (down * below[-1] + (below[-2] if k > 1 else -1.0 / math.sqrt(math.pi))))
        found.append(np.where(left, below[-1], np.real(1j**k * faddeeva(1j * up, k))))
    return found


def dawsn(x: Any, degree: int) -> Coefficients:
    """Dawson's function, √π/2 Im w(x), which is odd; for |x| < 1 by c₁ = 1 - 2x c₀, k cₖ = -2 (x cₖ₋₁ + cₖ₋₂)."""
    near = np.less(abs(x), 1.0)
    inner, outer = np.where(near, x, 0.0), np.where(near, 1.0, abs(x))
    within = [sc.dawsn(inner)]
    found = [sc.dawsn(x)]
    for k in range(1, degree + 1):
        within.append(-2.0 / k * (inner * within[-1] + (within[-2] if k > 1 else -0.5)))
        far = np.sign(x) ** (k + 1) * 0.5 * math.sqrt(math.pi) * np.imag(faddeeva(outer, k))
        found.append(np.where(near, within[-1], far))
    return found


def log_ndtr(x: Any) -> Any:
    """log Φ(x), which closes with the kernel of erfcx; to the left of 0 by log(erfcx(u) / 2) - u² at u = -x / √2."""
    left = np.less(x, 0.0)
    u, v = np.where(left, x / -ROOT_2, 0.0), np.where(left, 0.0, x / ROOT_2)
    return np.where(left, np.log(0.5 * sc.erfcx(u)) - u * u, np.log1p(-0.5 * sc.erfc(v)))


# ---- the tables, by the names of primitives --------------------------------------------------------------------------

# name -> the function in traced operations; orders are plain numbers
EXPANSIONS: dict[str, Callable[..., Any]] = {
    "scipy.special.gammaln": gammaln,
    "scipy.special.loggamma": gammaln,
    "scipy.special.rgamma": rgamma,
    "scipy.special.psi": psi,
    "scipy.special.zeta": zeta,
    "scipy.special.log_ndtr": log_ndtr,
}

# name -> kernel(*orders, x, degree)
KERNELS: dict[str, Callable[..., Coefficients]] = {
    "scipy.special.erfcx": erfcx,
    "scipy.special.dawsn": dawsn,
    "scipy.special.exprel": exprel,
    "scipy.special.hyp1f1": hyp1f1,
    "scipy.special.hyp2f1": hyp2f1,
    "scipy.special.j0": of_order(jv, 0),
    "scipy.special.j1": of_order(jv, 1),
    "scipy.special.jv": jv,
    "scipy.special.y0": of_order(yv, 0),
    "scipy.special.y1": of_order(yv, 1),
    "scipy.special.yn": of_whole_order(yv),
    "scipy.special.yv": yv,
    "scipy.special.i0": of_order(iv, 0),
    "scipy.special.i1": of_order(iv, 1),
    "scipy.special.iv": iv,
    "scipy.special.i0e": i0e,
    "scipy.special.i1e": i1e,
    "scipy.special.ive": ive,
    "scipy.special.k0": of_order(kv, 0),
    "scipy.special.k1": of_order(kv, 1),
    "scipy.special.kn": of_whole_order(kv),
    "scipy.special.kv": kv,
    "scipy.special.k0e": of_order(kve, 0),
    "scipy.special.k1e": of_order(kve, 1),
    "scipy.special.kve": kve,
}

__all__ = ["EXPANSIONS", "KERNELS"]
