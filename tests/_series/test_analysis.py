"""What a series tells of a function: Padé approximants, radius of convergence, polynomials, and how it is printed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import Chebyshev, Polynomial
from numpy.testing import assert_allclose, assert_array_equal

import hoad
from hoad._series import PadeApproximant, TaylorSeries
from hoad.errors import ArgumentError, DomainError, DTypeError, NoRuleError, ShapeError

VARIABLE = TaylorSeries.variable
Function = Callable[[Any], Any]

# ---- Padé approximants


def exp_by_formula(m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """[m/n] of exp, as Padé gave it."""

    def side(degree: int, sign: int) -> np.ndarray:
        f = math.factorial
        return np.array([sign**k * math.comb(degree, k) * f(m + n - k) / f(m + n) for k in range(degree + 1)])

    return side(m, 1), side(n, -1)


def value(coefficients: Any, t: float) -> Any:
    return sum(mpmath.mpmathify(c) * mpmath.mpf(t) ** k for k, c in enumerate(coefficients))


@pytest.mark.parametrize(("m", "n"), [(0, 0), (1, 0), (0, 1), (1, 1), (3, 2), (2, 4), (5, 5), (7, 6)])
def test_pade_of_exp(m: int, n: int) -> None:
    r = np.exp(VARIABLE(m + n)).pade(m, n)
    above, below = exp_by_formula(m, n)
    assert_allclose(r.numerator, above, rtol=1e-7 if m + n > 10 else 1e-9)
    assert_allclose(r.denominator, below, rtol=1e-7 if m + n > 10 else 1e-9)
    t = np.linspace(-0.9, 0.9, 7)
    with mpmath.workdps(40):
        exact = [value(above, x) / value(below, x) for x in t]
    assert_allclose(r(t), np.array(exact, float), rtol=3e-15)


@pytest.mark.parametrize(
    ("f", "exact", "point", "m", "n"),
    [
        (np.log1p, mpmath.log1p, 0.0, 4, 4),
        (np.tan, mpmath.tan, 0.0, 5, 4),
        (lambda x: np.exp(np.sin(x)), lambda x: mpmath.exp(mpmath.sin(x)), 0.5, 4, 3),
    ],
)
def test_pade_against_mpmath(f: Function, exact: Function, point: float, m: int, n: int) -> None:
    r = f(VARIABLE(m + n, point)).pade(m, n)
    with mpmath.workdps(40):
        above, below = mpmath.pade(mpmath.taylor(exact, point, m + n), m, n)
        for t in (-0.5, 0.25, 0.9):
            expected = value(above, t) / value(below, t)
            assert_allclose(r(t), float(expected), rtol=1e-12)
            assert_allclose(r.at(point + t), float(expected), rtol=1e-12)


def test_pade_beyond_the_radius() -> None:
    """log(1 + x) at 4, where its Taylor series is useless."""
    assert_allclose(np.log1p(VARIABLE(20)).pade(10, 10)(4.0), np.log(5.0), rtol=1e-7)


@pytest.mark.parametrize(
    ("f", "m", "n", "above", "below"),
    [
        (lambda t: (1 + t) / (1 - 2 * t), 5, 5, [1, 1], [1, -2]),
        (lambda t: (2 + t) / (1 + t**2), 4, 6, [2, 1], [1, 0, 1]),
        (lambda t: 1 + 3 * t + t**2, 4, 4, [1, 3, 1], [1]),
        (lambda t: 0 * t, 3, 3, [0], [1]),
        (lambda t: 1 + t**2, 1, 1, [1], [1]),  # [0/0], which agrees as far: the table has blocks
        (lambda t: t**4 / (1 - t), 6, 3, [0, 0, 0, 0, 1], [1, -1]),
        (lambda t: np.cos(t), 1, 2, [1], [1, 0, 0.5]),
    ],
)
def test_degenerate_tables(f: Function, m: int, n: int, above: list[float], below: list[float]) -> None:
    r = f(VARIABLE(m + n)).pade(m, n)
    assert_allclose(r.numerator, [*above, *[0] * (m + 1 - len(above))], rtol=1e-13, atol=1e-14)
    assert_allclose(r.denominator, [*below, *[0] * (n + 1 - len(below))], rtol=1e-13, atol=1e-14)


def test_noise_makes_no_poles(rng: np.random.Generator) -> None:
    """Coefficients with six digits: the approximant of a rational function is found, and nothing beside it."""
    c = np.asarray(1 / (1 - 0.5 * VARIABLE(20))) * (1 + 1e-6 * rng.uniform(-1, 1, 21))
    r = TaylorSeries(c).pade(10, 10, tolerance=1e-4)
    poles = r.poles()
    assert_allclose(poles[0], 2.0, rtol=1e-5)
    assert np.isinf(poles[1:]).all()


def test_poles() -> None:
    poles = np.tan(VARIABLE(16)).pade(7, 8).poles()
    assert poles.shape == (8,)
    assert_allclose(np.sort_complex(poles[:4]), np.array([-1.5, -0.5, 0.5, 1.5]) * np.pi, rtol=1e-3)
    assert np.array_equal(np.abs(poles), np.sort(np.abs(poles)))
    with np.errstate(divide="ignore"):
        assert abs((1 / (1 - VARIABLE(2))).pade(0, 1)(np.float64(1.0))) > 1e15  # inf, where the solver does not round


def test_pade_of_arrays() -> None:
    rates = np.array([[1.0, 2.0, 0.0]])
    r = np.exp(rates * VARIABLE(6)).pade(3, 3)
    assert r.numerator.shape == (4, 1, 3) and r.poles().shape == (3, 1, 3)
    assert_allclose(r(0.5), np.exp(rates * 0.5), rtol=1e-4)
    assert repr(r) == "<PadeApproximant [3/3] of shape (1, 3)>"
    points = np.array([0.1, 0.2])
    assert_allclose(np.exp(VARIABLE(6, points)).pade(3, 3).at(0.3), np.full(2, np.exp(0.3)), rtol=1e-9)


def test_pade_dtypes() -> None:
    single = np.exp(VARIABLE(6, np.float32(0.0))).pade(3, 3)
    assert single.numerator.dtype == np.float32
    assert_allclose(single(np.float32(0.5)), np.exp(0.5), rtol=1e-6)
    turned = np.exp(1j * VARIABLE(8)).pade(4, 4)
    assert turned.numerator.dtype == complex
    assert_allclose(turned(1.0), np.exp(1j), rtol=1e-7)
    with pytest.raises(ArgumentError, match="up to degree 5, but the series is known to 4"):
        VARIABLE(4).pade(2, 3)
    with pytest.raises(ArgumentError, match="integer of"):
        VARIABLE(4).pade(2, -1)


# ---- radius of convergence

RADII: list[tuple[str, Function, float, float, float]] = [
    ("1/(1 - x)", lambda x: 1 / (1 - x), 0.25, 0.75, 1e-13),
    ("1/(1 + x²) at 0", lambda x: 1 / (1 + x**2), 0.0, 1.0, 1e-13),
    ("1/(1 + x²) at 1", lambda x: 1 / (1 + x**2), 1.0, math.sqrt(2), 1e-12),
    ("1/(1 + x³)", lambda x: 1 / (1 + x**3), 0.0, 1.0, 1e-13),
    ("log(1 + x) at 0", np.log1p, 0.0, 1.0, 1e-3),
    ("log(1 + x) at 0.5", np.log1p, 0.5, 1.5, 1e-12),
    ("tan at 0", np.tan, 0.0, math.pi / 2, 1e-6),
    ("tan at 0.5", np.tan, 0.5, math.pi / 2 - 0.5, 1e-6),
    ("tanh", np.tanh, 0.5, math.hypot(0.5, math.pi / 2), 1e-6),
    ("sqrt(1 + x) exp(x)", lambda x: np.sqrt(1 + x) * np.exp(x), 0.5, 1.5, 1e-9),
    ("arcsin", np.arcsin, 0.0, 1.0, 1e-2),
    ("arctan at 2", np.arctan, 2.0, math.sqrt(5), 1e-10),
    ("x/(exp(x) - 1)", lambda x: x / np.expm1(x), 0.0, 2 * math.pi, 1e-3),
    ("1/(1 + exp(-x))", lambda x: 1 / (1 + np.exp(-x)), 0.0, math.pi, 1e-6),
    ("W", lambda x: (x * np.exp(x)).reversion(), 0.0, 1 / math.e, 1e-3),
]


@pytest.mark.parametrize(("f", "point", "radius", "rtol"), [row[1:] for row in RADII], ids=[row[0] for row in RADII])
@pytest.mark.parametrize("scale", [1.0, 1e-5, 1e4])
def test_radius(f: Function, point: float, radius: float, rtol: float, scale: float) -> None:
    """From 25 coefficients, whatever the unit of x is."""
    c = np.asarray(f(VARIABLE(25, point)))
    assert_allclose(TaylorSeries(c / scale ** np.arange(len(c))).radius(), radius * scale, rtol=rtol)


@pytest.mark.parametrize(
    "f",
    [
        np.exp,
        np.sin,
        lambda x: np.exp(x**2),
        lambda x: np.cos(3 * x) * np.exp(-x),
        lambda x: np.exp(x**3),
        lambda x: x * np.exp(np.sin(x)),
        lambda x: 1 + x**2 + x**5,
        lambda x: 0 * x + 3,
    ],
)
@pytest.mark.parametrize("point", [0.0, 0.5])
def test_entire_functions(f: Function, point: float) -> None:
    assert f(VARIABLE(25, point)).radius() == np.inf


def test_radius_of_arrays() -> None:
    found = (1 / (1 + VARIABLE(20, np.array([[0.5, 1.0, -2.0]])))).radius()
    assert_allclose(found, [[1.5, 2.0, 1.0]], rtol=1e-12)
    assert isinstance(np.exp(VARIABLE(20)).radius(), float)


def test_too_few_coefficients() -> None:
    assert np.isnan(TaylorSeries([1.0, 2.0]).radius())
    assert np.isnan(TaylorSeries([1.0, np.nan, 1.0, 2.0, 3.0]).radius())


SINGULAR: list[tuple[Function, Callable[[float], float]]] = [
    (np.tan, lambda x: math.pi / 2 - x),
    (np.tanh, lambda x: math.hypot(x, math.pi / 2)),
    (np.arctan, lambda x: math.hypot(x, 1)),
    (np.log1p, lambda x: 1 + x),
    (lambda x: np.sqrt(1 + x), lambda x: 1 + x),
    (lambda x: 1 / (1 + x**2), lambda x: math.hypot(x, 1)),
]


@pytest.mark.parametrize(("f", "radius"), SINGULAR)
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("point", [0.0, 0.3, 0.5])
def test_a_few_coefficients_tell_nothing_wrong(
    f: Function, radius: Callable[[float], float], degree: int, point: float
) -> None:
    found = f(VARIABLE(degree, point)).radius()
    assert np.isnan(found) or found == pytest.approx(radius(point), rel=1e-3)


@pytest.mark.parametrize("point", [0.0, 0.3, 0.5])
def test_two_coefficients_of_an_entire_function_tell_nothing(point: float) -> None:
    assert np.isnan(np.exp(VARIABLE(2, point)).radius())
    for degree in range(3, 12):
        assert np.exp(VARIABLE(degree, point)).radius() == np.inf


@pytest.mark.parametrize("degree", [3, 4, 5, 6])
def test_a_fit_of_few_coefficients_that_is_exact_counts(degree: int) -> None:
    assert_allclose((1 / (1 - VARIABLE(degree, 0.25))).radius(), 0.75, rtol=1e-12)
    assert_allclose((VARIABLE(degree, 2.0) ** -1.5).radius(), 2.0, rtol=1e-9)


ENTIRE: dict[str, Function] = {
    "exp": np.exp,
    "sin": np.sin,
    "cos": np.cos,
    "sinh": np.sinh,
    "exp sin": lambda x: np.exp(x) * np.sin(x),
    "exp cos": lambda x: np.exp(x) * np.cos(x),
    "sin cos": lambda x: np.sin(x) * np.cos(x),
    "cosh cos": lambda x: np.cosh(x) * np.cos(x),
    "exp(√3 x) sin": lambda x: np.exp(np.sqrt(3) * x) * np.sin(x),
    "exp(x²)": lambda x: np.exp(x**2),
    "sin(x²)": lambda x: np.sin(x**2),
    "cos(x⁴)": lambda x: np.cos(x**4),
    "cos³": lambda x: np.cos(x) ** 3,
    "exp(sin x)": lambda x: np.exp(np.sin(x)),
    "x exp(-x)": lambda x: x * np.exp(-x),
    "x³ exp": lambda x: x**3 * np.exp(x),
    "x³ exp sin": lambda x: x**3 * np.exp(x) * np.sin(x),
    "j0": scipy.special.j0,
    "erf": scipy.special.erf,
    "1 + 2 x - x² + x³/2": lambda x: 1 + 2 * x - x**2 + 0.5 * x**3,
    "1 + x² + x⁵": lambda x: 1 + x**2 + x**5,
    "x⁷": lambda x: x**7,
}


@pytest.mark.parametrize("name", ENTIRE)
@pytest.mark.parametrize("point", [0.0, 0.3, -1.2])
def test_no_degree_gives_an_entire_function_a_radius(name: str, point: float) -> None:
    """Zeros that come back, as those of exp sin do, must not look like a fit."""
    c = np.asarray(ENTIRE[name](VARIABLE(40, point)))
    found = [TaylorSeries(c[: n + 1]).radius() for n in range(40, 1, -1 if point == 0.0 else -3)]
    assert not np.any(np.isfinite(found))
    assert np.inf in found or name == "cos(x⁴)"  # its degree 40 holds six coefficients that are not zero


SINGULARITIES: dict[str, tuple[Function, list[complex]]] = {
    "1/(1 - x)": (lambda x: 1 / (1 - x), [1]),
    "1/(1 + x²)": (lambda x: 1 / (1 + x**2), [1j]),
    "1/(1 - x³)": (lambda x: 1 / (1 - x**3), [1, -0.5 + 0.75**0.5 * 1j]),
    "tan": (np.tan, [math.pi / 2, -math.pi / 2]),
    "tanh": (np.tanh, [math.pi / 2 * 1j]),
    "log(1 + x)": (np.log1p, [-1]),
    "sqrt(1 + x)": (lambda x: np.sqrt(1 + x), [-1]),
    "(1 + x)^-2.5": (lambda x: (1 + x) ** -2.5, [-1]),
    "1/cosh": (lambda x: 1 / np.cosh(x), [math.pi / 2 * 1j]),
    "1/(1 + 25 x²)": (lambda x: 1 / (1 + 25 * x**2), [0.2j]),
    "log(1 + x)/(2 - x)": (lambda x: np.log1p(x) / (2 - x), [-1, 2]),
    "arctan": (np.arctan, [1j]),
    "1/(x² - 2 x + 5)": (lambda x: 1 / (x**2 - 2 * x + 5), [1 + 2j]),
    "gammaln(1 + x)": (lambda x: scipy.special.gammaln(1 + x), [-1, -2]),
    "arcsin": (np.arcsin, [1, -1]),
    "log(1 + x²)": (lambda x: np.log1p(x**2), [1j]),
    "tan(x²)": (lambda x: np.tan(x**2), [(math.pi / 2) ** 0.5 * 1j**k for k in range(4)]),
}


ABOVE_MINUS_ONE = {"log(1 + x)", "sqrt(1 + x)", "(1 + x)^-2.5", "log(1 + x)/(2 - x)", "arcsin"}  # where they are real


@pytest.mark.parametrize(
    ("name", "point"),
    [(name, x) for name in SINGULARITIES for x in (0.0, 0.3, -1.2) if x > -1 or name not in ABOVE_MINUS_ONE],
)
def test_every_degree_gives_the_radius_or_nan(name: str, point: float) -> None:
    f, singularities = SINGULARITIES[name]
    exact = min(abs(point - z) for z in singularities)
    c = np.asarray(f(VARIABLE(40, point)))
    found = np.array([TaylorSeries(c[: n + 1]).radius() for n in range(2, 41)])
    known = found[~np.isnan(found)]
    assert_allclose(known, exact, rtol=0.1)
    assert len(known) >= 8
    assert_allclose(found[-1], exact, rtol=1e-3)


def test_x_over_expm1() -> None:
    """By its coefficients Bₖ/k!: a quotient of series by x would be mostly rounding."""
    c = np.array([float(mpmath.bernoulli(k) / math.factorial(k)) for k in range(41)])
    found = np.array([TaylorSeries(c[: n + 1]).radius() for n in range(2, 41)])
    assert_allclose(found[~np.isnan(found)], 2 * math.pi, rtol=0.05)
    assert_allclose(found[24:], 2 * math.pi, rtol=1e-5)


@given(
    st.sampled_from(["1/(1 - x)", "1/(1 + x²)", "tan", "log(1 + x)", "1/cosh", "arcsin", "gammaln(1 + x)"]),
    st.floats(-9, 9).map(lambda power: 10.0**power),
    st.booleans(),
    st.integers(0, 5),
    st.integers(1, 3),
)
def test_radius_scales(name: str, a: float, negative: bool, power: int, gap: int) -> None:
    """That of f(a x) is that of f divided by |a|; that of xʲ f(xᵐ) is its mth root."""
    c = np.asarray(SINGULARITIES[name][0](VARIABLE(30, 0.2)))
    exact = TaylorSeries(c).radius()
    scaled = c * (-a if negative else a) ** np.arange(31)
    assert_allclose(TaylorSeries(scaled).radius(), exact / a, rtol=1e-6)
    spread = np.zeros(power + 30 * gap + 1)
    spread[power::gap] = c
    assert_allclose(TaylorSeries(spread).radius(), exact ** (1 / gap), rtol=0.03)


def test_a_series_of_zeros() -> None:
    assert np.isnan(TaylorSeries([0.0, 0.0, 0.0, 0.0]).radius())
    assert TaylorSeries(np.zeros(20)).radius() == np.inf


def test_radius_of_complex_series() -> None:
    assert_allclose((1 / (1 - (0.6 + 0.8j) * 2 * VARIABLE(12))).radius(), 0.5, rtol=1e-12)


# ---- NumPy's polynomials


@pytest.mark.parametrize("point", [0.0, 0.3, -2.0, 1e6, 1e-8, 3])
def test_polynomials_take_x(point: float) -> None:
    s = TaylorSeries([1.0, 2.0, -3.0, 0.5], point)
    p = s.to_polynomial()
    assert_array_equal(p.coef, s.coefficients)
    for t in (0.0, 0.25, -1.5):
        assert_allclose(p(point + t), s.at(point + t), rtol=1e-9)
    assert p(point) == 1.0
    assert_allclose(p.deriv()(point), 2.0)


def test_no_polynomial_of_arrays() -> None:
    with pytest.raises(ShapeError, match=r"shape \(2,\).*s\[:, 0\]"):
        VARIABLE(2, np.zeros(2)).to_polynomial()


# ---- how it is printed


@pytest.mark.parametrize(
    ("coefficients", "text"),
    [
        ([1.0, 1.0, 0.5], "1 + t + t²/2 + O(t³)"),
        ([0.0, -1.0, 2.0], "-t + 2 t² + O(t³)"),
        ([-1.0, 0.0, -2 / 3], "-1 - 2 t²/3 + O(t³)"),
        ([0.0, 0.0], "O(t²)"),
        ([0.0], "O(t)"),
        ([-(1 + 4e-13) / 270, -139 / 51840, (1 + 4e-12) / 270], "-1/270 - 139 t/51840 + 0.0037037 t² + O(t³)"),
        ([0.75, 2.5, 1.2, 0.333], "3/4 + 5 t/2 + 6 t²/5 + 0.333 t³ + O(t⁴)"),
        ([math.pi, 0.3, 0.125], "3.14159 + 0.3 t + t²/8 + O(t³)"),
        ([1e-7, 1e7, 2.5e-9], "1/10000000 + 1e+07 t + t²/400000000 + O(t³)"),
        ([1.0] + [0.0] * 10 + [1 / math.factorial(11)], "1 + t¹¹/39916800 + O(t¹²)"),
        ([np.nan, np.inf, -np.inf], "nan + inf t - inf t² + O(t³)"),
        ([1 + 2j, 3.0, 1j], "(1+2j) + 3 t + (0+1j) t² + O(t³)"),
        (np.array([1 / 3, 0.1, 2 / 3], np.float32), "1/3 + t/10 + 2 t²/3 + O(t³)"),
    ],
)
def test_text(coefficients: Any, text: str) -> None:
    assert str(TaylorSeries(coefficients)) == text


def test_text_of_a_random_number_is_no_fraction(rng: np.random.Generator) -> None:
    shown = [str(TaylorSeries([c])) for c in rng.normal(size=2000)]
    assert sum("/" in text for text in shown) <= 2


def test_text_of_points_and_arrays() -> None:
    assert str(VARIABLE(1, 0.3)) == "0.3 + t + O(t²), t = x - 0.3"
    assert str(VARIABLE(1, -2)) == "-2 + t + O(t²), t = x + 2"
    assert str(TaylorSeries([[1.0, 2.0], [0.0, 1.0]], 0.5)) == "[0]: 1 + O(t²)\n[1]: 2 + t + O(t²), t = x - 0.5"
    assert str(VARIABLE(1, np.ones((3, 3)))).splitlines()[7:] == ["[2, 1]: 1 + t + O(t²)", "..., t = x - point"]
    assert f"{np.sin(VARIABLE(3, 1.0)):.2f}" == "0.84 + 0.54 t - 0.42 t² - 0.09 t³ + O(t⁴), t = x - 1"


def test_repr() -> None:
    array, TaylorSeries_ = np.array, TaylorSeries
    for s in (VARIABLE(3), VARIABLE(2, 0.3), TaylorSeries(np.eye(2), [1.0, 2.0]), np.exp(VARIABLE(2, 1j))):
        again = eval(repr(s), {"array": array, "TaylorSeries": TaylorSeries_})
        assert_allclose(np.asarray(again), np.asarray(s), rtol=1e-7)
        assert_array_equal(again.point, s.point)


def test_latex() -> None:
    assert np.exp(VARIABLE(2))._repr_latex_() == r"$1 + t + \frac{t^{2}}{2} + O(t^{3})$"
    assert VARIABLE(1, 0.3)._repr_latex_() == r"$0.3 + t + O(t^{2}), t = x - 0.3$"
    assert TaylorSeries([1.5e-20, 2 / 3])._repr_latex_() == r"$1.5 \cdot 10^{-20} + \frac{2 t}{3} + O(t^{2})$"
    assert VARIABLE(1, np.ones(2))._repr_latex_() is None


def test_pade_text() -> None:
    t = VARIABLE(6)
    assert repr(np.exp(t).pade(1, 1)) == "(1 + t/2)/(1 - t/2)"
    assert repr((1 + t).pade(3, 3)) == "1 + t"
    r = np.log(VARIABLE(4, 2.0)).pade(1, 1)
    assert isinstance(r, PadeApproximant) and repr(r).endswith(", t = x - 2")


# ---- NumPy's polynomials are functions of x; errors give advice that runs -------------------------------------------


@pytest.mark.parametrize("point", [0.0, 1.5, np.array([1.0, 0.3])], ids=["0", "1.5", "array"])
@pytest.mark.parametrize("kind", [Polynomial, Chebyshev])
def test_meets_a_polynomial(kind: Any, point: Any) -> None:
    p = kind([1.0, 2.0, 0.5], domain=[-2.0, 3.0], window=[-1.0, 1.0])
    x = VARIABLE(4, point)
    s, q = np.exp(x), sum(c * x**k for k, c in enumerate(p.convert(kind=Polynomial).coef))
    for found, exact in (
        (s + p, s + q), (p + s, s + q), (s - p, s - q), (p - s, q - s), (s * p, s * q), (p * s, s * q), (s / p, s / q)
    ):  # fmt: skip
        assert_allclose(found.coefficients, exact.coefficients, rtol=1e-13, atol=1e-14)
        assert np.array_equal(found.point, point)
    x0 = np.ravel(point)[0]
    value = (s * p).coefficients.reshape(5, -1)[:2, 0]  # eˣ p(x) and its slope
    assert_allclose(value, np.exp(x0) * np.array([p(x0), p(x0) + p.deriv()(x0)]), rtol=1e-13)
    for wrong in (lambda: p(s), lambda: kind(s)):
        with pytest.raises(ArgumentError, match=r"s\.to_polynomial\(\); p\(s\) is sum"):
            wrong()
    with pytest.raises(TypeError):
        p / s


def advised(error: BaseException, before: str, **names: Any) -> Any:
    """What the advice in a message gives: the code behind some words."""
    code = str(error).split(before)[1].rstrip(".")
    return eval(code, {"np": np, "hoad": hoad, **names})


def test_advice_of_functions_of_numpy() -> None:
    t = TaylorSeries(np.stack([np.diag([2.0, 4.0]), np.eye(2), np.zeros((2, 2))]))
    with pytest.raises(NoRuleError) as raised:
        np.sum(t, axis=0)
    assert_allclose(advised(raised.value, "series in t is ", s=t).coefficients, [[2.0, 4.0], [1.0, 1.0], [0.0, 0.0]])
    with pytest.raises(NoRuleError) as raised:
        np.concatenate([t, 2 * t], axis=1)
    found = advised(raised.value, "series in t is ", s=t, u=2 * t)
    assert_allclose(found.coefficients, np.concatenate([t.coefficients, 2 * t.coefficients], axis=2))


@pytest.mark.parametrize("point", [1.0, np.array([1.0, 2.0])], ids=["one point", "points"])
def test_advice_of_polynomials_and_poles(point: Any) -> None:
    s = TaylorSeries(np.array([[1.0, 2.0], [3.0, 4.0]]), point)
    with pytest.raises(ShapeError) as raised:
        s.to_polynomial()
    assert advised(raised.value, "entry by entry: ", s=s)(2.0) == 4.0  # 1 + 3 (x - 1)
    with pytest.raises(DomainError, match=r"TaylorSeries\(s\[1:\], s\.point\)"):
        1 / TaylorSeries([0.0, 2.0, 4.0], 3.0)
    assert (1 / TaylorSeries(TaylorSeries([0.0, 2.0, 4.0], 3.0)[1:], 3.0)).coefficients.tolist() == [0.5, -1.0]


def test_an_integral_starts_with_a_number() -> None:
    with pytest.raises(DTypeError, match="not 'a'"):
        VARIABLE(2).integral("a")
