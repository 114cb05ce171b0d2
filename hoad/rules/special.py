"""Derivatives of the ufuncs of `scipy.special`.

A line per ufunc, as in `hoad.rules.elementwise`. The table is imported when a ufunc of SciPy first meets a traced
value; hoad itself does not need SciPy. Where a derivative with respect to a parameter (the order of a Bessel function,
the shape of a distribution) has no formula, the rule holds an error in its place, which is raised where it is asked
for.

References
----------
Abramowitz, M. and Stegun, I. A. (1964). Handbook of mathematical functions: chapters 6, 7, 9 and 13. Loader, C. (2000).
Fast and accurate computation of binomial probabilities. NIST Digital Library of Mathematical Functions, 4.13, 5, 10.
"""

import math

import numpy as np

from hoad._core.base.where import here
from hoad._core.graph.primitive import primitive_named
from hoad._core.kernels.ufuncs import direction, logistic, sech, strong_divide
from hoad._numpy.complex import is_complex
from hoad._ops.primitives import declare_ufunc
from hoad.errors import NoRuleError
from hoad.rules import expansions
from hoad.rules.elementwise import LN2, LN10
from hoad.rules.expansions import sc
from hoad.rules.registry import primitive, vjp

ROOT_2 = math.sqrt(2.0)
ROOT_PI = math.sqrt(math.pi)
ROOT_2PI = math.sqrt(2.0 * math.pi)


def unknown(name, parameter):
    """The error in place of an adjoint: no formula for the derivative of a function with respect to a parameter."""
    return NoRuleError(
        f"scipy.special.{name} has no derivative with respect to {parameter} ({here()}), only with respect to its last "
        f"argument. Give it hoad.value({parameter}) if it is constant, or hoad.primitive a rule of your own."
    )


# Error functions
@primitive(elementwise=True, series=expansions.erfcx)
def erfcx(x):
    """exp(x²) erfc(x), whose derivatives of real x are taken without the difference of its rule for a complex one."""
    return sc.erfcx(x)


@primitive(elementwise=True, series=expansions.dawsn)
def dawsn(x):
    """Dawson's function, likewise."""
    return sc.dawsn(x)


def _erfcx(g, p, x):
    return (g * (2.0 * x * p - 2.0 / ROOT_PI if is_complex(x) else erfcx.derivatives[1](x)),)  # type: ignore[attr-defined]


def _dawsn(g, p, x):
    return (g * (1.0 - 2.0 * x * p if is_complex(x) else dawsn.derivatives[1](x)),)  # type: ignore[attr-defined]


def _log_ndtr(g, p, x):
    """φ(x) / Φ(x); for x < 0 it is -x + small, by log Φ(x) = log(erfcx(u) / 2) - u² at u = -x / √2."""
    if is_complex(x):
        return (g * (np.exp(-0.5 * x * x - p) / ROOT_2PI),)
    u = np.where(np.less(x, 0.0), x / -ROOT_2, 0.0)
    left = -x - erfcx.derivatives[1](u) / sc.erfcx(u) / ROOT_2  # type: ignore[attr-defined]
    return (g * np.where(np.less(x, 0.0), left, np.exp(-0.5 * x * x - p) / ROOT_2PI),)


vjp(sc.erf, lambda g, p, x: (g * (2.0 / ROOT_PI * np.exp(-(x * x))),))
vjp(sc.erfc, lambda g, p, x: (-(g * (2.0 / ROOT_PI * np.exp(-(x * x)))),))
vjp(sc.erfi, lambda g, p, x: (g * (2.0 / ROOT_PI * np.exp(x * x)),))
vjp(sc.erfcx, _erfcx)
vjp(sc.dawsn, _dawsn)
vjp(sc.erfinv, lambda g, p, x: (g * (ROOT_PI / 2.0 * np.exp(p * p)),))
vjp(sc.erfcinv, lambda g, p, x: (-(g * (ROOT_PI / 2.0 * np.exp(p * p))),))
vjp(sc.ndtr, lambda g, p, x: (g * (np.exp(-0.5 * (x * x)) / ROOT_2PI),))
vjp(sc.log_ndtr, _log_ndtr)
vjp(sc.ndtri, lambda g, p, x: (g * (ROOT_2PI * np.exp(0.5 * (p * p))),))


