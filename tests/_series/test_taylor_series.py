"""Truncated Taylor series: their arithmetic by its laws, and elementary functions against mpmath at 50 digits."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_allclose, assert_array_equal

from hoad._series import TaylorSeries
from hoad.errors import ArgumentError, DomainError, DTypeError, NoRuleError, ShapeError

N = 12
VARIABLE = TaylorSeries.variable


def agree(a: Any, b: Any, ulps: float = 200.0) -> None:
    """Coefficients to rounding, measured by the largest."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape
    size = max(np.max(np.abs(a), initial=0.0), np.max(np.abs(b), initial=0.0), 1e-300)
    assert_allclose(a / size, b / size, rtol=0, atol=ulps * float(np.finfo(a.dtype).eps))


def exactly(f: Callable[[Any], Any], point: complex, degree: int = N) -> np.ndarray:
    """Coefficients of a function of mpmath, by differences at 80 digits."""
    with mpmath.workdps(80):
        at = mpmath.mpmathify(point)
        found = mpmath.taylor(f, at, degree)
        is_real = all(mpmath.im(c) == 0 for c in found)
        return np.array([float(mpmath.re(c)) if is_real else complex(c) for c in found])


# ---- what a series is made of


@pytest.mark.parametrize(
    ("given_", "shape", "dtype"),
    [
        ([1.0, 2.0, 3.0], (), float),
        ([1, 2, 3], (), float),
        (np.ones((3, 2, 4)), (2, 4), float),
        (np.ones((3, 2), np.float32), (2,), np.float32),
        ([1j, 2.0, 0], (), complex),
        ([np.ones(2), 0.0, [1.0, 2.0]], (2,), float),
        (np.ones((3, 0)), (0,), float),
        ([np.array(1.0), np.float32(2.0), True], (), float),
    ],
)
def test_coefficients(given_: Any, shape: tuple[int, ...], dtype: Any) -> None:
    s = TaylorSeries(given_)
    assert s.shape == shape and s.dtype == dtype and s.degree == 2 and len(s) == 3
    assert s.coefficients.shape == (3, *shape) and s.coefficients.dtype == dtype
    assert_array_equal(np.asarray(s), s.coefficients)
    assert_array_equal(np.stack(list(s)), s.coefficients)
    assert_array_equal(s[-1], s.coefficients[2])
    assert_array_equal(s[1:], s.coefficients[1:])
    assert np.array(s, np.complex64).dtype == np.complex64


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: TaylorSeries([]), ShapeError, r"\(n\+1, \*S\).*given \[\]"),
        (lambda: TaylorSeries(1.0), ShapeError, r"TaylorSeries\(\[c\]\)"),
        (lambda: TaylorSeries(["a", "b"]), DTypeError, "numbers"),
        (lambda: TaylorSeries([None]), DTypeError, "numbers"),
        (lambda: TaylorSeries(np.ones(3, np.longdouble)), DTypeError, "float64 and float32"),
        (lambda: TaylorSeries(np.ones(3, np.float16)), DTypeError, "float64 and float32"),
        (lambda: TaylorSeries(np.ones((2, 3)), np.ones(2)), ShapeError, r"first axes, \(3,\)"),
        (lambda: TaylorSeries([1.0], "x"), DTypeError, "point"),
        (lambda: VARIABLE(-1), ArgumentError, "integer of 0 or more"),
        (lambda: VARIABLE(2.5), ArgumentError, "2.5"),
        (lambda: VARIABLE(2).truncate(3), ArgumentError, "at most that of the series, 2"),
        (lambda: VARIABLE(2).derivative(3), ArgumentError, "higher degree"),
        (lambda: VARIABLE(2)[3], IndexError, "degree 2 knows no coefficient 3"),
    ],
)
def test_refusals(make: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_a_series_never_changes() -> None:
    given_ = np.ones((3, 2))
    s = TaylorSeries(given_)
    given_[:] = 5.0
    np.asarray(s)[:] = 6.0
    assert_array_equal(np.asarray(s), np.ones((3, 2)))
    with pytest.raises(ValueError, match="read-only"):
        s[0][:] = 7.0
    constant = np.zeros(2)
    higher = s.integral(constant)
    constant[:] = 8.0
    assert_array_equal(higher[0], np.zeros(2))


def test_copies_and_pickles() -> None:
    s = np.exp(VARIABLE(3, np.array([0.1, 0.2])))
    for other in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert other == s
    assert s != s.truncate(2) and s != TaylorSeries(s.coefficients) and s != 2 * s and s != 1.0
    with pytest.raises(TypeError, match="unhashable"):
        hash(s)


def test_derivatives() -> None:
    assert_allclose(np.exp(VARIABLE(20)).derivatives(), np.ones(21), rtol=1e-13)
    c = np.zeros(181)
    c[180] = 1e-300
    assert_allclose(TaylorSeries(c).derivatives()[180], float(mpmath.factorial(180) * mpmath.mpf(1e-300)), rtol=1e-14)
    c = np.zeros(501)
    c[270] = 1e-250
    found = TaylorSeries(c).derivatives()
    assert_allclose(found[270], float(mpmath.factorial(270) * mpmath.mpf(1e-250)), rtol=1e-14)
    assert np.count_nonzero(found) == 1


# ---- the laws of a ring

NUMBERS = st.floats(-4, 4, allow_subnormal=False)
SHAPES = st.sampled_from([(), (3,), (2, 2)])


@st.composite
def several(draw: Any, count: int, least_start: float = 0.0) -> list[TaylorSeries]:
    """Series of one shape; their constant terms are at least so large."""
    degree, shape = draw(st.integers(0, 7)), draw(SHAPES)
    made = []
    for _ in range(count):
        c = draw(arrays.arrays(float, (degree + 1, *shape), elements=NUMBERS))
        c[0] = np.where(np.abs(c[0]) < least_start, least_start, c[0])
        made.append(TaylorSeries(c))
    return made


def majorant(s: TaylorSeries) -> TaylorSeries:
    """The series of the absolute values: what is computed of it bounds rounding, times the precision."""
    return TaylorSeries(np.abs(np.asarray(s)))


def near(a: TaylorSeries, b: TaylorSeries, bound: TaylorSeries | None = None) -> None:
    """Equal but for what is next to nothing, or as near as a bound of the rounding of every coefficient says."""
    assert a.degree == b.degree and a.shape == b.shape
    error = np.abs(np.asarray(a) - np.asarray(b))
    assert np.all(error <= (0.0 if bound is None else 1e-13 * np.asarray(bound)) + 1e-300)


@given(several(3))
def test_ring(series: list[TaylorSeries]) -> None:
    a, b, c = series
    a_, b_, c_ = map(majorant, series)
    near(a + b, b + a)
    near((a + b) + c, a + (b + c), a_ + b_ + c_)
    near(a * b, b * a, a_ * b_)
    near((a * b) * c, a * (b * c), a_ * b_ * c_)
    near(a * (b + c), a * b + a * c, a_ * (b_ + c_))
    near(a - a, 0 * a)
    near(a + 0, a)
    near(a * 1, a)
    near(a - b, -(b - a))
    near(a**3, a * a * a, a_ * a_ * a_)
    near(a**0, 0 * a + 1)


@given(several(2, least_start=1.0))
def test_quotients(series: list[TaylorSeries]) -> None:
    a, b = series
    q = a / b
    near(q * b, a, majorant(q) * majorant(b))
    near(1 / b, b**-1)
    near(2.0 / b, 2.0 * b**-1)


@given(several(2))
def test_product_rule(series: list[TaylorSeries]) -> None:
    s, t = series
    if s.degree:
        lower = s.degree - 1
        left = (s * t).derivative()
        right = s.derivative() * t.truncate(lower) + s.truncate(lower) * t.derivative()
        near(left, right, (majorant(s) * majorant(t)).derivative())
    near(s.integral(s[0]).derivative(), s, majorant(s))
    near(s.derivative(0), s)


@given(several(3))
def test_composition_is_associative(series: list[TaylorSeries]) -> None:
    a, *rest = series
    b, c = (TaylorSeries([0 * s[0], *s[1:]]) for s in rest)
    a_, b_, c_ = map(majorant, (a, b, c))
    near(a(b(c)), a(b)(c), a_(b_(c_)))
    near((a * b)(c), a(c) * b(c), a_(c_) * b_(c_))
    near((a + b)(c), a(c) + b(c), a_(c_) + b_(c_))


def test_degrees_are_cut_to_the_lower() -> None:
    a, b = VARIABLE(5), VARIABLE(3)
    for operation in (np.add, np.subtract, np.multiply, np.hypot, np.arctan2):
        assert operation(a + 1, b + 2).degree == 3
    assert ((a + 1) / (b + 2)).degree == 3 and a(b).degree == 3 and b(a).degree == 3
    assert np.exp(a).degree == 5 and a.integral().degree == 6 and a.derivative(2).degree == 3


def test_constants() -> None:
    s = np.exp(VARIABLE(4))
    for c in (2, 2.0, np.float64(2.0), np.array(2.0)):
        assert (s + c)[0] == 3 and (c + s)[0] == 3 and (s - c)[0] == -1 and (c - s)[0] == 1
        assert_array_equal(np.asarray(c * s), 2 * np.asarray(s))
        assert_array_equal(np.asarray(s / c), np.asarray(s) / 2)
        agree(c / s, 2 * np.exp(-VARIABLE(4)))
    stretched = s + np.array([1.0, 2.0, 3.0])
    assert stretched.shape == (3,)
    assert_array_equal(stretched[0], [2.0, 3.0, 4.0])
    assert_array_equal(stretched[1], [1.0, 1.0, 1.0])
    assert_array_equal(np.asarray(np.array([1.0, 2.0]) * s), np.asarray(s)[:, None] * [1.0, 2.0])
    assert (s + 1j).dtype == complex and np.add(s, [1.0, 2.0]).shape == (2,)
    with pytest.raises(TypeError):
        s + "x"
    with pytest.raises(TypeError):
        s / None


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_dtypes_stay(dtype: Any) -> None:
    x = VARIABLE(4, np.array([0.5, 0.25], dtype))
    for s in (x, 2 * x + 1, 1 / x, x**3, x**0.5, x**-2, 2.0**x, x / 3, x.integral(), x.integral(1.0), x.derivative()):
        assert s.dtype == dtype
    for f in (np.exp, np.log2, np.sin, np.tan, np.tanh, np.arcsin, np.arctan, np.log10, np.exp2, np.arcsinh):
        assert f(x).dtype == dtype, f
    assert np.sin(x).reversion().dtype == dtype and x(x - x).dtype == dtype
    assert x.derivatives().dtype == dtype and x(0.5).dtype == dtype


def test_powers() -> None:
    t = VARIABLE(6)
    for s, exponent, expected in [
        (t, 2, [0, 0, 1, 0, 0, 0, 0]),
        (t, 7, [0] * 7),
        (t, 0, [1] + [0] * 6),
        (1 + t, 6.0, [math.comb(6, k) for k in range(7)]),
        (1 + t, -1, [(-1) ** k for k in range(7)]),
        (1 + t, np.int64(3), [1, 3, 3, 1, 0, 0, 0]),
        (1 - t, -2.0, range(1, 8)),
        (1 + t, 0.5, [float(Fraction(math.comb(2 * k, k) * (-1) ** (k + 1), 4**k * (2 * k - 1))) for k in range(7)]),
    ]:
        agree(s**exponent, np.array(expected, float))
    agree((t - 2) ** 3, np.array([-8, 12, -6, 1, 0, 0, 0.0]))
    agree((1 + t) ** np.array([0.5, 2.0]), np.stack([np.asarray((1 + t) ** 0.5), np.asarray((1 + t) ** 2)], axis=1))
    agree(t ** np.array([0.0, 1.0, 3.0]), np.eye(7)[:, [0, 1, 3]])
    agree((2 + t) ** (1 + t), exactly(lambda x: (2 + x) ** (1 + x), 0.0, 6))
    agree(3.0**t, exactly(lambda x: mpmath.mpf(3) ** x, 0.0, 6))
    agree(t.truncate(2) ** 2.5, np.zeros(3))  # two derivatives of it exist, and are 0
    agree((t**2).truncate(4) ** 2.5, np.zeros(5))
    agree(np.array([1.0, 2.0]) ** 0.0 * 0.0 ** (1 + t), np.zeros((7, 2)))


def test_matrix_products() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(4, 2, 3)), rng.normal(size=(4, 3, 2))
    found = TaylorSeries(a) @ TaylorSeries(b)
    h = 0.3  # a polynomial of degree 3 and its product, which has degree 6
    product = [sum(a[j] @ b[k - j] for j in range(4) if 0 <= k - j < 4) for k in range(4)]
    agree(found, np.array(product))
    agree(TaylorSeries(a) @ b[0], a @ b[0])
    agree(b[0] @ TaylorSeries(a), b[0] @ a)
    assert found(h).shape == (2, 2)


