"""Derivatives of SciPy's distributions at values of a parameter where their formulas change, beside mpmath."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
import pytest

import hoad
from hoad.errors import TracedValueError

stats = pytest.importorskip("scipy.stats")

HIGHEST = 4
X = 0.75  # a point that is no rounded number


class Row(NamedTuple):
    """A function of a parameter, by SciPy and by mpmath, and where it is looked at."""

    f: Callable[[Any], Any]
    oracle: Callable[[Any], Any]
    places: tuple[float, ...]
    tolerance: float = 1e-13


def require(row: Row, at: float) -> None:
    """All orders at once, and by sweeps one after another, also jitted and of arrays."""
    with mp.workdps(50):
        wanted = [float(c * mp.factorial(k)) for k, c in enumerate(mp.taylor(row.oracle, mp.mpf(at), HIGHEST))]
    f = hoad.adopt(lambda t: 1.0 * row.f(t))
    np.testing.assert_allclose(hoad.derivatives(f, HIGHEST)(at), wanted, rtol=row.tolerance, atol=row.tolerance)
    slope = f
    for order in range(1, 3):
        slope = hoad.grad(slope)
        for found in (slope(at), hoad.jit(slope)(at)):
            np.testing.assert_allclose(found, wanted[order], rtol=row.tolerance, atol=row.tolerance)
    both = hoad.grad(hoad.adopt(lambda t: np.sum(row.f(t))))(np.array([at, 0.5]))
    np.testing.assert_allclose(both, [wanted[1], slope_at(row, 0.5)], rtol=1e-11, atol=1e-11)


def slope_at(row: Row, at: float) -> float:
    with mp.workdps(50):
        return float(mp.diff(row.oracle, mp.mpf(at)))


# ---- ends of the range of a parameter --------------------------------------------------------------------------------


def rice(b: Any) -> Any:
    return X * mp.exp(-(X * X + b * b) / 2) * mp.besseli(0, X * b)


def circular(k: Any) -> Any:
    return mp.exp(k * mp.cos(X)) / (2 * mp.pi * mp.besseli(0, k))


def entropy_on_circle(k: Any) -> Any:
    return mp.log(2 * mp.pi * mp.besseli(0, k)) - k * mp.besseli(1, k) / mp.besseli(0, k)


ENDS = {
    "rice.pdf": Row(lambda b: stats.rice.pdf(X, b), rice, (0.0, 0.5)),
    "rice.logpdf": Row(lambda b: stats.rice.logpdf(X, b), lambda b: mp.log(rice(b)), (0.0, 0.5)),
    "rice.pdf by x": Row(
        lambda x: stats.rice.pdf(x, 0.6),
        lambda x: x * mp.exp(-(x * x + mp.mpf(0.6) ** 2) / 2) * mp.besseli(0, mp.mpf(0.6) * x),
        (0.0, 0.5),
    ),
    "vonmises.pdf": Row(lambda k: stats.vonmises.pdf(X, k), circular, (0.0, 0.5)),
    "vonmises.logpdf": Row(lambda k: stats.vonmises.logpdf(X, k), lambda k: mp.log(circular(k)), (0.0, 0.5)),
    "vonmises.entropy": Row(lambda k: stats.vonmises.entropy(k), entropy_on_circle, (0.0, 0.5)),
    "vonmises_line.pdf": Row(lambda k: stats.vonmises_line.pdf(X, k), circular, (0.0, 0.5)),
}


@pytest.mark.parametrize("name", ENDS)
def test_ends_of_the_range_of_a_parameter(name: str) -> None:
    for at in ENDS[name].places:
        require(ENDS[name], at)


def test_elsewhere_scaled_bessel_functions_have_a_kink() -> None:
    special = pytest.importorskip("scipy.special")
    f = hoad.adopt(lambda x: special.i0e(x) + special.i1e(x))
    np.testing.assert_allclose(hoad.derivatives(f, HIGHEST)(0.0), [1.0, 0.5, 1.5, 1.875, 4.375])
    assert f(np.array([0.0, 1.0]))[1] == special.i0e(1.0) + special.i1e(1.0)
    assert hoad.adopt(lambda: special.i0e.nin)() == 1


# ---- extreme values --------------------------------------------------------------------------------------------------


def of_gamma(n: int, c: Any) -> Any:
    """The n-th central moment, by Γ(1 + k c)."""
    g = [mp.gamma(1 + k * c) for k in range(n + 1)]
    return (-1 / c) ** n * mp.fsum(mp.binomial(n, k) * (-g[1]) ** (n - k) * g[k] for k in range(n + 1))


MOMENTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "mean": (lambda c: stats.genextreme.mean(c), lambda c: (1 - mp.gamma(1 + c)) / c),
    "var": (lambda c: stats.genextreme.var(c), lambda c: of_gamma(2, c)),
    "std": (lambda c: stats.genextreme.std(c), lambda c: mp.sqrt(of_gamma(2, c))),
    "skewness": (
        lambda c: stats.genextreme.stats(c, moments="s"),
        lambda c: of_gamma(3, c) / mp.sqrt(of_gamma(2, c)) ** 3,
    ),
    "kurtosis": (
        lambda c: stats.genextreme.stats(c, moments="k"),
        lambda c: of_gamma(4, c) / of_gamma(2, c) ** 2 - 3,
    ),
}


def coefficients(f: Callable[[Any], Any], at: float) -> list[float]:
    """The derivatives of an analytic function that is 0/0 at 0, from its values on a circle."""
    n = 64
    with mp.workdps(80):
        radius = mp.mpf(3) / 256
        points = [mp.expjpi((2 * mp.mpf(k) + 1) / n) for k in range(n)]
        ring = [f(mp.mpf(at) + radius * z) for z in points]
        sums = [mp.fsum(y * z**-k for y, z in zip(ring, points, strict=True)) for k in range(HIGHEST + 1)]
        return [float(mp.factorial(k) * mp.re(x) / n / radius**k) for k, x in enumerate(sums)]


@pytest.mark.parametrize("name", MOMENTS)
@pytest.mark.parametrize("c", [0.0, 1e-9, 1e-5, -0.03, 0.035])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of SciPy 1.13
def test_moments_of_extreme_values(name: str, c: float) -> None:
    moment, oracle = MOMENTS[name]
    wanted = coefficients(oracle, c)
    f = hoad.adopt(lambda t: 1.0 * moment(t))
    near = abs(c) < 1 / 32  # elsewhere by SciPy's formula, which is divided by powers of c
    np.testing.assert_allclose(hoad.derivatives(f, HIGHEST)(c), wanted, rtol=1e-12 if near else 3e-6)
    np.testing.assert_allclose(hoad.grad(f)(c), wanted[1], rtol=1e-12 if near else 1e-8)
    np.testing.assert_allclose(hoad.grad(hoad.grad(f))(c), wanted[2], rtol=1e-12 if near else 1e-7)
    assert f(c) == moment(c)
    assert hoad.value_and_grad(f)(c)[0] == pytest.approx(wanted[0], rel=1e-9)


def test_arrays_of_extreme_values() -> None:
    c = np.array([0.0, 0.3, -2.0, 1e-12])
    f = hoad.adopt(lambda c: stats.genextreme.mean(c)[[0, 1, 3]].sum())
    wanted = [*(coefficients(MOMENTS["mean"][1], x)[1] for x in c[:2]), 0.0, coefficients(MOMENTS["mean"][1], c[3])[1]]
    for g in (hoad.grad(f), hoad.jit(hoad.grad(f))):
        np.testing.assert_allclose(g(c), wanted, rtol=1e-12)
    jitted = hoad.jit(hoad.grad(hoad.adopt(stats.genextreme.mean)))
    for x in (0.3, 0.0, 0.3, 0.01):  # near and far, in turn
        np.testing.assert_allclose(jitted(x), coefficients(MOMENTS["mean"][1], x)[1], rtol=1e-12)


# ---- without a derivative --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"])
@pytest.mark.parametrize("skewness", [0.0, 1e-5, -1e-6])
def test_a_skewness_that_scipy_takes_for_zero(method: str, skewness: float) -> None:
    f = hoad.adopt(lambda s: 1.0 * getattr(stats.pearson3, method)(0.3, s))
    for derivative in (hoad.grad(f), hoad.derivative(f), lambda s: hoad.derivatives(f, 4)(s), hoad.jit(hoad.grad(f))):
        with pytest.raises(
            TracedValueError, match=r"skewness of pearson3 for 0 .*test_switched_formulas.py.*Move the arg"
        ):
            derivative(skewness)
    assert f(skewness) == getattr(stats.pearson3, method)(0.3, skewness)


def test_a_skewness_of_arrays() -> None:
    f = hoad.adopt(lambda s: np.sum(stats.pearson3.cdf(0.3, s)))
    with pytest.raises(TracedValueError, match="skewness of pearson3"):
        hoad.grad(f)(np.array([0.5, 0.0]))
    jitted = hoad.jit(hoad.adopt(lambda s: stats.pearson3.cdf(0.3, s)))
    assert jitted(0.0) == pytest.approx(stats.norm.cdf(0.3), rel=1e-15)


# ---- entropies by integrals ------------------------------------------------------------------------------------------


def of_reciprocal(a: Any) -> Any:
    """By v = 1 / x, of which a - v is normal, cut off at 0."""

    def weighted(v: Any) -> Any:
        return ((a - v) ** 2 / 2 - 2 * mp.log(v)) * mp.npdf(a - v) / mp.ncdf(a)

    return mp.log(mp.ncdf(a) * mp.sqrt(2 * mp.pi)) + mp.quad(weighted, [0, 1, 2, 4, 8, 14])


def of_length(b: Any) -> Any:
    """Rice's: the density is that of b = 0 times exp(-b²/2) I₀(b x), of which the logarithm is smooth."""

    def weighted(x: Any) -> Any:
        density = x * mp.exp(-(x * x + b * b) / 2) * mp.besseli(0, x * b)
        return -density * mp.log(density)

    return mp.quad(weighted, [0, 1, 2, 4, 8, 12])


