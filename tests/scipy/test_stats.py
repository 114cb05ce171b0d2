"""SciPy's distributions, adopted: their own code on traced values, beside mpmath.

A row has the density and the distribution function of the standard variable; location and scale are added here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
import pytest

import hoad

stats = pytest.importorskip("scipy.stats")
scipy_special = pytest.importorskip("scipy.special")

DIGITS = 30
LOC, SCALE = 0.25, 1.25
HIGHEST = 4
TOLERANCE = 1e-9  # derivatives lose digits with each order


class Row(NamedTuple):
    """A distribution: shapes, a point, mpmath's density and distribution function."""

    shapes: tuple[float, ...]
    x: float
    density: Callable[..., Any]
    below: Callable[..., Any]


def _beta_cdf(x: Any, a: Any, b: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def _gamma_cdf(x: Any, a: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def _t_cdf(x: Any, v: Any) -> Any:
    return 0.5 + x * mp.gamma((v + 1) / 2) * mp.hyp2f1(0.5, (v + 1) / 2, 1.5, -x * x / v) / (
        mp.sqrt(mp.pi * v) * mp.gamma(v / 2)
    )


def _f_density(x: Any, m: Any, n: Any) -> Any:
    return mp.sqrt((m * x) ** m * n**n / (m * x + n) ** (m + n)) / (x * mp.beta(m / 2, n / 2))


def _normal(x: Any) -> Any:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


CONTINUOUS: dict[str, Row] = {
    "norm": Row((), 0.4, _normal, mp.ncdf),
    "lognorm": Row((0.6,), 0.9, lambda x, s: _normal(mp.log(x) / s) / (x * s), lambda x, s: mp.ncdf(mp.log(x) / s)),
    "t": Row(
        (4.25,),
        0.7,
        lambda x, v: mp.gamma((v + 1) / 2) / (mp.sqrt(v * mp.pi) * mp.gamma(v / 2)) * (1 + x * x / v) ** (-(v + 1) / 2),
        _t_cdf,
    ),
    "chi2": Row(
        (3.25,),
        2.5,
        lambda x, v: x ** (v / 2 - 1) * mp.exp(-x / 2) / (2 ** (v / 2) * mp.gamma(v / 2)),
        lambda x, v: _gamma_cdf(x / 2, v / 2),
    ),
    "f": Row((3.25, 5.5), 0.8, _f_density, lambda x, m, n: _beta_cdf(m * x / (m * x + n), m / 2, n / 2)),
    "gamma": Row((2.25,), 1.5, lambda x, a: x ** (a - 1) * mp.exp(-x) / mp.gamma(a), _gamma_cdf),
    "invgamma": Row(
        (2.25,),
        0.6,
        lambda x, a: x ** (-a - 1) * mp.exp(-1 / x) / mp.gamma(a),
        lambda x, a: 1 - _gamma_cdf(1 / x, a),
    ),
    "beta": Row((2.25, 3.5), 0.3, lambda x, a, b: x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b), _beta_cdf),
    "expon": Row((), 0.7, lambda x: mp.exp(-x), lambda x: -mp.expm1(-x)),
    "weibull_min": Row((1.75,), 0.7, lambda x, c: c * x ** (c - 1) * mp.exp(-(x**c)), lambda x, c: -mp.expm1(-(x**c))),
    "uniform": Row((), 0.3, lambda x: mp.mpf(1), lambda x: x),
    "laplace": Row((), 0.7, lambda x: mp.exp(-x) / 2, lambda x: 1 - mp.exp(-x) / 2),
    "logistic": Row((), 0.7, lambda x: mp.exp(-x) / (1 + mp.exp(-x)) ** 2, lambda x: 1 / (1 + mp.exp(-x))),
    "gumbel_r": Row((), 0.7, lambda x: mp.exp(-x - mp.exp(-x)), lambda x: mp.exp(-mp.exp(-x))),
    "gumbel_l": Row((), 0.7, lambda x: mp.exp(x - mp.exp(x)), lambda x: -mp.expm1(-mp.exp(x))),
    "cauchy": Row((), 0.7, lambda x: 1 / (mp.pi * (1 + x * x)), lambda x: 0.5 + mp.atan(x) / mp.pi),
    "pareto": Row((2.5,), 1.5, lambda x, b: b / x ** (b + 1), lambda x, b: 1 - x**-b),
    "rayleigh": Row((), 0.9, lambda x: x * mp.exp(-x * x / 2), lambda x: -mp.expm1(-x * x / 2)),
    "halfnorm": Row((), 0.9, lambda x: 2 * _normal(x), lambda x: 2 * mp.ncdf(x) - 1),
    "truncnorm": Row(
        (-1.0, 2.0),
        0.4,
        lambda x, a, b: _normal(x) / (mp.ncdf(b) - mp.ncdf(a)),
        lambda x, a, b: (mp.ncdf(x) - mp.ncdf(a)) / (mp.ncdf(b) - mp.ncdf(a)),
    ),
}
OF_X: dict[str, Callable[[Row], Callable[..., Any]]] = {
    "pdf": lambda row: row.density,
    "logpdf": lambda row: lambda x, *shapes: mp.log(row.density(x, *shapes)),
    "cdf": lambda row: row.below,
    "logcdf": lambda row: lambda x, *shapes: mp.log(row.below(x, *shapes)),
    "sf": lambda row: lambda x, *shapes: 1 - row.below(x, *shapes),
    "logsf": lambda row: lambda x, *shapes: mp.log(1 - row.below(x, *shapes)),
}


def standard(method: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of x, location, scale and shapes of one of the standard variable."""

    def of_all(x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
        made = f((x - loc) / scale, *shapes)
        return made / scale if method == "pdf" else made - mp.log(scale) if method == "logpdf" else made

    return of_all


def require(f: Callable[[Any], Any], oracle: Callable[[Any], Any], x: float, tolerance: float = TOLERANCE) -> None:
    """Value and derivatives to order 4, and a replay beside."""
    with mp.workdps(DIGITS):
        wanted = [float(c * mp.factorial(k)) for k, c in enumerate(mp.taylor(oracle, mp.mpf(x), HIGHEST))]
    adopted = hoad.adopt(lambda t: 1.0 * f(t))
    found = hoad.derivatives(adopted, HIGHEST)(x)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
    assert found[0] == pytest.approx(f(x), rel=1e-14)
    slope = hoad.grad(adopted)
    np.testing.assert_allclose(slope(x), wanted[1], rtol=1e-10, atol=1e-12)


CASES = [(name, method) for name in CONTINUOUS for method in OF_X]


@pytest.mark.parametrize(("name", "method"), CASES, ids=map("-".join, CASES))
def test_functions_of_x(name: str, method: str) -> None:
    row, f = CONTINUOUS[name], getattr(getattr(stats, name), method)
    oracle = standard(method, OF_X[method](row))
    x = LOC + SCALE * row.x
    require(lambda t: f(t, *row.shapes, LOC, SCALE), lambda t: oracle(t, LOC, SCALE, *row.shapes), x)
    require(lambda t: f(x, *row.shapes, LOC, t), lambda t: oracle(x, LOC, t, *row.shapes), SCALE)
    for k, shape in enumerate(row.shapes):
        at = functools.partial(_replaced, row.shapes, k)
        require(lambda t, at=at: f(x, *at(t), LOC, SCALE), lambda t, at=at: oracle(x, LOC, SCALE, *at(t)), shape)


def _replaced(shapes: tuple[Any, ...], k: int, by: Any) -> tuple[Any, ...]:
    return (*shapes[:k], by, *shapes[k + 1 :])


# ---- inverses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONTINUOUS)
def test_inverses(name: str) -> None:
    """Of ppf and isf the distribution function is what was asked for, whatever moves."""
    row, distribution = CONTINUOUS[name], getattr(stats, name)
    q = float(row.below(mp.mpf(row.x), *row.shapes))
    for method, sign in (("ppf", 1.0), ("isf", -1.0)):
        f, at = getattr(distribution, method), q if sign > 0 else 1 - q
        inverse = hoad.adopt(lambda t, f=f, at=at: f(at + t, *row.shapes, LOC, SCALE))
        assert inverse(0.0) == pytest.approx(LOC + SCALE * row.x, rel=1e-10)
        back = hoad.adopt(lambda t, inverse=inverse: distribution.cdf(inverse(t), *row.shapes, LOC, SCALE))
        wanted = [q, sign, 0.0, 0.0, 0.0]
        np.testing.assert_allclose(hoad.derivatives(back, HIGHEST)(0.0), wanted, rtol=1e-7, atol=1e-6)
        close_to = hoad.grad(hoad.adopt(lambda t, f=f, at=at: 1.0 * f(at, *row.shapes, LOC, t)))(SCALE)
        assert close_to == pytest.approx(row.x, rel=1e-10)
        for k, shape in enumerate(row.shapes):
            kept = lambda t, f=f, at=at, k=k: distribution.cdf(  # noqa: E731
                f(at, *_replaced(row.shapes, k, t), LOC, SCALE), *_replaced(row.shapes, k, t), LOC, SCALE
            )
            found = hoad.derivatives(hoad.adopt(kept), 3)(shape)
            np.testing.assert_allclose(found, [q, 0.0, 0.0, 0.0], rtol=1e-7, atol=1e-6)


# ---- counts ---------------------------------------------------------------------------------------------------------

K = 3
DISCRETE: dict[str, tuple[tuple[Any, ...], int, Callable[..., Any]]] = {  # arguments, which is moved, the chance of j
    "poisson": ((2.25,), 0, lambda j, m: mp.exp(-m) * m**j / mp.factorial(j)),
    "binom": ((7, 0.3), 1, lambda j, n, p: mp.binomial(n, j) * p**j * (1 - p) ** (n - j)),
    "nbinom, p": (
        (4.5, 0.4),
        1,
        lambda j, r, p: mp.gamma(r + j) / (mp.factorial(j) * mp.gamma(r)) * p**r * (1 - p) ** j,
    ),
    "nbinom, n": (
        (4.5, 0.4),
        0,
        lambda j, r, p: mp.gamma(r + j) / (mp.factorial(j) * mp.gamma(r)) * p**r * (1 - p) ** j,
    ),
    "geom": ((0.3,), 0, lambda j, p: p * (1 - p) ** (j - 1) if j else mp.mpf(0)),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_counts(name: str) -> None:
    args, k, chance = DISCRETE[name]
    distribution = getattr(stats, name.partition(",")[0])
    below = lambda *a: mp.fsum(chance(j, *a) for j in range(K + 1))  # noqa: E731
    oracles: dict[str, Callable[..., Any]] = {
        "pmf": lambda *a: chance(K, *a),
        "logpmf": lambda *a: mp.log(chance(K, *a)),
        "cdf": below,
        "logcdf": lambda *a: mp.log(below(*a)),
        "sf": lambda *a: 1 - below(*a),
        "logsf": lambda *a: mp.log(1 - below(*a)),
    }
    for method, oracle in oracles.items():
        f, at = getattr(distribution, method), functools.partial(_replaced, args, k)
        require(lambda t, f=f, at=at: f(K, *at(t)), lambda t, oracle=oracle, at=at: oracle(*at(t)), args[k])


# ---- moments --------------------------------------------------------------------------------------------------------

MOMENTS: list[tuple[str, str, tuple[float, ...], int, Callable[..., Any]]] = [
    ("norm", "entropy", (LOC, SCALE), 1, lambda m, s: mp.log(s) + (1 + mp.log(2 * mp.pi)) / 2),
    ("gamma", "mean", (2.25, LOC, SCALE), 0, lambda a, m, s: m + a * s),
    ("gamma", "var", (2.25, LOC, SCALE), 2, lambda a, m, s: a * s * s),
    ("gamma", "entropy", (2.25,), 0, lambda a: a + mp.loggamma(a) + (1 - a) * mp.digamma(a)),
    ("beta", "mean", (2.25, 3.5), 0, lambda a, b: a / (a + b)),
    ("beta", "var", (2.25, 3.5), 1, lambda a, b: a * b / ((a + b) ** 2 * (a + b + 1))),
    ("lognorm", "std", (0.6,), 0, lambda s: mp.sqrt((mp.exp(s * s) - 1) * mp.exp(s * s))),
    ("t", "var", (4.25,), 0, lambda v: v / (v - 2)),
    ("chi2", "mean", (3.25,), 0, lambda v: v),
    ("f", "mean", (3.25, 5.5), 1, lambda m, n: n / (n - 2)),
    ("weibull_min", "mean", (1.75,), 0, lambda c: mp.gamma(1 + 1 / c)),
    ("weibull_min", "entropy", (1.75,), 0, lambda c: mp.euler * (1 - 1 / c) - mp.log(c) + 1),
    ("pareto", "mean", (2.5,), 0, lambda b: b / (b - 1)),
    ("gumbel_r", "mean", (LOC, SCALE), 1, lambda m, s: m + mp.euler * s),
    ("poisson", "var", (2.25,), 0, lambda m: m),
    ("binom", "var", (7, 0.3), 1, lambda n, p: n * p * (1 - p)),
    ("nbinom", "mean", (4.5, 0.4), 1, lambda n, p: n * (1 - p) / p),
    ("geom", "var", (0.3,), 0, lambda p: (1 - p) / p**2),
]


@pytest.mark.parametrize("row", MOMENTS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_moments(row: tuple[str, str, tuple[float, ...], int, Callable[..., Any]]) -> None:
    name, moment, args, k, oracle = row
    f, at = getattr(getattr(stats, name), moment), functools.partial(_replaced, args, k)
    require(lambda t: f(*at(t)), lambda t: oracle(*at(t)), args[k])


# ---- several variables, and statistics of samples -------------------------------------------------------------------

COVARIANCE, Y = np.array([[2.0, 0.3], [0.3, 1.5]]), np.array([0.3, 0.7])
SAMPLE, OTHER = np.array([1.0, 2.0, 5.0, 3.5]), np.array([1.0, 3.0, 4.0, 2.0])


def _normal_log(t: float, x: Any, mean: Any, covariance: Any) -> Any:
    """The density of two variables by its formula."""
    det = covariance[0, 0] * covariance[1, 1] - covariance[0, 1] * covariance[1, 0]
    d = x - mean
    form = covariance[1, 1] * d[0] ** 2 - 2 * covariance[0, 1] * d[0] * d[1] + covariance[0, 0] * d[1] ** 2
    return -0.5 * form / det - 0.5 * np.log(det) - np.log(2 * np.pi)


SEVERAL: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "normal, x": (
        lambda t: stats.multivariate_normal.logpdf(Y * t, np.zeros(2), COVARIANCE),
        lambda t: _normal_log(t, Y * t, np.zeros(2), COVARIANCE),
    ),
    "normal, mean": (
        lambda t: stats.multivariate_normal.logpdf(Y, Y * t, COVARIANCE),
        lambda t: _normal_log(t, Y, Y * t, COVARIANCE),
    ),
    "normal, covariance": (
        lambda t: stats.multivariate_normal.logpdf(Y, np.zeros(2), COVARIANCE * t),
        lambda t: _normal_log(t, Y, np.zeros(2), COVARIANCE * t),
    ),
    "t": (
        lambda t: (
            stats.multivariate_t.logpdf(Y * t, np.zeros(2), COVARIANCE, df=4)
            - stats.multivariate_t.logpdf(Y, np.zeros(2), COVARIANCE, df=4)
        ),
        lambda t: (
            -3.0 * np.log((4 + t * t * (Y @ np.linalg.solve(COVARIANCE, Y))) / (4 + Y @ np.linalg.solve(COVARIANCE, Y)))
        ),
    ),
    "dirichlet": (
        lambda t: stats.dirichlet.pdf(np.array([0.3, 0.7]), np.array([2.0, 1.0]) + t * np.array([1.0, 0.0])),
        lambda t: 0.3 ** (1 + t) * (2 + t),
    ),
    "skew": (
        lambda t: stats.skew(SAMPLE * t + OTHER),
        lambda t: (lambda d: np.mean(d**3) / np.mean(d**2) ** 1.5)(SAMPLE * t + OTHER - np.mean(SAMPLE * t + OTHER)),
    ),
    "kurtosis": (
        lambda t: stats.kurtosis(SAMPLE * t + OTHER),
        lambda t: (lambda d: np.mean(d**4) / np.mean(d**2) ** 2)(SAMPLE * t + OTHER - np.mean(SAMPLE * t + OTHER)) - 3,
    ),
    "zscore": (
        lambda t: stats.zscore(SAMPLE * t + OTHER)[0],
        lambda t: (lambda y: (y[0] - np.mean(y)) / np.std(y))(SAMPLE * t + OTHER),
    ),
    "gmean": (lambda t: stats.gmean(SAMPLE * t), lambda t: t * np.exp(np.mean(np.log(SAMPLE)))),
    "hmean": (lambda t: stats.hmean(SAMPLE * t), lambda t: t / np.mean(1 / SAMPLE)),
    "entropy": (
        lambda t: stats.entropy(SAMPLE * t + OTHER),
        lambda t: (lambda p: -np.sum(p * np.log(p)))((SAMPLE * t + OTHER) / np.sum(SAMPLE * t + OTHER)),
    ),
    "linregress": (lambda t: stats.linregress(SAMPLE, OTHER * t).slope, lambda t: t * np.polyfit(SAMPLE, OTHER, 1)[0]),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several(name: str) -> None:
    """Beside the formula in NumPy, whose rules are tested elsewhere."""
    f, formula = SEVERAL[name]
    found, wanted = hoad.derivatives(hoad.adopt(f), HIGHEST)(1.1), hoad.derivatives(formula, HIGHEST)(1.1)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)
    assert f(1.1) == pytest.approx(formula(1.1), rel=1e-12)
    jitted = hoad.jit(hoad.grad(hoad.adopt(f)))
    jitted(1.1)
    assert jitted(1.3) == pytest.approx(hoad.grad(formula)(1.3), rel=1e-9)


# ---- densities of data ----------------------------------------------------------------------------------------------


def test_a_density_of_data_by_a_point_and_a_place() -> None:
    """A mean of Gaussian densities, of the variance of the data times the square of a factor; beside mpmath."""
    rest = np.array([0.5, -0.75, 2.0])

    def exact(t: Any) -> Any:
        points, factor = [t, *map(mp.mpf, rest.tolist())], mp.mpf("0.5")
        mean = mp.fsum(points) / 4
        variance = mp.fsum((p - mean) ** 2 for p in points) / 3 * factor**2
        at = mp.mpf("0.25") + t * t
        return mp.fsum(mp.exp(-((at - p) ** 2) / (2 * variance)) for p in points) / 4 / mp.sqrt(2 * mp.pi * variance)

    for logarithm in (False, True):

        def f(t: Any, logarithm: bool = logarithm) -> Any:
            density = stats.gaussian_kde(np.concatenate([np.reshape(t, 1), rest]), 0.5)
            return (density.logpdf if logarithm else density)(np.reshape(0.25 + t * t, (1, 1)))[0]

        wanted = mp.taylor((lambda t: mp.log(exact(t))) if logarithm else exact, 1.5, HIGHEST)
        found = hoad.derivatives(hoad.adopt(f), HIGHEST)(1.5)
        np.testing.assert_allclose(found, [float(c * mp.factorial(k)) for k, c in enumerate(wanted)], rtol=1e-10)
        assert hoad.grad(hoad.adopt(f))(1.5) == pytest.approx(float(wanted[1]), rel=1e-12)


# ---- expectiles ------------------------------------------------------------------------------------------------------

SPREAD = np.array([0.6, 1.7, 0.9, 2.4, 1.1, 3.1, 0.35, 1.45])


@pytest.mark.parametrize("weights", [None, np.linspace(1.0, 2.0, 8)], ids=["alike", "weighted"])
def test_an_expectile_balances_the_values_on_both_sides(weights: Any) -> None:
    """The share alpha of the distances above it is the share 1 - alpha of those below: so is its derivative."""
    w = np.ones(8) if weights is None else weights
    f = hoad.jit(hoad.value_and_grad(hoad.adopt(lambda x: stats.expectile(x, 0.3, weights=weights))))
    for x in (SPREAD, 2.0 * SPREAD - 0.5, SPREAD[::-1].copy()):  # other values are above it in the last
        found, slope = f(x)
        shares = w * np.where(x > found, 0.3, 0.7)
        assert np.sum(shares * (x - found)) == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(slope, shares / np.sum(shares), rtol=1e-12)


@pytest.mark.skipif("axis" not in inspect.signature(stats.expectile).parameters, reason="from SciPy 1.18 on")
@pytest.mark.parametrize("options", [{}, {"axis": 1}, {"axis": 0, "keepdims": True}, {"axis": None}], ids=str)
def test_expectiles_along_axes(options: dict[str, Any]) -> None:
    x = SPREAD.reshape(2, 4)
    value, slope = hoad.jvp(hoad.adopt(lambda x: stats.expectile(x, 0.3, **options)), (x,), (x**2,))
    assert np.shape(value) == np.shape(stats.expectile(x, 0.3, **options))
    beside = [stats.expectile(x + h * x**2, 0.3, **options) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(slope, np.subtract(*beside) / 2e-6, rtol=1e-7)
    with pytest.raises(hoad.NoRuleError, match=r"expectile with nan_policy"):
        hoad.jvp(hoad.adopt(lambda x: stats.expectile(x, 0.3, nan_policy="omit")), (x,), (x,))


@pytest.mark.skipif(not hasattr(stats._multivariate, "_qmvn"), reason="older releases end in other compiled functions")
def test_boxes_of_normal_variables() -> None:
    """Of three variables P(all < 0) = 1/8 + Σ asin(r) / 4π, and independent ones have a product."""
    cdf, zero = stats.multivariate_normal.cdf, np.zeros(3)

    def orthant(r: Any) -> Any:
        rows = [[1.0, r[0], r[1]], [r[0], 1.0, r[2]], [r[1], r[2], 1.0]]
        return cdf(zero, zero, np.array(rows))

    r, left = np.array([0.3, -0.2, 0.4]), np.sqrt(1.0 - np.array([0.3, -0.2, 0.4]) ** 2)
    adopted = hoad.adopt(orthant)
    assert abs(hoad.value_and_grad(adopted)(r)[0] - 0.125 - np.sum(np.arcsin(r)) / (4 * np.pi)) < 1e-4  # SciPy's error
    np.testing.assert_allclose(hoad.jit(hoad.grad(adopted))(r), 1.0 / (4 * np.pi * left), rtol=1e-12)
    np.testing.assert_allclose(hoad.hessian(adopted)(r), np.diag(r / left**3) / (4 * np.pi), rtol=1e-12, atol=1e-15)

    scales, x = np.array([1.0, 2.0, 0.5]), np.array([0.3, 0.7, -0.1])
    apart = hoad.adopt(lambda x: cdf(x, zero, np.diag(scales**2)))
    product = lambda x: np.prod(scipy_special.ndtr(x / scales))  # noqa: E731
    np.testing.assert_allclose(hoad.hessian(apart)(x), hoad.hessian(product)(x), rtol=1e-12)


def _below_of_t(p: Any, q: Any, a: Any, b: Any, c: Any, v: Any) -> Any:
    """∫ of the density of one variable times the distribution of the other, given it, which is a t distribution too."""

    def inside(x: Any) -> Any:
        z = (q - b / a * x) / mp.sqrt((c - b * b / a) * (v + x * x / a) / (v + 1))
        k = mp.gamma(v / 2 + 1) / mp.gamma((v + 1) / 2) / mp.sqrt(mp.pi * (v + 1))
        other = mp.mpf(1) / 2 + z * k * mp.hyp2f1(0.5, v / 2 + 1, 1.5, -z * z / (v + 1))
        density = mp.gamma((v + 1) / 2) / mp.gamma(v / 2) / mp.sqrt(v * mp.pi * a)
        return density * (1 + x * x / (a * v)) ** (-(v + 1) / 2) * other

    return mp.quad(inside, [-mp.inf, -10, -2, p])


@pytest.mark.skipif(not hasattr(stats._multivariate, "_qmvt"), reason="older releases end in other compiled functions")
@pytest.mark.parametrize("v", [0.6, 4.5])
def test_boxes_of_t_variables(v: float) -> None:
    def below(p: Any, q: Any, a: Any, b: Any, c: Any, v: Any) -> Any:
        return stats.multivariate_t.cdf(np.array([p, q]), np.zeros(2), np.array([[a, b], [b, c]]), v)

    point = (0.3, -0.2, 2.0, 0.4, 1.5, v)
    value, slopes = hoad.value_and_grad(hoad.adopt(below), argnums=tuple(range(6)))(*point)
    with mp.workdps(18):
        assert value == pytest.approx(float(_below_of_t(*point)), rel=1e-9)
        for k in (1, 3, 5):
            beside = [_below_of_t(*point[:k], point[k] + h, *point[k + 1 :]) for h in (1e-5, -1e-5)]
            assert slopes[k] == pytest.approx(float((beside[0] - beside[1]) / 2e-5), rel=1e-7)
    assert value == pytest.approx(below(*point), abs=2e-3)  # SciPy's error, for few degrees of freedom
    # P(all < 0) = 1/4 + asin(r) / 2π, whatever v
    orthant = hoad.adopt(lambda r: below(0.0, 0.0, 1.0, r, 1.0, v))
    np.testing.assert_allclose(hoad.derivatives(orthant, 2)(0.6)[1:], [1 / 1.6 / np.pi, 0.6 / 1.024 / np.pi], rtol=1e-9)
    as_normal = stats.multivariate_normal.cdf(point[:2], np.zeros(2), [[2.0, 0.4], [0.4, 1.5]])
    for many in (1e7, 1e9, np.inf):
        assert hoad.value_and_grad(hoad.adopt(below))(*point[:-1], many)[0] == pytest.approx(as_normal, rel=1e-6)
    with pytest.raises(hoad.NoRuleError, match=r"0\.4 degrees of freedom"):
        hoad.grad(hoad.adopt(below))(*point[:-1], 0.2)


@pytest.mark.parametrize("values", [(1.0, 1.0, 1.0), (1.0, 1.0, 2.0), (1.0, 1.0 + 1e-12, 2.0)])
def test_densities_where_eigenvalues_of_the_covariance_are_equal(values: tuple[float, ...]) -> None:
    """log p = -log det(S)/2 - xᵀ S⁻¹ x/2 + ..."""
    x, v = np.array([1.0, 2.0, 0.5]), np.array(values)
    density = hoad.adopt(lambda s: stats.multivariate_normal.logpdf(x, cov=s))
    by_s = hoad.jit(hoad.grad(density))(np.diag(v))
    np.testing.assert_allclose(by_s + by_s.T, np.outer(x / v, x / v) - np.diag(1.0 / v), rtol=1e-11, atol=1e-11)
    by_v = hoad.hessian(lambda v: density(np.diag(v)))(v)
    np.testing.assert_allclose(by_v, np.diag(0.5 / v**2 - x**2 / v**3), rtol=1e-10, atol=1e-10)
