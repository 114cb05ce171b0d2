"""Hypergeometric functions, in their argument.

References
----------
Abramowitz, M. and Stegun, I. A. (1964). Handbook of mathematical functions: 13.4.8, 15.2.2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hoad.rules.special.define import Coefficients, define, sc, unknown


def hyp1f1_series(a: Any, b: Any, x: Any, degree: int) -> Coefficients:
    """Kummer's function: φ⁽ᵏ⁾ = (a)ₖ / (b)ₖ M(a + k, b + k, x)."""
    return [sc.poch(a, k) / sc.poch(b, k) / math.factorial(k) * sc.hyp1f1(a + k, b + k, x) for k in range(degree + 1)]


def hyp2f1_series(a: Any, b: Any, c: Any, x: Any, degree: int) -> Coefficients:
    """Gauss's function: φ⁽ᵏ⁾ = (a)ₖ (b)ₖ / (c)ₖ F(a + k, b + k, c + k, x)."""
    factors = [sc.poch(a, k) * (sc.poch(b, k) / math.factorial(k)) / sc.poch(c, k) for k in range(degree + 1)]
    with np.errstate(all="ignore"):  # of a polynomial nothing is left, but F may be infinite there
        slopes = [factor * sc.hyp2f1(a + k, b + k, c + k, x) for k, factor in enumerate(factors)]
    return [np.where(np.equal(factor, 0.0), 0.0, slope) for factor, slope in zip(factors, slopes, strict=True)]


def exprel_series(x: Any, degree: int) -> Coefficients:
    """(eˣ - 1) / x = M(1, 2, x)."""
    return hyp1f1_series(1.0, 2.0, x, degree)


define(
    sc.hyp1f1,
    lambda g, p, a, b, x: (*2 * (unknown("hyp1f1", "a, b"),), g * (a / b * sc.hyp1f1(a + 1.0, b + 1.0, x))),
    kernel=hyp1f1_series,
)
define(
    sc.hyp2f1,
    lambda g, p, a, b, c, z: (
        *3 * (unknown("hyp2f1", "a, b, c"),),
        g * (a * b / c * sc.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)),
    ),
    kernel=hyp2f1_series,
)
define(sc.exprel, lambda g, p, x: (g * (0.5 * sc.hyp1f1(2.0, 3.0, x)),), kernel=exprel_series)
