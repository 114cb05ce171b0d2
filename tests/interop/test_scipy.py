"""Fits and roots by SciPy's functions: NIST's certified values, closed forms, and SciPy with its own differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

so = pytest.importorskip("scipy.optimize")
sparse = pytest.importorskip("scipy.sparse")

import hoad  # noqa: E402
from hoad._demo import nist  # noqa: E402
from hoad.errors import ArgumentError, DTypeError  # noqa: E402
from hoad.interop.scipy import curve_fit, least_squares, nonlinear_constraint, root  # noqa: E402

T = np.linspace(0.0, 4.0, 9)
Y = 3.0 * np.exp(-0.5 * T) + 0.01 * np.cos(7 * T)
N = 120  # points of the discretised equations
TIGHT = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}


def decay(t: Any, size: Any, rate: Any) -> Any:
    return size * np.exp(-rate * t)


def bratu(u: Any, strength: Any = 1.0) -> Any:
    """u″ + strength · exp(u) = 0 in differences, u = 0 at both ends."""
    u = np.concatenate([[0.0], u, [0.0]])
    return (u[2:] - 2 * u[1:-1] + u[:-2]) * (N + 1) ** 2 + strength * np.exp(u[1:-1])


@pytest.mark.parametrize("name", ["Misra1a", "Chwirut2", "DanWood", "Thurber", "Rat42", "Gauss1", "Eckerle4"])
def test_standard_errors_are_those_that_nist_certifies(name: str) -> None:
    data, certified = nist.load(name), nist.certified(name)
    popt, pcov = curve_fit(
        lambda x, *b: data.model(np.stack(b), x), data.x, data.y, data.starts[2], **TIGHT, maxfev=5000
    )
    np.testing.assert_allclose(popt, certified.parameters, rtol=1e-7)
    np.testing.assert_allclose(np.sqrt(np.diag(pcov)), certified.standard_errors, rtol=1e-6)


@pytest.mark.parametrize("sigma", [None, 0.5, np.linspace(0.1, 0.2, 9), np.diag(np.linspace(0.1, 0.3, 9)) + 0.01])
@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (0, 10)])
def test_curve_fit_with_sigma(sigma: Any, absolute: bool, bounds: Any) -> None:
    given = {"sigma": sigma, "absolute_sigma": absolute, "bounds": bounds, "xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}
    popt, pcov = curve_fit(decay, T, Y, **given)
    expected, spread = so.curve_fit(decay, T, Y, **given)
    np.testing.assert_allclose(popt, expected, rtol=1e-6)
    np.testing.assert_allclose(pcov, spread, rtol=1e-5)
    slopes = np.stack([np.exp(-popt[1] * T), -popt[0] * T * np.exp(-popt[1] * T)], axis=1)
    weight = (
        np.eye(9)
        if sigma is None
        else np.linalg.inv(sigma if np.ndim(sigma) == 2 else np.diag(np.ones(9) * sigma) ** 2)
    )
    exact = np.linalg.inv(slopes.T @ weight @ slopes)
    misfit = decay(T, *popt) - Y
    np.testing.assert_allclose(pcov, exact if absolute else exact * (misfit @ weight @ misfit) / 7, rtol=1e-9)


def test_what_else_curve_fit_returns() -> None:
    found = curve_fit(decay, T, Y, full_output=True)
    assert len(found) == 5 and found[2]["fvec"].shape == (9,)
    with pytest.warns(so.OptimizeWarning, match="Covariance"):
        assert np.all(np.isinf(curve_fit(lambda t, a, b: a + b + 0 * t, T, Y)[1]))


def test_curve_fit_inside_a_derivative() -> None:
    def rate(y: Any) -> Any:
        return curve_fit(decay, T, y, **TIGHT)[0][1]

    popt = curve_fit(decay, T, Y, **TIGHT)[0]
    e = np.exp(-popt[1] * T)
    slopes, misfit = np.stack([e, -popt[0] * T * e], axis=1), popt[0] * e - Y
    mixed = -np.sum(misfit * T * e)
    second = slopes.T @ slopes + np.array([[0.0, mixed], [mixed, popt[0] * np.sum(misfit * T**2 * e)]])
    np.testing.assert_allclose(hoad.grad(rate)(Y), np.linalg.solve(second, slopes.T)[1], rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, np.ndarray),
        ({"tr_solver": "lsmr"}, sparse.sparray),
        ({"tr_solver": "exact"}, np.ndarray),
        ({"method": "lm"}, np.ndarray),
        ({"tr_solver": "lsmr", "kwargs": {"strength": 0.5}}, np.ndarray),
    ],
)
def test_least_squares_of_many_unknowns(options: dict[str, Any], kind: type) -> None:
    """A string that is held at each point, too, so that the problem is well-conditioned."""

    def held(u: Any, strength: float = 0.5) -> Any:
        return bratu(u, strength) / (N + 1) ** 2 + u - 1.0

    found = least_squares(held, np.zeros(N), **options)
    assert isinstance(found.jac, kind) and found.nfev < 15
    np.testing.assert_allclose(found.x, root(held, np.zeros(N)).x, atol=1e-6)


def test_ill_conditioned_squares_are_factored() -> None:
    found = least_squares(bratu, np.zeros(N))
    assert found.nfev < 15
    np.testing.assert_allclose(found.x, root(bratu, np.zeros(N)).x, atol=1e-9)


def test_least_squares_as_scipys() -> None:
    given = {"loss": "soft_l1", "f_scale": 0.1, "bounds": ([0.0, 0.6], [10.0, 2.0]), "args": (T,)}
    found = least_squares(lambda p, t: decay(t, *p) - Y, np.array([1.0, 1.0]), **given)
    expected = so.least_squares(lambda p, t: decay(t, *p) - Y, np.array([1.0, 1.0]), **given)
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-6)


def test_least_squares_of_lists_and_tables() -> None:
    found = least_squares(lambda x: [x[0] - 1, (x[1] - 2) * np.ones((2, 2))], np.zeros(2))
    np.testing.assert_allclose(found.x, [1.0, 2.0])
    assert found.fun.shape == (5,)


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov", "df-sane"])
def test_root(method: str) -> None:
    found = root(lambda x, c: [x[0] + 0.2 * np.cos(x[1]) - c, x[1] - 0.3 * x[0]], np.array([0.5, 0.5]), 1.0, method)
    x = found.x
    np.testing.assert_allclose([x[0] + 0.2 * np.cos(x[1]), x[1]], [1.0, 0.3 * x[0]], atol=1e-5)


@pytest.mark.parametrize("f", [root, least_squares], ids=["root", "least_squares"])
def test_roots_inside_a_derivative(f: Any) -> None:
    def at(c: Any) -> Any:
        return f(lambda x, c: x**2 - c, np.array([1.0]), args=(c,), **({} if f is root else TIGHT)).x[0]

    assert hoad.grad(at)(4.0) == pytest.approx(0.25, rel=1e-9)
    assert hoad.derivative(at, 2)(4.0) == pytest.approx(-1 / 32, rel=1e-7)


@pytest.mark.parametrize("f", [root, least_squares], ids=["root", "least_squares"])
def test_where_a_solver_starts(f: Any) -> None:
    with pytest.raises(DTypeError, match=rf"{f.__name__} needs floats for x0, but was given int64"):
        f(lambda x: x, [1, 2])
    with pytest.raises(ArgumentError, match=rf"^{f.__name__}"):
        f(None, [1.0])


def test_a_constraint_at_points_of_several_sizes() -> None:
    made = nonlinear_constraint(lambda x: x[1:] * x[:-1], 0.0, 1.0)
    for n in (60, 100, 3, 60):
        x = np.linspace(0.5, 1.5, n)
        found = made.jac(x)
        assert sparse.issparse(found) == (n > 3)
        found = found.toarray() if n > 3 else found
        np.testing.assert_allclose(found, np.eye(n)[:-1] * x[1:, None] + np.eye(n)[1:] * x[:-1, None], rtol=1e-14)


def test_nonlinear_constraint() -> None:
    x, v = np.linspace(0.5, 1.5, N), np.linspace(-1.0, 1.0, N)
    made = nonlinear_constraint(bratu, -1.0, 1.0)
    slopes, bent = made.jac(x), made.hess(x, v)
    assert sparse.issparse(slopes) and sparse.issparse(bent)
    second = (N + 1) ** 2 * (np.eye(N, k=1) + np.eye(N, k=-1) - 2 * np.eye(N))
    np.testing.assert_allclose(slopes.toarray(), second + np.diag(np.exp(x)), rtol=1e-13, atol=1e-9)
    np.testing.assert_allclose(bent.toarray(), np.diag(v * np.exp(x)), rtol=1e-13)
