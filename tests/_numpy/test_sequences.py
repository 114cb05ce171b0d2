"""Functions along an axis, on traced values: values as NumPy's, derivatives as an oracle's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import assert_same, check

import hoad

V = np.array([0.5, -1.25, 2.0])
W = np.array([1.5, 0.25, -0.75])
L = np.array([0.5, -1.25, 2.0, 0.75, -0.3, 1.1])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
T = np.sin(np.arange(24.0)).reshape(2, 3, 4)
GRID = np.array([0.0, 0.4, 1.1, 1.5, 2.3, 3.0])

Case = tuple[str, Callable[[Any], Any], Any]

EXACT: list[Case] = [
    ("cumsum", np.cumsum, M),
    ("cumsum, axis", lambda x: np.cumsum(x, axis=0), M),
    ("cumsum, axis -1", lambda x: np.cumsum(x, -1), T),
    ("x.cumsum()", lambda x: x.cumsum(), M),
    ("cumsum of a number", np.cumsum, np.array(0.7)),
    ("cumsum of nothing", lambda x: np.cumsum(x, axis=0), np.zeros((0, 3))),
    ("diff", np.diff, V),
    ("diff, twice", lambda x: np.diff(x, 2), L),
    ("diff, none", lambda x: np.diff(x, 0), L),
    ("diff, axis", lambda x: np.diff(x, axis=0), M),
    ("diff, prepend", lambda x: np.diff(x, prepend=1.0), M),
    ("diff, prepend, append", lambda x: np.diff(x, prepend=x[:1], append=[1.0, 2.0]), V),
    ("diff, more than there is", lambda x: np.diff(x, 5), V),
    ("ediff1d", np.ediff1d, M),
    ("ediff1d, ends", lambda x: np.ediff1d(x, to_begin=x[0], to_end=[1.0, 2.0]), V),
]
if hasattr(np, "cumulative_sum"):
    EXACT += [
        ("cumulative_sum", np.cumulative_sum, V),
        ("cumulative_sum, initial", lambda x: np.cumulative_sum(x, axis=1, include_initial=True), M),
        ("cumulative_prod, initial", lambda x: np.cumulative_prod(x[:3], include_initial=True), V),
    ]

ROUNDED: list[Case] = [
    ("cumprod", np.cumprod, L),
    ("cumprod, flat", np.cumprod, M),
    ("cumprod, axis", lambda x: np.cumprod(x, axis=1), T),
    ("x.cumprod(0)", lambda x: x.cumprod(0), M),
    ("cumprod, zeros", np.cumprod, np.array([2.0, 0.0, 3.0, 0.0, 5.0])),
    ("cumprod of one", np.cumprod, np.array(0.7)),
    ("cumprod of nothing", lambda x: np.cumprod(x, axis=0), np.zeros((0, 3))),
    ("trapezoid", np.trapezoid, L),
    ("trapezoid, dx", lambda x: np.trapezoid(x, dx=0.5, axis=0), M),
    ("trapezoid, x", lambda x: np.trapezoid(x, [0.0, 1.0, 3.0]), M),
    ("trapezoid, traced x", lambda x: np.trapezoid(np.exp(GRID), x), L),
    ("trapezoid, x of all", lambda x: np.trapezoid(x, M**2, axis=0), M),
    ("gradient", np.gradient, L),
    ("gradient of two", np.gradient, V[:2]),
    ("gradient, spacing", lambda x: np.gradient(x, 0.5), L),
    ("gradient, edge_order 2", lambda x: np.gradient(x, 0.5, edge_order=2), L),
    ("gradient, places", lambda x: np.gradient(x, GRID), L),
    ("gradient, places, edge_order 2", lambda x: np.gradient(x, GRID, edge_order=2), L),
    ("gradient, axis", lambda x: np.gradient(x, axis=1), M),
    ("gradient, axes", lambda x: np.gradient(x, 2.0, GRID[:4], axis=(1, 2))[1], T),
    ("gradient, all axes", lambda x: np.gradient(x)[0], T),
    ("polyval", lambda x: np.polyval([2.0, -1.0, 0.5, 3.0], x), V),
    ("polyval, coefficients", lambda x: np.polyval(x, 0.7), L),
    ("polyval, both", lambda x: np.polyval(x, x), V),
    ("polyval of a number", lambda x: np.polyval(x, x[0]), V),
    ("vander", np.vander, V),
    ("vander, increasing", lambda x: np.vander(x, 2, increasing=True), V),
    *[(f"convolve, {m}", lambda x, m=m: np.convolve(x, W, m), L) for m in ("full", "same", "valid")],
    *[(f"convolve, {m}, longer right", lambda x, m=m: np.convolve(x, L, m), W) for m in ("full", "same", "valid")],
    *[(f"convolve, {m}, even", lambda x, m=m: np.convolve(L, x, m), W[:2]) for m in ("full", "same", "valid")],
    ("convolve, both", lambda x: np.convolve(x, x), V),
]

# np.correlate conjugates; np.interp and np.gradient take no complex places.
REAL: list[Case] = [
    ("gradient, traced places", lambda x: np.gradient(np.exp(L), x, edge_order=2), GRID),
    *[(f"correlate, {m}", lambda x, m=m: np.correlate(x, W, m), L) for m in ("full", "same", "valid")],
    *[(f"correlate, {m}, longer right", lambda x, m=m: np.correlate(x, L, m), W) for m in ("full", "same", "valid")],
    *[(f"correlate, {m}, even", lambda x, m=m: np.correlate(L, x, m), W[:2]) for m in ("full", "same", "valid")],
    *[(f"correlate, {m}, even right", lambda x, m=m: np.correlate(x, L, m), W[:2]) for m in ("full", "same", "valid")],
    ("correlate, default", lambda x: np.correlate(x, W), L),
    ("interp", lambda x: np.interp(x, GRID, np.exp(GRID)), np.array([[0.2, 1.3], [-1.0, 5.0]])),
    ("interp of a number", lambda x: np.interp(x, GRID, np.exp(GRID)), np.array(0.9)),
    ("interp, left and right", lambda x: np.interp(x, GRID, L, left=7.0, right=-7.0), np.array([0.2, -1.0, 5.0])),
    ("interp, values", lambda x: np.interp([0.2, 1.1, 3.0, 9.0], GRID, x), L),
    ("interp, places", lambda x: np.interp([0.2, 1.3, 2.9], x, L), GRID),
    ("interp, all", lambda x: np.interp(x[:2] + 0.3, x, x**2), GRID),
    ("interp, period", lambda x: np.interp(x, [0.5, 2.0, 3.5], V, period=4.0), np.array([0.7, 4.1, -0.3, 11.0])),
    ("interp, period, places", lambda x: np.interp([0.1, 2.5, 5.5], x, W, period=4.0), V),
    ("interp, period, values", lambda x: np.interp([0.1, 2.5, 5.5], [3.0, 0.0, 1.0], x, period=4.0), V),
    ("interp of one knot", lambda x: np.interp(V, [0.7], x), W[:1]),
]


@pytest.mark.parametrize(("f", "x"), [c[1:] for c in EXACT], ids=[c[0] for c in EXACT])
def test_bit_for_bit(f: Callable[[Any], Any], x: Any) -> None:
    check(f, x)


@pytest.mark.parametrize(("f", "x"), [c[1:] for c in ROUNDED], ids=[c[0] for c in ROUNDED])
def test_in_another_order(f: Callable[[Any], Any], x: Any) -> None:
    check(f, x, exact=False)


@pytest.mark.parametrize(("f", "x"), [c[1:] for c in REAL], ids=[c[0] for c in REAL])
def test_real_functions(f: Callable[[Any], Any], x: Any) -> None:
    check(f, x, analytic=False, exact=False)


def test_at_a_knot_interp_has_the_slope_on_its_right() -> None:
    assert hoad.grad(lambda x: np.interp(x, [0.0, 1.0, 2.0], [0.0, 1.0, 5.0]))(1.0) == 4.0


def test_outside_of_its_knots_interp_does_not_depend_on_x() -> None:
    f = hoad.grad(lambda x: np.interp(np.sqrt(x), [1.0, 2.0], [3.0, 4.0]))
    assert f(0.0) == 0.0


@pytest.mark.parametrize("knots", [[1.0, 2.0], [1.0]])
def test_interp_of_nan_is_what_numpy_says(knots: list[float]) -> None:
    x = np.array([0.5, np.nan, 1.5, 3.0])
    value = hoad.jvp(lambda x: np.interp(x, knots, [3.0, 5.0][: len(knots)]), (x,), (np.ones(4),))[0]
    np.testing.assert_array_equal(value, np.interp(x, knots, [3.0, 5.0][: len(knots)]))


def test_interp_through_a_step() -> None:
    """Two knots at one place: from the place on, the second counts."""
    places, values = [0.0, 1.0, 1.0, 2.0], np.array([0.0, 1.0, 5.0, 6.0])
    x = np.array([0.5, 1.0, 1.5, 2.0])
    value, slopes = hoad.jvp(lambda x: np.interp(x, places, values), (x,), (np.ones(4),))
    np.testing.assert_array_equal(value, np.interp(x, places, values))
    np.testing.assert_array_equal(slopes, [1.0, 1.0, 1.0, 0.0])


def test_float32_stays() -> None:
    x = V.astype(np.float32)
    for f in (np.cumsum, np.cumprod, np.diff, np.trapezoid, np.gradient, lambda x: np.convolve(x, x)):
        assert hoad.jacobian(f)(x).dtype == np.float32


WRONG: list[tuple[str, Callable[[Any], Any], str]] = [
    ("diff", lambda x: np.diff(x, -1), "non-negative"),
    ("gradient", lambda x: np.gradient(x[:1]), "too small"),
    ("gradient, places", lambda x: np.gradient(x, [1.0, 2.0]), "must match|distances"),
    ("gradient, edge_order", lambda x: np.gradient(x, edge_order=3), "not supported"),
    ("interp", lambda x: np.interp(1.0, x, [1.0, 2.0]), "length"),
    ("convolve of nothing", lambda x: np.convolve(x, []), "empty"),
    ("vander", lambda x: np.vander(x[None]), "one-dimensional"),
    ("vander of fewer than no columns", lambda x: np.vander(x, -1), "-1"),
]


@pytest.mark.parametrize(("f", "message"), [c[1:] for c in WRONG], ids=[c[0] for c in WRONG])
def test_what_does_not_fit(f: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - as NumPy raises it
        f(V)
    with pytest.raises(ValueError, match=message):
        hoad.jacobian(f)(V)


def test_polyval_of_a_number() -> None:
    """NumPy raises a TypeError, that a 0-d array cannot be iterated over."""
    with pytest.raises(hoad.ShapeError, match=r"np\.polyval takes a vector of coefficients.*test_sequences.*\[p\]"):
        hoad.grad(lambda p: np.polyval(p, 2.0))(3.0)
    assert hoad.grad(lambda p: np.polyval([p], 2.0))(3.0) == 1.0


def test_interp_is_in_double_precision_as_in_numpy() -> None:
    x, places = V.astype(np.float32), np.arange(3, dtype=np.float32)
    assert_same(hoad.jvp(lambda x: np.interp(x, places, W), (x,), (x,))[0], np.interp(x, places, W))
    assert hoad.jvp(lambda y: np.interp(V, places, y), (x,), (x,))[0].dtype == np.float64


def test_the_columns_of_vander_are_counted_by_an_integer() -> None:
    assert hoad.jvp(lambda x: np.vander(x[:0]), (V,), (V,))[0].shape == (0, 0)
    for call in (lambda x: np.vander(x, 2.5), hoad.jacobian(lambda x: np.vander(x, 2.5))):  # type: ignore[call-overload]
        with pytest.raises(TypeError, match="integer"):
            call(V)


@pytest.mark.parametrize("n", [1, 2])
def test_differences_of_booleans_say_where_they_change(n: int) -> None:
    value, _ = hoad.jvp(lambda x: np.where(np.diff(x > 0, n, prepend=True), 1.0, 0.0), (L,), (L,))
    assert_same(value, np.where(np.diff(L > 0, n, prepend=True), 1.0, 0.0))
    with pytest.raises(TypeError, match="boolean"):
        hoad.jacobian(lambda x: np.ediff1d(x > 0))(L)
    single = hoad.jvp(lambda x: np.ediff1d(x, to_end=[0.1]), (np.ones(3, np.float32),), (np.ones(3, np.float32),))[0]
    assert single.dtype == np.float32


def test_out_is_refused() -> None:
    for f in (np.cumsum, np.cumprod):
        with pytest.raises(hoad.TracedValueError, match="out="):
            hoad.jacobian(lambda x: f(x, out=np.zeros(3)))(V)
