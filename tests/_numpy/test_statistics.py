"""Means, spreads and order statistics on traced values: values as NumPy's, derivatives as an oracle's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import assert_same, check

import hoad

V = np.array([0.5, -1.25, 2.0])
L = np.array([0.5, -1.25, 2.0, 0.75, -0.3, 1.1])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
T = np.sin(np.arange(24.0)).reshape(2, 3, 4)
HOLES = np.array([[0.5, np.nan, 2.0], [1.5, 0.25, np.nan], [0.1, 0.2, 0.7]])
SOME = np.array([[True, False, True], [True, True, False]])

Case = tuple[str, Callable[[Any], Any], Any]

# NumPy's var of complex numbers takes absolute values, so that these are checked by differences.
SPREADS: list[Case] = [
    (f"{name}, {axis}, {ddof}, {keep}", lambda x, f=f, a=axis, d=ddof, k=keep: f(x, axis=a, ddof=d, keepdims=k), T)
    for name, f in (("var", np.var), ("std", np.std))
    for axis in (None, 1, (0, -1))
    for ddof, keep in ((0, False), (1, True))
]
SPREADS += [
    ("x.var()", lambda x: x.var(), M),
    ("x.std(0)", lambda x: x.std(0), M),
    ("var, where", lambda x: np.var(x, where=SOME), M),
    ("var, where, axis", lambda x: np.var(x, axis=1, where=SOME, keepdims=True), M),
    ("std, where, ddof", lambda x: np.std(x, axis=1, ddof=1, where=SOME), M),
    ("std, where of the values", lambda x: np.std(x, where=x > 0), M),
    ("var, correction", lambda x: np.var(x, correction=1), M),
    ("var, mean", lambda x: np.var(x, axis=0, mean=np.mean(x, axis=0, keepdims=True)), M),
    ("var of one", lambda x: np.var(x[:1]), V),
    ("ptp", np.ptp, M),
    ("ptp, axis", lambda x: np.ptp(x, axis=1), M),
    ("ptp, keepdims", lambda x: np.ptp(x, axis=0, keepdims=True), M),
    ("median", np.median, L),
    ("median of an odd number", np.median, V),
    ("median, axis", lambda x: np.median(x, axis=0), M),
    ("median, axes, keepdims", lambda x: np.median(x, axis=(0, 2), keepdims=True), T),
    ("percentile", lambda x: np.percentile(x, 30), L),
    ("percentile, several", lambda x: np.percentile(x, [0, 25, 70, 100], axis=-1), T),
    ("quantile, several, keepdims", lambda x: np.quantile(x, [[0.1, 0.5], [0.9, 1.0]], axis=1, keepdims=True), T),
    ("quantile of one", lambda x: np.quantile(x[:1], 0.3), V),
    *[
        (f"quantile, {method}", lambda x, m=method: np.quantile(x, [0.0, 0.1, 0.37, 0.5, 0.8, 1.0], method=m), L)
        for method in (
            *("linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased"),
            *("normal_unbiased", "interpolated_inverted_cdf"),
        )
    ],
]

MEANS: list[Case] = [
    ("average", np.average, M),
    ("average, axis", lambda x: np.average(x, axis=1), M),
    ("average, weights", lambda x: np.average(x, weights=[0.2, 0.3, 0.5]), V),
    ("average, weights, axis", lambda x: np.average(x, axis=1, weights=[0.2, 0.3, 0.5]), M),
    ("average, weights of all", lambda x: np.average(x, weights=M + 2, axis=0), M),
    ("average, weights, axes", lambda x: np.average(x, axis=(2, 0), weights=1 + np.ones((4, 2)).cumsum(0)), T),
    ("average, traced weights", lambda x: np.average(V, weights=x**2), V),
    ("average, keepdims", lambda x: np.average(x, axis=0, keepdims=True), M),
    ("average, returned", lambda x: np.average(x, weights=x + 3, returned=True)[1], V),
    ("cov", np.cov, M),
    ("cov of columns", lambda x: np.cov(x, rowvar=False, ddof=0), T[0]),
    ("cov of two", lambda x: np.cov(x, [1.0, 3.0, 2.0], bias=True), V),
    ("cov of a vector", np.cov, V),
]


@pytest.mark.parametrize(("f", "x"), [c[1:] for c in SPREADS], ids=[c[0] for c in SPREADS])
def test_spreads_and_order_statistics(f: Callable[[Any], Any], x: Any) -> None:
    check(f, x, analytic=False, exact=False)


@pytest.mark.parametrize(("f", "x"), [c[1:] for c in MEANS], ids=[c[0] for c in MEANS])
def test_means(f: Callable[[Any], Any], x: Any) -> None:
    check(f, x, analytic=False, exact=False)


def test_the_standard_deviation_of_equal_items_has_the_subgradient_0() -> None:
    np.testing.assert_array_equal(hoad.grad(np.std)(np.ones(3)), np.zeros(3))
    np.testing.assert_allclose(hoad.hessian(np.var)(np.ones(3)), 2 / 3 * (np.eye(3) - 1 / 3), rtol=1e-15)


def test_nan_in_order_statistics() -> None:
    x = np.array([1.0, np.nan, 2.0])
    for f in (np.median, lambda x: np.quantile(x, 0.2)):
        assert np.isnan(hoad.value_and_grad(f)(x)[0])


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize(
    "f", [np.nansum, np.nanmean, np.nanvar, np.nanstd, np.nanprod, np.nanmax, np.nanmin, np.nancumsum, np.nancumprod]
)
def test_nan_left_out(f: Callable[..., Any], axis: Any) -> None:
    def g(x: Any) -> Any:
        return f(x, axis=axis)

    filled = np.where(np.isnan(HOLES), 0.0, HOLES)

    def by_items(y: Any) -> Any:
        return f(np.where(np.isnan(HOLES), np.nan, y), axis=axis)

    value, jacobian = hoad.jvp(g, (HOLES,), (np.ones_like(HOLES),))[0], hoad.jacobian(g)(HOLES)
    np.testing.assert_allclose(value, g(HOLES), rtol=1e-14)
    steps = np.eye(9).reshape(9, 3, 3) * 1e-6
    wanted = np.stack([(by_items(filled + h) - by_items(filled - h)) / 2e-6 for h in steps], axis=-1)
    np.testing.assert_allclose(jacobian.reshape(wanted.shape), wanted, atol=1e-8)


def test_the_extreme_of_nothing_but_nan_is_nan() -> None:
    x = np.array([[np.nan, np.nan], [1.0, np.nan]])
    for f in (np.nanmax, np.nanmin):
        value, tangent = hoad.jvp(lambda x, f=f: f(x, axis=1), (x,), (np.ones((2, 2)),))
        np.testing.assert_array_equal(value, [np.nan, 1.0])
        np.testing.assert_array_equal(tangent, [0.0, 1.0])


def test_nan_to_num() -> None:
    x = np.array([1.0, np.nan, np.inf, -np.inf])
    assert_same(hoad.jvp(np.nan_to_num, (x,), (np.ones(4),))[0], np.nan_to_num(x))
    np.testing.assert_array_equal(hoad.jacobian(lambda x: np.nan_to_num(x, nan=3.0, posinf=1.0))(x)[0], [1, 0, 0, 0])


def test_float32_stays() -> None:
    x = M.astype(np.float32)
    for f in (np.var, np.std, np.median, np.average, lambda x: np.quantile(x, np.float32(0.3))):
        value, gradient = hoad.value_and_grad(f)(x)
        assert np.asarray(value).dtype == np.asarray(f(x)).dtype == gradient.dtype == np.float32


def test_covariances_are_in_double_precision_as_in_numpy() -> None:
    x = M.astype(np.float32)
    assert_same(hoad.jvp(np.cov, (x,), (x,))[0], np.cov(x))
    assert hoad.jvp(lambda y: np.cov(y, y**2), (x[0],), (x[0],))[0].dtype == np.float64


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize(("m", "y"), [((3, 1), (1, 3)), ((3, 2), (3, 1)), ((3, 1), (3,))])
def test_a_single_row_of_the_second_argument_is_one_variable(m: Any, y: Any, ddof: int) -> None:
    x, other = np.cos(np.arange(float(np.prod(m)))).reshape(m), np.sin(np.arange(3.0)).reshape(y)
    found = hoad.jvp(lambda x: np.cov(x, other, rowvar=False, ddof=ddof), (x,), (x,))[0]
    np.testing.assert_allclose(found, np.cov(x, other, rowvar=False, ddof=ddof), rtol=1e-14)


def test_a_single_row_of_the_first_argument_is_what_numpy_has() -> None:
    """Several variables; one before NumPy 2.2, and then two rows are two."""
    x = np.arange(3.0)[None]
    wanted = np.cov(x, rowvar=False, ddof=0)
    np.testing.assert_array_equal(hoad.jvp(lambda x: np.cov(x, rowvar=False, ddof=0), (x,), (x,))[0], wanted)
    calls = (
        lambda: np.cov(x, x, rowvar=False),
        lambda: hoad.jvp(lambda x: np.cov(x, x, rowvar=False), (x,), (x,))[0],
    )
    for call in calls:
        if wanted.ndim:
            with pytest.raises(ValueError, match=r"dimension|shapes"):
                call()
        else:
            np.testing.assert_array_equal(call(), np.ones((2, 2)))


@pytest.mark.parametrize("weights", [[1.0, -1.0], np.array([[1, 0, 2], [-1, 3, 2]])])
def test_weights_that_sum_to_zero(weights: Any) -> None:
    for call in (lambda x: np.average(x, 0, weights), hoad.jacobian(lambda x: np.average(x, 0, weights))):
        with pytest.raises(ZeroDivisionError, match="sum to zero"):
            call(M)


NOTHING = np.zeros((0, 3))


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": 0, "keepdims": True}, {"axis": (0, 1)}])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_median_of_nothing_is_nan_with_the_warning_of_numpy(options: Any, dtype: Any) -> None:
    x = NOTHING.astype(dtype)
    with pytest.warns(RuntimeWarning):
        wanted = np.median(x, **options)
    with pytest.warns(RuntimeWarning):
        found = hoad.jvp(lambda x: np.median(x, **options), (x,), (x,))[0]
    assert_same(found, wanted)


@pytest.mark.parametrize("f", [lambda x, a: np.quantile(x, 0.5, a), lambda x, a: np.percentile(x, [3, 50], a)])
def test_quantiles_of_nothing_do_not_exist(f: Callable[..., Any]) -> None:
    for call in (f, hoad.jacobian(f)):
        with pytest.raises(IndexError):
            call(NOTHING, 0)
    with pytest.raises(IndexError, match="of an empty array"):
        hoad.jacobian(f)(NOTHING, None)
    assert_same(hoad.jvp(lambda x: f(x, 1), (NOTHING,), (NOTHING,))[0], f(NOTHING, 1))


REFUSED: list[tuple[str, Callable[[Any], Any], str]] = [
    ("var, out", lambda x: np.var(x, out=np.zeros(())), "out="),
]


@pytest.mark.parametrize(("f", "message"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_what_is_refused(f: Callable[[Any], Any], message: str) -> None:
    with pytest.raises((hoad.NoRuleError, hoad.TracedValueError), match=message):
        hoad.jacobian(f)(V)


WRONG: list[tuple[str, Callable[[Any], Any]]] = [
    ("quantile beyond 1", lambda x: np.quantile(x, 1.5)),
    ("quantile, no such method", lambda x: np.quantile(x, 0.5, method="cubic")),
    ("quantile, weights and another method", lambda x: np.quantile(x, 0.5, weights=np.ones(3))),
    ("quantile, negative weights", lambda x: np.quantile(x, 0.5, weights=-np.ones(3), method="inverted_cdf")),
    ("cov, negative weights", lambda x: np.cov(x, aweights=-np.ones(3))),
    ("percentile beyond 100", lambda x: np.percentile(x, 101)),
    ("average, weights of another shape", lambda x: np.average(x, axis=0, weights=np.ones(4))),
    ("var, ddof and correction", lambda x: np.var(x, ddof=1, correction=1)),
]


@pytest.mark.parametrize("f", [c[1] for c in WRONG], ids=[c[0] for c in WRONG])
def test_what_does_not_fit(f: Callable[[Any], Any]) -> None:
    for call in (f, hoad.jacobian(f)):
        with pytest.raises(ValueError):  # noqa: PT011 - as NumPy raises it
            call(V)
