"""Spherical Bessel functions of whole orders, the logarithm of the multivariate gamma function, and the factorial.

References
----------
NIST Digital Library of Mathematical Functions, 10.51.2, 35.3.4.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from hoad._numpy.products import inexact
from hoad._ops.primitives import known_primitive
from hoad._scipy.registry import Function, implements
from hoad.rules.registry import defvjp, primitive

# (2n + 1) fₙ′ is a n fₙ₋₁ + b (n + 1) fₙ₊₁, for these a and b
WEIGHTS = {
    "spherical_jn": (1.0, -1.0),
    "spherical_yn": (1.0, -1.0),
    "spherical_in": (1.0, 1.0),
    "spherical_kn": (-1.0, -1.0),
}


def _coefficients(n: Any, z: Any, degree: int, name: str) -> list[Any]:
    """Taylor coefficients in z, by the functions of the orders n - degree to n + degree."""
    n = np.rint(n).astype(np.int64)
    before, after = WEIGHTS[name]
    with np.errstate(all="ignore"):
        now = {m: getattr(sc, name)(np.maximum(n + m, 0), z) for m in range(-degree, degree + 1)}
        found = [now[0]]
        for k in range(1, degree + 1):
            left = range(k - degree, degree - k + 1)
            now = {
                m: (
                    np.where(n + m > 0, before * (n + m) * now[m - 1], 0.0) + after * (n + m + 1) * now[m + 1]
                ) / (2 * (n + m) + 1)
                for m in left
            }  # fmt: skip
            found.append(now[0] / math.factorial(k))
    return found


@primitive(elementwise=True)
def spherical_bessel(n: Any, z: Any, *, name: str, order: int) -> Any:
    """The derivative of this order by z of a spherical Bessel function."""
    return math.factorial(order) * _coefficients(n, z, order, name)[order]


def _series(n: Any, z: Any, degree: int, *, name: str, order: int) -> list[Any]:
    found = _coefficients(n, z, degree + order, name)
    return [math.perm(k + order, order) * found[k + order] for k in range(degree + 1)]


defvjp(
    spherical_bessel,
    lambda g, p, n, z, *, name, order: (None, g * spherical_bessel(n, z, name=name, order=order + 1)),
)
_known = known_primitive(spherical_bessel)
assert _known is not None
_known.kernel = _series


def _declare(name: str) -> None:
    original: Function = getattr(sc, name)

    def function(n: Any, z: Any, derivative: bool = False) -> Any:
        return spherical_bessel(1.0 * np.asarray(n), inexact(z), name=name, order=int(derivative))

    function.__doc__ = (
        f"`scipy.special.{name}`, which is differentiated by z, n being whole.\n\n"
        "Notes\n-----\nCost: a derivative of order k takes SciPy's functions of 2k + 1 orders."
    )
    function.__name__ = name
    implements(original)(function)


for _name in WEIGHTS:
    _declare(_name)


@implements(sc.multigammaln)
def multigammaln(a: Any, d: int) -> Any:
    """The logarithm of the multivariate gamma function of d dimensions, which is differentiated by a.

    Notes
    -----
    Cost: that of d gamma functions.

    Examples
    --------
    >>> from hoad.scipy import special
    >>> round(hoad.grad(lambda a: special.multigammaln(a, 1))(1.0), 6)
    -0.577216
    """
    a = inexact(a)
    halves = 0.5 * np.arange(int(d))
    return 0.25 * d * (d - 1) * math.log(math.pi) + np.sum(sc.gammaln(a[..., None] - halves), -1)


@implements(sc.factorial)
def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """The factorial Γ(n + 1), which is differentiated by n; of a negative n it is 0, unless `extend` is "complex".

    Notes
    -----
    Cost: that of a gamma function.

    Examples
    --------
    >>> from hoad.scipy import special
    >>> round(hoad.grad(lambda n: special.factorial(n))(0.0), 6)
    -0.577216
    """
    n = inexact(n)
    if extend == "complex":
        return sc.gamma(n + 1.0)
    negative = np.less(n, 0.0)
    return np.where(negative, 0.0, sc.gamma(np.where(negative, 0.0, n) + 1.0))
