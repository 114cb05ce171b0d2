"""Error functions, Dawson's function, the normal distribution, Voigt's profile and Owen's T function.

References
----------
Gautschi, W. (1970). Efficient computation of the complex error function. SIAM J. Numer. Anal. 7. Trefethen, L. N. and
Weideman, J. A. C. (2014). The exponentially convergent trapezoidal rule. SIAM Review 56. NIST
Digital Library of Mathematical Functions, 7.10.1, 7.19.1 to 7.19.3. Owen, D. B. (1956). Ann. Math. Statist. 27.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hoad._core.kernels.ufuncs import compose
from hoad._numpy.complex import is_complex
from hoad.rules.registry import primitive
from hoad.rules.special.define import NODES, STEP, Coefficients, define, integral, sc

ROOT_2 = math.sqrt(2.0)
ROOT_PI = math.sqrt(math.pi)
ROOT_2PI = math.sqrt(2.0 * math.pi)


# ---- series ----------------------------------------------------------------------------------------------------------


def faddeeva(z: Any, k: int) -> Any:
    """Coefficient k of w(z + t), for Im z ≥ 0 ≤ Re z: (i/π) ∫ e^(-t²) (-1)ᵏ / (z - t)ᵏ⁺¹ dt.

    The integral is taken on a line Im t = -a below the pole and near the saddle point, where little cancels.
    """

    def integrand(s: Any, z: Any) -> Any:
        saddle = (k + 1) / (z + np.sqrt(z * z - 2.0 * (k + 1)))
        below = np.where(np.imag(z) < 1.0, 0.5 + 0.2 * math.sqrt(k + 1), 0.0)
        t = s - 1j * np.maximum(abs(np.imag(saddle)), below)
        return np.exp(-t * t) * (1.0 / (z - t)) ** (k + 1)

    return (-1) ** k * 1j / np.pi * integral(integrand, np.asarray(z, dtype=np.complex128))


def wofz_derivative(z: Any, n: int) -> Any:
    """The n-th derivative of w(z): for Re z < 0 by w(-z̄) = w̄(z), for Im z < 0 by w(z) = 2 exp(-z²) - w(-z)."""
    z = np.asarray(z, dtype=np.complex128)
    below = np.less(np.imag(z), 0.0)
    above = np.where(below, -z, z)
    mirrored = np.less(np.real(above), 0.0)
    found = math.factorial(n) * faddeeva(np.where(mirrored, -np.conjugate(above), above), n)
    found = np.where(mirrored, (-1.0) ** n * np.conjugate(found), found)
    if not np.any(below):
        return found
    down = np.where(below, z, 0.0)
    before: Any = 0.0
    hermite: Any = 1.0  # Hₙ(z), of which the n-th derivative of exp(-z²) is made
    for k in range(n):
        before, hermite = hermite, 2.0 * (down * hermite - k * before)
    gauss = 2.0 * (-1.0) ** n * hermite * np.exp(-down * down)
    return np.where(below, gauss - (-1.0) ** n * found, found)


def erfcx_series(x: Any, degree: int) -> Coefficients:
    """exp(x²) erfc(x) = w(ix); for x < 0 by c₁ = 2 (x c₀ - 1/√π), k cₖ = 2 (x cₖ₋₁ + cₖ₋₂), of terms of one sign."""
    left = np.less(x, 0.0)
    down, up = np.where(left, x, 0.0), np.where(left, 0.0, x)
    below = [sc.erfcx(down)]
    found = [sc.erfcx(x)]
    for k in range(1, degree + 1):
        below.append(2.0 / k * (down * below[-1] + (below[-2] if k > 1 else -1.0 / math.sqrt(math.pi))))
        found.append(np.where(left, below[-1], np.real(1j**k * faddeeva(1j * up, k))))
    return found


def dawsn_series(x: Any, degree: int) -> Coefficients:
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


def log_ndtr_expansion(x: Any) -> Any:
    """log Φ(x), which closes with the kernel of erfcx; to the left of 0 by log(erfcx(u) / 2) - u² at u = -x / √2."""
    left = np.less(x, 0.0)
    u, v = np.where(left, x / -ROOT_2, 0.0), np.where(left, 0.0, x / ROOT_2)
    return np.where(left, np.log(0.5 * sc.erfcx(u)) - u * u, np.log1p(-0.5 * sc.erfc(v)))


# ---- rules -----------------------------------------------------------------------------------------------------------


LINE = NODES - 1j  # below the poles of w(z) for Im z ≥ 0
WEIGHTS = 1j / math.pi * STEP * np.exp(-LINE * LINE)


def slope_of_wofz(z, n):
    """The n-th derivative of w(z) = (i/π) ∫ exp(-t²) / (z - t) dt for Im z ≥ 0, in operations that close."""
    apart = np.reshape(z, (*np.shape(z), 1)) - LINE
    return (-1) ** n * math.factorial(n) * np.sum(WEIGHTS / apart ** (n + 1), axis=-1)


def _wofz(g, p, z):
    """Without the difference w′ = 2i/√π - 2z w; for Im z < 0 by w(z) = 2 exp(-z²) - w(-z)."""
    below = np.less(np.imag(z), 0.0)
    down = np.where(below, z, 0.0)
    return (g * (slope_of_wofz(np.where(below, -z, z), 1) - 4.0 * down * np.exp(-down * down)),)


@primitive(elementwise=True, series=erfcx_series)
def erfcx(x):
    """exp(x²) erfc(x), whose derivatives of real x are taken without the difference of its rule for a complex one."""
    return sc.erfcx(x)


@primitive(elementwise=True, series=dawsn_series)
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


define(sc.erf, lambda g, p, x: (g * (2.0 / ROOT_PI * np.exp(-(x * x))),))
define(sc.erfc, lambda g, p, x: (-(g * (2.0 / ROOT_PI * np.exp(-(x * x)))),))
define(sc.erfi, lambda g, p, x: (g * (2.0 / ROOT_PI * np.exp(x * x)),))
define(sc.erfcx, _erfcx, kernel=erfcx_series)
define(sc.dawsn, _dawsn, kernel=dawsn_series)
define(sc.erfinv, lambda g, p, x: (g * (ROOT_PI / 2.0 * np.exp(p * p)),))
define(sc.erfcinv, lambda g, p, x: (-(g * (ROOT_PI / 2.0 * np.exp(p * p))),))
define(sc.ndtr, lambda g, p, x: (g * (np.exp(-0.5 * (x * x)) / ROOT_2PI),))
define(sc.log_ndtr, _log_ndtr, expansion=log_ndtr_expansion)
define(sc.ndtri, lambda g, p, x: (g * (ROOT_2PI * np.exp(0.5 * (p * p))),))


def _voigt_profile(g, p, x, sigma, gamma):
    """Re w(z) / (σ√2π) at z = (x + iγ) / (σ√2); by σ as the heat equation has it, ∂V/∂σ = σ ∂²V/∂x²."""
    scale = ROOT_2 * sigma
    z = compose(x, gamma) / scale
    slope = slope_of_wofz(z, 1) / (ROOT_PI * scale * scale)
    curvature = np.real(slope_of_wofz(z, 2)) / (ROOT_PI * scale * scale) / ROOT_2
    return g * np.real(slope), g * curvature, -(g * np.imag(slope))


def _owens_t(g, p, h, a):
    """∫₀ᵃ exp(-h² (1 + t²) / 2) / (1 + t²) dt / 2π."""
    square = 1.0 + a * a
    by_h = -0.5 / ROOT_2PI * np.exp(-0.5 * h * h) * sc.erf(h * a / ROOT_2)
    return g * by_h, g * (np.exp(-0.5 * h * h * square) / (2.0 * math.pi * square))


define(sc.wofz, _wofz)
define(sc.voigt_profile, _voigt_profile)
define(sc.owens_t, _owens_t)
