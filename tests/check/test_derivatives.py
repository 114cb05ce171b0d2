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


def test_a_kink_nearby_does_no_harm() -> None:
    report = gradient(lambda x: abs(x - 1e-4) + x, lambda x: 0.0, 0.0)
    assert report.passed, str(report)


def test_edge_of_the_domain() -> None:
    assert gradient(np.sqrt, lambda x: 0.5 / np.sqrt(x), 1e-10).passed
    assert gradient(lambda x: math.log(x), lambda x: 1 / x, 1e-3).passed
    at_the_edge = gradient(np.sqrt, lambda x: math.inf, 0.0)
    assert "f is not finite on both sides of x" in at_the_edge.failure()


def test_a_wrong_rule_of_hoad_is_told_from_a_wrong_gradient() -> None:
    @hoad.primitive
    def cube(x: Any) -> Any:
        return x**3

    hoad.rules.vjp(cube, lambda g, p, x: (g * 2 * x**2,))
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
    assert gradient(untraceable(lambda x: np.sum(x**2) + 1e6), lambda x: 2 * x, x).passed
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
    with pytest.raises(hoad.ShapeError, match=r"Use hoad\.check\.jacobian"):
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
        ((np.sin, np.cos, math.nan), {}, hoad.ShapeError, "finite point"),
        ((np.sin, np.cos, 1.0), {"argnums": 1}, hoad.ShapeError, "called with 1 argument"),
        ((lambda x: "no", np.cos, 1.0), {}, hoad.ShapeError, "returns a real number"),
    ],
)
def test_what_cannot_be_checked(arguments: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gradient(*arguments, **options)
