"""Guards outlive whatever is done to a program: sweeps, forks, slices, copies, pickles, calls, rewinding."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

X = np.array([0.3, 0.7, 1.1])


def branched(x: Any) -> Any:
    return np.sum(x**3) if x[0] > 0.2 else np.sum(x)


def made_of(program: hoad.Program) -> dict[str, tuple[hoad.Program, int]]:
    """Programs that come from a primal one, and how many symbolic seeds each takes."""
    first = hoad.gradient(program)
    second = hoad.gradient(first, seed="symbolic")
    fork = hoad.gradient(first, seed=X)
    return {
        "primal": (program, 0),
        "gradient": (first, 0),
        "second gradient": (second, 1),
        "fork": (fork, 0),
        "fork of the primal": (hoad.gradient(program, seed=2.0), 0),
        "unsimplified": (hoad.gradient(program, simplify=False), 0),
        "slice": (second[:2], 0),
        "slice to the primal": (second[:1], 0),
        "gradient of a slice": (hoad.gradient(second[:1]), 0),
        "gradient of a longer slice": (hoad.gradient(second[:2], seed=X), 0),
        "list of tapes": (hoad.Program(list(second)[:2]), 0),
        "method copy": (second.copy(), 1),
        "copy": (copy.copy(first), 0),
        "deep copy": (copy.deepcopy(first), 0),
        "pickle": (pickle.loads(pickle.dumps(second)), 1),
        "pickle of a slice": (pickle.loads(pickle.dumps(second[:2])), 0),
        "call": (hoad.record(lambda x: first(x) * 2.0, X), 0),
        "pickle of a call": (pickle.loads(pickle.dumps(hoad.record(lambda x: first(x) * 2.0, X))), 0),
    }


NAMES = list(made_of(hoad.record(branched, X)))


@pytest.mark.parametrize("name", NAMES)
def test_a_guard_holds(name: str) -> None:
    program, seeds = made_of(hoad.record(branched, X))[name]
    held = [X] * seeds
    program.evaluate(X + 0.5, *held)
    for ask in (
        lambda: program.evaluate(-X, *held),
        lambda: hoad.jvp(lambda x: program(x, *held), (-X,), (X,)),
        lambda: hoad.jacobian(lambda x: program(x, *held), mode="reverse")(-X),
    ):
        with pytest.raises(hoad.GuardError, match="recorded with a branch"):
            ask()
    program.evaluate(X + 0.5, *held)


def undecided(x: Any) -> Any:
    """Branches before and after the result, and on dead nodes."""
    y = x * x
    _ = "small" if 3.0 * x > 1.0 else "large"
    return y


@pytest.mark.parametrize("simplify", [True, False])
def test_guards_behind_the_result(simplify: bool) -> None:
    program = hoad.record(undecided, 2.0)
    first = hoad.gradient(program, simplify=simplify)
    for made in (program, first, hoad.gradient(first, simplify=simplify), first[:1]):
        made.evaluate(1.0)
        with pytest.raises(hoad.GuardError):
            made.evaluate(0.1)


def test_guards_of_constant_functions() -> None:
    """What is constant on a branch is not constant on the other."""
    program = hoad.record(lambda x: 3.0 if x > 1 else 4.0, 2.0)
    for made in (program, hoad.gradient(program), hoad.gradient(hoad.gradient(program))):
        with pytest.raises(hoad.GuardError):
            made.evaluate(0.5)
    with pytest.raises(hoad.GuardError):
        hoad.grad(lambda x: program(x) * x)(0.5)


@pytest.mark.parametrize("x", [2.0, float("nan")])
def test_guards_on_nan(x: float) -> None:
    program = hoad.record(lambda x: x if x == x else 0.0, x)
    program.evaluate(x)
    with pytest.raises(hoad.GuardError):
        program.evaluate(float("nan") if x == 2.0 else 2.0)


# ---- rewinding ------------------------------------------------------------------------------------------------------


REWOUND: dict[str, Callable[[Any], Any]] = {
    "grad": lambda x: hoad.grad(lambda y: 3.0 * y if x > 1 else y)(2.0),
    "value of a branch": lambda x: hoad.value_and_grad(lambda y: y if x > 1 else 2.0 * y)(2.0)[0],
    "jvp": lambda x: hoad.jvp(lambda y: 3.0 * y if x > 1 else y, (2.0,), (1.0,))[1],
    "vjp": lambda x: hoad.vjp(lambda y: 3.0 * y if x > 1 else y, 2.0)[1](1.0)[0],
    "hessian": lambda x: hoad.hessian(lambda y: 3.0 * y * y if x > 1 else y)(2.0),
    "derivative": lambda x: hoad.derivative(lambda y: y**3 if x > 1 else y, 2)(2.0),
    "two deep": lambda x: hoad.grad(lambda y: hoad.grad(lambda z: 3.0 * z if x > 1 else z)(1.0) * y)(2.0),
    "asked outside": lambda x: (lambda big: hoad.grad(lambda y: 3.0 * y if big else y)(2.0))(x > 1),
    "mask": lambda x: hoad.grad(lambda y: np.sum(y[np.stack([x, 2.0 * x]) > 1.5]))(np.ones(2))[0],
}


@pytest.mark.parametrize("name", REWOUND)
def test_a_derivative_of_plain_numbers_that_branched_on_an_outer_value(name: str) -> None:
    """Its result is a plain number, but at another outer value it would be another: the guard stays."""

    def f(x: Any) -> Any:
        total = 0.0
        for _ in range(3):
            total = total + REWOUND[name](x)
            hoad.grad(lambda y: y * y if y > 1 else y)(2.0)  # leaves nothing, guard or other
        return total * x

    program = hoad.record(f, 2.0)
    assert program.evaluate(3.0) == f(3.0)
    assert hoad.gradient(program).evaluate(3.0) == hoad.grad(f)(3.0)
    for made in (program, hoad.gradient(program)):
        with pytest.raises(hoad.GuardError):
            made.evaluate(0.5)


def test_guards_on_inner_numbers_alone_are_forgotten() -> None:
    def f(x: Any) -> Any:
        for _ in range(50):
            hoad.grad(lambda y: y * y if y > 1 else y)(2.0)
        return x * x if x > 1 else x

    program = hoad.record(f, 2.0)
    assert len(program[0].guards) == 1
    assert program.evaluate(3.0) == 9.0


# ---- rules that branch ----------------------------------------------------------------------------------------------


@hoad.primitive
def bent(x: float) -> float:
    return x * x if x > 0 else x


@hoad.defvjp(bent, per_call=True)
def _bent(g: Any, p: Any, x: Any) -> Any:
    return (2.0 * x * g if x > 0 else g,)


def test_guards_of_rules() -> None:
    """A rule that branches guards the sweep it served, not the primal."""
    program = hoad.record(lambda x: bent(x) * x, 3.0)
    first = hoad.gradient(program)
    second = hoad.gradient(first)
    assert program.evaluate(-2.0) == 4.0
    assert (first.evaluate(2.0), second.evaluate(2.0)) == (12.0, 12.0)
    for made in (first, second, first.copy(), hoad.gradient(program, seed=2.0), pickle.loads(pickle.dumps(second))):
        with pytest.raises(hoad.GuardError):
            made.evaluate(-2.0)
    assert second[:1].evaluate(-2.0) == 4.0
    assert [hoad.derivative(bent, n)(2.0) for n in range(4)] == [4.0, 4.0, 2.0, 0.0]
    assert [hoad.derivative(bent, n)(-2.0) for n in range(3)] == [-2.0, 1.0, 0.0]