def test_matrix_products_about_several_points() -> None:
    """The points are the first axes: sums over others are about one point each, sums over them are refused."""
    rng = np.random.default_rng(2)
    points, c, v = np.array([0.1, 0.2]), rng.normal(size=(4, 2, 3, 3)), rng.normal(size=3)
    s = TaylorSeries(c, points)
    for found, exact in ((s @ v, c @ v), (v @ s, v @ c), (s @ np.outer(v, v), c @ np.outer(v, v))):
        assert_array_equal(found.point.reshape(2, -1)[:, 0], points)
        assert_allclose(found.coefficients, exact, rtol=1e-13)
    x = VARIABLE(3, points)
    for wrong in (lambda: x @ np.ones(2), lambda: np.ones((2, 2)) @ x, lambda: x @ x, lambda: np.ones((3, 2)) @ s):
        with pytest.raises((ArgumentError, ValueError), match=r"different points|mismatch"):
            wrong()


# ---- powers of t that cancel


def test_quotients_of_what_starts_with_zero() -> None:
    t = VARIABLE(9)
    agree(np.sin(t) / t, exactly(lambda x: mpmath.sinc(x), 0.0, 8))
    agree((1 - np.cos(t)) / t**2, np.array([0.5, 0, -1 / 24, 0, 1 / 720, 0, -1 / 40320, 0]))
    agree(t / np.expm1(t), np.array([float(mpmath.bernoulli(k) / mpmath.factorial(k)) for k in range(9)]))


