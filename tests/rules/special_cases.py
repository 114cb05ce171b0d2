"""Rows of the table of cases for SciPy's further ufuncs, a block for each file of `hoad.rules.special`.

Inverse functions have parameters at which they are elementary, or are solved for by mpmath.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc
from mpmath import mp
from rules import cases
from rules.cases import MEDIUM, RIGHT, SHARES, second_kind
from rules.sampling import Sampler, between, mixed, positive, sized

Function = Callable[..., Any]

elementwise = functools.partial(cases.elementwise, few=True)
special = functools.partial(cases.special, few=True)


def several(
    name: str, oracles: list[Function], *at: Sampler, of: tuple[Any, ...] = (), label: str = "", **further: Any
) -> None:
    """A row for a ufunc of several results: a sum of them, with weights 1, 2, ..."""
    function = getattr(sc, name)
    fixed = [mp.mpf(x) for x in of]

    def f(*xs: Any) -> Any:
        return sum((k + 1.0) * y for k, y in enumerate(function(*of, *xs)))

    def oracle(*xs: Any) -> Any:
        return sum((k + 1) * o(*fixed, *xs) for k, o in enumerate(oracles))

    used = [f"scipy.special.{name}", "result"]
    elementwise(label or f"special_{name}", f, oracle, *at, uses=used, room="special", closes=False, **further)


def parts(
    name: str, oracle: Function, *at: Sampler, of: tuple[Any, ...] = (), closes: bool = False, **further: Any
) -> None:
    """A row for a function of complex numbers, at x + 0.3i: the sum of its real and twice its imaginary part."""
    function = getattr(sc, name)
    fixed = [mp.mpf(x) for x in of]

    def f(x: Any) -> Any:
        y = function(*of, x + 0.3j)
        return np.real(y) + 2.0 * np.imag(y)

    def exact(x: Any) -> Any:
        y = oracle(*fixed, mp.mpc(x, mp.mpf(0.3)))
        return mp.re(y) + 2 * mp.im(y)

    used = [f"scipy.special.{name}", "real", "imag"]
    elementwise(f"special_{name}", f, exact, *at, uses=used, room="special", closes=closes, **further)


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


# ---- elementary -----------------------------------------------------------------------------------------------------

special("sindg", lambda x: mp.sin(mp.radians(x)), mixed(between(-700.0, 700.0), sized(1e-6, 50.0)))
special("cosdg", lambda x: mp.cos(mp.radians(x)), mixed(between(-700.0, 700.0), sized(1e-6, 50.0)))
special("tandg", lambda x: mp.tan(mp.radians(x)), mixed(between(-80.0, 80.0), sized(1e-6, 50.0)))
special("cotdg", lambda x: mp.cot(mp.radians(x)), mixed(between(5.0, 80.0), sized(1e-1, 50.0)), tolerance=2e-14)
special("radian", lambda d, m, s: mp.radians(d + m / 60 + s / 3600), MEDIUM, MEDIUM, of=[30.0])
special("powm1", lambda x, y: x**y - 1, positive(1e-3, 1e3), between(-4.0, 4.0), tolerance=4e-14, closes=False)
special("round", mp.nint, between(-30.0, 30.0))
special("gammasgn", lambda x: mp.sign(mp.gamma(x)), between(-5.0, 5.0))

# ---- elliptic -------------------------------------------------------------------------------------------------------

special("ellipkm1", lambda x: mp.ellipk(1 - x), positive(1e-6, 2.0), closes=False)
special("ellipkinc", mp.ellipf, between(-1.5, 1.5), mixed(between(-3.0, 0.9), sized(1e-6, 0.5)), closes=False)
special("ellipeinc", mp.ellipe, between(-1.5, 1.5), mixed(between(-3.0, 0.9), sized(1e-6, 0.5)), closes=False)
special("elliprc", mp.elliprc, positive(0.1, 10.0), of=[0.7], closes=False)
special(
    "elliprc",
    lambda x, y: mp.elliprc(x, y, pv=True),
    between(-9.0, -0.2),
    of=[0.7],
    label="special_elliprc_pv",
    closes=False,
)
special("elliprf", mp.elliprf, positive(0.1, 10.0), positive(0.1, 10.0), of=[0.5], closes=False)
special("elliprd", mp.elliprd, positive(0.1, 10.0), of=[0.5, 2.0], closes=False)
special("elliprg", mp.elliprg, positive(0.1, 10.0), of=[0.5, 2.0], closes=False)
special("elliprj", mp.elliprj, positive(0.1, 10.0), of=[0.5, 2.0, 1.5], closes=False)
special("agm", mp.agm, positive(0.01, 10.0), positive(0.01, 10.0), closes=False, tolerance=4e-14)


def _jacobi(kind: str) -> Function:
    return lambda u, m: mp.ellipfun(kind, u, m=m)


several(
    "ellipj",
    [_jacobi("sn"), _jacobi("cn"), _jacobi("dn"), lambda u, m: mp.atan2(_jacobi("sn")(u, m), _jacobi("cn")(u, m))],
    between(0.1, 1.5),
    between(0.1, 0.8),
    tolerance=2e-13,
)

# ---- orthogonal -----------------------------------------------------------------------------------------------------

INTERVAL = between(-0.9, 0.9)
HALF = between(0.05, 0.95)

special("eval_chebyt", mp.chebyt, INTERVAL, of=[7])
special("eval_chebyt", mp.chebyt, HALF, of=[2.5], label="special_eval_chebyt_2.5")
special("eval_chebyu", mp.chebyu, INTERVAL, of=[6])
special("eval_chebyc", lambda n, x: 2 * mp.chebyt(n, x / 2), INTERVAL, of=[5])
special("eval_chebys", lambda n, x: mp.chebyu(n, x / 2), INTERVAL, of=[5])
special("eval_sh_chebyt", lambda n, x: mp.chebyt(n, 2 * x - 1), HALF, of=[4])
special("eval_sh_chebyu", lambda n, x: mp.chebyu(n, 2 * x - 1), HALF, of=[4])
special("eval_legendre", mp.legendre, INTERVAL, of=[6])
special("eval_legendre", mp.legendre, HALF, of=[2.5], label="special_eval_legendre_2.5")
special("eval_sh_legendre", lambda n, x: mp.legendre(n, 2 * x - 1), HALF, of=[3])
special("eval_gegenbauer", mp.gegenbauer, INTERVAL, of=[5, 1.5])
special("eval_jacobi", mp.jacobi, INTERVAL, of=[5, 0.5, 1.5])
special(
    "eval_sh_jacobi",
    lambda n, p, q, x: mp.jacobi(n, p - q, q - 1, 2 * x - 1) / mp.binomial(2 * n + p - 1, n),
    HALF,
    of=[4, 2.5, 1.5],
)
special("eval_laguerre", lambda n, x: mp.laguerre(n, 0, x), positive(0.1, 10.0), of=[5])
special("eval_genlaguerre", mp.laguerre, positive(0.1, 10.0), of=[5, 1.5])
special("eval_hermite", mp.hermite, between(-3.0, 3.0), of=[5])
special(
    "eval_hermitenorm",
    lambda n, x: mp.mpf(2) ** (-n / 2) * mp.hermite(n, x / mp.sqrt(2)),
    between(-3.0, 3.0),
    of=[5],
    tolerance=2e-14,
)

# ---- integrals ------------------------------------------------------------------------------------------------------

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


# ---- error functions ------------------------------------------------------------------------------------------------


def _faddeeva(z: Any) -> Any:
    return mp.exp(-z * z) * mp.erfc(-1j * z)


def _voigt(x: Any, sigma: Any, gamma: Any) -> Any:
    return mp.re(_faddeeva((x + 1j * gamma) / (sigma * mp.sqrt(2)))) / (sigma * mp.sqrt(2 * mp.pi))


def _owen(h: Any, a: Any) -> Any:
    """Owen's series (1956), for |a| < 1."""
    half = h * h / 2
    gauss, term, total, part, j = mp.exp(-half), mp.one, mp.zero, mp.zero, 0
    power = a
    while abs(power) > mp.eps * mp.mpf(10) ** -10:
        part += term
        total += mp.mpf(-1) ** j / (2 * j + 1) * (1 - gauss * part) * power
        j += 1
        term *= half / j
        power *= a * a
    return (mp.atan(a) - total) / (2 * mp.pi)


