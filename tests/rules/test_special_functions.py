"""SciPy's functions beyond their rows in the table of cases: singular points, refusals, and series to order 50.

A series is judged against its coefficient, and what that changes by with a relative change of x: an error of one means
that not one digit is left.
"""

from __future__ import annotations

import functools
import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special as sc
from mpmath import mp
from reference import taylor
from rules.cases import second_kind
from rules.modes import pointwise, words
from rules.special_cases import _ferrers

import hoad
from hoad._core.graph.primitive import Primitive, primitive_named
from hoad.rules.special import gamma

ORDER = 50
CYLINDER_DIGITS = 250


def _kernel(name: str) -> Callable[..., list[Any]]:
    """The kernel of a primitive for its series."""
    primitive = primitive_named(name)
    assert isinstance(primitive, Primitive)
    assert primitive.kernel is not None
    return primitive.kernel


INF, NAN = math.inf, math.nan

# ---- singular points ------------------------------------------------------------------------------------------------

ZEROS = [0.0, 0.0, 0.0]
ROOT_PI = math.sqrt(math.pi)


def _half(n: int) -> float:
    """√(π/2) (1/2)ₙ / n!"""
    return math.sqrt(math.pi / 2) * math.comb(2 * n, n) / 4**n


# function, place, its derivatives there
POINTS: list[tuple[str, Callable[[Any], Any], float, list[float]]] = [
    ("erf", sc.erf, 0.0, [2 / ROOT_PI, 0.0, -4 / ROOT_PI]),
    ("erf", sc.erf, 1e200, ZEROS),
    ("erf", sc.erf, INF, [0.0]),
    ("erfcx", sc.erfcx, 0.0, [-2 / ROOT_PI, 2.0, -8 / ROOT_PI]),
    ("erfcx", sc.erfcx, 1e100, [-1e-200 / ROOT_PI, 2e-300 / ROOT_PI, 0.0]),
    ("dawsn", sc.dawsn, 0.0, [1.0, 0.0, -4.0]),
    ("dawsn", sc.dawsn, 1e60, [-0.5e-120, 1e-180, -3e-240]),
    ("dawsn", sc.dawsn, -1e60, [-0.5e-120, -1e-180, -3e-240]),
    ("erfinv", sc.erfinv, 0.0, [ROOT_PI / 2, 0.0, ROOT_PI**3 / 4]),
    ("erfinv", sc.erfinv, 1.0, [INF, INF]),
    ("ndtri", sc.ndtri, 0.0, [INF, -INF]),
    ("log_ndtr", sc.log_ndtr, -1e8, [1e8, -1.0, 2e-24]),
    ("log_ndtr", sc.log_ndtr, 40.0, ZEROS),
    ("gamma", sc.gamma, 0.0, [-INF, INF]),
    ("gamma", sc.gamma, 1.0, [-np.euler_gamma, np.euler_gamma**2 + math.pi**2 / 6]),
    ("gamma", sc.gamma, -1.0, [NAN]),
    ("gammaln", sc.gammaln, 0.0, [-INF, INF]),
    ("gammaln", sc.gammaln, INF, [INF, 0.0, 0.0]),
    ("psi", sc.psi, 0.0, [INF]),
    ("psi", sc.psi, 1e300, [1e-300, 0.0]),
    *[("rgamma", sc.rgamma, -float(n), [(-1) ** n * math.factorial(n)]) for n in (0, 1, 2, 5, 20)],
    ("rgamma", sc.rgamma, 0.0, [1.0, 2 * np.euler_gamma]),
    ("xlogy", lambda y: sc.xlogy(0.0, y), 0.0, ZEROS),
    ("xlogy", lambda x: sc.xlogy(x, 0.0), 0.0, [-INF, 0.0]),
    ("xlog1py", lambda y: sc.xlog1py(0.0, y), -1.0, ZEROS),
    ("entr", sc.entr, 0.0, [INF, -INF]),
    ("rel_entr", lambda y: sc.rel_entr(0.0, y), 0.0, ZEROS),
    ("exprel", sc.exprel, 0.0, [1 / 2, 1 / 3, 1 / 4]),
    ("exprel", sc.exprel, 1e-300, [1 / 2, 1 / 3, 1 / 4]),
    *[("ellipk", sc.ellipk, m, [_half(n) ** 2 * math.factorial(n) for n in range(1, 5)]) for m in (0.0, -0.0)],
    *[
        ("ellipe", sc.ellipe, m, [_half(n) ** 2 * math.factorial(n) / (1 - 2 * n) for n in range(1, 5)])
        for m in (0.0, -0.0)
    ],
    ("ellipk", sc.ellipk, 1e-300, [math.pi / 8, 9 * math.pi / 64]),
    ("ellipk", sc.ellipk, 1.0, [INF]),
    ("ellipe", sc.ellipe, 1.0, [-INF]),
    ("ellipk", sc.ellipk, 1.5, [NAN, NAN]),
    ("ellipe", sc.ellipe, 1.5, [NAN, NAN]),
    ("logit", sc.logit, 0.0, [INF, -INF]),
    ("expit", sc.expit, 1000.0, ZEROS),
    ("log_expit", sc.log_expit, 1000.0, ZEROS),
    ("log_expit", sc.log_expit, -1000.0, [1.0, 0.0, 0.0]),
    ("boxcox at 0", lambda y: sc.boxcox(math.e, y), 0.0, [1 / 2, 1 / 3, 1 / 4]),
    ("inv_boxcox at 0", lambda y: sc.inv_boxcox(1.0, y), 0.0, [-math.e / 2]),
    ("huber", lambda x: sc.huber(1.0, x), 0.0, [0.0, 1.0, 0.0]),
    ("pseudo_huber", lambda x: sc.pseudo_huber(2.0, x), 0.0, [0.0, 1.0, 0.0]),
    ("gammainc", lambda x: sc.gammainc(1.0, x), 0.0, [1.0, -1.0, 1.0]),
    ("gammainc", lambda x: sc.gammainc(2.0, x), 0.0, [0.0, 1.0, -2.0]),
    ("gammainc", lambda x: sc.gammainc(0.5, x), 0.0, [INF, -INF]),
    ("gammainc", lambda x: sc.gammainc(40.0, x), 0.0, [0.0]),
    ("betainc", lambda x: sc.betainc(2.0, 3.0, x), 0.0, [0.0, 12.0, -48.0]),
    ("j0", sc.j0, 0.0, [0.0, -1 / 2, 0.0]),
    ("j0", sc.j0, -0.0, [0.0, -1 / 2, 0.0]),
    ("j1", sc.j1, 0.0, [1 / 2, 0.0, -3 / 8]),
    ("j1", sc.j1, 1e-300, [1 / 2, -3 / 8 * 1e-300, -3 / 8]),
    ("jv", lambda x: sc.jv(3, x), 0.0, [0.0, 0.0, 1 / 8]),
    ("i0", sc.i0, 0.0, [0.0, 1 / 2, 0.0]),
    ("i1", sc.i1, 0.0, [1 / 2, 0.0, 3 / 8]),
    ("i0e", sc.i0e, 1e100, [-0.5e-150 / math.sqrt(2 * math.pi), 0.75e-250 / math.sqrt(2 * math.pi)]),
    ("k0", sc.k0, 0.0, [-INF]),
    ("k0e", sc.k0e, 1e100, [-0.5e-150 * math.sqrt(math.pi / 2), 0.75e-250 * math.sqrt(math.pi / 2)]),
    ("y0", sc.y0, 0.0, [INF]),
    *[("struve 0", lambda x: sc.struve(0, x), x, [2 / math.pi, 0.0, -4 / (3 * math.pi), 0.0]) for x in (0.0, -0.0)],
    ("struve 1", lambda x: sc.struve(1, x), 0.0, [0.0, 4 / (3 * math.pi), 0.0, -16 / (15 * math.pi)]),
    ("struve -1", lambda x: sc.struve(-1, x), 0.0, [0.0, -4 / (3 * math.pi), 0.0]),
    ("struve 0.5", lambda x: sc.struve(0.5, x), 0.0, [0.0, INF]),
    ("modstruve 0", lambda x: sc.modstruve(0, x), 1e-300, [2 / math.pi, 4e-300 / (3 * math.pi), 4 / (3 * math.pi)]),
    ("itstruve0", sc.itstruve0, 0.0, [0.0, 2 / math.pi, 0.0, -4 / (3 * math.pi)]),
    ("itmodstruve0", sc.itmodstruve0, 0.0, [0.0, 2 / math.pi, 0.0, 4 / (3 * math.pi)]),
    ("it2struve0", sc.it2struve0, 0.0, [-2 / math.pi, 0.0, 4 / (9 * math.pi), 0.0]),
    ("it2struve0", sc.it2struve0, 1e-200, [-2 / math.pi, 4e-200 / (9 * math.pi), 4 / (9 * math.pi)]),
    ("lpmv 0 3", lambda x: sc.lpmv(0, 3, x), 1.0, [6.0, 15.0, 15.0]),
    ("lpmv 0 3", lambda x: sc.lpmv(0, 3, x), -1.0, [6.0, -15.0, 15.0]),
    ("lpmv 2 5", lambda x: sc.lpmv(2, 5, x), 1.0, [-210.0, -1890.0, -8190.0]),
    ("lpmv 1 2", lambda x: sc.lpmv(1, 2, x), 1.0, [INF]),
    ("lpmv 0 2.5", lambda x: sc.lpmv(0, 2.5, x), 1.0, [4.375, 7.3828125, 3.3837890625]),
    ("lpmv 3 2", lambda x: sc.lpmv(3, 2, x), 0.25, [0.0, 0.0, 0.0]),
    ("lpmv 0.5 2", lambda x: sc.lpmv(0.5, 2, x), 0.25, [NAN]),
    ("lpmv 1 2", lambda x: sc.lpmv(2, 2, x), 1.5, [NAN]),
    ("besselpoly 1 0", lambda a: sc.besselpoly(a, 1.0, 0.0), 0.0, [0.0, -1 / 2, 0.0, 1.0]),
    ("zetac", sc.zetac, 0.0, [-0.5 * math.log(2 * math.pi)]),
    ("zetac", sc.zetac, -2.0, [-float(mp.zeta(3)) / (4 * math.pi**2)]),
    ("zetac", sc.zetac, 1.0, [-INF]),
    ("cosm1", sc.cosm1, 1e-200, [-1e-200, -1.0, 1e-200]),
    *[(name, getattr(sc, name), NAN, [NAN, NAN]) for name in ("erf", "erfcx", "dawsn", "gammaln", "psi", "j0", "k0e")],
]