@pytest.mark.parametrize(
    "make",
    [
        lambda t: 1 / t,
        lambda t: np.cos(t) / t,
        lambda t: t / t**2,
        lambda t: t**-1,
        lambda t: t / (0 * t),
        lambda t: t / (np.array([0.0, 1.0]) * t),
        lambda t: t / (np.array([0.0, 1.0]) + t),
        lambda t: np.reciprocal(t),
    ],
)
def test_poles(make: Callable[[TaylorSeries], Any]) -> None:
    with pytest.raises(DomainError, match="powers of t cancel"):
        make(VARIABLE(4))


# ---- elementary functions

REAL = [
    (np.exp, mpmath.exp, [0.0, -3.0, 1.5]),
    (np.exp2, lambda x: mpmath.mpf(2) ** x, [0.0, 1.5]),
    (np.expm1, mpmath.expm1, [0.0, 1e-9, -40.0]),
    (np.log, mpmath.log, [1.0, 0.3, 20.0]),
    (np.log2, lambda x: mpmath.log(x, 2), [0.75]),
    (np.log10, lambda x: mpmath.log(x, 10), [0.75]),
    (np.log1p, mpmath.log1p, [0.0, 1e-9, -0.5]),
    (np.sqrt, mpmath.sqrt, [1.0, 0.3, 1e8]),
    (np.cbrt, lambda x: mpmath.sign(x) * abs(x) ** (mpmath.mpf(1) / 3), [0.7, -2.0]),
    (np.square, lambda x: x * x, [0.0, -1.25]),
    (np.reciprocal, lambda x: 1 / x, [0.5, -3.0]),
    (np.sin, mpmath.sin, [0.0, 0.75, 30.0]),
    (np.cos, mpmath.cos, [0.0, 0.75, 30.0]),
    (np.tan, mpmath.tan, [0.0, 1.25, -1.5]),
    (np.arcsin, mpmath.asin, [0.0, 0.5, -0.96875]),
    (np.arccos, mpmath.acos, [0.0, 0.5, 0.96875]),
    (np.arctan, mpmath.atan, [0.0, 0.5, -40.0]),
    (np.sinh, mpmath.sinh, [0.0, -1.5]),
    (np.cosh, mpmath.cosh, [0.0, -1.5]),
    (np.tanh, mpmath.tanh, [0.0, 0.5, 20.0]),
    (np.arcsinh, mpmath.asinh, [0.0, 0.5, -10.0]),
    (np.arccosh, mpmath.acosh, [1.5, 10.0]),
    (np.arctanh, mpmath.atanh, [0.0, 0.5, -0.96875]),
    (np.radians, mpmath.radians, [0.5]),
    (np.deg2rad, mpmath.radians, [0.5]),
    (np.degrees, mpmath.degrees, [0.5]),
    (np.rad2deg, mpmath.degrees, [0.5]),
    (np.absolute, abs, [2.0, -2.0]),
    (np.fabs, abs, [-2.0]),
    (np.negative, lambda x: -x, [2.0]),
    (np.positive, lambda x: x, [2.0]),
    (np.conjugate, lambda x: x, [2.0]),
]


