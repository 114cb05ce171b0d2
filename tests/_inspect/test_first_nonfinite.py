"""Every driver, at every order: what is named is the operation, its operands, the order, and the user's line."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _inspect.finding import error_of, marked

import hoad

INF = math.inf


# ---- functions with one nonfinite each; the marked line is where it is, or what its derivative comes of -------------


def logarithm(x):
    y = x + 1.0
    z = np.log(x)  # nonfinite
    return y * z


def quotient(x):
    y = x * x
    return y / x  # nonfinite


def root(x):
    y = 3.0 * x
    z = np.sqrt(y)  # nonfinite
    return z + x


def overflow(x):
    y = 1000.0 * x
    return np.exp(y)  # nonfinite


def power(exponent: float) -> Callable[[Any], Any]:
    def f(x):
        y = x * 1.0
        return 2.0 * y**exponent  # nonfinite

    return f


def angle(x):
    y = 2.0 * x
    return np.arctan2(y, y)  # nonfinite


VALUES = [  # function, x, operation, operands, result
    (logarithm, 0.0, "log", (0.0,), -INF),
    (quotient, 0.0, "divide", (0.0, 0.0), math.nan),
    (root, -1.0, "sqrt", (-3.0,), math.nan),
    (overflow, 1.0, "exp", (1000.0,), INF),
    (power(-1.5), 0.0, "power", (0.0, -1.5), INF),
    (power(0.5), -1.0, "power", (-1.0, 0.5), math.nan),
]


def summed(f):
    """f of each item, summed: nonfinites are at items then."""
    return lambda x: np.sum(f(x))


DRIVERS = {
    "value_and_grad": lambda f, x: hoad.value_and_grad(f)(x),
    "jvp": lambda f, x: hoad.jvp(f, (x,), (x + 1.0,)),
    "vjp": lambda f, x: hoad.vjp(f, x),
    "linearize": lambda f, x: hoad.linearize(f, x),
    "derivative": lambda f, x: hoad.derivative(f, 0)(x),
    "evaluate": lambda f, x: hoad.record(f, x).evaluate(x),
}


def is_result(found: Any, expected: float) -> bool:
    return found == expected or (math.isnan(found) and math.isnan(expected))


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("f", "x", "operation", "operands", "result"), VALUES)
def test_births_in_values(driver, f, x, operation, operands, result):
    error = error_of(DRIVERS[driver], f, x)
    assert (error.operation, error.operands, error.order, error.mode) == (operation, operands, 0, None)
    assert is_result(error.result, result)
    assert error.where == marked(f)
    assert f"first appears in the value at {marked(f)}" in str(error)
    assert str(error).startswith(f"{driver} of ")


@pytest.mark.parametrize("driver", ["value_and_grad", "jvp", "vjp", "linearize", "evaluate"])
@pytest.mark.parametrize(("f", "x", "operation", "operands", "result"), VALUES)
def test_births_in_values_of_arrays(driver, f, x, operation, operands, result):
    points = np.array([[0.5, 0.25, 0.625], [0.5, x, 0.125]])
    error = error_of(DRIVERS[driver], summed(f), points)
    assert (error.operation, error.operands, error.index) == (operation, operands, (1, 1))
    assert is_result(error.result, result)
    assert error.where == marked(f)
    assert "item [1, 1] of shape (2, 3)" in str(error)


FIRST = {
    "grad": (lambda f, x: hoad.grad(f)(x), "reverse"),
    "value_and_grad": (lambda f, x: hoad.value_and_grad(f)(x), "reverse"),
    "jacobian forward": (lambda f, x: hoad.jacobian(f, mode="forward")(x), "forward"),
    "jacobian reverse": (lambda f, x: hoad.jacobian(f, mode="reverse")(x), "reverse"),
    "jvp": (lambda f, x: hoad.jvp(f, (x,), (x + 1.0,)), "forward"),
    "vjp": (lambda f, x: hoad.vjp(f, x)[1](1.0), "reverse"),
    "linearize": (lambda f, x: hoad.linearize(f, x)[1](x + 1.0), "forward"),
    "gradient": (lambda f, x: hoad.gradient(hoad.record(f, x)).evaluate(x), "reverse"),
    "gradient unsimplified": (lambda f, x: hoad.gradient(hoad.record(f, x), simplify=False).evaluate(x), "reverse"),
    "sensitivity": (lambda f, x: hoad.record(f, x).sensitivity(1), "reverse"),
    "sensitivities": (lambda f, x: hoad.record(f, x).sensitivities(), "reverse"),
    "call": (lambda f, x: hoad.grad(hoad.record(f, x))(x), "reverse"),
}


@pytest.mark.parametrize("driver", FIRST)
@pytest.mark.parametrize(("f", "operations"), [(root, ("divide",)), (power(0.5), ("power",))])
def test_births_in_first_derivatives(driver, f, operations):
    call, mode = FIRST[driver]
    error = error_of(call, f, 0.0)
    assert error.operation in operations
    assert (error.order, error.mode, error.result) == (1, mode, INF)
    assert error.where == marked(f)
    assert f"first appears in the first derivative at {marked(f)}" in str(error)
    assert f"in the {mode} sweep" in str(error)


@pytest.mark.parametrize("driver", [name for name in FIRST if "vjp" not in name])
def test_births_in_first_derivatives_of_arrays(driver):
    call, mode = FIRST[driver]
    x = np.array([1.0, 4.0, 0.0])
    error = error_of(call, summed(root), x)
    assert (error.order, error.mode, error.result, error.index) == (1, mode, INF, (2,))
    assert error.where == marked(root)
    assert "through sqrt(0.0)" in str(error)


SECOND = {
    "hessian": lambda f, x: hoad.hessian(f)(x),
    "hvp": lambda f, x: hoad.hvp(f)(x, x + 1.0),
    "vhp": lambda f, x: hoad.vhp(f)(x, x + 1.0),
    "grad of grad": lambda f, x: hoad.grad(lambda x: np.sum(hoad.grad(f)(x)))(x),
    "jacobian of grad": lambda f, x: hoad.jacobian(hoad.grad(f))(x),
    "jvp of grad": lambda f, x: hoad.jvp(hoad.grad(f), (x,), (x + 1.0,)),
    "gradient of tangent": lambda f, x: hoad.gradient(hoad.tangent(hoad.record(f, x), x + 1.0)).evaluate(x),
    "tangent of gradient": lambda f, x: hoad.tangent(hoad.gradient(hoad.record(f, x)), x + 1.0).evaluate(x),
}


@pytest.mark.parametrize("driver", SECOND)
def test_births_in_second_derivatives(driver):
    f = power(1.5)
    with hoad.debug_nans():
        assert hoad.grad(f)(0.0) == 0.0  # the first derivative exists
    error = error_of(SECOND[driver], f, 0.0)
    assert (error.operation, error.operands, error.result) == ("power", (0.0, -0.5), INF)
    assert (error.order, error.where) == (2, marked(f))
    assert f"first appears in the second derivative at {marked(f)}" in str(error)


@pytest.mark.parametrize("driver", SECOND)
def test_births_in_second_derivatives_of_arrays(driver):
    f = power(1.5)
    error = error_of(SECOND[driver], summed(f), np.array([0.0, 1.0]))
    assert (error.operation, error.operands, error.result, error.index) == ("power", (0.0, -0.5), INF, (0,))
    assert (error.order, error.where) == (2, marked(f))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_births_in_nth_derivatives(order):
    f = power(order - 0.5)
    with hoad.debug_nans():
        assert hoad.derivative(f, order - 1)(0.0) == 0.0
    for x in (0.0, np.array([1.0, 0.0])):
        error = error_of(hoad.derivative(f, order), x)
        assert (error.operation, error.operands, error.result) == ("power", (0.0, -0.5), INF)
        assert (error.order, error.mode, error.where) == (order, "forward", marked(f))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_births_in_nth_gradients_of_programs(order):
    f = power(order - 0.5)
    for again in (True, False):  # recorded in the block, and before
        program = hoad.record(f, 1.0)
        for _ in range(order):
            program = hoad.gradient(program)
        call = program.evaluate
        if again:
            with hoad.debug_nans():
                program = hoad.record(f, 1.0)
                for _ in range(order):
                    program = hoad.gradient(program)
                call = program.evaluate
        error = error_of(call, 0.0)
        assert (error.order, error.mode, error.where) == (order, "reverse", marked(f))


def test_arctan2_at_the_origin():
    error = error_of(hoad.grad(angle), 0.0)
    assert (error.operation, error.operands, error.order) == ("divide", (0.0, 0.0), 1)
    assert error.where == marked(angle)


def test_a_norm_without_a_subgradient():
    def f(x):
        return np.sqrt(np.sum(x * x))  # nonfinite

    error = error_of(hoad.grad(f), np.zeros(2))
    assert (error.operands, error.result, error.where) == ((1.0, 0.0), INF, marked(f))
    with hoad.debug_nans():
        assert hoad.grad(np.linalg.norm)(np.zeros(2)).tolist() == [0.0, 0.0]


def test_differences_of_infinities_where_these_are_allowed():
    def f(x):
        y = 1.0 / x
        return y - y * 2.0  # nonfinite

    error = error_of(hoad.value_and_grad(f), 0.0, inf=False)
    assert (error.operation, error.operands, error.where) == ("subtract", (INF, INF), marked(f))
    error = error_of(hoad.value_and_grad(f), 0.0)
    assert (error.operation, error.operands) == ("divide", (1.0, 0.0))


def test_nested_derivatives_are_named_by_the_outer_driver():
    def inner(t):
        return t**1.5  # nonfinite

    def f(x):
        return x * hoad.grad(inner)(x)

    error = error_of(hoad.grad(f), 0.0)  # x·1.5·√x has the derivative 2.25 √x; but the second of t**1.5 is infinite
    assert (error.order, error.where) == (2, marked(inner))
    assert str(error).startswith("grad of f gave nan")


def test_a_nested_driver_on_plain_numbers_is_looked_at_itself():
    def inner(t):
        return np.sqrt(t)  # nonfinite

    def f(x):
        return x * hoad.grad(inner)(0.0)

    error = error_of(hoad.grad(f), 1.0)
    assert str(error).startswith("grad of inner gave inf")
    assert error.where == marked(inner)


def test_the_first_birth_is_told():
    def f(x):
        a = np.log(x)  # nonfinite
        b = 1.0 / x
        return a + b + np.sqrt(-1.0 - x)

    assert error_of(hoad.grad(f), 0.0).where == marked(f)


def test_only_births_that_reach_the_result_are_told():
    def f(x):
        a = np.log(x)
        b = np.sqrt(x - 2.0)  # nonfinite
        return np.concatenate([a, b])[len(x) + 1]

    error = error_of(hoad.grad(f), np.array([0.0, 1.0, 4.0]))
    assert (error.operation, error.operands, error.index, error.where) == ("sqrt", (-1.0,), (1,), marked(f))


def test_items_are_followed_through_matrices_and_sums():
    def f(x):
        y = np.log(x)  # nonfinite
        z = np.reshape(y, (2, 2)) @ np.ones((2, 3))
        return z[1, 2] + np.cumsum(y)[1]

    with hoad.debug_nans():
        hoad.grad(f)(np.array([1.0, 2.0, 3.0, 4.0]))
    assert error_of(hoad.grad(f), np.array([1.0, 2.0, 3.0, 0.0])).index == (3,)
    assert error_of(hoad.grad(f), np.array([1.0, 0.0, 3.0, 0.0])).index == (1,)

    def rows(x):
        y = np.log(x)
        return (np.reshape(y, (2, 2)) @ np.ones(2))[0] + np.cumsum(y)[1]

    with hoad.debug_nans():
        value, _ = hoad.jvp(rows, (np.array([1.0, 2.0, 0.0, 0.0]),), (np.array([1.0, 1.0, 0.0, 0.0]),))
    assert value == pytest.approx(2.0 * math.log(2.0))


# ---- programs within ------------------------------------------------------------------------------------------------


def test_births_in_loops():
    def step(c, x):
        y = c - x
        return np.log(y), y  # nonfinite

    def f(a):
        return hoad.scan(step, a, np.array([0.0, 0.0, 3.0]))[0]

    def path(a):
        return np.sum(hoad.scan(step, a, np.array([0.0, 0.0, 3.0]))[1])

    t = 30.0
    for k, shift in enumerate((0.0, 0.0, 3.0)):
        assert (t - shift > 0) == (k < 2)
        last, t = t - shift, math.log(t - shift) if t > shift else math.nan
    for call in (hoad.value_and_grad(f), f, hoad.derivative(f, 0)):
        error = error_of(call, 30.0)
        assert (error.operation, error.where) == ("log", marked(step))
        assert error.operands == pytest.approx((last,))
        assert "in step 2 of a loop" in str(error)
    with hoad.debug_nans():
        assert math.isfinite(hoad.derivative(path, 0)(30.0))  # what the last step carries out reaches no result


@pytest.mark.parametrize("order", [1, 2])
def test_births_in_derivatives_of_loops(order):
    def step(i, c):
        d = c * 1.0
        return d ** (order - 0.5)  # nonfinite

    def f(a):
        return hoad.fori_loop(0, 1, step, a)

    for call in (hoad.grad(f), hoad.derivative(f)) if order == 1 else (hoad.hessian(f), hoad.derivative(f, 2)):
        error = error_of(call, 0.0)
        assert (error.operation, error.operands, error.order) == ("power", (0.0, -0.5), order)
        assert error.where == marked(step)


def test_the_step_of_an_adjoint_is_that_of_the_loop():
    def step(c, x):
        return c + np.sqrt(x), None  # nonfinite

    xs = np.array([4.0, 0.0, 1.0, 9.0])
    for reverse in (False, True):
        error = error_of(hoad.grad(lambda xs, r=reverse: hoad.scan(step, 0.0, xs, reverse=r)[0]), xs)
        assert (error.order, error.where, error.operands) == (1, marked(step), (1.0, 0.0))
        assert "in step 1 of a loop" in str(error)


def test_births_in_while_loops():
    def body(c):
        return np.sqrt(c - 2.0)  # nonfinite

    def f(a):
        return hoad.while_loop(lambda c: c > 1.0, body, a)

    def bounded(a):
        return hoad.while_loop(lambda c: c > 1.0, body, a, max_steps=2)

    for call in (hoad.value_and_grad(f), hoad.value_and_grad(bounded)):
        error = error_of(call, 1.5)
        assert (error.operation, error.operands, error.where) == ("sqrt", (-0.5,), marked(body))


def test_long_loops_are_searched_from_where_it_began():
    def step(i, c):
        return np.where(i == 7, np.log(c - c), c + 1.0)  # nonfinite

    def f(a):
        return hoad.fori_loop(0, 3000, step, a)

    error = error_of(hoad.value_and_grad(f), 1.0)
    assert (error.operation, error.where) == ("log", marked(step))
    assert "in step 7 of a loop" in str(error)


def test_what_goes_into_a_loop():
    def f(x):
        rows = np.log(x)  # nonfinite
        return hoad.scan(lambda c, r: (c + r, None), 0.0, rows)[0]

    error = error_of(hoad.value_and_grad(f), np.array([1.0, 2.0, 0.0, 0.0]))
    assert (error.operation, error.index, error.where) == ("log", (2,), marked(f))


def test_births_in_implicit_functions():
    def residual(y, a):
        return y - np.sqrt(a)  # nonfinite

    x = hoad.implicit.root(residual, np.sqrt)
    error = error_of(hoad.grad(x), 0.0)
    assert (error.order, error.where) == (1, marked(residual))
    with hoad.debug_nans():
        assert hoad.grad(x)(4.0) == pytest.approx(0.25)


def test_births_in_solutions_of_differential_equations():
    def rate(y, t):
        return -np.sqrt(y - 1.0)  # nonfinite

    def f(y):
        return hoad.ode.odeint(rate, y, np.array([0.0, 0.5, 1.0]), method="rk4", steps=1)[-1]

    error = error_of(hoad.value_and_grad(f), 1.0625)
    assert (error.operation, error.where) == ("sqrt", marked(rate))
    assert error.operands[0] < 0


def test_births_in_programs_that_are_called():
    def inner(x):
        return np.log(x)  # nonfinite

    program = hoad.record(inner, 1.0)
    error = error_of(hoad.value_and_grad(lambda x: 2.0 * program(x - 1.0)), 1.0)
    assert (error.operation, error.operands, error.where) == ("log", (0.0,), marked(inner))
    assert "in a program that it calls" in str(error)


@hoad.primitive
def shifted(x):
    with np.errstate(all="ignore"):
        return np.divide(1.0, x - 3.0)


hoad.defvjp(shifted, lambda g, p, x: (g / (x - 4.0),))


def test_births_in_primitives_of_the_users():
    def f(x):
        y = x + 1.0
        return shifted(y)  # nonfinite

    error = error_of(hoad.grad(f), 2.0)
    assert (error.operation, error.operands, error.result, error.order) == ("shifted", (3.0,), INF, 0)
    assert error.where == marked(f)
    error = error_of(hoad.grad(f), 3.0)
    assert (error.operation, error.operands, error.result, error.order) == ("divide", (1.0, 0.0), INF, 1)
    assert error.where == marked(f)
    assert "through shifted(4.0)" in str(error)


def test_rules_that_say_nan():
    def f(a):
        return np.sum(np.linalg.eigh(a)[1] ** 2 * np.arange(2.0))  # nonfinite

    error = error_of(hoad.grad(f), np.eye(2))  # equal eigenvalues have no vectors of their own
    assert (error.order, error.mode, error.where) == (1, "reverse", marked(f))
    assert "through eigh([[1, 0], [0, 1]])" in str(error)
    assert "a constant of the rule, or of the seed, is nan there" in str(error)


def test_replays_at_other_inputs():
    program = hoad.record(logarithm, 1.0)
    with hoad.debug_nans():
        assert program.evaluate(2.0) == pytest.approx(3.0 * math.log(2.0))
    error = error_of(program.evaluate, 0.0)
    assert (error.operation, error.operands, error.where) == ("log", (0.0,), marked(logarithm))
    with hoad.debug_nans():
        value, pushforward = hoad.linearize(np.square, 1.0)
        assert (value, pushforward(2.0)) == (1.0, 4.0)
    error = error_of(pushforward, INF)
    assert "a seed is already inf" in str(error)


def test_expressions():
    x = hoad.symbols("x")
    error = error_of((np.log(x) * 2.0).evaluate, {x: 0.0})
    assert (error.operation, error.operands, error.order) == ("log", (0.0,), 0)


def test_single_precision():
    x = np.array([1.0, 0.0], np.float32)
    error = error_of(hoad.grad(summed(root)), x)
    assert (error.order, error.index, error.where) == (1, (1,), marked(root))


def test_containers():
    def f(p):
        return np.sum(np.log(p["w"])) + p["b"][0]  # nonfinite

    p = {"w": np.array([1.0, 0.0]), "b": (2.0, 3)}
    error = error_of(hoad.grad(f), p)
    assert (error.operation, error.index, error.where) == ("log", (1,), marked(f))