@pytest.mark.parametrize(("name", "f", "x", "derivatives"), POINTS, ids=[f"{p[0]}-{p[2]}" for p in POINTS])
def test_singular_points(name: str, f: Callable[[Any], Any], x: float, derivatives: list[float]) -> None:
    def differentiated(word: str) -> Any:
        df = f
        for letter in word:
            df = hoad.grad(df) if letter == "r" else lambda y, g=df: hoad.jvp(g, (y,), (1.0,))[1]
        return df(x)

    for order, want in enumerate(derivatives, start=1):
        for word in words(order):
            np.testing.assert_allclose(differentiated(word), want, rtol=4e-14, atol=0.0, err_msg=f"{name} by {word}")


def test_a_power_of_one_half_of_each_kind() -> None:
    """J, Y, I and K of order 1/2 are elementary."""
    x = np.array([0.25, 1.0, 3.0])
    scale = np.sqrt(2 / np.pi)
    for f, like in (
        (lambda x: sc.jv(0.5, x), lambda x: scale / x**0.5 * np.sin(x)),
        (lambda x: sc.yv(0.5, x), lambda x: -scale / x**0.5 * np.cos(x)),
        (lambda x: sc.iv(0.5, x), lambda x: scale / x**0.5 * np.sinh(x)),
        (lambda x: sc.kv(0.5, x), lambda x: np.exp(-x) / (scale * x**0.5)),
        (lambda x: sc.kve(0.5, x), lambda x: 1 / (scale * x**0.5)),
        (lambda x: sc.ive(0.5, x), lambda x: 0.5 * scale / x**0.5 * -np.expm1(-2 * x)),
    ):
        for order in range(5):
            found, want = hoad.derivative(f, order)(x), hoad.derivative(like, order)(x)
            np.testing.assert_allclose(found, want, rtol=1e-12)


