"""Names that hoad has no function for are SciPy's, adopted: distributions as objects, functions, and constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

st = pytest.importorskip("scipy.stats")

import scipy.sparse as sp  # noqa: E402
import scipy.special as sc  # noqa: E402
from _scipy.orders import assert_orders  # noqa: E402

import hoad  # noqa: E402
from hoad.scipy import optimize, sparse, spatial, special, stats  # noqa: E402

# What is called, its function of p, and the formula.
ROWS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "norm.logpdf": (
        lambda p: stats.norm.logpdf(0.5, 0.25, p),
        lambda p: -mp.log(p) - mp.log(2 * mp.pi) / 2 - (0.25 / p) ** 2 / 2,
    ),
    "norm, frozen": (lambda p: stats.norm(0.25, p).cdf(0.5), lambda p: mp.ncdf(0.25 / p)),
    "norm.ppf": (lambda p: stats.norm.ppf(0.5, p, p * p), lambda p: p),
    "expon.sf": (lambda p: stats.expon.sf(0.5, scale=p), lambda p: mp.exp(-0.5 / p)),
    "gamma.logpdf": (
        lambda p: stats.gamma.logpdf(1.25, p),
        lambda p: (p - 1) * mp.log(1.25) - 1.25 - mp.loggamma(p),
    ),
    "poisson.logpmf": (lambda p: stats.poisson.logpmf(3, p), lambda p: 3 * mp.log(p) - p - mp.log(6)),
    "binom.logpmf": (
        lambda p: stats.binom.logpmf(2, 5, 0.25 * p),
        lambda p: mp.log(10) + 2 * mp.log(0.25 * p) + 3 * mp.log(1 - 0.25 * p),
    ),
    "lognorm.mean": (lambda p: stats.lognorm.mean(p), lambda p: mp.exp(p * p / 2)),
    "entropy": (
        lambda p: stats.entropy(np.array([1.0, 2.0]) * p + np.array([1.0, 0.0])),
        lambda p: -sum(x * mp.log(x) for x in ((p + 1) / (3 * p + 1), 2 * p / (3 * p + 1))),
    ),
    "multivariate_normal": (
        lambda p: stats.multivariate_normal.logpdf(np.array([0.5, 0.25]), p * np.ones(2), np.eye(2)),
        lambda p: -((p - 0.5) ** 2 + (p - 0.25) ** 2) / 2 - mp.log(2 * mp.pi),
    ),
    "logsumexp": (
        lambda p: special.logsumexp(np.array([1.0, 2.0]) * p),
        lambda p: mp.log(mp.exp(p) + mp.exp(2 * p)),
    ),
    "softmax": (lambda p: special.softmax(np.array([1.0, 2.0]) * p)[1], lambda p: 1 / (1 + mp.exp(-p))),
    "gammaln": (lambda p: special.gammaln(p), mp.loggamma),
}


@pytest.mark.parametrize("name", ROWS)
def test_derivatives(name: str) -> None:
    f, reference = ROWS[name]
    assert_orders(f, reference, 1.5, 1.75)


def test_plain_calls_are_scipys() -> None:
    x = np.linspace(-1.0, 1.0, 5)
    np.testing.assert_array_equal(stats.norm.logpdf(x, 0.5, 2.0), st.norm.logpdf(x, 0.5, 2.0))
    np.testing.assert_array_equal(stats.norm(0.5).cdf(x), st.norm(0.5).cdf(x))
    np.testing.assert_array_equal(special.logsumexp(x), sc.logsumexp(x))
    assert repr(stats.norm) == repr(st.norm)


def test_what_the_names_stand_for() -> None:
    assert special.erf is sc.erf
    assert special.expit is sc.expit
    assert optimize.OptimizeWarning.__module__.startswith("scipy.")
    assert spatial.distance.cdist is hoad.scipy.spatial.distance.cdist
    assert sparse.linalg is hoad.scipy.sparse.linalg
    for module in (special, stats, optimize):
        with pytest.raises(AttributeError, match="nothing_like_it"):
            module.nothing_like_it  # noqa: B018
        with pytest.raises(AttributeError, match="_private"):
            module._private  # noqa: B018


def test_what_a_function_returns_to_be_called_is_adopted() -> None:
    """A spline is evaluated at a traced place, or holds traced coefficients, outside of the call that made it."""
    from hoad.scipy import interpolate

    x, y = np.linspace(0.0, 3.0, 7), np.linspace(0.0, 3.0, 7) ** 2
    for made in (interpolate.make_interp_spline, interpolate.CubicSpline):
        assert hoad.grad(lambda t, made=made: made(x, y)(t))(1.3) == pytest.approx(2.6)
        assert np.sum(hoad.grad(lambda y, made=made: made(x, y)(1.3))(y)) == pytest.approx(1.0)
    slope = hoad.grad(lambda y: interpolate.CubicSpline(x, y).derivative()(1.3))(y)
    assert slope @ y == pytest.approx(2.6)


def test_numpy_leaves_products_to_sparse_arrays() -> None:
    a = np.array([[1.0, 2.0], [0.0, 3.0]])
    np.testing.assert_array_equal(np.ones(2) @ sparse.csr_array(a), np.sum(a, 0))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: stats.weightedtau(x, x**2).statistic,
        lambda x: sparse.linalg.spsolve_triangular(sp.csr_array(np.eye(4)), x)[0],
        lambda x: optimize.isotonic_regression(x).x[0],
        lambda x: optimize.direct(lambda z: (z[0] - x[0]) ** 2, [(-1.0, 2.0)], maxiter=2).x[0],
    ],
)
def test_compiled_code_is_told_of(call: Callable[[Any], Any]) -> None:
    """By an error of hoad's, not by what compiled code says of an object that it does not know."""
    x = np.array([0.3, 0.7, 0.1, 0.9])
    with pytest.raises((hoad.TracedValueError, hoad.NoRuleError)):
        hoad.jvp(call, (x,), (x,))
