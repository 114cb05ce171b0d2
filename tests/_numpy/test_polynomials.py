"""Polynomials: roots and fits against closed forms, decisions by values, and the package numpy.polynomial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import assert_same, by_complex_steps, by_differences
from numpy import polynomial
from numpy.polynomial.polynomial import polyadd, polymul, polyval

import hoad
from hoad.errors import TracedValueError

C = np.array([0.7, 1.3, -0.4, 0.25])
X = np.array([0.3, -0.6, 0.8])
FAMILIES = [
    (polynomial.polynomial, "poly", polynomial.Polynomial),
    (polynomial.chebyshev, "cheb", polynomial.Chebyshev),
    (polynomial.hermite, "herm", polynomial.Hermite),
    (polynomial.hermite_e, "herme", polynomial.HermiteE),
    (polynomial.laguerre, "lag", polynomial.Laguerre),
    (polynomial.legendre, "leg", polynomial.Legendre),
]


def test_roots_move_by_the_derivative_of_the_polynomial() -> None:
    """dr / dpₖ = -rⁿ⁻ᵏ / p′(r)."""
    p = np.array([1.0, 0.2, 2.0, 0.3])
    r = np.roots(p)
    wanted = -np.stack([r ** (3 - k) / np.polyval(np.polyder(p), r) for k in range(4)], axis=-1)
    found = hoad.jacobian(lambda p: np.real(np.roots(p)))(p) + 1j * hoad.jacobian(lambda p: np.imag(np.roots(p)))(p)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


def test_roots_that_become_complex_are_found_again() -> None:
    f = hoad.jit(lambda p: np.roots(p))
    for p in ([1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [1.0, -3.0, 0.0], [0.0, 1.0, -3.0], [1.0, 0.0, -4.0]):
        assert_same(f(np.array(p)), np.roots(p))


def test_a_double_root_has_no_derivative() -> None:
    assert np.isnan(hoad.jacobian(lambda p: np.real(np.roots(p)))(np.array([1.0, -2.0, 1.0]))).any()


def test_poly_of_roots() -> None:
    """The derivative by a root is minus the product of the others."""
    found = hoad.jacobian(np.poly)(X)
    for k in range(3):
        np.testing.assert_allclose(found[1:, k], -np.poly(np.delete(X, k)), rtol=1e-14)
    np.testing.assert_allclose(found[0], 0.0)


def test_quotients_are_shortened_by_values() -> None:
    f = hoad.jit(lambda u: np.polydiv(u, [1.0, -1.0])[1])
    for u in ([1.0, -3.0, 2.0], [1.0, -3.0, 5.0], [2.0, 0.5, 1.0]):
        assert_same(f(np.array(u)), np.polydiv(u, [1.0, -1.0])[1])


def test_fits_are_linear_in_the_data() -> None:
    t = np.linspace(-1.0, 1.0, 7)
    wanted = np.linalg.pinv(np.vander(t, 3))
    np.testing.assert_allclose(hoad.jacobian(lambda y: np.polyfit(t, y, 2))(np.cos(t)), wanted, atol=1e-14)
    full = hoad.jvp(lambda y: np.polyfit(t, y, 2, full=True)[:4], (np.cos(t),), (t,))[0]
    for a, b in zip(full, np.polyfit(t, np.cos(t), 2, full=True), strict=False):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_errors_are_those_of_numpy() -> None:
    for f in (
        lambda x: np.polyder(x, -1),
        lambda x: np.polyint(x, 2, [1.0, 2.0, 3.0][:0]),
        lambda x: np.poly(np.stack([x, x])),
        lambda x: np.polyfit(x, x, -1),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - as NumPy raises it
            f(X)
        with pytest.raises(ValueError):  # noqa: PT011
            hoad.jacobian(f)(X)


# ---- numpy.polynomial -----------------------------------------------------------------------------------------------


def _summed(found: Any) -> Any:
    """A number that depends on all coefficients differently."""
    parts = found if isinstance(found, tuple) else (found,)
    flat = [np.ravel(getattr(part, "coef", part)) for part in parts]
    return sum(np.sum(part * np.arange(1.0, len(part) + 1.0)) for part in flat)


def _of_coefficients(module: Any, name: str, cls: Any) -> dict[str, Any]:
    def g(suffix: str) -> Any:
        return getattr(module, name + suffix)

    return {
        "val": lambda c: g("val")(X, c),
        "der": g("der"),
        "int": g("int"),
        "mul": lambda c: g("mul")(c, C[:3]),
        "add": lambda c: g("add")(c, C[:2]),
        "pow": lambda c: g("pow")(c, 3),
        "div": lambda c: g("div")(c, [2.0, 0.3]),
        "fromroots": g("fromroots"),
        "companion": g("companion"),
        "called": lambda c: cls(c)(X),
        "methods": lambda c: (cls(c).deriv() * 2.0 + cls(C) ** 2).integ(),
        "converted": lambda c: cls(c, domain=[0.0, 2.0]).convert(kind=polynomial.Polynomial),
    }


@pytest.mark.parametrize(("module", "name", "cls"), FAMILIES, ids=[f[1] for f in FAMILIES])
def test_coefficients_of_a_package_that_knows_no_traced_arrays(module: Any, name: str, cls: Any) -> None:
    for case, f in _of_coefficients(module, name, cls).items():
        c = 1.1 * C + 0.05
        np.testing.assert_allclose(hoad.jvp(lambda c, f=f: _summed(f(c)), (c,), (c,))[0], _summed(f(c)), rtol=1e-13)
        wanted = by_differences(lambda c, f=f: _summed(f(c)), c)
        for call in (hoad.grad, lambda g: hoad.jit(hoad.grad(g))):
            found = call(lambda c, f=f: _summed(f(c)))(c)
            np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8, err_msg=case)


@pytest.mark.parametrize(("module", "name", "cls"), FAMILIES, ids=[f[1] for f in FAMILIES])
def test_points_of_a_package_that_knows_no_traced_arrays(module: Any, name: str, cls: Any) -> None:
    grid = np.outer(C, C[:2])
    for suffix, f in {
        "val": lambda x, g: g(x, C),
        "val2d": lambda x, g: g(x, x**2, grid),
        "grid2d": lambda x, g: g(x, x**2, grid),
        "val3d": lambda x, g: g(x, x, x, np.ones((2, 3, 2))),
        "vander": lambda x, g: g(x, 3),
        "vander2d": lambda x, g: g(x, x, [2, 1]),
    }.items():
        function = getattr(module, name + suffix)
        found = hoad.grad(lambda x, f=f, g=function: _summed(f(x, g)))(X)
        wanted = by_complex_steps(lambda x, f=f, g=function: _summed(f(x, g)), X)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12, err_msg=suffix)


@pytest.mark.parametrize(("module", "name", "cls"), FAMILIES, ids=[f[1] for f in FAMILIES])
def test_fits_and_roots_are_adopted(module: Any, name: str, cls: Any) -> None:
    fit, roots = getattr(module, f"{name}fit"), getattr(module, f"{name}roots")
    y, w = np.array([0.3, 0.1, -0.7, 0.9]), np.array([1.0, 2.0, 0.5, 1.5])
    for case, f in {
        "fit": lambda y: fit(C, y, 2),
        "by x and weights": lambda y: fit(y, C, 1, w=w + y),
        "of a class": lambda y: cls.fit(C, y, 2).coef,
        "roots": lambda c: np.sort(np.real(roots(c * [5.0, 1.0, 5.0, 1.0]))),
        "arithmetic": lambda c: (cls(c) * cls([1.0, c[0]]) - cls([2.0])).coef,
    }.items():
        found = hoad.jacobian(hoad.adopt(f))(y)
        np.testing.assert_allclose(found, by_differences(f, y), rtol=1e-7, atol=1e-7, err_msg=case)
    for called, f, x in (("fit", lambda y: fit(C, y, 1), y), ("roots", roots, C)):
        with pytest.raises(hoad.NoRuleError, match=rf"{name}{called} of numpy.polynomial.*hoad\.adopt"):
            hoad.jvp(f, (x,), (x,))


@pytest.mark.skipif(not hasattr(polynomial.polynomial, "polyvalnd"), reason="from NumPy 2.5 on")
def test_a_polynomial_of_several_variables() -> None:
    valnd, c = polynomial.polynomial.polyvalnd, np.outer(C, C[:2])  # p(x) (c₀ + c₁ y)
    (value, y), by_x = hoad.jvp(lambda x: (valnd((x, x**2), c), x), (X,), (np.ones_like(X),))
    p, dp = polyval(y, C), polyval(y, polynomial.polynomial.polyder(C))
    line = C[0] + C[1] * y**2
    np.testing.assert_allclose(value, p * line, rtol=1e-13)
    np.testing.assert_allclose(by_x[0], dp * line + p * 2.0 * C[1] * y, rtol=1e-12)


def test_vectorize_gives_objects() -> None:
    f = np.vectorize(lambda t: np.sin(t) if t > 0 else t**2)
    np.testing.assert_allclose(hoad.jacobian(f)(X), np.diag(np.where(X > 0, np.cos(X), 2.0 * X)))
    g = hoad.jit(hoad.grad(lambda x: np.sum(f(x))))
    for x in (X, -X):
        np.testing.assert_allclose(g(x), np.where(x > 0, np.cos(x), 2.0 * x))
    for g in (f, hoad.adopt(lambda t: f(t))):
        assert hoad.grad(lambda t, g=g: 1.0 * g(t))(2.0) == np.cos(2.0)  # of a number, too
    rows = np.vectorize(lambda a: np.sum(a * a), signature="(n)->()")
    np.testing.assert_allclose(hoad.grad(lambda x: np.sum(rows(x)))(np.outer(X, X)), 2.0 * np.outer(X, X))
    with pytest.raises(hoad.TracedValueError):
        hoad.grad(lambda x: np.sum(np.vectorize(np.sin, otypes=[float])(x)))(X)


COEFFICIENTS: dict[str, Callable[[Any], Any]] = {
    "poly1d": lambda a: np.poly1d([a, 2.0, 1.0])(3.0),
    "poly1d, of an array": lambda a: np.poly1d(np.stack([a, a + 2.0]))(3.0),
    "difference": lambda a: (np.poly1d([1.0 + a, 2.0]) - np.poly1d([1.0, 1.0]))(3.0),
    "product": lambda a: (np.poly1d([a, 1.0]) * np.poly1d([a, a, 2.0]))(3.0),
    "derivative": lambda a: np.poly1d([a, 1.0, 2.0]).deriv()(3.0),
    "polymul": lambda a: np.polyval(np.polymul([a, 1.0], [1.0, 2.0]), 3.0),
    "polymul, of an array": lambda a: np.polyval(np.polymul(np.stack([a, a + 1.0]), [1.0, 2.0]), 3.0),
    "polynomial.polyadd": lambda a: polyval(3.0, polyadd([1.0, a], [1.0])),
    "polynomial.polymul": lambda a: polyval(3.0, polymul(np.stack([1.0 + a, a]), [1.0, 2.0])),
    "Polynomial": lambda a: (polynomial.Polynomial([1.0, a]) * polynomial.Polynomial([1.0, a]))(3.0),
    "Chebyshev": lambda a: (polynomial.Chebyshev([1.0, a]) + polynomial.Chebyshev([1.0]))(3.0),
}


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_coefficients_that_are_zero_have_a_derivative(name: str) -> None:
    """NumPy leaves them out, but beside this point there are none: the derivatives are those of its neighbours."""
    f = COEFFICIENTS[name]
    assert hoad.jit(f)(0.0) == f(0.0)
    series, nested = hoad.derivatives(f, 3)(0.0), f
    for order in range(4):  # polynomials of at most degree 2, which five points tell exactly
        h = 0.25
        around = {k: f(k * h) for k in (-2, -1, 1, 2)}
        expected = (
            f(0.0),
            (around[-2] - 8 * around[-1] + 8 * around[1] - around[2]) / (12 * h),
            (-around[-2] + 16 * around[-1] - 30 * f(0.0) + 16 * around[1] - around[2]) / (12 * h * h),
            0.0,
        )[order]
        assert series[order] == pytest.approx(expected, abs=1e-11)
        assert nested(0.0) == pytest.approx(expected, abs=1e-11)
        nested = hoad.grad(nested)
    assert hoad.jvp(f, (0.0,), (2.0,))[1] == pytest.approx(2 * series[1], abs=1e-11)


@pytest.mark.parametrize("f", [lambda a: np.roots([a, 3.0, 1.0])[-1], lambda a: np.roots([1.0, 3.0, a])[-1]])
def test_the_degree_of_roots(f: Any) -> None:
    with pytest.raises(TracedValueError, match=r"np\.roots leaves out first and last coefficients"):
        hoad.grad(f)(0.0)
    assert hoad.jit(f)(0.0) == f(0.0)
    assert hoad.grad(f)(0.25) == pytest.approx((f(0.25 + 1e-6) - f(0.25 - 1e-6)) / 2e-6, rel=1e-6)


def test_plain_zeros_are_left_out() -> None:
    assert hoad.grad(lambda a: np.poly1d([0.0, 1.0, a])(3.0) ** 2)(2.0) == 10.0
    assert hoad.grad(lambda a: np.polyval([a, 2.0], 3.0))(0.0) == 3.0