@pytest.mark.parametrize(
    ("f", "exact", "point"),
    [pytest.param(f, exact, x, id=f"{f.__name__} at {x}") for f, exact, points in REAL for x in points],
)
def test_real_functions(f: np.ufunc, exact: Callable[[Any], Any], point: float) -> None:
    """Every coefficient to its own digits, for the terms cₖ Rᵏ and so their errors are of one size."""
    found, expected = np.asarray(f(VARIABLE(N, point))), exactly(exact, point)
    known = np.abs(expected) > 1e-60
    assert_allclose(found[known], expected[known], rtol=2e-12)
    assert np.all(np.abs(found[~known]) < 1e-15 * np.max(np.abs(expected)))


@pytest.mark.parametrize(("f", "exact", "points"), REAL[:27], ids=[row[0].__name__ for row in REAL[:27]])
def test_inner_functions(f: np.ufunc, exact: Callable[[Any], Any], points: list[float]) -> None:
    """f of a series with all coefficients, against the function composed by mpmath."""
    point = points[-1] if abs(points[-1]) < 5 else points[0]
    inner = TaylorSeries([point, 0.5, -0.25, 0.125, 0.75, -0.5, 0.25])
    expected = exactly(lambda t: exact(sum(float(c) * t**k for k, c in enumerate(inner))), 0.0, 6)
    agree(f(inner), expected, 2000)


