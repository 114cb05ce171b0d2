"""Hypergeometric functions, and Wright's generalized Bessel function, in their argument.

References
----------
Abramowitz, M. and Stegun, I. A. (1964). Handbook of mathematical functions: 13.4.8,
13.4.21, 15.2.2. NIST Digital Library of Mathematical Functions, 10.46.1, 16.3.1.
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


def hyp0f1_series(v: Any, z: Any, degree: int) -> Coefficients:
    """φ⁽ᵏ⁾ = ₀F₁(v + k; z) / (v)ₖ."""
    return [sc.hyp0f1(v + k, z) / (sc.poch(v, k) * math.factorial(k)) for k in range(degree + 1)]


def hyperu_series(a: Any, b: Any, x: Any, degree: int) -> Coefficients:
    """Tricomi's function: φ⁽ᵏ⁾ = (-1)ᵏ (a)ₖ U(a + k, b + k, x)."""
    return [
        (-1.0) ** k * sc.poch(a, k) / math.factorial(k) * sc.hyperu(a + k, b + k, x) for k in range(degree + 1)
    ]


def wright_bessel_series(a: Any, b: Any, x: Any, degree: int) -> Coefficients:
    """Σ xᵏ / (k! Γ(ak + b)): φ⁽ᵏ⁾ is that of b + ka."""
    return [sc.wright_bessel(a, b + k * a, x) / math.factorial(k) for k in range(degree + 1)]


def log_wright_bessel_series(a: Any, b: Any, x: Any, degree: int) -> Coefficients:
    """The logarithm of a series with the coefficients rₖ beside r₀ = 1: k cₖ = k rₖ - Σ j cⱼ rₖ₋ⱼ."""
    found = [sc.log_wright_bessel(a, b, x)]
    r = [np.exp(sc.log_wright_bessel(a, b + k * a, x) - found[0]) / math.factorial(k) for k in range(degree + 1)]
    for k in range(1, degree + 1):
        found.append(r[k] - sum(j / k * found[j] * r[k - j] for j in range(1, k)))
    return found


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
define(
    sc.hyp0f1,
    lambda g, p, v, z: (unknown("hyp0f1", "v"), g * (sc.hyp0f1(v + 1.0, z) / v)),
    kernel=hyp0f1_series,
)
# SciPy's values of U have 8 digits in places, as for x of 5 to 10, and so have these derivatives
define(
    sc.hyperu,
    lambda g, p, a, b, x: (*2 * (unknown("hyperu", "a, b"),), -(g * (a * sc.hyperu(a + 1.0, b + 1.0, x)))),
    kernel=hyperu_series,
)
define(
    sc.wright_bessel,
    lambda g, p, a, b, x: (*2 * (unknown("wright_bessel", "a, b"),), g * sc.wright_bessel(a, a + b, x)),
    kernel=wright_bessel_series,
)
if hasattr(sc, "log_wright_bessel"):  # from SciPy 1.14 on
    define(
        sc.log_wright_bessel,
        lambda g, p, a, b, x: (
            *2 * (unknown("log_wright_bessel", "a, b"),),
            g * np.exp(sc.log_wright_bessel(a, a + b, x) - p),
        ),
        kernel=log_wright_bessel_series,
    )
