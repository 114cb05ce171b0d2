"""`derivatives`, `taylor`, and `derivative` of high order."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import hoad
from hoad._pytree.containers import flatten
from hoad.errors import ArgumentError, DomainError, DTypeError, ShapeError, TracedValueError


def main_function(x: Any) -> Any:
    return np.exp(np.sin(x)) * np.tanh(x) / (1 + x * x)


def exact(x: float, n: int) -> list[Any]:
    with mpmath.workdps(60):
        c = mpmath.taylor(lambda t: mpmath.exp(mpmath.sin(t)) * mpmath.tanh(t) / (1 + t * t), mpmath.mpf(x), n)
        return [ck * mpmath.factorial(k) for k, ck in enumerate(c)]


@pytest.mark.parametrize("x", [-1.3, 0.0, 0.3, 2.0])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 10, 25])
def test_derivatives_against_mpmath(x: float, n: int) -> None:
    found = hoad.derivatives(main_function, n)(x)
    assert found.shape == (n + 1,)
    for k, wanted in enumerate(exact(x, n)):
        scale = max(abs(wanted), mpmath.factorial(k) * mpmath.mpf(2) ** -k)
        assert abs(found[k] - wanted) <= 1e-13 * scale


def test_derivative_of_high_order_is_that_of_derivatives() -> None:
    for n in (7, 8, 12):
        assert hoad.derivative(main_function, n)(0.3) == pytest.approx(float(exact(0.3, n)[n]), rel=1e-12)


def test_points_are_lanes() -> None:
    x = np.linspace(-2.0, 2.0, 301).reshape(7, 43)
    found = hoad.derivatives(main_function, 9)(x)
    assert found.shape == (10, 7, 43)
    for place in ((0, 0), (3, 21), (6, 42)):
        np.testing.assert_allclose(
            found[(slice(None), *place)], hoad.derivatives(main_function, 9)(x[place]), rtol=1e-11
        )


@pytest.mark.parametrize("count", [2, 15, 16, 33, 63, 64, 65, 127, 200])
def test_a_point_has_the_same_derivatives_wherever_it_stands(count: int) -> None:
    x = np.linspace(-2.0, 2.0, 201)

    def f(x: Any) -> Any:
        return main_function(x) * (2.5 + np.sin(x)) ** -1.5 + (3.0 + np.cos(x)) ** 2

    whole = hoad.derivatives(f, 9)(x)
    np.testing.assert_array_equal(hoad.derivatives(f, 9)(x[:count]), whole[:, :count])
    np.testing.assert_array_equal(hoad.derivatives(f, 9)(x[-count:]), whole[:, -count:])


@pytest.mark.parametrize("exponent", [-1.5, 0.5, 1 / 3, 2.5, -3.0])
def test_powers_of_a_series(exponent: float) -> None:
    with mpmath.workdps(60):
        wanted = mpmath.taylor(lambda t: (mpmath.exp(t) + mpmath.sin(t)) ** mpmath.mpf(exponent), mpmath.mpf(0.7), 24)
    points = np.full(70, 0.7)
    for x in (0.7, points):
        s = hoad.taylor(lambda x: (np.exp(x) + np.sin(x)) ** exponent, x, 24).coefficients
        for k, ck in enumerate(wanted):
            assert np.all(abs(s[k] - float(ck)) <= 1e-13 * max(abs(float(ck)), 2.0**-k))


@pytest.mark.parametrize("n", [0, 1, 3])
def test_zeros_keep_their_signs(n: int) -> None:
    assert hoad.derivatives(lambda x: 1 / x, n)(-0.0)[0] == -np.inf
    np.testing.assert_array_equal(hoad.derivatives(lambda x: 1 / x, n)(np.array([-0.0, 0.0]))[0], [-np.inf, np.inf])


def test_jit_makes_results_where_they_are_asked_for() -> None:
    fast = hoad.jit(hoad.derivatives(main_function, 6))
    for x in (0.3, np.linspace(-1.0, 1.0, 500)):
        wanted = hoad.derivatives(main_function, 6)(x)
        out = np.full(wanted.shape, np.nan)
        for _ in range(2):
            assert fast(x, out=out) is out
            np.testing.assert_array_equal(out, wanted)


def test_points_beside_arrays_and_choices() -> None:
    x, c = np.array([-1.0, 0.5, 2.0]), np.array([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        return np.where(x > 0, c * np.sin(x), np.maximum(x**3, -5.0)) + 1.0

    wanted = np.stack([hoad.derivative(f, k)(x) for k in range(5)])
    np.testing.assert_allclose(hoad.derivatives(f, 4)(x), wanted, rtol=1e-14)


def test_one_item_and_none() -> None:
    assert hoad.derivatives(np.exp, 3)(np.array([0.0])).tolist() == [[1.0]] * 4
    assert hoad.derivatives(np.exp, 3)(np.zeros(0)).shape == (4, 0)


def test_a_gradient_of_derivatives_is_the_next() -> None:
    found = hoad.grad(lambda x: hoad.derivatives(main_function, 5)(x)[3])(0.3)
    assert found == pytest.approx(float(exact(0.3, 4)[4]), rel=1e-13)
    second = hoad.hessian(lambda x: hoad.derivatives(main_function, 5)(x)[4])(0.3)
    assert second == pytest.approx(float(exact(0.3, 6)[6]), rel=1e-13)


def test_jit_and_vmap() -> None:
    f = hoad.derivatives(main_function, 6)
    jitted = hoad.jit(f)
    for x in (0.3, -1.0, 0.3):
        np.testing.assert_array_equal(jitted(x), f(x))
    points = np.array([0.1, 0.7])
    np.testing.assert_allclose(hoad.vmap(f)(points), [f(x) for x in points.tolist()], rtol=1e-14)


def test_further_arguments_and_containers() -> None:
    found = hoad.derivatives(lambda x, a, b=1.0: {"p": a * x**2, "q": b}, 2)(3.0, 2.0, b=5.0)
    assert found["p"].tolist() == [18.0, 12.0, 4.0]
    assert found["q"].tolist() == [5.0, 0.0, 0.0]


def test_taylor_along_a_direction() -> None:
    x, v = np.array([1.0, 2.0]), np.array([1.0, -1.0])
    s = hoad.taylor(lambda x: x[0] * x[1] ** 2, x, 5, v)
    assert isinstance(s, hoad.TaylorSeries)
    assert s.coefficients.tolist() == [4.0, 0.0, -3.0, 1.0, 0.0, 0.0]
    assert s(0.5) == (1.5) * (1.5) ** 2


def test_taylor_without_a_direction_moves_all_alike() -> None:
    s = hoad.taylor(lambda x: x[0] * x[1], np.array([1.0, 2.0]), 2)
    assert s.coefficients.tolist() == [2.0, 3.0, 1.0]


def test_taylor_of_arrays_and_of_matrices() -> None:
    a, b = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([1.0, -1.0])
    s = hoad.taylor(lambda t: np.linalg.solve(a + t * np.eye(2), b), 0.0, 4)
    inverse = np.linalg.inv(a)
    wanted = [(-1) ** k * np.linalg.matrix_power(inverse, k + 1) @ b for k in range(5)]  # a Neumann series
    np.testing.assert_allclose(s.coefficients, wanted, rtol=1e-14)
    s = hoad.taylor(lambda t: np.linalg.inv(a + t * np.eye(2)), 0.0, 3)
    wanted = [(-1) ** k * np.linalg.matrix_power(inverse, k + 1) for k in range(4)]
    np.testing.assert_allclose(s.coefficients, wanted, rtol=1e-13)


def test_what_has_no_arithmetic_goes_by_tapes() -> None:
    a = np.array([[2.0, 1.0], [1.0, 3.0]])
    s = hoad.taylor(lambda t: np.linalg.det(a + t * np.eye(2)), 0.0, 3)  # λ² + 5 λ + 5
    np.testing.assert_allclose(s.coefficients, [5.0, 5.0, 1.0, 0.0], atol=1e-14)


def test_a_result_that_hangs_on_nothing() -> None:
    assert hoad.derivatives(lambda x: 3.0, 2)(1.0).tolist() == [3.0, 0.0, 0.0]
    assert hoad.derivatives(lambda x: x, 2)(1.5).tolist() == [1.5, 1.0, 0.0]


def test_whole_powers_at_zero() -> None:
    assert hoad.derivatives(lambda x: x**3, 4)(0.0).tolist() == [0.0, 0.0, 0.0, 6.0, 0.0]
    assert hoad.derivatives(lambda x: x**0, 2)(0.0).tolist() == [1.0, 0.0, 0.0]


def test_a_derivative_that_does_not_exist() -> None:
    with pytest.raises(DomainError, match=r"order 3 of f at x = 0\.0.* nan.*power.*test_taylor\.py.*is 2"):
        hoad.taylor(lambda x: x**2.5, 0.0, 4)
    assert hoad.derivatives(lambda x: x**2.5, 2)(0.0).tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(DomainError, match="sqrt"):
        hoad.taylor(lambda x: np.sum(np.sqrt(x)), np.array([1.0, 0.0]), 2)


SINGULAR: dict[str, Callable[[Any], Any]] = {
    "sqrt": np.sqrt,
    "1/x": lambda x: 1 / x,
    "log": np.log,
    "x**1.5": lambda x: x**1.5,
    "x**2.5": lambda x: x**2.5,
    "cbrt": np.cbrt,
    "arcsin(1 - x)": lambda x: np.arcsin(1 - x),
    "sqrt(x**4)": lambda x: np.sqrt(x**4),
    "x log x": lambda x: x * np.log(x),
    "exp(-1/x)": lambda x: np.exp(-1 / x),
    "x sqrt x": lambda x: x * np.sqrt(x),
    "abs": np.abs,
    "exp of a root": lambda x: np.exp(np.sqrt(x)),
    "two results": lambda x: {"a": np.sqrt(x), "b": x**3},
}


@pytest.mark.parametrize("name", list(SINGULAR))
@pytest.mark.parametrize("x", [0.0, np.array([0.0, 0.25, np.nan]), np.float32(0.0)], ids=repr)
@pytest.mark.parametrize("n", [1, 3, 6, 9])
def test_both_drivers_agree_at_singular_points(name: str, x: Any, n: int) -> None:
    """Order by order; inf is inf and nan is nan, and what is finite stays so beside them."""
    f = SINGULAR[name]
    with np.errstate(all="ignore"):
        all_orders, structure = flatten(hoad.derivatives(f, n)(x))
        for k in range(n + 1):
            each, same = flatten(hoad.derivative(f, k)(x))
            assert same == structure
            for found, exact in zip(all_orders, each, strict=True):
                assert_allclose(found[k], exact, rtol=1e-4 if np.asarray(x).dtype == np.float32 else 1e-11)


def test_an_infinite_slope() -> None:
    assert hoad.derivative(np.sqrt, 1)(0.0) == np.inf and hoad.derivatives(np.sqrt, 1)(0.0).tolist() == [0.0, np.inf]
    assert hoad.jvp(hoad.derivatives(np.sqrt, 1), (0.0,), (1.0,))[0].tolist() == [0.0, np.inf]
    assert hoad.jit(hoad.derivatives(np.sqrt, 1))(0.0).tolist() == [0.0, np.inf]


def test_values_that_are_not_finite_are_given() -> None:
    with np.errstate(all="ignore"):
        assert math.isnan(hoad.derivatives(np.log, 2)(-1.0)[0])
        assert hoad.derivatives(lambda x: x + 1.0, 1)(math.inf).tolist() == [math.inf, 1.0]


def test_bad_arguments() -> None:
    with pytest.raises(ArgumentError, match=r"takes an order of 0 or more, an int, not 2\.0"):
        hoad.derivatives(np.sin, 2.0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="0 or more"):
        hoad.taylor(np.sin, 1.0, -1)
    with pytest.raises(ArgumentError, match="function"):
        hoad.taylor(np.sin(1.0), 1.0, 2)
    with pytest.raises(ShapeError, match="direction"):
        hoad.taylor(np.sum, np.ones(2), 2, np.ones(3))
    with pytest.raises(ShapeError, match="element by element"):
        hoad.derivatives(lambda x: x * np.sum(x), 2)(np.ones(3))
    with pytest.raises(DTypeError, match="float"):
        hoad.derivatives(np.sin, 2)(1)


@pytest.mark.parametrize("scale", [1e-250, 1e-215, 1.0, 1e250])
@pytest.mark.parametrize("exponent", [0.5, 1 / 3, -0.5, 1.2])
def test_powers_of_tiny_and_huge_bases(scale: float, exponent: float) -> None:
    def f(x: Any) -> Any:
        return (scale * x) ** exponent

    wanted = [(scale * 1.5) ** exponent]
    for k in range(4):
        wanted.append(wanted[-1] * (exponent - k) / 1.5)
    np.testing.assert_allclose(hoad.derivatives(f, 4)(1.5), wanted, rtol=1e-12)
    np.testing.assert_allclose(hoad.derivatives(f, 4)(np.array([1.5, 1.0]))[:, 0], wanted, rtol=1e-12)
    np.testing.assert_allclose(hoad.derivative_tensor(lambda x: f(x[0]), 1)(np.array([1.5, 2.0]))[0], wanted[1])


def test_orders_whose_factorials_overflow() -> None:
    for x in (2.0, np.array([2.0])):
        found = np.ravel(hoad.derivatives(lambda x: x**3, 200)(x))
        assert found[:5].tolist() == [8.0, 12.0, 12.0, 6.0, 0.0]
        assert not found[5:].any()
    weights = np.zeros(201)
    weights[3] = 1.0
    slope = hoad.grad(lambda x: np.sum(weights * hoad.derivatives(np.sin, 200)(x)))(2.0)
    assert slope == pytest.approx(np.sin(2.0), rel=1e-12)


# Of order 300, coefficients by the step are beyond single precision.
POINTS = {"float": 0.0, "array": np.zeros(2), "single": np.float32(0.0), "complex": np.array(0j)}
ORDERS = [(name, n) for name in POINTS for n in (40, 170, 171, 200, 300) if n < 300 or name != "single"]


@pytest.mark.parametrize(("name", "n"), ORDERS)
def test_derivatives_in_range_whose_coefficients_or_factorials_are_not(name: str, n: int) -> None:
    x: Any = POINTS[name]
    tolerance = 1e-4 if isinstance(x, np.float32) else 1e-12
    found = hoad.derivatives(lambda x: np.exp(x / 2), n)(x)
    exact = np.ldexp(1.0, -np.arange(n + 1)).astype(found.dtype)
    assert found.dtype == np.asarray(x).dtype
    exact = np.broadcast_to(exact.reshape(-1, *[1] * np.ndim(x)), found.shape)
    np.testing.assert_allclose(found, exact, tolerance, atol=np.finfo(found.dtype).tiny)
    last = hoad.derivative(lambda x: np.exp(x / 2), n, np.iscomplexobj(x))(x)
    np.testing.assert_allclose(last, found[-1], tolerance)


WIDE = np.array([1.5, 2.0])
KINDS: dict[str, Callable[[Any], Any]] = {  # each with the derivatives of exp
    "alike": np.exp,
    "single": lambda x: np.exp(x) * np.float32(1),
    "double": lambda x: np.exp(x) * np.float64(1),
    "cast": lambda x: np.exp(x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)),
    "items": lambda x: np.stack([np.exp(x), 2 * np.exp(x)]),
    "vector": lambda x: WIDE * np.exp(x),
    "matrix": lambda x: WIDE[:, None] * np.exp(x) * np.ones((1, 3), np.float32),
    "container": lambda x: {"a": np.exp(x), "b": (WIDE * np.exp(x), np.exp(x) * np.float64(1))},
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    "x", [0.5, np.array(0.5), np.float32(0.5), np.array(0.5, np.float32), 0.5 + 0.25j, np.complex64(0.5)], ids=repr
)
def test_derivatives_of_every_order_have_the_shape_and_the_dtype_of_f(name: str, x: Any) -> None:
    f = KINDS[name]
    value = f(np.asarray(x)[()])
    values, structure = flatten(value)
    for n in range(10):
        found, same = flatten(hoad.derivative(f, n, np.iscomplexobj(x))(x))
        assert same == structure
        for y, exact in zip(found, values, strict=True):
            assert (np.shape(y), np.asarray(y).dtype) == (exact.shape, exact.dtype)
            assert_allclose(y, exact, rtol=1e-13 if np.asarray(x).dtype in (float, complex) else 2e-5)


def test_derivatives_beyond_the_largest_float_are_told() -> None:
    for n in (171, 200):  # k! of 1 / (1 - x) at 0
        found = hoad.derivatives(lambda x: 1 / (1 - x), n)(0.0)
        assert np.isfinite(found[:171]).all() and (found[171:] == np.inf).all()
        assert hoad.derivative(lambda x: 1 / (1 - x), n)(0.0) == np.inf


@pytest.mark.parametrize("x", [np.float32(0.0), np.zeros(2, np.float32), np.complex64(0.0)])
def test_derivatives_beyond_the_largest_float_are_told_of_other_dtypes(x: Any) -> None:
    found = hoad.derivatives(lambda x: np.float32(1e25) / (1 - x), 20)(x)  # 1e25 k! at 0
    assert np.isfinite(found[:17]).all() and not np.isfinite(found[17:]).any()


@pytest.mark.parametrize(
    "f", [lambda x: 2 * x, lambda x: 1 + x * x, lambda x: x**2, lambda x: np.exp(-x) * np.float32(2)]
)
def test_single_precision_with_constants(f: Any) -> None:
    for x in (np.float32(0.5), np.array([0.5, 1.5], np.float32)):
        wide = hoad.derivatives(f, 3)(np.asarray(x, np.float64))
        np.testing.assert_allclose(hoad.derivatives(f, 3)(x), wide, rtol=1e-5, atol=1e-5)


def test_a_complex_direction_is_refused() -> None:
    with pytest.raises(DTypeError, match="takes a real direction"):
        hoad.taylor(lambda x: np.sum(x**2), np.array([1.0, 2.0]), 2, direction=np.array([1 + 0j, 1]))


def test_a_branch_within_what_stays_is_told() -> None:
    def f(x: Any, a: Any) -> Any:
        return np.sin(x) * hoad.checkpoint(lambda a: a * 2 if a > 0 else a * 3)(a)

    program = hoad.record(lambda x, a: hoad.derivatives(lambda x: f(x, a), 2)(x), 0.5, 1.0)
    with pytest.raises(hoad.GuardError):
        program(0.5, -1.0)


def test_what_is_not_finite_is_not_said_to_be_undefined() -> None:
    with pytest.raises(DomainError, match=r"order 1 of f at x = 0\.0 comes out as nan.*sqrt.*finite is 0\..*x\*\*2"):
        hoad.taylor(lambda x: np.sqrt(x**4), 0.0, 3)  # which is x**2
    with pytest.raises(DomainError, match=r"order 1 of f at x = 7\.09 comes out as inf.*beyond the largest float"):
        hoad.taylor(lambda x: np.exp(100 * x), 7.09, 3)


def mixed(z: Any) -> Any:
    return np.exp(np.sin(z)) / (2 + z)


def test_complex_numbers() -> None:
    z = 0.3 + 0.2j
    with mpmath.workdps(40):
        exact = mpmath.taylor(lambda z: mpmath.exp(mpmath.sin(z)) / (2 + z), mpmath.mpc(z), 12)
    coefficients = np.array([complex(c) for c in exact])
    factorials = np.array([float(math.factorial(k)) for k in range(13)])
    np.testing.assert_allclose(hoad.taylor(mixed, z, 12).coefficients, coefficients, rtol=1e-12)
    for f in (hoad.derivatives(mixed, 12), hoad.jit(hoad.derivatives(mixed, 12))):
        np.testing.assert_allclose(f(z), coefficients * factorials, rtol=1e-12)
    np.testing.assert_allclose(hoad.derivatives(mixed, 2)(np.array([z, z]))[2], [2 * coefficients[2]] * 2, rtol=1e-13)
    np.testing.assert_allclose(hoad.vmap(hoad.derivatives(np.exp, 2))(np.array([z])), [[np.exp(z)] * 3], rtol=1e-14)
    along = hoad.taylor(lambda z: z[0] * z[1] ** 2, np.array([z, 1.0]), 2, np.array([1j, 1.0]))
    np.testing.assert_allclose(along.coefficients, [z, 1j + 2 * z, 2j + z], rtol=1e-15)


@pytest.mark.parametrize("f", [np.conj, np.abs, np.real, lambda z: z * np.conj(z), lambda z: np.exp(1j * np.abs(z))])
def test_a_function_that_is_not_holomorphic(f: Any) -> None:
    for driver in (hoad.derivatives(f, 2), lambda z: hoad.taylor(f, z, 2), hoad.jit(hoad.derivatives(f, 2))):
        with pytest.raises(DTypeError, match="takes a holomorphic function of a complex x"):
            driver(0.3 + 0.2j)


def test_taken_apart_and_put_together_is_holomorphic() -> None:
    found = hoad.derivatives(lambda z: (np.real(z) + 1j * np.imag(z)) ** 2, 3)(1.0 + 2.0j)
    np.testing.assert_allclose(found, [-3 + 4j, 2 + 4j, 2, 0], rtol=1e-15)


def test_points_in_containers() -> None:
    def f(p: Any) -> Any:
        return np.sum(p["a"]) * np.exp(p["b"][0]) * p["b"][1]

    point = {"a": np.ones(3), "b": (0.0, 2, "name")}
    with pytest.raises(TypeError):
        hoad.taylor(lambda p: p["b"][2] * 2.0 * p["a"], point, 2)
    s = hoad.taylor(lambda p: f(p), point, 3)
    np.testing.assert_allclose(s.coefficients, [6.0, 12.0, 9.0, 4.0], rtol=1e-15)  # 6 (1 + t) exp(t)
    s = hoad.taylor(f, point, 3, {"a": np.array([1.0, 2.0, 3.0]), "b": (-1.0, None, None)})
    np.testing.assert_allclose(s.coefficients, [6.0, 6.0, -9.0, 5.0], rtol=1e-15)  # (6 + 12 t) exp(-t)
    assert hoad.taylor(lambda x: x[0] * x[1], [1.0, 2.0], 2, [1.0, 0]).coefficients.tolist() == [2.0, 2.0, 0.0]
    nested = hoad.grad(lambda b: hoad.taylor(lambda x: np.sin(x[0]) * x[1], (b, 2.0), 2)[2])(0.3)
    np.testing.assert_allclose(nested, -np.cos(0.3) - np.sin(0.3), rtol=1e-14)
    with pytest.raises(ShapeError, match=r"shape of x, \(3,\), but was given \(2,\)"):
        hoad.taylor(f, point, 3, {"a": np.ones(2), "b": (1.0, None, None)})
    with pytest.raises(ShapeError, match="direction must be a dict of 'a', 'b'"):
        hoad.taylor(f, point, 3, {"a": np.ones(3)})
    with pytest.raises(DTypeError, match="Use taylor for the series along a direction, which takes containers"):
        hoad.derivatives(lambda x: x[0] * x[1], 2)([1.0, 2.0])


def test_results_beside_the_numbers() -> None:
    def f(x: Any) -> Any:
        return {"y": np.exp(x), "n": 3, "name": "exp"}

    assert hoad.derivatives(f, 1)(0.0)["y"].tolist() == [1.0, 1.0] and hoad.derivatives(f, 1)(0.0)["n"] is None
    assert hoad.taylor(f, 0.0, 1)["y"].coefficients.tolist() == [1.0, 1.0] and hoad.taylor(f, 0.0, 1)["name"] is None
    assert hoad.derivative(f, 9)(0.0) == {"y": 1.0, "n": None, "name": None}


@pytest.mark.parametrize(
    "driver",
    [hoad.derivatives, hoad.derivative, lambda f, n: lambda x: hoad.taylor(f, x, n)],
    ids=["derivatives", "derivative", "taylor"],
)
def test_a_forgotten_return(driver: Any) -> None:
    for n in (3, 9):
        with pytest.raises(ShapeError, match="f returned NoneType"):
            driver(lambda x: None, n)(1.0)


# ∂f/∂z̄ is 0 at 0, and not beside it; in the third, also along the real axis.
NOT_HOLOMORPHIC_AT_ORDER_2: list[Any] = [
    lambda z: z * np.conj(z) + 0j,
    lambda z: np.conj(z) ** 2,
    lambda z: z * np.conj(z) - np.conj(z) ** 2 / 2,
    lambda z: np.exp(np.real(z) ** 2 + 0j),
    lambda z: 1 + z + (z * z - 3) * np.conj(z) ** 2,
]


@pytest.mark.parametrize("f", NOT_HOLOMORPHIC_AT_ORDER_2)
def test_a_function_that_is_holomorphic_to_first_order_only(f: Any) -> None:
    zeros, v = np.zeros(2, complex), np.array([1.0, 2.0])
    calls: list[Any] = [
        lambda: hoad.derivatives(f, 2)(0j),
        lambda: hoad.derivatives(f, 12)(zeros),
        lambda: hoad.jit(hoad.derivatives(f, 2))(0j),
        lambda: hoad.vmap(hoad.derivatives(f, 2))(zeros),
        lambda: hoad.taylor(f, 0j, 3),
        lambda: hoad.taylor(lambda z: np.sum(f(z)), zeros, 2, v),
        lambda: hoad.taylor(lambda p: f(p["z"]) * p["x"], {"z": 0j, "x": 1.0}, 2),
        lambda: hoad.derivative(f, 2, holomorphic=True)(0j),
        lambda: hoad.derivative(f, 5, holomorphic=True)(zeros),
        lambda: hoad.hessian(lambda z: np.sum(f(z)), holomorphic=True)(zeros),
    ]
    for call in calls:
        with pytest.raises(DTypeError, match="not holomorphic here"):
            call()


def test_holomorphic_at_the_orders_that_are_asked_for() -> None:
    def f(z: Any) -> Any:
        return z**2 + z * np.conj(z) ** 2  # of order 3

    assert hoad.derivatives(f, 2)(0j).tolist() == [0, 0, 2]
    assert hoad.derivative(f, 2, holomorphic=True)(0j) == 2
    assert hoad.hessian(f, holomorphic=True)(0j) == 2


@pytest.mark.parametrize("z", [1 + 0.5j, 1e-8 + 2e-8j, 1e8 - 3e8j, 1e-3j, -40 + 0j])
def test_functions_of_parts_that_are_holomorphic(z: complex) -> None:
    def cube(z: Any) -> Any:
        return (np.real(z) + 1j * np.imag(z)) ** 3

    def mirrored(z: Any) -> Any:
        return np.conj(np.exp(np.conj(z) / 100))

    def identity(z: Any) -> Any:
        return (np.real(z) ** 2 + np.imag(z) ** 2) / np.conj(z)

    found = hoad.taylor(identity, z, 8).coefficients * abs(z) ** np.arange(9)
    assert_allclose(found, [z, abs(z), *[0] * 7], rtol=0, atol=1e-13 * abs(z))
    points = np.array([z, 1.0, -1e-5j])
    for f in (cube, identity):
        assert hoad.derivatives(f, 6)(points).shape == (7, 3)
        assert hoad.taylor(lambda p, f=f: f(p["z"]) * p["x"], {"z": z, "x": 1.0}, 5).coefficients.shape == (6,)
    assert_allclose(hoad.taylor(cube, z, 3).coefficients, [z**3, 3 * z**2, 3 * z, 1], rtol=1e-14)
    if abs(z) < 1e4:
        assert_allclose(hoad.derivatives(mirrored, 30)(z), np.exp(z / 100) / 100.0 ** np.arange(31), rtol=1e-13)
        assert_allclose(hoad.derivative(mirrored, 3, holomorphic=True)(z), np.exp(z / 100) / 1e6, rtol=1e-13)


def test_arguments_are_never_changed() -> None:
    def assigns(x: Any) -> Any:
        x[0] = 5.0
        return x**3

    def in_place(x: Any) -> Any:
        x *= 2.0
        return x**3

    def through_a_view(x: Any) -> Any:
        x[1:][0] = 1.0
        return np.sum(x)

    x = np.array([1.0, 2.0])
    for f in (assigns, in_place, through_a_view):
        for call in (
            lambda f=f: hoad.taylor(f, x, 3),
            lambda f=f: hoad.taylor(f, x, 3, np.ones(2)),
            lambda f=f: hoad.derivatives(f, 3)(x),
            lambda f=f: hoad.derivative(f, 5)(x),
            lambda f=f: hoad.derivative_tensor(f, 3)(x),
            lambda f=f: hoad.partials(f, [(1, 0), (7, 0)])(x),
            lambda f=f: hoad.laplacian(f)(x),
        ):
            with pytest.raises(TracedValueError, match=r"argument .* is never changed .*test_taylor.*x\.copy\(\)"):
                call()
    assert x.tolist() == [1.0, 2.0]

    def copied(x: Any) -> Any:
        x = x.copy()
        x[0] = 5.0
        return np.sum(x**3)

    assert hoad.taylor(copied, x, 2).coefficients.tolist() == [133.0, 12.0, 6.0]


def test_high_derivatives_where_some_or_none_exist() -> None:
    """Beyond order 7 no sweep is asked for: each would take twice as long as the one before."""

    def f(x: Any) -> Any:
        return np.log(x) / np.sqrt(1 + x * x)

    with mpmath.workdps(60):
        true = float(mpmath.diff(lambda x: mpmath.log(x) / mpmath.sqrt(1 + x * x), 1, 30))
    found = hoad.derivative(f, 30)(np.array([1.0, 0.0, -1.0]))
    assert abs(found[0] / true - 1) < 1e-10 and np.isnan(found[1:]).all()
    assert np.isnan(hoad.derivative(lambda x: x**2.5, 30)(0.0))
    assert hoad.derivative(lambda x: x**2.5, 4)(0.0) == -np.inf


def test_high_derivatives_of_other_dtypes() -> None:
    z = 1 + 1j
    for x in (z, np.complex128(z), np.array([z, 2 * z])):
        found = hoad.derivative(np.log, 30, holomorphic=True)(x)
        np.testing.assert_allclose(found, -math.factorial(29) * np.asarray(x) ** -30, rtol=1e-13)
    assert abs(hoad.jit(hoad.derivative(np.log, 30, holomorphic=True))(z) / (-math.factorial(29) * z**-30) - 1) < 1e-13
    apart = hoad.derivative(lambda z: (np.real(z) + 1j * np.imag(z)) ** 3 * np.exp(z), 12, holomorphic=True)(z)
    whole = hoad.derivative(lambda z: z**3 * np.exp(z), 12, holomorphic=True)(z)
    exact = np.exp(z) * (z**3 + 36 * z**2 + 396 * z + 1320)  # by Leibniz's rule
    assert abs(apart / exact - 1) < 1e-12 and abs(whole / exact - 1) < 1e-12
    for n in (5, 12):
        with pytest.raises(hoad.DTypeError, match=r"^derivative .* is not holomorphic here"):
            hoad.derivative(lambda z: z * np.conj(z) * z, n, holomorphic=True)(z)
    single = hoad.derivative(np.sin, 25)(np.array([0.5], np.float32))
    assert single.dtype == np.float32 and abs(single[0] - np.cos(0.5)) < 1e-6


# ---- by another argument


@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize("argnums", [1, -1, np.int64(1)])
def test_by_another_argument(n, argnums):
    """x exp(a y), by y: x aⁿ exp(a y)."""

    def f(x, y, a=1.0):
        return x * np.exp(a * y)

    exact = [2.0 * 1.5**k * np.exp(1.5 * 0.3) for k in range(n + 1)]
    for wrapped in (lambda g: g, hoad.jit):
        assert_allclose(wrapped(hoad.derivatives(f, n, argnums=argnums))(2.0, 0.3, a=1.5), exact, rtol=1e-13)
        assert_allclose(wrapped(hoad.derivative(f, n, argnums=argnums))(2.0, 0.3, a=1.5), exact[n], rtol=1e-13)
    mixed = hoad.derivative(hoad.derivative(f, n, argnums=1), 1)
    assert_allclose(mixed(2.0, 0.3, a=1.5), exact[n] / 2.0, rtol=1e-13)


def test_argnums_that_are_none():
    for driver in (hoad.derivative, hoad.derivatives):
        with pytest.raises(hoad.ArgumentError, match=r"argnums as an int, not \(0, 1\).*hoad\.partials\(lambda v"):
            driver(np.multiply, 2, argnums=(0, 1))
        for none in (0.5, 0.0, 1.0, False, True, np.float64(0.0), None):
            with pytest.raises(hoad.ArgumentError, match=rf"argnums as an int, not {re.escape(repr(none))}"):
                driver(np.multiply, 2, argnums=none)
        with pytest.raises(hoad.ArgumentError, match=r"argnums=2, but the function was called with 2 arguments"):
            driver(np.multiply, 2, argnums=2)(1.0, 2.0)
        for argnums, given in ((1, (0.5, 2)), (-1, (0.5, 2)), (np.int64(0), (2, 0.5))):
            with pytest.raises(DTypeError, match=rf"argument {argnums % 2} is int \(2\)\. Write 2\.0\."):
                driver(np.multiply, 2, argnums=argnums)(*given)
    assert_array_equal(hoad.derivatives(np.square, 2, argnums=np.int64(0))(3.0), [9.0, 6.0, 2.0])


def test_an_argnums_beyond_the_arguments_is_told_of_no_argnames():
    with pytest.raises(
        hoad.ArgumentError, match=r"derivatives with argnums=5, .* 2 arguments\. .* what argnums chooses\.$"
    ):
        hoad.derivatives(lambda a, b: a * b, 3, argnums=5)(2.0, 3.0)


@pytest.mark.parametrize("n", range(1, 8))
@pytest.mark.parametrize("r", [-2.0, -0.5, 0.5, 2.5, 4.5])
def test_a_jitted_derivative_is_the_same_at_singular_points(r, n):
    """A series is nan behind its first infinite coefficient; sweeps find r (r - 1) ... 0**(r - n), in jit as well."""
    factors = math.prod(r - k for k in range(n))
    exact = math.copysign(np.inf, factors) if n > r else 0.0
    derivative = hoad.derivative(lambda x: x**r, n)
    with np.errstate(all="ignore"):
        assert derivative(0.0) == exact
        jitted = hoad.jit(derivative)
        for _ in range(2):
            assert_allclose(jitted(0.7), factors * 0.7 ** (r - n), rtol=1e-12)
            assert jitted(0.0) == exact
        traced = []
        hoad.grad(lambda a: traced.append(hoad.value(derivative(0.0 * a))) or a)(1.0)
        assert traced == [exact]


OF_DEGREE_0 = {  # also those that are expanded by operations spelled out, for complex numbers or branches
    "sin": (np.sin, math.cos(0.3)),
    "complex": (lambda x: np.abs(np.exp(1j * x) + 2) ** 2, -4 * math.sin(0.3)),
    "pieces": (lambda x: np.interp(x, [0.0, 1.0], [0.0, 3.0]) ** 2, 18 * 0.3),
}


@pytest.mark.parametrize(("f", "exact"), OF_DEGREE_0.values(), ids=OF_DEGREE_0)
def test_series_of_degree_0_have_derivatives(f, exact):
    for first in (
        lambda x: hoad.taylor(f, x, 0)[0],
        lambda x: hoad.taylor(f, x, 0, direction=1.0)[0],
        lambda x: hoad.derivatives(f, 0)(x)[0],
    ):
        assert_allclose(hoad.grad(first)(0.3), exact, rtol=1e-13)
        assert_allclose(hoad.jvp(first, (0.3,), (1.0,))[1], exact, rtol=1e-13)
        assert_allclose(hoad.jit(hoad.grad(first))(0.3), exact, rtol=1e-13)
        assert_allclose(hoad.vmap(hoad.grad(first))(np.array([0.3])), [exact], rtol=1e-13)


@pytest.mark.parametrize("n", [1, 4, 9])
def test_a_result_with_more_axes_than_the_point(n):
    """Of x with shape (3,), sin(x k) with k of shape (1, 3) has no derivative item by item, at any order."""
    x, k = np.array([0.3, 0.6, 0.9]), np.array([[1.0, 2.0, 3.0]])
    with pytest.raises(ShapeError, match=r"takes shape \(3,\) to \(1, 3\)"):
        hoad.derivative(lambda x: np.sin(x * k), n)(x)
    assert_allclose(
        hoad.derivative(lambda x: np.sin(x * k[0]), n)(x), np.sin(x * k[0] + n * np.pi / 2) * k[0] ** n, rtol=1e-12
    )
    assert_allclose(hoad.derivative(lambda x: np.ones((1, 3)), n)(x), np.zeros(3))


@pytest.mark.parametrize("mask", [[True, False], [False, True, True], [[True], [False]]])
def test_masks_that_are_constants(mask: Any) -> None:
    """Booleans that a pointwise program captures have a lane for each item, as its other arrays have."""
    mask = np.array(mask)
    x = np.full(mask.shape, 0.5)
    exact = [np.where(mask, 0.5, 2.0), np.where(mask, 1.0, 0.0)]
    assert_array_equal(hoad.taylor(lambda t: np.where(mask, t, 2.0), 0.5, 1).coefficients, exact)
    assert_array_equal(hoad.derivatives(lambda x: np.where(mask, x, 2.0), 1)(x), exact)
    by_sine = hoad.derivative(lambda x: np.where(mask, np.sin(x), np.exp(x)), 5)
    assert_allclose(by_sine(x), np.where(mask, np.cos(0.5), np.exp(0.5)), rtol=1e-14)
    wide = np.arange(5000) % 3 == 0  # more than a block of lanes
    found = hoad.derivatives(lambda x: np.where(wide, np.sin(x), np.exp(x)), 4)(np.full(5000, 0.5))
    assert_allclose(found[4], np.where(wide, np.sin(0.5), np.exp(0.5)), rtol=1e-14)


def test_products_of_counts() -> None:
    """Zeros of integers absorb nothing: no factor of theirs is infinite."""

    def f(t: Any) -> Any:
        counts = np.bincount((np.array([1.0, 3.0, 2.0]) * t > 1.5).astype(np.int64), minlength=2)
        pairs = counts[counts > 1]
        return 2 * t if np.sum(pairs * (pairs - 1)) > 0 else t

    np.testing.assert_array_equal(hoad.derivatives(f, 3)(1.0), [2.0, 2.0, 0.0, 0.0])
    assert hoad.grad(f)(1.0) == hoad.jvp(f, (1.0,), (1.0,))[1] == 2.0
