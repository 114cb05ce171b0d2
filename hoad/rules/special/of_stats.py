"""Ufuncs that SciPy keeps for `scipy.stats`: densities and inverses of distributions, made by Boost.

They are not public, and not in every release.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad.rules.special.beta import beta_density, beta_slopes
from hoad.rules.special.define import define, sc, solved, unknown


def _beta_pdf(g, p, x, a, b):
    total = sc.psi(a + b)
    by_x = (a - 1.0) / x - (b - 1.0) / (1.0 - x)
    return g * (p * by_x), g * (p * (np.log(x) - sc.psi(a) + total)), g * (p * (np.log1p(-x) - sc.psi(b) + total))


def _beta_ppf(g, p, q, a, b):
    first, second, by_q = solved(g, beta_slopes(a, b, p))
    return by_q, first, second


def _binom_pmf(g, p, k, n, x):
    return *2 * (unknown("_binom_pmf", "k, n"),), g * (p * (k / x - (n - k) / (1.0 - x)))


def _binom(sign):
    def rule(g, p, k, n, x):
        whole = np.floor(k)
        return *2 * (unknown("_binom_cdf", "k, n"),), sign * g * beta_density(whole + 1.0, n - whole, x)

    return rule


def _nbinom_pmf(g, p, k, r, x):
    by_r = sc.psi(k + r) - sc.psi(r) + np.log(x)
    return unknown("_nbinom_pmf", "k", "r and p"), g * (p * by_r), g * (p * (r / x - k / (1.0 - x)))


def _nbinom(sign):
    """I_x(r, k + 1), or 1 less that."""

    def rule(g, p, k, r, x):
        first, _, density = beta_slopes(r, np.floor(k) + 1.0, x)
        return unknown("_nbinom_cdf", "k", "r and p"), sign * g * first, sign * g * density

    return rule


def _cauchy(sign):
    """loc ± scale tan(π (q - 1/2))."""

    def rule(g, p, q, loc, scale):
        ratio = (p - loc) / scale
        return sign * g * (np.pi * scale * (1.0 + ratio * ratio)), g, g * ratio

    return rule


RULES: dict[str, Callable[..., Any]] = {
    "_beta_pdf": _beta_pdf,
    "_beta_ppf": _beta_ppf,
    "_binom_cdf": _binom(-1.0),
    "_binom_pmf": _binom_pmf,
    "_binom_sf": _binom(1.0),
    "_cauchy_isf": _cauchy(-1.0),
    "_cauchy_ppf": _cauchy(1.0),
    "_nbinom_cdf": _nbinom(1.0),
    "_nbinom_kurtosis_excess": lambda g, p, r, x: (-(g * (p / r)), g * (x * (2.0 - x) / (r * (1.0 - x) ** 2))),
    "_nbinom_mean": lambda g, p, r, x: (g * (p / r), -(g * (r / (x * x)))),
    "_nbinom_pmf": _nbinom_pmf,
    "_nbinom_sf": _nbinom(-1.0),
    "_nbinom_skewness": lambda g, p, r, x: (-(g * (0.5 * p / r)), g * (p * (0.5 / (1.0 - x) - 1.0 / (2.0 - x)))),
    "_nbinom_variance": lambda g, p, r, x: (g * (p / r), -(g * (r * (2.0 - x) / (x * x * x)))),
}
# Quantiles that are counts: constant between steps.
STEPS = dict.fromkeys(("_binom_isf", "_binom_ppf", "_nbinom_isf", "_nbinom_ppf"), lambda g, p, *_: (None,) * 3)
for _name, _rule in {**RULES, **STEPS}.items():
    if hasattr(sc._ufuncs, _name):
        define(getattr(sc._ufuncs, _name), _rule, name=f"scipy.special.{_name}", is_constant=_name in STEPS)
