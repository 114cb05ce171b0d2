"""Distributions of probability: a density each, and for their inverses its reciprocal.

Derivatives with respect to shapes are those of the incomplete beta and gamma functions. With respect to counts there
are none, but of what solves an equation for one, as if it were a real number, as SciPy does.

References
----------
Johnson, N. L., Kotz, S. and Balakrishnan, N. (1995). Continuous univariate distributions, volume 2: 29.4 and 30.10.
NIST Digital Library of Mathematical Functions, 8.17.1, 8.2.4. Feller, W. (1948). Annals of Mathematical Statistics 19
(of Kolmogorov's distribution, both series).
"""

from __future__ import annotations

import math

import numpy as np

from hoad.rules.special.beta import beta_density, beta_slopes, beta_slopes_of
from hoad.rules.special.define import define, sc, scaled, solved, unknown
from hoad.rules.special.elementary import power_slope
from hoad.rules.special.error_functions import ROOT_2, ROOT_2PI
from hoad.rules.special.gamma import gamma_density, gamma_slopes, slope_by_shape

# ---- the binomial, negative binomial and Poisson distributions, in their probability or mean -------------------------


def _binomial(k, n, x):
    """n! / (k! (n - k - 1)!) xᵏ (1 - x)ⁿ⁻ᵏ⁻¹, the slope by x of the chance of more than k among n."""
    whole = np.floor(k)
    return beta_density(whole + 1.0, n - whole, x)


def _negative_binomial(k, n, x):
    """The slope by x of the chance of at most k failures before n successes."""
    return beta_density(1.0 * n, np.floor(k) + 1.0, x)


def _poisson(k, m):
    """mᵏ e⁻ᵐ / k!."""
    return gamma_density(np.floor(k) + 1.0, m)


define(sc.bdtr, lambda g, p, k, n, x: (*2 * (unknown("bdtr", "k, n"),), -(g * _binomial(k, n, x))))
define(sc.bdtrc, lambda g, p, k, n, x: (*2 * (unknown("bdtrc", "k, n"),), g * _binomial(k, n, x)))
define(sc.bdtri, lambda g, p, k, n, y: (*2 * (unknown("bdtri", "k, n"),), -(g / _binomial(k, n, p))))
define(sc.nbdtr, lambda g, p, k, n, x: (*2 * (unknown("nbdtr", "k, n"),), g * _negative_binomial(k, n, x)))
define(sc.nbdtrc, lambda g, p, k, n, x: (*2 * (unknown("nbdtrc", "k, n"),), -(g * _negative_binomial(k, n, x))))
define(sc.nbdtri, lambda g, p, k, n, y: (*2 * (unknown("nbdtri", "k, n"),), g / _negative_binomial(k, n, p)))
define(sc.pdtr, lambda g, p, k, m: (unknown("pdtr", "k"), -(g * _poisson(k, m))))
define(sc.pdtrc, lambda g, p, k, m: (unknown("pdtrc", "k"), g * _poisson(k, m)))
define(sc.pdtri, lambda g, p, k, y: (unknown("pdtri", "k"), -(g / _poisson(k, p))))

# ---- the beta, gamma, χ², F and t distributions ----------------------------------------------------------------------


def _chi_square(v, x):
    return 0.5 * gamma_density(0.5 * v, 0.5 * x)


def _f(dfn, dfd, x):
    """rᵃ xᵃ⁻¹ (1 + r x)⁻ᵃ⁻ᵇ / B(a, b) for r = dfn / dfd, a = dfn / 2 and b = dfd / 2."""
    a, b, r = 0.5 * dfn, 0.5 * dfd, dfn / dfd
    return r**a * x ** (a - 1.0) * (1.0 + r * x) ** -(a + b) / sc.beta(a, b)


def _t(df, t):
    """(1 + t² / df)^-(df + 1)/2 / (√df B(1/2, df/2))."""
    return np.exp(-0.5 * (df + 1.0) * np.log1p(t * t / df)) / (np.sqrt(df) * sc.beta(0.5, 0.5 * df))


def _chi_square_slopes(v, x):
    return 0.5 * slope_by_shape(0.5 * v, 0.5 * x), _chi_square(v, x)


def _f_slopes(dfn, dfd, x):
    """Those of I_w(dfn/2, dfd/2), w = dfn x / (dfd + dfn x)."""
    density, whole = _f(dfn, dfd, x), dfd + dfn * x
    first, second = beta_slopes_of(0.5 * dfn, 0.5 * dfd, dfn * x / whole, dfd / whole)
    return 0.5 * first + density * (x / dfn), 0.5 * second - density * (x / dfd), density


def _t_slopes(df, t):
    """Those of 1/2 + sign(t) I_w(1/2, df/2) / 2, w = t² / (df + t²)."""
    density, whole = _t(df, t), df + t * t
    _, second = beta_slopes_of(0.5 + 0.0 * df, 0.5 * df, t * t / whole, df / whole)
    return 0.25 * np.sign(t) * second - 0.5 * density * (t / df), density


