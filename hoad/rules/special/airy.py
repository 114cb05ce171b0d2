"""Airy and Kelvin functions.

References
----------
NIST Digital Library of Mathematical Functions, 9.2.1, 9.6.2, 10.61.1, 10.61.2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hoad._core.kernels.ufuncs import compose
from hoad._numpy.complex import is_complex
from hoad.rules.registry import primitive
from hoad.rules.special.bessel import jv_series, slope_of_kve
from hoad.rules.special.define import Coefficients, define, sc

# ---- Airy functions: each solves y″ = x y ----------------------------------------------------------------------------


def _airy(g, p, x):
    ai, ai_slope, bi, bi_slope = p
    return (g[0] * ai_slope + g[1] * (x * ai) + g[2] * bi_slope + g[3] * (x * bi),)


def _scaled_airy(g, p, x):
    """With ζ = ⅔ x^3/2, of which eᶻ Ai has the slope √x and e^-|Re ζ| Bi minus that of |Re ζ|.

    Of real x, Ai is √(x/3) K_1/3(ζ) / π from 1 on, so that nothing cancels; sums of Bi lose a factor x^3/2 an order.
    """
    ai, ai_slope, bi, bi_slope = p
    root = np.sqrt(x)
    by_ai = g[0] * ai_slope + g[1] * (x * ai)
    by_bi = g[2] * bi_slope + g[3] * (x * bi)
    if is_complex(x):
        zeta = 2.0 / 3.0 * x * root
        shrink = np.sign(np.real(zeta)) * np.real(g[2] * bi + g[3] * bi_slope)
        return (by_ai + root * (g[0] * ai + g[1] * ai_slope) + by_bi - root * shrink,)
    right = np.greater(x, 0.0)
    root = np.where(right, root, 0.0)
    far = np.greater(x, 1.0)
    outer = np.where(far, x, 1.0)
    zeta = 2.0 / 3.0 * outer * np.sqrt(outer)
    first, second = sc.kve(1.0 / 3.0, zeta), sc.kve(2.0 / 3.0, zeta)
    ai_by_x = 0.5 * first / np.sqrt(outer) + outer * slope_of_kve(1.0 / 3.0, zeta, n=1)
    slope_by_x = second + outer * np.sqrt(outer) * slope_of_kve(2.0 / 3.0, zeta, n=1)
    outside = (g[0] * ai_by_x - g[1] * slope_by_x) / (math.pi * math.sqrt(3.0))
    inside = by_ai + root * (g[0] * ai + g[1] * ai_slope)
    return (np.where(far, outside, inside) + by_bi - root * (g[2] * bi + g[3] * bi_slope),)


define(sc.airy, _airy)


def _integrals_of_airy(g, p, x):
    """∫ of Ai(t), Bi(t), Ai(-t) and Bi(-t) from 0 to x: of SciPy's values 7 digits are right, of these all."""
    (ai, _, bi, _), (ai_left, _, bi_left, _) = sc.airy(x), sc.airy(-x)
    return (g[0] * ai + g[1] * bi + g[2] * ai_left + g[3] * bi_left,)


define(sc.itairy, _integrals_of_airy)
define(sc.airye, _scaled_airy)

# ---- Kelvin functions: ber x + i bei x = J₀(qx), q = exp(3πi/4), and ker x + i kei x = K₀(x exp(iπ/4)) ---------------

Q = complex(-math.sqrt(0.5), math.sqrt(0.5))


def _curved_series(x: Any, degree: int, *, part: Any) -> Coefficients:
    """Those of (ber + i bei)″ by those of J₀(qx), which have no pole at 0."""
    found = jv_series(0.0, Q * x, degree + 2)
    return [part(Q ** (k + 2) * found[k + 2]) * ((k + 2) * (k + 1)) for k in range(degree + 1)]


@primitive(elementwise=True, series=_curved_series)
def curvature_of_kelvin(x, *, part):
    """(ber + i bei)″ = i/2 (J₀ - J₂)(qx), its real or imaginary part."""
    return part(0.5j * (sc.jv(0.0, Q * x) - sc.jv(2.0, Q * x)))


def _kelvin(g, p, x):
    """Of the second kind by Bessel's equation, y″ = i y - y′ / x."""
    _, ke, be_slope, ke_slope = p
    ke_curved = compose(-np.imag(ke), np.real(ke)) - ke_slope / x
    be_curved = compose(curvature_of_kelvin(x, part=np.real), curvature_of_kelvin(x, part=np.imag))
    return (np.real(g[0] * be_slope + g[1] * ke_slope + g[2] * be_curved + g[3] * ke_curved),)


define(sc.ber, lambda g, p, x: (g * sc.berp(x),))
define(sc.bei, lambda g, p, x: (g * sc.beip(x),))
define(sc.berp, lambda g, p, x: (g * curvature_of_kelvin(x, part=np.real),))
define(sc.beip, lambda g, p, x: (g * curvature_of_kelvin(x, part=np.imag),))
define(sc.ker, lambda g, p, x: (g * sc.kerp(x),))
define(sc.kei, lambda g, p, x: (g * sc.keip(x),))
define(sc.kerp, lambda g, p, x: (-(g * (sc.kei(x) + p / x)),))
define(sc.keip, lambda g, p, x: (g * (sc.ker(x) - p / x),))
define(sc.kelvin, _kelvin)
