"""Rows of the table of cases for SciPy's further ufuncs, and how such a row is made; the largest families follow it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc
from mpmath import mp
from rules import cases
from rules.cases import MEDIUM, RIGHT
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


def _ferrers(m: Any, v: Any, x: Any) -> Any:
    """Associated Legendre functions by Gauss's function (DLMF 14.3.1, 14.6.1)."""
    n = int(abs(m))
    gauss = mp.hyp2f1(n - v, v + n + 1, n + 1, (1 - x) / 2) / (mp.mpf(2) ** n * mp.factorial(n))
    return mp.sqrt(1 - x * x) ** n * gauss * ((-1) ** n * mp.rf(v - n + 1, 2 * n) if m >= 0 else 1)


for _m, _v in ((0, 3.5), (3, 7.25), (-2, 4.5), (1, -1.75)):
    special("lpmv", _ferrers, INTERVAL, of=[_m, _v], singular=[1.0, -1.0], closes=False, tolerance=2e-14,
            label=f"special_lpmv_{_m}_{_v}")  # fmt: skip

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
    lambda x: sc.voigt_profile(x, 0.8, 0.6),
    lambda x: _voigt(x, mp.mpf(0.8), mp.mpf(0.6)),
    between(-4.0, 4.0),
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

# ---- Bessel ----------------------------------------------------------------------------------------------

parts("hankel1", mp.hankel1, between(0.5, 8.0), of=(1.5,), tolerance=4e-14)
parts("hankel2", mp.hankel2, between(0.5, 8.0), of=(1.5,), tolerance=4e-14)
parts("hankel1e", lambda v, z: mp.hankel1(v, z) * mp.exp(-1j * z), between(0.5, 4.0), of=(1.5,), tolerance=1e-12)
parts("hankel2e", lambda v, z: mp.hankel2(v, z) * mp.exp(1j * z), between(0.5, 4.0), of=(1.5,), tolerance=1e-12)
special("jve", mp.besselj, RIGHT, of=[2.5], tolerance=4e-14, closes=False)
special("yve", lambda v, x: -mp.besselj(-v, x), RIGHT, of=[0.5], tolerance=4e-14, closes=False)

# ---- hypergeometric, gamma, zeta ------------------------------------------------------------------------------------

special(
    "gammainc",
    lambda a, x: mp.gammainc(a, 0, x, regularized=True),
    positive(0.3, 8.0),
    positive(0.1, 10.0),
    label="special_gammainc_by_shape",
    tolerance=1e-12,
    closes=False,
)
special(
    "gammaincc",
    lambda a, x: mp.gammainc(a, x, regularized=True),
    positive(0.3, 8.0),
    positive(1.5, 10.0),
    label="special_gammaincc_by_shape",
    tolerance=1e-12,
    closes=False,
)
elementwise(
    "special_zeta_by_order",
    lambda s: sc.zeta(s, 2.0),
    lambda s: mp.zeta(s) - 1,
    between(1.5, 8.0),
    uses=["scipy.special.zeta"],
    room="special",
    tolerance=1e-13,
    singular=[1.0],
    closes=False,
)
for _k, _at in enumerate((between(-9.0, -0.3), between(-0.2, 0.8), between(1.2, 20.0))):
    special("zetac", lambda x: mp.zeta(x) - 1, _at, singular=[1.0], tolerance=4e-14, closes=False,
            label=f"special_zetac_{_k}")  # fmt: skip
    elementwise(f"special_zeta_alone_{_k}", sc.zeta, mp.zeta, _at, uses=["scipy.special.zeta(x)"], room="special",
                singular=[1.0], tolerance=4e-14, closes=False)  # fmt: skip
special("hyp0f1", mp.hyp0f1, between(-10.0, 10.0), of=[1.5], tolerance=1e-13)
special("hyperu", lambda a, b, x: mp.exp(x) * mp.e1(x), between(0.3, 3.0), of=[1.0, 1.0], tolerance=1e-11)


def by_parameters(name: str, f: Function, oracle: Function, *at: Sampler, label: str = "", **further: Any) -> None:
    """A row for a hypergeometric function by its parameters."""
    elementwise(
        f"special_{name}_by_parameters{label}", f, oracle, *at, uses=[f"scipy.special.{name}"], room="special",
        closes=False, **further,
    )  # fmt: skip