def test_differences_of_digamma_do_not_cancel() -> None:
    """∂ log B(a, b)/∂a, and what it is made of."""
    for a in (0.1, 1.0, 30.0, 1e6):
        for b in (1e-12, 1e-6, 1e-3, 0.1, 0.9):
            b *= a
            with mp.workdps(60):
                want = float(mp.digamma(mp.mpf(a) + mp.mpf(b)) - mp.digamma(mp.mpf(a)))
            assert gamma.psi_difference(a, b) == pytest.approx(want, rel=4e-15)
            assert hoad.grad(sc.betaln)(a, b) == pytest.approx(-want, rel=4e-15)


AIRY = [lambda x, f=f, s=s: f(s * x) for s in (1, -1) for f in (mp.airyai, mp.airybi)]


@pytest.mark.parametrize("k", range(4))
@pytest.mark.parametrize("x", [-6.0, 0.0, 1e-9, 2.5])
def test_integrals_of_airy_functions(k: int, x: float) -> None:
    """The derivatives have all digits, though SciPy's values have 7."""
    with mp.workdps(60):
        want = [float(c) * math.factorial(n) for n, c in enumerate(mp.taylor(AIRY[k], x, 4))]
    for order in range(1, 5):
        scale = abs(want[order - 1]) + abs(x * want[order])
        for word in words(order):
            found = pointwise(lambda x: sc.itairy(x)[k], word, [0] * order)(x)
            assert found == pytest.approx(want[order - 1], rel=1e-14, abs=4e-15 * scale), word
        assert hoad.derivative(lambda x: sc.itairy(x)[k], order)(x) == pytest.approx(
            want[order - 1], rel=1e-14, abs=4e-15 * scale
        )


@pytest.mark.parametrize(("m", "v"), [(0, 2.5), (2, 30.0), (-1, 6.0), (4, 60.5)])
def test_associated_legendre_functions_near_the_ends(m: int, v: float) -> None:
    """No digit is lost next to 1 and -1, nor of orders where SciPy's Gegenbauer polynomials have none."""
    for x in (-0.3, 1.0 - 2.0**-30, -1.0 + 2.0**-30):
        with mp.workdps(40):
            h = mp.mpf(x)
            want = [
                c * mp.factorial(k) for k, c in enumerate(mp.taylor(functools.partial(_ferrers, m, mp.mpf(v)), h, 5))
            ]
            far = 1 - abs(h)
        for order in range(1, 5):
            scale = float(abs(want[order]) + far * abs(want[order + 1]))
            for word in words(order):
                found = pointwise(lambda x: sc.lpmv(m, v, x), word, [0] * order)(x)
                assert abs(found - float(want[order])) <= 1e-14 * scale, (x, word)


# ---- what is refused ------------------------------------------------------------------------------------------------

ORDERS = {"yn": 1, "kn": 1, "wright_bessel": 2, "lpmv": 1}


@pytest.mark.parametrize(("name", "count"), ORDERS.items())
def test_derivatives_by_an_order_are_refused(name: str, count: int) -> None:
    function = getattr(sc, name)
    orders = [2.0, 3.0, 4.0][: function.nin - 1]
    for k in range(count):

        def f(v: Any, k: int = k) -> Any:
            return function(*orders[:k], v, *orders[k + 1 :], 0.25)

        for derivative in (hoad.grad, hoad.hessian, lambda g: lambda v: hoad.jvp(g, (v,), (1.0,))):
            with pytest.raises(
                hoad.NoRuleError, match=rf"^scipy\.special\.{name} has no derivative with respect to .*\(test_special_f"
            ):
                derivative(f)(orders[k])
        assert np.isfinite(hoad.grad(lambda x: function(*orders, x))(0.25))


def test_python_functions_of_scipy_say_what_to_write() -> None:
    x = np.array([0.5, 1.0])
    for f in (sc.logsumexp, sc.softmax, sc.log_softmax, lambda x: sc.polygamma(1, x)):
        with pytest.raises(
            hoad.TracedValueError,
            match=r"^Use hoad\.scipy\.special\.(\w+) \(test_special_functions.*: scipy\.special\.\1 ",
        ):
            hoad.jacobian(f)(x)
    if hasattr(sc, "softplus"):  # which newer SciPys have
        assert hoad.grad(sc.softplus)(0.5) == pytest.approx(sc.expit(0.5), rel=1e-15)


# ---- the table and its library --------------------------------------------------------------------------------------


def test_the_table_waits_for_scipy(tmp_path: Path) -> None:
    code = (
        "import sys, hoad, numpy as np; hoad.grad\n"
        "assert 'scipy' not in sys.modules\n"
        "import scipy.special as sc\n"
        "assert 'hoad.rules.special' not in sys.modules\n"
        "f = hoad.jit(hoad.grad(lambda x: np.sum(sc.erf(x))))\n"
        "x = np.array([0.0, 1.0])\n"
        "np.testing.assert_allclose(f(x), 2 / np.sqrt(np.pi) * np.exp(-x * x))\n"
        "np.testing.assert_array_equal(f(x), f(x))\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, check=True)


def test_a_program_that_travels_brings_the_table(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        return sc.erfcx(x) * sc.k0e(x) * sc.zeta(3.0, x) * sc.ber(x) * np.real(sc.hankel1(1.5, x + 0.3j))

    program = hoad.gradient(hoad.record(f, 1.0))
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).evaluate(1.25))"
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=tmp_path, input=pickle.dumps(program), capture_output=True, check=True)
    assert float(done.stdout) == program.evaluate(1.25)


def test_mixed_derivatives_of_zeta() -> None:
    with mp.workdps(30):
        want = mp.diff(lambda s, q: mp.zeta(s, q), (2.5, 0.7), (1, 1))
    assert hoad.grad(lambda q: hoad.grad(sc.zeta)(2.5, q))(0.7) == pytest.approx(float(want), rel=1e-13)
    assert hoad.grad(lambda s: hoad.grad(sc.zeta, argnums=1)(s, 0.7))(2.5) == pytest.approx(float(want), rel=1e-13)
    assert np.isnan(hoad.grad(sc.zeta)(2.5, -0.7))


