"""The Taylor test passes on right derivatives, whatever the scale, and fails on wrong ones."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from check.functions import POINT, A, smooth, smooth_gradient, smooth_hessian, spoiled, spoiled_at_order, untraceable
from hypothesis import example, given
from hypothesis import strategies as st

import hoad
from hoad._core.trace.traced import is_traced
from hoad.check import taylor_test
from hoad.errors import CheckError

SCALAR = {
    "exp": (np.exp, 0.5),
    "log": (np.log, 2.0),
    "tanh": (np.tanh, -0.7),
    "quotient": (lambda x: (1 + x) / (2 + x * x), 0.3),
    "wave": (lambda x: np.sin(30 * x), 1.0),
    "cancelling": (lambda x: 1 - np.cos(x), 0.1),
}


@pytest.mark.parametrize("name", SCALAR)
def test_right_derivatives_pass_at_every_order(name: str) -> None:
    f, x = SCALAR[name]
    report = taylor_test(f, x, 0.5, order=4)
    assert report.passed, report.failure()
    assert report.failure() == ""
    report.assert_passed()
    for finding in report.findings:
        assert finding.rate == pytest.approx(finding.order + 1, abs=0.3)


def test_coefficients_are_those_of_taylor() -> None:
    report = taylor_test(np.exp, 0.0, 2.0, order=5)
    assert report.coefficients == pytest.approx([2.0**n / math.factorial(n) for n in range(6)])
    assert report.remainders[2, 3] == pytest.approx(math.exp(0.25) - 1 - 0.25 - 0.25**2 / 2)
    assert report.steps[3] == 0.125


def test_one_series_gives_all_orders() -> None:
    """Of high order they are those of mpmath, and f is traced once for them all, beside twice for a plain call."""
    traced = []

    def f(x: Any, y: Any) -> Any:
        traced.extend([x] if is_traced(x) else [])
        return np.exp(np.sin(x)) * np.tanh(y) / (1 + x * x)

    report = taylor_test(f, (0.3, 0.7), (1.0, -0.5), order=12)
    assert len(traced) == 3
    with mpmath.workdps(50):
        x, y = mpmath.mpf(0.3), mpmath.mpf(0.7)
        line = lambda t: mpmath.exp(mpmath.sin(x + t)) * mpmath.tanh(y - t / 2) / (1 + (x + t) ** 2)  # noqa: E731
        exact = [float(c) for c in mpmath.taylor(line, 0, 12)]
    assert report.coefficients == pytest.approx(exact, rel=1e-13)
    with pytest.raises(CheckError, match="order 12 is wrong"):
        taylor_test(spoiled_at_order(np.exp, 0.5, 12, 2.0), 0.5, 4.0, order=12).assert_passed()


def test_derivatives_by_hand_beside_the_series() -> None:
    """Yours take the place of hoad's in their orders only; where they are all, f need not be traced."""
    twice = taylor_test(np.exp, 0.5, 1.0, hessian=np.exp, order=5)
    assert twice.passed and twice.coefficients[1:] == pytest.approx(
        [math.exp(0.5) / math.factorial(n) for n in range(1, 6)]
    )
    wrong = taylor_test(np.exp, 0.5, 1.0, hessian=lambda x: 1.01 * np.exp(x), order=5)
    assert wrong.findings[2].verdict == "wrong" and wrong.findings[1].verdict == "right"
    assert taylor_test(untraceable(np.exp), 0.5, 1.0, gradient=np.exp, order=1).passed


def test_derivatives_that_are_infinite() -> None:
    power = taylor_test(lambda x: x**2.5, 0.0, 1.0, order=4)
    assert not power.passed and {finding.verdict for finding in power.findings[2:]} <= {"undecided", "wrong"}
    assert np.isfinite(power.coefficients[:3]).all() and not np.isfinite(power.coefficients[3:]).any()


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("name", SCALAR)
@pytest.mark.parametrize("factor", [1.01, 0.99, -1.0, 2.0, 0.0])
def test_a_wrong_derivative_of_any_order_fails(name: str, order: int, factor: float) -> None:
    """The derivative of this order is spoiled by a primitive whose rule is; those below are right."""
    f, x = SCALAR[name]
    wrong = taylor_test(spoiled_at_order(f, x, order, factor), x, 0.5, order=4)
    assert not wrong.passed
    assert all(finding.verdict == "right" for finding in wrong.findings[:order])
    assert wrong.findings[order].verdict == "wrong"
    assert wrong.findings[order].rate < order + 0.7
    with pytest.raises(CheckError, match=f"order {order} is wrong.*but f shows"):
        wrong.assert_passed()