# The gamma function and related functions
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


def _psi_difference(x, y):
    """ψ(x + y) - ψ(x), which would cancel where y is less than x."""
    near = np.logical_and(np.less(np.absolute(y), x), np.greater(x + y, 0.0))
    close = expansions.psi_difference(np.where(near, x, 1.0), np.where(near, y, 0.5))
    return np.where(near, close, sc.psi(x + y) - sc.psi(x))


vjp(sc.gamma, lambda g, p, x: (g * (p * sc.psi(x)),))
vjp(sc.gammaln, lambda g, p, x: (g * sc.psi(x),))
vjp(sc.loggamma, lambda g, p, x: (g * sc.psi(x),))
vjp(sc.rgamma, _rgamma)
vjp(sc.psi, lambda g, p, x: (g * (expansions.zeta(2.0, x) if is_complex(x) else sc.zeta(2.0, x)),))
vjp(sc.beta, lambda g, p, x, y: (-(g * (p * _psi_difference(x, y))), -(g * (p * _psi_difference(y, x)))))
vjp(sc.betaln, lambda g, p, x, y: (-(g * _psi_difference(x, y)), -(g * _psi_difference(y, x))))

# The Hurwitz zeta function: ψ⁽ⁿ⁾(x) = (-1)ⁿ⁺¹ n! ζ(n + 1, x)
declare_ufunc(sc._ufuncs._zeta, "scipy.special.zeta", costly=True)
vjp(sc._ufuncs._zeta, lambda g, p, s, q: (unknown("zeta", "x"), -(g * (s * sc.zeta(s + 1.0, q)))))


# Incomplete gamma and beta functions
def _gamma_density(a, x):
    """xᵃ⁻¹ e⁻ˣ / Γ(a); from a = 10 on about its maximum, where powers and exponentials would be huge."""
    large = np.greater_equal(a, 10.0)
    few, many = np.where(large, 1.0, a), np.where(large, a, 10.0)
    d = np.where(large, x - many, 0.0)
    about = np.exp((many - 1.0) * np.log1p(d / many) - d - expansions.binet(many)) / np.sqrt(2.0 * np.pi * many)
    inner = np.where(large, 1.0, x)
    return np.where(large, about, inner ** (few - 1.0) * np.exp(-inner) * sc.rgamma(few))


def _beta_density(a, b, x):
    """xᵃ⁻¹ (1 - x)ᵇ⁻¹ / B(a, b)."""
    return x ** (a - 1.0) * (1.0 - x) ** (b - 1.0) / sc.beta(a, b)


vjp(sc.gammainc, lambda g, p, a, x: (unknown("gammainc", "a"), g * _gamma_density(a, x)))
vjp(sc.gammaincc, lambda g, p, a, x: (unknown("gammaincc", "a"), -(g * _gamma_density(a, x))))
vjp(sc.gammaincinv, lambda g, p, a, y: (unknown("gammaincinv", "a"), g / _gamma_density(a, p)))
vjp(sc.gammainccinv, lambda g, p, a, y: (unknown("gammainccinv", "a"), -(g / _gamma_density(a, p))))
vjp(sc.betainc, lambda g, p, a, b, x: (*2 * (unknown("betainc", "a, b"),), g * _beta_density(a, b, x)))
vjp(sc.betaincc, lambda g, p, a, b, x: (*2 * (unknown("betaincc", "a, b"),), -(g * _beta_density(a, b, x))))


# Bessel functions: in the order, by recurrence
def _order(name):
    return unknown(name, "v")


def _whole(n):
    """The order that SciPy takes for n where the function is one of whole orders."""
    return np.trunc(n) if n.dtype.kind == "f" else n