def test_many_points_at_once() -> None:
    x = np.linspace(0.1, 8.0, 700).reshape(2, 350)
    for f in (sc.erfcx, sc.dawsn, sc.log_ndtr, sc.k1e, lambda x: sc.kve(2.5, x), sc.gammaln):
        slope = hoad.derivative(f, 2)
        np.testing.assert_array_equal(slope(x)[1], slope(x[1]))
        np.testing.assert_allclose(hoad.vmap(slope)(x), slope(x), rtol=1e-15)
        assert hoad.grad(f)(np.float32(1.5)).dtype == np.float32


def test_complex_error_functions() -> None:
    z = np.array([0.5 + 0.25j, -1.0 + 0.5j])
    for f, slope in (
        (sc.erf, lambda z: 2 / ROOT_PI * np.exp(-z * z)),
        (sc.erfcx, lambda z: 2 * z * sc.erfcx(z) - 2 / ROOT_PI),
        (sc.dawsn, lambda z: 1 - 2 * z * sc.dawsn(z)),
        (sc.log_ndtr, lambda z: np.exp(-z * z / 2) / math.sqrt(2 * math.pi) / sc.ndtr(z)),
        (lambda z: sc.jv(0, z), lambda z: -sc.jv(1, z)),
        (sc.rgamma, lambda z: -sc.rgamma(z) * sc.psi(z)),
    ):
        found = np.diagonal(hoad.jacobian(f, holomorphic=True)(z))
        np.testing.assert_allclose(found, slope(z), rtol=1e-13)


# ---- series ---------------------------------------------------------------------------------------------------------


def errors(got: Any, want: list[Any], x: float) -> np.ndarray:
    """Of coefficients 0 to ORDER, where `want` has one more: in units of what a relative change of x changes."""
    scale = [abs(want[k]) + (k + 1) * abs(mp.mpf(x) * want[k + 1]) for k in range(ORDER + 1)]
    return np.array([float(abs(mp.mpf(float(g)) - w) / (s or 1)) for g, w, s in zip(got, want, scale, strict=False)])


@functools.cache
def _hurwitz(s: int, x: Any) -> Any:
    """Σ (x + k)⁻ˢ to 60 digits, to the right of 0 by the polygamma function; several series ask for the same ones."""
    steps = max(0, int(mp.ceil(-x)) + 1)
    right = (-1) ** s * mp.psi(s - 1, x + steps) / mp.factorial(s - 1)
    return right + sum((x + j) ** -s for j in range(steps))


def _psi_series(x: Any) -> list[Any]:
    return [mp.digamma(x)] + [(-1) ** (k + 1) * _hurwitz(k + 1, x) for k in range(1, ORDER + 2)]


def _gammaln_series(x: Any) -> list[Any]:
    return [mp.log(abs(mp.gamma(x)))] + [c / (k + 1) for k, c in enumerate(_psi_series(x)[:-1])]


def _zeta_series(s: int) -> Callable[[Any], list[Any]]:
    return lambda x: [(-1) ** k * mp.binomial(s + k - 1, k) * _hurwitz(s + k, x) for k in range(ORDER + 2)]


def _derivatives_on_a_circle(f: Callable[[Any], Any], z: complex, order: int) -> list[Any]:
    """By Cauchy's integral over a circle far from the negative real axis, to 30 digits and more."""
    n = 64  # the trapezoidal rule errs by 4⁻ⁿ
    with mp.workdps(100):
        radius = mp.mpf(min(abs(z.imag) if z.real < 0 else abs(z), 2.0)) / 4
        roots = [mp.expjpi(mp.mpf(2 * j) / n) for j in range(n)]
        values = [f(mp.mpc(z) + radius * root) for root in roots]
        sums = [mp.fsum(v * roots[-j * k % n] for j, v in enumerate(values)) for k in range(order + 1)]
        return [mp.factorial(k) * total / (n * radius**k) for k, total in enumerate(sums)]


COMPLEX_KIN = {"gamma": mp.gamma, "loggamma": mp.loggamma, "psi": mp.digamma, "rgamma": mp.rgamma}


@pytest.mark.parametrize("z", [1.3 + 0.4j, -2.3 + 0.7j, -30.2 + 0.001j, 0.1 - 5j, -3 + 40j, 20 + 1j, -3 + 1e-8j])
@pytest.mark.parametrize("name", COMPLEX_KIN)
def test_the_gamma_function_and_its_kin_of_complex_numbers(name: str, z: complex) -> None:
    f, order = getattr(sc, name), 8
    exact = [complex(d) for d in _derivatives_on_a_circle(COMPLEX_KIN[name], z, order)]
    tolerance = 1e-13  # SciPy's gamma is right to 2e-14 at -30
    np.testing.assert_allclose(hoad.derivatives(f, order)(z), exact, rtol=tolerance)
    for n in (1, 2, 3, 5):
        assert abs(hoad.derivative(f, n, holomorphic=True)(z) / exact[n] - 1) < tolerance
    curvature = hoad.grad(hoad.grad(f, holomorphic=True), holomorphic=True)(z)
    assert abs(curvature / exact[2] - 1) < tolerance


