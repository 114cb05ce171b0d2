"""Rows of the table of cases for distribution functions by their shapes, and for ufuncs of `scipy.stats` only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc
from mpmath import mp
from rules.sampling import Sampler, between, positive
from rules.special_cases import Function, elementwise
from rules.special_distributions import _f, _lower, _t, solved


def by_shapes(
    name: str,
    f: Function,
    oracle: Function,
    *at: Sampler,
    label: str = "",
    tolerance: float = 1e-12,
    single: bool = True,
) -> None:
    """A row by shapes, beside those of the same ufunc by its last argument."""
    elementwise(
        f"special_{name}_by_shapes{label}", f, oracle, *at, uses=[f"scipy.special.{name}"], room="special",
        singular=[1.0], tolerance=1e-12, closes=False, single=single,
    )  # fmt: skip


def _chi_square(v: Any, x: Any) -> Any:
    return mp.gammainc(v / 2, 0, x / 2, regularized=True)


def _gamma(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def _gamma_inverse(a: Any) -> Any:
    """Where P(a, x) = 3/8."""
    return solved(lambda x: _gamma(a, x) - 0.375, a / 3, a)


SHAPES, POINTS = positive(0.4, 6.0), between(0.1, 0.9)
INNER = between(1.0, 4.0)  # where what is solved for begins well
X, REST = 0.375, 0.625
by_shapes("betainc", lambda a, b: sc.betainc(a, b, X), lambda a, b: _lower(a, b, X), SHAPES, SHAPES)
by_shapes("betainc", lambda a, x: sc.betainc(a, 2.5, x), lambda a, x: _lower(a, 2.5, x), SHAPES, POINTS, label="_at")
by_shapes("betaincc", lambda a, b: sc.betaincc(a, b, X), lambda a, b: 1 - _lower(a, b, X), SHAPES, SHAPES)
by_shapes("betaincinv", lambda a, y: sc.betaincinv(a, 1.0, y), lambda a, y: y ** (1 / a), SHAPES, POINTS)
by_shapes("betainccinv", lambda b, y: sc.betainccinv(1.0, b, y), lambda b, y: 1 - y ** (1 / b), SHAPES, POINTS)
by_shapes("gammaincinv", lambda a: sc.gammaincinv(a, X), _gamma_inverse, INNER, single=False)
by_shapes("gammainccinv", lambda a: sc.gammainccinv(a, REST), _gamma_inverse, INNER, single=False)
by_shapes("chdtr", sc.chdtr, _chi_square, positive(0.6, 10.0), positive(0.5, 12.0))
by_shapes("chdtrc", sc.chdtrc, lambda v, x: 1 - _chi_square(v, x), positive(0.6, 10.0), positive(0.5, 12.0))
by_shapes("chdtri", lambda a: sc.chdtri(2.0 * a, REST), lambda a: 2 * _gamma_inverse(a), INNER, single=False)
by_shapes("fdtr", lambda a, b: sc.fdtr(a, b, 0.8), lambda a, b: _f(a, b, mp.mpf(0.8)), SHAPES, SHAPES)
by_shapes("fdtr", lambda a, x: sc.fdtr(a, 2.5, x), lambda a, x: _f(a, 2.5, x), SHAPES, positive(0.2, 5.0), label="_at")
by_shapes("fdtrc", lambda a, b: sc.fdtrc(a, b, 0.8), lambda a, b: 1 - _f(a, b, mp.mpf(0.8)), SHAPES, SHAPES)
by_shapes("fdtri", lambda b, y: sc.fdtri(2.0, b, y), lambda b, y: b / 2 * ((1 - y) ** (-2 / b) - 1), SHAPES, POINTS)
by_shapes("stdtr", sc.stdtr, _t, positive(0.6, 10.0), between(-3.0, 3.0))
by_shapes(
    "stdtrit",
    lambda v: sc.stdtrit(v, 0.75),
    lambda v: solved(lambda t: _t(v, t) - 0.75, 0.7, 0.9),
    between(2.0, 8.0),
    single=False,
)
by_shapes("gdtr", lambda b, x: sc.gdtr(0.5, b, x), lambda b, x: _gamma(b, x / 2), SHAPES, SHAPES)
by_shapes("gdtrc", lambda b, x: sc.gdtrc(0.5, b, x), lambda b, x: 1 - _gamma(b, x / 2), SHAPES, SHAPES)
by_shapes("gdtria", lambda b: sc.gdtria(X, b, 2.0), lambda b: _gamma_inverse(b) / 2, INNER, single=False)
by_shapes("gdtrix", lambda b: sc.gdtrix(2.0, b, X), lambda b: _gamma_inverse(b) / 2, INNER, single=False)


# ---- what solves for a shape -----------------------------------------------------------------------------------------


def solves(name: str, of: tuple[Any, ...], oracle: Function, *at: Sampler, tolerance: float = 2e-10) -> None:
    """A row for exp(-y/2) of what is solved for, which may be nearly linear, by the operands that `of` leaves open."""

    def f(*xs: Any) -> Any:
        moving = iter(xs)
        return np.exp(-0.5 * getattr(sc, name)(*[next(moving) if x is None else x for x in of]))

    elementwise(
        f"special_{name}", f, lambda *xs: mp.exp(-oracle(*xs) / 2), *at, uses=[f"scipy.special.{name}"],
        room="special", closes=False, singular=[1.0], tolerance=tolerance, single=False,
    )  # fmt: skip


def _root(f: Function, low: float, high: float) -> Function:
    """What solves f(y, x) = 0 for y."""
    return lambda x: solved(lambda y: f(y, x), low, high)


solves("btdtria", (None, 1.0, None), lambda y, x: mp.log(y) / mp.log(x), POINTS, POINTS)
solves("btdtrib", (1.0, None, None), lambda y, x: mp.log(1 - y) / mp.log(1 - x), POINTS, POINTS)
solves("nbdtrin", (0.0, None, None), lambda y, p: mp.log(y) / mp.log(p), POINTS, POINTS)
solves(
    "nbdtrik", (None, 1.0, None), lambda y, p: mp.log(1 - y) / mp.log(1 - p) - 1, between(0.6, 0.9), between(0.1, 0.5)
)
solves("bdtrin", (0.0, None, None), lambda y, p: mp.log(y) / mp.log(1 - p), POINTS, POINTS)
solves(
    "bdtrik",
    (0.4, 7.0, None),
    _root(lambda k, p: _lower(7 - k, k + 1, 1 - p) - mp.mpf(0.4), 1.0, 3.0),
    between(0.25, 0.45),
)
solves(
    "fdtridfd", (3.0, 0.4, None), _root(lambda b, x: _f(mp.mpf(3), b, x) - mp.mpf(0.4), 2.0, 6.0), between(0.68, 0.71)
)
solves("stdtridf", (0.8, None), _root(lambda v, t: _t(v, t) - mp.mpf(0.8), 2.0, 6.0), between(0.91, 1.0))
solves("pdtrik", (0.4, None), _root(lambda k, m: 1 - _gamma(k + 1, m) - mp.mpf(0.4), 1.0, 3.0), between(1.5, 4.0))
solves("chdtriv", (0.4, None), _root(lambda v, x: _chi_square(v, x) - mp.mpf(0.4), 2.0, 6.0), between(2.0, 5.0))
solves(
    "gdtrib",
    (1.3, 0.4, None),
    _root(lambda b, x: _gamma(b, mp.mpf(1.3) * x) - mp.mpf(0.4), 2.0, 4.0),
    between(1.5, 3.0),
)


# ---- ufuncs of scipy.stats ------------------------------------------------------------------------------------------


def of_stats(name: str, call: Function, oracle: Function, *at: Sampler, label: str = "", closes: bool = True) -> None:
    """A row for a ufunc that is not in every release."""
    function = getattr(sc._ufuncs, name, None)
    if function is not None:
        elementwise(
            f"special_{name}{label}", lambda *xs: call(function, *xs), oracle, *at, room="special", closes=closes,
            uses=[f"scipy.special.{name}"], singular=[1.0], tolerance=1e-12, single=False,
        )  # fmt: skip


def _beta_pdf(x: Any, a: Any, b: Any) -> Any:
    return x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)


def _nbinom_pmf(r: Any, p: Any) -> Any:
    return mp.gamma(r + 3) / (6 * mp.gamma(r)) * p**r * (1 - p) ** 3


def _same(f: Callable[..., Any], *xs: Any) -> Any:
    return f(*xs)


of_stats("_beta_pdf", lambda f, a, b: f(X, a, b), lambda a, b: _beta_pdf(mp.mpf(X), a, b), SHAPES, SHAPES, closes=False)
of_stats(
    "_beta_pdf",
    lambda f, x, a: f(x, a, 2.5),
    lambda x, a: _beta_pdf(x, a, 2.5),
    POINTS,
    SHAPES,
    label="_at",
    closes=False,
)
of_stats("_beta_ppf", lambda f, y, a: f(y, a, 1.0), lambda y, a: y ** (1 / a), POINTS, SHAPES, closes=False)
of_stats("_binom_cdf", lambda f, p: f(2.0, 7.0, p), lambda p: _lower(5, 3, 1 - p), POINTS)
of_stats("_binom_pmf", lambda f, p: f(2.0, 7.0, p), lambda p: 21 * p**2 * (1 - p) ** 5, POINTS)
of_stats("_binom_sf", lambda f, p: f(2.0, 7.0, p), lambda p: _lower(3, 5, p), POINTS)
for _name, _share in (("_binom_ppf", 0.3), ("_binom_isf", 0.7)):
    of_stats(_name, lambda f, p, q=_share: f(q, 1.0, p), lambda p: mp.mpf(p > 0.7), POINTS)
for _name, _share in (("_nbinom_ppf", 0.3), ("_nbinom_isf", 0.7)):
    of_stats(
        _name, lambda f, p, q=_share: f(q, 1.0, p), lambda p: mp.ceil(mp.log(mp.mpf("0.7")) / mp.log(1 - p)) - 1, POINTS
    )
of_stats("_cauchy_isf", lambda f, q: f(q, 0.5, 1.5), lambda q: 0.5 + 1.5 * mp.cot(mp.pi * q), POINTS)
of_stats("_cauchy_ppf", lambda f, q: f(q, 0.5, 1.5), lambda q: 0.5 - 1.5 * mp.cot(mp.pi * q), POINTS)
of_stats(
    "_nbinom_cdf", lambda f, r, p: f(3.0, r, p), lambda r, p: _lower(r, mp.mpf(4), p), SHAPES, POINTS, closes=False
)
of_stats("_nbinom_kurtosis_excess", _same, lambda r, p: 6 / r + p * p / (r * (1 - p)), SHAPES, POINTS)
of_stats("_nbinom_mean", _same, lambda r, p: r * (1 - p) / p, SHAPES, POINTS)
of_stats("_nbinom_pmf", lambda f, r, p: f(3.0, r, p), _nbinom_pmf, SHAPES, POINTS, closes=False)
of_stats(
    "_nbinom_sf", lambda f, r, p: f(3.0, r, p), lambda r, p: 1 - _lower(r, mp.mpf(4), p), SHAPES, POINTS, closes=False
)
of_stats("_nbinom_skewness", _same, lambda r, p: (2 - p) / mp.sqrt(r * (1 - p)), SHAPES, POINTS)
of_stats("_nbinom_variance", _same, lambda r, p: r * (1 - p) / p**2, SHAPES, POINTS)