def test_the_error_is_named() -> None:
    report = taylor_test(np.exp, 0.5, 1.0, gradient=lambda x: 1.01 * np.exp(x))
    assert "1.66520848, but f shows 1.648721" in report.failure()
    assert "off by 1.0%" in report.failure()
    assert report.findings[1].digits == pytest.approx(2.0, abs=0.3)


# ---- your own derivatives -------------------------------------------------------------------------------------------


def test_gradient_and_hessian_by_hand() -> None:
    assert taylor_test(smooth, POINT, gradient=smooth_gradient).order == 1
    report = taylor_test(untraceable(smooth), POINT, gradient=smooth_gradient, hessian=smooth_hessian)
    assert report.passed and report.order == 2


@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.parametrize("factor", [1.01, -1.0])
def test_wrong_gradient_by_hand(index: int, factor: float) -> None:
    report = taylor_test(smooth, POINT, gradient=spoiled(smooth_gradient, index, factor))
    assert report.findings[1].verdict == "wrong"


@pytest.mark.parametrize("index", [(0, 0), (0, 1), (2, 2)])
def test_wrong_hessian_by_hand(index: tuple[int, int]) -> None:
    report = taylor_test(smooth, POINT, hessian=spoiled(smooth_hessian, index, 1.01))
    assert [finding.verdict for finding in report.findings] == ["right", "right", "wrong"]


def test_shapes_of_derivatives_by_hand_are_checked() -> None:
    with pytest.raises(hoad.ShapeError, match=r"gradient=f: yours is a tuple of 2: .*return the second alone"):
        taylor_test(smooth, POINT, gradient=lambda x: (smooth(x), smooth_gradient(x)))
    with pytest.raises(hoad.ShapeError, match=r"yours has shape \(4, 3\), but must have shape \(3,\)"):
        taylor_test(lambda b: np.sum((A + b) ** 2), np.ones(3), gradient=lambda b: 2 * (A + b))


# ---- vectors, several arguments -------------------------------------------------------------------------------------


def test_vector_valued() -> None:
    def f(x: Any) -> Any:
        return np.stack([np.sin(x[0]) * x[1], np.exp(x[1])])

    report = taylor_test(f, np.array([0.3, 1.1]), np.array([1.0, -0.5]), order=3)
    assert report.passed and report.coefficients.shape == (4, 2)
    assert report.coefficients[1] == pytest.approx(hoad.jacobian(f)(np.array([0.3, 1.1])) @ [1.0, -0.5])


def test_an_error_in_a_small_component_is_found() -> None:
    """It is 10⁸ times smaller than its neighbour."""

    def f(x: Any) -> Any:
        return np.stack([np.sin(x), 1e-8 * np.exp(x)])

    right = taylor_test(f, 1.0, 1.0, gradient=lambda x: np.array([np.cos(x), 1e-8 * np.exp(x)]))
    wrong = taylor_test(f, 1.0, 1.0, gradient=lambda x: np.array([np.cos(x), 1.01e-8 * np.exp(x)]))
    assert right.passed
    assert not wrong.passed and wrong.findings[1].component == (1,)
    assert "f(x)[1]" in wrong.failure()


def test_an_error_in_one_of_many_components_is_found() -> None:
    x = np.linspace(1.0, 2.0, 2000)
    for place in (0, 777, 1999):
        wrong = taylor_test(np.sin, x, gradient=lambda x, k=place: np.diag(spoiled(np.cos, k, 1.5)(x)))
        assert not wrong.passed
    right = taylor_test(np.sin, x)
    assert right.passed and "256 of 2000 components" in str(right)


def test_several_arguments() -> None:
    def f(x: float, y: Any) -> Any:
        return x * np.sum(np.exp(y))

    assert taylor_test(f, (2.0, np.array([0.1, 0.2])), (1.0, np.array([1.0, -1.0])), order=3).passed
    assert taylor_test(f, (2.0, np.array([0.1, 0.2]))).passed
    with pytest.raises(hoad.ShapeError, match="one argument"):
        taylor_test(f, (2.0, np.ones(2)), gradient=lambda *args: 0)


# ---- rounding, and what else ends a sequence -----------------------------------------------------------------------