COMPLEX = [
    (np.exp, mpmath.exp),
    (np.log, mpmath.log),
    (np.log1p, mpmath.log1p),
    (np.sqrt, mpmath.sqrt),
    (np.sin, mpmath.sin),
    (np.cos, mpmath.cos),
    (np.tan, mpmath.tan),
    (np.arcsin, mpmath.asin),
    (np.arccos, mpmath.acos),
    (np.arctan, mpmath.atan),
    (np.sinh, mpmath.sinh),
    (np.cosh, mpmath.cosh),
    (np.tanh, mpmath.tanh),
    (np.arcsinh, mpmath.asinh),
    (np.arccosh, mpmath.acosh),
    (np.arctanh, mpmath.atanh),
]


@pytest.mark.parametrize(("f", "exact"), COMPLEX, ids=[row[0].__name__ for row in COMPLEX])
@pytest.mark.parametrize("point", [0.5 + 0.25j, -1.5 + 0.75j, 1.5 - 2j, -0.25 - 1.25j])
def test_complex_functions(f: np.ufunc, exact: Callable[[Any], Any], point: complex) -> None:
    found, expected = np.asarray(f(VARIABLE(8, point))), exactly(exact, point, 8)
    assert_allclose(found, expected, rtol=1e-11)


def test_functions_of_two() -> None:
    x = VARIABLE(N, 0.75)
    y = np.cos(x)
    agree(np.hypot(x, y), exactly(lambda t: mpmath.hypot(t, mpmath.cos(t)), 0.75))
    agree(np.hypot(x, 2.0), exactly(lambda t: mpmath.hypot(t, 2), 0.75))
    agree(np.hypot(2.0, x), np.hypot(x, 2.0))
    agree(np.arctan2(y, x), exactly(lambda t: mpmath.atan2(mpmath.cos(t), t), 0.75))
    agree(np.arctan2(y, -x), exactly(lambda t: mpmath.atan2(mpmath.cos(t), -t), 0.75))
    agree(np.arctan2(-1.0, x), exactly(lambda t: mpmath.atan2(-1, t), 0.75))
    agree(np.arctan2(x, [1.0, 2.0])[:, 1], exactly(lambda t: mpmath.atan2(t, 2), 0.75))


def test_every_entry_by_itself(rng: np.random.Generator) -> None:
    c = rng.uniform(0.1, 0.6, (6, 2, 3))
    s = TaylorSeries(c)
    for f in (np.exp, np.log, np.sin, np.tan, np.tanh, np.arcsin, np.sqrt, np.arctan, lambda s: 1 / s, lambda s: s**3):
        whole = np.asarray(f(s))
        for i in np.ndindex(2, 3):
            assert_allclose(whole[(slice(None), *i)], np.asarray(f(TaylorSeries(c[(slice(None), *i)]))), rtol=1e-13)


@given(several(1, least_start=0.5))
def test_identities(series: list[TaylorSeries]) -> None:
    (s,) = series
    bound = np.exp(2 * majorant(s))
    near(np.sin(s) ** 2 + np.cos(s) ** 2, 0 * s + 1, bound)
    near(np.cosh(s) ** 2 - np.sinh(s) ** 2, 0 * s + 1, bound)
    near(np.exp(s) * np.exp(-s), 0 * s + 1, bound)
    positive = s * s + 0.25
    p = majorant(positive)
    worst = p[0] / (2 * p[0] - p)  # 1 - worst ** -1 has positive coefficients, and so has its logarithm
    near(np.exp(np.log(positive)), positive, np.exp(np.log(worst) + np.abs(np.log(p[0]))))
    near(np.sqrt(positive) ** 2, positive, p[0] * worst)


