"""Checkpointed loops: every mode and order, the number of steps taken, the number of states kept, what is refused."""

from __future__ import annotations

import pickle
import weakref
from typing import Any

import numpy as np
import pytest
from rules.modes import along, words

import hoad
from hoad._transform.checkpoint_schedule import recomputed_steps

W = np.array([[0.9, 0.3], [-0.2, 0.8]])
V = np.array([0.3, 0.5, 0.2, 1.1])


def step(k: int, state: Any, c: Any) -> Any:
    h, t = state
    return np.tanh(W @ h * c) + 0.01 * k * h * t, t * 0.9 + np.sum(h) * 0.1


def plain(n: int) -> Any:
    def f(v: Any) -> Any:
        state = (v[:2], v[2])
        for k in range(n):
            state = step(k, state, v[3])
        return np.sum(state[0] ** 2) * state[1]

    return f


def looped(n: int, slots: int | None) -> Any:
    def f(v: Any) -> Any:
        h, t = hoad.checkpointed_loop(step, n, (v[:2], v[2]), v[3], slots=slots)
        return np.sum(h**2) * t

    return f


@pytest.mark.parametrize(("n", "slots"), [(0, 1), (1, 1), (2, 1), (3, 2), (7, 3), (6, None), (4, 50)])
def test_every_mode_and_order(n: int, slots: int | None) -> None:
    assert looped(n, slots)(V) == plain(n)(V)
    directions = [(np.array(d),) for d in ([1.0, -0.5, 0.3, 0.2], [0.1, 0.2, -0.3, 0.4], [0.5, 0.0, 1.0, -1.0])]
    for order in (1, 2, 3):
        want = along(plain(n), "f" * order, directions[:order])(V)
        for word in words(order):
            assert along(looped(n, slots), word, directions[:order])(V) == pytest.approx(want, rel=1e-10)


def test_matrices_and_programs() -> None:
    np.testing.assert_allclose(hoad.hessian(looped(7, 3))(V), hoad.hessian(plain(7))(V), rtol=1e-11, atol=1e-13)
    program = hoad.gradient(hoad.record(looped(7, 3), V))
    at = V[::-1].copy()
    np.testing.assert_allclose(program.evaluate(at), hoad.grad(plain(7))(at), rtol=1e-12)


@pytest.mark.filterwarnings("error::hoad.errors.JitWarning")
@pytest.mark.parametrize("around", [lambda f: f, hoad.checkpoint, hoad.jit])
def test_jit_replays_it(around: Any) -> None:
    """The steps outlive the traced values that they began with."""
    for derived in (lambda f: f, hoad.grad, hoad.hessian):
        jitted = hoad.jit(derived(around(looped(7, 3))))
        for at in (V, V[::-1].copy(), -V):
            np.testing.assert_allclose(jitted(at), derived(plain(7))(at), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("n", "slots"), [(1, 1), (100, 5), (100, 1), (37, 3), (20, 20)])
def test_the_steps_taken_are_those_of_the_formula(n: int, slots: int) -> None:
    """n for the value, t(n, s) again, and each once more when it is reversed."""
    calls = 0

    def counting(k: int, x: Any) -> Any:
        nonlocal calls
        calls += 1
        return np.sin(x)

    hoad.grad(lambda x: hoad.checkpointed_loop(counting, n, x, slots=slots))(0.5)
    assert calls == n + recomputed_steps(n, slots) + n


def test_no_more_states_live_than_there_are_slots() -> None:
    alive = most = 0

    def died() -> None:
        nonlocal alive
        alive -= 1

    def watched(k: int, x: Any) -> Any:
        nonlocal alive, most
        x = x + 0.001 * x * x
        if type(x) is np.ndarray:
            alive += 1
            most = max(most, alive)
            weakref.finalize(x, died)
        return x

    hoad.grad(lambda x: np.sum(hoad.checkpointed_loop(watched, 200, x, slots=6)))(np.ones(3))
    assert 5 <= most <= 6 + 3  # and those being computed and compared
    assert alive == 0


def test_branches_are_those_of_the_state() -> None:
    def bent(k: int, x: Any) -> Any:
        return x * 1.5 if x < 1 else x * x - 0.7

    def like(x: Any) -> Any:
        for k in range(12):
            x = bent(k, x)
        return x

    for x in (0.3, 0.9, 1.05):
        found = hoad.grad(lambda x: hoad.checkpointed_loop(bent, 12, x, slots=3))(x)
        assert found == pytest.approx(hoad.grad(like)(x), rel=1e-13)


def test_strong_zeros_and_arguments_that_are_no_floats() -> None:
    def roots(k: int, state: Any, places: Any) -> Any:
        x, y = state
        return np.sqrt(x), y[places]

    def f(x: Any) -> Any:
        a, b = hoad.checkpointed_loop(roots, 3, (x, x * x), np.argsort(x), slots=2)
        return np.sum(np.where(x > 0, a, 0.0) + b * np.arange(3.0))

    x = np.array([4.0, 0.0, 1.0])
    with np.errstate(divide="ignore"):
        found = hoad.grad(f)(x)
    # places are (1, 2, 0), three times the identity
    np.testing.assert_allclose(found, [4 ** (-7 / 8) / 8, 0.0, 1 / 8 + 4.0], rtol=1e-13)


def test_float32() -> None:
    x = np.ones(3, np.float32)
    found = hoad.grad(lambda x: np.sum(hoad.checkpointed_loop(lambda k, s: s * np.float32(0.5), 4, x, slots=2)))(x)
    assert found.dtype == np.float32 and found.tolist() == [0.0625] * 3


def test_what_is_refused() -> None:
    def loop(f: Any, x: Any, *args: Any, **options: Any) -> Any:
        return hoad.checkpointed_loop(f, 5, x, *args, **options)

    with pytest.raises(hoad.TracedValueError, match=r"step 0 .*not among its arguments.*further argument"):
        hoad.grad(lambda x: loop(lambda k, s: s * x, x))(1.0)
    with pytest.raises(hoad.ShapeError, match=r"step 0 .*float64 of shape \(2,\) of a state of float64 of shape \(\)"):
        hoad.grad(lambda x: np.sum(loop(lambda k, s: np.stack([s, s]), x)))(1.0)
    with pytest.raises(hoad.DTypeError, match="int64"):
        hoad.grad(lambda x: loop(lambda k, s, y: s, np.arange(3), x))(1.0)
    with pytest.raises(hoad.ArgumentError, match="number of steps"):
        hoad.checkpointed_loop(np.sin, 1.5, 1.0)
    with pytest.raises(hoad.ArgumentError, match="checkpointed_loop takes a function"):
        hoad.checkpointed_loop(1.0, 5, 1.0)
    with pytest.raises(hoad.ArgumentError, match="slots as a positive int"):
        hoad.grad(lambda x: loop(lambda k, s: s, x, slots=0))(1.0)
    rng = np.random.default_rng(1)
    with pytest.raises(hoad.HoadError, match="gave another state when it was called again"):
        hoad.grad(lambda x: loop(lambda k, s: s * rng.uniform(), x, slots=2))(1.0)


def test_a_loop_in_a_pickle_needs_its_step() -> None:
    program = hoad.record(lambda x: hoad.checkpointed_loop(lambda k, s: s, 3, x), 1.0)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(program)
