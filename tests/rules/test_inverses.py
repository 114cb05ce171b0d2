"""What solves for a shape: its derivatives are those of the equation at SciPy's own value, of however many digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sc
from mpmath import mp

import hoad


def _beta(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def _gamma(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def _f(dfn: Any, dfd: Any, x: Any) -> Any:
    return _beta(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x))


def _t(df: Any, t: Any) -> Any:
    return 1 - _beta(df / 2, mp.mpf(1) / 2, df / (df + t * t)) / 2


def _noncentral_f(dfn: Any, dfd: Any, nc: Any, f: Any) -> Any:
    a, b, u = dfn / 2, dfd / 2, dfn * f / (dfd + dfn * f)
    return mp.nsum(
        lambda j: mp.exp(-nc / 2) * (nc / 2) ** j / mp.factorial(j) * _beta(a + j, b, u), [0, 60], method="d"
    )


# Of each: the equation F = 0 of what is solved for, then of the operands, where it is tried and which of them move
EQUATIONS: dict[str, tuple[Callable[..., Any], list[tuple[float, ...]], tuple[int, ...]]] = {
    "bdtrik": (lambda k, y, n, p: _beta(n - k, k + 1, 1 - p) - y, [(0.4, 7.0, 0.3), (0.9, 40.5, 0.7)], (0, 1, 2)),
    "bdtrin": (lambda n, k, y, p: _beta(n - k, k + 1, 1 - p) - y, [(2.0, 0.4, 0.3), (3.5, 0.8, 0.6)], (0, 1, 2)),
    "nbdtrik": (lambda k, y, n, p: _beta(n, k + 1, p) - y, [(0.4, 3.0, 0.3), (0.8, 2.5, 0.2)], (0, 1, 2)),
    "nbdtrin": (lambda n, k, y, p: _beta(n, k + 1, p) - y, [(2.0, 0.4, 0.3), (6.5, 0.9, 0.6)], (0, 1, 2)),
    "pdtrik": (lambda k, y, m: 1 - _gamma(k + 1, m) - y, [(0.4, 2.5), (0.9, 30.0)], (0, 1)),
    "btdtria": (lambda a, y, b, x: _beta(a, b, x) - y, [(0.4, 2.5, 0.3), (0.05, 20.0, 0.2)], (0, 1, 2)),
    "btdtrib": (lambda b, a, y, x: _beta(a, b, x) - y, [(1.5, 0.4, 0.3), (20.0, 0.7, 0.6)], (0, 1, 2)),
    "fdtridfd": (lambda d, n, y, x: _f(n, d, x) - y, [(3.0, 0.4, 0.7), (10.0, 0.77, 2.0)], (0, 1, 2)),
    "stdtridf": (lambda v, y, t: _t(v, t) - y, [(0.8, 0.95), (0.95, 1.8)], (0, 1)),
    "chdtriv": (lambda v, y, x: _gamma(v / 2, x / 2) - y, [(0.4, 3.0), (0.9, 40.0)], (0, 1)),
    "gdtrib": (lambda b, a, y, x: _gamma(b, a * x) - y, [(1.3, 0.4, 2.0), (0.2, 0.9, 60.0)], (0, 1, 2)),
    "ncfdtrinc": (lambda nc, n, d, y, f: _noncentral_f(n, d, nc, f) - y, [(3.0, 5.0, 0.4, 1.2)], (2, 3)),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_slopes_at_the_value(name: str) -> None:
    equation, places, moving = EQUATIONS[name]
    function = getattr(sc, name)
    for place in places:
        found = hoad.grad(function, argnums=moving)(*place)
        with mp.workdps(50):
            at = [mp.mpf(float(function(*place))), *map(mp.mpf, place)]
            h = mp.mpf(10) ** -14

            def slope(k: int, f: Any = equation, at: Any = at, h: Any = h) -> Any:
                above, below = ([x + s * h * (j == k) for j, x in enumerate(at)] for s in (1, -1))
                return f(*above) - f(*below)

            want = [float(-slope(k + 1) / slope(0)) for k in moving]
        np.testing.assert_allclose(found, want, rtol=4e-13, err_msg=f"{place}")


@pytest.mark.parametrize("operand", [0, 1])
def test_degrees_of_freedom_beside_a_noncentrality_are_refused(operand: int) -> None:
    with pytest.raises(hoad.NoRuleError, match=r"ncfdtrinc has no derivative with respect to dfn, dfd .*p and f"):
        hoad.grad(sc.ncfdtrinc, argnums=operand)(3.0, 5.0, 0.4, 1.2)


def test_arrays() -> None:
    """Broadcast against each other; edges have no derivative, or none that is finite."""
    y, x = np.array([[0.2], [0.7]]), np.array([1.5, 3.0, 8.0])
    value, whole = hoad.jvp(lambda y: sc.chdtriv(y, x), (y,), (np.ones((2, 1)),))
    np.testing.assert_array_equal(value, sc.chdtriv(y, x))
    each = [[hoad.grad(sc.chdtriv)(p, q) for q in x.tolist()] for p in y[:, 0].tolist()]
    np.testing.assert_allclose(whole, each, rtol=1e-13)
    assert np.isnan(hoad.grad(sc.chdtriv)(np.nan, 2.0))
    assert not np.isfinite(hoad.grad(sc.chdtriv)(0.0, 2.0))
