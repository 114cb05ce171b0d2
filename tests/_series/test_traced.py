"""Series inside derivatives: what is computed of traced coefficients, and series as containers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import hoad
from hoad._series import TaylorSeries
from hoad.errors import ArgumentError, TracedValueError

VARIABLE = TaylorSeries.variable
Function = Callable[[Any], Any]


def of_mpmath(name: str) -> Any:
    return getattr(mpmath, name)


# f(a, x) by NumPy and by mpmath, and a
FAMILIES: list[tuple[str, Function, Function, float]] = [
    ("exp(a x)", lambda a, x: np.exp(a * x), lambda a, x: mpmath.exp(a * x), 0.7),
    ("sin(a + x)", lambda a, x: np.sin(a + x), lambda a, x: mpmath.sin(a + x), 0.7),
    ("tan(a x)/(1 + x)", lambda a, x: np.tan(a * x) / (1 + x), lambda a, x: mpmath.tan(a * x) / (1 + x), 0.7),
    ("tanh(a + x)", lambda a, x: np.tanh(a + x), lambda a, x: mpmath.tanh(a + x), 0.7),
    ("(1 + x)ᵃ", lambda a, x: (1 + x) ** a, lambda a, x: (1 + x) ** a, 0.7),
    ("aˣ", lambda a, x: a**x, lambda a, x: a**x, 0.7),
    ("(a + x)³", lambda a, x: (a + x) ** 3, lambda a, x: (a + x) ** 3, 0.7),
    ("log(a + x²)", lambda a, x: np.log(a + x**2), lambda a, x: mpmath.log(a + x**2), 0.7),
    ("arcsin(a x)", lambda a, x: np.arcsin(a * np.cos(x)), lambda a, x: mpmath.asin(a * mpmath.cos(x)), 0.7),
    ("arctan", lambda a, x: np.arctan(a + np.exp(x)), lambda a, x: mpmath.atan(a + mpmath.exp(x)), 0.7),
    ("arctan2", lambda a, x: np.arctan2(x - a, a), lambda a, x: mpmath.atan2(x - a, a), 0.7),
    ("a/(a - x)", lambda a, x: a / (a - x), lambda a, x: a / (a - x), 0.7),
    ("√(a + x)", lambda a, x: np.sqrt(a + x), lambda a, x: mpmath.sqrt(a + x), 0.7),
    ("∫", lambda a, x: (np.cos(a * x)).integral(a), lambda a, x: a + mpmath.sin(a * x) / a, 0.7),
    ("f∘g", lambda a, x: (a + np.exp(VARIABLE(5)))(np.sin(x)), lambda a, x: a + mpmath.exp(mpmath.sin(x)), 0.7),
]
DEGREE = 5


def mixed(f: Function, a: float, order: int) -> np.ndarray:
    """∂ᵐ/∂aᵐ of the coefficients of x ↦ f(a, x) at 0, by differences at 60 digits."""
    with mpmath.workdps(60):
        by_a = [mpmath.diff(lambda a: mpmath.taylor(lambda x: f(a, x), 0, k)[k], a, order) for k in range(DEGREE + 1)]
        return np.array(by_a, float)


@pytest.mark.parametrize(("f", "exact", "a"), [row[1:] for row in FAMILIES], ids=[row[0] for row in FAMILIES])
def test_derivatives_of_coefficients(f: Function, exact: Function, a: float) -> None:
    def coefficients(a: Any) -> Any:
        found = f(a, VARIABLE(DEGREE))
        return (found if found.degree == DEGREE else found.truncate(DEGREE)).coefficients

    plain = np.asarray(coefficients(a))
    assert_allclose(plain, mixed(exact, a, 0), rtol=1e-11, atol=1e-14)
    first = mixed(exact, a, 1)
    assert_allclose(hoad.jvp(coefficients, (a,), (1.0,))[1], first, rtol=1e-11, atol=1e-13)
    assert_allclose(hoad.jacobian(coefficients)(a), first, rtol=1e-11, atol=1e-13)
    assert_allclose(hoad.vjp(coefficients, a)[1](np.ones(DEGREE + 1))[0], first.sum(), rtol=1e-11, atol=1e-13)
    assert_allclose(hoad.jacobian(hoad.jacobian(coefficients))(a), mixed(exact, a, 2), rtol=1e-10, atol=1e-12)
    fast = hoad.jit(coefficients)
    for other in (a, 0.9 * a):
        assert_allclose(fast(other), np.asarray(coefficients(other)), rtol=1e-14, atol=1e-16)


def test_entries_of_arrays() -> None:
    """Traced arrays: the gradient of a sum of coefficients, against the same numbers one by one."""
    rates = np.array([0.3, 0.7, 1.1])

    def total(a: Any) -> Any:
        return np.sum(np.tan(a * VARIABLE(4))[3]) + np.sum(np.exp(a + VARIABLE(4, np.zeros(3)))(0.1))

    def alone(a: Any) -> Any:
        return np.tan(a * VARIABLE(4))[3] + np.exp(a + VARIABLE(4))(0.1)

    assert_allclose(hoad.grad(total)(rates), [hoad.grad(alone)(a) for a in rates], rtol=1e-14)


def test_by_the_point() -> None:
    """f(x) by the series of f about a, which is its variable too."""

    def remainder(a: Any) -> Any:
        return np.exp(VARIABLE(6, a)).at(0.5) - np.exp(0.5)

    # d/da Σₖ₌₀ⁿ eᵃ (x − a)ᵏ/k! = eᵃ (x − a)ⁿ/n!
    assert_allclose(hoad.grad(remainder)(0.2), np.exp(0.2) * 0.3**6 / 720, rtol=1e-9)
    s = np.exp(VARIABLE(6, 0.2))
    assert_allclose(hoad.grad(lambda x: s.at(x))(0.5), s.derivative().at(0.5))


def test_reversion() -> None:
    """W(a y) has the coefficients (-k)ᵏ⁻¹ aᵏ/k! for the inverse of x exp(x)/a."""

    def third(a: Any) -> Any:
        x = VARIABLE(4)
        return (x * np.exp(x) / a).reversion()[3]

    assert_allclose(third(2.0), 1.5 * 8, rtol=1e-14)
    assert_allclose(hoad.grad(third)(2.0), 1.5 * 3 * 4, rtol=1e-14)


def test_composition_about_a_traced_point() -> None:
    def outer(a: Any) -> Any:
        g = np.cos(VARIABLE(4, a))
        return np.exp(VARIABLE(4, g[0])).at(g)[2]

    with mpmath.workdps(50):
        exact = mpmath.diff(lambda a: mpmath.taylor(lambda x: mpmath.exp(mpmath.cos(x)), a, 2)[2], 0.4)
    assert_allclose(hoad.grad(outer)(0.4), float(exact), rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (lambda a: (np.sin(a * VARIABLE(3)) / VARIABLE(3))[0], ArgumentError, "traced 0"),
        (lambda a: np.exp(VARIABLE(3))(a - 1 + VARIABLE(3))[1], ArgumentError, "constant term"),
        (lambda a: np.exp(VARIABLE(3, 1.0)).at(a + VARIABLE(3))[1], ArgumentError, r"about g\[0\]"),
        (lambda a: (VARIABLE(3, a) + VARIABLE(3, 1.0))[1], ArgumentError, "do not meet"),
        (lambda a: (a * VARIABLE(6)).radius(), TracedValueError, "hoad.value"),
        (lambda a: np.exp(a * VARIABLE(6)).pade(3, 3)(1.0), TracedValueError, "hoad.value"),
        (lambda a: (a * VARIABLE(6)).to_polynomial()(1.0), TracedValueError, "hoad.value"),
        (lambda a: np.sum(np.asarray(a * VARIABLE(6))), TracedValueError, "cut"),
    ],
)
def test_a_traced_number_is_never_taken_for_its_value(f: Function, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        hoad.grad(f)(1.0)


def test_traced_text() -> None:
    seen = []

    def f(a: Any) -> Any:
        s = np.exp(a * VARIABLE(3))
        seen.extend([repr(s), str(s), s._repr_latex_()])
        return s[1]

    hoad.grad(f)(1.0)
    assert seen[0].startswith("TaylorSeries([Traced(1.0), Traced(1.0), ") and seen[1:3] == [seen[0], None]


# ---- as a container


def test_through_jit_and_vmap() -> None:
    def s(a: Any) -> Any:
        return np.exp(a * VARIABLE(3, a))

    plain = s(0.5)
    again = hoad.jit(s)(0.5)
    assert isinstance(again, TaylorSeries)
    agree = np.asarray(plain)
    assert_allclose(np.asarray(again), agree, rtol=1e-15)
    assert again.point == 0.5 and (again + 1).degree == 3
    mapped = hoad.vmap(s)(np.array([0.5, 0.25]))
    assert mapped.shape == (2,)
    assert_allclose(mapped[:, 0], agree, rtol=1e-15)
    assert_array_equal(mapped.point, [0.5, 0.25])
    assert_allclose(mapped.at(0.5)[0], plain[0])
    assert_allclose(np.asarray(np.log(mapped))[1], [0.5, 0.25], rtol=1e-15)


def test_by_a_series() -> None:
    """The derivatives of s(t) by the coefficients are the powers of t."""
    s = TaylorSeries([1.0, 2.0, 3.0])
    found = hoad.grad(lambda s: s(0.5))(s)
    assert isinstance(found, TaylorSeries)
    assert_array_equal(np.asarray(found), [1.0, 0.5, 0.25])
    product = hoad.grad(lambda s: (s * s)[2])(TaylorSeries([1.0, 2.0, 3.0], 0.5))
    assert_array_equal(np.asarray(product), [6.0, 4.0, 2.0])
    assert product.point == 0.5
    twice = hoad.hessian(lambda s: (s * s)[2])(TaylorSeries([1.0, 2.0, 3.0], 0.5))
    assert_array_equal([np.asarray(row) for row in twice], [[0.0, 0.0, 2.0], [0.0, 2.0, 0.0], [2.0, 0.0, 0.0]])
    assert str(twice).startswith("TaylorSeries([TaylorSeries([0., 0., 2.], point=0.5), ")
    tangent = hoad.jvp(lambda a: np.exp(a * VARIABLE(2)), (1.0,), (1.0,))[1]
    assert_array_equal(np.asarray(tangent), [0.0, 1.0, 1.0])
    assert hoad.value(s) == s


def test_in_loops() -> None:
    """Newton's iteration for a root, on series, in a loop that is recorded once; and a map of series."""

    def root(a: Any) -> Any:
        s = VARIABLE(3, 0.5) + a
        return hoad.fori_loop(0, 6, lambda _, r: 0.5 * (r + s / r), TaylorSeries([1.0, 0.0, 0.0, 0.0], 0.5))

    exact = np.asarray(np.sqrt(VARIABLE(3, 2.0)))
    assert_allclose(np.asarray(root(1.5)), exact, rtol=1e-14)
    assert_allclose(hoad.grad(lambda a: root(a)[1])(1.5), 2 * exact[2], rtol=1e-13)
    batch = TaylorSeries(np.array([[1.0, 2.0], [0.5, 0.25]]), np.array([0.1, 0.2]))
    assert_allclose(hoad.vmap(lambda s: np.exp(s).at(0.3))(batch), np.exp(batch).at(0.3), rtol=1e-15)