define(sc.chdtr, lambda g, p, v, x: scaled(g, _chi_square_slopes(v, x)))
define(sc.chdtrc, lambda g, p, v, x: scaled(-g, _chi_square_slopes(v, x)))
define(sc.chdtri, lambda g, p, v, y: solved(g, _chi_square_slopes(v, p), -1.0))
define(sc.fdtr, lambda g, p, dfn, dfd, x: scaled(g, _f_slopes(dfn, dfd, x)))
define(sc.fdtrc, lambda g, p, dfn, dfd, x: scaled(-g, _f_slopes(dfn, dfd, x)))
define(sc.fdtri, lambda g, p, dfn, dfd, y: solved(g, _f_slopes(dfn, dfd, p)))
define(sc.stdtr, lambda g, p, df, t: scaled(g, _t_slopes(df, t)))
define(sc.stdtrit, lambda g, p, df, y: solved(g, _t_slopes(df, p)))


def _gamma_rate(sign):
    """P(b, a x), or 1 - P, by the rate a and by x."""

    def rule(g, p, a, b, x):
        density = sign * gamma_density(b, a * x)
        return g * (x * density), sign * g * slope_by_shape(b, a * x), g * (a * density)

    return rule


define(sc.gdtr, _gamma_rate(1.0))
define(sc.gdtrc, _gamma_rate(-1.0))


def _gdtria(g, p, y, b, x):
    by_shape, by_y = solved(g / x, gamma_slopes(b, p * x))
    return by_y, by_shape, -(g * (p / x))


def _gdtrix(g, p, a, b, y):
    by_shape, by_y = solved(g / a, gamma_slopes(b, a * p))
    return -(g * (p / a)), by_shape, by_y


define(sc.gdtria, _gdtria)
define(sc.gdtrix, _gdtrix)

# ---- what solves for a shape, or for a count as for a real number ---------------------------------------------------


def _binomial_slopes(k, n, x):
    """Those of I₁₋ₓ(n - k, k + 1)."""
    first, second = beta_slopes_of(n - k, k + 1.0, 1.0 - x, x)
    return second - first, first, -beta_density(k + 1.0, n - k, x)


def _negative_binomial_slopes(k, n, x):
    """Those of Iₓ(n, k + 1)."""
    by_n, by_k, by_x = beta_slopes(n, k + 1.0, x)
    return by_k, by_n, by_x


def _rate_slopes(a, b, x):
    """Those of P(b, ax)."""
    by_b, density = gamma_slopes(b, a * x)
    return x * density, by_b, a * density


def inverse(name, slopes, operands, given):
    """The rule of what solves F(*operands) = y for the operand that is not given."""
    operands, given = operands.split(), given.split()
    place = next(k for k, operand in enumerate(operands) if operand not in given)

    def rule(g, p, *known):
        at = dict(zip(given, known, strict=True))
        found = slopes(*[at.get(operand, p) for operand in operands])
        g = g / found[place]
        return tuple(g if operand == "y" else -(g * found[operands.index(operand)]) for operand in given)

    define(getattr(sc, name), rule)


inverse("bdtrik", _binomial_slopes, "k n x", "y n x")
inverse("bdtrin", _binomial_slopes, "k n x", "k y x")
inverse("nbdtrik", _negative_binomial_slopes, "k n x", "y n x")
inverse("nbdtrin", _negative_binomial_slopes, "k n x", "k y x")
inverse("pdtrik", lambda k, m: tuple(-slope for slope in gamma_slopes(k + 1.0, m)), "k m", "y m")
inverse("btdtria", beta_slopes, "a b x", "y b x")
inverse("btdtrib", beta_slopes, "a b x", "a y x")
inverse("chdtriv", _chi_square_slopes, "v x", "y x")
inverse("fdtridfd", _f_slopes, "dfn dfd x", "dfn y x")
inverse("stdtridf", _t_slopes, "df t", "y t")
inverse("gdtrib", _rate_slopes, "a b x", "a y x")

# ---- those that are not central, in their argument and in their noncentrality ----------------------------------------


def _noncentral_chi_square(x, df, nc):
    """½ e^-(x + nc)/2 (x/2)^(df/2 - 1) / Γ(df/2) ₀F₁(df/2; x nc / 4); the slope by nc is minus that of df + 2."""
    a = 0.5 * df
    return 0.5 * np.exp(-0.5 * (x + nc)) * (0.5 * x) ** (a - 1.0) * sc.rgamma(a) * sc.hyp0f1(a, 0.25 * x * nc)


def _noncentral_f(dfn, dfd, nc, f):
    """e^-nc/2 times the density without, times ₁F₁(a + b; a; u nc/2) for a = dfn/2, b = dfd/2, 1 - u = 1/(1 + r f)."""
    a, b, r = 0.5 * dfn, 0.5 * dfd, dfn / dfd
    u = r * f / (1.0 + r * f)
    return np.exp(-0.5 * nc) * _f(dfn, dfd, f) * sc.hyp1f1(a + b, a, 0.5 * nc * u)