parts("wofz", _faddeeva, between(-5.0, 5.0), closes=True, tolerance=4e-14)
special(
    "voigt_profile",
    lambda x, s, g: _voigt(x, s, g),
    between(0.2, 2.0),
    between(0.1, 2.0),
    of=[0.7],
    tolerance=4e-14,
)
elementwise(
    "special_voigt_profile_x",
    lambda x, g: sc.voigt_profile(x, 0.8, g),
    lambda x, g: _voigt(x, mp.mpf(0.8), g),
    between(-4.0, 4.0),
    between(0.1, 2.0),
    uses=["scipy.special.voigt_profile"],
    room="special",
    tolerance=4e-14,
)
special("owens_t", _owen, between(0.1, 3.0), between(0.02, 0.1), tolerance=2e-14)
# ---- Airy, Kelvin ---------------------------------------------------------------------------------------------------


def _ai(n: int) -> Function:
    return lambda x: mp.airyai(x, derivative=n)


def _bi(n: int) -> Function:
    return lambda x: mp.airybi(x, derivative=n)


def _grown(f: Function, sign: int) -> Function:
    return lambda x: f(x) * mp.exp(sign * mp.mpf(2) / 3 * x * mp.sqrt(x))


several("airy", [_ai(0), _ai(1), _bi(0), _bi(1)], between(-8.0, 3.0), tolerance=4e-14)
several(
    "airye",
    [_grown(_ai(0), 1), _grown(_ai(1), 1), _grown(_bi(0), -1), _grown(_bi(1), -1)],
    mixed(between(0.05, 1.0), between(1.0, 4.0)),
    tolerance=2e-13,
)


