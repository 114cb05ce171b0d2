"""A function recorded apart: a program behind one node, with the values it had."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.calls import record_known
from hoad._core.operands import holds_traced
from hoad._core.primitive import Primitive
from hoad._core.recording import Recording, differentiating
from hoad._core.segment import Segment
from hoad._core.tape import Aval
from hoad._core.traced import is_traced
from hoad.program import Program, Tape
from hoad.transform.adjoint import adjoint_of, pull_back


class Apart:
    """What a function recorded when it was called apart from what runs around it.

    Attributes
    ----------
    segment : Segment
        What it recorded, cut out of the running graph.
    operands : list of int
        Of the arguments that became inputs.
    values : list
        Of the results, as they were; None in a rule, where nothing has a value.
    shape : Any
        What the function returned, with `Result` in place of every result.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        chosen: Sequence[int] = (),
        results: Callable[[Recording, Any], bool] | None = None,
    ) -> None:
        is_result = _is_new if results is None else results
        with differentiating() as d:
            given = list(args)
            self.operands = [d.operand(args[k]) for k in chosen]
            for k in chosen:
                given[k] = d.input(args[k])
            returned = f(*given, **kwargs)
            found: list[int] = []

            def kept(leaf: Any) -> Any:
                if not is_result(d, leaf):
                    return leaf
                found.append(d.operand(leaf))
                return Result(len(found) - 1)

            self.shape = mapped(kept, returned)
            del given, returned
            self.segment = d.cut(found)
            self.values = [d.value(k) for k in found]
        self.graph = d.graph

    def record(self, primitive: Primitive, callee: Any, operands: list[int]) -> Any:
        """One node for all of it; what the function returned, made of the results of the node."""
        results = record_known(self.graph, primitive, (callee,), operands, self.values)
        return mapped(lambda leaf: results[leaf.number] if isinstance(leaf, Result) else leaf, self.shape)


class Result:
    """The place of a result in what a function returned."""

    def __init__(self, number: int) -> None:
        self.number = number


def _is_new(d: Recording, leaf: Any) -> bool:
    """Whether something that was returned is a value that the function computed, traced."""
    if isinstance(leaf, np.ndarray) and leaf.dtype == object:
        return holds_traced(leaf)
    return is_traced(leaf) and d.operand(leaf) >= d.start


def mapped(function: Callable[[Any], Any], x: Any) -> Any:
    """`x` with `function` of every item in place of it, through tuples, lists and dictionaries."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*[mapped(function, item) for item in x])
    if isinstance(x, (tuple, list)):
        return type(x)([mapped(function, item) for item in x])
    if isinstance(x, dict):
        return {key: mapped(function, item) for key, item in x.items()}
    return function(x)


class Known:
    """The programs that a function was recorded as, as long as something refers to them: equal ones are one.

    One of them at a time keeps what was derived from it.
    """

    def __init__(self) -> None:
        self._programs: weakref.WeakValueDictionary[Any, Program] = weakref.WeakValueDictionary()
        self._latest: weakref.ref[Program] | None = None

    def program(self, segment: Segment) -> Program:
        """The program of what was recorded."""
        content = segment.content()
        program = self._programs.get(content)
        if program is None:
            single = len(segment.outputs) == 1
            program = Program([Tape(segment.graph, segment.window, segment.inputs, segment.outputs, "primal", single)])
            program._fixed = len(segment.constants)
            self._programs[content] = program
        return program

    def use(self, program: Program) -> None:
        """Let the program used before forget what was derived from it."""
        latest = None if self._latest is None else self._latest()
        if latest is not None and latest is not program:
            latest._forget()
        self._latest = weakref.ref(program)


class Stretch:
    """A program behind a `call` node, or a derivative of one, which is made whenever it is evaluated."""

    def __init__(self, program: Program, known: Known, path: tuple[bool, ...] = ()) -> None:
        self._program = program
        self._known = known
        self._path = path
        self._fixed = program._fixed
        self._linear = program._linear
        self.inputs: tuple[Aval, ...] = program.inputs
        self.results: tuple[Aval, ...] = program.results
        for linear in path:
            seeds = tuple(aval for aval in self.results if aval.inexact)
            first = len(self.inputs) - self._linear
            self.results = self.inputs[first:] if linear else self.inputs[self._fixed : first]
            self.inputs = (self.inputs[:first] if linear else self.inputs) + seeds
            self._linear = len(seeds)

    def _derived(self, linear: bool) -> Stretch:
        return Stretch(self._program, self._known, (*self._path, linear))

    _pull_back = pull_back

    def evaluate(self, *values: Any) -> Any:
        """The outputs, replayed."""
        program = self._program
        self._known.use(program)
        for linear in self._path:
            program = adjoint_of(program, linear, apart=program is self._program)
        return program.evaluate(*values)


__all__ = ["Apart", "Known", "Result", "Stretch", "mapped"]
