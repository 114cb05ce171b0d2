"""The block: what passes, where it holds, and what its messages say."""

from __future__ import annotations

import asyncio
import contextvars
import math
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from _inspect.finding import error_of, marked

import hoad
from hoad._core.trace.context import WATCHERS


def pole(x):
    return 1.0 / x


# ---- what passes ----------------------------------------------------------------------------------------------------

ABSORBED = [
    (lambda x: np.where(x > 0, np.log(x), x), 0.0),
    (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), np.array([0.0, 1.0])),
    (lambda x: np.exp(-x * 1e300 * 1e300) + x, 1.0),
    (lambda x: np.sum(np.log(x)[1:]), np.array([0.0, 1.0])),
    (lambda x: np.minimum(np.exp(1000.0 * x), 1.0), 1.0),
    (lambda x: hoad.stop_gradient(x) if np.log(x) < 0 else x, 0.0),
    (lambda x: np.maximum(x, np.hypot(x, x)), 0.0),
]


@pytest.mark.parametrize(("f", "x"), ABSORBED)
def test_what_is_absorbed_raises_nothing(f, x):
    with np.errstate(all="ignore"):
        expected = hoad.value_and_grad(f)(x)
        with hoad.debug_nans():
            value, found = hoad.value_and_grad(f)(x)
    assert np.all(np.isfinite(found))
    assert value == expected[0]
    assert np.array_equal(found, expected[1])


def test_values_that_a_gradient_does_not_hang_on():
    with hoad.debug_nans():
        assert hoad.grad(lambda x: hoad.value(np.log(x)) * 0.0 + x if x < 0 else x)(0.0) == 1.0


def test_results_are_the_same_inside():
    def f(x):
        y = hoad.scan(lambda c, t: (np.sin(c) * t, c), x[0], x)[0]
        return y * hoad.grad(lambda t: t**3 * np.sum(np.tanh(x)))(x[1]) + np.linalg.det(np.outer(x, x) + np.eye(3))

    x = np.array([0.3, 0.5, 0.7])
    drivers = (hoad.grad, hoad.hessian, hoad.jacobian, lambda f: hoad.jacobian(hoad.grad(f)))
    plain = [driver(f)(x) for driver in drivers]
    with hoad.debug_nans():
        watched = [driver(f)(x) for driver in drivers]
    for a, b in zip(plain, watched, strict=True):
        assert np.array_equal(a, b)


def test_programs_recorded_inside_serve_outside():
    with hoad.debug_nans():
        program = hoad.gradient(hoad.record(lambda x: hoad.grad(np.sin)(x) * x**3, 0.5))
        value, pullback = hoad.vjp(lambda x: hoad.grad(np.sin)(x) * x**3, 0.5)
    third = hoad.gradient(hoad.tangent(program), simplify=False)

    def exact(x):  # of cos(x) x³
        return 6 * x * math.cos(x) - 6 * x**2 * math.sin(x) - x**3 * math.cos(x)

    assert third[:3].evaluate(0.5) == pytest.approx(exact(0.5), rel=1e-14)
    assert program.evaluate(0.7) == pytest.approx(3 * 0.49 * math.cos(0.7) - 0.343 * math.sin(0.7), rel=1e-14)
    assert pullback(1.0)[0] == pytest.approx(0.75 * math.cos(0.5) - 0.125 * math.sin(0.5), rel=1e-14)
    assert value == pytest.approx(0.125 * math.cos(0.5))
    loaded = pickle.loads(pickle.dumps(program))
    assert loaded.evaluate(0.7) == program.evaluate(0.7)


def test_many_nested_derivatives_leave_nothing():
    def f(x):
        for _ in range(200):
            hoad.grad(lambda t: t * t)(1.0)
        return np.log(x)  # nonfinite

    with hoad.debug_nans():
        program = hoad.record(f, 1.0)
        assert program[0].size == 2
    assert program[0]._graph.where(1) == marked(f)


# ---- where it holds -------------------------------------------------------------------------------------------------


def raises() -> bool:
    try:
        hoad.grad(pole)(0.0)
    except hoad.NanError:
        return True
    return False


def test_blocks_end():
    assert not raises()
    with hoad.debug_nans():
        assert raises()
    assert not raises()
    with pytest.raises(ValueError, match="else"), hoad.debug_nans():
        raise ValueError("else")
    assert not raises()
    assert WATCHERS.get() == ()


def test_blocks_nest():
    block = hoad.debug_nans()
    with block:
        with block, hoad.debug_nans(nan=False, inf=False):
            assert not raises()
        assert raises()
        with block:
            assert raises()
        assert raises()
    assert not raises()


def test_a_decorator():
    @hoad.debug_nans()
    def solve() -> bool:
        return raises()

    assert solve()
    assert not raises()


def test_kinds_are_chosen():
    with hoad.debug_nans(inf=False):
        assert hoad.grad(pole)(0.0) == -math.inf
    with hoad.debug_nans(nan=False):
        assert math.isnan(hoad.grad(lambda x: np.sqrt(x - 1.0))(0.0))
    assert error_of(hoad.grad(pole), 0.0, nan=False).result == math.inf
    assert math.isnan(error_of(hoad.grad(lambda x: np.sqrt(x - 1.0)), 0.0, inf=False).result)


def test_threads_do_not_see_each_other():
    with ThreadPoolExecutor(1) as other:
        with hoad.debug_nans():
            assert not other.submit(raises).result()
            assert other.submit(contextvars.copy_context().run, raises).result()
        assert not raises()


