"""Calls of the same objects each time, and the promise that nothing that a function reads changes."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

import hoad


class Model:
    def __init__(self, rate: float = 2.0) -> None:
        self.rate = rate
        self.calls = 0

    def energy(self, x: Any) -> Any:
        return self.rate * np.sum(x**2)

    def counted(self, x: Any) -> Any:
        self.calls += 1
        return self.rate * np.sum(x**2)


def test_arrays_are_filled_in_place() -> None:
    model = Model()
    x, out = np.zeros(3), np.empty(3)
    call = hoad.jit(hoad.grad(model.energy)).bound(x, out=out)
    for k in range(5):
        x[:] = k, -k, 0.5
        assert call() is out
        np.testing.assert_array_equal(out, 2 * model.rate * x)
    model.rate = 7.0
    call()
    np.testing.assert_array_equal(out, 14.0 * x)


def test_branches_and_shapes() -> None:
    x, out = np.array([1.0, 2.0]), np.empty(2)
    call = hoad.jit(lambda x: x * 2 if x[0] > 0 else -x).bound(x, out=out)
    for first in (1.0, -1.0, 2.0, -3.0, -4.0, 5.0):
        x[0] = first
        assert call().tolist() == ([2 * first, 4.0] if first > 0 else [-first, -2.0])
    x.resize(4, refcheck=False)
    with pytest.raises(hoad.ShapeError, match="out has shape"):
        call()


@pytest.mark.parametrize("of", ["numbers", "a view", "nothing", "a result that is not written", "two results"])
def test_what_is_not_placed_once(of: str) -> None:
    """Such a call goes the way of any other."""
    f = hoad.jit(lambda x, y: (x * y, x + y) if of == "two results" else x * y)
    x: Any = 3.0 if of == "numbers" else np.arange(6.0)[::2] if of == "a view" else np.arange(3.0)
    y = np.ones(3)
    out: Any = None if of in ("nothing", "a result that is not written") else np.empty(3)
    if of == "two results":
        out = (np.empty(3), np.empty(3))
    call = f.bound(x, y, out=out)
    for k in range(4):
        y[:] = k
        found = call()
        if of == "two results":
            np.testing.assert_array_equal(found, [x * y, x + y])
        else:
            np.testing.assert_array_equal(found, x * y)
            assert out is None or found is out


def test_what_a_function_does_besides_is_done() -> None:
    model = Model()
    x, out = np.ones(2), np.empty(())
    call = hoad.jit(model.counted).bound(x, out=out)
    for k in range(1, 6):
        call()
        assert model.calls == k


def test_a_bound_call_takes_no_arguments() -> None:
    call = hoad.jit(np.sin).bound(1.0)
    assert call() == np.sin(1.0)
    with pytest.raises(TypeError, match="takes no arguments"):
        call(2.0)  # type: ignore[call-arg]


def test_what_is_promised_is_not_looked_at() -> None:
    model = Model()
    f = hoad.jit(model.energy, guard=False)
    x = np.ones(2)
    assert f(x) == 4.0
    model.rate = 3.0
    assert f(x) == 4.0  # what the promise means
    assert f(np.ones(3)) == 9.0


def test_a_promise_that_is_broken_is_noticed_by_the_nth_replay() -> None:
    space = types.SimpleNamespace(rate=2.0)
    f = hoad.jit(lambda x: space.rate * x, guard=5)
    assert [f(1.0) for _ in range(20)] == [2.0] * 20
    space.rate = 3.0
    with pytest.raises(hoad.GuardError, match=r"guard=5.*rate is not what it was"):
        print([f(1.0) for _ in range(5)])


@pytest.mark.parametrize("guard", [-1, 1.5, "no"])
def test_guard_is_a_number(guard: Any) -> None:
    with pytest.raises(hoad.ArgumentError, match="guard as True, False, or a number"):
        hoad.jit(np.sin, guard=guard)


def test_what_is_converted_is_converted_at_each_call() -> None:
    """Numbers in arrays of no axes, views, and arrays of another byte order, all filled in place."""
    t, x, y, out = np.array(0.0), np.zeros(6)[::2], np.zeros(3, ">f8"), np.empty(3)
    call = hoad.jit(lambda t, x, y: t * x + y).bound(t, x, y, out=out)
    for k in range(4):
        t[...], x[:], y[:] = k, (1.0, 2.0, k), -k
        np.testing.assert_array_equal(call(), k * np.array([1.0, 2.0, k]) - k)


def test_what_python_raises_in_a_bound_call() -> None:
    """A primitive raises within a replay: the next call is as the first."""

    @hoad.primitive(vjp=lambda g, p, x: (g,))
    def positive(x: Any) -> Any:
        if np.any(np.asarray(x) < 0):
            raise ZeroDivisionError("negative")
        return 2.0 * x

    x, out = np.ones(2), np.empty(2)
    call = hoad.jit(lambda x: positive(x) + 1.0).bound(x, out=out)
    for _ in range(3):
        x[:] = 1.0
        np.testing.assert_array_equal(call(), [3.0, 3.0])
        x[:] = -1.0
        with pytest.raises(ZeroDivisionError, match="negative"):
            call()
