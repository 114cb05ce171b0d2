"""Spans of a loop behind one node: their reverse sweep follows a binomial schedule."""

from __future__ import annotations

import contextlib
import contextvars
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hoad._core.graph.primitive import rules_epoch
from hoad._core.graph.tape import AbstractValue, Graph, intern_aval
from hoad._core.record.recording import Recording, differentiating
from hoad._core.trace.coerce import holds_traced, new_input
from hoad._core.trace.context import RUNNING, set_in_context
from hoad._core.trace.traced import node_of
from hoad._program.callee import Callee, Strong, called
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad._program.trace import telling_of_objects
from hoad._transform.adjoint import adjoint_of, strong_results
from hoad._transform.checkpoint_schedule import checkpoint_schedule, split
from hoad._transform.composite import Apart, Path, adjoint_along, derived_avals, program_of
from hoad._transform.programs import recorded
from hoad.errors import HoadError, ShapeError, TracedValueError


@dataclass(eq=False)
class Steps:
    """A step function on flat values, and what it is called with."""

    step: Callable[..., tuple[Any, ...]]  # (k, *state, *args) -> state
    state: tuple[AbstractValue, ...]
    args: tuple[AbstractValue, ...]
    is_new: bool = True  # whether the loop is being recorded, and not run again
    begun: list[Program] = field(default_factory=list)  # that of the first step that was taken
    known_strong: dict[Any, Strong] = field(default_factory=dict)  # of derivatives of so many steps

    def advanced(self, k: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """State and arguments after step k, as plain values.

        Where the loop is recorded, the step is called on traced values that end with it: one that it leaves elsewhere
        than in its result would be a constant of the function around the loop, but is refused there.
        """
        if self.is_new:
            try:
                return (*self._state_apart(k, values), *values[len(self.state) :])
            except TracedValueError:
                self._refuse_others(k, self.step(k, *values))
                raise
        state = self.step(k, *values)
        self._refuse_others(k, state)
        self.check(k, tuple(intern_aval(np.asarray(x).dtype, np.shape(x)) for x in state))
        return (*state, *values[len(self.state) :])

    def _state_apart(self, k: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The state after step k, by a recording of its own; that of the first step taken is kept."""
        if not self.begun:
            program, _, state = self.recorded(k, values)
            self.begun.append(program)
            return state
        context = contextvars.copy_context()
        context.run(set_in_context, RUNNING, None)
        avals, state = context.run(self._called_on_traced, k, values)
        self.check(k, avals)
        return state

    def _called_on_traced(self, k: int, values: tuple[Any, ...]) -> tuple[tuple[AbstractValue, ...], tuple[Any, ...]]:
        with differentiating(apart=True) as d:
            with telling_of_objects:
                found = self.step(k, *[d.input(x) for x in values])
            operands = [d.operand(x) for x in found]
            del found
            return tuple(map(d.aval, operands)), tuple(map(d.value, operands))

    @staticmethod
    def _refuse_others(k: int, state: tuple[Any, ...]) -> None:
        """Raise where a step that was called on plain values gives traced ones."""
        if holds_traced(list(state)):
            raise TracedValueError(
                f"step {k} of a checkpointed loop uses a traced value that is not among its arguments. It is called "
                "again in the reverse sweep, so pass the value as a further argument: checkpointed_loop(step, steps, "
                "state, value)."
            )

    def check(self, k: int, found: tuple[AbstractValue, ...]) -> None:
        """Raise unless a step gives a state like the one before."""
        if found != self.state:
            raise ShapeError(
                f"step {k} of a checkpointed loop made {_names(found)} of a state of {_names(self.state)}. The state "
                "has the same number of parts, shapes and dtypes all along: make it so before the loop."
            )

    def first(self, k: int) -> Program | None:
        """The program of the first step that was taken.

        In a rule, none has been taken yet: step k is then recorded without values, if it branches on none.
        """
        if not self.begun:
            with contextlib.suppress(TracedValueError):
                apart = contextvars.copy_context()
                self.begun.append(apart.run(recorded, lambda *x: self.step(k, *x), [*self.state, *self.args]))
        return self.begun[0] if self.begun else None

    def recorded(self, k: int, values: tuple[Any, ...]) -> tuple[Program, list[Any], tuple[Any, ...]]:
        """The program of step k, the arrays that it captured, and the state that it gave."""
        context = contextvars.copy_context()
        context.run(set_in_context, RUNNING, None)  # no part of a recording that runs
        apart = context.run(Apart, lambda *x: self.step(k, *x), values, Recording.operand)
        program = program_of(apart.segment)
        self.check(k, program.output_types)
        return program, apart.constants, tuple(apart.values)


def _names(avals: tuple[AbstractValue, ...]) -> str:
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
        self._strong = path[-1][1] if path else ()  # what is known of its seeds
        self.input_types, self.output_types, self._linear = derived_avals(
            (*loop.state, *loop.args), loop.state, 0, path
        )

    @property
    def _is_odd(self) -> bool:
        return False  # nothing is known of its steps before they are called

    def _derived(self, linear: bool) -> Span:
        return Span(self._loop, self._low, self._high, self._slots, (*self._path, (linear, ())))

    def _with_strong(self, strong: Strong) -> Span:
        return Span(self._loop, self._low, self._high, self._slots, (*self._path[:-1], (self._path[-1][0], strong)))

    def _strong_seeds(self) -> Strong:
        return self._strong or super()._strong_seeds()

    def _strong_results(self) -> Strong:
        """As if all of its steps were like the first one taken: others are not known before they are called."""
        if self._strong and all(self._strong):
            return (True,) * len(self.output_types)
        first = self._loop.first(self._low)
        if first is None:
            return super()._strong_results()
        known, key = self._loop.known_strong, (self._high - self._low, self._path, rules_epoch())
        if key not in known:
            known[key] = strong_results(adjoint_along(self._path, self._alike(first)))
        return known[key]

    def _alike(self, first: Program) -> Program:
        """A program with the strong zeros of steps like the first: where one has none, so have several."""
        steps, paths = self._high - self._low, [self._path[: k + 1] for k in range(len(self._path))]
        if steps == 1 or not any(any(strong_results(adjoint_along(path, first))) for path in paths):
            return first
        return self._two_spans(self._low + steps // 2, self._slots - 1)

    def _run(self, values: tuple[Any, ...]) -> Sequence[Any]:
        if not self._path:
            return self._state(values)
        return self._adjoint(values) if len(self._path) == 1 else self._higher(values)

    def _state(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        for k in range(self._low, self._high):
            values = self._loop.advanced(k, values)
        return values[: len(self.output_types)]

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
            middle = self._low + split(self._high - self._low, max(self._slots, 2))
            program = self._two_spans(middle, self._slots - 1)
        return adjoint_along(self._path, program)._run((*constants, *values))

    def _two_spans(self, middle: int, slots_behind: int) -> Program:
        """The program of this span as two of them, the second with fewer slots where the first keeps a state."""
        graph = Graph(False)
        inputs = [new_input(graph, aval) for aval in (*self._loop.state, *self._loop.args)]
        args = inputs[len(self._loop.state) :]
        between = called(Span(self._loop, self._low, middle, max(self._slots, 2)), tuple(inputs))
        state = called(Span(self._loop, middle, self._high, max(slots_behind, 1)), (*between, *args))
        outputs = [node_of(x) for x in state]
        window = (0, outputs[-1] + 1, 0, 0)
        return Program([Tape(graph, window, [node_of(x) for x in inputs], outputs, "primal", len(outputs) == 1)])

    def __reduce__(self) -> Any:
        raise pickle.PicklingError(
            "a program with a checkpointed_loop cannot be pickled: its steps are a Python function that runs in this "
            "process. Use hoad.fori_loop or hoad.scan, whose body is recorded and travels; or send the function that "
            "was recorded, and record it there."
        )

    def __repr__(self) -> str:
        return f"<{'adjoint of ' * len(self._path)}steps {self._low} to {self._high}>"


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