vjp(sc.j0, lambda g, p, x: (-(g * sc.j1(x)),))
vjp(sc.j1, lambda g, p, x: (g * (0.5 * (sc.j0(x) - sc.jv(2.0, x))),))
vjp(sc.jv, lambda g, p, v, x: (_order("jv"), g * (0.5 * (sc.jv(v - 1.0, x) - sc.jv(v + 1.0, x)))))
vjp(sc.y0, lambda g, p, x: (-(g * sc.y1(x)),))
vjp(sc.y1, lambda g, p, x: (g * (0.5 * (sc.y0(x) - sc.yv(2.0, x))),))
vjp(sc.yv, lambda g, p, v, x: (_order("yv"), g * (0.5 * (sc.yv(v - 1.0, x) - sc.yv(v + 1.0, x)))))
vjp(sc.yn, lambda g, p, n, x: (_order("yn"), g * (0.5 * (sc.yn(_whole(n) - 1, x) - sc.yn(_whole(n) + 1, x)))))
vjp(sc.i0, lambda g, p, x: (g * sc.i1(x),))
vjp(sc.i1, lambda g, p, x: (g * (0.5 * (sc.i0(x) + sc.iv(2.0, x))),))
vjp(sc.iv, lambda g, p, v, x: (_order("iv"), g * (0.5 * (sc.iv(v - 1.0, x) + sc.iv(v + 1.0, x)))))
vjp(sc.k0, lambda g, p, x: (-(g * sc.k1(x)),))
vjp(sc.k1, lambda g, p, x: (-(g * (0.5 * (sc.k0(x) + sc.kv(2.0, x)))),))
vjp(sc.kv, lambda g, p, v, x: (_order("kv"), -(g * (0.5 * (sc.kv(v - 1.0, x) + sc.kv(v + 1.0, x))))))
vjp(sc.kn, lambda g, p, n, x: (_order("kn"), -(g * (0.5 * (sc.kn(_whole(n) - 1, x) + sc.kn(_whole(n) + 1, x))))))


@primitive(elementwise=True)
def slope_of_kve(v, x, *, n):
    """The n-th derivative of eˣ Kᵥ(x) by x."""
    return math.factorial(n) * expansions.kve(v, x, n)[n]


def _i1e(g, p, x):
    """e⁻ˣ I₁(x) = x/2 M(3/2, 3, -2x) for x > 0, and odd."""
    y = -2.0 * np.absolute(x)
    return (g * (0.5 * sc.hyp1f1(1.5, 3.0, y) + 0.25 * y * sc.hyp1f1(2.5, 4.0, y)),)


def _ive(g, p, v, x):
    return _order("ive"), g * (0.5 * (sc.ive(v - 1.0, x) + sc.ive(v + 1.0, x)) - np.sign(x) * p)


vjp(sc.i0e, lambda g, p, x: (-(g * (np.sign(x) * sc.hyp1f1(1.5, 2.0, -2.0 * np.absolute(x)))),))
vjp(sc.i1e, _i1e)
vjp(sc.ive, _ive)
vjp(sc.k0e, lambda g, p, x: (g * slope_of_kve(0.0, x, n=1),))
vjp(sc.k1e, lambda g, p, x: (g * slope_of_kve(1.0, x, n=1),))
vjp(sc.kve, lambda g, p, v, x: (_order("kve"), g * slope_of_kve(v, x, n=1)))
vjp(slope_of_kve, lambda g, p, v, x, *, n: (_order("kve"), g * slope_of_kve(v, x, n=n + 1)))

# Hypergeometric functions, in their argument
vjp(
    sc.hyp1f1,
    lambda g, p, a, b, x: (*2 * (unknown("hyp1f1", "a, b"),), g * (a / b * sc.hyp1f1(a + 1.0, b + 1.0, x))),
)
vjp(
    sc.hyp2f1,
    lambda g, p, a, b, c, z: (
        *3 * (unknown("hyp2f1", "a, b, c"),),
        g * (a * b / c * sc.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)),
    ),
)

