"""Spherical harmonics by their angles, and Legendre polynomials, as newer releases of SciPy have them.

References
----------
Varshalovich, D. A., Moskalev, A. N. and Khersonskii, V. K. (1988). Quantum theory of angular momentum: 5.8.3.
By its slopes, which are of the same degree, nothing is singular at the poles.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import scipy.special as sc

from hoad._core.base.frame_globals import Apart
from hoad._core.trace.coerce import holds_traced
from hoad._numpy.products import inexact
from hoad._ops.primitives import known_primitive
from hoad._scipy.registry import IMPLEMENTED, Function, refused
from hoad.rules.registry import defvjp, primitive


def _coefficients(n: Any, m: Any, theta: Any, degree: int) -> list[Any]:
    """Taylor coefficients in θ, by the functions of the orders m - degree to m + degree.

    Θₘ′ = ½ √((n - m)(n + m + 1)) Θₘ₊₁ - ½ √((n + m)(n - m + 1)) Θₘ₋₁, and those beyond ±n are 0.
    """
    n, m = np.rint(n).astype(np.int64), np.rint(m).astype(np.int64)
    now = {
        k: np.where(abs(m + k) <= n, np.real(sc.sph_harm_y(n, np.clip(m + k, -n, n), theta, 0.0)), 0.0)
        for k in range(-degree, degree + 1)
    }
    found = [now[0]]
    for j in range(1, degree + 1):
        now = {
            k: 0.5 * (_root(n - m - k, n + m + k + 1) * now[k + 1] - _root(n + m + k, n - m - k + 1) * now[k - 1])
            for k in range(j - degree, degree - j + 1)
        }
        found.append(now[0] / math.factorial(j))
    return found


def _root(a: Any, b: Any) -> Any:
    return np.sqrt(np.maximum(a * b, 0).astype(float))


@primitive(elementwise=True)
def spherical_legendre(n: Any, m: Any, theta: Any, *, order: int) -> Any:
    """The derivative of this order of a spherical harmonic by θ, at φ = 0."""
    return math.factorial(order) * _coefficients(n, m, theta, order)[order]


def _series(n: Any, m: Any, theta: Any, degree: int, *, order: int) -> list[Any]:
    found = _coefficients(n, m, theta, degree + order)
    return [math.perm(k + order, order) * found[k + order] for k in range(degree + 1)]


defvjp(
    spherical_legendre,
    lambda g, p, n, m, theta, *, order: (None, None, g * spherical_legendre(n, m, theta, order=order + 1)),
)
_known = known_primitive(spherical_legendre)
assert _known is not None
_known.kernel = _series


def _by_theta(n: Any, m: Any, theta: Any) -> Any:
    return spherical_legendre(1.0 * np.asarray(n), 1.0 * np.asarray(m), inexact(theta), order=0)


def sph_legendre_p(n: Any, m: Any, theta: Any) -> Any:
    """The part of a spherical harmonic that depends on the polar angle, with the axes that SciPy puts before it."""
    found = _by_theta(n, m, theta)
    return np.reshape(found, (*np.shape(sc.sph_legendre_p(0, 0, 0.0)), *found.shape))


def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any) -> Any:
    """The spherical harmonic of degree n and order m."""
    return _by_theta(n, m, theta) * np.exp(1j * np.asarray(m) * inexact(phi))


def legendre_p(n: Any, z: Any) -> Any:
    """Legendre's polynomial, with the axes that SciPy puts before it."""
    found = sc.eval_legendre(n, inexact(z))
    return np.reshape(found, (*np.shape(sc.legendre_p(0, 0.0)), *found.shape))


def _declare(name: str, implementation: Function) -> None:
    original = getattr(sc, name)

    @functools.wraps(implementation)
    def function(*args: Any, **kwargs: Any) -> Any:
        if not holds_traced([*args, *kwargs.values()]):
            with Apart():
                return original(*args, **kwargs)
        if kwargs.pop("diff_n", 0):
            raise refused(name, "with diff_n", "Differentiate it by hoad.", "scipy.special")
        return implementation(*args, **kwargs)

    IMPLEMENTED[original] = function


for _implementation in (sph_legendre_p, sph_harm_y, legendre_p):
    if hasattr(sc, _implementation.__name__):  # from SciPy 1.15 on
        _declare(_implementation.__name__, _implementation)