def test_tasks_do_not_see_each_other():
    async def inside(begun: asyncio.Event, looked: asyncio.Event) -> bool:
        with hoad.debug_nans():
            begun.set()
            await looked.wait()
            return raises()

    async def outside(begun: asyncio.Event, looked: asyncio.Event) -> bool:
        await begun.wait()
        found = raises()
        looked.set()
        return found

    async def both() -> list[bool]:
        events = asyncio.Event(), asyncio.Event()
        return list(await asyncio.gather(inside(*events), outside(*events)))

    assert asyncio.run(both()) == [True, False]


def test_generators_that_end_in_another_order():
    def held() -> Iterator[bool]:
        with hoad.debug_nans():
            yield raises()
            yield raises()

    first, second = held(), held()
    assert next(first)
    assert next(second)
    first.close()
    assert next(second)
    second.close()
    assert not raises()
    assert WATCHERS.get() == ()


# ---- what it says ---------------------------------------------------------------------------------------------------


def test_the_error_can_be_caught_as_usual():
    with pytest.raises(FloatingPointError), hoad.debug_nans():
        hoad.grad(pole)(0.0)
    error = error_of(hoad.grad(pole), 0.0)
    assert isinstance(error, hoad.HoadError)
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.where, copied.operands) == (str(error), error.where, (1.0, 0.0))


INPUTS = [
    (lambda x, y: x * y, (math.nan, 1.0), "the argument x is already nan"),
    (lambda x, y: x * y, (1.0, -math.inf), "the argument y is already -inf"),
    (lambda x, y: np.sum(x) * y, (np.array([[1.0, 2.0], [math.nan, 1.0]]), 1.0), "the argument x[1, 0] is already nan"),
    (lambda p, y: p["a"][1] * y, ({"a": [1.0, math.inf]}, 1.0), "the argument p['a'][1] is already inf"),
]


@pytest.mark.parametrize(("f", "args", "told"), INPUTS)
def test_arguments_that_are_not_finite(f, args, told):
    for call in (hoad.value_and_grad(f), hoad.value_and_grad(f, argnums=(0, 1)), hoad.record(f, *args).evaluate):
        if call.__name__ == "value_and_gradient" and "argument y" in told:
            call = hoad.value_and_grad(f, argnums=1)
        error = error_of(call, *args)
        assert told in str(error) or "y" in told
        assert "Give a finite one" in str(error)
        assert error.operation == "input"


def test_constants_that_are_not_finite():
    def f(x):
        y = x * np.array([1.0, math.nan])  # nonfinite
        return np.sum(y)

    error = error_of(hoad.grad(f), np.ones(2))
    assert f"item [1] of an array of shape (2,) that multiply takes at {marked(f)} is already nan" in str(error)
    error = error_of(hoad.value_and_grad(lambda x: x + math.inf), 1.0)
    assert "a constant that add takes" in str(error)
    assert "is already inf" in str(error)
    error = error_of(hoad.value_and_grad(lambda x: math.inf), 1.0)
    assert "inf, a constant that depends on no argument" in str(error)


ADVICE = [
    (lambda x: np.log(x), 0.0, "np.where(x > 0, np.log(x), value)"),
    (lambda x: 1.0 / x, 0.0, "np.where(y != 0, x / y, value)"),
    (lambda x: np.exp(x), 1000.0, "np.logaddexp"),
    (lambda x: np.sqrt(x), -1.0, "np.maximum(x, 0.0)"),
    (lambda x: np.sqrt(x), 0.0, "np.hypot and np.linalg.norm"),
    (lambda x: x**0.5, 0.0, "np.where(x > 0, x**y, 0.0)"),
    (lambda x: np.arcsin(x), 2.0, "np.clip"),
    (lambda x: x * 1e200 * x, 1e200, "scale"),
]


@pytest.mark.parametrize(("f", "x", "advice"), ADVICE)
def test_advice(f, x, advice):
    assert advice in str(error_of(hoad.value_and_grad(f), x))


def test_the_advice_works():
    with hoad.debug_nans():
        assert hoad.derivative(lambda x: np.where(x > 0, np.log(x), x), 3)(0.0) == 0.0
        assert hoad.derivative(lambda x: np.where(x != 0, 1.0 / x, 0.0), 3)(0.0) == 0.0
        assert hoad.derivative(lambda x: np.where(x > 0, np.sqrt(x), 0.0), 3)(0.0) == 0.0
        assert hoad.derivative(lambda x: np.where(x > 0, x**1.5, 0.0), 3)(0.0) == 0.0
        assert hoad.grad(lambda x: np.logaddexp(0.0, x))(1000.0) == 1.0


def test_what_was_given_is_told():
    message = str(error_of(hoad.jacobian(lambda x: np.sqrt(x)), np.array([1.0, 0.0, 4.0])))
    assert message.startswith("jacobian of f gave inf. It first appears in the first derivative")
    message = str(error_of(hoad.value_and_grad(pole), 0.0))
    assert message.startswith("value_and_grad of pole gave inf. It first appears in the value")
    message = str(error_of(hoad.value_and_grad(lambda x: np.sum(np.log(x))), np.zeros(3)))
    assert "log(0.0) = -inf, item [0] of shape (3,) and 2 more" in message


def test_long_programs_are_searched():
    def f(x):
        y = np.log(x)  # nonfinite
        for _ in range(20_000):
            y = y * 1.0
        return y

    assert error_of(hoad.grad(f), 0.0).where == marked(f)