def _kelvin(x: Any) -> list[Any]:
    """Σ (ix²/4)ᵏ / k!², which is J₀, and with ψ(k + 1) - log(x/2) - iπ/4 in each term K₀; and both slopes."""
    step, term, sums, k = mp.mpc(0, x * x / 4), mp.mpc(1), mp.zero, 0
    be = ke = be_slope = ke_slope = mp.mpc(0)
    while k < 4 or abs(term) > mp.eps * mp.mpf(10) ** -10:
        be += term
        ke += sums * term
        be_slope += 2 * k * term
        ke_slope += 2 * k * sums * term
        k += 1
        sums += mp.one / k
        term *= step / k**2
    log = mp.mpc(mp.log(x / 2) + mp.euler, mp.pi / 4)
    return [be, ke - log * be, be_slope / x, (ke_slope - be - log * be_slope) / x]


def kelvin(names: str, which: int) -> None:
    """A row for four of the functions, a sum of real and imaginary parts."""
    functions = [getattr(sc, name) for name in names.split()]

    def exact(x: Any) -> Any:
        y, slope = _kelvin(x)[which::2]
        return mp.re(y) + 2 * mp.im(y) + 3 * mp.re(slope) + 4 * mp.im(slope)

    elementwise(
        f"special_{'_'.join(names.split())}",
        lambda x: sum((k + 1.0) * f(x) for k, f in enumerate(functions)),
        exact,
        between(0.2, 2.5),
        uses=[f"scipy.special.{name}" for name in names.split()],
        room="special",
        closes=which == 1,
        tolerance=1e-12,
    )


kelvin("ber bei berp beip", 0)
kelvin("ker kei kerp keip", 1)

# ---- Bessel ----------------------------------------------------------------------------------------------

parts("hankel1", mp.hankel1, between(0.5, 8.0), of=(1.5,), tolerance=4e-14)
parts("hankel2", mp.hankel2, between(0.5, 8.0), of=(1.5,), tolerance=4e-14)
parts("hankel1e", lambda v, z: mp.hankel1(v, z) * mp.exp(-1j * z), between(0.5, 4.0), of=(1.5,), tolerance=1e-12)
parts("hankel2e", lambda v, z: mp.hankel2(v, z) * mp.exp(1j * z), between(0.5, 4.0), of=(1.5,), tolerance=1e-12)
special("jve", mp.besselj, RIGHT, of=[2.5], tolerance=4e-14, closes=False)
special("yve", lambda v, x: -mp.besselj(-v, x), RIGHT, of=[0.5], tolerance=4e-14, closes=False)

# ---- hypergeometric, gamma ------------------------------------------------------------------------------------------

special("hyp0f1", mp.hyp0f1, between(-10.0, 10.0), of=[1.5], tolerance=1e-13)
special("hyperu", lambda a, b, x: mp.exp(x) * mp.e1(x), between(0.3, 3.0), of=[1.0, 1.0], tolerance=1e-11)


def _wright_sum(a: Any, b: Any, x: Any) -> Any:
    total, k, part = mp.zero, 0, mp.one
    while k < 4 or abs(part) > mp.eps * abs(total) * mp.mpf(10) ** -10:
        part = x**k / mp.factorial(k) * mp.rgamma(a * k + b)
        total += part
        k += 1
    return total