PARAMETER, EIGHT, INNER = positive(0.4, 5.0), between(-8.0, 8.0), between(-0.7, 0.7)
by_parameters("hyp0f1", sc.hyp0f1, mp.hyp0f1, PARAMETER, EIGHT, tolerance=1e-13)
by_parameters("hyp1f1", lambda a, b: sc.hyp1f1(a, b, -3.5), lambda a, b: mp.hyp1f1(a, b, -3.5), PARAMETER, PARAMETER)
by_parameters("hyp1f1", lambda a, x: sc.hyp1f1(a, 2.5, x), lambda a, x: mp.hyp1f1(a, 2.5, x), PARAMETER, EIGHT,
              label="_a", tolerance=1e-13)  # fmt: skip
by_parameters("hyp1f1", lambda b, x: sc.hyp1f1(1.5, b, x), lambda b, x: mp.hyp1f1(1.5, b, x), PARAMETER, EIGHT,
              label="_b", tolerance=1e-13)  # fmt: skip
by_parameters("hyp2f1", lambda a, c: sc.hyp2f1(a, 1.5, c, -0.75), lambda a, c: mp.hyp2f1(a, 1.5, c, -0.75),
              PARAMETER, PARAMETER, tolerance=1e-13)  # fmt: skip
by_parameters("hyp2f1", lambda a, b: sc.hyp2f1(a, b, 2.5, 0.625), lambda a, b: mp.hyp2f1(a, b, 2.5, 0.625),
              PARAMETER, PARAMETER, label="_ab", tolerance=1e-13)  # fmt: skip
by_parameters("hyp2f1", lambda b, x: sc.hyp2f1(1.5, b, 2.5, x), lambda b, x: mp.hyp2f1(1.5, b, 2.5, x),
              PARAMETER, INNER, label="_b", tolerance=1e-13)  # fmt: skip
by_parameters("hyp2f1", lambda c, x: sc.hyp2f1(1.5, 0.5, c, x), lambda c, x: mp.hyp2f1(1.5, 0.5, c, x),
              PARAMETER, INNER, label="_c", tolerance=1e-13)  # fmt: skip
by_parameters("hyperu", lambda a, b: sc.hyperu(a, b, 1.5), lambda a, b: mp.hyperu(a, b, 1.5), PARAMETER, PARAMETER,
              tolerance=1e-11)  # fmt: skip
# Orthogonal polynomials, and associated Legendre functions by their degree
by_parameters("eval_jacobi", lambda a, x: sc.eval_jacobi(4, a, 1.5, x), lambda a, x: mp.jacobi(4, a, 1.5, x),
              PARAMETER, INNER, tolerance=1e-13)  # fmt: skip
by_parameters("eval_sh_jacobi", lambda p, q: sc.eval_sh_jacobi(4, p, q, 0.375),
              lambda p, q: mp.jacobi(4, p - q, q - 1, -0.25) / mp.binomial(p + 7, 4), between(4.0, 6.0),
              between(0.5, 3.0), tolerance=1e-13)  # fmt: skip
by_parameters("eval_gegenbauer", lambda a, x: sc.eval_gegenbauer(5, a, x), lambda a, x: mp.gegenbauer(5, a, x),
              PARAMETER, INNER, tolerance=1e-13)  # fmt: skip
by_parameters("eval_genlaguerre", lambda a, x: sc.eval_genlaguerre(5, a, x), lambda a, x: mp.laguerre(5, a, x),
              PARAMETER, positive(0.1, 10.0), tolerance=1e-13)  # fmt: skip


def by_degree(m: int, degree: Sampler) -> None:
    by_parameters("lpmv", lambda v, x: sc.lpmv(m, v, x), functools.partial(_ferrers, m), degree, INTERVAL,
                  singular=[1.0, -1.0], label=f"_{m}", tolerance=4e-14)  # fmt: skip


by_degree(1, between(-4.0, -0.6))
by_degree(-1, between(0.2, 8.0))


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