def test_one_over_gamma_of_complex_numbers_at_its_zeros() -> None:
    for n in (0, 1, 4):
        with mp.workdps(40):
            exact = [float(c * mp.factorial(k)) for k, c in enumerate(mp.taylor(mp.rgamma, -n, 6))]
        np.testing.assert_allclose(hoad.derivatives(sc.rgamma, 6)(complex(-n)), exact, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("f", "exact"),
    [
        (gamma.gammaln_expansion, _gammaln_series),
        (gamma.psi_expansion, _psi_series),
        (lambda q: gamma.zeta_expansion(2, q), _zeta_series(2)),
        (lambda q: gamma.zeta_expansion(3.0, q), _zeta_series(3)),
        (lambda q: gamma.zeta_expansion(6, q), _zeta_series(6)),
    ],
    ids=["gammaln", "psi", "zeta_2", "zeta_3", "zeta_6"],
)
def test_expansions_about_the_gamma_function(f: Callable[..., Any], exact: Callable[[Any], list[Any]]) -> None:
    places = [0.1, 0.49, 0.5, 1.5, 2.0, 8.0, 13.0, 30.0, 100.0, -0.1, -0.5, -2.5, -30.5]
    got = taylor(f, [np.array([places, np.ones(len(places))])], ORDER)
    for j, x in enumerate(places):
        with mp.workdps(60):
            want = exact(mp.mpf(x))
            assert errors(got[:, j], want, x).max() <= 1e-14 * (8 if x < 3 and f is gamma.gammaln_expansion else 1)
            if x > 0:  # all digits of every coefficient from the first that has no zero
                relative = [abs(mp.mpf(float(got[k, j])) / want[k] - 1) for k in range(2, ORDER + 1)]
                assert max(relative) <= 1e-14


@pytest.mark.parametrize("s", [1.001, 1.5, 2.5, math.pi, 20.25, 60.5])
@pytest.mark.parametrize("q", [0.01, 0.7, 1.3, 8.0, 100.0])
def test_zeta_of_an_order_that_is_not_whole(s: float, q: float) -> None:
    with mp.workdps(60 + int(s * math.log10(q + 1))):  # mpmath's is right to so many decimals, not digits
        wanted = [mp.binomial(-mp.mpf(s), k) * mp.zeta(mp.mpf(s) + k, mp.mpf(q)) for k in range(9)]
    exact = np.array([float(c * math.factorial(k)) for k, c in enumerate(wanted)])
    found = hoad.derivatives(lambda x: sc.zeta(s, x), 8)(q)
    np.testing.assert_allclose(found, exact, rtol=2e-14)
    assert hoad.derivative(lambda x: sc.zeta(s, x), 5)(q) == pytest.approx(exact[5], rel=2e-14)
    tensor = hoad.derivative_tensor(lambda x: sc.zeta(s, x[0]), 4)(np.array([q]))
    assert tensor[0, 0, 0, 0] == pytest.approx(exact[4], rel=2e-14)
    assert hoad.laplacian(lambda x: np.sum(sc.zeta(s, x)))(np.array([q])) == pytest.approx(exact[2], rel=2e-14)
    series = np.asarray(sc.zeta(s, hoad.TaylorSeries.variable(8, q)))
    np.testing.assert_allclose(series, [float(c) for c in wanted], rtol=2e-14)


@pytest.mark.parametrize(("s", "q"), [(2.5, -1.3), (0.5, 1.3)])
def test_zeta_where_scipy_has_no_value(s: float, q: float) -> None:
    """Derivatives are those of SciPy's own values, (-1)ᵏ (s)ₖ ζ(s + k, q), of which some are nan."""
    assert np.isnan(sc.zeta(s, q))
    exact = [(-1) ** k * sc.poch(s, k) * sc.zeta(s + k, q) for k in range(4)]
    np.testing.assert_allclose(hoad.derivatives(lambda x: sc.zeta(s, x), 3)(q), exact, rtol=2e-14)


def test_the_expansion_inside_of_another_function() -> None:
    """log Γ(eᵗ): a sum over the derivatives of log Γ, whose terms cancel, would lose every digit by order 30."""
    order = 40
    got = taylor(lambda t: gamma.gammaln_expansion(np.exp(t)), [[0.0, 1.0]], order)
    with mp.workdps(80):
        outer = _gammaln_series(mp.one)
        inner = [mp.zero] + [1 / mp.factorial(k) for k in range(1, order + 1)]
        want, power = [outer[0]] + [mp.zero] * order, [mp.one] + [mp.zero] * order
        for c in outer[1 : order + 1]:
            power = [sum(power[j] * inner[k - j] for j in range(k + 1)) for k in range(order + 1)]
            want = [w + c * p for w, p in zip(want, power, strict=True)]
    rho = max(abs(float(w)) ** (1 / k) for k, w in enumerate(want[10:], start=10))
    for k in range(1, order + 1):
        assert abs(got[k] - float(want[k])) <= 1e-14 * max(rho, 1 / math.pi) ** k * 40


def _combined(at: dict[int, Any], before: int, after: int) -> list[Any]:
    """Coefficients of a cylinder function from those of other orders, as f′ is (before f₋₁ + after f₊₁) / 2."""
    return [
        sum(math.comb(k, j) * before ** (k - j) * after**j * at[2 * j - k] for j in range(k + 1))
        / (mp.mpf(2) ** k * mp.factorial(k))
        for k in range(ORDER + 2)
    ]


@functools.cache
def _cylinder(kind: str, v: Any, x: Any) -> Any:
    """Jᵥ, Iᵥ, Yᵥ or Kᵥ; functions of several orders ask for the same ones."""
    with mp.workdps(CYLINDER_DIGITS):
        if kind in "yk" and v == int(v):
            return second_kind(v, x, -1 if kind == "y" else 1)
        return {"j": mp.besselj, "i": mp.besseli, "y": mp.bessely, "k": mp.besselk}[kind](v, x)


def _cylinder_series(kind: str, v: float, x: float) -> list[Any]:
    """From f of the orders about v: J and I by their power series, Y and K by recurrence from two of them."""
    v, x = mp.mpf(v), mp.mpf(x)
    span = range(-ORDER - 1, ORDER + 2)
    if kind in "ji":
        return _combined({j: _cylinder(kind, v + j, x) for j in span}, 1, -1 if kind == "j" else 1)
    sign = -1 if kind == "y" else 1
    at = {n: _cylinder(kind, n, x) for n in map(mp.mpf, (0, 1) if v == int(v) else (-0.5, 0.5))}
    first, last = max(at), min(at)
    while first <= v + ORDER + 1:  # f₊₁ = ± f₋₁ + 2v/x f, with + for K
        at[first + 1] = sign * at[first - 1] + 2 * first / x * at[first]
        first += 1
    while last >= v - ORDER - 1:
        at[last - 1] = sign * (at[last + 1] - 2 * last / x * at[last])
        last -= 1
    return _combined({j: at[v + j] for j in span}, -sign, -1)