@pytest.mark.parametrize("amplitude", [1e-200, 1e-12, 1.0, 1e12, 1e200])
@pytest.mark.parametrize("length", [1e-9, 1.0, 1e9])
def test_huge_and_small_scales(amplitude: float, length: float) -> None:
    def f(x: float) -> Any:
        return amplitude * np.sin(x / length)

    report = taylor_test(f, 0.7 * length, order=3)
    assert report.passed, str(report)
    wrong = taylor_test(f, 0.7 * length, gradient=lambda x: 1.01 * amplitude / length * np.cos(x / length))
    assert not wrong.passed, str(wrong)


def test_the_plateau_is_recognised() -> None:
    report = taylor_test(np.exp, 0.5, 1.0, order=2)
    assert np.all(report.plateau < 1e-13)
    hidden = report.remainders[2] <= report.plateau[2]
    assert hidden[-4:].all() and not hidden[:10].any()
    assert np.isnan(report.rates[2][-4:]).all()
    assert report.rates[2][5] == pytest.approx(3, abs=0.1)
    assert "(in parentheses: not distinguishable from rounding)" in str(report)


def test_a_large_constant_raises_the_plateau() -> None:
    report = taylor_test(lambda x: 1e6 + np.sin(x), 0.5, 1.0)
    assert report.passed and report.plateau[1].max() > 1e-11


def test_rounding_that_comes_with_the_step(rng: np.random.Generator) -> None:
    """At its minimum Rosenbrock's function is exactly 0, and nearly so beside it."""

    def rosenbrock(x: Any) -> Any:
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    for _ in range(10):
        v = rng.normal(size=3)
        report = taylor_test(rosenbrock, np.ones(3), v, order=4)
        assert report.passed, str(report)
        hessian = hoad.hessian(rosenbrock)
        assert not taylor_test(rosenbrock, np.ones(3), v, hessian=lambda x: 1.01 * hessian(x)).passed


@pytest.mark.parametrize("amplitude", [1e-9, 1e-6])
def test_noise_is_not_mistaken_for_an_error(amplitude: float) -> None:
    rng = np.random.default_rng(0)

    def noisy(x: Any) -> Any:
        return np.sin(x) + amplitude * rng.standard_normal()

    report = taylor_test(noisy, 1.0, 1.0)
    assert report.passed, str(report)
    assert "uncertain by" in str(report)
    wrong = taylor_test(noisy, 1.0, 1.0, gradient=lambda x: 1.01 * np.cos(x))
    assert wrong.findings[1].verdict == "wrong"


def test_float32() -> None:
    x = np.array([0.5, 1.5], np.float32)
    report = taylor_test(lambda x: np.sum(np.sin(x)), x, order=2)
    assert report.passed, str(report)
    assert not taylor_test(lambda x: np.sum(np.sin(x)), x, gradient=lambda x: 1.01 * np.cos(x)).passed


def test_polynomials_leave_no_remainder() -> None:
    report = taylor_test(lambda x: x**3 - x, 2.0, 1.0, order=4)
    assert [finding.verdict for finding in report.findings] == ["right", "right", "right", "exact", "exact"]
    assert "none left" in str(report)
    wrong = taylor_test(lambda x: x * x, 2.0, 1.0, hessian=lambda x: 2.02)
    assert wrong.findings[2].verdict == "wrong"


@pytest.mark.parametrize("v", [1e-3, 1.0, 100.0, 1e6])
def test_what_is_left_of_a_polynomial_is_said(v: float) -> None:
    x = np.array([0.1, 0.2, 0.3])
    report = taylor_test(lambda x: np.sum(x) / 7, x, v * x)
    assert report.passed and [finding.verdict for finding in report.findings] == ["right", "exact", "exact"]
    said = "nothing is left but rounding, from the first step on: there f is a polynomial of degree 1 along v"
    assert report.findings[1].reason == said and report.findings[2].reason == ""
    square = taylor_test(lambda x: x * x, 2.0, v, order=3)
    assert square.passed and "a polynomial of degree 2 along v" in square.findings[2].reason
    constant = taylor_test(lambda x: 3.0, 2.0, v)
    assert constant.passed and "there f is constant along v" in constant.findings[0].reason


