"""Rules: right ones pass in every mode, order and shape; every kind of wrong one fails."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rules.cases import CASES, Structured

import hoad
from hoad.check import rule
from hoad.errors import CheckError


def declared(f: Callable[..., Any], vjp: Callable[..., Any]) -> Any:
    """A primitive of the test's own."""

    def own(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    own.__name__ = "own"
    made = hoad.primitive(own)
    hoad.defvjp(made, vjp)
    return made


def cube(x: Any) -> Any:
    return x**3


def product(x: Any, y: Any) -> Any:
    return x * y


RIGHT = [
    np.exp,
    np.tanh,
    np.log,
    np.arccosh,
    np.hypot,
    np.arctan2,
    np.divide,
    np.power,
    np.maximum,
    np.remainder,
    abs,
    np.floor,
]


@pytest.mark.parametrize("primitive", RIGHT, ids=lambda f: f.__name__)
def test_rules_of_numpy_pass(primitive: Any) -> None:
    report = rule(primitive)
    assert report.passed, str(report)
    assert {"linear in g", "adjoint 0", "forward = reverse", "order 2", "order 4"} <= {f.check for f in report.findings}


@pytest.mark.parametrize(
    ("primitive", "operands", "parameters"),
    [
        (np.linalg.det, [np.array([[1.0, 2.0], [3.0, 5.0]])], {}),
        (np.linalg.solve, [np.array([[4.0, 1.0], [2.0, 5.0]]), np.array([1.0, -2.0])], {}),
        (np.matmul, [np.arange(6.0).reshape(2, 3), np.arange(3.0) + 1], {}),
        (np.sum, [np.arange(6.0).reshape(2, 3) + 1], {"axis": 0}),
        (np.linalg.slogdet, [np.array([[4.0, 1.0], [2.0, 5.0]])], {}),
        (np.ldexp, [1.5, 3], {}),
        (np.exp, [np.array(0.5)], {}),
        (np.multiply, [np.array(0.5), np.array(1.5)], {}),
    ],
)
def test_arrays_parameters_and_several_results(primitive: Any, operands: list[Any], parameters: Any) -> None:
    report = rule(primitive, *operands, **parameters)
    assert report.passed, str(report)


# Functions of symmetric matrices: differences perturb one entry at a time.
SYMMETRIC = ("cholesky", "cholesky_upper", "eigh", "eigh_of_upper", "eigvalsh", "matrix_exponential")


# One in three of the rows, of which there are many, in each run.
NIGHTLY = [case.name for case in CASES]
del NIGHTLY[::3]
# The third derivative of `lstsq` loses digits.
MARKS = dict.fromkeys(NIGHTLY, pytest.mark.slow) | {"lstsq": pytest.mark.ill_conditioned}
TABLE = [
    pytest.param(case, id=case.name, marks=MARKS.get(case.name, ())) for case in CASES if case.name != "stop_gradient"
]


@pytest.mark.parametrize("case", TABLE)
def test_no_rule_of_the_table_is_called_wrong(case: Any) -> None:
    """Points of any size and beside poles may leave it undecided; `stop_gradient` differs by design."""
    if case.name in ("astype", "complex_single"):
        pytest.skip("computes in single precision, which its operands do not show")
    if case.name == "special_ncfdtrinc":
        pytest.skip("SciPy's values have five digits, and steps")
    rng = np.random.default_rng(0)
    f = case.f
    if case.name in SYMMETRIC:
        f = lambda a, f=case.f: f((a + np.swapaxes(a, -1, -2)) / 2)  # noqa: E731
    if isinstance(case, Structured):
        report = rule(f, *case.examples[0](rng), orders=min(3, case.orders))
    else:
        report = rule(f, *(x[:2] for x in case.sample(rng, 3)), orders=3)
    wrong = [f for f in report.findings if not f.passed and "differences cannot tell" not in f.reason]
    assert not wrong, report.failure()


def test_own_primitives_pass() -> None:
    assert rule(declared(cube, lambda g, p, x: (g * 3 * x**2,))).passed
    report = rule(declared(math.sin, lambda g, p, x: (g * np.cos(x),)))
    assert report.passed and "does not work item by item on shapes (3,)" in str(report)
    scaled = declared(lambda x, factor=1.0: factor * x * x, lambda g, p, x, factor=1.0: (g * 2 * factor * x,))
    assert rule(scaled, 1.5, factor=4.0).passed


WRONG: dict[str, tuple[Any, Any, str]] = {
    "1 % in a coefficient": (cube, lambda g, p, x: (g * 3.03 * x**2,), "adjoint 0"),
    "sign": (cube, lambda g, p, x: (-g * 3 * x**2,), "adjoint 0"),
    "forgotten": (cube, lambda g, p, x: (0 * g,), "adjoint 0"),
    "forgets g": (cube, lambda g, p, x: (3 * x**2,), "linear in g"),
    "quadratic in g": (cube, lambda g, p, x: (g * g * 3 * x**2,), "linear in g"),
    "not homogeneous in g": (cube, lambda g, p, x: (g * 3 * x**2 + 1,), "linear in g"),
    "second derivative": (cube, lambda g, p, x: (g * 3 * x * hoad.stop_gradient(x),), "order 2"),
    "one operand of two": (product, lambda g, p, x, y: (g * y, g * x * 1.01), "adjoint 1"),
    "operands exchanged": (product, lambda g, p, x, y: (g * x, g * y), "adjoint 0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_fail(name: str) -> None:
    f, vjp, check = WRONG[name]
    operands = (2.0, 3.0) if f is product else (2.0,)
    report = rule(declared(f, vjp), *operands)
    first = next(finding for finding in report.findings if not finding.passed)
    assert first.check == check
    with pytest.raises(CheckError, match=r"rule of own: \d+ of \d+ checks failed"):
        report.assert_passed()


def test_the_message_has_both_values() -> None:
    report = rule(declared(cube, lambda g, p, x: (g * 3.03 * x**2,)), 2.0)
    assert "the rule gives 12.12, differences give 12 ± " in report.failure()
    assert "(trustworthy); 2.0 digits agree" in report.failure()


def test_wrong_second_derivative_through_another_primitive() -> None:
    cosine = declared(math.cos, lambda g, p, x: (g * np.sin(x),))  # a wrong sign
    sine = declared(math.sin, lambda g, p, x: (g * cosine(x),))
    report = rule(sine, 0.7)
    assert [f.check for f in report.findings if not f.passed] == ["order 2"]


def test_a_missing_broadcast_sum_fails() -> None:
    unsummed = declared(product, lambda g, p, x, y: (g * y, g * x))
    assert rule(unsummed, 2.0, 3.0).passed
    report = rule(unsummed)
    assert {f.check for f in report.findings if not f.passed} == {"shape"}
    assert "returned an adjoint of shape (2, 3) for operand 1 of shape (3,)" in report.failure()


def test_messages_are_printed_whole_and_once() -> None:
    report = rule(declared(product, lambda g, p, x, y: (g * y, g * x)))
    wrong = [finding.reason for finding in report.findings if not finding.passed]
    assert wrong and all(str(report).count(reason) == 1 for reason in wrong)
    said = "The adjoint of an operand has the operand's shape; write the sum or broadcast_to in the rule."
    assert said in str(report) and "..." not in str(report)
    nowhere = rule(declared(cube, lambda g, p, x: g * 3 * x**2))
    assert str(nowhere).count("0.37, 1.71, -0.64, 2.43: ") == 1


def test_what_is_not_finite_fails() -> None:
    for value in (math.inf, math.nan):
        report = rule(declared(cube, lambda g, p, x, v=value: (g * v,)), 2.0)
        found = {finding.check: finding for finding in report.findings}
        assert found["adjoint 0"].verdict == "wrong" and found["adjoint 0"].digits == 0
        assert f"the rule gives {value}, differences give 12" in found["adjoint 0"].reason
        assert found["linear in g"].reason == "2 g₁ − 3 g₂ is not finite"


def test_what_cannot_be_told_is_undecided() -> None:
    rng = np.random.default_rng(0)
    noisy = declared(lambda x: x * x * (1 + 1e-3 * rng.standard_normal()), lambda g, p, x: (g * 2 * x,))
    report = rule(noisy, 1.0)
    (found,) = [finding for finding in report.findings if not finding.passed]
    assert found.verdict == "undecided" and "differences cannot tell" in found.reason and math.isnan(found.digits)
    assert " undecided" in str(report) and " wrong" not in str(report)


def test_poles_of_floats() -> None:
    inverse = declared(lambda x: 1 / x, lambda g, p, x: (-g * p * p,))
    with pytest.raises(CheckError, match=r"at 0 it raises ZeroDivisionError: .* \(test_rule\.py:\d+\)"):
        rule(inverse, 0.0)
    report = rule(inverse, 1.0, special=[0.0])
    assert [finding.verdict for finding in report.findings if finding.check == "special point"] == ["undecided"]
    assert "nothing can be tried where own raises ZeroDivisionError: float division by zero (test_rule.py:" in str(
        report
    )


def test_a_wrong_shape_fails() -> None:
    report = rule(declared(cube, lambda g, p, x: (np.sum(g * 3 * x**2),)), np.ones(3))
    assert [f.check for f in report.findings] == ["shape"] and not report.passed
    report = rule(declared(product, lambda g, p, x, y: (g * y,)), 2.0, 3.0)
    assert "returned 1 adjoint for 2 operands" in report.failure()


def test_an_error_in_one_entry_of_an_array_is_placed() -> None:
    wrong = declared(cube, lambda g, p, x: (g * 3 * x**2 * np.where(np.arange(3) == 1, 1.01, 1.0),))
    assert "Adjoint 0 at [1, 2, 3]: entry [1]: the rule gives" in rule(wrong, np.array([1.0, 2.0, 3.0])).failure()


@pytest.mark.parametrize(
    ("primitive", "special", "said"),
    [
        (np.tanh, [0.0, 400.0], "derivatives: 1, "),
        (abs, [0.0], "differences find none there"),
        (np.log, [0.0], "derivatives: inf, -inf"),
        (np.hypot, [(0.0, 0.0), (3.0, 0.0)], "differences find none there"),
        (np.sin, [0.0], "derivatives: 1"),
        (np.logaddexp, [(1.0, 1.0), (-np.inf, -np.inf)], "differences find none there"),
    ],
)
def test_special_points(primitive: Any, special: list[Any], said: str) -> None:
    report = rule(primitive, special=special)
    assert report.passed and said in str(report)


def test_a_removable_singularity_that_the_rule_leaves() -> None:
    """sin x / x is smooth at 0; its derivative by the quotient rule is nan there."""

    def value(x: Any) -> Any:
        return np.where(x == 0, 1.0, np.sin(x) / np.where(x == 0, 1.0, x))[()]

    sinc = declared(value, lambda g, p, x: (g * (np.cos(x) / x - np.sin(x) / x**2),))
    assert rule(sinc).passed
    report = rule(sinc, special=[0.0])
    assert not report.passed and "the rule gives nan, differences give 0" in report.failure()


def test_float32() -> None:
    assert rule(np.exp, np.array([0.5, 1.5], np.float32), orders=2).passed
    wrong = declared(cube, lambda g, p, x: (g * 3.03 * x**2,))
    assert not rule(wrong, np.array([0.5, 1.5], np.float32), orders=2).passed


def test_what_cannot_be_checked() -> None:
    with pytest.raises(hoad.NoRuleError):
        rule(hoad.primitive(lambda x: x), 1.0)
    with pytest.raises(hoad.ShapeError, match="found no point among"):
        rule(declared(lambda x: math.sqrt(x - 100.0), lambda g, p, x: (g,)))
    with pytest.raises(hoad.ShapeError, match="at -1 it is not"):
        rule(np.log, -1.0)
    for orders in (0, 9, "2", 1.5):
        with pytest.raises(hoad.ArgumentError, match="an order from 1 to 8, an int, not"):
            rule(np.exp, orders=orders)  # type: ignore[arg-type]
    with pytest.raises(hoad.ArgumentError, match=r"special points in a list, special=\[0\.0\]"):
        rule(np.exp, special=0.0)  # type: ignore[arg-type]
    with pytest.raises(hoad.ArgumentError, match="takes a function, but was given a float"):
        rule(3.0)  # type: ignore[arg-type]
    with pytest.raises(hoad.DTypeError):
        rule(np.exp, 1)