def times_exponential(series: list[Any], rate: Any, x: Any) -> list[Any]:
    """Of φ(x) exp(rate x)."""
    other = [mp.exp(rate * x) * mp.mpf(rate) ** k / mp.factorial(k) for k in range(ORDER + 2)]
    return [sum(series[j] * other[k - j] for j in range(k + 1)) for k in range(ORDER + 2)]


CYLINDERS = [("j0", "j", 0), ("j1", "j", 1), ("y0", "y", 0), ("y1", "y", 1), ("i0", "i", 0), ("i1", "i", 1)]
CYLINDERS += [("k0", "k", 0), ("k1", "k", 1), ("i0e", "i", 0), ("i1e", "i", 1), ("k0e", "k", 0), ("k1e", "k", 1)]
WITH_ORDER = [("jv", "j", 2.5), ("yv", "y", 2.5), ("iv", "i", 2.5), ("kv", "k", 2.5), ("kve", "k", 2.5), ("yn", "y", 3)]


@pytest.mark.parametrize(("name", "kind", "v"), CYLINDERS + WITH_ORDER)
def test_kernels_of_bessel_functions(name: str, kind: str, v: float) -> None:
    places = [1e-3, 0.1, 0.5, 1.0, 2.5, 8.0, 20.0, 100.0]
    orders = (v,) if (name, kind, v) in WITH_ORDER else ()
    got = np.array(_kernel(f"scipy.special.{name}")(*orders, np.array(places), ORDER))
    for j, x in enumerate(places):
        with mp.workdps(CYLINDER_DIGITS):
            want = _cylinder_series(kind, v, x)
            if name.endswith("e"):
                want = times_exponential(want, -1 if kind == "i" else 1, mp.mpf(x))
            assert errors(got[:, j], want, x).max() <= (2e-12 if name == "i1e" else 1e-14), (name, x)


@pytest.mark.filterwarnings("ignore:floating point number truncated")
@pytest.mark.parametrize(("f", "bessel"), [(sc.kn, mp.besselk), (sc.yn, mp.bessely)])
@pytest.mark.parametrize("n", [2.7, -0.7, 3])
def test_orders_that_scipy_cuts_off(f: Any, bessel: Any, n: float) -> None:
    x = 0.7
    want = [float(mp.diff(lambda t: bessel(int(n), t), x, k)) for k in range(5)]
    assert hoad.derivatives(lambda t: f(n, t), 4)(x) == pytest.approx(want, rel=1e-11)
    assert hoad.derivatives(lambda t: f(np.array([n, n]), t), 4)(x)[4] == pytest.approx(want[4], rel=1e-11)
    slope: Any = lambda t: f(n, t)  # noqa: E731
    for k in range(1, 5):
        slope = hoad.grad(slope)
        assert slope(x) == pytest.approx(want[k], rel=1e-11)
        assert hoad.jit(slope)(x) == pytest.approx(want[k], rel=1e-11)
    assert hoad.jvp(lambda t: f(n, t), (x,), (1.0,))[1] == pytest.approx(want[1], rel=1e-11)


def test_kernels_of_bessel_functions_at_zero() -> None:
    x = np.zeros(1)
    for name, sign in (("j", -1.0), ("i", 1.0)):
        for v in (0, 1):
            got = np.array(_kernel(f"scipy.special.{name}{v}")(x, ORDER))[:, 0]
            want = np.zeros(ORDER + 1)
            for m in range((ORDER - v) // 2 + 1):
                want[2 * m + v] = sign**m / (2.0 ** (2 * m + v) * math.factorial(m) * math.factorial(m + v))
            np.testing.assert_allclose(got, want, rtol=1e-14, atol=0.0)


def _erfcx_series(x: Any) -> list[Any]:
    c = [mp.exp(x * x) * mp.erfc(x)]
    c.append(2 * (x * c[0] - 1 / mp.sqrt(mp.pi)))
    for k in range(2, ORDER + 2):
        c.append(2 * (x * c[-1] + c[-2]) / k)
    return c


def _dawsn_series(x: Any) -> list[Any]:
    c = [mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)]
    c.append(1 - 2 * x * c[0])
    for k in range(2, ORDER + 2):
        c.append(-2 * (x * c[-1] + c[-2]) / k)
    return c


def _exprel_series(x: Any) -> list[Any]:
    return [mp.hyp1f1(k + 1, k + 2, x) / mp.factorial(k + 1) for k in range(ORDER + 2)]


@pytest.mark.parametrize(
    ("name", "exact", "places", "tolerance"),
    [
        ("erfcx", _erfcx_series, [-20.0, -3.0, -0.1, 0.0, 1e-8, 0.1, 1.0, 3.0, 8.0, 20.0, 40.0], 1e-14),
        ("dawsn", _dawsn_series, [0.0, 1e-8, 0.1, 0.99, -1.01, 2.0, 3.0, 5.0, -8.0, 10.0, 15.0, 40.0], 1e-14),
        ("exprel", _exprel_series, [-30.0, -1.0, 0.0, 1e-8, 1.0, 30.0], 1e-12),
    ],
)
def test_kernels_by_recurrence(
    name: str, exact: Callable[[Any], list[Any]], places: list[float], tolerance: float
) -> None:
    """The exact ones by a recurrence that loses digits, of which there are enough."""
    got = np.array(_kernel(f"scipy.special.{name}")(np.array(places), ORDER))
    for j, x in enumerate(places):
        with mp.workdps(400):
            assert errors(got[:, j], exact(mp.mpf(x)), x).max() <= tolerance, x


def test_series_of_log_ndtr() -> None:
    """By its expansion, when erfcx is given by its kernel."""
    order = 30
    for x in (-200.0, -8.0, -0.5):
        u = x / -math.sqrt(2.0)
        scaled = np.array(_kernel("scipy.special.erfcx")(np.array(u), order))
        got = taylor(lambda e, u: np.log(0.5 * e) - u * u, [scaled, [u, 1.0]], order)
        with mp.workdps(400):
            series = _erfcx_series(mp.mpf(u))
            log = [mp.log(series[0] / 2)]
            for k in range(1, order + 1):
                log.append((series[k] - sum(j * log[j] * series[k - j] for j in range(1, k)) / k) / series[0])
            want = [c - mp.mpf(u) ** 2 * (k == 0) - 2 * mp.mpf(u) * (k == 1) - (k == 2) for k, c in enumerate(log)]
            for k in range(order + 1):
                assert abs(got[k] - float(want[k])) <= 1e-11 * abs(float(want[k]))


