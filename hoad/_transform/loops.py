"""Loops whose body is a program: one node of a tape, whatever the number of steps.

A `Loop` runs its program again and again. Each input of the program is carried from step to step (``c``), or takes the
rows of an array (``x``), or is the same at all steps (``k``); each output is carried (``c``), or gives the rows of an
array (``y``), or is summed over the steps (``s``). The adjoint of a loop is a loop of the adjoint program, which runs
the other way: there the adjoint of a row is a row, that of a constant a sum, and that of a sum a constant. So loops
are closed under differentiation, and one rule gives every mode and order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hoad._core.graph.primitive import PYTHON, RESULTS_LIMIT, Primitive, rules_epoch
from hoad._core.graph.tape import AbstractValue, aval_key, checked_aval, intern_aval
from hoad._core.kernels.native_call import NativeCall
from hoad._core.record.recording import lowered
from hoad._core.runtime.engine import Lowered
from hoad._core.runtime.lanes import Map
from hoad._core.runtime.loops import Count, LoopCall, functions_of_rows
from hoad._core.runtime.workspace import Call, offered
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.context import WATCHERS
from hoad._ops.dependence import Links
from hoad._program.callee import Callee, Strong
from hoad._program.pickling import refusal, restoring, strong_zeros, whole_number
from hoad._program.program import Program
from hoad._transform.adjoint import extended, strong_results, strong_seeds
from hoad._transform.columns import in_columns
from hoad._transform.dependence_of_loops import Form, links_of_loop
from hoad._transform.lanes import native_lanes, run_lanes
from hoad._transform.programs import recorded, selected, without_calls
from hoad.rules.callee_primitives import declare_family

if TYPE_CHECKING:
    from concurrent.futures import Executor

THREADS = (int, type(None))  # what workers are if they are not an executor
# An adjoint needs what was carried into every step. Where that is more bytes, it keeps what was carried into stretches
# of √length steps only, and runs each stretch again.
KEPT_BYTES = 1 << 25
FEW_STEPS = 16
MOST_STEPS = 2**62  # of a loop out of a pickle
MANY_ROWS = 64  # from which on functions of rows are computed ahead of the steps
MOST_LOOKED_AT = 16  # steps of which it is found out which zeros of what is carried are strong
# Numbers that all lanes of a loop go through, from which on it is worth some milliseconds to put them in columns: for
# a program that may be replayed, and for one run.
WORTH_COLUMNS = 1 << 20
WORTH_COLUMNS_ONCE = 1 << 25

ADJOINT = {"c": "c", "x": "y", "k": "s"}  # of what an input takes: what its adjoint gives
SEED = {"c": "c", "y": "x", "s": "k"}  # of what an output gives: what its seed takes


class Loop(Callee):
    """A program run `length` times: what its inputs take and what its outputs give."""

    def __init__(
        self,
        program: Program,
        takes: str,
        gives: str,
        length: int,
        backwards: bool = False,
        stretch: Loop | None = None,
        workers: int | Executor | None = None,
        origin: tuple[Loop, bool] | None = None,
        rows_of: Loop | None = None,
        strong: Strong = (),
    ) -> None:
        self.program = program
        self.takes = takes
        self.gives = gives
        self.length = length
        self.backwards = backwards
        self.stretch = stretch  # a loop that the program consists of
        self.workers = workers  # for steps that do not wait for one another: threads, None for as many as pay
        self._linear = program._linear
        self._origin = origin  # of an adjoint: of what, and whether by the inputs that that is linear in
        self._rows_of = rows_of  # the loop of which this one gives the rows of what is carried
        self._strong = strong  # of an adjoint: what is known of its seeds, of those carried at the first step
        self._made: dict[Any, Any] = {}  # programs derived from this one
        self._sought = False  # whether its lanes are known to be columns, or not
        self._columns: Program | None = None  # the program of those

    @property
    def _is_odd(self) -> bool:
        return self.program._is_odd

    @property
    def operands(self) -> tuple[AbstractValue, ...]:
        """Shape and dtype of what it takes."""
        return tuple(_with_rows(self.program.input_types, self.takes, self.length))

    @property
    def results(self) -> tuple[AbstractValue, ...]:
        """Shape and dtype of every result."""
        avals = _with_rows(self.program.output_types, self.gives, self.length)
        return tuple(aval for aval, letter in zip(avals, self.gives, strict=True) if letter != "w")

    @property
    def carried_bytes(self) -> int:
        """Bytes carried from step to step."""
        return sum(
            aval.size * aval.itemsize
            for aval, letter in zip(self.program.input_types, self.takes, strict=True)
            if letter == "c"
        )

    @property
    def is_parallel(self) -> bool:
        """Whether there are steps that do not wait for one another."""
        return "c" not in self.takes and "w" not in self.gives and self.length != 1

    def _links(self, k: int, which: int, count: int) -> Links | None:
        between = self.program._dependence()
        form = Form(self.takes, self.gives, self.length, self.backwards)
        return None if between is None else links_of_loop(form, between, k, which)

    def run(self, values: Any) -> tuple[list[Any], int]:
        """(results, steps done) for plain values of the inputs."""
        form = (self.takes, self.gives, values, self.length)
        if self.is_parallel:
            if not isinstance(self.workers, THREADS):
                from hoad._transform.executors import run_by_executor  # only here: it brings what processes talk by

                return run_by_executor(self.workers, self.program, *form), self.length
            columns = self._in_columns(WORTH_COLUMNS_ONCE)
            if columns is not None:
                return columns._run(tuple(values), self.workers), self.length
            return run_lanes(self._in_lanes(), *form, self.workers), self.length
        return self._steps()[1].run(list(values))

    def _steps(self) -> tuple[Lowered, LoopCall]:
        """Its program made ready, and run step by step."""
        steps, functions, count = self._ready
        ahead = None if functions is None else Map(functions, self.takes, "y" * count, self.length)
        return steps, LoopCall(steps, self.takes + "x" * count, self.gives, self.length, self.backwards, ahead)

    @functools.cached_property
    def _ready(self) -> tuple[Lowered, Lowered | None, int]:
        """Its program made ready; functions of rows, to be computed ahead where that is faster; how many of these."""
        tape = self.program._last
        graph, outputs, inputs = tape._graph, list(tape._outputs), self.program._input_nodes()
        found: list[int] = []
        if self.length >= MANY_ROWS and not tape._guards:
            found = functions_of_rows(graph, outputs, inputs, self.takes)
        if not found:
            return self.program._lowered(), None, 0
        self.program._check_chain()
        functions = lowered(graph, found, inputs, 0, [letter == "x" for letter in self.takes])
        return lowered(graph, outputs, inputs + found, 0), functions, len(found)

    @functools.cached_property
    def _lane(self) -> Program:
        """What is done in each lane: functions that it calls are kernels over the lanes, too."""
        return without_calls(self.program)

    def _in_lanes(self) -> Lowered:
        return self._lane._lowered([letter == "x" for letter in self.takes])

    def _in_columns(self, least: int) -> Program | None:
        """The program of arrays that gives the same, if there is one, for lanes of so many numbers at least."""
        if not self._sought and self.length * self.program[-1].size >= least:
            self._sought = True
            self._columns = in_columns(self._lane, self.takes, self.gives, self.length, list(self.operands))
        return self._columns

    def _native(self, *avals: AbstractValue) -> NativeCall | None:
        if avals != self.operands:
            return None
        if self.is_parallel:
            if not isinstance(self.workers, THREADS):
                return None
            columns = self._in_columns(WORTH_COLUMNS)
            if columns is not None:
                program = columns._lowered()
                return offered(program, Call(program, self.workers or 0))
            return native_lanes(self._in_lanes(), self.takes, self.gives, self.length, self.workers)
        return offered(*self._steps())

    def _counter(self, *avals: AbstractValue) -> NativeCall | None:
        """What counts its steps without Python, if anything does."""
        if avals != self.operands or set(self.gives) != {"c", "w"}:
            return None
        program, steps = self._steps()
        return offered(program, Count(steps))

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """The results; on traced values, those of one node."""
        if not holds_traced(values):
            results = self.run(values)[0]
            watchers = WATCHERS.get()
            if watchers:
                watchers[-1].looped(self, values, results)
            return tuple(results)
        if not self.gives:
            return ()
        found = apply_primitive(_declare(len(self.gives)), (self,), *values)
        return found if isinstance(found, tuple) else (found,)

    def __reduce__(self) -> Any:
        form = (self.takes, self.gives, self.length, self.backwards)
        threads = self.workers if isinstance(self.workers, THREADS) else None  # an executor stays in its process
        return _restored, (self.program, *form, threads, self._origin, self._rows_of, self._strong)

    def _check_operands(self, avals: tuple[AbstractValue, ...]) -> None:
        if avals != self.operands:
            raise refusal(f"a loop takes {self.operands}, but is given {avals}")

    def __repr__(self) -> str:
        way = ", backwards" if self.backwards else ""
        return f"<Loop: {self.length} steps{way} of {self.program[-1].size} nodes, {self.takes} -> {self.gives}>"

    # ---- programs derived from its own

    def adjoint(self, linear: bool, strong: Strong = ()) -> tuple[Program, list[int]]:
        """The adjoint program by the last inputs, those it is linear in, or by the others; which inputs it is by.

        What is carried needs its adjoint carried even where only others are asked for, so all of it is among them.
        What is known of the seeds is `strong`.
        """
        strong = strong if any(strong) else ()
        key = (linear, strong, rules_epoch())
        if key not in self._made:
            nodes = self.program._input_nodes()
            first = len(nodes) - self._linear
            avals = self.program.input_types
            asked = range(first, len(nodes)) if linear else range(len(nodes))
            by = [k for k in asked if avals[k].inexact and (k < first or linear or self.takes[k] == "c")]
            made = extended(self.program, "symbolic", True, [nodes[k] for k in by], strong=strong)
            made._linear = len(made._last._inputs)
            made._omitted = self.program._omitted | (frozenset(nodes[first:]) if linear else frozenset())
            kept = {k: v for k, v in self._made.items() if k[0] == "stretch" or k[-1] == key[-1]}
            self._made = kept | {key: (made, by)}
        found: tuple[Program, list[int]] = self._made[key]
        return found

    def _with_strong(self, strong: Strong) -> Loop:
        """The same adjoint loop, for seeds of which this is known, of those carried at the first step.

        Where zeros of what is carried are strong at some step, the program of all steps takes them for strong.
        """
        if self._rows_of is not None:
            return self._rows_of._with_strong(strong).rows(True)[0]
        if self._origin is None or not self.length:
            return self
        origin, linear = self._origin
        form = (self.takes, self.gives, self.length, self.backwards)
        made = Loop(self.program, *form, workers=self.workers, origin=self._origin, strong=strong)
        made.program = origin.adjoint(linear, made._strong_throughout())[0]
        return made

    def _strong_seeds(self) -> Strong:
        if self._rows_of is not None:
            return self._rows_of._strong_seeds()
        return self._strong or strong_seeds(self.program)

    def _strong_results(self) -> Strong:
        if self._rows_of is not None:
            known = zip(self._rows_of._strong_results(), self._rows_of.gives, strict=True)
            rows = strong_results(self.program)[self.gives.count("c") :]
            return (*[strong for strong, letter in known if letter == "c"], *rows)
        if not self.length:  # without a step, what is carried in comes out
            return (0,) * len(self.gives)
        if not self._strong:
            return strong_results(self.program)
        _, results, last = self._strong_steps()
        column = list(zip(*results, strict=True))
        if last is None:
            return tuple(int(letter == "y" and any(column[k])) for k, letter in enumerate(self.gives))
        found: dict[str, Callable[[Sequence[int]], int]] = {"c": lambda known: known[last], "y": _at_some, "s": min}
        return tuple(found[letter](known) for known, letter in zip(column, self.gives, strict=True))

    def _strong_steps(self) -> tuple[list[Strong], list[Strong], int | None]:
        """What is known of seeds and results at each step until it repeats itself; which of them the last step is like.

        None where so many steps differ that it is not found.
        """
        assert self._origin is not None
        origin, linear = self._origin
        letters = self.takes[len(self.takes) - self._linear :]
        seeds, results = [self._strong], []
        while True:
            results.append(strong_results(origin.adjoint(linear, seeds[-1])[0]))
            carried = iter([known for known, letter in zip(results[-1], self.gives, strict=True) if letter == "c"])
            pairs = zip(seeds[-1], letters, strict=True)
            after = tuple([next(carried) if letter == "c" else known for known, letter in pairs])
            if after in seeds:
                first = seeds.index(after)
                return seeds, results, first + (self.length - 1 - first) % (len(seeds) - first)
            if len(seeds) == self.length:
                return seeds, results, self.length - 1
            if len(seeds) == MOST_LOOKED_AT:
                return seeds, results, None
            seeds.append(after)

    def _strong_throughout(self) -> Strong:
        """What is to be known of the seeds at all steps."""
        seeds, _, last = self._strong_steps()
        return tuple([int(any(known)) if last is None else _at_some(known) for known in zip(*seeds, strict=True)])

    def rows(self, linear: bool) -> tuple[Loop, list[int]]:
        """The loop of what is carried alone, which gives it and what it was at every step; the inputs that take it.

        Without the inputs that the program is linear in, unless those are asked for.
        """
        program, carried = self.carrying(linear)
        takes = self.takes[: len(self.takes) - (0 if linear else self._linear)]
        gives = "c" * len(carried) + "y" * len(carried)
        return Loop(program, takes, gives, self.length, self.backwards, rows_of=self if linear else None), carried

    def carrying(self, linear: bool) -> tuple[Program, list[int]]:
        """The program of what is carried alone, followed by what was carried in; the inputs whose rows those are.

        Without the inputs that the program is linear in, unless those are asked for.
        """
        inner = self if self.stretch is None else self.stretch
        program, carried = inner._carried_alone(linear)
        kept = len(self.takes) - (0 if linear else self._linear)
        if self.stretch is None:
            nodes = self.program._input_nodes()
            return selected(program, [*program._last._outputs, *[nodes[k] for k in carried]]), carried
        small = Loop(program, self.takes[:kept], "c" * len(carried), inner.length, inner.backwards)
        made = recorded(lambda *xs: (*small(*xs), *[xs[k] for k in carried]), list(self.program.input_types[:kept]))
        return made, carried

    def _carried_alone(self, linear: bool) -> tuple[Program, list[int]]:
        """The program with what it carries for its only outputs; the inputs that take them."""
        nodes = self.program._input_nodes()
        first = len(nodes) - (0 if linear else self._linear)
        outputs = [x for x, letter in zip(self.program._last._outputs, self.gives, strict=True) if letter == "c"]
        carried = [k for k in range(len(nodes)) if self.takes[k] == "c"]
        kept = [(k, x) for k, x in zip(carried, outputs, strict=True) if k < first]
        made = selected(self.program, [x for _, x in kept])
        made._omitted = self.program._omitted | frozenset(nodes[first:])
        return made, [k for k, _ in kept]


def _with_rows(avals: Sequence[AbstractValue], letters: str, length: int) -> list[AbstractValue]:
    """Shape and dtype of arrays of so many rows, where letters say that there are rows, and of all else."""
    return [
        intern_aval(aval.dtype, (length, *aval.shape)) if letter in "xy" else aval
        for aval, letter in zip(avals, letters, strict=True)
    ]


def _at_some(known: Sequence[int]) -> int:
    """What is known of values of which this is known one by one: whether zeros of some are strong, or all are zero."""
    return min(known) or int(any(known))


@restoring
def _restored(
    program: Program,
    takes: str,
    gives: str,
    length: int,
    backwards: Any,
    threads: Any,
    origin: Any,
    rows_of: Any,
    strong: Any,
) -> Loop:
    """A loop out of a pickle: what is carried out is carried in, and sums are of floats."""
    inputs, results = program.input_types, program.output_types
    if not (len(takes) == len(inputs) and set(takes) <= set("cxk") and len(gives) == len(results)):
        raise refusal(f"a loop of {len(inputs)} inputs and {len(results)} outputs is {takes!r} -> {gives!r}")
    carried = [aval for aval, letter in zip(inputs, takes, strict=True) if letter == "c"]
    if carried != [aval for aval, letter in zip(results, gives, strict=True) if letter == "c"]:
        raise refusal("a loop carries out other values than in")
    for aval, letter in zip(results, gives, strict=True):
        fits = {"c": True, "y": True, "s": aval.dtype.char in "fdFD", "w": aval.shape == () and aval.dtype == np.bool_}
        if not fits.get(letter, False):
            raise refusal(f"a loop gives {aval} by the letter {letter!r}")
    if gives.count("w") > 1 or type(backwards) is not bool or not isinstance(threads, THREADS):
        raise refusal("a loop ends by two outputs, or runs another way, or by other workers")
    if origin is not None and not (isinstance(origin[0], Loop) and type(origin[1]) is bool):
        raise refusal(f"a loop is the adjoint of {origin!r}")
    if not (rows_of is None or isinstance(rows_of, Loop)):
        raise refusal(f"a loop gives rows of {rows_of!r}")
    length = whole_number(length, 0, MOST_STEPS, "the length of a loop")
    strong_zeros(strong, "the seeds of a loop")
    made = Loop(program, takes, gives, length, backwards, None, threads, origin, rows_of, strong)
    for aval in (*made.operands, *made.results):
        checked_aval(*aval_key(aval))
    return made


# ---- the primitive and its rule -------------------------------------------------------------------------------------


def _scan_rule(g: Any, p: Any, *inputs: Any, loop: Loop) -> tuple[Any, ...]:
    """The adjoint of a loop: a loop of the adjoint program, the other way."""
    gs = g if isinstance(g, tuple) else (g,)
    first = len(inputs) - loop._linear
    found: list[Any] = [None] * len(inputs)
    if any(aval.inexact for aval in loop.program.input_types[:first]):
        for k, bar in pull_back(loop, gs, inputs, False).items():
            found[k] = bar if k < first else None
    if loop._linear:
        for k, bar in pull_back(loop, gs, inputs, True).items():
            found[k] = bar
    return tuple(found)


def joined(one: Loop, other: Loop) -> tuple[Loop, list[int]] | None:
    """A loop that gives the results of two over the same inputs, and where in them those of the other are, if it can.

    Such are the loop of a value, and that of the rows which its adjoint takes.
    """
    tape, of_other = one.program._last, other.program._last
    forms = [(x.takes, x.length, x.backwards, x.program._input_nodes()) for x in (one, other)]
    windows = [(x._start, x._end, x._first_guard, x._guards) for x in (tape, of_other)]
    if tape._graph is not of_other._graph or forms[0] != forms[1] or windows[0] != windows[1]:
        return None
    given = list(zip(one.gives, tape._outputs, strict=True))
    asked = list(zip(other.gives, of_other._outputs, strict=True))
    carried = [x for x in given if x[0] == "c"]
    if "w" in one.gives + other.gives or not carried or carried != [x for x in asked if x[0] == "c"]:
        return None
    at = iter([k for k, letter in enumerate(one.gives) if letter == "c"])
    places = []
    for result in asked:
        if result[0] != "c" and result not in given:
            given.append(result)
        places.append(next(at) if result[0] == "c" else given.index(result))
    if len(given) > RESULTS_LIMIT:
        return None
    program = selected(one.program, [node for _, node in given])
    gives = "".join([letter for letter, _ in given])
    return Loop(program, one.takes, gives, one.length, one.backwards, workers=one.workers), places


# scan(*inputs, loop=...)
_declare = declare_family(
    "scan", "loop", lambda loop, *operands: loop.results, lambda loop, values: loop.run(values)[0], _scan_rule, joined
)


STEPS = Primitive(
    "steps",
    function=lambda params, *values: np.int64(params[0].run(values)[1]),
    kind=PYTHON,
    nin=-1,
    infer=lambda params, *operands: (intern_aval(np.dtype(np.int64), ()),),
    param_names=("loop",),
    may_round=True,
)
STEPS.of_programs = True
STEPS.native = lambda params, *avals: params[0]._counter(*avals)


def steps_of(loop: Loop, values: tuple[Any, ...]) -> Any:
    """How many steps a loop takes until an output ends it, an integer of derivative zero."""
    return apply_primitive(STEPS, (loop,), *values) if holds_traced(values) else loop.run(values)[1]


def pull_back(loop: Loop, gs: tuple[Any, ...], inputs: tuple[Any, ...], linear: bool) -> dict[int, Any]:
    """Adjoints of inputs, by their number, for adjoints of the results."""
    if loop.length > FEW_STEPS and loop.length * loop.carried_bytes > KEPT_BYTES:
        return _pull_back_stretches(loop, gs, inputs, linear)
    adjoint, by = loop.adjoint(linear)
    rows = _carried_rows(loop, inputs, not linear)
    takes, values = [], []
    for k in range(len(inputs) - (loop._linear if linear else 0)):
        takes.append("x" if k in rows else loop.takes[k])
        values.append(rows.get(k, inputs[k]))
    carried = [k for k in range(len(inputs)) if loop.takes[k] == "c"]
    at = iter(carried)
    for g, letter, aval in zip(gs, loop.gives, loop.program.output_types, strict=True):
        carries = next(at) if letter == "c" else None
        if aval.inexact:
            takes.append("k" if carries is not None and carries not in by else SEED[letter])
            values.append(g)
    gives = "".join(ADJOINT[loop.takes[k]] for k in by)
    made = Loop(
        adjoint, "".join(takes), gives, loop.length, not loop.backwards, workers=loop.workers, origin=(loop, linear)
    )
    bars = made._with_strong((0,) * made._linear)(*values)
    return dict(zip(by, bars, strict=True))


def _carried_rows(loop: Loop, inputs: tuple[Any, ...], linear: bool) -> dict[int, Any]:
    """What each carried input was at every step: rows, by the number of the input."""
    rows, carried = loop.rows(linear)
    results = rows(*inputs[: len(rows.takes)]) if carried else ()
    return dict(zip(carried, results[len(carried) :], strict=True))


# ---- long loops -----------------------------------------------------------------------------------------------------


def _pull_back_stretches(loop: Loop, gs: tuple[Any, ...], inputs: tuple[Any, ...], linear: bool) -> dict[int, Any]:
    """As `pull_back`, of a loop taken apart: a loop over stretches of √length steps, and a loop over the rest."""
    stretch = math.isqrt(loop.length)
    whole = loop.length - loop.length % stretch
    inner = Loop(loop.program, loop.takes, loop.gives, stretch, loop.backwards)
    outer = Loop(_stretched(loop, inner), loop.takes, loop.gives, whole // stretch, loop.backwards, inner)
    if whole == loop.length:
        return _folded_back(
            pull_back(outer, _folded(loop.gives, gs, stretch), _folded(loop.takes, inputs, stretch), linear), loop.takes
        )
    rest = Loop(loop.program, loop.takes, loop.gives, loop.length - whole, loop.backwards)
    late, early = (
        (slice(0, rest.length), slice(rest.length, None)) if loop.backwards else (slice(whole, None), slice(0, whole))
    )
    of_outer = _folded(loop.takes, _cut(loop.takes, inputs, early), stretch)
    between = iter(_carried_out(outer, of_outer))
    of_rest = tuple(
        next(between) if letter == "c" else x
        for letter, x in zip(loop.takes, _cut(loop.takes, inputs, late), strict=True)
    )
    ended = pull_back(rest, _cut(loop.gives, gs, late), of_rest, linear)
    carried = iter([k for k in range(len(inputs)) if loop.takes[k] == "c"])
    seeds = []
    for g, letter in zip(_cut(loop.gives, gs, early), loop.gives, strict=True):
        k = next(carried) if letter == "c" else None
        seeds.append(g if k is None else ended.get(k, g))
    begun = _folded_back(pull_back(outer, _folded(loop.gives, tuple(seeds), stretch), of_outer, linear), loop.takes)
    return {k: _joined(loop, k, begun[k], ended[k]) for k in begun}


def _joined(loop: Loop, k: int, begun: Any, ended: Any) -> Any:
    """The adjoint of an input from those of the stretches and of the rest."""
    if loop.takes[k] == "c":
        return begun
    if loop.takes[k] == "k":
        return begun + ended
    return np.concatenate((ended, begun) if loop.backwards else (begun, ended))


def _cut(letters: str, values: tuple[Any, ...], rows: slice) -> tuple[Any, ...]:
    return tuple(x[rows] if letter in "xy" else x for letter, x in zip(letters, values, strict=True))


def _folded(letters: str, values: tuple[Any, ...], stretch: int) -> tuple[Any, ...]:
    """Rows as rows of stretches."""
    return tuple(
        np.reshape(x, (x.shape[0] // stretch, stretch, *x.shape[1:])) if letter in "xy" else x
        for letter, x in zip(letters, values, strict=True)
    )


def _folded_back(bars: dict[int, Any], letters: str) -> dict[int, Any]:
    return {
        k: np.reshape(bar, (bar.shape[0] * bar.shape[1], *bar.shape[2:])) if letters[k] == "x" else bar
        for k, bar in bars.items()
    }


def _carried_out(loop: Loop, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """What is carried out of the last step."""
    tape = loop.program._last
    outputs = [x for x, letter in zip(tape._outputs, loop.gives, strict=True) if letter == "c"]
    if not outputs:
        return ()
    return Loop(selected(loop.program, outputs), loop.takes, "c" * len(outputs), loop.length, loop.backwards)(*inputs)


def _stretched(loop: Loop, inner: Loop) -> Program:
    """The program of so many steps of a loop at once."""
    key = ("stretch", inner.length)
    if key not in loop._made:
        made = recorded(inner, inner.operands)
        made._linear = loop._linear
        loop._made[key] = made
    found: Program = loop._made[key]
    return found
