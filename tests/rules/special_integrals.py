"""Rows of the table of cases for SciPy's integrals, by their series."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.special as sc
from mpmath import mp
from rules.sampling import between, mixed, positive, sized
from rules.special_cases import Function, elementwise, several, special

special("exp1", mp.e1, positive(0.01, 30.0))
special("expi", mp.ei, mixed(positive(0.01, 30.0), between(-10.0, -0.1)))
special("expn", lambda n, x: mp.expint(n, x), positive(0.05, 20.0), of=[3])
special("expn", lambda n, x: mp.expint(n, x), positive(0.05, 20.0), of=[1], label="special_expn_1")
several("sici", [mp.si, mp.ci], mixed(positive(0.01, 3.0), positive(3.0, 40.0)))
several("shichi", [mp.shi, mp.chi], mixed(positive(0.01, 3.0), positive(3.0, 40.0)))
several("fresnel", [mp.fresnels, mp.fresnelc], sized(1e-2, 4.0))


def _fresnel(sign: int) -> list[Function]:
    turn = [mp.expjpi, lambda x: mp.expjpi(-x)][sign < 0]

    def k(x: Any) -> Any:
        z = turn(mp.mpf(-1) / 4) * x
        return mp.exp(z * z) * mp.erfc(z) / 2

    def f(x: Any) -> Any:
        z = turn(mp.mpf(-1) / 4) * x
        return mp.sqrt(mp.pi) / 2 * turn(mp.mpf(1) / 4) * mp.erfc(z)

    return [f, k]


def modified_fresnel(name: str, sign: int) -> None:
    function = getattr(sc, name)

    def f(x: Any) -> Any:
        y = function(x)
        return np.real(y[0]) + 2.0 * np.imag(y[1])

    def exact(x: Any) -> Any:
        fresnel, scaled = _fresnel(sign)
        return mp.re(fresnel(x)) + 2 * mp.im(scaled(x))

    used = [f"scipy.special.{name}", "result"]
    elementwise(f"special_{name}", f, exact, positive(0.05, 8.0), uses=used, room="special", closes=False)


modified_fresnel("modfresnelp", 1)
modified_fresnel("modfresnelm", -1)
special("spence", lambda z: mp.re(mp.polylog(2, 1 - z)), between(0.6, 1.4), tolerance=4e-14, closes=False)


def _power_series(term: Function, power: int = 0) -> Function:
    """x^power Σ term(k) x²ᵏ, of an entire function."""

    def f(x: Any) -> Any:
        total, k, square = mp.zero, 0, x * x
        part = mp.one
        while k < 4 or abs(part) > mp.eps * abs(total) * mp.mpf(10) ** -20:
            part = term(k) * square**k
            total += part
            k += 1
        return x**power * total

    return f


def _half_log(x: Any) -> Any:
    return mp.log(x / 2) + mp.euler


@functools.cache
def _harmonic_at(k: int, digits: int) -> Any:
    return _harmonic_at(k - 1, digits) + mp.one / k if k else mp.zero


def _harmonic(k: int) -> Any:
    return _harmonic_at(k, mp.dps)


def _of_second_kind(x: Any, sign: int, weight: Function) -> Any:
    """∫ of Y₀ (-1) or K₀ (1) by its series: `weight(n, x)` are the integrals of (log(x/2) + γ) xⁿ and of xⁿ."""
    total, k = mp.zero, 0
    while True:
        c = mp.mpf(sign) ** k / mp.mpf(4) ** k / mp.factorial(k) ** 2
        with_log, plain = weight(2 * k, x)
        part = c * (with_log - _harmonic(k) * plain)
        total += part
        if k > 4 and abs(c * plain) < mp.eps * mp.mpf(10) ** -10:
            return total * (2 / mp.pi if sign < 0 else -1)
        k += 1


def _integral_weight(n: int, x: Any) -> Any:
    plain = x ** (n + 1) / (n + 1)
    return plain * (_half_log(x) - mp.one / (n + 1)), plain


ITS = between(0.3, 4.0)
ITS_TOLERANCE = 1e-8  # SciPy's values; derivatives have all digits
several(
    "itj0y0",
    [
        _power_series(lambda k: mp.mpf(-1) ** k / mp.mpf(4) ** k / mp.factorial(k) ** 2 / (2 * k + 1), 1),
        lambda x: _of_second_kind(x, -1, _integral_weight),
    ],
    ITS,
    tolerance=1e-12,
)
several(
    "iti0k0",
    [
        _power_series(lambda k: 1 / mp.mpf(4) ** k / mp.factorial(k) ** 2 / (2 * k + 1), 1),
        lambda x: _of_second_kind(x, 1, _integral_weight),
    ],
    ITS,
    tolerance=1e-12,
)


def _from_x(x: Any, sign: int) -> Any:
    """∫ₓ^∞ of Y₀(t) / t (-1) or of K₀(t) / t (1)."""
    total, k = mp.zero, 1
    while True:
        c = mp.mpf(sign) ** k * (x / 2) ** (2 * k) / (2 * k * mp.factorial(k) ** 2)
        part = c * (_harmonic(k) + mp.one / (2 * k) - _half_log(x))
        total += part
        if k > 4 and abs(part) < mp.eps * mp.mpf(10) ** -10:
            break
        k += 1
    if sign > 0:
        return _half_log(x) ** 2 / 2 + mp.pi**2 / 24 - total
    return -(_half_log(x) ** 2) / mp.pi + mp.pi / 6 + 2 / mp.pi * total


def _less_one(sign: int) -> Function:
    return _power_series(lambda k: mp.mpf(sign) ** k / mp.mpf(4) ** (k + 1) / mp.factorial(k + 1) ** 2 / (2 * k + 2), 2)


several("it2j0y0", [_less_one(-1), lambda x: _from_x(x, -1)], ITS, tolerance=ITS_TOLERANCE)
several("it2i0k0", [_less_one(1), lambda x: _from_x(x, 1)], ITS, tolerance=ITS_TOLERANCE)


def _over(n: int) -> Function:
    """Σ (±1)ᵏ 2/π x²ᵏ⁺ⁿ / ((2k + n) (2k + 1)!!²), the integral of Struve's function of order 0 times xⁿ⁻²."""
    return lambda sign, x: (
        (2 / mp.pi) * _power_series(lambda k: sign**k / ((2 * k + n) * mp.fac2(2 * k + 1) ** 2), n)(x)
    )