special("wright_bessel", _wright_sum, positive(0.1, 5.0), of=[0.5, 1.0], tolerance=1e-13)
if hasattr(sc, "log_wright_bessel"):
    special(
        "log_wright_bessel",
        lambda a, b, x: mp.log(_wright_sum(a, b, x)),
        positive(0.1, 5.0),
        of=[0.5, 1.0],
        tolerance=1e-12,
        closes=False,
    )
special(
    "poch",
    lambda a, m: mp.gamma(a + m) / mp.gamma(a),
    positive(0.5, 8.0),
    positive(0.3, 5.0),
    tolerance=1e-13,
    closes=False,
)
special("binom", lambda n, k: mp.binomial(n, k), between(5.0, 9.0), between(0.3, 4.0), tolerance=1e-13, closes=False)

# ---- distributions --------------------------------------------------------------------------------------------------


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

# ---- solutions of equations, which SciPy gives with their derivatives ------------------------------------------------

several(
    "pbvv",
    [
        lambda v, x: mp.pcfv(-v - 0.5, x),
        lambda v, x: x / 2 * mp.pcfv(-v - 0.5, x) - (v + 1) * mp.pcfv(-v - 1.5, x),
    ],
    between(0.3, 3.0),
    of=(1.5,),
    tolerance=1e-12,
)


def _taylor_of_equation(a: Any, even: bool, x: Any) -> Any:
    """The even or odd solution of y″ = (a - x²/4) y (DLMF 12.14.9)."""
    before, last, total, k = mp.zero, mp.one, mp.zero, 0
    power = mp.one if even else x
    while k < 8 or abs(last * power) > mp.eps * mp.mpf(10) ** -10:
        total += last * power
        n = 2 * k + (0 if even else 1)
        before, last = last, (a * last - before / 4) / ((n + 1) * (n + 2))
        power *= x * x
        k += 1
    return total


def _pcfw(a: Any, x: Any) -> Any:
    """W(a, x), by its values at 0 (DLMF 12.14.2, 12.14.3)."""
    g = [abs(mp.gamma(mp.mpc(mp.mpf(k) / 4, a / 2))) for k in (1, 3)]
    start = mp.mpf(2) ** (-mp.mpf(3) / 4) * mp.sqrt(g[0] / g[1])
    slope = -(mp.mpf(2) ** (-mp.mpf(1) / 4)) * mp.sqrt(g[1] / g[0])
    return start * _taylor_of_equation(a, True, x) + slope * _taylor_of_equation(a, False, x)


def first(name: str, oracle: Function, *at: Sampler, of: tuple[Any, ...], **further: Any) -> None:
    """A row for the first of two results, of which derivatives use both."""
    function, fixed = getattr(sc, name), [mp.mpf(x) for x in of]
    elementwise(
        f"special_{name}",
        lambda x: function(*of, x)[0],
        lambda x: oracle(*fixed, x),
        *at,
        uses=[f"scipy.special.{name}", "result"],
        room="special",
        closes=False,
        **further,
    )


first("pbdv", mp.pcfd, between(-3.0, 3.0), of=(1.5,), tolerance=1e-12)
first("pbwa", _pcfw, between(-3.0, 3.0), of=(0.5,), tolerance=1e-11)


@functools.cache
def _eigenvector(kind: Function, guess: float, digits: int) -> tuple[Any, list[Any]]:
    """The eigenvalue next to a guess, and its vector, of a symmetric tridiagonal matrix: by Rayleigh's quotients."""
    size = 60 + digits // 3
    diagonal, beside_it = kind(size)
    value, vector = mp.mpf(guess) + mp.mpf(10) ** -9, [mp.one] * size
    for _ in range(4 + int(np.log(digits))):
        pivots, right = [diagonal[0] - value], [vector[0]]
        for k in range(1, size):  # elimination
            factor = beside_it[k - 1] / pivots[-1]
            pivots.append(diagonal[k] - value - factor * beside_it[k - 1])
            right.append(vector[k] - factor * right[-1])
        found = [right[-1] / pivots[-1]]
        for k in range(size - 2, -1, -1):
            found.append((right[k] - beside_it[k] * found[-1]) / pivots[k])
        length = mp.sqrt(mp.fsum(y * y for y in found))
        vector = [y / length for y in reversed(found)]
        mixed_terms = mp.fsum(b * u * w for b, u, w in zip(beside_it, vector, vector[1:], strict=False))
        value = mp.fsum(d * u * u for d, u in zip(diagonal, vector, strict=True)) + 2 * mixed_terms
    return value, vector