@pytest.mark.parametrize(("x", "tolerance"), [(0.0, 1e-15), (0.5, 1e-14), (3.0, 1e-11)])
def test_series_of_erf_by_its_rule(x: float, tolerance: float) -> None:
    """It closes: by the series of exp(-x²), which loses digits where the Hermite polynomials oscillate."""
    got = taylor(sc.erf, [[x, 1.0]], ORDER)
    with mp.workdps(200):
        c = [mp.erf(x), 2 / mp.sqrt(mp.pi) * mp.exp(-(mp.mpf(x) ** 2))]
        c.append(-mp.mpf(x) * c[1])
        for k in range(3, ORDER + 2):
            c.append(-2 * ((k - 1) * mp.mpf(x) * c[-1] + (k - 2) * c[-2]) / (k * (k - 1)))
        assert errors(got, c, x).max() <= tolerance


@pytest.mark.parametrize(("name", "exact"), [("ellipk", mp.ellipk), ("ellipe", mp.ellipe)])
def test_series_of_elliptic_integrals(name: str, exact: Callable[[Any], Any]) -> None:
    """At m = 0 and near it, where the formula by K and E cancels; to order 20, and inside of another function."""
    order, f = 20, getattr(sc, name)
    for m in (0.0, 1e-12, -1e-12, 1e-6, 0.01, -0.01, 0.3, 0.9, 0.999, -1.0, -30.0):
        with mp.workdps(60):
            # about a circle well within the singularity at m = 1, on which the trapezoidal rule gives all digits
            radius, half = (1 - mp.mpf(m)) / 2, 64
            roots = [mp.expjpi(mp.mpf(j) / half) for j in range(half + 1)]  # the upper half; the rest is its mirror
            on_circle = [exact(m + radius * root) * (1 if 0 < j < half else 0.5) for j, root in enumerate(roots)]
            want = [
                mp.fsum(mp.re(y * root**-k) for y, root in zip(on_circle, roots, strict=True)) / half / radius**k
                for k in range(order + 1)
            ]
        got = np.asarray(f(hoad.TaylorSeries.variable(order, m)))
        np.testing.assert_allclose(got, [float(c) for c in want], rtol=1e-14 * (1 + order / 4))
        found = hoad.derivatives(lambda t, m=m: f(m + np.sin(t)), 6)(0.0)
        with mp.workdps(40):
            composed = mp.taylor(lambda t, m=m: exact(m + mp.sin(t)), 0, 6)
        np.testing.assert_allclose(found, [float(c) * math.factorial(k) for k, c in enumerate(composed)], rtol=2e-13)


# ---- Taylor mode of the further families ----------------------------------------------------------------------------

HIGH = 10


def _kolmogorov(y: Any) -> Any:
    return -2 * sum((-1) ** k * mp.exp(-2 * k * k * y * y) for k in range(1, 40))


# function, in mpmath, point, tolerance of the derivatives to order HIGH
FAMILIES: list[tuple[str, Callable[[Any], Any], Callable[[Any], Any], float, float]] = [
    ("sindg", sc.sindg, lambda x: mp.sin(mp.radians(x)), 25.0, 1e-14),
    ("ellipkinc", lambda m: sc.ellipkinc(1.2, m), lambda m: mp.ellipf(mp.mpf(1.2), m), 0.3, 1e-13),
    ("elliprf", lambda x: sc.elliprf(x, 2.0, 0.5), lambda x: mp.elliprf(x, 2, 0.5), 1.5, 1e-13),
    ("agm", lambda x: sc.agm(x, 2.0), lambda x: mp.agm(x, 2), 1.5, 1e-12),
    ("eval_legendre", lambda x: sc.eval_legendre(12, x), lambda x: mp.legendre(12, x), 0.3, 1e-12),
    ("eval_hermite", lambda x: sc.eval_hermite(12, x), lambda x: mp.hermite(12, x), 0.3, 1e-12),
    ("eval_jacobi", lambda x: sc.eval_jacobi(11, 0.5, 1.5, x), lambda x: mp.jacobi(11, 0.5, 1.5, x), 0.3, 1e-12),
    ("expn", lambda x: sc.expn(3, x), lambda x: mp.expint(3, x), 1.5, 1e-13),
    ("sici", lambda x: sc.sici(x)[0], mp.si, 1.5, 1e-12),
    ("fresnel", lambda x: sc.fresnel(x)[1], mp.fresnelc, 0.7, 1e-12),
    ("spence", sc.spence, lambda z: mp.re(mp.polylog(2, 1 - z)), 0.7, 1e-12),
    ("owens_t", lambda h: sc.owens_t(h, 1.0), lambda h: (1 - mp.erf(h / mp.sqrt(2)) ** 2) / 8, 0.7, 1e-12),
    ("airy", lambda x: sc.airy(x)[0], mp.airyai, 2.0, 1e-12),
    ("ber", sc.ber, lambda x: mp.re(mp.besselj(0, mp.expjpi(0.75) * x)), 1.5, 1e-11),
    ("hyp0f1", lambda z: sc.hyp0f1(1.5, z), lambda z: mp.hyp0f1(1.5, z), -3.0, 1e-12),
    ("pbdv", lambda x: sc.pbdv(2.0, x)[0], lambda x: mp.exp(-x * x / 4) * (x * x - 1), 0.7, 1e-11),
    ("bdtr", lambda x: sc.bdtr(4, 15, x), lambda x: mp.betainc(11, 5, 0, 1 - x, regularized=True), 0.3, 1e-11),
    ("chdtri", lambda y: sc.chdtri(2.0, y), lambda y: -2 * mp.log(y), 0.3, 1e-11),
    ("stdtr", lambda t: sc.stdtr(2.0, t), lambda t: (1 + t / mp.sqrt(2 + t * t)) / 2, 0.7, 1e-11),
    ("kolmogorov", sc.kolmogorov, _kolmogorov, 0.9, 1e-9),
    ("poch", lambda m: sc.poch(1.5, m), lambda m: mp.gamma(m + 1.5) / mp.gamma(1.5), 2.5, 1e-11),
]  # fmt: skip