@pytest.mark.parametrize(("f", "x"), [(np.cos, np.pi), (np.sin, np.pi), (np.tanh, 0.6584789484624084)])
def test_derivatives_that_vanish_to_within_rounding(f: Any, x: float) -> None:
    """At extrema and inflections they are 1e-16, not 0."""
    report = taylor_test(f, x, order=4)
    assert report.passed, str(report)
    assert not taylor_test(f, x, gradient=lambda t: hoad.grad(f)(t) + 1e-3).passed


def test_a_term_that_rounding_hides_is_not_right() -> None:
    for factor in (1.0, 1.01, -1.0):
        report = taylor_test(lambda x: 1e16 + np.sin(x), 1.0, gradient=lambda x, c=factor: c * np.cos(x))
        assert report.findings[1].verdict == "undecided"
        assert "would not show: rounding hides it; try a larger v" in report.failure()
        assert "do not fall" not in report.failure()


def test_linear_and_constant() -> None:
    assert [f.verdict for f in taylor_test(lambda x: 3 * x, 2.0).findings] == ["right", "exact", "exact"]
    assert [f.verdict for f in taylor_test(lambda x: 3.0, 2.0).findings] == ["exact"] * 3
    assert [f.verdict for f in taylor_test(lambda x: 0 * x, 2.0).findings] == ["exact"] * 3
    assert not taylor_test(lambda x: 3.0, 2.0, gradient=lambda x: 1e-3).passed


def test_steps_that_leave_the_domain() -> None:
    report = taylor_test(np.log, 1e-3, -1.0, order=4)
    assert report.passed, str(report)
    assert "left out, as out of the domain of f: 10 steps" in str(report)
    assert np.isnan(report.remainders[0, :9]).all()


def test_a_function_that_raises_outside_its_domain() -> None:
    report = taylor_test(math.log, 1e-3, -1.0, gradient=lambda x: 1 / x)
    assert report.passed and "left out, as out of the domain" in str(report)
    assert "beside x, f raises ValueError" in str(report)

    def near(x: float) -> float:
        if abs(x - 1) > 1e-2:
            raise KeyError("no data")
        return x * x

    report = taylor_test(near, 1.0, 1.0)
    assert report.passed and "beside x, f raises KeyError: 'no data' (test_taylor.py:" in str(report)


def test_a_function_of_another_kind_outside_its_domain() -> None:
    root = taylor_test(lambda x: x**0.5, 1e-3, 0.1, order=3)  # complex for negative floats
    assert root.passed and "beside x, f returns a complex" in str(root)
    assert taylor_test(lambda x: x[x > 0], np.array([1.0, 2.0]), np.array([-3.0, 1.0])).passed


def test_poles_of_floats() -> None:
    with pytest.raises(
        CheckError, match=r"has a value, but at 0 it raises ZeroDivisionError: .* \(test_taylor\.py:\d+\)"
    ):
        taylor_test(lambda x: 1 / x, 0.0, 1.0)
    report = taylor_test(lambda x: 1 / (x - 1), 0.0, 1.0)  # at the first step
    said = "beside x, f raises ZeroDivisionError: float division by zero (test_taylor.py:"
    assert report.passed and said in str(report)

    def slope(x: float) -> float:
        return 1 / x

    with pytest.raises(CheckError, match="where slope has a value, but at 0 it raises ZeroDivisionError"):
        taylor_test(lambda x: x * x, 0.0, 1.0, gradient=slope)


@pytest.mark.parametrize("apart", [10.0**-k for k in range(1, 11)])
def test_a_pole_nearby_never_makes_a_right_derivative_wrong(apart: float) -> None:
    for f in (lambda x: 1 / (x - 1), lambda x: np.log(abs(x - 1)), lambda x: np.tan((x - 1) + np.pi / 2)):
        for x in (1 + apart, 1 - apart):
            assert "wrong" not in {finding.verdict for finding in taylor_test(f, x).findings}
            assert not taylor_test(f, x, gradient=lambda x, f=f: 1.01 * hoad.grad(f)(x)).passed


def test_a_function_that_keeps_a_state() -> None:
    calls = []

    def counting(x: float) -> float:
        calls.append(x)
        return x * x + len(calls)

    report = taylor_test(counting, 1.0)
    assert not report.passed and "called again at x, f gives another value" in str(report)


def test_a_function_that_hoad_cannot_trace() -> None:
    def strict(x: float) -> float:
        assert type(x) is float
        return x * x

    with pytest.raises(CheckError, match=r"(?s)traced it raises AssertionError.*Give your own derivatives, gradient=g"):
        taylor_test(strict, 1.0)
    assert taylor_test(strict, 1.0, gradient=lambda x: 2 * x).passed


