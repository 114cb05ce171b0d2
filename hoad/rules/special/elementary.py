"""Exponentials, logarithms, entropies, angles in degrees, transformations and losses of statistics, Lambert's function.

References
----------
NIST Digital Library of Mathematical Functions, 4.13.
"""

from __future__ import annotations

import numpy as np

from hoad._core.kernels.ufuncs import logistic, sech_squared, strong_divide, x_over_hypot
from hoad._ops.primitives import RADIAN
from hoad.rules.elementwise import LN2, LN10, power_rule
from hoad.rules.special.define import define, sc

# Exponentials, logarithms and entropies
define(sc.expit, lambda g, p, x: (g * (0.25 * sech_squared(0.5 * x)),))
define(sc.logit, lambda g, p, x: (g / x + g / (1.0 - x),))
define(sc.log_expit, lambda g, p, x: (g * logistic(-x),))
define(sc.expm1, lambda g, p, x: (g * np.exp(x),))
define(sc.exp2, lambda g, p, x: (g * (LN2 * p),))
define(sc.exp10, lambda g, p, x: (g * (LN10 * p),))
define(sc.log1p, lambda g, p, x: (g / (1.0 + x),))
define(sc.cbrt, lambda g, p, x: (g / (3.0 * p) / p,))
define(sc.cosm1, lambda g, p, x: (-(g * np.sin(x)),))
define(sc.xlogy, lambda g, p, x, y: (g * np.log(y), g * strong_divide(x, y)))
define(sc.xlog1py, lambda g, p, x, y: (g * np.log1p(y), g * strong_divide(x, 1.0 + y)))
define(sc.entr, lambda g, p, x: (-(g * (np.log(x) + 1.0)),))
define(sc.rel_entr, lambda g, p, x, y: (g * (np.log(x) - np.log(y) + 1.0), -(g * strong_divide(x, y))))
define(sc.kl_div, lambda g, p, x, y: (g * (np.log(x) - np.log(y)), g * (1.0 - strong_divide(x, y))))
define(sc.wrightomega, lambda g, p, x: (g * (p / (1.0 + p)),))

# Angles in degrees
define(sc.sindg, lambda g, p, x: (g * (RADIAN * sc.cosdg(x)),))
define(sc.cosdg, lambda g, p, x: (-(g * (RADIAN * sc.sindg(x))),))
define(sc.tandg, lambda g, p, x: (g * (RADIAN * (1.0 + p * p)),))
define(sc.cotdg, lambda g, p, x: (-(g * (RADIAN * (1.0 + p * p))),))
define(sc.radian, lambda g, p, d, m, s: (RADIAN * g, RADIAN / 60.0 * g, RADIAN / 3600.0 * g))

# Powers, and what is constant almost everywhere
define(sc.powm1, lambda g, p, x, y: power_rule(g, x**y, x, y))
define(sc.round, lambda g, p, x: (None,), is_constant=True)
define(sc.gammasgn, lambda g, p, x: (None,), is_constant=True)

# Lambert's function: W eᵂ = z
define(
    sc._ufuncs._lambertw,
    lambda g, p, z, k, tolerance: (g * (np.exp(-p) / (1.0 + p)), None, None),
    name="scipy.special.lambertw",
)


# Transformations and losses of statistics
def power_slope(log, y):
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
    return g * ((y * (y / (h + x))) ** 2 / h), g * (x * x_over_hypot(y, x))


define(sc.boxcox, lambda g, p, x, y: (g * x ** (y - 1.0), g * power_slope(np.log(x), y)))
define(sc.boxcox1p, lambda g, p, x, y: (g * (1.0 + x) ** (y - 1.0), g * power_slope(np.log1p(x), y)))
define(sc.inv_boxcox, _inverse_box)
define(sc.inv_boxcox1p, lambda g, p, x, y: _inverse_box(g, 1.0 + p, x, y))
define(sc.huber, lambda g, p, x, y: (g * np.maximum(np.absolute(y) - x, 0.0), g * np.clip(y, -x, x)))
define(sc.pseudo_huber, _pseudo_huber)
