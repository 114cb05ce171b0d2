"""What a node runs that is not a recorded program: checkpoints, spans of loops, rules, maps, flows, equations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from _inspect.finding import error_of, marked

import hoad
from hoad._transform.checkpoint_segments import Steps

INF = math.inf


# ---- nonfinites: each kind of callee, around a body with one marked line --------------------------------------------


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):  # steps of checkpointed loops, and solvers, are plain NumPy
        yield


def root(x):
    y = 2.0 * x
    return np.sqrt(y)  # nonfinite


def power(x):
    y = 2.0 * x
    return y**1.5  # nonfinite


def ruled(body):
    """body with a rule that is its own derivative, taken by a checkpointed call."""
    f = hoad.custom_vjp(body)
    f.defvjp(lambda g, p, x: (hoad.checkpoint(hoad.vjp)(body, x)[1](g)[0],))
    return f


def inside_a_call(body):
    return hoad.checkpoint(lambda x: 3.0 * hoad.checkpoint(body)(x + 0.0))


def looped(body):
    """The second of five steps is the body; the others pass on."""
    return lambda x: hoad.checkpointed_loop(lambda k, s: body(s) if k == 1 else s * 1.0, 5, x, slots=2)


def mapped(body):
    return lambda x: np.sum(hoad.vmap(body)(x * np.ones(3)))


def checkpointed_map(body):
    return hoad.checkpoint(mapped(body))


def called_program(body):
    return lambda x: hoad.record(body, 1.0)(x)


PLACES = {  # how to call a body, and what messages say of the place
    "checkpoint": (hoad.checkpoint, "in a program that it calls"),
    "nested checkpoints": (inside_a_call, "in a program that it calls, in a program that it calls"),
    "checkpointed_loop": (looped, "in step 1 of a loop"),
    "vmap": (mapped, "in input 0 of a map"),
    "vmap in a checkpoint": (checkpointed_map, "in a program that it calls, in input 0 of a map"),
    "program": (called_program, "in a program that it calls"),
}
VALUED = {
    "value_and_grad": hoad.value_and_grad,
    "derivative": lambda f: hoad.derivative(f, 0),
    "jvp": lambda f: lambda x: hoad.jvp(f, (x,), (1.0,)),
    "evaluate": lambda f: lambda x: hoad.record(f, x).evaluate(x),
}
FIRST = {
    "grad": (hoad.grad, "reverse"),
    "derivative": (hoad.derivative, "forward"),
    "jvp": (lambda f: lambda x: hoad.jvp(f, (x,), (1.0,)), "forward"),
    "gradient": (lambda f: lambda x: hoad.gradient(hoad.record(f, x)).evaluate(x), "reverse"),
    "sensitivities": (lambda f: lambda x: hoad.record(f, x).sensitivities(), "reverse"),
}
SECOND = {
    "hessian": hoad.hessian,
    "derivative": lambda f: hoad.derivative(f, 2),
    "gradient": lambda f: lambda x: hoad.gradient(hoad.gradient(hoad.record(f, x))).evaluate(x),
    "grad of grad": lambda f: hoad.grad(hoad.grad(f)),
}


def outer(f):
    return lambda x: 3.0 * f(x * 1.0)


@pytest.mark.parametrize("driver", VALUED)
@pytest.mark.parametrize("place", [*PLACES, "custom_vjp"])
def test_births_in_values(driver, place):
    behind, told = PLACES.get(place, (ruled, "in a program that it calls"))
    error = error_of(VALUED[driver](outer(behind(root))), -1.0)
    assert (error.operation, error.operands, error.order, error.mode) == ("sqrt", (-2.0,), 0, None)
    assert error.where == marked(root)
    assert f"first appears in the value at {marked(root)}, {told}: sqrt(-2.0) = nan" in str(error)


@pytest.mark.parametrize("driver", FIRST)
@pytest.mark.parametrize("place", PLACES)
def test_births_in_first_derivatives(driver, place):
    behind, told = PLACES[place]
    call, mode = FIRST[driver]
    error = error_of(call(outer(behind(root))), 0.0)
    assert (error.operation, error.order, error.mode) == ("divide", 1, mode)
    assert error.where == marked(root)
    assert f"first appears in the first derivative at {marked(root)}, {told}, in the {mode} sweep" in str(error)
    assert "through sqrt(0.0)" in str(error)


@pytest.mark.parametrize("driver", SECOND)
@pytest.mark.parametrize("place", PLACES)
def test_births_in_second_derivatives(driver, place):
    behind, told = PLACES[place]
    error = error_of(SECOND[driver](outer(behind(power))), 0.0)
    assert (error.operation, error.operands, error.order) == ("power", (0.0, -0.5), 2)
    assert error.where == marked(power)
    assert f"first appears in the second derivative at {marked(power)}, {told}" in str(error)


def test_births_in_rules():
    f = hoad.custom_vjp(lambda x: x * 1.0)
    f.defvjp(lambda g, p, x: (g * np.sqrt(x - 1.0),))

    def call(x):
        return 2.0 * f(x)  # nonfinite

    for driver in (hoad.grad, hoad.derivative):
        error = error_of(driver(call), 0.0)
        assert (error.operation, error.operands, error.order, error.where) == ("sqrt", (-1.0,), 1, marked(call))
    error = error_of(hoad.hessian(call), 1.0)
    assert (error.operation, error.order, error.where) == ("divide", 2, marked(call))


def test_births_in_what_a_rule_calls():
    def slope(x):
        return np.sqrt(x)

    f = hoad.custom_vjp(lambda x: x * 1.0)
    f.defvjp(lambda g, p, x: (g * hoad.checkpoint(slope)(x),))

    def call(x):
        return np.sum(f(x))  # called

    for at in (lambda x: x, lambda x: np.array([2.0, x])):  # rules keep no lines: it is that of the call
        error = error_of(hoad.grad(call), at(-1.0))
        assert (error.operation, error.operands, error.order, error.mode) == ("sqrt", (-1.0,), 1, "reverse")
        assert error.where == marked(call, "# called")
        assert "in a program that it calls" in str(error)
        error = error_of(hoad.hessian(call), at(0.0))
        assert (error.order, error.where) == (2, marked(call, "# called"))


@pytest.mark.parametrize("place", PLACES)
def test_births_in_what_a_gradient_computes_again(place):
    """A value that the result does not depend on, but the gradient does, is one of the value still, in a checkpoint."""
    behind = PLACES[place][0]

    def body(x):
        return np.sum(np.minimum(np.exp(x), 2.0))

    with hoad.debug_nans():
        assert hoad.value_and_grad(behind(body))(1e4)[1] == 0.0


def test_derivatives_within_what_is_called():
    def slope(t):
        return hoad.grad(lambda s: s**1.5)(t)  # nonfinite

    error = error_of(hoad.grad(hoad.checkpoint(slope)), 0.0)
    assert (error.operation, error.order, error.where) == ("power", 2, marked(slope))


def test_births_at_items_of_what_is_called():
    def f(x):
        y = hoad.checkpoint(lambda t: (np.log(t), t * 2.0))(x)  # nonfinite
        return y[1][0] + y[0][1]

    with hoad.debug_nans():
        assert hoad.value_and_grad(f)(np.array([0.0, 1.0]))[0] == 0.0
    error = error_of(hoad.grad(f), np.array([1.0, 0.0]))
    assert (error.operation, error.index, error.where) == ("log", (1,), marked(f))


@pytest.mark.parametrize("place", [*PLACES, "custom_vjp"])
def test_what_goes_in(place):
    behind = PLACES.get(place, (ruled,))[0]

    def f(x):
        y = np.log(x)  # nonfinite
        return behind(lambda t: t * t + 1.0)(y)

    for driver in (hoad.value_and_grad, hoad.hessian):
        error = error_of(driver(f), 0.0)
        assert (error.operation, error.operands, error.where) == ("log", (0.0,), marked(f))


@pytest.mark.parametrize("place", [*PLACES, "custom_vjp"])
def test_what_is_absorbed(place):
    behind = PLACES.get(place, (ruled,))[0]
    f = outer(behind(lambda x: np.where(x > 0.5, np.sqrt(x - 0.5), x * 2.0)))
    with hoad.debug_nans():
        assert hoad.grad(f)(-1.0) == hoad.grad(f)(0.25) > 0.0
        assert hoad.hessian(f)(-1.0) == 0.0

    def dropped(x):
        return np.where(x > 0.5, behind(root)(x), x)

    with hoad.debug_nans():
        assert hoad.grad(dropped)(-1.0) == 1.0


def test_containers_and_captured_arrays():
    w = np.array([1.0, INF])

    def step(k, s, a):
        return {"x": s["x"] * a + np.sum(s["y"]), "y": s["y"] + 1.0}

    def f(x):
        return hoad.checkpointed_loop(step, 3, {"x": x, "y": np.ones(2)}, 2.0)["x"]

    with hoad.debug_nans():
        assert hoad.grad(f)(1.0) == 8.0
    error = error_of(hoad.grad(lambda x: hoad.checkpoint(lambda t: np.sum(t * w))(x)), 1.0)
    assert "already inf" in str(error)
    error = error_of(hoad.value_and_grad(lambda x: hoad.checkpointed_loop(lambda k, s: s * np.sum(w), 3, x)), 1.0)
    assert "already inf" in str(error)


def test_the_state_of_several_steps():
    def step(k, s, a):
        x, y = s
        z = np.sqrt(x - a)  # nonfinite
        return z, y + x

    def f(x, a):
        return hoad.checkpointed_loop(step, 40, (x, 0.0), a)[1]

    x, first = 1.0, 0
    while x >= 0.26:
        x, first = math.sqrt(x - 0.26), first + 1
    assert 10 < first < 38
    for driver in (hoad.value_and_grad, hoad.grad, hoad.hessian):
        error = error_of(driver(f), 1.0, 0.26)
        assert (error.operation, error.operands, error.where) == ("sqrt", (x - 0.26,), marked(step))
        assert (error.order, error.mode) == (0, None)
        assert f"in step {first} of a loop" in str(error)
    error = error_of(hoad.grad(f, argnums=1), 1.0, 1.0)
    assert (error.operation, error.operands, error.where) == ("sqrt", (-1.0,), marked(step))
    assert "in step 1 of a loop" in str(error)


def test_many_steps_with_few_slots(monkeypatch):
    """Each half of a span is searched with all slots: with one fewer each time, steps are repeated without end."""
    calls = [0]
    advanced = Steps.advanced

    def counted(*args):
        calls[0] += 1
        return advanced(*args)

    def step(k, s):
        return np.sqrt(s * 0.0) + s if k == 180 else s * 1.0  # nonfinite

    monkeypatch.setattr(Steps, "advanced", counted)
    error = error_of(hoad.grad(lambda x: hoad.checkpointed_loop(step, 200, x, slots=3)), 1.0)
    assert error.where == marked(step) and "in step 180 of a loop" in str(error)
    assert calls[0] < 20_000


@pytest.mark.parametrize("place", [*PLACES, "custom_vjp"])
def test_programs_recorded_outside(place):
    behind = PLACES.get(place, (ruled,))[0](root)

    def f(x):
        return 3.0 * behind(x + 1.0)  # called

    program = hoad.record(f, 1.0)
    gradient = hoad.gradient(program)
    assert math.isfinite(gradient.evaluate(1.0))
    error = error_of(program.evaluate, -2.0)
    assert (error.operation, error.operands, error.order) == ("sqrt", (-2.0,), 0)
    error = error_of(gradient.evaluate, -1.0)
    assert (error.operation, error.order, error.mode) == ("divide", 1, "reverse")
    assert error.where is not None
    assert error.where.startswith(__file__)


def test_maps_on_plain_numbers():
    def f(x):
        return np.log(x * 1.0)  # nonfinite

    error = error_of(hoad.vmap(f), np.array([1.0, 2.0, 0.5, 0.0]))
    assert str(error).startswith("a map gave -inf at [3]")
    assert "in input 3 of a map" in str(error)
    assert (error.operation, error.where) == ("log", marked(f))
    error = error_of(hoad.grad(lambda x: np.sum(hoad.vmap(root)(x))), np.array([1.0, 2.0, 0.0, 1.0]))
    assert "in input 2 of a map" in str(error)
    error = error_of(hoad.vmap(hoad.grad(root)), np.array([1.0, 0.0]))
    assert "in input 1 of a map" in str(error)
    assert (error.order, error.where) == (1, marked(root))


# ---- flows and equations: one operation -----------------------------------------------------------------------------


def solution(y, a):
    t = np.array([0.0, 0.5, 1.0])
    return hoad.ode.odeint(lambda y, t, a: -a * y, y, t, (a,), adjoint="continuous")[-1]


def test_flows():
    with hoad.debug_nans():
        value, found = hoad.value_and_grad(solution, argnums=(0, 1))(1.0, 1.0)
        assert hoad.hessian(solution, argnums=1)(1.0, 1.0) == pytest.approx(math.exp(-1.0), rel=1e-5)
    assert (value, *found) == pytest.approx((math.exp(-1.0), math.exp(-1.0), -math.exp(-1.0)), rel=1e-5)
    explained = hoad.explain(lambda y, a, b: (solution(y, a), b), 1.0, 1.0, 2.0)
    assert table(explained) == [[True, True, False], [False, False, True]]
    assert explained.operations["flow"] == 1

    def before(y):
        z = np.sqrt(y) + 1.0  # nonfinite
        return solution(z, 1.0)

    for driver in (hoad.grad, hoad.derivative):
        error = error_of(driver(before), 0.0)
        assert (error.operation, error.order, error.where) == ("divide", 1, marked(before))

    def behind(y):
        return np.sqrt(solution(y, 1.0))  # nonfinite

    error = error_of(hoad.grad(behind), 0.0)
    assert (error.operation, error.operands, error.order, error.where) == ("divide", (1.0, 0.0), 1, marked(behind))
    error = error_of(hoad.value_and_grad(behind), -1.0)
    assert (error.operation, error.order, error.where) == ("sqrt", 0, marked(behind))


def test_equations():
    x = hoad.implicit.root(lambda x, a: x * x - a, np.sqrt)
    solve = hoad.implicit.linear_solve(lambda y, a: a * y, lambda matvec, b: b / matvec(np.ones_like(b)))
    for f in (lambda a, b: x(a), lambda a, b: np.sum(solve(np.ones(2), a))):
        found = hoad.explain(f, 4.0, 1.0)
        assert [bool(found.depends["f", name]) for name in "ab"] == [True, False]
        with hoad.debug_nans():
            assert math.isfinite(hoad.grad(f)(4.0, 1.0))
            assert math.isfinite(hoad.hessian(f)(4.0, 1.0))
        for driver in (hoad.grad, hoad.hessian):
            assert math.isnan(error_of(driver(lambda a, f=f: f(np.sqrt(a), 1.0)), -1.0).result)


# ---- dependence -----------------------------------------------------------------------------------------------------


def table(found: Any) -> list[list[bool]]:
    return [[bool(found.depends[o.name, i.name].any()) for i in found.inputs] for o in found.outputs]


def pair(x, y):
    return x * 2.0, y + 1.0


CALLS = {
    "checkpoint": hoad.checkpoint(pair),
    "nested checkpoints": hoad.checkpoint(lambda x, y: hoad.checkpoint(pair)(x, y)),
    "custom_vjp": hoad.custom_vjp(pair),
    "vmap": hoad.vmap(pair),
    "vmap of a checkpoint": hoad.vmap(hoad.checkpoint(pair)),
    "vmap in a checkpoint": hoad.checkpoint(hoad.vmap(pair)),
}
CALLS["custom_vjp"].defvjp(lambda g, p, x, y: (2.0 * g[0], g[1]))


@pytest.mark.parametrize("kind", CALLS)
def test_dependence_through_callees(kind):
    found = hoad.explain(lambda x, y, z: CALLS[kind](x, y), np.ones(2), np.ones(2), 1.0)
    assert table(found) == [[True, False, False], [False, True, False]]
    if "vmap" not in kind:  # of a map the rows are one
        assert found.depends["f[0]", "x"].tolist() == [[True, False], [False, True]]
    assert str(found).startswith("f: x (2,), y (2,), z -> f[0] (2,), f[1] (2,)")
    assert found.warnings == ("nothing depends on z",)


def test_dependence_through_operands_that_are_not_traced():
    f = hoad.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda g, p, x, y: (g * y, g * x))
    found = hoad.explain(lambda x, y: (f(x, 2.0), f(3.0, y), f(x, y)), 1.0, 1.0)
    assert table(found) == [[True, False], [False, True], [True, True]]
    total = hoad.custom_vjp(lambda x, y: x * y)
    total.defvjp(lambda g, p, x, y: (g * y, np.sum(g * x)))
    w = np.ones(3)
    found = hoad.explain(lambda x, y: (total(w, x), y), 1.0, 1.0)
    assert table(found) == [[True, False], [False, True]]


def test_dependence_through_what_a_checkpoint_uses_from_around_it():
    def f(x, y):
        return hoad.checkpoint(lambda t: t[:1] * y)(x)

    found = hoad.explain(f, np.ones(3), 2.0)
    assert found.depends["f", "x"].tolist() == [[True, False, False]]
    assert found.depends["f", "y"].tolist() == [True]


def test_dependence_through_spans_of_loops_is_whole():
    def f(x, y, a):
        return hoad.checkpointed_loop(lambda k, s: (s[0] * 2.0, s[1] + 1.0), 3, (x, y)), a

    found = hoad.explain(f, 1.0, np.ones(2), 1.0)
    assert table(found) == [[True, True, False], [True, True, False], [False, False, True]]


@pytest.mark.parametrize("place", [*PLACES, "custom_vjp"])
@pytest.mark.parametrize("order", [1, 2])
def test_dependence_of_derivatives(place, order):
    behind = PLACES.get(place, (ruled,))[0]

    def f(x, y, z):
        return hoad.derivative(lambda t: behind(lambda s: s**4)(t) * y, order)(x)

    assert table(hoad.explain(f, 1.0, 2.0, 3.0)) == [[True, True, False]]


def test_explain_says_its_own_name():
    for f, x, told in (
        (np.sin, 1, "explain needs a float argument"),
        (np.sin, "text", "explain takes floats and arrays"),
        (lambda x: "text", 1.0, "explain needs a function that returns a number or an array"),
        (lambda x: hoad.explain(np.sin, x), 1.0, "explain makes a recording of its own"),
        (lambda x: hoad.record(np.sin, x), 1.0, "record makes a program of its own"),
    ):
        with pytest.raises(hoad.HoadError, match=f"^{told}"):
            hoad.explain(f, x)