SINGULAR = [  # an operation on the series of t, what its message calls it, and the highest order that exists, if one
    (np.sqrt, r"np\.sqrt\(s\)", 0),
    (np.cbrt, r"np\.cbrt\(s\)", 0),
    (lambda t: t**2.5, r"s \*\* 2\.5", 2),
    (lambda t: (t * t) ** 1.5, r"s \*\* 1\.5", 2),
    (lambda t: t**t, r"s \*\* u", 0),
    (lambda t: np.arcsin(1 + t), r"np\.arcsin\(s\)", 0),
    (lambda t: np.arccosh(1 + t), r"np\.arccosh\(s\)", 0),
    (lambda t: np.hypot(t, 2 * t), r"np\.hypot\(s, u\)", 0),
    (lambda t: np.arctan2(t, 2 * t), r"np\.arctan2\(s, u\)", 0),
    (lambda t: np.sqrt(np.array([1.0, 0.0]) + t), r"np\.sqrt\(s\) .* in entry 1", 0),
    (np.log, r"np\.log\(s\) comes out as -inf", None),
    (lambda t: np.log(t - 1), r"np\.log\(s\) comes out as nan", None),
    (lambda t: np.sqrt(t - 1), r"np\.sqrt\(s\) comes out as nan", None),
    (lambda t: t**-1.5, r"s \*\* -1\.5 comes out as inf", None),
    (lambda t: 0.0 ** (t - 1), r"0\.0 \*\* s comes out as inf", None),
    (lambda t: 1 / np.log1p(t - 1), r"np\.log1p\(s\) comes out as -inf", None),
    (lambda t: np.arctanh(1 + t), r"np\.arctanh\(s\) comes out as inf", None),
    (lambda t: t / 0.0, r"a quotient comes out as nan", None),
    (lambda t: np.exp(800 + t), r"np\.exp\(s\) comes out as inf", None),
]


@pytest.mark.parametrize(("make", "name", "order"), SINGULAR, ids=[name for _, name, _ in SINGULAR])
def test_singular_points(make: Callable[[TaylorSeries], Any], name: str, order: int | None) -> None:
    """What has no coefficients is told, with the line, and no warning of NumPy's besides."""
    with pytest.raises(DomainError, match=name + r".*test_taylor_series\.py") as raised:
        make(VARIABLE(4))
    if order is not None:
        assert f"The highest order that exists is {order}:" in str(raised.value)
    assert isinstance(raised.value, ValueError)


def test_what_is_not_finite_already_passes_on() -> None:
    s = TaylorSeries([1.0, np.inf, 2.0])
    with np.errstate(invalid="ignore"):
        assert np.isinf(np.sqrt(s)[1]) and np.isnan(np.exp(TaylorSeries([np.nan, 1.0])).coefficients).all()
    assert_array_equal(np.asarray(np.abs(VARIABLE(3))), np.zeros(4))