def _noncentral_f_by_nc(dfn, dfd, nc, f):
    """-½ e^-nc/2 uᵃ (1 - u)ᵇ / (a B(a, b)) ₁F₁(a + b; a + 1; u nc/2)."""
    a, b, r = 0.5 * dfn, 0.5 * dfd, dfn / dfd
    u = r * f / (1.0 + r * f)
    weight = u**a * (1.0 + r * f) ** -b / (a * sc.beta(a, b))
    return -0.5 * np.exp(-0.5 * nc) * weight * sc.hyp1f1(a + b, a + 1.0, 0.5 * nc * u)


def _chndtr(g, p, x, df, nc):
    by_nc = -_noncentral_chi_square(x, df + 2.0, nc)
    return g * _noncentral_chi_square(x, df, nc), unknown("chndtr", "df", "x and nc"), g * by_nc


def _chndtrix(g, p, y, df, nc):
    density = _noncentral_chi_square(p, df, nc)
    by_nc = _noncentral_chi_square(p, df + 2.0, nc) / density
    return g / density, unknown("chndtrix", "df", "p and nc"), g * by_nc


def _chndtrinc(g, p, x, df, y):
    by_nc = -_noncentral_chi_square(x, df + 2.0, p)
    return -(g * (_noncentral_chi_square(x, df, p) / by_nc)), unknown("chndtrinc", "df", "x and p"), g / by_nc


def _ncfdtr(g, p, dfn, dfd, nc, f):
    error = unknown("ncfdtr", "dfn, dfd", "nc and f")
    return error, error, g * _noncentral_f_by_nc(dfn, dfd, nc, f), g * _noncentral_f(dfn, dfd, nc, f)


def _ncfdtri(g, p, dfn, dfd, nc, y):
    error, density = unknown("ncfdtri", "dfn, dfd", "nc and p"), _noncentral_f(dfn, dfd, nc, p)
    return error, error, -(g * (_noncentral_f_by_nc(dfn, dfd, nc, p) / density)), g / density


def _ncfdtrinc(g, p, dfn, dfd, y, f):
    """SciPy's values have 5 digits; these are the derivatives at them."""
    error, by_nc = unknown("ncfdtrinc", "dfn, dfd", "p and f"), _noncentral_f_by_nc(dfn, dfd, p, f)
    return error, error, g / by_nc, -(g * (_noncentral_f(dfn, dfd, p, f) / by_nc))


define(sc.chndtr, _chndtr)
define(sc.chndtrix, _chndtrix)
define(sc.chndtrinc, _chndtrinc)
define(sc.ncfdtr, _ncfdtr)
define(sc.ncfdtri, _ncfdtri)
define(sc.ncfdtrinc, _ncfdtrinc)

# ---- the normal distribution, Kolmogorov's and Tukey's ---------------------------------------------------------------


def _normal_quantile_slope(z):
    """√2π exp(z²/2), by which quantiles of the normal distribution change."""
    return ROOT_2PI * np.exp(0.5 * z * z)


def _nrdtrimn(g, p, y, std, x):
    """x - std z for the quantile z of y."""
    z = sc.ndtri(y)
    return -(g * (std * _normal_quantile_slope(z))), -(g * z), g


def _nrdtrisd(g, p, mn, y, x):
    """(x - mn) / z."""
    z = sc.ndtri(y)
    return -(g / z), -(g * ((x - mn) / z / z * _normal_quantile_slope(z))), g / z


define(sc.nrdtrimn, _nrdtrimn)
define(sc.nrdtrisd, _nrdtrisd)
# Φ(z) / φ(z) at the quantile z of eʸ
define(sc.ndtri_exp, lambda g, p, y: (g * (0.5 * ROOT_2PI * sc.erfcx(p / -ROOT_2)),))


def _kolmogorov_slope(y):
    """-8y Σ (-1)ᵏ⁻¹ k² exp(-2k²y²), or below 1 the slope of -√2π/y Σ exp(-(2k - 1)² π² / 8y²): no digit is lost."""
    near = np.less(y, 1.0)
    inner, outer = np.where(near, y, 0.5), np.where(near, 1.0, y)
    far = sum((-1.0) ** k * k * k * np.exp(-2.0 * k * k * outer * outer) for k in range(1, 7))
    odd = [(2 * k - 1) ** 2 * math.pi**2 / 8.0 for k in range(1, 6)]
    inverse = 1.0 / (inner * inner)
    close = sum((1.0 - 2.0 * c * inverse) * np.exp(-c * inverse) for c in odd)
    return np.where(near, ROOT_2PI * inverse * close, 8.0 * outer * far)


def _tukey(g, p, x, shape):
    """By Q(p) = (pᵛ - (1 - p)ᵛ) / v, the quantile function, which is boxcox(p, v) - boxcox(1 - p, v)."""
    density = p ** (shape - 1.0) + (1.0 - p) ** (shape - 1.0)
    by_shape = power_slope(np.log(p), shape) - power_slope(np.log1p(-p), shape)
    return g / density, -(g * (by_shape / density))


define(sc.kolmogorov, lambda g, p, y: (g * _kolmogorov_slope(y),))
define(sc.kolmogi, lambda g, p, y: (g / _kolmogorov_slope(p),))
define(sc.tklmbda, _tukey)