# Exponentials, logarithms and entropies
vjp(sc.expit, lambda g, p, x: (g * (0.25 * sech(0.5 * x) ** 2),))
vjp(sc.logit, lambda g, p, x: (g / x + g / (1.0 - x),))
vjp(sc.log_expit, lambda g, p, x: (g * logistic(-x),))
vjp(sc.exprel, lambda g, p, x: (g * (0.5 * sc.hyp1f1(2.0, 3.0, x)),))
vjp(sc.expm1, lambda g, p, x: (g * np.exp(x),))
vjp(sc.exp2, lambda g, p, x: (g * (LN2 * p),))
vjp(sc.exp10, lambda g, p, x: (g * (LN10 * p),))
vjp(sc.log1p, lambda g, p, x: (g / (1.0 + x),))
vjp(sc.cbrt, lambda g, p, x: (g / (3.0 * p) / p,))
vjp(sc.cosm1, lambda g, p, x: (-(g * np.sin(x)),))
vjp(sc.xlogy, lambda g, p, x, y: (g * np.log(y), g * strong_divide(x, y)))
vjp(sc.xlog1py, lambda g, p, x, y: (g * np.log1p(y), g * strong_divide(x, 1.0 + y)))
vjp(sc.entr, lambda g, p, x: (-(g * (np.log(x) + 1.0)),))
vjp(sc.rel_entr, lambda g, p, x, y: (g * (np.log(x) - np.log(y) + 1.0), -(g * strong_divide(x, y))))
vjp(sc.kl_div, lambda g, p, x, y: (g * (np.log(x) - np.log(y)), g * (1.0 - strong_divide(x, y))))
vjp(sc.wrightomega, lambda g, p, x: (g * (p / (1.0 + p)),))

# Lambert's function: W eᵂ = z
declare_ufunc(sc._ufuncs._lambertw, "scipy.special.lambertw", costly=True)
vjp(sc._ufuncs._lambertw, lambda g, p, z, k, tolerance: (g * (np.exp(-p) / (1.0 + p)), None, None))


# Transformations and losses of statistics
def _power_slope(log, y):
    """∂/∂y of (exp(y log) - 1) / y = log exprel(y log)."""
    return 0.5 * log * log * sc.hyp1f1(2.0, 3.0, y * log)


def _root_slope(u):
    """(u / (1 + u) - log(1 + u)) / u²: by y² the derivative of log(1 + xy) / y with respect to y, at u = xy."""
    near = np.less(np.absolute(u), 0.5)
    inner, outer = np.where(near, u, 0.0), np.where(near, 1.0, u)
    far = (outer / (1.0 + outer) - np.log1p(outer)) / outer / outer
    return np.where(near, -0.5 * sc.hyp2f1(2.0, 2.0, 3.0, -inner), far)


def _inverse_box(g, p, x, y):
    """p = (1 + xy)^(1/y), of which log p = log(1 + xy) / y."""
    return g * (p / (1.0 + x * y)), g * (p * (x * x) * _root_slope(x * y))


def _pseudo_huber(g, p, x, y):
    """p = x (h - x) with h = √(x² + y²): ((h - x)² / h, x y / h), where h - x = y² / (h + x)."""
    h = np.hypot(x, y)
    return g * ((y * (y / (h + x))) ** 2 / h), g * (x * direction(y, x))


vjp(sc.boxcox, lambda g, p, x, y: (g * x ** (y - 1.0), g * _power_slope(np.log(x), y)))
vjp(sc.boxcox1p, lambda g, p, x, y: (g * (1.0 + x) ** (y - 1.0), g * _power_slope(np.log1p(x), y)))
vjp(sc.inv_boxcox, _inverse_box)
vjp(sc.inv_boxcox1p, lambda g, p, x, y: _inverse_box(g, 1.0 + p, x, y))
vjp(sc.huber, lambda g, p, x, y: (g * np.maximum(np.absolute(y) - x, 0.0), g * np.clip(y, -x, x)))
vjp(sc.pseudo_huber, _pseudo_huber)

# Taylor series of those whose rules do not close, or lose digits on the way
for _name, _made in expansions.EXPANSIONS.items():
    if (_known := primitive_named(_name)) is not None:
        _known.expansion = _made
for _name, _made in expansions.KERNELS.items():
    if (_known := primitive_named(_name)) is not None:
        _known.kernel = _made
