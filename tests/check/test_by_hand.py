"""Gradients, Jacobians and Hessians by hand: right ones pass, and of wrong ones the component is named."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from check.functions import (
    POINT,
    broadcast,
    broadcast_gradient,
    broadcast_gradient_unsummed,
    smooth,
    smooth_gradient,
    smooth_hessian,
    spoiled,
    untraceable,
)

import hoad
from hoad.check import gradient, hessian, jacobian
from hoad.errors import CheckError

both_ways = pytest.mark.parametrize("f", [smooth, untraceable(smooth)], ids=["traced", "untraceable"])


@both_ways
def test_right_gradient(f: Any) -> None:
    report = gradient(f, smooth_gradient, POINT)
    assert report.passed and report.failure() == "" and len(report.entries) == 3
    assert all(entry.trusted and entry.error < 1e-9 for entry in report.entries)
    assert [entry.difference for entry in report.entries] == pytest.approx([6.0, 1.0, math.cos(0.5)], rel=1e-11)
    report.assert_passed()


@both_ways
@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.parametrize(
    ("factor", "said"), [(1.01, "off by 1.0%"), (-1.0, "the sign is wrong"), (2.0, "2 times too large"), (1.00001, "")]
)
def test_the_wrong_component_is_named(f: Any, index: int, factor: float, said: str) -> None:
    report = gradient(f, spoiled(smooth_gradient, index, factor), POINT)
    (wrong,) = [entry for entry in report.entries if entry.verdict == "wrong"]
    assert wrong.index == (index,) and said in wrong.reason
    with pytest.raises(CheckError) as caught:
        report.assert_passed()
    message = str(caught.value)
    assert f"1 of 3 components is wrong. Component [{index}]: yours is" in message
    assert "(trustworthy)" in message and "digits agree" in message
    if factor == 1.01:
        assert wrong.digits == pytest.approx(2.0, abs=0.01)
    assert isinstance(caught.value, AssertionError) and isinstance(caught.value, hoad.HoadError)


def test_a_missing_broadcast_sum_is_named() -> None:
    assert gradient(broadcast, broadcast_gradient, np.ones(3)).passed
    report = gradient(broadcast, broadcast_gradient_unsummed, np.ones(3))
    assert not report.passed
    assert "shape (4, 3), but must have shape (3,). Sum over what broadcasting repeated: axis 0" in report.failure()
    kept = gradient(lambda b: np.sum((np.ones((4, 3)) + b) ** 2), lambda b: 2 * (np.ones((4, 3)) + b), np.ones((1, 3)))
    assert "must have shape (1, 3). Sum over what broadcasting repeated: axis 0" in kept.failure()


def test_a_wrong_shape_without_broadcasting() -> None:
    report = gradient(smooth, lambda x: smooth_gradient(x)[:2], POINT)
    assert "yours has shape (2,), but must have shape (3,)." in report.failure() and "Sum" not in report.failure()
    assert "yours has shape" in str(report)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "yours is None, but must have shape (3,). Return the derivative."),
        (
            (1.0, np.ones(3)),
            "yours is a tuple of 2: a float, an array of shape (3,), but must have shape (3,). It",
        ),
        ((np.ones(3),), "Return it without the tuple, or ask for argnums=(0,)."),
        ((np.ones(3), np.ones(2)), "For derivatives with respect to 2 arguments pass argnums=(0, 1)."),
        (({}, np.ones(3)), "Only [1] of it has that shape: return that alone."),
        ([1.0, [2.0, 3.0]], "yours is a list of 2: a float, a list of 2: a float, a float, but must have shape (3,)"),
        ({"x": np.ones(3)}, "yours is a dict, but must have shape (3,). Return one array."),
        (np.ones((3, 1)), "yours has shape (3, 1), but must have shape (3,). Reshape it: g.reshape(3,)."),
        (np.ones((1, 3)), "Reshape it: g.reshape(3,)."),
        (np.ones(3) * 1j, "yours is an array of shape (3,) and dtype complex128, but must have shape (3,)"),
        ("gradient", "yours is a str"),
    ],
)
def test_what_a_gradient_should_not_return(returned: Any, said: str) -> None:
    report = gradient(smooth, lambda x: returned, POINT)
    assert not report.passed and not report.entries
    assert said in report.failure() and said in str(report)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (np.ones(3), "yours is an array of shape (3,), but must be a tuple of 2: a number, shape (2,)."),
        ((1.0, 2.0, 3.0), "yours is a tuple of 3: a float, a float, a float, but must be a tuple of 2"),
        ((0.5, (1.0, np.ones(2))), "It looks like (value, gradient): return the second alone."),
        ((1.0, 2.0), "in place 1 of the tuple, yours has shape (), but must have shape (2,)."),
    ],
)
def test_what_gradients_by_two_arguments_should_not_return(returned: Any, said: str) -> None:
    report = gradient(lambda x, y: x * np.sum(y), lambda x, y: returned, 2.0, np.ones(2), argnums=(0, 1))
    assert said in report.failure()
    alone = gradient(lambda x: np.sum(x), lambda x: np.ones(3), np.ones(3), argnums=(0,))
    assert "must be a tuple of 1: shape (3,). Return it in a tuple, or ask for argnums=0." in alone.failure()


def test_a_transposed_jacobian_is_named() -> None:
    report = jacobian(lambda x: np.stack([x[0] * x[1], x[2]]), lambda x: np.ones((3, 2)), POINT)
    assert "yours has shape (3, 2), but must have shape (2, 3). It looks transposed" in report.failure()


def test_lists_and_objects_of_numbers_are_arrays() -> None:
    assert gradient(smooth, lambda x: list(smooth_gradient(x)), POINT).passed
    assert gradient(smooth, lambda x: smooth_gradient(x).astype(object), POINT).passed


def test_scalars_and_several_arguments() -> None:
    def f(x: float, y: Any) -> Any:
        return x * np.sum(np.exp(y))

    y = np.array([0.1, 0.2])
    right = gradient(f, lambda x, y: (np.sum(np.exp(y)), x * np.exp(y)), 2.0, y, argnums=(0, 1))
    assert right.passed and right.size == 3
    wrong = gradient(f, lambda x, y: (np.sum(np.exp(y)), x * np.exp(y) * [1, 1.01]), 2.0, y, argnums=(0, 1))
    assert "Argument 1, component [1]: yours is" in wrong.failure()
    assert gradient(f, lambda x, y: x * np.exp(y), 2.0, y, argnums=1).passed
    assert gradient(np.tanh, lambda x: 1 / np.cosh(x) ** 2, 0.3).passed


def test_many_components_are_drawn_and_a_direction_checks_the_rest() -> None:
    x = np.linspace(1.0, 2.0, 1000)
    right = gradient(lambda x: np.sum(x**2), lambda x: 2 * x, x, most=20)
    assert right.passed and len(right.entries) == 21 and right.size == 1000
    wrong = gradient(lambda x: np.sum(x**2), spoiled(lambda x: 2 * x, 777, 1.01), x, most=20)
    assert "The derivative along a random direction v: yours is" in wrong.failure()
    assert "20 of the entries of x were drawn" in str(wrong)


# ---- differences at fault -------------------------------------------------------------------------------------------


def test_noise_is_the_fault_of_the_difference() -> None:
    rng = np.random.default_rng(0)

    def noisy(x: Any) -> Any:
        return np.sum(x**2) + 1e-2 * rng.standard_normal()

    judged_by_hoad = gradient(noisy, lambda x: 2 * x, np.ones(2))
    assert judged_by_hoad.passed and "the difference is at fault" in str(judged_by_hoad)
    assert not gradient(noisy, spoiled(lambda x: 2 * x, 0, 1.01), np.ones(2)).passed
    undecided = gradient(lambda x: float(noisy(np.asarray(x))), lambda x: 2 * x, np.ones(2))
    assert {entry.verdict for entry in undecided.entries} == {"undecided"}
    with pytest.raises(CheckError, match=r"undecided.*\(not trustworthy\).*The difference is at fault"):
        undecided.assert_passed()


@both_ways
def test_kink(f: Any) -> None:
    def kinked(x: Any) -> Any:
        return f(x) + abs(x[0] - 1.0)

    report = gradient(kinked, smooth_gradient, POINT)
    assert [entry.verdict for entry in report.entries] == ["undecided", "right", "right"]
    assert "f has a kink here: the slope is 5 on the left and 7 on the right" in report.failure()


@pytest.mark.parametrize("apart", [1e-2, 1e-4, 1e-6, 1e-8])
def test_a_kink_or_a_jump_nearby_does_no_harm(apart: float) -> None:
    for f in (lambda x: abs(x - 1 - apart) + 2 * x, lambda x: np.where(x < 1 + apart, x, 2.0) * 1.0):
        for g in (f, untraceable(f)):
            right, wrong = (gradient(g, lambda x, slope=slope: slope, 1.0) for slope in (1.0, 1.01))
            assert right.passed, str(right)
            assert wrong.entries[0].verdict == "wrong", str(wrong)


@pytest.mark.parametrize("slope", [1.0, 1.01])
@both_ways
def test_jump(f: Any, slope: float) -> None:
    report = gradient(lambda x: f(x) + np.floor(x[0]), spoiled(smooth_gradient, 0, slope), POINT)
    assert [entry.verdict for entry in report.entries] == ["undecided", "right", "right"]
    assert re.search(r"f jumps here: on the right it is 1\.0000\d more than on the left", report.failure())


def test_cusp() -> None:
    for f in (lambda x: np.sqrt(abs(x)), lambda x: abs(x) ** 0.2):
        report = gradient(f, lambda x: 0.0, 0.0)
        assert "f has a cusp here" in report.entries[0].reason and not report.passed


@pytest.mark.parametrize("apart", [10.0**-k for k in range(1, 15)])
def test_a_pole_nearby_never_makes_a_right_derivative_wrong(apart: float) -> None:
    """Differences say nothing there, or the truth; hoad judges where they cannot."""
    for f, slope in (
        (lambda x: 1 / (x - 1), lambda x: -1 / (x - 1) ** 2),
        (lambda x: np.log(abs(x - 1)), lambda x: 1 / (x - 1)),
    ):
        for x in (1 + apart, 1 - apart):
            assert "wrong" not in {gradient(g, slope, x).entries[0].verdict for g in (f, untraceable(f))}
            assert not gradient(f, lambda x, slope=slope: 1.01 * slope(x), x).passed


def test_a_function_that_writes_to_its_argument() -> None:
    def doubling(x: Any) -> Any:
        x *= 2
        return x

    x = np.ones(3)
    with pytest.raises(CheckError, match=r"yours writes to argument 0\. Let it write to a copy"):
        gradient(lambda x: np.sum(x**2), doubling, x)
    with pytest.raises(CheckError, match="f writes to argument 0"):
        jacobian(doubling, lambda x: np.eye(3), x)
    assert x.tolist() == [1, 1, 1]


def test_a_function_that_keeps_a_state() -> None:
    calls = []

    def counting(x: Any) -> Any:
        calls.append(x)
        return x * x + len(calls)

    report = gradient(counting, lambda x: 2 * x, 1.0)
    assert not report.passed and "called again at x, f gives another value" in str(report)


def test_poles_of_floats() -> None:
    for check in (gradient, hessian, jacobian):
        with pytest.raises(
            CheckError, match=r"where f has a value, but at 0 it raises ZeroDivisionError: .*\.py:\d+\)"
        ):
            check(lambda x: 1 / x, lambda x: -1 / x**2, 0.0)
    with pytest.raises(CheckError, match="where yours has a value, but at 0 it raises ZeroDivisionError"):
        gradient(lambda x: x * x, lambda x: 1 / x, 0.0)
    report = gradient(untraceable(lambda x: 1 / (x - 0.5)), lambda x: -1 / (x - 0.5) ** 2, 0.625)
    assert report.passed
    nested = hessian(lambda x: float(1 / (float(x) - 0.5)), lambda x: 2 / (x - 0.5) ** 3, 0.625)
    assert nested.passed


def test_edge_of_the_domain() -> None:
    assert gradient(np.sqrt, lambda x: 0.5 / np.sqrt(x), 1e-10).passed
    assert gradient(lambda x: math.log(x), lambda x: 1 / x, 1e-3).passed
    at_the_edge = gradient(np.sqrt, lambda x: math.inf, 0.0)
    assert "Differences cannot judge: beside x, f is not finite" in at_the_edge.failure()
    raising = gradient(math.sqrt, lambda x: math.inf, 0.0)
    assert "Differences cannot judge: beside x, f raises ValueError" in raising.failure()
    outside = jacobian(lambda x: np.stack([x[0], np.log(x[1])]), lambda x: np.eye(2), np.array([1.0, -1.0]))
    assert [entry.verdict for entry in outside.entries] == ["right", "right", "undecided", "undecided"]
    assert "f is nan at x" in outside.failure()


def test_a_wrong_rule_of_hoad_is_told_from_a_wrong_gradient() -> None:
    @hoad.primitive
    def cube(x: Any) -> Any:
        return x**3

    hoad.defvjp(cube, lambda g, p, x: (g * 2 * x**2,))
    report = gradient(cube, lambda x: 3 * x**2, 2.0)
    assert report.passed and "hoad's own derivative is another" in str(report)
    assert "hoad.check.rule" in str(report)
    assert not gradient(cube, lambda x: 2 * x**2, 2.0).passed


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_scales_of_entries_differ(offset: float) -> None:
    x = np.array([1e-12, 1.0, 1e9])
    report = gradient(lambda x: np.sum(np.log(x)) + offset, lambda x: 1 / x, x)
    assert report.passed, str(report)
    for k in range(3):
        assert not gradient(lambda x: np.sum(np.log(x)) + offset, spoiled(lambda x: 1 / x, k, 1.01), x).passed


@pytest.mark.parametrize("small", [1e-9, 1e-11, 1e-14])
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("factor", [-1.0, 0.0, 2.0, 1.01])
def test_a_small_entry_beside_a_large_one_is_not_right_if_it_is_wrong(small: float, power: int, factor: float) -> None:
    def f(x: Any) -> Any:
        return small * x[0] ** power + 1e6 * x[1]

    def g(x: Any) -> Any:
        return np.array([power * small * x[0] ** (power - 1), 1e6])

    for x in (np.ones(2), np.array([0.7, 1.3])):
        assert gradient(f, g, x).passed
        report = gradient(f, spoiled(g, 0, factor), x)
        assert [entry.verdict == "right" for entry in report.entries] == [False, True], str(report)


def test_what_rounding_leaves_of_a_zero_is_right() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x) ** 2 + np.cos(x) ** 2) + 1e3 * x[0]

    x = np.array([0.3, 0.7, 1.9])
    exact = np.array([1e3, 0.0, 0.0])
    assert gradient(f, lambda x: exact + np.sin(2 * x) - 2 * np.cos(x) * np.sin(x), x).passed
    assert gradient(f, lambda x: exact + x / 3 * 3 - x + (np.exp(x) ** 2 - np.exp(2 * x)), x).passed
    assert not gradient(f, lambda x: exact + 1e-9, x).passed
    assert gradient(
        lambda x: np.sum((x - x / 3 * 3) ** 2) + x[0] - x[1], lambda x: np.array([1.0, -1.0, 0.0]), x
    ).passed


def test_zeros() -> None:
    x = np.array([0.0, 1.0, 1e-9])
    assert gradient(untraceable(lambda x: np.sum(x**2)), lambda x: 2 * x, x).passed
    buried = gradient(untraceable(lambda x: np.sum(x**2) + 1e6), lambda x: 2 * x, x)
    assert [entry.verdict for entry in buried.entries] == ["right", "right", "undecided"]
    assert "so small relative to f that differences cannot tell it from 0" in buried.failure()
    assert gradient(lambda x: 3.0, np.zeros_like, x).passed
    assert not gradient(lambda x: 3.0, lambda x: 1e-3 * np.ones(3), x).passed
    assert not gradient(untraceable(lambda x: np.sum(x[:2] ** 2)), lambda x: np.array([0, 2, 1e-3]), x).passed


@pytest.mark.parametrize("x", [1e-310, 1e-200, 1e150])
def test_ends_of_the_range(x: float) -> None:
    assert gradient(lambda x: x * x, lambda x: 2 * x, x).passed


def test_float32() -> None:
    x = np.array([0.5, 1.5], np.float32)
    assert gradient(lambda x: np.sum(np.sin(x)), np.cos, x).passed
    assert not gradient(lambda x: np.sum(np.sin(x)), lambda x: 1.01 * np.cos(x), x).passed


@pytest.mark.parametrize("x", [np.array(0.5), np.float32(0.5), np.array([[0.5]]), np.arange(6.0).reshape(2, 3).T])
def test_arrays_of_any_layout(x: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x) ** 2)

    assert gradient(f, lambda x: np.sin(2 * x), x).passed
    assert not gradient(f, lambda x: 1.01 * np.sin(2 * x), x).passed


def test_nothing_to_check() -> None:
    report = gradient(np.sum, np.ones_like, np.zeros(0))
    assert report.passed and "it has no components" in str(report)


def test_not_finite() -> None:
    report = gradient(np.sin, lambda x: math.nan, 1.0)
    assert "It is not finite" in report.failure()


# ---- Jacobians and Hessians -----------------------------------------------------------------------------------------


def test_jacobian() -> None:
    def f(x: Any) -> Any:
        return np.stack([x[0] * x[1], np.sin(x[0])])

    def j(x: Any) -> Any:
        return np.array([[x[1], x[0]], [np.cos(x[0]), 0.0]])

    x = np.array([1.0, 2.0])
    assert jacobian(f, j, x).passed
    for index in ((0, 0), (0, 1), (1, 0)):
        report = jacobian(f, spoiled(j, index, 1.01), x)
        assert [entry.index for entry in report.entries if entry.verdict == "wrong"] == [index]
    missed = jacobian(f, lambda x: j(x) + np.diag([0.0, 1e-3]), x)
    assert [entry.index for entry in missed.entries if entry.verdict == "wrong"] == [(1, 1)]
    with pytest.raises(hoad.ShapeError, match=r"use hoad\.check\.jacobian"):
        gradient(f, j, x)


@both_ways
def test_hessian(f: Any) -> None:
    assert hessian(f, smooth_hessian, POINT).passed
    for index in ((0, 0), (1, 0), (2, 2)):
        report = hessian(f, spoiled(smooth_hessian, index, 1.01), POINT)
        assert [entry.index for entry in report.entries if entry.verdict == "wrong"] == [index]
    assert "it is not symmetric: [0, 1] is 2, [1, 0] is 2.02" in str(
        hessian(f, spoiled(smooth_hessian, (1, 0), 1.01), POINT)
    )
    assert not hessian(f, lambda x: -smooth_hessian(x), POINT).passed
    assert "must have shape (3, 3)" in hessian(f, smooth_gradient, POINT).failure()


def test_hessian_by_a_gradient_of_your_own() -> None:
    report = hessian(untraceable(smooth), smooth_hessian, POINT, gradient=smooth_gradient)
    assert report.passed and "differences are of the gradient that was given" in report.notes
    assert all(entry.error < 1e-9 for entry in report.entries)


def test_hessian_by_a_wrong_gradient() -> None:
    report = hessian(smooth, smooth_hessian, POINT, gradient=spoiled(smooth_gradient, 0, 1.5))
    assert not report.passed and "see hoad.check.gradient for the gradient that was given" in str(report)
    with pytest.raises(hoad.ShapeError, match=r"gradient=f: yours is a tuple of 2.*return the second alone"):
        hessian(smooth, smooth_hessian, POINT, gradient=lambda x: (smooth(x), smooth_gradient(x)))


def test_kink_of_a_gradient() -> None:
    report = hessian(lambda x: np.where(x > 0, x**2, 0.0), lambda x: 0.0, 0.0)
    assert "The gradient of f has a kink here: the slope is 0 on the left and 2 on the right" in report.failure()


def test_hessian_of_a_scalar_and_of_one_argument_of_several() -> None:
    assert hessian(np.exp, np.exp, 0.3).passed
    assert hessian(lambda x, y: x**3 * y, lambda x, y: 6 * x * y, 2.0, 3.0).passed
    with pytest.raises(hoad.ShapeError, match="one argument at a time"):
        hessian(lambda x, y: x * y, lambda x, y: 0.0, 2.0, 3.0, argnums=(0, 1))  # type: ignore[arg-type]


# ---- what is printed ------------------------------------------------------------------------------------------------


def test_table() -> None:
    lines = str(gradient(smooth, spoiled(smooth_gradient, 1, -1.0), POINT)).splitlines()
    assert lines[0] == "gradient of smooth at [1, 3, 0.5]: FAILED"
    assert lines[1].split() == ["component", "yours", "hoad", "difference", "±", "error", "digits"]
    assert re.fullmatch(r"  \[1\] +-1 +1 +1 +\S+ +0\.0  wrong  the sign is wrong", lines[3])
    assert len({len(line.split("wrong")[0].split("right")[0].rstrip()) for line in lines[1:]}) == 1


def test_long_tables_show_the_worst() -> None:
    text = str(gradient(lambda x: np.sum(x**2), spoiled(lambda x: 2 * x, 33, 1.01), np.linspace(1.0, 2.0, 50)))
    assert "[33]" in text and "38 components left out" in text


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((np.sin, np.cos), {}, hoad.ShapeError, r"needs a point.*check\.gradient\(f, g, x\)"),
        ((np.sin, np.cos, 1), {}, hoad.DTypeError, "Write 1.0"),
        (
            (np.sin, np.cos, 1j),
            {},
            hoad.DTypeError,
            r"argument 0 is complex128\. Make its parts arguments of their own",
        ),
        ((np.abs, np.conj, np.ones(2) * 1j), {}, hoad.DTypeError, r"varies real arguments, .* lambda x, y: f\(x \+ 1j"),
        ((np.sin, np.cos, None), {}, hoad.DTypeError, "argument 0 is NoneType"),
        ((np.sum, np.cos, [1.0]), {}, hoad.DTypeError, r"hoad\.ravel makes a vector"),
        ((np.sin, 0.5, 1.0), {}, hoad.ArgumentError, "takes a function, but was given a float"),
        ((None, np.cos, 1.0), {}, hoad.ArgumentError, "takes a function, but was given a NoneType"),
        ((lambda x: x[:1], np.cos, np.ones(1)), {}, hoad.ShapeError, r"Return a number, as by f\(x\)\.item\(\)"),
        ((np.sin, np.cos, 1.0), {"rtol": -1.0}, hoad.ArgumentError, "rtol and most of 0 or more"),
        ((np.sin, np.cos, 1.0), {"most": -1}, hoad.ArgumentError, "rtol and most of 0 or more"),
        ((lambda x: (x, {}), np.cos, 1.0), {}, hoad.ShapeError, r"f\(x\) is a tuple of 2: a float, a dict"),
        ((np.sin, np.cos, math.nan), {}, hoad.ShapeError, "finite point"),
        ((np.sin, np.cos, 1.0), {"argnums": 1}, hoad.ArgumentError, "called with 1 argument"),
        ((lambda x: "no", np.cos, 1.0), {}, hoad.ShapeError, "returns a real number"),
    ],
)
def test_what_cannot_be_checked(arguments: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gradient(*arguments, **options)