@pytest.mark.parametrize(("name", "f", "exact", "x", "tolerance"), FAMILIES, ids=[row[0] for row in FAMILIES])
def test_derivatives_to_order_ten(
    name: str, f: Callable[[Any], Any], exact: Callable[[Any], Any], x: float, tolerance: float
) -> None:
    """Of all orders at once, each against itself and what a relative change of x changes it by."""
    with mp.workdps(30):
        c = mp.taylor(exact, mp.mpf(x), HIGH + 1)
        want = [mp.re(c[k]) * mp.factorial(k) for k in range(HIGH + 2)]
        got = hoad.derivatives(f, HIGH)(x)
        for k in range(HIGH + 1):
            scale = abs(want[k]) + abs(x * want[k + 1])
            assert abs(mp.mpf(float(got[k])) - want[k]) <= tolerance * scale, (name, k, float(got[k]), want[k])


def test_values_are_those_of_scipy() -> None:
    """To the bit, of the functions with several results too, and with all derivatives at once."""
    x = np.array([0.3, 0.7, 1.9])
    for name in ("airy", "sici", "shichi", "fresnel", "itj0y0", "kelvin"):
        function = getattr(sc, name)
        traced, _ = hoad.jvp(lambda y, f=function: f(y)[1].real, (x,), (np.ones(3),))
        np.testing.assert_array_equal(traced, np.real(function(x)[1]))
    np.testing.assert_array_equal(
        hoad.jvp(lambda y: sc.ellipkinc(y, 0.3), (x,), (np.ones(3),))[0], sc.ellipkinc(x, 0.3)
    )


@pytest.mark.parametrize("name", ["hankel1", "hankel2", "hankel1e", "hankel2e"])
def test_functions_of_complex_numbers_say_so(name: str) -> None:
    with pytest.raises(hoad.DTypeError, match=r"Give it x \+ 0j"):
        hoad.grad(lambda x: np.real(getattr(sc, name)(1.0, x)))(2.0)


def test_orders_below_the_degree() -> None:
    """Nothing is left of a polynomial, in any mode and for orders of either type."""
    for f in (sc.eval_hermite, sc.eval_legendre, sc.eval_chebyu, sc.eval_sh_legendre, sc.eval_laguerre):
        for n in (0, 1, 2) if f is sc.eval_hermite else (0, 1, 2, 0.0, 1.0, 2.0):
            assert hoad.derivative(lambda x, f=f, n=n: f(n, x), 3)(0.4) == pytest.approx(0.0, abs=1e-12)
            assert hoad.derivatives(lambda x, f=f, n=n: f(n, x), 4)(0.4)[3:] == pytest.approx(0.0, abs=1e-12)
    for f in (sc.eval_jacobi, sc.eval_sh_jacobi):
        assert hoad.derivative(lambda x, f=f: f(2, 1.5, 0.5, x), 3)(0.4) == 0.0


NEW_POINTS: list[tuple[str, Callable[[Any], Any], float, list[float]]] = [
    ("sici", lambda x: sc.sici(x)[0], 0.0, [1.0, 0.0, -1 / 3]),
    ("shichi", lambda x: sc.shichi(x)[0], 0.0, [1.0, 0.0, 1 / 3]),
    ("spence", sc.spence, 1.0, [-1.0, 1 / 2, -2 / 3]),
    ("it2j0y0", lambda x: sc.it2j0y0(x)[0], 0.0, [0.0, 1 / 4, 0.0]),
    ("ellipkinc", lambda x: sc.ellipkinc(x, 0.0), math.pi / 2, [1.0, 0.0, 0.0]),
    ("ellipkinc", lambda m: sc.ellipkinc(math.pi / 2, m), 0.0, [math.pi / 8, 9 * math.pi / 64]),
    ("agm", lambda x: sc.agm(x, 1.0), 1.0, [1 / 2, -1 / 8]),
    ("elliprf", lambda x: sc.elliprf(x, 1.0, 1.0), 1.0, [-1 / 6, 3 / 20]),
    ("airy", lambda x: sc.airy(x)[0], 0.0, [-0.2588194037928068, 0.0, 0.3550280538878172]),
    ("bei", sc.bei, 0.0, [0.0, 1 / 2, 0.0]),
    ("fresnel", lambda x: sc.fresnel(x)[0], 0.0, [0.0, 0.0, math.pi]),
    ("stdtr", lambda t: sc.stdtr(2.0, t), 0.0, [0.5 / math.sqrt(2.0), 0.0]),
    ("wofz", lambda x: np.imag(sc.wofz(x + 0j)), 0.0, [2 / ROOT_PI, 0.0]),
]


@pytest.mark.parametrize(("name", "f", "x", "derivatives"), NEW_POINTS, ids=[f"{p[0]}-{p[2]}" for p in NEW_POINTS])
def test_further_singular_points(name: str, f: Callable[[Any], Any], x: float, derivatives: list[float]) -> None:
    for order, want in enumerate(derivatives, start=1):
        assert hoad.derivative(f, order)(x) == pytest.approx(want, rel=4e-14, abs=1e-15), (name, order)
    assert hoad.grad(f)(x) == pytest.approx(derivatives[0], rel=4e-14, abs=1e-15)


@pytest.mark.parametrize(
    ("f", "wanted"), [(sc.i0e, [1.0, 0.0, 1.5, 0.0, 4.375]), (sc.i1e, [0.0, 0.5, 0.0, 1.875, 0.0])]
)
def test_scaled_bessel_functions_at_zero_have_the_mean_of_both_sides(f: Any, wanted: list[float]) -> None:
    np.testing.assert_allclose(hoad.derivatives(lambda x: 1.0 * f(x), 4)(0.0), wanted)

    def slope(x: Any) -> Any:
        return 1.0 * f(x)

    for order in range(1, 5):
        slope = hoad.grad(slope)
        np.testing.assert_allclose(slope(0.0), wanted[order])