# ---- where there is no derivative -----------------------------------------------------------------------------------


def test_kink() -> None:
    report = taylor_test(abs, 0.0, 1.0)
    assert not report.passed and report.findings[1].verdict == "undecided"
    sides = "its derivative of order 1 along v is -1 on the side of -v and 1 on that of v"
    assert f"f has a kink at x: {sides}" in report.failure()
    assert report.findings[2].reason == "follows from order 1"


def test_kink_of_the_second_derivative() -> None:
    report = taylor_test(lambda x: x * abs(x), 0.0, 1.0)
    assert [finding.verdict for finding in report.findings] == ["right", "right", "undecided"]
    assert "its derivative of order 2 along v is -2 on the side of -v and 2 on that of v" in report.failure()


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("power", [1, 2, 3])
def test_kink_of_one_side_alone(power: int, sign: float) -> None:
    """hoad takes the other side's derivative; along one of the directions all would seem well."""
    report = taylor_test(lambda x: np.where(x > 0, x**power, 0.0), 0.0, sign, order=4)
    verdicts = [finding.verdict for finding in report.findings]
    assert verdicts[power] == "undecided" and not set(verdicts[:power]) & {"wrong", "undecided"}
    what = "has a kink at x" if power == 1 else f"is not differentiable {power} times at x"
    assert f"f {what}: its derivative of order {power} along v is" in report.failure()
    array = taylor_test(
        lambda x: np.sum(np.maximum(x, 0) ** power), np.array([0.0, 1.0]), np.array([sign, 0.3]), order=4
    )
    assert array.findings[power].verdict == "undecided"


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_jump_of_one_side_alone(sign: float) -> None:
    for f in (np.floor, lambda x: np.floor(x) + np.sin(x), lambda x: np.stack([x, np.floor(x)])):
        report = taylor_test(f, 2.0, sign)
        side = "-v" if sign > 0 else "v"
        assert report.findings[0].verdict == "undecided"
        assert f"f jumps at x, by -1 on the side of {side}." in report.failure()
    alone = taylor_test(lambda x: np.where(x == 2.0, 5.0, x), 2.0, sign)
    assert "jumps at x, by -3 on the side of v and by -3 on the side of -v" in alone.failure()


def test_kink_elsewhere_does_no_harm() -> None:
    assert taylor_test(lambda x: abs(x - 1.05) + x * x, 1.0, 1.0).passed


