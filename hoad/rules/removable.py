"""Functions with a removable singularity whose derivatives follow from a series, not from other functions.

sin(z)/z is the mean of cos(z t) over t in [0, 1], which has no singularity, nor have its derivatives::

    s⁽ᵏ⁾(z) = ∫ tᵏ cos(z t + k π/2) dt,        z s⁽ᵏ⁾(z) + k s⁽ᵏ⁻¹⁾(z) = sin(z + k π/2)

Near 0 the integral is computed by Gauss quadrature, far from 0 by the recurrence, which is stable there.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from hoad._numpy.registry import implements
from hoad.rules.registry import primitive

FAR = 32.0  # from here on the recurrence divides by more than it multiplies with, to orders that have digits at all


@functools.lru_cache(maxsize=64)
def _gauss(n: int) -> list[tuple[float, float]]:
    """The nodes and weights of Gauss's rule on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return list(zip((nodes + 1) / 2, weights / 2, strict=True))


def _by_integral(z: Any, degree: int) -> list[Any]:
    found = [np.zeros_like(z) for _ in range(degree + 1)]
    for t, weight in _gauss(40 + degree // 2):
        cosine, sine = np.cos(z * t), np.sin(z * t)
        turned = cosine, -sine, -cosine, sine
        for k in range(degree + 1):
            found[k] += weight * t**k * turned[k % 4]
    return found


def _by_recurrence(z: Any, degree: int) -> list[Any]:
    cosine, sine = np.cos(z), np.sin(z)
    turned = sine, cosine, -sine, -cosine
    found = [sine / z]
    for k in range(1, degree + 1):
        found.append((turned[k % 4] - k * found[k - 1]) / z)
    return found


def _sinc_series(x: Any, degree: int) -> list[Any]:
    """The Taylor coefficients of sin(πx)/(πx)."""
    z = math.pi * np.asarray(x)
    near = np.abs(z) <= FAR
    close = _by_integral(np.where(near, z, 0.0), degree)
    distant = _by_recurrence(np.where(near, FAR, z), degree)
    rows = [np.where(near, a, b) for a, b in zip(close, distant, strict=True)]
    return [np.sinc(x), *(math.pi**k / math.factorial(k) * rows[k] for k in range(1, degree + 1))]


@implements(np.sinc)
@primitive(elementwise=True, series=_sinc_series)
def sinc(x: Any) -> Any:
    """sin(πx)/(πx), and 1 at 0."""
    return np.sinc(x)


sinc.__hoad_primitive__.analytic = True
