"""An equation as the Taylor integrator has it: recorded once, with the series of its solution."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import compared
from hoad._core.graph.inspect import guard_rows
from hoad._core.graph.tape import Graph, intern_aval
from hoad._core.record.recording import inline
from hoad._core.taylor.series import NotClosedError, Series
from hoad._core.taylor.taylor_stepper import Stepper
from hoad._core.trace.traced import is_traced, plain_value
from hoad._drivers.products import jvp
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad._program.trace import is_number
from hoad._pytree.arguments import packed
from hoad._pytree.containers import Structure, flatten
from hoad._transform.expansion import EXPANDING
from hoad._transform.programs import nodes_behind, recorded
from hoad._transform.recurrence import Recurrence, natural
from hoad._transform.taylor_arithmetic import Arithmetic
from hoad.errors import DTypeError, NoRuleError, ShapeError
from hoad.ode.determinism import steady_program
from hoad.ode.order import telling_order

EPSILON = float(np.finfo(float).eps)
NUMBER = flatten(0.0)[1]  # what is not a container
MOST_NUMBERS = 256  # beyond, an array of unknowns is not taken apart


class System:
    """``y' = rhs(t, y, *args)`` for a container y, recorded once."""

    def __init__(self, rhs: Callable[..., Any], y0: Any, t: float, args: tuple[Any, ...], name: str) -> None:
        self.rhs, self.args, self.name = rhs, args, name
        leaves, self.structure = flatten(y0)
        if not all(map(is_number, leaves)):
            raise DTypeError(
                f"{name} takes y0 made of numbers, but found "
                f"{' and '.join(type(x).__name__ for x in leaves if not is_number(x))} in it."
            )
        if not any(map(np.size, leaves)):
            raise ShapeError(f"{name} takes y0 made of numbers, but there are none in {y0!r}.")
        self.y = [double(x, name) for x in map(packed, leaves)]
        self.shapes = [np.shape(x) for x in self.y]
        self.sizes = [math.prod(shape) for shape in self.shapes]
        with telling_order(name, "rhs", rhs, t, y0, args, self._slopes):
            self.program, self.held = self.recorded("rhs", rhs, t, self._slopes)

    def recorded(
        self, called: str, f: Callable[..., Any], t: float, outputs: Callable[[Any], list[Any]]
    ) -> tuple[Program, list[Any]]:
        """The program of f from (*y, t), and the traced values that are its further inputs."""

        def of_leaves(*values: Any) -> list[Any]:
            return outputs(compared(f, (values[-1], self.structure.unflatten(values[:-1]), *self.args), {}, self.name))

        return steady_program(self.name, called, of_leaves, [*[plain_value(x) for x in self.y], t])

    def _slopes(self, returned: Any) -> list[Any]:
        if isinstance(returned, (list, tuple)) and len(self.shapes) == 1 and self.structure == NUMBER:
            returned = np.array(returned) if all(not np.ndim(x) for x in returned) else np.stack(returned)
        leaves, found = flatten(returned)
        if not all(map(is_number, leaves)):
            raise ShapeError(
                f"{self.name} needs rhs(t, y) like y, made of numbers, but rhs returned "
                f"{' and '.join(type(x).__name__ for x in leaves if not is_number(x))}. Return the slope of y."
            )
        leaves = [double(packed(x), self.name) for x in leaves]
        if found != self.structure or [np.shape(x) for x in leaves] != self.shapes:
            raise ShapeError(
                f"{self.name} needs rhs(t, y) like y, which is {self._described(self.structure, self.shapes)}, but it "
                f"is {self._described(found, [np.shape(x) for x in leaves])}. {self._advice(found)}"
            )
        return leaves

    def _described(self, structure: Structure, shapes: Sequence[Any]) -> str:
        if structure == NUMBER:
            return f"an array of shape {shapes[0]}" if shapes[0] else "a number"
        return f"{structure.shown()} with shapes {shapes}"

    def _advice(self, found: Structure) -> str:
        """What to do where rhs and y differ."""
        if found == NUMBER and self.structure != NUMBER and not any(self.shapes):
            return "Make y0 an array, np.array([...]), where rhs returns one; or return a container like y."
        return "Return for each array of y its slope, of the same shape."

    def varied(self, t: float) -> System:
        """The equation with one of its variational equations beside it, of a direction that is like any other."""

        def both(t: Any, pair: Any, *args: Any) -> Any:
            def slopes(y: Any) -> Any:
                return self.structure.unflatten(self._slopes(self.rhs(t, y, *args)))

            return jvp(slopes, (pair[0],), (pair[1],))

        y = [plain_value(x) for x in self.y]
        size = max((float(np.max(np.abs(x))) for x in y if np.size(x)), default=1.0)
        directions = [(size or 1.0) * np.cos(1.0 + np.arange(np.size(x))).reshape(np.shape(x))[()] for x in y]
        pair = (self.structure.unflatten(y), self.structure.unflatten(directions))
        return System(both, pair, t, self.args, self.name)

    @property
    def is_traced(self) -> bool:
        """Whether a solution depends on traced values."""
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
        flat, held = [np.ravel(plain_value(x)) for x in self.y], [plain_value(x) for x in self.held]
        try:
            series, _, sizes = self.series([self.program], order, held, is_flow=True)
        except NotClosedError as error:
            raise NoRuleError(
                f"{self.name} needs the Taylor arithmetic of rhs, but there is none for {error}. Write rhs with "
                "operations that have a derivative rule, or use odeint."
            ) from None
        if len(sizes) > len(flat):
            flat = list(np.concatenate(flat))
        degree = EXPANDING.get()
        least = tol / math.comb(order + degree, degree)  # what is left out of cₖ tᵏ, k = order, grows so in derivatives
        factor = math.exp(-0.7 / (order - 1)) * least ** (1.0 / (order - 1))
        shortest = EPSILON * max(abs(t), abs(end), abs(end - t))
        return Stepper(series, sizes, flat, t, factor, atol / tol, tol, shortest, longest)

    def series(
        self, programs: Sequence[Program], order: int, held: Sequence[Any] = (), is_flow: bool = False
    ) -> tuple[Series, list[int], list[int]]:
        """The arithmetic of programs of (*y, t, *held); and the parts of y that it takes, by offsets and sizes.

        These are numbers where only items are taken of arrays, whose steps run narrow. A flow takes all.
        """
        size = sum(self.sizes)
        for by_numbers in (True, False) if size <= MOST_NUMBERS and any(self.shapes) else (False,):
            graph, inputs, outputs, guards = self._joined(programs, held, by_numbers)
            sizes = [1] * size if by_numbers else self.sizes
            offsets = np.cumsum([0, *sizes]).tolist()
            needed = inputs if is_flow else nodes_behind(graph, [*outputs, *[node for node, _ in guards]], inputs)[1]
            used = [k for k, node in enumerate(inputs[:-1]) if node in needed]
            nodes, given = [*[inputs[k] for k in used], inputs[-1]], [*[order + 1] * len(used), 2]
            series = Arithmetic(graph, nodes, outputs, guards, given, order).series(is_flow=is_flow)
            if series.is_narrow:
                break
        return series, [offsets[k] for k in used], [sizes[k] for k in used]

    def _joined(
        self, programs: Sequence[Program], held: Sequence[Any], by_numbers: bool
    ) -> tuple[Graph, list[int], list[int], list[tuple[int, Any]]]:
        """Programs of (*y, t, *held) as one of (*y, t), or of numbers in y: its graph, inputs, outputs and guards."""
        lasts = [program._last for program in programs]
        guards = [guard_rows(last._graph)[: last._guards] for last in lasts]

        def results(*values: Any) -> list[Any]:
            ys = list(values[:-1])
            if by_numbers:
                numbers = iter(values)
                ys = [
                    np.reshape(np.array([next(numbers) for _ in range(size)]), shape) if shape else next(numbers)
                    for shape, size in zip(self.shapes, self.sizes, strict=True)
                ]
            outputs, behind = [], []
            for program, last, rows in zip(programs, lasts, guards, strict=True):
                nodes = [*last._outputs, *[node for node, *_ in rows]]
                found = inline(last._graph, nodes, program._input_nodes(), [*ys, values[-1], *held])
                outputs += found[: len(last._outputs)]
                behind += found[len(last._outputs) :]
            if by_numbers:
                outputs = [x[k] for x in outputs for k in np.ndindex(*np.shape(x))]
            return [*outputs, *behind]

        shapes = [()] * sum(self.sizes) if by_numbers else self.shapes
        made = recorded(results, [intern_aval(np.dtype(float), shape) for shape in (*shapes, ())])
        expected = [was for rows in guards for _, was, _ in rows]
        nodes = list(made._last._outputs)
        first = len(nodes) - len(expected)
        return made._last._graph, made._input_nodes(), nodes[:first], list(zip(nodes[first:], expected, strict=True))

    def leaves(self, rows: Any) -> list[Any]:
        """The leaves of y, of flat values along the last axis."""
        ends = np.cumsum([0, *self.sizes])
        return [
            rows[..., begin:end].reshape(*rows.shape[:-1], *shape)
            for begin, end, shape in zip(ends, ends[1:], self.shapes, strict=False)
        ]

    def container(self, rows: Any) -> Any:
        """y of flat values along the last axis."""
        return self.structure.unflatten([x if x.ndim else x[()] for x in self.leaves(rows)])


def double(x: Any, name: str, instead: str = "") -> Any:
    """A leaf in float64."""
    if np.iscomplexobj(x):
        raise DTypeError(
            f"{name} solves real equations, but y is complex. Take real and imaginary parts as unknowns of their own"
            f"{instead}."
        )
    if not is_traced(x):
        return np.asarray(x, np.float64)[()]
    return x if x.dtype == np.float64 else x.astype(np.float64)