@pytest.mark.parametrize("apart", [0.1, 1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_another_formula_beyond_a_point_does_no_harm(apart: float, sign: float) -> None:
    for f in (
        lambda x: np.where(x < 1 + apart, x, 7 * x),
        lambda x: np.where(x < 1 + apart, 1.0, 2.0) + 0.0 * x,
        lambda x: np.where(x < 1 + apart, np.sin(x), np.exp(x)),
        lambda x: np.floor((x - apart) * 8) + x**3,
    ):
        report = taylor_test(f, 1.0, sign)
        assert report.passed, str(report)
        slope = hoad.grad(f)
        wrong = taylor_test(f, 1.0, sign, gradient=lambda x, g=slope: 1.01 * g(x) + 1e-3)
        assert wrong.findings[1].verdict == "wrong", str(wrong)


def test_stairs_between_their_steps() -> None:
    report = taylor_test(np.floor, 2.5, 1.0)
    assert [finding.verdict for finding in report.findings] == ["exact"] * 3
    assert "nothing is left but rounding, from h = 0.25 on: there f is constant along v" in str(report)


@pytest.mark.parametrize(
    "f", [lambda x: abs(x) ** 1.5, lambda x: np.sqrt(abs(x)), np.sqrt, lambda x: np.heaviside(x, 0.0)]
)
def test_what_is_not_smooth(f: Any) -> None:
    report = taylor_test(f, 0.0, 1.0)
    assert not report.passed
    with pytest.raises(CheckError, match="undecided"):
        report.assert_passed()


def test_derivative_that_is_not_finite() -> None:
    report = taylor_test(np.sin, 1.0, gradient=lambda x: math.nan)
    assert report.findings[1].verdict == "wrong" and "along v is nan" in report.failure()


# ---- what is asked --------------------------------------------------------------------------------------------------


def test_steps_of_your_own() -> None:
    report = taylor_test(np.exp, 0.5, 1.0, steps=[0.01 / 2**k for k in range(4)])
    assert report.passed and report.steps.tolist() == [0.01, 0.005, 0.0025, 0.00125]
    assert report.rates[1][:3] == pytest.approx(2, abs=0.01)
    assert not taylor_test(np.exp, 0.5, 1.0, steps=[1e-3, 1e-4, 1e-5], gradient=lambda x: 1.01 * np.exp(x)).passed
    with pytest.raises(ValueError, match="at least two steps"):
        taylor_test(np.exp, 0.5, steps=[0.1])


def test_the_default_direction_is_always_the_same() -> None:
    a, b = (taylor_test(lambda x: np.sum(np.exp(x)), np.array([1.0, 1e-3])) for _ in range(2))
    assert a.v.tolist() == b.v.tolist()
    assert abs(a.v / [1.0, 1e-3]) == pytest.approx(0.075, abs=0.026)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((np.sin, np.ones(2), np.ones(3)), {}, hoad.ShapeError, r"must have shape \(2,\), but has shape \(3,\)"),
        ((np.sin, 1.0, 0.0), {}, hoad.ShapeError, "v is zero"),
        ((np.sin, 1.0, math.nan), {}, hoad.ArgumentError, "must be of finite real numbers, but is nan"),
        ((np.sin, 1.0, 1j), {}, hoad.DTypeError, "must be of finite real numbers"),
        ((np.sin, 1.0, "v"), {}, hoad.DTypeError, "must be of finite real numbers, but is 'v'"),
        ((1.0, np.sin), {}, hoad.ArgumentError, "takes a function, but was given a float"),
        ((np.sin, 1.0), {"gradient": 0.5}, hoad.ArgumentError, "takes a function, but was given a float"),
        ((np.sin, 1.0), {"steps": "many"}, hoad.ArgumentError, "at least two steps, all of them positive, not 'many'"),
        ((np.sin, 1.0), {"steps": [0.1, 0.1]}, hoad.ArgumentError, "at least two steps"),
        ((np.sin, 1.0), {"steps": [0.1, 0.0]}, hoad.ArgumentError, "at least two steps"),
        ((np.sin, 1.0), {"order": "2"}, hoad.ArgumentError, "an order from 0 to 20, an int, not '2'"),
        ((lambda x: None, 1.0), {}, hoad.ShapeError, r"f\(x\) is None\. Return the result"),
        ((np.sin, math.inf), {}, hoad.ShapeError, "finite point"),
        ((np.sum, np.zeros(0)), {}, hoad.ShapeError, "to have entries"),
        ((lambda x: x[:0], np.ones(3)), {}, hoad.ShapeError, "to have entries"),
        ((np.log, -1.0), {}, hoad.ShapeError, "point where f is finite"),
        ((np.sin, 1), {}, hoad.DTypeError, "Write 1.0"),
        ((np.abs, 1j), {}, hoad.DTypeError, "varies real arguments, but argument 0 is complex128"),
        ((np.sin, 1.0, 1e-30), {}, hoad.ShapeError, "too small beside x"),
        ((np.sin, 1.0), {"order": 21}, ValueError, "order from 0 to 20"),
        ((np.sin, 1.0), {"order": -1}, ValueError, "order from 0 to 20"),
        ((np.sin, (1.0, 2.0), (1.0,)), {}, hoad.ShapeError, "a direction for each of 2"),
    ],
)
def test_what_cannot_be_tested(arguments: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        taylor_test(*arguments, **options)


@given(
    st.floats(-1.5, 1.5),
    st.floats(-8, 8),
    st.floats(-6, 6),
    st.floats(-1, 0.4),
    st.sampled_from([np.exp, np.sin, np.tanh, lambda u: 1 / (1 + u * u), lambda u: u**5 - 3 * u * u + u]),
    st.sampled_from([1, 2]),
)
@example(u=5e-324, amplitude=0.0, length=0.0, reach=0.0, f=np.exp, order=1)
def test_scale_does_not_matter(u: float, amplitude: float, length: float, reach: float, f: Any, order: int) -> None:
    """A function, stretched and blown up by powers of ten: right derivatives are never called wrong."""
    a, b = 10.0**amplitude, 10.0**length
    report = taylor_test(lambda x: a * f(x / b), u * b, b * 10.0**reach, order=order)
    assert all(finding.verdict != "wrong" for finding in report.findings), str(report)