special("itstruve0", functools.partial(_over(2), -1), sized(0.05, 4.0), tolerance=4e-14, closes=False)
special("itmodstruve0", functools.partial(_over(2), 1), sized(0.05, 8.0), tolerance=4e-14, closes=False)
special(
    "it2struve0", lambda x: mp.pi / 2 - _over(1)(-1, x), mixed(sized(0.05, 3.0), between(3.0, 5.0)), tolerance=4e-14,
    closes=False,
)  # fmt: skip


def _integral_of_airy(f: Function, sign: int) -> Function:
    return lambda x: sign * f(sign * x, derivative=-1)


AIRY = [_integral_of_airy(f, sign) for sign in (1, -1) for f in (mp.airyai, mp.airybi)]


def _moment(power: Any, v: Any, a: Any) -> Any:
    """Σ (-1)ᵏ aᵛ⁺²ᵏ / (k! Γ(v + k + 1) (p + v + 2k + 1))."""
    series = _power_series(
        lambda k: mp.mpf(-1) ** k * mp.rgamma(v + k + 1) / (mp.factorial(k) * (power + v + 2 * k + 1))
    )
    return a**v * series(a)


def moment(power: float, v: float) -> None:
    elementwise(
        f"special_besselpoly_{v}", lambda a: sc.besselpoly(a, power, v), lambda a: _moment(power, v, a),
        positive(0.05, 3.0), uses=["scipy.special.besselpoly"], room="special", tolerance=4e-14,
    )  # fmt: skip


moment(1.0, 0.0)
moment(0.5, 1.5)
moment(2.0, 3.0)
several("itairy", AIRY, sized(1e-4, 1e-2), tolerance=1e-13)  # where SciPy's values have their digits