def test_ode_by_iteration() -> None:
    """y′ = y² by Picard's iteration, each of which gives one more coefficient; its solution is 1/(c − t)."""

    def end(start: Any) -> Any:
        y = TaylorSeries([start])
        for _ in range(8):
            y = (y * y).integral(start)
        return y

    assert_allclose(np.asarray(end(0.5)), 0.5 ** np.arange(1, 10), rtol=1e-15)
    assert_allclose(
        hoad.jacobian(lambda c: end(c).coefficients)(0.5), np.arange(1, 10) * 0.5 ** np.arange(9), rtol=1e-14
    )


def test_made_of_traced_coefficients() -> None:
    """From an array, a list, and NumPy's array of objects."""
    for make in (lambda a: a * np.arange(1.0, 4.0), lambda a: [a, 2 * a, 3.0], lambda a: np.array([a, 2 * a, 3 * a])):
        assert hoad.grad(lambda a: TaylorSeries(make(a))[1])(0.7) == 2.0


def test_arrays_of_traced_numbers() -> None:
    """NumPy's arrays of objects, as np.array([a, 2 * a]) is one, are constants too, on both sides of an operator."""
    s = np.exp(VARIABLE(2))
    for f, slope in [
        (lambda c: c * s, 1.0),
        (lambda c: s * c, 1.0),
        (lambda c: s + c * s, 1.0),
        (lambda c: s / c, -1 / 0.7**2 / 4),
        (lambda c: s**c, 4 * 0.7),  # exp(2 a t) has 2 a² t²
        (lambda c: c - s, 0.0),
    ]:
        found = hoad.grad(lambda a, f=f: f(np.array([a, 2 * a]))[2][1])(0.7)
        assert_allclose(found, slope, rtol=1e-14)
