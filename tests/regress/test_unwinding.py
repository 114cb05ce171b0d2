"""What is left after a failure, an interruption, or a derivative taken where one least expects it."""

from __future__ import annotations

import contextvars
import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from policy.memory import LEAST_OBJECTS, growth, objects_held

import hoad
from hoad._core.record.recording import differentiating

X = np.array([0.3, 0.7, 1.1])


# ---- failures in sweeps ---------------------------------------------------------------------------------------------


class Planned(BaseException):
    """No Exception, as KeyboardInterrupt is none."""


class Trap:
    """A primitive x², one of whose parts raises while `armed`."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error
        self.armed = ""
        self.square = hoad.primitive(self.compute)
        hoad.defvjp(self.square, self.rule)

    def spring(self, place: str) -> None:
        if self.armed == place:
            raise self.error

    def compute(self, x: Any) -> Any:
        self.spring("implementation")
        return x * x

    def rule(self, g: Any, p: Any, x: Any) -> Any:
        y = 2.0 * x
        self.spring("rule")
        return (y * g,)


def asked(trap: Trap, program: hoad.Program) -> dict[str, Callable[[], Any]]:
    f = lambda x: trap.square(x) * x  # noqa: E731
    return {
        "grad": lambda: hoad.grad(f)(2.0),
        "jvp": lambda: hoad.jvp(f, (2.0,), (1.0,))[1],
        "nested": lambda: hoad.grad(lambda x: hoad.grad(lambda y: f(y) * x)(2.0))(1.0),
        "linearize": lambda: hoad.linearize(f, 2.0)[1](1.0),
        "gradient": lambda: hoad.gradient(program).evaluate(2.0),
        "gradient, unsimplified": lambda: hoad.gradient(program, simplify=False).evaluate(2.0),
        "call": lambda: hoad.grad(program)(2.0),
    }


@pytest.mark.parametrize("error", [Planned, KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("place", ["implementation", "rule"])
def test_an_interruption_leaves_the_next_derivative_right(error: type[BaseException], place: str) -> None:
    trap = Trap(error)
    program = hoad.record(lambda x: trap.square(x) * x, 1.0)
    shown = str(program)
    for _ in range(2):
        trap.armed = place
        for ask in asked(trap, program).values():
            with pytest.raises((error, hoad.RuleError)):
                ask()
    trap.armed = ""
    for name, ask in asked(trap, program).items():
        assert ask() == 12.0, name
    assert str(program) == shown


def test_an_interruption_inside_an_outer_derivative() -> None:
    trap = Trap(KeyboardInterrupt)

    def f(x: Any) -> Any:
        y = x * x
        for k in range(10):
            trap.armed = ("implementation", "")[k % 2]
            try:
                y = y + hoad.grad(lambda z: trap.square(z) * y)(x) / (2.0 * x * y) - 1.0
            except KeyboardInterrupt:
                y = y * 1.0
        return y * x

    assert hoad.grad(f)(2.0) == pytest.approx(12.0, rel=1e-13)
    trap.armed = ""
    assert hoad.hessian(f)(2.0) == pytest.approx(12.0, rel=1e-13)


# ---- failures of gradient(), and what tapes tell afterwards ---------------------------------------------------------


@hoad.primitive
def slope(x: Any) -> Any:
    """It has no rule, so whatever uses it has one derivative less."""
    return 2.0 * x


@hoad.primitive(vjp=lambda g, p, x: (g * slope(x),))
def once(x: Any) -> Any:
    return x * x


def rows(tape: hoad.Tape) -> list[Any]:
    return [(n.operation, n.operands, n.swept, n.adjoint_of, n.part, n.result) for n in tape]


@pytest.mark.parametrize("simplify", [True, False])
@pytest.mark.parametrize("failing", [True, False])
def test_notes_after_a_gradient_that_failed(simplify: bool, failing: bool) -> None:
    """A failed sweep takes its nodes and its notes with it, so that later tapes are numbered and noted as ever."""
    f = lambda x: once(np.sin(x)) * x  # noqa: E731
    wanted = hoad.gradient(hoad.record(f, 2.0), simplify=simplify)
    program = hoad.record(f, 2.0)
    first = hoad.gradient(program, simplify=simplify)
    for _ in range(3):
        with pytest.raises(hoad.NoRuleError, match="slope"):
            hoad.gradient(first, simplify=failing)
        with pytest.raises(hoad.ShapeError, match="seed"):
            hoad.gradient(first, seed=X, simplify=failing)
    again = hoad.gradient(program, simplify=simplify)
    for made in (first, again):
        assert rows(made[1]) == rows(wanted[1])
        assert str(made) == str(wanted)
        assert made.evaluate(3.0) == wanted.evaluate(3.0)


# ---- generators, finalizers, collections ----------------------------------------------------------------------------


def powers(x: Any) -> Iterator[Any]:
    y = x
    while True:
        yield y
        y = y * x


def test_a_generator_never_carries_values_from_one_derivative_to_another() -> None:
    kept: list[Iterator[Any]] = []

    def f(x: Any) -> Any:
        kept.append(powers(x))
        return next(kept[-1]) * next(kept[-1])

    assert hoad.grad(f)(2.0) == 12.0
    with pytest.raises(hoad.TracedValueError, match="had returned"):
        next(kept[0])
    hoad.grad(f)(2.0)
    with pytest.raises(hoad.TracedValueError):
        hoad.grad(lambda x: x * next(kept[1]))(2.0)
    assert hoad.grad(f)(3.0) == 27.0


def test_derivatives_that_a_generator_takes_by_turns() -> None:
    def slopes(x: Any) -> Iterator[Any]:
        yield hoad.grad(lambda y: y * y * x)(x)
        yield hoad.grad(lambda y: y * y * x)(2.0 * x)

    def f(x: Any) -> Any:
        turns = slopes(x)
        first = next(turns)
        between = hoad.grad(lambda z: z * first)(x)
        return first + between + next(turns)  # 8x²

    assert hoad.grad(f)(3.0) == 48.0 and hoad.hessian(f)(3.0) == 16.0


def test_derivatives_in_finalizers_and_collections() -> None:
    """The collector may run anywhere, and with it code that takes a derivative of its own."""
    found: list[float] = []

    class Final:
        def __del__(self) -> None:
            found.append(hoad.grad(lambda z: z * hoad.grad(np.square)(z))(1.0))

    def f(x: Any) -> Any:
        y = x
        for _ in range(30):
            cycle: list[Any] = [y, Final()]
            cycle.append(cycle)
            y = y * x / x + hoad.grad(lambda z: z * y)(x) * 0.0
        return y * x

    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        assert hoad.grad(f)(2.0) == 4.0 and hoad.derivative(f, 2)(2.0) == pytest.approx(2.0, rel=1e-12)
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert found == [4.0] * 60


@pytest.mark.parametrize("threshold", range(1, 16))
def test_a_collection_within_a_change_of_the_context(threshold: int) -> None:
    """Where a collection runs within the change, as it can before Python 3.12, the context loses variables."""
    other = contextvars.ContextVar("other", default=0)

    class Final:
        def __del__(self) -> None:
            with differentiating(), differentiating():
                pass

    def changes() -> None:
        other.set(1)
        for _ in range(500):
            cycle: list[Any] = [Final()]
            cycle.append(cycle)
            del cycle
            with differentiating():
                pass
            held = contextvars.copy_context()
            assert len(held) == len(list(held)) and other.get() == 1

    before = gc.get_threshold()
    gc.set_threshold(threshold)
    try:
        contextvars.copy_context().run(changes)
    finally:
        gc.set_threshold(*before)


# ---- threads --------------------------------------------------------------------------------------------------------

ELSEWHERE: dict[str, Callable[[Any], Any]] = {
    "branch": lambda y: bool(y > 1),
    "captured by grad": lambda y: hoad.grad(lambda z: z * y)(1.0),
    "argument of grad": lambda y: hoad.grad(lambda z: z * z)(y),
    "captured by record": lambda y: hoad.record(lambda z: z * y, 1.0),
    "call of a program": lambda y: hoad.record(np.sin, 1.0)(y),
    "direction": lambda y: hoad.jvp(np.sin, (1.0,), (y,)),
    "linear map": lambda y: hoad.linearize(np.sin, 1.0)[1](y),
    "stop_gradient": hoad.stop_gradient,
    "stack": lambda y: np.stack([y, y]),
    "object array": lambda y: np.array([y, y]) * 2.0,
    "primitive": lambda y: once(y),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_no_way_for_a_traced_value_through_another_thread(name: str) -> None:
    raised: list[BaseException] = []

    def f(x: Any) -> Any:
        y = x * x

        def work() -> None:
            try:
                ELSEWHERE[name](y)
            except hoad.TracedValueError as error:
                raised.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return y

    assert hoad.grad(f)(3.0) == 6.0
    assert len(raised) == 1


# ---- memory ---------------------------------------------------------------------------------------------------------


@pytest.mark.frees
def test_programs_free_what_they_captured() -> None:
    captured = np.arange(3.0)
    reference = weakref.ref(captured)
    program = hoad.record(lambda x, c=captured: np.sum(np.tanh(c * x)), X)
    first = hoad.gradient(program)
    made = [first, hoad.gradient(program, simplify=False), hoad.record(lambda x, p=first: p(x), X)]
    with pytest.raises(hoad.ShapeError):
        hoad.gradient(first)
    shown = [str(p) for p in made]
    del captured, program, first, made
    gc.collect()
    assert reference() is None and all(shown)


def refused(error: type[Exception], call: Callable[..., Any], *args: Any) -> None:
    with pytest.raises(error):
        call(*args)


ASKED: dict[str, Callable[[hoad.Program], Any]] = {
    "gradient": lambda p: hoad.gradient(p).evaluate(2.0),
    "unsimplified gradient": lambda p: hoad.gradient(p, simplify=False).evaluate(2.0),
    "second gradient": lambda p: hoad.gradient(hoad.gradient(p), seed="symbolic").evaluate(2.0, 1.0),
    "failing gradient": lambda p: refused(hoad.ShapeError, hoad.gradient, p, X),
    "table": lambda p: str(hoad.gradient(p)),
    "call": lambda p: hoad.grad(lambda x: p(x) * x)(2.0),
    "call of a copy": lambda p: hoad.grad(p.copy())(2.0),
    "guard that fails": lambda p: refused(hoad.GuardError, p.evaluate, -1.0),
    "generator": lambda p: hoad.grad(lambda x: next(powers(x)) * next(powers(x)))(2.0),
}


@pytest.mark.parametrize("name", ASKED)
def test_nothing_grows(name: str) -> None:
    """Objects of Python's, after many rounds of what makes and drops tapes."""
    program = hoad.record(lambda x: np.sin(x) * x if x > 0 else x, 1.0)
    found = growth(lambda: ASKED[name](program), 100, objects_held, LEAST_OBJECTS)
    assert found < LEAST_OBJECTS


def test_long_lists_of_tapes_end_without_recursion() -> None:
    program = hoad.record(lambda x: 2.0 * x, 1.0)
    for _ in range(2_000):
        program = hoad.gradient(program)
    assert program.evaluate(1.0) == 0.0 and program[:2].evaluate(1.0) == 2.0
    assert len(program[:3].copy()) == 3
    del program
    gc.collect()
    assert hoad.grad(np.sin)(0.0) == 1.0


def test_calls_too_deep_for_the_stack() -> None:
    """Programs that call programs are evaluated by Python's own calls; beyond its limit it says so, and recovers."""
    tower = [hoad.record(lambda x: x * 1.0, 1.0)]

    def build() -> None:
        for _ in range(10 * sys.getrecursionlimit()):
            tower.append(hoad.record(lambda x, inner=tower[-1]: inner(x) + 1.0, 1.0))

    with pytest.raises(RecursionError):
        build()
    assert len(tower) > 20
    assert hoad.grad(np.sin)(0.0) == 1.0
    assert tower[-1].evaluate(1.0) == len(tower)
