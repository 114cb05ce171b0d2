"""The Taylor integrator: each step is a power series, found to any order from the equation itself.

Steps are chosen on plain numbers, in a compiled loop. Where traced values come in, the steps as they were taken are one
loop on the tape, whose body is the series of the solution, an operation with an adjoint of its own: so derivatives of
any order are those of the truncated series, exact to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.recording import guard_rows, inline
from hoad._core.series import NotClosedError, Series
from hoad._core.steps import DONE, NOT_FINITE, TOO_MANY, TOO_SHORT, Stepper
from hoad._core.tape import intern_aval
from hoad._core.traced import is_traced, plain_value
from hoad.arguments import check_function, packed
from hoad.containers import Structure, flatten
from hoad.drivers.higher import stop_gradient
from hoad.drivers.loops import scan
from hoad.errors import ArgumentError, DTypeError, GuardError, NoRuleError, ShapeError
from hoad.ode.events import Crossing, Watch
from hoad.program import Program, Tape, called
from hoad.transform.composite import captured_program
from hoad.transform.loops import recorded
from hoad.transform.recurrence import Recurrence, natural
from hoad.transform.series import Arithmetic

EPSILON = float(np.finfo(float).eps)
MOST_NUMBERS = 256  # beyond, an array of unknowns is not taken apart
SERVED = 1e3  # times that a recorded step's error may grow before it serves no more


# ---- the equation ---------------------------------------------------------------------------------------------------


class System:
    """``y' = rhs(t, y, *args)`` for a container y, recorded once."""

    def __init__(self, rhs: Callable[..., Any], y0: Any, t: float, args: tuple[Any, ...], name: str) -> None:
        self.rhs, self.args, self.name = rhs, args, name
        leaves, self.structure = flatten(y0)
        self.y = [_double(x, name) for x in map(packed, leaves)]
        self.shapes = [np.shape(x) for x in self.y]
        self.sizes = [math.prod(shape) for shape in self.shapes]
        self.program, self.held = self.recorded(rhs, t, self._slopes)

    def recorded(
        self, f: Callable[..., Any], t: float, outputs: Callable[[Any], list[Any]]
    ) -> tuple[Program, list[Any]]:
        """The program of f from (*y, t), and the traced values that are its further inputs."""

        def of_leaves(*values: Any) -> list[Any]:
            return outputs(f(values[-1], self.structure.unflatten(values[:-1]), *self.args))

        return captured_program(of_leaves, [*[plain_value(x) for x in self.y], t])

    def _slopes(self, returned: Any) -> list[Any]:
        if isinstance(returned, (list, tuple)) and len(self.shapes) == 1 and self.structure == flatten(0.0)[1]:
            returned = np.array(returned) if all(not np.ndim(x) for x in returned) else np.stack(returned)
        leaves, found = flatten(returned)
        leaves = [_double(packed(x), self.name) for x in leaves]
        if found != self.structure or [np.shape(x) for x in leaves] != self.shapes:
            raise ShapeError(
                f"{self.name} needs rhs(t, y) like y, which is {repr(self.structure)[10:-1]} with shapes "
                f"{self.shapes}, but it is {repr(found)[10:-1]} with shapes {[np.shape(x) for x in leaves]}."
            )
        return leaves

    @property
    def is_traced(self) -> bool:
        """Whether a solution hangs on traced values."""
        return any(map(is_traced, [*self.y, *self.held]))

    def along(self, order: int, lanes: int | None = None) -> Recurrence:
        """The series of the solution, by (t, *held, *y)."""
        tape, n = self.program._last, len(self.y)
        inputs = [*tape._inputs[n:], *tape._inputs[:n]]
        window = (tape._start, tape._end, tape._first_guard, tape._guards)
        program = Program([Tape(tape._graph, window, inputs, list(tape._outputs), "primal", False)])
        given = (2, *[1] * len(self.held))
        have_lanes = (lanes is not None, *[False] * len(self.held))
        return Recurrence(program, n, given, natural(order), lanes, have_lanes)

    # ---- plain numbers

    def stepper(self, t: float, end: float, tol: float, atol: float, order: int, longest: float) -> Stepper:
        """What takes steps from here."""
        held = [plain_value(x) for x in self.held]
        flat = [np.ravel(plain_value(x)) for x in self.y]
        series, sizes = self._series(order, held)
        if len(sizes) > len(flat):
            flat, held = list(np.concatenate(flat)), []
        factor = math.exp(-0.7 / (order - 1)) * min(math.exp(-2.0), tol ** (1.0 / (order - 1)))
        shortest = EPSILON * max(abs(t), abs(end), abs(end - t))
        return Stepper(series, sizes, flat, t, held, factor, atol / tol, tol, shortest, longest)

    def _series(self, order: int, held: list[Any]) -> tuple[Series, list[int]]:
        """The arithmetic of the slopes, by numbers where only items are taken of arrays; the sizes of y in it."""
        size = sum(self.sizes)
        if size <= MOST_NUMBERS and any(self.shapes):
            series = self._arithmetic(self._of_numbers(held), size, order)
            if series.is_narrow:
                return series, [1] * size
        return self._arithmetic(self.program, len(self.y), order), self.sizes

    def _arithmetic(self, program: Program, n: int, order: int) -> Series:
        last = program._last
        outputs, n_guards = list(last._outputs), last._guards
        guards = [(node, was) for node, was, _ in guard_rows(self.program._last._graph)[: self.program._last._guards]]
        if program is not self.program:
            guards = [(node, was) for node, (_, was) in zip(outputs[n:], guards, strict=True)]
        del n_guards
        given = [*[order] * n, 2, *[1] * (len(last._inputs) - n - 1)]
        try:
            return Arithmetic(last._graph, program._input_nodes(), outputs[:n], guards, given, order - 1).series(
                flow="slopes"
            )
        except NotClosedError as error:
            raise NoRuleError(
                f"{self.name} needs the Taylor arithmetic of rhs, but there is none of {error}. Write rhs with "
                "operations that have a derivative rule, or use odeint."
            ) from None

    def _of_numbers(self, held: list[Any]) -> Program:
        """The program from numbers to numbers, followed by what its guards compare."""
        last, nodes = self.program._last, self.program._input_nodes()
        guards = [node for node, *_ in guard_rows(last._graph)[: last._guards]]

        def slopes(*values: Any) -> list[Any]:
            numbers = iter(values)
            ys = [
                np.reshape(np.array([next(numbers) for _ in range(size)]), shape) if shape else next(numbers)
                for shape, size in zip(self.shapes, self.sizes, strict=True)
            ]
            found = inline(last._graph, [*last._outputs, *guards], nodes, [*ys, values[-1], *held])
            slopes = [x[k] for x in found[: len(ys)] for k in np.ndindex(*np.shape(x))]
            return [*slopes, *found[len(ys) :]]

        return recorded(slopes, [intern_aval(np.dtype(float), ())] * (sum(self.sizes) + 1))

    def container(self, rows: Any) -> Any:
        """y of flat values, the last axis of an array."""
        ends = np.cumsum([0, *self.sizes])
        lead = rows.shape[:-1]
        leaves = [
            rows[..., begin:end].reshape(*lead, *shape)
            for begin, end, shape in zip(ends, ends[1:], self.shapes, strict=True)
        ]
        return self.structure.unflatten([x if x.ndim else x[()] for x in leaves])


def _double(x: Any, name: str) -> Any:
    """A leaf in float64."""
    if np.iscomplexobj(x):
        raise DTypeError(
            f"{name} solves real equations, but y is complex. Take real and imaginary parts as unknowns of their own."
        )
    if not is_traced(x):
        return np.asarray(x, np.float64)[()]
    return x if x.dtype == np.float64 else x.astype(np.float64)