UNDERFLOWING: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], float]] = {
    "alpha": (lambda a: stats.alpha.entropy(a), of_reciprocal, 2.0),
    "rice": (lambda b: stats.rice.entropy(b), of_length, 0.0),
}


@pytest.mark.parametrize("name", UNDERFLOWING)
@pytest.mark.filterwarnings("ignore")
def test_entropies_where_the_density_underflows(name: str) -> None:
    f, oracle, at = UNDERFLOWING[name]
    with mp.workdps(25):
        h = mp.mpf(10) ** -5  # which errs by 1e-10
        below, here, above = (oracle(at + k * h) for k in (-1, 0, 1))
        wanted = [float((above - below) / (2 * h)), float((above - 2 * here + below) / h**2)]
    adopted = hoad.adopt(lambda t: 1.0 * f(t))
    np.testing.assert_allclose(hoad.derivatives(adopted, 2)(at)[1:], wanted, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(hoad.grad(adopted)(at), wanted[0], rtol=1e-6, atol=1e-6)


def of_burr(c: Any, d: Any) -> Any:
    return -mp.log(c * d) - (c - 1) / c * (mp.digamma(1) - mp.digamma(d)) + (d + 1) / mp.mpf(d)


def of_beta(a: Any, b: Any) -> Any:
    far = (a + b) * (mp.digamma(a + b) - mp.digamma(b))
    return mp.log(mp.beta(a, b)) + far - (a - 1) * (mp.digamma(a) - mp.digamma(b))


@pytest.mark.parametrize(
    ("name", "oracle", "other"), [("burr12", of_burr, 4), ("burr12", of_burr, 1), ("betaprime", of_beta, 6)]
)
def test_entropies_of_densities_that_are_smooth_at_one_shape(name: str, oracle: Any, other: int) -> None:
    """The derivative of x^(c - 1) at c = 1 has a logarithm: it was wrong by one part of a hundred."""
    f = hoad.adopt(lambda c: 1.0 * getattr(stats, name).entropy(c, float(other)))
    with mp.workdps(40):
        wanted = [float(c * mp.factorial(k)) for k, c in enumerate(mp.taylor(lambda c: oracle(c, other), mp.mpf(1), 4))]
    np.testing.assert_allclose(hoad.derivatives(f, 4)(1.0), wanted, rtol=1e-7)
    np.testing.assert_allclose(hoad.grad(f)(1.0), wanted[1], rtol=1e-7)


@pytest.mark.parametrize("order", [1, 2])
def test_distribution_functions_by_quadrature(order: int) -> None:
    """That of `gausshyper` with c = 0 is the incomplete beta function."""
    adopted = hoad.adopt(lambda a: 1.0 * stats.gausshyper.cdf(0.3, a, 2.5, 0.0, 1.0))
    with mp.workdps(40):
        wanted = mp.diff(lambda a: mp.betainc(a, 2.5, 0, mp.mpf(0.3), regularized=True), 1, order)
    assert hoad.derivative(adopted, order)(1.0) == pytest.approx(float(wanted), rel=1e-9)


def test_an_entropy_of_nothing_has_no_derivative() -> None:
    special = pytest.importorskip("scipy.special")
    assert hoad.grad(hoad.adopt(lambda p: special.entr(p)))(0.0) == np.inf