def test_the_way_around_a_square_root() -> None:
    """As the message says: powers of t are taken out first; here of 2 (1 - cos t), whose root is 2 sin(t/2)."""
    t = VARIABLE(9)
    s = 2 * (1 - np.cos(t))
    with pytest.raises(DomainError, match=r"t \* np\.sqrt\(s / t\*\*2\)"):
        np.sqrt(s)
    agree(t.truncate(7) * np.sqrt(s / t**2), exactly(lambda x: 2 * mpmath.sin(x / 2), 0.0, 7))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda s: np.frexp(s), NoRuleError, r"np.frexp of a TaylorSeries gives several"),
        (lambda s: np.isfinite(s), ArgumentError, r"np.isfinite of a TaylorSeries .*booleans .*s\[0\]"),
        (lambda s: s > 0, ArgumentError, r"booleans .*np.where\(s\[0\] > 0, s, 0\)"),
        (lambda s: np.allclose(s, s), NoRuleError, r"np.allclose .*boolean .*s\.coefficients"),
        (lambda s: np.sum([s, s]), NoRuleError, r"np.sum would take .*test_taylor_series.py.*sum\(\[s, u\]\)"),
        (lambda s: np.mean([s, s]), NoRuleError, r"np.mean would take .*sum\(\[s, u\]\) / 2"),
        (lambda s: np.vectorize(abs)(s), NoRuleError, r"np.vectorize would take"),
        (lambda s: np.linalg.norm([s, s]), NoRuleError, r"^np\.linalg\.norm would take"),
        (lambda s: np.fft.fft([s, s]), NoRuleError, r"^np\.fft\.fft would take"),
        (lambda s: np.polyval(s, 2.0), ShapeError, r"highest power first.*test_taylor_series.*s\(t\).*s\.at\(x\)\."),
        (lambda s: np.polyval(p=s, x=s), ShapeError, r"highest power first"),
        (lambda s: TaylorSeries([s, s]), ArgumentError, r"list with series.*np.stack"),
        (lambda s: TaylorSeries(s, 1.0), ArgumentError, r"about 0.0 for the point 1.0.*s.coefficients, point"),
        (lambda s: np.add(s, [s, VARIABLE(4, 1.0)]), ArgumentError, "do not meet"),
        (lambda s: np.add.reduce(s), NoRuleError, r"np.add.reduce.*s.coefficients"),
        (lambda s: np.exp(s, out=np.ones(3)), NoRuleError, r"np.exp\(..., out=\)"),
        (lambda s: np.sum(s), NoRuleError, r"np.sum does not take.*s.coefficients.*hoad.taylor\(lambda t: np.sum\(s"),
        (lambda s: np.concatenate([s, s]), NoRuleError, r"np.concatenate\(\[s\(t\), u\(t\)\]\)"),
        (lambda s: np.reshape(s, (1, 1)), NoRuleError, r"np.reshape\(s\(t\), \(1, 1\)\)"),
        (lambda s: np.stack([VARIABLE(2, np.ones(2))] * 2, 1), NoRuleError, r"np.stack mixes .*different points"),
        (lambda s: np.abs(1j * s), NoRuleError, "not analytic"),
        (lambda s: s + VARIABLE(4, 1.0), ArgumentError, "about 0.0 and 1.0 do not meet"),
        (lambda s: s / VARIABLE(4, 1.0), ArgumentError, "do not meet"),
        (lambda s: (s * np.eye(2)) @ TaylorSeries(np.ones((2, 2, 2)), 1.0), ArgumentError, "do not meet"),
        (lambda s: s(s + 1), ArgumentError, r"constant term.*is 1.0.*s.at\(g\)"),
        (lambda s: s.at(s + 1), ArgumentError, r"about 0.0, and g\[0\] is 1.0"),
        (lambda s: TaylorSeries([1.0, np.nan, 1.0]).pade(1, 1), DomainError, "that of order 1 is nan"),
        (lambda s: s.truncate(0).reversion(), ArgumentError, "degree 0"),
        (lambda s: np.cos(s).reversion(), ArgumentError, "stationary"),
    ],
)
def test_errors(make: Callable[[TaylorSeries], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(VARIABLE(4))


# ---- values


def test_values() -> None:
    s = np.sin(VARIABLE(14, 0.3))
    assert_allclose(s(0.01), np.sin(0.31), rtol=1e-15)
    assert_allclose(s.at(0.31), np.sin(0.31), rtol=1e-15)
    x = np.linspace(0.0, 0.6, 5)
    assert_allclose(s.at(x), np.sin(x), rtol=1e-13, atol=1e-16)
    assert_allclose(s(list(x - 0.3)), np.sin(x), rtol=1e-13, atol=1e-16)
    points = np.array([0.1, 0.2, 0.3])
    many = np.sin(VARIABLE(14, points))
    assert_allclose(many.at(0.25), np.full(3, np.sin(0.25)), rtol=1e-15)
    assert_allclose(many(x[:, None]), np.sin(points + x[:, None]), rtol=1e-12)
    assert TaylorSeries([2.0])(5.0) == 2.0


def test_points_of_a_part_of_the_axes() -> None:
    """A curve in the plane at three times: points (3,), values (3, 2)."""
    time = np.array([0.0, 0.5, 1.0])
    c = np.stack([np.stack([np.cos(time + k * np.pi / 2), np.sin(time + k * np.pi / 2)], -1) for k in range(9)])
    s = TaylorSeries(c / np.array([math.factorial(k) for k in range(9)])[:, None, None], time)
    assert s.shape == (3, 2)
    expected = np.tile([np.cos(0.6), np.sin(0.6)], (3, 1))
    assert_allclose(s.at(0.6), expected, rtol=1e-6)
    assert_allclose((s * np.ones((4, 1, 1))).at(0.6), np.tile(expected, (4, 1, 1)), rtol=1e-6)
    assert (s + s).point is s.point


def test_points_follow_the_axes_of_their_entries() -> None:
    """The first axis of one series is not that of another: entries that meet are about one point, or it is an error."""
    points = np.array([0.1, 0.2, 0.3])
    row = np.exp(VARIABLE(6, points))
    table = np.ones((3, 3)) * row  # entries [i, j] about points[j]
    assert_array_equal(table.point, np.broadcast_to(points, (3, 3)))
    assert_allclose(table.at(0.25), np.full((3, 3), np.exp(0.25)), rtol=1e-9)
    assert_allclose((table * row).at(0.25), np.full((3, 3), np.exp(0.5)), rtol=1e-7)
    columns = row.coefficients[:, :, None]
    rows = TaylorSeries(np.broadcast_to(columns, (7, 3, 3)), points)  # entries [i, j] about points[i]
    for meet in (lambda: rows * row, lambda: row + rows, lambda: rows / table):
        with pytest.raises(ArgumentError, match="do not meet"):
            meet()
    assert_allclose((rows * TaylorSeries(columns, points)).at(0.25), np.exp(0.5), rtol=1e-7)
    scalar = np.exp(VARIABLE(6, 0.1))
    assert (scalar * TaylorSeries(np.ones((7, 2)), np.array([0.1, 0.1]))).shape == (2,)


# ---- composition and inversion


def test_composition() -> None:
    x = VARIABLE(N, 0.5)
    inner = np.cos(x)
    agree(np.exp(VARIABLE(N, np.cos(0.5))).at(inner), exactly(lambda t: mpmath.exp(mpmath.cos(t)), 0.5))
    u = TaylorSeries([0.0, *np.asarray(inner)[1:]], 0.5)
    composed = np.exp(VARIABLE(N))(u)
    agree(composed, np.exp(u))
    assert composed.point == 0.5
    agree(VARIABLE(N)(u), u, 1)
    near_by = VARIABLE(4, 0.1 + 0.2)
    agree(near_by.at(VARIABLE(4, 0.3)), VARIABLE(4, 0.3))  # to rounding


def test_composition_of_arrays() -> None:
    outer = np.exp(VARIABLE(5, np.zeros(3)))
    inner = np.array([[1.0], [2.0]]) * VARIABLE(5)
    found = outer(inner)
    assert found.shape == (2, 3)
    for i, rate in enumerate((1.0, 2.0)):
        agree(found[:, i, 2], np.exp(rate * VARIABLE(5)))


REVERSIONS = [
    ("arcsin", lambda x: np.sin(x), 0.0, mpmath.asin),
    ("arcsin elsewhere", lambda x: np.sin(x), 0.5, mpmath.asin),
    ("log", lambda x: np.exp(x), 0.25, mpmath.log),
    ("Lambert's W", lambda x: x * np.exp(x), 0.0, mpmath.lambertw),
    ("Lambert's W elsewhere", lambda x: x * np.exp(x), 0.75, mpmath.lambertw),
    ("sqrt", lambda x: x**2, 1.5, mpmath.sqrt),
    ("artanh", lambda x: np.tanh(x), 0.5, mpmath.atanh),
]


@pytest.mark.parametrize(("f", "point", "inverse"), [row[1:] for row in REVERSIONS], ids=[row[0] for row in REVERSIONS])
def test_reversion(f: Callable[[Any], Any], point: float, inverse: Callable[[Any], Any]) -> None:
    s = f(VARIABLE(15, point))
    r = s.reversion()
    assert r.point == s[0] and r[0] == point
    expected = exactly(lambda y: mpmath.re(inverse(y)), float(s[0]), 15)
    known = np.abs(expected) > 1e-60
    assert_allclose(np.asarray(r)[known], expected[known], rtol=1e-10)
    agree(r.truncate(8).reversion(), s.truncate(8), 1e5)
    agree(r.at(s), VARIABLE(15, point), 1e6)
    agree(s.at(r), VARIABLE(15, float(s[0])), 1e6)


@given(several(1))
def test_reversion_of_reversion(series: list[TaylorSeries]) -> None:
    (s,) = series
    if s.degree:
        s = TaylorSeries([s[0], np.where(s[1] < 0, -1.0, 1.0), *s[2:]], 2.0)
        r = s.reversion()
        again = r.reversion()
        assert_array_equal(again.point, np.full(s.shape, 2.0))
        bound = majorant(s)
        for _ in range(2):  # 2t − m has the inverse with the largest coefficients of all whose size is that of m
            bound = TaylorSeries([0 * bound[0], bound[1], *(-c for c in bound[2:])]).reversion()
        near(TaylorSeries([0 * again[0], *again[1:]]), TaylorSeries([0 * s[0], *s[1:]]), bound)
        assert_array_equal(again[0], s[0])


def test_reversion_of_arrays() -> None:
    point = np.array([0.25, 0.5])
    s = np.sin(VARIABLE(6, point))
    r = s.reversion()
    assert_array_equal(r[0], point)
    for i in range(2):
        agree(r[:, i], exactly(mpmath.asin, float(s[0][i]), 6))
    agree((s**2).reversion().at(s**2), VARIABLE(6, point), 1e5)


def test_displacements_that_do_not_broadcast() -> None:
    x, t = np.array([1.0, 2.0]), np.array([0.01, 0.02, 0.03])
    s = np.sin(TaylorSeries.variable(12, x))
    for call in (lambda: s(t), lambda: s.at(np.array([1.0, 1.1, 1.2])), lambda: s(list(t))):
        with pytest.raises(ShapeError, match=r"\(2,\)") as caught:
            call()
        assert isinstance(caught.value, ValueError)
    with pytest.raises(ShapeError, match=r"given shape \(3,\).*s\(t\[:, None\]\)"):
        s(t)
    with pytest.raises(ShapeError, match=r"s\.at\(x\[:, None\]\)"):
        s.at(1 + t)
    assert np.abs(s(t[:, None]) - np.sin(x + t[:, None])).max() < 1e-14