Q = mp.mpf(1.5)


def _mathieu_matrix(size: int) -> tuple[list[Any], list[Any]]:
    """Of ce₂ₙ (DLMF 28.4.5), with √2 for the constant."""
    return [mp.mpf(4 * k * k) for k in range(size)], [Q * mp.sqrt(2), *[Q] * (size - 2)]


def _mathieu_sine_matrix(size: int) -> tuple[list[Any], list[Any]]:
    """Of se₂ₙ₊₂."""
    return [mp.mpf(4 * k * k) for k in range(1, size + 1)], [Q] * (size - 1)


def _of_mathieu(sine: bool, m: int, x: Any, wave: Function) -> Any:
    """Σ A₂ₖ wave(2kx), where Σ A² counts A₀ twice and the start, or its slope, is positive."""
    guess = float(sc.mathieu_b(m, 1.5) if sine else sc.mathieu_a(m, 1.5))
    _, vector = _eigenvector(_mathieu_sine_matrix if sine else _mathieu_matrix, guess, mp.dps)
    orders = range(2, 2 * len(vector) + 2, 2) if sine else range(0, 2 * len(vector), 2)
    weights = vector if sine else [vector[0] / mp.sqrt(2), *vector[1:]]
    sign = mp.sign(mp.fsum(n * w for n, w in zip(orders, weights, strict=True)) if sine else mp.fsum(weights))
    return sign * mp.fsum(w * wave(n * x) for n, w in zip(orders, weights, strict=True) if abs(w) > mp.eps**2)


first(
    "mathieu_cem",
    lambda m, q, x: _of_mathieu(False, 2, mp.radians(x), mp.cos),
    between(3.0, 87.0),
    of=(2, 1.5),
    single=False,
    tolerance=1e-11,
)
first(
    "mathieu_sem",
    lambda m, q, x: _of_mathieu(True, 2, mp.radians(x), mp.sin),
    between(3.0, 87.0),
    of=(2, 1.5),
    single=False,
    tolerance=1e-11,
)


