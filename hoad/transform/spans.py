"""Spans of a loop behind one node: their reverse sweep follows a binomial schedule."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hoad._core.operands import holds_traced, new_input
from hoad._core.primitive import rules_epoch
from hoad._core.recording import RUNNING, Recording
from hoad._core.tape import Aval, Graph, intern_aval
from hoad._core.traced import node_of
from hoad.errors import HoadError, ShapeError, TracedValueError
from hoad.program import Callee, Program, Tape, called
from hoad.schedule import checkpoint_schedule, split
from hoad.transform.adjoint import adjoint_of, strong_results
from hoad.transform.composite import Apart, Path, derived_avals, program_of


@dataclass(frozen=True)
class Steps:
    """A step function on flat values, and what it is called with."""

    step: Callable[..., tuple[Any, ...]]  # (k, *state, *args) -> state
    state: tuple[Aval, ...]
    args: tuple[Aval, ...]
    begun: list[Program] = field(default_factory=list)  # that of the first step that was taken
    known_strong: dict[Any, tuple[bool, ...]] = field(default_factory=dict)  # of derivatives of it

    def advanced(self, k: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """State and arguments after step k, as plain values. The first one taken is recorded, where it can be."""
        if not self.begun:
            with contextlib.suppress(TracedValueError):  # which the step as it is, or the reverse sweep, explains
                program, _, state = self.recorded(k, values)
                self.begun.append(program)
                return (*state, *values[len(self.state) :])
        state = self.step(k, *values)
        if holds_traced(list(state)):
            raise TracedValueError(
                f"step {k} of a checkpointed loop uses a traced value that is not among its arguments. It is called "
                "again in the reverse sweep, so pass the value as a further argument: checkpointed_loop(step, steps, "
                "state, value)."
            )
        self.check(k, tuple(intern_aval(np.asarray(x).dtype, np.shape(x)) for x in state))
        return (*state, *values[len(self.state) :])

    def check(self, k: int, found: tuple[Aval, ...]) -> None:
        """Raise unless a step gives a state like the one before."""
        if found != self.state:
            raise ShapeError(
                f"step {k} of a checkpointed loop made {_names(found)} of a state of {_names(self.state)}. The state "
                "has the same number of parts, shapes and dtypes all along: make it so before the loop."
            )

    def strong_results(self, path: Path) -> tuple[bool, ...]:
        """Which results of a derivative of the first step have zeros that stand for no dependence; () if not known."""
        key = path, rules_epoch()
        if self.begun and key not in self.known_strong:
            self.known_strong[key] = strong_results(_along(path, self.begun[0]))
        return self.known_strong.get(key, ())

    def recorded(self, k: int, values: tuple[Any, ...]) -> tuple[Program, list[Any], tuple[Any, ...]]:
        """The program of step k, the arrays that it captured, and the state that it gave."""
        context = contextvars.copy_context()
        context.run(RUNNING.set, None)  # no part of a recording that runs
        apart = context.run(Apart, lambda *x: self.step(k, *x), values, Recording.operand)
        program = program_of(apart.segment)
        self.check(k, program.results)
        return program, apart.constants, tuple(apart.values)


def _names(avals: tuple[Aval, ...]) -> str:
    return ", ".join(f"{aval.dtype} of shape {aval.shape}" for aval in avals) or "nothing"


class Span(Callee):
    """The steps from `low` up to `high` of a loop, behind a `call` node; or a derivative of them.

    The first adjoint follows a schedule. Higher ones are those of two spans, one behind the other, and so on: the
    state between them is computed, and dropped, whenever one of them is evaluated.
    """

    _described = "the adjoint of a loop"

    def __init__(self, loop: Steps, low: int, high: int, slots: int, path: Path = ()) -> None:
        self._loop = loop
        self._low, self._high, self._slots = low, high, slots
        self._path = path
        self._strong = path[-1][1] if path else ()  # which seeds have zeros that stand for no dependence
        self.inputs, self.results, self._linear = derived_avals((*loop.state, *loop.args), loop.state, 0, path)

    @property
    def _is_odd(self) -> bool:
        return False  # nothing is known of its steps before they are called

    def _derived(self, linear: bool) -> Span:
        return Span(self._loop, self._low, self._high, self._slots, (*self._path, (linear, ())))

    def _with_strong(self, strong: tuple[bool, ...]) -> Span:
        return Span(self._loop, self._low, self._high, self._slots, (*self._path[:-1], (self._path[-1][0], strong)))

    def _strong_results(self) -> tuple[bool, ...]:
        """As of its first step: others are not known before they are called."""
        if self._strong and all(self._strong):
            return (True,) * len(self.results)
        return self._loop.strong_results(self._path) or super()._strong_results()

    def _run(self, values: tuple[Any, ...]) -> Sequence[Any]:
        if not self._path:
            return self._state(values)
        return self._adjoint(values) if len(self._path) == 1 else self._higher(values)

    def _state(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        for k in range(self._low, self._high):
            values = self._loop.advanced(k, values)
        return values[: len(self.results)]

    def _adjoint(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The adjoints of state and arguments, by the actions of a schedule."""
        loop, count = self._loop, len(self._loop.state)
        primal = count + len(loop.args)
        now, g = values[:primal], values[primal:]
        of_args = [np.zeros(aval.shape, aval.dtype)[()] for aval in loop.args if aval.inexact]
        strong = self._strong
        kept: dict[int, tuple[Any, ...]] = {}
        after: tuple[Any, ...] | None = None
        for action in checkpoint_schedule(self._high - self._low, self._slots):
            k = self._low + action.step
            if action.kind == "store":
                kept[action.slot or 0] = now
            elif action.kind == "restore":
                now = kept[action.slot or 0]
            elif action.kind == "advance":
                for j in range(k, self._low + action.end):
                    now = loop.advanced(j, now)
            else:
                program, constants, state = loop.recorded(k, now)
                _check_same(k, state, after)
                after = now[:count]
                adjoint = adjoint_of(program, False, True, strong)
                strong = strong_results(adjoint)[:count]
                found = adjoint._run((*constants, *now, *g))
                g = tuple(found[:count])
                of_args = [a + b for a, b in zip(of_args, found[count:], strict=True)]
        return (*g, *of_args)

    def _higher(self, values: tuple[Any, ...]) -> Sequence[Any]:
        primal = values[: len(self._loop.state) + len(self._loop.args)]
        constants: list[Any] = []
        if self._high - self._low == 1:
            program, constants, _ = self._loop.recorded(self._low, primal)
        else:
            program = self._two_spans()
        return _along(self._path, program)._run((*constants, *values))

    def _two_spans(self) -> Program:
        """The program of this span as two of them."""
        graph = Graph(False)
        inputs = [new_input(graph, aval) for aval in (*self._loop.state, *self._loop.args)]
        args = inputs[len(self._loop.state) :]
        slots = max(self._slots, 2)
        middle = self._low + split(self._high - self._low, slots)
        between = called(Span(self._loop, self._low, middle, slots), tuple(inputs))
        state = called(Span(self._loop, middle, self._high, slots - 1), (*between, *args))
        outputs = [node_of(x) for x in state]
        window = (0, outputs[-1] + 1, 0, 0)
        return Program([Tape(graph, window, [node_of(x) for x in inputs], outputs, "primal", len(outputs) == 1)])

    def __repr__(self) -> str:
        return f"<{'adjoint of ' * len(self._path)}steps {self._low} to {self._high}>"


def _along(path: Path, program: Program) -> Program:
    """The adjoint of the adjoint ... of a program."""
    for k, (linear, strong) in enumerate(path):
        program = adjoint_of(program, linear, k == 0, strong)
    return program


def _check_same(k: int, state: tuple[Any, ...], after: tuple[Any, ...] | None) -> None:
    """Raise where a step gives another state when it is called again."""
    if after is not None and not all(_is_close(a, b) for a, b in zip(state, after, strict=True)):
        raise HoadError(
            f"step {k} of a checkpointed loop gave another state when it was called again in the reverse sweep. A step "
            "may depend on nothing but its arguments: no random numbers, counters or variables that change."
        )


def _is_close(a: Any, b: Any) -> bool:
    """Whether two states differ by rounding alone: NumPy advanced one, and the operations of hoad the other."""
    if not np.issubdtype(np.asarray(b).dtype, np.inexact):
        return bool(np.array_equal(a, b))
    finite = np.abs(b)[np.isfinite(b)]
    tolerance = float(np.sqrt(np.finfo(np.asarray(b).dtype).eps))
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance * np.max(finite, initial=0.0), equal_nan=True))


__all__ = ["Span", "Steps"]
