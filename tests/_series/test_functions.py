"""Functions of NumPy and SciPy that take the value of a series: against mpmath and closed forms."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy
import scipy.special as special
from numpy.testing import assert_allclose
from rules.cases import second_kind

import hoad
from hoad import TaylorSeries
from hoad.errors import NoRuleError

X0, N = 0.3, 8


def exactly(f: Callable[[Any], Any], degree: int = N) -> list[complex]:
    """Coefficients about X0 of a function of mpmath."""
    with mpmath.workdps(60):
        return [float(mpmath.re(c)) for c in mpmath.taylor(f, mpmath.mpf(X0), degree)]


X = TaylorSeries.variable(N, X0)
S = np.sin(X) + 1.2  # a series that meets the functions below
U = np.exp(X)
MATRIX = np.stack([np.stack([S, U]), np.stack([U, S])])


def s(x: Any) -> Any:
    return mpmath.sin(x) + mpmath.mpf(1.2)


CASES = [
    ("erf", lambda: special.erf(S), lambda x: mpmath.erf(s(x))),
    ("gammaln", lambda: special.gammaln(S), lambda x: mpmath.loggamma(s(x))),
    ("digamma", lambda: special.digamma(S), lambda x: mpmath.digamma(s(x))),
    ("j0", lambda: special.j0(S), lambda x: mpmath.besselj(0, s(x))),
    ("k0", lambda: special.k0(S), lambda x: second_kind(0, s(x), 1)),
    ("jv", lambda: special.jv(1.5, S), lambda x: mpmath.besselj(1.5, s(x))),
    ("expit", lambda: special.expit(S), lambda x: 1 / (1 + mpmath.exp(-s(x)))),
    ("xlogy", lambda: special.xlogy(S, U), lambda x: s(x) * x),
    ("logaddexp", lambda: np.logaddexp(S, U), lambda x: mpmath.log(mpmath.exp(s(x)) + mpmath.exp(mpmath.exp(x)))),
    ("maximum", lambda: np.maximum(S, U), lambda x: s(x)),
    ("maximum with a number", lambda: np.maximum(1.0, S), lambda x: s(x)),
    ("copysign", lambda: np.copysign(S, -1.0), lambda x: -s(x)),
    ("floor", lambda: np.floor(S), lambda x: mpmath.mpf(1)),
    ("sinc", lambda: np.sinc(S), lambda x: mpmath.sincpi(s(x))),
    ("where", lambda: np.where(S[0] > 5, U, S), s),
    ("where of a number", lambda: np.where(S[0] > 5, S, 2.0), lambda x: mpmath.mpf(2)),
    ("clip", lambda: np.clip(S, 0.0, 5.0), s),
    ("polyval", lambda: np.polyval([2.0, 0.0, -1.0], S), lambda x: 2 * s(x) ** 2 - 1),
    ("dot", lambda: np.dot(S, U), lambda x: s(x) * mpmath.exp(x)),
    ("inner", lambda: np.inner(np.stack([S, U]), np.stack([U, U])), lambda x: (s(x) + mpmath.exp(x)) * mpmath.exp(x)),
    ("det", lambda: np.linalg.det(MATRIX), lambda x: s(x) ** 2 - mpmath.exp(2 * x)),
    ("inv", lambda: np.linalg.inv(S * np.eye(1) * 2) @ np.ones(1), lambda x: 1 / (2 * s(x))),
    ("norm", lambda: np.linalg.norm(np.stack([S, U])), lambda x: mpmath.sqrt(s(x) ** 2 + mpmath.exp(2 * x))),
]  # fmt: skip


@pytest.mark.parametrize(("make", "exact"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_functions_of_the_value(make: Callable[[], TaylorSeries], exact: Callable[[Any], Any]) -> None:
    found = make()
    assert isinstance(found, TaylorSeries) and found.point == X0 and found.degree == N
    coefficients = np.reshape(found.coefficients, N + 1)
    expected = np.array(exactly(exact))
    assert_allclose(coefficients, expected, rtol=0, atol=1e-13 * np.max(np.abs(expected)))


def test_lists_of_series_are_series_of_vectors() -> None:
    expected = np.stack([np.stack([S[k], U[k]]) for k in range(N + 1)])
    assert_allclose(np.stack([S, U]).coefficients, expected, rtol=1e-15)
    assert_allclose(np.add(S, [S, U]).coefficients, expected + np.asarray(S)[:, None], rtol=1e-15)
    assert_allclose(np.hypot(0 * U, [S, U]).coefficients, expected, rtol=1e-13, atol=1e-15)
    assert np.stack([S, U], axis=-1).shape == (2,)


def test_chosen_entry_by_entry() -> None:
    mask = np.array([True, False, True])
    for second, exact in ((U, np.asarray(U)), (2.0, 2.0 * np.eye(N + 1)[0])):
        expected = np.where(mask, np.asarray(S)[:, None], exact[:, None])
        assert_allclose(np.where(mask, S, second).coefficients, expected, rtol=1e-15)
        assert_allclose(np.where(~mask, second, S).coefficients, expected, rtol=1e-15)


def test_to_the_lower_degree_and_about_one_point() -> None:
    assert np.logaddexp(S.truncate(3), U).degree == 3
    with pytest.raises(hoad.ArgumentError, match="do not meet"):
        np.logaddexp(S, TaylorSeries.variable(3))


def test_each_point_has_its_own() -> None:
    points = np.array([0.2, 1.5])
    found = special.erf(TaylorSeries.variable(4, points))
    for k, x in enumerate(points):
        exact = [float(c) for c in mpmath.taylor(mpmath.erf, x, 4)]
        assert_allclose(found[:, k], exact, rtol=1e-13, atol=1e-15)
    assert np.array_equal(found.point, points)
    with pytest.raises(NoRuleError, match="different points"):
        np.inner(found, found)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_precision_is_kept(dtype: Any) -> None:
    x = TaylorSeries(np.array([0.5, 1.0, 0.0], dtype))
    for found in (np.real(x), np.where(True, x, x), np.dot(x, x), np.polyval(np.array([1.0, 2.0], dtype), x)):
        assert found.dtype.itemsize == (4 if found.dtype.kind == "f" else 8)


def test_in_derivatives() -> None:
    """d/da of the second coefficient of erf(a + t), erf''(a)/2, is erf'''(a)/2."""

    def second(a: Any) -> Any:
        return special.erf(TaylorSeries.variable(3, a))[2]

    exact = float(mpmath.diff(mpmath.erf, 0.4, 3)) / 2
    for driver in (hoad.grad, hoad.derivative):
        assert_allclose(driver(second)(0.4), exact, rtol=1e-12)
    assert_allclose(hoad.jit(hoad.grad(second))(0.4), exact, rtol=1e-12)
    assert_allclose(hoad.vmap(second)(np.array([0.4])), [float(mpmath.diff(mpmath.erf, 0.4, 2)) / 2], rtol=1e-12)


def test_singular_points_of_them() -> None:
    with pytest.raises(hoad.DomainError, match=r"scipy\.special\.k0 of a series comes out as inf at the point"):
        special.k0(TaylorSeries.variable(3))
    with pytest.raises(hoad.DomainError, match=r"scipy\.special\.jv .*highest order that exists is 0"):
        special.jv(0.5, TaylorSeries.variable(3))


@pytest.mark.parametrize("f", [lambda s: s.pade(1, 1)(0.1), lambda s: s.radius(), lambda s: s.to_polynomial()(0.1)])
def test_what_looks_at_numbers(f: Callable[[TaylorSeries], Any]) -> None:
    def at(x: Any) -> Any:
        return f(hoad.taylor(np.exp, x, 4))

    with pytest.raises(hoad.TracedValueError, match=r"TaylorSeries\.\w+ looks .*test_functions.*differentiated"):
        hoad.grad(at)(1.0)
    with pytest.warns(hoad.JitWarning, match=r"TaylorSeries\.\w+ looks .*outside of jit"):
        assert str(hoad.jit(at)(1.0)) == str(at(1.0))


LISTS: list[tuple[str, Callable[[TaylorSeries], Any]]] = [
    ("scipy.special.logsumexp", lambda s: special.logsumexp([s, s])),
    ("scipy.linalg.norm", lambda s: scipy.linalg.norm([s, s])),
    ("scipy.fft.fft", lambda s: scipy.fft.fft([s, s])),
    ("scipy.interpolate.CubicSpline", lambda s: scipy.interpolate.CubicSpline([0.0, 1.0], [s, s])),
    ("scipy.stats.norm.pdf", lambda s: scipy.stats.norm.pdf([s, s])),
]


@pytest.mark.parametrize(("name", "f"), LISTS, ids=[name for name, _ in LISTS])
def test_functions_of_a_list_are_named_as_users_write_them(name: str, f: Callable[[TaylorSeries], Any]) -> None:
    with pytest.raises(NoRuleError, match=rf"^{re.escape(name)} would take a TaylorSeries .*test_functions"):
        f(S)
    with pytest.raises(NoRuleError, match=r"^scipy\.special\.erf\(\.\.\., out=\) does not take"):
        special.erf(S, out=np.ones(3))