def _bessels(x: Any, size: int, spherical: bool) -> list[Any]:
    """J₀, J₁, … or j₀, j₁, …, by Miller's recurrence downwards."""
    last, now, found = mp.zero, mp.one, []
    for n in range(size + mp.dps // 2, -1, -1):
        found.append(now)
        last, now = now, (2 * n + 1 if spherical else 2 * n) / x * now - last
    found.reverse()
    total = found[0] / (mp.sin(x) / x) if spherical else found[0] + 2 * mp.fsum(found[2::2])
    return [y / total for y in found[:size]]


def _neumanns(x: Any, size: int, spherical: bool) -> list[Any]:
    """Y₀, Y₁, … or y₀, y₁, …, by recurrence."""
    if spherical:
        found = [-mp.cos(x) / x, -mp.cos(x) / x / x - mp.sin(x) / x]
    else:
        found = [second_kind(n, x, -1) for n in (0, 1)]
    for n in range(1, size - 1):
        found.append((2 * n + 1 if spherical else 2 * n) / x * found[-1] - found[-2])
    return found


def _modified_mathieu(sine: bool, cylinders: Function) -> Function:
    """Mc₂ as Σ (-1)ᵏ⁺¹ A₂ₖ C₂ₖ(2√q cosh x) / ce₂(0), Ms₂ as tanh x Σ (-1)ᵏ⁺¹ 2k B₂ₖ C₂ₖ / se₂′(0), k from 1."""

    def f(m: Any, q: Any, x: Any) -> Any:
        guess = float(sc.mathieu_b(2, 1.5) if sine else sc.mathieu_a(2, 1.5))
        _, vector = _eigenvector(_mathieu_sine_matrix if sine else _mathieu_matrix, guess, mp.dps)
        orders = range(2, 2 * len(vector) + 2, 2) if sine else range(0, 2 * len(vector), 2)
        weights = (
            [n * w for n, w in zip(orders, vector, strict=True)] if sine else [vector[0] / mp.sqrt(2), *vector[1:]]
        )
        c = cylinders(2 * mp.sqrt(Q) * mp.cosh(x), 2 * len(vector) + 2, False)
        total = mp.fsum((-1) ** (n // 2 + 1) * w * c[n] for n, w in zip(orders, weights, strict=True))
        return total / mp.fsum(weights) * (mp.tanh(x) if sine else 1)

    return f


for _kind, _cylinders in (("1", _bessels), ("2", _neumanns)):
    for _letter, _sine in (("c", False), ("s", True)):
        first(
            f"mathieu_mod{_letter}em{_kind}",
            _modified_mathieu(_sine, _cylinders),
            between(1.0, 1.8),
            of=(2, 1.5),
            single=False,
            tolerance=1e-10,
        )

SQUARE = mp.mpf(2.25)  # c², with c = 1.5


def _spheroidal_matrix(sign: int) -> Function:
    """(-((1 - x²) y′)′ ± c²x² y, in normalized Legendre polynomials of even order (m = 0)."""

    def kind(size: int) -> tuple[list[Any], list[Any]]:
        beta = [mp.zero, *[mp.mpf(r * r) / (4 * r * r - 1) for r in range(1, 2 * size + 2)]]
        diagonal = [r * (r + 1) + sign * SQUARE * (beta[r] + beta[r + 1]) for r in range(0, 2 * size, 2)]
        return diagonal, [sign * SQUARE * mp.sqrt(beta[r + 1] * beta[r + 2]) for r in range(0, 2 * size - 2, 2)]

    return kind


PROLATE, OBLATE = _spheroidal_matrix(1), _spheroidal_matrix(-1)


def _spheroidal_weights(oblate: bool) -> list[Any]:
    """d₀, d₂, … of Σ dᵣ Pᵣ, with the eigenvalue that begins as 2 · 3."""
    guess = float(sc.obl_cv(0, 2, 1.5) if oblate else sc.pro_cv(0, 2, 1.5))
    _, vector = _eigenvector(OBLATE if oblate else PROLATE, guess, mp.dps)
    return [w * mp.sqrt(mp.mpf(4 * k + 1) / 2) for k, w in enumerate(vector)]


def _angular(oblate: bool) -> Function:
    """With the value of P₂ at 0."""

    def f(*operands: Any) -> Any:
        weights = _spheroidal_weights(oblate)

        def total(x: Any) -> Any:
            before, now, found = mp.zero, mp.one, mp.zero
            for n in range(2 * len(weights)):
                found += now * weights[n // 2] if n % 2 == 0 else 0
                before, now = now, ((2 * n + 1) * x * now - n * before) / (n + 1)
            return found

        return total(operands[-1]) / total(mp.zero) / -2

    return f


def _radial(oblate: bool, cylinders: Function) -> Function:
    """Σ (-1)ᵏ⁺¹ d₂ₖ z₂ₖ(cx) / Σ d₂ₖ (DLMF 30.11.3)."""

    def f(*operands: Any) -> Any:
        weights = _spheroidal_weights(oblate)
        z = cylinders(mp.mpf(1.5) * operands[-1], 2 * len(weights), True)
        return mp.fsum((-1) ** (k + 1) * w * z[2 * k] for k, w in enumerate(weights)) / mp.fsum(weights)

    return f


for _oblate, _family in ((False, "pro"), (True, "obl")):
    for _form, _of in (
        ("", (0, 2, 1.5)),
        ("_cv", (0, 2, 1.5, float((sc.obl_cv if _oblate else sc.pro_cv)(0, 2, 1.5)))),
    ):
        first(f"{_family}_ang1{_form}", _angular(_oblate), between(0.1, 0.9), of=_of, single=False, tolerance=1e-9)
        first(
            f"{_family}_rad1{_form}",
            _radial(_oblate, _bessels),
            between(2.0, 4.0),
            of=_of,
            single=False,
            tolerance=1e-9,
        )
        first(
            f"{_family}_rad2{_form}",
            _radial(_oblate, _neumanns),
            between(2.0, 4.0),
            of=_of,
            single=False,
            tolerance=1e-7,
        )

elementwise(
    "special_kelvin",
    lambda x: sum(np.real(y) + 2.0 * np.imag(y) for y in sc.kelvin(x)),
    lambda x: sum(mp.re(y) + 2 * mp.im(y) for y in _kelvin(x)),
    between(0.2, 2.5),
    uses=["scipy.special.kelvin", "result"],
    room="special",
    closes=False,
    tolerance=1e-12,
)
