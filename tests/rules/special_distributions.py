"""Rows of the table of cases for SciPy's distributions.

Inverse functions have parameters at which they are elementary, or are solved for by mpmath.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc
from mpmath import mp
from rules import cases
from rules.cases import SHARES
from rules.sampling import Sampler, between, positive
from rules.special_cases import Function, elementwise, special


def solved(f: Function, low: Any, high: Any) -> Any:
    """Where f, which rises or falls from low to high, is 0: by Newton's method, digits doubling."""
    wanted = mp.prec + 20
    with mp.workdps(20):
        x = mp.findroot(f, (mp.mpf(low), mp.mpf(high)), solver="anderson", tol=1e-25, verify=False)
    digits = 50
    while digits < 2 * wanted:
        digits = min(2 * digits, 2 * wanted)
        with mp.workprec(digits + 20):
            h = mp.ldexp(1, -digits // 2)
            x -= f(x) * 2 * h / (f(x + h) - f(x - h))
    return +x


def _lower(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


special("bdtr", lambda k, n, p: _lower(n - k, k + 1, 1 - p), SHARES, of=[2, 7], singular=[1.0], single=False)
special("bdtrc", lambda k, n, p: _lower(k + 1, n - k, p), SHARES, of=[2, 7], singular=[1.0], single=False)
special("bdtri", lambda k, n, y: 1 - y ** (1 / n), SHARES, of=[0, 7], singular=[1.0], tolerance=4e-14, single=False)
special("nbdtr", lambda k, n, p: _lower(n, k + 1, p), SHARES, of=[2, 7], singular=[1.0])
special("nbdtrc", lambda k, n, p: _lower(k + 1, n, 1 - p), SHARES, of=[2, 7], singular=[1.0])
special("nbdtri", lambda k, n, y: y ** (1 / n), SHARES, of=[0, 7], singular=[1.0], tolerance=4e-14)
special("pdtr", lambda k, m: mp.gammainc(k + 1, m, regularized=True), positive(0.1, 10.0), of=[3])
special("pdtrc", lambda k, m: mp.gammainc(k + 1, 0, m, regularized=True), positive(0.1, 10.0), of=[3])
special("pdtri", lambda k, y: -mp.log(y), SHARES, of=[0], singular=[1.0], tolerance=4e-14)
special("betaincinv", lambda a, b, y: 1 - (1 - y) ** (1 / b), SHARES, of=[1.0, 2.5], singular=[1.0], tolerance=2e-13)
special("betainccinv", lambda a, b, y: 1 - y ** (1 / b), SHARES, of=[1.0, 2.5], singular=[1.0], tolerance=2e-13)
special("chdtr", lambda v, x: mp.gammainc(v / 2, 0, x / 2, regularized=True), positive(0.1, 20.0), of=[5.0])
special("chdtrc", lambda v, x: 1 - mp.gammainc(v / 2, 0, x / 2, regularized=True), positive(0.1, 20.0), of=[5.0])
special("chdtri", lambda v, y: -2 * mp.log(y), SHARES, of=[2.0], singular=[1.0], tolerance=4e-14)


def _f(a: Any, b: Any, x: Any) -> Any:
    return _lower(a / 2, b / 2, a * x / (a * x + b))


special("fdtr", _f, positive(0.05, 20.0), of=[3.0, 5.0], tolerance=2e-14)
special(
    "fdtrc", lambda a, b, x: _lower(b / 2, a / 2, b / (a * x + b)), positive(0.05, 20.0), of=[3.0, 5.0], tolerance=2e-14
)
special(
    "fdtri", lambda a, b, y: b / 2 * ((1 - y) ** (-2 / b) - 1), SHARES, of=[2.0, 5.0], singular=[1.0], tolerance=2e-13
)


def _t(v: Any, t: Any) -> Any:
    scale = mp.gamma((v + 1) / 2) / mp.gamma(v / 2) / mp.sqrt(mp.pi * v)
    return mp.mpf(1) / 2 + t * scale * mp.hyp2f1(0.5, (v + 1) / 2, 1.5, -t * t / v)


special("stdtr", _t, between(-4.0, 4.0), of=[3.5], tolerance=2e-14)
special(
    "stdtrit",
    lambda v, y: (2 * y - 1) / mp.sqrt(2 * y * (1 - y)),
    between(0.05, 0.95),
    of=[2.0],
    singular=[1.0],
    tolerance=1e-12,
)
elementwise(
    "special_gdtr",
    lambda a, x: sc.gdtr(a, 2.5, x),
    lambda a, x: mp.gammainc(2.5, 0, a * x, regularized=True),
    positive(0.3, 3.0),
    positive(0.3, 3.0),
    uses=["scipy.special.gdtr"],
    room="special",
    tolerance=2e-14,
)
special(
    "gdtrc",
    lambda a, b, x: 1 - mp.gammainc(b, 0, a * x, regularized=True),
    positive(0.3, 3.0),
    of=[1.3, 2.5],
    tolerance=2e-14,
)
elementwise(
    "special_gdtria",
    lambda y, x: sc.gdtria(y, 1.0, x),
    lambda y, x: -mp.log(1 - y) / x,
    between(0.05, 0.9),
    positive(0.3, 3.0),
    uses=["scipy.special.gdtria"],
    room="special",
    singular=[1.0],
    tolerance=4e-13,
)
elementwise(
    "special_gdtrix",
    lambda a, y: sc.gdtrix(a, 1.0, y),
    lambda a, y: -mp.log(1 - y) / a,
    positive(0.3, 3.0),
    between(0.05, 0.9),
    uses=["scipy.special.gdtrix"],
    room="special",
    singular=[1.0],
    tolerance=4e-13,
)


def _poisson_mixture(central: Function, nc: Any) -> Any:
    """Σ e^-λ λʲ / j! central(j) for λ = nc / 2."""
    weight, total, j = mp.exp(-nc / 2), mp.zero, 0
    while j < 4 or abs(weight) > mp.eps * mp.mpf(10) ** -10:
        total += weight * central(j)
        j += 1
        weight *= nc / 2 / j
    return total


def _chi(x: Any, v: Any, nc: Any) -> Any:
    """With P(a + 1, y) = P(a, y) - yᵃ e⁻ʸ / Γ(a + 1)."""
    y, a = x / 2, v / 2
    p = [mp.gammainc(a, 0, y, regularized=True), y**a * mp.exp(-y) / mp.gamma(a + 1)]

    def central(j: int) -> Any:
        if j:
            p[0] -= p[1]
            p[1] *= y / (a + j)
        return p[0]

    return _poisson_mixture(central, nc)


def _noncentral_f(v: Any, w: Any, nc: Any, f: Any) -> Any:
    """With Iᵤ(a + 1, b) = Iᵤ(a, b) - uᵃ (1 - u)ᵇ / (a B(a, b))."""
    a, b, u = v / 2, w / 2, v * f / (v * f + w)
    p = [_lower(a, b, u), u**a * (1 - u) ** b / (a * mp.beta(a, b))]

    def central(j: int) -> Any:
        if j:
            p[0] -= p[1]
            p[1] *= u * (a + b + j - 1) / (a + j)
        return p[0]

    return _poisson_mixture(central, nc)


NONCENTRAL = 2e-10  # SciPy's values of what it solves for

elementwise(
    "special_chndtr",
    lambda x, nc: sc.chndtr(x, 3.0, nc),
    lambda x, nc: _chi(x, mp.mpf(3), nc),
    positive(0.5, 10.0),
    positive(0.3, 5.0),
    uses=["scipy.special.chndtr"],
    room="special",
    closes=False,
    tolerance=1e-12,
)


def inverse(name: str, forward: str, of: Function, *at: Sampler, tolerance: float = NONCENTRAL) -> None:
    """A row for exp(-x/2) by an inverse function of the function of x."""
    solve, function = getattr(sc, name), getattr(sc, forward)
    elementwise(
        f"special_{name}",
        lambda x: np.exp(-0.5 * of(x, solve, function)),
        lambda x: mp.exp(-x / 2),
        *at,
        uses=[f"scipy.special.{name}", f"scipy.special.{forward}"],
        room="special",
        closes=False,
        tolerance=tolerance,
    )


inverse("chndtrix", "chndtr", lambda x, solve, f: solve(f(x, 3.0, 1.5), 3.0, 1.5), positive(0.5, 8.0))
inverse("chndtrinc", "chndtr", lambda x, solve, f: solve(6.0, 3.0, f(6.0, 3.0, x)), positive(1.0, 6.0))
special("ncfdtr", _noncentral_f, positive(0.3, 5.0), positive(0.3, 3.0), of=[3.0, 5.0], closes=False, tolerance=1e-11)
inverse("ncfdtri", "ncfdtr", lambda x, solve, f: solve(3.0, 5.0, 1.5, f(3.0, 5.0, 1.5, x)), positive(0.3, 3.0))
inverse(
    "ncfdtrinc",
    "ncfdtr",
    lambda x, solve, f: solve(3.0, 5.0, f(3.0, 5.0, x, 1.2), 1.2),
    positive(0.5, 3.0),
    tolerance=1e-4,
)


def _quantile(y: Any) -> Any:
    return mp.sqrt(2) * cases._erfinv(2 * y - 1)


elementwise(
    "special_nrdtrimn",
    lambda y, s: sc.nrdtrimn(y, s, 1.5),
    lambda y, s: mp.mpf(1.5) - s * _quantile(y),
    between(0.05, 0.9),
    positive(0.3, 3.0),
    uses=["scipy.special.nrdtrimn"],
    room="special",
    singular=[1.0],
    tolerance=4e-14,
)
elementwise(
    "special_nrdtrisd",
    lambda y, x: sc.nrdtrisd(0.5, y, x),
    lambda y, x: (x - mp.mpf(0.5)) / _quantile(y),
    between(0.6, 0.9),
    between(1.0, 3.0),
    uses=["scipy.special.nrdtrisd"],
    room="special",
    singular=[1.0, 0.5],
    tolerance=4e-14,
)


def _kolmogorov(y: Any) -> Any:
    total, k, part = mp.zero, 1, mp.one
    while abs(part) > mp.eps * mp.mpf(10) ** -10:
        part = mp.exp(-2 * k * k * y * y)
        total -= (-1) ** k * part
        k += 1
    return 2 * total


def _kolmogorov_inverse(p: Any) -> Any:
    """Newton's method for q = exp(-2y²) in q - q⁴ + q⁹ - … = p / 2."""
    q, step = p / 2, mp.one
    while abs(step) > mp.eps * 1000:
        powers = [(-1) ** k * q ** (k * k) for k in range(1, int(mp.sqrt(mp.prec * 2)) + 2)]
        slope = mp.fsum(k * k * power for k, power in enumerate(powers, start=1)) / q
        step = (mp.fsum(powers) + p / 2) / slope
        q -= step
    return mp.sqrt(-mp.log(q) / 2)


special("kolmogorov", _kolmogorov, between(0.25, 3.0), tolerance=2e-14)
inverse("ndtri_exp", "log_ndtr", lambda x, solve, f: solve(f(x)), between(-9.0, 2.0), tolerance=1e-12)
special("kolmogi", _kolmogorov_inverse, between(0.1, 0.9), singular=[1.0], tolerance=1e-13)
special(
    "tklmbda",
    lambda x, v: solved(lambda p: (p**v - (1 - p) ** v) / v - x, 1e-3, 0.999),
    between(-1.0, 1.0),
    between(0.2, 0.7),
    closes=False,
    tolerance=2e-12,
)
